"""Read draws from a file and find the partition that sums them up."""

import time
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from partita.parameters import choose
from partita.posterior import Estimate, Posterior
from partita.posterior.losses import LOSSES
from partita.posterior.reading import object_names
from partita.runs.collecting import collecting


@dataclass(frozen=True)
class SummaryRequest:
    """A file of draws and how it is to be summed up.

    Parameters
    ----------
    draws : Path
        Whatever `Posterior.from_draws` reads from a file.
    loss, max_clusters, min_size, min_support, runs, seed
        As in `Posterior.estimate`; ``loss`` by name.
    entropy : float
        As in `Posterior.regularize_entropy`; 0 leaves the weights of the draws as they are.
    max_unpacked : int or None
        Bytes that a compressed file may become, as in `Posterior.from_draws`.
    """

    draws: Path
    loss: str = "vi"
    entropy: float = 0.0
    max_clusters: int | str | None = None
    min_size: int | None = None
    min_support: float = 0.0
    runs: int = 16
    seed: int = 0
    max_unpacked: int | None = None

    def check(self) -> None:
        """Refuse what cannot be asked for, before anything is read."""
        choose("--loss", self.loss, LOSSES)
        if not isfinite(self.entropy):
            raise ValueError(f"--entropy must be a finite number; got {self.entropy}.")

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has."""
        return vars(self) | {"draws": str(self.draws)}


@dataclass(frozen=True)
class DrawsRead:
    """Draws as they were in the file, and what was said when they were read."""

    request: SummaryRequest
    posterior: Posterior
    warnings: list[str]


@dataclass(frozen=True)
class Summary:
    """Draws and the partition that sums them up.

    Attributes
    ----------
    given : DrawsRead
    posterior : Posterior
        The draws with the weights that the estimate used: those of the file, times those of the entropy.
    estimate : Estimate
    seconds : float
    warnings : list of str
    """

    given: DrawsRead
    posterior: Posterior
    estimate: Estimate
    seconds: float
    warnings: list[str]

    @property
    def sizes(self) -> np.ndarray:
        """Objects of every cluster, the largest first."""
        return np.bincount(self.estimate.labels[self.estimate.labels >= 0])

    @property
    def ess(self) -> float:
        """How many equally weighted draws these are worth: 1 / sum of squared weights."""
        return float(1.0 / np.sum(self.posterior.weights**2))

    @property
    def object_names(self) -> list[Any]:
        """Names of the objects, or numbers from 0."""
        return object_names(self.posterior)


def read_draws_file(request: SummaryRequest) -> DrawsRead:
    """Check the request and read its file; raises OSError, TypeError or ValueError with a sentence."""
    request.check()
    with collecting() as said:
        posterior = Posterior.from_draws(request.draws, max_unpacked=request.max_unpacked)
    return DrawsRead(request, posterior, said)


def summarize(given: DrawsRead) -> Summary:
    """Weight the draws and find the partition of least expected loss."""
    started = time.perf_counter()
    with collecting() as said:
        weighted = _weighted(given)
        found = _estimate(weighted, given.request)
    return Summary(given, weighted, found, time.perf_counter() - started, given.warnings + said)


def _weighted(given: DrawsRead) -> Posterior:
    lam = given.request.entropy
    return given.posterior.regularize_entropy(lam) if lam else given.posterior


def _estimate(posterior: Posterior, request: SummaryRequest) -> Estimate:
    return posterior.estimate(
        loss=request.loss,
        max_clusters=request.max_clusters,
        min_size=request.min_size,
        min_support=request.min_support,
        runs=request.runs,
        n_jobs=-1,
        random_state=request.seed,
    )
