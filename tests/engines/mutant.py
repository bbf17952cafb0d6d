"""Run the enumeration oracle on one small model and print its verdict: for copies of the package with one edit.

python -m tests.engines.mutant PRIOR [--tied] [--merge-split MOVES]
"""

import argparse
import json

import numpy as np
from tests.oracles.enumeration import (
    compare_partitions,
    exact_posterior,
    run_gibbs,
    subset_log_marginals,
)

import partita
from partita.engines.model import Model
from partita.families import Count
from partita.priors import DirichletProcess, FiniteDirichlet, Prior, StickBreaking
from partita.table import Table

PRIORS: dict[str, Prior] = {
    "dirichlet-process": DirichletProcess(concentration=1.0),
    "finite-dirichlet": FiniteDirichlet(n_components=3, concentration=1.5),
    "stick-breaking": StickBreaking(n_components=3, concentration=1.5),
}
X = np.array([[0, 3], [1, 4], [0, 9], [5, 8], [6, 2]])
COPIES = np.array([2, 1, 3, 1, 2])


def verdict(prior: Prior, *, tied: bool, merge_split: int) -> dict:
    """What the oracle says of a chain of the package that is imported."""
    table = Table.read(X, column_types={0: "count", 1: "count"})
    likelihood = Count(shape=0.8, rate=0.4).resolve(table)
    copies = COPIES if tied else np.ones(len(X), dtype=np.int64)
    subsets = subset_log_marginals(likelihood, likelihood.rows(table), copies)
    chain = run_gibbs(Model(likelihood, prior, table, copies), n_draws=10_000, seed=1, merge_split=merge_split)
    try:
        exact = exact_posterior(subsets, prior, copies if tied else None)
    except AssertionError as refusal:
        return {"agrees": False, "because": str(refusal)}
    agreement = compare_partitions(chain.labels, exact)
    return {"agrees": agreement.agrees, "because": str(agreement)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("prior", choices=PRIORS)
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--merge-split", type=int, default=3)
    asked = parser.parse_args()
    result = verdict(PRIORS[asked.prior], tied=asked.tied, merge_split=asked.merge_split)
    print(json.dumps({"package": partita.__file__, **result}))


if __name__ == "__main__":
    main()
