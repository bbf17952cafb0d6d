"""Numbers of which many are 0: which columns are read in two parts, and that nobody outside sees two."""

import numpy as np
import pandas as pd
import pytest

from partita.table import Column, Schema, Table
from partita.table.tails import MARGIN
from partita.table.zeros import zero_gain

RNG = np.random.default_rng(0)
LOGS = np.exp(RNG.normal(3, 1, 300))
SPENT = np.where(RNG.random(300) < 0.4, 0.0, LOGS.round(2))
FRAME = pd.DataFrame({"spent": SPENT, "age": RNG.normal(40, 9, 300), "town": RNG.choice(["a", "b"], 300)})
FRAME.loc[[3, 5], "spent"] = np.nan


@pytest.mark.parametrize(
    ("values", "parted"),
    [
        (SPENT, True),
        (np.where(RNG.random(300) < 0.4, 0.0, LOGS), True),  # continuous amounts
        (np.where(RNG.random(5000) < 0.98, 0.0, np.exp(RNG.normal(3, 1, 5000))), True),  # hardly any amount
        (np.where(RNG.random(300) < 0.5, 0.0, RNG.normal(0, 3, 300)), True),  # gains and losses
        (np.where(RNG.random(300) < 0.05, 0.0, LOGS), False),  # few zeros
        (np.where(RNG.random(300) < 0.95, 0.0, LOGS), False),  # too few amounts to tell
        (np.where(RNG.random(300) < 0.4, 0.0, RNG.integers(1, 8, 300)), False),  # too few different ones
        (RNG.normal(0, 2, 500).round(), False),  # 0 is one whole number of many
        (RNG.laplace(0, 1, 1000).round(1), False),
        (RNG.normal(0, 0.3, 500).round(1), False),
        (LOGS, False),
        (np.zeros(300), False),
        (np.where(RNG.random(300) < 0.4, 0.0, 1e200 * LOGS), False),
    ],
)
def test_the_rule(values, parted):
    assert (zero_gain(np.asarray(values, float)) > MARGIN) == parted


def test_a_column_becomes_a_category_and_a_number_that_zeros_lack():
    table = Table.read(FRAME)
    flag, spent = table.schema.zero_flags["spent"], table.schema.numeric[0]
    assert [column.name for column in table.schema.columns] == ["spent", "spent is 0", "age", "town"]
    assert (flag.kind, flag.levels, flag.guessed, flag.part_of) == ("categorical", ("no", "yes"), True, "spent")
    assert (spent.kind, spent.guessed, spent.step) == ("positive", True, 0.01)
    cells = FRAME["spent"].to_numpy()
    np.testing.assert_array_equal(table.codes[:, 0], np.where(np.isnan(cells), -1, cells == 0))
    np.testing.assert_array_equal(np.isnan(table.numeric[:, 0]), ~(cells > 0))


def test_the_fit_is_that_of_the_two_columns():
    spent = FRAME["spent"]
    apart = FRAME.assign(spent=spent.where(spent != 0))
    apart.insert(1, "spent is 0", np.where(spent.isna(), None, np.where(spent == 0, "yes", "no")))
    table, by_hand = Table.read(FRAME), Table.read(apart)
    assert not by_hand.schema.zero_flags
    for block in ("numeric", "codes", "counts"):
        np.testing.assert_array_equal(getattr(table, block), getattr(by_hand, block))


def test_names_cells_and_missing_ones_are_those_that_came_in():
    table = Table.read(FRAME)
    assert table.names == ("spent", "age", "town")
    assert table.n_missing == 2
    back = table.decode(table.numeric, table.codes, table.counts)
    assert list(back) == ["spent", "age", "town"]
    np.testing.assert_allclose(back["spent"], FRAME["spent"], rtol=1e-12)
    assert not (back["spent"] == 0)[[3, 5]].any()


def test_new_rows_are_read_by_the_schema_of_files():
    table = Table.read(FRAME)
    schema = Schema.from_dict(table.schema.to_dict())
    assert schema == table.schema
    again = Table.read(FRAME[["town", "age", "spent"]][:7], schema=schema)
    np.testing.assert_array_equal(again.numeric, table.numeric[:7])
    np.testing.assert_array_equal(again.codes, table.codes[:7])
    with pytest.warns(UserWarning, match="-3.0 in column 'spent'"):
        odd = Table.read(pd.DataFrame({"spent": [-3.0], "age": [1.0], "town": ["a"]}), schema=schema)
    assert np.isnan(odd.numeric[0, 0])


@pytest.mark.parametrize(
    "how",
    [
        {"column_types": {"spent": "numeric"}},
        {"column_steps": {"spent": 0.01}},
        {"guess_types": False},
        {"guess_types": lambda name, kind: kind != "categorical"},
    ],
)
def test_a_word_for_numbers_is_heard(how):
    assert not Table.read(FRAME, **how).schema.zero_flags


def test_zeros_of_positive_numbers_that_are_told_are_refused():
    with pytest.raises(ValueError, match="'spent' is to hold positive numbers"):
        Table.read(FRAME, column_types={"spent": "positive"})


def test_rows_of_weight_zero_have_no_say():
    more = pd.concat([FRAME.assign(spent=FRAME["spent"].where(FRAME["spent"] != 0, 1.5)), FRAME])
    assert not Table.read(more, sample_weight=np.repeat([1, 0], 300)).schema.zero_flags
    assert Table.read(more, sample_weight=np.repeat([0, 1], 300)).schema.zero_flags


def test_a_column_that_says_it_already_is_enough():
    with_flag = FRAME.assign(**{"spent is 0": np.where(FRAME["spent"] == 0, "y", "n")})
    assert not Table.read(with_flag).schema.zero_flags


def test_schemas_that_make_no_sense_are_refused():
    amount, flag = Column("a", "numeric"), Column("b", "categorical", ("no", "yes"), part_of="a")
    assert Schema((amount, flag)).names == ("a",)
    for columns in (
        (flag,),
        (Column("a", "count"), flag),
        (amount, Column("b", "categorical", ("no",), part_of="a")),
        (amount, Column("b", "numeric", part_of="a")),
        (amount, flag, Column("c", "categorical", ("no", "yes"), part_of="a")),
    ):
        with pytest.raises(ValueError, match="where"):
            Schema(columns)
    with pytest.raises(TypeError, match="a name"):
        Column("b", "categorical", part_of=1)
