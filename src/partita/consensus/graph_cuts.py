"""Graphs and hypergraphs cut into parts of nearly equal weight, by METIS and Mt-KaHyPar: the extra ``graph``."""

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from partita.parameters import choose, is_number

PACKAGES = {"metis": "pymetis", "mtkahypar": "mtkahypar"}
"""Solvers of others, and the packages that hold them."""

UNPACKAGED = {("metis", "win32"): "which nobody packages for Windows"}
"""What cannot be had, on which platform."""

SMALL, CUTS = 2**17, 8
"""A graph of at most so many entries is cut so many times in each way, which takes a fraction of a second."""

LARGEST_SEED = 2**31 - 1

_ONE_AT_A_TIME = Lock()  # both packages keep their random numbers in one place


class Graph(NamedTuple):
    """An undirected graph without loops, every edge listed at both of its ends.

    Attributes
    ----------
    starts : (n + 1,) int64 array
        Where the neighbours of every vertex begin.
    neighbours, weights : (twice the edges,) int64 array
        Weights above 0.
    """

    starts: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, matrix: csr_array) -> Self:
        """The graph of a symmetric matrix of whole numbers, its diagonal left out."""
        matrix = csr_array(matrix, copy=True)
        matrix.setdiag(0)
        matrix.eliminate_zeros()
        return cls(*(part.astype(np.int64) for part in (matrix.indptr, matrix.indices, matrix.data)))


def check_options(solver: Any, solvers: tuple[str, ...], imbalance: Any) -> None:
    """Refuse an unknown solver, an imbalance that is no share, and a solver whose package is not installed."""
    choose("solver", solver, dict.fromkeys(solvers))
    if not (is_number(imbalance) and imbalance >= 0):
        raise ValueError(f"imbalance must be a number of at least 0, got {imbalance!r}.")
    if solver in PACKAGES:
        _package(solver)


