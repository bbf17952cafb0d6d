"""Methods side by side on one ensemble: what each finds, how far it agrees, what it costs."""

import gc
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from partita.consensus.label_table import label_table
from partita.consensus.named_methods import FINDERS, known_methods, method_named, number_option
from partita.consensus.nbce import NBCE
from partita.labels import coded
from partita.metrics import adjusted_rand, f1_measure, nmi
from partita.parameters import choose, generator_from, whole_number
from partita.running.clock import running_seconds
from partita.running.interruptions import noting
from partita.running.memory import PeakMemory
from partita.table import Table
from partita.table_estimator import TableEstimator
from partita.wording import shown

FINDER = "nbce"
"""Of the number of clusters, where none of the methods is an `NBCE`."""
LARGEST_SEED = 2**31 - 1


class Run(NamedTuple):
    """What a method did.

    Attributes
    ----------
    labels : (n_objects,) array or None
        None where it could not run.
    told : bool
        Whether it was told the number of clusters.
    note : str
        Where that number comes from and what the method warns of, or why it could not run.
    seconds, megabytes : float
    """

    labels: np.ndarray | None
    told: bool
    note: str
    seconds: float = math.nan
    megabytes: float = math.nan


def compare(
    Y: Any, truth: Any = None, methods: Any = None, *, n_clusters: int | None = None, random_state: Any = None
) -> Any:
    """Find the consensus by several methods, one after the other, and put the answers side by side.

    Parameters
    ----------
    Y : array-like, frame or path of shape (n_objects, n_clusterings), or Partitions
        Base clusterings, as `NBCE` takes them.
    truth : array-like of labels, (n_objects,), optional
        The classes, if they are known; -1, None and nan mean not labelled.
    methods : list of short names and estimators, or mapping of name to either, optional
        By default "nbce-auto" and "nbce-all", `NBCE` with these ``votes``, and every other method that has a short
        name. "nbce" is `NBCE` with its defaults. An estimator is one of partita, which reads labels as a `Table`; it is
        used as it is, and stays unfitted.
    n_clusters : int, optional
        What methods by name are told that must be; by default the number that the first `NBCE` among the methods
        finds, or `NBCE()` where there is none. It runs first.
    random_state : int, RandomState, Generator or None
        Every method by name gets the same seed: an int itself.

    Returns
    -------
    frame
        Of the library of ``Y``, with a row per method:

        - ``method``, ``n_clusters``, and ``told``: whether it was told their number;
        - with ``truth``, over the objects that it labels: ``adjusted_rand``, ``nmi``, ``f1`` (recall averaged over the
          classes) and ``f1_as_printed`` (over the clusters), see `partita.metrics`;
        - ``agreement``: the adjusted Rand index with a base clustering over the objects that it labels, averaged over
          the base clusterings that have two labels or more;
        - ``seconds``, compiling left out, and ``megabytes``: the most that the process held above what it held before,
          nan where the system does not say, as only Linux does. What a process runs first loads code, which counts in
          both: of the first `NBCE` some 100 megabytes and most of a second, of the first "hgpa" some 30 megabytes and
          half a second. A second `compare` in the process is without that;
        - ``note``: where a number of clusters that was not passed comes from, and warnings. A method that cannot run
          has its reason there, and nan elsewhere.

    Notes
    -----
    Without the truth, agreement is what there is to judge by, with caution: it rewards what base clusterings share,
    right or wrong. `partita.plots.consensus_methods` draws the frame.

    Examples
    --------
    >>> import numpy as np
    >>> halves = np.repeat([0, 1], 10)
    >>> frame = compare(np.column_stack([halves, 1 - halves, halves]), methods=["eac", "hbgf"], n_clusters=2)
    >>> list(frame["agreement"])
    [1.0, 1.0]
    """
    chosen = _chosen(methods)
    if n_clusters is not None:
        whole_number("n_clusters", n_clusters, 1)
    drawn = int(generator_from(random_state).integers(LARGEST_SEED))
    seed = int(random_state) if isinstance(random_state, Integral) else drawn
    table = label_table(Y)
    classes = None if truth is None else _classes(truth, table.n_rows)
    runs = _run_all(chosen, table, n_clusters, seed)
    columns = {
        "method": np.array(list(runs)),
        "n_clusters": _whole(_scores(runs, lambda labels: labels.max() + 1)),
        "told": np.array([run.told for run in runs.values()]),
        **({} if classes is None else _against(classes, runs)),
        "agreement": _scores(runs, lambda labels: _agreement(table.codes, labels)),
        "seconds": np.array([run.seconds for run in runs.values()]),
        "megabytes": np.array([run.megabytes for run in runs.values()]),
        "note": np.array([run.note for run in runs.values()]),
    }
    return table.frame_like(columns, index=range(len(runs)))


def _classes(truth: Any, n_objects: int) -> np.ndarray:
    codes = coded(truth, n_objects, option="truth")[0]
    if codes.max() < 0:
        raise ValueError("truth labels no object: leave it out if no classes are known.")
    return codes


