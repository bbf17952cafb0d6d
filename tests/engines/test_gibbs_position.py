"""A chain goes on from its position as if it had never stopped."""

import numpy as np
import pytest
from tests.engines.models import EXAMPLES, LEARNED, parameters

from partita.engines.gibbs import SWEEPS_PER_REBUILD, Gibbs
from partita.engines.gibbs_state import at_position
from partita.priors import DirichletProcess, StickBreaking

PRIORS = [DirichletProcess(), StickBreaking(n_components=5)]


@pytest.mark.parametrize(("example", "prior"), parameters([*EXAMPLES, *LEARNED], PRIORS))
def test_the_same_draws_follow(example, prior):
    model, engine, rng = example.model(prior), Gibbs(merge_split=2), np.random.default_rng(4)
    state = engine.init(rng, model)
    for _ in range(2 * SWEEPS_PER_REBUILD):
        state, _ = engine.step(rng, state, model)
    again, other = at_position(model, state.position(model)), np.random.default_rng()
    other.bit_generator.state = rng.bit_generator.state
    for _ in range(20):
        state, info = engine.step(rng, state, model)
        again, told = engine.step(other, again, model)
        np.testing.assert_array_equal(again.allocation.labels, state.allocation.labels)
        assert told == info
