"""Compiled ``share_out`` against the same in numpy: shapes, gaps, weights, and how sharply rows are divided."""

import numpy as np
import pytest
from tests.contracts.cases import categories, numbers, plain

from partita.families import Categorical, Gaussian
from partita.families.base import Conjugate
from partita.table import Table

N_ROWS = 60


def category_table(n_columns, n_missing):
    return Table.read(categories(N_ROWS, n_columns, n_missing=n_missing, seed=n_columns))


def number_table(n_columns, n_missing):
    return plain(numbers(N_ROWS, n_columns, n_missing=n_missing, seed=n_columns))


FAMILIES = [
    pytest.param(Categorical(pseudocount=0.3), category_table, id="categorical"),
    pytest.param(Gaussian(), number_table, id="full"),
    pytest.param(Gaussian(covariance="diag"), number_table, id="diag"),
    pytest.param(Gaussian(covariance="known"), number_table, id="known"),
]


def assert_same(likelihood, rows, weights, log_weights, expected):
    found = likelihood.share_out(rows, weights, log_weights, expected)
    plain_sums = Conjugate.share_out(likelihood, rows, weights, log_weights, expected)
    assert found.log_total == pytest.approx(plain_sums.log_total, rel=1e-12)
    np.testing.assert_allclose(found.sizes, plain_sums.sizes, rtol=1e-12, atol=1e-12)
    scale = np.abs(plain_sums.stats).max()
    np.testing.assert_allclose(found.stats, plain_sums.stats, rtol=1e-12, atol=1e-12 * scale)
    assert found.sizes.sum() == pytest.approx(weights.sum(), rel=1e-12)
    assert type(found.log_total) is float


@pytest.mark.parametrize(("family", "table_of"), FAMILIES)
@pytest.mark.parametrize("n_columns", [1, 2, 4, 7, 21])
@pytest.mark.parametrize("n_clusters", [1, 5, 37])
@pytest.mark.parametrize("n_missing", [0, 15])
@pytest.mark.filterwarnings("ignore:.*no observed cell")
def test_shapes_and_gaps(family, table_of, n_columns, n_clusters, n_missing):
    table = table_of(n_columns, n_missing)
    likelihood, rng = family.resolve(table), np.random.default_rng(n_clusters)
    rows = likelihood.rows(table)
    stats = likelihood.suffstats(rows, rng.dirichlet(np.full(n_clusters, 0.2), N_ROWS))
    weights = rng.uniform(0.0, 2.0, N_ROWS)
    weights[:3] = 0.0
    log_weights = np.log(rng.dirichlet(np.full(n_clusters, 2.0)))
    assert_same(likelihood, rows, weights, log_weights, likelihood.expected_params(stats))


@pytest.mark.parametrize(("family", "table_of"), FAMILIES)
@pytest.mark.parametrize("sharpness", [1.0, 1e6])
def test_few_and_many_clusters_for_every_row(family, table_of, sharpness):
    """A million copies of one-hot rows leave a row to few of 30 clusters, single copies to nearly all."""
    table, rng = table_of(6, 9), np.random.default_rng(8)
    likelihood = family.resolve(table)
    rows = likelihood.rows(table)
    resp = np.eye(30)[rng.integers(0, 30, N_ROWS)]
    expected = likelihood.expected_params(likelihood.suffstats(rows, sharpness * resp))
    assert_same(likelihood, rows, np.ones(N_ROWS), np.full(30, -np.log(30.0)), expected)


@pytest.mark.parametrize(("family", "table_of"), FAMILIES)
def test_whole_weights_and_a_cluster_of_no_weight(family, table_of):
    table = table_of(3, 4)
    likelihood = family.resolve(table)
    rows = likelihood.rows(table)
    stats = likelihood.suffstats(rows, np.random.default_rng(9).dirichlet(np.ones(3), N_ROWS))
    log_weights = np.array([np.log(0.4), -np.inf, np.log(0.6)])
    weights = np.arange(N_ROWS)
    shared = likelihood.share_out(rows, weights, log_weights, likelihood.expected_params(stats))
    assert shared.sizes[1] == 0.0
    assert not shared.stats[1].any()
    assert_same(likelihood, rows, weights, log_weights, likelihood.expected_params(stats))


@pytest.mark.parametrize(("family", "table_of"), FAMILIES)
def test_rows_apart_add_up_to_rows_together(family, table_of):
    table = table_of(5, 12)
    likelihood, rng = family.resolve(table), np.random.default_rng(10)
    expected = likelihood.expected_params(
        likelihood.suffstats(likelihood.rows(table), rng.dirichlet(np.ones(4), N_ROWS))
    )
    weights, log_weights = rng.uniform(0.5, 1.5, N_ROWS), np.zeros(4)
    whole = likelihood.share_out(likelihood.rows(table), weights, log_weights, expected)
    parts = [
        likelihood.share_out(likelihood.rows(table.take(chosen)), weights[chosen], log_weights, expected)
        for chosen in np.array_split(rng.permutation(N_ROWS), 3)
    ]
    for name in ("log_total", "sizes", "stats"):
        summed = sum(getattr(part, name) for part in parts)
        np.testing.assert_allclose(summed, getattr(whole, name), rtol=1e-12, atol=1e-12)
