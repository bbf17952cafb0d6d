"""Variational Bayes: every update raises the bound, it stays below the evidence, Gaussians are as scikit-learn's."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln, softmax, xlogy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture
from tests.engines.models import CATEGORICAL, EXAMPLES, LEARNED, WITHOUT_DRAWN_CELLS, parameters, take_rows
from tests.engines.variational_models import (
    PRIORS,
    best_responsibilities,
    encoded,
    full_bound,
    random_responsibilities,
    run,
)
from tests.oracles.enumeration import exact_posterior, subset_log_marginals
from tests.volumes import long, mostly_long

from partita.engines.climbing import Climb
from partita.engines.merging import Holdings, allocation_gains, marginal_gains, merge_pairs, overlaps
from partita.engines.variational import Variational
from partita.families import Categorical, Gaussian
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet, Gamma, PitmanYor, StickBreaking
from partita.table import Table

EVIDENCE = [
    (StickBreaking(n_components=3, concentration=1.0), -15.5702637824),
    (FiniteDirichlet(n_components=3, concentration=1.0), -15.9154544883),
]
every_model = pytest.mark.parametrize(("example", "prior"), parameters([*EXAMPLES, *LEARNED], PRIORS, sampled=False))


def rounding(bound):
    return 1e-11 * (1.0 + abs(bound))


def model_of(table, family, prior, weights=None):
    weights = np.ones(table.n_rows, np.int64) if weights is None else weights
    return Model(family.resolve(table), prior, table, weights)


# --- the bound ------------------------------------------------------------------------------------


@mostly_long
@every_model
def test_every_update_raises_the_bound(example, prior):
    model = example.model(prior, 1 + np.arange(example.table.n_rows) % 3)
    engine = Variational(merge=False)
    steps = engine.steps(model)
    state = engine.start(model, random_responsibilities(example.table.n_rows, 4))
    reached = -np.inf
    for _ in range(25):
        resp = best_responsibilities(model, state)
        local = full_bound(model, resp, state)
        statistics = steps.local_statistics(encoded(model), state)
        assert local >= reached - rounding(local)
        assert statistics.log_total[0] - state.divergence == pytest.approx(local, rel=1e-11)
        kept = statistics.sizes > 1e-10
        order = prior.best_order(statistics.sizes[kept], state.concentration)
        state = steps.global_step(statistics, state)
        assert state.bound == pytest.approx(local, rel=1e-11)
        reached = full_bound(model, resp[:, kept][:, order], state)
        assert reached >= local - rounding(local) - 1e-8 * (~kept).any()


@mostly_long
@every_model
def test_runs_with_merges_never_lose(example, prior):
    model = example.model(prior)
    engine = Variational(tol=1e-9)
    _, bounds = run(engine, model, engine.start(model, random_responsibilities(example.table.n_rows, 4, seed=1)))
    assert (np.diff(bounds) >= -1e-8).all()


@pytest.mark.parametrize(("prior", "evidence"), EVIDENCE, ids=lambda v: getattr(v, "name", ""))
def test_the_bound_is_below_the_evidence(prior, evidence):
    model = CATEGORICAL.model(prior)
    for seed in range(20):
        engine = Variational(merge=seed % 2 == 0)
        _, bounds = run(engine, model, engine.start(model, random_responsibilities(6, 3, seed=seed)))
        assert bounds.max() < evidence
        assert bounds[-1] > evidence - 5.0


@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_the_bound_is_below_the_evidence_at_the_learned_concentration(kind):
    prior = kind(n_components=3, concentration=Gamma(2.0, 1.5))
    model = CATEGORICAL.model(prior)
    engine = Variational()
    states, bounds = run(engine, model, engine.start(model, random_responsibilities(6, 3)))
    fixed = kind(n_components=3, concentration=states[-1].concentration)
    evidence = exact_posterior(CATEGORICAL.subsets(), fixed).log_evidence
    assert states[-1].concentration != prior.initial_concentration()
    assert evidence - 5.0 < bounds[-1] - prior.log_hyperprior(states[-1].concentration) < evidence


@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_a_learned_pseudocount_raises_a_bound_that_stays_below_the_evidence_at_it(kind):
    prior = kind(n_components=3, concentration=1.0)
    learner = Categorical(pseudocount=Gamma(2.0, 2.0)).resolve(CATEGORICAL.table)
    model = Model(learner, prior, CATEGORICAL.table, np.ones(6, np.int64))
    engine = Variational(tol=1e-9)
    for seed in range(5):
        states, bounds = run(engine, model, engine.start(model, random_responsibilities(6, 3, seed=seed)))
        found = states[-1].likelihood
        rows = found.rows(CATEGORICAL.table)
        evidence = exact_posterior(subset_log_marginals(found, rows), prior).log_evidence
        assert (np.diff(bounds) >= -1e-8).all()
        assert found.log_hyperprior() != learner.log_hyperprior()
        assert evidence - 5.0 < bounds[-1] - found.log_hyperprior() < evidence


def slow_bound(cells, n_levels, beta, alpha, resp, n_steps=400):
    """The paper's updates for symmetric Dirichlet weights, corrected, one row and category at a time."""
    n, k = resp.shape
    for _ in range(n_steps):
        weights = alpha / k + resp.sum(axis=0)
        log_weights = digamma(weights) - digamma(weights.sum())
        shares = [
            np.array([beta + resp[cells[:, m] == level].sum(axis=0) for level in range(n_levels[m])])
            for m in range(cells.shape[1])
        ]
        logs = np.tile(log_weights, (n, 1))
        for i in range(n):
            for m in range(len(n_levels)):
                if cells[i, m] >= 0:
                    logs[i] += digamma(shares[m][cells[i, m]]) - digamma(shares[m].sum(axis=0))
        resp = softmax(logs, axis=1)
    bound = (resp * logs - xlogy(resp, resp)).sum() - dirichlet_kl(weights, np.full(k, alpha / k))
    for own in shares:
        bound -= sum(dirichlet_kl(own[:, c], np.full(own.shape[0], beta)) for c in range(k))
    return bound


