"""Rows of tiny clusters are scanned again: which rows, how often, and that the posterior stays what it is."""

import numpy as np
import pytest
from tests.engines.models import EXAMPLES, one_per_compilation, parameters
from tests.oracles.agreement import compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs
from tests.volumes import mostly_long, short_and_long

from partita.engines import gibbs
from partita.engines.gibbs import Gibbs
from partita.families import Gaussian
from partita.model.model import Model
from partita.priors import DirichletProcess
from partita.table import Table


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(EXAMPLES, one_per_compilation()))
@short_and_long("n_draws", 1500, 5000)
def test_scanning_some_rows_again_keeps_the_posterior(example, prior, n_draws, monkeypatch):
    monkeypatch.setattr(gibbs, "DUST", 1)
    monkeypatch.setattr(gibbs, "DUST_SHARE", 4.0)  # so that six rows have something to scan again
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=17)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


def far_rows_model():
    """Two hundred rows of one group and three that are far from it and from each other."""
    x = np.concatenate([np.random.default_rng(3).normal(size=200), [8.0, -9.0, 30.0]])[:, None]
    table = Table.read(x, standardize=False)
    likelihood = Gaussian(covariance="known", variance=1.0, mean_variance=100.0).resolve(table)
    return Model(likelihood, DirichletProcess(concentration=1.0), table, np.ones(203, dtype=np.int64))


def after(n_sweeps, model):
    rng, engine = np.random.default_rng(0), Gibbs()
    state = engine.init(rng, model)
    for _ in range(n_sweeps):
        state, _ = engine.step(rng, state, model)
    return state


def test_rows_of_tiny_clusters_are_noted_and_chosen_once():
    model = far_rows_model()
    last = gibbs.WATCHED_SWEEPS[-1]
    assert after(last, model).again.size == 0
    chosen = after(last + 1, model)
    rows, times = np.unique(chosen.again, return_counts=True)
    np.testing.assert_array_equal(rows, np.flatnonzero(chosen.dusty))
    assert {200, 201, 202} <= set(rows.tolist())
    assert set(times.tolist()) == {min(20, int(0.3 * 203 / rows.size))}
    np.testing.assert_array_equal(after(last + 40, model).again, chosen.again)


def test_extra_scans_take_no_more_than_their_share(monkeypatch):
    monkeypatch.setattr(gibbs, "DUST", 10**6)
    assert after(60, far_rows_model()).again.size == 0
