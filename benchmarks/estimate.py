"""Speed of the point estimate: ``python -m benchmarks.estimate [part ...]``, BLAS threads pinned to 1.

Parts: consensus, mcmc, long, million. 16 runs of the search on all cores, variation of information where no other
loss is named. salso's times are those of R's salso 0.3.35 on such a machine; a bare pass is one compiled loop over
draws x objects that counts labels.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numba  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks.generators import kmeans_partitions, noisy_partitions  # noqa: E402
from partita.posterior import LOSSES, Estimate, Posterior  # noqa: E402

SALSO = {1000: 0.07, 5000: 0.27, 20_000: 1.9}
REPEATS = 5


def main() -> None:
    parts: dict[str, Callable[[], None]] = {"consensus": consensus, "mcmc": mcmc, "long": long, "million": million}
    warm_up()
    print(f"{'work':<66}{'measured':>34}{'must reach':>16}")
    for name in sys.argv[1:] or parts:
        parts[name]()


def row(work: str, measured: str, wanted: str = "") -> None:
    print(f"{work:<66}{measured:>34}{wanted:>16}", flush=True)


def warm_up() -> None:
    """Compile or load everything that is timed."""
    draws = noisy_partitions(200, 20, 4, 0.2, seed=0)
    for loss in LOSSES:
        with warnings.catch_warnings(action="ignore"):
            Posterior(draws).estimate(loss=loss, min_support=0.5)
    bare_pass(draws, np.zeros(16, np.int64))


def timed(draws: np.ndarray) -> tuple[float, float, Estimate]:
    """Least seconds of some repetitions, seconds of a bare pass, and the estimate; the draws are new objects every
    time."""
    seconds, bare = np.inf, np.inf
    for _ in range(REPEATS if draws.size < 10**7 else 1):
        posterior = Posterior(draws)
        started = time.perf_counter()
        found = posterior.estimate()
        seconds = min(seconds, time.perf_counter() - started)
        started = time.perf_counter()
        bare_pass(draws, np.zeros(int(draws.max()) + 1, np.int64))
        bare = min(bare, time.perf_counter() - started)
    return seconds, bare, found


@numba.njit
def bare_pass(draws, counts):
    for b in range(draws.shape[0]):
        for i in range(draws.shape[1]):
            counts[draws[b, i]] += 1


def consensus() -> None:
    """Twenty k-means clusterings of overlapping groups: few draws, many different objects."""
    for n, wanted in SALSO.items():
        for spread in (1.0, 2.5):
            draws = kmeans_partitions(n, 20, 10, spread=spread, seed=0)
            seconds, bare, found = timed(draws)
            best = Posterior(draws).estimate(runs=200, random_state=1).expected_loss
            row(
                f"20 partitions, n = {n}, groups of spread {spread}: K = {found.n_clusters}",
                f"{seconds:.3f} s, {seconds / bare:.0f} bare passes",
                f"< {wanted} s",
            )
            row(
                "  expected loss, above that of 200 other runs",
                f"{found.expected_loss:.6f}, {found.expected_loss - best:+.1e}",
            )


def mcmc() -> None:
    """Draws of a sampler: objects that keep their group but for noise."""
    measured = {}
    for n, n_draws in ((1000, 1000), (1000, 4000), (10_000, 1000)):
        draws = noisy_partitions(n, n_draws, 8, 0.05, seed=0)
        seconds, bare, found = timed(draws)
        measured[n, n_draws] = seconds
        row(
            f"{n_draws} draws, n = {n}: K = {found.n_clusters}, expected loss {found.expected_loss:.4f}",
            f"{seconds:.2f} s, {seconds / bare:.0f} bare passes",
        )
    in_objects = np.log(measured[10_000, 1000] / measured[1000, 1000]) / np.log(10)
    in_draws = np.log(measured[1000, 4000] / measured[1000, 1000]) / np.log(4)
    row("log-log slope of time against objects, against draws", f"{in_objects:.2f}, {in_draws:.2f}", "about 1")


def long() -> None:
    """A long chain of a small table, under every loss, from draws that agree to draws of nothing but chance."""
    rng = np.random.default_rng(0)
    chains = {
        "agree": noisy_partitions(344, 12_000, 8, 0.05, seed=0),
        "half at random": noisy_partitions(344, 12_000, 8, 0.5, seed=0),
        "13 groups at random": rng.integers(0, 13, (12_000, 344)),
    }
    for words, draws in chains.items():
        for min_support in (0.0, 0.5):
            slowest, measured = 0.0, []
            for loss in LOSSES:
                posterior = Posterior(draws)
                started = time.perf_counter()
                with warnings.catch_warnings(action="ignore"):  # no draw has the support that is asked for
                    posterior.estimate(loss=loss, min_support=min_support)
                seconds = time.perf_counter() - started
                slowest = max(slowest, seconds)
                measured.append(f"{loss} {seconds:.1f}")
            row(f"12 000 draws, n = 344, {words}, min_support {min_support}", f"slowest loss {slowest:.1f} s", "< 5 s")
            row(f"  {', '.join(measured)}", "")


def million() -> None:
    """A million objects, a hundred draws, thirty groups, 2 % of labels at random."""
    draws = noisy_partitions(10**6, 100, 30, 0.02, seed=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, bare, found = timed(draws)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row(
        f"100 draws, n = 10^6: K = {found.n_clusters}, expected loss {found.expected_loss:.4f}",
        f"{seconds:.1f} s, {seconds / bare:.0f} bare passes",
        "< 180 s",
    )
    row("  peak memory of the process (before)", f"{peak / 1e6:.2f} GB ({before / 1e6:.2f} GB)", "< 4 GB")


if __name__ == "__main__":
    main()
