"""A learned pseudocount: the sampler against enumeration of partitions times quadrature over the pseudocount."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import gamma
from tests.engines.models import CATEGORICAL
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import Exact, log_likelihoods, log_prior_probabilities, subset_log_marginals
from tests.oracles.partitions import set_partitions
from tests.volumes import long, mostly_long, short_and_long

from partita import Mixture
from partita.engines.gibbs import Gibbs
from partita.families import Categorical
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet, Gamma, StickBreaking

HYPERPRIOR = Gamma(0.5, 5.0)
LOG_GRID = np.linspace(-36.0, 2.0, 381)  # the density of log beta is below exp(-17) outside

pytestmark = pytest.mark.xdist_group("DirichletCategorical")


def model_of(prior, n_rows=6):
    table = CATEGORICAL.table
    likelihood = Categorical(pseudocount=HYPERPRIOR).resolve(table)
    return Model(likelihood, prior, table, np.ones(n_rows, dtype=np.int64))


def exact_joint(model):
    """Posterior of every partition, and the posterior density (grid,) of the log pseudocount."""
    states = np.array(list(set_partitions(model.table.n_rows)))
    log_prior = np.array([model.prior.log_probability(state) for state in states])  # a learned concentration averaged
    rows = model.likelihood.rows(model.table)
    columns = []
    for log_beta in LOG_GRID:
        fixed = Categorical(pseudocount=np.exp(log_beta)).resolve(model.table)
        columns.append(log_likelihoods(subset_log_marginals(fixed, rows), states) + log_prior)
    hyper = gamma(HYPERPRIOR.shape, scale=1 / HYPERPRIOR.rate)
    log_joint = np.column_stack(columns) + hyper.logpdf(np.exp(LOG_GRID)) + LOG_GRID
    evidence = logsumexp(log_joint)
    joint = np.exp(log_joint - evidence)
    return Exact(states, joint.sum(axis=1), float(evidence)), joint.sum(axis=0)


def run(model, n_draws, seed):
    rng, engine = np.random.default_rng(seed), Gibbs(merge_split=3)
    state = engine.init(rng, model)
    labels, log_betas = np.empty((n_draws, 6), dtype=np.int64), np.empty(n_draws)
    for draw in range(-100, n_draws):
        state, info = engine.step(rng, state, model)
        if draw >= 0:
            labels[draw], log_betas[draw] = state.allocation.labels, np.log(info.learned["pseudocount"])
    return labels, log_betas


@mostly_long
@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess(concentration=1.0),
        DirichletProcess(concentration=Gamma(2.0, 1.0)),
        FiniteDirichlet(n_components=3, concentration=1.0),
        StickBreaking(n_components=3, concentration=1.0),
        pytest.param(StickBreaking(n_components=3, concentration=Gamma(2.0, 1.0)), marks=long),
    ],
    ids=lambda prior: f"{prior.name}{'-learned' if prior.learns_concentration else ''}",
)
@short_and_long("n_draws", 2000, 8000)
def test_partitions_and_pseudocounts_are_from_the_exact_posterior(prior, n_draws):
    model = model_of(prior)
    exact, density = exact_joint(model)
    labels, log_betas = run(model, n_draws, seed=11)
    agreement = compare_partitions(labels, exact)
    assert agreement.agrees, agreement
    for power in (1, 2):
        means = batch_means(log_betas**power)
        error = means.std(ddof=1) / np.sqrt(len(means))
        assert abs(means.mean() - density @ LOG_GRID**power) < 4.5 * error


@long
def test_the_test_tells_a_learned_pseudocount_from_a_fixed_one():
    """The posterior under the hyperprior's mean is far from that of the draws."""
    model = model_of(DirichletProcess(concentration=1.0))
    labels, _ = run(model, 8000, seed=12)
    fixed = Categorical(pseudocount=HYPERPRIOR.mean).resolve(model.table)
    states = np.array(list(set_partitions(6)))
    log_joint = log_likelihoods(subset_log_marginals(fixed, fixed.rows(model.table)), states)
    log_joint += log_prior_probabilities(model.prior, states, np.ones(6, dtype=np.int64))
    other = Exact(states, np.exp(log_joint - logsumexp(log_joint)), float(logsumexp(log_joint)))
    assert not compare_partitions(labels, other).agrees


def test_the_caches_are_those_of_the_present_pseudocount():
    model = model_of(DirichletProcess(concentration=1.0))
    rng, engine = np.random.default_rng(13), Gibbs()
    state = engine.init(rng, model)
    for _ in range(5):
        state, info = engine.step(rng, state, model)
        np.testing.assert_array_equal(state.slots.pseudocount, info.learned["pseudocount"])
        np.testing.assert_allclose(state.slots.numerator, info.learned["pseudocount"] + state.slots.stats.T)
    assert model.likelihood.learned == {"pseudocount": HYPERPRIOR.mean}


class TestTraces:
    def fitted(self, family):
        x = np.array([["a", "p"], ["a", "p"], ["b", "q"], ["b", "q"], ["a", "q"]], dtype=object)
        return Mixture(family=family, chains=2, draws=300, warmup=100, random_state=0).fit(x).posterior_

    def test_what_is_learned_is_recorded(self):
        trace = self.fitted(Categorical(pseudocount=None)).traces["pseudocount"]
        assert trace.shape == (2, 300)
        assert (trace > 0).all()
        assert np.unique(trace).size > 500

    def test_other_models_have_the_traces_they_had(self):
        assert set(self.fitted(Categorical()).traces) == {"n_clusters", "log_joint", "entropy", "concentration"}


class TestSharedRows:
    def test_chains_read_the_same_rows(self):
        model = model_of(DirichletProcess(concentration=1.0))
        first, second = (Gibbs().init(np.random.default_rng(seed), model).rows for seed in (1, 2))
        assert first.position is second.position
        assert first.position.dtype == np.int32
