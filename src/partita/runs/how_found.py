"""How an answer was found and what would make it better, in words that fit the engine and what stopped it."""

from typing import Any

from partita.runs.clustering import Run
from partita.wording import count_of

APPROXIMATIONS = {"vb": "variational Bayes", "cvb": "collapsed variational Bayes"}


def budget_in_words(max_time: float | None) -> str:
    """How long it may take, said before it begins."""
    if max_time is None:
        return "  time: no limit"
    return f"  time: at most {max_time:g} s; --max-time sets another limit, none lifts it"


def how_found(run: Run) -> str:
    """Chains and draws with their verdict, unless a warning says it; or what the engine is that did not sample."""
    model, request = run.model, run.input.request
    if request.samples:
        n_chains, n_draws = model.posterior_.partitions.shape[:2]
        verdict = _unsaid(model.diagnostics_.verdict, run.warnings)
        return f"{count_of(n_chains, 'chain')} of {count_of(n_draws, 'draw')}. {verdict}".rstrip()
    if request.engine == "em":
        return (
            "By EM, which takes the groups as known: confidence is mostly surer than it should be;"
            f" {request.sampling} samples instead."
        )
    return (
        f"By {APPROXIMATIONS[request.engine]}: probabilities and confidence are those of an approximation, which is"
        f" mostly surer than it should be; {request.sampling} samples instead."
    )


def advice(run: Run) -> str | None:
    """What would help draws that do not agree, after what stopped them; None where nothing is to be done."""
    model, request = run.model, run.input.request
    if not request.samples or model.converged_:
        return None
    faster = run.faster or f"{request.approximating} approximates"
    stopped, n_draws = model.posterior_.provenance.get("stopped"), model.posterior_.partitions.shape[1]
    if stopped == "interrupted":
        return None
    if stopped == "max_time":
        return f"Give it more time with a larger --max-time, or take another way: {faster}."
    if stopped == "cap":
        return (
            f"It made the most sweeps that --draws auto makes: --draws {2 * n_draws} makes more; or take another way:"
            f" {faster}."
        )
    return f"More draws may help: --draws with a number above {n_draws}, or auto."


def chosen_in_words(model: Any) -> str:
    """The number of components that EM's criterion chose, and the next best."""
    tried, (best, *others) = model.selection_, sorted(model.selection_, key=lambda k: model.selection_[k])
    words = f"BIC chose {best} among {min(tried)} to {max(tried)}"
    if not others:
        return words
    return f"{words}; that of {others[0]}, the next best, is larger by {tried[others[0]] - tried[best]:.3g}"


def _unsaid(verdict: str, warnings: list[str]) -> str:
    """Whether the chains agree, unless a warning says it."""
    return "" if any(verdict in sentence for sentence in warnings) else verdict
