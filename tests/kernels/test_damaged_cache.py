"""Compiled code that is damaged on disk is compiled again, and the cache is whole afterwards."""

import hashlib
import pickle
import shutil

import numpy as np
import pytest
from tests.kernels.processes import DENSITIES, finish, run, start
from tests.volumes import long

from partita.kernels.compiled_files import _unpickled


def flip(content, position):
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


GONE = b"cpartita.families.nowhere\nRows\n."
DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "a byte short": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "a bit of the code": lambda content: flip(content, len(content) // 2),
    "a bit of the checksum": lambda content: flip(content, 7),
    "another file": lambda content: np.random.default_rng(1).bytes(len(content)),
    "of a class that is gone": lambda content: hashlib.sha256(GONE).digest() + GONE,
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that holds two kernels, and the densities they gave."""
    cache = tmp_path_factory.mktemp("filled") / "cache"
    (_, values, n_compiled), said = run(DENSITIES, cache)
    assert (n_compiled, said) == (2, "")
    assert len(files_of(cache)) == 2
    return cache, values


def files_of(cache):
    return sorted(path for path in cache.rglob("*") if path.is_file())


def assert_healed(cache, values, n_compiled):
    """The next process compiles what was damaged, the one after it nothing, and both know the densities."""
    for expected in (n_compiled, 0):
        (_, again, compiled), said = run(DENSITIES, cache)
        assert (again, compiled, said) == (values, expected, "")
    assert len(files_of(cache)) == 2


@long
@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in DAMAGES.items()])
def test_damaged_files_are_compiled_again(filled, tmp_path, damage):
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    for file in files_of(cache):
        file.write_bytes(damage(file.read_bytes()))
    assert_healed(cache, filled[1], n_compiled=2)


@long
def test_a_removed_file_is_compiled_again(filled, tmp_path):
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    files_of(cache)[0].unlink()
    assert_healed(cache, filled[1], n_compiled=1)


@long
def test_code_of_another_kernel_is_not_run(filled, tmp_path):
    """Its checksum is right, but it says whose code it is."""
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    first, second = files_of(cache)
    second.write_bytes(first.read_bytes())
    assert_healed(cache, filled[1], n_compiled=1)


def test_code_that_names_what_is_gone_is_compiled_again():
    """As of a process that another version replaced while it ran; in this process, without a compiler."""
    for gone in (b"cpartita.no_such_module\nThing\n.", b"cpartita.partitions\nNoSuchThing\n."):
        assert _unpickled(gone) == (None, None)
    assert _unpickled(pickle.dumps(("key", "code"))) == ("key", "code")


@long
def test_processes_that_compile_at_once_agree(filled, tmp_path):
    cache = tmp_path / "cache"
    for process in [start(DENSITIES, cache) for _ in range(3)]:
        (_, values, _), said = finish(process)
        assert (values, said) == (filled[1], "")
    assert_healed(cache, filled[1], n_compiled=0)
