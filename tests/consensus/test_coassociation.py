"""Co-association by its definition, pair by pair."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from partita.consensus import coassociation as module
from partita.consensus.coassociation import coassociation
from partita.consensus.ensemble import Ensemble


def by_definition(ensemble, label_weights):
    """Row after row of the upper triangle."""
    shares = []
    for i, j in combinations(ensemble.codes, 2):
        both = [m for m in range(ensemble.n_members) if i[m] >= 0 and j[m] >= 0]
        together = sum(label_weights[ensemble.offsets[m] + i[m]] for m in both if i[m] == j[m])
        shares.append(together / len(both) if both else 0.0)
    return np.array(shares)


def random_ensemble(missing, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 3, 5, 4], size=(40, 4))
    codes[rng.random(codes.shape) < missing] = -1
    return Ensemble(codes)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_every_pair_is_counted_by_definition(missing):
    ensemble = random_ensemble(missing)
    ones, weights = np.ones(14), np.random.default_rng(1).random(14)
    np.testing.assert_allclose(coassociation(ensemble), by_definition(ensemble, ones), atol=1e-15)
    np.testing.assert_allclose(coassociation(ensemble, weights), by_definition(ensemble, weights), atol=1e-15)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_blocks_of_any_size_give_the_same(missing, monkeypatch):
    ensemble = random_ensemble(missing)
    whole = coassociation(ensemble)
    for cells in (1, 7 * ensemble.n_kinds):
        monkeypatch.setattr(module, "BLOCK", cells)
        np.testing.assert_array_equal(coassociation(ensemble), whole)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_no_second_matrix_is_made(missing, monkeypatch):
    rng = np.random.default_rng(0)
    ensemble = Ensemble(np.where(rng.random((1500, 6)) < missing, -1, rng.integers(9, size=(1500, 6))))
    monkeypatch.setattr(module, "BLOCK", 2**14)
    tracemalloc.start()
    shares = coassociation(ensemble)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shares.nbytes < most < 1.2 * shares.nbytes


def test_objects_that_no_clustering_labels_both_are_not_together():
    assert coassociation(Ensemble(np.array([[0, -1], [-1, 0]]))).tolist() == [0.0]


def test_one_kind_has_no_pairs():
    assert coassociation(Ensemble(np.zeros((5, 3), dtype=int))).shape == (0,)


def test_more_cells_than_memory_should_hold_are_refused():
    many = Ensemble(np.arange(16_386)[:, None])
    with pytest.raises(ValueError, match=r"16,386 different objects needs 134,242,305 cells, 1\.0 GiB.*BipartiteCut"):
        coassociation(many)
