"""How good the defaults are: ``python -m benchmarks.defaults [kind ...]``, BLAS threads pinned to 1.

Kinds of columns: numeric, categorical, count.

    --data FOLDER     labelled tables (else the variable PARTITA_BENCHMARK_DATA; without either, made tables only)
    --tables N        tables of every made setting, 20 by default
    --jobs N          processes, 2 by default
    --out FOLDER      where defaults.txt and defaults.csv go, ``benchmarks/results`` by default
    --targets         nothing but the library's defaults on the settings whose groups must be found
    --quick           a miniature

All candidates are compared on every second setting; what was chosen is confirmed on the others, beside what was there
before. For every setting and candidate: how often the estimated number of groups is the true one, the posterior
probability of that number, the adjusted Rand index, and the log density per row that half of the rows gives to the
other half, beside GaussianMixture with number and kind of covariance chosen by BIC and BayesianGaussianMixture.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import csv  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Iterable, Iterator, Sequence  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from functools import partial  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture  # noqa: E402

from benchmarks.default_candidates import BEFORE, CANDIDATES, NOW  # noqa: E402
from benchmarks.default_settings import KINDS, PARTS, Setting, halves, settings  # noqa: E402
from partita import Mixture  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results"
CHAINS, DRAWS = 2, 200
MOST_COMPONENTS = 10
COVARIANCES = ("full", "tied", "diag", "spherical")
PEERS = BIC, BAYES = "GaussianMixture + BIC", "BayesianGaussianMixture"


class Outcome(NamedTuple):
    """What one candidate made of one table; nan where there is no such thing."""

    setting: str
    candidate: str
    seed: int
    n_groups: int
    right: float  # whether that is the true number
    probability: float  # of the true number
    agreement: float
    density: float  # log density per held-out row


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    every = settings(options.data)
    lines = [f"{options.tables} tables of every made setting, {CHAINS} chains of {DRAWS} draws."]
    outcomes: list[Outcome] = []
    for kind in options.kinds or KINDS:
        if options.targets:
            own = [one for one in every if one.kind == kind and one.target]
            found = list(measured(own, [NOW], options))
            outcomes += found
            lines += ["", f"=== {kind}: settings whose groups must be found", *targets(own, found)]
            print("\n".join(lines), flush=True)
            stored(options.out, lines, outcomes)
            continue
        everyone = list(CANDIDATES[kind])
        for title, names, half in zip(("compared", "confirmed"), (everyone, [BEFORE, NOW]), halves(every)):
            own = [one for one in half if one.kind == kind]
            own = own[:: max(1, len(own) // 3)] if options.quick else own
            found = list(measured(own, names, options))
            outcomes += found
            said = [f"=== {kind}, {title} on {len(own)} settings", *report(own, found), ""]
            print("\n".join(said), flush=True)
            lines += ["", *said]
            stored(options.out, lines, outcomes)


def stored(folder: Path, lines: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    """What was printed, and every outcome as a row of ``defaults.csv``."""
    (folder / "defaults.txt").write_text("\n".join(lines) + "\n")
    with (folder / "defaults.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Outcome._fields)
        table.writerows([*one[:4], *(f"{value:.4g}" for value in one[4:])] for one in outcomes)


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__.split("\n", 1)[0])
    asked.add_argument("kinds", nargs="*", metavar="kind", help=", ".join(KINDS) + "; all by default")
    folder = os.environ.get("PARTITA_BENCHMARK_DATA")
    asked.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    asked.add_argument("--tables", type=int, default=20)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--out", type=Path, default=RESULTS)
    asked.add_argument("--targets", action="store_true")
    asked.add_argument("--quick", action="store_true")
    return asked.parse_args(words)


# --- measuring -------------------------------------------------------------------------------------


def measured(own: Iterable[Setting], names: Sequence[str], options: argparse.Namespace) -> Iterator[Outcome]:
    """All outcomes of some settings, tables in parallel."""
    tasks = []
    for setting in own:
        peers = PEERS if setting.kind == "numeric" and not options.targets else ()
        n_tables = 1 if options.quick or setting.part == "labelled" else options.tables
        tasks += [(setting.name, name, seed) for seed in range(n_tables) for name in (*names, *peers)]
    one = partial(outcome, options.data)
    if options.jobs == 1:
        yield from map(one, tasks)
        return
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(one, tasks, chunksize=4)


def outcome(folder: Path | None, task: tuple[str, str, int]) -> Outcome:
    """The candidate on the setting's table of this seed, whole and in halves."""
    name, candidate, seed = task
    [setting] = [one for one in settings(folder) if one.name == name]
    cells, truth = setting.make(np.random.default_rng(seed))
    held_out = np.random.default_rng([seed, 1]).permutation(len(cells)) < len(cells) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = fitted(candidate, setting.kind, cells, seed)
        density = np.nan
        if setting.kind != "categorical" or all(
            set(column[held_out]) <= set(column[~held_out]) for column in cells.T
        ):  # a category that was not seen has no density
            part = fitted(candidate, setting.kind, cells[~held_out], seed)
            density = float(np.mean(part.score_samples(cells[held_out])))
    labels = whole.labels_ if isinstance(whole, Mixture) else whole.predict(cells)
    n_groups = np.unique(labels).size
    if truth is None:
        return Outcome(name, candidate, seed, n_groups, np.nan, np.nan, np.nan, density)
    true_number = np.unique(truth).size
    probability = np.nan
    if isinstance(whole, Mixture):
        probability = float(whole.posterior_.n_clusters().get(true_number, 0.0))
    right, agreement = float(n_groups == true_number), float(adjusted_rand_score(truth, labels))
    return Outcome(name, candidate, seed, n_groups, right, probability, agreement, density)


