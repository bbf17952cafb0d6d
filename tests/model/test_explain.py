"""`Mixture.explain`: nats per column that sum to the log odds of two groups."""

from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from tests.mixtures import diagonal, full, mixed, quick, unconverged_is_fine
from tests.volumes import mostly_long

from partita import Mixture, load
from partita.families import Categorical, Count, Gaussian, Mixed
from partita.model.explanation import Explanation

pytestmark = unconverged_is_fine

rng = np.random.default_rng(8)
GROUP = np.repeat([0, 1, 2], [25, 20, 15])
NUMBERS = rng.multivariate_normal(np.zeros(3), [[1, 0.8, 0.3], [0.8, 1, 0.1], [0.3, 0.1, 1]], 60)
NUMBERS += 3.0 * np.array([[0, 0, 0], [2, 1, 0], [0, 2, 2]])[GROUP]
NUMBERS = NUMBERS * [1.0, 20.0, 0.1] + [5.0, -3.0, 0.0]
GAPS = np.where(rng.random((60, 3)) < 0.1, np.nan, NUMBERS)
WORDS = np.array(list("abc"), dtype=object)[(GROUP[:, None] + (rng.random((60, 6)) < 0.2)) % 3]
WORDS[5, :2] = None
COUNTS = rng.poisson(np.array([[1, 12, 3], [9, 1, 3], [4, 4, 30]])[GROUP]).astype(float)
COUNTS[7, 1] = np.nan
TABLE = np.column_stack([WORDS[:, :2], GAPS.astype(object), COUNTS[:, :2].astype(object)])
COUNTED = {"column_types": dict.fromkeys(range(3), "count")}
MIXED_TYPES = {"column_types": {5: "count", 6: "count"}}
FULL = Gaussian(covariance="full")


def case(kind, name, x, family, **options):
    marks = pytest.mark.xdist_group(kind)
    return pytest.param((x, {"family": family, **options}), id=f"{kind}-{name}", marks=marks)


CASES = [
    case("gaussian-full", "complete", NUMBERS, FULL),
    case("gaussian-full", "gaps", GAPS, FULL),
    case("gaussian-diag", "gaps", GAPS, Gaussian(covariance="diag")),
    case("known", "gaps", GAPS, Gaussian(covariance="known", variance=0.1)),
    case("categorical", "gaps", WORDS, Categorical()),
    case("count", "gaps", COUNTS, Count(), **COUNTED),
    case("mixed", "diag", TABLE, Mixed(), **MIXED_TYPES),
    case("mixed", "full", TABLE, Mixed(families={"numeric": FULL}), **MIXED_TYPES),
]
INDEPENDENT = [CASES[k] for k in (2, 3, 4, 5, 6)]


@pytest.fixture(scope="module")
def fitted(request) -> tuple[Mixture, np.ndarray]:
    """A fitted model of at least three groups and its table."""
    x, options = request.param
    model = quick(**options).fit(x)
    assert model.n_clusters_ >= 3
    return model, x


every_family = pytest.mark.parametrize("fitted", CASES, indirect=True)


def log_odds(model, rows, label, runner_up):
    logs = np.log(model.predict_proba(rows))
    return logs[:, label] - logs[:, runner_up]


def missing(row):
    return [j for j, cell in enumerate(row) if pd.isna(cell)]


# --- the numbers ----------------------------------------------------------------------------------


@mostly_long
@every_family
def test_the_total_is_the_log_odds_of_the_prediction(fitted):
    model, x = fitted
    logs = np.log(np.maximum(model.predict_proba(x), 1e-300))
    compared = 0
    for i in range(0, 60, 3):
        found = model.explain(i)
        assert found.label == model.labels_[i]
        assert found.runner_up == np.where(np.arange(logs.shape[1]) == found.label, -np.inf, logs[i]).argmax()
        assert found.total == pytest.approx(found.prior + sum(found.log_weights.values()), abs=1e-12)
        if logs[i, found.runner_up] > -600:
            compared += 1
            assert found.total == pytest.approx(logs[i, found.label] - logs[i, found.runner_up], rel=1e-9, abs=1e-9)
    assert compared > 10


@every_family
def test_a_new_row_is_explained_as_it_is_predicted(fitted):
    model, x = fitted
    rows = np.roll(x, 7, axis=0)
    rows[:, 0] = x[:, 0]  # rows never seen, some between the groups
    for i in range(0, 60, 6):
        found = model.explain(rows[i])
        assert found.label == model.predict(rows[i : i + 1])[0]
        assert found.total >= 0


