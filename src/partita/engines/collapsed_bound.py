"""The collapsed bound E_q log p(rows, labels) + H(q), summed over all that the labels of a few rows can be."""

from math import comb

import numpy as np
from scipy.special import xlogy

from partita.engines.collapsed_state import CollapsedVariationalState
from partita.model.model import Model

MOST_ROWS = 16
"""Rows, counted by their weights, of which all subsets are gone through."""

MOST_SIZES = 200_000
"""Vectors of component sizes that are gone through."""


def collapsed_bound(model: Model, state: CollapsedVariationalState) -> float:
    """Return L_CVB, plus the log densities of what is learned; see `CollapsedVariational.collapsed_bound`."""
    copies = np.repeat(np.arange(model.row_weights.size), model.row_weights)
    _refuse_large(copies.size, state.n_components)
    resp = state.resp[copies]
    sizes, chances = _sizes(resp)
    allocation = float(chances @ model.prior.log_allocation(sizes, state.concentration))
    learned = model.prior.log_hyperprior(state.concentration) + state.likelihood.log_hyperprior()
    return allocation + _expected_log_marginals(model, state, copies) - float(xlogy(resp, resp).sum()) + learned


def _expected_log_marginals(model: Model, state: CollapsedVariationalState, copies: np.ndarray) -> float:
    """Sum over components of the expected log marginal likelihood of the rows that they hold."""
    inside = (np.arange(2**copies.size) >> np.arange(copies.size)[:, None]) & 1  # of every copy: in which subsets it is
    counts = np.zeros((model.row_weights.size, inside.shape[1]))
    np.add.at(counts, copies, inside)
    log_marginals = state.likelihood.log_marginal(state.likelihood.suffstats(model.shared_rows, counts))
    chances = np.ones((1, state.n_components))
    for share in state.resp[copies]:
        chances = np.concatenate([chances * (1.0 - share), chances * share])
    return float((log_marginals @ chances).sum())


def _sizes(resp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All sizes (m, K) that components can have, and the probability of each; rows join one after the other."""
    n, n_components = resp.shape
    digit: np.ndarray = (n + 1) ** np.arange(n_components)
    codes: np.ndarray = np.zeros(1, np.int64)
    chances: np.ndarray = np.ones(1)
    for share in resp:
        codes, which = np.unique((codes[:, None] + digit).ravel(), return_inverse=True)
        chances = np.bincount(which, (chances[:, None] * share).ravel())
    return (codes[:, None] // digit) % (n + 1), chances


def _refuse_large(n: int, n_components: int) -> None:
    countable = (n + 1) ** n_components < 2**63  # what a vector of sizes is coded by
    if n > MOST_ROWS or comb(n + n_components - 1, n) > MOST_SIZES or not countable:
        raise ValueError(
            f"The collapsed bound is a sum over all labellings, which is done for at most {MOST_ROWS} rows (counted by "
            f"their weights) and {MOST_SIZES:,} ways to share them out among components; here are {n:,} rows and "
            f"{n_components} components. The bound that every step reports, a little below it, has no limit."
        )
