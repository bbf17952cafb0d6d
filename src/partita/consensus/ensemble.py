"""An ensemble as the methods see it: the kinds of objects that its labels tell apart, and how many there are of each.

Objects with the same labels are one kind with a weight. Co-association, hyperedges and likelihoods do not tell them
apart, so that nothing is lost; and no method can part them.
"""

from functools import cached_property

import numpy as np
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from partita.table.distinct import distinct_rows


class Ensemble:
    """Base clusterings of the objects that have a label in one of them at least.

    Parameters
    ----------
    codes : (n, M) array of int
        Labels 0, 1, ... of every column; -1: none.
    n_labels : (M,) array of int, optional
        How many labels every column has; by default as many as its largest label says.

    Attributes
    ----------
    codes : (A, M) array of int
        Labels of every kind of object.
    weights : (A,) array of int
        Objects of every kind.
    kinds : (n,) array of int
        The kind of every object; -1: it has no label at all.
    n_labels : (M,) array of int
    """

    def __init__(self, codes: np.ndarray, n_labels: np.ndarray | None = None):
        labelled = (codes >= 0).any(axis=1)
        told = np.ascontiguousarray(codes[labelled])
        first, kind = distinct_rows([told])
        self.codes = told[first]
        self.weights = np.bincount(kind)
        self.kinds = np.full(codes.shape[0], -1, dtype=np.int64)
        self.kinds[labelled] = kind
        self.n_labels = codes.max(axis=0).astype(np.int64) + 1 if n_labels is None else n_labels

    @property
    def n_kinds(self) -> int:
        """How many different objects there are."""
        return self.codes.shape[0]

    @property
    def n_members(self) -> int:
        """How many base clusterings."""
        return self.codes.shape[1]

    @property
    def offsets(self) -> np.ndarray:
        """Where the labels of every column begin among those of all columns, and last their number; (M + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_labels)])

    @cached_property
    def indicators(self) -> csr_array:
        """H (A, labels of all columns): 1 where a kind has a label. Columns of labels that nobody has are empty."""
        rows, members = np.nonzero(self.codes >= 0)
        columns = self.codes[rows, members] + self.offsets[members]
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.n_kinds))])
        return csr_array((np.ones(rows.size), columns, starts), shape=(self.n_kinds, int(self.offsets[-1])))

    @property
    def positions(self) -> np.ndarray:
        """The labels (A, M) of every kind by their places among those of all columns; -1: none, or the only one.

        Whoever has a label at all has the only one of its column: that says nothing of an object.
        """
        says = (self.codes >= 0) & (self.n_labels > 1)
        return np.where(says, self.codes + self.offsets[:-1], -1)

    @property
    def n_parts(self) -> int:
        """In how many parts the objects fall that no base clustering joins, not even by way of others."""
        return int(parts_of(self.indicators).max()) + 1

    def of_objects(self, of_kinds: np.ndarray, otherwise: int = -1) -> np.ndarray:
        """What is known of kinds, told of every object; ``otherwise`` of those without a label."""
        return np.where(self.kinds >= 0, of_kinds[np.maximum(self.kinds, 0)], otherwise)


def parts_of(indicators: csr_array) -> np.ndarray:
    """The part of every row, (n,), from 0: no column joins two parts, not even by way of other rows.

    Examples
    --------
    >>> parts_of(csr_array(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]])))
    array([0, 0, 0, 1])
    """
    joined = block_array([[None, indicators], [indicators.T, None]])
    found = connected_components(joined, directed=False)[1][: indicators.shape[0]]
    return np.unique(found, return_inverse=True)[1]
