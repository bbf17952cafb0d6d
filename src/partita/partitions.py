"""Partitions: many clusterings of the same objects in one label matrix.

Base clusterings, MCMC draws and experts' views are all of this type: one row per partition, one
column per object, -1 where an object is not labelled.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from partita.kernels.contingency import add_hashes, relabel_rows

_BLOCK = 1 << 22
_SEED = 20190827
_LARGEST = np.iinfo(np.int64).max


class Partitions:
    """A label matrix with canonical labels.

    Parameters
    ----------
    labels : array-like of int, (n_partitions, n_objects) or (chain, draw, object)
        Any non-negative integers; -1 means that the object is not labelled in that partition.

    Notes
    -----
    Labels are stored 0, 1, ... by first appearance within each partition, in the smallest signed
    integer type that holds them, and are read-only. Two rows are equal if and only if the two
    partitions are.

    Examples
    --------
    >>> Partitions([[7, 7, 3], [5, -1, 5]]).flat
    array([[ 0,  0,  1],
           [ 0, -1,  0]], dtype=int8)
    """

    _labels: np.ndarray

    def __init__(self, labels: Any):
        given = labels._labels if isinstance(labels, Partitions) else _integers(labels)
        if given.ndim not in (2, 3) or 0 in given.shape:
            raise ValueError(
                "Partitions need labels of shape (n_partitions, n_objects) or (chain, draw, object), none of"
                f" them 0; got {given.shape}."
            )
        if isinstance(labels, Partitions):
            self._labels = given
        else:
            self._labels = canonicalize_rows(given.reshape(-1, given.shape[-1])).reshape(given.shape)
        self._atoms: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != self._labels.dtype:
            if copy is False:
                raise ValueError(f"Labels are stored as {self._labels.dtype}: {dtype} needs a copy.")
            return self._labels.astype(dtype)
        return self._labels.copy() if copy else _read_only(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        clusters = self.n_clusters()
        return (
            f"Partitions(shape={self.shape}, dtype={self._labels.dtype}, {clusters.min()} to {clusters.max()} clusters)"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the label array; the last axis is the objects."""
        return self._labels.shape

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return self._labels.shape[-1]

    @property
    def flat(self) -> np.ndarray:
        """The labels as a read-only view of shape (n_partitions, n_objects)."""
        return _read_only(self._labels.reshape(-1, self.n_objects))

    def n_clusters(self) -> np.ndarray:
        """Number of clusters of every partition, shape (n_partitions,)."""
        return self.flat.max(axis=1).astype(np.int64) + 1

    def atoms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Merge the objects whose columns are identical.

        Returns
        -------
        representatives : (n_atoms,) int array
            The first object of every atom, in increasing order.
        inverse : (n_objects,) int array
            The atom of every object.
        counts : (n_atoms,) int array
            The number of objects of every atom.

        Notes
        -----
        A column is hashed as the sum of one random 64-bit key per (partition, label); columns with
        equal hashes are compared entry by entry before they are merged, so the result is exact.
        Cost O(n_partitions n_objects), memory O(n_objects).
        """
        if self._atoms is None:
            self._atoms = _atoms(self.flat)
        return self._atoms

    def atom_labels(self) -> np.ndarray:
        """Labels of the atoms, (n_partitions, n_atoms), in rows that lie together in memory.

        This is the stored array itself where no objects are identical: it is not to be written to.
        """
        # Compiled code is specialised to writable arrays in C order; both matter here.
        labels = self._labels.reshape(-1, self.n_objects)
        representatives = self.atoms()[0]
        merged = len(representatives) < self.n_objects
        return np.take(labels, representatives, axis=1) if merged else labels


def canonical(labels: Any) -> np.ndarray:
    """Relabel one labelling 0, 1, ... by first appearance (int64); -1 stays -1."""
    given = _integers(labels)
    if given.ndim != 1:
        raise ValueError(f"A labelling has one dimension; got shape {given.shape}.")
    return canonicalize_rows(given[None, :])[0].astype(np.int64)


def canonicalize_rows(labels: Any) -> np.ndarray:
    """Relabel every row 0, 1, ... by first appearance, in the smallest sufficient signed integers.

    -1 stays -1. Cost O(size); extra memory is one block of rows.
    """
    given = _integers(labels)
    out = np.empty(given.shape, np.int8)
    for rows, block in _blocks(given):
        if block.min(initial=0) < -1:
            raise ValueError(f"Labels are non-negative, or -1 for not labelled; got {block.min()}.")
        if block.max(initial=0) > 2 * given.shape[1] + 1024:
            _shrink(block)
        most = relabel_rows(block, np.empty(block.max(initial=0) + 1, np.int64))
        out = out.astype(np.promote_types(out.dtype, _smallest(most)), copy=False)
        out[rows] = block
    return out


def by_size(labels: Any) -> np.ndarray:
    """Relabel one labelling 0, 1, ... from the largest cluster to the smallest (int64).

    Ties go by first object; -1 stays -1.
    """
    found = canonical(labels)
    sizes = np.bincount(found[found >= 0])
    rank = np.empty(len(sizes) + 1, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    rank[-1] = -1
    return rank[found]


def largest_first(labels: np.ndarray, weights: np.ndarray, n_components: int) -> np.ndarray:
    """The order of components by the rows that most probably belong to each, ties by first row."""
    sizes = np.bincount(labels, weights, n_components)
    first = np.full(n_components, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return np.lexsort((first, -sizes))


def _read_only(labels: np.ndarray) -> np.ndarray:
    view = labels.view()
    view.flags.writeable = False
    return view


def _integers(labels: Any) -> np.ndarray:
    given = np.asarray(labels)
    if given.size and not (np.issubdtype(given.dtype, np.integer) or given.dtype == bool):
        raise TypeError(f"Labels must be integers (-1: not labelled); got an array of {given.dtype}.")
    if given.dtype == np.uint64 and given.max(initial=0) > _LARGEST:  # which int64 would take for negative ones
        raise ValueError(f"Labels must be below 2**63; got {given.max()}.")
    return given


def _blocks(labels: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Copies of a few rows at a time, as int64: one compiled form serves every stored type."""
    step = max(1, _BLOCK // max(1, labels.shape[1]))
    for start in range(0, len(labels), step):
        rows = slice(start, start + step)
        yield rows, labels[rows].astype(np.int64, order="C")


def _shrink(block: np.ndarray) -> None:
    """Replace large labels by their ranks within the row, in place."""
    for row in block:
        labelled = row >= 0
        row[labelled] = np.unique(row[labelled], return_inverse=True)[1].ravel()


def _smallest(n_labels: int) -> type:
    for kind in (np.int8, np.int16, np.int32):
        if n_labels - 1 <= np.iinfo(kind).max:
            return kind
    return np.int64


def _atoms(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    hashes = _column_hashes(labels)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    leader = first[group.ravel()]
    leader = _separate(labels, leader)
    representatives, inverse, counts = np.unique(leader, return_inverse=True, return_counts=True)
    return representatives, inverse.ravel(), counts


def _column_hashes(labels: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(_SEED)
    hashes = np.zeros(labels.shape[1], np.uint64)
    for _, block in _blocks(labels):
        shape = (len(block), int(block.max()) + 2)
        keys = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
        add_hashes(block, keys, hashes)
    return hashes


def _separate(labels: np.ndarray, leader: np.ndarray) -> np.ndarray:
    """Give the groups in which a column differs from its leader's (a hash collision) exact leaders."""
    followers = np.flatnonzero(leader != np.arange(len(leader)))
    leaders = leader[followers]
    differs = np.zeros(len(followers), bool)
    for row in labels:
        differs |= row[followers] != row[leaders]
    if not differs.any():
        return leader
    suspects = np.flatnonzero(np.isin(leader, leaders[differs]))
    _, first, group = np.unique(labels[:, suspects], axis=1, return_index=True, return_inverse=True)
    exact = leader.copy()
    exact[suspects] = suspects[first[group.ravel()]]
    return exact
