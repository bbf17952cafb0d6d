"""Parameters: value equality, scikit-learn's protocol; choose: the words for a wrong option."""

import numpy as np
import pytest
from sklearn.base import clone

from partita.parameters import Parameters, choose, nearest
from partita.priors import DirichletProcess, Gamma


class Box(Parameters):
    def __init__(self, *, content=None, size=1):
        self.content = content
        self.size = size


class OtherBox(Box):
    pass


@pytest.mark.parametrize(
    "content",
    [np.arange(3.0), {"a": np.eye(2), "b": 1}, [Gamma(1, 2), "x"], (1, 2), None, float("nan")],
    ids=["array", "mapping", "list", "tuple", "none", "nan"],
)
def test_copies_are_equal_by_value(content):
    assert Box(content=content) == Box(content=content)
    copied = content.copy() if hasattr(content, "copy") else content
    assert Box(content=content) == Box(content=copied)
    assert Box(content=content) != Box(content=content, size=2)
    assert Box(content=content) != OtherBox(content=content)
    assert Box(content=content) != "a box"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.arange(3), np.arange(4)),
        (np.arange(3), [0, 1, 2]),
        (np.array([1.0, 2.0]), np.array([1.0, 2.5])),
        ({"a": 1}, {"b": 1}),
        ([1, 2], [1, 2, 3]),
        ([1, 2], (1, 2)),
        (Gamma(1, 2), Gamma(2, 1)),
    ],
)
def test_different_values_differ(first, second):
    assert Box(content=first) != Box(content=second)


def test_scikit_learn_protocol():
    prior = DirichletProcess(concentration=Gamma(2.0, 3.0))
    assert clone(prior) == prior
    assert clone(prior).concentration is not prior.concentration
    assert prior.get_params()["concentration__rate"] == 3.0
    assert prior.set_params(concentration__rate=4.0) == DirichletProcess(concentration=Gamma(2.0, 4.0))
    assert repr(DirichletProcess(concentration=2.0)) == "DirichletProcess(concentration=2.0)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(prior)


def test_choose_returns_the_chosen_and_suggests_the_nearest():
    losses = {"vi": 1, "binder": 2}
    assert choose("loss", "vi", losses) == 1
    with pytest.raises(ValueError) as error:
        choose("loss", "bindre", losses)
    assert str(error.value) == "loss must be one of 'vi', 'binder'; got 'bindre'. Did you mean 'binder'?"
    with pytest.raises(ValueError, match=r"got 3\.$"):
        choose("loss", 3, losses)
    assert nearest("zzz", losses) == ""
