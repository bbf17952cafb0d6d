"""What every table of Wang, Domeniconi and Laskey (2010) compares, measured on one ensemble with one seed.

Where the paper is silent: cells are standardised column by column, held-out objects are drawn anew for every seed, and
base clusterings know all objects. A label of a held-out object that no other object has is a label all the same
(``n_labels``). Concentration and pseudocount are the defaults of `NBCE`, but where a function says otherwise.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.ensembles import points_of
from benchmarks.labelled_tables import ClassedTable, read
from partita.consensus import NBCE, add_label_noise, base_clusterings, two_clusters_with_outliers
from partita.consensus.named_methods import method_named
from partita.metrics import adjusted_rand, f1_measure, nmi
from partita.priors import FiniteDirichlet, Prior, StickBreaking

UCI = ("glass", "ecoli", "image_segmentation", "isolet_ABCDEG", "letter_AJ_700")
REAL = (*UCI, "trace", "control_chart")
NOISE = {"5 %": 0.05, "10 %": 0.1, "15 %": 0.15, "20 %": 0.2}

N_MEMBERS = 10
HELD_OUT = 0.25
TRUNCATION = 100
GIBBS = {"chains": 2, "warmup": 300, "draws": 200}

GRAPH_METHODS = ("CSPA", "HGPA", "MCLA")
MADE_OF_TWO = 2  # the clusters of the synthetic table that are no outliers
VARIANTS = {
    "NBCE all, Gibbs": {"votes": "all", "engine": "gibbs"},
    "NBCE all": {"votes": "all", "engine": "vb"},
    "NBCE all, beta learned": {"votes": "all", "engine": "vb", "learn": ("concentration", "pseudocount")},
    "NBCE auto": {"votes": "auto", "engine": "vb"},
    "NBCE auto, Gibbs": {"votes": "auto", "engine": "gibbs"},
}
QUICK = ("NBCE all", "NBCE all, beta learned", "NBCE auto")  # without Gibbs sampling
FOR_PERPLEXITY = ("NBCE all, Gibbs", *QUICK)
PRIORS: dict[str, Callable[[], Prior]] = {
    "TSB": lambda: StickBreaking(n_components=TRUNCATION, concentration=1.0),
    "FSD": lambda: FiniteDirichlet(n_components=TRUNCATION, concentration=1.0),
    "FSD as printed": lambda: FiniteDirichlet(n_components=TRUNCATION, concentration=1.0, as_printed=True),
}
PSEUDOCOUNTS = {"": 1.0, ", beta .1": 0.1}

Scores = dict[str, dict[str, float]]  # by method and by what is measured


class Split(NamedTuple):
    """An ensemble and the classes of its objects, some of which are held out of fits."""

    labels: np.ndarray  # (n, M)
    classes: np.ndarray
    held_out: np.ndarray  # (n,) bool

    @property
    def train(self) -> np.ndarray:
        """Labels of the objects that are fitted."""
        return self.labels[~self.held_out]

    @property
    def n_classes(self) -> int:
        """How many classes there are, the held-out objects' included."""
        return np.unique(self.classes).size

    @property
    def n_labels(self) -> list[int]:
        """How many clusters every base clustering has, the held-out objects' included."""
        return (self.labels.max(axis=0) + 1).tolist()


def kmeans_of_standardised(name: str, seed: int, folder: Path) -> Split:
    """K-means of standardised cells: ten clusterings into 50 to 200 % of the classes."""
    table = labelled(name, folder)
    return _split(table, points_of(table), seed)


def kmeans_of_raw(name: str, seed: int, folder: Path) -> Split:
    """K-means of cells as they are in the file."""
    table = labelled(name, folder)
    return _split(table, table.rows.to_numpy(float), seed)


def noisy_copies(name: str, seed: int, folder: Path) -> Split:
    """Ten copies of the labels of two clusters and 20 outliers, a share of them wrong; nothing is held out."""
    _, classes = two_clusters_with_outliers(random_state=seed)
    rng = np.random.default_rng([seed, 2])
    copies = [add_label_noise(classes, NOISE[name], rng) for _ in range(N_MEMBERS)]
    return Split(np.stack(copies, axis=1), classes, np.zeros(classes.size, bool))


def labelled(name: str, folder: Path) -> ClassedTable:
    paths = [path for ending in (".csv", ".csv.gz") if (path := folder / f"{name}{ending}").exists()]
    if not paths:
        raise SystemExit(f"There is no table {name}.csv in {folder}: say with --data where it is.")
    return read(paths[0], name, "")


def _split(table: ClassedTable, points: np.ndarray, seed: int) -> Split:
    base = base_clusterings(points, n=N_MEMBERS, n_classes=table.n_classes, random_state=seed)
    held_out = np.random.default_rng([seed, 1]).permutation(len(points)) < round(HELD_OUT * len(points))
    return Split(base.flat.T, table.classes, held_out)


# --- what is measured ------------------------------------------------------------------------------


def clusterings(split: Split, seed: int) -> Scores:
    """Table 2: how far clusterings agree with the classes of the objects that are fitted.

    Graph methods are told the number of classes. The best base clustering is chosen by the classes, score by score.
    """
    return _base_scores(split) | _graph_scores(split, seed) | _nbce_scores(split, seed, tuple(VARIANTS))


def quick_clusterings(split: Split, seed: int) -> Scores:
    """Table 2 without Gibbs sampling."""
    return _base_scores(split) | _graph_scores(split, seed) | _nbce_scores(split, seed, QUICK)


