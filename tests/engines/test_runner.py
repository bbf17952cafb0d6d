"""The runner keeps exactly what it says, stops when it says, and loses nothing on the way.

Most tests run an engine that only counts its sweeps, so that what was kept can be read from the draws.
"""

import json
import os
import signal
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from tests.engines.models import KNOWN, one_worker

from partita import Posterior
from partita.engines import Gibbs, Progress, chain, runner
from partita.engines.runner import Plan, run
from partita.priors import DirichletProcess

MODEL = KNOWN.model(DirichletProcess(concentration=1.0))
N_ROWS = MODEL.table.n_rows


@dataclass(frozen=True)
class Info:
    n_clusters: int
    log_joint: float  # the number of the sweep, unless the engine settles
    entropy: float
    concentration: float


@dataclass
class Counter:
    """An engine without a model: every sweep seats the rows anew by coin flips."""

    settles: bool = False
    after_step: list = field(default_factory=list)  # called with the number of the sweep

    def init(self, rng, model):
        return SimpleNamespace(n=0)

    def step(self, rng, state, model):
        labels = rng.integers(0, 2, N_ROWS)
        n = state.n + 1
        for call in self.after_step:
            call(n)
        sizes = np.bincount(labels, minlength=16)
        noise = rng.normal(size=3)
        info = Info(int((sizes > 0).sum()), noise[0] if self.settles else n, noise[1], noise[2])
        return SimpleNamespace(n=n, allocation=SimpleNamespace(labels=labels, sizes=sizes)), info


def count(*, settles=False, after_step=(), seed=0, **plan) -> Posterior:
    engine = Counter(settles, list(after_step))
    return run(engine, MODEL, Plan(**plan), np.random.SeedSequence(seed))


def kept_sweeps(posterior: Posterior) -> np.ndarray:
    """Numbers of the sweeps that were kept, (chain, draw)."""
    return posterior.traces["log_joint"].astype(int)


# --- a stated number of draws ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "kept"),
    [
        ({"draws": 5, "warmup": 0}, [1, 2, 3, 4, 5]),
        ({"draws": 3, "warmup": 7}, [8, 9, 10]),
        ({"draws": 3, "warmup": 6, "thin": 3}, [9, 12, 15]),
        ({"draws": 3, "warmup": 7, "thin": 3}, [9, 12, 15]),
        ({"draws": 1, "warmup": 0, "thin": 4}, [4]),
        ({"draws": 2}, [51, 52]),  # at least 50 sweeps of warm-up
        ({"draws": 120, "thin": 2}, list(range(62, 301, 2))),  # half as many as draws
    ],
)
def test_the_sweeps_that_are_kept(plan, kept):
    posterior = count(chains=3, **plan)
    assert kept_sweeps(posterior).tolist() == [kept] * 3
    assert posterior.partitions.shape == (3, len(kept), N_ROWS)
    assert posterior.provenance["stopped"] == "draws"
    assert posterior.provenance["kept_every"] == plan.get("thin", 1)


def test_fewer_draws_of_a_chain_are_the_first_of_more():
    short, long = count(draws=5, warmup=10), count(draws=9, warmup=10)
    np.testing.assert_array_equal(np.asarray(short.partitions), np.asarray(long.partitions)[:, :5])


def test_chains_and_seeds_have_numbers_of_their_own():
    posterior, other = count(draws=20, warmup=0), count(draws=20, warmup=0, seed=1)
    noise = np.vstack([posterior.traces["entropy"], other.traces["entropy"]])
    assert len(np.unique(noise)) == noise.size
    again = count(draws=20, warmup=0)
    np.testing.assert_array_equal(again.traces["entropy"], posterior.traces["entropy"])


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_draws_do_not_depend_on_the_number_of_jobs(n_jobs):
    alone = count(draws=40, chains=5)
    together = count(draws=40, chains=5, n_jobs=n_jobs)
    np.testing.assert_array_equal(together.draws, alone.draws)
    for name, trace in alone.traces.items():
        np.testing.assert_array_equal(together.traces[name], trace)


# --- draws="auto" ---------------------------------------------------------------------------------


def test_it_stops_when_the_chains_have_converged():
    posterior = count(settles=True)
    assert posterior.provenance["stopped"] == "converged"
    assert posterior.diagnostics().converged
    [n_sweeps] = set(posterior.provenance["sweeps"])
    assert n_sweeps in Plan().checkpoints()
    assert posterior.partitions.shape[1] == n_sweeps - n_sweeps // 4  # the first quarter was warm-up


def test_the_earlier_half_is_warmup_where_three_quarters_have_not_converged(monkeypatch):
    monkeypatch.setattr(runner, "converged", lambda traces: traces["log_joint"].min() > 100)
    posterior = count(chains=2)
    assert posterior.provenance["stopped"] == "converged"
    assert kept_sweeps(posterior).tolist() == [list(range(101, 201))] * 2


def test_it_stops_at_the_cap(monkeypatch):
    monkeypatch.setattr(runner, "MOST_SWEEPS", 500)
    posterior = count(chains=2)
    assert posterior.provenance["stopped"] == "cap"
    assert posterior.provenance["sweeps"] == [500, 500]
    assert kept_sweeps(posterior).tolist() == [list(range(251, 501))] * 2


