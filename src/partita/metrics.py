"""How far two labelings are from each other, and what one says: pure functions.

Labels are of any hashable kind. -1, None and nan mean not labelled: objects that either labelling leaves out do not
count. With no object left nothing disagrees: losses are 0 and scores of agreement 1. Entropies are in nats. Every
function costs O(n) for n objects, plus a sort.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from partita.labels import counted, label_codes
from partita.parameters import choose

__all__ = [
    "adjusted_rand",
    "binder_loss",
    "f1_measure",
    "nid",
    "nmi",
    "nvi",
    "partition_entropy",
    "purity",
    "variation_of_information",
]


def binder_loss(truth: Any, found: Any, *, a: float = 1.0) -> float:
    """Binder's loss: (2/n^2) times the cost of all unordered pairs of objects that ``found`` gets wrong.

    A pair that is apart in ``found`` and together in ``truth`` (a wrong split) costs ``a``, one that is
    together in ``found`` and apart in ``truth`` (a wrong merge) 2 - ``a``. With cluster sizes n_k of found, n_l of
    truth and n_kl of both this is [a sum_l n_l^2 + (2 - a) sum_k n_k^2 - 2 sum_kl n_kl^2] / n^2. For
    ``a`` = 1 it is symmetric, and the share of the n^2 ordered pairs on which the two disagree. Binder (1978);
    Lau and Green (2007).

    Parameters
    ----------
    truth, found : array-like of labels, (n_objects,)
    a : float
        Cost of a wrong split, from 0 to 2.

    Examples
    --------
    >>> round(binder_loss([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.278
    """
    _check_cost(a)
    table = _contingency(truth, found)
    if table.n == 0:
        return 0.0
    joint = _sum_of_squares(table.joint)
    wrong_splits, wrong_merges = _sum_of_squares(table.truth) - joint, _sum_of_squares(table.found) - joint
    return float(a * wrong_splits + (2.0 - a) * wrong_merges) / table.n**2


def variation_of_information(truth: Any, found: Any, *, a: float = 1.0) -> float:
    """Variation of information, in nats: a H(found | truth) + (2 - a) H(truth | found).

    H(found | truth) = -sum_kl n_kl/n log(n_kl/n_l) is what splitting the clusters of ``truth`` costs, the other
    term what merging them costs. For ``a`` = 1 it is symmetric and a metric. Meila (2007), eq. 15; Wade and Ghahramani
    (2018); Dahl, Johnson and Mueller (2022) for ``a``.

    Parameters
    ----------
    truth, found : array-like of labels, (n_objects,)
    a : float
        Cost of a wrong split, from 0 to 2.

    Examples
    --------
    >>> round(variation_of_information([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.868
    """
    _check_cost(a)
    splits, merges = _conditional_entropies(_contingency(truth, found))
    return a * splits + (2.0 - a) * merges


def nvi(truth: Any, found: Any) -> float:
    """Normalised variation of information: 1 - I(found, truth) / H(found, truth), from 0 to 1; 0/0 is 0.

    A metric. Vinh, Epps and Bailey (2010).

    Examples
    --------
    >>> round(nvi([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.652
    """
    table = _contingency(truth, found)
    return _ratio(sum(_conditional_entropies(table)), _entropy(table.joint))


def nid(truth: Any, found: Any) -> float:
    """Normalised information distance: 1 - I(found, truth) / max(H(found), H(truth)), from 0 to 1; 0/0 is 0.

    A metric. Vinh, Epps and Bailey (2010).

    Examples
    --------
    >>> round(nid([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.579
    """
    table = _contingency(truth, found)
    return _ratio(max(_conditional_entropies(table)), max(_entropy(table.found), _entropy(table.truth)))


def adjusted_rand(truth: Any, found: Any) -> float:
    """Adjusted Rand index: 1 for equal partitions, 0 on average for unrelated ones; scikit-learn's.

    Hubert and Arabie (1985).

    Examples
    --------
    >>> round(adjusted_rand([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.242
    """
    return float(adjusted_rand_score(*_common(truth, found)))


def nmi(truth: Any, found: Any) -> float:
    """Normalised mutual information: I(found, truth) / sqrt(H(found) H(truth)); scikit-learn's.

    1 for equal partitions, 0 where only one of the two has a single cluster. Strehl and Ghosh (2002).

    Examples
    --------
    >>> round(nmi([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.53
    """
    return float(normalized_mutual_info_score(*_common(truth, found), average_method="geometric"))


def purity(truth: Any, found: Any) -> float:
    """Share of objects that are of the commonest class of their cluster: (1/n) sum_k max_l n_kl.

    1 also where every object is a cluster of its own.

    Examples
    --------
    >>> round(purity([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.833
    """
    table = _contingency(truth, found)
    return float(_greatest(table.joint, table.row).sum() / table.n) if table.n else 1.0


def f1_measure(truth: Any, found: Any, *, recall: Literal["found", "truth"] = "found") -> float:
    """F1-measure of clusters against classes: 2 P R / (P + R).

    With h found clusters A_i and k true classes B_j, P = (1/h) sum_i max_j |A_i and B_j| / |A_i|.

    Parameters
    ----------
    truth, found : array-like of labels, (n_objects,)
    recall : {"found", "truth"}
        What recall is averaged over. ``"found"``: R = (1/h) sum_i max_j |A_i and B_j| / |B_j|, the form that
        Wang, Domeniconi and Laskey (2010) print; many small clusters pull it down. ``"truth"``: the
        usual R = (1/k) sum_j max_i |A_i and B_j| / |B_j|, with which the measure is symmetric.

    Examples
    --------
    >>> round(f1_measure([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 3)
    0.667
    """
    over_found = choose("recall", recall, {"found": True, "truth": False})
    table = _contingency(truth, found)
    if table.n == 0:
        return 1.0
    precisions = _greatest(table.joint / table.found[table.row], table.row)
    recalls = _greatest(table.joint / table.truth[table.column], table.row if over_found else table.column)
    precision, recalled = precisions.mean(), recalls.mean()
    return float(2.0 * precision * recalled / (precision + recalled))


def partition_entropy(labels: Any, *, base: float | Literal["clusters"] | None = None) -> float:
    """Entropy of the cluster shares of one labelling: -sum_k n_k/n log(n_k/n).

    Parameters
    ----------
    labels : array-like of labels, (n_objects,)
    base : float or "clusters", optional
        Base of the logarithm; by default nats. ``"clusters"`` is the number of clusters K: then 1 is K clusters of
        equal size, and K = 1 gives 0 (S of Franzolini and Rebaudo 2022).

    Examples
    --------
    >>> partition_entropy([0, 0, 1, 1], base=2)
    1.0
    """
    sizes = _sizes(label_codes(labels))
    entropy = _entropy(sizes)
    if base is None:
        return entropy
    if base == "clusters":
        return _ratio(entropy, float(np.log(len(sizes)))) if len(sizes) > 1 else 0.0
    if isinstance(base, str) or not 1.0 < base < np.inf:
        raise ValueError(f"base must be a number above 1, 'clusters', or None for nats; got {base!r}.")
    return entropy / float(np.log(base))


class _Contingency(NamedTuple):
    """The cells of a contingency table that are not empty, and its margins."""

    row: np.ndarray
    column: np.ndarray
    joint: np.ndarray
    found: np.ndarray
    truth: np.ndarray
    n: int


def _contingency(truth: Any, found: Any) -> _Contingency:
    columns, rows = _common(truth, found)
    row_sums, column_sums = np.bincount(rows), np.bincount(columns)
    cells, joint = np.unique(rows * len(column_sums) + columns, return_counts=True)
    row, column = np.divmod(cells, max(1, len(column_sums)))
    return _Contingency(row, column, joint, row_sums, column_sums, len(rows))


def _common(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0, 1, ... of the objects that both label."""
    one, other = label_codes(first), label_codes(second)
    if len(one) != len(other):
        raise ValueError(f"The labelings have {len(one)} and {len(other)} objects; they must be the same objects.")
    both = (one >= 0) & (other >= 0)
    return _numbered(one[both]), _numbered(other[both])


def _numbered(codes: np.ndarray) -> np.ndarray:
    """Codes without gaps, wide enough to number the cells of a table of two labelings."""
    return counted(codes)[0].astype(np.int64)


def _sizes(codes: np.ndarray) -> np.ndarray:
    return np.bincount(_numbered(codes[codes >= 0]))


def _sum_of_squares(counts: np.ndarray) -> int:
    return int(counts @ counts)


def _entropy(counts: np.ndarray) -> float:
    n = counts.sum()
    return float(counts @ np.log(n / counts) / n) if n else 0.0


def _conditional_entropies(table: _Contingency) -> tuple[float, float]:
    """H(found | truth) and H(truth | found)."""
    if table.n == 0:
        return 0.0, 0.0
    splits = table.joint @ np.log(table.truth[table.column] / table.joint) / table.n
    merges = table.joint @ np.log(table.found[table.row] / table.joint) / table.n
    return float(splits), float(merges)


def _greatest(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The greatest value of every group 0, 1, ..."""
    greatest = np.zeros(groups.max() + 1)
    np.maximum.at(greatest, groups, values)
    return greatest


def _ratio(loss: float, largest: float) -> float:
    return min(1.0, loss / largest) if loss > 0 else 0.0


def _check_cost(a: float) -> None:
    if not 0.0 <= a <= 2.0:
        raise ValueError(f"a, the cost of a wrong split, must be from 0 to 2 (a wrong merge costs 2 - a); got {a!r}.")
