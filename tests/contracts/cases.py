"""The models that contract tests run on: every example of the registry, a toy family's, and more shapes."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.contracts.raised_family import Raised
from tests.volumes import long

from partita.families import FAMILIES, Categorical, Conjugate, Count, Family, Gaussian, Mixed
from partita.kernels.gibbs import complete_rows, refresh_slots
from partita.priors import Gamma
from partita.table import Table

_BUILT_IN = dict(FAMILIES)
from tests.contracts import toy_family  # noqa: E402  (registers itself)

TOY = {name: FAMILIES.pop(name) for name in FAMILIES.keys() - _BUILT_IN.keys()}


class Case(NamedTuple):
    """A family, its table and what both become; ``rows`` are complete where cells must be drawn."""

    family: Family
    table: Table
    likelihood: Conjugate
    rows: Any

    def __repr__(self) -> str:
        return f"Case({self.family!r}, {self.table!r})"

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def filled(self, *copies: np.ndarray, spare: int = 0) -> Any:
        """A state whose slot k holds every row ``copies[k][i]`` times, and ``spare`` empty slots."""
        state = self.likelihood.state(len(copies) + spare)
        self.likelihood.load(state, self.stats(*copies))
        refresh_slots(state, len(copies) + spare)
        return state

    def stats(self, *copies: np.ndarray) -> np.ndarray:
        """Statistics (slots, S), computed without compiled code."""
        return self.likelihood.suffstats(self.rows, np.column_stack(copies).astype(np.float64))

    def log_marginal(self, copies: np.ndarray) -> float:
        """Log marginal likelihood of rows that occur ``copies[i]`` times, computed without compiled code."""
        return float(self.likelihood.log_marginal(self.stats(copies))[0])


def make(family: Family, table: Table) -> Case:
    likelihood = family.resolve(table)
    case = Case(family, table, likelihood, likelihood.rows(table))
    if likelihood.draws_cells(case.rows):
        state = case.filled(np.ones(table.n_rows))
        complete_rows(np.random.default_rng(3), case.rows, state, np.zeros(table.n_rows, dtype=np.int64))
    return case


def numbers(n: int, d: int, *, n_missing: int = 0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * rng.uniform(0.5, 2.0, d) + rng.normal(size=d)
    x.flat[rng.choice(n * d, n_missing, replace=False)] = np.nan
    return x


def categories(n: int, d: int, *, n_missing: int = 0, seed: int = 0) -> np.ndarray:
    """Each column has the levels 'a', 'b' and by chance 'c', 'd'."""
    rng = np.random.default_rng(seed)
    x = np.array(list("abcd"), dtype=object)[rng.integers(0, 4, (n, d))]
    x[0], x[1] = "a", "b"
    x[2:].flat[rng.choice((n - 2) * d, n_missing, replace=False)] = None
    return x


def counts(n: int, d: int, *, n_missing: int = 0, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    x = rng.poisson([2.0, 30.0, 9.0][:d], (n, d)).astype(float)
    x.flat[rng.choice(n * d, n_missing, replace=False)] = np.nan
    return Table.read(x, column_types=dict.fromkeys(range(d), "count"))


def plain(x: np.ndarray) -> Table:
    return Table.read(x, standardize=False, column_steps=0, guess_types=False)


def mixed_table(*, n: int = 6, n_missing: int = 2, seed: int = 5) -> Table:
    """Columns x0 categorical, x1 numeric, x2 count, x3 numeric, x4 categorical, x5 numeric."""
    numeric = numbers(n, 3, n_missing=n_missing, seed=seed).astype(object)
    codes = categories(n, 2, n_missing=n_missing, seed=seed)
    count = np.random.default_rng(seed).poisson(4.0, n).astype(object)
    count[: min(n_missing, 1)] = None
    x = np.column_stack([codes[:, 0], numeric[:, 0], count, numeric[:, 1], codes[:, 1], numeric[:, 2]])
    kinds = ["categorical", "numeric", "count", "numeric", "categorical", "numeric"]
    return Table.read(x, column_types=dict(enumerate(kinds)))


CORRELATED = np.array([[2.0, 0.5, 0.1, 0.0], [0.5, 1.0, 0.2, 0.3], [0.1, 0.2, 0.7, 0.0], [0.0, 0.3, 0.0, 1.5]])

#: Shapes that the registry's examples leave out; they share the examples' compiled code.
MORE: list[tuple[Family, Table]] = [
    (Gaussian(mean_precision=0.4), plain(numbers(6, 1))),
    (Gaussian(dof=6.5, scale=CORRELATED, mean=0.3), plain(numbers(7, 4, n_missing=3))),
    (Gaussian(covariance="diag"), plain(numbers(6, 9))),
    (Gaussian(covariance="diag", dof=[1.5, 2.5, 7.0], scale=[0.3, 1.0, 2.0]), plain(numbers(6, 3))),
    (Gaussian(covariance="known", mean_variance=[2.0]), plain(numbers(6, 1))),
    (Categorical(pseudocount=0.02), Table.read(categories(6, 80))),
    (Categorical(pseudocount=3.0), Table.read(categories(6, 80, n_missing=30))),
    (Count(shape=[0.5, 2.0, 40.0], rate=[0.1, 1.0, 5.0]), counts(6, 3, n_missing=2)),
    (Count(), counts(5, 1)),
    (Mixed(), mixed_table()),
    (Mixed(families={"numeric": Gaussian(), "x5": Gaussian(covariance="known")}), mixed_table()),
    (Mixed(families={"numeric": Gaussian()}), plain(numbers(6, 2, n_missing=1))),
    (Mixed(), Table.read(categories(6, 40, n_missing=4))),
    (Mixed(), counts(6, 2)),
]


def waiting_table() -> Table:
    """Columns x0 of positive numbers, x1 numeric, x2 categorical, x3 count."""
    x = [
        [0.3, 0.3, "a", 0],
        [0.4, None, "a", 2],
        [1.1, -0.2, "b", None],
        [2.9, 0.9, None, 7],
        [3.3, 1.3, "b", 9],
        [None, -1.5, "b", 1],
    ]
    return Table.read(np.array(x, dtype=object), column_types={3: "count"}, standardize=False, column_steps=0)


Waiting = toy_family.Waiting
LEARNED_RATE = Waiting(shape=3.0, rate=Gamma(3.0, 2.0))
LEARNED_CATEGORIES = Categorical(pseudocount=Gamma(2.0, 4.0))
#: A family that `Mixed` has never heard of: alone, beside built-in blocks, learning beside a block that learns.
MIXED_TOYS: list[tuple[Family, Table]] = [
    (Mixed(families={"numeric": Waiting(shape=2.5)}), plain(np.exp(numbers(6, 2, n_missing=1)))),
    (Mixed(families={"x0": Waiting(shape=2.5), "x1": Gaussian(covariance="known")}), waiting_table()),
    (Mixed(families={"x0": Waiting(shape=3.0), "numeric": Gaussian(dof=4.0, scale=0.8)}), waiting_table()),
    (Mixed(families={"x0": LEARNED_RATE, "categorical": LEARNED_CATEGORIES}), waiting_table()),
]

#: Rows or columns that count more or less than once: categories have kernels of their own for that, others none.
RAISED: list[tuple[Family, Table]] = [
    (Raised(Categorical(pseudocount=0.4), 0.3), Table.read(categories(6, 4))),
    (Raised(Categorical(pseudocount=1.5), 1.7), Table.read(categories(6, 80, n_missing=30))),
    (Raised(Categorical(pseudocount=Gamma(2.0, 4.0)), 0.6), Table.read(categories(5, 3, n_missing=2))),
    (Raised(Gaussian(dof=6.5, scale=0.8), 0.3), plain(numbers(6, 3))),
    (Raised(Gaussian(), 1.7), Table.read(np.round(4.0 * numbers(6, 2)), standardize=False, guess_types=False)),
    (Raised(Gaussian(covariance="diag"), 0.3), plain(numbers(6, 3, n_missing=2))),
    (Raised(Gaussian(covariance="known", mean_variance=[2.0]), 0.6), plain(numbers(6, 1))),
    (Raised(Count(shape=[0.5, 2.0, 40.0], rate=[0.1, 1.0, 5.0]), 0.3), counts(6, 3, n_missing=2)),
    (Raised(Mixed(), 0.6), mixed_table()),
    (Raised(Mixed(families={"x0": Waiting(shape=2.5), "x1": Gaussian(covariance="known")}), 1.7), waiting_table()),
    (Categorical(pseudocount=0.4, column_weight=0.3), Table.read(categories(6, 4))),
    (Categorical(pseudocount=[1.5] * 80, column_weight=1.7), Table.read(categories(6, 80, n_missing=30))),
    (Categorical(pseudocount=Gamma(2.0, 4.0), column_weight=0.6), Table.read(categories(5, 3, n_missing=2))),
    (Raised(Categorical(pseudocount=0.7, column_weight=0.4), 0.6), Table.read(categories(6, 3, n_missing=2))),
    (Raised(Categorical(pseudocount=0.7), 90.0), Table.read(categories(6, 3, n_missing=2))),  # beyond a float's range
    (Categorical(pseudocount=0.7, column_weight=120.0), Table.read(categories(6, 3, n_missing=2))),
    (Mixed(families={"categorical": Categorical(column_weight=0.4)}), mixed_table()),
]

_ALL = [pair for kind in (_BUILT_IN | TOY).values() for pair in kind.examples()]
#: Families that engines of chains alone can run have statistics and densities, and no more.
SAMPLED = [pair for pair in _ALL if pair[0].resolve(pair[1]).only_sampled]
EXAMPLES = [pair for pair in _ALL if pair not in SAMPLED]


def _param(number: int, pair: tuple[Family, Table]) -> Any:
    likelihood = pair[0].resolve(pair[1])
    raised, likelihood = "Powered" * (likelihood is not likelihood.plain), likelihood.plain
    strangers = [type(block).__name__ for block in getattr(likelihood, "blocks", ())[5:]]  # compiled for these tests
    kind = raised + type(likelihood).__name__ + "".join(strangers)
    marks = [pytest.mark.xdist_group(kind), *([long] if strangers else [])]
    return pytest.param(pair, id=f"{kind}-{number}", marks=marks)


def _may_draw_cells(pair: tuple[Family, Table]) -> bool:
    """Whether the family would draw the missing numbers of a table that has none else."""
    family, table = pair
    likelihood = family.resolve(table)
    emptied = Table(table.schema, np.full(table.numeric.shape, np.nan), table.codes, table.counts)
    return likelihood.draws_cells(likelihood.rows(emptied))


def _parametrized(pairs: list[tuple[Family, Table]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [_param(k, pair) for k, pair in enumerate(pairs)], indirect=True)


EVERY = [*EXAMPLES, *MORE, *MIXED_TOYS]
every_case = _parametrized(EVERY)
every_case_to_any_power = _parametrized([*EVERY, *RAISED])  # what is about statistics and compiled code
every_example = _parametrized([*EXAMPLES, *MIXED_TOYS])
#: What is about statistics, compiled code and densities of rows, and no more.
SELECTED = [*SAMPLED, (Raised(SAMPLED[0][0], 0.3), SAMPLED[0][1]), (Raised(SAMPLED[-2][0], 1.7), SAMPLED[-2][1])]
every_sampled_case = _parametrized([*EVERY, *SAMPLED])
every_sampled_case_to_any_power = _parametrized([*EVERY, *RAISED, *SELECTED])
every_sampled_example = _parametrized([*EXAMPLES, *MIXED_TOYS, *SAMPLED])


def _is_continuous(pair: tuple[Family, Table]) -> bool:
    """Whether no number was recorded in steps: densities of intervals are bounds, and do not integrate to one."""
    return not pair[1].rounding.any()


every_continuous_case = _parametrized(list(filter(_is_continuous, EVERY)))
every_continuous_example = _parametrized(list(filter(_is_continuous, [*EXAMPLES, *MIXED_TOYS])))
#: Rows with gaps of the other cases are in test_family_terms.py.
#: Whose density of rows integrates to one: that of intervals does not, where the background's is mixed with it.
every_normalised_example = _parametrized([*EXAMPLES, *MIXED_TOYS, *filter(_is_continuous, SAMPLED)])
every_case_that_drops_missing_cells = _parametrized([pair for pair in EVERY if not _may_draw_cells(pair)])
every_sampled_case_that_drops_missing_cells = _parametrized(
    [pair for pair in [*EVERY, *SAMPLED] if not _may_draw_cells(pair)]
)
