"""Co-association: how often base clusterings put two objects together."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from partita.consensus.ensemble import Ensemble
from partita.posterior.membership import MOST_CELLS

BLOCK = 2**22
"""Cells of the part that is made at once."""


def coassociation(ensemble: Ensemble, label_weights: np.ndarray | None = None) -> np.ndarray:
    """The share of the base clusterings that put two kinds of objects together, of every two kinds.

    S_ij = sum_m w(y_im) [y_im = y_jm] / n_ij over the n_ij base clusterings in which both have a label; 0 where there
    is none. Objects of one kind are together wherever they have a label.

    Parameters
    ----------
    ensemble : Ensemble
        Of A kinds.
    label_weights : (labels of all columns,) array, optional
        w, from 0 to 1, of every label in the order of `Ensemble.indicators`; by default 1.

    Returns
    -------
    (A (A - 1) / 2,) array
        Condensed as scipy has it: row after row of the upper triangle.

    Notes
    -----
    Time O(A^2 M) for M base clusterings. More than 2^27 cells, 1 GiB, which 16 384 kinds need, are refused.

    References
    ----------
    Fred and Jain (2005), Combining multiple clusterings using evidence accumulation.

    Examples
    --------
    >>> coassociation(Ensemble(np.array([[0, 0, 0, -1], [0, 1, -1, 0]])))
    array([0.5])
    """
    n_kinds = ensemble.n_kinds
    _refuse_large(n_kinds)
    shares, end = np.empty(n_kinds * (n_kinds - 1) // 2), 0
    for block in _blocks(ensemble, label_weights):
        for i, row in enumerate(block):
            begin, end = end, end + row.size - 1 - i
            shares[begin:end] = row[i + 1 :]
    return shares


def _refuse_large(n_kinds: int) -> None:
    n_cells = n_kinds * (n_kinds - 1) // 2
    if n_cells > MOST_CELLS:
        raise ValueError(
            f"Co-association of {n_kinds:,} different objects needs {n_cells:,} cells, {8 * n_cells / 2**30:.1f} GiB, "
            "more than 1 GiB: BipartiteCut, LocallyWeighted(method='graph') and NBCE need no such matrix."
        )


def _blocks(ensemble: Ensemble, label_weights: np.ndarray | None) -> Iterator[np.ndarray]:
    """Of some kinds at a time the shares with every kind from the first of them on."""
    H = ensemble.indicators
    weighted = H if label_weights is None else csr_array(H * label_weights)
    labelled = csr_array((ensemble.codes >= 0).astype(np.float64))
    has_gaps, step = (ensemble.codes < 0).any(), max(1, BLOCK // max(H.shape))
    for start in range(0, ensemble.n_kinds, step):
        together = _products(weighted, H, start, start + step)
        both = _products(labelled, labelled, start, start + step) if has_gaps else np.float64(ensemble.n_members)
        yield np.divide(together, both, out=together, where=both > 0.0)


def _products(left: csr_array, right: csr_array, start: int, stop: int) -> np.ndarray:
    """Of some rows of ``left`` the inner products with every row of ``right`` from the first of them on."""
    return (right[start:] @ left[start:stop].T.toarray()).T
