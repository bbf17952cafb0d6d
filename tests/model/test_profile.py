"""`Mixture.profile_`: what is typical of a group, in the user's units, in the kind of frame that came in."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.mixtures import categorical, counted, diagonal, full, known, mixed, quick, unconverged_is_fine

from partita import Mixture
from partita.families import Categorical, Count, Gaussian, Mixed

pytestmark = unconverged_is_fine

COLUMNS = [
    "cluster", "column", "kind", "category", "n_observed", "mean", "mean_low", "mean_high", "sd", "sd_low", "sd_high",
    "share", "share_low", "share_high", "relevance",
]  # fmt: skip
LINEAR = ["mean", "mean_low", "mean_high"]
SPREADS = ["sd", "sd_low", "sd_high"]


@pytest.fixture(scope="module")
def group() -> np.ndarray:
    return np.repeat([0, 1, 2], [30, 20, 10])


@pytest.fixture(scope="module")
def numbers(group) -> np.ndarray:
    """A column that separates three groups, one of noise, one that marks the last group."""
    rng = np.random.default_rng(6)
    return np.column_stack([rng.normal(10.0 * group), rng.normal(size=60), rng.normal(8.0 * (group == 2))])


@pytest.fixture(scope="module")
def frame(group, numbers) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "town": np.array(["Ulm", "Bonn", "Trier"], dtype=object)[(group + (rng.random(60) < 0.1)) % 3],
            "size": 160.0 + numbers[:, 0],
            "visits": rng.poisson(np.array([2.0, 9.0, 30.0])[group]).astype(float),
            "planet": 3.0,
            "member": (rng.random(60) < np.array([0.1, 0.9, 0.5])[group]).astype(object),
        },
        index=[f"p{i}" for i in range(60)],
    )
    frame.iloc[[0, 31], 1] = np.nan
    frame.iloc[[2, 3, 59], 0] = None
    frame.iloc[4, 2] = np.nan
    return frame


def fit(table, **options) -> Mixture:
    with pytest.warns(UserWarning, match="Dropped 1 constant column.*'planet'"):
        return quick(column_types={"visits": "count"}, **options).fit(table)


@pytest.fixture(scope="module")
def people(frame) -> Mixture:
    return fit(frame)


def of(profile, cluster, column) -> pd.DataFrame:
    return profile[(profile["cluster"] == cluster) & (profile["column"] == column)]


# --- what it says ---------------------------------------------------------------------------------


@mixed
def test_one_row_per_cluster_and_column_and_category(people):
    profile = people.profile_
    assert profile.columns.tolist() == COLUMNS
    assert profile.index.tolist() == list(range(len(profile)))
    expected = [
        (k, column, kind, category)
        for k in range(3)
        for column, kind, categories in (
            ("town", "categorical", ("Bonn", "Trier", "Ulm")),
            ("size", "numeric", (None,)),
            ("visits", "count", (None,)),
            ("member", "categorical", ("False", "True")),
        )
        for category in categories
    ]
    rows = profile[["cluster", "column", "kind", "category"]].astype(object)
    assert list(rows.where(rows.notna(), None).itertuples(index=False, name=None)) == expected
    shares = profile["kind"] == "categorical"
    for name in (*LINEAR, *SPREADS):
        np.testing.assert_array_equal(profile[name].isna(), shares)
    for name in ("share", "share_low", "share_high"):
        np.testing.assert_array_equal(profile[name].isna(), ~shares)
    assert (profile["relevance"] >= 0).all()


@mixed
def test_observed_cells_are_counted(people, frame):
    for k in range(3):
        inside = frame[people.labels_ == k]
        for column in ("town", "size", "visits", "member"):
            assert (of(people.profile_, k, column)["n_observed"] == inside[column].notna().sum()).all()


@mixed
def test_estimates_are_near_the_averages_of_the_rows(people, frame):
    for k in range(3):
        inside = frame[people.labels_ == k]
        size, visits = of(people.profile_, k, "size").iloc[0], of(people.profile_, k, "visits").iloc[0]
        assert size["mean"] == pytest.approx(inside["size"].mean(), abs=0.5)
        assert size["mean_low"] < inside["size"].mean() < size["mean_high"]
        assert visits["mean_low"] < inside["visits"].mean() < visits["mean_high"]
        assert visits["sd"] == pytest.approx(np.sqrt(visits["mean"]), rel=0.05)
        towns = of(people.profile_, k, "town").set_index("category")["share"]
        assert towns.sum() == pytest.approx(1.0)
        assert towns.idxmax() == inside["town"].value_counts().idxmax()


@diagonal
def test_the_posterior_of_one_group_by_hand():
    x = np.random.default_rng(0).normal(20.0, 3.0, 50)
    model = quick(family=Gaussian(covariance="diag", mean=19.0, mean_precision=2.0, dof=5.0, scale=8.0))
    row = model.set_params(standardize=False).fit(x[:, None]).profile_.iloc[0]
    assert model.n_clusters_ == 1
    k, v = 2.0 + 50, 5.0 + 50
    mean = (2.0 * 19.0 + x.sum()) / k
    b = 8.0 + ((x - x.mean()) ** 2).sum() + 2.0 * 50 / k * (x.mean() - 19.0) ** 2
    t = stats.t(v, mean, np.sqrt(b / (k * v)))
    np.testing.assert_allclose(row[LINEAR].astype(float), [mean, t.ppf(0.025), t.ppf(0.975)])
    variance = stats.invgamma(v / 2, scale=b / 2)
    np.testing.assert_allclose(row[SPREADS].astype(float), np.sqrt(variance.ppf([0.5, 0.025, 0.975])))
    assert row["relevance"] == 0.0


@diagonal
def test_relevance_finds_the_columns_that_tell_groups_apart(numbers):
    model = quick(family=Gaussian(covariance="diag")).fit(numbers)
    assert model.n_clusters_ == 3
    relevance = model.profile_.pivot_table(index="cluster", columns="column", values="relevance")
    assert (relevance["x1"] < 0.3).all()  # noise; groups of 10 rows seem to differ a little
    assert (relevance["x0"] > 3.0).all()
    assert relevance.loc[2, "x2"] > 3.0
    assert (relevance.loc[:1, "x2"] < 1.5).all()


@known
def test_a_known_standard_deviation_is_known(numbers):
    x = 1000.0 + 50.0 * numbers[:, :1]
    profile = quick(family=Gaussian(covariance="known", variance=0.02)).fit(x).profile_
    for name in SPREADS:
        np.testing.assert_allclose(profile[name], np.sqrt(0.02) * x.std())
    assert (profile["mean_low"] < profile["mean_high"]).all()


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "covariance",
    [
        pytest.param("full", marks=full),
        pytest.param("diag", marks=diagonal),
        pytest.param("known", marks=known),
    ],
)
def test_other_units_change_numbers_and_no_relevance(numbers, covariance):
    x = numbers.copy()
    x[[0, 7, 40], [0, 1, 2]] = np.nan  # a full covariance draws them: several completions
    factor, shift = np.array([0.25, 1000.0, 3.0]), np.array([-7.0, 0.5, 2e4])
    models = [quick(family=Gaussian(covariance=covariance)).fit(table) for table in (x, x * factor + shift)]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    assert len(models[0]._clusters.stats) == (20 if covariance == "full" else 1)
    before, after = (model.profile_ for model in models)
    a, b = np.tile(factor, models[0].n_clusters_), np.tile(shift, models[0].n_clusters_)
    for name in LINEAR:
        np.testing.assert_allclose(after[name], before[name] * a + b, rtol=1e-6, atol=1e-6)
    for name in SPREADS:
        np.testing.assert_allclose(after[name], before[name] * a, rtol=1e-6)
    np.testing.assert_allclose(after["relevance"], before["relevance"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        pytest.param(Gaussian(covariance="diag"), {}, marks=diagonal),
        pytest.param(Mixed(), {}, marks=mixed),
    ],
)
def test_permuted_columns_permute_the_profile(numbers, family, options):
    table = pd.DataFrame(numbers, columns=["a", "b", "c"])
    models = [quick(family=family, **options).fit(t) for t in (table, table[["c", "a", "b"]])]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    first, second = (model.profile_.set_index(["cluster", "column"])[[*LINEAR, *SPREADS]] for model in models)
    np.testing.assert_allclose(second.loc[first.index], first, rtol=1e-9)


@counted
def test_weights_are_copies(group):
    counts = np.random.default_rng(9).poisson(np.array([[2, 40], [20, 3], [60, 60]])[group])
    weights = np.resize([1, 3, 0], 60)
    options = {"column_types": {0: "count", 1: "count"}, "family": Count(shape=2.0, rate=0.1)}
    model = quick(**options).fit(counts, sample_weight=weights)
    profile = model.profile_
    for k in range(model.n_clusters_):
        inside = model.labels_ == k
        rate = stats.gamma(2.0 + weights[inside] @ counts[inside], scale=1 / (0.1 + weights[inside].sum()))
        rows = profile[profile["cluster"] == k]
        assert (rows["n_observed"] == weights[inside].sum()).all()
        np.testing.assert_allclose(rows["mean"], rate.mean())
        np.testing.assert_allclose(rows["mean_high"], rate.ppf(0.975))
        np.testing.assert_allclose(rows["sd_low"], np.sqrt(rate.ppf(0.025)))


# --- frames and fits ------------------------------------------------------------------------------


@mixed
def test_every_kind_of_frame_gets_its_own_kind_back(people, frame):
    columns = {name: [None if pd.isna(v) else v for v in frame[name]] for name in frame}
    expected = people.profile_
    polars, arrow = fit(pl.DataFrame(columns)).profile_, fit(pa.table(columns)).profile_
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert polars["category"].dtype == pl.String
    assert arrow.schema.field("category").type == pa.string()
    for name in COLUMNS:
        values = expected[name].astype(object)
        values = values.where(values.notna(), None).tolist()
        for other in (polars[name].to_list(), arrow[name].to_pylist()):
            assert [None if pd.isna(v) else v for v in other] == values


@categorical
def test_an_array_of_words_has_a_frame():
    x = np.array([["a", 1], ["a", 1], ["b", 2], ["b", 2.5], ["b", None]], dtype=object)
    profile = quick(family=Categorical(), column_types={1: "categorical"}).fit(x).profile_
    one = profile[profile["cluster"] == 0]
    assert one["column"].tolist() == ["x0", "x0", "x1", "x1", "x1"]
    assert one["category"].tolist() == ["a", "b", "1", "2", "2.5"]


@diagonal
def test_a_table_of_equal_rows_has_a_profile():
    model = quick(family=Gaussian(covariance="diag")).fit(np.full((5, 2), 4.0))
    assert model.n_clusters_ == 1
    profile = model.profile_
    np.testing.assert_allclose(profile["mean"], 4.0)
    np.testing.assert_array_equal(profile["relevance"], 0.0)


@diagonal
def test_it_is_computed_once_for_each_fit(numbers, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "partita.mixture_answers.profile", lambda *a: calls.append(a) or {"cluster": np.arange(len(calls))}
    )
    model = quick(family=Gaussian(covariance="diag")).fit(numbers)
    assert not calls
    first = model.profile_
    first.loc[0, "cluster"] = 99  # whoever changes the frame changes a copy
    assert model.profile_["cluster"].tolist() == [0]
    assert len(calls) == 1
    assert model.fit(numbers).profile_["cluster"].tolist() == [0, 1]
    assert len(calls) == 2


@diagonal
def test_it_is_no_part_of_a_pickle(numbers):
    model = quick(family=Gaussian(covariance="diag")).fit(numbers)
    before = pickle.dumps(model)
    profile = model.profile_
    assert pickle.dumps(model) == before
    pd.testing.assert_frame_equal(pickle.loads(before).profile_, profile)


@diagonal
def test_only_a_fitted_model_has_one(numbers):
    model = quick(family=Gaussian(covariance="diag"))
    assert not hasattr(model, "profile_")
    with pytest.raises(NotFittedError, match="not fitted"):
        _ = model.profile_
    with pytest.raises(NotFittedError):
        _ = clone(model.fit(numbers)).profile_
