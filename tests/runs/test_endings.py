"""How the real process ends: time limit, Ctrl-C, a reader that goes away, a terminal, a kill while writing."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.runs.conftest import COMMAND, everything_from, process, two_groups

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


def start(*arguments, **options):
    return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, **options)


def test_the_time_limit_ends_it_with_a_result(warm, tmp_path):
    started = time.monotonic()
    done = process("cluster", warm, *ENDLESS, "--max-time", "1", "--out", tmp_path / "out")
    assert time.monotonic() - started < 60
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stopped"] == "max_time"
    assert summary["n_clusters"] == 2


def test_ctrl_c_keeps_what_was_drawn_and_says_so(warm, tmp_path):
    running = start(
        "cluster", warm, *ENDLESS, "--out", tmp_path / "out", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert "60 rows" in running.stdout.readline()  # understood; sampling comes next
    with pytest.raises(subprocess.TimeoutExpired):
        running.communicate(timeout=3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)  # a second one would give up
    assert running.returncode == 0, err
    assert "Warning: Interrupted: the result rests on" in out
    assert "Traceback" not in err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stopped"] == "interrupted"
    assert (tmp_path / "out" / "labels.csv").exists()


def test_ctrl_c_before_there_is_a_result_says_so(warm, tmp_path):
    slow = "import time\nfrom partita.runs import clustering\nclustering.read_input = lambda *rest: time.sleep(60)\n"
    command = [sys.executable, "-c", slow + "print('ready', flush=True)\nfrom partita.cli import main; main()"]
    arguments = ["cluster", str(warm), "--out", str(tmp_path / "out")]
    with subprocess.Popen([*command, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == "ready\n"
        while running.poll() is None:
            try:
                _, err = running.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGINT)
    assert running.returncode == 130
    assert err == "Interrupted before the result was complete.\n"
    assert not (tmp_path / "out").exists()


def test_closed_streams_do_not_cost_the_result(warm, tmp_path):
    words = " ".join(f"'{part}'" for part in COMMAND)
    done = subprocess.run(
        f"{words} cluster {warm} --ignore id --draws 5 --out {tmp_path}/out 2>&- >/dev/full", shell=True, check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "out" / "labels.csv").exists()


def test_a_reader_that_goes_away_does_not_cost_the_result(warm, tmp_path):
    arguments = ["cluster", warm, "--ignore", "id", "--draws", "30", "--out", tmp_path / "out"]
    with start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        err = running.stderr.read()
        assert running.wait(timeout=120) == 0, err
    assert err == ""
    assert (tmp_path / "out" / "labels.csv").exists()


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
    assert "sweep" not in out


@pytest.mark.parametrize("where", ["container._seal", "folder.draw"], ids=["in the model", "in the picture"])
def test_a_kill_while_writing_leaves_the_old_files_or_the_new(warm, tmp_path, where):
    out = tmp_path / "out"
    assert process("cluster", warm, "--ignore", "id", "--draws", "5", "--out", out, "--seed", "1").returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    killing = (
        "import os, signal, sys\n"
        "from partita.files import container\n"
        "from partita.runs import folder\n"
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
