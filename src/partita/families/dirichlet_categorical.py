"""Categories: every column of a cluster has its own shares under a symmetric Dirichlet prior.

The predictive of one row is a product over its observed columns,

    prod_m (beta_m + N_km,y) / (J_m beta_m + N_km),

N_km,y the rows of cluster k with category y in column m, N_km those observed in column m. The
numerators lie in a table [column and category][cluster]: the loop over clusters is innermost and contiguous, and a
row's weights are plain products. Where many columns could leave the range of a float, exponents are
kept apart every few columns, so no cluster is lost to underflow on the way. Counts are whole
numbers and the table is rewritten from them: nothing drifts.
"""

import math
from typing import ClassVar, NamedTuple

import numba
import numpy as np
from scipy import stats as distributions
from scipy.special import gammaln, xlogy

from partita.families.base import Cells, Conjugate
from partita.families.profiles import ColumnProfile, Estimate, mean_estimate
from partita.families.relevance import category_relevance
from partita.kernels.algebra import log_rising
from partita.kernels.dispatch import implements
from partita.kernels.names import (
    add,
    log_marginal,
    log_predictive,
    log_weights,
    refresh,
    weights,
)
from partita.table import Table
from partita.table.schema import Kind

LOG_2 = np.log(2.0)
LARGEST_TOTAL = 2**31
SAFE_DECADES = 150.0


class CategoricalRows(NamedTuple):
    """Positions in the table of numerators: the column's offset plus the category; -1 where missing."""

    position: np.ndarray  # (n, M) int64
    complete: np.ndarray  # (n,) bool


class CategoricalState(NamedTuple):
    """Counts per slot and category, and the tables that a row's product reads."""

    stats: np.ndarray  # (slots, L) counts, L categories over all columns
    numerator: np.ndarray  # (L, slots) beta + count
    observed: np.ndarray  # (M, slots) cells observed in a column
    inverse_total: np.ndarray  # (M, slots) 1 / (J beta + observed)
    inverse_product: np.ndarray  # (2, slots) product of 1 / total over columns with all rows, with one less
    inverse_exponent: np.ndarray  # (2, slots) int64, and its binary exponent
    pseudocount: np.ndarray  # (M,) beta
    mass: np.ndarray  # (M,) J beta
    offset: np.ndarray  # (M + 1,) int64, where each column's categories start
    complete: np.ndarray  # (1,) bool: no cell of the table is missing
    columns_per_rescale: np.ndarray  # (1,) int64
    exponent: np.ndarray  # (slots,) int64, scratch


