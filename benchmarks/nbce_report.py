"""The figures of `benchmarks.nbce` as text, the paper's beside ours: methods by tables of data."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_1samp

from benchmarks.nbce_tables import GRAPH_METHODS, NOISE, REAL, UCI, VARIANTS

Figures = dict[str, dict[str, dict[str, list[float]]]]  # by case, method and what is measured: one per seed
Column = Mapping[str, Sequence[float]]  # of the paper: by method, one per case

NAMES, WIDTH = 25, 18  # characters of a column

RIVALS = ("base average", *GRAPH_METHODS)  # the best base clustering is none: it is chosen by the classes

TABLE_2 = {
    "base max": (0.57, 0.61, 0.52, 0.53, 0.48, 0.49, 0.62),
    "base average": (0.51, 0.56, 0.42, 0.41, 0.40, 0.44, 0.56),
    "CSPA": (0.66, 0.67, 0.53, 0.59, 0.49, 0.51, 0.73),
    "HGPA": (0.59, 0.65, 0.44, 0.50, 0.50, 0.62, 0.70),
    "MCLA": (0.61, 0.68, 0.59, 0.65, 0.53, 0.61, 0.67),
    "NBCE all, Gibbs": (0.69, 0.72, 0.65, 0.66, 0.62, 0.66, 0.77),
}
_MM_3, _BCE_3 = (10.04, 13.27, 17.36, 21.20), (7.92, 9.76, 14.22, 18.98)
TABLE_3 = {
    "MM, 2": _MM_3,
    "MM, 22": _MM_3,
    "BCE, 2": _BCE_3,
    "BCE, 22": _BCE_3,
    "NBCE all, Gibbs": (5.63, 8.31, 11.16, 15.87),
}
TABLE_4 = {
    "MM": (1.02, 1.33, 1.40, 1.63, 2.21, 2.97, 4.34),
    "BCE": (0.99, 1.10, 1.23, 1.34, 1.98, 2.53, 4.01),
    "NBCE all, Gibbs": (0.77, 0.92, 1.03, 1.24, 1.76, 2.38, 3.63),
}
TABLE_5 = {
    "MM": (1.15, 1.51, 1.49, 1.72, 2.51, 3.22, 5.56),
    "BCE": (1.07, 1.39, 1.37, 1.60, 2.33, 2.94, 4.88),
    "NBCE all, Gibbs": (0.98, 1.18, 1.16, 1.47, 1.96, 2.62, 4.58),
}
TABLE_6 = {"TSB": (3.2, 4.3, 3.2, 2.9, 3.3), "FSD": (5.4, 5.1, 3.5, 3.1, 3.6)}
TABLE_7 = {
    "Gibbs": (0.77, 0.92, 1.03, 1.24, 1.76),
    "CVB": (0.85, 0.96, 1.06, 1.28, 1.80),
    "VB": (0.91, 1.02, 1.11, 1.30, 1.88),
}


class Block(NamedTuple):
    """A table of text: one thing that was measured."""

    title: str
    name: str
    digits: int
    cases: tuple[str, ...]
    paper: Column = MappingProxyType({})


_CLUSTERINGS = (
    Block("F1 as printed, recall averaged over the clusters found", "f1 as printed", 2, REAL),
    Block("F1, recall averaged over the classes", "f1", 2, REAL),
    Block("adjusted Rand index", "ari", 2, REAL),
    Block("normalised mutual information", "nmi", 2, REAL),
    Block("clusters", "k", 1, REAL),
    Block("votes", "votes", 1, REAL),
)
BLOCKS = {
    "2": (_CLUSTERINGS[0]._replace(paper=TABLE_2), *_CLUSTERINGS[1:]),
    "2-raw": _CLUSTERINGS,
    "3": (Block("Perplexity of noisy copies of two clusters with 20 outliers", "train", 2, tuple(NOISE), TABLE_3),),
    "4-5": (
        Block("Table 4: perplexity of fitted objects", "train", 3, REAL, TABLE_4),
        Block("Table 5: perplexity of held-out objects", "held out", 3, REAL, TABLE_5),
    ),
    "6": (
        Block("Objects alone in their cluster, percent", "alone", 2, UCI, TABLE_6),
        Block("clusters of a draw", "k", 1, UCI),
    ),
    "7": (Block("Perplexity of fitted objects under FSD", "train", 3, UCI, TABLE_7),),
}
TESTED = ("f1 as printed", "f1", "ari", "nmi")


def report(part: str, stored: Mapping[str, Any]) -> Iterator[str]:
    """All that was measured for a part, in lines."""
    figures, n_seeds = stored["results"], len(stored["seeds"])
    yield f"\n=== Table {part}: paper | ours, means of {n_seeds} seeds ± standard deviation; commit {stored['commit']}"
    for block in BLOCKS[part]:
        yield from lines(block, figures)
        if block.name in TESTED:
            yield from tests(block.name, figures)


def lines(block: Block, figures: Figures) -> Iterator[str]:
    """A method per line, a case per column, and the mean of our means."""
    methods = [name for name, own in next(iter(figures.values())).items() if block.name in own]
    yield f"\n{block.title}"
    yield f"  {'':<{NAMES}}" + "".join(f"{case.split('_')[0]:>{WIDTH}}" for case in figures) + f"{'mean':>8}"
    for method in methods:
        of_paper = dict(zip(block.cases, block.paper.get(method, ())))
        values = {case: np.array(by_method[method][block.name]) for case, by_method in figures.items()}
        cells = [cell(of_paper.get(case), own, block.digits) for case, own in values.items()]
        mean = np.mean([own.mean() for own in values.values()])
        yield f"  {method:<{NAMES}}" + "".join(f"{one:>{WIDTH}}" for one in cells) + f"{mean:>8.{block.digits}f}"


def cell(of_paper: float | None, values: np.ndarray, digits: int) -> str:
    """The paper's figure, our mean and our spread."""
    theirs = "" if of_paper is None else f"{of_paper:g}|"
    spread = values.std(ddof=1) if values.size > 1 else 0.0
    return f"{theirs}{values.mean():.{digits}f}±{spread:.{digits}f}"


# --- paired t-tests --------------------------------------------------------------------------------


def tests(name: str, figures: Figures) -> Iterator[str]:
    """`NBCE` against the rival that is best on average, case by case over seeds; then over cases, of means."""
    others = {case: next_best(name, by_method) for case, by_method in figures.items()}
    yield "  less the next best of the others, paired over seeds: mean difference and two-sided p"
    for method in (one for one in VARIANTS if all(one in by_method for by_method in figures.values())):
        pairs = [
            np.subtract(by_method[method][name], by_method[others[case]][name]) for case, by_method in figures.items()
        ]
        cells = [f"{other.split()[0]} {said(pair)}" for other, pair in zip(others.values(), pairs)]
        yield f"  {method:<{NAMES}}" + "".join(f"{one:>{WIDTH}}" for one in cells)
        yield f"  {'':<{NAMES}}  over tables, of means: {said(np.array([pair.mean() for pair in pairs]))}"


def next_best(name: str, by_method: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """The best of the rivals on average over seeds."""
    return max(RIVALS, key=lambda rival: float(np.mean(by_method[rival][name])))


def said(differences: np.ndarray) -> str:
    """The mean difference, and how likely one as large is where there is none."""
    return f"{differences.mean():+.2f} {p_value(differences):.3f}".replace("0.", ".")


def p_value(differences: np.ndarray) -> float:
    """Two-sided p of a paired t-test; nan where differences do not vary."""
    return float(ttest_1samp(differences, 0.0).pvalue) if np.ptp(differences) > 0.0 else float("nan")
