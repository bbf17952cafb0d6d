"""Keys that mean columns: names, positions, patterns and tuples of these."""

import numpy as np
import pandas as pd
import pytest

from partita.table import Table
from partita.table.column_keys import by_column, columns_meant, named_columns

NAMES = ("age", "item_1", "item_2", "item_10", "q*")
FRAME = pd.DataFrame({name: np.arange(6) % 3 for name in NAMES})


def kinds(types, X=FRAME):
    return {column.name: column.kind for column in Table.read(X, column_types=types).schema.columns}


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("age", ["age"]),
        ("*", list(NAMES)),
        ("item_?", ["item_1", "item_2"]),
        ("item_[!1]", ["item_2"]),
        ("Item_*", []),
        ("q*", ["q*"]),  # its own name
        (("age", "item_1?"), ["age", "item_10"]),
        (("age", "a*"), ["age"]),
        ("nothing", []),
        (1, []),
    ],
)
def test_what_a_key_means(key, meant):
    assert columns_meant(key, NAMES) == meant


def test_positions_are_those_of_arrays():
    assert columns_meant(1, NAMES, by_position=True) == ["item_1"]
    assert columns_meant((np.int64(0), 3), NAMES, by_position=True) == ["age", "item_10"]
    assert columns_meant(-1, NAMES, by_position=True) == columns_meant(5, NAMES, by_position=True) == []


def test_a_column_whose_label_is_a_tuple_is_that_column():
    frame = pd.DataFrame({("a", "x"): [1, 2], ("a", "y"): [1, 2]})
    names = [str(label) for label in frame.columns]
    assert columns_meant(("a", "x"), names) == [names[0]]
    assert kinds({("a", "x"): "categorical"}, frame) == {names[0]: "categorical", names[1]: "numeric"}


def test_a_name_wins_over_patterns_and_a_later_pattern_over_an_earlier_one():
    assert by_column({"age": 1, "*": 2}, NAMES) == {"age": 1} | dict.fromkeys(NAMES[1:], 2)
    assert by_column({"*": 1, "item_*": 2}, NAMES)["item_2"] == 2
    assert by_column({"item_*": 2, "*": 1}, NAMES)["item_2"] == 1
    assert by_column({("age", "item_*"): 1, "item_1?": 2}, NAMES) == dict(zip(NAMES, (1, 1, 1, 2)))
    assert named_columns({("age", "item_*"): 1, "q*": 2}, NAMES) == {"age", "q*"}


def test_patterns_say_what_a_list_of_names_says():
    everything = dict.fromkeys(NAMES, "categorical")
    told = [{"*": "categorical"}, everything, {NAMES: "categorical"}]
    first, *others = (Table.read(FRAME, column_types=types) for types in told)
    assert first.schema.columns == tuple(first.schema.categorical)
    assert {other.fingerprint() for other in others} == {first.fingerprint()}
    assert kinds({"*": "categorical", "item_*": "count", "age": "numeric"}) == {
        "age": "numeric",
        "item_1": "count",
        "item_2": "count",
        "item_10": "count",
        "q*": "categorical",
    }
    by_position = Table.read(FRAME.to_numpy(), column_types={(0, "x1"): "count", "x?": "categorical"})
    assert [column.name for column in by_position.schema.counts] == ["x0", "x1"]


def test_patterns_in_files(tmp_path):
    (tmp_path / "t.csv").write_text("day_1,day_2,zip\n2024-01-01,2024-02-01,007\n2024-01-02,2024-02-02,8\n")
    assert kinds({"day_*": "categorical", "z*": "numeric"}, tmp_path / "t.csv") == {
        "day_1": "categorical",
        "day_2": "categorical",
        "zip": "numeric",
    }


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ({"itme_*": "count"}, r"column_types names 'itme_\*', a pattern that fits no column of X. Did you mean 'item_"),
        ({"aeg": "count"}, "column_types names 'aeg', which is no column of X. Did you mean 'age'"),
        ({("age", "aeg"): "count"}, "column_types names 'aeg', which is no column of X. Did you mean 'age'"),
        ({"zz?": "count"}, "a pattern that fits no column of X. The columns are 'age', 'item_1'"),
        ({"*": "categoric"}, r"column_types\['\*'\] must be one of .*Did you mean 'categorical'"),
    ],
)
def test_keys_that_mean_nothing_are_refused(types, words):
    with pytest.raises(ValueError, match=words):
        Table.read(FRAME, column_types=types)


def test_a_pattern_does_not_silence_the_warning_of_identifiers():
    frame = FRAME.assign(name=list("abcdef")).iloc[np.arange(12) % 6].assign(name=[f"n{i}" for i in range(12)])
    with pytest.warns(UserWarning, match="Column 'name' looks like an identifier"):
        Table.read(frame, column_types={"*": "categorical"})
    Table.read(frame, column_types={"*": "categorical", "name": "categorical"})