class DirichletCategorical(Conjugate):
    """Independent categorical columns, shares summed out."""

    title: ClassVar[str] = "categorical"
    kind: ClassVar[Kind] = "categorical"

    def __init__(self, pseudocount: np.ndarray, n_levels: np.ndarray, columns: np.ndarray, complete: bool):
        self.pseudocount = pseudocount
        self.n_levels = n_levels
        self.columns = columns
        self.complete = complete
        self.offset = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)

    def rows(self, table: Table) -> CategoricalRows:
        """The table's codes as positions in the table of numerators."""
        codes = table.codes[:, self.columns].astype(np.int64)
        position = np.ascontiguousarray(np.where(codes < 0, -1, codes + self.offset[:-1]))
        return CategoricalRows(position, np.all(codes >= 0, axis=1))

    def state(self, n_slots: int) -> CategoricalState:
        """Empty slots."""
        n_columns, n_categories = self.pseudocount.shape[0], int(self.offset[-1])
        return CategoricalState(
            stats=np.zeros((n_slots, n_categories)),
            numerator=np.zeros((n_categories, n_slots)),
            observed=np.zeros((n_columns, n_slots)),
            inverse_total=np.zeros((n_columns, n_slots)),
            inverse_product=np.ones((2, n_slots)),
            inverse_exponent=np.zeros((2, n_slots), dtype=np.int64),
            pseudocount=np.array(self.pseudocount),
            mass=self.pseudocount * self.n_levels,
            offset=np.array(self.offset),
            complete=np.array([self.complete]),
            columns_per_rescale=np.array([self._columns_per_rescale()], dtype=np.int64),
            exponent=np.zeros(n_slots, dtype=np.int64),
        )

    def _columns_per_rescale(self) -> int:
        """How many factors between beta / total and total can be multiplied within a float's range."""
        if self.pseudocount.size == 0:
            return 1
        largest = LARGEST_TOTAL + np.max(self.n_levels * self.pseudocount)
        decades = np.log10(largest) + np.max(np.abs(np.log10(self.pseudocount)))
        return max(1, int(SAFE_DECADES / decades))

    def suffstats(self, rows: CategoricalRows, resp: np.ndarray) -> np.ndarray:
        """Weight of every category of every column."""
        stats = np.zeros((resp.shape[1], int(self.offset[-1])))
        for position in rows.position.T:
            seen = position >= 0
            np.add.at(stats.T, position[seen], resp[seen])
        return stats

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial marginal of the sequence of categories."""
        total = np.zeros(stats.shape[0])
        for m, (start, stop) in enumerate(zip(self.offset[:-1], self.offset[1:])):
            beta, counts = self.pseudocount[m], stats[:, start:stop]
            mass = beta * (stop - start)
            total += gammaln(mass) - gammaln(mass + counts.sum(axis=1))
            total += (gammaln(beta + counts) - gammaln(beta)).sum(axis=1)
        return total

    def _dirichlet(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dirichlet parameter (..., L) of every level, and their sum over the levels of its column."""
        parameter = np.repeat(self.pseudocount, self.n_levels) + stats
        total = np.add.reduceat(parameter, self.offset[:-1], axis=-1)
        return parameter, np.repeat(total, self.n_levels, axis=-1)

    def log_predictive_by_column(
        self, rows: CategoricalRows, stats: np.ndarray, *, reverse: bool = False
    ) -> np.ndarray:
        """Logs of the posterior mean shares of a row's categories."""
        parameter, total = self._dirichlet(stats)
        terms = np.log(parameter / total)[:, np.maximum(rows.position, 0)]  # (K, n, M)
        return np.where(rows.position[:, None] < 0, 0.0, np.swapaxes(terms, 0, 1))

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """Beta-distributed shares of every level."""
        parameter, total = self._dirichlet(stats)
        alone = np.repeat(self.n_levels == 1, self.n_levels)  # a single level has share 1
        beta = distributions.beta(parameter, np.where(alone, 1.0, total - parameter))
        share, low, high = mean_estimate(beta, parameter / total)
        relevance = category_relevance(parameter / total, self.offset, shares)
        levels = [slice(start, stop) for start, stop in zip(self.offset[:-1], self.offset[1:])]
        estimates = (share, np.where(alone, 1.0, low), np.where(alone, 1.0, high))
        return [
            ColumnProfile(relevance[:, m], share=Estimate(*(part[:, own] for part in estimates)))
            for m, own in enumerate(levels)
        ]

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> list[np.ndarray]:
        """Shares (K, J_m) of every column."""
        shares = []
        for m, (start, stop) in enumerate(zip(self.offset[:-1], self.offset[1:])):
            gammas = rng.standard_gamma(self.pseudocount[m] + stats[:, start:stop])
            gammas = np.maximum(gammas, np.finfo(np.float64).tiny)
            shares.append(gammas / gammas.sum(axis=1, keepdims=True))
        return shares

    def map_params(self, stats: np.ndarray) -> list[np.ndarray]:
        """Shares (K, J_m) in proportion to beta + N - 1, 0 where that is negative; equal where nothing is left."""
        shares = []
        for beta, start, stop in zip(self.pseudocount, self.offset[:-1], self.offset[1:]):
            above = np.maximum(beta + stats[:, start:stop] - 1.0, 0.0)
            above[above.sum(axis=1) == 0.0] = 1.0
            shares.append(above / above.sum(axis=1, keepdims=True))
        return shares

    def log_prior_density(self, params: list[np.ndarray]) -> np.ndarray:
        """Dirichlet shares, a density of all shares of a column but its last."""
        total = np.zeros(params[0].shape[0])
        for beta, shares in zip(self.pseudocount, params):
            n_levels = shares.shape[1]
            with np.errstate(divide="ignore"):
                powers = xlogy(beta - 1.0, shares)
            total += gammaln(beta * n_levels) - n_levels * gammaln(beta) + powers.sum(axis=1)
        return total

    def summed_log_likelihood(self, stats: np.ndarray, params: list[np.ndarray]) -> np.ndarray:
        """Products of shares."""
        with np.errstate(divide="ignore"):
            return xlogy(stats, np.hstack(params)).sum(axis=1)

    def simulate(self, rng: np.random.Generator, params: list[np.ndarray], labels: np.ndarray) -> Cells:
        """Category codes."""
        n = labels.shape[0]
        codes = np.empty((n, len(params)), dtype=np.int32)
        for m, shares in enumerate(params):
            cumulative = np.cumsum(shares, axis=1)[labels]
            u = rng.random((n, 1)) * cumulative[:, -1:]
            codes[:, m] = np.minimum((cumulative <= u).sum(axis=1), shares.shape[1] - 1)
        return Cells(np.empty((n, 0)), codes, np.empty((n, 0), np.int64))