def dirichlet_kl(after, before):
    normal = gammaln(after.sum()) - gammaln(after).sum() - gammaln(before.sum()) + gammaln(before).sum()
    return normal + (after - before) @ (digamma(after) - digamma(after.sum()))


@long
def test_the_best_start_reaches_the_highest_bound_of_the_slow_updates():
    prior = FiniteDirichlet(n_components=3, concentration=1.0)
    model = CATEGORICAL.model(prior)
    beta = float(np.unique(np.concatenate([np.ravel(b) for b in model.likelihood.pseudocount]))[0])
    starts = [random_responsibilities(6, 3, seed=seed) for seed in range(12)]
    levels = CATEGORICAL.table.schema.n_levels
    slow = max(slow_bound(CATEGORICAL.table.codes, levels, beta, 1.0, start) for start in starts)
    engine = Variational(tol=1e-12, merge=False)
    found = max(run(engine, model, engine.start(model, start))[1][-1] for start in starts)
    assert found == pytest.approx(slow, abs=1e-6)


# --- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dirichlet_distribution", "dirichlet_process"])
def test_responsibilities_are_those_of_scikit_learn(kind):
    x, _ = make_blobs([90, 60, 40], centers=[[0, 0], [7, 0], [0, 7]], cluster_std=1.3, random_state=3)
    table = Table.read(x, standardize=False)
    likelihood = Gaussian(mean_precision=0.3, dof=5.0, scale=4.0).resolve(table)
    if kind == "dirichlet_process":  # whose last stick is broken too
        prior = StickBreaking(n_components=4, concentration=0.8)
    else:
        prior = FiniteDirichlet(n_components=3, concentration=2.4)
    fits = (by_scikit_learn(x, kind, likelihood, seed) for seed in range(40))
    theirs = next(found for found in fits if in_order(found))
    expected = theirs.predict_proba(x)
    model = Model(likelihood, prior, table, np.ones(190, np.int64))
    engine = Variational(merge=False, tol=1e-13)
    start = engine.start(model, random_responsibilities(190, 3, seed=1) * 0.3 + 0.7 * expected)
    states, _ = run(engine, model, start, n_steps=2000)
    assert (np.abs(expected - np.round(expected)) > 1e-3).any()
    np.testing.assert_allclose(best_responsibilities(model, states[-1]), expected, atol=1e-6)


def by_scikit_learn(x, kind, likelihood, seed):
    theirs = BayesianGaussianMixture(
        n_components=3,
        weight_concentration_prior_type=kind,
        weight_concentration_prior=0.8,
        mean_prior=likelihood.mean,
        mean_precision_prior=likelihood.mean_precision,
        degrees_of_freedom_prior=likelihood.dof,
        covariance_prior=likelihood.scale,
        reg_covar=0.0,
        tol=1e-14,
        max_iter=2000,
        random_state=seed,
    )
    return theirs.fit(x)


def in_order(found):
    """Whether its sticks are by decreasing size, as the engine has them."""
    return (np.diff(found.weights_) < 0).all()


# --- metamorphic pairs ----------------------------------------------------------------------------


def ended(example, prior, table=None, weights=None, resp=None, n_steps=6):
    table = example.table if table is None else table
    model = Model(example.likelihood, prior, table, np.ones(table.n_rows, np.int64) if weights is None else weights)
    engine = Variational(merge=False)
    state = engine.start(model, resp)
    for _ in range(n_steps):
        state, _ = engine.step(np.random.default_rng(0), state, model)
    return state