@mostly_long
@every_family
def test_missing_cells_weigh_nothing(fitted):
    model, x = fitted
    gaps = 0
    for i in range(60):
        found = model.explain(i)
        nothing = [f"x{j}" for j in missing(x[i])]
        gaps += len(nothing)
        assert [name for name, value in found.values.items() if value is None] == nothing
        assert all(found.log_weights[name] == 0.0 for name in nothing)
        assert list(found.log_weights) == list(found.values) == [f"x{j}" for j in range(x.shape[1])]
    assert gaps > 0 or x is NUMBERS


@every_family
def test_the_prior_is_what_a_row_without_cells_is_judged_by(fitted):
    model, x = fitted
    found = model.explain([None] * x.shape[1])
    sizes = np.bincount(model.labels_)
    assert found.label == sizes.argmax()
    nothing = np.full((1, x.shape[1]), None, dtype=object)
    assert found.prior == pytest.approx(log_odds(model, nothing, found.label, found.runner_up)[0], abs=1e-9)
    assert found.total == found.prior


@mostly_long
@every_family
def test_weights_are_the_average_of_what_cells_add_in_both_orders(fitted):
    """Through predictions of rows with fewer cells alone, in the family's order of columns."""
    model, x = fitted
    names = model._model.likelihood.column_names(model._model.table.schema)
    order = [int(name[1:]) for name in names]
    near_a_border = np.argsort([abs(model.explain(i).total) for i in range(60)])[:4]
    for i in near_a_border:
        found = model.explain(i)
        assert abs(found.total) < 100
        expected = 0.5 * (added(model, x[i], order, found) + added(model, x[i], order[::-1], found))
        np.testing.assert_allclose(list(found.log_weights.values()), expected, rtol=1e-8, atol=1e-8)


def added(model, row, order, found):
    """What each cell adds to the log odds when cells come in this order."""
    rows = np.full((len(order) + 1, len(order)), None, dtype=object)
    for number, j in enumerate(order):
        rows[number + 1 :, j] = row[j]
    steps = np.diff(log_odds(model, rows, found.label, found.runner_up))
    out = np.empty(len(order))
    out[order] = steps
    return out


