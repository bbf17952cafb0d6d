"""How a run ends before its time: the clock, the keyboard, a failure."""

import os
import signal
import threading

import numpy as np
import pytest
from tests.engines.counter import N_ROWS, count, kept_sweeps
from tests.volumes import long, mostly_long, short_and_long

from partita.engines import keeping, runner
from partita.running import progress as reporting

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
    assert max(posterior.provenance["sweeps"]) >= 40
    assert n_draws == min(posterior.provenance["sweeps"])
    same = count(draws=n_draws, warmup=0, chains=2)
    shortest = int(np.argmin(posterior.provenance["sweeps"]))
    np.testing.assert_array_equal(np.asarray(posterior.partitions)[shortest], np.asarray(same.partitions)[shortest])


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
    [first, *others] = posterior.provenance["sweeps"]
    assert first == 700
    assert all(0.9 * 700 < sweeps <= 700 for sweeps in others)


def stop_at(sweep, chain):
    """A progress callback that interrupts when this chain comes to this sweep."""

    def call(progress):
        if (progress.sweep, progress.chain) == (sweep, chain):
            raise KeyboardInterrupt

    return call


PLANS = {
    "auto": {},
    "auto, thinned": {"thin": 3},
    "auto after a warm-up": {"warmup": 40},
    "stated draws": {"draws": 1000, "warmup": 60},
    "few draws after a long warm-up": {"draws": 10, "warmup": 10**4},
    "stated draws, thinned": {"draws": 100, "warmup": 25, "thin": 4},
}


SWEEPS = (1, 2, 3, 5, 12, 26, 41, 44, 60, 61, 75, 111, 119, 130, 199, 200, 201, 260, 300)
at_every_second_or_every_sweep = short_and_long("sweeps", SWEEPS[::2], SWEEPS)


def ended_at(sweep, chain, plan):
    posterior = count(chains=3, progress=stop_at(sweep, chain), **plan)
    assert posterior.provenance["stopped"] == "interrupted"
    return posterior, list(zip(kept_sweeps(posterior).tolist(), posterior.provenance["sweeps"]))


def later_half(n_sweeps, every):
    return [n for n in range(n_sweeps // 2 + 1, n_sweeps + 1) if n % every == 0] or [n_sweeps]


@mostly_long
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@at_every_second_or_every_sweep
def test_an_early_end_keeps_at_least_the_later_half_of_every_chain(monkeypatch, plan, sweeps):
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_REPORTS", 0.0)
    for sweep in sweeps:
        for chain in (0, 2):
            posterior, chains = ended_at(sweep, chain, plan)
            assert posterior.provenance["kept_every"] == plan.get("thin", 1)
            for kept, n_sweeps in chains:
                half = later_half(n_sweeps, plan.get("thin", 1))
                assert kept[-len(half) :] == half


@long
@pytest.mark.parametrize("most_draws", [30, 5])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@at_every_second_or_every_sweep
def test_an_early_end_with_little_room_keeps_equally_spaced_draws_of_the_later_half(
    monkeypatch, plan, most_draws, sweeps
):
    """Or those after the warm-up, where these are more."""
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(keeping, "MOST_MEMORY", 3 * 2 * N_ROWS * most_draws)
    for sweep in sweeps:
        posterior, chains = ended_at(sweep, 2, plan)
        every = posterior.provenance["kept_every"]
        for kept, n_sweeps in chains:
            last = n_sweeps - n_sweeps % every or n_sweeps
            assert kept == list(range(last, 0, -every))[: len(kept)][::-1]
            assert kept[0] <= max(n_sweeps // 2, plan.get("warmup", 0)) + runner.BOUT_SHARE * n_sweeps + every
            assert len(kept) <= most_draws


def test_a_warmup_that_is_cut_short_is_the_earlier_half(clock):
    posterior = count(draws=1000, warmup=500, chains=2, max_time=0.2, after_step=[clock.tick])
    assert posterior.provenance["sweeps"] == [100, 100]
    assert kept_sweeps(posterior).tolist() == [list(range(51, 101))] * 2


def test_a_stated_warmup_is_kept_to_once_as_many_sweeps_have_followed(clock):
    posterior = count(draws=1000, warmup=100, chains=2, max_time=0.5, after_step=[clock.tick])
    assert posterior.provenance["sweeps"] == [250, 250]
    assert kept_sweeps(posterior).tolist() == [list(range(101, 251))] * 2


def test_what_an_early_end_would_need_changes_nothing_of_the_draws_after_it(monkeypatch):
    """Spare draws of the warm-up fill the memory for a while; the draws that were asked for are the same."""
    whole = count(chains=2, draws=30, warmup=400)
    monkeypatch.setattr(keeping, "MOST_MEMORY", 2 * 2 * N_ROWS * 30)
    bounded = count(chains=2, draws=30, warmup=400)
    np.testing.assert_array_equal(bounded.draws, whole.draws)
    assert kept_sweeps(bounded).tolist() == [list(range(401, 431))] * 2


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
