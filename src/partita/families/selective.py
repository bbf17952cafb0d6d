"""Clusters that stand out in some columns and are like the rest of the table in others, whichever these are.

Cluster k selects column d with probability pi = ``share``. The cells of a selected column have the family's marginal
likelihood m_d, its parameters summed out; those of another are independent under the background g_d, a fixed density
that is the same for all clusters. The choice is summed out too:

    f_d(cells of k) = pi m_d(cells of k) + (1 - pi) prod_n g_d(x_n),

and the columns of a cluster multiply. Given its cells, a cluster has selected a column with probability

    w_kd = pi m_d / (pi m_d + (1 - pi) prod_n g_d),

so that the predictive of a cell is w_kd times the family's plus 1 - w_kd times g_d. The background is the density of
the whole column: the family's predictive of a cell given all rows as one cluster, before it has learned anything.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit

from partita.families.base import ROWS_AT_ONCE, Cells, Conjugate, Family
from partita.families.blocks import row_blocks
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.gaussian import Gaussian
from partita.families.mixed import Mixed
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import BUILT_IN, Product
from partita.families.profiles import ColumnProfile
from partita.families.selective_kernels import SelectedRows, SelectedState
from partita.parameters import is_number
from partita.priors.beta import Beta
from partita.priors.hyperpriors import Gamma
from partita.table import Table
from partita.table.schema import ColumnKind, Schema

SELECTABLE = (NormalInverseGamma, NormalKnownVariance, DirichletCategorical, GammaPoisson)


class Selective(Family, name="selective"):
    """Every cluster selects the columns in which it has parameters of its own; the rest are said by the whole table.

    The choice of columns is summed out. `Mixture.inclusion_` has the posterior probability of every cluster and column.
    For sampling alone: the other engines refuse it.

    Parameters
    ----------
    base : Family, optional
        What the cells of a selected column look like: any family whose columns are independent within a cluster,
        ``Gaussian(covariance="diag")`` or ``"known"``, ``LogNormal`` of these, ``Categorical``, ``Count``, or `Mixed`
        of them. None: ``Mixed()``.
    share : float or priors.Beta
        Probability, between 0 and 1, that a cluster selects a column. ``priors.Beta(a, b)``: one number for all
        clusters and columns, learned from the rows.

    References
    ----------
    Garg, Rudin and Jaakkola (2016), CRAFT: ClusteR-specific Assorted Feature selecTion, whose model this is with all
    of a cluster's parameters summed out.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import Mixture
    >>> from partita.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(60, 4))
    >>> rows[:30, 0] += 8.0
    >>> family = Selective(Gaussian(covariance="diag"))
    >>> Mixture(family=family, draws=50, random_state=0).fit(rows).inclusion_.round(1)
    array([[1., 0., 0., 0.],
           [1., 0., 0., 0.]])
    """

    def __init__(self, base: Family | None = None, *, share: Any = 0.5):
        self.base = base
        self.share = share

    def resolve(self, table: Table) -> Conjugate:
        """The family of the columns, and what the whole table says of them."""
        return self._over(self._family().resolve(table), table)

    def resolve_fixed(self, table: Table) -> Conjugate:
        """As `resolve`, with numbers in place of what the family would learn unasked."""
        return self._over(self._family().resolve_fixed(table), table)

    def _over(self, likelihood: Conjugate, table: Table) -> "Selected":
        product = _of_independent_columns(likelihood)
        together = product.labelled_stats(product.rows(table), np.zeros(table.n_rows, np.int64), 1, table.row_weights)
        share = checked_share(self.share)
        if isinstance(share, Beta):
            return Selected(product, Background(product, together), share.mean, share)
        return Selected(product, Background(product, together), share)

    def _family(self) -> Family:
        if self.base is None:
            return Mixed()
        if not isinstance(self.base, Family) or isinstance(self.base, Selective):
            raise TypeError(
                f"Selective(base) takes a family, got {self.base!r}: pass for example Gaussian(covariance='diag')."
            )
        return self.base

    def standardizes_column(self, name: str) -> bool:
        """Whether the family of this column does."""
        return self._family().standardizes_column(name)

    def guesses_column(self, name: str, kind: ColumnKind) -> bool:
        """Whether the family of this column does."""
        return self._family().guesses_column(name, kind)

    def reads_as_positive(self, name: str) -> bool:
        """Whether the family of this column does."""
        return self._family().reads_as_positive(name)

    def offset_of_column(self, name: str) -> float:
        """That of the family of this column."""
        return self._family().offset_of_column(name)

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Five rows of three columns of every kind, cells missing; one that learns; numbers recorded in large steps."""
        numbers: list[list[Any]] = [
            [-1.2, 0.3, 0.5],
            [-0.9, None, 0.7],
            [0.1, -0.2, 3.5],
            [1.1, 0.9, 3.1],
            [1.4, 1.3, None],
        ]
        words: list[list[Any]] = [["a", "p", "u"], ["a", "p", "v"], ["a", "q", None], ["b", "r", "v"], [None, "q", "v"]]
        counts: list[list[Any]] = [[0, 3, 1], [1, None, 0], [0, 20, 1], [7, 15, 6], [None, 4, 9]]
        several = [[x[0], w[0], c[1]] for x, w, c in zip(numbers, words, counts)]
        diagonal = Gaussian(covariance="diag", dof=4.0, scale=0.8, mean_precision=0.3)

        def read(cells: list, counted: range = range(0), step: float = 0.0) -> Table:
            types = dict.fromkeys(counted, "count")
            return Table.read(np.array(cells, dtype=object), column_types=types, standardize=False, column_steps=step)

        return [
            (cls(diagonal), read(numbers)),
            (cls(diagonal, share=0.7), read(numbers, step=0.8)),
            (cls(Gaussian(covariance="known", variance=0.4), share=0.3), read(numbers)),
            (cls(Categorical(pseudocount=0.5)), read(words)),
            (cls(Count(shape=0.8), share=0.7), read(counts, range(3))),
            (cls(Mixed(families={"numeric": diagonal}), share=0.4), read(several, range(2, 3))),
            (cls(Gaussian(covariance="diag", scale=Gamma(3.0, 2.0)), share=Beta(1.0, 2.0)), read(numbers)),
        ]


