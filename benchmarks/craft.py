"""Tables of Garg, Rudin and Jaakkola (2016) beside ours: ``python -m benchmarks.craft [bank spam splice wine monk]``.

    --seeds N         so many runs of every method, 10 by default, with the seeds 0, 1, ...
    --jobs N          processes, 2 by default, each with one BLAS thread; results do not depend on it
    --methods A,B     only these, by their names in the tables
    --data FOLDER     the tables, ``../shared/data`` or what the variable PARTITA_BENCHMARK_DATA names by default
    --print-only      measure nothing

Tables 1 and 2 (m = .5 and .8), and Figure 5 (Splice also with .2, .4 and .6). All methods are told the number of
classes; what a method does not select columns by does not depend on m. Purity and normalised mutual information are
those of `partita.metrics`, means over the seeds with standard deviations, and of CRAFT also those of the run of the
least objective without penalties, among those with as many clusters as classes. The paper's figures stand first.

Results are written to ``benchmarks/results/craft.json`` table by table, with seeds, commit and versions.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from benchmarks.entropy import DATA, ROOT, commit  # noqa: E402
from benchmarks.nbce import processes, versions  # noqa: E402
from partita import Mixture  # noqa: E402
from partita.families import Selective  # noqa: E402
from partita.means import CRAFT, DPMeans  # noqa: E402
from partita.metrics import nmi, purity  # noqa: E402
from partita.running.clock import running_seconds  # noqa: E402
from partita.selection import MCFS, NDFS  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "craft.json"
FILES = {"bank": "banknote", "spam": "spambase", "splice": "splice", "wine": "wine", "monk": "monk3"}
CODED = ("splice", "monk")  # tables of categories
SHARES = (0.5, 0.8)
SHARES_OF_SPLICE = (0.2, 0.4, 0.5, 0.6, 0.8)
BAYESIAN_SECONDS = 10.0  # that a fit may sample
FREE = ("DP-means", "DP-means(R)")  # of a share of columns
PAPER = {
    0.5: {
        "bank": {"CRAFT": (0.67, 0.16), "MCFS": (0.65, 0.06), "NDFS": (0.59, 0.02)},
        "spam": {"CRAFT": (0.72, 0.20), "MCFS": (0.64, 0.05), "NDFS": (0.64, 0.05)},
        "splice": {"CRAFT": (0.75, 0.20), "MCFS": (0.62, 0.04), "NDFS": (0.63, 0.05)},
        "wine": {"CRAFT": (0.71, 0.47), "MCFS": (0.72, 0.35), "NDFS": (0.69, 0.47)},
        "monk": {"CRAFT": (0.56, 0.03), "MCFS": (0.55, 0.02), "NDFS": (0.53, 0.00)},
    },
    0.8: {
        "bank": {"CRAFT": (0.64, 0.08), "MCFS": (0.61, 0.03), "NDFS": (0.61, 0.03)},
        "spam": {"CRAFT": (0.72, 0.23), "MCFS": (0.64, 0.05), "NDFS": (0.64, 0.05)},
        "splice": {"CRAFT": (0.74, 0.18), "MCFS": (0.68, 0.09), "NDFS": (0.63, 0.05)},
        "wine": {"CRAFT": (0.82, 0.54), "MCFS": (0.73, 0.42), "NDFS": (0.69, 0.42)},
        "monk": {"CRAFT": (0.57, 0.03), "MCFS": (0.54, 0.00), "NDFS": (0.54, 0.00)},
    },
}
"""Purity and normalised mutual information as printed, by share, table and method."""
PAPER_FREE = {
    "bank": {"DP-means": (0.61, 0.03), "DP-means(R)": (0.61, 0.03)},
    "spam": {"DP-means": (0.61, 0.00), "DP-means(R)": (0.61, 0.00)},
    "splice": {"DP-means": (0.52, 0.01), "DP-means(R)": (0.61, 0.05)},
    "wine": {"DP-means": (0.66, 0.44), "DP-means(R)": (0.66, 0.44)},
    "monk": {"DP-means": (0.53, 0.00), "DP-means(R)": (0.54, 0.00)},
}

Record = dict[str, Any]


class PaperTable(NamedTuple):
    """A table of the paper: rows as they are, as numbers, as standardised numbers, and their classes."""

    rows: pd.DataFrame
    points: np.ndarray
    standardised: np.ndarray
    classes: np.ndarray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return np.unique(self.classes).size


class Run(NamedTuple):
    """What a method found."""

    labels: np.ndarray
    n_iter: int = 0
    objective: float = float("nan")  # penalties left out


Method = Callable[[PaperTable, float, int], Run]


class Task(NamedTuple):
    """A method, a table, a share and a seed."""

    method: str
    table: str
    share: float
    seed: int
    folder: Path


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    if not options.print_only:
        stored = json.loads(options.out.read_text())["records"] if options.out.exists() else []
        for table in options.tables:
            tasks = [
                Task(method, table, share, seed, options.data)
                for method in options.methods
                for share in shares_of(method, table)
                for seed in range(options.seeds)
            ]
            with processes(options.jobs) as mapped:
                found = list(mapped(measured, tasks))  # type: ignore[arg-type]
            stored = [one for one in stored if one["table"] != table or one["method"] not in options.methods] + found
            store(options.out, stored, options.seeds)
    print("\n".join(report(pd.DataFrame(json.loads(options.out.read_text())["records"]))))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.craft", description=__doc__.split("\n", 1)[0])
    asked.add_argument("tables", nargs="*", metavar="|".join(FILES))
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--out", type=Path, default=RESULTS)
    asked.add_argument("--print-only", action="store_true")
    options = asked.parse_args(words)
    options.tables = options.tables or list(FILES)
    if unknown := (set(options.tables) - set(FILES)) | (set(options.methods) - set(METHODS)):
        asked.error(f"unknown: {', '.join(sorted(unknown))}; methods are {', '.join(METHODS)}")
    return options


def store(path: Path, records: list[Record], seeds: int) -> None:
    """Write all records, one per line."""
    lines = ",\n".join(f"  {json.dumps(record)}" for record in records)
    head = {"commit": commit(), "versions": versions(), "seeds": list(range(seeds))}
    path.write_text(json.dumps(head)[:-1] + f',\n "records": [\n{lines}\n]}}\n')


# --- what is measured ------------------------------------------------------------------------------


def shares_of(method: str, table: str) -> tuple[float, ...]:
    """The shares of columns to run it with; of what selects none, one that is not read."""
    if method in FREE:
        return SHARES[:1]
    return SHARES_OF_SPLICE if table == "splice" else SHARES


def measured(task: Task) -> Record:
    """One run, scored."""
    table = read(task.folder, task.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = running_seconds()
        run = METHODS[task.method](table, task.share, task.seed)
        seconds = running_seconds() - started
    return {
        "method": task.method,
        "table": task.table,
        "share": task.share,
        "seed": task.seed,
        "purity": round(float(purity(table.classes, run.labels)), 4),
        "nmi": round(float(nmi(table.classes, run.labels)), 4),
        "k": int(np.unique(run.labels).size),
        "classes": table.n_classes,
        "seconds": round(seconds, 3),
        "objective": None if np.isnan(run.objective) else round(run.objective, 3),
    }


def read(folder: Path, name: str) -> PaperTable:
    """A table of the paper, in every form that methods take."""
    [path] = folder.glob(f"{FILES[name]}.csv*")
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    rows, classes = frame.drop(columns="label"), frame["label"].astype(str).to_numpy()
    if name in CODED:
        rows = rows.astype(str)
        points = pd.get_dummies(rows).to_numpy(float)
        return PaperTable(rows, points, points, classes)
    points = rows.to_numpy(float)
    return PaperTable(rows, points, StandardScaler().fit_transform(points), classes)


def craft(**options: Any) -> Method:
    def run(table: PaperTable, share: float, seed: int) -> Run:
        told = {"n_features_to_select": share, "n_clusters_hint": table.n_classes, "random_state": seed}
        model = CRAFT(**told | options).fit(table.rows)
        return Run(model.labels_, model.n_iter_, model.objective_ - model.penalty_ * model.n_clusters_)

    return run


def dp_means(init: str) -> Method:
    def run(table: PaperTable, share: float, seed: int) -> Run:
        model = DPMeans(n_clusters_hint=table.n_classes, init=init, random_state=seed).fit(table.points)
        return Run(model.labels_, model.n_iter_)

    return run


def selected(selector: Callable[..., Any], **options: Any) -> Method:
    def run(table: PaperTable, share: float, seed: int) -> Run:
        chosen = selector(n_features_to_select=share, n_clusters=table.n_classes, **options).fit(table.standardised)
        columns = table.standardised[:, chosen.get_support()]
        return Run(KMeans(table.n_classes, n_init=1, random_state=seed).fit_predict(columns))

    return run


def bayesian(table: PaperTable, share: float, seed: int) -> Run:
    """The choice of columns summed out, merged into as many groups as there are classes."""
    model = Mixture(
        family=Selective(share=share), n_clusters=table.n_classes, chains=2, max_time=BAYESIAN_SECONDS, n_jobs=1,
        random_state=seed,
    ).fit(table.rows)  # fmt: skip
    return Run(model.labels_)


METHODS: dict[str, Method] = {
    "CRAFT": craft(),
    "CRAFT, variance fixed": craft(variance="fixed"),
    "as printed, raw": craft(as_printed=True, standardize=False),
    "as printed": craft(as_printed=True),
    "DP-RF": craft(distance="euclidean", as_printed=True, standardize=False),
    "DP-means": dp_means("mean"),
    "DP-means(R)": dp_means("random"),
    "MCFS": selected(MCFS),
    "NDFS": selected(NDFS, random_state=0),
    "Bayesian CRAFT": bayesian,
    "NDFS, gamma 1": selected(NDFS, gamma=1.0, random_state=0),
}


# --- what is printed -------------------------------------------------------------------------------


def report(records: pd.DataFrame) -> Iterator[str]:
    """Table 1, Table 2 and Figure 5."""
    for title, share in (("Table 1", SHARES[0]), ("Table 2", SHARES[1])):
        yield f"\n{title}: m = {share}, purity / NMI: the paper's, ours (standard deviation), clusters, seconds"
        for table in FILES:
            yield from rows_of(records[records["table"] == table], table, share)
    yield "\nFigure 5: Splice, purity / NMI by m"
    splice = records[records["table"] == "splice"]
    for method, own in splice[~splice["method"].isin(FREE)].groupby("method", sort=False):
        means = own.groupby("share")[["purity", "nmi"]].mean()
        yield f"  {method:<24}" + "".join(f"  m={m}: {row.purity:.2f} / {row.nmi:.2f}" for m, row in means.iterrows())


def rows_of(records: pd.DataFrame, table: str, share: float) -> Iterator[str]:
    for method, own in records.groupby("method", sort=False):
        name = str(method)
        if name not in FREE:
            own = own[own["share"] == share]
        if own.empty:
            continue
        paper = (PAPER_FREE if name in FREE else PAPER[share])[table].get(name)
        printed = "    -    " if paper is None else f"{paper[0]:.2f} /{paper[1]:.2f}"
        mean, spread = own[["purity", "nmi", "k", "seconds"]].mean(), own[["purity", "nmi"]].std()
        yield (
            f"  {table:<8}{name:<24}{printed:>12}   {mean.purity:.2f} /{mean.nmi:.2f}  ({spread.purity:.2f} /"
            f"{spread.nmi:.2f})  K = {mean.k:<5.1f}{mean.seconds:>8.2f} s{best_of(own)}"
        )


def best_of(runs: pd.DataFrame) -> str:
    """The run of the least objective, of those with as many clusters as classes."""
    right = runs[(runs["k"] == runs["classes"]) & runs["objective"].notna()]
    if right.empty:
        return ""
    best = right.loc[right["objective"].idxmin()]
    return f"   least objective: {best['purity']:.2f} /{best['nmi']:.2f}"


if __name__ == "__main__":
    main()
