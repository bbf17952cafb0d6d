"""The experiments of Franzolini and Rebaudo (2022): ``python -m benchmarks.entropy [simulation|wine]``.

Results go to ``benchmarks/results/entropy.json``, with seeds and commit; docs/entropy.md says what they mean. The wine
table is ``wine.csv`` in the folder ``../shared/data``, or in the one that the variable PARTITA_BENCHMARK_DATA names.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import json  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterable, Mapping  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

from partita import Mixture, Posterior, Table  # noqa: E402
from partita.families import Family, Gaussian  # noqa: E402
from partita.posterior import EffectiveSampleSizeWarning  # noqa: E402
from partita.posterior.entropy import resampled_weights  # noqa: E402
from partita.priors import DirichletProcess, Prior  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "entropy.json"
DATA = Path(os.environ.get("PARTITA_BENCHMARK_DATA", ROOT.parent / "shared" / "data"))

MEANS = np.array([-4.0, 0.0, 4.0])
SPARSE = 0.1  # clusters that hold at most this share are sparse, in both of the paper's counts
SHARES = (0.1, 0.05)  # of the objects in sparse clusters, from which a draw counts
PAPER = {0: (4755, 9306), 10: (3981, 7825), 20: (1393, 3366)}  # draws of 15 000, by entropy


def main() -> None:
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {"simulation": simulation, "wine": wine}
    for name in sys.argv[1:] or parts:
        store(name, parts[name]())


def store(part: str, runs: list[dict[str, Any]]) -> None:
    """Put the runs of one part into the file of results and leave the other part as it is."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stored[part] = {"commit": commit(), "runs": runs}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


def commit() -> str:
    """The commit that is checked out, and whether files differ from it."""
    return subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=40"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def fit(X: Any, family: Family, prior: Prior, seed: int, n_iterations: int, burn_in: int) -> Posterior:
    """One chain of so many sweeps, the first of them dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return (
            Mixture(
                family=family,
                prior=prior,
                chains=1,
                draws=n_iterations - burn_in,
                warmup=burn_in,
                random_state=seed,
            )
            .fit(X)
            .posterior_
        )


def regularized(posterior: Posterior, entropy: float) -> Posterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EffectiveSampleSizeWarning)
        return posterior.regularize_entropy(entropy)


def point_estimate(posterior: Posterior) -> np.ndarray:
    """The partition of least expected loss among those of at most as many clusters as a draw has, as in SALSO."""
    most = int(posterior.partitions.n_clusters().max())
    return posterior.estimate(loss="binder", max_clusters=most, runs=4).labels


# --- the simulation study --------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """What the paper leaves open: the shares of the three groups and the variance of the base distribution."""

    shares: tuple[float, float, float]
    base_variance: float

    def data(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of three normal groups with means -4, 0, 4 and standard deviation 1, and the group of each."""
        rng = np.random.default_rng(seed)
        truth = rng.choice(3, size=n, p=self.shares)
        return rng.normal(MEANS[truth])[:, None], truth

    def family(self) -> Gaussian:
        """Normal rows of variance 1 whose means are N(0, base variance)."""
        return Gaussian(covariance="known", mean=0.0, variance=1.0, mean_variance=self.base_variance)


VARIANTS = {
    "shares .5 .3 .2, base N(0, 25)": Variant((0.5, 0.3, 0.2), 25.0),
    "equal shares, base N(0, 25)": Variant((1 / 3, 1 / 3, 1 / 3), 25.0),
    "equal shares, base N(0, 1)": Variant((1 / 3, 1 / 3, 1 / 3), 1.0),
}


def simulation(
    variants: Mapping[str, Variant] = VARIANTS,
    seeds: Iterable[int] = range(5),
    n: int = 1000,
    n_iterations: int = 20_000,
    burn_in: int = 5_000,
) -> list[dict[str, Any]]:
    """Draws with much in sparse clusters before and after regularisation, and the sizes of the estimated clusters."""
    runs = []
    for name, variant in variants.items():
        for seed in seeds:
            X, truth = variant.data(n, seed)
            table = Table.read(X, standardize=False)
            prior = DirichletProcess(concentration=1.0)
            posterior = fit(table, variant.family(), prior, seed, n_iterations, burn_in)
            by_entropy = {str(entropy): counts(posterior, entropy, truth, seed) for entropy in PAPER}
            runs.append({"variant": name, "seed": seed, "n_draws": posterior.n_draws, "entropy": by_entropy})
            report_simulation(runs[-1])
    return runs


