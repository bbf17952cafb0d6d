"""Which row sits in which slot, and the room to work that a sweep needs."""

from typing import NamedTuple

import numpy as np


class Allocation(NamedTuple):
    """Rows in slots. Arrays change in place; a grown allocation is a new tuple."""

    labels: np.ndarray  # (n,) int64, slot of each row, -1 = not seated
    sizes: np.ndarray  # (slots,) int64, summed weight of a slot's rows
    row_weights: np.ndarray  # (n,) int64
    active: np.ndarray  # (rows that take part,) int64
    scores: np.ndarray  # (slots,) float64, scratch
    prior_scores: np.ndarray  # (slots,) float64, scratch
    members: np.ndarray  # (rows that take part,) int64, scratch


def new_allocation(row_weights: np.ndarray, n_slots: int) -> Allocation:
    """Nobody is seated yet; rows of weight 0 never will be."""
    active = np.flatnonzero(row_weights > 0).astype(np.int64)
    return Allocation(
        labels=np.full(row_weights.shape[0], -1, dtype=np.int64),
        sizes=np.zeros(n_slots, dtype=np.int64),
        row_weights=row_weights,
        active=active,
        scores=np.zeros(n_slots),
        prior_scores=np.zeros(n_slots),
        members=np.empty_like(active),
    )


def grown_allocation(allocation: Allocation, n_slots: int) -> Allocation:
    """The seats as they are, with room for ``n_slots`` slots."""
    sizes = np.zeros(n_slots, dtype=np.int64)
    sizes[: allocation.sizes.shape[0]] = allocation.sizes
    return allocation._replace(sizes=sizes, scores=np.zeros(n_slots), prior_scores=np.zeros(n_slots))
