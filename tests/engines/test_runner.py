"""The runner keeps exactly the sweeps that it says, and says where its draws come from."""

import io
import json
from itertools import pairwise

import numpy as np
import pytest
from tests.engines.counter import MODEL, N_ROWS, count, kept_sweeps
from tests.engines.models import KNOWN, one_worker

from partita import Posterior
from partita.engines import Gibbs, Progress, chain, keeping, runner
from partita.engines.runner import Plan, run
from partita.files.json_options import from_json
from partita.running import progress as reporting

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


# --- memory ---------------------------------------------------------------------------------------


def test_a_stated_number_of_draws_is_thinned_to_fit_memory(monkeypatch):
    most = 2 * 2 * N_ROWS * 30  # two chains of 30 draws, two bytes a label
    monkeypatch.setattr(keeping, "MOST_MEMORY", most)
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
    monkeypatch.setattr(keeping, "MOST_MEMORY", 2 * 2 * N_ROWS * 160)
    monkeypatch.setattr(runner, "MOST_SWEEPS", 1000)
    posterior = count(chains=2)
    every = posterior.provenance["kept_every"]
    assert every in (2, 4, 8)
    assert kept_sweeps(posterior)[0].tolist() == list(range(every, 1001, every))[-(500 // every) :]
    assert posterior.provenance["label_bytes"] <= keeping.MOST_MEMORY


def test_memory_for_not_even_one_draw_keeps_one(monkeypatch):
    monkeypatch.setattr(keeping, "MOST_MEMORY", 1)
    assert count(chains=2, draws=50).partitions.shape == (2, 1, N_ROWS)


# --- progress and provenance ----------------------------------------------------------------------


def test_progress_is_reported_sweep_by_sweep(monkeypatch):
    monkeypatch.setattr(reporting, "SECONDS_BETWEEN_REPORTS", 0.0)
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


def test_the_time_left_is_that_of_the_sweeps_left_at_the_present_speed(clock):
    seen: list[Progress] = []
    count(chains=2, draws=1000, warmup=0, progress=seen.append, n_jobs=1, after_step=[clock.tick])
    assert {p.n_chains for p in seen} == {2}
    for p in seen[1:]:
        assert p.time_left == pytest.approx(2.0 - p.elapsed, abs=0.01)  # 2000 sweeps of a millisecond


def test_the_time_left_is_never_more_than_the_time_limit_leaves(clock):
    seen: list[Progress] = []
    count(draws=10**6, warmup=0, max_time=1.5, progress=seen.append, n_jobs=1, after_step=[clock.tick])
    assert len(seen) > 3
    for p in seen:
        assert p.time_left == pytest.approx(max(0.0, 1.5 - p.elapsed), abs=0.01)


def test_the_status_line_says_where_it_is_on_a_terminal_and_nothing_elsewhere(monkeypatch):
    news = Progress(1, 312, 5000, 6, 12.3, 4, 140.2)
    for is_terminal in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda answer=is_terminal: answer
        monkeypatch.setattr("sys.stderr", stream)
        reporting.write_status(news)
        line = "chain 2 of 4: sweep 312 of at most 5000, 6 groups, 12 s, at most 140 s left"
        assert stream.getvalue() == (f"{reporting.CLEAR_LINE}{line}" if is_terminal else "")
        assert len(line) < 80


def test_provenance_is_complete_and_survives_a_file(tmp_path):
    posterior = count(chains=2, draws=6, seed=12)
    expected = {"engine", "prior", "likelihood", "data", "n_rows", "seed", "stopped", "sweeps", "kept_every"}
    expected |= {"seconds", "label_bytes", "versions", "prior_options", "total_weight", "power", "column_weights"}
    assert expected == posterior.provenance.keys()
    assert posterior.provenance["seed"] == {"entropy": "12", "spawn_key": []}
    assert posterior.provenance["data"] == MODEL.table.fingerprint()
    assert posterior.provenance["prior"] == "DirichletProcess(concentration=1.0)"
    assert from_json(posterior.provenance["prior_options"]) == MODEL.prior
    assert posterior.provenance["total_weight"] == MODEL.total
    assert {"partita", "numpy", "scipy", "numba", "python"} <= posterior.provenance["versions"].keys()
    assert json.loads(json.dumps(posterior.provenance)) == posterior.provenance
    posterior.save(tmp_path / "draws.partita")
    again = Posterior.load(tmp_path / "draws.partita")
    assert again.provenance == posterior.provenance
    np.testing.assert_array_equal(again.draws, posterior.draws)


@one_worker(KNOWN)
def test_gibbs_runs_and_says_its_options():
    engine = Gibbs(merge_split=3)
    posterior, _ = run(engine, MODEL, Plan(chains=2, draws=50, n_jobs=2), np.random.SeedSequence(1))
    assert posterior.provenance["engine"] == "Gibbs(merge_split=3)"
    assert posterior.traces["n_clusters"].ravel().tolist() == posterior.partitions.n_clusters().tolist()
    np.testing.assert_allclose(posterior.traces["concentration"], 1.0)
    shares = [np.bincount(draw) / N_ROWS for draw in posterior.draws]
    entropy = [-(p @ np.log(p)) for p in shares]
    np.testing.assert_allclose(posterior.traces["entropy"].ravel(), entropy)