def counts(posterior: Posterior, entropy: float, truth: np.ndarray, seed: int) -> dict[str, Any]:
    """Draws, as expected under the weights and as resampled, with at least each of ``SHARES`` in sparse clusters."""
    weighted = regularized(posterior, entropy)
    rng = np.random.default_rng([seed, 4])
    sampled = resampled_weights(weighted.weights, posterior.n_draws, rng) if entropy else posterior.weights
    many = [posterior.sparse_share(SPARSE) >= share for share in SHARES]
    labels = point_estimate(weighted)
    return {
        "counts": [round(float(posterior.n_draws * weighted.weights[draws].sum()), 1) for draws in many],
        "resampled": [round(posterior.n_draws * sampled[draws].sum()) for draws in many],
        "ess": round(weighted.ess, 1),
        "sizes": np.bincount(labels).tolist(),
        "ari": round(float(adjusted_rand_score(truth, labels)), 4),
    }


def report_simulation(run: Mapping[str, Any]) -> None:
    for entropy, found in run["entropy"].items():
        of_paper = PAPER[int(entropy)]
        print(
            f"{run['variant']:<32} seed {run['seed']}  entropy {entropy:>2}: >= 10 %: {found['counts'][0]:>8.0f} "
            f"(paper {of_paper[0]})  >= 5 %: {found['counts'][1]:>8.0f} (paper {of_paper[1]})  "
            f"ESS {found['ess']:>7.0f}  sizes {found['sizes']}",
            flush=True,
        )


# --- wine ------------------------------------------------------------------------------------------

#: On standardised columns; dof = 26 of the default, E[Sigma] = scale / (dof - 14).
SETTINGS: dict[str, tuple[Family, Prior]] = {
    "library defaults, concentration learned": (Gaussian(), DirichletProcess()),
    "concentration 1": (Gaussian(), DirichletProcess(concentration=1.0)),
    "concentration 0.1": (Gaussian(), DirichletProcess(concentration=0.1)),
    "concentration 1, E[Sigma] = 0.2 I": (Gaussian(scale=2.4), DirichletProcess(concentration=1.0)),
    "concentration 1, E[Sigma] = I": (Gaussian(scale=12.0), DirichletProcess(concentration=1.0)),
    "concentration 1, dof 15, E[Sigma] = 0.5 I": (Gaussian(dof=15.0, scale=0.5), DirichletProcess(concentration=1.0)),
    "concentration 1, mean_precision 0.01": (Gaussian(mean_precision=0.01), DirichletProcess(concentration=1.0)),
    "concentration 1, diagonal": (Gaussian(covariance="diag"), DirichletProcess(concentration=1.0)),
}


def wine(
    settings: Mapping[str, tuple[Family, Prior]] = SETTINGS,
    seed: int = 0,
    n_iterations: int = 10_000,
    burn_in: int = 2_000,
    path: Path | None = None,
) -> list[dict[str, Any]]:
    """Number of clusters of the estimate before and after regularisation, and agreement with the three cultivars."""
    X, cultivars = wine_table(path or DATA / "wine.csv")
    runs = []
    for name, (family, prior) in settings.items():
        posterior = fit(X, family, prior, seed, n_iterations, burn_in)
        by_entropy = {str(entropy): clusters(posterior, entropy, cultivars) for entropy in (0, 20, 50)}
        runs.append({"setting": name, "seed": seed, "n_draws": posterior.n_draws, "entropy": by_entropy})
        report_wine(runs[-1])
    return runs


def wine_table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The 13 constituents of 178 wines, and their cultivars."""
    if not path.exists():
        raise SystemExit(f"There is no file {path}: set PARTITA_BENCHMARK_DATA to the folder that holds wine.csv.")
    cells = np.genfromtxt(path, delimiter=",", skip_header=1)
    return cells[:, :13], cells[:, 13].astype(int)


def clusters(posterior: Posterior, entropy: float, cultivars: np.ndarray) -> dict[str, Any]:
    weighted = regularized(posterior, entropy)
    labels = point_estimate(weighted)
    return {
        "sizes": np.bincount(labels).tolist(),
        "ari": round(float(adjusted_rand_score(cultivars, labels)), 4),
        "ess": round(weighted.ess, 1),
        "expected_clusters": round(float(weighted.weights @ posterior.partitions.n_clusters()), 2),
    }


def report_wine(run: Mapping[str, Any]) -> None:
    for entropy, found in run["entropy"].items():
        of_paper = 7 if entropy == "0" else 3
        print(
            f"{run['setting']:<44} entropy {entropy:>2}: K = {len(found['sizes'])} (paper {of_paper})  "
            f"ARI {found['ari']:.3f}  ESS {found['ess']:.0f}  E[K] {found['expected_clusters']:.2f}  {found['sizes']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
