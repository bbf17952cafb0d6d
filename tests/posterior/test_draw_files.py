"""Draws in files: headers, row names, separators, arrays, and what is wrong with a file."""

import gzip
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from partita.posterior import Posterior

LABELS = [[0, 0, 1], [2, 2, 2], [5, -1, 5], [1, 0, 0]]
CANONICAL = [[0, 0, 1], [0, 0, 0], [0, -1, 0], [0, 1, 1]]
PLAIN = "0,0,1\n2,2,2\n5,,5\n1,0,0\n"
NAMED = "a,b,c\n" + PLAIN


@pytest.fixture
def read(tmp_path):
    """Write a file and read it: labels, names, and the words of the warnings."""

    def call(content, name="draws.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = Posterior.from_draws(path)
        return found.draws.tolist(), found.provenance.get("objects"), [str(w.message) for w in caught]

    return call


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", " , "),
        "sep=;\n" + PLAIN.replace(",", ";"),
        PLAIN.replace(",,", ",-1,"),
        PLAIN.replace(",,", ",NA,"),
        PLAIN.replace(",,", ",nan,"),
        PLAIN.replace(",,", ",-1,").replace(",", " "),
        " 0   0 1\n 2  2 2 \n5 -1 5\n1 0 0",
        "\n" + PLAIN.replace("\n", "\n\n"),
        "0.0,0.0,1.0\n2.0,2.0,2.0\n5.0,,5.0\n1.0,0.0,0.0\n",
        "\ufeff" + PLAIN,
        gzip.compress(PLAIN.encode(), mtime=0),
    ],
)
def test_text_without_a_header(read, content):
    assert read(content) == (CANONICAL, None, [])


def test_text_that_numpy_writes(read, tmp_path):
    np.savetxt(tmp_path / "t.txt", LABELS)
    assert Posterior.from_draws(str(tmp_path / "t.txt")).draws.tolist() == CANONICAL


@pytest.mark.parametrize(
    "content",
    [
        NAMED,
        NAMED.replace(",", ";"),
        "a,b,c\nx,x,y\nz,z,z\nx,,x\ny,x,x\n",
        "a,b,c\nx,x,y\nz,z,z\nx,-1,x\ny,x,x\n",
        'a,b,c\n"x,1","x,1",y\nz,z,z\nx,,x\n\ny,"x,1","x,1"\n',
        '"a","b","c"\n"say ""x""","say ""x""",say x\nz,z,z\nx,NA,x\ny,x,x\n',
    ],
)
def test_text_with_a_header(read, content):
    assert read(content) == (CANONICAL, ["a", "b", "c"], [])


R_CSV = '"","a","b","c"\n"1",0,0,1\n"2",2,2,2\n"3",5,NA,5\n"4",1,0,0\n'


@pytest.mark.parametrize(
    ("content", "names", "ends"),
    [
        (R_CSV, ["a", "b", "c"], "1 to 4"),
        (R_CSV.replace('"",', "", 1).replace(",", " "), ["a", "b", "c"], "1 to 4"),
        (R_CSV.replace(",", ";"), ["a", "b", "c"], "1 to 4"),
        (",0,1,2\n0,0,0,1\n1,2,2,2\n2,5.0,,5\n3,1,0,0\n", None, "0 to 3"),
        (",a,b,c\n0,x,x,y\n1,z,z,z\n2,x,,x\n3,y,x,x\n", ["a", "b", "c"], "0 to 3"),
    ],
    ids=["write.csv", "write.table", "write.csv2", "to_csv", "text"],
)
def test_row_names_are_left_out(read, content, names, ends):
    draws, objects, said = read(content)
    assert (draws, objects) == (CANONICAL, names)
    assert said == [f"The first column has no name and counts the draws ({ends}): it is left out."]


@pytest.mark.parametrize(("header", "names"), [("0,1,2", None), ("1,2,3", ["1", "2", "3"])])
def test_a_first_line_that_counts_the_columns_is_a_header(read, header, names):
    draws, objects, said = read(f"{header}\n{PLAIN}")
    assert (draws, objects) == (CANONICAL, names)
    assert len(said) == 1
    assert "counts the columns" in said[0]
    assert "read as a header. If it is a draw, write a line of names above it." in said[0]


