"""Clusters that select columns, from the definition: every partition, and every way to select, one by one.

A column of a cluster that selects it has its parameters integrated out; one of another has the background's density of
every cell, which is what the column would predict after all rows of the table. Numbers are integrated on a grid over
mean and log variance, so that nothing here knows the conjugate formulas.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy import stats
from scipy.special import betaln, logsumexp

_STEPS, _LOG_VARIANCE = np.meshgrid(np.linspace(-12.0, 12.0, 301), np.linspace(-7.0, 11.0, 361))


@dataclass(frozen=True)
class Numbers:
    """x ~ N(mu, s2), mu ~ N(mean, s2 / precision), s2 ~ IG(dof / 2, scale / 2); cells stand for intervals."""

    mean: float
    precision: float
    dof: float
    scale: float
    step: float = 0.0

    def log_marginal(self, cells):
        """By quadrature; an interval's density is the expected log density within it."""
        deviation = np.exp(0.5 * _LOG_VARIANCE)
        mean = self.mean + deviation * _STEPS / np.sqrt(self.precision)
        logs = stats.norm(mean[..., None], deviation[..., None]).logpdf(np.array(cells)).sum(axis=-1)
        logs -= len(cells) * self.step**2 / 24.0 / deviation**2
        logs += stats.norm(0.0, 1.0).logpdf(_STEPS) + _LOG_VARIANCE
        logs += stats.invgamma(0.5 * self.dof, scale=0.5 * self.scale).logpdf(deviation**2)
        cell = (_STEPS[0, 1] - _STEPS[0, 0]) * (_LOG_VARIANCE[1, 0] - _LOG_VARIANCE[0, 0])
        return logsumexp(logs) + np.log(cell)


@dataclass(frozen=True)
class Known:
    """x ~ N(mu, variance), mu ~ N(mean, mean_variance)."""

    mean: float
    variance: float
    mean_variance: float

    def log_marginal(self, cells):
        """The joint normal of all cells."""
        n = len(cells)
        covariance = self.variance * np.eye(n) + self.mean_variance
        return stats.multivariate_normal(np.full(n, self.mean), covariance).logpdf(cells) if n else 0.0


@dataclass(frozen=True)
class Words:
    """Shares under a symmetric Dirichlet."""

    pseudocount: float
    levels: tuple

    def log_marginal(self, cells):
        """Cell after cell."""
        total = 0.0
        for i, cell in enumerate(cells):
            total += np.log(self.pseudocount + cells[:i].count(cell))
            total -= np.log(self.pseudocount * len(self.levels) + i)
        return total


@dataclass(frozen=True)
class Counts:
    """x ~ Poisson(rate), rate ~ Gamma(shape, rate)."""

    shape: float
    rate: float

    def log_marginal(self, cells):
        """Cell after cell, each negative binomial given those before."""
        total = 0.0
        for i, cell in enumerate(cells):
            a, b = self.shape + sum(cells[:i]), self.rate + i
            total += stats.nbinom(a, b / (b + 1.0)).logpmf(cell)
        return total


@dataclass(frozen=True)
class Selection:
    """A few rows of columns, None where a cell is missing, that clusters select with probability ``share``."""

    columns: tuple
    rows: tuple
    share: float

    @cached_property
    def _of_subsets(self):
        """Log m and log of the product of g (columns, subsets of rows) of the cells of every subset."""
        n = len(self.rows)
        inside, outside = np.zeros((2, len(self.columns), 2**n))
        for d, column in enumerate(self.columns):
            everything = [row[d] for row in self.rows if row[d] is not None]
            whole = column.log_marginal(everything)
            said = [0.0 if row[d] is None else column.log_marginal([*everything, row[d]]) - whole for row in self.rows]
            for subset in range(2**n):
                members = [i for i in range(n) if subset >> i & 1]
                cells = [self.rows[i][d] for i in members if self.rows[i][d] is not None]
                inside[d, subset] = column.log_marginal(cells)
                outside[d, subset] = sum(said[i] for i in members)
        return inside, outside

    def given(self, labels):
        """Log p(cells | labels), and the probability (K, D) of each cluster and column to be selected."""
        choices, logs = self._weighed(
            labels, lambda n_yes, n_no: n_yes * np.log(self.share) + n_no * np.log1p(-self.share)
        )
        total = logsumexp(logs)
        return total, np.tensordot(np.exp(logs - total), choices, axes=1)

    def given_share_of(self, labels, a, b):
        """Log p(cells | labels) under share ~ Beta(a, b), and the expected share and its square given both."""
        choices, logs = self._weighed(labels, lambda n_yes, n_no: betaln(a + n_yes, b + n_no) - betaln(a, b))
        n_yes, n = choices.sum(axis=(1, 2)), choices[0].size
        total = logsumexp(logs)
        first = (a + n_yes) / (a + b + n)
        return total, np.exp(logs - total) @ np.column_stack([first, first * (a + n_yes + 1) / (a + b + n + 1)])

    def _weighed(self, labels, log_prior):
        """Every way to select (choices, K, D), and its log joint density with the cells."""
        inside, outside = self._of_subsets
        subsets = [sum(1 << i for i, label in enumerate(labels) if label == k) for k in range(max(labels) + 1)]
        shape = (len(subsets), len(self.columns))
        choices = np.array(list(product((0, 1), repeat=shape[0] * shape[1]))).reshape(-1, *shape)
        logs = np.empty(len(choices))
        for c, selected in enumerate(choices):
            n_yes = selected.sum()
            said = [np.where(yes, inside[:, s], outside[:, s]).sum() for yes, s in zip(selected, subsets)]
            logs[c] = sum(said) + log_prior(n_yes, selected.size - n_yes)
        return choices, logs
