"""A likelihood whose rows count ``power`` times: a power of it, under the same prior.

    p(rows, labels) ~ p(labels) prod_k int prod_{n in k} p(x_n | theta_k)^z p(theta_k) dtheta_k,   z = power.

Sufficient statistics are linear in how often a row counts, so everything that is read from statistics stays as it is,
and statistics are z times as large. A row counts once in the prior of partitions.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.families.base import Conjugate, Shared
from partita.families.powered_kernels import PoweredState
from partita.families.product import Product
from partita.parameters import is_number
from partita.table.schema import Kind

ROUNDING = 1e-12  # relative, of a product that is divided again


def checked_power(value: Any) -> float:
    """A power of the likelihood, refused where it is no positive number."""
    if not (is_number(value) and value > 0.0):
        raise ValueError(f"power must be a positive number, got {value!r}: 1 is Bayes' rule, less trusts rows less.")
    return float(value)


def powered(likelihood: Conjugate, power: float) -> Conjugate:
    """The likelihood to a power, a product block by block; itself for a power of 1."""
    if power == 1.0:
        return likelihood
    if isinstance(likelihood, Product):
        return likelihood.of_blocks([powered(block, power) for block in likelihood.blocks])
    return Powered(likelihood, power)


def _of_inner(name: str) -> Any:
    """A method that is the model's own, of statistics that count rows more or less than once."""

    def method(self: "Powered", *arguments: Any, **options: Any) -> Any:
        return getattr(self._inner, name)(*arguments, **options)

    method.__name__, method.__doc__ = name, "As the model itself."
    return method


