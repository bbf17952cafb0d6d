"""Variational states of small models, and the bound written out from responsibilities and factors."""

import numpy as np
from scipy.special import softmax, xlogy

from partita.engines.steps import Encoded
from partita.model.model import Model
from partita.priors import FiniteDirichlet, Gamma, StickBreaking

PRIORS = [
    FiniteDirichlet(n_components=4, concentration=1.3),
    FiniteDirichlet(n_components=7, concentration=Gamma(2.0, 1.0)),
    FiniteDirichlet(n_components=4, concentration=0.6, as_printed=True),
    StickBreaking(n_components=4, concentration=1.7),
    StickBreaking(n_components=9),
]


def random_responsibilities(n_rows: int, n_components: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(n_components, 0.5), n_rows)


def encoded(model: Model) -> Encoded:
    return Encoded(model.shared_rows, model.row_weights)


def best_responsibilities(model: Model, state) -> np.ndarray:
    return softmax(state.likelihood.expected_loglik(model.shared_rows, state.expected) + state.log_weights, axis=1)


def full_bound(model: Model, resp: np.ndarray, state) -> float:
    """E log p(rows, labels) - E log q(labels) - KL of the other factors + log hyperpriors."""
    logs = state.likelihood.expected_loglik(model.shared_rows, state.expected) + state.log_weights
    shared = model.row_weights @ (resp * logs - xlogy(resp, resp)).sum(axis=1)
    weights = model.prior.weights_divergence(state.sizes, state.concentration)
    hyper = model.prior.log_hyperprior(state.concentration) + state.likelihood.log_hyperprior()
    return float(shared - state.likelihood.prior_divergence(state.stats).sum() - weights + hyper)


def run(engine, model: Model, state, n_steps: int = 200):
    """States and their bounds until the engine has settled."""
    states, bounds = [state], []
    for _ in range(n_steps):
        state, info = engine.step(np.random.default_rng(0), state, model)
        bounds.append(info.objective)
        if info.settled:
            return states, np.array(bounds)
        states.append(state)
    raise AssertionError("The engine has not settled.")
