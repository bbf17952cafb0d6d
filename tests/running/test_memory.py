"""The most memory that something held, where the system keeps count."""

import math

import numpy as np
import pytest

from partita.running import memory
from partita.running.memory import PeakMemory

counted = pytest.mark.skipif(math.isnan(PeakMemory().megabytes), reason="the system keeps no count of the peak")
ARRAY = 10_000_000
"""Float64 numbers: 80 megabytes, which go back to the system at once."""


@counted
def test_the_peak_is_that_of_what_was_held_and_let_go():
    peak = PeakMemory()
    assert peak.megabytes < 20.0
    np.ones(ARRAY)
    assert peak.megabytes == pytest.approx(80.0, abs=20.0)


@counted
def test_what_was_held_before_does_not_count():
    held = np.ones(ARRAY)
    np.ones(ARRAY)
    peak = PeakMemory()
    assert peak.megabytes < 20.0
    assert held.size == ARRAY


def test_a_system_that_keeps_no_count_says_nan(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_PROCESS", tmp_path / "absent")
    assert math.isnan(PeakMemory().megabytes)


def test_a_system_that_counts_no_peak_says_nan(monkeypatch, tmp_path):
    """As where there is a file to forget the peak by, but none of it among the numbers."""
    (tmp_path / "status").write_text("Name:\tpython\nVmRSS:\t  1000 kB\n")
    monkeypatch.setattr(memory, "_PROCESS", tmp_path)
    assert math.isnan(PeakMemory().megabytes)


@pytest.mark.parametrize("left", ["VmRSS:\t 1 kB\n", None])
def test_a_count_that_ends_says_nan(monkeypatch, tmp_path, left):
    (tmp_path / "status").write_text("VmHWM:\t  1000 kB\n")
    monkeypatch.setattr(memory, "_PROCESS", tmp_path)
    peak = PeakMemory()
    assert peak.megabytes == 0.0
    (tmp_path / "status").write_text(left) if left else (tmp_path / "status").unlink()
    assert math.isnan(peak.megabytes)
