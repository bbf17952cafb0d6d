"""Numbers as people write them: marks, signs, what must agree, and what stays text."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.table import Table
from partita.table.number_text import MARKS, is_number_style, read_numbers


def values_of(*texts, **how):
    found = read_numbers(texts, **how)
    return None if found is None else found.values


@pytest.mark.parametrize(
    ("texts", "values", "written"),
    [
        (["1,234,567", "999", "12,345.5"], [1_234_567, 999, 12_345.5], "1,234.5"),
        (["1,234"], [1234], "1,234.5"),
        (["1.234.567", "1.234"], [1_234_567, 1234], "1.234,5"),
        (["1.234,56", "7"], [1234.56, 7], "1.234,5"),
        (["1,234", "1.234,5"], [1.234, 1234.5], "1.234,5"),
        (["1 234 567,5", "12"], [1_234_567.5, 12], "1 234,5"),
        (["1\u202f234", "1\u00a0234.5"], [1234, 1234.5], "1 234.5"),
        (["1'234.50", "1\u2019234"], [1234.5, 1234], "1'234.5"),
        (["$1,234.50", "-$5", "$-6", "7"], [1234.5, -5, -6, 7], "$1,234.5"),
        (["1.234,50 €", "\u22125 €"], [1234.5, -5], "€1.234,5"),
        (["1,5 €", "2 €"], [1.5, 2], "€1.234,5"),
        (["$1.234"], [1.234], "$1,234.5"),
        (["CHF 1'234", "12 CHF"], [1234, 12], "CHF1'234.5"),
        (["12%", "-3.5 %", "+.5%"], [12, -3.5, 0.5], "1,234.5%"),
        (["(1,234)", "5"], [-1234, 5], "1,234.5"),
        (["($5.00)", "$(6)", "$7"], [-5, -6, 7], "$1,234.5"),
        (["(5)", "6"], [-5, 6], "1,234.5"),
    ],
)
def test_numbers_in_which_all_cells_agree(texts, values, written):
    found = read_numbers(texts)
    assert (found.values, found.written) == (values, written)
    assert is_number_style(written)
    assert read_numbers(texts, known=written).values == values


@pytest.mark.parametrize(
    "texts",
    [
        ["1,23,456"],
        ["1,234", "1,2345"],
        ["1,2", "1,3"],  # answers of several choices, say
        ["12%", "0.12"],
        ["$5", "€5"],
        ["$5%"],
        ["(-5)", "6"],
        ["(5", "6"],
        ["(1)", "(2)"],
        ["0,123"],
        ["007%"],
        ["1", "2.5"],
        ["1e5 $"],
        ["$"],
        ["%"],
        ["1,234 apples"],
        ["1--234"],
        ["10-20"],
        ["1 2"],
        ["٣٬٤٥٦"],
    ],
)
def test_text_that_stays_text(texts):
    assert read_numbers(texts) is None


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,234 €"], [1.234]),  # as 1,234 is 1.234 in such a file
        (["1.234 €"], [1.234]),
        (["1.234,5 €"], [1234.5]),
        (["1.234.567"], [1_234_567]),
        (["1,234,567"], [1_234_567]),
        (["1 234,5"], [1234.5]),
    ],
)
def test_files_with_a_decimal_comma(texts, values):
    assert values_of(*texts, decimal_comma=True) == values


def test_every_way_of_writing_gives_the_number_back():
    rng = np.random.default_rng(0)
    numbers = np.round(rng.normal(size=200) * 10.0 ** rng.integers(0, 9, 200), 2)
    for style, (group, point) in MARKS.items():
        texts = [f"{x:,.2f}".replace(",", "_").replace(".", point).replace("_", group) for x in numbers]
        assert values_of(*(f"{text} EUR" for text in texts), known=f"EUR{style}") == numbers.tolist()
        if group:
            assert values_of(*texts) == numbers.tolist()


def test_known_marks_are_kept():
    assert values_of("1.234", known="1.234,5") == [1234.0]
    assert values_of("5", known="1,234.5%") == [5.0]
    assert values_of("€5", known="$1,234.5") is None
    assert not is_number_style("12%")


# --- in tables ------------------------------------------------------------------------------------


def example(folder):
    """The same numbers plain and as people write them."""
    rng = np.random.default_rng(1)
    price, share = np.round(rng.normal(5e4, 4e4, 50), 2), rng.integers(0, 100, 50)
    plain = pd.DataFrame({"price": price, "share": share, "kind": rng.choice(["a", "b"], 50)})
    dressed = plain.assign(
        price=[f"(${-x:,.2f})" if x < 0 else f"${x:,.2f}" for x in price], share=[f"{x}%" for x in share]
    )
    german = plain.assign(
        price=[f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in price], share=[f"{x} %" for x in share]
    )
    plain.to_csv(folder / "plain.csv", index=False)
    dressed.to_csv(folder / "dressed.csv", index=False)
    german.to_csv(folder / "german.csv", index=False, sep=";")
    forms = [folder / "dressed.csv", folder / "german.csv", dressed, pl.from_pandas(dressed), dressed.to_numpy()]
    return folder / "plain.csv", forms


def test_the_table_is_that_of_the_plain_numbers(tmp_path):
    plain, forms = example(tmp_path)
    expected = Table.read(plain)
    for form in forms:
        with pytest.warns(
            UserWarning, match=r"^Text was read as numbers in columns .* and .*--types .*=categorical\)\.$"
        ):
            table = Table.read(form)
        np.testing.assert_array_equal(table.numeric, expected.numeric)
        if not isinstance(form, np.ndarray):
            assert table.fingerprint() == expected.fingerprint()
            again = Table.read(form, schema=table.schema)
            assert again.numeric.tobytes() == table.numeric.tobytes()


def test_new_rows_are_read_with_the_marks_of_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.234.567;1\n5;2\n")
    with pytest.warns(UserWarning, match="'1.234.567' is 1234567"):
        fitted = Table.read(path)
    (tmp_path / "new.csv").write_text("a;b\n1.234;1\nNA;2\n")
    new = Table.read(tmp_path / "new.csv", schema=fitted.schema)
    np.testing.assert_allclose(new.to_units(new.numeric)[:, 0], [1234.0, np.nan])
    (tmp_path / "bad.csv").write_text("a;b\n1.234;1\n12,345,678;2\n")
    with pytest.raises(ValueError, match=r"'a' is to hold numbers, but row 1 holds the text '12,345,678'.*\(1.234,5\)"):
        Table.read(tmp_path / "bad.csv", schema=fitted.schema)
    assert Table.read(pd.DataFrame({"a": [1234.0], "b": [1]}), schema=fitted.schema).numeric[0, 0] == new.numeric[0, 0]


def test_what_is_told_is_followed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"1,234",1\n"2,345",2\n')
    assert Table.read(path, column_types={"a": "categorical"}).schema.columns[0].levels == ("1,234", "2,345")
    for told in ("numeric", "count"):
        table = Table.read(path, column_types={"a": told})
        assert table.decode(table.numeric, table.codes, table.counts)["a"].tolist() == [1234, 2345]
    frame = pd.DataFrame({"a": ["1,5", "2"]})
    table = Table.read(frame, column_types={"a": "numeric"})
    np.testing.assert_allclose(table.to_units(table.numeric)[:, 0], [1.5, 2.0])


def test_recognised_before_identifiers_and_many_categories():
    cells = [f"{x:,}" for x in range(1000, 1060)]
    for frame in (pd.DataFrame({"a": cells}), pd.DataFrame({"a": [*cells[:-1], cells[0]]})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert Table.read(frame.assign(x=np.arange(60) % 7)).schema.columns[0].kind == "numeric"
        assert not [w for w in caught if "as categories" in str(w.message)]
        assert len(caught) == 1 + (len(set(frame["a"])) == 60)  # consecutive numbers are identifiers as numbers too


def test_numbers_beside_separators_are_no_text_of_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"1,234,567",1\n5,2\n7,3\n')
    with pytest.warns(UserWarning, match="as numbers") as caught:
        Table.read(path)
    assert [str(warning.message)[:33] for warning in caught] == ["Text was read as numbers in colum"]


def test_a_number_beyond_float64_is_refused():
    with pytest.raises(ValueError, match="Column 'a' has 1 infinite value"):
        Table.read(pd.DataFrame({"a": ["9" * 400 + "%", "1%"]}))
