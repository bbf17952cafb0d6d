"""Paths through compiled code that must give the same: cells that could be missing, factors that need exponents."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from tests.engines.models import CATEGORICAL, COMPLETE_GAUSSIAN, Example, one_per_compilation, one_worker, parameters
from tests.oracles.agreement import compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs
from tests.volumes import long, short_and_long

from partita.families import Categorical, Gaussian
from partita.kernels.compiling import entry
from partita.kernels.names import log_weights, weights
from partita.priors import DirichletProcess
from partita.table import Table

DIRICHLET = DirichletProcess(concentration=1.0)


def same_chain(one, other, *, prior=DIRICHLET, n_steps=300):
    """Whether two likelihoods of one table give the same labels from the same seed."""
    runs = [run_gibbs(example.model(prior), n_draws=n_steps, seed=39) for example in (one, other)]
    return np.array_equal(runs[0].labels, runs[1].labels)


def unaware(example):
    """The same likelihood, not told that nothing is missing."""
    likelihood = copy(example.likelihood)
    likelihood.complete = likelihood.uniform = False
    return replace(example, likelihood=likelihood)


def complete_examples():
    """Two loose groups without missing cells."""
    rng = np.random.default_rng(43)
    groups = np.arange(25) % 2
    x = rng.normal(size=(25, 5)) + groups[:, None]
    codes = np.where(rng.random((25, 5)) < 0.7, groups[:, None], rng.integers(0, 3, (25, 5))).astype(str)
    pairs = [
        (Gaussian(covariance="diag"), Table.read(x)),
        (Categorical(pseudocount=0.7), Table.read(codes.astype(object))),
    ]
    return [Example(family.resolve(table).title, family.resolve(table), table) for family, table in pairs]


COMPLETE = complete_examples()


@pytest.mark.parametrize(("example", "prior"), parameters(COMPLETE, one_per_compilation()))
def test_the_path_for_missing_cells_with_nothing_missing_is_the_plain_path(example, prior):
    assert example.likelihood.complete
    assert run_gibbs(example.model(prior), n_draws=300, seed=39).labels.std(axis=0).min() > 0
    assert same_chain(example, unaware(example), prior=prior)


@short_and_long("n_draws", 2000, 6000)
@one_worker(COMPLETE_GAUSSIAN)
def test_rows_with_gaps_that_miss_nothing_keep_the_posterior(n_draws):
    """Full covariance: every row goes through the path that draws cells, and has none to draw."""
    exact = exact_posterior(COMPLETE_GAUSSIAN.subsets(), DIRICHLET)
    likelihood = copy(COMPLETE_GAUSSIAN.likelihood)
    plain_rows = likelihood.rows
    likelihood.rows = lambda table: plain_rows(table)._replace(gaps=np.ones(table.n_rows, bool))
    chain = run_gibbs(replace(COMPLETE_GAUSSIAN, likelihood=likelihood).model(DIRICHLET), n_draws=n_draws, seed=40)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement


def wide(n_columns, *, missing):
    """Five rows of so many columns that the product over them is no float, and yet each says little."""
    rng = np.random.default_rng(41)
    x = rng.integers(0, 4, (5, n_columns)).astype(str).astype(object)
    x[rng.random(x.shape) < missing] = None
    x[0], x[1] = "0", "1"  # no column is constant
    table = Table.read(x)
    return Example("wide", Categorical(pseudocount=20.0).resolve(table), table)


@long
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_draws", [2500])
@one_worker(CATEGORICAL)
def test_nine_hundred_categorical_columns_keep_the_posterior(missing, n_draws):
    example = wide(900, missing=missing)
    exact = exact_posterior(example.subsets(), DIRICHLET)
    assert np.median(example.subsets()[2 ** np.arange(5)]) < np.log(np.finfo(float).tiny)
    assert exact.probabilities.max() < 0.9
    chain = run_gibbs(example.model(DIRICHLET), n_draws=n_draws, seed=42)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement


@entry
def score(rows, i, w, state, sizes, prior_scores, log_out, out):  # OUT: log_out, out (slots,)
    """Logs and linear weights of a row without a seat in every slot; returns the log of the latter's factor."""
    log_weights(rows, i, w, state, sizes, sizes.size, -1, log_out)
    return weights(rows, i, state, sizes, sizes.size, -1, prior_scores, out)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("w", [1, 3])
@one_worker(CATEGORICAL)
def test_weights_of_two_hundred_categorical_columns_are_those_in_logs(missing, w):
    example = wide(200, missing=missing)
    likelihood, rows = example.likelihood, example.likelihood.rows(example.table)
    model = example.model(DIRICHLET)
    labels = np.array([0, 1, 0, 3, 1])
    single = likelihood.suffstats(rows, np.eye(5))
    for i in range(5):
        others = np.where(np.arange(5) == i, -1, labels)
        stats = model.stats_of(rows, others, 5)
        expected = likelihood.log_marginal(stats + w * single[i]) - likelihood.log_marginal(stats)
        sizes = np.bincount(others[others >= 0], minlength=5)
        log_out, out = np.empty(5), np.empty(5)
        factor = score(rows, i, w, model.state_from(stats), sizes, np.ones(5), log_out, out)
        np.testing.assert_allclose(log_out, expected, rtol=1e-11)
        if w == 1:
            np.testing.assert_allclose(np.log(out) + factor, expected, rtol=1e-11)
