"""Clusters that select columns: Gibbs against every partition and every selection of a few rows, one by one."""

import numpy as np
import pytest
from tests.engines.models import SAMPLED, Example, fixed_priors, one_per_compilation, parameters
from tests.engines.test_learned_scale import HYPERPRIORS, LOG_GRIDS, SCALE, Learner, assert_exact, assert_same
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import (
    Exact,
    exact_posterior,
    log_likelihoods,
    log_prior_probabilities,
    run_gibbs,
    run_merge_split,
    subset_log_marginals,
)
from tests.oracles.partitions import set_partitions
from tests.oracles.selective import Counts, Known, Numbers, Selection, Words
from tests.volumes import long, mostly_long, short_and_long

from partita.engines.gibbs import Gibbs
from partita.families import Gaussian, Selective
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.powered import powered
from partita.model.model import Model
from partita.priors import Beta, DirichletProcess, StickBreaking
from partita.table import Table

pytestmark = pytest.mark.xdist_group("Selected")
FIXED = [example for example in SAMPLED if not example.likelihood.learns]
PRIOR = DirichletProcess(concentration=1.0)
STICKS = StickBreaking(n_components=3, concentration=1.0)
SHARE = Beta(2.0, 3.0)
every_model = pytest.mark.parametrize("example", FIXED, ids=lambda e: e.name)


def selection(example, share=None):
    """The same model and cells for the oracle."""
    likelihood, table, columns, cells = example.likelihood, example.table, [], []
    for block in likelihood.base.blocks:
        for j, position in enumerate(block.columns):
            columns.append(_column(block, j, table))
            cells.append(_cells(table, block.kind, position))
    return Selection(tuple(columns), tuple(zip(*cells)), share or likelihood.share)


def _column(block, j, table):
    if isinstance(block, NormalInverseGamma):
        step = table.schema.numeric[block.columns[j]].step
        return Numbers(block.mean[j], block.mean_precision[j], block.dof[j], block.scale[j], step)
    if isinstance(block, NormalKnownVariance):
        return Known(block.mean[j], block.variance[j], block.mean_variance[j])
    if isinstance(block, GammaPoisson):
        return Counts(block.shape[j], block.rate[j])
    assert isinstance(block, DirichletCategorical)
    return Words(block.pseudocount[j], tuple(range(block.n_levels[j])))


def _cells(table, kind, position):
    block = {"numeric": table.numeric, "categorical": table.codes, "count": table.counts}[kind][:, position]
    missing = np.isnan(block) if kind == "numeric" else block < 0
    return [None if gone else cell for cell, gone in zip(block.tolist(), missing)]


def enumerated_states(n):
    return np.array(list(set_partitions(n)))


@every_model
def test_both_ways_to_say_a_column_are_summed_over_every_partition(example):
    states, oracle = enumerated_states(5), selection(example)
    rows = example.likelihood.rows(example.table)
    found = log_likelihoods(example.subsets(), states)
    for state, log_likelihood in zip(states, found):
        expected, inclusion = oracle.given(state)
        assert log_likelihood == pytest.approx(expected, rel=1e-7)
        stats = example.likelihood.labelled_stats(rows, state, state.max() + 1)
        np.testing.assert_allclose(example.likelihood.inclusion(stats), inclusion, rtol=1e-6, atol=1e-12)


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(FIXED, fixed_priors()))
@short_and_long("n_draws", 2000, 6000)
def test_draws_are_from_the_exact_posterior(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(FIXED, one_per_compilation()))
@short_and_long("n_draws", 2000, 5000)
def test_the_scan_alone_and_merge_split_moves_alone_keep_the_posterior(example, prior, n_draws):
    exact = exact_posterior(example.subsets(), prior)
    scanned = run_gibbs(example.model(prior), n_draws=n_draws, seed=7, merge_split=0)
    moved = run_merge_split(example.model(prior), n_draws=5000, seed=8)
    for chain in (scanned, moved):
        agreement = compare_partitions(chain.labels, exact)
        assert agreement.agrees, agreement


@long
def test_the_oracle_sees_another_share():
    near = selection(FIXED[0], share=FIXED[0].likelihood.share - 0.3)
    states = enumerated_states(5)
    log_joint = [near.given(state)[0] + PRIOR.log_probability(state) for state in states]
    weights = np.exp(np.array(log_joint) - max(log_joint))
    chain = run_gibbs(FIXED[0].model(PRIOR), n_draws=12_000, seed=5)
    assert not compare_partitions(chain.labels, Exact(states, weights / weights.sum(), 0.0)).agrees


