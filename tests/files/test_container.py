"""The file format: what comes back is what went in, and a doubtful file is refused."""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from partita.files.container import read_container, write_container
from partita.files.layout import Field, Layout, Member
from partita.files.layouts import POSTERIOR
from partita.posterior import Posterior


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    return Posterior(
        rng.integers(-1, 3, size=(2, 5, 7)),
        weights=rng.exponential(size=10),
        traces={"n_clusters": np.full((2, 5), 3.0), "log_joint": rng.normal(size=(2, 5))},
        provenance={"seed": np.int64(7), "parameters": {"scale": np.eye(2)}, "stopped": "converged"},
    )


@pytest.fixture
def path(posterior, tmp_path):
    target = tmp_path / "run.partita"
    posterior.save(target)
    return target


def test_round_trip_changes_nothing(posterior, path):
    loaded = Posterior.load(str(path))
    np.testing.assert_array_equal(loaded.partitions, posterior.partitions)
    assert np.asarray(loaded.partitions).dtype == np.int8
    np.testing.assert_array_equal(loaded.weights, posterior.weights)
    assert list(loaded.traces) == ["n_clusters", "log_joint"]
    for name, trace in posterior.traces.items():
        np.testing.assert_array_equal(loaded.traces[name], trace)
    assert loaded.provenance == posterior.provenance
    assert loaded.provenance["parameters"] == {"scale": [[1.0, 0.0], [0.0, 1.0]]}


def test_saving_twice_gives_the_same_bytes_and_leaves_no_other_file(posterior, path):
    before = path.read_bytes()
    posterior.save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_the_file_is_what_the_documentation_says(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        about = json.loads(archive.read("partita.json"))
        assert (about["format"], about["format_version"], about["kind"]) == ("partita", 1, "posterior")
        assert set(about["arrays"]) == {"partitions", "weights", "traces/n_clusters", "traces/log_joint"}
        for name, digest in about["arrays"].items():
            assert hashlib.sha256(archive.read(f"{name}.npy")).hexdigest() == digest
        labels = np.load(io.BytesIO(archive.read("partitions.npy")), allow_pickle=False)
    assert labels.shape == (2, 5, 7)
    whole = path.read_bytes()
    assert hashlib.sha256(whole[:-64]).hexdigest() == whole[-64:].decode()


def test_any_flipped_byte_is_refused(tmp_path):
    path = tmp_path / "small.partita"
    Posterior([[0, 1]], traces={}).save(path)
    whole = path.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"is damaged or incomplete|is not a partita file"):
            Posterior.load(path)


def test_a_truncated_or_lengthened_file_is_refused(path):
    whole = path.read_bytes()
    for length in [0, 3, 20, 50, *range(100, len(whole), 41), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"is damaged or incomplete|is not a partita file"):
            Posterior.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        Posterior.load(path)


def rewritten(path, change):
    """The same archive, made by another program, with another header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(members["partita.json"])
    change(about)
    members["partita.json"] = json.dumps(about).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_a_newer_version_is_refused_with_the_remedy(path):
    rewritten(path, lambda about: about.update(format_version=2))
    words = r"written by a newer partita \(format 2; this version reads up to 1\): upgrade partita"
    with pytest.raises(ValueError, match=words):
        Posterior.load(path)


def test_a_file_from_another_program_is_refused(path):
    rewritten(path, lambda about: about.update(provenance={"seed": 8}))
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        Posterior.load(path)
    rewritten(path, lambda about: about.update(format="other"))
    with pytest.raises(ValueError, match="is not a partita file"):
        Posterior.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("something.txt", "else")
    with pytest.raises(ValueError, match="is not a partita file"):
        Posterior.load(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a partita file"):
        Posterior.load(path)


def test_missing_files_folders_and_other_kinds(tmp_path, posterior):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Posterior.load(tmp_path / "none.partita")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        posterior.save(tmp_path / "none" / "run.partita")
    views = Layout("views", (Field("a", "1", lambda a: a == 1),), (Member("b", ("int64",), ("view",), "views"),), "")
    write_container(tmp_path / "x", views, {"a": 1}, {"b": np.arange(3)})
    header, arrays = read_container(tmp_path / "x", views)
    assert header["a"] == 1
    np.testing.assert_array_equal(arrays["b"], np.arange(3))
    with pytest.raises(ValueError, match="holds a views, not a posterior or a mixture"):
        Posterior.load(tmp_path / "x")


def test_a_failed_save_keeps_the_old_file_and_nothing_else(path, posterior):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="allow_pickle"):
        write_container(path, POSTERIOR, {}, {"objects": np.array([object()])})
    header, arrays = posterior.to_container()
    with pytest.raises(TypeError):
        write_container(path, POSTERIOR, header | {"bad": object()}, arrays)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_file_of_format_1_still_loads():
    old = Posterior.load(Path(__file__).parent / "posterior-format-1.partita")
    first_draws = [[0, 1, 1, 2, 2], [0, 0, 0, 0, 1], [0, 1, 0, 0, 1]]
    assert old.draws[:3].tolist() == first_draws
    np.testing.assert_allclose(old.weights, np.arange(1, 7) / 21, rtol=1e-15)
    assert old.traces["n_clusters"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert old.provenance == {"seed": 7, "engine": "Gibbs()"}
