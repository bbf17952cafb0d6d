"""Speed of the textbook methods: ``python -m benchmarks.textbook [section ...]``, BLAS threads pinned to 1.

Sections: em, spectral, eigengap. A section yields rows of work, what was measured and what must be reached. Times are
processor seconds of one thread, so that other programs matter little; ratios compare those of one run on one machine.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import multiprocessing  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.cluster import SpectralClustering as Peer  # noqa: E402
from sklearn.datasets import make_blobs, make_circles, make_moons  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.generators import blobs, separated_blobs  # noqa: E402
from partita.engines import EM  # noqa: E402
from partita.engines.em import ESTIMATES  # noqa: E402
from partita.families import Gaussian  # noqa: E402
from partita.model.model import Model  # noqa: E402
from partita.priors import FiniteDirichlet  # noqa: E402
from partita.spectral import SpectralClustering  # noqa: E402
from partita.table import Table  # noqa: E402

Row = tuple[str, str, str]
PEER_SOLVERS = ("arpack", "lobpcg")  # shift-invert Lanczos, its default, and block conjugate gradients
LONGEST = 120.0  # seconds that a peer may take


def main() -> None:
    sections: dict[str, Callable[[], Iterator[Row]]] = {"em": em, "spectral": spectral, "eigengap": eigengap}
    print(f"{'work':<58}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or sections:
        for one in sections[name]():
            row(*one)


# --- EM against scikit-learn -----------------------------------------------------------------------


def em(n: int = 100_000, d: int = 8, n_components: int = 12, n_iter: int = 20) -> Iterator[Row]:
    """Seconds per iteration from one start, and the log likelihood that both have reached after as many of them."""
    X = make_blobs(n, d, centers=n_components, cluster_std=3.0, random_state=0)[0]
    table = Table.read(X, standardize=False)
    resp = np.random.default_rng(0).dirichlet(np.ones(n_components), n)
    for covariance in ("full", "diag"):
        family, prior = Gaussian(covariance=covariance), FiniteDirichlet(n_components=n_components)
        model = Model(family.resolve(table), prior, table, np.ones(n, dtype=np.int64))
        theirs, reached = peer_iteration(X, model, resp, n_iter)
        work = f"EM, {covariance}, n = {n}, d = {d}, K = {n_components}"
        yield f"{work}: scikit-learn", f"{1e3 * theirs:.0f} ms", ""
        for estimate in ESTIMATES:
            ours, log_likelihood = iteration(EM(estimate=estimate), model, resp, n_iter)
            must = "<= 1.5 x" if covariance == "full" else ""
            yield f"  partita, estimate={estimate!r}", f"{1e3 * ours:.0f} ms, {ours / theirs:.2f} x", must
            if estimate == "ml":
                yield f"  difference of log likelihood per row, {n_iter} steps", f"{log_likelihood - reached:+.1e}", ""


def iteration(engine: EM, model: Model, resp: np.ndarray, n_iter: int) -> tuple[float, float]:
    """Processor seconds of one iteration, and the log likelihood per row after ``n_iter`` of them."""
    state = engine.start(model, resp)
    start = time.process_time()
    for _ in range(n_iter):
        state = engine.step(np.random.default_rng(0), state, model)[0]
    seconds = (time.process_time() - start) / n_iter
    info = engine.step(np.random.default_rng(0), state, model)[1]
    return seconds, info.log_likelihood / model.total


def peer_iteration(X: np.ndarray, model: Model, resp: np.ndarray, n_iter: int) -> tuple[float, float]:
    """The same of scikit-learn's GaussianMixture; what a fit takes besides its iterations is taken off."""
    means, spread = EM(estimate="ml").start(model, resp).params
    covariances = spread @ np.swapaxes(spread, 1, 2) if spread.ndim == 3 else spread**2
    start = {
        "weights_init": resp.mean(axis=0),
        "means_init": model.likelihood.mean + means,
        "precisions_init": np.linalg.inv(covariances) if spread.ndim == 3 else 1.0 / covariances,
    }
    kind = "full" if spread.ndim == 3 else "diag"
    times = []
    for n_more in (1, n_iter):
        mixture = GaussianMixture(len(means), covariance_type=kind, max_iter=n_more, tol=0.0, **start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            before = time.process_time()
            mixture.fit(X)
        times.append(time.process_time() - before)
    return (times[1] - times[0]) / (n_iter - 1), float(mixture.score(X))


# --- spectral clustering against scikit-learn ------------------------------------------------------


class Timed(NamedTuple):
    """Processor seconds of a fit and its agreement with the truth."""

    seconds: float
    agreement: float


def spectral(n: int = 100_000, longest: float = LONGEST) -> Iterator[Row]:
    """Nearest neighbours and K given, whole fits; a peer has a process of its own, ended if it takes too long.

    The ratio to reach is that to the peer's like solver: shift-invert on a surface; in many dimensions, where that does
    not end and the peer has no plain Lanczos, lobpcg.
    """
    tables = {
        "12 blobs apart, d = 8": (*blobs(n, 0), 12, "lobpcg"),
        "12 blobs near, d = 8": (*make_blobs(n, 8, centers=12, cluster_std=3.5, random_state=0), 12, "lobpcg"),
        "2 moons, d = 2": (*make_moons(n, noise=0.08, random_state=0), 2, "arpack"),
    }
    for name, (X, truth, k, like) in tables.items():
        ours = timed_fit(SpectralClustering(n_clusters=k, laplacian="rw", random_state=0), X, truth)
        yield f"spectral, {name}, n = {n}: partita", f"{ours.seconds:.1f} s, ARI {ours.agreement:.3f}", ""
        for solver in PEER_SOLVERS:
            theirs = capped_fit(peer(k, solver), X, truth, longest)
            work = f"  scikit-learn, eigen_solver={solver!r}"
            if theirs is None:
                yield work, f"not done in {longest:.0f} s", ""
            else:
                yield work, f"{theirs.seconds:.1f} s, ARI {theirs.agreement:.3f}", ""
                yield "", f"partita {ours.seconds / theirs.seconds:.2f} x", "<= 1.2 x" if solver == like else ""


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


def timed_fit(estimator: Any, X: np.ndarray, truth: np.ndarray, repeats: int = 2) -> Timed:
    """The shortest of some fits."""
    seconds = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(repeats):
            start = time.process_time()
            labels = estimator.fit(X).labels_
            seconds = min(seconds, time.process_time() - start)
    return Timed(seconds, float(adjusted_rand_score(truth, labels)))


def capped_fit(estimator: Any, X: np.ndarray, truth: np.ndarray, longest: float) -> Timed | None:
    """As `timed_fit`, in a process of its own; None if it is not done in ``longest`` seconds."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        try:
            return pool.apply_async(timed_fit, (estimator, X, truth)).get(longest)
        except multiprocessing.TimeoutError:
            return None


# --- how often the eigengap finds the number of clusters -------------------------------------------


def eigengap(sizes: Sequence[int] = (200, 500, 1000, 2000), seeds: Sequence[int] = (0, 1, 2, 3)) -> Iterator[Row]:
    """The share of tables whose number of clusters is found; "rbf" up to 500 rows. "sym" and "rw" have one spectrum."""
    for name, make, expected in KINDS:
        tables = [(n, make(n, seed)) for n in sizes for seed in seeds]
        for affinity, most in (("nearest_neighbors", max(sizes)), ("rbf", 500)):
            fitting = [X for n, X in tables if n <= most]
            shares = [
                f"{laplacian} {np.mean([fitted_number(X, affinity, laplacian) == expected for X in fitting]):.2f}"
                for laplacian in ("sym", "unnormalized")
            ]
            yield f"eigengap, {affinity}, {name}", ", ".join(shares), ""


def fitted_number(X: np.ndarray, affinity: str, laplacian: str) -> int:
    return SpectralClustering(affinity=affinity, laplacian=laplacian, random_state=0).fit(X).n_clusters_


def moons(noise: float) -> Callable[[int, int], np.ndarray]:
    return lambda n, seed: make_moons(n, noise=noise, random_state=seed)[0]


def circles(noise: float) -> Callable[[int, int], np.ndarray]:
    return lambda n, seed: make_circles(n, noise=noise, factor=0.5, random_state=seed)[0]


def separated(k: int, d: int, separation: float) -> Callable[[int, int], np.ndarray]:
    return lambda n, seed: separated_blobs(k, d, max(n, 40 * k), seed, unequal=seed % 2 == 1, separation=separation)[0]


def cloud(d: int) -> Callable[[int, int], np.ndarray]:
    return lambda n, seed: np.random.default_rng(seed).standard_normal((n, d))


def square(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 2))


def arc(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0.0, np.pi, n)
    return np.c_[np.cos(angles), np.sin(angles)] + 0.03 * rng.standard_normal((n, 2))


KINDS: list[tuple[str, Callable[[int, int], np.ndarray], int]] = [
    *((f"2 moons, noise {noise}", moons(noise), 2) for noise in (0.03, 0.05, 0.08)),
    *((f"2 circles, noise {noise}", circles(noise), 2) for noise in (0.03, 0.05, 0.08)),
    *(
        (f"{k} blobs, d = {d}, {s:g} sd", separated(k, d, s), k)
        for k in (2, 5, 10)
        for d, s in ((2, 6.0), (2, 8.0), (10, 8.0))
    ),
    *((f"1 normal, d = {d}", cloud(d), 1) for d in (2, 10)),
    ("1 square", square, 1),
    ("1 arc, noise 0.03", arc, 1),
]


if __name__ == "__main__":
    main()
