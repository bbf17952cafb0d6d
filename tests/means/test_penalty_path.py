"""What comes out along penalties: by hand, against fits, and of tables without groups."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from partita.means import CRAFT, BinaryMeans, DPMeans, PenaltyPath
from partita.means.penalty_path import MOST_OPENED, N_PENALTIES
from partita.metrics import adjusted_rand

GROUPS = np.repeat([0, 1, 2], 30)


def numbers(seed=0):
    """Three groups of 30 rows, far apart in two columns of four."""
    rows = np.random.default_rng(seed).normal(size=(90, 4))
    rows[:, :2] += 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[GROUPS]
    return rows


def bits(seed=0):
    ones = np.arange(9) // 3 == GROUPS[:, None]
    return (np.random.default_rng(seed).random((90, 9)) < np.where(ones, 0.95, 0.05)).astype(int)


MODELS = {
    "dp": (DPMeans(n_init=3, random_state=0), numbers()),
    "in order": (DPMeans(n_init=2, parallel=False, init="random", random_state=0), numbers()),
    "bits": (BinaryMeans(n_init=3, init="random", random_state=0), bits()),
    "craft": (CRAFT(n_init=2, random_state=0), numbers()),
    "approximate": (CRAFT(n_init=2, budget="approximate", random_state=0), numbers()),
}
EACH = pytest.mark.parametrize(("model", "X"), MODELS.values(), ids=MODELS)


@EACH
def test_every_penalty_is_fitted_as_fit_does_it(model, X):
    path = model.penalty_path(X, [60.0, 5.0, 15.0], n_repeats=0)
    assert isinstance(path, PenaltyPath)
    assert path.penalties.tolist() == [5.0, 15.0, 60.0]
    for penalty, n_clusters, objective in zip(path.penalties, path.n_clusters, path.objective):
        told = clone(model).set_params(penalty=penalty).fit(X)
        assert (told.n_clusters_, told.objective_) == (n_clusters, pytest.approx(objective, rel=1e-12))
    assert np.isnan(path.stability).all()


@EACH
def test_the_range_goes_from_many_clusters_to_one(model, X):
    path = model.penalty_path(X, n_repeats=1)
    assert len(path.penalties) == N_PENALTIES
    np.testing.assert_allclose(np.diff(np.log(path.penalties)), np.log(path.penalties[1] / path.penalties[0]))
    assert path.n_clusters[-1] == 1
    assert path.n_clusters[0] > 1
    np.testing.assert_array_equal(np.isnan(path.stability), path.n_clusters == 1)
    assert np.nanmax(path.stability) > 0.85


def test_the_least_penalty_is_what_the_30th_row_saves_by_farthest_first():
    X = numbers()[:, :2]
    squares = np.square(X - X.mean(axis=0)).sum(axis=1)
    saved = []
    for _ in range(MOST_OPENED - 1):
        saved.append(squares.max())
        squares = np.minimum(squares, np.square(X - X[squares.argmax()]).sum(axis=1))
    assert DPMeans(n_init=1).penalty_path(X, n_repeats=0).penalties[0] == pytest.approx(saved[-1])


def test_stability_is_the_agreement_of_two_halves_on_all_rows():
    """By hand, with the halves that the same seed draws; one start, at the mean, draws none."""
    X = numbers()
    path = DPMeans(n_init=1, random_state=3).penalty_path(X, [2.0, 40.0], n_repeats=2)
    rng = np.random.default_rng(3)
    halves = [np.array_split(rng.permutation(90), 2) for _ in range(2)]
    for penalty, stability in zip(path.penalties, path.stability):
        fits = [[DPMeans(penalty=penalty, n_init=1).fit(X[half]) for half in pair] for pair in halves]
        agreement = [adjusted_rand(one.predict(X), other.predict(X)) for one, other in fits]
        assert stability == pytest.approx(np.mean(agreement))
    assert path.stability[0] < path.stability[1] == 1.0


def test_without_groups_no_number_of_clusters_is_stable():
    X = np.random.default_rng(1).normal(size=(200, 3))
    path = DPMeans(n_init=3, random_state=0).penalty_path(X)
    assert np.nanmean(path.stability) < 0.75


def test_the_seed_decides_and_the_estimator_stays_as_it_is():
    model = CRAFT(n_init=2, random_state=0, penalty=30.0).fit(numbers())
    before = {**vars(model)}
    one, two = (model.penalty_path(numbers(), [5.0, 20.0], n_repeats=1) for _ in range(2))
    np.testing.assert_array_equal(one.stability, two.stability)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_a_hint_is_not_asked_and_sparse_rows_and_frames_are_rows():
    X, penalties = numbers(), [4.0, 40.0]
    dense = DPMeans(random_state=0).penalty_path(X, penalties, n_repeats=1)
    sparse = DPMeans(n_clusters_hint=2, random_state=0).penalty_path(csr_array(X), penalties, n_repeats=1)
    np.testing.assert_array_equal(dense.n_clusters, sparse.n_clusters)
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.array(["a", "b", "c"])[GROUPS]})
    frame.loc[::7, "size"] = np.nan
    assert CRAFT(n_init=1, random_state=0).penalty_path(frame, [2.0, 900.0], n_repeats=1).n_clusters[-1] == 1


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.ones((1, 2))])
def test_equal_rows_have_one_penalty_and_one_cluster(X):
    path = DPMeans().penalty_path(X)
    assert (path.penalties.tolist(), path.n_clusters.tolist()) == ([1.0], [1])
    assert np.isnan(path.stability).all()


@pytest.mark.parametrize("wrong", [[], [0.0], [-1.0], [np.inf], [np.nan], ["a"], [[1.0]], 3.0, [True]])
def test_penalties_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=r"penalties must be positive numbers, such as \[1, 10, 100\]"):
        DPMeans().penalty_path(numbers(), wrong)


def test_what_fit_refuses_is_refused():
    with pytest.raises(ValueError, match="n_repeats"):
        DPMeans().penalty_path(numbers(), n_repeats=-1)
    with pytest.raises(ValueError, match="smoothing"):
        BinaryMeans(smoothing=0.0).penalty_path(bits())
    with pytest.raises(ValueError, match="budget"):
        CRAFT(budget="some").penalty_path(numbers())
