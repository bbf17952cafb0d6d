"""Collapsed variational sweeps against slow evaluations, and their bounds against enumeration."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import xlogy
from tests.engines.models import CATEGORICAL, COMPLETE_GAUSSIAN, EXAMPLES, WITHOUT_DRAWN_CELLS, alone, one_worker
from tests.oracles.collapsed_variational import categorical_sweep, enumerated_bounds, predictive_sweep
from tests.volumes import mostly_long

from partita.engines.collapsed_state import bound, state_of
from partita.engines.collapsed_variational import CollapsedVariational
from partita.priors import (
    DirichletProcess,
    FiniteDirichlet,
    FiniteMixtures,
    Gamma,
    PitmanYor,
    StickBreaking,
)

PRIORS = [StickBreaking(n_components=3, concentration=1.0), FiniteDirichlet(n_components=3, concentration=1.0)]
EVIDENCE = {"stick-breaking": -15.5702637824, "finite-dirichlet": -15.9154544883}
NEGLIGIBLE = 1e-11  # what setting responsibilities below 1e-12 to 0 can change


def random_resp(n, n_components, seed, sharpness=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(n_components, 1.0 / sharpness), n)


def at(model, resp):
    """The state of these responsibilities, in this order of components."""
    return state_of(model, resp, model.prior.initial_concentration(), model.likelihood)


def converged(engine, state, model, *, tol=1e-11, most=3000):
    for _ in range(most):
        resp, moved, _ = engine.swept(state, model)
        state = at(model, resp)
        if moved <= tol:
            return state
    raise AssertionError(f"still moving {moved}")


def entropy(resp, weights):
    return -float((weights[:, None] * xlogy(resp, resp)).sum())


# --- updates --------------------------------------------------------------------------------------


@mostly_long
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
@pytest.mark.parametrize("copies", [[1, 1, 1, 1, 1, 1], [1, 3, 2, 1, 1, 2]], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_held", [3, 2])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.xdist_group("DirichletCategorical")
def test_categorical_sweep(prior, copies, n_held, order):
    model = CATEGORICAL.model(prior, copies)
    for seed in range(5):
        resp = random_resp(6, n_held, seed)
        found, moved, before = CollapsedVariational(order=order).swept(at(model, resp), model)
        expected = categorical_sweep(model, resp, order)
        np.testing.assert_allclose(found, expected, rtol=0, atol=NEGLIGIBLE)
        assert moved == pytest.approx(model.row_weights @ abs(expected - resp).sum(axis=1) / 2, abs=1e-10)
        assert before == pytest.approx(entropy(resp, model.row_weights), abs=1e-12)


@pytest.mark.xdist_group("DirichletCategorical")
def test_orders_differ():
    model = CATEGORICAL.model(PRIORS[0])
    state = at(model, random_resp(6, 3, 0))
    first, second = (CollapsedVariational(order=order).swept(state, model)[0] for order in (1, 2))
    assert abs(first - second).max() > 0.01


@pytest.mark.parametrize("example", alone(WITHOUT_DRAWN_CELLS))
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
def test_first_order_sweep_of_every_family(example, prior):
    n = example.table.n_rows
    model = example.model(prior, 1 + np.arange(n) % 3)
    for seed, sharpness in [(0, 1.0), (1, 30.0)]:
        resp = random_resp(n, 3, seed, sharpness)
        found, *_ = CollapsedVariational().swept(at(model, resp), model)
        np.testing.assert_allclose(found, predictive_sweep(model, resp), rtol=1e-9, atol=NEGLIGIBLE)


@pytest.mark.xdist_group(type(COMPLETE_GAUSSIAN.likelihood).__name__)
def test_a_component_of_one_row_is_empty_without_it():
    model = COMPLETE_GAUSSIAN.model(PRIORS[1])
    resp = np.eye(3)[[0, 1, 1, 2, 2, 2]]
    found, *_ = CollapsedVariational().swept(at(model, resp), model)
    np.testing.assert_allclose(found, predictive_sweep(model, resp), rtol=1e-9, atol=NEGLIGIBLE)


# --- bounds ---------------------------------------------------------------------------------------


def variational_bound(model, state):
    """The bound of variational Bayes with its best q(weights) and q(parameters), from the definitions."""
    weights, prior, likelihood = model.row_weights, model.prior, state.likelihood
    each = likelihood.expected_loglik(likelihood.rows(model.table), likelihood.expected_params(state.stats))
    each = each + prior.expected_log_weights(state.sizes, state.concentration)
    divergence = prior.weights_divergence(state.sizes, state.concentration)
    divergence += likelihood.prior_divergence(state.stats).sum()
    return float((weights[:, None] * state.resp * each).sum()) + entropy(state.resp, weights) - float(divergence)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
@pytest.mark.xdist_group("DirichletCategorical")
class TestBounds:
    def check(self, model, state):
        evidence, collapsed = enumerated_bounds(model.prior, CATEGORICAL.subsets(), state.resp)
        reported = bound(model, state)
        assert evidence == pytest.approx(EVIDENCE[model.prior.name], abs=1e-9)
        assert reported == pytest.approx(variational_bound(model, state), abs=1e-9)
        assert evidence >= collapsed >= reported
        assert CollapsedVariational().collapsed_bound(state, model) == pytest.approx(collapsed, abs=1e-9)
        return collapsed, reported

    @pytest.mark.parametrize("sharpness", [0.2, 1.0, 50.0])
    def test_anywhere(self, prior, sharpness):
        model = CATEGORICAL.model(prior)
        for seed in range(3):
            self.check(model, at(model, random_resp(6, 3, seed, sharpness)))

    @pytest.mark.parametrize("order", [1, 2])
    def test_at_convergence(self, prior, order):
        model = CATEGORICAL.model(prior)
        engine = CollapsedVariational(order=order)
        start = at(model, random_resp(6, 3, 1))
        state = converged(engine, start, model)
        assert self.check(model, state)[0] > self.check(model, start)[0]
        _, info = engine.step(np.random.default_rng(0), state, model)
        assert info.objective == pytest.approx(self.check(model, state)[1], abs=1e-10)

    def test_equal_where_every_row_is_certain(self, prior):
        model = CATEGORICAL.model(prior)
        collapsed, reported = self.check(model, at(model, np.eye(3)[[0, 0, 1, 2, 2, 1]]))
        assert collapsed == pytest.approx(reported, abs=1e-10)


@pytest.mark.parametrize("example", alone(WITHOUT_DRAWN_CELLS))
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
def test_the_collapsed_bound_of_every_family_is_the_enumerated_one(example, prior):
    model = example.model(prior)
    state = at(model, random_resp(model.table.n_rows, 2, 5))  # of three components one holds nothing
    evidence, collapsed = enumerated_bounds(prior, example.subsets(), state.resp)
    assert CollapsedVariational().collapsed_bound(state, model) == pytest.approx(collapsed, abs=1e-8)
    assert evidence >= collapsed >= bound(model, state)


@pytest.mark.xdist_group("DirichletCategorical")
class TestCollapsedBound:
    def test_a_weight_is_that_many_rows_of_the_same_responsibilities(self):
        weights = np.array([1, 2, 1, 3, 1, 1])
        weighted, plain = CATEGORICAL.model(PRIORS[0], weights), CATEGORICAL.model(PRIORS[0])
        copies = np.repeat(np.arange(6), weights)
        repeated = replace(plain, table=plain.table.take(copies), row_weights=np.ones(9, np.int64))
        resp = random_resp(6, 3, 4)
        bounds = [
            CollapsedVariational().collapsed_bound(at(model, shares), model)
            for model, shares in ((weighted, resp), (repeated, resp[copies]))
        ]
        assert bounds[0] == pytest.approx(bounds[1], abs=1e-9)

    def test_what_is_learned_counts_as_in_the_bound_of_every_step(self):
        model = CATEGORICAL.model(FiniteDirichlet(n_components=3, concentration=Gamma(2.0, 1.0)))
        certain = at(model, np.eye(3)[[0, 0, 1, 2, 2, 1]])
        collapsed = CollapsedVariational().collapsed_bound(certain, model)
        assert collapsed == pytest.approx(bound(model, certain), abs=1e-10)

    def test_many_rows_or_components_are_refused(self):
        many = CATEGORICAL.model(PRIORS[0], [3, 3, 3, 3, 3, 2])
        with pytest.raises(ValueError, match=r"at most 16 rows .* here are 17 rows and 3 components"):
            CollapsedVariational().collapsed_bound(at(many, random_resp(6, 3, 0)), many)
        wide = CATEGORICAL.model(FiniteDirichlet(n_components=20, concentration=1.0), [2, 2, 2, 2, 2, 2])
        with pytest.raises(ValueError, match="here are 12 rows and 20 components"):
            CollapsedVariational().collapsed_bound(at(wide, random_resp(6, 20, 0)), wide)
        few = CATEGORICAL.model(FiniteDirichlet(n_components=70, concentration=1.0), [1, 1, 0, 0, 0, 0]).taught()
        with pytest.raises(ValueError, match="here are 2 rows and 70 components"):
            CollapsedVariational().collapsed_bound(at(few, random_resp(2, 70, 0)), few)


# --- invariances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.xdist_group("DirichletCategorical")
def test_the_order_of_rows_does_not_move_a_fixed_point(order):
    model = CATEGORICAL.model(PRIORS[1], [1, 2, 1, 1, 3, 1])
    engine = CollapsedVariational(order=order)
    state = converged(engine, at(model, random_resp(6, 3, 2)), model)
    index = np.random.default_rng(0).permutation(6)
    permuted = replace(model, table=model.table.take(index), row_weights=model.row_weights[index])
    assert engine.swept(at(permuted, state.resp[index]), permuted)[1] < 1e-9


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.xdist_group("DirichletCategorical")
def test_a_fixed_point_of_weights_is_one_of_repeated_rows(order):
    copies = np.array([1, 2, 1, 1, 3, 1])
    model = CATEGORICAL.model(PRIORS[0], copies)
    engine = CollapsedVariational(order=order)
    state = converged(engine, at(model, random_resp(6, 3, 2)), model)
    index = np.repeat(np.arange(6), copies)
    repeated = replace(model, table=model.table.take(index), row_weights=np.ones(9, np.int64))
    spread_out = at(repeated, state.resp[index])
    assert engine.swept(spread_out, repeated)[1] < 1e-9
    objectives = [engine.step(None, s, m)[1].objective for s, m in [(state, model), (spread_out, repeated)]]
    assert objectives[0] == pytest.approx(objectives[1], abs=1e-10)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 3}, r"order=\.\.\.\) must be 1 or 2, got 3"),
        ({"order": True}, "must be 1 or 2, got True"),
        ({"truncation": 0}, "truncation"),
        ({"n_init": 1.5}, "n_init"),
        ({"max_iter": -1}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"collapse_identical": "yes"}, "True or False, got 'yes'"),
    ],
)
def test_options_outside_their_range(options, words):
    with pytest.raises(ValueError, match=words):
        CollapsedVariational(**options).check()


def test_a_dirichlet_process_runs_as_its_first_sticks():
    hyperprior = Gamma(2.0, 3.0)
    engine = CollapsedVariational(truncation=7)
    found = engine.prior_for(DirichletProcess(concentration=hyperprior))
    assert found == StickBreaking(n_components=7, concentration=hyperprior)
    assert all(engine.prior_for(prior) is prior for prior in PRIORS)


@pytest.mark.parametrize("prior", [PitmanYor(concentration=1.0, discount=0.2), FiniteMixtures()])
def test_other_priors_are_refused(prior):
    with pytest.raises(ValueError, match=f"CollapsedVariational runs .*, not {type(prior).__name__}: .*engine='gibbs'"):
        CollapsedVariational().prior_for(prior)


def test_missing_cells_under_a_full_covariance_are_refused():
    example = next(e for e in EXAMPLES if e not in WITHOUT_DRAWN_CELLS)
    with pytest.raises(ValueError, match=r"engine='vb', or family=Gaussian\(covariance='diag'\)"):
        CollapsedVariational().init(np.random.default_rng(0), example.model(PRIORS[0]))


@pytest.mark.parametrize("example", [pytest.param(COMPLETE_GAUSSIAN, marks=one_worker(COMPLETE_GAUSSIAN))])
def test_the_second_order_is_for_categories(example):
    with pytest.raises(ValueError, match=r"the family is full-covariance Gaussian: pass .*\(order=1\)"):
        CollapsedVariational(order=2).init(np.random.default_rng(0), example.model(PRIORS[0]))
