"""Pieces and groups of a run: the estimated clusters, and the unions that overlapping ones form."""

from typing import Any, NamedTuple

import numpy as np

from partita.posterior.hierarchy import SMALL_SHARE, summed
from partita.wording import count_of


class Groups(NamedTuple):
    """Unions of a run's clusters.

    Attributes
    ----------
    n_pieces : int
        Clusters of the estimate.
    labels : (n,) int64
        The group of every row, 0 the largest.
    confidence : (n,)
        The probability of every row's own group.
    asked : bool
        Whether their number was asked for.
    """

    n_pieces: int
    labels: np.ndarray
    confidence: np.ndarray
    asked: bool

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every group."""
        return np.bincount(self.labels)


def groups_of(model: Any, wanted: int | str) -> Groups | None:
    """The groups that were asked for: a number of them, "auto" for what their overlap suggests, or "none".

    None where nothing is merged, also where more are asked for than there are clusters. "auto" merges where it matters:
    where the groups are at most half as many as the pieces. Of two clusters that overlap and that the draws hold apart
    it makes nothing: the picture shows how much they do.
    """
    n_pieces = int(model.n_clusters_)
    if wanted == "none" or n_pieces == 1 or model.n_clusters is not None:
        return None
    found = model.hierarchy()
    n_groups = found.suggested if wanted == "auto" else int(wanted)
    if n_groups >= n_pieces or (wanted == "auto" and 2 * n_groups > n_pieces):
        return None
    groups = found.groups(n_groups)
    labels = groups[model.labels_]
    probabilities = summed(model.probabilities_, groups)
    return Groups(n_pieces, labels, probabilities[np.arange(len(labels)), labels], wanted != "auto")


def unmet_in_words(model: Any, wanted: int | str) -> str:
    """That more groups were asked for than merging can give; empty where they were not."""
    if isinstance(wanted, str) or wanted <= model.n_clusters_:
        return ""
    return f"--groups {wanted} can only merge what was found: --n-clusters {wanted} asks for so many groups."


def groups_in_words(groups: Groups, sizes: str, confident: float) -> str:
    """How many pieces form how many groups, why, and how many rows are surely in theirs."""
    n_sure, n_rows = int((groups.confidence >= confident).sum()), len(groups.labels)
    why = f": joined until at most {SMALL_SHARE:.0%} of the rows of any would be placed in another"
    why = "" if groups.asked else why
    return (
        f"{groups.n_pieces} pieces form {count_of(len(groups.sizes), 'group')} of {sizes}{why}."
        f" {n_sure} of {n_rows} rows are placed in their group with confidence {confident} or more."
    )