@mostly_long
@pytest.mark.parametrize("example", FIXED, ids=lambda e: e.name)
@pytest.mark.parametrize("power", [0.4, 1.7])
def test_rows_that_count_more_or_less_than_once(example, power):
    raised = Example(f"{example.name}^{power}", powered(example.likelihood, power), example.table)
    chain = run_gibbs(raised.model(PRIOR), n_draws=3000, seed=6)
    agreement = compare_partitions(chain.labels, exact_posterior(raised.subsets(), PRIOR))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize("example", FIXED, ids=lambda e: e.name)
def test_copies_of_a_row_are_tied(example):
    copies = np.array([1, 3, 1, 2, 1])
    chain = run_gibbs(example.model(PRIOR, copies), n_draws=3000, seed=6)
    rows = example.likelihood.rows(example.table)
    exact = exact_posterior(subset_log_marginals(example.likelihood, rows, copies), PRIOR, copies)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement


# --- what is learned --------------------------------------------------------------------------------


def learning_share(example):
    """The example with a share that is learned."""
    fixed = example.likelihood
    likelihood = type(fixed)(fixed.base, fixed.background, SHARE.mean, SHARE)
    return Example(f"{example.name}-share", likelihood, example.table)


@mostly_long
@pytest.mark.parametrize("prior", [PRIOR, STICKS], ids=lambda p: p.name)
@pytest.mark.parametrize("example", list(map(learning_share, FIXED)), ids=lambda e: e.name)
@short_and_long("n_draws", 3000, 12_000)
def test_the_share_is_integrated_out_of_every_selection(example, prior, n_draws):
    states, oracle = enumerated_states(5), selection(example, share=0.5)
    said = [oracle.given_share_of(state, SHARE.a, SHARE.b) for state in states]
    log_joint = np.array([log_likelihood for log_likelihood, _ in said])
    log_joint += log_prior_probabilities(prior, states, np.ones(5, dtype=int))
    probabilities = np.exp(log_joint - log_joint.max())
    probabilities /= probabilities.sum()
    labels, shares = drawn(example.model(prior), n_draws, seed=11)
    agreement = compare_partitions(labels, Exact(states, probabilities, 0.0))
    assert agreement.agrees, agreement
    for power, expected in zip((1, 2), probabilities @ [moments for _, moments in said]):
        means = batch_means(shares**power)
        assert abs(means.mean() - expected) < 4.5 * means.std(ddof=1) / np.sqrt(len(means))


def drawn(model, n_draws, seed):
    rng, engine = np.random.default_rng(seed), Gibbs(merge_split=3)
    state = engine.init(rng, model)
    labels, shares = np.empty((n_draws, model.table.n_rows), dtype=np.int64), np.empty(n_draws)
    for draw in range(-100, n_draws):
        state, info = engine.step(rng, state, model)
        if draw >= 0:
            labels[draw], shares[draw] = state.allocation.labels, info.learned["share"]
    return labels, shares


def two_columns():
    x = np.array([[-1.2, 0.3], [-0.9, np.nan], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3]])
    return Table.read(x, standardize=False, column_steps=0)


def learner(share):
    family = Selective(Gaussian(covariance="diag", scale=SCALE, mean_precision=0.1), share=share)
    return Learner("selective", family, two_columns(), {**HYPERPRIORS, "share": SHARE})


@mostly_long
@pytest.mark.parametrize("share", [SHARE, 0.4], ids=["both", "scale"])
@pytest.mark.parametrize("prior", [PRIOR, STICKS], ids=lambda p: p.name)
@short_and_long("n_draws", 3000, 12_000)
def test_the_scale_is_learned_from_what_is_selected(share, prior, n_draws):
    grids = {"scale": LOG_GRIDS["scale"], "share": np.linspace(-9.0, -1e-9, 91)}
    assert_exact(learner(share), prior, grids, n_draws)


def test_the_caches_are_those_of_the_present_numbers():
    model = learner(SHARE).model(PRIOR)
    rng, engine = np.random.default_rng(13), Gibbs()
    state = engine.init(rng, model)
    for _ in range(5):
        state, info = engine.step(rng, state, model)
        likelihood = model.likelihood.with_learned(**info.learned)
        stats = likelihood.stats_of(state.slots)
        assert_same(state.slots, Model(likelihood, PRIOR, model.table, model.row_weights).state_from(stats))
    assert set(info.learned) == {"scale", "share"}


def test_a_share_that_is_none_is_refused():
    likelihood = learner(SHARE).likelihood
    for share in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="the share of columns that clusters select is"):
            likelihood.with_learned(share=share)
