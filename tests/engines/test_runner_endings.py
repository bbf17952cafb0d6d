"""How a run ends before its time: the clock, the keyboard, a failure."""

import os
import signal
import threading

import numpy as np
import pytest
from tests.engines.counter import N_ROWS, count, kept_sweeps

from partita.engines import reporting, runner

# --- time -----------------------------------------------------------------------------------------


def test_at_the_time_limit_chains_have_had_equal_shares(clock):
    posterior = count(chains=4, max_time=1.0, after_step=[clock.tick])
    assert posterior.provenance["stopped"] == "max_time"
    sweeps = posterior.provenance["sweeps"]
    assert abs(sum(sweeps) - 1000) <= 4
    assert max(sweeps) - min(sweeps) <= 2
    assert posterior.provenance["seconds"] == pytest.approx(1.0, abs=0.01)
    np.testing.assert_array_equal(kept_sweeps(posterior)[:, -1], sweeps)  # the latest are kept


def test_a_time_limit_that_is_not_reached_changes_nothing(clock):
    within = count(draws=30, max_time=1000.0, after_step=[clock.tick])
    np.testing.assert_array_equal(within.draws, count(draws=30).draws)
    assert within.provenance["stopped"] == "draws"


@pytest.mark.parametrize("draws", ["auto", 200])
def test_hardly_any_time_still_gives_one_draw_per_chain(clock, draws):
    posterior = count(chains=3, draws=draws, max_time=1e-6, after_step=[clock.tick])
    assert posterior.partitions.shape == (3, 1, N_ROWS)
    assert posterior.provenance["stopped"] == "max_time"
    assert posterior.provenance["sweeps"] == [1, 1, 1]


# --- interruptions and failures -------------------------------------------------------------------


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption from the keyboard, whatever the test runner set."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def interrupt_at(sweep):
    """Interrupt once, as a keyboard would, when a chain comes to this sweep."""
    not_yet = threading.Semaphore(1)

    def call(n):
        if n == sweep and not_yet.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)

    return call


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_keeps_what_was_drawn(n_jobs):
    options = {"draws": 10**7, "warmup": 0, "chains": 2, "n_jobs": n_jobs, "max_time": 60.0}
    posterior = count(**options, after_step=[interrupt_at(40)])
    assert posterior.provenance["stopped"] == "interrupted"
    assert posterior.provenance["seconds"] < 60
    n_draws = posterior.partitions.shape[1]
    assert n_draws >= (40 if n_jobs == 2 else 1)
    assert n_draws == min(posterior.provenance["sweeps"])
    same = count(draws=n_draws, warmup=0, chains=2)
    shortest = int(np.argmin(posterior.provenance["sweeps"]))
    np.testing.assert_array_equal(np.asarray(posterior.partitions)[shortest], np.asarray(same.partitions)[shortest])


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_of_the_warmup_keeps_where_the_chains_are():
    posterior = count(draws=5, warmup=10**7, chains=2, n_jobs=2, max_time=60.0, after_step=[interrupt_at(20)])
    assert posterior.provenance["stopped"] == "interrupted"
    assert posterior.partitions.shape == (2, 1, N_ROWS)
    np.testing.assert_array_equal(kept_sweeps(posterior)[:, 0], posterior.provenance["sweeps"])


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_while_the_chains_are_judged(monkeypatch):
    interrupt = interrupt_at(0)

    def interrupted(traces):
        interrupt(0)
        return False

    monkeypatch.setattr(runner, "converged", interrupted)
    posterior = count(chains=2)
    assert posterior.provenance["stopped"] == "interrupted"
    assert posterior.partitions.shape == (2, 150, N_ROWS)


@pytest.mark.usefixtures("interruptible")
def test_after_a_run_interruptions_are_what_they_were():
    count(draws=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    count(draws=2)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_interruption_finds_all_chains_about_equally_far(monkeypatch):
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_REPORTS", 0.0)

    def stop(progress):
        if progress.sweep == 700:
            raise KeyboardInterrupt

    posterior = count(draws=1000, warmup=0, chains=3, n_jobs=1, progress=stop)
    assert posterior.provenance["stopped"] == "interrupted"
    assert posterior.provenance["sweeps"] == [700, 651, 651]
    assert kept_sweeps(posterior).tolist() == [list(range(50, 701)), list(range(1, 652)), list(range(1, 652))]


def test_a_callback_may_interrupt():
    def stop(progress):
        raise KeyboardInterrupt

    posterior = count(draws=10**7, warmup=0, chains=3, max_time=60.0, progress=stop)
    assert posterior.provenance["stopped"] == "interrupted"
    assert posterior.partitions.shape == (3, 1, N_ROWS)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_chain_ends_the_run(n_jobs):
    steps = []

    def fail(n):
        steps.append(n)
        if n == 30 and steps.count(30) == 1:
            raise ArithmeticError("no such number")

    before = threading.active_count()
    with pytest.raises(ArithmeticError, match="no such number"):
        count(draws=10**7, chains=4, n_jobs=n_jobs, max_time=60.0, after_step=[fail])
    assert threading.active_count() == before
    assert len(steps) < 10**6  # the others did not run on


def test_a_failing_callback_ends_the_run():
    def fail(progress):
        raise ArithmeticError("no such screen")

    with pytest.raises(ArithmeticError, match="no such screen"):
        count(draws=10**7, max_time=60.0, progress=fail)
