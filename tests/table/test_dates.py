"""Dates, durations and times of day as numbers: units, steps, origins, the way back, one answer for all forms."""

import datetime
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita.table import Column, Schema, Table
from partita.table.dates import date_words, dates_of, numbers_of

DAY = datetime.date(2024, 5, 1)
DAYS = [DAY + datetime.timedelta(d) for d in (3, 0, 40, 7)]
X = [1.0, 2.0, 4.0, 8.0]


def read_silently(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Table.read(*args, **kwargs)


def column_of(cells, **told):
    return read_silently(pa.table({"when": pa.array(cells), "x": X[: len(cells)]}), **told).schema.columns[0]


def in_units(table):
    return table.to_units(table.numeric)[:, 0].round(9).tolist()


def moments(*texts):
    return [datetime.datetime.fromisoformat(text) for text in texts]


# --- units, steps and origins ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "unit", "step", "since"),
    [
        (DAYS, "days", 1.0, "2024-05-01"),
        (moments("2024-05-02", "2024-05-09"), "days", 1.0, "2024-05-02"),
        (moments("2024-05-02T00:00", "2024-05-09T06:00"), "seconds", 3600.0, "2024-05-02T00:00:00"),
        (moments("2024-05-02T10:30", "2024-05-01T06:00"), "seconds", 60.0, "2024-05-01T06:00:00"),
        (moments("2024-05-02T10:30:07", "2024-05-02T06:00"), "seconds", 1.0, "2024-05-02T06:00:00"),
        (moments("2024-05-02T10:30:07.250", "2024-05-03"), "seconds", 1e-3, "2024-05-02T10:30:07.250000"),
        (moments("2024-05-02T10:30:07.000001", "2024-05-03"), "seconds", 1e-6, "2024-05-02T10:30:07.000001"),
        (moments("2024-05-01T01:00+02:00", "2024-05-01T01:00-02:00"), "seconds", 3600.0, "2024-04-30T23:00:00Z"),
        (moments("0001-01-01", "9999-12-31"), "days", 1.0, "0001-01-01"),
    ],
)
def test_days_or_seconds_since_the_first(cells, unit, step, since):
    kind = pa.timestamp("us", "UTC") if getattr(cells[0], "tzinfo", None) else None
    column = column_of(pa.array(cells, kind))
    assert (column.kind, column.unit, column.step, column.since) == ("date", unit, step, since)
    from_objects = read_silently([[cell, x] for cell, x in zip(cells, X)]).schema.columns[0]
    assert replace(from_objects, name="when") == column


def test_days_are_counted_from_the_earliest():
    assert in_units(Table.read(pl.DataFrame({"when": DAYS, "x": X}))) == [3.0, 0.0, 40.0, 7.0]
    hours = moments("2024-05-02T10:00", "2024-05-01T10:00", "2024-05-01T12:00")
    assert in_units(Table.read(pl.DataFrame({"when": hours, "x": X[:3]}))) == [86_400.0, 0.0, 7200.0]


def test_the_first_and_the_last_day_of_all():
    ends = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2024, 5, 1)]
    table = Table.read(pa.table({"when": ends, "x": X[:3]}))
    assert in_units(table) == [0.0, 3_652_058.0, 739_006.0]
    decoded = table.decode(table.numeric, table.codes, table.counts)["when"]
    assert decoded.tolist() == ends


def test_rows_of_weight_zero_teach_neither_unit_nor_origin():
    cells = [*moments("2020-01-01T07:00"), *moments("2024-05-02", "2024-05-04")]
    frame = pd.DataFrame({"when": cells, "x": X[:3]})
    weighted = Table.read(frame, sample_weight=[0, 1, 1])
    assert weighted.schema == Table.read(frame[1:]).schema
    assert weighted.schema.columns[0].since == "2024-05-02"


def test_durations_are_numbers_with_a_unit():
    whole = column_of([datetime.timedelta(3), datetime.timedelta(1)])
    assert (whole.kind, whole.unit, whole.step, whole.since) == ("numeric", "days", 1.0, "")
    finer = column_of([datetime.timedelta(hours=3), datetime.timedelta(1)])
    assert (finer.kind, finer.unit, finer.step) == ("numeric", "seconds", 3600.0)
    for form in (
        pd.DataFrame({"d": pd.to_timedelta([3, 1, None], unit="D")}),
        pl.DataFrame({"d": [datetime.timedelta(3), datetime.timedelta(1), None]}),
        np.array([[3], [1], ["NaT"]], dtype="m8[D]"),
        [[datetime.timedelta(3)], [np.timedelta64(1, "D")], [None]],
    ):
        assert np.array_equal(in_units(read_silently(form)), [3.0, 1.0, np.nan], equal_nan=True)


