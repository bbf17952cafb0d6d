"""What draws would say under other concentrations: importance weights, and whether they can be relied on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from partita.files.json_options import record_of
from partita.parameters import is_number
from partita.posterior.cluster_sizes import ClusterSizes, cluster_sizes
from partita.posterior.entropy import are_few, reweighted, tilted_weights, warn_if_few
from partita.posterior.posterior import Posterior
from partita.posterior.recorded import prior_of_draws, refuse_weighted_rows
from partita.priors import DirichletProcess, PitmanYor, Prior


@dataclass(frozen=True)
class Reweighted:
    """The posterior under another concentration.

    Attributes
    ----------
    concentration : float
    ess : float
        Effective draws, 1 / sum of squared weights.
    expected_clusters : float
        Posterior mean of the number of clusters.
    n_clusters : dict of int to float
        Posterior probability of every number of clusters.
    posterior : Posterior
        The same draws with the weights of this concentration.
    reliable : bool
        Whether enough effective draws are left; see `partita.posterior.entropy.are_few`.
    """

    concentration: float
    ess: float
    expected_clusters: float
    n_clusters: dict[int, float]
    posterior: Posterior
    reliable: bool


class Sensitivity(Sequence):
    """One `Reweighted` per concentration, in the order that was asked for; ``str`` is a small table."""

    def __init__(self, records: Sequence[Reweighted]):
        self._records = tuple(records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Reweighted]:
        return iter(self._records)

    def __str__(self) -> str:
        lines = ["concentration  effective draws  expected clusters  most probable"]
        for record in self:
            probability, likely = max((p, k) for k, p in record.n_clusters.items())
            share = f"{likely} ({probability:.2f})"
            doubt = "" if record.reliable else "  unreliable: too few effective draws"
            numbers = (
                f"{record.concentration:>13g}  {record.ess:>15.0f}  {record.expected_clusters:>17.2f}  {share:>13}"
            )
            lines.append(numbers + doubt)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sensitivity of {len(self)} concentrations\n{self}"


def sensitivity(posterior: Posterior, concentrations: Any, prior: Any) -> Sensitivity:
    """Reweight the draws to every concentration; see `Posterior.sensitivity`.

    Under a Dirichlet process or Pitman-Yor prior the ratio of probabilities depends on the number of clusters alone;
    under others it is computed for every distinct list of cluster sizes. Effective draws: Kong, Liu and Wong (1994).
    """
    old = prior_of_draws(prior, posterior.provenance)
    if old is None:
        raise ValueError("It is not recorded under which prior the draws were made: pass prior=...")
    clusters = cluster_sizes(posterior.partitions)
    refuse_weighted_rows(clusters, posterior.provenance)
    representatives, which = _alike(old, clusters)
    log_old = np.array([old.log_probability(labels) for labels in representatives])
    if not np.isfinite(log_old).all():
        raise ValueError(f"Some draws are impossible under {old}: pass the prior=... that they were made with.")
    records = []
    for value in _checked(concentrations):
        new = clone(old).set_params(concentration=value)
        log_new = np.array([new.log_probability(labels) for labels in representatives])
        weights = tilted_weights(posterior.weights, (log_new - log_old)[which])
        instead = "a concentration nearer to that of the draws, or fit at it"
        warn_if_few(weights, posterior.weights, f"Reweighting to concentration {value:g}", instead=instead)
        records.append(_record(posterior, weights, value, new))
    return Sensitivity(records)


def _checked(concentrations: Any) -> list[float]:
    values = np.atleast_1d(np.asarray(concentrations, dtype=object)).ravel().tolist()
    for value in values:
        if not is_number(value):
            raise ValueError(f"concentrations must be finite numbers; got {value!r}.")
    return [float(value) for value in values]


def _alike(prior: Prior, clusters: ClusterSizes) -> tuple[list[np.ndarray], np.ndarray]:
    """Labelings such that every draw's ratio of probabilities is that of one of them, and which one."""
    ends = np.cumsum(clusters.n_clusters)
    by_number = isinstance(prior, DirichletProcess | PitmanYor)
    found: dict[Any, int] = {}
    representatives: list[np.ndarray] = []
    which = np.empty(len(ends), np.int64)
    for draw, (n, k, end) in enumerate(zip(clusters.n_labelled, clusters.n_clusters, ends)):
        sizes = clusters.sizes[end - k : end]
        key = (n, k) if by_number else sizes.tobytes()
        if key not in found:
            found[key] = len(representatives)
            representatives.append(np.repeat(np.arange(k), sizes))
        which[draw] = found[key]
    return representatives, which


def _record(posterior: Posterior, weights: np.ndarray, concentration: float, prior: Prior) -> Reweighted:
    changed = reweighted(posterior, weights, concentration=concentration)
    changed.provenance |= record_of(prior)
    return Reweighted(
        concentration=concentration,
        ess=changed.ess,
        expected_clusters=float(weights @ posterior.partitions.n_clusters()),
        n_clusters=changed.n_clusters(),
        posterior=changed,
        reliable=not are_few(weights, posterior.weights),
    )
