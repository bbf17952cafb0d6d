"""The parts of minus the log posterior of a partition, against densities of scipy.stats and the prior itself."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as distributions
from scipy.special import gammaln
from tests.mixtures import categorical, known, quick, unconverged_is_fine

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.posterior import Posterior
from partita.priors import DirichletProcess, FiniteMixtures, Gamma, PitmanYor
from partita.table import Table

N = 12


@pytest.fixture
def posterior():
    draws = np.random.default_rng(4).integers(0, 4, size=(2, 5, N))
    draws[1, 2] = 0
    return Posterior(draws)


class TestPartition:
    @pytest.mark.parametrize("concentration", [0.3, 1.0, 8.0])
    def test_dirichlet_process_is_minus_log_probability_less_a_constant(self, posterior, concentration):
        prior = DirichletProcess(concentration=concentration)
        left_out = gammaln(concentration + N) - gammaln(concentration)
        expected = [-prior.log_probability(draw) - left_out for draw in posterior.draws]
        found = posterior.costs(prior=prior)
        np.testing.assert_allclose(found.partition, expected, rtol=1e-12)
        np.testing.assert_array_equal(found.total, found.partition)
        assert found.likelihood is found.base is None

    @pytest.mark.parametrize(("concentration", "discount"), [(1.0, 0.5), (-0.2, 0.5), (0.0, 0.1), (2.0, 0.0)])
    def test_pitman_yor_is_minus_log_probability_less_a_constant(self, posterior, concentration, discount):
        prior = PitmanYor(concentration=concentration, discount=discount)
        left_out = gammaln(concentration + N) - gammaln(concentration + 1)
        expected = [-prior.log_probability(draw) - left_out for draw in posterior.draws]
        np.testing.assert_allclose(posterior.costs(prior=prior).partition, expected, rtol=1e-12)

    def test_the_printed_pitman_yor_cost_differs_by_a_constant(self, posterior):
        alpha, sigma = 1.7, 0.4

        def printed(sizes):
            openings = -np.log(alpha + sigma * np.arange(sizes.size)).sum()
            return openings - gammaln(sizes - sigma).sum() + sizes.size * gammaln(1 - sigma)

        expected = np.array([printed(np.bincount(draw)) for draw in posterior.draws])
        found = posterior.costs(prior=PitmanYor(concentration=alpha, discount=sigma)).partition
        np.testing.assert_allclose(found - expected, np.log(alpha), rtol=1e-12)

    def test_without_a_record_the_concentration_is_one(self, posterior):
        expected = posterior.costs(prior=DirichletProcess(concentration=1.0)).partition
        np.testing.assert_array_equal(posterior.costs().partition, expected)

    def test_objects_without_a_label_cost_nothing(self):
        labels = [[0, 0, -1, 1, -1], [-1] * 5]
        np.testing.assert_allclose(
            Posterior(labels).costs().partition, Posterior([[0, 0, 1]]).costs().partition * [1, 0]
        )

    @known
    @unconverged_is_fine
    def test_a_learned_concentration_is_read_from_the_trace(self):
        rows = np.random.default_rng(0).normal(size=(15, 1))
        family = Gaussian(covariance="known")
        drawn = quick(family=family, prior=DirichletProcess(concentration=Gamma(2, 1))).fit(rows).posterior_
        concentrations = drawn.traces["concentration"].ravel()
        expected = [
            Posterior(draw[None]).costs(prior=DirichletProcess(concentration=a)).partition[0]
            for a, draw in zip(concentrations, drawn.draws)
        ]
        np.testing.assert_allclose(drawn.costs().partition, expected, rtol=1e-12)
        fixed = quick(family=family, prior=PitmanYor(concentration=0.5)).fit(rows).posterior_
        by_hand = fixed.costs(prior=PitmanYor(concentration=0.5)).partition
        np.testing.assert_array_equal(fixed.costs().partition, by_hand)


class TestParameters:
    def test_known_variance_is_minus_the_log_joint_at_the_mode(self, posterior):
        x = np.random.default_rng(1).normal(size=N)
        family = Gaussian(covariance="known", mean=0.5, variance=0.8, mean_variance=3.0)
        found = posterior.costs(family=family, table=Table.read(x[:, None], standardize=False))
        for b, draw in enumerate(posterior.draws):
            likelihood = base = 0.0
            for label in np.unique(draw):
                own = x[draw == label]
                mode = (0.5 / 3.0 + own.sum() / 0.8) / (1 / 3.0 + own.size / 0.8)
                likelihood -= distributions.norm(mode, np.sqrt(0.8)).logpdf(own).sum()
                base -= distributions.norm(0.5, np.sqrt(3.0)).logpdf(mode)
            assert found.likelihood[b] == pytest.approx(likelihood, rel=1e-10)
            assert found.base[b] == pytest.approx(base, rel=1e-10)
        np.testing.assert_allclose(found.total, found.partition + found.likelihood + found.base)

    def test_full_covariance_is_minus_the_log_joint_at_the_mode(self, posterior):
        x = np.random.default_rng(1).normal(size=(N, 2)) @ [[1.0, 0.4], [0.0, 0.7]]
        k0, v0, S0, d = 0.3, 5.0, np.array([[1.0, 0.2], [0.2, 0.6]]), 2
        family = Gaussian(mean=[0.1, -0.2], mean_precision=k0, dof=v0, scale=S0)
        found = posterior.costs(family=family, table=Table.read(x, standardize=False))
        m0 = np.array([0.1, -0.2])
        for b, draw in enumerate(posterior.draws):
            likelihood = base = 0.0
            for label in np.unique(draw):
                own = x[draw == label]
                n, average = len(own), own.mean(axis=0)
                mode = (k0 * m0 + n * average) / (k0 + n)
                scatter = (own - average).T @ (own - average)
                scale = S0 + scatter + k0 * n / (k0 + n) * np.outer(average - m0, average - m0)
                covariance = scale / (v0 + n + d + 2)
                likelihood -= distributions.multivariate_normal(mode, covariance).logpdf(own).sum()
                base -= distributions.invwishart(v0, S0).logpdf(covariance)
                base -= distributions.multivariate_normal(m0, covariance / k0).logpdf(mode)
            assert found.likelihood[b] == pytest.approx(likelihood, rel=1e-9)
            assert found.base[b] == pytest.approx(base, rel=1e-9)

    def test_a_cell_that_is_missing_is_left_out(self, posterior):
        x = np.random.default_rng(2).normal(size=(N, 2))
        x[3, 1] = x[7, 0] = np.nan
        family = Gaussian(covariance="known", mean=0.0, variance=1.0, mean_variance=2.0)
        together = posterior.costs(family=family, table=Table.read(x, standardize=False))
        apart = []
        for j in range(2):
            seen = ~np.isnan(x[:, j])
            column = Table.read(x[seen, j : j + 1], standardize=False)
            apart.append(Posterior(posterior.draws[:, seen]).costs(family=family, table=column).likelihood)
        np.testing.assert_allclose(together.likelihood, sum(apart), rtol=1e-10)

    @pytest.mark.parametrize("at_once", [1, 1 << 20])
    def test_a_frame_of_every_kind_is_read_as_mixture_reads_it(self, posterior, monkeypatch, at_once):
        monkeypatch.setattr("partita.posterior.costs._NUMBERS_AT_ONCE", at_once)
        rng = np.random.default_rng(3)
        frame = pd.DataFrame({"x": rng.normal(size=N) * 7, "c": list("abcabcababaa")})
        found = posterior.costs(table=frame)
        separate = [
            posterior.costs(family=Mixed(), table=frame[["x"]]),
            posterior.costs(family=Categorical(), table=frame[["c"]]),
        ]
        np.testing.assert_allclose(found.likelihood, sum(part.likelihood for part in separate), rtol=1e-10)
        np.testing.assert_allclose(found.base, sum(part.base for part in separate), rtol=1e-10)

    def test_rows_that_no_draw_labels_teach_nothing(self, posterior):
        x = np.random.default_rng(5).normal(size=(N, 1))
        draws = posterior.draws.astype(int)
        found = posterior.costs(family="gaussian", table=Table.read(x, standardize=False))
        more = Posterior(np.c_[draws, np.full((len(draws), 1), -1)])
        again = more.costs(family="gaussian", table=Table.read(np.r_[x, [[1e6]]], standardize=False))
        np.testing.assert_allclose(again.total, found.total, rtol=1e-10)


class TestRefusals:
    def test_other_priors(self, posterior):
        with pytest.raises(ValueError, match=r"Dirichlet process or a Pitman-Yor process, not of FiniteMixtures\(\)"):
            posterior.costs(prior=FiniteMixtures())

    def test_a_learned_concentration_without_its_trace(self, posterior):
        with pytest.raises(ValueError, match="no trace 'concentration': pass a prior with a number"):
            posterior.costs(prior="dirichlet-process")

    def test_a_family_without_a_table(self, posterior):
        with pytest.raises(ValueError, match=r"pass table=\.\.\. as well"):
            posterior.costs(family=Gaussian())

    def test_a_table_of_other_rows(self, posterior):
        with pytest.raises(ValueError, match="The table has 3 rows and the draws 12 objects"):
            posterior.costs(table=np.arange(3.0)[:, None] ** 2)

    def test_missing_cells_under_a_full_covariance(self, posterior):
        x = np.random.default_rng(6).normal(size=(N, 2))
        x[0, 0] = np.nan
        with pytest.raises(ValueError, match=r"use family=Gaussian\(covariance='diag'\)"):
            posterior.costs(family=Gaussian(), table=x)

    @pytest.mark.parametrize(
        ("family", "kind", "cells"),
        [(Categorical(pseudocount=0.5), "categorical", ["a", "b"]), (Count(shape=0.4), "count", [0, 3])],
    )
    def test_densities_without_a_maximum(self, family, kind, cells):
        column = np.repeat(np.array(cells, dtype=object), 6)[:, None]
        table = Table.read(column, column_types={0: kind})
        with pytest.raises(ValueError, match="has no maximum"):
            Posterior(np.repeat([[0, 1]], 6, axis=1)).costs(family=family, table=table)

    @categorical
    @unconverged_is_fine
    def test_draws_of_weighted_rows(self):
        rows = np.array(list("aabbab"), dtype=object)[:, None]
        drawn = quick(family=Categorical()).fit(rows, sample_weight=[1, 2, 1, 1, 1, 1]).posterior_
        with pytest.raises(ValueError, match=r"sample_weight \(sum 7\)"):
            drawn.costs()
