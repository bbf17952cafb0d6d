"""How well the draws hold an estimated cluster together, and apart from the others."""

from dataclasses import dataclass

import numpy as np

from partita.kernels.contingency import add_support
from partita.posterior.condensing import Condensed

MOST_CLUSTERS = 4096
"""Clusters up to which all pairs of them are compared: 128 MB."""

OWN_COMPANY = 0.9
"""Company from which a cluster counts as held together, however seldom its pairs are."""

_CELLS_TOGETHER = 1 << 22


@dataclass(frozen=True)
class Support:
    """What the draws say for every cluster of an estimate.

    Attributes
    ----------
    company : (n_clusters,) array
        How much of the company that its objects have in the draws is of the cluster, beyond chance: 1 where all of it
        is, 0 where it is as in a draw at random. An object that is alone counts as in the company of its own.
    together : (n_clusters,) array
        How often two objects of the cluster are together; of a single object how often it is alone.
    apart : (n_clusters,) array
        How often an object of the cluster and one of another are apart, for the other cluster where that is least; 1
        where there is no other.
    nearest : (n_clusters,) int array
        That other cluster.
    confidence : (n_clusters,) array
        How much of the company that its objects have in the draws is of the cluster, chance included: how surely they
        are in it, on average.
    """

    company: np.ndarray
    together: np.ndarray
    apart: np.ndarray
    nearest: np.ndarray
    confidence: np.ndarray

    @property
    def least(self) -> np.ndarray:
        """The smallest of ``together``, ``apart`` and ``confidence``: what ``min_support`` is about.

        A large group that every draw cuts up in another way has hardly any company but its own, while its pairs are
        seldom together. It is a group all the same: where ``company`` is at least `OWN_COMPANY` it stands for
        ``together``. And a few objects between large groups, which the draws put together now into one of these and now
        into another, are no group: hardly any of their company is their own.
        """
        together = np.where(self.company >= OWN_COMPANY, self.company, self.together)
        return np.minimum(np.minimum(together, self.apart), self.confidence)


def support_of(labels: np.ndarray, draws: Condensed) -> Support:
    """Support of the clusters 0 .. K - 1 of a partition of the atoms; -1 is in none.

    With n_k, n_l and n_kl the objects of cluster k, of a draw's label l and of both, among n that the draw labels,

        together_k = sum_b w_b sum_l n_kl (n_kl - 1) / sum_b w_b n_k (n_k - 1),
        company_k = (P_k - F_k) / (1 - F_k),
        confidence_k = P_k = sum_b w_b sum_l n_kl (n_kl - 1) / (n_l - 1) / sum_b w_b n_k  (an object alone adds 1),
        F_k = sum_b w_b n_k (n_k - 1) / (n - 1) / sum_b w_b n_k,

    and apart_k = 1 - max_m of the share of pairs between k and m that are together. What no draw can tell is 1.

    Cost: draws x (atoms + K^2 x labels), less where labels meet few clusters.
    """
    n_clusters = int(labels.max()) + 1
    if n_clusters > MOST_CLUSTERS:
        raise ValueError(
            f"The support of {n_clusters:,} clusters needs all pairs of them, which are too many above"
            f" {MOST_CLUSTERS:,}: limit the estimate with max_clusters=."
        )
    kept = np.flatnonzero(labels >= 0)
    sums = _Sums(labels[kept].astype(np.int64), draws.counts[kept], n_clusters, int(draws.labels.max()) + 1)
    step = max(1, _CELLS_TOGETHER // max(len(kept), n_clusters))
    for start in range(0, len(draws.labels), step):
        some = slice(start, start + step)
        sums.add(np.ascontiguousarray(draws.labels[some][:, kept]), draws.weights[some])
    return sums.support()


class _Sums:
    """Weighted sums over pairs and over objects, draw after draw."""

    def __init__(self, clusters: np.ndarray, counts: np.ndarray, n_clusters: int, n_labels: int):
        self.clusters, self.counts, self.n_labels = clusters, counts, n_labels
        self.single = np.bincount(clusters, weights=counts, minlength=n_clusters) == 1
        self.shared = np.zeros((n_clusters, n_clusters))  # pairs that share a label
        self.pairs = np.zeros((n_clusters, n_clusters))
        self.own, self.by_chance, self.objects = np.zeros((3, n_clusters))

    def add(self, labels: np.ndarray, weights: np.ndarray) -> None:
        sizes = np.zeros((len(labels), len(self.own)))
        add_support(self.clusters, labels, weights, self.counts, self.n_labels, sizes, self.shared, self.own)
        n_seen = weights @ sizes
        np.fill_diagonal(self.shared, np.diag(self.shared) - n_seen)  # an object is no pair with itself
        self.pairs += (sizes.T * weights) @ sizes - np.diag(n_seen)
        self.objects += n_seen
        others = np.maximum(sizes.sum(axis=1) - 1.0, 1.0)
        self.by_chance += (weights / others) @ (sizes * (sizes - 1.0))

    def support(self) -> Support:
        seen = self.objects > 0
        own, chance = (
            np.divide(part, self.objects, out=np.ones(len(part)), where=seen) for part in (self.own, self.by_chance)
        )
        company = np.divide(own - chance, 1.0 - chance, out=np.ones(len(own)), where=seen & (chance < 1.0))
        share = np.divide(self.shared, self.pairs, out=np.full_like(self.shared, np.nan), where=self.pairs > 0)
        together = np.where(self.single, own, np.nan_to_num(np.diag(share), nan=1.0))
        np.fill_diagonal(share, 0.0)
        between = np.nan_to_num(share, nan=0.0)
        apart = 1.0 - between.max(axis=1)
        np.fill_diagonal(between, -1.0)
        return Support(company, together, apart, between.argmax(axis=1), own)
