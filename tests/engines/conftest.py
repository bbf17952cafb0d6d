from types import SimpleNamespace

import pytest

from partita.engines import runner
from partita.running import clock as running_clock
from partita.running import progress, watch


@pytest.fixture
def clock(monkeypatch):
    """The runner's clock, a millisecond further with every sweep of an engine that is given ``clock.tick``."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now

    def tick(n):
        clock.now += 0.001

    clock.tick = tick
    for module in (runner, running_clock, progress, watch):
        monkeypatch.setattr(module, "time", clock)
    return clock