class Powered(Conjugate):
    """A conjugate model to a power.

    Densities of new rows are those of ``plain`` given the same statistics: what is raised to a power is no density.

    Parameters
    ----------
    inner : Conjugate
        The model; its columns may count other than once, which those of ``plain`` do not.
    power : float
        Positive.

    References
    ----------
    Miller and Dunson (2019), Robust Bayesian inference via coarsening.
    """

    def __init__(self, inner: Conjugate, power: float):
        self._inner = inner
        self.power = power
        self.columns = getattr(inner, "columns", np.empty(0, dtype=np.int64))

    @property
    def plain(self) -> Conjugate:
        """The model in which rows, and columns, count once."""
        return self._inner.plain

    @property
    def title(self) -> str:  # type: ignore[override]
        """That of the model."""
        return self._inner.title

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """That of the model's columns."""
        return self._inner.kind

    @property
    def column_weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """Those of the model."""
        return self._inner.column_weights

    @property
    def only_sampled(self) -> str:  # type: ignore[override]
        """As the model itself."""
        return self._inner.only_sampled

    @property
    def hyperpriors(self) -> Mapping[str, Any]:
        """Those of the model."""
        return getattr(self._inner, "hyperpriors", {})

    def _with(self, inner: Conjugate) -> "Powered":
        return self if inner is self._inner else Powered(inner, self.power)

    def of_columns(self, order: np.ndarray) -> "Powered":
        """The model of a table that has all columns of this one in another order."""
        return Powered(self._inner.of_columns(order), self.power)  # type: ignore[attr-defined]

    # --- rows that count ``power`` times ------------------------------------------------------------

    rows = _of_inner("rows")

    def state(self, n_slots: int) -> Any:
        """A state in which kernels count every row ``power`` times."""
        own = self._inner.powered_state(n_slots, self.power)
        return PoweredState(self._inner.state(n_slots), np.array([self.power])) if own is None else own

    def stats_of(self, state: Any) -> np.ndarray:
        """The statistics, every row counted ``power`` times."""
        return self._inner.stats_of(state.plain) if isinstance(state, PoweredState) else self.power * state.stats

    def load(self, state: Any, stats: np.ndarray) -> None:
        """Write statistics to the first slots of a state; rows that are whole but for rounding as whole ones."""
        if isinstance(state, PoweredState):
            self._inner.load(state.plain, stats)
            return
        rows = stats / self.power
        whole = np.rint(rows)
        state.stats[: stats.shape[0]] = np.where(np.abs(rows - whole) <= ROUNDING * whole, whole, rows)

    def suffstats(self, rows: Any, resp: np.ndarray) -> np.ndarray:
        """``power`` times those of the model."""
        return self.power * self._inner.suffstats(rows, resp)

    def labelled_stats(
        self, rows: Any, labels: np.ndarray, n_slots: int, row_weights: np.ndarray | None = None
    ) -> np.ndarray:
        """``power`` times those of the model."""
        return self.power * self._inner.labelled_stats(rows, labels, n_slots, row_weights)

    def expected_suffstats(self, rows: Any, resp: np.ndarray, params: Any) -> np.ndarray:
        """``power`` times those of the model."""
        return self.power * self._inner.expected_suffstats(rows, resp, params)

    def variational_suffstats(self, rows: Any, resp: np.ndarray, expected: Any) -> np.ndarray:
        """``power`` times those of the model."""
        return self.power * self._inner.variational_suffstats(rows, resp, expected)

    def log_likelihood(self, rows: Any, params: Any) -> np.ndarray:
        """``power`` times the log density."""
        return self.power * self._inner.log_likelihood(rows, params)

    def log_likelihood_by_column(self, rows: Any, params: Any, *, reverse: bool = False) -> np.ndarray:
        """``power`` times the terms of the log density."""
        return self.power * self._inner.log_likelihood_by_column(rows, params, reverse=reverse)

    def log_predictive_by_column(self, rows: Any, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """``power`` times the terms of the log predictive density."""
        return self.power * self._inner.log_predictive_by_column(rows, stats, reverse=reverse)

    def expected_loglik(self, rows: Any, expected: Any) -> np.ndarray:
        """``power`` times that of the model."""
        return self.power * self._inner.expected_loglik(rows, expected)

    def share_out(self, rows: Any, row_weights: np.ndarray, log_weights: np.ndarray, expected: Any) -> Shared:
        """As every family; by the model itself where that can raise what is expected to the power."""
        raised = self._inner.raised(expected, self.power)
        if raised is None:
            return super().share_out(rows, row_weights, log_weights, expected)
        shared = self._inner.share_out(rows, row_weights, log_weights, raised)
        return shared._replace(stats=self.power * shared.stats)

    # --- what is read from statistics --------------------------------------------------------------

    possible = _of_inner("possible")
    log_marginal = _of_inner("log_marginal")
    sample_params = _of_inner("sample_params")
    map_params = _of_inner("map_params")
    ml_params = _of_inner("ml_params")
    readable = _of_inner("readable")
    with_params = _of_inner("with_params")
    log_prior_density = _of_inner("log_prior_density")
    summed_log_likelihood = _of_inner("summed_log_likelihood")
    expected_params = _of_inner("expected_params")
    prior_divergence = _of_inner("prior_divergence")
    profile = _of_inner("profile")
    simulate = _of_inner("simulate")
    column_names = _of_inner("column_names")
    draws_cells = _of_inner("draws_cells")
    log_hyperprior = _of_inner("log_hyperprior")

    @property
    def n_params(self) -> int:
        """As the model itself."""
        return self._inner.n_params

    @property
    def n_stats(self) -> int:
        """As the model itself."""
        return self._inner.n_stats

    @property
    def columns_are_independent(self) -> bool:
        """As the model itself."""
        return self._inner.columns_are_independent

    # --- what is learned ---------------------------------------------------------------------------

    @property
    def learned(self) -> dict[str, float]:
        """As the model itself."""
        return self._inner.learned

    def with_learned(self, **values: float) -> "Powered":
        """The model at other values, to the power."""
        return self._with(self._inner.with_learned(**values))

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "Powered":
        """The model after one step, to the power."""
        return self._with(self._inner.redrawn(rng, stats))

    def relearned(self, stats: np.ndarray) -> "Powered":
        """The model at the best values, to the power."""
        return self._with(self._inner.relearned(stats))
