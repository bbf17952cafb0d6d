"""Speed of the exact core: ``python -m benchmarks.core [part ...]``, BLAS threads pinned to 1.

Parts: categorical, gaussian, blobs, large, slope. Ratios compare times of one run on one machine.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import sys  # noqa: E402
import time  # noqa: E402
import tracemalloc  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numba  # noqa: E402
import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.mixture import BayesianGaussianMixture  # noqa: E402

from benchmarks.generators import blobs, gaussian_groups, label_table  # noqa: E402
from partita import Mixture, Table  # noqa: E402
from partita.engines import Gibbs  # noqa: E402
from partita.engines.gibbs import GibbsState  # noqa: E402
from partita.families import Categorical, Family, Gaussian  # noqa: E402
from partita.model.model import Model  # noqa: E402
from partita.priors import DirichletProcess  # noqa: E402


def main() -> None:
    parts: dict[str, Callable[[], None]] = {
        "categorical": categorical_sweep,
        "gaussian": gaussian_sweep,
        "slope": slope,
        "blobs": blobs_fit,
        "large": large_fit,
    }
    print(f"{'work':<58}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or parts:
        parts[name]()


def row(work: str, measured: str, wanted: str) -> None:
    print(f"{work:<58}{measured:>34}{wanted:>16}", flush=True)


# --- sweeps against bare loops ---------------------------------------------------------------------


@numba.njit
def bare_categorical(codes, table, n_clusters, weights):
    total = 0.0
    for n in range(codes.shape[0]):
        for k in range(n_clusters):
            weights[k] = 1.0
        for m in range(codes.shape[1]):
            y = codes[n, m]
            for k in range(n_clusters):
                weights[k] *= table[m, y, k]
        total += weights[0]
    return total


@numba.njit
def bare_gaussian(x, means, factors):
    total = 0.0
    d = x.shape[1]
    for n in range(x.shape[0]):
        for k in range(means.shape[0]):
            q = 0.0
            for j in range(d):
                y = 0.0
                for c in range(j + 1):
                    y += factors[k, j, c] * (x[n, c] - means[k, c])
                q += y * y
            total += q
    return total


def categorical_sweep() -> None:
    codes, _ = label_table(10_000, 10, 17, np.random.default_rng(0))
    levels = dict.fromkeys(range(codes.shape[1]), "categorical")
    state, model, n_clusters = settled(Categorical(), Table.read(codes, column_types=levels))
    table = np.random.default_rng(1).random((10, 30, n_clusters)) + 0.5
    bare = fastest(lambda: bare_categorical(codes, table, n_clusters, np.empty(n_clusters)))
    sweep = fastest(stepper(state, model))
    cells = codes.size * n_clusters
    title = f"categorical sweep, N = 10^4, M = 10, K = {n_clusters}"
    row(title, f"{sweep / bare:.2f} x bare loop", "<= 5 x")
    row("", f"{1e9 * sweep / cells:.3f} ns per (n,k,m)", "about 0.8")
    row("", f"bare loop {1e9 * bare / cells:.3f} ns", "")


def gaussian_sweep() -> None:
    x, _ = gaussian_groups(1000, 13, 8, np.random.default_rng(0))
    state, model, n_clusters = settled(Gaussian(), Table.read(x))
    means = np.ascontiguousarray(state.slots.mean[:n_clusters])
    factors = np.ascontiguousarray(state.slots.factor[:n_clusters])
    bare = fastest(lambda: bare_gaussian(x, means, factors))
    sweep = fastest(stepper(state, model))
    pairs = x.shape[0] * n_clusters
    row(f"full-covariance sweep, d = 13, n = 1000, K = {n_clusters}", f"{sweep / bare:.2f} x bare loop", "<= 4 x")
    row("", f"{1e6 * sweep / pairs:.3f} us per (row, cluster)", "about 0.3")
    row("", f"bare loop {1e6 * bare / pairs:.3f} us", "")


def settled(family: Family, table: Table, n_sweeps: int = 100) -> tuple[GibbsState, Model, int]:
    """A chain after some sweeps, its model and its number of clusters."""
    model = Model(family.resolve(table), DirichletProcess(), table, np.ones(table.n_rows, dtype=np.int64))
    rng = np.random.default_rng(0)
    engine = Gibbs()
    state = engine.init(rng, model)
    for _ in range(n_sweeps):
        state, info = engine.step(rng, state, model)
    return state, model, info.n_clusters


def stepper(state: GibbsState, model: Model) -> Callable[[], None]:
    """One whole step: scan, merge-split moves, concentration."""
    rng, engine = np.random.default_rng(1), Gibbs()

    def step() -> None:
        nonlocal state
        state, _ = engine.step(rng, state, model)

    return step


def fastest(work: Callable[[], object], repeats: int = 60) -> float:
    """Shortest of many times, so that other programs on the machine matter little."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.min(times))


