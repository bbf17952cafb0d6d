"""Who imports whom: docs/design.md is held to the code, and there is no way round in circles."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import partita

ROOT = Path(partita.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "design.md"
MOST_ROOT_MODULES = 12


def room_of(file):
    first = file.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(nodes):
    """Rooms that these statements import."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "partita":
            yield from (name.name for name in node.names if (ROOT / name.name).exists() or is_module(name.name))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("partita."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("partita."))


def is_module(name):
    return (ROOT / f"{name}.py").exists()


def read_rooms():
    """Room -> rooms imported at once, and rooms imported only when functions run or types are checked."""
    at_once, later = {}, {}
    for file in ROOT.rglob("*.py"):
        room = room_of(file)
        tree = ast.parse(file.read_text())
        at_once.setdefault(room, set()).update(imported(tree.body))
        later.setdefault(room, set()).update(imported(ast.walk(tree)))
    rooms = at_once.keys() - {"__init__"}
    return {room: (at_once[room] - {room}, later[room] - at_once[room] - {room}) for room in rooms}


def described_rooms():
    """What the page says."""
    lines = re.search(r"within functions, when they are called\):\n\n((?:    .*\n)+)", PAGE.read_text()).group(1)
    rooms = {}
    for line in lines.splitlines():
        room, _, rest = line.strip().partition(" ")
        at_once, _, later = rest.partition("|")
        rooms[room] = (set(at_once.split()), set(later.split()))
    return rooms


def test_the_page_says_who_imports_whom():
    assert described_rooms() == read_rooms()


def test_nobody_imports_in_a_circle():
    """Not within functions either."""
    order = list(TopologicalSorter({room: now | later for room, (now, later) in read_rooms().items()}).static_order())
    assert order.index("table") < order.index("model") < order.index("engines") < order.index("mixture")


def test_the_root_holds_what_a_newcomer_looks_for():
    assert len(list(ROOT.glob("*.py"))) <= MOST_ROOT_MODULES


@pytest.mark.parametrize("estimators", [("mixture", "consensus", "means", "spectral")])
def test_estimators_do_not_know_each_other(estimators):
    rooms = read_rooms()
    for one in estimators:
        assert not (rooms[one][0] | rooms[one][1]) & {*estimators, "selection"}


def test_every_room_is_described():
    rooms = PAGE.read_text().split("## Rooms")[1].split("The flow is one way")[0]
    for path in ROOT.iterdir():
        if path.name not in ("__pycache__", "py.typed"):
            assert re.search(rf"^.*\b{re.escape(path.name)}", rooms, flags=re.MULTILINE), path.name
