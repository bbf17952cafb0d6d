"""A path is a table: formats, separators, types of columns from their cells, names."""

import datetime
import gzip
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita.table import Table, read_file

N_ROWS = 60


def written(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells_of(folder, *cells, separator=",", **told):
    """Type and values of the column ``a`` that holds these cells, beside another column."""
    lines = [f"a{separator}b", *(f"{cell}{separator}word" for cell in cells)]
    column = read_file(written(folder, "\n".join(lines)), **told)["a"]
    return str(column.type), column.to_pylist()


# --- one table in every form ----------------------------------------------------------------------


def example():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N_ROWS) * 10.0 ** rng.integers(-300, 300, N_ROWS)
    x[::7] = np.nan
    text = rng.choice(np.array(["fig", "NA", "plum, ripe", 'a "b"', "two\nlines"], dtype=object), N_ROWS)
    text[3::9] = None
    kinds = rng.choice(["u", "v"], N_ROWS)
    return pd.DataFrame(
        {
            "float": x,
            "int": rng.integers(-5, 5, N_ROWS),
            "text": text,
            "bool": rng.random(N_ROWS) < 0.5,
            "kind": pd.Categorical(kinds, categories=["never", "v", "u"]),
        }
    )


def test_every_form_of_one_table_has_one_fingerprint(tmp_path):
    frame = example()
    frame.to_csv(tmp_path / "comma.csv", index=False)
    frame.to_csv(tmp_path / "semicolon.csv", index=False, sep=";", decimal=",")
    frame.to_csv(tmp_path / "tab.tsv", index=False, sep="\t")
    frame.to_csv(tmp_path / "bar.txt", index=False, sep="|", lineterminator="\r\n")
    frame.to_csv(tmp_path / "small.csv.gz", index=False)
    frame.to_csv(tmp_path / "marked.csv", index=False, encoding="utf-8-sig")
    frame.to_parquet(tmp_path / "small.parquet")
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "pieces.pq", row_group_size=7)
    objects = frame.astype(object).where(frame.notna(), None)
    forms = {
        "pandas": frame,
        "pandas objects": objects,
        "pandas nullable": frame.convert_dtypes(),
        "polars": pl.from_pandas(frame),
        "polars strings": pl.from_pandas(frame).cast({"kind": pl.String}),
        "pyarrow": pa.Table.from_pandas(frame),
        "pyarrow pieces": pa.concat_tables([pa.Table.from_pandas(frame[:9]), pa.Table.from_pandas(frame[9:])]),
        **{path.name: str(path) for path in tmp_path.iterdir()},
    }
    prints = {name: Table.read(form).fingerprint() for name, form in forms.items()}
    assert len(forms) == 15
    assert set(prints.values()) == {prints["pandas"]}, prints
    array = Table.read(objects.to_numpy())
    table = Table.read(tmp_path / "comma.csv")
    np.testing.assert_array_equal(array.numeric, table.numeric)
    np.testing.assert_array_equal(array.codes, table.codes)
    assert [c.levels for c in array.schema.columns] == [c.levels for c in table.schema.columns]


def test_a_file_names_its_columns_and_has_no_library(tmp_path):
    path = written(tmp_path, "b,a\n1,5\n3,6\n")
    table = Table.read(path)
    assert table.names == ("b", "a")
    assert table.origin.library is None
    assert isinstance(table.frame_like({"label": np.arange(2)}), pd.DataFrame)
    swapped = Table.read(written(tmp_path, "a,b\n5,1\n6,3\n", "swapped.csv"), schema=table.schema)
    assert swapped.fingerprint() == table.fingerprint()


