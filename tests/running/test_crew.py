"""The threads of a run: all items are worked on, and an early end leaves what there is."""

import os
import signal
import threading
from types import SimpleNamespace

import pytest

from partita.running import clock
from partita.running.crew import Crew
from partita.running.watch import Watch


@pytest.fixture
def time(monkeypatch):
    """A clock that a test moves, compiling or not."""
    time = SimpleNamespace(now=100.0, compiled=0.0)
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: time.now))
    monkeypatch.setattr(clock, "compiling_seconds", lambda: time.compiled)
    return time


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_every_item_is_worked_on_once(n_jobs):
    seen = []
    Crew(n_jobs).run(seen.append, range(7))
    assert sorted(seen) == list(range(7))


def test_compiling_does_not_count(time):
    crew = Crew(1, clock.running_seconds() + 2.0)
    time.now, time.compiled = 150.0, 49.0
    assert not crew.is_over()
    assert crew.is_over(deadline=crew.deadline - 1.5)
    time.now = 151.5
    assert crew.is_over()


def test_a_failure_is_raised_once_the_others_have_ended():
    ended = []

    def work(item):
        if item == 0:
            raise ValueError("no")
        while not crew.is_over():
            pass
        ended.append(item)

    crew = Crew(2)
    with pytest.raises(ValueError, match="no"):
        crew.run(work, [0, 1])
    assert ended == [1]


def test_what_a_callback_interrupts_ends_all():
    def work(item):
        if item == 0:
            raise KeyboardInterrupt
        while not crew.is_over():
            pass

    crew = Crew(2)
    crew.run(work, [0, 1])
    assert crew.interrupted


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(0.0)


@pytest.mark.usefixtures("interruptible")
def test_the_first_ctrl_c_is_noted_and_the_second_raised():
    watch = Watch()
    with watch.listening():
        crew = Crew(1, watch=watch)
        press_ctrl_c()
        assert crew.interrupted
        assert crew.is_over()
        assert not Crew(1, watch=watch).is_over()  # what follows reads what there is
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