def checked_share(value: Any) -> float | Beta:
    """The probability that a column is selected, or its distribution; refused where it is none."""
    if isinstance(value, Beta):
        value.check()
        return value
    if not (is_number(value) and 0.0 < value < 1.0):
        raise ValueError(
            f"Selective(share=...) must be a number between 0 and 1, or priors.Beta(a, b), got {value!r}: at 1 every "
            "cluster selects every column, which is the family itself."
        )
    return float(value)


def _in_the_way(likelihood: Conjugate) -> list[str]:
    """What blocks are called whose columns cannot be selected one by one."""
    blocks = [block for block in getattr(likelihood, "blocks", (likelihood,)) if block.columns.size]
    return ["weighed " * bool(b.column_weights) + b.title for b in blocks if type(b) not in SELECTABLE]


def _of_independent_columns(likelihood: Any) -> Product:
    """The likelihood as a product, so that all of them share one compilation."""
    others = _in_the_way(likelihood)
    if others:
        raise ValueError(
            f"Selective(base) cannot select {others[0]} columns one by one: take Gaussian(covariance='diag'), "
            "Categorical(), Count(), or Mixed() of these."
        )
    if isinstance(likelihood, Product):
        return likelihood
    return Product([likelihood if type(likelihood) is kind else kind.joined([])[0] for kind in BUILT_IN.values()])


