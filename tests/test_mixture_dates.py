"""Tables with dates, fitted: the same answer as with days as numbers, and dates in what is answered."""

import datetime
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partita
from partita import Mixture
from partita.engines import EM
from partita.priors import FiniteDirichlet
from partita.table import Schema, Table

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 60
SINCE = np.datetime64("2020-02-27")


def example():
    """Two groups a year apart, some cells missing, and the days since the first."""
    rng = np.random.default_rng(4)
    group = rng.integers(0, 2, N)
    days = 365 * group + rng.integers(0, 50, N)
    days -= days.min()
    joined = pd.Series((SINCE + days).astype("M8[s]"))
    joined[::11] = pd.NaT
    frame = pd.DataFrame({"joined": joined, "x": rng.normal(size=N) + 4 * group})
    return frame, np.where(joined.isna(), np.nan, days)


def small(**options):
    return Mixture(chains=2, draws=40, random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(example()[0])


@pytest.mark.parametrize("engine", ["gibbs", "vb"])
def test_dates_fit_as_days_that_are_numbers(engine):
    frame, days = example()
    dates = Table.read(frame)
    plain = Table.read(frame.assign(joined=days))
    stepped = Schema((replace(plain.schema.columns[0], step=1.0), *plain.schema.columns[1:]))
    numbers = Table(stepped, plain.numeric, plain.codes, plain.counts, plain.origin)
    one, other = (small(engine=engine).fit(table) for table in (dates, numbers))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.probabilities_.tobytes() == other.probabilities_.tobytes()
    assert one.cluster_centers_.tobytes() == other.cluster_centers_.tobytes()
    later = frame.assign(joined=frame["joined"] + pd.Timedelta(1000, "D"))
    as_numbers = frame.assign(joined=days + 1000)
    assert one.predict_proba(later).tobytes() == other.predict_proba(as_numbers).tobytes()


def test_the_profile_says_dates(fitted):
    profile = fitted.profile_
    rows = profile[profile["column"] == "joined"]
    assert set(rows["kind"]) == {"date"}
    for low, mean, high in zip(rows["mean_low"], rows["mean"], rows["mean_high"]):
        assert datetime.date.fromisoformat(low) < datetime.date.fromisoformat(mean) < datetime.date.fromisoformat(high)
    assert rows["sd"].between(5, 50).all()
    centers = SINCE + np.rint(fitted.cluster_centers_[:, 0]).astype("m8[D]")
    apart = np.abs(np.array(rows["mean"].tolist(), dtype="M8[D]") - centers)
    assert (apart <= np.timedelta64(3, "D")).all()
    assert all(isinstance(mean, float) for mean in profile.loc[profile["column"] == "x", "mean"])


def test_numbers_stay_numbers_in_profiles_without_dates():
    frame, days = example()
    assert small().fit(frame.assign(joined=days)).profile_["mean"].dtype == np.float64


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_libraries_without_columns_of_several_types(library, fitted):
    model = small().fit(library(example()[0].assign(c=["a", "b"] * (N // 2))))
    profile = pa.Table.from_pydict({name: list(column) for name, column in _columns(model.profile_).items()})
    assert profile["mean"].type == pa.string()
    means = dict(zip(profile["column"].to_pylist(), profile["mean"].to_pylist()))
    assert datetime.date.fromisoformat(means["joined"])
    assert float(means["x"]) < 100
    assert means["c"] is None
    rows = _columns(model.sample(5)[0])
    assert all(isinstance(day, datetime.date) for day in rows["joined"])


def _columns(frame):
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def test_new_rows_have_dates(fitted):
    rows, labels = fitted.sample(50)
    assert rows["joined"].dtype.kind == "M"
    assert (rows["joined"] == rows["joined"].dt.normalize()).all()
    np.testing.assert_array_equal(fitted.predict(rows) == labels, labels >= 0)


def test_an_array_of_dates_samples_a_frame():
    frame, _ = example()
    model = small().fit(frame[["joined"]].dropna().to_numpy().astype("M8[D]"))
    assert list(model.sample(3)[0].columns) == ["x0"]
    assert model.sample(3)[0]["x0"].dtype.kind == "M"


def test_a_row_is_explained_with_its_date(fitted):
    frame, _ = example()
    why = fitted.explain(1)
    assert why.values["joined"] == frame["joined"][1].date()
    assert str(frame["joined"][1].date()) in str(why)
    assert fitted.explain(0).values["joined"] is None
    asked = {"joined": str(frame["joined"][1].date()), "x": frame["x"][1]}
    assert fitted.explain(asked).total == fitted.explain(frame.iloc[[1]]).total
    assert fitted.explain(frame.iloc[1]).total == fitted.explain(frame.iloc[[1]]).total
    with pytest.raises(ValueError, match="'joined' is to hold dates, but row 0 holds the text 'soon'"):
        fitted.explain({"joined": "soon", "x": 1.0})


def test_a_saved_model_reads_dates_again(fitted, tmp_path):
    frame, _ = example()
    fitted.save(tmp_path / "m.partita")
    again = partita.load(tmp_path / "m.partita")
    assert again.table_.schema == fitted.table_.schema
    assert again.predict_proba(frame).tobytes() == fitted.predict_proba(frame).tobytes()
    assert again.profile_.equals(fitted.profile_)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert again.predict_proba(tmp_path / "t.csv").tobytes() == fitted.predict_proba(frame).tobytes()


def test_em_says_numbers_since_the_first():
    frame, days = example()
    engines = {"engine": EM(), "prior": FiniteDirichlet(n_components=2)}
    dates, numbers = (Mixture(random_state=0, **engines).fit(X) for X in (frame, frame.assign(joined=days)))
    np.testing.assert_array_equal(dates.means_, numbers.means_)
