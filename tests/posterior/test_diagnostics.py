"""R-hat, effective sample size and verdicts on synthetic traces whose answer is known."""

import re

import numpy as np
import pytest
from arviz_stats.base import array_stats

from partita.metrics import variation_of_information
from partita.posterior import Diagnostics, Posterior
from partita.posterior.diagnostics import assess, converged


def independent(seed, chains=4, draws=500):
    return np.random.default_rng(seed).normal(size=(chains, draws))


def test_values_are_those_of_arviz():
    trace = independent(0) + 0.1 * np.arange(4)[:, None]
    row = assess(trace)
    assert row["rhat"] == pytest.approx(float(array_stats.rhat(trace)), rel=1e-9)
    assert row["ess"] == pytest.approx(float(array_stats.ess(trace)), rel=1e-9)


def test_rounding_noise_does_not_break_ties():
    trace = np.random.default_rng(3).integers(0, 3, size=(4, 200)) / 3.0
    noise = np.random.default_rng(4).normal(scale=1e-15, size=trace.shape)
    assert assess(trace + noise) == pytest.approx(assess(trace), rel=1e-12)
    assert assess(1.0 + noise) == {"rhat": 1.0, "ess": 800.0}


@pytest.mark.parametrize("seed", range(3))
def test_independent_draws_are_worth_their_number(seed):
    row = assess(independent(seed))
    assert row["rhat"] < 1.01
    # The estimate's relative standard error for independent draws is about sqrt(2 / chains / 10).
    assert row["ess"] == pytest.approx(2000, rel=0.25)


def test_autocorrelated_draws_are_worth_what_theory_says():
    rng, rho = np.random.default_rng(5), 0.9
    trace = np.zeros((4, 20_000))
    for t in range(1, trace.shape[1]):
        trace[:, t] = rho * trace[:, t - 1] + rng.normal(size=4)
    assert assess(trace)["ess"] == pytest.approx(trace.size * (1 - rho) / (1 + rho), rel=0.15)


def test_constant_traces_need_no_warnings():
    assert assess(np.full((4, 100), 3.7)) == {"rhat": 1.0, "ess": 400.0}
    assert assess(np.array([[2.0] * 50, [3.0] * 50])) == {"rhat": np.inf, "ess": 2.0}
    assert assess(np.r_[[[2.0] * 25 + [3.0] * 25] * 2])["rhat"] == np.inf
    mixed = assess(np.stack([np.full(100, 2.0), np.arange(100) % 2 * 4.0]))
    assert mixed["rhat"] > 1.0
    two_values = np.random.default_rng(1).permuted(np.arange(4000).reshape(4, 1000) % 2, axis=1)
    assert assess(two_values)["rhat"] == pytest.approx(float(array_stats.rhat(two_values, method="z_scale")))


@pytest.mark.parametrize("trace", [np.zeros((4, 3)), np.full((4, 10), np.nan), np.full((2, 10), -np.inf)])
def test_what_cannot_be_judged_is_not_converged(trace):
    assert np.isnan(assess(trace)["rhat"])
    assert not converged({"n_clusters": trace})


def test_converged_needs_agreement_and_size():
    good = independent(2)
    assert converged({"a": good, "b": np.ones((4, 500))})
    assert not converged({"a": good, "b": good + np.arange(4)[:, None]})
    assert not converged({"a": good[:, :90]})
    assert converged({"a": good[:, :90]}, ess=200, rhat=1.05)
    assert converged({"a": good[:1]}, ess=300, rhat=1.02)
    drifting = good[:1] + np.linspace(0, 3, 500)
    assert not converged({"a": drifting}, ess=1)


