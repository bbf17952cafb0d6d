"""Speed of consensus clustering and of the variational engines: ``python -m benchmarks.nbce_speed [section ...]``.

Sections: ensemble, iteration, large, gaussian. BLAS threads are pinned to 1; ratios compare times of one run on one
machine. R's salso took 1.9 s on data and a machine like those of "ensemble" (stated, not measured here).
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import multiprocessing  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator, Mapping, Sequence  # noqa: E402
from types import MappingProxyType  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numba  # noqa: E402
import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from scipy.sparse.linalg import svds  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.mixture import BayesianGaussianMixture  # noqa: E402

from benchmarks.core import row  # noqa: E402
from benchmarks.generators import blobs, ensemble  # noqa: E402
from partita import Mixture  # noqa: E402
from partita.consensus import NBCE  # noqa: E402
from partita.engines import Variational  # noqa: E402
from partita.families import Categorical  # noqa: E402
from partita.model.model import Model  # noqa: E402
from partita.priors import StickBreaking  # noqa: E402
from partita.table import Table  # noqa: E402

Row = tuple[str, str, str]
N_CLUSTERINGS = 20
N_GROUPS = 10
SALSO_SECONDS = 1.9
GIBBS_SWEEPS = {"chains": 2, "draws": 10, "warmup": 10}  # of the large tables


def main() -> None:
    sections: dict[str, Callable[[], Iterator[Row]]] = {
        "ensemble": consensus,
        "iteration": iteration,
        "large": large,
        "gaussian": gaussian,
    }
    print(f"{'work':<58}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or sections:
        for one in sections[name]():
            row(*one)


# --- consensus, the number of clusters unknown -----------------------------------------------------


def consensus(n: int = 20_000, options: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Row]:
    """Whole fits of every engine with its defaults, compiled beforehand, and a spectral cut that is told K."""
    Y, truth = ensemble(n, N_CLUSTERINGS, N_GROUPS, np.random.default_rng(0))
    base = np.mean([adjusted_rand_score(truth, column) for column in Y.T])
    yield f"NBCE, n = {n}, M = {N_CLUSTERINGS}, {N_GROUPS} groups: base ARI", f"{base:.2f}", ""
    for engine, must in (("vb", f"< {SALSO_SECONDS} s"), ("cvb", ""), ("gibbs", "")):
        compile_first(engine, Y)
        model, seconds = timed(lambda e=engine: NBCE(engine=e, random_state=0, **options).fit(Y))
        reached = adjusted_rand_score(truth, model.labels_)
        yield f"  {engine}", f"{seconds:.2f} s", must
        yield "", f"ARI {reached:.3f}, K = {model.n_clusters_}", ">= .98, 10..13"
    labels, seconds = timed(lambda: spectral_cut(Y, N_GROUPS))
    reached = adjusted_rand_score(truth, labels)
    yield "  spectral cut of objects and clusters, told K", f"{seconds:.2f} s, ARI {reached:.3f}", ""


def compile_first(engine: str, Y: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        NBCE(engine=engine, random_state=0, draws=2, warmup=1, chains=1).fit(Y[:300])


def spectral_cut(Y: np.ndarray, n_clusters: int) -> np.ndarray:
    """Sparse SVD of the scaled n x sum(J) indicator, then k-means of the rows (Dhillon 2001)."""
    indicator = indicators(Y)
    scale = 1.0 / np.sqrt(np.maximum(indicator.sum(axis=0), 1.0) * Y.shape[1])
    left, _, _ = svds(indicator @ sparse.diags_array(scale), k=n_clusters, random_state=0)
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-12)
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(left)


def indicators(Y: np.ndarray) -> sparse.csr_array:
    offsets = np.concatenate([[0], np.cumsum(Y.max(axis=0) + 1)])
    starts = np.arange(0, Y.size + 1, Y.shape[1])
    return sparse.csr_array((np.ones(Y.size), (Y + offsets[:-1]).ravel(), starts), shape=(len(Y), offsets[-1]))


# --- one iteration against a bare loop -------------------------------------------------------------


@numba.njit
def bare_loop(position, table, out):  # OUT: out
    """Of every row and component the sum over columns of ``table[position]``, times a weight."""
    for n in range(position.shape[0]):
        total = np.zeros(table.shape[1])
        for m in range(position.shape[1]):
            values = table[position[n, m]]
            for k in range(table.shape[1]):
                total[k] += 0.5 * values[k]
        out[n] = total[0]


def iteration(n: int = 20_000, numbers: Sequence[int] = (12, 25, 100), repeats: int = 15) -> Iterator[Row]:
    """The shortest of some iterations with as many components as stated, every row spread over all of them."""
    Y, _ = ensemble(n, N_CLUSTERINGS, N_GROUPS, np.random.default_rng(0))
    table = Table.read(Y.astype(str), standardize=False)
    engine = Variational(merge=False)
    for k in numbers:
        prior = StickBreaking(n_components=k, concentration=1.0)
        model = Model(Categorical().resolve(table), prior, table, np.ones(n, dtype=np.int64))
        state = engine.start(model, np.random.default_rng(0).dirichlet(np.ones(k), n))
        position = model.shared_rows.position
        numbers_by_label = np.random.default_rng(0).random((position.max() + 1, k))
        out = np.empty(n)
        bare = shortest(lambda a=numbers_by_label, p=position, o=out: bare_loop(p, a, o), repeats)
        ours = shortest(lambda s=state, m=model: engine.step(np.random.default_rng(0), s, m), repeats)
        yield f"one VB iteration, K = {k}: bare loop", f"{1e3 * bare:.1f} ms", ""
        yield "  partita", f"{1e3 * ours:.1f} ms, {ours / bare:.2f} x", "<= 4 x"


def shortest(work: Callable[[], Any], repeats: int) -> float:
    work()
    return min(timed(work)[1] for _ in range(repeats))


# --- many objects ----------------------------------------------------------------------------------


class Measured(NamedTuple):
    """What a fit in a process of its own took."""

    seconds: float
    gigabytes: float
    agreement: float
    n_clusters: int


def large(sizes: Sequence[int] = (200_000, 2_000_000)) -> Iterator[Row]:
    """Seconds and the process's largest memory, the table itself included."""
    for engine in ("vb", "gibbs"):
        before = None
        for n in sizes:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(large_fit, (engine, n))
            yield (
                f"NBCE, {engine}, n = {n}, M = {N_CLUSTERINGS}",
                f"{found.seconds:.1f} s, {found.gigabytes:.2f} GB",
                "< 4 GB" if n == max(sizes) else "",
            )
            yield "", f"ARI {found.agreement:.3f}, K = {found.n_clusters}", ""
            if before is not None:
                yield "  time against the smaller table", f"{found.seconds / before:.1f} x", "<= 12 x"
            before = found.seconds


