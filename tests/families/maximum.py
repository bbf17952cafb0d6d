"""EM of a family, as tests need it."""

import numpy as np

from partita.engines.em import EM
from partita.model.model import Model
from partita.priors import FiniteDirichlet


def objectives(family, table):
    """The objective after each of three steps, two components."""
    weights = np.ones(table.n_rows, dtype=np.int64)
    model = Model(family.resolve(table), FiniteDirichlet(n_components=2), table, weights)
    rng, engine, values = np.random.default_rng(4), EM(), []
    state = engine.init(rng, model)
    for _ in range(3):
        state, info = engine.step(rng, state, model)
        values.append(info.objective)
    return values
