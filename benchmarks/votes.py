"""How many votes an ensemble has: ``python -m benchmarks.votes [--seeds N] [--jobs N] [--print-only]``.

    --objects N       of a table with more, a random sample of so many; 500 by default
    --data FOLDER     the tables, ``../shared/data`` or what the variable PARTITA_BENCHMARK_DATA names by default

The rule is min(M, t / (s o)), s what two members share on average, o the share of labels that are there
(`partita.consensus.votes`). The study tries some t on ensembles of M = 3 to 100 members: four kinds of every labelled
table, and made ones. Of the t whose mean adjusted Rand index over M = 10, 30 and 100 cannot be told from the best,
the one is chosen whose numbers of clusters are nearest to the true ones (`chosen`), on half of the tables and the
made ensembles, each half of the choice; it is confirmed on the other half. Beside it: the votes of t = 2.5 as a power
of the density of an object's labels, up to M = 30; the paper's model, in which all members vote; CSPA, told the true
number of clusters, and told the number that t = 2.5 finds; k-means of the objects themselves, told the true number.

A cluster holds a few objects of every label beforehand, the pseudocount: 1 of each, or min(1, c / J) of J labels
(`partita.consensus.nbce_options`). For M = 10 and 30 the study tries some c beside every t.

Results are written to ``benchmarks/results/votes.json``, with seeds and commit.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Iterable, Iterator, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402

from benchmarks.ensembles import MADE_CLASSES, StudyEnsemble, made_ensembles, table_ensembles  # noqa: E402
from benchmarks.entropy import DATA, ROOT, commit  # noqa: E402
from benchmarks.labelled_tables import CONFIRMED, FIXED, HALVES  # noqa: E402
from benchmarks.nbce import processes  # noqa: E402
from partita.bayesian_mixture import FitOptions  # noqa: E402
from partita.consensus import CSPA, NBCE, nbce_options  # noqa: E402
from partita.consensus.votes import share_labelled, shared_information  # noqa: E402
from partita.metrics import adjusted_rand  # noqa: E402
from partita.table import Table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "votes.json"
TOLD = (2.0, 2.5, 3.0, 4.0)
BEFOREHAND = (2.0, 4.0, 8.0, np.inf)
MEMBERS_BEFOREHAND = (10, 30)  # with which these are tried
MEMBERS = (3, 10, 30, 100)
CHOSEN_ON = (10, 30, 100)  # members; with 3 nearly all rules are one
MOST_FOR_POWERS = 30  # members
ALL = "all"
BESIDE = 2.5  # with so many, powers, and CSPA told as many clusters, are looked at
RULES_BEFOREHAND = (BESIDE, 4.0, ALL)

Record = dict[str, Any]


class PoweredNBCE(NBCE):
    """Votes as a power of the density of an object's labels, in which every member keeps shares of its own."""

    def _with_votes(self, options: FitOptions, table: Table, weight: float) -> FitOptions:
        return super()._with_votes(options, table, 1.0)._replace(power=weight)


