"""How many votes an ensemble is worth: fewer than its members where they repeat each other's cuts.

A consensus that takes members as independent counts what they share once for each of them, and becomes their common
refinement. What they share is measured by the mean normalised mutual information s of two members.
"""

from itertools import combinations
from typing import Any

import numpy as np

from partita.kernels.label_pairs import count_pairs
from partita.parameters import is_number
from partita.wording import count_of

TOLD = 2.0
"""How often over the votes tell an object's cluster. Chosen by ``python -m benchmarks.votes``."""

LEAST = 0.001
"""Votes that can be asked for: with fewer the answer is the prior's all the same."""

MOST_PAIRS = 300  # of members that are compared: of more, so many, always the same ones
MOST_OBJECTS = 20_000  # that are counted: of more, so many, evenly spaced
MOST_CELLS = 2**22  # of the contingency tables that are counted in one pass


def checked_votes(votes: Any, name: str = "votes") -> None:
    """Refuse what is neither a rule's name nor a number that there can be."""
    if isinstance(votes, str) and votes in ("auto", "all"):
        return
    if not (is_number(votes) and votes >= LEAST):
        raise ValueError(
            f"{name} must be 'auto', 'all' or a number from {LEAST:g} to that of the base clusterings, got {votes!r}."
        )


def column_weight(codes: np.ndarray, votes: str | float) -> float:
    """How often a member counts, so that the members (n, M) of an ensemble have so many votes together.

    Members that tell no two objects apart have none. More votes than there are others are refused.
    """
    codes = codes[:, telling(codes)]
    n_members = codes.shape[1]
    if isinstance(votes, str):
        if votes == "all" or n_members == 0:
            return 1.0
        return effective_votes(shared_information(codes), n_members, share_labelled(codes)) / n_members
    if n_members == 0:
        raise ValueError(
            f"votes={votes!r}, but no base clustering tells objects apart: votes='auto' takes what there is."
        )
    if votes > n_members:
        raise ValueError(
            f"votes={votes!r} are more than the {count_of(n_members, 'base clustering')} that "
            f"{'tells' if n_members == 1 else 'tell'} objects apart: votes='all' counts each of them once."
        )
    return float(votes) / n_members


def telling(codes: np.ndarray) -> np.ndarray:
    """Which members (n, M; -1: no label) have two labels at least, (M,)."""
    largest = codes.max(axis=0, initial=-1)
    return np.where(codes < 0, largest, codes).min(axis=0, initial=np.iinfo(codes.dtype).max) < largest


def effective_votes(shared: float, n_members: int, labelled: float = 1.0) -> float:
    """The number of votes of so many members that share this much and label this share of objects, min(M, 2 / (s o)).

    What members share of their information is what they have in common: the cluster of an object, and mistakes that
    they make alike. The labels do not tell these two apart. A vote tells a share s of the cluster, so that 2 / s votes
    tell it twice over, which is enough to be sure; all that more of them could add are the mistakes. The less members
    share, the more of them count; and the fewer objects each of them labels, since an object hears only those that
    label it.

    Examples
    --------
    >>> effective_votes(0.5, 30), effective_votes(0.05, 30)
    (4.0, 30.0)
    """
    told = shared * labelled
    return float(min(n_members, TOLD / told)) if told > 0.0 else float(n_members)


def share_labelled(codes: np.ndarray) -> float:
    """Which share of the members (n, M; -1: no label) an object has a label from, on average over those with any."""
    labelled = codes >= 0
    heard = labelled.any(axis=1)
    return float(labelled[heard].mean()) if heard.any() else 0.0


def shared_information(codes: np.ndarray) -> float:
    """Mean normalised mutual information of two members of ``codes`` (n, M; -1: no label), without what chance shares.

    I(a, b) / sqrt(H(a) H(b)) over the objects that both label, I less its bias (J_a - 1)(J_b - 1) / (2 n) and not
    below 0, J the labels that occur there. Members that say nothing share nothing. Cost: one pass over the objects,
    pairs x objects at most 300 x 20 000.

    Examples
    --------
    >>> halves = np.repeat([0, 1], 500)
    >>> round(shared_information(np.column_stack([halves, 1 - halves])), 3)
    0.999
    """
    n_members = codes.shape[1]
    if n_members < 2:
        return 0.0
    if len(codes) > MOST_OBJECTS:
        codes = codes[np.linspace(0, len(codes) - 1, MOST_OBJECTS).astype(int)]
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    n_labels = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    pairs = _pairs(n_members)
    n_cells = n_labels[pairs].prod(axis=1)
    shares = np.empty(len(pairs))
    for i in np.flatnonzero(n_cells > MOST_CELLS):
        shares[i] = _shared(*_sorted_counts(codes[:, pairs[i]]))
    small = np.flatnonzero(n_cells <= MOST_CELLS)
    for part in np.split(small, np.flatnonzero(np.diff(n_cells[small].cumsum() // MOST_CELLS)) + 1):
        shares[part] = [_shared(*_margins(table)) for table in _tables(codes, pairs[part], n_labels)]
    return float(shares.mean())


def _pairs(n_members: int) -> np.ndarray:
    """The pairs of members that are compared, (P, 2)."""
    pairs = np.array(list(combinations(range(n_members), 2)))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return pairs[np.sort(np.random.default_rng(0).choice(len(pairs), MOST_PAIRS, replace=False))]


def _tables(codes: np.ndarray, pairs: np.ndarray, n_labels: np.ndarray) -> list[np.ndarray]:
    """The contingency tables of some pairs."""
    heights, widths = n_labels[pairs].T
    ends = np.cumsum(heights * widths)
    counts = np.zeros(int(ends[-1]) if ends.size else 0, dtype=np.int64)
    count_pairs(codes, pairs, ends - heights * widths, widths, counts)
    return [table.reshape(height, -1) for table, height in zip(np.split(counts, ends[:-1]), heights)]


def _margins(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The counts of rows, of columns and of cells."""
    return table.sum(axis=1), table.sum(axis=0), table.ravel()


def _sorted_counts(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of two columns with so many labels that most cells of their table are empty."""
    both = labels[(labels >= 0).all(axis=1)]
    cells = np.unique(both, axis=0, return_counts=True)[1]
    return np.bincount(both[:, 0]), np.bincount(both[:, 1]), cells


def _shared(of_rows: np.ndarray, of_columns: np.ndarray, cells: np.ndarray) -> float:
    """Normalised mutual information from counts, its bias taken off."""
    total = cells.sum()
    if total == 0:
        return 0.0
    first, second = _entropy(of_rows / total), _entropy(of_columns / total)
    if first <= 0.0 or second <= 0.0:
        return 0.0
    freedom = (np.count_nonzero(of_rows) - 1) * (np.count_nonzero(of_columns) - 1)
    information = first + second - _entropy(cells / total) - freedom / (2.0 * total)
    return float(max(information, 0.0) / np.sqrt(first * second))


def _entropy(shares: np.ndarray) -> float:
    shares = shares[shares > 0]
    return float(-(shares @ np.log(shares)))
