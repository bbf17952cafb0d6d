"""Compile once, keep the result on disk, never run stale code: each claim in processes of their own."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.kernels.processes import DENSITIES, run
from tests.volumes import long

import partita

SOURCE = Path(partita.__file__).parent

STEPS = """
import json
import numpy as np
from partita.engines import Gibbs
from partita.model.model import Model
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


DOUBLED_RISING = """

@inner
def log_rising(z, m):
    return math.lgamma(z + m) - math.lgamma(z) + m * math.log(2.0)
"""

ROW_NUMBER_AS_DENSITY = """

@implements(log_predictive, CountState)
def _row_number(rows, i, w, state, slot):
    return 0.25 * i
"""


OUTSIDE = """
from partita.kernels.compiling import entry

@entry
def scaled(x, out):
    out[0] = 2 * x[0]
"""

ADDRESS = """
import ctypes, ctypes.util
from partita.kernels.compiling import entry

cos = ctypes.CDLL(ctypes.util.find_library("m")).cos
cos.argtypes, cos.restype = [ctypes.c_double], ctypes.c_double

@entry
def scaled(x, out):
    out[0] = cos(x[0])
"""

TWO_SPECIALISATIONS = """
import json
import numpy as np
from outside import scaled
from partita.kernels.compiling import compilations

outs = np.zeros(1), np.zeros(1, dtype=np.int64)
for out in outs:
    scaled(out + 3, out)
print(json.dumps([[float(out[0]) for out in outs], compilations()]))
"""

CAUGHT = """
    try:
        scaled(np.full(2, 7, out.dtype)[:1], out)
    except IndexError:
        out[0] = -1
"""


@pytest.fixture
def copied(tmp_path):
    """A copy of the package that a test may edit, and how to run it."""
    package = tmp_path / "copy" / "partita"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def densities():
        (file, values, n_compiled), _ = run(DENSITIES, tmp_path / "cache", PYTHONPATH=str(package.parent))
        assert Path(file).parent == package
        return np.array(values), n_compiled

    return package, densities


@long
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


@long
def test_code_of_modules_that_were_loaded_before_an_edit_is_not_kept_as_that_of_the_edit(copied, tmp_path):
    package, densities = copied
    callee = package / "kernels" / "algebra.py"
    loaded = DENSITIES.replace(
        "family, table =", f"open({str(callee)!r}, 'a').write({DOUBLED_RISING!r})\nfamily, table ="
    )
    (_, before, _), _ = run(loaded, tmp_path / "cache", PYTHONPATH=str(package.parent))
    after, n_compiled = densities()
    assert n_compiled == 2
    assert not np.allclose(after, before)


@long
def test_an_edit_of_the_family_takes_effect(copied):
    package, densities = copied
    original, _ = densities()
    with (package / "families" / "gamma_poisson.py").open("a") as family:
        family.write(ROW_NUMBER_AS_DENSITY)
    edited, _ = densities()
    np.testing.assert_array_equal(edited, 0.25 * np.arange(6))
    assert (original < 0).all()


@long
def test_second_process_compiles_nothing_and_priors_of_gibbs_type_share_one_compilation(tmp_path):
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    (compiled, labels), said = run(STEPS, cache, XDG_CACHE_HOME=str(elsewhere))
    assert compiled == [0, 2, 2, 2]  # refresh_slots and sweep, once for all three priors
    assert said == ""  # the note on compiling is for terminals
    (again, same), said = run(STEPS, cache, XDG_CACHE_HOME=str(elsewhere))
    assert again == [0, 0, 0, 0]
    assert said == ""
    assert same == labels
    assert list(cache.rglob("*.compiled"))
    assert not elsewhere.exists()
    assert not list(SOURCE.rglob("*.nbi"))
    assert not list(SOURCE.rglob("*.compiled"))


@long
def test_every_specialisation_is_kept_and_an_edit_of_the_kernel_itself_takes_effect(tmp_path):
    """A kernel of another package, called with two types of array."""
    outside = tmp_path / "outside.py"

    def scaled_by(factor):
        outside.write_text(OUTSIDE.replace("2 *", f"{factor} *"))
        (values, n_compiled), said = run(TWO_SPECIALISATIONS, tmp_path / "cache", **beside_partita(tmp_path))
        assert said == ""
        return values, n_compiled

    assert scaled_by(2) == ([6.0, 6.0], 2)
    assert scaled_by(2) == ([6.0, 6.0], 0)
    assert scaled_by(5) == ([15.0, 15.0], 2)


@long
def test_a_kernel_without_a_file_is_compiled_at_every_start(tmp_path):
    """Typed into a console, it may be another one next time."""
    for factor in (2, 5):
        script = OUTSIDE.replace("2 *", f"{factor} *") + TWO_SPECIALISATIONS.replace("from outside import scaled", "")
        (values, n_compiled), said = run(script, tmp_path)
        assert (values, n_compiled, said) == ([3.0 * factor, 3.0 * factor], 2, "")
    assert not list(tmp_path.rglob("*.compiled"))


@long
def test_bounds_checks_see_a_wrong_index(tmp_path):
    """What `make bounds` rests on; code compiled without them is not taken for code with them."""
    (tmp_path / "outside.py").write_text(OUTSIDE.replace("x[0]", "x[1]"))
    script = TWO_SPECIALISATIONS.replace("scaled(out + 3, out)", CAUGHT)
    for checked, expected in (("0", [14.0, 14.0]), ("1", [-1.0, -1.0])):
        surroundings = beside_partita(tmp_path) | {"NUMBA_BOUNDSCHECK": checked}
        (values, n_compiled), _ = run(script, tmp_path / "cache", **surroundings)
        assert (values, n_compiled) == (expected, 2)


@long
def test_code_that_refers_to_an_address_is_not_kept(tmp_path):
    (tmp_path / "outside.py").write_text(ADDRESS)
    for _ in range(2):
        (values, n_compiled), said = run(TWO_SPECIALISATIONS, tmp_path / "cache", **beside_partita(tmp_path))
        assert values[0] == np.cos(3.0)
        assert n_compiled == 2
        assert "scaled refers to an address of this process" in said
    assert not list((tmp_path / "cache").rglob("*.compiled"))


def beside_partita(folder):
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(SOURCE.parent)])}
