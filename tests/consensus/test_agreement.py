"""Agreement with the base clusterings, against leaving out one object after the other."""

import numpy as np
import pytest
from tests.consensus.ensembles import noisy_copies

from partita.consensus.agreement import base_agreement


def one_by_one(codes, labels, betas):
    """The definition, with loops."""
    agreement = []
    for column, beta in zip(codes.T, betas):
        saved, n_labels = [], len(set(column[column >= 0]))
        for i in np.flatnonzero(column >= 0):
            others = [j for j in np.flatnonzero(column >= 0) if j != i]
            mates = [j for j in others if labels[j] == labels[i]]
            told, untold = (
                np.log((beta + sum(column[j] == column[i] for j in group)) / (n_labels * beta + len(group)))
                for group in (mates, others)
            )
            saved.append(told - untold)
        agreement.append(np.mean(saved))
    return np.array(agreement)


def test_the_closed_form_is_the_definition():
    rng = np.random.default_rng(0)
    codes, truth = noisy_copies(25, rate=0.2)
    codes = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    betas = rng.gamma(1.0, 1.0, codes.shape[1])
    np.testing.assert_allclose(base_agreement(codes, truth, betas), one_by_one(codes, truth, betas), rtol=1e-12)


def test_a_clustering_equal_to_the_consensus_saves_its_entropy():
    labels = np.repeat([0, 1, 2, 3], 5_000)
    found = base_agreement(labels[:, None], labels, np.ones(1))
    assert found[0] == pytest.approx(np.log(4), abs=0.01)


def test_columns_that_say_nothing_save_nothing():
    codes = np.stack([np.zeros(50, int), np.full(50, -1), np.arange(50) % 2], axis=1)
    labels = np.arange(50) // 2 % 2  # independent of the last column
    found = base_agreement(codes, labels, np.ones(3))
    assert found[0] == found[1] == 0.0
    assert -0.1 < found[2] < 0.0


@pytest.mark.parametrize("beta", [1e-12, 1e-300])
def test_a_label_that_only_one_object_has_under_a_tiny_pseudocount(beta):
    """Without the object nothing is left but beta, which must not be lost beside 1."""
    codes, labels = np.array([[0], [0], [1], [2]]), np.array([0, 0, 1, 1])
    found = base_agreement(codes, labels, np.array([beta]))
    np.testing.assert_allclose(found, one_by_one(codes, labels, [beta]), rtol=1e-12)
