"""Dates as people write them: orders, what is told of a guess, and what stays text."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.table import Table
from partita.table.date_text import read_dates

CELLS = {
    "day-first": ["31.12.2024", "1.2.2024", "03.04.2023"],
    "month-first": ["12/31/2024", "2/1/2024", "04/03/2023"],
    "year-first": ["2024/12/31", "2024/2/1", "2023/04/03"],
}
DAYS = ["2024-12-31", "2024-02-01", "2023-04-03"]


def days_of(texts, **known):
    found = read_dates(texts, **known)
    return None if found is None else [str(day) for day in found.values.astype("M8[D]")]


def written(folder, cells, name="t.csv"):
    path = folder / name
    path.write_text("\n".join(["when;x", *(f"{cell};{i * i}" for i, cell in enumerate(cells))]))
    return path


@pytest.mark.parametrize("order", CELLS)
def test_one_order_that_all_cells_allow(order):
    assert days_of(CELLS[order]) == DAYS
    assert read_dates(CELLS[order]).written == order
    assert not read_dates(CELLS[order]).ambiguous


@pytest.mark.parametrize(
    ("texts", "days", "ambiguous"),
    [
        (["01/02/2024", "03/04/2024"], ["2024-02-01", "2024-04-03"], True),
        (["01-02-2024", "03-04-2024"], ["2024-02-01", "2024-04-03"], True),
        (["01.02.2024", "03.04.2024"], ["2024-02-01", "2024-04-03"], False),
        (["01/01/2024", "02/02/2024"], ["2024-01-01", "2024-02-02"], False),  # in either order
        (["12.31.2024"], ["2024-12-31"], False),
    ],
)
def test_both_orders_are_possible(texts, days, ambiguous):
    assert days_of(texts) == days
    assert read_dates(texts).ambiguous is ambiguous


def test_a_known_order_is_kept():
    assert days_of(["01/02/2024"], known="month-first") == ["2024-01-02"]
    assert days_of(["01/02/2024", "2024-12-31"], known="day-first") == ["2024-02-01", "2024-12-31"]
    assert days_of(["12/31/2024"], known="day-first") is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("31.12.2024 7:05", "2024-12-31T07:05:00"),
        ("31/12/2024, 07:05:09", "2024-12-31T07:05:09"),
        ("12/31/2024 12:05 AM", "2024-12-31T00:05:00"),
        ("12/31/2024 12:05pm", "2024-12-31T12:05:00"),
        ("31.12.2024 07:05:09,25", "2024-12-31T07:05:09.250000"),
        ("2024-12-31T07:05:09.123456789", "2024-12-31T07:05:09.123456"),
        ("2024-12-31T07:05+05:30", "2024-12-31T01:35:00"),
        ("2024-12-31T07:05-0800", "2024-12-31T15:05:00"),
        ("0001-01-01", "0001-01-01T00:00:00"),
        ("31.12.9999 23:59", "9999-12-31T23:59:00"),
    ],
)
def test_times_and_zones(text, moment):
    found = read_dates([text])
    assert found.values[0].item() == datetime.datetime.fromisoformat(moment)
    assert found.in_utc == (text.endswith(("+05:30", "-0800")))


@pytest.mark.parametrize(
    "texts",
    [
        ["31.12.2024", "31/12/2024"],
        ["31.12.2024", "2024-12-31"],
        ["31/12/2024", "12/31/2024"],
        ["30.02.2024"],
        ["31.12.24"],
        ["1.2"],
        ["1.2.3.4"],
        ["00.01.2024"],
        ["0000-01-01"],
        ["2024-12-31T24:00"],
        ["12/31/2024 13:05 PM"],
        ["2024-12-31T07:05Z", "2024-12-31T07:05"],
        ["0001-01-01T00:00+05:00"],
        ["2024-12-31 evening"],
        ["٣١.١٢.٢٠٢٤"],
    ],
)
def test_what_is_no_date_or_does_not_agree(texts):
    assert read_dates(texts) is None


# --- in tables ------------------------------------------------------------------------------------


def test_the_note_names_columns_examples_and_remedies(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,born,x\n03/04/2024,31.12.1980,1\n05/06/2024,1.2.1975,5\n")
    with pytest.warns(UserWarning, match="as dates") as caught:
        table = Table.read(path)
    assert [str(warning.message) for warning in caught] == [
        "Text was read as dates in columns 'when' ('03/04/2024' is 2024-04-03) and 'born' ('31.12.1980' is 1980-12-31)."
        " In 'when' the day was taken to come first; if the month does, declare it with "
        "column_types={'when': 'month-first'} (command line: --types when=month-first). Where text is meant, declare "
        "it with column_types={'when': 'categorical'} (command line: --types when=categorical)."
    ]
    assert [column.written for column in table.schema.columns] == ["day-first", "day-first", ""]


def test_the_order_may_be_told(tmp_path):
    path = written(tmp_path, ["03/04/2024", "05/06/2024"])
    for told, since in (("month-first", "2024-03-04"), ("day-first", "2024-04-03"), ("date", "2024-04-03")):
        column = Table.read(path, column_types={"when": told}).schema.columns[0]
        assert (column.kind, column.since) == ("date", since)
    text = Table.read(path, column_types={"when": "categorical"}).schema.columns[0]
    assert text.levels == ("03/04/2024", "05/06/2024")
    with pytest.raises(ValueError, match="'when' is to hold dates, but row 1 holds the text '25/06/2024'"):
        Table.read(written(tmp_path, ["03/04/2024", "25/06/2024"]), column_types={"when": "month-first"})


def test_cells_that_are_dates_but_do_not_agree():
    frame = pd.DataFrame({"when": ["01.02.2024", "05.02.2024", "01/02/2024", "7.8.2024"]})
    words = r"row 2 holds the text '01/02/2024', written in another way than '01.02.2024' in row 0\. Write dates as"
    with pytest.raises(ValueError, match=words):
        Table.read(frame, column_types={"when": "date"})


def test_new_rows_have_the_order_of_fit(tmp_path):
    with pytest.warns(UserWarning, match="as dates"):
        fitted = Table.read(written(tmp_path, ["31/12/2024", "01/12/2024"]))
    new = written(tmp_path, ["02/12/2024", "NA"], "new.csv")
    for form in (new, pd.DataFrame({"when": ["02/12/2024", None], "x": [0, 1]}), [["02/12/2024", 0], [None, 1]]):
        cells = Table.read(form, schema=fitted.schema)
        np.testing.assert_allclose(cells.to_units(cells.numeric)[:, 0], [1.0, np.nan])


def test_words_for_missing_cells(tmp_path):
    with pytest.warns(UserWarning, match=r"'2024-05-01T10:30' is 2024-05-01T10:30:00\)"):
        table = Table.read(written(tmp_path, ["2024-05-01T10:30", "?", "NA", "", "2024-05-02"]))
    assert np.isnan(table.numeric[:, 0]).tolist() == [False, True, True, True, False]


def test_categories_that_say_so_stay_categories():
    cells = pd.Categorical(["01.02.2024", "03.04.2024"])
    for frame in (pd.DataFrame({"when": cells}), pl.DataFrame({"when": pl.Series(list(cells), dtype=pl.Categorical)})):
        assert Table.read(frame).schema.columns[0].kind == "categorical"


def test_recognised_before_an_identifier_is_seen():
    days = pd.date_range("2024-01-01", periods=60).strftime("%d.%m.%Y")
    frame = pd.DataFrame({"when": days, "x": np.random.default_rng(0).normal(size=60)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert Table.read(frame).schema.columns[0].kind == "date"
    assert [str(warning.message)[:24] for warning in caught] == ["Text was read as dates i"]
