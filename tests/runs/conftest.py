"""The command in this process or in its own, and small tables for it."""

import contextlib
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from partita.cli import main
from partita.runs.command import sections_of
from partita.runs.section import write_sections

COMMAND = [sys.executable, "-c", "from partita.cli import main; main()"]


@pytest.fixture
def partita(monkeypatch, capsys):
    """Run the command in this process; gives ``code``, ``out`` and ``err``."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["partita", *map(str, arguments)])
        interrupted = signal.getsignal(signal.SIGINT)
        with pytest.raises(SystemExit) as end:
            main()
        signal.signal(signal.SIGINT, interrupted)  # the command leaves it unheard to the end of its process
        printed = capsys.readouterr()
        return SimpleNamespace(code=end.value.code or 0, out=printed.out, err=printed.err)

    return call


def process(*arguments, **options):
    """Run the command in its own process."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=480, **options
    )


def fit(request):
    """Read and fit what a request asks for, without a word."""
    return request.compute(request.read())


def write_run(run, folder):
    """Write a run to a folder, as the command does."""
    request, out = run.input.request, run.input.request.folder(folder)
    out.prepare(request.files)
    sections = [request.describe(run.input), *sections_of(request, run)]
    with out.writing(request.files) as paths:
        write_sections(sections, dict(zip(request.files, paths)))
    return folder


def everything_from(terminal):
    """What is still to come from a terminal whose other end a process holds."""
    shown = b""
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as stream:  # the other end is closed
        while chunk := stream.read(4096):
            shown += chunk
    return shown.decode()


def two_groups(n=60, seed=0):
    """Lines of a CSV table with two groups that are far apart; columns id, size, colour."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    size = rng.normal(10 + 40 * group, 2).round(3)
    colour = np.where(rng.random(n) < 0.9, np.array(["red", "blue"])[group], "green")
    return ["id,size,colour", *(f"c{i},{size[i]},{colour[i]}" for i in range(n))]


@pytest.fixture
def table(tmp_path):
    """A CSV file with two groups."""
    path = tmp_path / "things.csv"
    path.write_text("\n".join(two_groups()) + "\n")
    return path


@pytest.fixture
def votes(tmp_path):
    """A CSV file of five clusterings of 40 objects in two groups."""
    rng, truth = np.random.default_rng(0), np.arange(40) % 2
    columns = [np.where(rng.random(40) < 0.05, 1 - truth, truth) for _ in range(5)]
    path = tmp_path / "votes.csv"
    np.savetxt(path, np.column_stack(columns), fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    return path