@full
@pytest.mark.parametrize("table", [NUMBERS, GAPS], ids=["complete", "gaps"])
def test_of_two_columns_under_a_full_covariance_they_are_shapley_values(table):
    x = table[~np.isnan(table[:, :2]).all(axis=1), :2]
    model = quick(family=FULL).fit(x)
    for i in np.flatnonzero(~np.isnan(x).any(axis=1))[::11]:
        found = model.explain(i)
        subsets = np.array([[np.nan, np.nan], [x[i, 0], np.nan], [np.nan, x[i, 1]], x[i]])
        nothing, first, second, both = log_odds(model, subsets, found.label, found.runner_up)
        shapley = 0.5 * (first - nothing + both - second), 0.5 * (second - nothing + both - first)
        np.testing.assert_allclose(list(found.log_weights.values()), shapley, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("fitted", INDEPENDENT, indirect=True)
def test_permuted_columns_permute_the_weights(fitted):
    model, x = fitted
    order = np.random.default_rng(1).permutation(x.shape[1])
    types = {j: (model.column_types or {}).get(int(c)) for j, c in enumerate(order)}
    types = {j: kind for j, kind in types.items() if kind}
    other = quick(**(model.get_params(deep=False) | {"column_types": types or None})).fit(x[:, order])
    np.testing.assert_array_equal(other.labels_, model.labels_)
    for i in range(0, 60, 7):
        first, second = model.explain(i), other.explain(i)
        weights = [first.log_weights[f"x{c}"] for c in order]
        np.testing.assert_allclose(list(second.log_weights.values()), weights, rtol=1e-9, atol=1e-9)
        assert list(second.values.values()) == pytest.approx([first.values[f"x{c}"] for c in order])


@diagonal
def test_one_group_needs_no_explanation():
    model = quick(family=Gaussian(covariance="diag")).fit(np.random.default_rng(0).normal(size=(40, 2)))
    assert model.n_clusters_ == 1
    found = model.explain(3)
    assert (found.label, found.runner_up, found.prior, found.total) == (0, -1, 0.0, 0.0)
    assert found.log_weights == {"x0": 0.0, "x1": 0.0}
    assert str(found) == "Group 0 is the only one."


# --- rows of every kind ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    columns = {"town": WORDS[:, 0], "size": GAPS[:, 0], "planet": "earth", "visits": COUNTS[:, 1]}
    return pd.DataFrame(columns, index=[f"p{i}" for i in range(60)])


def fit(table) -> Mixture:
    with pytest.warns(UserWarning, match="Dropped 1 constant column"):
        return quick(column_types={"visits": "count"}).fit(table)


@pytest.fixture(scope="module")
def people(frame) -> Mixture:
    return fit(frame)


@mixed
def test_a_row_may_be_given_in_many_ways(people, frame):
    i = int(np.flatnonzero((people.predict(frame) == people.labels_) & frame.notna().all(axis=1))[0])
    expected = people.explain(i)
    assert list(expected.values) == ["town", "size", "visits"]
    assert expected.values["town"] == frame["town"].iloc[i]
    assert expected.values["size"] == pytest.approx(frame["size"].iloc[i])
    assert expected.values["visits"] == frame["visits"].iloc[i]
    assert isinstance(expected.values["visits"], int)
    row = frame.iloc[i]
    backwards = dict(reversed(row.to_dict().items()))
    ways = [np.int64(i), row, row[::-1], frame.iloc[[i]], frame.iloc[[i]][frame.columns[::-1]], backwards]
    ways += [row.tolist(), tuple(row), row.to_numpy(), [row.tolist()], row.to_numpy()[None]]
    for way in ways:
        assert people.explain(way) == expected


@mixed
def test_a_model_of_polars_explains_its_own_rows(people, frame):
    table = pl.DataFrame({name: [None if pd.isna(v) else v for v in frame[name]] for name in frame})
    model = fit(table)
    for i in (0, 30):
        expected = people.explain(i)
        assert model.explain(i) == expected
        if model.predict(table[i])[0] == expected.label:
            for way in (table[i], table.row(i), table.row(i, named=True)):
                assert model.explain(way) == expected


@diagonal
def test_an_array_model_takes_series_by_position():
    model = quick(family=Gaussian(covariance="diag")).fit(NUMBERS)
    expected = model.explain(NUMBERS[4])
    for row in (pd.Series(NUMBERS[4]), pl.Series(NUMBERS[4]), NUMBERS[4].tolist(), pd.DataFrame(NUMBERS[[4]])):
        assert model.explain(row) == expected


@mixed
def test_the_text_names_the_weightiest_columns_first(people):
    found = people.explain(7)
    lines = str(found).splitlines()
    assert lines[0].startswith(f"Group {found.label} against group {found.runner_up}: {found.total:+.2f} nats (odds ")
    ranked = sorted(found.log_weights, key=lambda name: -abs(found.log_weights[name]))
    assert [line.split()[0] for line in lines[1:-1]] == ranked
    assert found.values["visits"] is None
    assert any(line.split() == ["visits", "+0.00", "missing"] for line in lines)
    assert lines[-1].split() == ["group", "sizes", f"{found.prior:+.2f}"]


def test_the_text_stays_short():
    names = [f"c{j}" for j in range(300)]
    weights = {name: (-1.0) ** j * j / 100 for j, name in enumerate(names)}
    found = Explanation(2, 0, -0.5, weights, dict.fromkeys(names, 1 / 3))
    lines = str(found).splitlines()
    assert len(lines) == 13
    assert lines[0] == "Group 2 against group 0: -2.00 nats (odds 1 to 7.39)."
    assert lines[1].split() == ["c299", "-2.99", "0.333333"]
    assert lines[-2].split() == ["others", "-1.45", "290", "columns"]
    certain = Explanation(0, 1, 0.0, {"a": 5000.0}, {"a": "red"})
    assert "+5000.00 nats (odds more than a million to 1)" in str(certain)
    likely = Explanation(0, 1, 0.0, {"a": np.log(30_000.0)}, {"a": None})
    assert "(odds 30,000 to 1)" in str(likely)


# --- names of rows --------------------------------------------------------------------------------


def fit_indexed(index) -> Mixture:
    """A model of 60 rows with this index."""
    frame = pd.DataFrame(NUMBERS, columns=list("abc"), index=index)
    return quick(family=Gaussian(covariance="diag")).fit(frame)


def again(model, folder) -> Mixture:
    """The model after saving and loading."""
    model.save(folder / "model.partita")
    return load(folder / "model.partita")


@mixed
def test_a_row_is_found_by_its_name(people, tmp_path):
    for model in (people, again(people, tmp_path)):
        assert model.explain("p7") == model.explain(7) == people.explain(7)
        assert model.explain(np.str_("p59")) == people.explain(59)


@mostly_long
@diagonal
@pytest.mark.parametrize("index", [None, list(range(60)), np.arange(60.0), pd.Index(range(60), dtype="Int64")])
def test_numbers_from_0_are_names_and_positions(index, tmp_path):
    model = fit_indexed(index)
    for one in (model, again(model, tmp_path)):
        assert one.explain(5) == model._explain_at(5)
        with pytest.raises(ValueError, match="Row 60 does not exist"):
            one.explain(60)


@diagonal
def test_other_numbers_are_names_as_in_loc(tmp_path):
    """As of a frame whose rows were filtered: position 5 is row 10, and there is no row 5."""
    model = fit_indexed(np.arange(0, 120, 2))
    for one in (model, again(model, tmp_path)):
        assert one.explain(10) == one.explain(np.int64(10)) == one.explain(10.0) == model._explain_at(5)
        for number in (5, np.int64(5)):
            with pytest.raises(
                ValueError, match=r"named 5\. Its index holds numbers, 0, 2, 4 and 57 more, so a number"
            ):
                one.explain(number)
        with pytest.raises(ValueError, match=r"named 'ten'\. The names are '0', '2', '4' and 57 more"):
            one.explain("ten")
        assert one.explain(NUMBERS[5]).label == model.predict(pd.DataFrame(NUMBERS[[5]], columns=list("abc")))[0]


@diagonal
def test_a_name_of_several_rows_is_refused(tmp_path):
    words = fit_indexed(["a", "b", *("c" for _ in range(58))])
    numbers = fit_indexed([7, 7, *range(100, 158)])
    for keep in (lambda model: model, lambda model: again(model, tmp_path)):
        with pytest.raises(
            ValueError, match=r"58 rows are named 'c' \(positions 2, 3, 4 and 55 more\): pass one of these"
        ):
            keep(words).explain("c")
        assert keep(words).explain(1) == keep(words).explain("b")
        with pytest.raises(ValueError, match=r"2 rows are named 7 \(positions 0, 1\): pass the row itself, X.iloc"):
            keep(numbers).explain(7)


@diagonal
def test_names_of_every_kind():
    days = pd.date_range("2020-01-01", periods=60)
    model = fit_indexed(days)
    assert model.explain(days[9]) == model.explain(days[9].to_pydatetime()) == model.explain(9)
    pairs = fit_indexed(pd.MultiIndex.from_product([list("abcdef"), range(10)]))
    assert pairs.explain(("b", 3)) == pairs.explain(13)
    with pytest.raises(ValueError, match="columns"):
        pairs.explain(("b", 77))
    odd = fit_indexed([None, True, 2.5, pd.NA, *(f"r{i}" for i in range(56))])
    assert odd.explain(2.5) == odd._explain_at(2)
    assert odd.explain("r0") == odd._explain_at(4)
    for row in (True, None):
        with pytest.raises(TypeError, match="row must be"):
            odd.explain(row)
    with pytest.raises(ValueError, match="named 1"):
        odd.explain(1)


# --- refusals -------------------------------------------------------------------------------------

ROW = {"town": "a", "size": 5.0, "planet": "earth", "visits": 3}


@mixed
@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        (60, ValueError, r"Row 60 does not exist: the fitted table has rows 0 to 59\."),
        (-1, ValueError, "Row -1 does not exist"),
        (True, TypeError, "row must be a position in the fitted table .* not bool"),
        (3.0, TypeError, "one value per column, not float"),
        ("p77", ValueError, r"No row of the fitted table is named 'p77'\. Did you mean 'p7'\?"),
        (" P12", ValueError, r"Did you mean 'p12'\?"),
        ("nobody", ValueError, r"The names are 'p0', 'p1', 'p2' and 57 more\."),
        (object(), TypeError, "a name in its index, a table of one row or one value per column, not object"),
        (None, TypeError, "not NoneType"),
        (np.zeros((1, 2, 2)), TypeError, "not ndarray"),
        ([list(ROW.values())] * 3, ValueError, "explain takes one row, got 3: pass one of them"),
        ([1.0, 2.0], ValueError, "X has 2 columns, but 4 were seen in fit"),
        ([], ValueError, "0 feature"),
        ({"town": "a", "size": 1.0}, ValueError, r"lacks columns seen in fit: 'planet', 'visits'\. A missing cell"),
        (ROW | {"visits": -2}, ValueError, "Column 'visits' is to hold counts"),
        (ROW | {"size": np.inf}, ValueError, "Column 'size' has 1 infinite value"),
        (pd.Series({"town": "a", "visits": 3}), ValueError, "lacks columns seen in fit: 'size', 'planet'"),
    ],
)
def test_what_is_no_row_is_refused(people, row, error, words):
    with pytest.raises(error, match=words):
        people.explain(row)


@mixed
def test_values_and_columns_never_seen_are_left_out(people):
    with pytest.warns(UserWarning, match="1 column not seen in fit is ignored: 'zip'"):
        assert people.explain(ROW | {"zip": 3}) == people.explain(ROW)
    with pytest.warns(UserWarning, match=r"'Rome' in column 'town' \(row 0\)"):
        assert people.explain(ROW | {"town": "Rome"}) == people.explain(ROW | {"town": None})
    with pytest.raises(ValueError, match=r"Column 'town' has 1 value not seen in fit: 'Rome' \(row 0\)"):
        copy(people).set_params(unseen="error").explain(ROW | {"town": "Rome"})


def test_only_a_fitted_model_explains():
    with pytest.raises(NotFittedError):
        quick().explain(0)
