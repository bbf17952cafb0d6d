"""Speed and memory of every consensus method: ``python -m benchmarks.consensus [table ratios]``, BLAS threads 1.

    --sizes 1000,5000,20000,200000
    --limit S         seconds that a fit may take, 60 by default; the method is then not tried on larger ensembles
    --methods A,B     only these, by their names in the table

Ensembles have 20 base clusterings of 10 groups (`benchmarks.generators.ensemble`); what must be told the number of
groups is told 10. Every fit runs in a process of its own, after one to a small ensemble that compiles and loads what it
needs. Seconds leave compiling out, and are the shortest of three fits where these are short; megabytes are the most
that the process holds above what it holds before the first. Results go to ``benchmarks/results/consensus.json``, with
commit and versions.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from functools import cache  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from multiprocessing.connection import Connection  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.entropy import ROOT, commit  # noqa: E402
from benchmarks.generators import ensemble  # noqa: E402
from benchmarks.nbce import versions  # noqa: E402
from partita.consensus import NBCE  # noqa: E402
from partita.consensus.ensemble_estimator import METHODS  # noqa: E402
from partita.consensus.named_methods import method_named  # noqa: E402
from partita.metrics import adjusted_rand  # noqa: E402
from partita.running.clock import running_seconds  # noqa: E402
from partita.running.memory import PeakMemory  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "consensus.json"
SIZES = (1000, 5000, 20_000, 200_000)
N_MEMBERS, N_GROUPS, N_SMALL = 20, 10, 400
LIMIT = 60.0
SHORT, REPEATS = 5.0, 3  # a fit that takes less seconds is repeated, and the shortest counts
GRAPH_SIZE = 5000
FEW, MANY = 20_000, 200_000  # objects whose times BipartiteCut is judged by
VOTES_REPEATS = {1000: 9, 5000: 9, 20_000: 5, 200_000: 3}
OPTIONS = {
    "nbce-all vb": ("nbce-all", {"engine": "vb", "n_jobs": 1}),
    "nbce-auto vb": ("nbce-auto", {"engine": "vb", "n_jobs": 1}),
    "nbce-all gibbs": ("nbce-all", {"engine": "gibbs", "n_jobs": 1}),
    "cspa spectral": ("cspa", {"solver": "spectral"}),
    "hgpa spectral": ("hgpa", {"solver": "spectral"}),
    "mcla spectral": ("mcla", {"solver": "spectral"}),
    "lwea": ("lwgp", {"method": "average"}),
}
"""What is measured besides every method with its defaults: short names and options."""

Cell = dict[str, Any]  # what a fit took and found, or why there is none


def main(words: Sequence[str] | None = None) -> None:
    options = parsed(words)
    stored: dict[str, Any] = {"commit": commit(), "versions": versions(), "limit": options.limit}
    cells: dict[str, dict[str, Cell]] = {}
    if "table" in options.parts:
        for line in table(options.methods, options.sizes, options.limit, cells):
            print(line, flush=True)
        stored["cells"] = cells
    if "ratios" in options.parts:
        stored["ratios"] = []
        for one in ratios(cells, options.limit):
            row(*one)
            stored["ratios"].append(one)
    options.out.write_text(json.dumps(stored, indent=1) + "\n")


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return [name.strip() for name in text.split(",")]

    def numbers(text: str) -> list[int]:
        return [int(number) for number in text.split(",")]

    known = methods()
    asked = argparse.ArgumentParser(prog="python -m benchmarks.consensus", description=__doc__.split("\n", 1)[0])
    asked.add_argument("parts", nargs="*", metavar="table|ratios")
    asked.add_argument("--sizes", type=numbers, default=list(SIZES))
    asked.add_argument("--limit", type=float, default=LIMIT)
    asked.add_argument("--methods", type=names, default=known)
    asked.add_argument("--out", type=Path, default=RESULTS)
    options = asked.parse_args(words)
    options.parts = options.parts or ["table", "ratios"]
    if unknown := set(options.methods) - set(known) | set(options.parts) - {"table", "ratios"}:
        asked.error(f"unknown: {', '.join(sorted(unknown))}; methods are {', '.join(known)}")
    return options


def methods() -> list[str]:
    """All that is in the table."""
    return [*OPTIONS, *METHODS]


def estimator(method: str) -> Any:
    name, options = OPTIONS.get(method, (method, {}))
    return method_named(name, N_GROUPS, 0).set_params(**options)


@cache
def base(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and the truth, the same for every method."""
    return ensemble(n, N_MEMBERS, N_GROUPS, np.random.default_rng(0))