def wandering(seed, chains=4, draws=500, n=30):
    """Partitions of two clusters in which every object is moved independently in every draw."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(n) % 2, (chains, draws, 1))
    flipped = rng.random(labels.shape) < 0.1
    flipped[..., :2] = False
    return np.where(flipped, 1 - labels, labels)


def test_chains_that_agree():
    found = Posterior(wandering(1)).diagnostics()
    assert found.verdict == "Chains agree."
    assert found.converged
    assert set(found.table) == {"n_clusters", "entropy", "membership"}
    assert found.table["n_clusters"] == {"rhat": 1.0, "ess": 2000.0}


@pytest.mark.parametrize("moving", [False, True])
def test_chains_stuck_in_two_partitions_of_equal_size(moving):
    labels = wandering(2) if moving else np.tile(np.arange(30) % 2, (4, 500, 1))
    order = np.arange(30)
    order[2:16] ^= 1
    labels[2:] = labels[2:][..., order]
    found = Posterior(labels).diagnostics()
    assert found.verdict.startswith("Chains agree on K but not on who belongs where (R-hat ")
    assert found.converged
    assert found.table["membership"]["rhat"] > 1.5


ONE_CHAIN = "Only one chain: agreement between chains cannot be judged"


def table(**rhats):
    return {name: {"rhat": rhat, "ess": 1000.0} for name, rhat in rhats.items()}


@pytest.mark.parametrize(
    ("rows", "chains", "draws", "verdict"),
    [
        (table(n_clusters=1.2, membership=1.5), 4, 400, "Chains do not agree on K (R-hat 1.20"),
        (table(log_joint=1.2, n_clusters=1.2, membership=1.0), 4, 400, "Chains do not agree on K"),
        (table(n_clusters=1.0, log_joint=1.3, membership=1.4), 4, 400, "Chains agree on K but not on who"),
        (table(n_clusters=1.0, log_joint=1.3, membership=1.0), 4, 400, "Chains agree on K but not on log_"),
        (table(log_joint=1.3, membership=1.0), 4, 400, "Chains do not agree on log_joint"),
        (table(n_clusters=np.nan, membership=np.nan), 4, 3, "Too few draws to judge (3 per chain)"),
        (table(n_clusters=np.nan, membership=np.nan), 1, 5, "Too few draws to judge (5 per chain)"),
        (table(n_clusters=1.0, membership=1.0), 1, 400, ONE_CHAIN + "."),
        (table(n_clusters=1.3, membership=1.0), 1, 400, ONE_CHAIN + ", and n_clusters still drifts"),
        (table(n_clusters=1.0, membership=1.04), 4, 400, "Chains agree."),
    ],
)
def test_verdicts(rows, chains, draws, verdict):
    assert Diagnostics(rows, chains, draws).verdict.startswith(verdict)


@pytest.mark.parametrize(
    ("rhats", "words"),
    [
        ({"n_clusters": 1.0104}, "(R-hat 1.0104 on n_clusters, limit 1.01)"),
        ({"n_clusters": 1.0149}, "(R-hat 1.015 on n_clusters, limit 1.01)"),
        ({"n_clusters": 1.2}, "(R-hat 1.20 on n_clusters, limit 1.01)"),
        ({"n_clusters": np.inf}, "(R-hat inf on n_clusters, limit 1.01)"),
        ({"n_clusters": np.nextafter(1.01, 2)}, "(R-hat 1.010000000000000"),
        ({"n_clusters": 1.0, "membership": 1.0503}, "(R-hat 1.0503 on membership, limit 1.05)"),
    ],
)
def test_what_decides_is_printed_with_as_many_digits_as_it_takes(rhats, words):
    found = Diagnostics(table(**{"membership": 1.0, **rhats}), 4, 400)
    assert words in found.verdict
    shown, limit = re.search(r"R-hat (\S+) on \w+, limit (\S+)\)", found.verdict).groups()
    assert float(shown) > float(limit)


def test_effective_draws_that_nearly_suffice_are_not_said_to():
    rows = table(n_clusters=1.0, membership=1.0)
    rows["n_clusters"]["ess"] = 399.7
    assert Diagnostics(rows, 4, 400).verdict == "Too few effective draws (n_clusters: 399 of 400): run longer."


def test_too_few_effective_draws_are_named_and_printed():
    rows = table(n_clusters=1.0, log_joint=1.0, membership=1.0)
    rows["n_clusters"]["ess"] = 85.2
    found = Diagnostics(rows, 4, 400)
    assert not found.converged
    assert found.verdict == "Too few effective draws (n_clusters: 85 of 400): run longer."
    lines = str(found).splitlines()
    assert len({len(line) for line in lines[:-1]}) == 1
    assert lines[-1] == found.verdict
    one = Diagnostics(rows, 1, 400).verdict
    assert one.endswith("cannot be judged; too few effective draws (n_clusters: 85 of 400): run longer.")


def test_membership_traces_are_distances_to_the_last_draw_of_each_chain():
    draws = wandering(3, chains=2, draws=40)
    found = Posterior(draws).diagnostics().table["membership"]
    rows = [
        assess(np.array([[variation_of_information(d, draws[c, -1]) for d in chain] for chain in draws]))
        for c in range(2)
    ]
    assert found["rhat"] == pytest.approx(max(row["rhat"] for row in rows))
    assert found["ess"] == pytest.approx(min(row["ess"] for row in rows))