def test_durations_are_read_again_in_the_unit_of_fit():
    fitted = Table.read(pl.DataFrame({"d": [datetime.timedelta(3), datetime.timedelta(1)]}))
    new = Table.read(pl.DataFrame({"d": [datetime.timedelta(hours=36)]}), schema=fitted.schema)
    assert in_units(new) == [1.5]
    assert in_units(Table.read(pl.DataFrame({"d": [1.5]}), schema=fitted.schema)) == [1.5]
    numbers = Table.read(pl.DataFrame({"d": [1.0, 2.0]})).schema
    with pytest.raises(TypeError, match="'d' is to hold numbers, but row 0 holds"):
        Table.read(pl.DataFrame({"d": [datetime.timedelta(3)]}), schema=numbers)


def test_times_of_day_are_seconds_since_midnight():
    times = [datetime.time(10, 30), datetime.time(23, 59)]
    for form in (pl.DataFrame({"at": times}), pa.table({"at": times}), pd.DataFrame({"at": times})):
        with pytest.warns(UserWarning, match="Column 'at' holds times of day, read as seconds since midnight"):
            table = Table.read(form)
        column = table.schema.columns[0]
        assert (column.kind, column.unit, column.step) == ("numeric", "seconds", 60.0)
        assert in_units(table) == [37_800.0, 86_340.0]


# --- the way back ---------------------------------------------------------------------------------


def test_dates_come_back_as_dates():
    exact = moments("2024-05-01T10:30:05.25", "2024-05-03")
    table = Table.read(pd.DataFrame({"day": [*DAYS[:2], None], "moment": [*exact, None], "x": X[:3]}))
    back = table.decode(table.numeric, table.codes, table.counts)
    assert (back["day"].dtype, back["day"].tolist()) == ("M8[D]", [*DAYS[:2], None])
    assert (back["moment"].dtype, back["moment"].tolist()) == ("M8[us]", [*exact, None])


def test_a_constant_date_comes_back():
    with pytest.warns(UserWarning, match="1 constant column.*'when'"):
        table = Table.read(pd.DataFrame({"when": [DAY] * 2, "x": X[:2]}))
    assert table.decode(table.numeric, table.codes, table.counts)["when"].tolist() == [DAY] * 2
    assert Schema.from_dict(table.schema.to_dict()) == table.schema


def test_a_column_of_dates_that_are_all_missing():
    with pytest.warns(UserWarning, match="1 column without any value: 'when'"):
        table = Table.read(pa.table({"when": pa.nulls(2, pa.date32()), "x": X[:2]}))
    assert table.decode(table.numeric, table.codes, table.counts)["when"].tolist() == [None, None]
    assert math.isnan(table.schema.columns[0].center)


def test_numbers_and_dates_undo_each_other():
    rng = np.random.default_rng(0)
    for unit, width in (("days", 86_400_000_000), ("seconds", 1_000_000)):
        column = Column("d", "date", unit=unit, since="1999-07-03", step=1.0)
        dates = np.datetime64("1999-07-03", "us") + (rng.integers(-(7 * 10**5), 10**6, 500) * width).astype("m8[us]")
        np.testing.assert_array_equal(dates_of(numbers_of(dates, column), column), dates)


def test_numbers_beyond_all_years_end_at_them():
    column = Column("d", "date", unit="days", since="2024-05-01", step=1.0)
    ends = dates_of(np.array([-1e300, 1e300, 1e7, np.nan]), column)
    assert ends.tolist() == [datetime.date(1, 1, 1), *[datetime.date(9999, 12, 31)] * 2, None]
    seconds = Column("d", "date", unit="seconds", since="2024-05-01")
    assert date_words(np.array([-1e308, 1e308]), seconds).tolist() == [
        "0001-01-01T00:00:00.000000",
        "9999-12-31T23:59:59.999999",
    ]


def test_dates_in_words():
    days = Column("d", "date", unit="days", since="2024-02-28", step=1.0)
    assert date_words(np.array([0.0, 1.4, 1.6, np.nan]), days).tolist() == [
        "2024-02-28",
        "2024-02-29",
        "2024-03-01",
        None,
    ]
    seconds = Column("d", "date", unit="seconds", since="2024-02-28T10:00:00Z", step=60.0)
    assert date_words(np.array([0.0, 61.4]), seconds).tolist() == ["2024-02-28T10:00:00Z", "2024-02-28T10:01:01Z"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"unit": "weeks", "since": "2024-01-01"}, "unit of column 'd' must be days or seconds, got 'weeks'"),
        ({"since": "2024-01-01"}, "unit of column 'd' must be days or seconds, got ''"),
        ({"unit": "days"}, "must say since when they count"),
        ({"unit": "days", "since": "yesterday"}, "must say since when they count.*'yesterday'"),
        ({"unit": "days", "since": "-290000-01-01"}, "must say since when they count"),
        ({"unit": "days", "since": "2024-01-01", "written": "anyhow"}, "written as 'anyhow'"),
    ],
)
def test_columns_that_no_table_has(fields, words):
    with pytest.raises(ValueError, match=words):
        Column("d", "date", **fields)


def test_a_schema_of_an_earlier_version():
    entry = {"name": "x", "kind": "numeric", "levels": [], "center": 0.0, "scale": 1.0}
    assert Schema.from_dict({"columns": [entry], "dropped": []}).columns[0] == Column("x", "numeric")


