"""Positive numbers: stored as logs, given back in the user's units, refused where they have no log."""

import datetime

import numpy as np
import pandas as pd
import pytest

from partita.table import Column, Schema, Table

RNG = np.random.default_rng(0)
INCOME = pd.DataFrame({"income": np.exp(RNG.normal(7, 1.5, 40)), "age": RNG.normal(40, 9, 40)})
POSITIVE = {"income": "positive"}


def stored(x, offset=0.0):
    logs = np.log(np.asarray(x) + offset)
    return (logs - logs.mean()) / logs.std()


@pytest.mark.parametrize("offset", [0.0, 2.5])
def test_cells_are_standardised_logs(offset):
    table = Table.read(INCOME, column_types=POSITIVE, offset=offset)
    assert [column.kind for column in table.schema.numeric] == ["positive", "numeric"]
    assert table.schema.numeric[0].offset == offset
    np.testing.assert_allclose(table.numeric[:, 0], stored(INCOME["income"], offset), atol=1e-12)
    back = table.decode(table.numeric, table.codes, table.counts)["income"]
    np.testing.assert_allclose(back, INCOME["income"], rtol=1e-12)


def test_density_in_the_units_of_the_user():
    frame = INCOME.assign(income=INCOME["income"].where(np.arange(40) > 3))
    table = Table.read(frame, column_types=POSITIVE, offset=2.0)
    scales = np.array([column.scale for column in table.schema.numeric])
    logs = np.where(frame["income"].isna(), 0.0, np.log(frame["income"] + 2.0) + np.log(scales[0]))
    np.testing.assert_allclose(table.log_jacobian(), -logs - np.log(scales[1]), atol=1e-12)


def test_left_unstandardised_they_are_plain_logs():
    table = Table.read(INCOME, column_types=POSITIVE, standardize=False)
    assert np.array_equal(table.numeric[:, 0], np.log(INCOME["income"]))


def test_zeros_are_refused_with_their_rows():
    frame = pd.DataFrame({"income": [3.0, 0.0, 2.0, -1.0]})
    with pytest.raises(
        ValueError, match=r"'income' is to hold positive numbers, but 2 cells \(rows 1, 3\) are not above"
    ):
        Table.read(frame, column_types=POSITIVE)
    with pytest.raises(ValueError, match=r"1 cell \(row 3\) is not above -1.*LogNormal\(offset=1.0\)"):
        Table.read(frame, column_types=POSITIVE, offset=1.0)
    assert Table.read(frame, column_types=POSITIVE, offset=1.5).schema.numeric[0].offset == 1.5


def test_rows_of_weight_zero_and_constant_columns_are_not_refused():
    frame = pd.DataFrame({"income": [3.0, 0.0, 2.0], "none": [0.0, 0.0, 0.0], "age": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match="constant column"):
        table = Table.read(frame, column_types={("income", "none"): "positive"}, sample_weight=[1, 0, 1])
    assert np.isnan(table.numeric[:, 0]).tolist() == [False, True, False]
    assert table.decode(table.numeric, table.codes, table.counts)["none"].tolist() == [0.0, 0.0, 0.0]


def test_new_rows_without_a_log_are_missing_or_an_error():
    schema = Table.read(INCOME, column_types=POSITIVE).schema
    new = pd.DataFrame({"income": [0.0, 5.0, -2.0], "age": [1.0, 2.0, 3.0]})
    with pytest.warns(
        UserWarning, match=r"2 cells hold values not seen in fit.*0.0, -2.0 in column 'income' \(rows 0, 2\)"
    ):
        table = Table.read(new, schema=schema)
    assert np.isnan(table.numeric[:, 0]).tolist() == [True, False, True]
    with pytest.raises(ValueError, match=r"not seen in fit: 0.0, -2.0"):
        Table.read(new, schema=schema, unseen="error")


def test_steps_are_those_of_a_small_cell():
    ages = np.tile(np.arange(1, 21), 5)
    table = Table.read(pd.DataFrame({"income": ages}), column_types=POSITIVE)
    column = table.schema.numeric[0]
    assert (column.step, column.small) == (1.0, np.quantile(ages, 0.1))
    assert table.rounding[0] == pytest.approx((1.0 / column.small / column.scale) ** 2 / 12)
    wide = Table.read(pd.DataFrame({"income": ages}), column_types=POSITIVE, column_steps=1000.0).schema.numeric[0]
    assert wide.rounding == pytest.approx((2.0 / wide.scale) ** 2 / 12)


def test_extreme_numbers_stay_finite():
    x = np.array([5e-324, 1e-300, 1.0, 1e300, 1.7e308])
    table = Table.read(x[:, None], column_types={0: "positive"})
    assert np.isfinite(table.numeric).all()
    assert np.isfinite(table.log_jacobian()).all()
    np.testing.assert_allclose(table.to_units(table.numeric)[2:, 0], x[2:], rtol=1e-10)
    assert table.to_units(np.array([[50.0]]))[0, 0] == pytest.approx(np.finfo(float).max)


def test_durations_may_be_positive():
    waits = [datetime.timedelta(days=d) for d in (1, 2, 5, 9)]
    table = Table.read(pd.DataFrame({"wait": waits}), column_types={"wait": "positive"})
    assert table.schema.numeric[0].unit == "days"
    np.testing.assert_allclose(table.numeric[:, 0], stored([1, 2, 5, 9]))


def test_text_and_dates_are_no_positive_numbers():
    with pytest.raises(ValueError, match="positive numbers"):
        Table.read(pd.DataFrame({"income": ["a", "b"]}), column_types=POSITIVE)
    with pytest.raises(TypeError, match="positive numbers"):
        Table.read(pd.DataFrame({"income": pd.to_datetime(["2024-01-01", "2024-01-02"])}), column_types=POSITIVE)
    prices = Table.read(pd.DataFrame({"income": ["$1,200", "$80", "$3"]}), column_types=POSITIVE)
    np.testing.assert_allclose(prices.numeric[:, 0], stored([1200, 80, 3]))


def test_a_function_names_positive_columns_but_what_is_told_goes_first():
    both = Table.read(INCOME.abs(), positive=True)
    assert [column.kind for column in both.schema.columns] == ["positive", "positive"]
    one = Table.read(INCOME.abs(), positive=True, column_types={"age": "numeric"})
    assert [column.kind for column in one.schema.columns] == ["positive", "numeric"]


@pytest.mark.parametrize("offset", [-1.0, np.nan, np.inf, "1", True])
def test_offsets_that_are_none(offset):
    with pytest.raises(ValueError, match="offset must be a finite number of at least 0"):
        Table.read(INCOME, column_types=POSITIVE, offset=offset)


def test_the_schema_survives_and_earlier_files_know_no_offset():
    schema = Table.read(INCOME, column_types=POSITIVE, offset=2.0).schema
    assert Schema.from_dict(schema.to_dict()) == schema
    content = Schema((Column("a", "numeric"),)).to_dict()
    for entry in content["columns"]:
        del entry["offset"], entry["small"]
    assert Schema.from_dict(content) == Schema((Column("a", "numeric"),))
    with pytest.raises(ValueError, match="The offset of column 'a' must be finite"):
        Column("a", "positive", offset=-1.0)
