"""Giving up far clusters changes nothing: what is left out is below the last bit of the sum."""

import numpy as np
import pytest

from partita import Table
from partita.families import Gaussian
from partita.kernels.allocation import new_allocation
from partita.kernels.compiling import entry
from partita.kernels.names import log_prior_weights, log_weights, prior_weights, weights
from partita.model.model import Model
from partita.priors import DirichletProcess

pytestmark = pytest.mark.xdist_group("gaussian-full")


@entry
def both(rows, i, state, prior, allocation, n_slots, own, opening, exact):  # OUT: exact, and scores of the allocation
    """Screened weights times prior, and logs of the same without screening."""
    log_weights(rows, i, 1, state, allocation.sizes, n_slots, own, exact)
    log_prior_weights(prior, allocation.sizes, n_slots, opening, 1, allocation.prior_scores)
    for k in range(n_slots):
        exact[k] += allocation.prior_scores[k]
    prior_weights(prior, allocation.sizes, n_slots, opening, allocation.prior_scores)
    weights(rows, i, state, allocation.sizes, n_slots, own, allocation.prior_scores, allocation.scores)
    for k in range(n_slots):
        allocation.scores[k] *= allocation.prior_scores[k]


@pytest.mark.parametrize("spread", [0.5, 30.0])
@pytest.mark.parametrize("concentration", [1e-12, 1.0, 1e6])
def test_screened_weights_are_the_weights(spread, concentration):
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(4), 200), [4]])
    x = rng.standard_normal((5, 3))[labels] * spread + rng.standard_normal((labels.size, 3))
    table = Table.read(x, standardize=False)
    model = Model(
        Gaussian(dof=5.0, scale=2.0).resolve(table),
        DirichletProcess(concentration=concentration),
        table,
        np.ones(labels.size, np.int64),
    )
    rows = model.likelihood.rows(table)
    state = model.state_from(model.stats_of(rows, labels, 7))
    prior = model.prior.compiled(model.total, concentration, 7)
    allocation = new_allocation(model.row_weights, 7)
    n_given_up = 0
    for i in range(labels.size):
        allocation.sizes[:5] = np.bincount(labels)
        allocation.sizes[labels[i]] -= 1
        alone = allocation.sizes[labels[i]] == 0
        exact = np.zeros(7)
        both(rows, i, state, prior, allocation, 6, labels[i], labels[i] if alone else 5, exact)
        wanted = np.exp(exact[:6] - exact[:6].max())
        found = allocation.scores[:6] / allocation.scores[:6].max()
        np.testing.assert_allclose(found / found.sum(), wanted / wanted.sum(), rtol=1e-9, atol=1e-17)
        n_given_up += np.sum((found == 0) & np.isfinite(exact[:6]))
    assert (n_given_up > 0) == (spread == 30.0)
