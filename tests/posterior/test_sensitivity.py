"""Draws reweighted to another concentration are the posterior under it."""

import numpy as np
import pytest
from tests.mixtures import known, quick
from tests.oracles.enumeration import exact_posterior, subset_log_marginals
from tests.volumes import long, mostly_long

from partita.families import Gaussian
from partita.posterior import EffectiveSampleSizeWarning, Posterior
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking
from partita.table import Table

X = np.array([[-2.1], [-1.9], [0.3], [1.8], [2.2], [0.1]])
FAMILY = Gaussian(covariance="known", mean=0.0, variance=1.0, mean_variance=4.0)
PRIORS = [
    DirichletProcess(concentration=0.7),
    DirichletProcess(),
    DirichletProcess(concentration=Gamma(3.0, 0.5)),
    PitmanYor(concentration=-0.1, discount=0.3),
    PitmanYor(discount=0.3),
    FiniteMixtures(concentration=0.8),
    FiniteMixtures(concentration=Gamma(2.0, 1.0)),
    FiniteDirichlet(n_components=3, concentration=1.5),
    StickBreaking(n_components=4, concentration=1.2),
]


@pytest.fixture(scope="module")
def subsets():
    table = Table.read(X, standardize=False)
    likelihood = FAMILY.resolve(table)
    return subset_log_marginals(likelihood, likelihood.rows(table))


@mostly_long
@pytest.mark.filterwarnings("ignore::partita.posterior.EffectiveSampleSizeWarning")
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_exact_weights_become_those_of_the_other_concentration(subsets, prior):
    old = exact_posterior(subsets, prior)
    possible = old.probabilities > 0
    posterior = Posterior(old.states[possible], weights=old.probabilities[possible])
    concentrations = [0.2, 2.5, 40.0]
    found = posterior.sensitivity(concentrations, prior=prior)
    for record, concentration in zip(found, concentrations):
        new = exact_posterior(
            subsets, prior.__class__(**(prior.get_params(deep=False) | {"concentration": concentration}))
        )
        np.testing.assert_allclose(record.posterior.weights, new.probabilities[possible], rtol=1e-7, atol=1e-12)
        assert record.concentration == concentration
        assert record.expected_clusters == pytest.approx(new.n_clusters() @ np.arange(len(X) + 1), rel=1e-9)
        assert record.n_clusters == pytest.approx({k: p for k, p in enumerate(new.n_clusters()) if p > 0}, rel=1e-7)
        assert record.ess == pytest.approx(1 / np.sum(new.probabilities**2), rel=1e-7)


def test_the_same_concentration_changes_nothing(subsets):
    exact = exact_posterior(subsets, PRIORS[0])
    record = Posterior(exact.states, weights=exact.probabilities).sensitivity(0.7, prior=PRIORS[0])[0]
    np.testing.assert_allclose(record.posterior.weights, exact.probabilities, rtol=1e-12)
    assert record.reliable


@known
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("concentration", [1.0, Gamma(1.0, 1.0)], ids=["fixed", "learned"])
@long
def test_two_runs_agree_within_monte_carlo_error(concentration):
    rows = np.random.default_rng(0).normal([[-1.0], [1.0]] * 10, 1.0)
    fits = [
        quick(
            family=FAMILY,
            prior=DirichletProcess(concentration=value),
            draws=4000,
            standardize=False,
            random_state=seed,
        ).fit(rows)
        for seed, value in enumerate((concentration, 1.5))
    ]
    record = fits[0].posterior_.sensitivity([1.5])[0]
    direct = fits[1].posterior_
    assert record.reliable
    n_clusters = record.posterior.partitions.n_clusters()
    scale = np.sqrt(np.average((n_clusters - record.expected_clusters) ** 2, weights=record.posterior.weights))
    effective = [record.ess * fits[0].diagnostics_.table["n_clusters"]["ess"] / 8000]
    effective.append(fits[1].diagnostics_.table["n_clusters"]["ess"])
    error = scale * np.sqrt(sum(1 / ess for ess in effective))
    assert error < 0.15
    assert abs(record.expected_clusters - direct.partitions.n_clusters().mean()) < 4 * error
    assert record.posterior.provenance["prior"] == "DirichletProcess(concentration=1.5)"
    there_and_back = record.posterior.sensitivity([1.0])[0].posterior
    expected = fits[0].posterior_.sensitivity([1.0])[0].posterior
    np.testing.assert_allclose(there_and_back.weights, expected.weights, rtol=1e-9)


def test_far_concentrations_warn_and_are_marked():
    prior = DirichletProcess(concentration=1.0)
    rng = np.random.default_rng(2)
    posterior = Posterior([prior.sample_partition(200, rng) for _ in range(500)])
    with pytest.warns(
        EffectiveSampleSizeWarning, match=r"concentration 100 leaves .* Use a concentration nearer"
    ) as caught:
        found = posterior.sensitivity([1.2, 100.0], prior=prior)
    assert [warning.filename for warning in caught] == [__file__]
    assert [record.reliable for record in found] == [True, False]
    first, second = str(found).splitlines()[1:]
    assert first.split()[0] == "1.2"
    assert "unreliable" not in first
    assert second.endswith("unreliable: too few effective draws")
    assert len(found) == 2
    assert found[1] is list(found)[1]


class TestRefusals:
    posterior = Posterior([[0, 0, 1, 2], [0, 1, 2, 3]])

    def test_draws_without_a_prior(self):
        with pytest.raises(ValueError, match="not recorded under which prior the draws were made: pass prior="):
            self.posterior.sensitivity([1.0])

    def test_a_prior_in_words_only(self):
        posterior = Posterior([[0, 0, 1]], provenance={"prior": "DirichletProcess()"})
        with pytest.raises(ValueError, match=r"recorded in words only \(DirichletProcess\(\)\): pass prior="):
            posterior.sensitivity([1.0])

    @pytest.mark.parametrize("wrong", ["1", None, np.nan, Gamma(1, 1), True])
    def test_concentrations_that_are_no_numbers(self, wrong):
        with pytest.raises(ValueError, match="concentrations must be finite numbers"):
            self.posterior.sensitivity([1.0, wrong], prior=DirichletProcess(concentration=1.0))

    def test_concentrations_out_of_range(self):
        with pytest.raises(ValueError, match="concentration must be a number greater than 0"):
            self.posterior.sensitivity([-1.0], prior=DirichletProcess(concentration=1.0))

    def test_draws_that_the_prior_cannot_make(self):
        with pytest.raises(ValueError, match="Some draws are impossible under FiniteDirichlet"):
            self.posterior.sensitivity([1.0], prior=FiniteDirichlet(n_components=3, concentration=1.0))

    def test_weighted_rows(self):
        posterior = Posterior([[0, 0, 1]], provenance={"total_weight": 5})
        with pytest.raises(ValueError, match=r"a fit with sample_weight \(sum 5\)"):
            posterior.sensitivity([1.0], prior=DirichletProcess(concentration=1.0))

    def test_a_sum_of_weights_that_is_no_number(self):
        posterior = Posterior([[0, 0, 1]], provenance={"total_weight": "\x1b[31m"})
        with pytest.raises(ValueError, match="a sum of sample_weight that is no whole number"):
            posterior.sensitivity([1.0], prior=DirichletProcess(concentration=1.0))
