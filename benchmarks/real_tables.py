"""How well groups are found in tables as they come: ``python -m benchmarks.real_tables``, BLAS threads pinned to 1.

    --data FOLDER     labelled tables, ``../shared/data`` by default; made tables need none
    --tables A,B      only these
    --methods A,B     only these: variants of partita (`VARIANTS`) and peers (benchmarks/peers.py)
    --seeds 0,1,2
    --max-time S      seconds that partita may take for a fit, 30 by default
    --again           measure anew what is in the file of results already
    --print-only      measure nothing

Columns are passed as they are in the file, nobody says of what kind they are or how many groups there are, and all
options are defaults but the seed and ``max_time``. For every method, table and seed: the adjusted Rand index with the
classes, the number of groups, of partita also the number that ``hierarchy().suggested`` gives and its index, seconds
and CPU seconds without compiling, and the mean log density of a random fifth of the rows under a second fit to the
others, in the units of the table. There is no second fit to tables of more than 3000 rows or 200 columns. Held-out rows
with a word that the others do not have are left out.

Rules are fixed on one half of the labelled tables and confirmed on the other (`benchmarks.labelled_tables.HALVES`).
Results are merged into ``benchmarks/results/real_tables.json`` after every fit, with the commit of the sources.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from pandas.api.types import is_numeric_dtype  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

from benchmarks.labelled_tables import ClassedTable, labelled_tables  # noqa: E402
from benchmarks.made_tables import made_tables, structureless_tables  # noqa: E402
from benchmarks.peers import PEERS, SKLEARN, Fit, Method, NotMeasuredError  # noqa: E402
from benchmarks.real_tables_report import Results, report  # noqa: E402
from benchmarks.table import Timing  # noqa: E402
from benchmarks.table import timed as table_timed  # noqa: E402
from partita import Mixture, Table  # noqa: E402
from partita.families.automatic import automatic_family  # noqa: E402
from partita.kernels.compiling import compiling_seconds  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "real_tables.json"
DATA = ROOT.parent / "shared" / "data"
MOST_HELD_OUT_ROWS, MOST_HELD_OUT_COLUMNS = 3000, 200
LARGE = 60_000  # cells; larger tables come last

BY_SHAPE = "by shape"  # the family that a table got by its shape alone: full covariance for few columns

#: Options of `Mixture` by name: each cure alone, and all together, which are the defaults. None: of sources that are
#: gone; what was measured of them stays in the results.
VARIANTS: dict[str, dict[str, Any] | None] = {
    "start": None,
    "steps": {"guess_types": False, "family": BY_SHAPE},
    "kinds": {"column_steps": 0, "family": BY_SHAPE},
    "covariance": {"column_steps": 0, "guess_types": False},
    "all": {},
}


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    if not options.print_only:
        for name, table, seed in tasks(options, results):
            record = outcome(method(name, options.max_time), table, seed)
            record["version"] = made_by(name)
            if name in VARIANTS:
                record["max_time"] = options.max_time
            results.setdefault(name, {}).setdefault(table.name, {})[str(seed)] = record
            store(options.out, results)
            print(f"seed {seed} {table.name} {name}: {json.dumps(record)}", flush=True)
    print("\n".join(report(results)))


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return [name.strip() for name in text.split(",")]

    known = [name for name, options in VARIANTS.items() if options is not None] + list(PEERS)
    asked = argparse.ArgumentParser(prog="python -m benchmarks.real_tables", description=__doc__.split("\n", 1)[0])
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--tables", type=names)
    asked.add_argument("--methods", type=names, default=known)
    asked.add_argument("--seeds", type=lambda text: [int(seed) for seed in names(text)], default=[0, 1, 2])
    asked.add_argument("--max-time", type=float, default=30.0)
    asked.add_argument("--out", type=Path, default=RESULTS)
    asked.add_argument("--again", action="store_true")
    asked.add_argument("--print-only", action="store_true")
    options = asked.parse_args(words)
    if unknown := set(options.methods) - set(known):
        asked.error(f"no such method: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return options


def tasks(options: argparse.Namespace, results: Results) -> Iterator[tuple[str, ClassedTable, int]]:
    """What is to be measured, seed by seed, large tables last."""
    labelled = list(labelled_tables(options.data))
    for seed in options.seeds:
        tables = [*labelled, *made_tables(seed), *structureless_tables(seed)]
        for large in (False, True):
            for name in options.methods:
                for table in tables:
                    known = str(seed) in results.get(name, {}).get(table.name, {})
                    wanted = options.tables is None or table.name in options.tables
                    if wanted and (table.rows.size > LARGE) == large and (options.again or not known):
                        yield name, table, seed


def store(path: Path, results: Results) -> None:
    """Write the results, one line per method and table, so that a reader never sees half of them."""
    methods = (
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f" {json.dumps(table)}: {json.dumps(by_seed)}" for table, by_seed in by_table.items())
        + "\n}"
        for name, by_table in results.items()
    )
    partial = path.with_suffix(".partial")
    partial.write_text("{\n" + ",\n".join(methods) + "\n}\n")
    partial.replace(path)


def made_by(name: str) -> str:
    """The commit of the sources of partita, or the version of a peer."""
    if name in VARIANTS:
        return source_commit()
    return f"stepmix {version('stepmix')}" if name.startswith("stepmix") else SKLEARN


def source_commit() -> str:
    """The commit that changed the sources last, and whether they differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    return git("log", "-1", "--format=%H", "--", "src") + ("-dirty" if git("diff", "HEAD", "--", "src") else "")