def test_a_line_that_counts_is_a_draw_below_a_header_or_alone(read):
    assert read("a,b,c\n0,1,2\n")[0] == [[0, 1, 2]]
    assert read("0,1,2\n")[0] == [[0, 1, 2]]
    assert read("0\n1\n") == ([[0], [0]], None, [])


def test_a_first_column_that_counts_without_being_row_names_is_warned_of(read):
    draws, _, said = read("0,5\n1,5\n2,2\n")
    assert draws == [[0, 1], [0, 1], [0, 0]]
    assert said == ["The first column counts the draws (0 to 2) and is read as an object: take it out if it is none."]


def test_an_empty_line_of_a_single_column_is_a_cell(read):
    draws, _, said = read("a\n\n3\n\n4\n\n")
    assert draws == [[-1], [0], [-1], [0]]
    assert "2 draws label no object (0, 2)" in said[0]


def test_text_is_numbers_only_where_all_of_it_is(read):
    assert read("a,b,c\n1,1.0,01\n2,3,2e0\n")[0] == [[0, 0, 0], [0, 1, 0]]
    assert read("a,b,c\n1,1.0,x\n")[0] == [[0, 1, 2]]


def test_wide_text(read):
    labels = np.random.default_rng(0).integers(0, 20, (5, 30_000))
    content = "\n".join(",".join(map(str, draw)) for draw in labels)
    np.testing.assert_array_equal(read(content)[0], Posterior(labels).draws)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b,c\n0,0,1\n0,0\n", r"draws.csv': line 3 \(draw 1\) has 2 cells, but the header has 3: every draw needs"),
        ("0,0\n\n0,0\n0,0,1\n", r"line 4 \(draw 2\) has 3 cells, but line 1 has 2"),
        ("a,b\n0,1.5\n", r"draws.csv': The label at draw 0, object 1 .* is 1.5: .* must be whole"),
        ("0;0,5\n", "object 1 .* is 0.5"),
        ("0,-2\n", "object 1 .* is -2: numbers must be 0 or more"),
        ("a,b\n", "there is a header but no draw"),
        ("x,x,y\nz,z,z\n", "read as names of the objects, and 'x' repeats.* write a line of names above it"),
        (",a,b\nq,0,1\nr,0,1\n", "first column has no name and does not count the draws"),
        ('a,"b\n0,1\n', "a quote is opened and never closed"),
        ("", "is empty"),
        ("sep=;\n", "there is no draw"),
        ("a,b\n,\n", "No draw labels any object"),
        (b"0,\xff\n", "Line 1 of .*draws.csv' is not text in UTF-8"),
        (b"\x00\x01", "holds binary data"),
        (b"RDX3\n...", "is an R workspace"),
        (gzip.compress(b"X\n\x00\x00\x00\x03", mtime=0), "is an R data file"),
        (b"PK\x03\x04" + bytes(60), "an Excel workbook or another zip archive"),
    ],
)
def test_text_that_cannot_be_used(read, content, words):
    with pytest.raises(ValueError, match=words):
        read(content)


def test_places_that_hold_no_file(tmp_path):
    (tmp_path / "draws.csv").write_text(PLAIN)
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'draws.csv'\?"):
        Posterior.from_draws(tmp_path / "draw.csv")
    with pytest.raises(IsADirectoryError, match="is a folder: name one file in it"):
        Posterior.from_draws(tmp_path)


