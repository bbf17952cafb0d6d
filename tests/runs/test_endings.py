"""How the real process ends: time limit, Ctrl-C, a reader that goes away, a terminal, a kill while writing."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.runs.conftest import COMMAND, everything_from, process, two_groups
from tests.volumes import long

pytestmark = [
    pytest.mark.xdist_group("mixed"),
    pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX"),
]
ENDLESS = ["--draws", "1000000", "--ignore", "id"]


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A table, after one run that leaves compiled code on disk."""
    folder = tmp_path_factory.mktemp("endings")
    table = folder / "things.csv"
    table.write_text("\n".join(two_groups()) + "\n")
    done = process("cluster", table, "--ignore", "id", "--draws", "5", "--out", folder / "warm")
    assert done.returncode == 0, done.stderr
    return table


@pytest.fixture(scope="module", autouse=True)
def hearing():
    """Processes that are started here hear Ctrl-C, also where this one was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def start(*arguments, **options):
    return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, **options)


@long
def test_the_time_limit_ends_it_with_a_result(warm, tmp_path):
    started = time.monotonic()
    done = process("cluster", warm, *ENDLESS, "--max-time", "1", "--out", tmp_path / "out")
    assert time.monotonic() - started < 60
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stopped"] == "max_time"
    assert summary["n_clusters"] == 2


def interrupted_while_sampling(*arguments):
    """The command's output and exit code after Ctrl-C at the first sweep that its terminal shows."""
    import pty

    ours, theirs = pty.openpty()
    with start(*arguments, stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        shown = b""
        while b"of 4: sweep " not in shown:
            shown += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        err = everything_from(ours)
        out = running.stdout.read()
        return out, err, running.wait()


def test_ctrl_c_keeps_what_was_drawn_and_says_so(warm, tmp_path):
    out, err, code = interrupted_while_sampling("cluster", warm, *ENDLESS, "--out", tmp_path / "out")
    assert code == 0, err
    assert "Warning: Interrupted: the result rests on" in out
    assert "--max-time sets another" in out.split("\n\n")[0]
    assert "--max-time" not in out.split("Warning:")[1]  # nothing of the sort would have helped
    assert "Traceback" not in err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stopped"] == "interrupted"
    assert (tmp_path / "out" / "labels.csv").exists()


AT_ONCE = """
import os, signal, threading
from partita.engines import sampler
from partita.files import atomic
from partita.cli import main

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def interrupt_without_end():
    while True:
        interrupt()

"""


@pytest.mark.parametrize(
    "how",
    [
        "interrupt(); interrupt()",
        pytest.param("threading.Thread(target=interrupt_without_end, daemon=True).start()", marks=long),
    ],
)
def test_a_second_ctrl_c_while_the_answer_is_made_gives_up_quietly(warm, tmp_path, how):
    making = (
        f"{AT_ONCE}def answer(*rest, **options):\n    {how}\n    threading.Event().wait()\n"
        "sampler.estimate = answer\nmain()\n"
    )
    arguments = ["cluster", warm, "--ignore", "id", "--draws", "5", "--out", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-c", making, *map(str, arguments)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 130
    assert done.stderr == "Interrupted before the result was complete.\n"
    assert not (tmp_path / "out").exists()


@long
def test_ctrl_c_while_files_take_their_places_is_not_heard(warm, tmp_path):
    renaming = (
        f"{AT_ONCE}replace = os.replace\n"
        "def replacing(old, new):\n"
        "    seen = os.path.basename(new) in ('labels.csv', 'coclustering.png', 'manifest.json')\n"
        "    if seen:\n        interrupt()\n"
        "    replace(old, new)\n"
        "    if seen:\n        interrupt()\n"
        "atomic.os.replace = replacing\nmain()\n"
    )
    arguments = ["cluster", warm, "--ignore", "id", "--draws", "5", "--out", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-c", renaming, *map(str, arguments)], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["complete"] is True


@long
def test_ctrl_c_before_there_is_a_result_says_so(warm, tmp_path):
    reading = (
        f"{AT_ONCE}from partita.runs.cluster import ClusterRequest\n"
        "def read(*rest):\n    interrupt()\n    threading.Event().wait()\n"
        "ClusterRequest.read = read\nmain()\n"
    )
    arguments = ["cluster", str(warm), "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", reading, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "Interrupted before the result was complete.\n"
    assert not (tmp_path / "out").exists()


@long
def test_closed_streams_do_not_cost_the_result(warm, tmp_path):
    words = " ".join(f"'{part}'" for part in COMMAND)
    done = subprocess.run(
        f"{words} cluster {warm} --ignore id --draws 5 --out {tmp_path}/out 2>&- >/dev/full", shell=True, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "out" / "labels.csv").exists()


@long
def test_a_reader_that_goes_away_does_not_cost_the_result(warm, tmp_path):
    arguments = ["cluster", warm, "--ignore", "id", "--draws", "30", "--out", tmp_path / "out"]
    with start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        err = running.stderr.read()
        assert running.wait(timeout=120) == 0, err
    assert err == ""
    assert (tmp_path / "out" / "labels.csv").exists()


@long
def test_a_terminal_shows_chains_sweeps_groups_and_time_left(warm, tmp_path):
    import pty

    ours, theirs = pty.openpty()
    arguments = ["cluster", warm, *ENDLESS, "--max-time", "2", "--out", tmp_path / "out"]
    with start(*arguments, stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        text = everything_from(ours)
        out = running.stdout.read()
        assert running.wait(timeout=120) == 0
    assert "of 4: sweep " in text
    assert " groups, " in text
    assert " s left" in text
    assert text.endswith("\r\x1b[K")
    assert "of 4: sweep " not in out


@pytest.mark.parametrize("where", ["container._seal", "labels.draw"], ids=["in the model", "in the picture"])
@long
def test_a_kill_while_writing_leaves_the_old_files_or_the_new(warm, tmp_path, where):
    out = tmp_path / "out"
    assert process("cluster", warm, "--ignore", "id", "--draws", "5", "--out", out, "--seed", "1").returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    killing = (
        "import os, signal, sys\n"
        "from partita.files import container\n"
        "from partita.runs import labels\n"
        f"{where} = lambda *rest: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from partita.cli import main; main()\n"
    )
    arguments = ["cluster", warm, "--ignore", "id", "--draws", "6", "--out", out, "--seed", "2"]
    done = subprocess.run([sys.executable, "-c", killing, *map(str, arguments)], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert {path.name: path.read_bytes() for path in out.iterdir() if not path.name.endswith(".tmp")} == before
    assert any(path.name.endswith(".tmp") for path in out.iterdir())
    assert process(*arguments).returncode == 0
    assert {path.name for path in out.iterdir()} == set(before)
