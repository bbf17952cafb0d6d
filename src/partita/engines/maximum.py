"""The best parameters that EM finds, the number of components chosen by a criterion, and what they say of the rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy
from sklearn.base import clone

from partita.engines.climbing import Climb, climb_all, shortfall
from partita.engines.em_steps import EMState
from partita.engines.outcome import DrawsPlan, Outcome
from partita.engines.provenance import provenance_of
from partita.engines.runner import Plan
from partita.model.component_parameters import ComponentParameters, component_parameters
from partita.model.model import Model
from partita.model.predictive import MixtureComponents
from partita.partitions import largest_first
from partita.priors import FiniteDirichlet

if TYPE_CHECKING:
    from partita.engines.em import EM

CRITERIA = ("bic", "aic", "icl")
MOST_SETTLING = 10_000  # rows on which starts climb
ROWS_PER_COMPONENT = 100  # at least, there
SETTLING_TOL = 1e-4  # gain per row of an iteration that ends a start there
MOST_JUDGED = 4  # different tops that are compared on all rows; the best goes on


class Top(NamedTuple):
    """The best start of one number of components, and its "bic", "aic" and "icl"; the smaller, the better."""

    climb: Climb
    order: np.ndarray  # of its components, most rows first
    components: MixtureComponents
    criteria: dict[str, float]


def maximize(engine: "EM", model: Model, plan: Plan, seed: np.random.SeedSequence) -> Outcome:
    """Run EM from ``n_init`` starts for every number of components that the prior names."""
    engine.check_likelihood(model)
    taught, priors = model.taught(), engine.priors(model.prior)
    for prior in priors:
        _require_rows(taught, prior.n_components)
    seeds = [[_seed(seed, prior.n_components, start) for start in range(engine.n_init)] for prior in priors]
    criterion = engine.select or "bic"
    climbed = _climbed(engine, taught, priors, seeds, plan, seed, criterion)
    tops = [_best(engine, climbs, criterion) for climbs in climbed]
    values = {prior.n_components: top.criteria[criterion] for prior, top in zip(priors, tops)}
    chosen = min(range(len(tops)), key=lambda k: (tops[k].criteria[criterion], k))
    selection = {} if engine.select is None else values
    return _outcome(engine, replace(model, prior=priors[chosen]), tops[chosen], selection, plan, seed)


def _climbed(
    engine: "EM",
    model: Model,
    priors: Sequence[FiniteDirichlet],
    seeds: list[list[np.random.SeedSequence]],
    plan: Plan,
    seed: np.random.SeedSequence,
    criterion: str,
) -> list[list[Climb]]:
    """The starts of every candidate; of many rows they climb on a sample first, and the best of them goes on."""
    crew = plan.begun().crew()
    samples = _samples(model, priors, seed, keeps_all=engine.keep_iterations)
    if all(sample.table is model.table for sample in samples):
        return climb_all(engine, samples, seeds, plan, crew=crew)
    hasty = clone(engine).set_params(tol=max(engine.tol, SETTLING_TOL))
    settled = climb_all(hasty, samples, seeds, plan, crew=crew)
    average = model.shared_stats(np.ones((model.table.n_rows, 1))) / model.total
    states = [
        [engine.steps(model).acquainted(state, average) for state in _different(engine, climbs, criterion)]
        for climbs in settled
    ]
    candidates = [model.with_prior(prior) for prior in priors]
    if max(map(len, states)) > 1:
        glance = clone(hasty).set_params(max_iter=1)
        seen = climb_all(glance, candidates, seeds, plan, states=states, crew=crew)
        states = [[_highest(engine, climbs, criterion).state] for climbs in seen]
    return climb_all(engine, candidates, seeds, plan, states=states, crew=crew)


def _samples(
    model: Model, priors: Sequence[FiniteDirichlet], seed: np.random.SeedSequence, *, keeps_all: bool
) -> list[Model]:
    """Some rows under every prior, as many as its own components need; all where they are few."""
    samples: dict[int, Model] = {}
    chosen = []
    for prior in priors:
        n_rows = max(MOST_SETTLING, ROWS_PER_COMPONENT * prior.n_components)
        n_rows = model.table.n_rows if keeps_all else min(n_rows, model.table.n_rows)
        if n_rows not in samples:
            samples[n_rows] = model.sampled(_settling(seed), n_rows)
            _ = samples[n_rows].shared_rows, samples[n_rows].points  # which priors share
        chosen.append(samples[n_rows].with_prior(prior))
    return chosen


def _different(engine: "EM", climbs: Sequence[Climb], criterion: str) -> list[EMState]:
    """The states of the few best tops on a sample; those that differ by less than a step may gain are one."""
    tops = sorted((_top(engine, climb) for climb in climbs), key=lambda top: top.criteria[criterion])
    least = 2.0 * SETTLING_TOL * climbs[0].model.total
    found: list[Top] = []
    for top in tops:
        if not found or top.criteria[criterion] > found[-1].criteria[criterion] + least:
            found.append(top)
    return [top.climb.state for top in found[:MOST_JUDGED]]


def _settling(seed: np.random.SeedSequence) -> np.random.Generator:
    """Random numbers of the sample, apart from those of every start."""
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)))


def _outcome(
    engine: "EM",
    model: Model,
    top: Top,
    selection: dict[int, float],
    plan: Plan,
    seed: np.random.SeedSequence,
) -> Outcome:
    """What the best start says of all rows; logs of densities are in the units of the table that came in."""
    climb = top.climb
    probabilities = top.components.membership(model, model.table)
    notes = {
        "loglik_path": np.array(climb.path) + float(model.row_weights @ model.log_jacobian()),
        "n_iter": climb.n_sweeps,
        "n_components": model.prior.n_components,  # type: ignore[attr-defined]
        "selection": selection,
        **top.criteria,
    }
    concentration = float(model.prior.initial_concentration())
    return Outcome(
        engine=engine,
        model=model,
        clusters=top.components,
        labels=probabilities.argmax(axis=1),
        probabilities=probabilities,
        converged=climb.converged,
        draws=DrawsPlan(engine.n_draws(plan), concentration, provenance_of(engine, model, seed)),
        notes=notes,
        iterations=_iterations(climb, model, top.order),
        state=climb.state,
        warnings=shortfall(engine, climb, plan),
    )


def criteria_of(model: Model, logs: np.ndarray) -> dict[str, float]:
    """BIC = -2 log L + p log n, AIC = -2 log L + 2 p, ICL = BIC + 2 x entropy of the responsibilities.

    p counts the free parameters of all components and their weights, n the rows with their weights; ``logs`` (n, K) are
    the log joint densities of rows and components.
    """
    totals = logsumexp(logs, axis=1)
    resp = np.exp(logs - totals[:, None])
    log_likelihood = float(model.row_weights @ (totals + model.log_jacobian()))
    entropy = -float(model.row_weights @ xlogy(resp, resp).sum(axis=1))
    n_components = logs.shape[1]
    n_params = n_components * model.likelihood.n_params + n_components - 1
    bic = -2.0 * log_likelihood + n_params * np.log(model.total)
    values = bic, -2.0 * log_likelihood + 2.0 * n_params, bic + 2.0 * entropy
    return dict(zip(CRITERIA, map(float, values)))


def components_of(engine: "EM", model: Model, log_weights: np.ndarray, stats: np.ndarray) -> MixtureComponents:
    """The components of these weights (K,) and statistics (K, S)."""
    unseen = np.zeros((1, stats.shape[1]))
    return MixtureComponents(
        np.append(log_weights, -np.inf), np.vstack([stats, unseen])[None], engine.params(model, stats)
    )


def _require_rows(model: Model, n_components: int) -> None:
    n_rows = model.total
    if n_components > n_rows:
        raise ValueError(
            f"n_components={n_components} is more than there are rows to learn from: n_samples = {n_rows}, without "
            f"rows of weight 0 and rows that have no observed cell. Ask for at most {n_rows}."
        )


def _seed(seed: np.random.SeedSequence, n_components: int, start: int) -> np.random.SeedSequence:
    """A start's own seed, whatever other numbers of components are tried."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, n_components, start))


