"""Which family accounts best for a table: the one with the highest bound on the log evidence.

A full covariance has a free number for every pair of columns. Where columns depend on each other within groups, leaving
that out cuts groups into pieces; where they do not, or some are sums of others or all but constant, the free numbers
make groups that are not there. The evidence weighs the one against the other, and variational Bayes bounds it.

A full covariance expects groups of some shape before any row is seen: long in some directions, thin in others. Axes of
the table's own widths are a poor guess where columns nearly determine each other, for groups are then as thin as the
table is, and lie side by side within it. So the shape is learned too: the covariance of rows around the means of the
groups that one family finds is what the next one expects, as long as that raises the bound.

A shape must be worth it. Each of its numbers costs half the log of the number of rows, as in the Bayesian information
criterion, and having one a third of a nat per row: in large tables any departure from normality has a shape that raises
the bound a little, and groups are then cut into pieces that fit. There must be 15 rows for each column: of fewer, the
shape of groups that are not there accounts for one cloud too well. A diagonal covariance is judged with a shape too,
but goes back to the widths of the columns: groups of real tables agree better with their classes then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from partita.engines.outcome import Outcome
from partita.engines.runner import Plan
from partita.engines.variational import Variational
from partita.families.algebra.columns import column_moments
from partita.families.automatic import covariance_of, with_shape
from partita.families.base import Family
from partita.families.powered import powered
from partita.model.model import Model
from partita.priors import DirichletProcess
from partita.running.watch import Watch
from partita.table import Table

MOST_ROWS = 1000  # that are looked at,
MOST_ROWS_WITH_GAPS = 500  # where cells are missing, which takes longer,
MOST_CELLS, FEWEST_ROWS = 200_000, 200  # and fewer of wide tables
ENGINE = Variational(truncation=20, n_init=1, max_iter=50, tol=1e-4)
SHARE = 0.1  # of the time that is left
ROUNDS = 3  # in which a shape is learned, from the groups of every family
LEAST_GAIN = 0.5  # nats that make another round worth it
COST_PER_ROW = 1.0 / 3.0  # nats, of having a shape
ROWS_PER_COLUMN = 15  # numeric ones, that a shape is learned of: of fewer rows, chance has one too
ALIKE = 0.02  # how far shapes may differ, in units of the columns' widths, to lead to the same groups
LEAST_EIGENVALUE = 1e-6  # of the correlations of a shape


@dataclass(frozen=True)
class Account:
    """What a family makes of a table."""

    candidate: Family
    family: Family  # the candidate, or that with a shape
    bound: float  # less what the shape costs
    shape: np.ndarray  # of the groups that it finds


class _OutOfTimeError(Exception):
    """Time is over, or Ctrl-C was pressed."""


def best_family(
    families: Sequence[Family], table: Table, plan: Plan, *, fixed: bool, power: float = 1.0
) -> Family | None:
    """The family that accounts best for a table; None where time does not allow to say.

    It has the highest bound on the log evidence, less what its shape costs: the bound of `Variational` with at most 20
    components under a Dirichlet process, on at most 1000 rows (500 where cells are missing, fewer of wide tables),
    drawn from always the same random numbers. Without a limit on time it depends on the table alone.

    Parameters
    ----------
    families : sequence of Family
        All that come into question.
    table : Table
        Rows that teach, with their weights.
    plan : Plan
        Of the fit, whose time runs: a tenth of what is left may be used.
    fixed : bool
        Whether numbers stand in place of what families would learn unasked; then no shape is learned either.
    power : float
        How often a row counts in the likelihood, and so in what a shape must be worth.
    """
    if len(families) == 1:
        return families[0]
    trial = _Trial(_sample(table), plan, fixed, power)
    try:
        accounts = [trial.account(family, parts=len(families) - i) for i, family in enumerate(families)]
    except _OutOfTimeError:
        return None
    best = max(accounts, key=_by_bound)
    if trial.learns_shapes:
        full = [family for family in families if covariance_of(family) == "full"]
        shapes = _unlike([account.shape for account in accounts if _saves(account.shape) >= COST_PER_ROW])
        for shape, family in product(shapes, full):
            best = max([best, *trial.with_learned_shape(family, shape, best.bound)], key=_by_bound)
        if covariance_of(best.family) == "full":  # what has none may have a better shape of its own
            rivals = [account for account in accounts if account.candidate not in full]
            for rival in rivals:
                best = max([best, *trial.with_learned_shape(rival.candidate, rival.shape, best.bound)], key=_by_bound)
    return best.family if covariance_of(best.family) == "full" else best.candidate


def _by_bound(account: Account) -> float:
    return account.bound


def _unlike(shapes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Those that differ from all before them: where families find the same groups, there is one shape to try."""
    kept: list[np.ndarray] = []
    for shape in shapes:
        widths = np.sqrt(np.outer(shape.diagonal(), shape.diagonal()))
        if all((np.abs(shape - other) > ALIKE * widths).any() for other in kept):
            kept.append(shape)
    return kept


