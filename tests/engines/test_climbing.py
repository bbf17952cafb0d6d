"""Climbs: what is kept of a path, and when it ends."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from partita.engines.climbing import Climb


@dataclass
class Scripted:
    """An engine that reports what it was told: (objective, number of components, settled, change) of every state."""

    script: list
    monotone: bool = True
    keeps_objective: bool = True
    tol: float = 1e-3
    max_iter: int = 50
    keep_iterations: bool = False

    def init(self, rng, model):
        return 0

    def step(self, rng, state, model):
        objective, n_clusters, settled, change = self.script[state]
        info = SimpleNamespace(objective=objective, n_clusters=n_clusters, settled=settled, change=change)
        return state + 1, info


def climbed(engine):
    climb = Climb(engine, SimpleNamespace(total=10), np.random.SeedSequence(0), 0)
    climb.run(lambda: False, lambda climb: None)
    return climb


def test_a_rise_ends_when_nothing_is_gained_and_all_is_settled():
    climb = climbed(Scripted([(1.0, 4, False, 1), (2.0, 4, False, 1), (2.001, 4, False, 1), (2.002, 4, True, 1)]))
    assert (climb.path, climb.state, climb.converged) == ([1.0, 2.0, 2.001, 2.002], 3, True)


def test_a_loss_is_not_taken():
    climb = climbed(Scripted([(1.0, 4, False, 1), (0.9, 4, False, 1), (1.5, 4, False, 1), (1.4, 4, True, 1)]))
    assert (climb.path, climb.state, climb.converged) == ([1.0, 1.5], 2, True)


@pytest.mark.parametrize(("keeps", "path"), [(True, [1.0, 2.0, 3.0, 3.0]), (False, [3.0, 3.0])])
def test_a_path_begins_anew_where_fewer_components_change_the_objective(keeps, path):
    script = [(1.0, 4, True, 1), (2.0, 4, True, 1), (3.0, 3, True, 1), (3.0, 3, True, 1)]
    assert climbed(Scripted(script, keeps_objective=keeps)).path == path


def test_a_walk_takes_every_step_and_ends_where_nothing_changes():
    script = [(1.0, 4, False, 0.5), (0.5, 4, False, 0.2), (0.7, 3, False, 1e-4)]
    climb = climbed(Scripted(script, monotone=False))
    assert (climb.path, climb.state, climb.converged) == ([1.0, 0.5, 0.7], 2, True)


def test_an_engine_that_leaves_the_range_of_numbers_is_named():
    with pytest.raises(ValueError, match="Scripted left the range of floating-point numbers: its objective is nan"):
        climbed(Scripted([(np.nan, 4, False, 1)]))