# --- one table in every form ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["days", "moments", "zone"])
def test_every_form_of_one_table_of_dates_has_one_fingerprint(tmp_path, kind):
    rng = np.random.default_rng(2)
    when = pd.Series(pd.Timestamp("2019-11-03") + pd.to_timedelta(rng.integers(0, 900, 40), unit="D"))
    if kind != "days":
        when += pd.to_timedelta(rng.integers(0, 1440, 40), unit="min")
    if kind == "zone":
        when = when.dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    when[::9] = pd.NaT
    frame = pd.DataFrame({"when": when, "x": rng.normal(size=40)})
    text = when.dt.strftime("%Y-%m-%d" if kind == "days" else "%Y-%m-%dT%H:%M:%S")
    if kind == "zone":
        text = when.map(lambda moment: "" if pd.isna(moment) else moment.isoformat())
    frame.assign(when=text).to_csv(tmp_path / "iso.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    objects = frame.astype(object).where(frame.notna(), None)
    forms = {
        "pandas": frame,
        "objects": objects,
        "strings": frame.assign(when=text),
        "ns": frame.assign(when=when.astype(str(when.dtype).replace("[us", "[ns"))),
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
        "iso.csv": tmp_path / "iso.csv",
        "t.parquet": tmp_path / "t.parquet",
    }
    if kind != "zone":
        own = when.dt.strftime("%d.%m.%Y" if kind == "days" else "%d/%m/%Y %H:%M")
        frame.assign(when=own).to_csv(tmp_path / "day_first.csv", index=False)
        american = when.dt.strftime("%m/%d/%Y" if kind == "days" else "%m/%d/%Y %I:%M %p")
        frame.assign(when=american).to_csv(tmp_path / "month_first.csv", index=False, na_rep="NA")
        forms |= {name: tmp_path / name for name in ("day_first.csv", "month_first.csv")}
    if kind == "days":
        pq.write_table(pa.table({"when": pa.array(when.dt.date), "x": frame["x"]}), tmp_path / "dates.parquet")
        forms |= {"date32": tmp_path / "dates.parquet", "polars dates": pl.from_pandas(frame).cast({"when": pl.Date})}
    tables = {name: read_silently(form) for name, form in forms.items()}
    prints = {name: table.fingerprint() for name, table in tables.items()}
    assert set(prints.values()) == {prints["pandas"]}, prints
    for name, table in tables.items():
        for other, form in forms.items():
            if {name, other} != {"day_first.csv", "month_first.csv"}:
                assert Table.read(form, schema=table.schema).numeric.tobytes() == table.numeric.tobytes(), (name, other)


def test_daylight_saving_counts_elapsed_seconds():
    moments_in_berlin = pd.to_datetime(["2024-03-31 01:00", "2024-03-31 03:00"]).tz_localize("Europe/Berlin")
    assert in_units(Table.read(pd.DataFrame({"when": moments_in_berlin}))) == [0.0, 3600.0]


def test_a_moment_without_a_zone_is_taken_as_utc_where_fit_saw_zones():
    fitted = Table.read([[moment] for moment in moments("2024-05-01T01:00+02:00", "2024-05-02T01:00+02:00")])
    assert in_units(Table.read([[moment] for moment in moments("2024-04-30T23:00")], schema=fitted.schema)) == [0.0]


# --- new rows -------------------------------------------------------------------------------------


def test_later_dates_are_numbers_as_others():
    fitted = Table.read(pl.DataFrame({"when": DAYS}))
    later = pl.DataFrame({"when": [datetime.datetime(2025, 5, 1, 12), datetime.datetime(2024, 4, 30)]})
    assert in_units(Table.read(later, schema=fitted.schema)) == [365.5, -1.0]
    assert np.isnan(Table.read(pl.DataFrame({"when": [None]}), schema=fitted.schema).numeric).all()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            ["2024-05-01", "soon"],
            r"'when' is to hold dates, but row 1 holds the text 'soon'\. Write dates as 2024-12-31",
        ),
        (["", "2024-02-30"], "row 1 holds the text '2024-02-30'"),
        (["01/02/2024"], r"day or the month may come first \(row 0: '01/02/2024'\)"),
        ([17.0], r"is to hold dates, but row 0 holds 17\.0 \(float\)"),
        ([True], r"is to hold dates, but row 0 holds True"),
        ([datetime.timedelta(1)], "is to hold dates, but row 0 holds"),
    ],
)
def test_what_is_no_date_where_fit_saw_dates(cells, words):
    fitted = Table.read(pl.DataFrame({"when": DAYS}))
    for form in (pl.DataFrame({"when": cells}), [[cell] for cell in cells]):
        with pytest.raises((TypeError, ValueError), match=words):
            Table.read(form, schema=fitted.schema)


def test_one_row_a_day_is_no_identifier():
    days = pd.date_range("2024-01-01", periods=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Table.read(pd.DataFrame({"when": days, "x": np.random.default_rng(0).normal(size=50)}))
