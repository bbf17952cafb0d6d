"""What is wrong with a file is said in words: file, place and remedy."""

import gzip
import os
import random
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita.table import Table, read_file


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(content, error, words, name="table.csv"):
    with open(name, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    with pytest.raises(error, match=f"^{words}$"):
        Table.read(name)


def test_no_such_file():
    with open("income.csv", "w") as file:
        file.write("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"^There is no file 'incme\.csv'\. Did you mean 'income\.csv'\?$"):
        Table.read("incme.csv")
    for name in ("other.parquet", "folder/income.csv", "income.csv/a", "a,b\n1,2\n", "nul\0", "x" * 70):
        expected = f"There is no file {name!r}. Check its name and folder."
        with pytest.raises(FileNotFoundError, match=f"^{re.escape(expected)}$"):
            Table.read(name)
    with pytest.raises(FileNotFoundError, match=r"^There is no file '\.\.\.x{80}'\."):
        Table.read("x" * 5000)


def test_an_address_is_no_file():
    with pytest.raises(FileNotFoundError, match=r"is an address, .*: download it first"):
        Table.read("https://example.org/table.csv")


def test_a_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: name one file in it"):
        Table.read(tmp_path)


def denied(*_):
    raise PermissionError(13, "Permission denied")


def broken(*_):
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (denied, PermissionError, "'table.csv' may not be read: give yourself read permission"),
        (broken, OSError, r"'table.csv' could not be read \(Input/output error\)\. Copy it"),
    ],
)
def test_a_file_that_cannot_be_opened(monkeypatch, fault, error, words):
    with open("table.csv", "w") as file:
        file.write("a\n1\n")
    monkeypatch.setattr("pathlib.Path.read_bytes", fault)
    with pytest.raises(error, match=words):
        Table.read("table.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission():
    with open("table.csv", "w") as file:
        file.write("a\n1\n")
    os.chmod("table.csv", 0)
    with pytest.raises(PermissionError, match=r"'table\.csv' may not be read"):
        Table.read("table.csv")


@pytest.mark.parametrize("content", ["", "\n\n", "  \n", "\ufeff", gzip.compress(b"", mtime=0)], ids=ascii)
def test_an_empty_file(content):
    refused(content, ValueError, r"'table\.csv' is empty\. Write a header and one line per row into it\.")


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a\n\n\n", "\n\na;b\n"])
def test_a_header_only(content):
    refused(content, ValueError, r"'table\.csv' has a header but no rows\. Add at least one row\.")


def test_parquet_without_rows():
    pd.DataFrame({"a": [1.0]})[:0].to_parquet("table.parquet")
    with pytest.raises(ValueError, match=r"^'table\.parquet' has columns but no rows\. Add at least one row\.$"):
        Table.read("table.parquet")


ADD = "add the missing cells; they may be empty"
TAKE_OUT = "take out what is too much, or put quotes around cells that hold the separator"


@pytest.mark.parametrize(
    ("content", "line", "n_cells", "n_columns", "remedy"),
    [
        ("a,b,c,d\n" + "1,2,3,4\n" * 5 + "1,2,3\n" + "1,2,3,4\n" * 40, 7, "3 cells", 4, ADD),
        ("a;b\n" + "1;2\n" * 30 + "1;2;3\n", 32, "3 cells", 2, TAKE_OUT),
        ('a,b\n"x\n\ny",2\n\n3\n', 6, "1 cell", 2, ADD),
        ("a\tb\r1\t2\r3\r", 3, "1 cell", 2, ADD),
    ],
)
def test_lines_of_different_lengths(content, line, n_cells, n_columns, remedy):
    words = rf"Line {line} of 'table\.csv' has {n_cells}, but the header has {n_columns}: {remedy}\."
    refused(content, ValueError, words)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('a,b\n1,2\n3,"x\n5,6\n7,8\n', 3),
        ('a,b\n1,2\n"3,x\n5,6\n7,8\n', 3),
        ('"a,b\n1,2\n3,4\n', 1),
        ('a,b\n1,2\n3,"' + "x\n" * 100_000, 3),
        ('"' + "x\n" * 100_000, 1),
    ],
    ids=["last cell", "first cell", "header", "long", "long header"],
)
def test_a_quote_left_open(content, line):
    refused(
        content,
        ValueError,
        rf"A quote opened in line {line} of 'table\.csv' is never closed: close it or take it out\.",
    )


