"""What every family of likelihoods is: options that, given a table, become a conjugate model.

A `Family` holds the user's options; `Family.resolve(table)` replaces what was left open by defaults from
the data and returns a `Conjugate`: the same family with numbers in it, ready for an engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from partita.families.algebra.columns import refuse_logs, refuse_other_kinds
from partita.families.blocks import row_blocks
from partita.families.profiles import ColumnProfile
from partita.kernels.dispatch import is_implemented
from partita.kernels.names import second_order
from partita.parameters import Named
from partita.table import Table
from partita.table.schema import KINDS, ColumnKind, Kind, Schema

ROWS_AT_ONCE = 4096  # whose densities and products stay in the processor's cache
ROWS_SUMMED = 65_536  # whose labels are spread out at a time
ROUNDING = 1e-6  # relative, of sums over many rows
LEAST_SHARE = 1e-17  # of a row: less is none, since it would change no sum


class Family(Named, ABC, kind="family"):
    """What the rows of one cluster look like.

    A family of columns of one kind says which (``kind``) and brings ``on_columns``; it can then be a block of `Mixed`
    too. A family of several kinds brings ``resolve``.
    """

    #: Kind of the columns that it reads; None of a family of several kinds.
    kind: ClassVar[Kind | None] = None
    #: Whether its numbers may be standardised before it sees them; those that mean something at 0 may not.
    standardizes: ClassVar[bool] = True
    #: Whether it may read positive columns, whose cells are logs.
    reads_logs: ClassVar[bool] = False

    def on_columns(self, table: Table, columns: np.ndarray) -> "Conjugate":
        """The conjugate model over some of the table's columns of its kind, by their positions among those."""
        raise NotImplementedError(
            f"{type(self).__name__} reads no columns: set its kind to {', '.join(map(repr, KINDS))} and implement "
            "on_columns(table, columns)."
        )

    def resolve(self, table: Table) -> "Conjugate":
        """Fill in what was left open from the table and return the conjugate model."""
        return self.on_columns(table, self._all_columns(table))

    def resolve_fixed(self, table: Table) -> "Conjugate":
        """As `resolve`, with numbers in place of what would be learned unasked: for engines that do not learn."""
        return self.fixed(table, self._all_columns(table)).resolve(table)

    def fixed(self, table: Table, columns: np.ndarray) -> "Family":
        """The family of these columns with numbers in place of what it would learn unasked."""
        return self

    def of_one_column(self) -> "Family":
        """The family of a single column, where that has a simpler form."""
        return self

    def is_fixed_beside(self, families: Sequence["Family"]) -> bool:
        """Whether it learns nothing unasked in one block with some of these families of other columns."""
        return False

    def standardizes_column(self, name: str) -> bool:
        """Whether the numeric column of this name may be standardised."""
        return self.standardizes

    def guesses_column(self, name: str, kind: ColumnKind) -> bool:
        """Whether the column of this name may be guessed to be of this kind: a family of one kind reads no other."""
        return self.kind is None and (kind != "positive" or self.reads_logs)

    def reads_as_positive(self, name: str) -> bool:
        """Whether the column of this name is read as positive numbers where nothing else is told."""
        return False

    def offset_of_column(self, name: str) -> float:
        """What is added to the cells of a positive column of this name before their logs are taken."""
        return 0.0

    def _all_columns(self, table: Table) -> np.ndarray:
        """Positions of all columns of a table that has none of another kind."""
        if self.kind is None:
            return np.empty(0, dtype=np.int64)
        refuse_other_kinds(table, self.kind, type(self).__name__)
        if not self.reads_logs:
            refuse_logs(table.schema.by_kind[self.kind], type(self).__name__)
        return np.arange(len(table.schema.by_kind[self.kind]))

    @classmethod
    @abstractmethod
    def examples(cls) -> list[tuple["Family", Table]]:
        """Small models with tables, some cells missing: the contract tests run on each of them."""


FAMILIES: dict[str, Any] = Family.known


