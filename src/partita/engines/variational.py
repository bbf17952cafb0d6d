"""Variational Bayes: the factorised distribution nearest to the posterior of a mixture, for any conjugate family."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from partita.engines.approximation import Approximator
from partita.engines.steps import SharesOut
from partita.engines.variational_state import VariationalState
from partita.engines.variational_steps import VariationalSteps
from partita.families.base import Conjugate
from partita.model.model import Model
from partita.parameters import whole_number


@dataclass(frozen=True)
class VariationalInfo:
    """What one iteration reports of the state it started from."""

    objective: float  # the bound on the log evidence
    n_clusters: int
    settled: bool  # the bound has ceased to rise and no pair is worth merging


class Variational(SharesOut, Approximator, name="vb"):
    """Variational Bayes: the bound on the log evidence is raised until it rises no more, from several k-means starts.

    q(labels) q(weights) prod_k q(theta_k) stands for the posterior. Given responsibilities r_nk, the factors of weights
    and parameters are the prior's and the family's own posteriors at sizes N_k = sum_n r_nk and expected sufficient
    statistics; given these,

        r_nk ~ exp(E log weight_k + E log p(x_n | theta_k)).

    Both steps, merge moves and what is learned of prior and family raise

        bound = sum_n log sum_k exp(E log weight_k + E log p(x_n | theta_k)) - KL(q || prior) + log hyperpriors.

    Pairs of components are merged where that raises the bound, and components left without rows are removed, so that
    the number of clusters is found. Cost per iteration: rows x components expected log densities.

    Good for: many rows; the number of clusters; a bound on the evidence by which models can be compared; rows or
    columns that must stay where they are (see `VariationalSteps`).
    Not for: groups of less than a thousandth of a large table, which the sample that a start is made from may not
    show; how sure the groups are. The factors know nothing of each other: probabilities come out too near 0 and 1,
    and only one of several explanations of the rows is found.

    Parameters
    ----------
    truncation : int
        Components that stand for the infinitely many of a ``DirichletProcess``.
    n_init : int
        Starts, each from its own k-means; one more from a single component of all rows. The highest bound is kept.
    tol : float
        Converged when an iteration gains less than this per row and no merge move gains.
    max_iter : int
        Iterations of every start.
    merge : bool
        Whether merge moves are tried.
    draws : int, optional
        Partitions that ``posterior_`` draws from the responsibilities; by default what the estimator says.

    References
    ----------
    Blei and Jordan (2006), Variational inference for Dirichlet process mixtures; Wang, Domeniconi and Laskey (2010),
    Nonparametric Bayesian clustering ensembles, section 4.2, its update of r_nk with E log theta in place of log rho;
    Hughes and Sudderth (2013) for merge moves.

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(engine=Variational(n_init=2), draws=20, random_state=0)
    >>> model.fit([[0.0], [0.1], [9.0], [9.1]]).labels_.size
    4
    """

    title: ClassVar[str] = "Variational Bayes"
    shares_rows: ClassVar[bool] = True  # type: ignore[assignment,misc]

    def __init__(
        self,
        *,
        truncation: int = 50,
        n_init: int = 4,
        tol: float = 1e-6,
        max_iter: int = 500,
        merge: bool = True,
        draws: int | None = None,
    ):
        self.truncation = truncation
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.merge = merge
        self.draws = draws

    def check(self) -> None:
        """Refuse options outside their range."""
        super().check()
        whole_number("Variational(truncation=...)", self.truncation, 1)
        if not isinstance(self.merge, bool | np.bool_):
            raise ValueError(f"Variational(merge=...) must be True or False, got {self.merge!r}.")

    def init(self, rng: np.random.Generator, model: Model) -> VariationalState:
        """Start from k-means on a sample of rows. All rows of the model have positive weight."""
        return self.steps(model).start_from(rng, model.table, model.row_weights)

    def more_states(self, model: Model) -> list[VariationalState]:
        """A single component of all rows: where nothing tells rows apart, the clusters of k-means may never merge."""
        return [self.start(model, np.ones((model.table.n_rows, 1)))]

    def step(
        self, rng: np.random.Generator, state: VariationalState, model: Model
    ) -> tuple[VariationalState, VariationalInfo]:
        """Best responsibilities given the other factors, then these given them; no random numbers are used."""
        following = self.next_state(model, state)
        return following, VariationalInfo(following.bound, state.n_components, following.settled)

    def state_of(self, state: VariationalState, likelihood: Conjugate, numbers: np.ndarray) -> VariationalState:
        """The state with its statistics in the order of another likelihood."""
        return state.of_likelihood(likelihood, state.stats[:, numbers])

    def steps(self, model: Model, reader: object = None) -> VariationalSteps:
        """The halves of an iteration, as machines that hold parts of the rows or columns call them."""
        return VariationalSteps(
            model.likelihood, model.prior, reader, tol=self.tol, merge=self.merge, place=model.place
        )
