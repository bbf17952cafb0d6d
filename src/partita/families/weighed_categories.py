"""Categories whose columns count more or less than once as evidence of who is together.

    p(rows | partition) = prod_m p(column m | partition)^v,      v = column_weight,

each of the factors with its shares summed out. M columns of weight v say together what M v columns of weight 1 say, so
that r copies of a column at v / r are that column at v: what copies must be, and what a power of the density of rows is
not, for there every copy keeps shares of its own that cost what all shares cost.

Statistics count rows once, shares given a cluster are what they are without weights, and all that is a log density of
rows, or a divergence of shares, counts v times.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import digamma

from partita.families.algebra.pseudocounts import CategoryCounts
from partita.families.base import Shared
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.dirichlet_categorical_kernels import CategoricalRows
from partita.families.powered_categories_kernels import PoweredCategoricalState
from partita.parameters import is_number
from partita.priors.hyperpriors import Gamma


def checked_column_weight(value: Any) -> float:
    """How often columns count, refused where it is no positive number."""
    if not (is_number(value) and value > 0.0):
        raise ValueError(f"column_weight must be a positive number, got {value!r}: 1 takes columns as independent.")
    return float(value)


class WeighedCategories(DirichletCategorical):
    """Independent categorical columns, shares summed out, every column counting ``column_weight`` times."""

    def __init__(
        self,
        pseudocount: np.ndarray,
        n_levels: np.ndarray,
        columns: np.ndarray,
        complete: bool,
        hyperprior: Gamma | None = None,
        *,
        column_weight: float,
    ):
        super().__init__(pseudocount, n_levels, columns, complete, hyperprior)
        self.column_weight = column_weight

    @property
    def column_weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """One for all columns."""
        return (self.column_weight,)

    @property
    def plain(self) -> DirichletCategorical:
        """The model in which columns count once: what densities of rows are of."""
        return DirichletCategorical(self.pseudocount, self.n_levels, self.columns, self.complete, self.hyperprior)

    def _weighed(self, plain: DirichletCategorical) -> "WeighedCategories":
        return WeighedCategories(
            plain.pseudocount,
            plain.n_levels,
            plain.columns,
            plain.complete,
            plain.hyperprior,
            column_weight=self.column_weight,
        )

    def of_columns(self, order: np.ndarray) -> "WeighedCategories":
        """The model of a table that has all columns of this one in another order."""
        return self._weighed(super().of_columns(order))

    @classmethod
    def joined(cls, blocks: Sequence[Any]) -> list[Any]:
        """All of them, since their weights may differ."""
        return list(blocks)

    def state(self, n_slots: int) -> PoweredCategoricalState:  # type: ignore[override]
        """Empty slots."""
        return self.powered_state(n_slots, 1.0)

    def powered_state(self, n_slots: int, power: float, weight: float = 1.0) -> PoweredCategoricalState:
        """Empty slots whose rows count ``power`` times besides."""
        return super().powered_state(n_slots, power, weight * self.column_weight)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial marginal to the weight."""
        return self.column_weight * super().log_marginal(stats)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """That of the shares, weighed as the evidence is that they belong to."""
        parameter, total = self._dirichlet(stats)
        expected = (stats * (digamma(parameter) - digamma(total))).sum(axis=1)
        return self.column_weight * (expected - super().log_marginal(stats))

    def log_predictive_by_column(
        self, rows: CategoricalRows, stats: np.ndarray, *, reverse: bool = False
    ) -> np.ndarray:
        """Logs of the posterior mean shares of a row's categories, weighed."""
        return self.column_weight * super().log_predictive_by_column(rows, stats, reverse=reverse)

    def log_prior_density(self, params: list[np.ndarray]) -> np.ndarray:
        """That of the shares, weighed."""
        return self.column_weight * super().log_prior_density(params)

    def summed_log_likelihood(self, stats: np.ndarray, params: list[np.ndarray]) -> np.ndarray:
        """Products of shares, to the weight."""
        return self.column_weight * super().summed_log_likelihood(stats, params)

    def log_likelihood(self, rows: CategoricalRows, params: list[np.ndarray]) -> np.ndarray:
        """Products of shares, to the weight."""
        return self.column_weight * super().log_likelihood(rows, params)

    def log_likelihood_by_column(
        self, rows: CategoricalRows, params: list[np.ndarray], *, reverse: bool = False
    ) -> np.ndarray:
        """Logs of the shares of a row's categories, weighed."""
        return self.column_weight * super().log_likelihood_by_column(rows, params, reverse=reverse)

    def expected_loglik(self, rows: CategoricalRows, expected: np.ndarray) -> np.ndarray:
        """Sum of the expected log shares of a row's categories, weighed."""
        return self.column_weight * super().expected_loglik(rows, expected)

    def share_out(
        self, rows: CategoricalRows, row_weights: np.ndarray, log_weights: np.ndarray, expected: np.ndarray
    ) -> Shared:
        """As every family."""
        return super().share_out(rows, row_weights, log_weights, self.column_weight * expected)

    def _counts(self, stats: np.ndarray) -> CategoryCounts:
        return CategoryCounts(stats, self.n_levels, self.column_weight)

    def with_learned(self, **values: float) -> "WeighedCategories":
        """The model with ``pseudocount`` in all columns."""
        return self._weighed(super().with_learned(**values)) if values else self
