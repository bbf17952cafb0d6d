"""How much the groups of a mixture overlap, pair by pair, while they are merged."""

from typing import Protocol

import numpy as np

LEAST = 1e-9
"""Memberships below this count as none: what they could add to an overlap is of their own size."""


class Overlap(Protocol):
    """Overlaps, 0 or more, of groups that are joined one pair after the other."""

    @property
    def n_groups(self) -> int:
        """How many groups there are before the first is joined."""

    def of(self, group: int, others: np.ndarray) -> np.ndarray:
        """Overlap of one group with each of some others."""

    def join(self, first: int, second: int) -> bool:
        """Let ``second`` become part of ``first``; whether overlaps of third groups may have changed."""


class EntropyOverlap:
    """Doubt between two groups, in nats per row of the smaller one.

    For memberships r and row weights w, the entropy of the labels, summed over rows, falls by

        sum_n w_n [h(r_ni + r_nj) - h(r_ni) - h(r_nj)],  h(x) = x log x,

    when i and j become one (Baudry et al. 2010). Divided by min(N_i, N_j), N = sum_n w_n r_n: a small piece within a
    large one overlaps as much as two halves of one group do. 0 where every row is surely in one of them or in neither;
    halves of one cloud that nothing tells apart have 2 log 2, a small piece of it more.
    """

    def __init__(self, memberships: np.ndarray, row_weights: np.ndarray):
        counted = np.flatnonzero(row_weights > 0)
        self._weights = np.asarray(row_weights, dtype=np.float64)
        self._sizes = self._weights @ memberships
        self._members = [counted[column[counted] > LEAST] for column in memberships.T]
        self._values = [column[rows] for column, rows in zip(memberships.T, self._members)]

    @property
    def n_groups(self) -> int:
        """How many groups there are before the first is joined."""
        return len(self._members)

    def of(self, group: int, others: np.ndarray) -> np.ndarray:
        """Overlap of one group with each of some others."""
        own = self._spread(group)
        present = own > 0
        return np.array([self._pair(own, present, group, other) for other in others])

    def join(self, first: int, second: int) -> bool:
        """Let ``second`` become part of ``first``; overlaps of third groups stay."""
        joined = self._spread(first) + self._spread(second)
        self._members[first] = np.flatnonzero(joined)
        self._values[first] = joined[self._members[first]]
        self._sizes[first] += self._sizes[second]
        return False

    def _spread(self, group: int) -> np.ndarray:
        spread = np.zeros(self._weights.size)
        spread[self._members[group]] = self._values[group]
        return spread

    def _pair(self, own: np.ndarray, present: np.ndarray, group: int, other: int) -> float:
        shared = np.flatnonzero(present[self._members[other]])
        rows = self._members[other][shared]
        a, b = own[rows], self._values[other][shared]
        doubt = (a + b) * np.log(a + b) - a * np.log(a) - b * np.log(b)
        gain = float(self._weights[rows] @ doubt)
        return gain / min(self._sizes[group], self._sizes[other]) if gain > 0 else 0.0


class MisclassificationOverlap:
    """The larger share of one group's rows that the memberships place in the other one.

    P(placed in j | in i) = sum_n w_n r_ni [r_nj is the largest of row n] / N_i, and the overlap is the larger of the
    two directions (DEMP; Hennig 2010). A row is placed in the first of equally probable groups.
    """

    def __init__(self, memberships: np.ndarray, row_weights: np.ndarray):
        self._values = np.array(memberships, dtype=np.float64, order="F")
        self._weights = np.asarray(row_weights, dtype=np.float64)
        self._sizes = self._weights @ self._values
        self._placed = self._values.argmax(axis=1)
        self._largest = self._values.max(axis=1)
        n_groups = self._values.shape[1]
        self._mass = np.zeros((n_groups, n_groups))  # rows of group i that are placed in j
        for group in range(n_groups):
            self._mass[:, group] = self._mass_of(self._placed == group)

    @property
    def n_groups(self) -> int:
        """How many groups there are before the first is joined."""
        return len(self._mass)

    def of(self, group: int, others: np.ndarray) -> np.ndarray:
        """Overlap of one group with each of some others."""
        out = self._mass[group, others] / self._sizes[group]
        into = self._mass[others, group] / self._sizes[others]
        return np.minimum(np.maximum(out, into), 1.0)

    def join(self, first: int, second: int) -> bool:
        """Let ``second`` become part of ``first``, which may become the largest of rows placed elsewhere."""
        self._values[:, first] += self._values[:, second]
        self._values[:, second] = 0.0
        self._sizes[first] += self._sizes[second]
        self._sizes[second] = 1.0
        for along in (self._mass, self._mass.T):
            along[first] += along[second]
            along[second] = 0.0
        self._placed[self._placed == second] = first
        moved = (self._values[:, first] > self._largest) & (self._placed != first)
        for group in np.unique(self._placed[moved]):
            mass = self._mass_of(moved & (self._placed == group))
            self._mass[:, group] -= mass
            self._mass[:, first] += mass
        self._placed[moved] = first
        np.maximum(self._largest, self._values[:, first], out=self._largest)
        return bool(moved.any())

    def _mass_of(self, rows: np.ndarray) -> np.ndarray:
        chosen = np.flatnonzero(rows)
        return self._weights[chosen] @ self._values[chosen]


def merge(overlap: Overlap, sizes: np.ndarray) -> np.ndarray:
    """Join the two groups that overlap most until one is left: the merges of `Hierarchy`, (K - 1, 4).

    Pairs of equal overlap, such as none, are joined from the smallest on by ``sizes`` (K,), the rows of every group.
    Cost: K times the overlaps of one group with all others, and O(K^3) comparisons.
    """
    n_groups, sizes = overlap.n_groups, np.array(sizes, dtype=np.float64)
    matrix = np.full((n_groups, n_groups), -1.0)
    alive, number = np.ones(n_groups, dtype=bool), np.arange(n_groups)
    for group in range(n_groups - 1):
        _fill(matrix, overlap, group, np.arange(group + 1, n_groups))
    merges = np.empty((n_groups - 1, 4))
    for t in range(n_groups - 1):
        first, second = _largest_pair(matrix, sizes)
        sizes[first] += sizes[second]
        pair = sorted((number[first], number[second]))
        merges[t] = (*pair, matrix[first, second], sizes[first])
        number[first], alive[second] = n_groups + t, False
        matrix[second] = matrix[:, second] = -1.0
        changed = np.flatnonzero(alive).tolist() if overlap.join(first, second) else [first]
        for group in changed:
            _fill(matrix, overlap, group, np.flatnonzero(alive & (np.arange(n_groups) != group)))
    return merges


def _fill(matrix: np.ndarray, overlap: Overlap, group: int, others: np.ndarray) -> None:
    matrix[group, others] = matrix[others, group] = overlap.of(group, others)


def _largest_pair(matrix: np.ndarray, sizes: np.ndarray) -> tuple[int, int]:
    """The pair of the largest overlap, of several the one of the fewest rows, then the first."""
    firsts, seconds = np.nonzero(np.triu(matrix == matrix.max(), 1))
    smallest = np.argmin(sizes[firsts] + sizes[seconds])
    return int(firsts[smallest]), int(seconds[smallest])
