"""Hierarchy: the estimated clusters of a mixture ("pieces") merged, the two that overlap most first, down to one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partita.parameters import choose, is_number, whole_number
from partita.partitions import largest_first
from partita.posterior.overlap import EntropyOverlap, MisclassificationOverlap, Overlap, merge

SMALL_SHARE = 0.03
"""Of a group's rows that would be placed in another one: groups are suggested to be one where it is more."""

CO_CLUSTERING_CUT = 0.05
"""Of co-clustering, where draws alone are known; `benchmarks.hierarchy` chose both."""

OWN_SHARE = 1e-6
"""What a row's own piece has of it at least, so that a piece that no membership speaks for is merged first."""

CRITERIA: dict[str, Callable[[np.ndarray, np.ndarray], Overlap]] = {
    "entropy": EntropyOverlap,
    "misclassification": MisclassificationOverlap,
}


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Merges of pieces down to one group, and the groups at every stage.

    A mixture describes a bent or heavy-tailed group by several overlapping components. Those are the pieces here, and
    groups are unions of pieces. Groups are numbered by size, 0 the largest, ties by first row; where nothing is
    merged, pieces keep the numbers that they have.

    Parameters
    ----------
    pieces : (n,) int64
        The piece of every row, 0 .. K - 1; -1 for a row that has none.
    memberships : (n, K)
        How surely each row belongs to each piece; rows sum to 1.
    row_weights : (n,)
        How often each row counts.
    merges : (K - 1, 4)
        As in scipy's linkage: merge t joins two groups, by their numbers, into group K + t, the pieces being groups
        0 .. K - 1; then their overlap when they were joined, and the rows of the new group.
    criterion : str
        What overlap means: "misclassification", "entropy" or "co-clustering".
    suggested : int
        The number of groups that are left when groups are merged by the share of one's rows that would be placed in the
        other, until that is at most 0.03 for any two: rows of the rest are mistaken for each other's in no more than 3
        of 100 cases. From draws alone: until no two overlap by more than 0.05.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from partita import Mixture
    >>> model = Mixture(engine="vb", random_state=0).fit(make_moons(600, noise=0.06, random_state=0)[0])
    >>> found = model.hierarchy()
    >>> found.n_pieces, found.suggested
    (8, 2)
    """

    pieces: np.ndarray
    memberships: np.ndarray = field(repr=False)
    row_weights: np.ndarray = field(repr=False)
    merges: np.ndarray
    criterion: str
    suggested: int

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return len(self.merges) + 1

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every piece, with their weights, (K,)."""
        return sizes_of(self.pieces, self.row_weights, self.n_pieces)

    @property
    def overlaps(self) -> np.ndarray:
        """The height of every merge, (K - 1,): the least overlap of it and of all merges before it.

        A merged group may overlap a third one more than its parts did, so the overlaps of merges can rise; the least so
        far cannot. Of the groups before merge t some two overlap by at least ``overlaps[t]``.
        """
        return heights_of(self.merges)

    def n_groups(self, overlap: float) -> int:
        """The number of groups where for the first time no two are left that overlap by more than ``overlap``."""
        if not is_number(overlap) or not overlap >= 0.0:
            raise ValueError(f"overlap must be a number, 0 or more, got {overlap!r}.")
        return groups_left(self.merges, overlap)

    def labels(self, n_groups: int | None = None, *, overlap: float | None = None) -> np.ndarray:
        """The group of every row, (n,) int64; -1 for a row that has no piece.

        Parameters
        ----------
        n_groups : int, optional
            From 1 to ``n_pieces``; by default ``suggested``.
        overlap : float, optional
            Instead of it: merge until no two groups are left that overlap by more.
        """
        return np.append(self.groups(n_groups, overlap=overlap), -1)[self.pieces]

    def probabilities(self, n_groups: int | None = None, *, overlap: float | None = None) -> np.ndarray:
        """How surely each row belongs to each group, (n, n_groups): the memberships of its pieces, summed."""
        return summed(self.memberships, self.groups(n_groups, overlap=overlap))

    def groups(self, n_groups: int | None = None, *, overlap: float | None = None) -> np.ndarray:
        """The group of every piece, (K,) int64; options as in `labels`."""
        n_groups, n_pieces = self._number(n_groups, overlap), self.n_pieces
        if n_groups == n_pieces:
            return np.arange(n_pieces)
        root = np.arange(2 * n_pieces - n_groups)
        for t in reversed(range(n_pieces - n_groups)):
            root[self.merges[t, :2].astype(np.int64)] = root[n_pieces + t]
        group = np.unique(root[:n_pieces], return_inverse=True)[1].ravel()
        labelled = self.pieces >= 0
        order = largest_first(group[self.pieces[labelled]], self.row_weights[labelled], n_groups)
        return np.argsort(order)[group]

    def _number(self, n_groups: Any, overlap: Any) -> int:
        if overlap is not None:
            if n_groups is not None:
                raise TypeError("Pass n_groups or overlap, not both: either says where to cut.")
            return self.n_groups(overlap)
        if n_groups is None:
            return self.suggested
        wanted = whole_number("n_groups", n_groups, 1)
        if wanted > self.n_pieces:
            raise ValueError(f"n_groups must be at most {self.n_pieces}, the number of pieces; got {wanted}.")
        return wanted


def hierarchy(
    pieces: np.ndarray, memberships: np.ndarray, row_weights: np.ndarray, criterion: str = "entropy"
) -> Hierarchy:
    """Merge pieces by the overlap that memberships (n, K) show; rows of weight 0 have no say.

    Parameters
    ----------
    criterion : {"entropy", "misclassification"}
        `EntropyOverlap` or `MisclassificationOverlap`.
    """
    kind = choose("criterion", criterion, CRITERIA)
    shares = memberships.copy()
    own = (np.flatnonzero(pieces >= 0), pieces[pieces >= 0])
    shares[own] = np.maximum(shares[own], OWN_SHARE)
    sizes = sizes_of(pieces, row_weights, memberships.shape[1])
    merges = merge(kind(shares, row_weights), sizes)
    by_share = (
        merges if kind is MisclassificationOverlap else merge(MisclassificationOverlap(shares, row_weights), sizes)
    )
    return Hierarchy(pieces, memberships, row_weights, merges, criterion, groups_left(by_share, SMALL_SHARE))


def heights_of(merges: np.ndarray) -> np.ndarray:
    """The least overlap of every merge and of all before it, (K - 1,)."""
    return np.minimum.accumulate(merges[:, 2])


def groups_left(merges: np.ndarray, overlap: float) -> int:
    """How many groups there are when for the first time no two are left that overlap by more."""
    return len(merges) + 1 - int(np.count_nonzero(heights_of(merges) > overlap))


def sizes_of(pieces: np.ndarray, row_weights: np.ndarray, n_pieces: int) -> np.ndarray:
    """Rows of every piece, with their weights, (K,)."""
    labelled = pieces >= 0
    return np.bincount(pieces[labelled], weights=row_weights[labelled], minlength=n_pieces)


def summed(memberships: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Memberships (n, K) of pieces added up by the group of each piece (K,)."""
    totals = np.zeros((len(memberships), groups.max() + 1))
    for piece, group in enumerate(groups):
        totals[:, group] += memberships[:, piece]
    return totals