def test_new_rows_are_read_as_fit_read_them(tmp_path):
    fitted = Table.read(
        written(tmp_path, "code,day,zip,x\n007,unknown,10,1\nB12,2024-05-01T10:00,20,3\n"),
        column_types={"zip": "categorical"},
    )
    new = Table.read(written(tmp_path, "code,day,zip,x\n007,2024-05-01T10:00,20,NA\n", "new.csv"), schema=fitted.schema)
    assert [c.levels for c in new.schema.categorical] == [("007", "B12"), ("2024-05-01T10:00", "unknown"), (10, 20)]
    np.testing.assert_array_equal(new.codes, [[0, 0, 1]])
    assert np.isnan(new.numeric).all()
    as_integers = Table.read(written(tmp_path, "code\n12\nx\n", "codes.csv")).schema
    assert Table.read(written(tmp_path, "code\n12\n12\n", "new.csv"), schema=as_integers).codes.tolist() == [[0], [0]]


def test_pyarrow_is_needed_only_to_read():
    code = "import sys; sys.modules['pyarrow'] = None; import partita.table; partita.table.Table.read([[1.0, 'a']])"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- types from cells -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", " -2 ", "+3", ""], "int64", [1, -2, 3, None]),
        (["1", "2.5", "-.5", "5.", "1e-300", "1E+300"], "double", [1.0, 2.5, -0.5, 5.0, 1e-300, 1e300]),
        (["1.0", "2.0"], "double", [1.0, 2.0]),
        (["1", "inf", "-Infinity"], "double", [1.0, np.inf, -np.inf]),
        (["true", "FALSE", "", "True"], "bool", [True, False, None, True]),
        (["true", "1"], "string", ["true", "1"]),
        (["9223372036854775807", "1"], "int64", [2**63 - 1, 1]),
        (["9223372036854775808", "1"], "double", [2.0**63, 1.0]),
        (["", " ", "\t"], "double", [None, None, None]),
        ([" pear", "fig ", " "], "string", [" pear", "fig ", None]),
        (["0", "0.5", "-0"], "double", [0.0, 0.5, 0.0]),
        (["007", "12"], "string", ["007", "12"]),
        (["0x10", "1"], "string", ["0x10", "1"]),
        (["1_000", "1"], "string", ["1_000", "1"]),
        (["1.5.2", "1"], "string", ["1.5.2", "1"]),
    ],
)
def test_a_column_has_the_type_that_all_its_cells_have(tmp_path, cells, kind, values):
    assert cells_of(tmp_path, *cells) == (kind, values)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-1", ""], "int64", [1, -1, None]),
        (["18446744073709551616", "18446744073709551617"], "string", ["18446744073709551616", "18446744073709551617"]),
        (["2024-05-01", "2024-05-02"], "string", ["2024-05-01", "2024-05-02"]),
        (["1", "1.5"], "double", [1.0, 1.5]),
        (["1", "2", "x"], "string", ["1", "2", "x"]),  # without a warning
    ],
)
def test_a_file_of_categories_keeps_what_tells_them_apart(tmp_path, cells, kind, values):
    assert cells_of(tmp_path, *cells, categories=True) == (kind, values)


