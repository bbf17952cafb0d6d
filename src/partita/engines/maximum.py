"""The best parameters that EM finds, the number of components chosen by a criterion, and what they say of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, xlogy

from partita.engines.climbing import Climb, climb_all
from partita.engines.em import CRITERIA, EM
from partita.engines.runner import Plan
from partita.model.model import Model
from partita.model.predictive import Components
from partita.partitions import largest_first
from partita.priors import FiniteDirichlet


@dataclass(frozen=True)
class Maximum:
    """Where EM ended.

    Logs of densities are in the units of the table that came in.

    Attributes
    ----------
    model : Model
        With the prior of the chosen number of components.
    components : Components
        Their weights, statistics and parameters, most rows first.
    path : (n_iter,) array
        The objective at every iteration of the best start since a component was last removed: the log likelihood, for
        "map" plus the log prior density.
    n_iter : int
        Iterations of the best start.
    converged : bool
    criteria : dict
        "bic", "aic" and "icl"; the smaller, the better.
    selection : dict
        Number of components to the criterion's value, where there was a choice.
    """

    model: Model
    components: Components
    path: np.ndarray
    n_iter: int
    converged: bool
    criteria: dict[str, float]
    selection: dict[int, float]


def maximize(
    engine: EM, model: Model, priors: Sequence[FiniteDirichlet], plan: Plan, seed: np.random.SeedSequence
) -> Maximum:
    """Run EM from ``n_init`` starts for every prior, each with its own number of components."""
    taught = model.taught()
    for prior in priors:
        _require_rows(taught, prior.n_components)
    candidates = [taught.with_prior(prior) for prior in priors]
    seeds = [[_seed(seed, prior.n_components, start) for start in range(engine.n_init)] for prior in priors]
    criterion = engine.select or "bic"
    ends = [_best(engine, climbs, criterion) for climbs in climb_all(engine, candidates, seeds, plan)]
    values = {prior.n_components: end.criteria[criterion] for prior, end in zip(priors, ends)}
    chosen = min(range(len(ends)), key=lambda k: (ends[k].criteria[criterion], k))
    chosen_model = replace(model, prior=priors[chosen])
    return replace(ends[chosen], model=chosen_model, selection={} if engine.select is None else values)


def criteria_of(model: Model, logs: np.ndarray) -> dict[str, float]:
    """BIC = -2 log L + p log n, AIC = -2 log L + 2 p, ICL = BIC + 2 x entropy of the responsibilities.

    p counts the free parameters of all components and their weights, n the rows with their weights; ``logs`` (n, K) are
    the log joint densities of rows and components.
    """
    totals = logsumexp(logs, axis=1)
    resp = np.exp(logs - totals[:, None])
    log_likelihood = float(model.row_weights @ (totals + model.table.log_jacobian()))
    entropy = -float(model.row_weights @ xlogy(resp, resp).sum(axis=1))
    n_components = logs.shape[1]
    n_params = n_components * model.likelihood.n_params + n_components - 1
    bic = -2.0 * log_likelihood + n_params * np.log(model.total)
    values = bic, -2.0 * log_likelihood + 2.0 * n_params, bic + 2.0 * entropy
    return dict(zip(CRITERIA, map(float, values)))


def components_of(engine: EM, model: Model, log_weights: np.ndarray, stats: np.ndarray) -> Components:
    """The components of these weights (K,) and statistics (K, S)."""
    unseen = np.zeros((1, stats.shape[1]))
    return Components(np.append(log_weights, -np.inf), np.vstack([stats, unseen])[None], engine.params(model, stats))


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


def _best(engine: EM, climbs: Sequence[Climb], criterion: str) -> Maximum:
    """The highest of the tops.

    Densities of different numbers of parameters cannot be compared: where starts have removed different numbers of
    components, the best of each number compete by the criterion.
    """
    tops: dict[int, Climb] = {}
    for climb in climbs:
        n = climb.state.n_components
        if n not in tops or climb.objective > tops[n].objective:
            tops[n] = climb
    return min((_end(engine, climb) for climb in tops.values()), key=lambda end: end.criteria[criterion])


def _end(engine: EM, climb: Climb) -> Maximum:
    model, state = climb.model, climb.state
    logs = components_of(engine, model, state.log_weights, state.stats).log_joint(model, model.table)[:, :-1]
    order = largest_first(logs.argmax(axis=1), model.row_weights, state.n_components)
    return Maximum(
        model=model,
        components=components_of(engine, model, state.log_weights[order], state.stats[order]),
        path=np.array(climb.path) + float(model.row_weights @ model.table.log_jacobian()),
        n_iter=climb.n_sweeps,
        converged=climb.converged,
        criteria=criteria_of(model, logs),
        selection={},
    )