@implements(weights, CategoricalState)
def _weights(rows, i, state, sizes, n_slots, own, prior_scores, out):
    if not _products(rows, i, state, n_slots, own, out):
        return 0.0
    top = state.exponent[0]
    for k in range(n_slots):
        top = max(top, state.exponent[k])
    for k in range(n_slots):
        out[k] = math.ldexp(out[k], state.exponent[k] - top)
    return top * LOG_2


@implements(log_weights, CategoricalState)
def _log_weights(rows, i, w, state, sizes, n_slots, own, out):
    if w == 1:
        rescaled = _products(rows, i, state, n_slots, own, out)
        for k in range(n_slots):
            out[k] = np.log(out[k]) + (state.exponent[k] * LOG_2 if rescaled else 0.0)
        return
    for k in range(n_slots):
        out[k] = log_predictive(rows, i, w, state, k) if k != own else -log_predictive(rows, i, -w, state, k)


@numba.njit(forceinline=True)
def _products(rows, i, state, n_slots, own, out):
    """Predictive of one row in every slot; True when ``state.exponent`` holds binary exponents of it."""
    position, exponent = rows.position, state.exponent
    n_columns, step = position.shape[1], state.columns_per_rescale[0]
    rescale = n_columns > step
    for k in range(n_slots):
        out[k] = 1.0
    if rescale:
        for k in range(n_slots):
            exponent[k] = 0
    whole = state.complete[0] and rows.complete[i]
    for start in range(0, n_columns, step):
        stop = min(start + step, n_columns)
        _multiply(position, i, start, stop, state.numerator, n_slots, out)
        if not whole:
            _divide(position, i, start, stop, state.inverse_total, n_slots, out)
        if rescale:
            _move_exponents(out, exponent, n_slots)
    if whole:
        for k in range(n_slots):
            out[k] *= state.inverse_product[0, k]
        if rescale:
            for k in range(n_slots):
                exponent[k] += state.inverse_exponent[0, k]
    if own >= 0:
        out[own], exponent[own] = _product(rows, i, state, own, 1)
    return rescale


@numba.njit
def _multiply(position, i, start, stop, numerator, n_slots, out):
    """Multiply by the numerators of some columns, two columns at a time."""
    m = start
    while m < stop:
        r = position[i, m]
        s = position[i, m + 1] if m + 1 < stop else -1
        if r >= 0 and s >= 0:
            for k in range(n_slots):
                out[k] *= numerator[r, k] * numerator[s, k]
        elif r >= 0 or s >= 0:
            t = max(r, s)
            for k in range(n_slots):
                out[k] *= numerator[t, k]
        m += 2


