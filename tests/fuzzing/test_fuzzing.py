"""The fuzzers in miniature, and that their harness sees what it looks for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.fuzzing.harness import failures
from tests.volumes import long

ROOT = Path(__file__).resolve().parent.parent.parent


@long
def test_fifty_cases_of_every_room_end_in_a_result_or_in_words():
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing", "--n", "50"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rooms = [line.split(",")[:2] for line in done.stdout.splitlines()]
    assert rooms == [[f"{room}: 50 cases", " 0 failed"] for room in ("files", "tables", "options")]


def well(folder):
    assert list(folder.iterdir()) == []
    (folder / "file").write_text("of its own")


def refused(folder):
    raise ValueError("Column 'a' holds nothing: fill it.")


def wrong_error(folder):
    raise KeyError("a")


def wrong_words(folder):
    raise ValueError("Column '\x1b[2J' holds nothing.")


def no_words(folder):
    raise TypeError


def crash(folder):
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # without pytest's report
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(folder):
    while True:
        pass


def hunger(folder):
    bytearray(3 * 2**30)


CASES = [well, refused, wrong_error, wrong_words, no_words, crash, hang, hunger]


def test_the_harness_tells_results_and_refusals_from_all_else():
    found = failures(lambda seed, folder: CASES[seed](folder), range(len(CASES)), seconds=2)
    words = {CASES[failure.seed]: failure.what for failure in found}
    assert list(words) == [wrong_error, wrong_words, no_words, crash, hang, hunger]
    assert "KeyError" in words[wrong_error]
    assert "control characters" in words[wrong_words]
    assert words[crash] == "ended by SIGSEGV"
    assert words[hang] == "not done in time"
    assert "MemoryError" in words[hunger]
