"""The path of a maximising engine: log likelihood or bound on the log evidence, iteration by iteration."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.plots.canvas import PALETTE, axes_or_new, open_frame, say_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MARKED = 60
"""Iterations up to which each has a point of its own."""


@dataclass(frozen=True)
class ObjectivePathData:
    """What the picture shows.

    Attributes
    ----------
    name : str
        What is maximised: log likelihood, log posterior density, bound on the log evidence.
    path : (n_iter,) array
        Its value at every iteration of the best start.
    """

    name: str
    path: np.ndarray


def objective_path_data(fitted: Any) -> ObjectivePathData:
    """What a maximising engine climbed.

    Parameters
    ----------
    fitted : Mixture or NBCE
        Fitted by "em" (``loglik_path_``), "vb" or "cvb" (``elbo_path_``); or the path itself, a list of numbers.

    Examples
    --------
    >>> objective_path_data([-310.2, -280.4, -279.9])
    ObjectivePathData(name='objective', path=array([-310.2, -280.4, -279.9]))
    """
    if not hasattr(fitted, "fit"):
        return ObjectivePathData("objective", _checked(fitted))
    check_is_fitted(fitted)
    for attribute in ("loglik_path_", "elbo_path_"):
        if hasattr(fitted, attribute):
            return ObjectivePathData(objective_in_words(fitted), _checked(getattr(fitted, attribute)))
    raise ValueError(
        "There is no path to draw: this fit sampled, it did not maximise. Fit with engine='em', 'vb' or 'cvb', or look "
        "at posterior_.diagnostics()."
    )


def objective_path(fitted: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw what a maximising engine climbed, iteration by iteration of the best start.

    A path that is level at its end has converged. A late step up is a saddle that was left, a merge, or a component
    that was found anew.

    Parameters
    ----------
    fitted : Mixture or NBCE
        Fitted by "em", "vb" or "cvb"; or the path itself, a list of numbers.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure that belongs to no window: ``ax.figure.savefig(path)``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> objective_path([-310.2, -280.4, -279.9]).get_title("left")
    'Objective: -279.9 after 3 iterations'
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    data = objective_path_data(fitted)
    ax = axes_or_new(ax)
    n = len(data.path)
    ax.plot(np.arange(1, n + 1), data.path, marker="o" if n <= MOST_MARKED else "", markersize=4, color=PALETTE[0])
    ax.set_xlim(left=0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    ax.set_xlabel("iteration")
    ax.set_ylabel(data.name)
    open_frame(ax)
    say_title(ax, f"{data.name.capitalize()}: {data.path[-1]:,.1f} after {n:,} iteration{'s' * (n > 1)}")
    return ax


def objective_in_words(fitted: Any) -> str:
    """What a fitted estimator's engine maximises; "objective" of anything else."""
    if hasattr(fitted, "loglik_path_"):
        return "log posterior density" if fitted.engine_.estimate == "map" else "log likelihood"
    return "bound on the log evidence" if hasattr(fitted, "elbo_path_") else "objective"


def _checked(path: Any) -> np.ndarray:
    path = np.asarray(path, dtype=np.float64)
    if path.ndim != 1 or not path.size or not np.isfinite(path).all():
        raise ValueError("A path must be a list of finite numbers, at least one.")
    return path
