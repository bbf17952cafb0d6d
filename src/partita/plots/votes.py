"""Votes: how many clusters a consensus has if base clusterings count as so many votes together."""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partita.plots.canvas import PALETTE, axes_or_new, groups_in_words, open_frame, say_title
from partita.running.clock import running_seconds
from partita.running.interruptions import noting
from partita.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.consensus import NBCE
    from partita.table import Table

STEPS = 12
"""Numbers of votes that are looked at, from 1 to the number of base clusterings, in about equal ratios."""

CUT = 0.8
"""Share of its time limit at which a fit is cut; the rest is for what is read from it."""

TICKS = (1, 2, 3, 5)
"""Of every power of ten."""

NEAREST_TICK = 0.06
"""Share of the axis that is left free beside the tick of all votes."""


@dataclass(frozen=True)
class VotesData:
    """What the picture shows.

    Attributes
    ----------
    votes : (m,) array
        Numbers of votes, increasing.
    n_clusters : (m,) int array
        Clusters of the consensus with so many votes, by variational Bayes.
    n_planned : int
        Numbers of votes that were to be tried: more than m where the time was over, or Ctrl-C pressed.
    other_prior : str
        The prior of these fits where it is not that of the fit, otherwise empty: "vb" does not run every prior.
    chosen : float
        ``votes_`` of the fit.
    n_chosen : int
        ``n_clusters_`` of the fit.
    n_members : int
        Base clusterings that tell objects apart, each of which has a vote at most.
    """

    votes: np.ndarray
    n_clusters: np.ndarray
    n_planned: int
    other_prior: str
    chosen: float
    n_chosen: int
    n_members: int


def votes_data(nbce: "NBCE", votes: Any = None, *, max_time: float | None = None) -> VotesData:
    """Fit the consensus again with other numbers of votes, by variational Bayes.

    Parameters
    ----------
    nbce : NBCE
        Fitted. Where "vb" does not run its prior, the default prior takes its place.
    votes : sequence of float, optional
        Numbers of votes; by default twelve from 1 to the number of base clusterings that tell objects apart, in about
        equal ratios. More than that are as many.
    max_time : float, optional
        Seconds for all fits, compiling left out. When they are over, or Ctrl-C is pressed, as many numbers of votes are
        there as were fitted, perhaps none: first both ends, then ever more between them.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import NBCE
    >>> labels = np.repeat([0, 1], 10)
    >>> nbce = NBCE(engine="vb", votes="all", random_state=0).fit(np.column_stack([labels, 1 - labels, labels]))
    >>> votes_data(nbce, votes=[1, 2, 3]).n_clusters
    array([1, 2, 2])
    """
    from partita.consensus import NBCE
    from partita.consensus.votes import telling

    if not isinstance(nbce, NBCE):
        raise TypeError(f"Only an NBCE has votes, got a {type(nbce).__name__}.")
    check_is_fitted(nbce)
    n_members = int(np.count_nonzero(telling(nbce.table_.codes)))
    planned = _planned(votes, n_members)
    again = _by_variational_bayes(nbce)
    found = _fitted(again, nbce.table_, planned[_coarse_to_fine(planned.size)], max_time)
    return VotesData(
        votes=np.array(sorted(found)),
        n_clusters=np.array([found[number] for number in sorted(found)], dtype=np.int64),
        n_planned=planned.size,
        other_prior="" if again.prior == nbce.prior else str(again.prior),
        chosen=nbce.votes_,
        n_chosen=nbce.n_clusters_,
        n_members=n_members,
    )


def short_number(votes: float) -> str:
    """Two digits of a number below 10, of others all before the point: ``0.05``, ``7.3``, ``1500``."""
    return f"{votes:.2g}" if votes < 10.0 else f"{votes:.0f}"


def votes_in_words(votes: float) -> str:
    """1 vote, 7.3 votes."""
    number = short_number(votes)
    return f"{number} vote" if number == "1" else f"{number} votes"


def _planned(votes: Any, n_members: int) -> np.ndarray:
    """The numbers of votes to try, increasing; those of nobody's choice are as they are said."""
    if votes is None:
        spread = np.geomspace(1.0, max(n_members, 1), STEPS)
        numbers = np.array([float(short_number(number)) for number in spread])
    else:
        numbers = _positive(votes)
    return np.unique(np.minimum(numbers, n_members)) if n_members else np.empty(0)


def _positive(votes: Any) -> np.ndarray:
    with suppress(TypeError, ValueError, OverflowError):
        numbers = np.array(votes, dtype=float)
        if numbers.ndim <= 1 and (numbers > 0.0).all():
            return numbers
    raise ValueError(f"votes must be positive numbers, such as [1, 2, 5], got {votes!r}.")


