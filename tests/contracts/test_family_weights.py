"""A row's weights in all slots at once are its predictive densities slot by slot."""

import numpy as np
import pytest
from tests.contracts.cases import every_sampled_case_that_drops_missing_cells, every_sampled_case_to_any_power
from tests.contracts.compiled import score
from tests.volumes import long, mostly_long

from partita.table import Table

SLOTS = 7  # the last is beyond ``n_slots`` and must be left alone
OCCUPIED = [0, 1, 3, 4]
some_copies = pytest.mark.parametrize("w", [1, 2, pytest.param(3, marks=long)])


def seats(case, rng):
    """Copies of every row in every slot: some slots empty, one slot holding one row alone."""
    copies = np.zeros((SLOTS, case.n_rows), dtype=np.int64)
    copies[OCCUPIED] = rng.integers(0, 4, (len(OCCUPIED), case.n_rows))
    copies[OCCUPIED, rng.integers(case.n_rows, size=len(OCCUPIED))] += 1
    return copies


def expected_logs(case, copies, i, w, own):
    """log f(A + w x) - log f(A) with A the rows of a slot, of its own slot those without the row."""
    row = w * (np.arange(case.n_rows) == i)
    out = np.empty(SLOTS - 1)
    for k in range(SLOTS - 1):
        others = copies[k] - row if k == own else copies[k]
        out[k] = case.log_marginal(others + row) - case.log_marginal(others)
    return out


def scored(case, copies, i, w, own):
    sizes = copies.sum(axis=1)
    if own >= 0:
        sizes[own] -= w
    state = case.filled(*copies)
    log_out, out = np.full(SLOTS, np.nan), np.full(SLOTS, np.nan)
    factor = score(case.rows, i, w, state, sizes, SLOTS - 1, own, np.ones(SLOTS), log_out, out)
    assert np.isnan(log_out[-1])
    assert np.isnan(out[-1])
    np.testing.assert_array_equal(case.likelihood.stats_of(state), case.likelihood.stats_of(case.filled(*copies)))
    return log_out[:-1], out[:-1], factor


def assert_scores(case, copies, i, w, own):
    expected = expected_logs(case, copies, i, w, own)
    logs, linear, factor = scored(case, copies, i, w, own)
    np.testing.assert_allclose(logs, expected, rtol=1e-9, atol=1e-9)
    if w == 1:
        np.testing.assert_allclose(linear, np.exp(expected - factor), rtol=1e-9, atol=1e-300)
        assert linear.max() > 0


@mostly_long
@every_sampled_case_to_any_power
@some_copies
def test_row_without_a_seat(case, w):
    copies = seats(case, np.random.default_rng(21))
    for i in range(case.n_rows):
        assert_scores(case, copies, i, w, own=-1)


@mostly_long
@every_sampled_case_to_any_power
@some_copies
def test_row_in_its_own_slot_is_scored_against_the_others(case, w):
    copies = seats(case, np.random.default_rng(22))
    for i in range(case.n_rows):
        for own in OCCUPIED:
            seated = copies.copy()
            seated[own, i] += w
            assert_scores(case, seated, i, w, own)


@mostly_long
@every_sampled_case_to_any_power
@some_copies
def test_row_alone_in_its_slot_sees_the_prior_predictive_there(case, w):
    copies = seats(case, np.random.default_rng(23))
    for i in range(case.n_rows):
        alone = copies.copy()
        alone[1] = 0
        alone[1, i] = w
        assert_scores(case, alone, i, w, own=1)
        logs, _, _ = scored(case, alone, i, w, own=1)
        np.testing.assert_allclose(logs[[1, 2, 5]], logs[2], rtol=1e-12)


@every_sampled_case_that_drops_missing_cells
def test_new_rows_are_scored_by_the_cells_they_have(case):
    """A table without gaps may meet rows with gaps later."""
    rng = np.random.default_rng(24)
    rows = case.likelihood.rows(with_gaps(case.table, rng))
    copies = seats(case, rng)
    log_out, out = np.full(SLOTS, np.nan), np.full(SLOTS, np.nan)
    before = case.stats(*copies)[: SLOTS - 1]
    for i in range(case.n_rows):
        row = case.likelihood.suffstats(rows, np.eye(case.n_rows)[:, [i]])
        expected = case.likelihood.log_marginal(before + row) - case.likelihood.log_marginal(before)
        factor = score(
            rows, i, 1, case.filled(*copies), copies.sum(axis=1), SLOTS - 1, -1, np.ones(SLOTS), log_out, out
        )
        np.testing.assert_allclose(log_out[:-1], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(out[:-1], np.exp(expected - factor), rtol=1e-9, atol=1e-300)


def with_gaps(table, rng):
    """The same rows, each but the last with a third of its cells missing; one has none left."""
    lost = [rng.random(block.shape) < 1 / 3 for block in (table.numeric, table.codes, table.counts)]
    for block in lost:
        block[0], block[-1] = True, False
    numeric, codes, counts = (
        np.where(gap, nothing, block)
        for gap, nothing, block in zip(lost, (np.nan, -1, -1), (table.numeric, table.codes, table.counts))
    )
    return Table(table.schema, numeric, codes, counts)
