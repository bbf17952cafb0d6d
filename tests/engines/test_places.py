"""Parts of a table in odd places: none, one label only, another state; labels of a place's own rows."""

import numpy as np
import pytest

from partita import NBCE, Mixture
from partita.engines import CollapsedVariational
from partita.families import Gaussian


@pytest.fixture(scope="module")
def ensemble():
    """A column of one label, and an object that has a label nowhere else."""
    rng = np.random.default_rng(4)
    truth = np.arange(60) % 3
    noisy = [np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), truth) for _ in range(4)]
    Y = np.column_stack([*noisy, np.zeros(60, dtype=np.int64)])
    Y[rng.random(Y.shape) < 0.1] = -1
    Y[7] = [-1, -1, -1, -1, 0]
    return Y


@pytest.fixture(scope="module")
def fitted(ensemble):
    return NBCE(engine="vb", n_components=10, random_state=0).fit(ensemble)


def test_a_place_without_rows_sends_zeros(ensemble, fitted):
    steps, state = fitted.steps_, fitted.state_
    nothing = steps.local_statistics(ensemble[:0], state)
    assert all((part == 0.0).all() for part in nothing)
    whole = steps.local_statistics(ensemble, state)
    for both, alone in zip(steps.merge(whole, nothing), whole):
        np.testing.assert_array_equal(both, alone)
    assert steps.column_loglik(ensemble[:0, 0], state, 0).shape == (0, state.n_components)


def test_columns_count_the_objects_that_rows_count(ensemble, fitted):
    """Object 7 has its only label in a column whose densities are all 1."""
    steps, state = fitted.steps_, fitted.state_
    loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(ensemble.T))
    resp = steps.responsibilities(loglik, state)
    parts = [steps.column_statistics(column, resp, m) for m, column in enumerate(ensemble.T)]
    found, whole = steps.join_columns(loglik, parts, state), steps.local_statistics(ensemble, state)
    for by_columns, by_rows in zip(found, whole):
        np.testing.assert_allclose(by_columns, by_rows, rtol=1e-10, atol=1e-10)
    missing = steps.column_loglik(np.full(5, -1), state, 4)
    np.testing.assert_array_equal(missing, 0.0)


def test_memberships_are_the_labels_of_a_place(ensemble, fitted):
    steps, state = fitted.steps_, fitted.state_
    parts = [steps.memberships(rows, state) for rows in (ensemble[:25], ensemble[25:])]
    np.testing.assert_allclose(np.vstack(parts), steps.memberships(ensemble, state), rtol=1e-12)
    labels = np.vstack(parts).argmax(axis=1)
    pairs = {(int(own), int(label)) for own, label in zip(labels, fitted.labels_)}
    assert len(pairs) == fitted.n_clusters_


def test_statistics_of_another_state_are_refused(ensemble, fitted):
    steps, state = fitted.steps_, fitted.state_
    other = NBCE(engine="vb", n_components=1, random_state=0).fit(ensemble)
    mine, others = steps.local_statistics(ensemble, state), other.steps_.local_statistics(ensemble, other.state_)
    with pytest.raises(ValueError, match="different states"):
        steps.merge(mine, others)
    with pytest.raises(ValueError, match="not statistics under this state"):
        steps.global_step(others, state)


@pytest.mark.parametrize("m", [1.5, "a", None, 5, -1])
def test_columns_are_numbered(ensemble, fitted, m):
    with pytest.raises((TypeError, ValueError), match=r"column|Column"):
        fitted.steps_.column_loglik(ensemble[:, 0], fitted.state_, m)


def test_columns_of_a_full_covariance_cannot_live_apart():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Mixture(engine="vb", family=Gaussian(covariance="full"), random_state=0).fit(X)
    with pytest.raises(ValueError, match="covariance='diag'"):
        model.steps_.column_loglik(X[:, 0], model.state_, 0)


@pytest.mark.parametrize("option", ["concentration", "pseudocount"])
def test_second_order_at_the_smallest_numbers(ensemble, option):
    engine = CollapsedVariational(order=2, n_init=1)
    found = NBCE(engine=engine, learn=(), random_state=0, **{option: 1e-300}).fit(ensemble)
    assert np.isfinite(found.elbo_path_).all()
