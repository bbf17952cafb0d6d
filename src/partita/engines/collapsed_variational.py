"""Collapsed variational inference: responsibilities given the expected statistics of all other rows, for any family."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from partita.engines.approximation import Approximator
from partita.engines.collapsed_bound import collapsed_bound
from partita.engines.collapsed_state import (
    CollapsedVariationalState,
    arranged,
    bound_without_entropy,
    following,
    merged,
    state_of,
    without_dust,
)
from partita.kernels.collapsed_variational import (
    ComponentPrior,
    Scratch,
    Variances,
    first_order_sweep,
    second_order_sweep,
)
from partita.model.kmeans_start import labels_of_some
from partita.model.model import Model
from partita.parameters import whole_number
from partita.priors import StickBreaking
from partita.priors.weights import LabelledComponents

EVERY = 5  # sweeps between merge moves, while rows still move


@dataclass(frozen=True)
class CollapsedVariationalInfo:
    """What one sweep reports of the state it started from."""

    objective: float  # lower bound of the log evidence, plus the log densities of what is learned
    n_clusters: int
    change: float  # share of the rows that the sweep moved; inf where components were merged


class CollapsedVariational(Approximator, name="cvb"):
    """Collapsed variational Bayes (Teh, Newman and Welling 2007) with weights and parameters summed out.

    Only q(Z) = prod_n q(z_n) is approximated. Row by row, gamma_nk = q(z_n = k) becomes

        gamma_nk ~ exp E_q[log p(z_n = k | other z)] exp E_q[log p(x_n | rows of k, other z)],

    first order ("CVB0", Asuncion et al. 2009): both at the expected statistics of the other rows, which for Gaussians
    is a Student-t density; second order: log(a + count) becomes log(a + mean) - variance / (2 (a + mean)^2). A sweep
    visits every row once. Between sweeps statistics are rebuilt, sticks put in order of size, learned numbers
    set to their best values, and components merged or, if they hold less than one row, given up where that raises the
    bound. Cost per sweep: rows x components predictive densities; memory: rows x components.

    What is reported and compared between starts is the bound of variational Bayes at these responsibilities,

        log p(allocation) + sum_k log marginal likelihood_k + entropy of q,

    sizes and statistics at their expectations. It is below the collapsed bound, and both are below the log evidence.
    The updates approximate coordinate ascent in the collapsed bound, so neither need rise at every sweep: a start has
    converged when a sweep hardly moves a row.

    Good for: the speed of variational Bayes with only the labels approximated; the number of clusters.
    Not for: missing cells under full covariances; more rows x components than fit into memory.

    Parameters
    ----------
    order : {1, 2}
        Of the expansion of expected logs; 2 for categorical tables only.
    truncation : int
        How many components stand for a Dirichlet process.
    n_init : int
        Starts; the one that ends with the best bound is kept.
    tol : float
        Converged when a sweep moves no more than this share of the rows.
    max_iter : int
        Sweeps of every start.
    collapse_identical : bool
        Store identical rows once, with a weight. Faster, but a restriction: identical rows, free to differ otherwise,
        then share one distribution.
    draws : int, optional
        Partitions that ``posterior_`` draws from the responsibilities; by default what the estimator says.

    Notes
    -----
    A row of weight w is w copies that share responsibilities: each is scored given the other w - 1.

    References
    ----------
    Teh, Newman and Welling (2007); Asuncion, Welling, Smyth and Teh (2009); Kurihara, Welling and Teh (2007) for sticks
    in order of size; Wang, Domeniconi and Laskey (2010), eq. 10, where sums over all labels of a column are misprinted.

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(engine=CollapsedVariational(n_init=2), draws=20, random_state=0)
    >>> model.fit([[0.0], [0.1], [9.0], [9.1]]).labels_.size
    4
    """

    title: ClassVar[str] = "Collapsed variational Bayes"
    monotone: ClassVar[bool] = False

    def __init__(
        self,
        *,
        order: int = 1,
        truncation: int = 50,
        n_init: int = 4,
        tol: float = 1e-4,
        max_iter: int = 200,
        collapse_identical: bool = False,
        draws: int | None = None,
    ):
        self.order = order
        self.truncation = truncation
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.collapse_identical = collapse_identical
        self.draws = draws

    def check(self) -> None:
        """Refuse options outside their range."""
        if isinstance(self.order, bool) or self.order not in (1, 2):
            raise ValueError(f"CollapsedVariational(order=...) must be 1 or 2, got {self.order!r}.")
        super().check()
        whole_number("CollapsedVariational(truncation=...)", self.truncation, 1)
        if not isinstance(self.collapse_identical, bool | np.bool_):
            raise ValueError(
                f"CollapsedVariational(collapse_identical=...) must be True or False, got {self.collapse_identical!r}."
            )

    @property
    def shares_rows(self) -> bool:
        """Whether identical rows are to be stored once, with a weight."""
        return bool(self.collapse_identical)

    def check_model(self, model: Model) -> None:
        """Refuse a family that this engine cannot run."""
        if model.likelihood.draws_cells(model.shared_rows):
            raise ValueError(
                "engine='cvb' cannot leave missing cells out under a full covariance: pass engine='vb', or "
                "family=Gaussian(covariance='diag'), or fill them in."
            )
        if self.order == 2 and not model.likelihood.has_second_order:
            raise ValueError(
                f"CollapsedVariational(order=2) is for categorical tables, and the family is {model.likelihood.title}: "
                "pass CollapsedVariational(order=1)."
            )

    def init(self, rng: np.random.Generator, model: Model) -> CollapsedVariationalState:
        """Start from k-means on a sample of rows; the others are shared out one after the other given those before.

        All rows of the model have positive weight.
        """
        self.check_model(model)
        some, labels = labels_of_some(rng, model.table, model.row_weights, model.prior.n_components)
        resp = np.zeros((model.table.n_rows, int(labels.max()) + 1))
        resp[some, labels] = 1.0
        concentration = model.prior.initial_concentration()
        begun = state_of(model, arranged(model, resp, concentration), concentration, model.likelihood)
        return following(model, begun, self.swept(begun, model)[0])

    def step(
        self, rng: np.random.Generator, state: CollapsedVariationalState, model: Model
    ) -> tuple[CollapsedVariationalState, CollapsedVariationalInfo]:
        """One sweep over the rows in their order, then merge moves if they are due; no random numbers are used."""
        resp, moved, entropy = self.swept(state, model)
        after = replace(following(model, state, resp), n_sweeps=state.n_sweeps + 1)
        change = moved / model.total
        if change <= self.tol or after.n_sweeps % EVERY == 1:
            smaller = merged(model, without_dust(model, after))
            if smaller.n_components < after.n_components:
                after, change = replace(smaller, n_sweeps=0), np.inf
        objective = bound_without_entropy(model.prior, state) + entropy
        return after, CollapsedVariationalInfo(objective, state.n_components, change)

    def responsibilities(self, state: CollapsedVariationalState, model: Model) -> np.ndarray:
        """Shares (n, K) of the model's rows."""
        return state.resp

    def collapsed_bound(self, state: CollapsedVariationalState, model: Model) -> float:
        """The collapsed bound itself, L_CVB = E_q log p(rows, labels) + H(q), of a few rows: a sum over all labels.

        It is between the bound that a step reports and the log evidence, and in the same units as the former: those of
        the model, with the log densities of what is learned. The sum over labellings is one over the sizes that
        components can have and, component by component, over the subsets of rows that it can hold. Cost O(2^n K) for n
        rows; more than 16 rows, counted by their weights, are refused.

        References
        ----------
        Wang, Domeniconi and Laskey (2010), section 5.3.
        """
        self.check_model(model)
        return collapsed_bound(model, state)

    def swept(self, state: CollapsedVariationalState, model: Model) -> tuple[np.ndarray, float, float]:
        """Responsibilities after a sweep, how much of the rows it moved, and the entropy before it."""
        resp, sizes = state.resp.copy(), state.sizes.copy()
        learned = replace(model, likelihood=state.likelihood)
        slots = learned.state_from(state.stats)
        weights = model.row_weights.astype(np.float64)
        prior = _component_prior(model.prior, state.concentration)
        scratch = Scratch(np.empty(sizes.size), np.empty(sizes.size))
        if self.order == 1:
            moved, entropy = first_order_sweep(model.shared_rows, slots, prior, weights, resp, sizes, scratch)
        else:
            spread = learned.state_from(model.shared_stats(resp * (1.0 - resp)))
            variances = Variances(*_size_variances(resp, weights))
            moved, entropy = second_order_sweep(
                model.shared_rows, slots, spread, prior, weights, resp, sizes, variances, scratch
            )
        return resp, moved, entropy


def _component_prior(prior: LabelledComponents, concentration: float) -> ComponentPrior:
    if isinstance(prior, StickBreaking):
        return ComponentPrior(np.array([concentration]), np.array([prior.n_components], dtype=np.int64))
    return ComponentPrior(np.array([prior.shift(concentration)]), np.zeros(1, dtype=np.int64))


def _size_variances(resp: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances (K,) of the components' sizes, and of the summed size of each and all behind it."""
    tails = np.minimum(np.cumsum(resp[:, ::-1], axis=1)[:, ::-1], 1.0)
    return weights @ (resp * (1.0 - resp)), weights @ (tails * (1.0 - tails))