@pytest.mark.parametrize("word", ["NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "none", "?", ".", " na "])
def test_words_for_missing_count_among_numbers_only(tmp_path, word):
    assert cells_of(tmp_path, "1", word) == ("int64", [1, None])
    assert cells_of(tmp_path, word, "1.5") == ("double", [None, 1.5])
    assert cells_of(tmp_path, word, "pear") == ("string", [word, "pear"])
    assert cells_of(tmp_path, word, "true") == ("string", [word, "true"])
    assert cells_of(tmp_path, word, word) == ("string", [word, word])
    assert cells_of(tmp_path, word, "pear", column_types={"a": "numeric"}) == ("string", [None, "pear"])


def test_decimal_comma_between_semicolons_only(tmp_path):
    assert cells_of(tmp_path, "1,5", "2", "-,25", "NA", separator=";") == ("double", [1.5, 2.0, -0.25, None])
    assert cells_of(tmp_path, "1.5", "2,5", separator=";") == ("double", [1.5, 2.5])
    assert cells_of(tmp_path, "1,5,2", "x", separator=";") == ("string", ["1,5,2", "x"])
    assert cells_of(tmp_path, '"1,5"', "2") == ("string", ["1,5", "2"])


DAY = datetime.date(2024, 5, 1)
MOMENT = datetime.datetime(2024, 5, 1, 10, 30, 5, 250000)


@pytest.mark.parametrize(
    ("cells", "kind", "value"),
    [
        (["2024-05-01"], "date32[day]", DAY),
        (["2024-05-01 10:30:05.25", "2024-05-02"], "timestamp[us]", MOMENT),
        (["2024-05-01T10:30:05.250000999"], "timestamp[us]", MOMENT),
        (["2024-05-01T12:30:05.25+02:00"], "timestamp[us, tz=UTC]", MOMENT.replace(tzinfo=datetime.UTC)),
        (["2024-05-01T10:30", "?"], "string", "2024-05-01T10:30"),
        (["2024-05-01", "2024-13-01"], "string", "2024-05-01"),
        (["2024-05-01T10:30Z", "2024-05-01T10:30"], "string", "2024-05-01T10:30Z"),
        (["20240501"], "int64", 20240501),
    ],
)
def test_dates_and_times(tmp_path, cells, kind, value):
    found, values = cells_of(tmp_path, *cells)
    assert (found, values[0]) == (kind, value)


def test_dates_are_read_as_those_of_a_frame_or_used_as_told(tmp_path):
    path = written(tmp_path, "day,x\n2024-05-02,1\n2024-05-01T10:30,2\n,3\n")
    column = Table.read(path).schema.columns[0]
    assert (column.kind, column.unit, column.since, column.step) == ("date", "seconds", "2024-05-01T10:30:00", 60)
    with pytest.raises(TypeError, match=r"'day' is to hold numbers, but row 0 holds datetime"):
        Table.read(path, column_types={"day": "numeric"})
    table = Table.read(path, column_types={"day": "categorical"})
    assert table.schema.categorical[0].levels == ("2024-05-01T10:30", "2024-05-02")
    assert Table.read(path, schema=table.schema).fingerprint() == table.fingerprint()


def test_told_kinds_are_followed(tmp_path):
    told = {"a": "categorical"}
    assert cells_of(tmp_path, "3", "1", column_types=told) == ("int64", [3, 1])
    twins = ["99999999999999999999", "99999999999999999998"]
    assert cells_of(tmp_path, *twins, column_types=told) == ("string", twins)
    assert cells_of(tmp_path, "007", "12", column_types={"a": "count"}) == ("int64", [7, 12])
    with pytest.raises(ValueError, match="'a' is to hold numbers, but row 2 holds the text 'pear'"):
        Table.read(written(tmp_path, "a,b\nNA,1\n2,1\npear,2\n"), column_types={"a": "numeric"})
    with pytest.raises(TypeError, match="column_types must map"):
        Table.read(written(tmp_path, "a,b\n1,2\n"), column_types=["a"])


def test_infinite_cells_are_refused_as_those_of_a_frame(tmp_path):
    with pytest.raises(ValueError, match=r"Column 'a' has 2 infinite values \(rows 1, 2\)"):
        Table.read(written(tmp_path, "a,b\n1,2\ninf,3\n1e400,4\n"))


def test_a_column_without_cells_is_dropped(tmp_path):
    with pytest.warns(UserWarning, match=r"Dropped 1 column without any value: 'none'\."):
        table = Table.read(written(tmp_path, "a,none\n1,\n2,\n"))
    assert table.schema.dropped == ("none",)


# --- separators, quotes and lines -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1;2,x\n3,y\n", {"a": ["1;2", "3"], "b": ["x", "y"]}),
        ("a;b\n1,5;2,5\n3,5;4,5\n", {"a": [1.5, 3.5], "b": [2.5, 4.5]}),
        ("a|b;c\n1|2\n3|4\n", {"a": [1, 3], "b;c": [2, 4]}),
        ('a,b\n"x,y",1\n"p""q",2\n', {"a": ["x,y", 'p"q'], "b": [1, 2]}),
        ('"a\nb",c\n1,"x\ny"\n', {"a\nb": [1], "c": ["x\ny"]}),
        ('a,b\n5" pipe,1\n', {"a": ['5" pipe'], "b": [1]}),
        ("a,b\r1,2\r3,4", {"a": [1, 3], "b": [2, 4]}),
        ("\n\na,b\n\n1,2\n\n", {"a": [1], "b": [2]}),
        ("a\n1\n\n3\n\n", {"a": [1, None, 3]}),
        ("note\nwell, yes\nno\n", {"note": ["well, yes", "no"]}),
        ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
        (" a , b\t\n1,2\n", {"a": [1], "b": [2]}),
        ("élan,b\n1,ü\n", {"élan": [1], "b": ["ü"]}),
        ("a,b\n1,2", {"a": [1], "b": [2]}),
    ],
)
def test_text_is_taken_apart(tmp_path, text, columns):
    assert read_file(written(tmp_path, text)).to_pydict() == columns


