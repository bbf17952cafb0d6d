"""Missing cells that few rows share: in batches or one set at a time, densities and expectations are the same."""

import numpy as np
import pytest
from tests.contracts.cases import make, numbers, plain
from tests.contracts.test_family_likelihood import expected_by_loops, scipy_log_density, some_params, some_shares

from partita.families import Gaussian
from partita.families.algebra import multivariate_normal, rare_gaps
from partita.families.algebra.gaps import batches_by_number, common_and_rare
from partita.families.algebra.multivariate_normal import expected_moments, normal_log_densities

FEWEST_ROWS = {"one set at a time": 1, "batches": 10**6, "both": 3}


def holes(n, d, share, seed=0):
    """Missing cells: none in row 0, all in row 1, all but one in rows 2 and 3."""
    missing = np.random.default_rng(seed).random((n, d)) < share
    missing[0], missing[1:4] = False, True
    missing[2, 0] = missing[3, -1] = False
    return missing


def correlated_factors(n_clusters, d, condition, rng):
    """Factors of covariances whose eigenvalues span this condition, in columns of very different sizes."""
    bases = np.linalg.qr(rng.normal(size=(n_clusters, d, d)))[0]
    roots = bases * np.sqrt(np.geomspace(1.0, 1.0 / condition, d))
    upper = np.linalg.qr(np.swapaxes(roots, 1, 2), mode="r")
    lower = np.swapaxes(upper, 1, 2) * np.sign(np.einsum("kjj->kj", upper))[:, None]
    return lower * np.geomspace(1e-3, 1e3, d)[:, None]


def normal_rows(n, n_clusters, d, condition, seed=0):
    """Means, factors, rows of the first cluster and shares."""
    rng = np.random.default_rng(seed)
    factors = correlated_factors(n_clusters, d, condition, rng)
    means = rng.normal(size=(n_clusters, d)) * np.geomspace(1e-3, 1e3, d)
    x = means[0] + rng.normal(size=(n, d)) @ factors[0].T
    return means, factors, x, rng.dirichlet(np.ones(n_clusters), n)


def both_ways(monkeypatch, compute):
    results = []
    for fewest in (FEWEST_ROWS["one set at a time"], FEWEST_ROWS["batches"]):
        monkeypatch.setattr(multivariate_normal, "FEWEST_ROWS", fewest)
        results.append(compute())
    return results


@pytest.mark.parametrize("fewest", FEWEST_ROWS.values(), ids=FEWEST_ROWS)
def test_densities_and_expectations_are_those_of_scipy_and_loops(monkeypatch, fewest):
    monkeypatch.setattr(multivariate_normal, "FEWEST_ROWS", fewest)
    case = make(Gaussian(), plain(numbers(60, 4)))
    missing = holes(60, 4, 0.3)
    rows = case.rows._replace(missing=missing, gaps=missing.any(axis=1))
    params, resp = some_params(case), some_shares(case)
    logs = [[scipy_log_density(case.likelihood, rows, params, i, k) for k in range(3)] for i in range(60)]
    np.testing.assert_allclose(case.likelihood.log_likelihood(rows, params), logs, rtol=1e-9, atol=1e-9)
    found = case.likelihood.expected_suffstats(rows, resp, params)
    np.testing.assert_allclose(found, expected_by_loops(case.likelihood, rows, resp, params), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("condition", [10.0, 1e6])
@pytest.mark.parametrize(("d", "share"), [(2, 0.4), (7, 0.2), (7, 0.8), (12, 0.5)])
def test_batches_agree_with_one_set_at_a_time(monkeypatch, d, share, condition):
    means, factors, x, resp = normal_rows(200, 3, d, condition)
    missing = holes(200, d, share)
    assert rare_gaps.can_be_squared(factors, np.linalg.inv(factors))
    expected, found = both_ways(monkeypatch, lambda: normal_log_densities(x, missing, means, factors))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    one, other = both_ways(monkeypatch, lambda: expected_moments(x, missing, resp, means, factors))
    sizes = np.sqrt(np.einsum("kjj->kj", one[1]))
    np.testing.assert_allclose(other[0] / sizes, one[0] / sizes, atol=1e-8)
    by_size = sizes[:, :, None] * sizes[:, None, :]
    np.testing.assert_allclose(other[1] / by_size, one[1] / by_size, atol=1e-8)


def test_small_batches_are_parts_of_large_ones(monkeypatch):
    means, factors, x, resp = normal_rows(100, 2, 5, 100.0)
    missing = holes(100, 5, 0.4)
    logs, sums = normal_log_densities(x, missing, means, factors), expected_moments(x, missing, resp, means, factors)
    monkeypatch.setattr(rare_gaps, "LARGEST_BATCH", 40)
    np.testing.assert_allclose(normal_log_densities(x, missing, means, factors), logs, rtol=1e-10)
    for found, expected in zip(expected_moments(x, missing, resp, means, factors), sums):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_nearly_singular_covariances_are_never_squared(monkeypatch):
    """Where the condition leaves no figure of a squared matrix, all sets are solved one at a time."""
    means, factors, x, resp = normal_rows(30, 2, 4, 1e15)
    missing = holes(30, 4, 0.5)
    one, other = both_ways(monkeypatch, lambda: normal_log_densities(x, missing, means, factors))
    np.testing.assert_array_equal(one, other)
    one, other = both_ways(monkeypatch, lambda: expected_moments(x, missing, resp, means, factors)[1])
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("fewest", [1, 4, 1000])
def test_every_row_is_in_one_common_set_or_rare(fewest):
    missing = holes(80, 3, 0.3)
    common, rare = common_and_rare(missing, fewest)
    for members, gaps in common:
        assert (missing[members] == gaps).all()
        assert members.size >= fewest or gaps.all() or not gaps.any()
    assert sorted(np.concatenate([*(members for members, _ in common), rare])) == list(range(80))
    assert (rare.size == 0) == (fewest == 1)
    for row in rare:
        assert (missing == missing[row]).all(axis=1).sum() < fewest


def test_batches_lack_equally_many_cells_and_are_not_too_large():
    missing = holes(80, 6, 0.4)
    rows = np.flatnonzero(missing.any(axis=1))[::-1]
    seen = []
    for members, cells in batches_by_number(missing, rows, 2, 200):
        q = cells.shape[1]
        assert members.size * 2 * max(q * q, 6) <= 200
        marked = np.zeros((members.size, 6), dtype=bool)
        np.put_along_axis(marked, cells, True, axis=1)
        assert (missing[members] == marked).all()
        seen.extend(members)
    assert sorted(seen) == sorted(rows)
