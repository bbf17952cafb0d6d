"""Columns of categories that count other than once: every engine against p(Z) prod_m p(column m | Z)^v, enumerated."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, polygamma
from sklearn.exceptions import ConvergenceWarning
from tests.engines.models import Example, alone, fixed_priors, one_per_compilation, parameters
from tests.engines.test_collapsed_variational import NEGLIGIBLE, at, random_resp
from tests.engines.variational_models import PRIORS, random_responsibilities, run
from tests.oracles.agreement import compare_partitions
from tests.oracles.collapsed_variational import enumerated_bounds, prior_terms, slow_sweep
from tests.oracles.enumeration import exact_posterior, run_gibbs, run_merge_split
from tests.volumes import mostly_long, short_and_long

from partita import Mixture, load
from partita.engines import EM, CollapsedVariational, Variational
from partita.engines.runner import Plan
from partita.families import Categorical, Gaussian, Mixed
from partita.families.powered import powered
from partita.priors import FiniteDirichlet, Gamma, StickBreaking
from partita.table import Table

COLLAPSED = [StickBreaking(n_components=3, concentration=1.0), FiniteDirichlet(n_components=3, concentration=1.0)]
LABELS = [["a", "p", "u"], ["a", "p", "v"], ["a", "q", None], ["b", "r", "v"], ["b", "r", "u"], [None, "q", "v"]]


def example(family=Categorical, repeats=1, **options):
    """The golden table of NBCE, its columns repeated."""
    table = Table.read(np.repeat(np.array(LABELS, dtype=object), repeats, axis=1))
    return Example("weighed", family(**options).resolve(table), table)


WEIGHED = [
    example(pseudocount=0.5, column_weight=0.4),
    replace(example(pseudocount=0.5, column_weight=1.7), name="heavy"),
]
RAISED = replace(WEIGHED[0], name="rows too", likelihood=powered(WEIGHED[0].likelihood, 0.6))
BESIDE = Table.read(np.array([[*row, number] for row, number in zip(LABELS, [-1.0, -0.4, 0.1, 0.9, 1.3, 2.0])], object))
BLOCKS = {"categorical": Categorical(column_weight=0.4), "numeric": Gaussian(covariance="diag", scale=0.8)}
MIXED = Example("mixed", Mixed(families=BLOCKS).resolve(BESIDE), BESIDE)
GAP_BLOCKS = {"categorical": Categorical(column_weight=0.4), "numeric": Gaussian(dof=4.0, scale=0.8)}
NUMBERS = [[-1.2, 0.3], [-0.9, None], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]]
GAP = Table.read(
    np.array([[*row, *numbers] for row, numbers in zip(LABELS, NUMBERS)], dtype=object),
    standardize=False,
    column_steps=0.0,
)
WITH_GAP = Example("with a gap", Mixed(families=GAP_BLOCKS).resolve(GAP), GAP)
MIXED_RAISED = replace(MIXED, name="mixed, rows too", likelihood=powered(MIXED.likelihood, 0.6))


def by_definition(column, n_levels, beta):
    """Log evidence of one column's labels in one cluster."""
    counts = np.unique([label for label in column if label is not None], return_counts=True)[1]
    total = gammaln(n_levels * beta) - gammaln(n_levels * beta + counts.sum())
    return total + (gammaln(beta + counts) - gammaln(beta)).sum()


@pytest.mark.parametrize("one", WEIGHED, ids=lambda one: one.name)
def test_the_evidence_is_a_product_of_powers_of_columns(one):
    labels, weight = np.array(LABELS, dtype=object), one.likelihood.column_weight
    subsets = one.subsets()
    for subset in range(1, 2 ** len(LABELS)):
        rows = labels[[bool(subset >> i & 1) for i in range(len(LABELS))]]
        expected = sum(by_definition(column, n, 0.5) for column, n in zip(rows.T, (2, 3, 2)))
        assert subsets[subset] == pytest.approx(weight * expected, rel=1e-12, abs=1e-12)


@mostly_long
@pytest.mark.parametrize(("one", "prior"), parameters([*WEIGHED, RAISED, MIXED, MIXED_RAISED], fixed_priors()))
@short_and_long("n_draws", 2000, 6000)
def test_draws_are_from_the_weighed_posterior(one, prior, n_draws):
    agreement = compare_partitions(
        run_gibbs(one.model(prior), n_draws=n_draws, seed=5).labels, exact_posterior(one.subsets(), prior)
    )
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("one", "prior"), parameters([WITH_GAP], fixed_priors()))
def test_a_missing_number_is_drawn_beside_columns_that_count_less(one, prior):
    """What may not be drawn are numbers of rows that count other than once."""
    assert one.likelihood.draws_cells(one.likelihood.rows(one.table))
    chain = run_gibbs(one.model(prior), n_draws=4000, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(one.subsets(), prior))
    assert agreement.agrees, agreement


