"""What must not change: caches against recomputation, the order of rows and columns, slots, and equal code paths."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from tests.engines.models import (
    CATEGORICAL,
    COMPLETE_GAUSSIAN,
    EXAMPLES,
    KNOWN,
    Example,
    alone,
    fixed_priors,
    one_per_compilation,
    one_worker,
    parameters,
    take_rows,
)
from tests.oracles.enumeration import (
    N_BATCHES,
    compare_partitions,
    exact_posterior,
    run_gibbs,
    state_at,
)

from partita.engines.gibbs import Gibbs
from partita.families import FAMILIES, Categorical, Count, Gaussian
from partita.kernels.compiling import entry
from partita.kernels.gibbs import sweep
from partita.kernels.names import log_weights, weights
from partita.priors import DirichletProcess, FiniteDirichlet
from partita.table import Schema, Table

SCRATCH = {"work", "matrix", "exponent", "scratch"}
#: Written for a slot that holds rows only: read when one of them leaves.
OF_ROWS_THAT_LEAVE = {"constant", "stretch", "slope"}
DIRICHLET = DirichletProcess(concentration=1.0)


# --- caches ---------------------------------------------------------------------------------------


def assert_caches(found, expected, path=""):
    """Every array of a state against that of another, nested tuples and all."""
    for name, own, other in zip(found._fields, found, expected):
        where = f"{path}.{name}"
        if isinstance(own, tuple):
            if other.stats.shape[1] > 1:  # a block without columns is never written
                assert_caches(own, other, where)
        elif name not in SCRATCH:
            read = other != 0 if name in OF_ROWS_THAT_LEAVE else np.ones(other.shape, bool)
            np.testing.assert_allclose(own[read], other[read], rtol=1e-8, atol=1e-8, err_msg=where)


def assert_bookkeeping(state, model):
    """Sizes, statistics and caches are those of the labels."""
    allocation = state.allocation
    n_slots = allocation.sizes.size
    seated = allocation.labels >= 0
    sizes = np.bincount(allocation.labels[seated], weights=allocation.row_weights[seated], minlength=n_slots)
    np.testing.assert_array_equal(allocation.sizes, sizes)
    assert_caches(state.slots, model.state_from(model.stats_of(state.rows, allocation.labels, n_slots)))


@pytest.mark.parametrize(("example", "prior"), parameters(EXAMPLES, one_per_compilation()))
def test_caches_are_those_of_recomputation_after_a_thousand_moves(example, prior):
    model = example.model(prior)
    rng = np.random.default_rng(31)
    state = Gibbs().init(rng, model)
    order = state.allocation.active
    for _ in range(1000):  # not through the engine, which recomputes now and then
        _, full, _, _ = sweep(rng, state.rows, state.slots, state.prior, state.allocation, order, 0, 2)
        assert not full
    assert_bookkeeping(state, model)


@pytest.mark.parametrize(("example", "prior"), parameters(EXAMPLES, fixed_priors()))
def test_the_log_joint_is_that_of_labels_and_data(example, prior):
    model = example.model(prior)
    rng, engine = np.random.default_rng(32), Gibbs(merge_split=2)
    state = engine.init(rng, model)
    for _ in range(5):
        state, info = engine.step(rng, state, model)
    labels, sizes = state.allocation.labels, state.allocation.sizes
    stats = model.stats_of(state.rows, labels, sizes.size)[sizes > 0]
    expected = model.likelihood.log_marginal(stats).sum()
    if prior.name == "stick-breaking":
        expected += log_sticks(sizes[state.prior.order], prior.concentration)
    else:
        expected += prior.log_probability(labels)
    assert info.log_joint == pytest.approx(expected, abs=1e-8)
    shares = sizes[sizes > 0] / sizes.sum()
    assert info.entropy == pytest.approx(-(shares * np.log(shares)).sum())
    assert info.n_clusters == shares.size


def log_sticks(sizes, a):
    """The labelled probability of stick-breaking as a chain of urns, one row after the other."""
    total, seen = 0.0, np.zeros(sizes.size)
    for h in np.repeat(np.arange(sizes.size), sizes):
        from_here = np.cumsum(seen[::-1])[::-1]
        passed = np.log((a + from_here[1 : h + 1]) / (1 + a + from_here[:h])).sum()
        stays = np.log((1 + seen[h]) / (1 + a + from_here[h])) if h < sizes.size - 1 else 0.0
        total += passed + stays
        seen[h] += 1
    return total


# --- slots ----------------------------------------------------------------------------------------


def far_apart(n):
    """Rows that all look different, for a family of every kind."""
    x = 100.0 * np.column_stack([np.arange(n), np.arange(n) * 7 % n])
    codes = np.array([[str(i), str(i * 7 % n)] for i in range(n)], dtype=object)
    counts = 1000 * np.arange(n)[:, None]
    read = Table.read
    return [
        (Gaussian(scale=1000.0, dof=1000.0, mean_precision=1e-4), read(x, standardize=False)),
        (Gaussian(covariance="diag", scale=1.0, mean_precision=1e-6), read(x, standardize=False)),
        (Gaussian(covariance="known", variance=1.0, mean_variance=1e6), read(x, standardize=False)),
        (Categorical(pseudocount=0.01), read(codes)),
        (Count(shape=1.0, rate=1e-4), read(counts, column_types={0: "count"})),
    ]


FAR = [Example(family.resolve(t).title, family.resolve(t), t) for family, t in far_apart(60)]


@pytest.mark.parametrize("example", alone(FAR))
def test_more_clusters_than_slots(example):
    model = example.model(DirichletProcess(concentration=50.0))
    rng, engine = np.random.default_rng(33), Gibbs(merge_split=5)
    state = engine.init(rng, model)
    assert_bookkeeping(state, model)
    for _ in range(20):
        state, info = engine.step(rng, state, model)
    assert info.n_clusters > 30
    assert state.allocation.sizes.size >= info.n_clusters + 3
    assert_bookkeeping(state, model)


@pytest.mark.parametrize("free", [0, 1, 2])
@pytest.mark.xdist_group(type(KNOWN.likelihood).__name__)
def test_slots_added_in_the_middle_of_a_scan_keep_the_posterior(free):
    """An exact draw, seated with few free slots, is an exact draw after one step."""
    prior = DirichletProcess(concentration=3.0)
    model, exact = KNOWN.model(prior), exact_posterior(KNOWN.subsets(), prior)
    rng, engine = np.random.default_rng(34), Gibbs(merge_split=1)
    starts = exact.states[rng.choice(exact.probabilities.size, 4000, p=exact.probabilities)]
    draws, added = np.empty_like(starts), 0
    for start, draw in zip(starts, draws):
        n_slots = start.max() + 1 + free
        state, _ = engine.step(rng, state_at(model, start, n_slots), model)
        added += state.allocation.sizes.size > n_slots
        draw[:] = state.allocation.labels
    assert added > 1000
    agreement = compare_partitions(draws, exact)
    assert agreement.agrees, agreement


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("example", alone(FAR))
def test_outliers_when_no_component_is_free(example, n_components):
    """Every cluster that a row may join finds it impossible: weights underflow, yet it sits somewhere."""
    example = example.first(12)
    model = example.model(FiniteDirichlet(n_components=n_components, concentration=1.0))
    rng, engine = np.random.default_rng(35), Gibbs()
    state = engine.init(rng, model)
    for _ in range(20):
        state, info = engine.step(rng, state, model)
        assert np.isfinite(info.log_joint)
        assert info.n_clusters <= n_components
        assert state.allocation.labels.min() >= 0
        assert np.all(np.isfinite(state.allocation.scores))
    assert_bookkeeping(state, model)


# --- order ----------------------------------------------------------------------------------------


def reordered(family, table, rng):
    """The same table with rows and, within each block, columns in another order; and where the rows went."""
    rows = rng.permutation(table.n_rows)
    table = take_rows(table, rows)
    schema, moved, columns = table.schema, {}, []
    for block, kind in (("numeric", "numeric"), ("codes", "categorical"), ("counts", "counts")):
        order = np.roll(np.arange(getattr(table, block).shape[1]), 1)
        moved[block] = getattr(table, block)[:, order]
        columns += [getattr(schema, kind)[j] for j in order]
    table = replace(table, schema=Schema(tuple(columns)), **moved)
    return Example("reordered", family.resolve(table), table), rows


SCALAR_OPTIONS = [  # options per column would have to move along
    pytest.param(family, table, id=f"{name}{k}", marks=one_worker(Example("", family.resolve(table), table)))
    for name, kind in FAMILIES.items()
    for k, (family, table) in enumerate(kind.examples())
    if not isinstance(getattr(family, "pseudocount", None), list)
]


@pytest.mark.parametrize(("family", "table"), SCALAR_OPTIONS)
def test_the_order_of_rows_and_columns_does_not_matter(family, table):
    original = Example("original", family.resolve(table), table)
    other, rows = reordered(family, table, np.random.default_rng(36))
    exact, moved = exact_posterior(original.subsets(), DIRICHLET), exact_posterior(other.subsets(), DIRICHLET)
    assert moved.log_evidence == pytest.approx(exact.log_evidence, abs=1e-7)
    np.testing.assert_allclose(moved.similarity(), exact.similarity()[np.ix_(rows, rows)], atol=1e-7)
    frequencies = [
        batch_frequencies(run_gibbs(example.model(DIRICHLET), n_draws=4000, seed=seed))
        for example, seed in ((original, 37), (other, 38))
    ]
    difference = frequencies[0].mean(axis=0) - frequencies[1].mean(axis=0)
    error = np.sqrt(sum(f.var(axis=0, ddof=1) / N_BATCHES for f in frequencies))
    common = frequencies[0].mean(axis=0) > 0.02
    assert np.all(np.abs(difference[common]) < norm.isf(1e-6) * error[common])


def batch_frequencies(chain):
    """Share of draws with K = 1, ..., n clusters, (batches, n)."""
    k = np.array([np.unique(row).size for row in chain.labels])
    found = k[:, None] == np.arange(1, chain.labels.shape[1] + 1)
    return found.reshape(N_BATCHES, -1, found.shape[1]).mean(axis=1)


# --- equal paths ----------------------------------------------------------------------------------


def same_chain(one, other, *, prior=DIRICHLET, n_steps=300):
    """Whether two likelihoods of one table give the same labels from the same seed."""
    runs = [run_gibbs(example.model(prior), n_draws=n_steps, seed=39) for example in (one, other)]
    return np.array_equal(runs[0].labels, runs[1].labels)


def unaware(example):
    """The same likelihood, not told that nothing is missing."""
    likelihood = copy(example.likelihood)
    likelihood.complete = likelihood.uniform = False
    return replace(example, likelihood=likelihood)


def complete_examples():
    """Two loose groups without missing cells."""
    rng = np.random.default_rng(43)
    groups = np.arange(25) % 2
    x = rng.normal(size=(25, 5)) + groups[:, None]
    codes = np.where(rng.random((25, 5)) < 0.7, groups[:, None], rng.integers(0, 3, (25, 5))).astype(str)
    pairs = [
        (Gaussian(covariance="diag"), Table.read(x)),
        (Categorical(pseudocount=0.7), Table.read(codes.astype(object))),
    ]
    return [Example(family.resolve(table).title, family.resolve(table), table) for family, table in pairs]


COMPLETE = complete_examples()


@pytest.mark.parametrize(("example", "prior"), parameters(COMPLETE, one_per_compilation()))
def test_the_path_for_missing_cells_with_nothing_missing_is_the_plain_path(example, prior):
    assert example.likelihood.complete
    assert run_gibbs(example.model(prior), n_draws=300, seed=39).labels.std(axis=0).min() > 0
    assert same_chain(example, unaware(example), prior=prior)


@pytest.mark.xdist_group(type(COMPLETE_GAUSSIAN.likelihood).__name__)
def test_rows_with_gaps_that_miss_nothing_keep_the_posterior():
    """Full covariance: every row goes through the path that draws cells, and has none to draw."""
    exact = exact_posterior(COMPLETE_GAUSSIAN.subsets(), DIRICHLET)
    likelihood = copy(COMPLETE_GAUSSIAN.likelihood)
    plain_rows = likelihood.rows
    likelihood.rows = lambda table: plain_rows(table)._replace(gaps=np.ones(table.n_rows, bool))
    chain = run_gibbs(replace(COMPLETE_GAUSSIAN, likelihood=likelihood).model(DIRICHLET), n_draws=6000, seed=40)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement


# --- many columns ---------------------------------------------------------------------------------


def wide(n_columns, *, missing):
    """Five rows of so many columns that the product over them is no float, and yet each says little."""
    rng = np.random.default_rng(41)
    x = rng.integers(0, 4, (5, n_columns)).astype(str).astype(object)
    x[rng.random(x.shape) < missing] = None
    x[0], x[1] = "0", "1"  # no column is constant
    table = Table.read(x)
    return Example("wide", Categorical(pseudocount=20.0).resolve(table), table)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.xdist_group(type(CATEGORICAL.likelihood).__name__)
def test_nine_hundred_categorical_columns_keep_the_posterior(missing):
    example = wide(900, missing=missing)
    exact = exact_posterior(example.subsets(), DIRICHLET)
    assert np.median(example.subsets()[2 ** np.arange(5)]) < np.log(np.finfo(float).tiny)
    assert exact.probabilities.max() < 0.9
    chain = run_gibbs(example.model(DIRICHLET), n_draws=2500, seed=42)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement


@entry
def score(rows, i, w, state, sizes, prior_scores, log_out, out):  # OUT: log_out, out (slots,)
    """Logs and linear weights of a row without a seat in every slot; returns the log of the latter's factor."""
    log_weights(rows, i, w, state, sizes, sizes.size, -1, log_out)
    return weights(rows, i, state, sizes, sizes.size, -1, prior_scores, out)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("w", [1, 3])
@pytest.mark.xdist_group(type(CATEGORICAL.likelihood).__name__)
def test_weights_of_two_hundred_categorical_columns_are_those_in_logs(missing, w):
    example = wide(200, missing=missing)
    likelihood, rows = example.likelihood, example.likelihood.rows(example.table)
    model = example.model(DIRICHLET)
    labels = np.array([0, 1, 0, 3, 1])
    single = likelihood.suffstats(rows, np.eye(5))
    for i in range(5):
        others = np.where(np.arange(5) == i, -1, labels)
        stats = model.stats_of(rows, others, 5)
        expected = likelihood.log_marginal(stats + w * single[i]) - likelihood.log_marginal(stats)
        sizes = np.bincount(others[others >= 0], minlength=5)
        log_out, out = np.empty(5), np.empty(5)
        factor = score(rows, i, w, model.state_from(stats), sizes, np.ones(5), log_out, out)
        np.testing.assert_allclose(log_out, expected, rtol=1e-11)
        if w == 1:
            np.testing.assert_allclose(np.log(out) + factor, expected, rtol=1e-11)
