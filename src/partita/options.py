"""What the options of an estimator mean: checked, and names turned into the objects they stand for."""

from collections.abc import Mapping
from typing import Any

from partita.engines import ENGINES, Engine
from partita.engines.runner import EstimatePlan, Plan
from partita.parameters import choose, is_number, jobs, whole_number
from partita.posterior.estimate import EstimateOptions
from partita.posterior.estimate.losses import loss_from

READING_SHARE = 0.2
"""Of ``max_time`` that is left for diagnostics, estimate and memberships."""


def plan_from(estimator: Any) -> Plan:
    """How long to run, what to keep, and how draws become one partition."""
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
        estimate=_estimate_plan_from(estimator),
    )


def _estimate_plan_from(estimator: Any) -> EstimatePlan:
    if not is_number(estimator.entropy):
        raise ValueError(f"entropy must be a finite number, got {estimator.entropy!r}.")
    options = EstimateOptions(
        max_clusters=estimator.max_clusters,
        min_size=estimator.min_size,
        min_support=estimator.min_support,
        runs=None,
        n_jobs=estimator.n_jobs,
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
