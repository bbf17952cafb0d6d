"""A row's log predictive density, column by column: the chain rule sums to what compiled code computes at once."""

import numpy as np
import pytest
from tests.contracts.cases import every_sampled_case, every_sampled_case_to_any_power
from tests.contracts.test_family_weights import with_gaps

from partita.kernels.gibbs import log_predictive_matrix, refresh_slots
from partita.table import Table

both_ways = pytest.mark.parametrize("reverse", [False, True])


def some_stats(case, seed):
    """Statistics of three clusters and of an empty one."""
    rng = np.random.default_rng(seed)
    copies = rng.integers(0, 4, (3, case.n_rows))
    return np.vstack([case.stats(*copies), np.zeros_like(case.stats(copies[0]))])


def compiled_logs(case, rows, stats):
    state = case.likelihood.state(stats.shape[0])
    case.likelihood.load(state, stats)
    refresh_slots(state, stats.shape[0])
    return log_predictive_matrix(rows, state, case.n_rows, stats.shape[0])


def missing_cells(case, table):
    """Which cells (n, d) are missing, in the family's own order of columns."""
    gaps = (np.isnan(table.numeric), table.codes < 0, table.counts < 0)
    pairs = [pair for columns, block in zip(blocks_of(table.schema), gaps) for pair in zip(columns, block.T)]
    missing = {column.name: cells for column, cells in pairs}
    return np.column_stack([missing[name] for name in case.likelihood.column_names(table.schema)])


@every_sampled_case_to_any_power
def test_every_used_column_is_named_once(case):
    names = case.likelihood.column_names(case.table.schema)
    assert sorted(names) == sorted(column.name for column in case.table.schema.used)


@every_sampled_case
@both_ways
def test_terms_sum_to_the_compiled_log_predictive(case, reverse):
    stats = some_stats(case, 61)
    for table in (case.table, with_gaps(case.table, np.random.default_rng(62))):
        rows = case.likelihood.rows(table)
        terms = case.likelihood.log_predictive_by_column(rows, stats, reverse=reverse)
        assert terms.shape == (case.n_rows, 4, len(case.table.schema.used))
        np.testing.assert_allclose(terms.sum(axis=2), compiled_logs(case, rows, stats), rtol=1e-9, atol=1e-9)


@every_sampled_case_to_any_power
@both_ways
def test_the_term_of_a_missing_cell_is_zero_and_of_no_other(case, reverse):
    table = with_gaps(case.table, np.random.default_rng(63))
    terms = case.likelihood.log_predictive_by_column(case.likelihood.rows(table), some_stats(case, 64), reverse=reverse)
    missing = missing_cells(case, table)
    assert missing.any()
    np.testing.assert_array_equal(terms.any(axis=1), ~missing)


@every_sampled_case_to_any_power
def test_a_term_is_what_one_more_cell_adds(case):
    """Forwards the cells behind a column may as well be missing, backwards those before it."""
    stats = some_stats(case, 65)
    names = case.likelihood.column_names(case.table.schema)
    for reverse in (False, True):
        whole = case.likelihood.log_predictive_by_column(case.likelihood.rows(case.table), stats, reverse=reverse)
        order = range(len(names))[:: -1 if reverse else 1]
        for number, j in enumerate(order[:6]):
            rows = case.likelihood.rows(only(case.table, [names[i] for i in order[: number + 1]]))
            alone = case.likelihood.log_predictive_by_column(rows, stats, reverse=reverse)
            np.testing.assert_allclose(alone[:, :, j], whole[:, :, j], rtol=1e-9, atol=1e-9)


def only(table, names):
    """The table with every other column missing."""
    kept = [[column.name in names for column in columns] for columns in blocks_of(table.schema)]
    blocks = zip(kept, (table.numeric, table.codes, table.counts), (np.nan, -1, -1))
    return Table(table.schema, *(np.where(keep, block, nothing) for keep, block, nothing in blocks))


def blocks_of(schema):
    return schema.numeric, schema.categorical, schema.counts
