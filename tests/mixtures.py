"""Quick Mixtures, and the marks that keep tests of one compilation in one worker."""

import pytest

from partita import Mixture

full = pytest.mark.xdist_group("gaussian-full")
diagonal = pytest.mark.xdist_group("gaussian-diag")
known = pytest.mark.xdist_group("known")
categorical = pytest.mark.xdist_group("categorical")
counted = pytest.mark.xdist_group("count")
mixed = pytest.mark.xdist_group("mixed")
unconverged_is_fine = pytest.mark.filterwarnings("ignore:(Chains|Too few):sklearn.exceptions.ConvergenceWarning")


def quick(**options) -> Mixture:
    """A Mixture of two short chains."""
    return Mixture(**({"chains": 2, "draws": 40, "random_state": 0} | options))
