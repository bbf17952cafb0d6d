"""Which of several families accounts best for a table: the one with the highest bound on the log evidence.

A full covariance has a free number for every pair of columns. Where columns depend on each other within groups, leaving
that out cuts groups into pieces; where they do not, or some are sums of others or all but constant, the free numbers
make groups that are not there. The evidence weighs the one against the other, and variational Bayes bounds it.
"""

from collections.abc import Sequence

import numpy as np

from partita.engines.runner import Plan
from partita.engines.variational import Variational
from partita.families.base import Family
from partita.model.model import Model
from partita.priors import DirichletProcess
from partita.table import Table

MOST_ROWS = 1000  # that are looked at,
MOST_ROWS_WITH_GAPS = 500  # where cells are missing, which takes longer
ENGINE = Variational(truncation=20, n_init=2, max_iter=50, tol=1e-4)
SHARE = 0.1  # of the time that is left


def best_family(families: Sequence[Family], table: Table, plan: Plan, *, fixed: bool) -> Family | None:
    """The family whose bound on the log evidence of a table is highest; None where time does not allow it.

    The bound is that of `Variational` with at most 20 components under a Dirichlet process, on at most 1000 rows (500
    where cells are missing), drawn from always the same random numbers. Without a limit on time it depends on the table
    alone.

    Parameters
    ----------
    families : sequence of Family
        All that come into question.
    table : Table
        Rows that teach, with their weights.
    plan : Plan
        Of the fit, whose time runs: a tenth of what is left may be used.
    fixed : bool
        Whether numbers stand in place of what families would learn unasked.
    """
    if len(families) == 1:
        return families[0]
    sample = _sample(table)
    limit = plan.running_watch.time_left * SHARE
    bounds = []
    for family in families:
        own = Plan(n_jobs=plan.n_jobs, max_time=None if np.isinf(limit) else limit / len(families)).begun()
        likelihood = family.resolve_fixed(sample) if fixed else family.resolve(sample)
        model = Model(likelihood, ENGINE.prior_for(DirichletProcess()), sample, sample.row_weights.astype(np.int64))
        outcome = ENGINE.fit(model, own, np.random.SeedSequence(0))
        if own.running_watch.time_left <= 0.0 or plan.running_watch.interrupted:
            plan.running_watch.interrupted = False  # this part has ended; the next Ctrl-C is for the fit
            return None
        bounds.append(outcome.notes["elbo_path"][-1])
    return families[int(np.argmax(bounds))]


def _sample(table: Table) -> Table:
    most = MOST_ROWS_WITH_GAPS if table.has_missing else MOST_ROWS
    if table.n_rows <= most:
        return table
    chosen = np.random.default_rng(0).choice(table.n_rows, most, replace=False)
    return table.take(np.sort(chosen))
