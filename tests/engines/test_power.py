"""Rows that count once in the prior and ``power`` times in the likelihood: every engine against enumeration."""

import numpy as np
import pytest
from scipy.special import gammaln, polygamma
from tests.engines.models import (
    CATEGORICAL,
    COMPLETE_GAUSSIAN,
    alone,
    fixed_priors,
    one_per_compilation,
    parameters,
)
from tests.engines.powered_models import DIAGONAL, FULL, HEAVY, MIXED, NUMBERS, RAISED, WITH_GAPS, WORDS, of, raised
from tests.engines.test_collapsed_variational import NEGLIGIBLE, at, random_resp
from tests.engines.variational_models import PRIORS, random_responsibilities, run
from tests.oracles.agreement import compare_partitions
from tests.oracles.collapsed_variational import enumerated_bounds, prior_terms, slow_sweep
from tests.oracles.enumeration import exact_posterior, run_gibbs, run_merge_split
from tests.volumes import long, mostly_long, short_and_long

from partita.engines import EM, CollapsedVariational, Gibbs, Variational
from partita.engines.collapsed_state import bound as reported_bound
from partita.engines.runner import Plan
from partita.families import Categorical, Count, Gaussian, Mixed
from partita.families.blocks import row_block
from partita.families.powered import powered
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet, StickBreaking
from partita.table import Table

COLLAPSED = [StickBreaking(n_components=3, concentration=1.0), FiniteDirichlet(n_components=3, concentration=1.0)]
CATEGORIES = [raised(CATEGORICAL, 0.4), raised(CATEGORICAL, 1.7)]


def long_if_mixed(cases):
    """Collapsed sweeps of products take a minute to compile, and no other short test runs them."""
    return [
        pytest.param(*case.values, id=case.id, marks=[*case.marks, *([long] if "mixed" in case.id else [])])
        for case in cases
    ]


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([*RAISED, *HEAVY], fixed_priors()))
@short_and_long("n_draws", 2000, 6000)
def test_draws_are_from_the_powered_posterior(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([*RAISED, *HEAVY], one_per_compilation()))
def test_merge_split_moves_alone_keep_the_powered_posterior(example, prior):
    chain = run_merge_split(example.model(prior), n_draws=5000, seed=8)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@pytest.mark.parametrize(("example", "prior"), parameters([CATEGORIES[0]], fixed_priors()[:1]))
def test_the_oracle_sees_the_power(example, prior):
    chain = run_gibbs(example.model(prior), n_draws=6000, seed=5)
    assert not compare_partitions(chain.labels, exact_posterior(CATEGORICAL.subsets(), prior)).agrees


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([*RAISED, *HEAVY], PRIORS[:2], sampled=False))
def test_updates_raise_a_bound_below_the_powered_evidence(example, prior):
    model = example.model(prior)
    evidence = exact_posterior(example.subsets(), prior).log_evidence if not prior.learns_concentration else np.inf
    for seed in range(3):
        engine = Variational(merge=False)
        start = engine.start(model, random_responsibilities(model.table.n_rows, 3, seed=seed))
        _, bounds = run(engine, model, start)
        assert (np.diff(bounds) >= -1e-9 * (1.0 + abs(bounds[:-1]))).all()
        assert bounds[-1] < evidence + 1e-9


@pytest.mark.parametrize("example", alone(RAISED))
def test_all_rows_in_one_component_leave_the_bound_no_gap(example):
    model, engine = example.model(FiniteDirichlet(n_components=1, concentration=1.0)), Variational(merge=False)
    _, bounds = run(engine, model, engine.start(model, np.ones((model.table.n_rows, 1))))
    assert bounds[-1] == pytest.approx(example.subsets()[-1], rel=1e-10)


@pytest.mark.parametrize("example", alone(RAISED))
def test_rows_are_shared_out_by_powers_of_densities(example):
    model = example.model(PRIORS[0])
    plain = model.plain.likelihood
    rows, power = model.shared_rows, example.likelihood.power
    stats = model.shared_stats(random_responsibilities(model.table.n_rows, 3))
    expected, log_weights = plain.expected_params(stats), np.log([0.5, 0.3, 0.2])
    logs = power * plain.expected_loglik(rows, expected) + log_weights
    resp = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    shared = example.likelihood.share_out(rows, model.row_weights.astype(float), log_weights, expected)
    assert shared.log_total == pytest.approx(np.logaddexp.reduce(logs, axis=1).sum(), rel=1e-12)
    np.testing.assert_allclose(shared.sizes, resp.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(shared.stats, power * plain.suffstats(rows, resp), rtol=1e-9, atol=1e-12)


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(CATEGORIES, COLLAPSED, sampled=False))
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("copies", [[1, 1, 1, 1, 1, 1], [1, 3, 2, 1, 1, 2]], ids=["plain", "weighted"])
def test_collapsed_sweep_of_categories(example, prior, order, copies):
    """Against the expansion of log G(a + z c + z) / G(a + z c) around the expected count c."""
    model = example.model(prior, copies)
    power, codes = example.likelihood.power, model.table.codes
    beta, n_levels = CATEGORICAL.likelihood.pseudocount, CATEGORICAL.likelihood.n_levels

    def expected(a, shares):
        at_mean = a + power * sum(shares)
        value = gammaln(at_mean + power) - gammaln(at_mean)
        bend = power**2 * (polygamma(1, at_mean + power) - polygamma(1, at_mean))
        return value + (0.5 * sum(p * (1.0 - p) for p in shares) * bend if order == 2 else 0.0)

    def scores(i, others):
        terms = prior_terms(prior, [shares for _, shares in others], 3, order)
        for k in range(3):
            for m in np.flatnonzero(codes[i] >= 0):
                seen = [(j, shares[k]) for j, shares in others if codes[j, m] >= 0]
                terms[k] += expected(beta[m], [share for j, share in seen if codes[j, m] == codes[i, m]])
                terms[k] -= expected(n_levels[m] * beta[m], [share for _, share in seen])
        return terms

    for seed in range(3):
        resp = random_resp(6, 3, seed)
        found, *_ = CollapsedVariational(order=order).swept(at(model, resp), model)
        np.testing.assert_allclose(found, slow_sweep(model, resp, scores), rtol=0, atol=NEGLIGIBLE)


