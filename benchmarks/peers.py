"""Other programs that find groups, each with its defaults, as one function from a table to a `Fit`.

Numeric columns are standardised. Columns of text become one column of 0 and 1 per category, except for StepMix, which
takes categories. Numbers of groups from 1 to 20 are compared by BIC, one start each. Gaussian components have full or
diagonal covariance, whichever BIC prefers, and diagonal ones where there are more than 50 columns; those of
BayesianGaussianMixture are full or, there, diagonal. StepMix does not see tables of more than 200 000 cells, which take
it many minutes. k-means is told the number of classes. Log densities are in the units of the table.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from benchmarks.table import stepmix

MOST_GROUPS = 20
MOST_FULL_COLUMNS = 50
MOST_STEPMIX_CELLS = 200_000
SKLEARN = f"scikit-learn {version('scikit-learn')}"


class Fit(NamedTuple):
    """The groups of a table, and what else the method has to say."""

    labels: np.ndarray
    n_groups: int
    log_densities: Callable[[pd.DataFrame], np.ndarray] | None = None  # of rows never seen
    hierarchy: Callable[[], Any] | None = None
    remarks: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class NotMeasuredError(Exception):
    """The method does not take the table; the message says why."""


Method = Callable[[pd.DataFrame, int, int], Fit]  # of rows, number of classes (for those that are told) and seed


class Encoding:
    """Numbers standardised and categories coded, by what the fitted rows have; constant columns are left out."""

    def __init__(self, rows: pd.DataFrame):
        varying = [name for name in rows if rows[name].nunique() > 1]
        self.numeric = [name for name in varying if is_numeric_dtype(rows[name])]
        self.levels = {name: sorted(rows[name].unique()) for name in varying if name not in self.numeric}
        numbers = rows[self.numeric].to_numpy(dtype=float)
        self.means, self.deviations = numbers.mean(axis=0), numbers.std(axis=0)

    def numbers(self, rows: pd.DataFrame) -> np.ndarray:
        """Standardised numeric columns (n, d)."""
        return (rows[self.numeric].to_numpy(dtype=float) - self.means) / self.deviations

    def codes(self, rows: pd.DataFrame) -> np.ndarray:
        """Categories as whole numbers from 0 (n, M)."""
        coded = [pd.Categorical(rows[name], levels).codes for name, levels in self.levels.items()]
        return np.column_stack(coded).astype(float) if coded else np.zeros((len(rows), 0))

    def cells(self, rows: pd.DataFrame) -> np.ndarray:
        """All columns as numbers, one per category (n, d')."""
        codes = self.codes(rows)
        dummies = [codes[:, [m]] == np.arange(len(levels)) for m, levels in enumerate(self.levels.values())]
        return np.hstack([self.numbers(rows), *dummies])

    @property
    def log_scale(self) -> float:
        """What a log density of standardised numbers exceeds that in the units of the table by."""
        return float(np.log(self.deviations).sum())


def gaussian_bic(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
    """`GaussianMixture`, the number of components and the kind of covariance chosen by BIC."""
    encoding = Encoding(rows)
    cells = encoding.cells(rows)
    kinds = ("full", "diag") if cells.shape[1] <= MOST_FULL_COLUMNS else ("diag",)
    models = [gaussian_mixture(cells, k, kind, seed) for kind in kinds for k in range(1, MOST_GROUPS + 1)]
    best = min((one for one in models if one is not None), key=lambda one: one.bic(cells))
    return fit_of(best, encoding, cells, {"covariance": best.covariance_type})


def gaussian_mixture(cells: np.ndarray, k: int, kind: str, seed: int) -> GaussianMixture | None:
    """One fit, None where a covariance breaks down."""
    try:
        return GaussianMixture(k, covariance_type=kind, random_state=seed).fit(cells)
    except ValueError:
        return None


def bayesian_gaussian(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
    """`BayesianGaussianMixture` of 20 components, of which those with rows count."""
    encoding = Encoding(rows)
    cells = encoding.cells(rows)
    kind = "full" if cells.shape[1] <= MOST_FULL_COLUMNS else "diag"
    model = BayesianGaussianMixture(n_components=MOST_GROUPS, covariance_type=kind, random_state=seed).fit(cells)
    return fit_of(model, encoding, cells, {"covariance": kind})


def fit_of(model: Any, encoding: Encoding, cells: np.ndarray, remarks: dict[str, Any]) -> Fit:
    """The answer of a Gaussian mixture, which has a density where no column is of categories."""

    def log_densities(rows: pd.DataFrame) -> np.ndarray:
        return model.score_samples(encoding.cells(rows)) - encoding.log_scale

    labels = model.predict(cells)
    return Fit(labels, np.unique(labels).size, None if encoding.levels else log_densities, remarks=remarks)


def stepmix_bic(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
    """StepMix, numbers as continuous and text as categorical, the number of classes chosen by BIC."""
    if rows.size > MOST_STEPMIX_CELLS:
        raise NotMeasuredError(f"more than {MOST_STEPMIX_CELLS} cells")
    encoding, estimator = Encoding(rows), stepmix()
    widths = {"continuous": len(encoding.numeric), "categorical": len(encoding.levels)}
    measurement = {kind: {"model": kind, "n_columns": width} for kind, width in widths.items() if width}

    def cells(some: pd.DataFrame) -> np.ndarray:
        return np.hstack([encoding.numbers(some), encoding.codes(some)])

    def log_densities(some: pd.DataFrame) -> np.ndarray:
        return np.array([best.score(cells(some)) - encoding.log_scale])  # their mean, which is all it gives

    options = {"measurement": measurement, "random_state": seed, "progress_bar": 0}
    models = [estimator(n_components=k, **options).fit(cells(rows)) for k in range(1, MOST_GROUPS + 1)]
    best = min(models, key=lambda one: one.bic(cells(rows)))
    labels = best.predict(cells(rows))
    return Fit(labels, np.unique(labels).size, log_densities)


def hdbscan(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
    """HDBSCAN; rows that it calls noise are one group for the score, and none in the number of groups."""
    labels = HDBSCAN(copy=True).fit_predict(Encoding(rows).cells(rows))
    return Fit(labels, np.unique(labels[labels >= 0]).size, remarks={"noise": round(float(np.mean(labels < 0)), 4)})


def kmeans_told(rows: pd.DataFrame, n_classes: int, seed: int) -> Fit:
    """k-means with as many groups as there are classes, the best of ten starts."""
    if n_classes == 1:
        raise NotMeasuredError("told that there is one group")
    labels = KMeans(n_classes, n_init=10, random_state=seed).fit_predict(Encoding(rows).cells(rows))
    return Fit(labels, np.unique(labels).size)


PEERS: dict[str, Method] = {
    "gaussian-bic": gaussian_bic,
    "bayesian-gaussian": bayesian_gaussian,
    "stepmix-bic": stepmix_bic,
    "hdbscan": hdbscan,
    "kmeans-told": kmeans_told,
}