def _best(engine: "EM", climbs: Sequence[Climb], criterion: str) -> Top:
    """The highest of the tops.

    Densities of different numbers of parameters cannot be compared: where starts have removed different numbers of
    components, the best of each number compete by the criterion.
    """
    return _top(engine, _highest(engine, climbs, criterion))


def _highest(engine: "EM", climbs: Sequence[Climb], criterion: str) -> Climb:
    best: dict[int, Climb] = {}
    for climb in climbs:
        n = climb.state.n_components
        if n not in best or climb.objective > best[n].objective:
            best[n] = climb
    if len(best) == 1:
        return best.popitem()[1]
    return min((_top(engine, climb) for climb in best.values()), key=lambda top: top.criteria[criterion]).climb


def _top(engine: "EM", climb: Climb) -> Top:
    """The start with its components in order, most rows first."""
    model, state = climb.model, climb.state
    logs = components_of(engine, model, state.log_weights, state.stats).log_joint(model, model.table)[:, :-1]
    order = largest_first(logs.argmax(axis=1), model.row_weights, state.n_components)
    components = components_of(engine, model, state.log_weights[order], state.stats[order])
    return Top(climb, order, components, criteria_of(model, logs))


def _iterations(climb: Climb, model: Model, order: np.ndarray) -> list[ComponentParameters]:
    """Parameters of all iterations, components in the order of the last where they are as many."""
    offset = float(model.row_weights @ model.log_jacobian())
    found = []
    for state, objective in climb.history:
        own = order if state.n_components == order.size else np.arange(state.n_components)
        params = climb.engine.params(climb.model, state.stats[own])
        found.append(component_parameters(model, state.log_weights[own], params, objective + offset))
    return found