class Background(NamedTuple):
    """A density of each column: the family's predictive of a cell given all rows as one cluster."""

    likelihood: Product
    stats: np.ndarray  # (1, S)

    def log_density(self, rows: Any, n_rows: int) -> np.ndarray:
        """Log densities (n, d) of the observed cells."""
        parts = [
            self.likelihood.log_predictive_by_column(part, self.stats)[:, 0]
            for _, part in row_blocks(rows, n_rows, ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)

    def simulate(self, rng: np.random.Generator, n_rows: int) -> Cells:
        """Cells that are independent of each other."""
        params = self.likelihood.sample_params(rng, np.repeat(self.stats, n_rows, axis=0))
        return self.likelihood.simulate(rng, params, np.arange(n_rows))


class Choice(NamedTuple):
    """A cluster's parameters, and the columns that it selects."""

    params: list[Any]
    selected: np.ndarray  # (K, d) bool


class Selected(Conjugate):
    """A product of independent columns, each of which a cluster selects or leaves to the background.

    Parameters
    ----------
    base : Product
        Of columns that are independent within a cluster.
    background : Background
        Of the same columns.
    share : float
        Probability that a cluster selects a column.
    hyperprior : Beta, optional
        Of ``share``, where it is learned.
    """

    title: ClassVar[str] = "selective"
    only_sampled = "Selective sums out which columns every cluster selects"

    def __init__(self, base: Product, background: Background, share: float, hyperprior: Beta | None = None):
        self.base = base
        self.background = background
        self.share = share
        self.hyperprior = hyperprior
        self.columns = np.empty(0, dtype=np.int64)

    def column_names(self, schema: Schema) -> list[str]:
        """Those of the family."""
        return self.base.column_names(schema)

    def rows(self, table: Table) -> SelectedRows:
        """The family's rows, and the background's log densities of their cells."""
        rows: Any = self.base.rows(table)
        return SelectedRows(rows, self.background.log_density(rows, table.n_rows))

    def state(self, n_slots: int) -> SelectedState:
        """Empty slots."""
        d = self.n_columns
        plain: Any = self.base.state(n_slots)
        log_odds, inside, outside = np.zeros((3, n_slots, d))
        return SelectedState(
            plain=plain,
            stats=np.zeros((n_slots, d)),
            log_odds=log_odds,
            inside=inside,
            outside=outside,
            log_prior_odds=np.array([logit(self.share)]),
            scratch=np.zeros(d),
        )

    @property
    def n_columns(self) -> int:
        """How many columns it is over."""
        return sum(block.columns.size for block in self.base.blocks)

    @property
    def n_stats(self) -> int:
        """The family's statistics and what the background says of every column."""
        return self.base.n_stats + self.n_columns

    def stats_of(self, state: SelectedState) -> np.ndarray:
        """The family's statistics and the background's side by side."""
        return np.hstack([self.base.stats_of(state.plain), state.stats])

    def load(self, state: SelectedState, stats: np.ndarray) -> None:
        """Write both to the first slots."""
        plain, background = self._split(stats)
        self.base.load(state.plain, plain)
        state.stats[: stats.shape[0]] = background

    def _split(self, stats: np.ndarray) -> list[np.ndarray]:
        return np.split(stats, [self.base.n_stats], axis=-1)

    def suffstats(self, rows: SelectedRows, resp: np.ndarray) -> np.ndarray:
        """The family's statistics and sums of log g."""
        return np.hstack([self.base.suffstats(rows.plain, resp), resp.T @ rows.background])

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """Those of the family beside finite sums."""
        plain, background = self._split(stats)
        return self.base.possible(plain) & np.isfinite(background).all(axis=-1)

    def _log_odds(self, stats: np.ndarray) -> np.ndarray:
        """Log odds (K, d) of the family against the background."""
        plain, background = self._split(stats)
        return logit(self.share) + self.base.log_marginal_by_column(plain) - background

    def inclusion(self, stats: np.ndarray) -> np.ndarray:
        """Probability (K, d) that each cluster selects each column, given its cells."""
        return expit(self._log_odds(stats))

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Log of the sum over both ways to say a column, summed over columns."""
        _, background = self._split(stats)
        return (background - log_expit(-self._log_odds(stats)) + log_expit(-logit(self.share))).sum(axis=1)

    def log_predictive_by_column(self, rows: SelectedRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """Both predictives of a cell, mixed."""
        odds = self._log_odds(stats)
        terms = self.base.log_predictive_by_column(rows.plain, self._split(stats)[0], reverse=reverse)
        with np.errstate(invalid="ignore"):
            mixed = np.logaddexp(log_expit(odds) + terms, log_expit(-odds) + rows.background[:, None])
        return np.where(rows.background[:, None] == terms, terms, mixed)

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """What is typical of the clusters' own cells; relevance counts as far as the cluster selects the column."""
        plain, _ = self._split(stats)
        inclusion = self.inclusion(stats.reshape(-1, stats.shape[-1])).reshape(*stats.shape[:-1], -1).mean(axis=0)
        columns = self.base.profile(plain, shares)
        return [column._replace(relevance=column.relevance * inclusion[:, j]) for j, column in enumerate(columns)]

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> Choice:
        """Columns that are selected, and parameters as if all were."""
        inclusion = self.inclusion(stats)
        return Choice(self.base.sample_params(rng, self._split(stats)[0]), rng.random(inclusion.shape) < inclusion)

    def simulate(self, rng: np.random.Generator, params: Choice, labels: np.ndarray) -> Cells:
        """Cells of the family in columns that the row's cluster selects, of the background elsewhere."""
        cells = self.base.simulate(rng, params.params, labels)
        elsewhere = self.background.simulate(rng, labels.shape[0])
        selected = params.selected[labels]
        places = [(block.kind, position) for block in self.base.blocks for position in block.columns]
        for j, (kind, position) in enumerate(places):
            own, other = cells.block(kind)[:, position], elsewhere.block(kind)[:, position]
            cells.block(kind)[:, position] = np.where(selected[:, j], own, other)
        return cells

    # --- what is learned ---------------------------------------------------------------------------

    @property
    def hyperpriors(self) -> dict[str, Any]:
        """Those of the family, and that of the share."""
        return self.base.hyperpriors | ({} if self.hyperprior is None else {"share": self.hyperprior})

    @property
    def learned(self) -> dict[str, float]:
        """What the family learns, and the share."""
        return self.base.learned | ({} if self.hyperprior is None else {"share": self.share})

    def log_hyperprior(self) -> float:
        """Log densities of the logs of what is learned."""
        own = 0.0 if self.hyperprior is None else float(self.hyperprior.log_density_of_log(np.log(self.share)))
        return self.base.log_hyperprior() + own

    def with_learned(self, **values: float) -> "Selected":
        """The model at these values, under the same background."""
        share = values.pop("share", self.share)
        if not 0.0 < share < 1.0:
            raise ValueError(f"the share of columns that clusters select is {share!r}")
        return Selected(self.base.with_learned(**values), self.background, share, self.hyperprior)

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "Selected":
        """Draws of the selected columns, then of everything that is learned given these alone.

        What a cluster does not select says nothing of the family's numbers: its statistics are set to nothing.
        """
        if not self.learns:
            return self
        inclusion = self.inclusion(stats)
        selected = rng.random(inclusion.shape) < inclusion
        kept = np.hstack([selected, np.ones((selected.shape[0], 1), dtype=bool)])[:, self.base.column_of_stats]
        base = self.base.redrawn(rng, np.where(kept, self._split(stats)[0], 0.0))
        if self.hyperprior is None:
            return Selected(base, self.background, self.share)
        share = self.hyperprior.after(int(selected.sum()), int((~selected).sum())).sample(rng)
        return Selected(base, self.background, share, self.hyperprior)
