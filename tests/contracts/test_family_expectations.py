"""Expectations under a posterior of the parameters, against draws of them, quadrature and the marginal likelihood."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp, softmax
from tests.contracts.cases import (
    every_case_that_drops_missing_cells,
    every_case_to_any_power,
    make,
    numbers,
    plain,
)
from tests.contracts.test_family_likelihood import N_CLUSTERS, rows_with_gaps, some_shares, without_gaps
from tests.contracts.toy_family import Waiting
from tests.volumes import mostly_long, short_and_long

from partita.families import Gaussian, base
from partita.families.base import Conjugate
from partita.families.blocks import row_block

some_or_many_draws = short_and_long("n_draws", 200, 800)
SIGMAS = 5.0  # of the mean over draws; some hundred means are compared


def fractional_stats(case, seed=102):
    return case.likelihood.suffstats(without_gaps(case.rows), some_shares(case, seed))


def drawn_params(case, stats, n_draws, seed=131):
    """Draws of the parameters of every row of ``stats``, those of the first cluster first."""
    return case.likelihood.sample_params(np.random.default_rng(seed), np.repeat(stats, n_draws, axis=0))


def assert_mean(draws, expected):
    """The last axis of ``draws`` averages to ``expected`` within the error of that average."""
    error = draws.std(axis=-1) / np.sqrt(draws.shape[-1])
    assert (np.abs(draws.mean(axis=-1) - expected) <= SIGMAS * error + 1e-12).all()


@mostly_long
@every_case_to_any_power
@some_or_many_draws
def test_expected_density_of_complete_rows_is_the_average_over_draws_of_the_parameters(case, n_draws):
    stats, rows = fractional_stats(case), without_gaps(case.rows)
    found = case.likelihood.expected_loglik(rows, case.likelihood.expected_params(stats))
    logs = case.likelihood.log_likelihood(rows, drawn_params(case, stats, n_draws))
    assert_mean(logs.reshape(case.n_rows, N_CLUSTERS, n_draws), found)


@every_case_to_any_power
def test_expected_densities_less_the_divergence_are_the_marginal_likelihood(case):
    """Of fractional rows as of whole ones."""
    resp, rows = some_shares(case), without_gaps(case.rows)
    stats = fractional_stats(case)
    logs = case.likelihood.expected_loglik(rows, case.likelihood.expected_params(stats))
    bound = (resp * logs).sum(axis=0) - case.likelihood.prior_divergence(stats)
    np.testing.assert_allclose(bound, case.likelihood.log_marginal(stats), rtol=1e-11, atol=1e-11)


@every_case_to_any_power
def test_the_same_of_a_million_rows(case):
    """Sums of 1e8 cancel to divergences of about 10 per parameter: eight figures of those are left."""
    weight = 1e6
    resp, rows = weight * some_shares(case), without_gaps(case.rows)
    stats = case.likelihood.suffstats(rows, resp)
    divergence = case.likelihood.prior_divergence(stats)
    logs = case.likelihood.expected_loglik(rows, case.likelihood.expected_params(stats))
    expected = (resp * logs).sum(axis=0) - case.likelihood.log_marginal(stats)
    np.testing.assert_allclose(divergence, expected, atol=1e-13 * np.abs(resp * logs).sum())


@mostly_long
@every_case_to_any_power
@some_or_many_draws
def test_the_divergence_from_the_prior_is_the_average_log_ratio_of_densities(case, n_draws):
    """By Bayes' rule that ratio is the likelihood of the rows through their marginal likelihood."""
    stats = fractional_stats(case)
    params = drawn_params(case, stats, n_draws)
    repeated = np.repeat(stats, n_draws, axis=0)
    ratios = case.likelihood.summed_log_likelihood(repeated, params) - case.likelihood.log_marginal(repeated)
    divergence = case.likelihood.prior_divergence(stats)
    assert_mean(ratios.reshape(N_CLUSTERS, n_draws), divergence)
    assert (divergence > 0).all()


@every_case_to_any_power
def test_without_rows_nothing_diverges_from_the_prior(case):
    nothing = np.zeros_like(fractional_stats(case))
    np.testing.assert_allclose(case.likelihood.prior_divergence(nothing), 0.0, atol=1e-12)


@every_case_that_drops_missing_cells
@some_or_many_draws
def test_a_missing_cell_of_independent_columns_is_left_out(case, n_draws):
    rows, stats = rows_with_gaps(case), fractional_stats(case)
    found = case.likelihood.expected_loglik(rows, case.likelihood.expected_params(stats))
    logs = case.likelihood.log_likelihood(rows, drawn_params(case, stats, n_draws))
    assert_mean(logs.reshape(case.n_rows, N_CLUSTERS, n_draws), found)
    np.testing.assert_array_equal(found[0], 0.0)


