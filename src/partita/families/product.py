"""Blocks of columns that are independent given the cluster: densities multiply, log densities add.

One state holds a built-in block of every kind, any of them empty, so that every mixture of such columns shares one
compilation. Blocks of other families stand beside it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from partita.families.base import Cells, Conjugate
from partita.families.beside import BesideRows, BesideState
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product_kernels import ProductRows, ProductState
from partita.families.profiles import ColumnProfile
from partita.running.cached import cached_property
from partita.table import Table
from partita.table.schema import Kind, Schema

#: The built-in blocks in their order, by name.
BUILT_IN: dict[str, type[Conjugate]] = {
    "full": NormalInverseWishart,
    "diag": NormalInverseGamma,
    "known": NormalKnownVariance,
    "categorical": DirichletCategorical,
    "count": GammaPoisson,
}


class Product(Conjugate):
    """A product over blocks of columns.

    Every block learns its own numbers. They go by the block's name for them, "scale" or "pseudocount", and where two
    blocks learn a number of one name by "full_scale" and "diag_scale".

    Parameters
    ----------
    blocks : sequence of Conjugate
        One of every class of `BUILT_IN`, in that order and perhaps of no columns, then blocks of other families.
    names : sequence of str
        What the blocks of other families are called.
    """

    title: ClassVar[str] = "mixed"

    def __init__(self, blocks: Sequence[Any], names: Sequence[str] = ()):
        self.blocks = tuple(blocks)
        self.names = (*BUILT_IN, *names)

    def of_blocks(self, blocks: Sequence[Any]) -> "Product":
        """The product of other blocks over the same columns, whose statistics are as many."""
        other = Product(blocks, self.names[len(BUILT_IN) :])
        vars(other)["_ends"] = self._ends
        return other

    @property
    def plain(self) -> "Product":
        """The blocks in which rows and columns count once; itself where all do."""
        plain = [block.plain for block in self.blocks]
        return self if all(one is block for one, block in zip(plain, self.blocks)) else self.of_blocks(plain)

    @property
    def power(self) -> float:  # type: ignore[override]
        """That of every block."""
        return self.blocks[0].power

    @property
    def column_weights(self) -> tuple[float, ...]:  # type: ignore[override]
        """Those of every block."""
        return sum((block.column_weights for block in self.blocks), ())

    def parts(self, nested: Any) -> list[Any]:
        """The rows, or the states, of every block."""
        beside = []
        while isinstance(nested, BesideRows | BesideState):
            beside.append(nested.second)
            nested = nested.first
        return [*nested[: len(BUILT_IN)], *reversed(beside)]

    @property
    def columns_are_independent(self) -> bool:
        """Whether those of every block are."""
        return all(block.columns_are_independent for block in self.blocks)

    @property
    def has_second_order(self) -> bool:
        """Whether every block has it that has columns."""
        return all(block.has_second_order for block in self.blocks if block.columns.size)

    def rows(self, table: Table) -> ProductRows | BesideRows:
        """The rows of every block."""
        parts = [block.rows(table) for block in self.blocks]
        rows: ProductRows | BesideRows = ProductRows(*parts[: len(BUILT_IN)])
        for part in parts[len(BUILT_IN) :]:
            rows = BesideRows(rows, part)
        return rows

    def state(self, n_slots: int) -> ProductState | BesideState:
        """Empty slots of every block."""
        parts = [block.state(n_slots) for block in self.blocks]
        state: ProductState | BesideState = ProductState._make([*parts[: len(BUILT_IN)], np.zeros(n_slots)])
        for part in parts[len(BUILT_IN) :]:
            state = BesideState(state, part, np.zeros(n_slots))
        return state

    def draws_cells(self, rows: Any) -> bool:
        """Whether some block does."""
        return any(block.draws_cells(part) for block, part in zip(self.blocks, self.parts(rows)))

    def stats_of(self, state: Any) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack([block.stats_of(part) for block, part in zip(self.blocks, self.parts(state))])

    def load(self, state: Any, stats: np.ndarray) -> None:
        """Write the blocks' statistics to the first slots."""
        for block, part, own in zip(self.blocks, self.parts(state), self._split(stats)):
            block.load(part, own)

    def _split(self, stats: np.ndarray) -> list[np.ndarray]:
        return np.split(stats, self._ends, axis=-1)

    @cached_property
    def _ends(self) -> np.ndarray:
        """Where the statistics of all blocks but the last end."""
        return np.cumsum([block.n_stats for block in self.blocks])[:-1]

    def suffstats(self, rows: Any, resp: np.ndarray) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack([block.suffstats(part, resp) for block, part in zip(self.blocks, self.parts(rows))])

    def possible(self, stats: np.ndarray) -> np.ndarray:
        """Those of every block."""
        each = [block.possible(own) for block, own in zip(self.blocks, self._split(stats))]
        return np.logical_and.reduce(each)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Sum over blocks."""
        total = np.zeros(stats.shape[0])
        for block, part in zip(self.blocks, self._split(stats)):
            if part.shape[1] > 0:
                total += block.log_marginal(part)
        return total

    def log_marginal_by_column(self, stats: np.ndarray) -> np.ndarray:
        """Block after block; none of them may have columns that depend on each other."""
        blocks = zip(self.blocks, self._split(stats))
        return np.hstack([block.log_marginal_by_column(own) for block, own in blocks if block.columns.size])

    @property
    def column_of_stats(self) -> np.ndarray:
        """Block after block, -1 what is of no column."""
        found, start = [], 0
        for block in self.blocks:
            found.append(start + block.column_of_stats if block.columns.size else np.full(block.n_stats, -1))
            start += block.columns.size
        return np.concatenate(found)

    def column_names(self, schema: Schema) -> list[str]:
        """Block after block."""
        return [name for block in self.blocks for name in block.column_names(schema)]

    def log_predictive_by_column(self, rows: Any, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """The blocks' terms side by side."""
        terms = [
            block.log_predictive_by_column(part, own, reverse=reverse)
            for block, part, own in zip(self.blocks, self.parts(rows), self._split(stats))
            if own.shape[1] > 0
        ]
        return np.concatenate(terms, axis=2)

    def profile(self, stats: np.ndarray, shares: np.ndarray) -> list[ColumnProfile]:
        """The blocks' profiles one after the other; a block without drawn cells has one completion only."""
        return [
            column
            for block, own in zip(self.blocks, self._split(stats))
            if own.shape[-1] > 0
            for column in block.profile(own[:1] if (own == own[0]).all() else own, shares)
        ]

    def sample_params(self, rng: np.random.Generator, stats: np.ndarray) -> list[Any]:
        """Parameters of every block; None for an empty one."""
        return [
            block.sample_params(rng, part) if part.shape[1] > 0 else None
            for block, part in zip(self.blocks, self._split(stats))
        ]

    def map_params(self, stats: np.ndarray, *, least: float = 0.0) -> list[Any]:
        """Modes of every block; None for an empty one."""
        return [
            block.map_params(part, least=least) if part.shape[1] > 0 else None
            for block, part in zip(self.blocks, self._split(stats))
        ]

    def ml_params(self, stats: np.ndarray, reg_covar: float) -> list[Any]:
        """Maximum likelihood parameters of every block; None for an empty one."""
        return [
            block.ml_params(part, reg_covar) if part.shape[1] > 0 else None
            for block, part in zip(self.blocks, self._split(stats))
        ]

    def readable(self, params: list[Any]) -> dict[str, Any]:
        """Those of all blocks; covariances between blocks are 0, what a block does not say is nan."""
        found: dict[str, Any] = {}
        for block, own in zip(self.blocks, params):
            said = {} if own is None else block.readable(own)
            for name, value in said.items():
                n_columns = sum(other.columns.size for other in self.blocks if other.kind == block.kind)
                if name == "shares":
                    found.setdefault(name, {}).update(value)
                elif name == "covariances":
                    whole = found.setdefault(name, _apart(len(value), n_columns))
                    whole[:, block.columns[:, None], block.columns] = value
                elif name in ("means", "rates"):
                    whole = found.setdefault(name, np.full((len(value), n_columns), np.nan))
                    whole[:, block.columns] = value
        if "covariances" in found:
            unsaid = np.isnan(np.diagonal(found["covariances"], axis1=1, axis2=2)[0])
            found["covariances"][:, unsaid], found["covariances"][:, :, unsaid] = np.nan, np.nan
        return found

    @property
    def n_params(self) -> int:
        """Those of all blocks."""
        return sum(block.n_params for block in self.blocks)

    def log_prior_density(self, params: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        return np.sum(
            [block.log_prior_density(own) for block, own in zip(self.blocks, params) if own is not None], axis=0
        )

    def summed_log_likelihood(self, stats: np.ndarray, params: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, self._split(stats), params)
        return np.sum(
            [block.summed_log_likelihood(part, own) for block, part, own in blocks if own is not None], axis=0
        )

    def log_likelihood(self, rows: Any, params: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, self.parts(rows), params)
        return np.sum([block.log_likelihood(part, own) for block, part, own in blocks if own is not None], axis=0)

    def log_likelihood_by_column(self, rows: Any, params: list[Any], *, reverse: bool = False) -> np.ndarray:
        """The blocks' terms side by side."""
        terms = [
            block.log_likelihood_by_column(part, own, reverse=reverse)
            for block, part, own in zip(self.blocks, self.parts(rows), params)
            if own is not None
        ]
        return np.concatenate(terms, axis=2)

    def expected_suffstats(self, rows: Any, resp: np.ndarray, params: list[Any]) -> np.ndarray:
        """The blocks' statistics side by side."""
        blocks = zip(self.blocks, self.parts(rows), params)
        return np.hstack([block.expected_suffstats(part, resp, own) for block, part, own in blocks])

    def expected_params(self, stats: np.ndarray) -> list[Any]:
        """Those of every block; None for an empty one."""
        return [
            block.expected_params(part) if part.shape[1] > 0 else None
            for block, part in zip(self.blocks, self._split(stats))
        ]

    def expected_loglik(self, rows: Any, expected: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, self.parts(rows), expected)
        return np.sum([block.expected_loglik(part, own) for block, part, own in blocks if own is not None], axis=0)

    def variational_suffstats(self, rows: Any, resp: np.ndarray, expected: list[Any]) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack(
            [
                block.suffstats(part, resp) if own is None else block.variational_suffstats(part, resp, own)
                for block, part, own in zip(self.blocks, self.parts(rows), expected)
            ]
        )

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, self._split(stats))
        return np.sum([block.prior_divergence(own) for block, own in blocks if own.shape[1] > 0], axis=0)

    def with_params(self, params: list[Any]) -> list[tuple[Conjugate, Any]]:
        """The blocks with theirs."""
        return [(block, own) for block, own in zip(self.blocks, params) if own is not None]

    @property
    def hyperpriors(self) -> dict[str, Any]:
        """Those of all blocks, by the names that `learned` has."""
        of_blocks = [getattr(block, "hyperpriors", {}) for block in self.blocks]
        return {name: of_blocks[b][own] for name, (b, own) in self._learners().items() if own in of_blocks[b]}

    @property
    def learned(self) -> dict[str, float]:
        """What the blocks learn."""
        return {name: self.blocks[b].learned[own] for name, (b, own) in self._learners().items()}

    def _learners(self) -> dict[str, tuple[int, str]]:
        """Position of the block that learns a number, and its name there."""
        pairs = [(b, own) for b, block in enumerate(self.blocks) for own in block.learned]
        times = Counter(own for _, own in pairs)
        found: dict[str, tuple[int, str]] = {}
        for b, own in pairs:
            name = own if times[own] == 1 else f"{self.names[b]}_{own}"
            while name in found:  # a block that is called as another block's number
                name += "_"
            found[name] = b, own
        return found

    def log_hyperprior(self) -> float:
        """Sum over blocks."""
        return sum(block.log_hyperprior() for block in self.blocks)

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "Product":
        """One step of every block."""
        if not self.learns:
            return self
        return self.of_blocks([block.redrawn(rng, own) for block, own in zip(self.blocks, self._split(stats))])

    def relearned(self, stats: np.ndarray) -> "Product":
        """Every block at its best."""
        if not self.learns:
            return self
        return self.of_blocks([block.relearned(own) for block, own in zip(self.blocks, self._split(stats))])

    def with_learned(self, **values: float) -> "Product":
        """The blocks at these values."""
        own: list[dict[str, float]] = [{} for _ in self.blocks]
        for name, (b, name_there) in self._learners().items():
            if name in values:
                own[b][name_there] = values[name]
        return self.of_blocks([block.with_learned(**of_block) for block, of_block in zip(self.blocks, own)])

    def simulate(self, rng: np.random.Generator, params: list[Any], labels: np.ndarray) -> Cells:
        """Cells of every block, columns back in the table's order."""
        n_columns: Counter[Kind] = Counter()
        for block in self.blocks:
            n_columns[block.kind] += len(block.columns)
        cells = Cells.empty(labels.shape[0], n_columns)
        for block, own in zip(self.blocks, params):
            if own is not None:
                cells.block(block.kind)[:, block.columns] = block.simulate(rng, own, labels).block(block.kind)
        return cells


def _apart(n_clusters: int, n_columns: int) -> np.ndarray:
    """Covariances (K, d, d) of columns that are independent of each other, their variances not known yet."""
    whole = np.zeros((n_clusters, n_columns, n_columns))
    whole[:, np.arange(n_columns), np.arange(n_columns)] = np.nan
    return whole