@mostly_long
@pytest.mark.parametrize(("example", "prior"), long_if_mixed(parameters(RAISED, COLLAPSED, sampled=False)))
def test_collapsed_sweep_of_every_family(example, prior):
    """A row's weight in a component is the ratio of powered marginals with and without it."""
    model = example.model(prior, 1 + np.arange(example.table.n_rows) % 3)
    rows = model.likelihood.rows(model.table)

    def scores(i, others):
        summed = np.zeros((model.table.n_rows, 3))
        for j, shares in others:
            summed[j] += shares
        before = model.likelihood.suffstats(rows, summed)
        after = before + model.likelihood.suffstats(row_block(rows, i, i + 1), np.ones((1, 3)))
        gained = model.likelihood.log_marginal(after) - model.likelihood.log_marginal(before)
        terms = prior_terms(prior, [shares for _, shares in others], 3, 1)
        return [float(term + gain) for term, gain in zip(terms, gained)]

    resp = random_resp(model.table.n_rows, 3, 0)
    found, *_ = CollapsedVariational().swept(at(model, resp), model)
    np.testing.assert_allclose(found, slow_sweep(model, resp, scores), rtol=1e-8, atol=NEGLIGIBLE)


@pytest.mark.parametrize("example", alone([*RAISED, *HEAVY]))
def test_the_collapsed_bound_is_the_enumerated_one(example):
    prior = COLLAPSED[1]
    model = example.model(prior)
    state = at(model, random_resp(6, 3, 4))
    evidence, bound = enumerated_bounds(prior, example.subsets(), state.resp)
    assert CollapsedVariational().collapsed_bound(state, model) == pytest.approx(bound, rel=1e-9)
    assert reported_bound(model, state) <= bound <= evidence


@pytest.mark.parametrize("example", [CATEGORIES[0], raised(COMPLETE_GAUSSIAN, 0.4)], ids=lambda example: example.name)
@pytest.mark.parametrize("estimate", ["map", "ml"])
def test_em_climbs_to_a_power_of_the_likelihood(example, estimate):
    model = example.model(FiniteDirichlet(n_components=2, concentration=4.0))
    outcome = EM(estimate=estimate, n_init=3, reg_covar=0.05).fit(
        model, Plan(n_jobs=1).begun(), np.random.SeedSequence(0)
    )
    path = outcome.notes["loglik_path"]
    assert (np.diff(path) >= -1e-8).all()
    likelihood, clusters = model.plain.likelihood, outcome.clusters
    logs = example.likelihood.power * likelihood.log_likelihood(model.shared_rows, clusters.params)
    logs += clusters.log_seats[:-1]
    weights = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(outcome.probabilities, weights[:, : outcome.probabilities.shape[1]], atol=1e-3)


def test_a_block_of_categories_has_the_second_order_too():
    likelihood = of("words", Mixed(), WORDS).likelihood
    assert likelihood.has_second_order
    assert powered(likelihood, 0.4).has_second_order
    assert not RAISED[2].likelihood.has_second_order


@long
@pytest.mark.parametrize("order", [1, 2])
def test_categories_are_the_same_alone_and_as_a_block(order):
    prior, resp = COLLAPSED[0], random_resp(6, 3, 2)
    family = Categorical(pseudocount=0.5)
    alone_and_block = [of("words", one, WORDS) for one in (family, Mixed(families={"categorical": family}))]
    models = [raised(example, 0.4).model(prior) for example in alone_and_block]
    found = [CollapsedVariational(order=order).swept(at(model, resp), model)[0] for model in models]
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12)


# --- maxima ---------------------------------------------------------------------------------------