class TestFullCovariance:
    def test_a_missing_cell_is_integrated_out_of_the_exponential(self):
        case = make(Gaussian(dof=6.5), plain(numbers(7, 3, n_missing=5)))
        expected, rows = case.likelihood.expected_params(fractional_stats(case)), case.likelihood.rows(case.table)
        alone = np.flatnonzero(rows.missing.sum(axis=1) == 1)
        assert alone.size >= 2
        for i in alone:
            cell = int(np.flatnonzero(rows.missing[i])[0])
            integrals = [self.integral(case, expected, rows, i, cell, k) for k in range(N_CLUSTERS)]
            found = case.likelihood.expected_loglik(row_block(rows, i, i + 1), expected)[0]
            np.testing.assert_allclose(found, np.log(integrals), rtol=1e-8)

    def integral(self, case, expected, rows, i, cell, k):
        def density(value):
            row = rows.x[[i]].copy()
            row[0, cell] = value
            complete = without_gaps(row_block(rows, i, i + 1))._replace(x=row)
            return np.exp(case.likelihood.expected_loglik(complete, expected)[0, k])

        center, width = expected.mean[k, cell], 12 * np.linalg.norm(expected.factor[k, cell])
        return quad(density, center - width, center + width, points=[center], epsabs=0, epsrel=1e-10, limit=200)[0]

    def test_rounded_sums_have_finite_expectations(self):
        """Far from the prior mean, sums of squares lose the scatter; the covariance stays positive definite."""
        case = make(Gaussian(mean=0.0, scale=np.eye(2)), plain(1e8 + numbers(6, 2)))
        stats = 1e6 * fractional_stats(case)
        assert np.isfinite(case.likelihood.expected_loglik(case.rows, case.likelihood.expected_params(stats))).all()
        assert np.isfinite(case.likelihood.prior_divergence(stats)).all()


def directly(case, rows, weights, log_weights, expected):
    """All rows at once, in logs."""
    logs = case.likelihood.expected_loglik(rows, expected) + log_weights
    resp = weights[:, None] * softmax(logs, axis=1)
    stats = case.likelihood.variational_suffstats(rows, resp, expected)
    return weights @ logsumexp(logs, axis=1), resp.sum(axis=0), stats


@every_case_to_any_power
@pytest.mark.parametrize("rows_at_once", [2, 4096])
def test_rows_are_shared_out_in_blocks_as_at_once(case, rows_at_once, monkeypatch):
    monkeypatch.setattr(base, "ROWS_AT_ONCE", rows_at_once)
    rng = np.random.default_rng(132)
    weights, log_weights = rng.uniform(0.0, 3.0, case.n_rows), np.log(rng.dirichlet(np.ones(N_CLUSTERS)))
    weights[2] = 0.0
    expected = case.likelihood.expected_params(fractional_stats(case))
    for rows in (case.likelihood.rows(case.table), rows_with_gaps(case)):
        sums = directly(case, rows, weights, log_weights, expected)
        for shared in (
            case.likelihood.share_out(rows, weights, log_weights, expected),
            Conjugate.share_out(case.likelihood, rows, weights, log_weights, expected),
        ):
            for found, wanted in zip(shared, sums):
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@every_case_to_any_power
def test_no_rows_are_shared_out_as_nothing(case):
    expected = case.likelihood.expected_params(fractional_stats(case))
    shared = case.likelihood.share_out(row_block(case.rows, 0, 0), np.empty(0), np.zeros(N_CLUSTERS), expected)
    assert shared.log_total == 0.0
    assert shared.sizes.tolist() == [0.0] * N_CLUSTERS
    assert not shared.stats.any()
    assert shared.stats.shape == fractional_stats(case).shape


@every_case_to_any_power
def test_sharing_out_again_never_lowers_the_bound(case):
    """Expectations, divergence and statistics fit together, missing cells of a full covariance included."""
    rows, likelihood = rows_with_gaps(case), case.likelihood
    weights, log_weights = np.arange(1.0, case.n_rows + 1.0), np.log(np.full(N_CLUSTERS, 1.0 / N_CLUSTERS))
    stats, bounds = fractional_stats(case), []
    for _ in range(12):
        shared = likelihood.share_out(rows, weights, log_weights, likelihood.expected_params(stats))
        bounds.append(shared.log_total - likelihood.prior_divergence(stats).sum())
        stats = shared.stats
    assert (np.diff(bounds) >= -1e-11 * np.abs(bounds[0])).all()
    assert bounds[-1] > bounds[0]


def test_a_family_that_is_only_sampled_says_what_it_lacks():
    case = make(*Waiting.examples()[0])
    stats = case.stats(np.ones(case.n_rows))
    with pytest.raises(NotImplementedError, match="GammaExponential does not implement expected_params"):
        Conjugate.expected_params(case.likelihood, stats)
    with pytest.raises(NotImplementedError, match="prior_divergence, which Variational needs"):
        Conjugate.prior_divergence(case.likelihood, stats)
    with pytest.raises(NotImplementedError, match="expected_loglik"):
        Conjugate.expected_loglik(case.likelihood, case.rows, None)
