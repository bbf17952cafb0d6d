"""A product over blocks of columns: densities multiply, and every cell comes back to its own column."""

from itertools import product

import numba
import numpy as np
import pytest
from scipy import stats
from tests.contracts.cases import make, mixed_table, numbers
from tests.families.gaps import conditional_t, draw_cells, predictive_t

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.kernels.gibbs import log_predictive_matrix
from partita.table import Table

LEVEL = 6.3e-5  # of 4 standard errors
KINDS = ("full", "diag", "known", "categorical", "count")
COMBINATIONS = [present for present in product([False, True], repeat=5) if any(present)]
pytestmark = pytest.mark.xdist_group("Product")


def blocks_table(present, n=7):
    """Two numeric columns per kind of covariance, categories and counts, interleaved; only those present."""
    rng = np.random.default_rng(61)
    x = numbers(n, 6, seed=61)
    columns, types = {}, {}
    for turn in range(2):
        for k, kind in enumerate(KINDS[:3]):
            if present[k]:
                columns[f"{kind}{turn}"], types[f"{kind}{turn}"] = x[:, 2 * k + turn], "numeric"
        if present[3]:
            columns[f"word{turn}"] = np.array(["a", "b", *rng.choice(["a", "b", "c"], n - 2)], dtype=object)
        if present[4]:
            columns[f"count{turn}"], types[f"count{turn}"] = rng.poisson(3.0, n), "count"
    pd = pytest.importorskip("pandas")
    return Table.read(pd.DataFrame(columns), column_types=types, standardize=False)


def blocks_family(present):
    families = {f"known{turn}": Gaussian(covariance="known", variance=0.3) for turn in range(2) if present[2]}
    families |= {f"diag{turn}": Gaussian(covariance="diag", dof=3.5) for turn in range(2) if present[1]}
    return Mixed(families={**families, "numeric": Gaussian(dof=4.5, scale=0.7)})


def blocks_alone(table, present):
    """The same columns, each kind on its own: (family, numbers of the columns within the table's block)."""
    at = {kind: [j for j, c in enumerate(table.schema.numeric) if c.name.startswith(kind)] for kind in KINDS[:3]}
    both = np.arange(2)
    alone = [
        (Gaussian(dof=4.5, scale=0.7), np.array(at["full"])),
        (Gaussian(covariance="diag", dof=3.5), np.array(at["diag"])),
        (Gaussian(covariance="known", variance=0.3), np.array(at["known"])),
        (Categorical(), both),
        (Count(), both),
    ]
    return [pair for pair, there in zip(alone, present) if there]


@pytest.mark.parametrize("present", COMBINATIONS, ids=lambda p: "+".join(np.array(KINDS)[list(p)]))
def test_density_is_the_product_over_blocks_whichever_are_there(present):
    table = blocks_table(present)
    mixed = make(blocks_family(present), table)
    copies = np.array([[1, 0, 2, 0, 1, 0, 1], [0, 1, 0, 1, 0, 3, 0], [0] * 7])
    expected = np.zeros((7, 3))
    for family, columns in blocks_alone(table, present):
        likelihood = family.on_columns(table, columns)
        block = mixed._replace(likelihood=likelihood, rows=likelihood.rows(table))
        before = [block.log_marginal(c) for c in copies]
        expected += [[block.log_marginal(c + x) for c in copies] for x in np.eye(7)] - np.array(before)
    density = log_predictive_matrix(mixed.rows, mixed.filled(*copies), 7, 3)
    np.testing.assert_allclose(density, expected, rtol=1e-9, atol=1e-9)


def test_every_combination_of_blocks_has_one_compiled_type():
    types = set()
    for present in COMBINATIONS:
        table = blocks_table(present)
        likelihood = blocks_family(present).resolve(table)
        types.add((numba.typeof(likelihood.rows(table)), numba.typeof(likelihood.state(3))))
    assert len(types) == 1


@pytest.mark.parametrize("present", COMBINATIONS, ids=lambda p: "+".join(np.array(KINDS)[list(p)]))
def test_simulated_cells_stand_in_the_columns_they_were_learned_from(present):
    table = blocks_table(present)
    likelihood = blocks_family(present).resolve(table)
    rows = likelihood.rows(table)
    stats_of_all = 400 * likelihood.suffstats(rows, np.ones((7, 1)))
    rng = np.random.default_rng(62)
    params = likelihood.sample_params(rng, stats_of_all)
    cells = likelihood.simulate(rng, params, np.zeros(4000, dtype=np.int64))
    if table.numeric.shape[1]:
        error = np.abs(cells.numeric.mean(axis=0) - table.numeric.mean(axis=0))
        assert (error < 6 * cells.numeric.std(axis=0) / np.sqrt(2800)).all()
    for m, n_levels in enumerate(table.schema.n_levels):
        shares = [np.bincount(block[:, m], minlength=n_levels) / len(block) for block in (cells.codes, table.codes)]
        np.testing.assert_allclose(*shares, atol=6 * np.sqrt(0.25 / 2800))
    if table.counts.shape[1]:
        error = np.abs(cells.counts.mean(axis=0) - table.counts.mean(axis=0))
        assert (error < 6 * np.sqrt(table.counts.mean(axis=0) / 2800)).all()