@pytest.mark.parametrize("one", alone([WITH_GAP]))
def test_missing_numbers_are_refused_for_a_power_of_rows_alone(one):
    options = {"family": Mixed(families=GAP_BLOCKS), "draws": 4, "chains": 1, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        assert Mixture(**options).fit(one.table).posterior_.n_draws == 4
    with pytest.raises(ValueError, match="power of the likelihood cannot be sampled"):
        Mixture(power=0.5, **options).fit(one.table)


@mostly_long
@pytest.mark.parametrize(("one", "prior"), parameters([*WEIGHED, RAISED, MIXED, MIXED_RAISED], one_per_compilation()))
def test_merge_split_moves_alone_keep_the_weighed_posterior(one, prior):
    chain = run_merge_split(one.model(prior), n_draws=5000, seed=8)
    agreement = compare_partitions(chain.labels, exact_posterior(one.subsets(), prior))
    assert agreement.agrees, agreement


@pytest.mark.parametrize(("one", "prior"), parameters(WEIGHED[:1], fixed_priors()[:1]))
def test_the_oracle_sees_the_weight(one, prior):
    chain = run_gibbs(one.model(prior), n_draws=6000, seed=5)
    plain = example(pseudocount=0.5)
    assert not compare_partitions(chain.labels, exact_posterior(plain.subsets(), prior)).agrees


@mostly_long
@pytest.mark.parametrize(
    ("one", "prior"), parameters([*WEIGHED, RAISED, MIXED, MIXED_RAISED], PRIORS[:2], sampled=False)
)
def test_updates_raise_a_bound_below_the_weighed_evidence(one, prior):
    model = one.model(prior)
    evidence = exact_posterior(one.subsets(), prior).log_evidence if not prior.learns_concentration else np.inf
    for seed in range(3):
        engine = Variational(merge=False)
        start = engine.start(model, random_responsibilities(model.table.n_rows, 3, seed=seed))
        _, bounds = run(engine, model, start)
        assert (np.diff(bounds) >= -1e-9 * (1.0 + abs(bounds[:-1]))).all()
        assert bounds[-1] < evidence + 1e-9


@mostly_long
@pytest.mark.parametrize(("one", "prior"), parameters(WEIGHED, COLLAPSED, sampled=False))
@pytest.mark.parametrize("order", [1, 2])
def test_collapsed_sweep(one, prior, order):
    """Against the expansion of v log (a + c) around the expected count c."""
    model = one.model(prior, [1, 3, 2, 1, 1, 2])
    weight, codes = one.likelihood.column_weight, model.table.codes
    beta, n_levels = one.likelihood.pseudocount, one.likelihood.n_levels

    def expected(a, shares):
        at_mean = a + sum(shares)
        bend = polygamma(1, at_mean + 1.0) - polygamma(1, at_mean)
        return np.log(at_mean) + (0.5 * sum(p * (1.0 - p) for p in shares) * bend if order == 2 else 0.0)

    def scores(i, others):
        terms = prior_terms(prior, [shares for _, shares in others], 3, order)
        for k in range(3):
            for m in np.flatnonzero(codes[i] >= 0):
                seen = [(j, shares[k]) for j, shares in others if codes[j, m] >= 0]
                terms[k] += weight * expected(beta[m], [share for j, share in seen if codes[j, m] == codes[i, m]])
                terms[k] -= weight * expected(n_levels[m] * beta[m], [share for _, share in seen])
        return terms

    for seed in range(3):
        resp = random_resp(6, 3, seed)
        found, *_ = CollapsedVariational(order=order).swept(at(model, resp), model)
        np.testing.assert_allclose(found, slow_sweep(model, resp, scores), rtol=0, atol=NEGLIGIBLE)


@pytest.mark.parametrize("one", [*WEIGHED, RAISED, MIXED, MIXED_RAISED], ids=lambda one: one.name)
def test_all_rows_in_one_component_leave_the_bound_no_gap(one):
    model, engine = one.model(FiniteDirichlet(n_components=1, concentration=1.0)), Variational(merge=False)
    _, bounds = run(engine, model, engine.start(model, np.ones((6, 1))))
    assert bounds[-1] == pytest.approx(one.subsets()[-1], rel=1e-10)


@pytest.mark.parametrize("one", [*WEIGHED, RAISED, MIXED, MIXED_RAISED], ids=lambda one: one.name)
def test_the_collapsed_bound_is_the_enumerated_one(one):
    model, resp = one.model(COLLAPSED[1]), random_resp(6, 3, 4)
    evidence, bound = enumerated_bounds(COLLAPSED[1], one.subsets(), resp)
    assert CollapsedVariational().collapsed_bound(at(model, resp), model) == pytest.approx(bound, rel=1e-9)
    assert bound <= evidence


@pytest.mark.parametrize("estimate", ["map", "ml"])
def test_em_climbs_to_a_power_of_the_likelihood(estimate):
    one = WEIGHED[0]
    model = one.model(FiniteDirichlet(n_components=2, concentration=4.0))
    outcome = EM(estimate=estimate, n_init=3).fit(model, Plan(n_jobs=1).begun(), np.random.SeedSequence(0))
    assert (np.diff(outcome.notes["loglik_path"]) >= -1e-8).all()
    clusters = outcome.clusters
    logs = 0.4 * model.plain.likelihood.log_likelihood(model.shared_rows, clusters.params) + clusters.log_seats[:-1]
    weights = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(outcome.probabilities, weights[:, : outcome.probabilities.shape[1]], atol=1e-3)


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeats", [2, 5])
def test_copies_of_columns_at_shares_of_a_weight_are_one_column_at_it(repeats):
    one, many = example(pseudocount=0.5), example(pseudocount=0.5, column_weight=1.0 / repeats, repeats=repeats)
    np.testing.assert_allclose(many.subsets(), one.subsets(), rtol=1e-12, atol=1e-12)
    prior = StickBreaking(n_components=3, concentration=1.0)
    resp = random_responsibilities(6, 3, seed=1)
    paths = [
        run(engine := Variational(merge=False), m := e.model(prior), engine.start(m, resp))[1] for e in (one, many)
    ]
    np.testing.assert_allclose(paths[0], paths[1], rtol=1e-12)
    swept = [CollapsedVariational().swept(at(m := e.model(prior), resp), m)[0] for e in (one, many)]
    np.testing.assert_allclose(swept[0], swept[1], rtol=0, atol=1e-12)


def test_a_pseudocount_learned_from_copies_is_that_of_one():
    one = example(pseudocount=Gamma(2.0, 2.0))
    many = example(pseudocount=Gamma(2.0, 2.0), column_weight=0.25, repeats=4)
    learned = []
    for e, weight in ((one, 1.0), (many, 0.25)):
        stats = e.likelihood.suffstats(e.likelihood.rows(e.table), np.eye(2)[[0, 0, 0, 1, 1, 1]])
        learned.append(e.likelihood.relearned(stats).learned["pseudocount"])
        drawn = e.likelihood.redrawn(np.random.default_rng(3), stats)
        learned.append(drawn.learned["pseudocount"])
        assert getattr(drawn, "column_weight", 1.0) == weight
    assert learned[:2] == pytest.approx(learned[2:], rel=1e-9)


@pytest.mark.parametrize("weight", [0, -1.0, np.nan, np.inf, "1", True, None])
def test_what_is_no_weight_is_refused(weight):
    with pytest.raises(ValueError, match="column_weight must be a positive number"):
        Mixture(family=Categorical(column_weight=weight)).fit(np.array(LABELS, dtype=object))


@pytest.mark.parametrize(
    ("engine", "options"), [("gibbs", {"draws": 400}), ("vb", {}), ("cvb", {}), ("em", {"n_clusters": 2})]
)
def test_an_explanation_adds_up_to_the_log_odds(engine, options):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    X = np.where(rng.random((80, 6)) < 0.1, 1 - truth[:, None], truth[:, None]).astype(str)
    model = Mixture(family=Categorical(column_weight=0.5), engine=engine, random_state=0, **options).fit(X)
    between = np.array([["0", "0", "0", "0", "1", "1"]])
    first, second = np.sort(model.predict_proba(between)[0])[::-1][:2]
    assert model.explain(between).total == pytest.approx(np.log(first / second), abs=1e-9)


def test_densities_are_of_labels_that_count_once(tmp_path):
    """All labels of a column share a probability of one; a file keeps the weight."""
    X = np.array([["a", "p"], ["a", "p"], ["b", "q"], ["b", "r"], ["a", "q"], ["b", "r"]] * 3)
    model = Mixture(family=Categorical(column_weight=0.4), engine="vb", random_state=0).fit(X)
    every = np.array([[first, second] for first in "ab" for second in "pqr"])
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, rel=1e-12)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict_proba(every), model.predict_proba(every))
    assert loaded.family_.column_weight == 0.4
