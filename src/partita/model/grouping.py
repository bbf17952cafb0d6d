"""A number of groups that was asked for: the pieces of an estimate merged, or a prior of so many components."""

from typing import Any, NamedTuple

import numpy as np

from partita.priors import FiniteDirichlet
from partita.wording import count_of


class Grouping(NamedTuple):
    """How a wish for a number of groups was answered.

    Attributes
    ----------
    groups : (K,) int64 array or None
        The group of every piece; None where the pieces are the groups.
    refitted : bool
        Whether the model was fitted again, under `prior_of`.
    note : str
        The same in a sentence.
    """

    groups: np.ndarray | None
    refitted: bool
    note: str


def prior_of(n_groups: int) -> FiniteDirichlet:
    """So many components whose weights are uniform on the simplex."""
    return FiniteDirichlet(n_components=n_groups, concentration=float(n_groups))


def answer(wanted: int, found: int, groups: np.ndarray | None, occupied: int | None = None) -> Grouping:
    """The answer in words: ``found`` pieces, of which ``groups`` were formed, or ``occupied`` after a second fit."""
    if occupied is not None:
        held = "all of which hold rows" if occupied == wanted else f"{occupied} of which got rows"
        again = f"it was fitted again with {wanted} components, {held}"
        return Grouping(
            None, True, f"The table shows {count_of(found, 'group')} where {wanted} were asked for: {again}."
        )
    if groups is None:
        return Grouping(None, False, f"The estimate has {count_of(found, 'group')}, as asked for.")
    return Grouping(groups, False, f"{found} pieces were merged into {count_of(wanted, 'group')}, as asked for.")


def interrupted_answer(wanted: int, found: int) -> Grouping:
    """That there was no second fit."""
    why = f"the fit was interrupted before another with {wanted} components"
    return Grouping(None, False, f"The table shows {count_of(found, 'group')} where {wanted} were asked for: {why}.")


def check_grouping(n_groups: int | None, grouping: Any, n_clusters: int) -> None:
    """Refuse groups from a file that are not formed of the clusters, or that nobody asked for."""
    if (n_groups is None) != (grouping is None):
        raise ValueError("the grouping does not belong to the option n_clusters")
    if grouping is None:
        return
    if not isinstance(grouping, dict) or grouping.keys() != set(Grouping._fields):
        raise ValueError(f"the grouping does not hold {', '.join(Grouping._fields)}")
    groups, refitted = grouping["groups"], grouping["refitted"]
    if type(refitted) is not bool or not isinstance(grouping["note"], str) or (refitted and groups is not None):
        raise ValueError("the grouping is not one that a fit makes")
    if groups is None:
        return
    if not (isinstance(groups, np.ndarray) and groups.dtype == np.int64 and groups.shape == (n_clusters,)):
        raise ValueError("there is not one group for every cluster")
    if np.unique(groups).tolist() != list(range(n_groups or 0)):
        raise ValueError("the groups are not as many as were asked for")