class Task(NamedTuple):
    """A table, or a number of classes to make tables of, and a seed."""

    name: str | int
    seed: int
    objects: int
    folder: Path


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    if not options.print_only:
        names: tuple[str | int, ...] = tuple(name for half in HALVES.values() for name in half) + MADE_CLASSES
        tasks = [Task(name, seed, options.objects, options.data) for seed in range(options.seeds) for name in names]
        records: list[Record] = []
        with processes(options.jobs) as mapped:
            for found in mapped(measured, tasks):  # type: ignore[arg-type]
                records += found
                store(options.out, records, options)
    stored = json.loads(options.out.read_text())
    print(f"commit {stored['commit']}, seeds {stored['seeds']}, at most {stored['objects']} objects, engine 'vb'")
    print("\n".join(report(pd.DataFrame(stored["records"]))))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.votes", description=__doc__.split("\n", 1)[0])
    asked.add_argument("--seeds", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--objects", type=int, default=500)
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--out", type=Path, default=RESULTS)
    asked.add_argument("--print-only", action="store_true")
    return asked.parse_args(words)


def store(path: Path, records: list[Record], options: argparse.Namespace) -> None:
    """Write all records, one per line."""
    lines = ",\n".join(f"  {json.dumps(record)}" for record in records)
    head = {"commit": commit(), "seeds": list(range(options.seeds)), "objects": options.objects}
    path.write_text(json.dumps(head)[:-1] + f',\n "records": [\n{lines}\n]}}\n')


# --- what is measured ------------------------------------------------------------------------------


def measured(task: Task) -> list[Record]:
    """One record for every ensemble and number of members."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [record for ensemble in ensembles(task) for record in records_of(ensemble, task.seed)]


def ensembles(task: Task) -> Iterator[StudyEnsemble]:
    if isinstance(task.name, str):
        return table_ensembles(task.folder, (task.name,), max(MEMBERS), task.seed, task.objects)
    return made_ensembles(task.name, max(MEMBERS), task.seed)


def records_of(ensemble: StudyEnsemble, seed: int) -> Iterator[Record]:
    told = kmeans_told(ensemble, seed)
    for n_members in MEMBERS:
        part = ensemble.first(n_members)
        shared = shared_information(part.labels) * share_labelled(part.labels)
        record = {"table": part.name, "part": part.part, "kind": part.kind, "seed": seed, "members": n_members}
        record |= {"classes": part.n_classes, "shared": round(shared, 4), "k-means": told}
        record["CSPA"] = cspa(part, part.n_classes, seed)
        for rule in (*TOLD, ALL):
            options: dict[str, Any] = {"votes": votes_by(rule, shared, n_members), "engine": "vb", "random_state": seed}
            options["pseudocount"] = at_most(beforehand_by(rule), part)
            fit = NBCE(**options).fit(part.labels)
            record[f"{rule}"] = scored(part, fit.labels_)
            record[f"{rule} K"] = fit.n_clusters_
            if rule == BESIDE:
                record["CSPA, K ours"] = cspa(part, fit.n_clusters_, seed)
                if n_members <= MOST_FOR_POWERS:
                    record["power"] = scored(part, PoweredNBCE(**options).fit(part.labels).labels_)
            if n_members in MEMBERS_BEFOREHAND and rule in RULES_BEFOREHAND:
                for objects in set(BEFOREHAND) - {beforehand_by(rule)}:
                    other = NBCE(**options | {"pseudocount": at_most(objects, part)}).fit(part.labels)
                    record[f"{rule} of {objects:g}"] = scored(part, other.labels_)
        yield record


def votes_by(rule: float | str, shared: float, n_members: int) -> float | str:
    """The votes that a rule gives to members that share so much."""
    return ALL if isinstance(rule, str) or shared * n_members <= rule else rule / shared


def beforehand_by(rule: float | str) -> float:
    """What a cluster holds beforehand by `NBCE`'s default."""
    return np.inf if rule == ALL else nbce_options.BEFOREHAND


def at_most(objects: float, ensemble: StudyEnsemble) -> np.ndarray:
    """Pseudocounts of so many objects in all, and of one of each label."""
    return np.minimum(1.0, objects / np.maximum(ensemble.labels.max(axis=0) + 1, 1))


def cspa(ensemble: StudyEnsemble, n_clusters: int, seed: int) -> float:
    if n_clusters == 1:
        return scored(ensemble, np.zeros(len(ensemble.classes), np.int64))
    return scored(ensemble, CSPA(n_clusters=n_clusters, random_state=seed).fit(ensemble.labels).labels_)


def kmeans_told(ensemble: StudyEnsemble, seed: int) -> float | None:
    """k-means of the objects themselves, which members know and a consensus does not."""
    if ensemble.points is None:
        return None
    found = KMeans(ensemble.n_classes, n_init=10, random_state=seed).fit_predict(ensemble.points)
    return scored(ensemble, found)


def scored(ensemble: StudyEnsemble, labels: np.ndarray) -> float:
    return round(float(adjusted_rand(ensemble.classes, labels)), 4)


# --- what is printed -------------------------------------------------------------------------------


def report(records: pd.DataFrame) -> Iterator[str]:
    """The choice, and everything by part, by kind and by table."""
    rule = chosen(records)
    for part, own in records.groupby("part", sort=False):
        yield f"\n{part}: mean adjusted Rand index by members"
        yield from rows_of(own, "members", rule)
    for n_members in (10, 30):
        for by in ("kind", "table"):
            yield f"\nall, {n_members} members, by {by}"
            yield from rows_of(records[records["members"] == n_members], by, rule)
    yield from beforehand(records)
    yield f"\nchosen on '{FIXED}' and 'made': t = {rule}"
    confirmed = records[(records["part"] == CONFIRMED) & records["members"].isin(CHOSEN_ON)]
    yield f"on '{CONFIRMED}': " + ", ".join(f"t = {t}: {confirmed[f'{t}'].mean():.3f}" for t in TOLD)
    off = {t: np.log(confirmed[f"{t} K"] / confirmed["classes"]).abs().mean() for t in TOLD}
    yield f"on '{CONFIRMED}', |log(K / classes)|: " + ", ".join(f"t = {t}: {value:.3f}" for t, value in off.items())
    independent = records[records["kind"].str.endswith("wrong")]
    yield f"independent members: rule {independent[f'{rule}'].mean():.3f}, all {independent[ALL].mean():.3f}; " + (
        f"most lost {(independent[ALL] - independent[f'{rule}']).max():.3f}"
    )


def beforehand(records: pd.DataFrame) -> Iterator[str]:
    """Mean agreement by what a cluster holds beforehand and t, on what it is chosen on and on the rest."""
    tried = records[records["members"].isin(MEMBERS_BEFOREHAND)]
    for title, parts in (("fixed", (FIXED, "made")), ("confirmed", (CONFIRMED,))):
        own = tried[tried["part"].isin(parts)]
        yield f"\n{title}, {' and '.join(map(str, MEMBERS_BEFOREHAND))} members, by c of min(1, c / J) and t"
        yield f"  {'c':<22}" + "".join(f"{rule!s:>13}" for rule in RULES_BEFOREHAND)
        for objects in BEFOREHAND:
            names = [f"{t}" if objects == beforehand_by(t) else f"{t} of {objects:g}" for t in RULES_BEFOREHAND]
            means = [own.groupby("part")[name].mean().mean() for name in names]
            yield f"  {objects:<22g}" + "".join(f"{mean:>13.3f}" for mean in means)


def chosen(records: pd.DataFrame) -> float:
    """Of the t whose agreement cannot be told from the best, the one whose numbers of clusters are nearest to the true.

    Both are means over the tables it may be chosen on and over the made ensembles, the two counting alike: of the
    adjusted Rand index, every kind of ensemble of a table once, and of |log(K / classes)|. What is less than two
    standard errors of the paired difference below the best cannot be told from it.
    """
    allowed = records[records["part"].isin((FIXED, "made")) & records["members"].isin(CHOSEN_ON)]
    names = [f"{t}" for t in TOLD]
    off = allowed[[f"{t} K" for t in TOLD]].div(allowed["classes"], axis=0).transform(lambda ratio: np.log(ratio).abs())
    off.columns = names
    cases = [allowed["part"], allowed["table"], allowed["kind"]]
    agreement, off = allowed[names].groupby(cases).mean(), off.groupby(cases).mean()
    best = _mean(agreement).idxmax()
    below = agreement.rsub(agreement[best], axis=0)
    tied = _mean(below) <= 2.0 * _standard_error(below) + 1e-12
    return float(_mean(off)[tied].idxmin())


def _mean(cases: pd.DataFrame) -> pd.Series:
    return cases.groupby("part").mean().mean()


def _standard_error(cases: pd.DataFrame) -> pd.Series:
    parts = cases.groupby("part")
    return np.sqrt((parts.var().fillna(0.0) / parts.count()).sum()) / parts.ngroups


def rows_of(records: pd.DataFrame, by: str, rule: float) -> Iterable[str]:
    """Means of methods, and the median number of clusters over the true one."""
    columns = [*(f"{t}" for t in TOLD), ALL, "power", "CSPA", "CSPA, K ours", "k-means"]
    titles = [*(f"t={t}" for t in TOLD), *columns[len(TOLD) :]]
    yield f"  {by:<22}" + "".join(f"{title:>13}" for title in titles) + f"{'K ours':>8}{'K all':>7}{'shared':>8}"
    for name, own in records.groupby(by, sort=False):
        means = own[columns].astype(float).mean()
        ratios = [(own[f"{which} K"] / own["classes"]).median() for which in (rule, ALL)]
        tail = f"{ratios[0]:>7.2f}x{ratios[1]:>6.2f}x{own['shared'].mean():>8.2f}"
        yield f"  {name!s:<22}" + "".join("            -" if np.isnan(x) else f"{x:>13.3f}" for x in means) + tail


if __name__ == "__main__":
    main()
