"""Words that mean the same wherever a person meets them."""

import inspect
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from partita.consensus import add_label_noise, drop_labels
from partita.kernels.compiling import Entry
from partita.priors import DirichletProcess

ROOMS = ("partita", "partita.consensus", "partita.engines", "partita.families", "partita.means", "partita.metrics",
         "partita.plots", "partita.posterior", "partita.priors", "partita.selection", "partita.spectral",
         "partita.table")  # fmt: skip
GENERATOR_NAMES = {"rng", "seed", "generator", "random", "random_state"}


def public_names():
    """What every room offers, by dotted name."""
    for room in map(import_module, ROOMS):
        yield from ((f"{room.__name__}.{name}", getattr(room, name)) for name in room.__all__ if name != "__version__")


def public_callables():
    """Every public function, class and method, by its dotted name."""
    for name, thing in public_names():
        if callable(thing):
            yield name, thing
            methods = vars(thing).items() if inspect.isclass(thing) else ()
            yield from ((f"{name}.{m}", f) for m, f in methods if m[0] != "_" and callable(f))


@pytest.mark.parametrize(("name", "thing"), [*public_names()])
def test_public_names_are_for_people(name, thing):
    assert not name.rpartition(".")[2].startswith("_")
    assert not isinstance(thing, Dispatcher | Entry | ModuleType)
    if callable(thing):  # a registry or a list of kinds has no words of its own
        assert thing.__module__.startswith("partita")
        assert thing.__doc__
        assert not thing.__doc__.startswith(f"{thing.__name__}("), "written by dataclass, not by a person"


def optional_sources(thing):
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # of C
        return set()
    return {p.name for p in parameters if p.name in GENERATOR_NAMES and p.default is not p.empty}


def test_what_may_be_left_out_is_called_random_state():
    sources = {name: optional_sources(thing) for name, thing in public_callables()}
    assert sum(map(bool, sources.values())) > 10
    assert not {name: found for name, found in sources.items() if found - {"random_state"}}


@pytest.mark.parametrize(
    "draw",
    [
        lambda random_state: DirichletProcess(concentration=20.0).sample_partition(50, random_state),
        lambda random_state: DirichletProcess(concentration=20.0).sample_weights(9, random_state),
        lambda random_state: DirichletProcess(concentration=20.0).sample_measure(
            lambda rng: rng.normal(), 9, random_state
        )[0],
        lambda random_state: add_label_noise(np.arange(50) % 5, 0.5, random_state),
        lambda random_state: drop_labels(np.arange(50) % 5, 0.5, random_state),
    ],
    ids=["sample_partition", "sample_weights", "sample_measure", "add_label_noise", "drop_labels"],
)
class TestRandomState:
    def test_a_seed_repeats_and_a_generator_goes_on(self, draw):
        assert np.array_equal(draw(3), draw(np.random.default_rng(3)))
        rng = np.random.default_rng(3)
        assert np.array_equal(draw(rng), draw(3))
        assert not np.array_equal(draw(rng), draw(3))

    def test_a_random_state_of_numpy(self, draw):
        assert np.array_equal(draw(np.random.RandomState(1)), draw(np.random.RandomState(1)))

    def test_none_is_new(self, draw):
        assert not np.array_equal(draw(None), draw(None))

    def test_what_is_no_source_is_refused(self, draw):
        with pytest.raises(ValueError, match="random_state must be None, a whole number >= 0"):
            draw("seven")
