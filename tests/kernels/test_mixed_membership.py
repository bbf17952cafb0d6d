"""Labels shared out by the formula, and their probability against a sum over all assignments."""

import numpy as np
import pytest
from tests.oracles.mixed_membership import log_evidence

from partita.kernels.mixed_membership import share_out_labels, tell_labels


def components(n_components=3, n_columns=4, n_labels=3, seed=0):
    """alpha (K,), shares (L, K) and labels (A, M) by their places, some missing."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_labels, 0.5), (n_columns, n_components)).transpose(0, 2, 1)
    position = rng.integers(0, n_labels, (30, n_columns)) + n_labels * np.arange(n_columns)
    position[rng.random(position.shape) < 0.2] = -1
    return rng.gamma(1.0, 1.0, n_components), np.ascontiguousarray(shares.reshape(-1, n_components)), position


def shared_out(position, weights, leaning, shares):
    assigned, counts = np.full(leaning.shape, np.nan), np.zeros(shares.shape)
    total = share_out_labels(position, weights, leaning, shares, np.empty(shares.shape[1]), assigned, counts)
    return total, assigned, counts


def told(position, alpha, shares, chances):
    out = np.empty(len(position))
    tell_labels(position, alpha, shares, chances, np.empty((2, alpha.size)), out)
    return out


def test_labels_are_shared_out_by_the_formula():
    _, shares, position = components()
    rng = np.random.default_rng(1)
    weights, leaning = rng.integers(1, 5, 30).astype(float), rng.random((30, 3))
    total, assigned, counts = shared_out(position, weights, leaning, shares)
    expected_total, expected, expected_counts = 0.0, np.zeros((30, 3)), np.zeros(shares.shape)
    for i, own in enumerate(position):
        for label in own[own >= 0]:
            phi = leaning[i] * shares[label]
            expected_total += weights[i] * np.log(phi.sum())
            expected[i] += phi / phi.sum()
            expected_counts[label] += weights[i] * phi / phi.sum()
    assert total == pytest.approx(expected_total, rel=1e-13)
    np.testing.assert_allclose(assigned, expected, rtol=1e-13)
    np.testing.assert_allclose(counts, expected_counts, rtol=1e-13)
    np.testing.assert_allclose(assigned.sum(axis=1), np.count_nonzero(position >= 0, axis=1))


def test_many_small_totals_leave_no_range():
    """1000 columns, every total 1e-9: their product is below every float."""
    position = np.arange(1000)[None, :]
    total, assigned, _ = shared_out(position, np.ones(1), np.ones((1, 2)), np.full((1000, 2), 5e-10))
    assert total == pytest.approx(1000 * np.log(1e-9), rel=1e-13)
    np.testing.assert_allclose(assigned, [[500.0, 500.0]])


@pytest.mark.parametrize("totals", [[1e-149, 1e-180], [1e-180, 1e-149, 1e-300, 1e-20], [1e-300] * 5])
def test_small_totals_beside_each_other_leave_no_range(totals):
    """10^-149 needs no log of its own, and 10^-329 is no number."""
    position, shares = np.arange(len(totals))[None, :], np.array(totals)[:, None] / 2 * np.ones(2)
    total, *_ = shared_out(position, np.ones(1), np.ones((1, 2)), shares)
    assert total == pytest.approx(np.log(totals).sum(), rel=1e-13)
    found = told(position, np.ones(2), shares, np.full((3, len(totals)), 0.3))
    np.testing.assert_allclose(found, np.log(np.array(totals) / 2).sum(), rtol=1e-12)


def test_many_large_totals_leave_no_range():
    """400 columns in which every component has the label for certain, beside one another: 10^400."""
    total, *_ = shared_out(np.arange(400)[None, :], np.ones(1), np.ones((1, 10)), np.ones((400, 10)))
    assert total == pytest.approx(400 * np.log(10), rel=1e-13)


def test_a_label_that_no_component_has_is_shared_out_to_none():
    shares = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.25]])
    total, assigned, counts = shared_out(np.array([[1, 2]]), np.ones(1), np.ones((1, 2)), shares)
    assert total == -np.inf
    np.testing.assert_allclose(assigned, [[2 / 3, 1 / 3]])
    np.testing.assert_allclose(counts, [[0, 0], [0, 0], [2 / 3, 1 / 3]])
    assert told(np.array([[1, 2]]), np.ones(2), shares, np.full((4, 2), 0.5)).tolist() == [-np.inf]


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("n_components", [2, 3])
def test_labels_are_told_with_their_probability(n_components, scale):
    """The mean over seeds of the estimate, which is unbiased, against the sum over all assignments."""
    alpha, shares, position = components(n_components, n_columns=5)
    exact = log_evidence(position, scale * alpha, shares)
    seeds = [np.random.default_rng(seed).random((200, 5)) for seed in range(40)]
    ratios = np.exp([told(position, scale * alpha, shares, chances) - exact for chances in seeds])
    errors = ratios.std(axis=0, ddof=1) / np.sqrt(len(seeds))
    assert (np.abs(ratios.mean(axis=0) - 1.0) < 4.5 * errors + 1e-12).all()
    assert errors.max() < 0.1


def test_one_component_one_label_and_none_need_no_draw():
    alpha, shares, position = components()
    chances = np.random.default_rng(2).random((3, 4))
    one = position[:, :1]
    expected = np.where(one[:, 0] < 0, 0.0, np.log(shares[one[:, 0]] @ alpha / alpha.sum()))
    np.testing.assert_allclose(told(one, alpha, shares, chances[:, :1]), expected, atol=1e-14)
    alone = np.ascontiguousarray(shares[:, :1])
    np.testing.assert_allclose(
        told(position, alpha[:1], alone, chances),
        np.where(position < 0, 0.0, np.log(alone[position, 0])).sum(axis=1),
        rtol=1e-12,
    )
    assert told(np.full((1, 4), -1), alpha, shares, chances).tolist() == [0.0]


def test_many_columns_are_told_within_a_floats_range():
    n_columns = 2000
    shares = np.full((n_columns, 2), 1e-3)
    found = told(np.arange(n_columns)[None, :], np.ones(2), shares, np.full((2, n_columns), 0.3))
    np.testing.assert_allclose(found, n_columns * np.log(1e-3), rtol=1e-12)