def cut_graph(
    graph: Graph, vertex_weights: np.ndarray, n_parts: int, imbalance: float, rng: np.random.Generator
) -> np.ndarray:
    """Parts of the vertices, (n,), between which the weight of edges is small: METIS.

    A part has (1 + imbalance) / n_parts of the weight of all vertices at most, where vertices can be dealt out so and
    METIS manages; a vertex that is heavier than a part may be counts as a whole one. METIS has two ways: all parts at
    once, which is better of large graphs and with a large imbalance, and two by two, which leaves no part empty where
    there are few vertices to a part. Small graphs are cut in both; large ones two by two only where the other way
    fails. The best is kept: as few empty parts, then as little weight above the limit, then as little cut as can be.

    The same seed gives the same parts. With as many parts as vertices or more every vertex is one.

    References
    ----------
    Karypis and Kumar (1998), A fast and high quality multilevel scheme for partitioning irregular graphs.

    Examples
    --------
    >>> chain = csr_array(np.array([[0, 9, 0, 0], [9, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]]))
    >>> parts = cut_graph(Graph.of(chain), np.ones(4, dtype=int), 2, 0.05, np.random.default_rng(0))
    >>> bool(parts[0] == parts[1]), bool(parts[2] == parts[3]), bool(parts[0] == parts[3])
    (True, True, False)
    """
    if n_parts >= vertex_weights.size:
        return np.arange(vertex_weights.size)
    vertex_weights = no_heavier_than_a_part(vertex_weights, n_parts)
    total = int(vertex_weights.sum())
    limit = max((1.0 + imbalance) * total / n_parts, -(-total // n_parts))
    found: list[tuple[int, float, int, int, np.ndarray]] = []
    for cut, labels in _cuts(graph, vertex_weights, n_parts, imbalance, int(rng.integers(LARGEST_SEED))):
        loads = np.bincount(labels, vertex_weights, n_parts)
        found.append((int(np.count_nonzero(loads == 0)), max(0.0, float(loads.max()) - limit), cut, len(found), labels))
        if graph.neighbours.size > SMALL and found[-1][:2] == (0, 0.0):
            break
    return min(found, key=lambda one: one[:4])[-1]


def no_heavier_than_a_part(weights: np.ndarray, n_parts: int) -> np.ndarray:
    """Weights of vertices, where one that is heavier than an equal part of the others' weight is as heavy as that.

    Parts of equal weight cannot be had with such a vertex. METIS, told its whole weight, leaves parts empty, and
    Mt-KaHyPar nearly so.

    Examples
    --------
    >>> no_heavier_than_a_part(np.array([90, 4, 3, 2, 1]), 3)
    array([5, 4, 3, 2, 1])
    """
    heaviest, rest = -np.sort(-weights)[:n_parts], int(weights.sum())
    for n_left, weight in zip(range(n_parts, 0, -1), heaviest.tolist()):
        if weight * n_left <= rest:
            break
        rest -= weight
    return np.minimum(weights, -(-rest // n_left))


def cut_hypergraph(hyperedges: csr_array, vertex_weights: np.ndarray, n_parts: int, imbalance: float) -> np.ndarray:
    """Parts of the vertices, (n,), such that few hyperedges have vertices in several: Mt-KaHyPar.

    Row e of ``hyperedges`` (n_hyperedges, n) is not zero at the vertices of hyperedge e, of which all count alike. A
    part has (1 + imbalance) / n_parts of the weight of all vertices at most, where vertices can be dealt out so; a
    vertex that is heavier than a part may be counts as a whole one.

    Deterministic: the package's preset of that name draws nothing from its seed, and its answer does not depend on the
    number of threads, which is one unless the program has started the package with more.

    References
    ----------
    Gottesbüren, Heuer, Maas, Sanders and Schlag (2024), Scalable high-quality hypergraph partitioning.

    Examples
    --------
    >>> edges = csr_array(np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 0, 1, 0, 0]]))
    >>> parts = cut_hypergraph(edges, np.array([1, 1, 1, 2, 1]), 2, imbalance=0.05)
    >>> np.unique(parts[:3]).size, np.unique(parts[3:]).size
    (1, 1)
    """
    package = _package("mtkahypar")
    vertex_weights = no_heavier_than_a_part(vertex_weights, n_parts)
    pins = np.split(hyperedges.indices, hyperedges.indptr[1:-1])
    nets = [one.tolist() for one in pins if one.size > 1]  # others cannot be cut
    with _ONE_AT_A_TIME:
        partitioner = _started()
        context = partitioner.context_from_preset(package.PresetType.DETERMINISTIC)
        context.set_partitioning_parameters(n_parts, float(min(imbalance, n_parts)), package.Objective.CUT)
        context.logging = False
        graph = partitioner.create_hypergraph(
            context, vertex_weights.size, len(nets), nets, vertex_weights.tolist(), [1] * len(nets)
        )
        return np.array(graph.partition(context).get_partition(), dtype=np.int64)


def _cuts(
    graph: Graph, vertex_weights: np.ndarray, n_parts: int, imbalance: float, seed: int
) -> Iterator[tuple[int, np.ndarray]]:
    """The weight that is cut, and the parts, in either way of METIS."""
    metis = _package("metis")
    number = np.dtype(metis.zero_copy_dtype())
    _refuse_overflow(graph, vertex_weights, number)
    starts, neighbours, weights = (part.astype(number, copy=False) for part in graph)
    options = metis.Options(
        seed=seed,
        ufactor=max(1, round(1000 * min(imbalance, n_parts))),
        ncuts=CUTS if graph.neighbours.size <= SMALL else 1,
    )
    for two_by_two in (False, True):
        with _ONE_AT_A_TIME:
            cut, labels = metis.part_graph(
                n_parts,
                metis.CSRAdjacency(starts, neighbours),
                vweights=vertex_weights.astype(number),
                eweights=weights,
                recursive=two_by_two,
                options=options,
            )
        yield int(cut), np.asarray(labels, dtype=np.int64)


def _refuse_overflow(graph: Graph, vertex_weights: np.ndarray, number: np.dtype) -> None:
    """METIS is built for whole numbers of 64 bits, or of 32."""
    largest = np.iinfo(number).max
    if number.itemsize < graph.weights.itemsize and max(graph.weights.sum(), vertex_weights.sum()) > largest:
        raise ValueError(
            f"The weights of the graph sum to more than {largest:,}, as far as this METIS counts: "
            "use solver='spectral'."
        )


@cache
def _started() -> Any:
    """Mt-KaHyPar with one thread, once for a process; what the program has started before is left as it is."""
    return _package("mtkahypar").initialize(1, False)


def _package(solver: str) -> Any:
    try:
        return import_module(PACKAGES[solver])
    except ImportError as missing:
        remedy = UNPACKAGED.get((solver, sys.platform))
        words = ": pip install 'partita[graph]', or use" if remedy is None else f", {remedy}: use"
        raise ImportError(
            f"solver={solver!r} needs the package {PACKAGES[solver]}{words} solver='spectral', which needs neither."
        ) from missing