def _by_variational_bayes(nbce: "NBCE") -> "NBCE":
    """The same model, unfitted, with the engine that takes seconds."""
    again = clone(nbce).set_params(engine="vb", progress=False)
    try:
        again.check()
    except ValueError:  # it does not run the prior
        again.set_params(prior=type(nbce)().prior, concentration=None)
    return again


def _fitted(nbce: "NBCE", table: "Table", votes: np.ndarray, max_time: float | None) -> dict[float, int]:
    """The number of clusters by number of votes, as far as time and Ctrl-C let it come; a fit that they end is none."""
    left = math.inf if max_time is None else max_time
    found: dict[float, int] = {}
    presses: list[bool] = []

    def leave() -> bool:
        presses.append(True)
        return False

    with warnings.catch_warnings(), suppress(KeyboardInterrupt), noting(leave):
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fits that only say how many clusters there are
        for number in votes:
            started = running_seconds()
            nbce.set_params(votes=float(number), max_time=None if max_time is None else left).fit(table)
            used = running_seconds() - started
            if presses or used >= CUT * left:
                break
            left -= used
            found[float(number)] = nbce.n_clusters_
    return found


def _coarse_to_fine(n: int) -> list[int]:
    """The positions 0, ..., n - 1, both ends first, in an order of which every beginning is spread out.

    What is between the ends is in the order of van der Corput (1935).
    """
    width = max(1, (n - 1).bit_length())
    between = sorted(range(1, n - 1), key=lambda position: f"{position:0{width}b}"[::-1])
    return [*dict.fromkeys([0, n - 1]), *between] if n else []


def votes(nbce: "NBCE | VotesData", votes: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the number of clusters along the number of votes; a mark is the fit that is given.

    Labels alone do not tell how many votes they are worth. Where the line is flat, it does not matter; where it climbs
    at the mark, the number of clusters is what that number of votes has made it.

    Parameters
    ----------
    nbce : NBCE or VotesData
        Fitted; or what `votes_data` has found of one, which is not computed again.
    votes : sequence of float, optional
        Numbers of votes; by default twelve from 1 to the number of base clusterings, in about equal ratios.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from partita import NBCE, plots
    >>> labels = np.repeat([0, 1], 10)
    >>> nbce = NBCE(engine="vb", votes=2, random_state=0).fit(np.column_stack([labels, 1 - labels, labels]))
    >>> plots.votes(nbce, votes=[1, 2, 3]).get_title("left")
    '2 groups with 2 votes of 3 base clusterings'
    """
    from matplotlib.ticker import MaxNLocator

    data: VotesData = nbce if isinstance(nbce, VotesData) else votes_data(nbce, votes)
    ax = axes_or_new(ax)
    ax.plot(data.votes, data.n_clusters, marker="o", color=PALETTE[0])
    ax.plot([data.chosen], [data.n_chosen], marker="D", markersize=9, color=PALETTE[1], linestyle="none")
    ax.annotate(
        "this fit", (data.chosen, data.n_chosen), (0, -20), textcoords="offset points", ha="center", color=PALETTE[1]
    )
    if data.n_members:
        _scale(ax, min(1.0, data.chosen, *data.votes), data.n_members)
    else:
        ax.set_xticks([0])
    ax.set_ylim(0.0, 1.15 * max([*data.n_clusters, data.n_chosen]))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("\n".join(["votes that the base clusterings have together", *_remarks(data)]))
    ax.set_ylabel("number of groups")
    open_frame(ax)
    say_title(ax, _title(data))
    return ax


def _scale(ax: "Axes", least: float, n_members: int) -> None:
    """Equal ratios of votes at equal distances, up to all; a tick there, and at round numbers that leave it room."""
    free = max(1.1, (n_members / least) ** NEAREST_TICK)
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(n_members)) + 1)
    numbers = [round(tick * 10.0**decade, -decade) for decade in decades for tick in TICKS]
    ticks = [number for number in numbers if least <= number < n_members / free] + [float(n_members)]
    ax.set_xscale("log")
    ax.set_xlim(least / free, n_members * free)
    ax.set_xticks(ticks, list(map(short_number, ticks)))
    ax.minorticks_off()


def _remarks(data: VotesData) -> list[str]:
    """What the line is not, said under the axis."""
    remarks = []
    if data.other_prior:
        remarks.append(f"the line is that of another prior, {data.other_prior}")
    if data.votes.size < data.n_planned:
        remarks.append(f"{data.votes.size} of {data.n_planned} numbers of votes were tried")
    return remarks


def _title(data: VotesData) -> str:
    groups = groups_in_words(data.n_chosen)
    if not data.n_members:
        return f"{groups}: no base clustering tells objects apart"
    return f"{groups} with {votes_in_words(data.chosen)} of {count_of(data.n_members, 'base clustering')}"
