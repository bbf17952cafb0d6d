"""Which overlap and which cut turn pieces into groups: ``python -m benchmarks.hierarchy [vb|gibbs ...]``.

Every table is fitted once per engine and its pieces are merged by every criterion, with the memberships that the
densities of the pieces give (as in ``predict_proba``) and with ``probabilities_`` (of Gibbs from the draws). Criterion
and cut are fixed on one half of the tables and confirmed on the other. The score is the adjusted Rand index with the
classes; of one cloud it is 1 for one group, else 0.

Results go to
``benchmarks/results/hierarchy.json``, with seeds and commit; docs/hierarchy.md says what they mean. Tables with classes
are in ``../shared/data``, or in the folder that the variable PARTITA_BENCHMARK_DATA names.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.datasets import make_blobs, make_circles, make_moons  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

from benchmarks.entropy import DATA, ROOT, commit  # noqa: E402
from partita import Mixture  # noqa: E402
from partita.posterior.hierarchy import Hierarchy, hierarchy  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "hierarchy.json"
TRIED = {
    "entropy": (np.inf, 1.0, 0.5, 0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01),
    "misclassification": (np.inf, 0.2, 0.1, 0.07, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015, 0.01, 0.007, 0.005, 0.002),
    "co-clustering": (np.inf, 0.5, 0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01),
}
FIRST_TABLES = ("banknote", "wine", "glass", "letter_AJ_700", "control_chart")
SECOND_TABLES = ("iris", "ecoli", "image_segmentation")
LENGTH = {"chains": 4, "draws": 500, "warmup": 500}  # of Gibbs

Means = dict[tuple[str, str], dict[float, float]]  # by way and criterion, then by cut
Case = Callable[[], tuple[Any, np.ndarray]]


class Merged(NamedTuple):
    """A table's pieces merged in one way: the score at every number of groups, from all pieces down to one."""

    table: str
    way: str  # engine and memberships
    found: Hierarchy
    scores: np.ndarray

    def score(self, cut: float) -> float:
        """The score where no two groups are left that overlap by more than ``cut``."""
        return float(self.scores[int(np.count_nonzero(self.found.overlaps > cut))])

    @property
    def suggested(self) -> float:
        """The score of the suggested number of groups."""
        return float(self.scores[self.found.n_pieces - self.found.suggested])


# --- tables ------------------------------------------------------------------------------------------


def read(name: str) -> tuple[Any, np.ndarray]:
    frame = pd.read_csv(DATA / f"{name}.csv", keep_default_na=False, na_values=[""])
    return frame.drop(columns="label").to_numpy(dtype=float), frame["label"].astype(str).to_numpy()