def assert_same(first, second):
    scale = np.abs(first.stats).max() + 1.0
    np.testing.assert_allclose(first.sizes, second.sizes, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(first.stats, second.stats, rtol=1e-9, atol=1e-10 * scale)
    assert first.concentration == pytest.approx(second.concentration, rel=1e-9)
    assert first.bound == pytest.approx(second.bound, rel=1e-10)


@mostly_long
@every_model
def test_the_order_of_rows_does_not_matter(example, prior):
    n = example.table.n_rows
    order = np.random.default_rng(4).permutation(n)
    resp = random_responsibilities(n, 3, seed=2)
    permuted = ended(example, prior, take_rows(example.table, order), resp=resp[order])
    assert_same(ended(example, prior, resp=resp), permuted)


@mostly_long
@every_model
def test_weights_are_repeated_rows(example, prior):
    n = example.table.n_rows
    copies = 1 + np.arange(n) % 3
    resp = random_responsibilities(n, 3, seed=2)
    repeated = np.repeat(np.arange(n), copies)
    many = ended(example, prior, take_rows(example.table, repeated), resp=resp[repeated])
    assert_same(ended(example, prior, weights=copies, resp=resp), many)


@mostly_long
@every_model
def test_permuted_labels_permute_the_state(example, prior):
    resp = random_responsibilities(example.table.n_rows, 3, seed=2)
    order = np.array([2, 0, 1])
    plain, permuted = ended(example, prior, resp=resp), ended(example, prior, resp=resp[:, order])
    assert plain.bound == pytest.approx(permuted.bound, rel=1e-10)
    if isinstance(prior, FiniteDirichlet) and plain.n_components == 3:
        np.testing.assert_allclose(plain.sizes[order], permuted.sizes, rtol=1e-9, atol=1e-10)
    else:
        np.testing.assert_allclose(np.sort(plain.sizes), np.sort(permuted.sizes), rtol=1e-9, atol=1e-10)


def test_the_order_of_columns_and_the_names_of_categories_do_not_matter():
    rng = np.random.default_rng(8)
    cells = rng.integers(0, 3, (40, 4))
    renamed = np.array([2, 0, 1])[cells[:, ::-1]]
    resp = random_responsibilities(40, 3, seed=2)
    ends = []
    for x in (cells, renamed):
        table = Table.read(x, column_types=dict.fromkeys(range(4), "categorical"))
        model = model_of(table, Categorical(), StickBreaking(n_components=5))
        engine = Variational(merge=False)
        states, bounds = run(engine, model, engine.start(model, resp))
        ends.append((states[-1].sizes, bounds[-1]))
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=1e-9)
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-11)


# --- merges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "prior"),
    parameters(
        WITHOUT_DRAWN_CELLS, [PRIORS[0], PRIORS[3], StickBreaking(n_components=9, concentration=1.0)], sampled=False
    ),
)
def test_the_gain_of_a_merge_is_the_difference_of_bounds(example, prior):
    model = example.model(prior, 1 + np.arange(example.table.n_rows) % 2)
    steps = Variational().steps(model)
    resp = random_responsibilities(example.table.n_rows, 4, seed=5)
    given = steps.given_responsibilities(encoded(model), resp)
    pair = np.array([[1, 3]])
    merged = np.column_stack([resp[:, 0], resp[:, 1] + resp[:, 3], resp[:, 2]])
    bounds = []
    for own in (resp, merged):
        order = prior.best_order(model.row_weights @ own, prior.concentration)
        bounds.append(full_bound(model, own[:, order], Variational().start(model, own)))
    holdings = Holdings(model.likelihood, prior, given.sizes, given.stats, prior.concentration)
    gain = marginal_gains(holdings, pair)[0] - overlaps(resp, model.row_weights, pair)[0]
    gain += allocation_gains(holdings, pair)[0]
    assert gain == pytest.approx(bounds[1] - bounds[0], abs=1e-9 * (1 + abs(bounds[0])))


def test_overlaps_are_zero_where_no_row_is_shared_and_positive_where_one_is():
    apart = np.array([[1.0, 0.0], [0.0, 1.0]])
    halves = np.full((2, 2), 0.5)
    weights = np.array([1.0, 3.0])
    assert overlaps(apart, weights, np.array([[0, 1]])) == pytest.approx(0.0)
    assert overlaps(halves, weights, np.array([[0, 1]])) == pytest.approx(4.0 * np.log(2.0))