def test_a_cell_longer_than_any_buffer(tmp_path):
    long = "x" * 2_000_000
    assert read_file(written(tmp_path, f'a,b\n"{long}",1\ny,2\n')).to_pydict() == {"a": [long, "y"], "b": [1, 2]}


def test_unnamed_columns_are_named_with_one_warning(tmp_path):
    with pytest.warns(
        UserWarning, match=r"2 columns of '.*' have no name and are called 'column 1_' and 'column 4'\."
    ) as caught:
        table = read_file(written(tmp_path, ",column 1,b,\n1,2,3,4\n"))
    assert len(caught) == 1
    assert table.column_names == ["column 1_", "column 1", "b", "column 4"]
    with pytest.warns(UserWarning, match=r"1 column of '.*' has no name and is called 'column 2'\."):
        read_file(written(tmp_path, "a, \n1,2\n"))


def test_the_content_counts_not_the_name(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]})
    frame.to_parquet(tmp_path / "table.csv")
    assert read_file(tmp_path / "table.csv").to_pydict() == {"a": [1, 2]}
    packed = gzip.compress((tmp_path / "table.csv").read_bytes())
    assert read_file(written(tmp_path, packed, "packed")).to_pydict() == {"a": [1, 2]}
    assert read_file(written(tmp_path, gzip.compress(b"a,b\n1,2\n"), "table.csv")).to_pydict() == {"a": [1], "b": [2]}
    assert read_file(written(tmp_path, "a,b\n1,2\n", "table.csv.gz")).to_pydict() == {"a": [1], "b": [2]}


# --- Parquet --------------------------------------------------------------------------------------


def test_an_index_of_pandas_is_a_column_when_it_has_a_name(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3]})
    path = tmp_path / "table.parquet"
    for index, names in ((None, ["a"]), (pd.Index([5, 3, 9]), ["a"]), (pd.Index([5, 3, 9], name="id"), ["a", "id"])):
        (frame if index is None else frame.set_index(index)).to_parquet(path)
        assert read_file(path).column_names == names


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "part=1" / "table.parquet"
    path.parent.mkdir()
    columns = {
        "decimal": pa.array([1, None, 3], pa.decimal128(5, 2)),
        "code": pa.array(["1", "2", "2"]),
        "kind": pa.array(["u", "v", None]).dictionary_encode(),
        "small": pa.array([1.5, None, 2.5], pa.float32()),
    }
    pq.write_table(pa.table(columns), path)
    table = Table.read(path)
    assert {c.name: c.kind for c in table.schema.columns} == {
        "decimal": "numeric",
        "code": "categorical",
        "kind": "categorical",
        "small": "numeric",
    }
    assert [c.levels for c in table.schema.categorical] == [("1", "2"), ("u", "v")]
    np.testing.assert_array_equal(table.numeric[:, 0], [-1.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("height, cm;weight, kg\n1,5;2,5\n1,7;2,9\n", ["height, cm", "weight, kg"], [1.5, 1.7]),
        ("a,x;b\n1,5;2\n2,5;3\n", ["a,x", "b"], [1.5, 2.5]),
        ("a\tb\n1,5\t2\n2,5\t3\n", ["a", "b"], [1.5, 2.5]),
        ("a|b\n1,5|2\n2,5|3\n", ["a", "b"], [1.5, 2.5]),
    ],
    ids=["commas in names", "as many commas", "tab", "bar"],
)
def test_commas_are_part_of_the_cells_where_another_separator_fits(tmp_path, text, names, first):
    (tmp_path / "t.csv").write_text(text)
    table = read_file(tmp_path / "t.csv")
    assert table.column_names == names
    assert table.column(0).to_pylist() == first


