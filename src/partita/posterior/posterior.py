"""Posterior: weighted draws of partitions, their traces, and where they come from."""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.files.container import building_from, read_container, write_container
from partita.files.layouts import MIXTURE, POSTERIOR
from partita.partitions import Partitions
from partita.posterior.alignment import align
from partita.posterior.cluster_sizes import sparse_share
from partita.posterior.condensing import checked_weights, condense
from partita.posterior.credible_ball import CredibleBall, credible_ball
from partita.posterior.diagnostics import Diagnostics, diagnose
from partita.posterior.entropy import effective_draws, regularize_entropy
from partita.posterior.estimate import Estimate, EstimateOptions, estimate
from partita.posterior.estimate.expected import vi_to_draws
from partita.posterior.estimate.losses import Loss
from partita.posterior.modes import Mode, modes
from partita.posterior.similarity import similarity

if TYPE_CHECKING:
    from partita.posterior.costs import Costs
    from partita.posterior.hierarchy import Hierarchy
    from partita.posterior.sensitivity import Sensitivity

MOST_JUDGES = 32
"""Chains whose last draw all others are compared with."""


class Posterior:
    """Draws of a partition, and what can be read from them.

    Parameters
    ----------
    partitions : Partitions or array-like of int, (chain, draw, object) or (draw, object)
        Labels of any numbering; -1 means not labelled. Two dimensions are one chain.
    weights : array-like, (n_draws,), optional
        Non-negative weights of the draws, chain after chain; equal by default.
    traces : mapping of str to (chain, draw) array, optional
        Numbers that go with the draws. By default ``n_clusters`` and ``entropy`` (nats) are computed.
    provenance : mapping, optional
        Where the draws come from; anything that JSON can hold.

    Examples
    --------
    >>> posterior = Posterior([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> posterior.estimate().labels
    array([0, 0, 1, 1])
    >>> posterior.n_clusters()
    {2: 1.0}
    """

    def __init__(
        self,
        partitions: Any,
        *,
        weights: Any = None,
        traces: Mapping[str, Any] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ):
        labels = partitions if isinstance(partitions, Partitions) else Partitions(partitions)
        self.partitions = labels if len(labels.shape) == 3 else Partitions(np.asarray(labels)[None])
        self.weights = checked_weights(weights, self.n_draws)
        self.traces = self._checked_traces(traces)
        self.provenance = _jsonable(provenance)

    @classmethod
    def from_draws(cls, draws: Any, *, weights: Any = None, max_unpacked: int | None = None) -> "Posterior":
        """Read draws that were made elsewhere: one row per draw, one column per object.

        Parameters
        ----------
        draws : array-like, frame, list of labelings, path, Partitions or Posterior
            Labels of shape (n_draws, n_objects) or (chain, draw, object): an array of numbers, text or objects; a list
            of lists, tuples or arrays; a pandas, polars or pyarrow frame; the path of a CSV, Parquet, .npy or .npz
            file, or of one that `save` wrote. Labels are anything hashable. -1, None, nan, NaT, NA and an empty cell of
            a file mean that the object is not observed in that draw.
        weights : array-like, (n_draws,) or (chain, draw), optional
            Non-negative weights of the draws; equal by default, or those that a Posterior has.
        max_unpacked : int, optional
            Bytes that a compressed file may become; by default what its size allows (``docs/draws.md``).

        Returns
        -------
        Posterior
            ``provenance["objects"]`` holds the names of the objects where the columns have some.

        Raises
        ------
        OSError, TypeError, ValueError
            With the draw and the object that cannot be used.

        Notes
        -----
        Integers are not copied before labels are made canonical; other labels cost a dictionary look-up each. For the
        rules on files see ``docs/draws.md``.
        """
        from partita.posterior.reading import read_draws

        return read_draws(draws, weights, max_unpacked)

    def __repr__(self) -> str:
        clusters = self.n_clusters()
        likely = max(clusters, key=lambda k: clusters[k])
        drawn = (
            f"{self.partitions.shape[1]} draws"
            if self.n_chains == 1
            else f"{self.n_chains} chains x {self.partitions.shape[1]} draws"
        )
        words = f"most probable: {likely} clusters, probability {clusters[likely]:.2f}"
        return f"Posterior({drawn} of {self.n_objects} objects; {words})"

    @property
    def draws(self) -> np.ndarray:
        """Canonical labels of all draws, chain after chain, (n_draws, n_objects)."""
        return self.partitions.flat

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return self.partitions.shape[0]

    @property
    def n_draws(self) -> int:
        """Number of draws of all chains together."""
        return self.partitions.shape[0] * self.partitions.shape[1]

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return self.partitions.n_objects

    @property
    def ess(self) -> float:
        """Effective number of draws, 1 / sum of squared weights; how the draws depend on each other is not in it."""
        return effective_draws(self.weights)

    def n_clusters(self) -> dict[int, float]:
        """Posterior probability of every number of clusters that was drawn."""
        values, which = np.unique(self.partitions.n_clusters(), return_inverse=True)
        probabilities = np.bincount(which.ravel(), weights=self.weights)
        return {int(k): float(p) for k, p in zip(values, probabilities) if p > 0}

    def similarity(self, *, allow_large: bool = False) -> np.ndarray:
        """Co-clustering probabilities of all pairs, a dense (n_objects, n_objects) array.

        A draw counts for the pairs that it labels; a pair that no draw labels is nan. Above 20 000
        objects this needs ``allow_large=True``. Cost O(n_draws x atoms^2).
        """
        return similarity(condense(self.partitions, self.weights), allow_large=allow_large)

    def estimate(
        self,
        *,
        loss: str | Loss = "vi",
        entropy: float = 0.0,
        resample: bool = False,
        max_clusters: int | str | None = None,
        min_size: int | None = None,
        min_support: float = 0.0,
        runs: int = 16,
        n_jobs: int | None = -1,
        random_state: Any = 0,
    ) -> Estimate:
        """Find the partition of least expected loss: the answer that the draws give together.

        Parameters
        ----------
        loss : str or Loss
            "vi" (variation of information, nats), "binder", "one-minus-ari", "nvi", "nid", "zero-one" (most probable
            partition) or "vi-lb"; or an object with options, such as ``VI(a=0.5)``: see
            `partita.posterior.estimate.losses`.
        entropy : float
            Draws get the weight exp(entropy * S), S the entropy of their cluster shares to base K: a positive number
            (the paper's lambda, say 20) favours clusters of like size over dust. See `regularize_entropy`.
        resample : bool
            Sample draws with replacement by these weights, as the paper prints, instead of using them: more noise.
        max_clusters : int or "n", optional
            At most so many clusters. By default as many as the largest draw has; "n" is as many as there are objects.
        min_size : int, optional
            At least so many objects in every cluster.
        min_support : float
            A cluster is given up where its pairs are less often together, or less often apart from those of another
            cluster, or less of their company is their own: see `Support`. 0.5 asks for more often than not.
            ``Estimate.support_cost`` says what that adds to the expected loss.
        runs : int
            Starts of the search.
        n_jobs : int or None
            Starts at the same time, as in joblib: None is 1, -1 all cores. The result does not depend on it.
        random_state : int, RandomState, Generator or None
            Of the starts; None is another seed every time.

        Notes
        -----
        The search is SALSO's (Dahl, Johnson and Mueller, 2022), see `partita.posterior.estimate.search`. Expected
        losses are exact: from contingency tables of all draws, never from an n x n matrix. Objects that are together
        in every draw move as one.

        Where the draws agree on nothing, every object alone has the least expected loss. With ``max_clusters=None``
        that is not an answer: the best of the others is, and ``Estimate.verdict`` says that groups are not determined.
        """
        options = EstimateOptions(max_clusters, min_size, min_support, runs, n_jobs, random_state)
        return estimate(self.partitions, self.weights, loss, options, entropy=entropy, resample=resample)

    def credible_ball(self, *, level: float = 0.95, loss: Any = "vi") -> CredibleBall:
        """The smallest ball around the estimate that holds a share of the posterior, and its extreme partitions.

        Parameters
        ----------
        level : float
            Share of the draws' weight that the ball holds at least, above 0 and at most 1.
        loss : str or loss object
            What the estimate minimises and distances are measured in; any loss between two partitions.

        Returns
        -------
        CredibleBall
            The centre (``labels``), the ``radius`` and three bounds as labelings: ``horizontal`` (the farthest draw),
            ``upper`` (the fewest clusters) and ``lower`` (the most). Wade and Ghahramani (2018).
        """
        return credible_ball(self, level=level, loss=loss)

    def modes(self, n: int, *, loss: Any = "vi") -> list[Mode]:
        """The heaviest modes of the posterior, at most ``n``: distinct partitions with few draws between them.

        One mode means that the estimate speaks for all draws. A mode holds at least 5 % of the weight and at least
        five draws, and differs from every other in several objects that move together; an object that goes its
        own way shows in ``estimate().confidence`` instead. Nothing is random. See ``docs/uncertainty.md``.

        Parameters
        ----------
        n : int
            The most modes to return; ``modes(2)`` are the first two of ``modes(5)``.
        loss : str or loss object
            What modes minimise over their draws and distances are measured in; any loss between two partitions.

        Returns
        -------
        list of Mode
            Heaviest first, each with ``labels``, ``weight``, ``expected_loss`` and ``n_clusters``.
        """
        return modes(self, n, loss=loss)

    def hierarchy(self, labels: Any = None) -> "Hierarchy":
        """The estimated clusters as pieces, merged down to one group, each time the two most often together.

        Parameters
        ----------
        labels : array-like, (n_objects,), optional
            The pieces, by labels of any kind; -1, None or nan for an object that has none. By default those of
            `estimate`.

        Returns
        -------
        Hierarchy
            Its overlap is how often objects of two groups share a cluster, relative to how often those of one group
            do: `partita.posterior.draws_hierarchy.CoclusteringOverlap`. Its memberships are `membership_probabilities`.
        """
        from partita.posterior.draws_hierarchy import hierarchy_of_draws

        return hierarchy_of_draws(self, labels)

    def regularize_entropy(self, entropy: float) -> "Posterior":
        """The draws, weighted in favour of those whose clusters are of like size.

        Weights are the old ones times exp(entropy S), S = -sum_c n_c/n log_K(n_c/n) the entropy of a draw's cluster
        shares with logarithms to base K, 0 for one cluster (Franzolini and Rebaudo 2022, Algorithm 1). A few large
        clusters and much dust have low entropy, so a positive number takes weight from such draws; it may be negative,
        and 0 changes nothing. When few effective draws are left it warns (`EffectiveSampleSizeWarning`); `ess` says how
        many.
        """
        return regularize_entropy(self, entropy)

    def sparse_share(self, threshold: float = 0.1) -> np.ndarray:
        """Share of every draw's objects that are in clusters holding at most ``threshold`` of them, (n_draws,).

        Shares are of the objects that the draw labels; a cluster of exactly that share counts. Cost O(draws x objects).
        """
        return sparse_share(self.partitions, threshold)

    def costs(self, *, prior: Any = None, family: Any = None, table: Any = None) -> "Costs":
        """Minus log posterior of every draw: partition, likelihood and base cost; see `partita.posterior.costs`.

        Parameters
        ----------
        prior : DirichletProcess, PitmanYor or the name of one, optional
            By default the recorded prior of the draws; where none is recorded ``DirichletProcess(concentration=1.0)``.
            A learned concentration is read, draw by draw, from the trace ``"concentration"``.
        family : Family or name of one, optional
            As in `Mixture`: by default what suits the table.
        table : Table, frame, array or path, optional
            The rows that were clustered, one per object. Without it there is a partition cost only. Anything but a
            `Table` is read as `Mixture` reads it by default, numeric columns standardised.

        Returns
        -------
        Costs
            Arrays (n_draws,) ``partition``, ``likelihood``, ``base`` and ``total``.
        """
        from partita.posterior.costs import costs

        return costs(self, prior, family, table)

    def sensitivity(self, concentrations: Any, *, prior: Any = None) -> "Sensitivity":
        """What the draws would say under other fixed concentrations of their prior, without a new fit.

        Draws are weighted by p(partition | new) / p(partition | old); ``prior``, the old one, is by default the one
        on record, and a concentration that it learned is integrated out. The further the concentration, the fewer draws
        carry weight: a record that rests on few of them is marked, with an `EffectiveSampleSizeWarning`. The result
        has one record per concentration, and ``print`` shows a table.
        """
        from partita.posterior.sensitivity import sensitivity

        return sensitivity(self, concentrations, prior)

    def align(self, other_labels: Any, *, labels: Any = None) -> np.ndarray:
        """Labels of a refit, renamed to match earlier ones: ``refit.posterior_.align(first.labels_)``.

        Parameters
        ----------
        other_labels : array-like, (n_objects,)
            The earlier labels of the same objects, of any kind; -1, None or nan where there is none. Labels that are
            no whole numbers stand for 0, 1, ... by first appearance.
        labels : array-like, (n_objects,), optional
            The labels to rename; by default those of `estimate`.

        Returns
        -------
        (n_objects,) int64 array
            As many objects as possible have their earlier label; a cluster without a counterpart has a number
            above all earlier ones.
        """
        return align(self.estimate().labels if labels is None else labels, other_labels, self.n_objects)

    def diagnostics(self) -> Diagnostics:
        """R-hat and effective sample size of every trace, and one plain verdict.

        ``"membership"`` is the variation of information of every draw from the last draw of each chain, of more than
        32 chains from those of 32: it tells chains that agree on the number of clusters from chains that agree on
        the clusters. Weights are not used.
        """
        n_chains, n_draws = self.partitions.shape[:2]
        judges = np.unique(np.linspace(1, n_chains, min(n_chains, MOST_JUDGES)).astype(int))
        membership = vi_to_draws(judges * n_draws - 1, self.partitions).reshape(len(judges), n_chains, n_draws)
        return diagnose(self.traces, membership)

    def save(self, path: str | os.PathLike) -> None:
        """Write everything to one file, all of it or nothing; see ``docs/file-format.md``."""
        write_container(path, POSTERIOR, *self.to_container())

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Posterior":
        """Read what `save` wrote, or the posterior in a file of ``Mixture.save``.

        A file that was changed, cut or is from a newer version is refused.
        """
        header, arrays = read_container(path, POSTERIOR, MIXTURE)
        with building_from(path):
            return cls.from_container(header, arrays)

    def to_container(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Header and arrays of a file that holds this posterior."""
        arrays = {"partitions": np.asarray(self.partitions), "weights": self.weights}
        arrays |= {f"traces/{name}": trace for name, trace in self.traces.items()}
        return {"traces": list(self.traces), "provenance": self.provenance}, arrays

    @classmethod
    def from_container(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Posterior":
        """The posterior in a file's header and arrays."""
        return cls(
            arrays["partitions"],
            weights=arrays["weights"],
            traces={name: arrays[f"traces/{name}"] for name in header["traces"]},
            provenance=header["provenance"],
        )

    def to_arviz(self) -> Any:
        """Convert to an ArviZ DataTree: the traces, and ``partition`` (chain, draw, object)."""
        try:
            from arviz_base import from_dict
        except ImportError as error:
            raise ImportError("to_arviz needs arviz-base: pip install 'partita[arviz]'.") from error
        values = {**self.traces, "partition": np.array(self.partitions)}
        return from_dict({"posterior": values}, dims={"partition": ["object"]})

    def _checked_traces(self, traces: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
        shape = self.partitions.shape[:2]
        if traces is None:
            counts, entropies = self.partitions.n_clusters(), [_entropy(draw) for draw in self.draws]
            traces = {"n_clusters": counts.reshape(shape), "entropy": np.reshape(entropies, shape)}
        checked = {name: np.array(trace, dtype=np.float64) for name, trace in traces.items()}
        for name, trace in checked.items():
            if trace.shape != shape:
                raise ValueError(f"Trace {name!r} must have shape (chain, draw) = {shape}; got {trace.shape}.")
        return checked


def _entropy(canonical_labels: np.ndarray) -> float:
    """Entropy of the cluster shares in nats; canonical labels can be counted without sorting."""
    sizes = np.bincount(canonical_labels[canonical_labels >= 0])
    return float(sizes @ np.log(sizes.sum() / sizes) / sizes.sum()) if len(sizes) else 0.0


def _jsonable(provenance: Mapping[str, Any] | None) -> dict[str, Any]:
    """The provenance as it will be after a round trip through a file."""
    try:
        return json.loads(json.dumps(dict(provenance or {}), default=_plain))
    except (TypeError, ValueError) as error:
        raise TypeError(f"provenance must hold only what JSON can hold: {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON-able")
