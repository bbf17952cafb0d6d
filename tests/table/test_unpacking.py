"""Small files that would unpack to gigabytes are refused before they do, and an option lets them."""

import gzip
import io
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.volumes import long, long_but, mostly_long

from partita import Posterior
from partita.table import Table, read_file
from partita.table.parquet_pages import PageError, pages_of
from partita.table.unpacking import LEAST_LIMIT, UnpackingLimit, gunzip, size_in_bytes

MIB = 1 << 20
LINES = b"a,b\n" + b"1,2\n" * (MIB // 4)
ROOM = 700 * MIB
ALONE = f"""
import resource, sys
from partita import Posterior
from partita.table import read_file
import pyarrow.parquet
readers = {{"draws": Posterior.from_draws, "table": read_file}}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {ROOM}, used + {ROOM}))
for name in sys.argv[2:]:
    try:
        readers[name](sys.argv[1])
    except ValueError as error:
        print(error)
"""


def refused(path, *readers):
    """What a process of its own, with little memory, says of a file, a line per reader; each must be a ValueError."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), *readers], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- bombs ----------------------------------------------------------------------------------------


def one_gzip_member(path):
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (64 * MIB), 1))


def many_gzip_members(path):
    path.write_bytes(gzip.compress(LINES, 9) * 3000)


def deflated_array(path):
    np.savez_compressed(path, np.zeros((300, MIB), np.int8))


def header_alone(path):
    np.save(path, np.zeros((3, 4)))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"(3, 4)", b"(%d, 4)" % 10**10))


def stored_header_alone(path):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((3, 4)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("draws.npy", buffer.getvalue().replace(b"(3, 4)", b"(%d, 4)" % 10**10))


def one_number(path):
    pq.write_table(pa.table({"a": np.zeros(20 * MIB, np.int64)}), path)


def one_long_text(path):
    texts = pa.DictionaryArray.from_arrays(np.zeros(5000, np.int32), ["x" * MIB])
    pq.write_table(pa.table({"a": texts, "b": np.arange(5000)}), path, store_schema=False)


def long_pages(path):
    texts = pa.array(["x" * MIB] * 400)
    pq.write_table(pa.table({"a": texts}), path, use_dictionary=False, compression="zstd", store_schema=False)


def long_pages_and_a_record_that_hides_them(path):
    long_pages(path)
    content = path.read_bytes()
    sizes = pq.read_metadata(path).row_group(0).column(0)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    true = varint(sizes.total_uncompressed_size)
    false = bytes([0x80 | 20] + [0x80] * (len(true) - 2) + [0])
    assert content[footer:].count(true) >= 1
    path.write_bytes(content[:footer] + content[footer:].replace(true, false))
    assert pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size == 10


def varint(number):
    """A number as Thrift's compact protocol writes it."""
    number *= 2
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


BOMBS = {
    "one.csv.gz": (one_gzip_member, r"more than 128 MiB \(by its own record to 256 MiB\): .*--max-unpacked 1GB\)\.$"),
    "many.csv.gz": (many_gzip_members, r"unpacks to more than 128 MiB: if you trust it, read it with max_unpacked="),
    "number.parquet": (one_number, r"more than 128 MiB \(by its own record to 160 MiB\)"),
    "text.parquet": (one_long_text, r"unpacks to more than 128 MiB"),
    "pages.parquet": (long_pages, r"more than 128 MiB \(by its own record to 400 MiB\)"),
    "hidden.parquet": (long_pages_and_a_record_that_hides_them, r"more than 128 MiB \(by its own record to 400 MiB\)"),
    "deflated.npz": (deflated_array, r"more than 128 MiB \(by its own record to 300 MiB\)"),
    "header.npy": (header_alone, r"the NumPy file is cut short or damaged"),
    "header.npz": (stored_header_alone, r"the NumPy file is cut short or damaged"),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for the memory in use")
@pytest.mark.parametrize("name", long_but(["deflated.npz"], [pytest.param(name, id=name) for name in BOMBS]))
def test_bombs_are_refused_in_little_memory(name, tmp_path):
    make, words = BOMBS[name]
    make(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 4 * MIB
    readers = ["draws"] if name.endswith(("npz", "npy")) else ["draws", "table"]
    said = refused(tmp_path / name, *readers).splitlines()
    assert len(said) == len(readers)
    assert all(re.search(words, line) for line in said), said


# --- the option -----------------------------------------------------------------------------------


def test_the_option_lifts_the_limit_and_lowers_it(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n3,5\n" * 1000))
    assert read_file(path, max_unpacked=8004).num_rows == 2000
    for read in (read_file, Table.read, Posterior.from_draws):
        with pytest.raises(ValueError, match=r"unpacks to more than 7.82 KiB .*--max-unpacked 1GB"):
            read(path, max_unpacked=8003)
        with pytest.raises(ValueError, match="max_unpacked, a number of bytes, must be a whole number of at least 1"):
            read(path, max_unpacked="4GB")


@long
def test_large_tables_of_ordinary_numbers_need_no_option(tmp_path):
    rng = np.random.default_rng(0)
    rows = 2 * MIB
    columns = {"n": rng.integers(0, 2, rows), "m": rng.integers(0, 120, rows), "x": rng.normal(size=rows)}
    columns |= {f"z{j}": rng.integers(0, 2, rows) for j in range(10)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert pa.table(columns).nbytes > 1.5 * LEAST_LIMIT
    assert read_file(tmp_path / "t.parquet").equals(pa.table(columns))


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("500MB", 500 * 10**6), ("4GB", 4 * 10**9), ("1.5 GiB", 3 * 2**29), ("12", 12), ("7kb", 7000), ("1TB", 10**12)],
)
def test_sizes_in_words(text, n_bytes):
    assert size_in_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1e9", "4 Gigs", "0", "0.1B", "nan", "²MB"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="--max-unpacked"):
        size_in_bytes(text)


# --- gzip -----------------------------------------------------------------------------------------


@mostly_long
@pytest.mark.parametrize("n_bytes", [0, 1, 1000, (1 << 24) - 1, 1 << 24, (1 << 24) + 1])
@pytest.mark.parametrize("level", [0, 9])
def test_gunzip_is_that_of_the_standard_library(n_bytes, level):
    content = gzip.compress(bytes(n_bytes), level)
    limit = UnpackingLimit(0, 20, None, "t")
    assert gunzip(content, limit) == bytes(n_bytes)
    assert gunzip(content + b"\0" * 7 + gzip.compress(b"more"), limit) == bytes(n_bytes) + b"more"


def test_gunzip_of_many_small_members_and_of_damage():
    limit = UnpackingLimit(0, 20, None, "t")
    member = gzip.compress(b"row\n")
    assert gunzip(member * 20_000, limit) == b"row\n" * 20_000
    damaged = bytearray(member)
    damaged[-6] ^= 1
    for content in (member[:-1], member + b"x", bytes(damaged), member[:3]):
        with pytest.raises(ValueError, match="cut short or damaged"):
            gunzip(content, limit)


# --- pages of Parquet -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0"},
        {"compression": "zstd", "row_group_size": 100, "write_page_checksum": True},
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}, "data_page_size": 200},
    ],
)
def test_pages_add_up_to_what_the_record_says(options, tmp_path):
    texts = [f"text {i % 70}" if i % 9 else None for i in range(1000)]
    pq.write_table(pa.table({"a": texts, "n": np.arange(1000.0), "l": [[1, 2, 3]] * 1000}), tmp_path / "t", **options)
    content, record = (tmp_path / "t").read_bytes(), pq.read_metadata(tmp_path / "t")
    for i in range(record.num_row_groups):
        for j, n_values in enumerate((1, 1, 3)):
            chunk = record.row_group(i).column(j)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            pages = pages_of(content, start, chunk.total_compressed_size)
            assert pages.n_values == chunk.num_values == n_values * record.row_group(i).num_rows
            assert 0 < chunk.total_uncompressed_size - pages.n_bytes < 100 * (1 + chunk.num_values // 20)
            with pytest.raises(PageError):
                pages_of(content[: start + 4], start, chunk.total_compressed_size)
    assert read_file(tmp_path / "t")["a"].to_pylist() == texts
