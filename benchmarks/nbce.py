"""The tables of Wang, Domeniconi and Laskey (2010) beside ours: ``python -m benchmarks.nbce [2 2-raw 3 4 5 6 7]``.

    --seeds N         so many ensembles of every table, 10 by default, with the seeds 0, 1, ...
    --jobs N          processes, 2 by default, each with one BLAS thread; results do not depend on it
    --data FOLDER     the tables, ``../shared/data`` or what the variable PARTITA_BENCHMARK_DATA names by default
    --print-only      measure nothing

Ensembles of the real tables are those of section 6: ten k-means clusterings into 50, 75, 100, 150 and 200 % of the
classes, a quarter of the objects held out of all fits, scores on the others. `benchmarks.nbce_tables` says what is
measured; "2-raw" is Table 2 of cells that are not standardised. Figures are means over seeds and, after them, standard
deviations. The paper's stand to the left of the bar; ``docs/nbce-paper.md`` says what to think of them.

Results are written to ``benchmarks/results/nbce.json`` table by table, with seeds, commit and versions.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from concurrent.futures import ProcessPoolExecutor  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from importlib.metadata import PackageNotFoundError, version  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from benchmarks.entropy import DATA, ROOT, commit  # noqa: E402
from benchmarks.nbce_report import report  # noqa: E402
from benchmarks.nbce_tables import GIBBS, PARTS, Scores, Task, measured  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "nbce.json"
PACKAGES = ("partita", "numpy", "scipy", "scikit-learn", "numba", "pymetis", "mtkahypar")
TOGETHER = {"4": "4-5", "5": "4-5"}

Mapped = Callable[[Callable[[Task], Scores], list[Task]], Iterator[Scores]]


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    chosen = list(dict.fromkeys(TOGETHER.get(name, name) for name in options.tables)) or list(PARTS)
    if not options.print_only:
        made_by = {"commit": commit(), "versions": versions(), "gibbs": GIBBS}
        with processes(options.jobs) as mapped:
            for part in chosen:
                tasks = tasks_of(part, options.seeds, options.data)
                found = collected(tasks, mapped(measured, tasks))
                results[part] = made_by | {"seeds": list(range(options.seeds)), "results": found}
                store(options.out, results)
    for part in chosen:
        if part in results:
            print("\n".join(report(part, results[part])), flush=True)


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    names = [name for part in PARTS for name in ([part] if part not in TOGETHER.values() else ["4", "5"])]
    asked = argparse.ArgumentParser(prog="python -m benchmarks.nbce", description=__doc__.split("\n", 1)[0])
    asked.add_argument("tables", nargs="*", metavar="table", help=f"of the paper: {', '.join(names)}; by default all")
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--out", type=Path, default=RESULTS)
    asked.add_argument("--print-only", action="store_true")
    options = asked.parse_args(words)
    if unknown := set(options.tables) - set(names):
        asked.error(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options


def tasks_of(part: str, n_seeds: int, folder: Path) -> list[Task]:
    return [Task(part, case, seed, folder) for case in PARTS[part].cases for seed in range(n_seeds)]


@contextmanager
def processes(n: int) -> Iterator[Mapped]:
    """A map over so many processes, or in this one."""
    if n == 1:
        yield map
        return
    with ProcessPoolExecutor(n, mp_context=get_context("spawn")) as pool:
        yield pool.map


def collected(tasks: Sequence[Task], found: Iterator[Scores]) -> dict[str, Any]:
    """Figures of all seeds, by case, method and what is measured."""
    results: dict[str, Any] = {}
    for task, by_method in zip(tasks, found):
        for method, figures in by_method.items():
            for name, value in figures.items():
                own = results.setdefault(task.case, {}).setdefault(method, {}).setdefault(name, [])
                own.append(round(value, 5))
    return results


def store(path: Path, results: dict[str, Any]) -> None:
    """Write the results, one line per case and method, so that a reader never sees half of them."""
    partial = path.with_suffix(".partial")
    partial.write_text(
        "{\n" + ",\n".join(f"{json.dumps(part)}: {text_of(one)}" for part, one in results.items()) + "\n}\n"
    )
    partial.replace(path)


def text_of(stored: dict[str, Any]) -> str:
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in stored.items() if name != "results"]
    cases = (
        f"  {json.dumps(case)}: {{\n"
        + ",\n".join(f"   {json.dumps(method)}: {json.dumps(figures)}" for method, figures in by_method.items())
        + "\n  }"
        for case, by_method in stored["results"].items()
    )
    return "{\n" + ",\n".join([*lines, ' "results": {\n' + ",\n".join(cases) + "\n }"]) + "\n}"


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


if __name__ == "__main__":
    main()