def fitted(candidate: str, kind: str, cells: np.ndarray, seed: int) -> Any:
    if candidate == BIC:
        return best_by_bic(cells, seed)
    if candidate == BAYES:
        most = min(MOST_COMPONENTS, len(cells))
        return BayesianGaussianMixture(n_components=most, max_iter=1000, random_state=seed).fit(cells)
    options = CANDIDATES[kind][candidate](*cells.shape)
    types = dict.fromkeys(range(cells.shape[1]), kind)
    mixture = Mixture(chains=CHAINS, draws=DRAWS, column_types=types, random_state=seed, **options)
    return mixture.fit(cells)


def best_by_bic(cells: np.ndarray, seed: int) -> GaussianMixture:
    """Of 1 to 10 components and every kind of covariance."""
    fits = [
        GaussianMixture(k, covariance_type=kind, random_state=seed).fit(cells)
        for kind in COVARIANCES
        for k in range(1, min(MOST_COMPONENTS, len(cells) - 1) + 1)
    ]
    return min(fits, key=lambda fit: fit.bic(cells))


# --- reporting -------------------------------------------------------------------------------------


def report(own: Sequence[Setting], outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Means of every part by candidate, then every setting."""
    by_part = {part: [one.name for one in own if one.part == part] for part in PARTS}
    by_part["must be found"] = [one.name for one in own if one.target]
    for part, names in by_part.items():
        if names:
            yield from ["", f"{part}: mean over {len(names)} settings", HEAD]
            yield from rows_of(outcomes, names)
    for setting in own:
        yield from ["", setting.name + (" *" if setting.target else ""), HEAD]
        yield from rows_of(outcomes, [setting.name])


def targets(own: Sequence[Setting], outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Of how many tables of every setting, and of every part, the number of groups was right."""
    right = {one.name: [bool(found.right) for found in outcomes if found.setting == one.name] for one in own}
    for part in PARTS:
        names = [one.name for one in own if one.part == part]
        if names:
            everywhere = [value for name in names for value in right[name]]
            yield f"  {part}: {sum(everywhere)} of {len(everywhere)} tables"
            yield from (f"    {name:<64}{sum(right[name]):>4} of {len(right[name])}" for name in names)


HEAD = f"  {'candidate':<32}{'K':>7}{'right':>8}{'P(true K)':>11}{'ARI':>8}{'log density':>13}"


def rows_of(outcomes: Sequence[Outcome], names: Sequence[str]) -> Iterator[str]:
    """One line per candidate: the mean over settings of the mean over tables."""
    chosen = [one for one in outcomes if one.setting in names]
    for candidate in dict.fromkeys(one.candidate for one in chosen):
        by_setting = [[one for one in chosen if (one.candidate, one.setting) == (candidate, name)] for name in names]
        columns = np.array([[mean([one[j] for one in own]) for j in range(3, 8)] for own in by_setting])
        k, right, probability, agreement, density = (mean(column) for column in columns.T)
        yield f"  {candidate:<32}{k:>7.2f}{right:>8.2f}{probability:>11.2f}{agreement:>8.2f}{density:>13.3f}"


def mean(values: Sequence[float] | np.ndarray) -> float:
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else np.nan


if __name__ == "__main__":
    main()