class Conjugate(ABC):
    """A likelihood with its conjugate prior, all numbers known.

    Statistics are additive: ``suffstats`` of two blocks of rows sum to those of both. Compiled code reads
    the same statistics from ``state.stats``, one row per slot, and the generic names of
    `partita.kernels.names` are implemented for the class of ``state``. What is about parameters given statistics may be
    left out by a family that is only sampled.
    """

    #: What the model is called in messages.
    title: ClassVar[str]
    #: Kind of its columns.
    kind: ClassVar[Kind]
    #: Positions of its columns within the table's block of their kind.
    columns: np.ndarray
    #: How often a row counts in the likelihood; in the prior it counts once.
    power: float = 1.0
    #: Why engines that raise a bound or a density cannot run it; nothing where they can.
    only_sampled: str = ""
    #: How often columns count as evidence of who is together, of blocks of columns that do not count once.
    column_weights: tuple[float, ...] = ()

    @classmethod
    def joined(cls, blocks: Sequence[Any]) -> list[Any]:
        """Models of this class, each over columns of its own, as few as can stand for them: by default all of them."""
        return list(blocks)

    @abstractmethod
    def rows(self, table: Table) -> NamedTuple:
        """The table's cells as compiled code reads them; cells to be drawn are writable copies."""

    @abstractmethod
    def state(self, n_slots: int) -> Any:
        """Statistics and caches of ``n_slots`` empty slots."""

    @property
    def plain(self) -> "Conjugate":
        """The model in which rows and columns count once in the likelihood: this one, unless it says otherwise."""
        return self

    def powered_state(self, n_slots: int, power: float) -> Any:
        """A state of its own in which kernels count rows ``power`` times; None if ``state`` can be asked for that."""
        return None

    def raised(self, expected: Any, power: float) -> Any:
        """``expected`` such that ``expected_loglik`` is ``power`` times as large; None if there is no such thing."""
        return None

    @abstractmethod
    def suffstats(self, rows: Any, resp: np.ndarray) -> np.ndarray:
        """Sufficient statistics (K, S) of rows shared out by ``resp`` (n, K)."""

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """Whether rows could have each of these statistics (..., S), up to rounding; of those read from a file.

        A family says more than that they are finite: what its compiled code relies on.
        """
        return np.isfinite(stats).all(axis=-1)

    @abstractmethod
    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Log marginal likelihood (K,) of the rows behind each row of ``stats``."""

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Terms (K, d) of ``log_marginal``, where columns are independent."""
        raise self._lacks("log_marginal_by_column", "Selective")

    @property
    def column_of_stats(self) -> np.ndarray:
        """Which column each of the statistics (S,) is of, where columns are independent."""
        raise self._lacks("column_of_stats", "Selective")

    @abstractmethod
    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> Any:
        """One draw of each cluster's parameters given its statistics (zeros: from the prior)."""

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> Any:
        """Each cluster's parameters at the mode of their joint posterior density given its statistics.

        In the form of ``sample_params``. Where the prior does not keep shares or rates from 0, as with a pseudocount or
        shape of at most 1, the mode among parameters of at least ``least``: with 0 what was not seen is impossible,
        and an unbounded density is at the point of the boundary that it grows to. Elsewhere ``least`` changes nothing.
        """
        raise self._lacks("map_params", "EM and Posterior.costs")

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> Any:
        """Each cluster's parameters at the maximum of the likelihood given its statistics, which may be fractional.

        In the form of ``sample_params``. ``reg_covar`` is added to variances. What no cell speaks of is at the
        prior's mode.
        """
        raise self._lacks("ml_params", "EM")

    def readable(self, params: Any) -> dict[str, Any]:
        """Parameters of K clusters by what they are, in stored units and the order of the table's columns.

        "means" (K, d) and "covariances" (K, d, d) of all numeric columns, "rates" (K, q) of all counts, "shares" a dict
        from the position of a categorical column to (K, levels). What a family does not have is left out; what it has
        besides is an array (K, d, ...) by a name of its own, over its own columns.
        """
        return {}

    def with_params(self, params: Any) -> list[tuple["Conjugate", Any]]:
        """The model with its parameters; of one that is made of several, each of these."""
        return [(self, params)]

    @property
    def n_params(self) -> int:
        """How many free parameters a cluster has."""
        raise self._lacks("n_params", "EM")

    def log_prior_density(self, params: Any) -> np.ndarray:
        """Log density (K,) of each cluster's parameters under the prior."""
        raise self._lacks("log_prior_density", "EM and Posterior.costs")

    def summed_log_likelihood(self, stats: np.ndarray, params: Any) -> np.ndarray:
        """Log density (K,) of the observed cells behind each row of ``stats`` given the parameters."""
        raise self._lacks("summed_log_likelihood", "Posterior.costs")

    def log_likelihood_by_column(self, rows: Any, params: Any, *, reverse: bool = False) -> np.ndarray:
        """Terms (n, K, d) of every row's log density given each cluster's parameters, column by column.

        As ``log_predictive_by_column``, with parameters in place of statistics.
        """
        raise self._lacks("log_likelihood_by_column", "EM")

    def log_likelihood(self, rows: Any, params: Any) -> np.ndarray:
        """Log density (n, K) of every row's observed cells given each cluster's parameters."""
        return self.log_likelihood_by_column(rows, params).sum(axis=2)

    def expected_suffstats(self, rows: Any, resp: np.ndarray, params: Any) -> np.ndarray:
        """Sufficient statistics (K, S) of rows shared out by ``resp``, expected over missing cells given ``params``.

        A family that leaves missing cells out of its statistics has no other than ``suffstats``.
        """
        return self.suffstats(rows, resp)

    def expected_params(self, stats: np.ndarray) -> Any:
        """What ``expected_loglik`` reads of q(theta_k), the posterior given statistics that may be fractional."""
        raise self._lacks("expected_params", "Variational")

    def expected_loglik(self, rows: Any, expected: Any) -> np.ndarray:
        """E_q[log p(x_n | theta_k)] (n, K) of every row's observed cells, ``expected`` from ``expected_params``.

        Where missing cells cannot be left out, log of the integral over them of exp(E_q[log p(x_n | theta_k)]): what
        they add to a bound on the evidence once their own distribution is the best one.
        """
        raise self._lacks("expected_loglik", "Variational")

    def variational_suffstats(self, rows: Any, resp: np.ndarray, expected: Any) -> np.ndarray:
        """Sufficient statistics (K, S) of rows shared out by ``resp``, expected over missing cells under q."""
        return self.suffstats(rows, resp)

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """KL(q(theta_k) || p(theta_k)) (K,) of the posterior given each row of ``stats`` from the prior; 0 at zeros."""
        raise self._lacks("prior_divergence", "Variational")

    def share_out(self, rows: Any, row_weights: np.ndarray, log_weights: np.ndarray, expected: Any) -> "Shared":
        """Give every row to the clusters by r_nk = softmax_k(log_weights_k + E log p(x_n | theta_k)) and sum up.

        Block by block of rows; a share below 1e-17 of a row counts as 0. Cost: rows x clusters densities.

        Parameters
        ----------
        rows, row_weights (n,)
            Rows and how often each occurs.
        log_weights (K,), expected
            Of the clusters; ``expected`` is from ``expected_params``.
        """

        def statistics(part: Any, resp: np.ndarray) -> np.ndarray:
            return self.variational_suffstats(part, resp, expected)

        return self._shared_in_blocks(
            rows, row_weights, log_weights, lambda part: self.expected_loglik(part, expected), statistics
        )

    def share_out_given(self, rows: Any, row_weights: np.ndarray, log_weights: np.ndarray, params: Any) -> "Shared":
        """As `share_out` given the clusters' parameters: r_nk = softmax_k(log_weights_k + log p(x_n | theta_k))."""

        def statistics(part: Any, resp: np.ndarray) -> np.ndarray:
            return self.expected_suffstats(part, resp, params)

        return self._shared_in_blocks(
            rows, row_weights, log_weights, lambda part: self.log_likelihood(part, params), statistics
        )

    def _shared_in_blocks(
        self,
        rows: Any,
        row_weights: np.ndarray,
        log_weights: np.ndarray,
        log_densities: Callable[[Any], np.ndarray],
        statistics: Callable[[Any, np.ndarray], np.ndarray],
    ) -> "Shared":
        log_total, sizes = 0.0, np.zeros(log_weights.shape[0])
        stats = np.zeros((sizes.shape[0], self.n_stats))
        for block, part in row_blocks(rows, row_weights.shape[0], ROWS_AT_ONCE):
            log_totals, resp = normalized(log_densities(part) + log_weights)
            log_total += float(row_weights[block] @ log_totals)
            resp *= row_weights[block, None]
            sizes += resp.sum(axis=0)
            stats += statistics(part, resp)
        return Shared(log_total, sizes, stats)

    @property
    def n_stats(self) -> int:
        """How many numbers the statistics of one cluster are."""
        return self.stats_of(self.state(1)).shape[1]

    def labelled_stats(
        self, rows: Any, labels: np.ndarray, n_slots: int, row_weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics (n_slots, S) of the rows of these labels (-1: in no slot), block by block of rows."""
        n_clusters = int(labels.max(initial=-1)) + 1
        stats = np.zeros((n_slots, self.n_stats))
        for block, part in row_blocks(rows, labels.shape[0], ROWS_SUMMED):
            weights = None if row_weights is None else row_weights[block]
            stats[:n_clusters] += self.suffstats(part, one_hot(labels[block], n_clusters, weights))
        return stats

    @property
    def columns_are_independent(self) -> bool:
        """Whether the cells of a row are independent given its cluster, so that columns may live apart."""
        return True

    @property
    def has_second_order(self) -> bool:
        """Whether compiled code has the second-order terms of its expected log predictive."""
        return is_implemented(second_order, type(self.state(1)))

    @property
    def learned(self) -> dict[str, float]:
        """Numbers of the prior over parameters that are learned from the rows, by name, at their present values."""
        return {}

    @property
    def learns(self) -> bool:
        """Whether there are such numbers."""
        return bool(self.learned)

    def with_learned(self, **values: float) -> "Conjugate":
        """The model at other values of what is ``learned``."""
        return self

    def log_hyperprior(self) -> float:
        """Log density of the logs of ``learned`` at their present values; 0 where nothing is learned."""
        return 0.0

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "Conjugate":
        """The model after one Markov step of what is ``learned`` given the clusters' statistics."""
        return self

    def relearned(self, stats: np.ndarray) -> "Conjugate":
        """The model with what is ``learned`` where the sum of log_marginal plus ``log_hyperprior`` is largest."""
        return self

    @abstractmethod
    def simulate(self, rng: np.random.Generator, params: Any, labels: np.ndarray) -> "Cells":
        """New rows, row i from the cluster ``labels[i]`` of ``params``, in the table's blocks."""

    @abstractmethod
    def log_predictive_by_column(self, rows: Any, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Terms (n, K, d) of every row's log predictive density in clusters of statistics (K, S), column by column.

        Term j is log p(x_j | x_before j, cluster) in the family's own order of columns, with ``reverse`` the one
        given the columns behind j. A missing cell's term is 0 and it is integrated out of the others.
        """

    @abstractmethod
    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """What is typical of every cluster in each column, in stored units and the family's own order of columns.

        ``stats`` (C, K, S) are the clusters' statistics for each of C completions of the missing cells, usually one;
        ``shares`` (K,) the clusters' weights, by which the others are mixed when a cluster is told from them.
        """

    def _lacks(self, method: str, who: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not implement {method}, which {who} needs.")

    def column_names(self, schema: Schema) -> list[str]:
        """Names of its columns in its own order."""
        block = schema.by_kind[self.kind]
        return [block[position].name for position in self.columns]

    def draws_cells(self, rows: Any) -> bool:
        """Whether some missing cells of these rows must be drawn (else they are dropped exactly)."""
        return False

    def stats_of(self, state: Any) -> np.ndarray:
        """The statistics (slots, S) that a compiled state holds."""
        return state.stats

    def load(self, state: Any, stats: np.ndarray) -> None:
        """Write statistics to the first slots of a compiled state; its caches are refreshed elsewhere."""
        state.stats[: stats.shape[0]] = stats


class Cells(NamedTuple):
    """Simulated cells in the blocks of a `Table`: standardised numbers, category codes, counts."""

    numeric: np.ndarray
    codes: np.ndarray
    counts: np.ndarray

    @classmethod
    def empty(cls, n_rows: int, n_columns: Mapping[Kind, int]) -> "Cells":
        """Room for so many columns of every kind; kinds that are not named have none."""
        dtypes = (np.float64, np.int32, np.int64)
        return cls(*(np.empty((n_rows, n_columns.get(kind, 0)), dtype) for kind, dtype in zip(KINDS, dtypes)))

    @classmethod
    def of_kind(cls, kind: Kind, cells: np.ndarray) -> "Cells":
        """Cells (n, d) of one kind alone."""
        return cls(*(cells if kind == own else none for own, none in zip(KINDS, cls.empty(cells.shape[0], {}))))

    def block(self, kind: Kind) -> np.ndarray:
        """The cells of one kind."""
        return self[KINDS.index(kind)]


class Shared(NamedTuple):
    """Sums over rows that were shared out among K clusters: all that an update of the clusters needs of them."""

    log_total: float  # sum_n w_n log sum_k exp(log weight + expected log density)
    sizes: np.ndarray  # (K,) weight of each cluster
    stats: np.ndarray  # (K, S)


def not_negative(stats: np.ndarray) -> np.ndarray:
    """Which of these statistics (..., S) are finite and, up to rounding, at least 0."""
    return (np.isfinite(stats) & (stats >= -ROUNDING)).all(axis=-1)


def normalized(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log sums (n,) over clusters, and shares (n, K), which take the place of ``logs``."""
    top = logs.max(axis=1)
    logs -= top[:, None]
    np.exp(logs, out=logs)
    logs[logs < LEAST_SHARE] = 0.0
    total = logs.sum(axis=1)
    logs /= total[:, None]
    return top + np.log(total), logs


def one_hot(labels: np.ndarray, n_clusters: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Responsibilities (n, K) of hard labels; -1 belongs nowhere."""
    resp = np.zeros((labels.shape[0], n_clusters))
    seated = np.flatnonzero(labels >= 0)
    resp[seated, labels[seated]] = 1.0 if weights is None else weights[seated]
    return resp
