"""Priors of Gibbs type: log p(partition) = log_v[K] + sum over clusters of log_w[size].

Dirichlet process, Pitman-Yor, finite Dirichlet and mixtures of finite mixtures are of this kind, and in all
four w grows as a rising factorial: w[s + 1] / w[s] = s + shift. Reference: Gnedin and Pitman (2006),
Exchangeable Gibbs partitions and Stirling triangles.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from partita.kernels.algebra import log_rising
from partita.kernels.compiling import inner
from partita.kernels.dispatch import implements
from partita.kernels.names import log_prior, log_prior_weights, prior_weights
from partita.priors.base import Prior
from partita.priors.checks import require_integer
from partita.priors.cluster_counts import (
    STIRLING_CELL,
    STIRLING_STEP,
    log_stirling,
    n_quadrature_points,
    require_affordable,
)
from partita.priors.hyperpriors import slice_update

MOST_TABLED = 2**22  # summed weight up to which log_w is looked up, 32 MiB; a larger one is computed when asked for


class GibbsTypePrior(NamedTuple):
    """The two tables of a Gibbs-type prior and the linear weights of one more row."""

    log_v: np.ndarray  # (max_clusters + 1,) by number of clusters; log_v[0] = log_v[1], a placeholder
    log_w: np.ndarray  # (n + 1,) by size, (2,) where n > MOST_TABLED; log_w[0] = 0, a placeholder
    shift: np.ndarray  # (1,) b: joining a cluster of size s weighs s + b
    open: np.ndarray  # (max_clusters,) weight of opening a cluster by the number already open


class GibbsType(Prior):
    """Base of the priors of Gibbs type; a subclass brings ``shift``, ``log_v`` and ``log_w``."""

    @abstractmethod
    def shift(self, concentration: float) -> float:
        """Return b in w[s + 1] / w[s] = s + b."""

    @abstractmethod
    def log_v(self, n: int, n_clusters: np.ndarray, concentration: float) -> np.ndarray:
        """Return the log coefficient of partitions of n rows by number of clusters (at least 1)."""

    @abstractmethod
    def log_w(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Return the log weight of clusters by size (at least 1)."""

    def tables(
        self, n: int, max_clusters: int | None = None, *, concentration: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (log_v, log_w) for n rows and up to ``max_clusters`` clusters (default n).

        Cost O(n + max_clusters). A learned concentration must be given.
        """
        concentration = self._given(concentration)
        return self._log_v_table(n, max_clusters, concentration), self._log_w_table(n, concentration)

    def compiled(self, n: int, concentration: float, max_clusters: int) -> GibbsTypePrior:
        """Return the tables and linear weights for kernels."""
        log_v = self._log_v_table(n, max_clusters, concentration)
        log_w = self._log_w_table(_most_tabled(n), concentration)
        shift = np.array([self.shift(concentration)], dtype=np.float64)
        return GibbsTypePrior(log_v, log_w, shift, _opening_weights(log_v, log_w[1]))

    def recompiled(self, previous: GibbsTypePrior, n: int, concentration: float, max_clusters: int) -> GibbsTypePrior:
        """Return ``compiled``, with the table by size of ``previous`` where it still holds."""
        same = previous.log_w.size == _most_tabled(n) + 1 and previous.shift[0] == self.shift(concentration)
        if not same:
            return self.compiled(n, concentration, max_clusters)
        log_v = self._log_v_table(n, max_clusters, concentration)
        return previous._replace(log_v=log_v, open=_opening_weights(log_v, previous.log_w[1]))

    def update(self, rng: np.random.Generator, sizes: np.ndarray, concentration: float) -> float:
        """Draw the concentration given the sizes of occupied clusters, by slice sampling on its log."""
        if not self.learns_concentration:
            return concentration
        sizes = np.asarray(sizes)
        sizes = sizes[sizes > 0]
        return slice_update(rng, self.hyperprior, lambda value: self.log_probability_given(sizes, value), concentration)

    def log_probability_given(self, sizes: np.ndarray, concentration: float) -> float:
        """Return log_v[K] + sum of log_w[size]; cost O(K)."""
        log_v = self.log_v(int(sizes.sum()), np.array([sizes.size]), concentration)
        return float(log_v[0] + self.log_w(sizes, concentration).sum())

    def log_cluster_counts(self, n: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function from concentrations to log P(K = k) = log_v[k] + k log_w[1] + log C(n, k).

        Where the shift is the same at all concentrations, the Stirling numbers C are computed once. The sum over k
        is 1: dividing by it makes up for digits that log_v loses at very large concentrations.
        """
        most = self.most_clusters(n)
        n_clusters = np.arange(1, most + 1)
        one_shift = self.shift(0.5) == self.shift(1.5)
        averaged = n_quadrature_points(most) if self.learns_concentration and not one_shift else 1.0
        require_affordable(n, n * STIRLING_STEP + averaged * most * (n - most / 2) * STIRLING_CELL)
        known = log_stirling(n, most, np.array([self.shift(0.5)])) if one_shift else None

        def log_counts(concentrations: np.ndarray) -> np.ndarray:
            values = [float(value) for value in concentrations]
            stirling = known
            if stirling is None:
                stirling = log_stirling(n, most, np.array([self.shift(value) for value in values]))
            log_v = np.array([self.log_v(n, n_clusters, value) for value in values])
            log_w_one = np.array([self.log_w(np.array([1]), value) for value in values])
            logs = log_v + n_clusters * log_w_one + stirling
            return logs - logsumexp(logs, axis=1, keepdims=True)

        return log_counts

    def log_seats(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Log probability that one more row joins each cluster, and last that it opens one; cost O(K)."""
        n_clusters = sizes.size
        log_v = self.log_v(int(sizes.sum()) + 1, np.array([n_clusters, n_clusters + 1]), concentration)
        opening = log_v[1] - log_v[0] + self.log_w(np.array([1]), concentration)[0]
        logs = np.append(np.log(sizes + self.shift(concentration)), opening)
        return logs - logsumexp(logs)

    def _given(self, concentration: float | None) -> float:
        self.check()
        if concentration is not None:
            return concentration
        if self.learns_concentration:
            raise ValueError(
                f"{self} learns its concentration: pass the concentration=... for which you want the tables."
            )
        return float(self.concentration)

    def _log_v_table(self, n: int, max_clusters: int | None, concentration: float) -> np.ndarray:
        n = require_integer("n", n, at_least=1)
        most = n if max_clusters is None else require_integer("max_clusters", max_clusters, at_least=1)
        log_v = np.empty(most + 1)
        log_v[1:] = self.log_v(n, np.arange(1, most + 1), concentration)
        log_v[0] = log_v[1]
        return log_v

    def _log_w_table(self, n: int, concentration: float) -> np.ndarray:
        log_w = np.empty(n + 1)
        log_w[1:] = self.log_w(np.arange(1, n + 1), concentration)
        log_w[0] = 0.0
        return log_w


def _most_tabled(n: int) -> int:
    """The largest size that log_w is looked up for, so that memory does not grow with the weights of rows."""
    return n if n <= MOST_TABLED else 1


def _opening_weights(log_v: np.ndarray, log_w_one: float) -> np.ndarray:
    possible = log_v[1:] > -np.inf
    weights = np.zeros(log_v.size - 1)
    weights[possible] = np.exp(log_v[1:][possible] - log_v[:-1][possible] + log_w_one)
    weights[0] = 1.0
    return weights


@inner
def _log_w(prior, size):
    """log w[size], beyond the table as w[1] (1 + b) (2 + b) ... (size - 1 + b)."""
    log_w = prior.log_w
    return log_w[size] if size < log_w.size else log_w[1] + log_rising(1.0 + prior.shift[0], size - 1)


@inner
def _log_growth(prior, size, w):
    """log of w[size + w] / w[size], beyond the table without the two logs, whose digits would cancel."""
    log_w = prior.log_w
    if size + w < log_w.size:
        return log_w[size + w] - log_w[size]
    return log_rising(size + prior.shift[0], w)


@implements(prior_weights, GibbsTypePrior)
def _prior_weights(prior, sizes, n_slots, empty, out):
    shift = prior.shift[0]
    n_clusters = 0
    for k in range(n_slots):
        size = sizes[k]
        out[k] = size + shift if size > 0 else 0.0
        n_clusters += size > 0
    if empty >= 0:
        out[empty] = prior.open[n_clusters] if n_clusters < prior.open.size else 0.0


@implements(log_prior_weights, GibbsTypePrior)
def _log_prior_weights(prior, sizes, n_slots, empty, w, out):
    log_v = prior.log_v
    n_clusters = 0
    for k in range(n_slots):
        size = sizes[k]
        if size > 0:
            out[k] = _log_growth(prior, size, w)
            n_clusters += 1
        else:
            out[k] = -np.inf
    if empty >= 0 and n_clusters + 1 < log_v.size and log_v[n_clusters + 1] > -np.inf:
        out[empty] = log_v[n_clusters + 1] - log_v[n_clusters] + _log_w(prior, w)


@implements(log_prior, GibbsTypePrior)
def _log_prior(prior, sizes, n_slots):
    n_clusters = 0
    total = 0.0
    for k in range(n_slots):
        size = sizes[k]
        if size > 0:
            n_clusters += 1
            total += _log_w(prior, size)
    return total + prior.log_v[n_clusters]