def large_fit(engine: str, n: int) -> Measured:
    Y, truth = ensemble(n, N_CLUSTERINGS, N_GROUPS, np.random.default_rng(1))
    Y = Y.astype(np.int16)
    options: dict[str, Any] = GIBBS_SWEEPS if engine == "gibbs" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        compile_first(engine, Y)
        model, seconds = timed(lambda: NBCE(engine=engine, random_state=0, **options).fit(Y))
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return Measured(seconds, gigabytes, float(adjusted_rand_score(truth, model.labels_)), model.n_clusters_)


# --- Gaussian blobs against scikit-learn -----------------------------------------------------------


def gaussian(n: int = 200_000, truncation: int = 50, few: int = 4, most: int = 100) -> Iterator[Row]:
    """A whole fit against scikit-learn's time per iteration, from ``few`` of them, times those that it needs.

    The latter are counted on a tenth of the rows, at most ``most``.
    """
    X, truth = blobs(n, 0)
    engine = Variational(truncation=truncation)
    Mixture(engine=engine, random_state=0).fit(X[:500])
    model, ours = timed(lambda: Mixture(engine=engine, random_state=0).fit(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        once = timed(lambda: peer(truncation, 1).fit(X))[1]
        several = timed(lambda: peer(truncation, few).fit(X))[1]
        theirs = peer(truncation, most).fit(X[::10])
    per_iteration = (several - once) / (few - 1)
    whole = per_iteration * theirs.n_iter_
    yield f"VB, n = {n}, d = {X.shape[1]}, 12 blobs, {truncation} components", f"{ours:.1f} s", ""
    yield "", f"K = {model.n_clusters_}, ARI {adjusted_rand_score(truth, model.labels_):.3f}", "K = 12"
    n_used = np.unique(theirs.predict(X[::10])).size
    yield "  scikit-learn, extrapolated", f"{whole:.0f} s, {theirs.n_iter_} iterations, K = {n_used}", ""
    yield "", f"partita {ours / whole:.2f} x", "<= 0.2 x"


def peer(n_components: int, n_iter: int) -> BayesianGaussianMixture:
    return BayesianGaussianMixture(n_components=n_components, max_iter=n_iter, random_state=0)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
