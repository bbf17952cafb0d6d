"""What a file keeps of clusters that choose columns, and the clusters that it holds."""

from collections.abc import Mapping

import numpy as np

from partita.means.cells import Categories, Normal, Numbers
from partita.means.indicators import Indicators
from partita.means.subspaces import Subspaces

MOST_OFF_ONE = 1e-6
"""What the shares of a file may lack of a sum of 1."""


def arrays_of(clusters: Subspaces) -> dict[str, np.ndarray]:
    """The arrays of a file."""
    (numbers, costs), (other_numbers, other_costs) = clusters.shapes, clusters.background
    return {
        "clusters/chosen": clusters.chosen.astype(np.int8),
        "clusters/means": numbers.means,
        "clusters/variances": numbers.variances,
        "clusters/costs": costs,
        "background/means": other_numbers.means[0],
        "background/variances": other_numbers.variances[0],
        "background/costs": other_costs[0],
    }


def clusters_from(arrays: Mapping[str, np.ndarray], blocks: tuple[Numbers, Categories]) -> Subspaces:
    """The clusters of a file, whose arrays fit each other, with the columns of ``blocks``.

    Raises
    ------
    ValueError
        Other columns than the table has; variances of 0; shares that do not sum to 1.
    """
    chosen = arrays["clusters/chosen"] == 1
    n_columns = sum(block.n_columns for block in blocks)
    if chosen.shape[1] != n_columns or not len(chosen):
        raise ValueError(f"clusters choose among {chosen.shape[1]} columns, and the table has {n_columns}")
    own, elsewhere = (_shape(arrays, whose, blocks[1]) for whose in ("clusters", "background"))
    return Subspaces(chosen, own, elsewhere)


def _shape(arrays: Mapping[str, np.ndarray], whose: str, categories: Categories) -> tuple[Normal, np.ndarray]:
    """What says the cells of every cluster, or of the background."""
    means, variances, costs = (np.atleast_2d(arrays[f"{whose}/{name}"]) for name in ("means", "variances", "costs"))
    if costs.shape[1] != categories.n_levels.sum():
        raise ValueError(f"{whose}/costs is not of as many categories as the table has")
    if not (variances > 0.0).all():
        raise ValueError(f"{whose}/variances holds 0")
    sums = np.add.reduceat(np.exp(-costs), categories.firsts, axis=1)
    if not (isinstance(categories, Indicators) or (abs(sums - 1.0) <= MOST_OFF_ONE).all()):
        raise ValueError(f"the shares of {whose}/costs do not sum to 1")
    return Normal(means, variances), costs