class TestArrayFiles:
    @pytest.mark.parametrize("shape", [(4, 3), (2, 2, 3)])
    def test_one_array(self, tmp_path, shape):
        labels = np.reshape(LABELS, shape)
        np.save(tmp_path / "d.npy", labels)
        np.savez_compressed(tmp_path / "d.npz", labels)
        for name in ("d.npy", "d.npz"):
            read = Posterior.from_draws(tmp_path / name)
            assert read.draws.tolist() == CANONICAL
            assert read.partitions.shape[-len(shape) :] == shape

    def test_several_arrays_are_named(self, tmp_path):
        np.savez(tmp_path / "d.npz", z=LABELS, mu=LABELS)
        with pytest.raises(ValueError, match=r"d.npz': the file holds 2 arrays \('z', 'mu'\): pass one of them"):
            Posterior.from_draws(tmp_path / "d.npz")

    def test_objects_are_not_unpickled(self, tmp_path):
        np.save(tmp_path / "d.npy", np.array(LABELS, dtype=object), allow_pickle=True)
        with pytest.raises(ValueError, match="holds Python objects, which can only be unpickled"):
            Posterior.from_draws(tmp_path / "d.npy")

    @pytest.mark.parametrize("name", ["d.npy", "d.npz"])
    def test_cut_files(self, tmp_path, name):
        (np.save if name.endswith("y") else np.savez)(tmp_path / name, np.array(LABELS))
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-9])
        with pytest.raises(ValueError, match=f"{name}': the NumPy file is cut short or damaged"):
            Posterior.from_draws(tmp_path / name)


def test_parquet(tmp_path):
    cells = {name: [v if v >= 0 else None for v in column] for name, column in zip("abc", np.transpose(LABELS))}
    pa.parquet.write_table(pa.table(cells), tmp_path / "d.parquet")
    read = Posterior.from_draws(tmp_path / "d.parquet")
    assert (read.draws.tolist(), read.provenance) == (CANONICAL, {"objects": ["a", "b", "c"]})


def test_a_file_of_a_posterior_keeps_weights_traces_and_names(tmp_path):
    given = Posterior(LABELS, weights=[1, 2, 3, 4], traces={"t": np.ones((1, 4))}, provenance={"objects": list("abc")})
    given.save(tmp_path / "posterior.partita")
    read = Posterior.from_draws(tmp_path / "posterior.partita")
    np.testing.assert_array_equal(read.weights, given.weights)
    assert (read.draws.tolist(), list(read.traces), read.provenance) == (CANONICAL, ["t"], given.provenance)


def test_measurements_among_text_are_refused(tmp_path):
    (tmp_path / "iris.csv").write_text("length,width,species\n5.1,3,setosa\n4.9,2,virginica\n")
    with pytest.raises(
        ValueError, match=r"iris.csv': The label at draw 0, object 0 .* is 5.1: labels that are numbers"
    ):
        Posterior.from_draws(tmp_path / "iris.csv")


def test_a_header_that_may_be_a_draw_is_told_of(tmp_path):
    (tmp_path / "draws.csv").write_text("x,y,z\nx,x,z\ny,y,z\n")
    with pytest.warns(UserWarning, match="all of its cells are labels further down"):
        read = Posterior.from_draws(tmp_path / "draws.csv")
    assert read.draws.tolist() == [[0, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("order", ["<", ">"])
def test_letters_that_there_are_none_of(order, tmp_path):
    labels = np.array([["a", "b"], ["a", "a"]], dtype=f"{order}U1")
    np.save(tmp_path / "t.npy", labels)
    assert Posterior.from_draws(tmp_path / "t.npy").draws.tolist() == [[0, 1], [0, 0]]
    content = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(content[:-4] + b"\x7f\x7f\x7f\x7f")
    with pytest.raises(ValueError, match="cut short or damaged"):
        Posterior.from_draws(tmp_path / "t.npy")


def test_records_are_no_labels(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((2, 3), dtype=[("x", "i4"), ("y", "U2")]))
    with pytest.raises(ValueError, match="holds records, not labels"):
        Posterior.from_draws(tmp_path / "t.npy")


def test_an_archive_of_a_version_that_there_is_none_of(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", np.zeros((2, 3), np.int64))
    content = bytearray((tmp_path / "t.npz").read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 255
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(ValueError, match="cut short or damaged"):
        Posterior.from_draws(tmp_path / "t.npz")