# --- a process for every fit -----------------------------------------------------------------------

Work = Callable[..., Iterator[Cell]]


def apart(work: Work, limit: float, *arguments: Any) -> Cell:
    """What work yields second, if it does so in time: the limit holds from its first word, when it is ready."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.nbce"])  # and with it all that takes time to import
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_carry_out, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        receiver.recv()
        return receiver.recv() if receiver.poll(limit) else {"reason": f"over {limit:g} s", "word": "slow"}
    except EOFError:
        process.join()
        return {"reason": f"The process ended with {process.exitcode}.", "word": "crashed"}
    finally:
        process.kill()
        process.join()


def _carry_out(sender: Connection, work: Work, arguments: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for message in work(*arguments):
            sender.send(message)


def fit_once(method: str, n: int) -> Iterator[Cell]:
    """A fit to n objects, ready once a smaller one has compiled what it needs."""
    Y, truth = base(n)
    model = estimator(method)
    try:
        estimator(method).fit(base(N_SMALL)[0])
    except ImportError as missing:
        yield {}
        yield {"reason": str(missing), "word": "absent"}
        return
    gc.collect()
    yield {}
    memory = PeakMemory()
    try:
        seconds = [_seconds_of(model, Y)]
    except ValueError as refusal:
        yield {"reason": str(refusal), "word": "dense" if "GiB" in str(refusal) else "refused"}
        return
    megabytes = memory.megabytes
    if seconds[0] < SHORT:
        seconds += [_seconds_of(model, Y) for _ in range(REPEATS - 1)]
    found = {"ari": round(adjusted_rand(truth, model.labels_), 4), "k": int(model.n_clusters_)}
    yield {"seconds": round(min(seconds), 4), "megabytes": round(megabytes, 1)} | found


def _seconds_of(model: Any, Y: np.ndarray) -> float:
    started = running_seconds()
    model.fit(Y)
    return running_seconds() - started


# --- the table -------------------------------------------------------------------------------------


def table(names: Sequence[str], sizes: Sequence[int], limit: float, cells: dict[str, dict[str, Cell]]) -> Iterator[str]:
    """A method per line; ``cells`` is filled. Below, why there is no figure."""
    yield f"{N_MEMBERS} base clusterings of {N_GROUPS} groups: seconds, megabytes; a fit may take {limit:g} s"
    yield f"{'':<18}" + "".join(f"{f'n = {n}':>22}" for n in sizes) + f"{'ARI, K of the last':>22}"
    for method in names:
        own = cells[method] = {}
        for n in sorted(sizes):
            slow = any(one.get("word") == "slow" for one in own.values())
            own[str(n)] = {"reason": "slower before", "word": "-"} if slow else apart(fit_once, limit, method, n)
        yield f"{method:<18}" + "".join(f"{said(own[str(n)]):>22}" for n in sizes) + f"{quality(own):>22}"
    for method, own in cells.items():
        yield from (f"{method}, n = {n}: {one['reason']}" for n, one in own.items() if one.get("word", "-") != "-")


def said(cell: Cell) -> str:
    return f"{cell['seconds']:.3f} s {cell['megabytes']:6.0f} MB" if "seconds" in cell else cell["word"]


def quality(own: dict[str, Cell]) -> str:
    """What the fit to the largest ensemble found."""
    found = [one for one in own.values() if "seconds" in one]
    return f"{found[-1]['ari']:.3f}, {found[-1]['k']}" if found else ""


# --- what the parts of a fit take ------------------------------------------------------------------

Row = tuple[str, str, str]


def ratios(cells: dict[str, dict[str, Cell]], limit: float) -> Iterator[Row]:
    for method, bound in (("cspa", "<= 1.5 x"), ("mcla", "<= 1.5 x + 1 s")):
        yield graph_ratio(method, bound, limit)
    yield bipartite_ratio(cells, limit)
    for n in VOTES_REPEATS:
        yield votes_ratio(n, limit)


def graph_ratio(method: str, bound: str, limit: float, n: int = GRAPH_SIZE) -> Row:
    """A fit against the calls of METIS that are in it, the shortest of three."""
    cell = apart(fit_with_metis, limit, method, n)
    work = f"{method}, n = {n}: fit against its METIS call"
    if "seconds" not in cell:
        return work, cell["reason"], bound
    return work, f"{cell['seconds']:.3f} s, {cell['metis']:.3f} s, {cell['seconds'] / cell['metis']:.2f} x", bound


def fit_with_metis(method: str, n: int) -> Iterator[Cell]:
    import pymetis

    plain, spent = pymetis.part_graph, []

    def timed(*arguments: Any, **options: Any) -> Any:
        started = running_seconds()
        cut = plain(*arguments, **options)
        spent.append(running_seconds() - started)
        return cut

    pymetis.part_graph = timed
    Y = base(n)[0]
    estimator(method).fit(base(N_SMALL)[0])
    yield {}
    fits = []
    for _ in range(REPEATS):
        spent.clear()
        fits.append((_seconds_of(estimator(method), Y), sum(spent)))
    seconds, metis = min(fits)
    if not metis:
        raise RuntimeError(f"{method} did not call pymetis.part_graph.")
    yield {"seconds": round(seconds, 4), "metis": round(metis, 4)}


def bipartite_ratio(cells: dict[str, dict[str, Cell]], limit: float) -> Row:
    """Many objects against few."""
    known = cells.get("hbgf", {})
    few, many = (known.get(str(n)) or apart(fit_once, limit, "hbgf", n) for n in (FEW, MANY))
    work = f"hbgf, n = {MANY} against {FEW}"
    if "seconds" not in few or "seconds" not in many:
        return work, few.get("reason", "") or many["reason"], "< 20 x"
    return work, f"{many['seconds'] / few['seconds']:.1f} x", "< 20 x"


def votes_ratio(n: int, limit: float) -> Row:
    """Finding the number of votes against being told it, by the engine that takes least time otherwise.

    With fewer votes the posterior is another one, with more or fewer iterations to it: hence the same votes, told.
    """
    cell = apart(votes_found_and_told, limit, n)
    work = f"nbce vb, n = {n}: votes='auto' against the same votes, told; 'all'"
    if "told" not in cell:
        return work, cell["reason"], "<= 1.05 x"
    found, told, every = (cell[name] for name in ("found", "told", "all"))
    return work, f"{found:.3f} s, {told:.3f} s, {found / told:.3f} x; {every:.3f} s", "<= 1.05 x"


def votes_found_and_told(n: int) -> Iterator[Cell]:
    """The shortest of some fits each way, in turn."""
    Y, options = base(n)[0], {"engine": "vb", "n_jobs": 1, "random_state": 0}
    votes = NBCE(votes="auto", **options).fit(Y).votes_
    yield {}
    times: dict[str | float, list[float]] = {"auto": [], votes: [], "all": []}
    for _ in range(VOTES_REPEATS.get(n, 1)):
        for how, spent in times.items():
            started = running_seconds()
            NBCE(votes=how, **options).fit(Y)
            spent.append(running_seconds() - started)
    found, told, every = (round(min(spent), 4) for spent in times.values())
    yield {"found": found, "told": told, "all": every, "votes": votes}


if __name__ == "__main__":
    main()
