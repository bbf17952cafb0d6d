"""Values that fit did not see, and columns that it did not see."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita.table import Table

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 4.0, 3.0],
        "town": ["Ulm", "Bonn", "Ulm", "Rome"],
        "code": [1, 2, 3, 1],
        "member": [True, False, True, False],
    }
)
SCHEMA = Table.read(FRAME, column_types={"code": "categorical"}).schema


def heard(X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = Table.read(X, schema=SCHEMA, **options)
    return table, [str(warning.message) for warning in caught]


def same(one, other):
    for name in ("numeric", "codes", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_an_unseen_cell_is_a_missing_cell(library):
    columns = FRAME.to_dict("list")
    odd = columns | {"town": ["Ulm", "Oslo", None, "Nice"], "code": [1, 9, 3, 9]}
    gaps = columns | {"town": ["Ulm", None, None, None], "code": [1, None, 3, None]}
    table, said = heard(library(odd))
    assert said == [
        "4 cells hold values not seen in fit and count as missing: 'Oslo', 'Nice' in column 'town' (rows 1, 3); "
        "9 in column 'code' (rows 1, 3). To refuse them, set unseen='error' (command line: --unseen error)."
    ]
    same(table, Table.read(library(gaps), schema=SCHEMA))


def test_one_warning_whatever_there_is():
    wide = pd.DataFrame({f"c{j}": list("ab" * 4) for j in range(5)})
    schema = Table.read(wide).schema
    strange = pd.DataFrame({f"c{j}": [f"v{i}" for i in range(8)] for j in range(5)})
    with pytest.warns(UserWarning, match="40 cells hold values not seen in fit") as said:
        table = Table.read(strange, schema=schema)
    assert len(said) == 1
    words = "'v0', 'v1', 'v2' and 5 more in column 'c0' (rows 0, 1, 2 and 5 more); "
    assert words in str(said[0].message)
    assert "(rows 0, 1, 2 and 5 more); and others in 2 more columns. To refuse" in str(said[0].message)
    assert table.empty_rows.all()


def test_errors_are_an_option():
    with pytest.raises(ValueError, match=r"Column 'town' has 1 value not seen in fit: 'Oslo' \(row 1\)"):
        heard(FRAME.assign(town=["Ulm", "Oslo", "Ulm", "Ulm"]), unseen="error")
    with pytest.raises(ValueError, match="unseen must be one of 'missing', 'error'; got 'none'"):
        Table.read(FRAME, unseen="none")


def test_one_odd_cell_of_a_file_leaves_the_others_what_they_are(tmp_path):
    """It makes a column of numbers or truth values text."""
    lines = ["size,town,code,member", "1,Ulm,1,true", "2,Bonn,two,FALSE", "4,Ulm,3,perhaps", "3,Rome,1,false"]
    (tmp_path / "odd.csv").write_text("\n".join(lines))
    table, said = heard(tmp_path / "odd.csv")
    assert [words.split(". To")[0] for words in said] == [
        "2 cells hold values not seen in fit and count as missing: 'two' in column 'code' (row 1); 'perhaps' in column "
        "'member' (row 2)"
    ]
    (tmp_path / "gaps.csv").write_text("\n".join(lines).replace("two", "").replace("perhaps", ""))
    same(table, Table.read(tmp_path / "gaps.csv", schema=SCHEMA))


def test_text_is_the_number_that_is_written_so_and_no_other():
    table, said = heard(FRAME.assign(code=["1", "01", " 3 ", "2.0"]))
    np.testing.assert_array_equal(table.codes[:, 1], [0, -1, 2, -1])
    assert "'01', '2.0' in column 'code' (rows 1, 3)" in said[0]


def test_rows_of_weight_0_are_not_warned_of():
    Table.read(FRAME.assign(town=list("aabc")), sample_weight=[1, 1, 1, 0], column_types={"code": "categorical"})


def test_columns_that_fit_did_not_see_are_ignored():
    plain = Table.read(FRAME, schema=SCHEMA)
    for library in (pd.DataFrame, pl.DataFrame, pa.table):
        table, said = heard(library({"note": ["x"] * 4} | FRAME.to_dict("list")))
        assert said == ["1 column not seen in fit is ignored: 'note'."]
        same(table, plain)
    more = FRAME.assign(**{f"m{j}": [[1]] * 4 for j in range(5)})  # of any content
    assert heard(more)[1] == ["5 columns not seen in fit are ignored: 'm0', 'm1', 'm2' and 2 more."]


def test_columns_of_arrays_are_counted():
    schema = Table.read(np.array([[1.0, 0.0], [3.0, 1.0]])).schema
    with pytest.raises(ValueError, match=r"X has 3 columns, but 2 were seen in fit. Pass all columns of fit"):
        Table.read(np.zeros((2, 3)), schema=schema)
    with pytest.raises(ValueError, match=r"X has 3 columns, but 2 were seen in fit \(missing: 'x0', 'x1'; not seen"):
        Table.read(pd.DataFrame(np.zeros((2, 3)), columns=list("abc")), schema=schema)


def test_numbers_that_were_guessed_to_be_categories_are_known_again_however_they_are_written():
    rng = np.random.default_rng(5)
    fit = pd.DataFrame(
        {
            "third": rng.choice([0, 1 / 3, 2 / 3], 90),
            "vat": rng.choice(["7%", "19%", "25%"], 90),
            "fee": rng.choice(["$1,000", "$2,000", "$3,000"], 90),
        }
    )
    with pytest.warns(UserWarning, match="Text was read as numbers in columns 'vat'.* and 'fee'"):
        table = Table.read(fit)
    assert [column.kind for column in table.schema.columns] == ["categorical"] * 3
    again = Table.read(fit, schema=table.schema, unseen="error")
    np.testing.assert_array_equal(again.codes, table.codes)
    for third in (fit["third"].astype(np.float32), fit["third"].round(4), fit["third"].round(4).astype(str)):
        rounded = Table.read(fit.assign(third=third), schema=table.schema, unseen="error")
        np.testing.assert_array_equal(rounded.codes, table.codes)
    with pytest.warns(UserWarning, match=r"0.34 in column 'third' \(row 0\); 'free' in column 'fee' \(row 0\)"):
        odd = Table.read(pd.DataFrame({"third": [0.34], "vat": ["19 %"], "fee": ["free"]}), schema=table.schema)
    assert odd.codes.tolist() == [[-1, 1, -1]]