@numba.njit
def _divide(position, i, start, stop, inverse_total, n_slots, out):
    """Divide by the totals of the observed columns."""
    for m in range(start, stop):
        if position[i, m] >= 0:
            for k in range(n_slots):
                out[k] *= inverse_total[m, k]


@numba.njit
def _move_exponents(mantissa, exponent, n_slots):
    for k in range(n_slots):
        mantissa[k], shift = math.frexp(mantissa[k])
        exponent[k] += shift


@numba.njit(forceinline=True)
def _product(rows, i, state, slot, removed):
    """Predictive of one row in one slot less ``removed`` (0 or 1) copies of it: mantissa and exponent."""
    position, stats, observed = rows.position, state.stats, state.observed
    n_columns, step = position.shape[1], state.columns_per_rescale[0]
    whole = state.complete[0] and rows.complete[i]
    product, exponent = 1.0, 0
    for start in range(0, n_columns, step):
        above, below = 1.0, 1.0
        for m in range(start, min(start + step, n_columns)):
            r = position[i, m]
            if r >= 0:
                above *= state.pseudocount[m] + (stats[slot, r] - removed)
                if not whole:
                    below *= state.mass[m] + (observed[m, slot] - removed)
        product *= above / below
        if n_columns > step:
            product, shift = math.frexp(product)
            exponent += shift
    if whole:
        return product * state.inverse_product[removed, slot], exponent + state.inverse_exponent[removed, slot]
    return product, exponent


@implements(log_predictive, CategoricalState)
def _log_predictive(rows, i, w, state, slot):
    if w == 1 or w == -1:
        product, exponent = _product(rows, i, state, slot, 0 if w == 1 else 1)
        return w * (np.log(product) + exponent * LOG_2)
    taken, copies = max(-w, 0), abs(w)
    total = 0.0
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            total += log_rising(state.pseudocount[m] + (state.stats[slot, r] - taken), copies)
            total -= log_rising(state.mass[m] + (state.observed[m, slot] - taken), copies)
    return total if w > 0 else -total


@implements(add, CategoricalState)
def _add(rows, i, w, state, slot):
    for m in range(rows.position.shape[1]):
        r = rows.position[i, m]
        if r >= 0:
            state.stats[slot, r] += w
            state.numerator[r, slot] = state.pseudocount[m] + state.stats[slot, r]
            state.observed[m, slot] += w
            state.inverse_total[m, slot] = 1.0 / (state.mass[m] + state.observed[m, slot])
    _set_inverse_product(state, slot)


@numba.njit
def _set_inverse_product(state, slot):
    observed, mass = state.observed, state.mass
    n_columns, step = mass.shape[0], state.columns_per_rescale[0]
    for removed in range(2):
        product, exponent = 1.0, 0
        for m in range(n_columns):
            product *= mass[m] + (observed[m, slot] - removed)
            if n_columns > step and (m + 1) % step == 0:
                product, shift = math.frexp(product)
                exponent += shift
        state.inverse_product[removed, slot] = 1.0 / product if product > 0.0 else 0.0
        state.inverse_exponent[removed, slot] = -exponent


@implements(refresh, CategoricalState)
def _refresh(state, slot):
    for m in range(state.pseudocount.shape[0]):
        observed = 0.0
        for r in range(state.offset[m], state.offset[m + 1]):
            state.numerator[r, slot] = state.pseudocount[m] + state.stats[slot, r]
            observed += state.stats[slot, r]
        state.observed[m, slot] = observed
        state.inverse_total[m, slot] = 1.0 / (state.mass[m] + observed)
    _set_inverse_product(state, slot)


@implements(log_marginal, CategoricalState)
def _log_marginal(state, slot):
    total = 0.0
    for m in range(state.pseudocount.shape[0]):
        beta = state.pseudocount[m]
        for r in range(state.offset[m], state.offset[m + 1]):
            count = state.stats[slot, r]
            if count > 0.0:
                total += math.lgamma(beta + count) - math.lgamma(beta)
        total += math.lgamma(state.mass[m]) - math.lgamma(state.mass[m] + state.observed[m, slot])
    return total
