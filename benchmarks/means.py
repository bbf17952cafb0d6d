"""Speed of `partita.means`: ``python -m benchmarks.means [dp-means spam growth]``, BLAS threads 1.

    --data FOLDER     the tables, ``../shared/data`` or what the variable PARTITA_BENCHMARK_DATA names by default
    --scale S         of the sizes, 1 by default
    --out FILE        ``benchmarks/results/means.json`` by default, with commit and versions

- ``dp-means``: 2 10^5 rows, 8 columns, 12 groups, at a penalty that leaves twelve and by ``n_clusters_hint=12``, beside
  scikit-learn's ``KMeans(12, n_init=1)``.
- ``spam``: one start of `CRAFT` on Spam with half of the columns, at the penalty that makes two clusters, beside
  ``KMeans(2, n_init=1)`` of the same cells, standardised beforehand. Reading the table is part of CRAFT's fit and is
  measured apart too.
- ``growth``: five starts of `CRAFT` at a given penalty, against rows and against columns, and the most memory that it
  takes in cells of the table.

Times are the shortest of some; compiling is left out.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import tracemalloc  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.entropy import DATA, ROOT, commit  # noqa: E402
from benchmarks.nbce import versions  # noqa: E402
from partita.means import CRAFT, DPMeans  # noqa: E402
from partita.metrics import adjusted_rand  # noqa: E402
from partita.running.clock import running_seconds  # noqa: E402
from partita.table import Table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "means.json"
REPEATS = 3
N_ROWS, N_COLUMNS, N_GROUPS = 200_000, 8, 12
GROWING_ROWS = (1000, 10_000, 100_000, 1_000_000)
GROWING_COLUMNS = (10, 100, 1000)
FIXED_ROWS, FIXED_COLUMNS, FEW_GROUPS = 10_000, 20, 5

Line = tuple[str, str, str]  # what, what was found, what must be reached


def main(words: Sequence[str] | None = None) -> None:
    parts: dict[str, Callable[[argparse.Namespace], Iterator[Line]]]
    parts = {"dp-means": dp_means, "spam": spam, "growth": growth}
    asked = argparse.ArgumentParser(prog="python -m benchmarks.means", description=__doc__.split("\n", 1)[0])
    asked.add_argument("parts", nargs="*", metavar="dp-means|spam|growth")
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--scale", type=float, default=1.0)
    asked.add_argument("--out", type=Path, default=RESULTS)
    options = asked.parse_args(words)
    if unknown := set(options.parts) - set(parts):
        asked.error(f"unknown: {', '.join(sorted(unknown))}")
    lines: list[Line] = []
    for name in options.parts or parts:
        for line in parts[name](options):
            row(*line)
            lines.append(line)
    stored = {"commit": commit(), "versions": versions(), "scale": options.scale, "lines": lines}
    options.out.write_text(json.dumps(stored, indent=1) + "\n")


def dp_means(options: argparse.Namespace) -> Iterator[Line]:
    """DPMeans beside k-means on clear groups."""
    n = int(N_ROWS * options.scale)
    X, truth = make_blobs(n, n_features=N_COLUMNS, centers=N_GROUPS, random_state=0)
    few, _ = make_blobs(300, n_features=N_COLUMNS, centers=3, random_state=0)
    DPMeans(n_clusters_hint=3, random_state=0).fit(few)
    peer = shortest(lambda: KMeans(N_GROUPS, n_init=1, random_state=0).fit(X))[0]
    hinted, by_hint = shortest(lambda: DPMeans(n_clusters_hint=N_GROUPS, random_state=0).fit(X))
    told, at_penalty = shortest(lambda: DPMeans(penalty=by_hint.penalty_, random_state=0).fit(X))
    what = f"{n:g} rows, {N_COLUMNS} columns, {N_GROUPS} groups"
    yield f"{what}: KMeans, one start", f"{peer:.3f} s", ""
    for name, seconds, model, most in (("a given penalty", told, at_penalty, 2), ("a hint", hinted, by_hint, 8)):
        agreement = adjusted_rand(truth, model.labels_)
        found = f"{seconds:.3f} s, {seconds / peer:.2f} x, K = {model.n_clusters_}, ARI {agreement:.3f}"
        yield f"{what}: DPMeans with {name}", found, f"<= {most} x, >= .99"


def spam(options: argparse.Namespace) -> Iterator[Line]:
    """CRAFT of half of the columns beside k-means."""
    cells = pd.read_csv(next(options.data.glob("spambase.csv*"))).drop(columns="label").to_numpy(float)
    standardised = StandardScaler().fit_transform(cells)
    CRAFT(penalty=100.0, n_init=1, random_state=0).fit(cells[:200])
    penalty = CRAFT(n_clusters_hint=2, random_state=0).fit(cells).penalty_
    peer = shortest(lambda: KMeans(2, n_init=1, random_state=0).fit(standardised))[0]
    reading, _ = shortest(lambda: Table.read(cells, guess_types=False))
    seconds, model = shortest(lambda: CRAFT(penalty=penalty, n_init=1, random_state=0).fit(cells))
    yield "Spam: KMeans, one start", f"{1e3 * peer:.0f} ms", ""
    yield "Spam: reading the table", f"{1e3 * reading:.0f} ms, {reading / peer:.2f} x", ""
    found = f"{1e3 * seconds:.0f} ms, {seconds / peer:.2f} x, K = {model.n_clusters_}"
    yield "Spam: CRAFT, m = 1/2, one start, a given penalty", found, "<= 6 x"


def growth(options: argparse.Namespace) -> Iterator[Line]:
    """CRAFT against rows and columns."""
    CRAFT(penalty=50.0, n_init=2, random_state=0).fit(subspaces(200, 10)[0])
    for title, sizes in (
        ("rows", [(max(200, int(n * options.scale)), FIXED_COLUMNS) for n in GROWING_ROWS]),
        ("columns", [(max(200, int(FIXED_ROWS * options.scale)), d) for d in GROWING_COLUMNS]),
    ):
        before: tuple[float, float] | None = None
        for n, d in sizes:
            X, truth = subspaces(n, d)
            model = CRAFT(n_features_to_select=0.2, penalty=n * d / 40.0, n_init=FEW_GROUPS, random_state=0)
            seconds = shortest(lambda: model.fit(X), repeats=REPEATS if n * d < 10**6 else 1)[0]  # noqa: B023
            slope = "" if before is None else f", slope {np.log(seconds / before[1]) / np.log(n * d / before[0]):.2f}"
            found = f"{seconds:.3f} s, {1e9 * seconds / (n * d):.0f} ns per cell, K = {model.n_clusters_}"
            found += f", ARI {adjusted_rand(truth, model.labels_):.2f}, {most_cells(model, X):.1f} x the cells"
            yield f"CRAFT against {title}: {n:g} x {d}", found + slope, "slope about 1" if before else ""
            before = n * d, seconds


def subspaces(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups that are narrow in a fifth of the columns each."""
    rng = np.random.default_rng(0)
    truth, X = np.arange(n) % FEW_GROUPS, rng.normal(0.0, 3.0, (n, d))
    for k, columns in enumerate(np.array_split(np.arange(d), FEW_GROUPS)):
        rows = np.flatnonzero(truth == k)
        X[np.ix_(rows, columns)] = rng.normal(3.0, 0.5, (rows.size, columns.size))
    return X, truth


def most_cells(model: Any, X: np.ndarray) -> float:
    """The most memory that a fit holds besides the table, in tables of the size of X."""
    tracemalloc.start()
    model.fit(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most / X.nbytes)


def shortest(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Seconds of the fastest of some runs, and what the last gave."""
    seconds, found = np.inf, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            started = running_seconds()
            found = work()
            seconds = min(seconds, running_seconds() - started)
    return seconds, found


if __name__ == "__main__":
    main()
