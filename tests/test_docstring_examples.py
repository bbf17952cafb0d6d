"""Examples in the docstrings of public names print what they say."""

import doctest
import inspect
from dataclasses import is_dataclass

import pytest
from tests.test_conventions import public_names

import partita
from partita.parameters import Named

THINGS = {thing: name for name, thing in public_names() if callable(thing)}  # each once, whichever rooms offer it


def needs_an_example(thing):
    """Functions, and classes that a person writes: no bases, warnings, nor records that functions return."""
    if not inspect.isclass(thing) or thing.__name__ in partita.__all__:
        return True
    is_base = inspect.isabstract(thing) or (issubclass(thing, Named) and not thing.is_known())
    return not (is_base or is_dataclass(thing) or issubclass(thing, Warning | tuple))


def test_most_need_one():
    assert sum(map(needs_an_example, THINGS)) > 0.6 * len(THINGS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("thing", THINGS, ids=THINGS.get)
def test_an_example_is_there_and_true(thing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = thing.__name__
    [test] = doctest.DocTestFinder(recurse=False).find(thing, name, globs={name: thing})
    assert test.examples or not needs_an_example(thing), f"{name} has no example"
    failed = []
    doctest.DocTestRunner().run(test, out=failed.append)
    assert not failed, "".join(failed)
