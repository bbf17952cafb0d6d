"""The time limit of a command: said, lifted, kept; and what is said when it is too short."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from partita import Mixture
from partita.engines import Progress
from partita.priors import PitmanYor
from partita.runs import forecast
from partita.runs.cluster import ClusterRequest
from partita.runs.consensus import ConsensusRequest
from partita.runs.fits import Fit, Input
from partita.runs.forecast import Approximation, Pace, round_seconds
from partita.runs.options import MAX_TIME, seconds_of
from partita.runs.words import advice, budget_in_words
from partita.table import Table

REQUEST = ClusterRequest(Path("t.csv"), {})


def test_a_limit_is_a_number_of_seconds_or_none():
    assert seconds_of("15") == 15.0
    assert seconds_of("none") is seconds_of("None") is None
    for wrong in ("0", "-1", "nan", "inf", "1h", ""):
        with pytest.raises(ValueError, match="--max-time must be a positive number of seconds, or none for no limit"):
            seconds_of(wrong)


def test_the_limit_is_said_beforehand_and_in_the_help(partita):
    assert REQUEST.max_time == ConsensusRequest(Path("t.csv")).max_time == MAX_TIME
    assert budget_in_words(MAX_TIME) == "  time: at most 300 s; --max-time sets another limit, none lifts it"
    assert (
        budget_in_words(MAX_TIME, "9 s")
        == "  time: at most 300 s, and 9 s; --max-time sets another limit, none lifts it"
    )
    assert budget_in_words(None) == "  time: no limit"
    for command in ("cluster", "consensus"):
        assert f"[default: {MAX_TIME:g}]" in partita(command, "--help").out


# --- advice fits what stopped it ------------------------------------------------------------------


def ended(stopped, request=REQUEST, *, converged=False, faster=""):
    posterior = SimpleNamespace(provenance={"stopped": stopped}, partitions=np.zeros((4, 30, 2)))
    model = SimpleNamespace(converged_=converged, posterior_=posterior)
    return Fit(Input(request, None, None, []), model, 1.0, [], faster)


def test_a_larger_limit_is_advised_only_where_the_limit_stopped_it():
    assert advice(ended("max_time", faster="--engine vb approximates, here in about 3 s")) == (
        "Give it more time with a larger --max-time, or take another way: --engine vb approximates, here in about 3 s."
    )
    for stopped in ("cap", "draws", "interrupted"):
        assert "--max-time" not in (advice(ended(stopped)) or "")


def test_the_cap_of_sweeps_needs_a_number_of_draws_or_another_engine():
    assert advice(ended("cap")) == (
        "It made the most sweeps that --draws auto makes: --draws 60 makes more; or take another way: --engine vb"
        " approximates."
    )
    of_labels = advice(ended("cap", ConsensusRequest(Path("t.csv"))))
    assert of_labels.endswith("take another way: --engine vb approximates.")


def test_few_draws_need_more_draws():
    assert advice(ended("draws")) == "More draws may help: --draws with a number above 30, or auto."


def test_nothing_is_advised_after_ctrl_c_or_agreement_or_to_an_approximation():
    assert advice(ended("interrupted")) is None
    assert advice(ended("max_time", converged=True)) is None
    assert advice(ended(None, ClusterRequest(Path("t.csv"), {}, engine="vb"))) is None


def test_a_prior_that_vb_cannot_run_is_advised_away():
    request = ClusterRequest(Path("t.csv"), {}, prior="pitman-yor")
    assert "--engine vb --prior dirichlet-process approximates" in advice(ended("max_time", request))


# --- what is said early ---------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr(forecast, "running_seconds", lambda: clock.now)
    return clock


def told(clock, *, per_sweep, before=0.0, max_time=100.0, automatic=True, n_sweeps=5000):
    """When, in sweeps, and what is told of chains of such sweeps."""
    found = []
    pace = Pace(max_time, automatic, lambda *news: found.append(news))
    clock.now += before
    for sweep in range(1, 40):
        clock.now += per_sweep
        pace(Progress(0, sweep, n_sweeps, 3, sweep * per_sweep, 4, 1.0))
    return found


def test_chains_that_cannot_be_judged_in_time_are_told_once_early(clock):
    [(needed, seconds)] = told(clock, per_sweep=2.0)
    assert needed == 200
    assert seconds == pytest.approx(400.0)
    assert told(clock, per_sweep=0.7) == []  # 140 s: perhaps
    assert told(clock, per_sweep=0.1, before=10.0) == []  # the choice of a family is no sweep
    [(needed, seconds)] = told(clock, per_sweep=0.5, automatic=False, n_sweeps=3000)
    assert (needed, seconds) == (3000, pytest.approx(1500.0))


def test_the_time_of_variational_bayes_is_measured_on_the_table():
    table = Table.read(np.random.default_rng(0).normal(size=(50, 1)))
    model = Mixture(prior=PitmanYor(), max_time=100.0, n_jobs=-1, random_state=0, progress=True)
    faster = Approximation(model, table)
    kind, number, unit = faster.seconds.rsplit(" ", 2)
    assert (kind, unit) == ("about", "s")
    assert int(number) >= 1
    assert isinstance(model.prior, PitmanYor)  # what was asked for is left alone


def test_a_start_that_takes_too_long_is_more_than_its_time(monkeypatch):
    monkeypatch.setattr(forecast, "TRIAL_SECONDS", (1e-9, 1e-9))
    table = Table.read(np.random.default_rng(0).normal(size=(50, 1)))
    assert Approximation(Mixture(max_time=9.0, random_state=0), table).seconds.startswith("more than ")


def test_a_measurement_that_fails_is_left_out(monkeypatch):
    def fail(self, table):
        raise ArithmeticError("no such number")

    monkeypatch.setattr(Mixture, "fit", fail)
    faster = Approximation(Mixture(max_time=9.0), Table.read(np.zeros((3, 1)) + np.arange(3)[:, None]))
    assert faster.in_words("--engine vb") == "--engine vb approximates"


@pytest.mark.parametrize(("seconds", "words"), [(1.0, "1"), (9.96, "10"), (124.0, "120"), (24643.0, "25000")])
def test_seconds_are_rounded_to_two_digits(seconds, words):
    assert round_seconds(seconds) == words


def test_a_run_that_the_limit_cut_knows_what_variational_bayes_takes():
    table = Table.read(np.random.default_rng(0).normal(size=(60, 1)))
    model = Mixture(max_time=1e-3, random_state=0, progress=False)
    given = Input(ClusterRequest(Path("t.csv"), {}, max_time=1e-3), table, None, [], model)
    run = given.request.compute(given)
    assert run.model.posterior_.provenance["stopped"] == "max_time"
    assert run.faster.startswith("--engine vb approximates, here in ")
    assert advice(run).endswith(f"{run.faster}.")
    assert run.model.progress is False


def test_an_interruption_of_the_measurement_costs_nothing_but_itself(monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Approximation, "seconds", property(interrupted))
    table = Table.read(np.random.default_rng(0).normal(size=(60, 1)))
    model = Mixture(max_time=1e-3, random_state=0)
    given = Input(ClusterRequest(Path("t.csv"), {}, max_time=1e-3), table, None, [], model)
    run = given.request.compute(given)
    assert run.faster == ""
    assert advice(run).endswith("--engine vb approximates.")
