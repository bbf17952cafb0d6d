"""Blocks of columns that are independent given the cluster: densities multiply, log densities add.

One state holds a block of every kind, any of them empty, so that every mixture of columns shares
one compilation.
"""

from collections import Counter
from typing import Any, ClassVar

import numpy as np

from partita.families.base import Cells, Conjugate
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product_kernels import ProductRows, ProductState
from partita.families.profiles import ColumnProfile
from partita.table import Table
from partita.table.schema import Schema

BLOCKS = ("full", "diag", "known", "categorical", "count")


class Product(Conjugate):
    """A product over blocks of columns.

    Every block learns its own numbers. They go by the block's name for them, "scale" or "pseudocount", and where two
    blocks learn a number of one name by "full_scale" and "diag_scale".
    """

    title: ClassVar[str] = "mixed"

    def __init__(
        self,
        full: NormalInverseWishart,
        diagonal: NormalInverseGamma,
        known: NormalKnownVariance,
        categorical: DirichletCategorical,
        count: GammaPoisson,
    ):
        self.blocks: tuple[Any, ...] = (full, diagonal, known, categorical, count)

    @property
    def columns_are_independent(self) -> bool:
        """Whether those of every block are."""
        return all(block.columns_are_independent for block in self.blocks)

    def rows(self, table: Table) -> ProductRows:
        """The rows of every block."""
        return ProductRows(*(block.rows(table) for block in self.blocks))

    def state(self, n_slots: int) -> ProductState:
        """Empty slots of every block."""
        return ProductState._make([*(block.state(n_slots) for block in self.blocks), np.zeros(n_slots)])

    def draws_cells(self, rows: ProductRows) -> bool:
        """Whether the full-covariance block has missing cells."""
        return self.blocks[0].draws_cells(rows.full)

    def stats_of(self, state: ProductState) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack([part.stats for part in state[:-1]])

    def load(self, state: ProductState, stats: np.ndarray) -> None:
        """Write the blocks' statistics to the first slots."""
        for block, part, own in zip(self.blocks, state, self._split(stats)):
            block.load(part, own)

    def _split(self, stats: np.ndarray) -> list[np.ndarray]:
        widths = [block.state(1).stats.shape[1] for block in self.blocks]
        return np.split(stats, np.cumsum(widths)[:-1], axis=-1)

    def suffstats(self, rows: ProductRows, resp: np.ndarray) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack([block.suffstats(part, resp) for block, part in zip(self.blocks, rows)])

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

    def column_names(self, schema: Schema) -> list[str]:
        """Block after block."""
        return [name for block in self.blocks for name in block.column_names(schema)]

    def log_predictive_by_column(self, rows: ProductRows, stats: np.ndarray, *, reverse: bool = False) -> np.ndarray:
        """The blocks' terms side by side."""
        terms = [
            block.log_predictive_by_column(part, own, reverse=reverse)
            for block, part, own in zip(self.blocks, rows, self._split(stats))
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

    def log_likelihood(self, rows: ProductRows, params: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, rows, params)
        return np.sum([block.log_likelihood(part, own) for block, part, own in blocks if own is not None], axis=0)

    def log_likelihood_by_column(self, rows: ProductRows, params: list[Any], *, reverse: bool = False) -> np.ndarray:
        """The blocks' terms side by side."""
        terms = [
            block.log_likelihood_by_column(part, own, reverse=reverse)
            for block, part, own in zip(self.blocks, rows, params)
            if own is not None
        ]
        return np.concatenate(terms, axis=2)

    def expected_suffstats(self, rows: ProductRows, resp: np.ndarray, params: list[Any]) -> np.ndarray:
        """The blocks' statistics side by side."""
        blocks = zip(self.blocks, rows, params)
        return np.hstack([block.expected_suffstats(part, resp, own) for block, part, own in blocks])

    def expected_params(self, stats: np.ndarray) -> list[Any]:
        """Those of every block; None for an empty one."""
        return [
            block.expected_params(part) if part.shape[1] > 0 else None
            for block, part in zip(self.blocks, self._split(stats))
        ]

    def expected_loglik(self, rows: ProductRows, expected: list[Any]) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, rows, expected)
        return np.sum([block.expected_loglik(part, own) for block, part, own in blocks if own is not None], axis=0)

    def variational_suffstats(self, rows: ProductRows, resp: np.ndarray, expected: list[Any]) -> np.ndarray:
        """The blocks' statistics side by side."""
        return np.hstack(
            [
                block.suffstats(part, resp) if own is None else block.variational_suffstats(part, resp, own)
                for block, part, own in zip(self.blocks, rows, expected)
            ]
        )

    def prior_divergence(self, stats: np.ndarray) -> np.ndarray:
        """Sum over blocks."""
        blocks = zip(self.blocks, self._split(stats))
        return np.sum([block.prior_divergence(own) for block, own in blocks if own.shape[1] > 0], axis=0)

    @property
    def learned(self) -> dict[str, float]:
        """What the blocks learn."""
        return {name: self.blocks[b].learned[own] for name, (b, own) in self._learners().items()}

    def _learners(self) -> dict[str, tuple[int, str]]:
        """Position of the block that learns a number, and its name there."""
        pairs = [(b, own) for b, block in enumerate(self.blocks) for own in block.learned]
        times = Counter(own for _, own in pairs)
        return {own if times[own] == 1 else f"{BLOCKS[b]}_{own}": (b, own) for b, own in pairs}

    def log_hyperprior(self) -> float:
        """Sum over blocks."""
        return sum(block.log_hyperprior() for block in self.blocks)

    def redrawn(self, rng: np.random.Generator, stats: np.ndarray) -> "Product":
        """One step of every block."""
        if not self.learns:
            return self
        return Product(*(block.redrawn(rng, own) for block, own in zip(self.blocks, self._split(stats))))

    def relearned(self, stats: np.ndarray) -> "Product":
        """Every block at its best."""
        if not self.learns:
            return self
        return Product(*(block.relearned(own) for block, own in zip(self.blocks, self._split(stats))))

    def with_learned(self, **values: float) -> "Product":
        """The blocks at these values."""
        own: list[dict[str, float]] = [{} for _ in self.blocks]
        for name, (b, name_there) in self._learners().items():
            if name in values:
                own[b][name_there] = values[name]
        return Product(*(block.with_learned(**of_block) for block, of_block in zip(self.blocks, own)))

    def simulate(self, rng: np.random.Generator, params: list[Any], labels: np.ndarray) -> Cells:
        """Cells of every block, numeric columns back in the table's order."""
        n = labels.shape[0]
        cells = [block.simulate(rng, p, labels) if p is not None else None for block, p in zip(self.blocks, params)]
        positions = [block.columns for block in self.blocks]
        n_numeric = sum(len(p) for p in positions[:3])
        numeric = np.empty((n, n_numeric))
        for position, part in zip(positions[:3], cells[:3]):
            if part is not None:
                numeric[:, position] = part.numeric
        codes = np.empty((n, len(positions[3])), np.int32)
        counts = np.empty((n, len(positions[4])), np.int64)
        if cells[3] is not None:
            codes[:, positions[3]] = cells[3].codes
        if cells[4] is not None:
            counts[:, positions[4]] = cells[4].counts
        return Cells(numeric, codes, counts)