# --- whole fits against scikit-learn ---------------------------------------------------------------


def peer(**options) -> BayesianGaussianMixture:
    return BayesianGaussianMixture(
        n_components=50, weight_concentration_prior_type="dirichlet_process", random_state=0, **options
    )


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def blobs_fit() -> None:
    warm_up()
    ratios = []
    for seed in range(5):
        X, truth = blobs(10_000, seed)
        ours, model = timed(lambda X=X: Mixture(n_jobs=2, random_state=0).fit(X))
        theirs, other = timed(lambda X=X: peer(max_iter=1000).fit(X))
        ratios.append(ours / theirs)
        ari = adjusted_rand_score(truth, model.labels_)
        row(
            f"fit, 12 blobs, n = 10^4, seed {seed}: ours {ours:.1f} s, peer {theirs:.1f} s ({other.n_iter_} it.)",
            f"{ours / theirs:.2f} x, K = {model.n_clusters_}, ARI {ari:.3f}",
            "<= 4 x, 12",
        )
        row("", f"converged {model.converged_}", "")
    row("worst of the five", f"{max(ratios):.2f} x", "<= 4 x")


def large_fit() -> None:
    warm_up()
    X, truth = blobs(200_000, 0)
    small, _ = blobs(10_000, 0)
    iterations = peer(max_iter=1000).fit(small).n_iter_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        three, _ = timed(lambda: peer(max_iter=3).fit(X))
        six, _ = timed(lambda: peer(max_iter=6).fit(X))
    per_iteration = (six - three) / 3
    theirs = three + per_iteration * max(0, iterations - 3)
    ours, model = timed(lambda: Mixture(chains=2, n_jobs=2, random_state=0).fit(X))
    ari = adjusted_rand_score(truth, model.labels_)
    row(
        f"fit, 12 blobs, n = 2*10^5: ours {ours:.0f} s, peer {theirs:.0f} s ({iterations} it. x {per_iteration:.2f} s)",
        f"{ours / theirs:.2f} x, K = {model.n_clusters_}, ARI {ari:.3f}",
        "<= 0.5 x, 12",
    )


def warm_up() -> None:
    """Load compiled code, so that no time below includes compilation."""
    X, _ = blobs(200, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Mixture(family=Gaussian(), draws=20, random_state=0).fit(X)


def slope() -> None:
    sizes, times, memory = [1_000, 10_000, 100_000], [], []
    for n in sizes:
        X, _ = blobs(n, 0)
        table = Table.read(X)
        tracemalloc.start()
        state, model, n_clusters = settled(Gaussian(), table, n_sweeps=30)
        memory.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        times.append(fastest(stepper(state, model), repeats=20 if n == sizes[-1] else 60))
        row(
            f"sweep, d = 8, n = {n}, K = {n_clusters}",
            f"{1e3 * times[-1]:.2f} ms, peak {memory[-1] / 2**20:.1f} MiB",
            "",
        )
    logs = np.log10(sizes)
    row("log-log slope of time per sweep against n", f"{np.polyfit(logs, np.log10(times), 1)[0]:.2f}", "<= 1.1")
    row("log-log slope of peak memory against n", f"{np.polyfit(logs, np.log10(memory), 1)[0]:.2f}", "about 1")


if __name__ == "__main__":
    main()
