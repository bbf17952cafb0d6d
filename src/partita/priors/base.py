"""What every prior over partitions answers to."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp

from partita.parameters import Named, generator_from
from partita.priors.checks import require_above, require_integer
from partita.priors.hyperpriors import Gamma, log_expectation
from partita.priors.measures import Measure, sample_atoms


class Prior(Named, ABC, kind="prior"):
    """A distribution over the partitions of n rows.

    ``concentration`` is a positive number (fixed), ``None`` (learned under ``default_hyperprior``), a ``Gamma``
    (learned under it) or ``Flat()`` (where a variational bound is largest). A subclass brings the four methods
    ``*_given`` a concentration, ``log_cluster_counts``, ``compiled``, ``recompiled``, ``update``,
    ``from_expected_clusters`` and ``examples``.
    """

    #: What it is called within a sentence.
    title: ClassVar[str]
    default_hyperprior: ClassVar[Gamma] = Gamma(1.0, 1.0)
    concentration: Any

    # --- what people call --------------------------------------------------------------------------

    def expected_clusters(self, n: int) -> float:
        """Return the expected number of clusters among n rows."""
        self.check()
        n = require_integer("n", n, at_least=1)
        if not self.learns_concentration:
            return self.expected_clusters_given(n, float(self.concentration))
        return math.exp(
            log_expectation(
                self.hyperprior,
                lambda concentrations: np.log([self.expected_clusters_given(n, float(c)) for c in concentrations]),
                log_range=math.log(n),
                narrowest=0.2,
            )
        )

    def log_probability(self, labels: ArrayLike) -> float:
        """Return the log probability of the partition that the labels describe, whatever their names."""
        self.check()
        sizes = block_sizes(labels)
        if sizes.size == 0:
            return 0.0
        if not self.learns_concentration:
            return self.log_probability_given(sizes, float(self.concentration))
        if not self.possible(sizes):
            return -math.inf
        return float(
            log_expectation(
                self.hyperprior,
                lambda concentrations: np.array([self.log_probability_given(sizes, float(c)) for c in concentrations]),
            )
        )

    def cluster_count_distribution(self, n: int) -> np.ndarray:
        """Return P(K = k), (n + 1,): the probability that n rows fall into k = 0, 1, ..., n clusters.

        Computed, not simulated; a learned concentration is averaged over its hyperprior. Numbers of clusters whose
        probability is below 1e-16 may be given as 0. Cost O(n^2), for n_components = H only O(n H), for
        ``StickBreaking`` O(n H^2); where a learned concentration changes the Stirling numbers, and for
        ``StickBreaking``, times about 100 + 60 sqrt(H) concentrations. What would take more than about half a minute
        is refused.
        """
        self.check()
        n = require_integer("n", n, at_least=0)
        distribution = np.zeros(n + 1)
        if n == 0:
            distribution[0] = 1.0
            return distribution
        log_counts = self.log_cluster_counts(n)
        if self.learns_concentration:
            logs = log_expectation(self.hyperprior, log_counts, narrowest=1.5 / math.sqrt(self.most_clusters(n)))
        else:
            logs = log_counts(np.array([float(self.concentration)]))[0]
        distribution[1 : logs.size + 1] = np.exp(logs)
        return distribution

    def sample_partition(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draw the labels of n rows, numbered 0, 1, ... in order of appearance."""
        self.check()
        n = require_integer("n", n, at_least=0)
        rng = generator_from(random_state)
        if n == 0:
            return np.empty(0, np.int64)
        return self.sample_partition_given(n, rng, self.sample_concentration(rng))

    def sample_weights(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draw the weights (n,) of the first n components; what they leave of 1 belongs to those not listed.

        Dirichlet process and Pitman-Yor break a stick: weight_k = v_k prod_{l<k} (1 - v_l), with v_k ~ Beta(1, alpha)
        and v_k ~ Beta(1 - sigma, alpha + k sigma). A prior with finitely many components gives 0 beyond the last.
        A learned concentration is drawn first.
        """
        self.check()
        n = require_integer("n", n, at_least=0)
        rng = generator_from(random_state)
        return self.sample_weights_given(n, rng, self.sample_concentration(rng))

    def sample_measure(self, base: Callable[..., Any], n: int, random_state: Any = None) -> Measure:
        """Draw G = sum over k of weight_k at atom_k, its first n components.

        Parameters
        ----------
        base : callable
            The base distribution: ``base(n, rng)`` returns n atoms, (n, ...). Parameters are matched by name where
            they are called rng, random_state, generator, random or seed (the generator), or n, size, n_samples, num or
            count (the number), otherwise by position. What takes no number is called once per atom.
            ``scipy.stats.norm(0, 3).rvs``, ``functools.partial(scipy.stats.norm.rvs, scale=3)`` and ``rng.normal``
            will do.
        n : int
            Components to list.
        random_state : int, Generator or RandomState, optional

        Returns
        -------
        Measure
            ``atoms`` (n, ...) and ``weights`` (n,); the weights are those of ``sample_weights`` with the same seed.
        """
        rng = generator_from(random_state)
        weights = self.sample_weights(n, rng)
        return Measure(sample_atoms(base, weights.size, rng), weights)

    @classmethod
    @abstractmethod
    def from_expected_clusters(cls, k: float, n: int, **other_params: Any) -> Self:
        """Return the prior under which n rows fall into k clusters on average."""

    @classmethod
    @abstractmethod
    def examples(cls) -> list[Self]:
        """Instances for the contract tests: at least one fixed and one learned concentration."""

    # --- what engines call -------------------------------------------------------------------------

    @property
    def learns_concentration(self) -> bool:
        """Whether the concentration has a hyperprior."""
        return self.concentration is None or isinstance(self.concentration, Gamma)

    @property
    def hyperprior(self) -> Gamma:
        """The hyperprior of a learned concentration."""
        return self.default_hyperprior if self.concentration is None else self.concentration

    def initial_concentration(self) -> float:
        """Return the fixed concentration, or the mean of its hyperprior."""
        self.check()
        return self.hyperprior.mean if self.learns_concentration else float(self.concentration)

    def sample_concentration(self, rng: np.random.Generator) -> float:
        """Draw the concentration from its hyperprior; a fixed one is given back."""
        return self.hyperprior.sample(rng) if self.learns_concentration else float(self.concentration)

    @abstractmethod
    def update(self, rng: np.random.Generator, sizes: np.ndarray, concentration: float) -> float:
        """Draw the concentration anew given the cluster sizes; a fixed one comes back unchanged."""

    @abstractmethod
    def compiled(self, n: int, concentration: float, max_clusters: int) -> Any:
        """Return the NamedTuple of arrays that kernels read."""

    @abstractmethod
    def recompiled(self, previous: Any, n: int, concentration: float, max_clusters: int) -> Any:
        """Return ``compiled`` after a change of concentration or capacity, sharing what still holds."""

    def order_of(self, compiled: Any) -> np.ndarray | None:
        """The slots of the components in their order; None where they have none."""
        return None

    def in_order(self, compiled: Any, order: np.ndarray) -> Any:
        """The compiled prior with its components in these slots."""
        return compiled

    def least_slots(self) -> int:
        """How many slots the components of a labelled prior stand in; 0 where clusters have no labels."""
        return 0

    def component_sizes(self, compiled: Any, sizes: np.ndarray) -> np.ndarray:
        """The sizes that ``update`` reads, from the sizes of all slots."""
        return sizes[sizes > 0]

    def log_seats(self, sizes: np.ndarray, concentration: float) -> np.ndarray:
        """Log probability (K + 1,) that one more row joins each cluster, and last that it opens one.

        Ratios of partition probabilities, one for every distinct size.
        """
        _, first, of_size = np.unique(sizes, return_index=True, return_inverse=True)
        grown = [np.append(sizes, 1)]
        for k in first:
            grown.append(sizes.copy())
            grown[-1][k] += 1
        opened, *joined = (self.log_probability_given(more, concentration) for more in grown)
        logs = np.append(np.array(joined)[of_size.ravel()], opened)
        return logs - logsumexp(logs)

    # --- what a prior brings -----------------------------------------------------------------------

    @abstractmethod
    def expected_clusters_given(self, n: int, concentration: float) -> float:
        """Return the expected number of clusters at this concentration."""

    @abstractmethod
    def log_probability_given(self, sizes: np.ndarray, concentration: float) -> float:
        """Return the log probability of a partition into blocks of these sizes."""

    @abstractmethod
    def sample_partition_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw labels in order of appearance."""

    def sample_weights_given(self, n: int, rng: np.random.Generator, concentration: float) -> np.ndarray:
        """Draw the weights of the first n components."""
        raise NotImplementedError(f"{type(self).__name__} has no sample_weights_given, which sample_weights needs.")

    def log_cluster_counts(self, n: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function from concentrations (m,) to log P(K = k), (m, most clusters) for k = 1, 2, ..."""
        raise NotImplementedError(f"{type(self).__name__} has no log_cluster_counts, which counting clusters needs.")

    def most_clusters(self, n: int) -> int:
        """The most clusters that n rows can fall into, but for a probability of 1e-16."""
        return n

    def possible(self, sizes: np.ndarray) -> bool:
        """Whether a partition into blocks of these sizes has positive probability."""
        return True

    def check(self) -> None:
        """Refuse parameters outside their range; runs when a prior is used, not when it is made."""
        if isinstance(self.concentration, Gamma):
            self.concentration.check()
        elif self.concentration is not None:
            require_above("concentration", self.concentration, 0.0, hint="None or Gamma(shape, rate) learns it")


def block_sizes(labels: ArrayLike) -> np.ndarray:
    """Return the sizes of the blocks of a labelling, or refuse what is none."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or (labels.size and not np.issubdtype(labels.dtype, np.integer)):
        raise ValueError(
            f"labels must be a one-dimensional array of integers; got {labels.dtype} of shape {labels.shape}."
        )
    return np.unique(labels, return_counts=True)[1]


def in_order_of_appearance(labels: np.ndarray) -> np.ndarray:
    """Rename labels to 0, 1, ... in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def solve_increasing(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return x in (low, high), both positive, where an increasing function reaches the target."""
    log_x = brentq(lambda x: function(math.exp(x)) - target, math.log(low), math.log(high), xtol=1e-14)
    return math.exp(log_x)