def test_columns_may_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text("id,x\n1.10,2\nNA,3\n,4\n")
    table = read_file(tmp_path / "t.csv", text=["id"])
    assert table.column("id").to_pylist() == ["1.10", "NA", None]
    assert table.column("x").to_pylist() == [2, 3, 4]


def warned_reading(path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_file(path)
    return table, [str(w.message) for w in caught]


def test_a_word_among_numbers_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i}.5,a\n" for i in range(9)) + "unknown,b\n")
    table, said = warned_reading(tmp_path / "t.csv")
    assert table.column("x").to_pylist()[-1] == "unknown"
    assert said == [
        "9 of 10 cells of column 'x' are numbers, but row 9 holds 'unknown': the column is read as text. Empty the "
        "cells that are no numbers, or declare it with column_types={'x': 'categorical'} "
        "(command line: --types x=categorical)."
    ]
    (tmp_path / "t.csv").write_text("x,y\n1,a\ntwo,b\n007,c\n8,d\n9,e\n")  # codes
    assert warned_reading(tmp_path / "t.csv")[1] == []
    (tmp_path / "t.csv").write_text("x,y\n1,a\ntwo,b\nthree,c\n4,d\n")
    assert warned_reading(tmp_path / "t.csv")[1] == []


def test_a_header_of_numbers_is_doubted(tmp_path):
    (tmp_path / "t.csv").write_text("4.9,-6\n5.1,3\n7.2,4\n")
    table, said = warned_reading(tmp_path / "t.csv")
    assert table.column_names == ["4.9", "-6"]
    assert len(said) == 1
    assert said[0].endswith("holds numbers only and is taken as the header: write names above the rows.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,2.9,virginica\n", "looks like a row and is taken as the header: write"),
        ("41;Ulm;1,5\n33;Bonn;2,5\n28;Ulm;0,5\n", "looks like a row and is taken as the header: write"),
        ("country,2019,2020\nPeru,1,2\nChile,3,4\n", ""),  # years above numbers
        ("name,2019\nname,1\nother,2\n", "looks like a row"),
        ("a,b\na,b\nc,d\n", ""),  # a header of a second file, perhaps
        (",1,2\nx,3,4\n", "holds numbers only"),
        ("3\n4\n5\n", ""),
    ],
)
def test_a_row_in_the_place_of_the_header_is_doubted(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    said = [message for message in warned_reading(tmp_path / "t.csv")[1] if "first line" in message]
    assert len(said) == bool(words)
    assert all(words in message for message in said)


@pytest.mark.parametrize("text", ["1,0,0\n0,1,0\n", "p,x,p\ne,x,p\np,y,n\n", "1.5,a,a\n2.5,a,b\n3.5,b,a\n"])
def test_a_row_that_cannot_be_a_header_is_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(
        ValueError, match=r"The first line of '.*t\.csv' looks like a row, and no two columns of a header"
    ):
        read_file(tmp_path / "t.csv")


def test_the_separator_that_spreadsheets_tell(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\na;b\n1,5;2\n")
    assert read_file(tmp_path / "t.csv").to_pydict() == {"a": [1.5], "b": [2]}


def test_text_in_several_pieces(tmp_path):
    """What pandas makes of frames put together."""
    frame = pd.DataFrame({"s": ["u", "v", None], "c": pd.Categorical(["x", "y", "x"])})
    other = pd.DataFrame({"s": ["w", "u", "v"], "c": pd.Categorical(["y", "y", "x"])})
    both = pd.concat([frame, other])
    assert Table.read(both).fingerprint() == Table.read(pl.from_pandas(both.reset_index(drop=True))).fingerprint()
    pieces = pa.concat_tables([pa.Table.from_pandas(frame), pa.Table.from_pandas(other)])
    np.testing.assert_array_equal(Table.read(pieces).codes, Table.read(both).codes)
