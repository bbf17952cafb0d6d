"""Compile what most tests run, each kernel once, in two processes: ``python -m tests.warm``.

Workers that begin with an empty cache compile the same kernels at the same time, each for itself; after this they load
them. What is not compiled here is compiled by the first test that needs it.
"""

import multiprocessing
import time
import warnings
from typing import Any

import numpy as np
from tests.contracts.cases import EXAMPLES, MORE, SAMPLED, TOY, Case, make
from tests.contracts.compiled import combine_slots, played, score

from partita import NBCE, Mixture, Posterior
from partita.engines import CollapsedVariational, Gibbs
from partita.families import Family, Gaussian
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.product import Product
from partita.families.selective import Selected
from partita.kernels.compiling import compilations
from partita.kernels.gibbs import log_predictive_matrix
from partita.model.model import Model
from partita.posterior import LOSSES
from partita.priors import DirichletProcess, FiniteDirichlet, Prior, StickBreaking
from partita.table import Table

N_PROCESSES = 2
QUICK = {"chains": 2, "draws": 8, "warmup": 2, "random_state": 0}


def main() -> None:
    """Share the likelihoods out between the processes, what takes longest first, and say what was done."""
    started = time.monotonic()
    kinds = sorted(examples_by_kind(), key=lambda kind: kind not in (Product, Selected, DirichletCategorical))
    with multiprocessing.get_context("spawn").Pool(N_PROCESSES) as pool:
        n_compiled = sum(pool.map(compile_for, [*kinds, Posterior], chunksize=1))
    print(f"{n_compiled} kernels compiled in {time.monotonic() - started:.0f} s")


def examples_by_kind() -> dict[type, list[tuple[Family, Table]]]:
    """The examples of every likelihood: one compilation, but for what only missing cells call."""
    kinds: dict[type, list[tuple[Family, Table]]] = {}
    for family, table in [*EXAMPLES, *MORE, *SAMPLED]:
        kinds.setdefault(type(family.resolve(table)), []).append((family, table))
    return kinds


def compile_for(kind: type) -> int:
    """Compile what is run on one likelihood, or on posteriors; the number of kernels that no cache had."""
    before = compilations()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind is Posterior:
            run_posterior()
        for family, table in examples_by_kind().get(kind, []):
            case = make(family, table)
            if family.name not in TOY:
                run_engines(case)
            run_tests_own_kernels(case)
        if kind is DirichletCategorical:
            run_fits()
    return compilations() - before


def run_engines(case: Case) -> None:
    """Gibbs, and the collapsed sweeps where short tests run them."""
    finite = FiniteDirichlet(n_components=2, concentration=1.0)
    runs: list[tuple[Any, Prior]] = [(Gibbs(), DirichletProcess(concentration=1.0))]
    drawn = case.likelihood.draws_cells(case.rows) or case.likelihood.only_sampled
    if not drawn and not isinstance(case.likelihood, Product):
        runs.append((CollapsedVariational(), finite))
    if isinstance(case.likelihood, DirichletCategorical):
        runs.append((CollapsedVariational(order=2), finite))
    for engine, prior in runs:
        rng, model = np.random.default_rng(0), Model(case.likelihood, prior, case.table, np.ones(case.n_rows, np.int64))
        engine.step(rng, engine.init(rng, model), model)


def run_tests_own_kernels(case: Case) -> None:
    """Those of `tests/contracts`, and the densities that they are held against."""
    state = case.filled(np.ones(case.n_rows), spare=2)
    log_predictive_matrix(case.rows, state, case.n_rows, 1)
    played(case.rows, state, (0, 1, 1))
    combine_slots(state, 2, 0, 1)
    sizes, out = np.array([case.n_rows, 1, 0]), np.empty(3)
    score(case.rows, 0, 1, state, sizes, 3, -1, np.ones(3), out, out.copy())


def run_fits() -> None:
    """Sums of variational Bayes, and sticks of the two families that short tests run them on."""
    rng = np.random.default_rng(0)
    labels, numbers = rng.integers(0, 2, (12, 3)), rng.normal(size=(12, 2))
    NBCE(**QUICK).fit(labels)
    NBCE(engine="vb", random_state=0).fit(labels)
    for covariance in ("full", "diag"):
        Mixture(family=Gaussian(covariance=covariance), engine="vb", random_state=0).fit(numbers)
    Mixture(family=Gaussian(covariance="known"), prior=StickBreaking(n_components=3), **QUICK).fit(numbers)


def run_posterior() -> None:
    """The search for the estimate under every loss that short tests search with, memberships and similarities."""
    posterior = Posterior(np.random.default_rng(0).integers(0, 3, (20, 12)))
    for loss in [name for name in LOSSES if name != "vi-lb"]:
        posterior.estimate(loss=loss).probabilities  # noqa: B018  (computed on access)
    posterior.similarity()


if __name__ == "__main__":
    main()