@pytest.mark.parametrize("prior", [FiniteDirichlet(n_components=6), StickBreaking(n_components=6)], ids=repr)
def test_a_blob_that_was_split_is_merged(prior):
    x, truth = make_blobs(300, 2, centers=[[-8, 0], [8, 0]], random_state=1)
    labels = truth + 2 * (np.random.default_rng(0).random(300) < 0.5)
    model = model_of(Table.read(x), Gaussian(), prior)
    engine, kept = Variational(), Variational(merge=False)
    start = engine.start(model, np.eye(4)[labels])
    states, bounds = run(engine, model, start)
    _, without = run(kept, model, start, n_steps=2000)
    assert states[-1].n_components == 2
    assert bounds[-1] > without[-1] - 1e-6
    assert 5 * bounds.size < without.size
    assert adjusted_rand_score(truth, best_responsibilities(model, states[-1]).argmax(axis=1)) == 1.0


def test_blobs_are_recovered_from_many_components():
    x, truth = make_blobs(4000, 4, centers=12, cluster_std=0.7, center_box=(-12, 12), random_state=7)
    engine = Variational(truncation=50)
    model = model_of(Table.read(x), Gaussian(), engine.prior_for(DirichletProcess()))
    climb = Climb(engine, model, np.random.SeedSequence(1), 0)
    climb.run(lambda: False, lambda climb: None)
    assert climb.converged
    assert climb.state.n_components == 12
    assert adjusted_rand_score(truth, best_responsibilities(model, climb.state).argmax(axis=1)) > 0.99


def test_settled_only_when_no_pair_gains():
    x, _ = make_blobs(200, 2, centers=[[-8, 0], [8, 0]], random_state=1)
    model = model_of(Table.read(x), Gaussian(), FiniteDirichlet(n_components=5))
    engine = Variational()
    states, _ = run(engine, model, engine.init(np.random.default_rng(0), model))
    steps = engine.steps(model)
    last = states[-1]
    every = np.column_stack(np.triu_indices(last.n_components, 1))
    resp = best_responsibilities(model, last)
    given = steps.given_responsibilities(encoded(model), resp)
    shared = overlaps(resp, model.row_weights, every)
    holdings = Holdings(model.likelihood, model.prior, given.sizes, given.stats, last.concentration)
    sizes, _ = merge_pairs(holdings, every, shared)
    assert sizes.size == last.n_components


# --- options --------------------------------------------------------------------------------------


def test_which_priors_it_runs():
    engine = Variational(truncation=17)
    hyper = Gamma(2.0, 3.0)
    assert engine.prior_for(DirichletProcess(concentration=hyper)) == StickBreaking(
        n_components=17, concentration=hyper
    )
    assert engine.prior_for(PRIORS[0]) is PRIORS[0]
    with pytest.raises(
        ValueError, match="Variational runs DirichletProcess, StickBreaking and FiniteDirichlet, not Pit"
    ):
        engine.prior_for(PitmanYor(concentration=1.0, discount=0.2))
    with pytest.raises(ValueError, match="several numbers"):
        engine.prior_for(FiniteDirichlet(n_components=[2, 3]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"truncation": 0}, r"Variational\(truncation=...\) must be a whole number of at least 1, got 0"),
        ({"n_init": 1.5}, r"Variational\(n_init=...\) must be a whole number of at least 1, got 1.5"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, r"Variational\(tol=...\) must be a number of at least 0, got -1.0"),
        ({"merge": "yes"}, r"Variational\(merge=...\) must be True or False, got 'yes'"),
    ],
)
def test_options_outside_their_range(options, words):
    with pytest.raises(ValueError, match=words):
        Variational(**options).check()


def test_defaults_pass():
    Variational().check()


def test_responsibilities_are_those_of_the_next_step():
    model = CATEGORICAL.model(PRIORS[3], 1 + np.arange(6) % 2)
    engine = Variational()
    state = engine.start(model, random_responsibilities(6, 3))
    found = engine.responsibilities(state, model)
    np.testing.assert_allclose(found, best_responsibilities(model, state), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        model.row_weights @ found, engine.steps(model).local_statistics(encoded(model), state).sizes
    )


def test_a_start_has_no_more_components_than_different_rows():
    x = np.repeat([[0.0, 1.0], [4.0, 2.0], [9.0, 9.0]], 5, axis=0)
    model = model_of(Table.read(x), Gaussian(), StickBreaking(n_components=20))
    assert Variational().init(np.random.default_rng(0), model).n_components == 3


def test_a_start_from_a_sample_counts_all_rows():
    x, _ = make_blobs(4000, 2, centers=3, random_state=0)
    weights = np.where(np.arange(4000) % 2, 1, 3)
    model = model_of(Table.read(x), Gaussian(), FiniteDirichlet(n_components=6), weights)
    state = Variational().init(np.random.default_rng(0), model)
    assert state.sizes.sum() == pytest.approx(8000)
    assert 3 <= state.n_components <= 6
    assert not state.settled  # the sample's end is only a beginning