def test_a_single_constant_category_is_simulated_as_itself(monkeypatch):
    table = Table.read(np.array([["a"], ["a"], ["a"]], dtype=object))
    likelihood = Mixed().resolve(table)
    rng = np.random.default_rng(63)
    params = likelihood.sample_params(rng, likelihood.suffstats(likelihood.rows(table), np.ones((3, 1))))
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.full(shape, 77, dtype))
    assert not likelihood.simulate(rng, params, np.zeros(5, dtype=np.int64)).codes.any()


def test_columns_that_nothing_names_are_read_by_type():
    table = mixed_table()
    full, diagonal, known, categorical, count = Mixed().resolve(table).blocks
    assert full.columns.size == known.columns.size == 0
    assert diagonal.columns.tolist() == [0, 1, 2]
    assert categorical.columns.tolist() == [0, 1]
    assert count.columns.tolist() == [0]
    np.testing.assert_array_equal(diagonal.dof, 7.0)
    np.testing.assert_array_equal(categorical.pseudocount, 1.0)


def test_a_name_goes_before_a_type_and_hyperparameters_follow_their_column():
    table = mixed_table()
    families = {
        "x4": Categorical(pseudocount=0.3),
        "x3": Gaussian(covariance="diag", dof=9.0, mean=5.0),
        "x1": Gaussian(covariance="known", variance=0.2),
        "count": Count(shape=4.0, rate=2.0),
        "numeric": Gaussian(covariance="diag", dof=6.0),
    }
    full, diagonal, known, categorical, count = Mixed(families=families).resolve(table).blocks
    assert full.columns.size == 0
    by_column = dict(zip(diagonal.columns.tolist(), zip(diagonal.dof, diagonal.mean)))
    assert by_column == {1: (9.0, 5.0), 2: (6.0, pytest.approx(0.0, abs=1e-12))}
    assert known.columns.tolist() == [0]
    np.testing.assert_array_equal(known.variance, [0.2])
    assert dict(zip(categorical.columns.tolist(), categorical.pseudocount)) == {0: 1.0, 1: 0.3}
    np.testing.assert_array_equal([*count.shape, *count.rate], [4.0, 2.0])


@pytest.mark.filterwarnings("ignore:1 row has no observed cell:UserWarning")
@pytest.mark.parametrize("options", [{}, {"dof": 2.2, "scale": 0.6, "mean": 0.1, "mean_precision": 0.4}], ids=repr)
def test_a_full_covariance_of_one_named_column_is_its_diagonal_form(options):
    table = Table.read(numbers(6, 1, n_missing=1), standardize=False)
    named = Mixed(families={"x0": Gaussian(**options)}).resolve(table)
    alone = Gaussian(covariance="diag", **options).resolve(table)
    assert named.blocks[0].columns.size == 0
    assert named.blocks[1].columns.tolist() == [0]
    resp = np.random.default_rng(64).integers(0, 3, (6, 5)).astype(float)
    marginals = [c.log_marginal(c.suffstats(c.rows(table), resp)) for c in (named, alone)]
    np.testing.assert_allclose(*marginals, rtol=1e-12)


def test_a_mixed_row_draws_the_cells_of_its_full_block_from_that_block_alone():
    table = mixed_table()
    mixed = make(Mixed(families={"numeric": Gaussian()}), table)
    full = mixed.likelihood.blocks[0]
    i = int(np.flatnonzero(mixed.rows.full.missing.sum(axis=1) == 1)[0])
    hidden = np.flatnonzero(mixed.rows.full.missing[i])
    seen = np.flatnonzero(~mixed.rows.full.missing[i])
    copies = (np.arange(table.n_rows) != i).astype(np.int64)
    alone = mixed._replace(likelihood=full, rows=mixed.rows.full)
    t = conditional_t(*predictive_t(alone, copies), seen, hidden, mixed.rows.full.x[i, seen])
    state = mixed.filled(np.ones(table.n_rows))
    draws = draw_cells(mixed.rows, mixed.rows.full.x, state, i, table.n_rows)[:, hidden[0]]
    assert stats.kstest(draws, stats.t(t[2], t[0][0], np.sqrt(t[1][0, 0])).cdf).pvalue > LEVEL


def test_density_of_a_mixed_row_with_gaps_is_the_sum_over_blocks():
    table = mixed_table()
    mixed = make(Mixed(families={"numeric": Gaussian(), "x3": Gaussian(covariance="known")}), table)
    copies = np.array([0, 1, 2, 0, 1, 0])
    density = log_predictive_matrix(mixed.rows, mixed.filled(copies), table.n_rows, 1)[:, 0]
    assert mixed.rows.full.gaps.any()
    blocks = list(zip(mixed.likelihood.blocks, mixed.rows))
    full, rest = mixed._replace(likelihood=blocks[0][0], rows=blocks[0][1]), blocks[1:]
    expected = log_predictive_matrix(full.rows, full.filled(copies), table.n_rows, 1)[:, 0]
    for likelihood, rows in rest:
        block = mixed._replace(likelihood=likelihood, rows=rows)
        if likelihood.columns.size:
            before = block.log_marginal(copies)
            expected += [block.log_marginal(copies + row) - before for row in np.eye(table.n_rows)]
    np.testing.assert_allclose(density, expected, rtol=1e-9)
