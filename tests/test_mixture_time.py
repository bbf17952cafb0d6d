"""A time limit, and Ctrl-C, cover all of a fit: the engine, what is read from it, and a second fit."""

import os
import signal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partita import Mixture
from partita.engines import EM, Gibbs, maximum, sampler
from partita.engines.runner import Plan
from partita.options import READING_SHARE, plan_from
from partita.posterior.estimate.descent import Problem
from partita.priors import FiniteDirichlet
from partita.running import progress
from partita.running.clock import running_seconds
from partita.running.watch import Watch

ROWS = np.random.default_rng(5).normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [9.0, 1.0], [0.0, 9.0]], 20, axis=0)


def test_a_part_of_the_time_is_left_for_reading_the_draws():
    plan = plan_from(Mixture(max_time=50.0)).begun()
    assert plan.crew().deadline - running_seconds() == pytest.approx((1 - READING_SHARE) * 50.0, abs=1.0)
    assert plan_from(Mixture()).begun().crew().deadline == np.inf
    with pytest.raises(ValueError, match="The plan has not begun"):
        Plan().crew()


def test_the_estimate_is_told_when_the_time_is_over(monkeypatch):
    told = []
    estimate = sampler.estimate

    def watched(partitions, weights, loss, options, **more):
        told.append(more["crew"].deadline)
        return estimate(partitions, weights, loss, options, **more)

    monkeypatch.setattr(sampler, "estimate", watched)
    x = np.random.default_rng(0).normal(size=(20, 1))
    before = running_seconds()
    with pytest.warns(ConvergenceWarning):
        Mixture(draws=20, warmup=0, max_time=500.0, random_state=0).fit(x)
    assert before + 500.0 <= told[0] <= running_seconds() + 500.0
    with pytest.warns(ConvergenceWarning):
        Mixture(draws=20, warmup=0, random_state=0).fit(x)
    assert told[1] == np.inf


def test_a_second_fit_has_what_the_first_has_left(monkeypatch):
    deadlines, crew = [], Plan.crew

    def noted(plan):
        made = crew(plan)
        deadlines.append(made.deadline)
        return made

    monkeypatch.setattr(Plan, "crew", noted)
    before = running_seconds()
    with pytest.warns(ConvergenceWarning):
        Mixture(family="gaussian", n_clusters=6, draws=20, warmup=5, max_time=1000.0, random_state=0).fit(ROWS)
    first, second = deadlines
    assert before + 400.0 <= first <= running_seconds() + 400.0
    assert before + 800.0 - 5.0 <= second <= running_seconds() + 800.0


def pressing(function):
    """The function, during whose first call Ctrl-C is pressed."""
    presses = iter([lambda: os.kill(os.getpid(), signal.SIGINT)])

    def pressed(*given, **more):
        next(presses, lambda: None)()
        return function(*given, **more)

    return pressed


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_during_the_search_for_the_estimate_keeps_the_draws(monkeypatch):
    monkeypatch.setattr(Problem, "descend", pressing(Problem.descend))
    with pytest.warns(ConvergenceWarning):
        model = Mixture(draws=30, warmup=5, chains=2, random_state=0, n_jobs=1).fit(ROWS)
    assert model.posterior_.n_draws == 60
    assert model.n_clusters_ == 3


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["_different", "_best", "_outcome"])
def test_ctrl_c_between_the_stages_of_em_keeps_the_best_so_far(monkeypatch, name):
    monkeypatch.setattr(maximum, "MOST_SETTLING", 30)
    monkeypatch.setattr(maximum, "ROWS_PER_COMPONENT", 1)
    monkeypatch.setattr(maximum, name, pressing(getattr(maximum, name)))
    model = Mixture(prior=FiniteDirichlet(n_components=3), engine=EM(), random_state=0)
    if name == "_different":  # one step with all rows is made all the same
        with pytest.warns(ConvergenceWarning, match="EM had not converged when it was interrupted, after 1 iteration"):
            model.fit(ROWS)
    else:
        model.fit(ROWS)
    assert model.n_clusters_ == 3


@pytest.mark.usefixtures("interruptible")
def test_after_ctrl_c_there_is_no_second_fit(monkeypatch):
    monkeypatch.setattr(Gibbs, "step", pressing(Gibbs.step))
    with pytest.warns(ConvergenceWarning) as warned:
        model = Mixture(n_clusters=6, chains=2, random_state=0).fit(ROWS)
    assert len(warned) == 2
    assert model.groups_note_ == str(warned[1].message)
    assert "6 were asked for: the fit was interrupted before another with 6 components" in model.groups_note_
    assert model.posterior_.provenance["stopped"] == "interrupted"
    assert model.n_clusters_ < 6


def test_progress_knows_when_the_fit_began(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(maximum, "MOST_SETTLING", 30)
    monkeypatch.setattr(maximum, "ROWS_PER_COMPONENT", 1)
    told = []
    prior = FiniteDirichlet(n_components=3)
    Mixture(prior=prior, engine=EM(), random_state=0, progress=told.append, max_time=100.0).fit(ROWS)
    elapsed = [news.elapsed for news in told]
    assert elapsed == sorted(elapsed)
    assert all(news.time_left <= 100.0 - news.elapsed + 1.0 for news in told)


def test_a_watch_without_a_limit_has_no_end():
    assert Watch().time_left == Watch().deadline(0.5) == np.inf
    over = Watch(0.0)
    assert over.time_left <= 0.0
    assert over.deadline(0.5) <= running_seconds()