def _saves(shape: np.ndarray) -> float:
    """Nats per row that its correlations R save, - log det R / 2."""
    return 0.5 * (float(np.log(shape.diagonal()).sum()) - float(np.linalg.slogdet(shape)[1]))


class _Trial:
    """Families tried on some rows, in the time that there is for it."""

    def __init__(self, sample: Table, plan: Plan, fixed: bool, power: float):
        self.sample, self.plan, self.fixed, self.power = sample, plan, fixed, power
        self.n_rows, self.n_columns = float(sample.row_weights.sum()), sample.numeric.shape[1]
        self.cost_per_shape = COST_PER_ROW * power * self.n_rows
        limit = plan.running_watch.time_left * SHARE
        self.watch = Watch(None if np.isinf(limit) else limit)

    @property
    def learns_shapes(self) -> bool:
        """Whether there are rows enough."""
        return not self.fixed and self.n_rows >= ROWS_PER_COLUMN * self.n_columns

    def with_learned_shape(self, candidate: Family, shape: np.ndarray, least: float) -> list[Account]:
        """The last account of a chain, each expecting the shape of the groups of the one before; none without time.

        The chain ends where the bound rises no more: there the shape is that of the groups that are found with it. It
        ends at once where it would not reach ``least`` even if having a shape were free.
        """
        found: list[Account] = []
        while len(found) < ROUNDS:
            try:
                found.append(self.account(candidate, shape))
            except _OutOfTimeError:
                break
            bound, before = found[-1].bound, found[-2].bound if len(found) > 1 else -np.inf
            if bound - before < LEAST_GAIN or bound + self.cost_per_shape < least:
                break
            shape = found[-1].shape
        return found[-1:]

    def account(self, candidate: Family, shape: np.ndarray | None = None, *, parts: int = 1) -> Account:
        """That of a family, perhaps with a shape, in one of the equal parts of the time that is left."""
        family = candidate if shape is None else with_shape(candidate, shape)
        left = self.watch.time_left / parts
        if left <= 0.0:
            raise _OutOfTimeError
        own = Plan(n_jobs=self.plan.n_jobs, max_time=None if np.isinf(left) else left).begun()
        likelihood = family.resolve_fixed(self.sample) if self.fixed else family.resolve(self.sample)
        row_weights = self.sample.row_weights.astype(np.int64)
        likelihood = powered(likelihood, self.power)
        model = Model(likelihood, ENGINE.prior_for(DirichletProcess()), self.sample, row_weights)
        outcome = ENGINE.fit(model, own, np.random.SeedSequence(0))
        if own.running_watch.time_left <= 0.0 or self.plan.running_watch.interrupted:
            self.plan.running_watch.interrupted = False  # this part has ended; the next Ctrl-C is for the fit
            raise _OutOfTimeError
        bound = outcome.notes["elbo_path"][-1] - (0.0 if shape is None else self._cost(family))
        return Account(candidate, family, bound, shape_within(outcome, self.sample))

    def _cost(self, family: Family) -> float:
        """Of a shape: half the log of the number of rows for each of its numbers, and a third of a nat per row."""
        d = self.n_columns
        n_numbers = d * (d + 1) / 2 if covariance_of(family) == "full" else d
        return 0.5 * n_numbers * float(np.log(self.power * self.n_rows)) + self.cost_per_shape


def shape_within(outcome: Outcome, table: Table) -> np.ndarray:
    """The covariance (d, d) of numeric cells around the means of their groups, as large as the columns are wide.

    Every covariance is that of the rows that have both cells, plus the rounding of the columns. It is scaled so that
    the mean of its variances, each over that of the whole column, is 1: how wide groups are is learned apart.
    """
    x, weights = table.numeric, outcome.probabilities * table.row_weights[:, None]
    observed = (~np.isnan(x)).astype(np.float64)
    cells = np.where(observed > 0.0, x, 0.0)
    means = (weights.T @ cells) / np.maximum(weights.T @ observed, 1e-300)
    pairs, products = np.zeros((2, x.shape[1], x.shape[1]))
    for mean, share in zip(means, weights.T):
        rest = observed * (cells - mean)
        products += (share[:, None] * rest).T @ rest
        pairs += (share[:, None] * observed).T @ observed
    within = products / np.maximum(pairs, 1.0)
    within[np.diag_indices_from(within)] += table.rounding
    variances = column_moments(x, table.row_weights)[1]
    deviations = np.sqrt(within.diagonal() + LEAST_EIGENVALUE * variances)
    eigenvalues, vectors = np.linalg.eigh(within / np.outer(deviations, deviations))
    within = (vectors * np.maximum(eigenvalues, LEAST_EIGENVALUE)) @ vectors.T * np.outer(deviations, deviations)
    return (within + within.T) / (2.0 * np.mean(within.diagonal() / variances))


def _sample(table: Table) -> Table:
    most = MOST_ROWS_WITH_GAPS if table.has_missing else MOST_ROWS
    most = max(FEWEST_ROWS, min(most, MOST_CELLS // len(table.schema.used)))
    if table.n_rows <= most:
        return table
    chosen = np.random.default_rng(0).choice(table.n_rows, most, replace=False)
    return table.take(np.sort(chosen))
