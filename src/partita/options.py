"""What the options of an estimator mean: checked, and names turned into the objects they stand for."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from partita.engines import ENGINES, Engine, Gibbs
from partita.engines.runner import Plan
from partita.families import FAMILIES, Family, automatic_family
from partita.parameters import choose, is_number, jobs, whole_number
from partita.posterior.estimate import Options
from partita.posterior.losses import Loss, loss_from
from partita.priors import PRIORS, DirichletProcess, Prior
from partita.table import Table

READING_SHARE = 0.2
"""Of ``max_time`` that is left for diagnostics, estimate and memberships."""


def plan_from(estimator: Any) -> Plan:
    """How long to run and what to keep."""
    draws = estimator.draws
    if draws != "auto":
        draws = whole_number("draws", draws, 1, also="'auto'")
    if estimator.max_time is not None and not (is_number(estimator.max_time) and estimator.max_time > 0):
        raise ValueError(f"max_time must be a positive number of seconds or None, got {estimator.max_time!r}.")
    if not (isinstance(estimator.progress, bool) or callable(estimator.progress)):
        raise TypeError(f"progress must be True, False or a callable, got {estimator.progress!r}.")
    return Plan(
        chains=whole_number("chains", estimator.chains, 1),
        draws=draws,
        warmup=None if estimator.warmup is None else whole_number("warmup", estimator.warmup, 0, also="None"),
        thin=whole_number("thin", getattr(estimator, "thin", 1), 1),
        max_time=estimator.max_time,
        reading_share=READING_SHARE,
        n_jobs=jobs(estimator.n_jobs),
        progress=estimator.progress,
    )


class EstimatePlan(NamedTuple):
    """How the draws become one partition."""

    loss: Loss
    entropy: float
    options: Options


def estimate_plan_from(estimator: Any) -> EstimatePlan:
    """The loss, the weighting by entropy and the limits, checked."""
    if not is_number(estimator.entropy):
        raise ValueError(f"entropy must be a finite number, got {estimator.entropy!r}.")
    options = Options(
        max_clusters=estimator.max_clusters,
        min_size=estimator.min_size,
        min_support=estimator.min_support,
        runs=None,
        n_jobs=estimator.n_jobs or 1,
    )
    return EstimatePlan(loss_from(estimator.loss), float(estimator.entropy), options)


def engine_from(value: Any, among: Mapping[str, Any] = ENGINES) -> Engine:
    """An engine, or the default of the one that is named."""
    engine: Any = choose("engine", value, among)() if isinstance(value, str) else value
    if not isinstance(engine, Engine):
        names = ", ".join(map(repr, among))
        raise TypeError(f"engine must be one of {names}, or an engine of partita.engines, got {engine!r}.")
    engine.check()
    return engine


def priors_from(value: Any, engine: Engine) -> list[Prior]:
    """The prior as the engine runs it, or several where EM is to choose among them."""
    if isinstance(engine, Gibbs):
        return [prior_from(value)]
    return list(engine.priors(_prior(value)))


def prior_from(value: Any) -> Prior:
    """The prior, or the default of the one that is named, checked; None is a Dirichlet process."""
    prior = _prior(value)
    prior.check()
    return prior


def _prior(value: Any) -> Prior:
    prior = DirichletProcess() if value is None else _named_prior(value) if isinstance(value, str) else value
    if not isinstance(prior, Prior):
        raise TypeError(f"prior must be a prior of partita.priors or the name of one, got {prior!r}.")
    return prior


def _named_prior(name: str) -> Prior:
    kind = choose("prior", name, PRIORS)
    try:
        return kind()  # type: ignore[operator]
    except TypeError:
        raise ValueError(f"prior={name!r} needs options: pass {kind.__name__}(n_components=...).") from None


def family_from(value: Any, table: Table, *, fixed: bool = False) -> Family:
    """A family, the default of the one that is named, or what "auto" is for this table."""
    if isinstance(value, str):
        if value == "auto":
            return automatic_family(table, fixed=fixed)
        kinds: dict[str, Any] = {"auto": automatic_family, **FAMILIES}
        return choose("family", value, kinds)()
    if not isinstance(value, Family):
        raise TypeError(f"family must be 'auto', a family of partita.families or its name, got {value!r}.")
    return value


def standardizing(standardize: bool, family: Any) -> bool | Callable[[str], bool]:
    """Which numeric columns are standardised: those that the family does not read as they are."""
    kind = FAMILIES.get(family) if isinstance(family, str) else None
    chosen = family if kind is None else kind()
    return chosen.standardizes_column if standardize and isinstance(chosen, Family) else standardize
