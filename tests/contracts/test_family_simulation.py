"""Simulated rows have the density that the marginal likelihood claims."""

import numpy as np
from tests.contracts.cases import every_continuous_example, every_normalised_example, every_sampled_example
from tests.volumes import long, mostly_long

from partita.families.blocks import row_block
from partita.table import Table

N_CLUSTERS = 4000
CLUSTERS_PER_BLOCK = 250


def simulated_pairs(case, stats, rng):
    """Statistics (clusters, S) of two rows from each of many clusters drawn given ``stats``."""
    params = case.likelihood.sample_params(rng, np.tile(stats, (N_CLUSTERS, 1)))
    cells = case.likelihood.simulate(rng, params, np.repeat(np.arange(N_CLUSTERS), 2))
    rows = case.likelihood.rows(Table(case.table.schema, *cells))
    pairs = np.repeat(np.eye(CLUSTERS_PER_BLOCK), 2, axis=0)
    starts = range(0, 2 * N_CLUSTERS, 2 * CLUSTERS_PER_BLOCK)
    blocks = [row_block(rows, start, start + 2 * CLUSTERS_PER_BLOCK) for start in starts]
    return np.vstack([case.likelihood.suffstats(block, pairs) for block in blocks])


def log_density(case, pairs, given):
    """Log joint predictive density of each pair."""
    return case.likelihood.log_marginal(given + pairs) - case.likelihood.log_marginal(given)


def density_ratio(case, drawn_given, given, more, seed):
    """Mean and standard error of q(x) / p(x): p given some rows, q given more (so its tails are lighter)."""
    pairs = simulated_pairs(case, drawn_given, np.random.default_rng(seed))
    ratio = np.exp(log_density(case, pairs, more) - log_density(case, pairs, given))
    return ratio.mean(), ratio.std() / np.sqrt(N_CLUSTERS)


def assert_drawn_from_their_density(case, given, more, seed):
    """If x ~ p then q(x) / p(x) averages to 1 for any density q; if x ~ q, to more."""
    mean, error = density_ratio(case, given, given, more, seed)
    assert error < 0.1
    assert abs(mean - 1) < 4 * error
    mean, error = density_ratio(case, more, given, more, seed)
    assert mean - 1 > 4 * error


@mostly_long
@every_normalised_example
def test_pairs_of_rows_from_the_prior(case):
    rows = case.stats(np.arange(case.n_rows) < 3)
    assert_drawn_from_their_density(case, np.zeros_like(rows), rows, seed=31)


@every_continuous_example
@long
def test_pairs_of_rows_from_the_posterior(case):
    once, twice = case.stats(np.ones(case.n_rows)), case.stats(np.full(case.n_rows, 2))
    assert_drawn_from_their_density(case, once, twice, seed=32)


@every_sampled_example
def test_cells_fill_the_blocks_of_the_table(case):
    rng = np.random.default_rng(35)
    params = case.likelihood.sample_params(rng, case.stats(np.ones(case.n_rows), np.zeros(case.n_rows)))
    cells = case.likelihood.simulate(rng, params, np.array([0, 1, 1, 0, 1]))
    for block, own in zip(cells, (case.table.numeric, case.table.codes, case.table.counts)):
        assert block.shape == (5, own.shape[1])
        assert block.dtype == own.dtype
    assert np.isfinite(cells.numeric).all()
    assert (cells.codes >= 0).all()
    assert (cells.codes < case.table.schema.n_levels).all()
    assert (cells.counts >= 0).all()


@every_sampled_example
def test_same_seed_same_rows(case):
    stats, labels = case.stats(np.ones(case.n_rows)), np.zeros(4, dtype=np.int64)
    draws = []
    for _ in range(2):
        rng = np.random.default_rng(36)
        draws.append(case.likelihood.simulate(rng, case.likelihood.sample_params(rng, stats), labels))
    for first, second in zip(*draws):
        np.testing.assert_array_equal(first, second)
