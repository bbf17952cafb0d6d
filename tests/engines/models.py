"""Small models of every family and prior that the engine's tests run on."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.oracles.enumeration import subset_log_marginals
from tests.volumes import long

from partita.families import FAMILIES, Conjugate, Gaussian
from partita.families.product import BUILT_IN
from partita.model.model import Model
from partita.priors import PRIORS, Prior
from partita.table import Table


@dataclass(frozen=True)
class Example:
    """A conjugate model with its table."""

    name: str
    likelihood: Conjugate
    table: Table

    def subsets(self) -> np.ndarray:
        """Log marginal likelihoods of all subsets of the rows."""
        return _subsets(self)

    def first(self, n: int) -> "Example":
        """The same likelihood on the first rows."""
        return replace(self, table=take_rows(self.table, np.arange(n)))

    def model(self, prior: Prior, copies: Any = None) -> Model:
        """What the engine is given."""
        weights = np.ones(self.table.n_rows) if copies is None else copies
        return Model(self.likelihood, prior, self.table, np.array(weights, dtype=np.int64))


@cache
def _subsets(example: Example) -> np.ndarray:
    return subset_log_marginals(example.likelihood, example.likelihood.rows(example.table))


def take_rows(table: Table, index: np.ndarray) -> Table:
    """The table of some rows, in the order of ``index``."""
    return replace(table, numeric=table.numeric[index], codes=table.codes[index], counts=table.counts[index])


def _registered() -> list[Example]:
    return [
        Example(f"{name}{position}", family.resolve(table), table)
        for name, kind in FAMILIES.items()
        for position, (family, table) in enumerate(kind.examples())
    ]


def _complete_gaussian() -> Example:
    x = np.array([[-1.2, 0.3], [-0.9, 0.8], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]])
    table = Table.read(x, standardize=False)
    return Example("gaussian-complete", Gaussian(dof=4.0, scale=0.8).resolve(table), table)


def _separated_gaussian() -> Example:
    """Two groups so far apart that a row's weight in the other one is not worth computing to its end."""
    rng = np.random.default_rng(2)
    x = 2.6 * rng.normal(size=(6, 5)) + 60.0 * np.array([0, 0, 0, 1, 1, 1])[:, None]
    table = Table.read(x, standardize=False)
    family = Gaussian(dof=300.0, scale=300.0, mean_precision=0.003)
    return Example("gaussian-separated", family.resolve(table), table)


OF_ALL_ENGINES = [example for example in _registered() if not example.likelihood.only_sampled]
EXAMPLES = [example for example in OF_ALL_ENGINES if not example.likelihood.learns]
#: Their enumeration is over what they learn as well: test_learned_scale.py.
LEARNED = [example for example in OF_ALL_ENGINES if example.likelihood.learns]
#: Of families that chains alone run: test_selective.py.
SAMPLED = [example for example in _registered() if example.likelihood.only_sampled]
COMPLETE_GAUSSIAN = _complete_gaussian()
SEPARATED_GAUSSIAN = _separated_gaussian()
#: Rows of these keep their cells: what is not observed was dropped.
WITHOUT_DRAWN_CELLS = [
    *(e for e in EXAMPLES if not e.likelihood.draws_cells(e.likelihood.rows(e.table))),
    COMPLETE_GAUSSIAN,
]
KNOWN = next(e for e in EXAMPLES if e.likelihood.title == "known-variance Gaussian")
CATEGORICAL = next(e for e in EXAMPLES if e.likelihood.title == "categorical")


def fixed_priors() -> list[Prior]:
    """One prior of every kind with its concentration given."""
    return [next(p for p in kind.examples() if not p.learns_concentration) for kind in PRIORS.values()]


def learned_priors() -> list[Prior]:
    """One prior of every kind whose concentration is learned."""
    return [next(p for p in kind.examples() if p.learns_concentration) for kind in PRIORS.values()]


def one_per_compilation() -> list[Prior]:
    """One prior of Gibbs type and one with labelled components: what is compiled apart."""
    return [p for p in fixed_priors() if p.name in ("dirichlet-process", "stick-breaking")]


def parameters(examples: list[Example], priors: list[Prior], *, sampled: bool = True) -> list[Any]:
    """Every example with every prior; those that share compiled code run in one worker."""
    return [
        pytest.param(
            example,
            prior,
            id=f"{example.name}-{prior.name}",
            marks=marks_of(example, prior) if sampled else one_worker(example),
        )
        for example in examples
        for prior in priors
    ]


def marks_of(example: Example, prior: Prior) -> list[Any]:
    """One worker; `long` for Gibbs with sticks, but of two families: each is compiled apart, a minute for all."""
    short = type(KNOWN.likelihood), type(CATEGORICAL.likelihood)
    rare = prior.name == "stick-breaking" and type(example.likelihood) not in short
    return [one_worker(example), long] if rare else [one_worker(example)]


def alone(examples: list[Example]) -> list[Any]:
    """Every example, those that share compiled code in one worker."""
    return [pytest.param(example, id=example.name, marks=one_worker(example)) for example in examples]


def one_worker(example: Example) -> Any:
    """The mark that keeps tests of what is compiled together in one worker."""
    likelihood = example.likelihood
    plain = likelihood.plain
    beside = [type(block).__name__ for block in getattr(plain, "blocks", ())[len(BUILT_IN) :]]
    raised = "Powered" * (plain is not likelihood)
    return pytest.mark.xdist_group(raised + type(plain).__name__ + "".join(beside))
