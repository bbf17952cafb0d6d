"""A row of weight w is w copies that share a label: by enumeration of tied partitions."""

import numpy as np
import pytest
from tests.engines.models import KNOWN, WITHOUT_DRAWN_CELLS, fixed_priors, learned_priors, parameters
from tests.oracles.agreement import compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs, run_merge_split, subset_log_marginals, take
from tests.volumes import mostly_long, short_and_long

from partita.priors import GibbsType, gibbs_type

LEARNED = [p for p in learned_priors() if p.name in ("dirichlet-process", "stick-breaking")]
GIBBS = [p for p in fixed_priors() if isinstance(p, GibbsType)]
COPIES = np.array([2, 1, 0, 3, 1])  # the third row does not take part


def exact_tied(example, prior, copies):
    present = np.flatnonzero(copies)
    rows = take(example.likelihood.rows(example.table), present)
    subsets = subset_log_marginals(example.likelihood, rows, copies[present])
    return exact_posterior(subsets, prior, copies[present])


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(WITHOUT_DRAWN_CELLS, fixed_priors()))
@short_and_long("n_draws", 1500, 4000)
def test_draws_are_those_of_tied_copies(example, prior, n_draws):
    example = example.first(COPIES.size)
    chain = run_gibbs(example.model(prior, COPIES), n_draws=n_draws, seed=12, merge_split=1)
    agreement = compare_partitions(chain.labels, exact_tied(example, prior, COPIES))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([KNOWN], [*fixed_priors(), *LEARNED]))
@short_and_long("n_draws", 1500, 4000)
def test_scan_and_merge_split_alone_keep_the_tied_posterior(example, prior, n_draws):
    example = example.first(COPIES.size)
    model, exact = example.model(prior, COPIES), exact_tied(example, prior, COPIES)
    scan = compare_partitions(run_gibbs(model, n_draws=n_draws, seed=13, merge_split=0).labels, exact)
    assert scan.agrees, scan
    if not prior.learns_concentration:
        moves = compare_partitions(run_merge_split(model, n_draws=n_draws, seed=14).labels, exact)
        assert moves.agrees, moves


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([KNOWN], GIBBS))
@short_and_long("n_draws", 1500, 4000)
def test_weights_beyond_the_table_keep_the_tied_posterior(example, prior, n_draws, monkeypatch):
    monkeypatch.setattr(gibbs_type, "MOST_TABLED", 4)
    example, copies = example.first(COPIES.size), 2 * COPIES
    model, exact = example.model(prior, copies), exact_tied(example, prior, copies)
    assert prior.compiled(model.total, 1.0, 3).log_w.size == 2
    scan = compare_partitions(run_gibbs(model, n_draws=n_draws, seed=15, merge_split=0).labels, exact)
    assert scan.agrees, scan
    moves = compare_partitions(run_merge_split(model, n_draws=n_draws, seed=16).labels, exact)
    assert moves.agrees, moves


def test_tied_copies_are_not_free_copies():
    prior = fixed_priors()[0]
    tied = exact_tied(KNOWN.first(COPIES.size), prior, COPIES)
    once = exact_tied(KNOWN.first(COPIES.size), prior, np.minimum(COPIES, 1))
    assert np.abs(tied.probabilities - once.probabilities).max() > 0.05


def test_rows_without_weight_have_no_seat():
    model = KNOWN.first(COPIES.size).model(fixed_priors()[0], COPIES)
    chain = run_gibbs(model, n_draws=1, seed=1)
    assert chain.labels.shape == (1, 4)
    assert chain.labels.min() >= 0
