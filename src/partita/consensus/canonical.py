"""An order of objects, clusterings and labels that does not depend on how they came.

The label matrix is a bipartite graph: an object and a label are joined where the object has the label, and labels
belong to columns. Colour refinement gives every object, label and column a 64-bit colour that only depends on its place
in that graph. Objects that are equal in every column are one vertex with a weight.
"""

from typing import NamedTuple

import numpy as np

from partita.table.distinct import distinct_rows

MOST_ROUNDS = 6
MOST_CELLS = 50_000_000
"""Cells that may be looked at to part objects that refinement alone leaves tied."""
_FIRST, _SECOND, _THIRD = (np.uint64(key) for key in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15))
_SHIFTS = tuple(np.uint64(shift) for shift in (30, 27, 31))


class CanonicalOrder(NamedTuple):
    """Where things come first: positions in the matrix that was given."""

    rows: np.ndarray  # (n,)
    columns: np.ndarray  # (M,)
    labels: list[np.ndarray]  # per given column the rank (J_m,) of every code
    kinds: np.ndarray  # (n,) which rows are equal: a number per kind of them


def canonical_order(codes: np.ndarray, n_labels: np.ndarray | None = None) -> CanonicalOrder:
    """Order objects, columns and labels by their colours.

    Two matrices that differ by the order of objects, of columns or the codes of labels give the same matrix once
    each is put into its own order, up to ties that refinement cannot break: where objects that differ share a
    colour, one of them is given a colour of its own and refinement goes on, as long as that costs no more than
    `MOST_CELLS`. Ties that remain are in the order given.

    Parameters
    ----------
    codes : (n, M) array of int
        Codes 0, 1, ... of the labels of every column; -1 = not labelled.
    n_labels : (M,) array of int, optional
        How many labels every column has; by default as many as its largest code says.

    Notes
    -----
    Weisfeiler and Leman (1968). Sums of hashes modulo 2^64; that two different neighbourhoods share a sum has a
    probability of about (n + labels)^2 / 2^64. Cost O(n M) per round, at most six rounds, and a sort of the objects.
    """
    first_rows, kinds = distinct_rows([np.ascontiguousarray(codes)])
    graph = _Graph(codes[first_rows], np.bincount(kinds), n_labels)
    colours = _refined(graph, np.zeros(len(first_rows), np.uint64))
    tied, cells = _first_tied(colours.atoms), 0
    while tied >= 0 and cells < MOST_CELLS:
        marked = colours.atoms.copy()
        marked[tied] = ~marked[tied]
        colours = _refined(graph, marked)
        tied, cells = _first_tied(colours.atoms), cells + len(first_rows) * codes.shape[1] * MOST_ROUNDS
    return CanonicalOrder(
        np.argsort(colours.atoms[kinds], kind="stable"),
        np.argsort(colours.columns, kind="stable"),
        [np.argsort(np.argsort(own, kind="stable"), kind="stable") for own in graph.by_column(colours.labels)],
        kinds,
    )


class _Colours(NamedTuple):
    atoms: np.ndarray
    labels: np.ndarray
    columns: np.ndarray


class _Graph:
    """Which label, counted over all columns, each distinct object has; the last one is no label."""

    def __init__(self, codes: np.ndarray, weights: np.ndarray, n_labels: np.ndarray | None):
        n_labels = codes.max(axis=0, initial=-1) + 1 if n_labels is None else n_labels
        self.offset = np.concatenate([[0], np.cumsum(n_labels)])
        none, starts = self.offset[-1], self.offset
        self.columns = [
            np.where(column < 0, none, column + start).astype(np.int32) for column, start in zip(codes.T, starts)
        ]
        self.weights = weights.astype(np.uint64)

    def by_column(self, of_labels: np.ndarray) -> list[np.ndarray]:
        return np.split(of_labels, self.offset[1:-1])

    def label_sums(self, of_atoms: np.ndarray) -> np.ndarray:
        """Sum over the objects that have each label."""
        sums = np.zeros(self.offset[-1] + 1, np.uint64)
        weighted = of_atoms * self.weights
        for labels in self.columns:
            np.add.at(sums, labels, weighted)
        return sums[:-1]

    def atom_sums(self, of_labels: np.ndarray) -> np.ndarray:
        """Sum over the labels that each object has."""
        padded = np.append(of_labels, np.uint64(0))
        sums = np.zeros(len(self.weights), np.uint64)
        for labels in self.columns:
            sums += padded[labels]
        return sums


def _refined(graph: _Graph, atoms: np.ndarray) -> _Colours:
    """Colours after rounds of refinement, until they part no more objects."""
    n_colours = 0
    for _ in range(MOST_ROUNDS):
        labels, _ = _neighbours(graph, atoms)
        atoms = _mixed(atoms + _mixed(graph.atom_sums(labels)))
        ordered = np.sort(atoms)
        found = 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
        if found in (n_colours, len(atoms)):
            break
        n_colours = found
    return _Colours(atoms, *_neighbours(graph, atoms))


def _neighbours(graph: _Graph, atoms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Colours of labels by the objects that have them and by their columns, and of columns by their labels."""
    column_of_label = np.repeat(np.arange(len(graph.columns)), np.diff(graph.offset))
    labels = _mixed(graph.label_sums(_mixed(atoms)))
    columns = np.zeros(len(graph.columns), np.uint64)
    np.add.at(columns, column_of_label, _mixed(labels + _FIRST))
    return _mixed(labels + _mixed(columns + _SECOND)[column_of_label]), columns


def _first_tied(colours: np.ndarray) -> int:
    """One of the objects of the least colour that several have, -1 where all differ."""
    order = np.argsort(colours, kind="stable")
    equal = np.flatnonzero(colours[order][1:] == colours[order][:-1])
    return int(order[equal[0]]) if len(equal) else -1


def _mixed(values: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit numbers whose outputs look random (splitmix64; Steele, Lea and Flood 2014)."""
    mixed = values + _THIRD
    for shift, key in zip(_SHIFTS[:2], (_FIRST, _SECOND)):
        mixed ^= mixed >> shift
        mixed *= key
    return mixed ^ (mixed >> _SHIFTS[2])
