"""Run the enumeration oracle on one small model and print its verdict: for copies of the package with one edit.

python -m tests.engines.mutant PRIOR [--tied]
"""

import argparse
import json
from typing import Any

import numpy as np
from tests.oracles.agreement import Agreement, compare_labelled, compare_partitions
from tests.oracles.enumeration import exact_labelled, exact_posterior, run_gibbs, run_merge_split, subset_log_marginals

import partita
from partita.families import Count
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet, Prior, StickBreaking
from partita.table import Table

PRIORS: dict[str, Prior] = {
    "dirichlet-process": DirichletProcess(concentration=1.0),
    "finite-dirichlet": FiniteDirichlet(n_components=3, concentration=1.5),
    "stick-breaking": StickBreaking(n_components=3, concentration=4.0),
}
X = np.array([[0, 3], [1, 4], [0, 7], [4, 6], [5, 2]])
COPIES = np.array([2, 1, 3, 1, 2])


def agreements(prior: Prior, copies: np.ndarray | None) -> list[Agreement]:
    """What the oracle says of the scan alone and of merge-split moves alone."""
    table = Table.read(X, column_types={0: "count", 1: "count"})
    likelihood = Count(shape=2.0, rate=1.0).resolve(table)
    subsets = subset_log_marginals(likelihood, likelihood.rows(table), copies)
    if isinstance(prior, StickBreaking):
        exact, compare = exact_labelled(subsets, prior), compare_labelled
    else:
        exact, compare = exact_posterior(subsets, prior, copies), compare_partitions
    weights = np.ones(len(X), dtype=np.int64) if copies is None else copies
    model = Model(likelihood, prior, table, weights)
    chains = [
        run_gibbs(model, n_draws=7000, seed=1, merge_split=0),
        run_merge_split(model, n_draws=7000, seed=2),
    ]
    return [compare(chain.labels, exact) for chain in chains]


def verdict(prior: str, *, tied: bool = False) -> dict[str, Any]:
    """Whether both chains agree with the exact posterior, and how far they are from it."""
    try:
        found = agreements(PRIORS[prior], COPIES if tied else None)
    except AssertionError as refusal:  # a prior that does not sum to 1
        return {"agrees": False, "because": str(refusal)}
    return {"agrees": all(a.agrees for a in found), "because": "; ".join(map(str, found))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("prior", choices=PRIORS)
    parser.add_argument("--tied", action="store_true")
    asked = parser.parse_args()
    print(json.dumps({"package": partita.__file__, **verdict(asked.prior, tied=asked.tied)}))


if __name__ == "__main__":
    main()
