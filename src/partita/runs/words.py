"""Answers in plain words that several commands say: how many groups, how sure, how that was found, what to do."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partita.runs.fits import Fit
from partita.runs.section import MODEL, Section
from partita.wording import count_of

CONFIDENT = 0.9
MOST_NAMES = 12  # in one line
MOST_GROUPS = 12  # described on the screen; all are in the files
LEAST_SURE = 3  # objects that are named
MOST_LETTERS = 40  # of a name


def how_many(told: str, when: str = "") -> str:
    """The sentence about the number of groups, always in the same words."""
    return f"How many groups there are{when}: {told}."


def chances_in_words(chances: Mapping[int, float], n_clusters: int) -> str:
    """The most probable numbers of groups, and how that of the estimate compares where it is not among them."""
    likely = sorted(chances, key=lambda k: -chances[k])[:3]
    told = ", ".join(f"{k} with probability {chances[k]:.2f}" for k in likely if chances[k] >= 0.005)
    if n_clusters in likely:
        return told
    more, fewer = (sum(p for k, p in chances.items() if (k > n_clusters) is side) for side in (True, False))
    fewer -= chances.get(n_clusters, 0.0)
    are = f"{n_clusters} {'is' if n_clusters == 1 else 'are'} reported"
    if more >= fewer:
        return f"{told}; {are}, fewer than in {more:.0%} of the draws: groups that come and go are left out"
    return f"{told}; {are}, more than in {fewer:.0%} of the draws: which of them are one changes from draw to draw"


def sizes_in_words(sizes: np.ndarray, noun: str) -> str:
    """The sizes of the groups, the largest first: ``12, 7, 3 rows``."""
    shown, left = sizes[:MOST_GROUPS], len(sizes) - MOST_GROUPS
    if len(sizes) == 1:
        return count_of(int(sizes[0]), noun)
    more = f" and {count_of(left, 'smaller group')}" if left > 0 else ""
    return f"{', '.join(map(str, shown))} {noun}s{more}"


def placed_in_words(confidence: np.ndarray, n_clusters: int, names: Sequence[Any], noun: str) -> str:
    """How many objects are placed surely, and which least; nan is an object without a place."""
    if n_clusters == 1:
        return f"With one group no {noun} has another to belong to: the picture shows how much the draws agree."
    n_sure, n_placed = int((confidence >= CONFIDENT).sum()), int((~np.isnan(confidence)).sum())
    words = f"{n_sure} of {n_placed} {noun}s are placed with confidence {CONFIDENT} or more"
    least = [i for i in np.argsort(confidence, kind="stable")[:LEAST_SURE] if confidence[i] < CONFIDENT]
    if not least:
        return f"{words}."
    return f"{words}; the least sure: {', '.join(f'{short(str(names[i]))} ({confidence[i]:.2f})' for i in least)}."


def missing_in_words(n_missing: int, n_cells: int, noun: str) -> str:
    """How many cells are missing: ``3 of 60 labels missing (5%)``."""
    return (
        f"{n_missing} of {n_cells} {noun}s missing ({n_missing / n_cells:.0%})" if n_missing else f"no {noun} missing"
    )


def described_warnings(warnings: Sequence[str], more: str | None) -> list[str]:
    """The warnings under an empty line, and what would make the answer better."""
    lines = [f"Warning: {sentence}" for sentence in warnings] + ([more] if more else [])
    return ["", *lines] if lines else []


def short(name: str) -> str:
    """The name, or the beginning of a long one."""
    return name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}..."


def some(names: list[str]) -> str:
    """The first of the names, and how many more there are."""
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return shown if more <= 0 else f"{shown} and {more} more"


def budget_in_words(max_time: float | None, more: str = "") -> str:
    """How long it may take, said before it begins, and what comes on top."""
    if max_time is None:
        return "  time: no limit"
    limit = f"{max_time:g} s, and {more}" if more else f"{max_time:g} s"
    return f"  time: at most {limit}; --max-time sets another limit, none lifts it"


def how_found(fit: Fit) -> str:
    """Chains and draws with their verdict, unless a warning says it; or what the engine is that did not sample."""
    model = fit.model
    if fit.sampled:
        n_chains, n_draws = model.posterior_.partitions.shape[:2]
        verdict = _unsaid(model.diagnostics_.verdict, fit.warnings)
        return f"{count_of(n_chains, 'chain')} of {count_of(n_draws, 'draw')}. {verdict}".rstrip()
    engine = model.engine_
    words = [getattr(engine, "title", type(engine).__name__), engine.caveat]
    return f"{': '.join(filter(None, words))}; {fit.input.request.sampling} samples instead."


def advice(fit: Fit) -> str | None:
    """What would help draws that do not agree, after what stopped them; None where nothing is to be done."""
    model = fit.model
    stopped, n_draws = model.posterior_.provenance.get("stopped"), model.posterior_.partitions.shape[1]
    if model.converged_ or stopped in (None, "interrupted"):
        return None
    faster = fit.faster or f"{fit.input.request.approximating} approximates"
    if stopped == "max_time":
        return f"Give it more time with a larger --max-time, or take another way: {faster}."
    if stopped == "cap":
        return (
            f"It made the most sweeps that --draws auto makes: --draws {2 * n_draws} makes more; or take another way:"
            f" {faster}."
        )
    return f"More draws may help: --draws with a number above {n_draws}, or auto."


def chosen_in_words(tried: Mapping[int, float], criterion: str) -> str:
    """The number of components that a criterion chose, the least value, and the next best."""
    best, *others = sorted(tried, key=lambda k: tried[k])
    words = f"{criterion.upper()} chose {best} among {min(tried)} to {max(tried)}"
    if not others:
        return words
    return f"{words}; that of {others[0]}, the next best, is larger by {tried[others[0]] - tried[best]:.3g}"


def _unsaid(verdict: str, warnings: list[str]) -> str:
    """Whether the chains agree, unless a warning says it."""
    return "" if any(verdict in sentence for sentence in warnings) else verdict


def how_it_ended(fit: Fit, **fields: Any) -> Section:
    """Whether the chains agree, what ended them, warnings and advice; the model in its file."""
    model = fit.model
    return Section(
        "end",
        words=described_warnings(fit.warnings, advice(fit)),
        fields={
            "converged": bool(model.converged_),
            "verdict": model.diagnostics_.verdict if fit.sampled else None,
            "stopped": model.posterior_.provenance.get("stopped"),
            "warnings": fit.warnings,
            **fields,
        },
        files={MODEL: model.save},
    )
