"""From a table to an answer: ``python -m benchmarks.table [part ...]``, BLAS threads pinned to 1.

Parts: mixed, gaps, parquet, start. Ratios compare times of one run on one machine. The peer of ``mixed`` is StepMix
with its own defaults (one start per K), the number of groups chosen by BIC.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import shutil  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.generators import GROUP_SHARES, MixedGroups, mixed_groups  # noqa: E402
from partita import Mixture, Table  # noqa: E402
from partita.kernels.compiling import compiling_seconds  # noqa: E402

N_GROUPS = GROUP_SHARES.size
SEEDS = (0, 1, 2)
HEAVY = ("numpy", "numba", "matplotlib", "pandas", "scipy", "sklearn")
HELP = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
sys.argv = ["partita", "--help"]
from partita.cli import main
main()
"""


def main() -> None:
    parts: dict[str, Callable[[], None]] = {"mixed": mixed, "gaps": gaps, "parquet": parquet, "start": start}
    print(f"{'work':<58}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or parts:
        parts[name]()


# --- mixed tables against StepMix ------------------------------------------------------------------


def mixed(n: int = 5000, seeds: Iterable[int] = SEEDS) -> None:
    estimator = stepmix()
    warm_up()
    ratios, shortfalls, counts = [], [], []
    for seed in seeds:
        groups = mixed_groups(n, seed)
        ours, model = timed(lambda groups=groups, seed=seed: fit(groups, seed))
        theirs, sweep = timed(lambda groups=groups, seed=seed: bic_sweep(estimator, groups, seed))
        ratios.append(ours.seconds / theirs.seconds)
        shortfalls.append(groups.best_agreement() - agreement(groups, model.labels_))
        counts.append(model.n_clusters_)
        row(
            f"mixed, n = {n}, seed {seed}: ours {ours.seconds:.1f} s, StepMix {theirs.seconds:.1f} s",
            f"{ratios[-1]:.2f} x (CPU {ours.cpu / theirs.cpu:.2f} x)",
            "<= 0.33 x",
        )
        row(
            f"  ours, {sweeps(model)}",
            found(groups, model.n_clusters_, model.labels_),
            f"{N_GROUPS}, >= {groups.best_agreement() - 0.02:.3f}",
        )
        row(f"  StepMix, n_init = 1, {sweep.n_iterations} iterations", found(groups, sweep.n_groups, sweep.labels), "")
    worst(shortfalls, counts, ratios)


def gaps(n: int = 5000, seeds: Iterable[int] = SEEDS, share: float = 0.3) -> None:
    warm_up()
    shortfalls, counts = [], []
    for seed in seeds:
        groups = mixed_groups(n, seed).with_gaps(share, seed)
        ours, model = timed(lambda groups=groups, seed=seed: fit(groups, seed))
        shortfalls.append(groups.best_agreement() - agreement(groups, model.labels_))
        counts.append(model.n_clusters_)
        row(
            f"mixed, n = {n}, {share:.0%} of cells missing, seed {seed}: {ours.seconds:.1f} s",
            found(groups, model.n_clusters_, model.labels_),
            f">= {groups.best_agreement() - 0.03:.3f}",
        )
        row(f"  {sweeps(model)}", f"CPU {ours.cpu:.1f} s", "")
    worst(shortfalls, counts)


def worst(shortfalls: list[float], counts: list[int], ratios: list[float] | None = None) -> None:
    """The largest ratio and the largest distance from the true parameters' classifier."""
    title = f"worst of {len(counts)}; K = {', '.join(map(str, counts))}"
    lag = f"ARI {max(shortfalls):.3f} below the best"
    if ratios:
        row(title, f"{max(ratios):.2f} x, {lag}", "<= 0.33 x, 0.02")
    else:
        row(title, lag, "<= 0.03")


class Sweep(NamedTuple):
    """What a search over the number of groups chose."""

    n_groups: int
    labels: np.ndarray
    n_iterations: int


def stepmix() -> Any:
    try:
        from stepmix.stepmix import StepMix
    except ImportError:
        sys.exit("StepMix is not installed: pip install 'partita[bench]'")
    return StepMix


def bic_sweep(estimator: Any, groups: MixedGroups, seed: int, n_groups: Iterable[int] = range(2, 9)) -> Sweep:
    """Fit every number of groups and keep the model of least BIC."""
    X = np.hstack([groups.numeric, groups.codes])
    blocks = {"continuous": groups.numeric.shape[1], "categorical": groups.codes.shape[1]}
    measurement = {kind: {"model": kind, "n_columns": width} for kind, width in blocks.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"measurement": measurement, "random_state": seed, "progress_bar": 0}
        models = [estimator(n_components=k, **options).fit(X) for k in n_groups]
    best = min(models, key=lambda model: model.bic(X))
    return Sweep(best.n_components, best.predict(X), sum(model.n_iter_ for model in models))


def fit(groups: MixedGroups, seed: int) -> Mixture:
    """From a frame to labels, with defaults."""
    return Mixture(n_jobs=-1, random_state=seed).fit(pd.DataFrame(groups.columns()))


def warm_up() -> None:
    """Load or compile the code for mixed tables, so that no time below includes it."""
    before = compiling_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Mixture(draws=20, random_state=0).fit(pd.DataFrame(mixed_groups(200, 0).columns()))
    spent = compiling_seconds() - before
    if spent > 0:
        row("loading compiled code, or compiling it once, before any time", f"{spent:.1f} s", "")


def agreement(groups: MixedGroups, labels: np.ndarray) -> float:
    return float(adjusted_rand_score(groups.truth, labels))


def found(groups: MixedGroups, n_groups: int, labels: np.ndarray) -> str:
    return f"K = {n_groups}, ARI {agreement(groups, labels):.3f}"


def sweeps(model: Mixture) -> str:
    provenance = model.posterior_.provenance
    return f"{max(provenance['sweeps'])} sweeps, {provenance['stopped']}"


class Timing(NamedTuple):
    """Seconds on the clock, and of all cores together: other programs lengthen only the first."""

    seconds: float
    cpu: float


def timed(work: Callable[[], Any]) -> tuple[Timing, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Timing(time.perf_counter() - start, time.process_time() - cpu), result


# --- files and the command -------------------------------------------------------------------------


def parquet(n: int = 100_000) -> None:
    warm_up()
    groups = mixed_groups(n, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pd.DataFrame(groups.columns()).to_parquet(path)
        reading, table = timed(lambda: Table.read(path))
        fitting, model = timed(lambda: Mixture(n_jobs=-1, random_state=0).fit(path))
    title = f"Parquet to labels, n = {table.n_rows}, {len(table.schema.used)} columns"
    row(
        f"{title}: reading {reading.seconds:.2f} s, all {fitting.seconds:.0f} s",
        f"{reading.seconds / fitting.seconds:.2%} of the fit",
        "<= 10 %",
    )
    row(f"  {sweeps(model)}", f"CPU {fitting.cpu:.0f} s", "")
    row("", found(groups, model.n_clusters_, model.labels_), f"best {groups.best_agreement():.3f}")


def start(repeats: int = 9) -> None:
    command = shutil.which("partita", path=Path(sys.executable).parent)
    if command is None:
        sys.exit(f"There is no partita next to {sys.executable}: pip install partita")
    times, cpu = zip(*(timed_process([command, "--help"]) for _ in range(repeats)))
    row(f"partita --help, median of {repeats}", f"{np.median(times):.3f} s", "<= 0.5 s")
    row("", f"CPU {np.median(cpu):.3f} s, longest {max(times):.3f} s", "")
    row(f"of {', '.join(HEAVY)}", f"imported: {', '.join(imported_by_help()) or 'none'}", "none")


def timed_process(command: list[str]) -> Timing:
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Timing(seconds, cpu)


def imported_by_help() -> list[str]:
    """Which of the slow packages the command has loaded when it has shown its help."""
    run = subprocess.run([sys.executable, "-c", HELP], check=True, capture_output=True, text=True)
    return sorted(set(HEAVY) & set(run.stderr.split()))


if __name__ == "__main__":
    main()
