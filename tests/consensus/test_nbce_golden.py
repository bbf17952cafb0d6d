"""The posterior of a small ensemble with gaps, known to ten digits: by enumeration, and sampled through NBCE."""

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.consensus.ensembles import GOLDEN, categorical, unconverged_is_fine
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import exact_posterior, subset_log_marginals
from tests.volumes import long, short_and_long

from partita.consensus import NBCE
from partita.engines import Gibbs
from partita.priors import FiniteDirichlet

pytestmark = [categorical, unconverged_is_fine]

#: Log evidence, E[number of clusters], P(objects 0 and 1 together).
VALUES = {
    "stick-breaking": (-15.5702637824, 2.5400569560, 0.6082659100),
    "finite-dirichlet": (-15.9154544883, 2.2797232295, 0.6784318628),
    "dirichlet-process": (-15.2466133363, 3.2398805789, 0.4585315949),
}


def fitted(prior, **options):
    fixed = {"n_components": 3, "concentration": 1.0, "pseudocount": 0.5, "learn": ()}
    length = {"chains": 4, "draws": 5_000, "warmup": 100, "random_state": 1}
    return NBCE(prior=prior, engine=Gibbs(merge_split=1), **(fixed | length | options)).fit(GOLDEN)


def exact(nbce):
    """All partitions of the six objects under the model that was fitted."""
    likelihood, table = nbce._model.likelihood, nbce._model.table
    return exact_posterior(subset_log_marginals(likelihood, likelihood.rows(table)), nbce._model.prior)


def z_scores(nbce, expected):
    """Distance of the sampled means from their values in Monte-Carlo standard errors, by batch means."""
    draws = nbce.posterior_.draws
    sampled = np.stack([draws.max(axis=1) + 1.0, draws[:, 0] == draws[:, 1]], axis=1)
    means = batch_means(sampled)
    return (means.mean(axis=0) - expected) / (means.std(axis=0, ddof=1) / np.sqrt(len(means)))


@pytest.mark.parametrize("prior", VALUES)
@short_and_long("n_draws", 1000, 5000)
def test_golden_values(prior, n_draws):
    nbce = fitted(prior, draws=n_draws)
    by_enumeration = exact(nbce)
    evidence, n_clusters, together = VALUES[prior]
    found = (by_enumeration.log_evidence, by_enumeration.n_clusters() @ np.arange(7), by_enumeration.similarity()[0, 1])
    np.testing.assert_allclose(found, (evidence, n_clusters, together), atol=1e-9, rtol=0)
    assert np.abs(z_scores(nbce, (n_clusters, together))).max() < 4.0
    agreement = compare_partitions(nbce.posterior_.draws.astype(int), by_enumeration)
    assert agreement.agrees, str(agreement)


@long
def test_the_misprinted_conditional_is_seen(monkeypatch):
    """The paper's FSD conditional, alpha in place of alpha/K, is not the golden posterior."""
    monkeypatch.setattr(FiniteDirichlet, "shift", lambda self, concentration: concentration)
    nbce = fitted("finite-dirichlet")
    _, n_clusters, together = VALUES["finite-dirichlet"]
    assert np.abs(z_scores(nbce, (n_clusters, together))).max() > 8.0


def test_a_label_taken_for_a_gap_is_seen():
    """The oracle depends on the gaps: with one of them filled the evidence is another."""
    nbce = fitted("stick-breaking", draws=10)
    full = np.where(GOLDEN < 0, 0, GOLDEN)
    other = NBCE(prior="stick-breaking", n_components=3, concentration=1.0, pseudocount=0.5, learn=(), draws=10).fit(
        full
    )
    assert abs(exact(other).log_evidence - exact(nbce).log_evidence) > 0.5


@long
@short_and_long("n_draws", 600, 2500)
def test_the_predictive_of_new_objects_is_a_ratio_of_evidences(n_draws):
    """p(y | Y) = p(Y, y) / p(Y), both by enumeration; perplexity is its geometric mean per label."""
    nbce = fitted("dirichlet-process", draws=n_draws)
    new = np.array([[0, 2, 0], [1, -1, 1]])
    logs = []
    for row in new:
        seven = np.vstack([GOLDEN, row])
        likelihood = nbce._model.likelihood
        table = nbce._read_table(seven, nbce._model.table.schema)
        subsets = subset_log_marginals(likelihood, likelihood.rows(table))
        logs.append(exact_posterior(subsets, nbce._model.prior).log_evidence - VALUES["dirichlet-process"][0])
    # The density of a row varies over partitions by less than its mean; draws of four chains count as those of one.
    error = 4 / np.sqrt(n_draws)
    np.testing.assert_allclose(nbce.score_samples(new), logs, atol=error)
    assert np.log(nbce.perplexity(new)) == pytest.approx(-sum(logs) / 5, abs=2 * error / 5)


def test_perplexity_of_a_model_that_knows_nothing_is_the_number_of_labels():
    rng = np.random.default_rng(0)
    Y = np.stack([rng.permutation(np.repeat(np.arange(4), 100)) for _ in range(5)], axis=1)
    nbce = NBCE(pseudocount=1e3, chains=2, draws=50, random_state=0, concentration=1e-3, learn=()).fit(Y)
    assert nbce.perplexity(Y) == pytest.approx(4.0, rel=1e-3)
    assert logsumexp(nbce.score_samples(np.array([[k] + [-1] * 4 for k in range(4)]))) == pytest.approx(0.0, abs=1e-9)
