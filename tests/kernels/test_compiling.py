"""Compile once, keep the result on disk, never run stale code: each claim in processes of their own."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import partita

SOURCE = Path(partita.__file__).parent

DENSITIES = """
import json, sys
import numpy as np
import partita
from partita.families import Count
from partita.kernels.compiling import cache_folder, compilations
from partita.kernels.gibbs import log_predictive_matrix, refresh_slots

family, table = Count.examples()[0]
likelihood = family.resolve(table)
rows, state = likelihood.rows(table), likelihood.state(1)
refresh_slots(state, 1)
density = log_predictive_matrix(rows, state, table.n_rows, 1)[:, 0]
folder = str(cache_folder((type(rows), type(state))))
print(json.dumps([partita.__file__, density.tolist(), compilations(), folder]))
"""

STEPS = """
import json
import numpy as np
from partita.engines import Gibbs
from partita.engines.model import Model
from partita.families import Count
from partita.kernels.compiling import compilations
from partita.priors import DirichletProcess, FiniteMixtures, PitmanYor

family, table = Count.examples()[0]
compiled, labels = [compilations()], []
for prior in (PitmanYor(concentration=1.0), DirichletProcess(), FiniteMixtures(concentration=None)):
    rng, engine = np.random.default_rng(1), Gibbs()
    model = Model(family.resolve(table), prior, table, np.ones(table.n_rows, dtype=np.int64))
    state = engine.init(rng, model)
    for _ in range(40):
        state, info = engine.step(rng, state, model)
    compiled.append(compilations())
    labels.append(state.allocation.labels.tolist())
print(json.dumps([compiled, labels]))
"""


def run(script, cache, **environment):
    """What a new process prints, and what it says on stderr."""
    surroundings = {**os.environ, "PARTITA_CACHE_DIR": str(cache), **environment}
    done = subprocess.run(
        [sys.executable, "-c", script], env=surroundings, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


DOUBLED_RISING = """

@numba.njit
def log_rising(z, m):
    return math.lgamma(z + m) - math.lgamma(z) + m * math.log(2.0)
"""

ROW_NUMBER_AS_DENSITY = """

@implements(log_predictive, CountState)
def _row_number(rows, i, w, state, slot):
    return 0.25 * i
"""


@pytest.fixture
def copied(tmp_path):
    """A copy of the package that a test may edit, and how to run it."""
    package = tmp_path / "copy" / "partita"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def densities():
        (file, values, n_compiled, _), _ = run(DENSITIES, tmp_path / "cache", PYTHONPATH=str(package.parent))
        assert Path(file).parent == package
        return np.array(values), n_compiled

    return package, densities


def test_an_edit_of_a_callee_in_another_file_takes_effect(copied):
    package, densities = copied
    callee = package / "kernels" / "algebra.py"
    text = callee.read_text()
    original, n_compiled = densities()
    assert n_compiled == 2
    callee.write_text(text + DOUBLED_RISING)
    edited, n_compiled = densities()
    assert n_compiled == 2
    summed_counts = np.array([3, 1, 20, 22, 11, 4])
    np.testing.assert_allclose(edited - original, summed_counts * np.log(2.0), rtol=1e-9, atol=1e-9)
    callee.write_text(text)
    restored, n_compiled = densities()
    np.testing.assert_array_equal(restored, original)
    assert n_compiled == 0


def test_an_edit_of_the_family_takes_effect(copied):
    package, densities = copied
    original, _ = densities()
    with (package / "families" / "gamma_poisson.py").open("a") as family:
        family.write(ROW_NUMBER_AS_DENSITY)
    edited, _ = densities()
    np.testing.assert_array_equal(edited, 0.25 * np.arange(6))
    assert (original < 0).all()


def test_second_process_compiles_nothing_and_priors_of_gibbs_type_share_one_compilation(tmp_path):
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    (compiled, labels), said = run(STEPS, cache, XDG_CACHE_HOME=str(elsewhere))
    assert compiled == [0, 2, 2, 2]  # refresh_slots and sweep, once for all three priors
    assert said == ""  # the note on compiling is for terminals
    (again, same), said = run(STEPS, cache, XDG_CACHE_HOME=str(elsewhere))
    assert again == [0, 0, 0, 0]
    assert said == ""
    assert same == labels
    assert list(cache.rglob("*.nbi"))
    assert not elsewhere.exists()
    assert not list(SOURCE.rglob("*.nbi"))


@pytest.mark.parametrize("obstacle", ["below a file", "read-only"])
def test_a_folder_that_cannot_be_written_gives_way_to_a_temporary_one(tmp_path, obstacle):
    script, chosen, temporary = DENSITIES, tmp_path / "chosen", tmp_path / "temporary"
    temporary.mkdir()
    if obstacle == "read-only":
        chosen.mkdir()
        chosen.chmod(stat.S_IRUSR | stat.S_IXUSR)
        if os.access(chosen, os.W_OK):  # root may write everywhere: let the process believe otherwise
            script = "import os; os.access = lambda path, mode: not (mode & os.W_OK)\n" + script
    else:
        chosen.write_text("not a folder")
        chosen = chosen / "cache"
    (_, values, n_compiled, folder), _ = run(script, chosen, TMPDIR=str(temporary))
    assert np.isfinite(values).all()
    assert n_compiled == 2
    assert temporary in Path(folder).parents
    assert list(Path(folder).rglob("*.nbi"))
    assert not chosen.is_dir() or not any(chosen.iterdir())