@pytest.mark.parametrize("before", [1, 5000])
def test_another_encoding(before):
    content = b"city,b\n" + b"Rome,2\n" * before + b"K\xf6ln,3\n" + b"Oslo,4\n" * 3
    words = rf"Line {before + 2} of 'table\.csv' is not text in UTF-8 \(byte 0xf6\)\. Save the file as UTF-8\."
    refused(content, ValueError, words)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_two_bytes_per_letter(encoding):
    content = ("\ufeff" if encoding.endswith("be") else "") + "a,b\n1,2\n"
    refused(content.encode(encoding), ValueError, r"'table\.csv' is text in UTF-16\. Save it as UTF-8\.")


@pytest.mark.parametrize("content", [b"a,b\n1,\0\n", "a,b\n1,2\n".encode("utf-16-le"), bytes(range(256))])
def test_binary_content(content):
    words = r"'table\.csv' is not a text table: it holds binary data\. Save it as CSV or Parquet\."
    refused(content, ValueError, words)


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04", "an Excel workbook or another zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook"),
        (b"ARROW1\0\0", "an Arrow or Feather file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"BZh91AY", "compressed with bzip2"),
    ],
)
def test_other_formats(start, what):
    words = rf"'table\.xlsx' is {what}, not a text table\. Save it as CSV or Parquet\."
    refused(start + b"rest", ValueError, words, name="table.xlsx")


@pytest.mark.parametrize("length", [12, 30, -9, -1])
def test_gzip_cut_short(length):
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 500)[:length]
    refused(content, ValueError, "The gzip-compressed file 'table.csv' is cut short or damaged: copy it again.*")


def test_gzip_damaged():
    content = bytearray(gzip.compress(b"a,b\n" + b"1,2\n" * 500))
    content[20] ^= 0xFF
    refused(bytes(content), ValueError, "The gzip-compressed file 'table.csv' is cut short or damaged.*")


DAMAGED = r"The Parquet file 'table\.parquet' is cut short or damaged: write it or copy it again\."


def parquet_bytes():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": range(1000), "s": ["x"] * 1000}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_parquet_cut_short(share):
    content = parquet_bytes()
    refused(content[: int(share * len(content))], ValueError, DAMAGED, name="table.parquet")


def test_parquet_damaged():
    content = bytearray(parquet_bytes())
    content[-300:-200] = b"\xff" * 100
    refused(bytes(content), ValueError, DAMAGED, name="table.parquet")
    refused(b"PAR1", ValueError, DAMAGED, name="table.parquet")


def test_a_name_that_promises_parquet():
    words = r"'table\.parquet' is no Parquet file, despite its name\. Write it again, or name it \.csv if it is text\."
    refused("a,b\n1,2\n", ValueError, words, name="table.parquet")


def test_repeated_names():
    refused("a,b, a\n1,2,3\n", ValueError, r"Column names must differ, but these repeat: 'a'\. Rename them\.")


PIECES = [*'a1,;"\n\r\t|.é -0', "NA", "2024-05-01", "true", "1,5", "\x1f", "e5", "\x85", "\u2028", "\x0b"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_text_is_a_table_or_a_named_error():
    rng = random.Random(1)
    refusals = []
    for _ in range(500):
        content = "".join(rng.choices(PIECES, k=rng.randint(0, 40))).encode() + b"\xe9" * (rng.random() < 0.05)
        with open("table.csv", "wb") as file:
            file.write(content)
        try:
            assert read_file("table.csv").num_rows > 0
        except ValueError as error:
            refusals.append(repr(error))
    of_file = r"(Line \d+ of |A quote opened in line \d+ of |)'table\.csv' (has|is) "
    named = re.compile(rf"""ValueError\("({of_file}|Column names must differ)""")
    assert [words for words in refusals if not named.match(words)] == []
    assert 20 < len(refusals) < 480


def test_no_cell():
    with pytest.warns(UserWarning, match="no name"):
        refused(",\n,\n", ValueError, "All cells of the table are missing.*")
