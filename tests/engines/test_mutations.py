"""The enumeration oracle must fail on every engine that is wrong in one line."""

import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engines.mutant import verdict
from tests.volumes import long, mostly_long

import partita
from partita.priors import FiniteDirichlet, GibbsType

PACKAGE = Path(partita.__file__).parent
PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutation:
    """One edit of the package, and the model on which it must show."""

    file: str
    text: str
    becomes: str
    prior: str
    options: tuple[str, ...] = ()


LAST_STICK = """        unbroken = scale * (a + from_here)
    out[order[last]] = unbroken
"""
KEPT_STICK = """        unbroken = scale * (a + from_here)
    out[order[last]] = unbroken * (1.0 + from_here) / (1.0 + a + from_here)
"""
MOVING = """        elif own >= 0 and chosen != own:
            leave(rows, i, w, state, sizes, own)
"""
#: A class, its method that is not compiled, the text in it, and what that becomes.
METHODS = {
    "every component gets alpha instead of alpha/H": (
        FiniteDirichlet,
        "shift",
        "return concentration if self.as_printed else concentration / self.n_components",
        "return concentration",
    ),
    "compiled weights read alpha instead of alpha/H": (
        GibbsType,
        "compiled",
        "shift = np.array([self.shift(concentration)], dtype=np.float64)",
        "shift = np.array([concentration], dtype=np.float64)",
    ),
}
MUTATIONS = {
    "the last stick is like the others": Mutation("priors/stick_state.py", LAST_STICK, KEPT_STICK, "stick-breaking"),
    "a split forgets its probability": Mutation(
        "kernels/merge_split.py", " + np.log(n_targets) - log_q", " + np.log(n_targets)", "dirichlet-process"
    ),
    "a split forgets how many labels there were": Mutation(
        "kernels/merge_split.py", " + np.log(n_targets) - log_q", " - log_q", "stick-breaking"
    ),
    "a row is scored with itself in its cluster": Mutation(
        "kernels/scan.py",
        "weights(rows, i, state, sizes, n_slots, own, prior_scores, scores)",
        "weights(rows, i, state, sizes, n_slots, -1, prior_scores, scores)",
        "dirichlet-process",
    ),
    "a row that moves stays in the statistics it left": Mutation("kernels/scan.py", MOVING, "", "dirichlet-process"),
    "the prior still counts the row where it sat": Mutation(
        "kernels/scan.py",
        "total += scores[k] * prior_scores[k]",
        "total += scores[k] * (prior_scores[k] + (k == own))",
        "dirichlet-process",
    ),
    "tied copies count once in the prior": Mutation(
        "kernels/scan.py",
        "log_prior_weights(prior, sizes, n_slots, opening, w, prior_scores)",
        "log_prior_weights(prior, sizes, n_slots, opening, 1, prior_scores)",
        "dirichlet-process",
        ("--tied",),
    ),
}


def run_copy(folder: Path, prior: str, *options: str) -> dict:
    """The oracle's verdict on the copy of the package in ``folder``."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), str(PROJECT)]),
        "PARTITA_CACHE_DIR": str(folder / "cache"),
    }
    command = [sys.executable, "-m", "tests.engines.mutant", prior, *options]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert Path(result["package"]).is_relative_to(folder)
    return result


def copy_of_package(folder: Path) -> Path:
    return Path(shutil.copytree(PACKAGE, folder / "partita", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.mark.xdist_group("GammaPoisson")
@pytest.mark.parametrize(("kind", "name", "text", "becomes"), METHODS.values(), ids=METHODS.keys())
def test_a_wrong_line_of_a_method_is_seen(kind, name, text, becomes, monkeypatch):
    method = getattr(kind, name)
    source = textwrap.dedent(inspect.getsource(method))
    assert source.count(text) == 1
    wrong: dict = {}
    exec(source.replace(text, becomes), method.__globals__, wrong)
    monkeypatch.setattr(kind, name, wrong[name])
    result = verdict("finite-dirichlet")
    assert not result["agrees"], result["because"]


@long
@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS.keys())
def test_a_wrong_line_is_seen(mutation, tmp_path):
    path = copy_of_package(tmp_path) / mutation.file
    source = path.read_text()
    assert source.count(mutation.text) == 1
    path.write_text(source.replace(mutation.text, mutation.becomes))
    result = run_copy(tmp_path, mutation.prior, *mutation.options)
    assert not result["agrees"], result["because"]


@long
def test_the_unchanged_copy_agrees(tmp_path):
    copy_of_package(tmp_path)
    result = run_copy(tmp_path, "stick-breaking")
    assert result["agrees"], result["because"]


@mostly_long
@pytest.mark.xdist_group("GammaPoisson")
@pytest.mark.parametrize("prior", ["dirichlet-process", "finite-dirichlet", pytest.param("stick-breaking", marks=long)])
def test_the_package_itself_agrees(prior):
    result = verdict(prior)
    assert result["agrees"], result["because"]


@pytest.mark.xdist_group("GammaPoisson")
def test_the_package_itself_agrees_on_tied_copies():
    result = verdict("dirichlet-process", tied=True)
    assert result["agrees"], result["because"]
