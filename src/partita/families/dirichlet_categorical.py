"""Categories: every column of a cluster has its own shares under a symmetric Dirichlet prior.

The predictive of one row is a product over its observed columns,

    prod_m (beta_m + N_km,y) / (J_m beta_m + N_km),

N_km,y the rows of cluster k with category y in column m, N_km those observed in column m. The
numerators lie in a table [column and category][cluster]: the loop over clusters is innermost and contiguous, and a
row's weights are plain products. Where many columns could leave the range of a float, exponents are
kept apart every few columns, so no cluster is lost to underflow on the way. Counts are whole
numbers and the table is rewritten from them: nothing drifts.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy import stats as distributions
from scipy.special import digamma, gammaln, xlogy

from partita.families.algebra.dirichlet_categorical_sharing import new_scratch, share_out_categories
from partita.families.algebra.dirichlet_modes import bounded_mode, mode
from partita.families.algebra.joining import joined_options, shared_hyperpriors
from partita.families.algebra.pseudocounts import CategoryCounts
from partita.families.algebra.relevance import category_relevance
from partita.families.base import Cells, Conjugate, Shared, not_negative
from partita.families.dirichlet_categorical_kernels import CategoricalRows, CategoricalState
from partita.families.powered_categories_kernels import PoweredCategoricalState
from partita.families.profiles import ColumnProfile, IntervalEstimate, mean_estimate
from partita.priors.hyperpriors import Gamma
from partita.priors.rising import log_rising
from partita.table import Table
from partita.table.schema import Kind

LARGEST_TOTAL = 2**31
SAFE_DECADES = 150.0
LOOKED_UP = 65_536  # rows of a slot whose factors of a power are kept,
MOST_FACTORS = 1 << 20  # and how many factors in all: 8 MiB, of which those that are needed are touched


class DirichletCategorical(Conjugate):
    """Independent categorical columns, shares summed out."""

    title: ClassVar[str] = "categorical"
    kind: ClassVar[Kind] = "categorical"

    def __init__(
        self,
        pseudocount: np.ndarray,
        n_levels: np.ndarray,
        columns: np.ndarray,
        complete: bool,
        hyperprior: Gamma | None = None,
    ):
        self.pseudocount = pseudocount
        self.hyperprior = hyperprior  # of the one pseudocount of all columns, where that is learned
        self.n_levels = n_levels
        self.columns = columns
        self.complete = complete
        self.offset = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)

    def of_columns(self, order: np.ndarray) -> "DirichletCategorical":
        """The model of a table that has all columns of this one in another order."""
        columns = np.arange(order.size)
        return DirichletCategorical(
            self.pseudocount[order], self.n_levels[order], columns, self.complete, self.hyperprior
        )

    @classmethod
    def joined(cls, blocks: Sequence["DirichletCategorical"]) -> list["DirichletCategorical"]:
        """One model, column after column."""
        options = joined_options(blocks, "pseudocount", "n_levels")
        options["n_levels"] = options["n_levels"].astype(np.int64)
        hyperprior = shared_hyperpriors(blocks).get("pseudocount")
        return [cls(**options, complete=all(block.complete for block in blocks), hyperprior=hyperprior)]

    def rows(self, table: Table) -> CategoricalRows:
        """The table's codes as positions in the table of numerators."""
        codes = table.codes[:, self.columns].astype(np.int32)
        position = np.ascontiguousarray(np.where(codes < 0, np.int32(-1), codes + self.offset[:-1].astype(np.int32)))
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
            columns_per_rescale=np.array([max(1, self._columns_within_range())], dtype=np.int64),
            exponent=np.zeros(n_slots, dtype=np.int64),
        )

    def powered_state(self, n_slots: int, power: float, weight: float = 1.0) -> PoweredCategoricalState:
        """Empty slots whose rows count ``power`` times, and what they say of a column ``weight`` times."""
        safe = self._columns_within_range(max(power, 1.0) * max(weight, 1.0))
        plain = DirichletCategorical.state(self, n_slots)._replace(
            columns_per_rescale=np.array([max(1, safe)], dtype=np.int64)
        )
        bases, which = np.unique(np.concatenate([plain.pseudocount, plain.mass]), return_inverse=True)
        level_base, total_base = np.split(which.astype(np.int64), 2)
        n_counts = min(LOOKED_UP, MOST_FACTORS // max(1, bases.size))
        return PoweredCategoricalState(
            **plain._asdict(),
            power=np.array([power]),
            weight=np.array([weight]),
            linear=np.array([safe >= 1]),
            factors=np.zeros((bases.size, n_counts)),
            level_base=level_base,
            total_base=total_base,
        )

    def raised(self, expected: np.ndarray, power: float) -> np.ndarray:
        """Expected log shares are what is added up."""
        return power * expected

    def _columns_within_range(self, power: float = 1.0) -> int:
        """How many factors between beta / total and total, to a power, can be multiplied within a float's range."""
        if self.pseudocount.size == 0:
            return 1
        largest = LARGEST_TOTAL * power + np.max(self.n_levels * self.pseudocount)
        decades = np.log10(largest) + np.max(np.abs(np.log10(self.pseudocount)))
        return int(SAFE_DECADES / (decades * power))

    def suffstats(self, rows: CategoricalRows, resp: np.ndarray) -> np.ndarray:
        """Weight of every category of every column."""
        weights = self._indicators(rows).T @ resp
        return np.ascontiguousarray(weights[:-1].T)

    def _indicators(self, rows: CategoricalRows) -> sparse.csr_array:
        """Which of all categories a row has (n, L + 1); a missing cell is the last one."""
        n, n_columns = rows.position.shape
        n_categories = int(self.offset[-1])
        category = np.where(rows.position < 0, n_categories, rows.position).ravel()
        starts = np.arange(0, category.size + 1, n_columns) if n_columns else np.zeros(n + 1, dtype=np.int64)
        return sparse.csr_array((np.ones(category.size), category, starts), shape=(n, n_categories + 1))

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """Nothing negative."""
        return not_negative(stats)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial marginal of the sequence of categories."""
        return DirichletCategorical.log_marginal_by_column(self, stats).sum(axis=1)

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial marginals, column by column."""
        if self.pseudocount.size == 0:
            return np.zeros((stats.shape[0], 0))
        starts = self.offset[:-1]
        levels = log_rising(np.repeat(self.pseudocount, self.n_levels), stats)
        observed = np.add.reduceat(stats, starts, axis=1)
        return np.add.reduceat(levels, starts, axis=1) - log_rising(self.pseudocount * self.n_levels, observed)

    @property
    def column_of_stats(self) -> np.ndarray:
        """Categories of one column after the other's."""
        return np.repeat(np.arange(self.n_levels.size), self.n_levels)

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
            ColumnProfile(relevance[:, m], share=IntervalEstimate(*(part[:, own] for part in estimates)))
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

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> list[np.ndarray]:
        """Shares (K, J_m) in proportion to beta + N - 1, 0 where that is negative; equal where nothing is left.

        Where beta <= 1 and ``least`` > 0, the largest density among shares of at least ``least``.
        """
        shares = []
        for beta, counts in zip(self.pseudocount, self._by_column(stats)):
            exponents = beta + counts - 1.0
            shares.append(bounded_mode(exponents, least) if beta <= 1.0 and least > 0.0 else mode(exponents))
        return shares

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> list[np.ndarray]:
        """Shares (K, J_m) of the observed categories."""
        shares = self.map_params(np.zeros_like(stats))
        for own, counts in zip(shares, self._by_column(stats)):
            total = counts.sum(axis=1, keepdims=True)
            np.divide(counts, total, out=own, where=total > 0.0)
        return shares

    def _by_column(self, stats: np.ndarray) -> list[np.ndarray]:
        return np.split(stats, self.offset[1:-1], axis=1)

    def readable(self, params: list[np.ndarray]) -> dict[str, dict[int, np.ndarray]]:
        """The shares of every column's levels."""
        return {"shares": dict(zip(map(int, self.columns), params))}

    @property
    def n_stats(self) -> int:
        """Categories of all columns."""
        return int(self.offset[-1])

    @property
    def n_params(self) -> int:
        """The shares of every column but its last."""
        return int((self.n_levels - 1).sum())

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

    def log_likelihood(self, rows: CategoricalRows, params: list[np.ndarray]) -> np.ndarray:
        """Products of shares."""
        return self._indicators(rows) @ _log_shares(params)

    def log_likelihood_by_column(
        self, rows: CategoricalRows, params: list[np.ndarray], *, reverse: bool = False
    ) -> np.ndarray:
        """Logs of the shares of a row's categories."""
        return np.swapaxes(_log_shares(params)[rows.position], 1, 2)

    def expected_params(self, stats: np.ndarray) -> np.ndarray:
        """E log share (L + 1, K) of all categories, digamma(beta + N) - digamma(J beta + N.), 0 for a missing cell."""
        parameter, total = self._dirichlet(stats)
        table = np.zeros((parameter.shape[1] + 1, parameter.shape[0]))
        table[:-1] = (digamma(parameter) - digamma(total)).T
        return table

    def expected_loglik(self, rows: CategoricalRows, expected: np.ndarray) -> np.ndarray:
        """Sum of the expected log shares of a row's categories."""
        return self._indicators(rows) @ expected

    def share_out(
        self, rows: CategoricalRows, row_weights: np.ndarray, log_weights: np.ndarray, expected: np.ndarray
    ) -> Shared:
        """As every family, in one compiled loop over the rows."""
        n_clusters = log_weights.shape[0]
        sizes, weights = np.zeros(n_clusters), np.zeros((int(self.offset[-1]), n_clusters))
        scratch = new_scratch(rows.position.shape[1], n_clusters)
        copies = np.asarray(row_weights, dtype=np.float64)
        log_total = share_out_categories(rows.position, copies, log_weights, expected, scratch, sizes, weights)
        return Shared(log_total, sizes, np.ascontiguousarray(weights.T))

    def share_out_given(
        self, rows: CategoricalRows, row_weights: np.ndarray, log_weights: np.ndarray, params: list[np.ndarray]
    ) -> Shared:
        """As `share_out`, logs of shares in place of their expectations."""
        return self.share_out(rows, row_weights, log_weights, _log_shares(params))

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Expected log likelihood less log marginal likelihood, which keeps its digits where beta is large."""
        parameter, total = self._dirichlet(stats)
        return (stats * (digamma(parameter) - digamma(total))).sum(axis=1) - self.log_marginal(stats)

    @property
    def hyperpriors(self) -> dict[str, Gamma]:
        """That of the pseudocount, if it has one."""
        return {} if self.hyperprior is None else {"pseudocount": self.hyperprior}

    @property
    def learned(self) -> dict[str, float]:
        """The pseudocount, where it has a hyperprior."""
        return {} if self.hyperprior is None else {"pseudocount": float(self.pseudocount[0])}

    def log_hyperprior(self) -> float:
        """Log density of the log pseudocount."""
        if self.hyperprior is None:
            return 0.0
        return float(self.hyperprior.log_density_of_log(np.log(self.pseudocount[0])))

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "DirichletCategorical":
        """Slice sampling of the log pseudocount."""
        if self.hyperprior is None:
            return self
        return self.with_learned(pseudocount=self._counts(stats).drawn(rng, self.hyperprior, self.pseudocount[0]))

    def relearned(self, stats: np.ndarray) -> "DirichletCategorical":
        """Newton-Raphson in the log pseudocount."""
        if self.hyperprior is None:
            return self
        return self.with_learned(pseudocount=self._counts(stats).best(self.hyperprior, self.pseudocount[0]))

    def _counts(self, stats: np.ndarray) -> CategoryCounts:
        return CategoryCounts(stats, self.n_levels)

    def with_learned(self, **values: float) -> "DirichletCategorical":
        """The model with ``pseudocount`` in all columns."""
        if not values:
            return self
        everywhere = np.full_like(self.pseudocount, values["pseudocount"])
        return DirichletCategorical(everywhere, self.n_levels, self.columns, self.complete, self.hyperprior)

    def simulate(self, rng: np.random.Generator, params: list[np.ndarray], labels: np.ndarray) -> Cells:
        """Category codes."""
        n = labels.shape[0]
        codes = np.empty((n, len(params)), dtype=np.int32)
        for m, shares in enumerate(params):
            cumulative = np.cumsum(shares, axis=1)[labels]
            u = rng.random((n, 1)) * cumulative[:, -1:]
            codes[:, m] = np.minimum((cumulative <= u).sum(axis=1), shares.shape[1] - 1)
        return Cells.of_kind("categorical", codes)


def _log_shares(params: list[np.ndarray]) -> np.ndarray:
    """Log shares (L + 1, K) of all categories, and 0 for a missing cell."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.hstack(params).T)
    return np.vstack([logs, np.zeros(logs.shape[1])])
