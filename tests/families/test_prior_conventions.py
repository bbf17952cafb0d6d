"""What the options of each family mean, in the words of its docstring: draws, densities and predictives."""

import numpy as np
import pytest
from scipy import stats
from tests.contracts.cases import CORRELATED, counts, numbers, plain
from tests.oracles.partitions import counts_agree
from tests.volumes import long

from partita.families import Categorical, Count, Gaussian
from partita.table import Table

LEVEL = 6.3e-5  # of 4 standard errors
N = 5000


def follows(draws, distribution):
    return stats.kstest(draws, distribution.cdf).pvalue > LEVEL


def from_prior(likelihood, n_draws=N, seed=71):
    width = likelihood.state(1).stats.shape[1]
    return likelihood.sample_params(np.random.default_rng(seed), np.zeros((n_draws, width)))


@long
def test_full_covariance_has_mean_scale_over_dof_minus_d_minus_one():
    scale = CORRELATED[:2, :2]
    likelihood = Gaussian(dof=12.0, scale=scale, mean_precision=0.3).resolve(plain(numbers(5, 2)))
    means, factors = from_prior(likelihood)
    covariances = factors @ factors.transpose(0, 2, 1)
    error = covariances.std(axis=0) / np.sqrt(N)
    assert (np.abs(covariances.mean(axis=0) - scale / (12.0 - 2 - 1)) < 4 * error).all()
    white = np.linalg.solve(factors, means[:, :, None])[:, :, 0] * np.sqrt(0.3)
    assert follows((white**2).sum(axis=1), stats.chi2(2))
    assert follows(white @ [0.6, 0.8], stats.norm())
    assert follows(1 / covariances[:, 0, 0], stats.gamma(0.5 * (12.0 - 1), scale=2 / scale[0, 0]))


def test_diagonal_variances_are_inverse_gamma_and_means_scale_with_them():
    options = {"dof": [3.0, 8.0], "scale": [0.5, 2.0], "mean_precision": [0.2, 5.0]}
    likelihood = Gaussian(covariance="diag", **options).resolve(plain(numbers(5, 2)))
    means, deviations = from_prior(likelihood)
    for j in range(2):
        dof, scale, precision = (options[name][j] for name in options)
        assert follows(deviations[:, j] ** 2, stats.invgamma(dof / 2, scale=scale / 2))
        assert follows(means[:, j] / deviations[:, j], stats.norm(scale=precision**-0.5))


def test_known_variance_has_normal_means():
    family = Gaussian(covariance="known", variance=[0.3, 2.0], mean_variance=[4.0, 0.5])
    means = from_prior(family.resolve(plain(numbers(5, 2))))
    for j, variance in enumerate([4.0, 0.5]):
        assert follows(means[:, j], stats.norm(scale=variance**0.5))


def test_pseudocounts_are_dirichlet_and_rates_gamma():
    table = Table.read(np.array([["a", "p"], ["b", "q"], ["c", "q"]], dtype=object))
    shares = from_prior(Categorical(pseudocount=[0.6, 2.5]).resolve(table))
    assert follows(shares[0][:, 1], stats.beta(0.6, 2 * 0.6))
    assert follows(shares[1][:, 1], stats.beta(2.5, 2.5))
    rates = from_prior(Count(shape=1.7, rate=0.4).resolve(counts(4, 1)))
    assert follows(rates[:, 0], stats.gamma(1.7, scale=1 / 0.4))