CURVED = [
    of("categorical", Categorical(pseudocount=1.5), WORDS),
    of("count", Count(shape=1.4, rate=0.6), np.array([[0.0], [3.0], [7.0], [1.0], [9.0]]), column_types={0: "count"}),
    of("full", FULL, NUMBERS),
    of("full-with-gaps", FULL, WITH_GAPS),
    of("diagonal-with-gaps", DIAGONAL, WITH_GAPS),
    of("known", Gaussian(covariance="known", variance=0.4), WITH_GAPS),
    MIXED,
    of("weighed", Categorical(pseudocount=1.5, column_weight=0.6), WORDS),
]
"""Whose modes are not at the edge of what parameters may be, cells missing of a full covariance too."""


def slopes(model, engine, state):
    """Derivatives of sum_n log sum_k w_k p(x_n | theta_k)^z + log prior along random directions, by differences."""
    likelihood, inner = model.likelihood.plain, model.likelihood

    def objective(log_weights, stats):
        params = engine.params(model, stats)
        weighed = log_weights - np.logaddexp.reduce(log_weights)
        columns = inner.column_weights[0] if inner.column_weights else 1.0
        logs = inner.power * columns * likelihood.log_likelihood(model.shared_rows, params) + weighed
        log_prior = weighed.sum() + columns * likelihood.log_prior_density(params).sum()
        return np.logaddexp.reduce(logs, axis=1).sum() + log_prior

    found = []
    for seed in range(8):
        rng, step = np.random.default_rng(seed), 1e-5
        directions = rng.normal(size=state.log_weights.shape), rng.normal(size=state.stats.shape) * state.stats
        ends = [
            objective(state.log_weights + sign * step * directions[0], state.stats + sign * step * directions[1])
            for sign in (1, -1)
        ]
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.abs(found).max()


@pytest.mark.parametrize("power", [0.4, 1.7])
@pytest.mark.parametrize("example", CURVED, ids=lambda example: example.name)
def test_em_ends_where_no_way_leads_up(example, power):
    engine = EM(n_init=2, tol=1e-14, max_iter=5000)
    prior, seed = FiniteDirichlet(n_components=2, concentration=4.0), np.random.SeedSequence(0)
    model = raised(example, power).model(prior)
    end = engine.fit(model, Plan(n_jobs=1).begun(), seed).state
    assert slopes(model, engine, end) < 1e-5
    elsewhere = engine.fit(example.model(prior), Plan(n_jobs=1).begun(), seed).state
    assert slopes(model, engine, elsewhere) > 1e-2


# --- missing cells under a full covariance --------------------------------------------------------

GAPS = np.where(np.isin(np.arange(12), [3, 11]).reshape(6, 2), np.nan, NUMBERS)
"""Of the second column alone, so that the first and the second given it factorise."""


def subsets_with_gaps(power):
    """Log evidence of all subsets: the first column of all rows, times the second given it of those that have both.

    Sigma_11 ~ IW(dof - 1, scale_11) is independent of the regression of the second column on the first.
    """
    mean = np.nanmean(GAPS, axis=0)
    both = of("both", Gaussian(dof=4.0, scale=0.8, mean_precision=0.3, mean=mean), NUMBERS)
    first = of("first", Gaussian(dof=3.0, scale=0.8, mean_precision=0.3, mean=mean[:1]), NUMBERS[:, :1])
    inside = ((np.arange(64) >> np.arange(6)[:, None]) & 1).astype(float)
    observed = inside * ~np.isnan(GAPS[:, [1]])

    def evidence(example, held):
        likelihood = powered(example.likelihood, power)
        return likelihood.log_marginal(likelihood.suffstats(likelihood.rows(example.table), held))

    return evidence(both, observed) - evidence(first, observed) + evidence(first, inside)


@pytest.mark.parametrize("power", [0.5, 1.0, 1.7])
def test_the_bound_with_gaps_is_below_the_evidence_of_what_is_there(power):
    example = raised(of("gaps", FULL, GAPS), power)
    assert example.likelihood.draws_cells(example.likelihood.rows(example.table))
    subsets = subsets_with_gaps(power)
    for n_components in (1, 3):
        prior = FiniteDirichlet(n_components=n_components, concentration=1.3)
        model, engine = example.model(prior), Variational(merge=False)
        evidence = exact_posterior(subsets, prior).log_evidence
        for seed in range(3):
            _, bounds = run(engine, model, engine.start(model, random_responsibilities(6, n_components, seed=seed)))
            assert (np.diff(bounds) >= -1e-9).all()
            assert bounds[-1] < evidence
            assert n_components > 1 or bounds[-1] > evidence - 0.5


def test_missing_cells_under_a_full_covariance_are_not_sampled():
    table = Table.read(np.array([[0.1, 1.0], [0.3, np.nan], [2.0, 0.4], [1.0, 3.0]]), standardize=False)
    model = Model(powered(Gaussian(dof=4.0).resolve(table), 0.5), DirichletProcess(), table, np.ones(4, np.int64))
    with pytest.raises(ValueError, match="power of the likelihood cannot be sampled"):
        Gibbs(draws=5).fit(model, Plan(n_jobs=1).begun(), np.random.SeedSequence(0))
    outcome = Variational(truncation=2).fit(
        model.with_prior(StickBreaking(n_components=2)), Plan().begun(), np.random.SeedSequence(0)
    )
    assert np.isfinite(outcome.notes["elbo_path"][-1])
