"""Where compiled code cannot be kept or is not to be trusted, one warning says so and the answer is the same."""

import shutil
import stat

import numba
import pytest
from tests.kernels.processes import DENSITIES, run
from tests.volumes import long

from partita.kernels.cache_folder import cache_folder

pytestmark = pytest.mark.xdist_group("cache folder")  # one folder is filled for all

NO_HOME = """
import os, pwd
os.environ.pop("HOME", None), os.environ.pop("XDG_CACHE_HOME", None)
def nobody(number):
    raise KeyError(number)
pwd.getpwuid = nobody
"""
ANOTHER_USER = """
import os
os.geteuid = lambda: 4242
"""
FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    cache = tmp_path_factory.mktemp("filled") / "cache"
    (_, values, _), _ = run("import os; os.umask(0)\n" + DENSITIES, cache)
    return cache, values


def assert_kept_in_memory(outcome, values, folder, reason):
    (_, again, n_compiled), said = outcome
    assert again == values
    assert n_compiled == 2
    assert said.count("UserWarning") == said.count("PARTITA_CACHE_DIR to a folder of your own") == 1
    assert f"cannot be kept in {folder}: " in said
    assert reason in said


@long
def test_no_home_directory(filled):
    assert_kept_in_memory(run(NO_HOME + DENSITIES), filled[1], "~/.cache/partita", "home directory")


@long
def test_a_folder_that_cannot_be_made(filled, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    cache = tmp_path / "file" / "cache"
    assert_kept_in_memory(run(DENSITIES, cache), filled[1], cache, "Not a directory")


@long
def test_a_full_disk(filled, tmp_path):
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    outcome = run(FULL_DISK + DENSITIES, cache, TMPDIR=str(temporary))
    (folder,) = cache.iterdir()
    assert_kept_in_memory(outcome, filled[1], folder, "File too large")
    assert not any(folder.iterdir())
    assert not any(temporary.iterdir())


@long
def test_a_folder_that_can_only_be_read_is_read(filled, tmp_path):
    """Of this user, so what lies there is trusted; only what is missing cannot be added."""
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    (folder,) = cache.iterdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    (_, values, n_compiled), said = run(DENSITIES, cache)
    folder.chmod(stat.S_IRWXU)
    assert (values, n_compiled, said) == (filled[1], 0, "")


@long
def test_a_folder_of_another_user_is_neither_read_nor_written(filled, tmp_path):
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    before = [path.stat().st_mtime_ns for path in sorted(cache.rglob("*"))]
    assert_kept_in_memory(run(ANOTHER_USER + DENSITIES, cache), filled[1], cache, "belongs to another user")
    assert [path.stat().st_mtime_ns for path in sorted(cache.rglob("*"))] == before


@long
@pytest.mark.parametrize("level", ["root", "folder"])
def test_a_folder_that_everybody_can_write_is_not_read(filled, tmp_path, level):
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    (folder,) = cache.iterdir()
    (cache if level == "root" else folder).chmod(0o777)
    assert_kept_in_memory(run(DENSITIES, cache), filled[1], cache, "everybody can write to it")


@long
def test_a_folder_that_the_group_can_write_is_read(filled, tmp_path):
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    for folder in (cache, *cache.iterdir()):
        folder.chmod(0o775)
    (_, values, n_compiled), said = run(DENSITIES, cache)
    assert (values, n_compiled, said) == (filled[1], 0, "")


def test_folders_are_made_for_their_user_alone(filled):
    for folder in (filled[0], *filled[0].iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def kernel(state):
    """Stands for one that is compiled."""


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "LOOP_VECTORIZE", "OPT"])
def test_settings_that_change_the_code_change_the_folder(tmp_path, monkeypatch, setting):
    monkeypatch.setenv("PARTITA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, setting, 0)
    without = cache_folder(kernel, ())
    assert cache_folder(kernel, ()) == without
    monkeypatch.setattr(numba.config, setting, 1)
    assert cache_folder(kernel, ()) != without
