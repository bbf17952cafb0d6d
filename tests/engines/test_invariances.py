"""What must not change: caches against recomputation, the order of rows and columns, slots, and equal code paths."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from tests.engines.models import (
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
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs, state_at
from tests.volumes import long_but, mostly_long, short_and_long

from partita.engines.gibbs import Gibbs
from partita.families import FAMILIES, Categorical, Count, Gaussian
from partita.kernels.compiling import entry
from partita.kernels.gibbs import sweep
from partita.kernels.names import log_predictive
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet
from partita.table import Schema, Table

SCRATCH = {"work", "matrix", "exponent", "scratch", "other_weight", "other_log_det", "other_factor"}
#: Written for a slot that holds rows only, and when one of them leaves: the second of both sides of ``total`` too.
OF_ROWS_THAT_LEAVE = {"constant", "stretch", "slope", "total"}
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


@entry
def ask_to_leave(rows, labels, slots):
    """Every row asks what it would leave: what slots compute for that, they compute only when asked."""
    total = 0.0
    for i in range(labels.shape[0]):
        if labels[i] >= 0:
            total += log_predictive(rows, i, -1, slots, labels[i])
    return total


def assert_bookkeeping(state, model):
    """Sizes, statistics and caches are those of the labels."""
    allocation = state.allocation
    n_slots = allocation.sizes.size
    seated = allocation.labels >= 0
    sizes = np.bincount(allocation.labels[seated], weights=allocation.row_weights[seated], minlength=n_slots)
    np.testing.assert_array_equal(allocation.sizes, sizes)
    expected = model.state_from(model.stats_of(state.rows, allocation.labels, n_slots))
    for slots in (state.slots, expected):
        ask_to_leave(state.rows, allocation.labels, slots)
    assert_caches(state.slots, expected)


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
    numbers = {"standardize": False, "column_steps": 0, "column_types": {0: "numeric", 1: "numeric"}}
    return [
        (Gaussian(scale=1000.0, dof=1000.0, mean_precision=1e-4), read(x, **numbers)),
        (Gaussian(covariance="diag", scale=1.0, mean_precision=1e-6), read(x, **numbers)),
        (Gaussian(covariance="known", variance=1.0, mean_variance=1e6), read(x, **numbers)),
        (Categorical(pseudocount=0.01), read(codes, column_types={0: "categorical", 1: "categorical"})),
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


@mostly_long
@pytest.mark.parametrize("free", [0, 1, 2])
@short_and_long("n_draws", 1000, 4000)
@one_worker(KNOWN)
def test_slots_added_in_the_middle_of_a_scan_keep_the_posterior(free, n_draws):
    """An exact draw, seated with few free slots, is an exact draw after one step."""
    prior = DirichletProcess(concentration=3.0)
    model, exact = KNOWN.model(prior), exact_posterior(KNOWN.subsets(), prior)
    rng, engine = np.random.default_rng(34), Gibbs(merge_split=1)
    starts = exact.states[rng.choice(exact.probabilities.size, n_draws, p=exact.probabilities)]
    draws, added = np.empty_like(starts), 0
    for start, draw in zip(starts, draws):
        n_slots = start.max() + 1 + free
        state, _ = engine.step(rng, state_at(model, start, n_slots), model)
        added += state.allocation.sizes.size > n_slots
        draw[:] = state.allocation.labels
    assert added > n_draws / 4
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


@pytest.mark.parametrize(
    ("family", "table"), long_but(["gaussian0", "gaussian1", "categorical0", "count0", "mixed1"], SCALAR_OPTIONS)
)
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
    error = np.sqrt(sum(f.var(axis=0, ddof=1) / len(f) for f in frequencies))
    common = frequencies[0].mean(axis=0) > 0.02
    assert np.all(np.abs(difference[common]) < norm.isf(1e-6) * error[common])


def batch_frequencies(chain):
    """Share of draws with K = 1, ..., n clusters, (batches, n)."""
    k = np.array([np.unique(row).size for row in chain.labels])
    found = k[:, None] == np.arange(1, chain.labels.shape[1] + 1)
    return batch_means(found)


@pytest.mark.xdist_group("gaussian-full")
@pytest.mark.parametrize("seed", range(4))
def test_splits_never_run_out_of_slots(seed):
    """Many splits are accepted in one sweep where clusters are many: sizes must stay those of the labels."""
    table = Table.read(np.random.default_rng(0).normal(size=(120, 1)))
    likelihood = Gaussian().resolve(table)
    model = Model(likelihood, DirichletProcess(concentration=15.0), table, np.ones(120, dtype=np.int64))
    engine, rng = Gibbs(merge_split=40), np.random.default_rng(seed)
    state = engine.init(rng, model)
    for _ in range(60):
        state, _ = engine.step(rng, state, model)
        allocation = state.allocation
        assert allocation.labels.max() < len(allocation.sizes)
        counted = np.bincount(allocation.labels, minlength=len(allocation.sizes))
        np.testing.assert_array_equal(allocation.sizes, counted)
