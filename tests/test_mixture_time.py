"""A time limit covers the draws and what is read from them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partita import Mixture
from partita.engines import sampler
from partita.options import READING_SHARE, plan_from
from partita.running.clock import running_seconds


def test_a_part_of_the_time_is_left_for_reading_the_draws():
    plan = plan_from(Mixture(max_time=50.0))
    assert plan.engine_time == pytest.approx((1 - READING_SHARE) * 50.0)
    assert plan_from(Mixture()).engine_time == np.inf


def test_the_estimate_is_told_when_the_time_is_over(monkeypatch):
    told = []
    estimate = sampler.estimate

    def watched(partitions, weights, loss, options, **more):
        told.append(options.deadline)
        return estimate(partitions, weights, loss, options, **more)

    monkeypatch.setattr(sampler, "estimate", watched)
    x = np.random.default_rng(0).normal(size=(20, 1))
    before = running_seconds()
    with pytest.warns(ConvergenceWarning):
        Mixture(draws=20, warmup=0, max_time=500.0, random_state=0).fit(x)
    assert before + 500.0 <= told[0] <= running_seconds() + 500.0
    with pytest.warns(ConvergenceWarning):
        Mixture(draws=20, warmup=0, random_state=0).fit(x)
    assert told[1] is None
