"""Speed of the textbook methods: ``python -m benchmarks.textbook [section ...]``, BLAS threads pinned to 1.

Sections: spectral. A section returns rows of work, what was measured and what must be reached; ratios compare times of one
run on one machine.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import multiprocessing  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.cluster import SpectralClustering as Peer  # noqa: E402
from sklearn.datasets import make_moons  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.generators import blobs  # noqa: E402
from partita.spectral import SpectralClustering  # noqa: E402

Row = tuple[str, str, str]
PEER_SOLVERS = ("arpack", "lobpcg")  # shift-invert Lanczos, its default, and block conjugate gradients
LONGEST = 120.0  # seconds that a peer may take


def main() -> None:
    sections: dict[str, Callable[[], Iterator[Row]]] = {"spectral": spectral}
    print(f"{'work':<58}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or sections:
        for one in sections[name]():
            row(*one)


# --- spectral clustering against scikit-learn ------------------------------------------------------


class Timed(NamedTuple):
    """Seconds of a fit and its agreement with the truth."""

    seconds: float
    agreement: float


def spectral(n: int = 100_000, longest: float = LONGEST) -> Iterator[Row]:
    """Nearest neighbours and K given: whole fits, each peer in a process of its own that is ended if it takes too long."""
    tables = {"12 blobs, d = 8": (*blobs(n, 0), 12), "moons, d = 2": (*make_moons(n, noise=0.1, random_state=0), 2)}
    for name, (X, truth, k) in tables.items():
        ours = timed_fit(SpectralClustering(n_clusters=k, laplacian="rw", random_state=0), X, truth)
        yield f"spectral, {name}, n = {n}, K = {k}: partita", f"{ours.seconds:.1f} s, ARI {ours.agreement:.3f}", ""
        for solver in PEER_SOLVERS:
            theirs = capped_fit(peer(k, solver), X, truth, longest)
            work = f"  scikit-learn, eigen_solver={solver!r}"
            if theirs is None:
                yield work, f"not done in {longest:.0f} s", "<= 1.2 x"
            else:
                yield work, f"{theirs.seconds:.1f} s, ARI {theirs.agreement:.3f}", ""
                yield "", f"partita {ours.seconds / theirs.seconds:.2f} x", "<= 1.2 x"


def peer(n_clusters: int, solver: str) -> Peer:
    return Peer(
        n_clusters,
        affinity="nearest_neighbors",
        n_neighbors=10,
        eigen_solver=solver,
        assign_labels="kmeans",
        n_init=10,
        n_jobs=1,
        random_state=0,
    )


def timed_fit(estimator: Any, X: np.ndarray, truth: np.ndarray) -> Timed:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        start = time.perf_counter()
        labels = estimator.fit(X).labels_
    return Timed(time.perf_counter() - start, float(adjusted_rand_score(truth, labels)))


def capped_fit(estimator: Any, X: np.ndarray, truth: np.ndarray, longest: float) -> Timed | None:
    """As `timed_fit`, in a process of its own; None if it is not done in ``longest`` seconds."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        try:
            return pool.apply_async(timed_fit, (estimator, X, truth)).get(longest)
        except multiprocessing.TimeoutError:
            return None


if __name__ == "__main__":
    main()