@pytest.mark.parametrize("dof", [0.7, 3.0, 9.0])
def test_full_covariance_of_one_column_is_diagonal_with_the_same_numbers(dof):
    options = {"dof": dof, "scale": 0.6, "mean": 0.4, "mean_precision": 0.3}
    table = plain(numbers(6, 1))
    full = Gaussian(covariance="full", **options).resolve(table)
    diagonal = Gaussian(covariance="diag", **options).resolve(table)
    resp = np.random.default_rng(72).integers(0, 3, (6, 8)).astype(float)
    statistics = full.suffstats(full.rows(table), resp)
    np.testing.assert_allclose(statistics, diagonal.suffstats(diagonal.rows(table), resp), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(full.log_marginal(statistics), diagonal.log_marginal(statistics), rtol=1e-12)


def test_full_covariance_without_correlation_is_not_the_diagonal_one():
    """The two agree in one column only: a Wishart draw has correlations."""
    table, options = plain(numbers(6, 2)), {"dof": 5.0, "scale": 0.6, "mean_precision": 0.3}
    values = []
    for covariance in ("full", "diag"):
        likelihood = Gaussian(covariance=covariance, **options).resolve(table)
        values.append(likelihood.log_marginal(likelihood.suffstats(likelihood.rows(table), np.ones((6, 1)))))
    assert abs(values[0] - values[1]) > 0.1


# --- the marginal likelihood is the likelihood averaged over the prior ------------------------------


def full_likelihood(x, params, likelihood):
    means, factors = params
    z = np.linalg.solve(factors[:, None], (x - likelihood.mean - means[:, None])[..., None])[..., 0]
    log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    return stats.norm.logpdf(z).sum(axis=(1, 2)) - len(x) * log_det


def diagonal_likelihood(x, params, likelihood):
    means, deviations = params
    cells = stats.norm.logpdf(x, likelihood.mean + means[:, None], deviations[:, None])
    return np.where(np.isnan(x), 0.0, cells).sum(axis=(1, 2))


def known_likelihood(x, means, likelihood):
    cells = stats.norm.logpdf(x, likelihood.mean + means[:, None], np.sqrt(likelihood.variance))
    return np.where(np.isnan(x), 0.0, cells).sum(axis=(1, 2))


def categorical_likelihood(codes, shares, likelihood):
    logs = np.zeros(len(shares[0]))
    for m, share in enumerate(shares):
        seen = codes[codes[:, m] >= 0, m]
        logs += np.log(share[:, seen]).sum(axis=1)
    return logs


def count_likelihood(x, rates, likelihood):
    return np.where(x >= 0, stats.poisson.logpmf(x, rates[:, None]), 0.0).sum(axis=(1, 2))


TRIPLE = np.array([[0.3, -0.4], [1.1, 0.6], [0.2, 0.5]])
GAPS = np.array([[0.3, np.nan], [1.1, 0.6], [np.nan, -0.5]])
WORDS = np.array([["a", "p"], ["a", None], ["b", "q"], ["c", "p"]], dtype=object)
WIDE = {"mean": 0.2, "mean_precision": 0.8, "dof": 6.0, "scale": 2.0}


@pytest.mark.parametrize(
    ("family", "table", "likelihood_of", "block"),
    [
        (Gaussian(covariance="full", **WIDE), plain(TRIPLE), full_likelihood, "numeric"),
        (Gaussian(covariance="diag", **WIDE), plain(GAPS), diagonal_likelihood, "numeric"),
        (Gaussian(covariance="known", mean=0.2), plain(GAPS), known_likelihood, "numeric"),
        (Categorical(pseudocount=0.7), Table.read(WORDS), categorical_likelihood, "codes"),
        (Count(), counts(3, 2, n_missing=1), count_likelihood, "counts"),
    ],
    ids=["full", "diag", "known", "categorical", "count"],
)
def test_marginal_is_the_likelihood_averaged_over_the_prior(family, table, likelihood_of, block):
    likelihood = family.resolve(table)
    params = from_prior(likelihood, 10_000)
    logs = likelihood_of(getattr(table, block), params, likelihood)
    statistics = likelihood.suffstats(likelihood.rows(table), np.ones((table.n_rows, 1)))
    relative = np.exp(logs - likelihood.log_marginal(statistics)[0])
    error = relative.std() / np.sqrt(relative.size)
    assert error < 0.05
    assert abs(relative.mean() - 1) < 4 * error


# --- simulated rows have the closed-form predictive distribution -------------------------------------


def predictive_draws(family, table, seed=74):
    """One row from each of many clusters drawn given the whole table."""
    likelihood = family.resolve(table)
    statistics = likelihood.suffstats(likelihood.rows(table), np.ones((table.n_rows, 1)))
    rng = np.random.default_rng(seed)
    params = likelihood.sample_params(rng, np.tile(statistics, (N, 1)))
    return likelihood.simulate(rng, params, np.arange(N))


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_gaussian_predictive_is_student_t(covariance):
    x = numbers(5, 2)
    k0, v0, b0, m0 = 0.3, 4.0, 0.9, 0.5
    family = Gaussian(covariance=covariance, mean_precision=k0, dof=v0, scale=b0, mean=m0)
    cells = predictive_draws(family, plain(x)).numeric
    n, k = 5, k0 + 5
    scale = b0 + ((x - x.mean(axis=0)) ** 2).sum(axis=0) + k0 * n / k * (x.mean(axis=0) - m0) ** 2
    df = v0 + n - (1 if covariance == "full" else 0)
    for j in range(2):
        t = stats.t(df, (k0 * m0 + n * x[:, j].mean()) / k, np.sqrt(scale[j] * (k + 1) / (k * df)))
        assert follows(cells[:, j], t)


def test_known_variance_predictive_is_normal():
    x = numbers(5, 1)
    family = Gaussian(covariance="known", variance=0.7, mean_variance=2.0, mean=-0.4)
    cells = predictive_draws(family, plain(x)).numeric
    precision = 1 / 2.0 + 5 / 0.7
    mean = (-0.4 / 2.0 + x.sum() / 0.7) / precision
    assert follows(cells[:, 0], stats.norm(mean, np.sqrt(0.7 + 1 / precision)))


def test_categorical_predictive_has_shares_of_counts_plus_pseudocounts():
    codes = predictive_draws(Categorical(pseudocount=0.7), Table.read(WORDS)).codes
    assert counts_agree(np.bincount(codes[:, 0], minlength=3), np.array([2.7, 1.7, 1.7]) / 6.1)
    assert counts_agree(np.bincount(codes[:, 1], minlength=2), np.array([2.7, 1.7]) / 4.4)


def test_count_predictive_is_negative_binomial():
    table = counts(4, 1)
    cells = predictive_draws(Count(shape=1.3, rate=0.2), table).counts[:, 0]
    nbinom = stats.nbinom(1.3 + table.counts.sum(), 4.2 / 5.2)
    most = 60
    probabilities = np.append(nbinom.pmf(np.arange(most)), nbinom.sf(most - 1))
    assert counts_agree(np.bincount(np.minimum(cells, most), minlength=most + 1), probabilities)
