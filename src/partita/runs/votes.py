"""How many votes the clusterings had together, and what their number does to the number of groups."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

from partita.runs.fits import Fit
from partita.runs.section import Section
from partita.wording import count_of

if TYPE_CHECKING:
    from partita.plots import VotesData

SECONDS, SHARE = 10.0, 0.1
"""That the fits with other numbers of votes may take together: so many, and of the time limit so much at least."""

FEWER, STEADY = 0.6, 1.5
"""From so many of the votes that they count as to one each, the number of groups may grow by less than this factor."""


def found_along(fit: Fit) -> "VotesData":
    """Fits with other numbers of votes by variational Bayes, as many as there is time for: none after Ctrl-C."""
    from partita.plots import votes_data

    stopped = fit.model.posterior_.provenance.get("stopped") == "interrupted"
    seconds = seconds_along(fit.input.request.max_time, fit.seconds)
    return votes_data(fit.model, () if stopped else None, max_time=seconds)


def votes_section(fit: Fit, found: "VotesData", file: str) -> Section:
    """The votes in words, the number of groups along votes for programs, and as a picture."""
    from partita.plots.votes import short_number

    numbers = {short_number(number): int(k) for number, k in zip(found.votes, found.n_clusters)}
    fields = {
        "votes": round(fit.model.votes_, 6),
        "n_clusters_by_votes": numbers,
        "votes_make_the_number": bool(made_by_votes(found)),
    }
    words = [*_counted(fit, found), *_along(fit, found, file)]
    return Section("votes", words, fields, files={file: partial(_draw, found)})


def made_by_votes(found: "VotesData") -> list[str]:
    """That labels alone do not tell the number of groups: where it changes much with the number of votes.

    Nobody knows how many votes repeated clusterings are worth, so a number of groups that other votes turn into another
    is a choice. So it is where members cut one cloud again and again, as k-means does.
    """
    from partita.plots.votes import votes_in_words

    near = found.votes >= FEWER * found.chosen
    if not near.any():
        return []
    votes, numbers = found.votes[near], found.n_clusters[near]
    fewest, most = int(numbers.argmin()), int(numbers.argmax())
    if numbers[most] < STEADY * numbers[fewest]:
        return []
    told = " and ".join(f"{count_of(int(numbers[i]), 'group')} with {votes_in_words(votes[i])}" for i in (fewest, most))
    return [
        f"How many groups there are is not in these labels: variational Bayes finds {told}, and either may be what "
        f"the clusterings are worth. Here they count as {votes_in_words(found.chosen)}."
    ]


def seconds_along(max_time: float | None, used: float) -> float:
    """Seconds for the fits along votes: what is left of the time limit, or a tenth of it where that is more."""
    return SECONDS if max_time is None else min(SECONDS, max(SHARE * max_time, max_time - used))


def extra_time_in_words(max_time: float, file: str) -> str:
    """What fits along votes may take where the time limit has passed."""
    return f"{seconds_along(max_time, max_time):g} s more for {file}"


def _counted(fit: Fit, found: "VotesData") -> list[str]:
    """How many votes the clusterings are, and by whose word."""
    from partita.plots.votes import votes_in_words

    asked, n_members = fit.model.votes, found.n_members
    if n_members == 0:
        return ["No clustering tells objects apart: nothing says that there is more than one group."]
    votes = votes_in_words(found.chosen)
    told = "" if asked == "auto" else ", as asked for"
    if n_members == 1:
        return [f"1 clustering tells objects apart, and counts as {votes}{told}."]
    apart = f"The {n_members} clusterings that tell objects apart count as"
    if asked == "auto" and found.chosen >= n_members:
        return [f"{apart} one vote each: they are few enough for how much they share."]
    if asked == "all":
        return [f"{apart} one vote each{told}."]
    return [f"{apart} {votes} together{told or ', by how much they share'}."]


def _along(fit: Fit, found: "VotesData", file: str) -> list[str]:
    """The numbers of groups with other numbers of votes, by which model, and how many of them there was time for."""
    if found.n_planned < 2:
        return []
    tried = f"{len(found.votes)} of {found.n_planned} numbers of votes were tried"
    if not len(found.votes):
        return [f"Along votes nothing is known: {tried}."]
    runs = [list(run) for _, run in groupby(zip(found.votes, found.n_clusters), key=lambda pair: pair[1])]
    told = ", ".join(f"{count_of(int(run[0][1]), 'group')} with {_range([votes for votes, _ in run])}" for run in runs)
    prior = fit.input.request.prior_kind.name
    under = f", under {found.other_prior} in place of {prior}," if found.other_prior else ""
    rest = f"; {tried}" if len(found.votes) < found.n_planned else ""
    return [f"Along votes variational Bayes{under} finds {told} ({file}){rest}."]


def _range(numbers: Sequence[float]) -> str:
    from partita.plots.votes import short_number

    first, last = short_number(numbers[0]), short_number(numbers[-1])
    return first if first == last else f"{first} to {last}"


def _draw(found: "VotesData", path: Path) -> None:
    from matplotlib.figure import Figure

    from partita.plots import votes

    cast(Figure, votes(found).figure).savefig(path, format="png")