def perplexities(split: Split, seed: int) -> Scores:
    """Tables 4 and 5: the perplexity of objects that are fitted and of those that are held out."""
    told = {"MM": ("MM", split.n_classes), "BCE": ("BCE", split.n_classes)}
    return _perplexities(told, split, seed)


def noisy_perplexities(split: Split, seed: int) -> Scores:
    """Table 3: perplexity where every outlier has a label of its own; MM and BCE are told 2 clusters, or all."""
    told = {f"{name}, {n}": (name, n) for name in ("MM", "BCE") for n in (MADE_OF_TWO, split.n_classes)}
    return _perplexities(told, split, seed)


def singletons(split: Split, seed: int) -> Scores:
    """Table 6: the mean share of objects that draws leave alone in their cluster, in percent.

    The concentration is 1, and not learned: learned, it would undo the misprint.
    """
    found = {}
    for name, prior in PRIORS.items():
        for suffix, pseudocount in PSEUDOCOUNTS.items():
            options = {"prior": prior(), "learn": (), "pseudocount": pseudocount}
            model = nbce(split, seed, votes="all", engine="gibbs", **options).fit(split.train)
            draws = model.posterior_
            found[name + suffix] = {
                "alone": 100.0 * float(draws.sparse_share(1.0 / len(split.train)).mean()),
                "k": float(draws.partitions.n_clusters().mean()),
            }
    return found


def engines(split: Split, seed: int) -> Scores:
    """Table 7: the perplexity of fitted objects by every engine, of one model: FSD, concentration and pseudocount 1.

    The bound of VB in place of log p(Y) is what equation 12 of the paper comes to.
    """
    found = {}
    for name in ("Gibbs", "CVB", "VB"):
        options = {"prior": PRIORS["FSD"](), "learn": ()}
        model = nbce(split, seed, votes="all", engine=name.lower(), **options).fit(split.train)
        found[name] = {"train": model.perplexity(split.train)}
        if name == "VB":
            found["VB, bound"] = {"train": float(np.exp(-model.elbo_path_[-1] / split.train.size))}
    return found


def nbce(split: Split, seed: int, *, engine: str, **options: Any) -> NBCE:
    own = GIBBS if engine == "gibbs" else {}
    return NBCE(engine=engine, n_labels=split.n_labels, n_jobs=1, random_state=seed, **own, **options)


def _perplexities(told: dict[str, tuple[str, int]], split: Split, seed: int) -> Scores:
    """Of methods that are told how many components there are, and of `NBCE`."""
    models = {name: method_named(which.lower(), n, seed) for name, (which, n) in told.items()}
    found = {name: _perplexity(model.set_params(n_labels=split.n_labels), split) for name, model in models.items()}
    return found | {name: _perplexity(nbce(split, seed, **VARIANTS[name]), split) for name in FOR_PERPLEXITY}


def _perplexity(model: Any, split: Split) -> dict[str, float]:
    model.fit(split.train)
    found = {"train": model.perplexity(split.train)}
    return found | ({"held out": model.perplexity(split.labels[split.held_out])} if split.held_out.any() else {})


def _base_scores(split: Split) -> Scores:
    every = [scores(split, column) for column in split.train.T]
    by_score = {score: [one[score] for one in every] for score in every[0]}
    best = {score: max(values) for score, values in by_score.items() if score != "k"}
    return {"base max": best, "base average": {score: float(np.mean(values)) for score, values in by_score.items()}}


def _graph_scores(split: Split, seed: int) -> Scores:
    fits = {name: method_named(name.lower(), split.n_classes, seed).fit(split.train) for name in GRAPH_METHODS}
    return {name: scores(split, fit.labels_) for name, fit in fits.items()}


def _nbce_scores(split: Split, seed: int, names: tuple[str, ...]) -> Scores:
    found = {}
    for name in names:
        model = nbce(split, seed, **VARIANTS[name]).fit(split.train)
        found[name] = scores(split, model.labels_) | {"votes": model.votes_}
    return found


def scores(split: Split, labels: np.ndarray) -> dict[str, float]:
    """How far the labels of fitted objects agree with their classes, and how many there are."""
    classes = split.classes[~split.held_out]
    return {
        "f1 as printed": f1_measure(classes, labels, recall="found"),
        "f1": f1_measure(classes, labels, recall="truth"),
        "ari": adjusted_rand(classes, labels),
        "nmi": nmi(classes, labels),
        "k": float(np.unique(labels).size),
    }


# --- the tables ------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A table of the paper, or two that are measured together."""

    cases: tuple[str, ...]
    split: Callable[[str, int, Path], Split]
    measure: Callable[[Split, int], Scores]


PARTS = {
    "2": Part(REAL, kmeans_of_standardised, clusterings),
    "2-raw": Part(REAL, kmeans_of_raw, quick_clusterings),
    "3": Part(tuple(NOISE), noisy_copies, noisy_perplexities),
    "4-5": Part(REAL, kmeans_of_standardised, perplexities),
    "6": Part(UCI, kmeans_of_standardised, singletons),
    "7": Part(UCI, kmeans_of_standardised, engines),
}


class Task(NamedTuple):
    """One measurement."""

    part: str
    case: str
    seed: int
    folder: Path


def measured(task: Task) -> Scores:
    """What every method reaches, without the warnings, of which there are many: chains that do not agree, say."""
    part = PARTS[task.part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return part.measure(part.split(task.case, task.seed, task.folder), task.seed)
