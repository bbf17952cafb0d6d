"""Small ensembles for the tests, quick NBCEs, and what a warning is allowed to say."""

from importlib.util import find_spec

import numpy as np
import pytest

from partita.consensus import NBCE, add_label_noise

categorical = pytest.mark.xdist_group("categorical")
unconverged_is_fine = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

#: What is in the extra ``graph``, of which Windows lacks a part.
needs_metis = pytest.mark.skipif(find_spec("pymetis") is None, reason="pymetis is not installed")
needs_mtkahypar = pytest.mark.skipif(find_spec("mtkahypar") is None, reason="mtkahypar is not installed")

#: The golden table: six objects, three clusterings of 2, 3 and 2 labels, two gaps.
GOLDEN = np.array([[0, 0, 0], [0, 0, 1], [0, 1, -1], [1, 2, 1], [1, 2, 0], [-1, 1, 1]])


def quick(**options) -> NBCE:
    """An NBCE of two short chains."""
    return NBCE(**({"chains": 2, "draws": 40, "random_state": 0} | options))


def noisy_copies(n=90, n_groups=3, n_clusterings=6, *, rate=0.1, seed=0):
    """Labels (n, M), noisy copies of groups of unequal sizes, and the groups."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.choice(n_groups, size=n, p=np.arange(1, n_groups + 1) / (n_groups * (n_groups + 1) / 2)))
    return np.stack([add_label_noise(truth, rate, rng) for _ in range(n_clusterings)], axis=1), truth