def test_a_stated_warmup_is_kept_to(monkeypatch):
    monkeypatch.setattr(runner, "MOST_SWEEPS", 300)
    posterior = count(chains=2, warmup=30, thin=2)
    assert kept_sweeps(posterior)[0].tolist() == list(range(32, posterior.provenance["sweeps"][0] + 1, 2))
    assert posterior.provenance["sweeps"][0] >= 300


def test_the_cap_is_as_documented():
    assert Plan().checkpoints()[0] == 200
    assert Plan().checkpoints()[-1] == 5000
    assert all(later > sooner for sooner, later in pairwise(Plan().checkpoints()))


# --- time -----------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by a millisecond with every sweep; pass ``clock.tick`` to the engine."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now

    def tick(n):
        clock.now += 0.001

    clock.tick = tick
    for module in (runner, chain):
        monkeypatch.setattr(module, "time", clock)
    return clock


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
    assert posterior.partitions.shape == (2, 100, N_ROWS)


@pytest.mark.usefixtures("interruptible")
def test_after_a_run_interruptions_are_what_they_were():
    count(draws=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    count(draws=2)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


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


# --- memory ---------------------------------------------------------------------------------------


def test_a_stated_number_of_draws_is_thinned_to_fit_memory(monkeypatch):
    most = 2 * 2 * N_ROWS * 30  # two chains of 30 draws, two bytes a label
    monkeypatch.setattr(runner, "MOST_MEMORY", most)
    stored = []
    keep = chain.Chain.keep

    def watched(self):
        keep(self)
        stored.append(len(self.labels))

    monkeypatch.setattr(chain.Chain, "keep", watched)
    posterior = count(chains=2, draws=100, warmup=0, thin=3)
    assert posterior.provenance["kept_every"] == 3 * 4
    assert kept_sweeps(posterior).tolist() == [list(range(12, 301, 12))] * 2
    assert posterior.provenance["label_bytes"] <= most
    assert max(stored) <= 30  # at no time more


def test_an_automatic_run_is_thinned_when_memory_is_full(monkeypatch):
    monkeypatch.setattr(runner, "MOST_MEMORY", 2 * 2 * N_ROWS * 160)
    monkeypatch.setattr(runner, "MOST_SWEEPS", 1000)
    posterior = count(chains=2)
    every = posterior.provenance["kept_every"]
    assert every in (2, 4, 8)
    assert kept_sweeps(posterior)[0].tolist() == list(range(500 + every, 1001, every))
    assert posterior.provenance["label_bytes"] <= runner.MOST_MEMORY


def test_memory_for_not_even_one_draw_keeps_one(monkeypatch):
    monkeypatch.setattr(runner, "MOST_MEMORY", 1)
    assert count(chains=2, draws=50).partitions.shape == (2, 1, N_ROWS)


# --- progress and provenance ----------------------------------------------------------------------


def test_progress_is_reported_sweep_by_sweep(monkeypatch):
    monkeypatch.setattr(runner, "SECONDS_BETWEEN_REPORTS", 0.0)
    seen: list[Progress] = []
    count(chains=3, draws=20, warmup=5, n_jobs=2, progress=seen.append)
    for number in range(3):
        assert [p.sweep for p in seen if p.chain == number] == list(range(1, 26))
    assert {p.n_sweeps for p in seen} == {25}
    assert all(p.n_clusters in (1, 2) for p in seen)
    assert all(later.elapsed >= sooner.elapsed >= 0 for sooner, later in pairwise(seen))


def test_progress_does_not_flood(clock):
    seen: list[Progress] = []
    count(chains=1, draws=1000, warmup=0, progress=seen.append, after_step=[clock.tick])
    assert [p.sweep for p in seen] == pytest.approx([1, 201, 401, 601, 801], abs=5)


def test_provenance_is_complete_and_survives_a_file(tmp_path):
    posterior = count(chains=2, draws=6, seed=12)
    expected = {"engine", "prior", "likelihood", "data", "n_rows", "seed", "stopped", "sweeps", "kept_every"}
    assert expected | {"seconds", "label_bytes", "versions"} == posterior.provenance.keys()
    assert posterior.provenance["seed"] == {"entropy": "12", "spawn_key": []}
    assert posterior.provenance["data"] == MODEL.table.fingerprint()
    assert posterior.provenance["prior"] == "DirichletProcess(concentration=1.0)"
    assert {"partita", "numpy", "scipy", "numba", "python"} <= posterior.provenance["versions"].keys()
    assert json.loads(json.dumps(posterior.provenance)) == posterior.provenance
    posterior.save(tmp_path / "draws.partita")
    again = Posterior.load(tmp_path / "draws.partita")
    assert again.provenance == posterior.provenance
    np.testing.assert_array_equal(again.draws, posterior.draws)


@one_worker(KNOWN)
def test_gibbs_runs_and_says_its_options():
    engine = Gibbs(merge_split=3)
    posterior = run(engine, MODEL, Plan(chains=2, draws=50, n_jobs=2), np.random.SeedSequence(1))
    assert posterior.provenance["engine"] == "Gibbs(merge_split=3)"
    assert posterior.traces["n_clusters"].ravel().tolist() == posterior.partitions.n_clusters().tolist()
    np.testing.assert_allclose(posterior.traces["concentration"], 1.0)
    shares = [np.bincount(draw) / N_ROWS for draw in posterior.draws]
    entropy = [-(p @ np.log(p)) for p in shares]
    np.testing.assert_allclose(posterior.traces["entropy"].ravel(), entropy)
