"""What a family fills in where the user left it open, and how options spread over columns."""

from dataclasses import replace

import numpy as np
import pytest
from tests.contracts.cases import counts, numbers, plain

from partita.families import Categorical, Count, Gaussian
from partita.priors import Gamma
from partita.table import Table

X = numbers(20, 3, n_missing=6, seed=81)
MEAN, VARIANCE = np.nanmean(X, axis=0), np.nanvar(X, axis=0)


def assert_learns_by_default(likelihood, cells):
    """A hyperprior of the scale with mean 0.4 that weighs as an eighth of the cells; where all begins, its mean."""
    shape = 2.0 + cells / 8.0
    found = likelihood.hyperpriors["scale"]
    assert (found.shape, found.rate) == pytest.approx((shape, shape / 0.4), rel=1e-12)
    assert likelihood.hyperpriors["mean_precision"] == Gamma(2.0, 100.0)
    assert likelihood.learned == pytest.approx({"scale": 0.4, "mean_precision": 0.02}, rel=1e-12)


@pytest.mark.parametrize(("d", "dof"), [(1, 7.0), (2, 10.0), (3, 13.0), (10, 34.0)])
def test_full_covariance_defaults(d, dof):
    x = numbers(30, d)
    likelihood = Gaussian().resolve(plain(x))
    assert likelihood.dof == dof
    np.testing.assert_allclose(likelihood.mean, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(likelihood.base_scale, dof * np.diag(x.var(axis=0)), rtol=1e-12)
    np.testing.assert_allclose(likelihood.scale, 0.4 * likelihood.base_scale, rtol=1e-12)
    assert_learns_by_default(likelihood, 30 * d)


def test_diagonal_defaults():
    likelihood = Gaussian(covariance="diag").resolve(plain(X))
    np.testing.assert_array_equal(likelihood.dof, [7.0] * 3)
    np.testing.assert_allclose(likelihood.mean, MEAN, rtol=1e-12)
    np.testing.assert_allclose(likelihood.base_scale, 7.0 * VARIANCE, rtol=1e-12)
    assert_learns_by_default(likelihood, 54)


def test_cells_count_as_often_as_their_rows():
    table = plain(X)
    table = replace(table, weights=np.arange(20.0))
    observed = (np.arange(20.0) @ ~np.isnan(X)).sum()
    assert_learns_by_default(Gaussian().resolve(table), observed)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_numbers_for_engines_that_do_not_learn(d):
    x = numbers(30, d)
    full = Gaussian().resolve_fixed(plain(x))
    assert (full.dof, full.mean_precision, full.learned) == (max(2.0 * d, d + 2.0), 0.1, {})
    np.testing.assert_allclose(full.scale / (full.dof - d - 1), np.diag(0.5 * x.var(axis=0)), rtol=1e-12)
    diagonal = Gaussian(covariance="diag").resolve_fixed(plain(x))
    np.testing.assert_array_equal(diagonal.dof, [4.0] * d)
    np.testing.assert_array_equal(diagonal.mean_precision, [0.1] * d)
    np.testing.assert_allclose(diagonal.scale / 2.0, 0.5 * x.var(axis=0), rtol=1e-12)
    assert diagonal.learned == {}


def test_fixed_numbers_follow_a_given_dof():
    full = Gaussian(dof=11.0).resolve_fixed(plain(X))
    np.testing.assert_allclose(full.scale, np.diag(0.5 * VARIANCE * (11.0 - 3 - 1)), rtol=1e-12)
    np.testing.assert_allclose(full.mean, MEAN, rtol=1e-12)
    without_expectation = Gaussian(dof=2.1).resolve_fixed(plain(X))
    np.testing.assert_allclose(without_expectation.scale, np.diag(0.5 * VARIANCE), rtol=1e-12)
    diagonal = Gaussian(covariance="diag", dof=0.5).resolve_fixed(plain(X))
    np.testing.assert_allclose(diagonal.scale, 0.5 * VARIANCE, rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_beside_a_scale_in_numbers_nothing_is_learned_unasked(covariance):
    found = Gaussian(covariance=covariance, scale=0.7).resolve(plain(X))
    assert found.learned == {}
    np.testing.assert_array_equal(found.mean_precision, 0.1)
    np.testing.assert_array_equal(found.dof, 6.0 if covariance == "full" else 4.0)


def test_known_variance_defaults():
    likelihood = Gaussian(covariance="known").resolve(plain(X))
    np.testing.assert_allclose(likelihood.mean, MEAN, rtol=1e-12)
    np.testing.assert_allclose(likelihood.variance, 0.5 * VARIANCE, rtol=1e-12)
    np.testing.assert_allclose(likelihood.mean_variance, VARIANCE, rtol=1e-12)


def test_categorical_and_count_defaults():
    words = Table.read(np.array([["a", "p"], ["b", "q"], ["c", None]], dtype=object))
    categorical = Categorical().resolve(words)
    np.testing.assert_array_equal(categorical.pseudocount, [1.0, 1.0])
    np.testing.assert_array_equal(categorical.n_levels, [3, 2])
    table = counts(8, 2, n_missing=3)
    average = np.where(table.counts < 0, 0, table.counts).sum(axis=0) / (table.counts >= 0).sum(axis=0)
    count = Count().resolve(table)
    np.testing.assert_array_equal(count.shape, [1.0, 1.0])
    np.testing.assert_allclose(count.rate, 1 / average, rtol=1e-12)
    shaped = Count(shape=[2.0, 5.0]).resolve(table)
    np.testing.assert_allclose(shaped.shape / shaped.rate, average, rtol=1e-12)


def test_a_constant_table_has_proper_priors():
    flat = Table.read(np.full((4, 2), 3.0), standardize=False)
    np.testing.assert_array_equal(Gaussian(covariance="diag").resolve(flat).base_scale, [7.0, 7.0])
    np.testing.assert_array_equal(Gaussian().resolve(flat).base_scale, 10.0 * np.eye(2))
    np.testing.assert_array_equal(Gaussian().resolve_fixed(flat).scale, 0.5 * np.eye(2))
    never = Table.read(np.zeros((4, 1)), column_types={0: "count"})
    np.testing.assert_array_equal(Count().resolve(never).rate, [1.0])


@pytest.mark.parametrize("spell", [list, tuple, np.array, lambda v: np.array(v, dtype=np.float32)])
def test_one_number_per_column(spell):
    values = [0.5, 1.0, 2.0]
    diagonal = Gaussian(covariance="diag", dof=spell(values), scale=spell(values)).resolve(plain(X))
    np.testing.assert_array_equal(diagonal.dof, values)
    np.testing.assert_array_equal(diagonal.scale, values)
    known = Gaussian(covariance="known", mean=spell(values), variance=spell(values)).resolve(plain(X))
    np.testing.assert_array_equal(known.mean, values)
    np.testing.assert_array_equal(known.variance, values)
    count = Count(shape=spell(values), rate=spell(values)).resolve(counts(5, 3))
    np.testing.assert_array_equal([*count.shape, *count.rate], values * 2)


@pytest.mark.parametrize("one", [2, 2.0, np.float64(2), np.array(2)])
def test_a_scalar_serves_all_columns(one):
    full = Gaussian(mean=one, mean_precision=one, dof=3 * one, scale=one).resolve(plain(X))
    np.testing.assert_array_equal(full.mean, [2.0] * 3)
    np.testing.assert_array_equal(full.scale, 2.0 * np.eye(3))
    assert (full.mean_precision, full.dof) == (2.0, 6.0)
    diagonal = Gaussian(covariance="diag", mean_precision=one, dof=one, scale=one).resolve(plain(X))
    np.testing.assert_array_equal([diagonal.mean_precision, diagonal.dof, diagonal.scale], np.full((3, 3), 2.0))
    np.testing.assert_array_equal(Count(shape=one, rate=one).resolve(counts(5, 3)).rate, [2.0] * 3)


def test_user_arrays_are_neither_kept_nor_changed():
    scale, mean = np.eye(3), np.zeros(3)
    likelihood = Gaussian(scale=scale, mean=mean, dof=6.0).resolve(plain(X))
    scale[0, 0] = mean[0] = 77.0
    np.testing.assert_array_equal(likelihood.scale, np.eye(3))
    np.testing.assert_array_equal(likelihood.mean, np.zeros(3))
