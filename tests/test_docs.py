"""Every Python example of the README and of the docs runs, every link leads somewhere, every option is described."""

import inspect
import re
from pathlib import Path

import matplotlib
import pytest
from tests.volumes import long, mostly_long

from partita import NBCE, Mixture
from partita.cli import COMMANDS
from partita.consensus import base_clusterings
from partita.engines import EM, CollapsedVariational, Gibbs, Variational
from partita.families import Categorical, Count, Gaussian, LogNormal, Mixed, Selective
from partita.parameters import REGISTRY
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking
from partita.runs.cluster import ClusterRequest
from partita.runs.column_words import describe_input
from partita.runs.demo import write_customers
from partita.spectral import SpectralClustering

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|output)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
WITH_EXAMPLES = [page for page in PAGES if BLOCK.search(page.read_text())]
SLOW = ("consensus", "em", "families", "finite-mixtures", "how-do-i", "mixture")  # most of the time of all pages


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def registry():
    """What a page defines is known while it runs."""
    before = {kind: dict(members) for kind, members in REGISTRY.items()}
    yield
    for kind, members in REGISTRY.items():
        members.clear()
        members.update(before[kind])


@mostly_long
@pytest.mark.usefixtures("registry")
@pytest.mark.xdist_group("mixed")
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name(page), marks=[long] if page.stem in SLOW else []) for page in WITH_EXAMPLES]
)
def test_examples_run_in_order_and_print_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    namespace: dict = {"__name__": page.stem}
    text = page.read_text()
    printed = ""
    for block in BLOCK.finditer(text):
        if block[1] == "output":
            assert printed == block[2]
            continue
        lines_before = text[: block.start(2)].count("\n")
        exec(compile("\n" * lines_before + block[2], name(page), "exec"), namespace)
        printed = capsys.readouterr().out


def test_the_pages_that_should_have_examples_have_some():
    named = {name(page) for page in WITH_EXAMPLES}
    pages = (
        "how-do-i",
        "extending",
        "columns",
        "mixture",
        "families",
        "selective",
        "priors",
        "processes",
        "gibbs",
        "em",
        "collapsed-variational",
        "variational",
        "draws",
        "posterior",
        "metrics",
        "uncertainty",
        "plots",
        "hierarchy",
        "entropy",
        "conjugate-pairs",
        "finite-mixtures",
        "spectral",
        "consensus",
    )
    assert {"README.md", *(f"docs/{page}.md" for page in pages)} <= named


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_files_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("mixture", [Mixture]),
        ("families", [Gaussian, LogNormal, Categorical, Count, Mixed, Selective]),
        ("priors", [DirichletProcess, PitmanYor, FiniteMixtures, FiniteDirichlet, StickBreaking]),
        ("gibbs", [Gibbs]),
        ("em", [EM]),
        ("collapsed-variational", [CollapsedVariational]),
        ("variational", [Variational]),
        ("spectral", [SpectralClustering]),
        ("consensus", [NBCE, base_clusterings]),
    ],
)
def test_every_option_is_described(page, kinds):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for kind in kinds:
        options = [option for option in inspect.signature(kind).parameters if not re.search(rf"\b{option}\b", text)]
        assert not options, f"{kind.__name__}: {options}"


def test_the_readme_opens_with_the_two_commands():
    opening = (ROOT / "README.md").read_text()[:1500]
    assert 0 <= opening.find("make demo") < opening.find("make test")


def test_the_readme_shows_the_table_that_the_demo_clusters(tmp_path):
    shown = (ROOT / "README.md").read_text().split("```text\n")[1].splitlines()
    write_customers(tmp_path / "customers.csv")
    understood = describe_input(ClusterRequest(tmp_path / "customers.csv", {}).read())
    assert shown[0] == understood[0].replace(f"{tmp_path}", "partita-demo")
    assert shown[1 : len(understood)] == understood[1:]
    groups = next(line for line in shown if "How many groups there are" in line)
    assert sum(line.startswith("  group ") for line in shown) == int(groups.split(maxsplit=1)[0])


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_option_of_the_command_is_described(command):
    text = (ROOT / "docs" / "command-line.md").read_text()
    for option in inspect.signature(command).parameters.values():
        if option.default is not option.empty:
            assert f"`--{option.name.replace('_', '-')}" in text