def _chosen(methods: Any) -> dict[str, Any]:
    """Short names and estimators by the names that they go under."""
    if methods is None:
        return {name: name for name in known_methods() if name != FINDER}
    if isinstance(methods, Mapping):
        chosen = list(methods.items())
    elif isinstance(methods, Iterable) and not isinstance(methods, str):
        chosen = [(one if isinstance(one, str) else " ".join(repr(one).split()), one) for one in methods]
    else:
        raise TypeError(f"methods must be a list of short names and estimators, or a mapping, got {methods!r}.")
    if not chosen:
        raise ValueError("methods holds none: name one, or leave it out for all.")
    for name, method in chosen:
        if isinstance(method, str):
            choose("methods", method, known_methods())
        elif not isinstance(method, TableEstimator):
            raise TypeError(
                f"methods holds {shown(method)}, which is no estimator of partita, such as NBCE(), nor a short name."
            )
        if sum(other == name for other, _ in chosen) > 1:
            raise ValueError(f"methods holds {name!r} twice: pass a mapping of name to method.")
    return dict(chosen)


def _run_all(chosen: Mapping[str, Any], table: Table, n_clusters: int | None, seed: int) -> dict[str, Run]:
    """All methods by name, in their order; what finds the number of clusters runs first where it is needed."""
    if n_clusters is not None or not any(map(_waits, chosen.values())):
        return {name: _run(method, table, n_clusters, seed) for name, method in chosen.items()}
    finders = [(name, method) for name, method in chosen.items() if _is_nbce(method)]
    finder, method = (finders or [(FINDER, FINDER)])[0]
    first = _run(method, table, None, seed)
    done = {finder: first} if finders else {}
    if first.labels is None:
        note = f"It must be told the number of clusters, which {finder} could not find: pass n_clusters."
        failed = Run(None, told=True, note=note)
        done |= {name: failed for name, one in chosen.items() if _waits(one)}
        return {name: done.get(name) or _run(one, table, None, seed) for name, one in chosen.items()}
    note = f"Told the number of clusters that {finder} finds."
    number = int(first.labels.max()) + 1
    return {
        name: done.get(name) or _run(one, table, number, seed, note if _waits(one) else "")
        for name, one in chosen.items()
    }


def _is_told(method: Any) -> bool:
    """Whether it is told the number of clusters."""
    if isinstance(method, str):
        return number_option(known_methods()[method]) is not None
    option = number_option(type(method))
    return option is not None and not isinstance(getattr(method, option), str)


def _waits(method: Any) -> bool:
    """Whether it is a name of what must be told the number of clusters."""
    return isinstance(method, str) and _is_told(method)


def _is_nbce(method: Any) -> bool:
    return method in FINDERS if isinstance(method, str) else isinstance(method, NBCE)


def _run(method: Any, table: Table, n_clusters: int | None, seed: int, note: str = "") -> Run:
    """Run one method; what it warns of or fails by is its note."""
    told = _is_told(method)
    gc.collect()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        memory, started = PeakMemory(), running_seconds()
        try:
            own = method_named(method, n_clusters, seed) if isinstance(method, str) else clone(method)
            labels = _labels(own, table)
        except Exception as error:
            return Run(None, told, str(error) or type(error).__name__)
        seconds, megabytes = running_seconds() - started, memory.megabytes
    words = dict.fromkeys([note, *(str(warning.message) for warning in said)])
    return Run(labels, told, " ".join(filter(None, words)), seconds, megabytes)


def _labels(method: Any, table: Table) -> np.ndarray:
    """The labels of a fit; Ctrl-C leaves, also where the method would answer it with what it has."""
    presses: list[bool] = []

    def leave() -> bool:
        presses.append(True)
        return False

    with noting(leave):
        labels = method.fit(table).labels_
    if presses:
        raise KeyboardInterrupt
    return labels


def _scores(runs: Mapping[str, Run], score: Callable[[np.ndarray], float]) -> np.ndarray:
    return np.array([math.nan if run.labels is None else float(score(run.labels)) for run in runs.values()])


def _whole(numbers: np.ndarray) -> np.ndarray:
    return numbers if np.isnan(numbers).any() else numbers.astype(np.int64)


def _against(classes: np.ndarray, runs: Mapping[str, Run]) -> dict[str, np.ndarray]:
    scores: dict[str, Callable[[np.ndarray], float]] = {
        "adjusted_rand": lambda labels: adjusted_rand(classes, labels),
        "nmi": lambda labels: nmi(classes, labels),
        "f1": lambda labels: f1_measure(classes, labels, recall="truth"),
        "f1_as_printed": lambda labels: f1_measure(classes, labels, recall="found"),
    }
    return {name: _scores(runs, score) for name, score in scores.items()}


def _agreement(codes: np.ndarray, labels: np.ndarray) -> float:
    """Mean adjusted Rand index with the columns of codes that tell objects apart; nan where none does."""
    telling = [column for column in codes.T if np.unique(column[column >= 0]).size > 1]
    return float(np.mean([adjusted_rand(column, labels) for column in telling])) if telling else math.nan
