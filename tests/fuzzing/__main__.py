"""Run the fuzzers: ``python -m tests.fuzzing``, or a part of it: ``python -m tests.fuzzing --only files --n 500``."""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.fuzzing import examples, options, saved_files, tables
from tests.fuzzing.harness import Case, failures

NUMBERS = {"files": 10_000, "tables": 10_000, "options": 2_000}


@contextmanager
def cases(room: str) -> Iterator[Case]:
    """The cases of a room, with what they begin from; what they compile is compiled."""
    if room == "options":
        yield options.case
        return
    if room == "tables":
        tables.warm_up()
        yield tables.case
        return
    with tempfile.TemporaryDirectory() as folder:
        made = examples.make_all(Path(folder))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path, rows in made.values():
                saved_files.use_file(path, rows())
        yield partial(saved_files.case, made)


def main() -> int:
    """Run all rooms, print what failed, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--only", choices=NUMBERS)
    parser.add_argument("--n", type=int, help="cases of every room")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    chosen = parser.parse_args()
    n_failures = 0
    for room in [chosen.only] if chosen.only else NUMBERS:
        number = chosen.n or NUMBERS[room]
        with cases(room) as case:
            started = time.monotonic()
            found = failures(case, range(chosen.start, chosen.start + number))
        print(f"{room}: {number} cases, {len(found)} failed, {time.monotonic() - started:.0f} s", flush=True)
        for failure in found:
            print(f"{room} {failure.seed}: {failure.what.strip()}\n")
        n_failures += len(found)
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
