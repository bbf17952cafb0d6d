"""Is confidence what it says? ``python -m benchmarks.confidence [n_tables]``.

Tables are drawn from the model, so that the truth is known and the posterior is the right one: the prior's partition,
parameters of every group, then rows. The same model is fitted, and rows are sorted by their confidence. Of rows with
confidence p a share of about p of the others of their true group should be in their cluster, which is the definition.
Beside it stands the share of rows in the group that most rows of their cluster are in, which is less where the estimate
joins true groups that no draw can tell apart for sure. Results go to ``benchmarks/results/confidence.json``;
docs/uncertainty.md shows them.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import itertools  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from partita import Mixture  # noqa: E402
from partita.families import Categorical, Family, Gaussian  # noqa: E402
from partita.priors import DirichletProcess  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "confidence.json"
EDGES = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0 + 1e-9])
N_ROWS = 80
DRAWS = 400

FAMILIES: dict[str, Family] = {
    "numbers": Gaussian(covariance="diag", mean=0.0, mean_precision=0.05, dof=8.0, scale=6.0),
    "correlated numbers": Gaussian(covariance="full", mean=0.0, mean_precision=0.05, dof=8.0, scale=5.0),
    "categories": Categorical(pseudocount=0.3),
}


def main() -> None:
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    found = {name: reliability(name, n_tables) for name in FAMILIES}
    for name, rows in found.items():
        print(f"\n{name}, {n_tables} tables of {N_ROWS} rows\n")
        print(as_table(rows))
    RESULTS.write_text(json.dumps({"n_tables": n_tables, "n_rows": N_ROWS, "reliability": found}, indent=1) + "\n")


def reliability(name: str, n_tables: int) -> list[dict[str, float]]:
    """For every interval of confidence: rows, their mean confidence, how much company they have, how many are right."""
    each = [outcome(name, seed) for seed in range(n_tables)]
    confidence, company, right = (np.concatenate([one[part] for one in each]) for part in range(3))
    table = np.concatenate([np.full(N_ROWS, seed) for seed in range(n_tables)])
    return [
        interval(low, high, confidence[chosen], company[chosen], right[chosen], table[chosen])
        for low, high in itertools.pairwise(EDGES)
        if (chosen := (confidence >= low) & (confidence < high)).any()
    ]


def outcome(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the rows of one table: confidence, share of the true group in their cluster, and whether in its majority."""
    model = Mixture(
        family=FAMILIES[name],
        prior=DirichletProcess(concentration=1.0),
        standardize=False,
        chains=2,
        draws=DRAWS,
        random_state=seed,
    )
    x, truth = model.sample_prior(N_ROWS, like=_like(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x)
    confidence = model.probabilities_[np.arange(N_ROWS), model.labels_]
    return confidence, company_of(model.labels_, truth), truth == majority(model.labels_, truth)


def company_of(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The share of the other rows of each one's true group that are in its cluster; 1 for a row alone."""
    same_group = (truth[:, None] == truth) & ~np.eye(len(truth), dtype=bool)
    shared = (same_group & (labels[:, None] == labels)).sum(axis=1)
    sizes = same_group.sum(axis=1)
    return np.where(sizes > 0, shared / np.maximum(sizes, 1), 1.0)


def majority(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The true group of most rows of each one's cluster."""
    counts = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(counts, (labels, truth), 1)
    return counts.argmax(axis=1)[labels]


def interval(
    low: float, high: float, confidence: np.ndarray, company: np.ndarray, right: np.ndarray, table: np.ndarray
) -> dict[str, float]:
    """One line of the table; the standard error is over tables, whose rows share one posterior."""
    _, which = np.unique(table, return_inverse=True)
    misses = np.bincount(which.ravel(), company - confidence)
    error = np.sqrt(misses.var() * len(misses)) / len(right)
    return {
        "from": float(low),
        "to": float(min(high, 1.0)),
        "rows": len(right),
        "confidence": float(confidence.mean()),
        "company": float(company.mean()),
        "standard_error": float(error),
        "majority": float(right.mean()),
    }


def as_table(rows: list[dict[str, float]]) -> str:
    """The lines as Markdown."""
    lines = [
        "| confidence | rows | on average | of their true group in their cluster | in the majority of their cluster |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['from']:g} to {row['to']:g} | {row['rows']} | {row['confidence']:.3f} |"
        f" {row['company']:.3f} (± {row['standard_error']:.3f}) | {row['majority']:.3f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _like(name: str) -> np.ndarray:
    """A table of the kind that the family is for; only its columns count."""
    rng = np.random.default_rng(0)
    if name == "categories":
        return np.array(list("abc"), dtype=object)[rng.integers(0, 3, (30, 6))]
    return rng.normal(size=(30, 2 if name == "numbers" else 3))


if __name__ == "__main__":
    main()