# --- measuring -------------------------------------------------------------------------------------


def method(name: str, max_time: float) -> Method:
    return PEERS[name] if name in PEERS else partita(VARIANTS[name] or {}, max_time)


def partita(options: dict[str, Any], max_time: float) -> Method:
    """A variant of partita."""

    def fit(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
        own, read = dict(options), rows
        if own.get("family") == BY_SHAPE:
            how = {name: own.pop(name) for name in ("column_steps", "guess_types") if name in own}
            read = Table.read(rows, **how)
            own["family"] = automatic_family(read)
        model = Mixture(random_state=seed, max_time=max_time, **own).fit(read)
        remarks = {"converged": bool(model.converged_)}
        return Fit(model.labels_, model.n_clusters_, model.score_samples, model.hierarchy, remarks)

    return fit


def outcome(fit: Method, table: ClassedTable, seed: int) -> dict[str, Any]:
    """What a method makes of a table, in numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            timing, whole = timed(lambda: fit(table.rows, table.n_classes, seed))
        except NotMeasuredError as reason:
            return {"skipped": str(reason)}
        record: dict[str, Any] = {"ari": agreement(table, whole.labels), "k": int(whole.n_groups)}
        if whole.hierarchy is not None:
            merged = whole.hierarchy()
            record["suggested"] = int(merged.suggested)
            record["suggested_ari"] = agreement(table, merged.labels(merged.suggested))
        record |= {"held_out": None, "seconds": round(timing.seconds, 2), "cpu": round(timing.cpu, 2)} | whole.remarks
        if whole.log_densities is not None:
            record |= held_out(fit, table, seed)
    return record


def timed(work: Callable[[], Fit]) -> tuple[Timing, Fit]:
    """How long the fit took without compiling, and the fit."""
    before = compiling_seconds()
    timing, fit = table_timed(work)
    compiling = compiling_seconds() - before
    return Timing(timing.seconds - compiling, max(0.0, timing.cpu - compiling)), fit


def agreement(table: ClassedTable, labels: np.ndarray) -> float:
    return round(float(adjusted_rand_score(table.classes, labels)), 4)


def held_out(fit: Method, table: ClassedTable, seed: int) -> dict[str, Any]:
    """Mean log density of a fifth of the rows under a fit to the others, or why there is none."""
    n, d = table.rows.shape
    if n > MOST_HELD_OUT_ROWS or d > MOST_HELD_OUT_COLUMNS:
        return {"not_held_out": f"more than {MOST_HELD_OUT_ROWS} rows or {MOST_HELD_OUT_COLUMNS} columns"}
    fifth = np.random.default_rng([seed, 1]).permutation(n) < n // 5
    others, rows = table.rows[~fifth], table.rows[fifth]
    for column in others:
        if not is_numeric_dtype(others[column]):
            rows = rows[rows[column].isin(others[column])]
    part = fit(others, table.n_classes, seed)
    assert part.log_densities is not None
    try:
        density = float(np.mean(part.log_densities(rows)))
    except ValueError as refusal:
        return {"not_held_out": str(refusal).split("\n", 1)[0]}
    return {"held_out": round(density, 4)} if np.isfinite(density) else {"not_held_out": f"log density {density}"}


if __name__ == "__main__":
    main()