def cloud(kind: str, seed: int, n: int = 500, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """One cloud of one kind."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((n, d))
    rows = {
        "normal": normal,
        "t": rng.standard_t(3, (n, d)),
        "uniform": rng.random((n, d)),
        "banana": np.column_stack([normal[:, 0], normal[:, 1] + normal[:, 0] ** 2]),
    }
    return rows[kind], np.zeros(n, dtype=int)


def spaced(distance: float, seed: int, *, n: int = 600, d: int = 2, heavy: bool = False) -> tuple[Any, np.ndarray]:
    """Three groups, each ``distance`` standard deviations from the others; ``heavy``: t with 3 degrees."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), n // 3)
    centers = np.zeros((3, d))
    centers[1, 0], centers[2, :2] = distance, (distance / 2, distance * np.sqrt(0.75))
    noise = rng.standard_t(3, (n, d)) if heavy else rng.standard_normal((n, d))
    return centers[labels] + noise, labels


def cases(seed: int) -> dict[str, Case]:
    """The tables of one half."""
    made: dict[str, Case] = {
        "moons": lambda: make_moons(600, noise=0.06, random_state=seed),
        "rings": lambda: make_circles(800, noise=0.04, factor=0.45, random_state=seed),
        "blobs": lambda: make_blobs(500, n_features=3, centers=6, center_box=(-12, 12), random_state=seed)[:2],
        "crowded blobs": lambda: make_blobs(600, centers=6, center_box=(-6, 6), random_state=seed)[:2],
        "heavy tails, 12 sd": lambda: spaced(12.0, seed, heavy=True),
    }
    made |= {f"{distance} sd apart": lambda x=distance: spaced(x, seed) for distance in (3, 4, 5, 6)}
    made |= {f"one {kind} cloud": lambda kind=kind: cloud(kind, seed) for kind in ("normal", "t", "uniform", "banana")}
    names = SECOND_TABLES if seed else FIRST_TABLES
    return made | {name: lambda name=name: read(name) for name in names if (DATA / f"{name}.csv").exists()}


# --- merging -----------------------------------------------------------------------------------------


def merged(name: str, case: Case, engine: str) -> list[Merged]:
    """The pieces of one table merged in every way."""
    rows, classes = case()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Mixture(engine=engine, random_state=0, **(LENGTH if engine == "gibbs" else {})).fit(rows)
    known = {engine: model._membership(model._model.table), f"{engine}, probabilities_": model.probabilities_}
    weights = model._model.row_weights
    ways = [
        (way, hierarchy(model.labels_, shares, weights, criterion))
        for way, shares in known.items()
        for criterion in ("entropy", "misclassification")
    ]
    if engine == "gibbs":
        ways.append((engine, model.posterior_.hierarchy(model.labels_)))
    return [Merged(name, way, found, scores(found, classes)) for way, found in ways]


def scores(found: Hierarchy, classes: np.ndarray) -> np.ndarray:
    """Adjusted Rand indices from all pieces down to one group."""
    return np.array([adjusted_rand_score(classes, found.labels(k)) for k in range(found.n_pieces, 0, -1)])


def mean_scores(half: list[Merged]) -> Means:
    """Mean score by way and criterion, then by cut."""
    kinds = sorted({(one.way, one.found.criterion) for one in half})
    return {
        kind: {
            cut: float(np.mean([one.score(cut) for one in half if (one.way, one.found.criterion) == kind]))
            for cut in TRIED[kind[1]]
        }
        for kind in kinds
    }


# --- the study ---------------------------------------------------------------------------------------


def main() -> None:
    engines = sys.argv[1:] or ["vb", "gibbs"]
    halves: list[list[Merged]] = [[], []]
    for seed, half in enumerate(halves):
        for name, case in cases(seed).items():
            for engine in engines:
                started = time.perf_counter()
                half += merged(name, case, engine)
                print(
                    f"{engine} {name}: {half[-1].found.n_pieces} pieces, {time.perf_counter() - started:.1f} s",
                    flush=True,
                )
    means = [mean_scores(half) for half in halves]
    show_cuts(means)
    show_tables(halves)
    show_suggested(halves)
    keep(means, halves)


def show_cuts(means: list[Means]) -> None:
    """Mean score of every cut in both halves, and the cut that is best for all engines together in the first."""
    for kind, first in means[0].items():
        show_cut(", ".join(kind), [first, means[1][kind]])
    for criterion, cuts in TRIED.items():
        ways = [kind for kind in means[0] if kind[1] == criterion and "," not in kind[0]]
        together = [{cut: np.mean([half[kind][cut] for kind in ways]) for cut in cuts} for half in means]
        show_cut(f"{criterion}, densities, all engines", together)


def show_cut(title: str, halves: list[Any]) -> None:
    """Mean scores by cut, one line per half."""
    best = max(halves[0], key=lambda cut: halves[0][cut])
    print(f"\n{title}: best cut of the first half {best:g}")
    print("  cut    " + " ".join(f"{cut:6g}" for cut in halves[0]))
    for which, half in zip(("first ", "second"), halves):
        print(f"  {which} " + " ".join(f"{score:6.3f}" for score in half.values()))


def show_tables(halves: list[list[Merged]]) -> None:
    """Pieces, suggested groups by the default criterion, both scores, and the score of the best number of groups."""
    print(f"\n{'table':<24}{'engine':<8}{'pieces':>7}{'ARI':>7}{'groups':>8}{'ARI':>7}{'best ARI':>10}")
    for number, half in enumerate(halves, 1):
        for one in half:
            if one.found.criterion == "entropy" and "," not in one.way:
                told = f"{number} {one.table:<22}{one.way:<8}{one.found.n_pieces:>7}{one.scores[0]:>7.2f}"
                told += f"{one.found.suggested:>8}{one.suggested:>7.2f}"
                print(f"{told}{one.scores.max():>10.2f}")


def show_suggested(halves: list[list[Merged]]) -> None:
    """Mean score of the suggested number of groups by way and criterion."""
    print("\nsuggested: not merged, first half, second half; merged, first half, second half")
    for kind in sorted({(one.way, one.found.criterion) for one in halves[0]}):
        own = [[one for one in half if (one.way, one.found.criterion) == kind] for half in halves]
        before = " ".join(f"{np.mean([one.scores[0] for one in half]):.3f}" for half in own)
        after = " ".join(f"{np.mean([one.suggested for one in half]):.3f}" for half in own)
        print(f"  {', '.join(kind):<44}{before}   {after}")


def keep(means: list[Means], halves: list[list[Merged]]) -> None:
    """Write the figures with the commit that made them."""
    record = {
        "commit": commit(),
        "cuts": {
            f"{way}, {criterion}": [
                {f"{cut:g}": round(score, 4) for cut, score in half[way, criterion].items()} for half in means
            ]
            for way, criterion in means[0]
        },
        "tables": [
            {
                "half": number,
                "table": one.table,
                "memberships": one.way,
                "criterion": one.found.criterion,
                "overlaps": [float(f"{overlap:.4g}") for overlap in one.found.merges[:, 2]],
                "scores": [round(float(score), 4) for score in one.scores],
            }
            for number, half in enumerate(halves, 1)
            for one in half
        ],
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
