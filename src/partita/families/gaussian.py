"""Gaussian clusters: the options, and what they become given a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from partita.families.algebra.columns import column_moments, per_column, scalar
from partita.families.algebra.scales import LEAST_SCALE
from partita.families.algebra.widths import share_within
from partita.families.base import Conjugate, Family
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.parameters import choose
from partita.priors.hyperpriors import Gamma
from partita.table import Table

#: Options that each kind of covariance reads besides ``mean``.
OPTIONS = {
    "full": ("mean_precision", "dof", "scale", "shape"),
    "diag": ("mean_precision", "dof", "scale", "shape"),
    "known": ("variance", "mean_variance"),
}
MEAN_PRECISION = Gamma(2.0, 100.0)
DIAGONAL_DOF = 7.0
FLAT = 1e-4  # least eigenvalue of the correlations of a shape that is next to flat
LEAST_ROUNDING = 1e-6

FIXED_VARIANCE = 0.5  # of a cluster's column, in units of the column's variance, where nothing is learned
FIXED_MEAN_PRECISION = 0.1
FIXED_DIAGONAL_DOF = 4.0


class Gaussian(Family, name="gaussian"):
    """Gaussian rows; mean and covariance of every cluster are summed out.

    Parameters
    ----------
    covariance : {"full", "diag", "known"}
        full: mean ~ N(mean, Sigma / mean_precision), Sigma ~ IW(dof, scale), E[Sigma] = scale / (dof - d - 1);
        diag: per column s2 ~ IG(dof / 2, scale / 2), mean ~ N(mean, s2 / mean_precision);
        known: per column x ~ N(mu, variance), mu ~ N(mean, mean_variance).
    mean, mean_precision, dof, scale, shape, variance, mean_variance
        The prior, in the units the model sees (standardised columns unless ``standardize=False``). A
        scalar serves all columns; ``scale`` of a full covariance is a d x d matrix or a number times
        the identity. None: mean of the column, dof 3 d + 4 (diag: 7); known: ``variance`` half of the column's,
        ``mean_variance`` the column's.

        ``scale=priors.Gamma(shape, rate)``: scale = s dof (the columns' variances), s > 0 learned from the rows: the
        share of a column's variance that is within a cluster, or more. None: Gamma with mean 0.4 and a shape of 2 and
        an eighth of the table's numeric cells, s no less than the steps explain in which numbers were recorded
        (`partita.families.algebra.widths`). ``mean_precision=priors.Gamma(shape, rate)``: one number for all
        columns, learned likewise; None: Gamma(2, 100). Where ``scale`` is given as numbers, and under engines that do
        not learn, None is what `fixed` says.

        ``shape``, where ``scale`` is not given in numbers: what stands for the columns' variances above, so that
        clusters are expected to be long where it is. A d x d matrix, diag: one number per column.
        `Mixture(family="auto")` finds one in the table (`partita.engines.family_evidence`).

    Examples
    --------
    >>> from partita import Mixture
    >>> model = Mixture(family=Gaussian(covariance="diag"), engine="vb", random_state=0)
    >>> model.fit([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    kind = "numeric"
    reads_logs = True

    def __init__(
        self,
        *,
        covariance: str = "full",
        mean: Any = None,
        mean_precision: Any = None,
        dof: Any = None,
        scale: Any = None,
        shape: Any = None,
        variance: Any = None,
        mean_variance: Any = None,
    ):
        self.covariance = covariance
        self.mean = mean
        self.mean_precision = mean_precision
        self.dof = dof
        self.scale = scale
        self.shape = shape
        self.variance = variance
        self.mean_variance = mean_variance

    def on_columns(self, table: Table, columns: np.ndarray) -> Conjugate:
        """The conjugate model over some of the table's numeric columns."""
        self.check()
        if not is_open(self.scale):
            return self.fixed(table, columns)._resolved(table, columns)
        return self._resolved(table, columns)

    def _resolved(self, table: Table, columns: np.ndarray) -> Conjugate:
        x = table.numeric[:, columns]
        average, variance = column_moments(x, table.row_weights)
        mean = average if self.mean is None else per_column("mean", self.mean, len(columns), positive=False)
        rounding = table.rounding[columns]
        if self.covariance == "known":
            return self._known(mean, variance, columns, rounding)
        hyperpriors = self._hyperpriors(table)
        if self.covariance == "full":
            shape = self._shape(variance)
            model: Any = self._full(mean, shape, columns, hyperpriors, _known_to(rounding, shape))
        else:
            model = self._diagonal(mean, self._shape(variance), columns, not np.isnan(x).any(), hyperpriors, rounding)
        return model.with_learned(**{name: hyperprior.mean for name, hyperprior in hyperpriors.items()})

    def fixed(self, table: Table, columns: np.ndarray) -> "Gaussian":
        """The family of these columns with numbers in place of what it would learn unasked.

        mean_precision 0.1, dof max(2 d, d + 2) (diag: 4), and a scale that expects half of each column's variance
        within a cluster; what was given stays as it is.
        """
        self.check()
        if self.covariance == "known":
            return self
        d, full = len(columns), self.covariance == "full"
        default_dof = float(max(2 * d, d + 2)) if full else FIXED_DIAGONAL_DOF
        options = {
            "dof": default_dof if self.dof is None else self.dof,
            "mean_precision": FIXED_MEAN_PRECISION if self.mean_precision is None else self.mean_precision,
            "scale": self.scale,
        }
        if self.scale is None:
            variance = column_moments(table.numeric[:, columns], table.row_weights)[1]
            dof = scalar("dof", options["dof"], above=d - 1.0) if full else per_column("dof", options["dof"], d)
            expected = FIXED_VARIANCE * np.maximum(dof - (d if full else 1) - 1.0, 1.0)
            options |= {"scale": expected * self._shape(variance), "shape": None}
        return clone(self).set_params(**options)

    def of_one_column(self) -> "Gaussian":
        """A full covariance of one column is its diagonal form, parameter by parameter."""
        self.check()
        if self.covariance != "full":
            return self
        dof, scale, shape = self.dof, self.scale, self.shape
        if not is_open(scale):
            dof, scale = 3.0 if dof is None else dof, spread_matrix("scale", scale, 1)[0, 0]
        if shape is not None:
            shape = spread_matrix("shape", shape, 1)[0, 0]
        return clone(self).set_params(covariance="diag", dof=dof, scale=scale, shape=shape)

    def is_fixed_beside(self, families: Sequence[Family]) -> bool:
        """Whether diagonal columns leave an option open that others of them have numbers for."""
        if self.covariance != "diag":
            return False
        for option in ("scale", "mean_precision"):
            diagonal = [one for one in families if isinstance(one, Gaussian) and one.covariance == "diag"]
            values = [getattr(family, option) for family in diagonal]
            if any(value is None for value in values) and not all(map(is_open, values)):
                return True
        return False

    def _hyperpriors(self, table: Table) -> dict[str, Gamma]:
        """Hyperpriors of scale and mean_precision, those that are to be learned."""
        options = {
            "scale": share_within(table) if self.scale is None else self.scale,
            "mean_precision": MEAN_PRECISION if self.mean_precision is None else self.mean_precision,
        }
        found = {name: option for name, option in options.items() if isinstance(option, Gamma)}
        for name, hyperprior in found.items():
            hyperprior.check()
            hyperprior.require_proper(name)
        if "scale" in found and found["scale"].mean < LEAST_SCALE:
            raise ValueError(f"scale={self.scale!r} has a mean below {LEAST_SCALE:g}, the least share of a variance.")
        return found

    def check(self) -> None:
        """Refuse an unknown covariance and options that it does not use."""
        used = choose("covariance", self.covariance, OPTIONS)
        for option in ("mean_precision", "dof", "scale", "shape", "variance", "mean_variance"):
            if getattr(self, option) is not None and option not in used:
                raise ValueError(
                    f"{type(self).__name__}(covariance={self.covariance!r}) does not use {option}: it reads mean, "
                    f"{', '.join(used)}."
                )
        if self.shape is not None and not is_open(self.scale):
            raise ValueError(
                "shape says where a scale that the table gives is long, and scale is given: leave one out."
            )

    def _shape(self, variance: np.ndarray) -> np.ndarray:
        """What the scale is a multiple of: (d, d), diag: (d,)."""
        if self.covariance == "diag":
            return variance if self.shape is None else per_column("shape", self.shape, len(variance))
        return np.diag(variance) if self.shape is None else spread_matrix("shape", self.shape, len(variance))

    def _full(
        self,
        mean: np.ndarray,
        shape: np.ndarray,
        columns: np.ndarray,
        learned: dict[str, Gamma],
        rounding: np.ndarray,
    ) -> Conjugate:
        d = len(columns)
        dof = 3.0 * d + 4.0 if self.dof is None else scalar("dof", self.dof, above=d - 1.0)
        scale = dof * shape if "scale" in learned else spread_matrix("scale", self.scale, d)
        precision = 1.0 if "mean_precision" in learned else scalar("mean_precision", self.mean_precision)
        return NormalInverseWishart(mean, precision, dof, scale, columns, learned, rounding)

    def _diagonal(
        self,
        mean: np.ndarray,
        shape: np.ndarray,
        columns: np.ndarray,
        complete: bool,
        learned: dict[str, Gamma],
        rounding: np.ndarray,
    ) -> Conjugate:
        d = len(columns)
        dof = per_column("dof", DIAGONAL_DOF if self.dof is None else self.dof, d)
        scale = dof * shape if "scale" in learned else per_column("scale", self.scale, d)
        precision = per_column("mean_precision", 1.0 if "mean_precision" in learned else self.mean_precision, d)
        return NormalInverseGamma(mean, precision, dof, scale, columns, complete, learned, rounding)

    def _known(self, mean: np.ndarray, variance: np.ndarray, columns: np.ndarray, rounding: np.ndarray) -> Conjugate:
        d = len(columns)
        known = FIXED_VARIANCE * variance if self.variance is None else self.variance
        spread = variance if self.mean_variance is None else self.mean_variance
        return NormalKnownVariance(
            mean, per_column("variance", known, d), per_column("mean_variance", spread, d), columns, rounding
        )

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Every covariance on six rows of two columns, cells missing (one for the full covariance).

        Two that learn, and all of numbers that were recorded in large steps.
        """
        x = np.array([[-1.2, 0.3], [-0.9, np.nan], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]])
        more_missing = x.copy()
        more_missing[4, 0] = more_missing[5, 1] = np.nan

        def read(cells: np.ndarray, *steps: float) -> Table:
            return Table.read(cells, standardize=False, column_steps=dict(enumerate(steps or (0.0, 0.0))))

        return [
            (cls(covariance="full", dof=4.0, scale=0.8), read(x)),
            (cls(covariance="diag", mean_precision=0.3), read(more_missing)),
            (cls(covariance="known", variance=0.4), read(more_missing)),
            (cls(scale=Gamma(3.0, 2.0), mean_precision=Gamma(2.0, 5.0)), read(x)),
            (cls(covariance="diag", scale=Gamma(3.0, 2.0)), read(more_missing)),
            (cls(covariance="full", dof=4.5, scale=0.8), read(x, 0.8, 1.5)),
            (cls(covariance="diag", mean_precision=0.3, scale=Gamma(3.0, 2.0)), read(more_missing, 0.8, 1.5)),
            (cls(covariance="known", variance=0.5), read(more_missing, 0.8, 1.5)),
            (cls(dof=14.0, scale=Gamma(3.0, 2.0), shape=[[0.7, 0.2], [0.2, 0.7]]), read(x)),
            (cls(covariance="diag", shape=0.6, scale=Gamma(3.0, 2.0)), read(more_missing)),
        ]


def is_open(option: Any) -> bool:
    """Whether an option is left to the table, and perhaps learned from there on."""
    return option is None or isinstance(option, Gamma)


def spread_matrix(option: str, value: Any, d: int) -> np.ndarray:
    """A positive definite d x d matrix, or a positive number times the identity."""
    try:
        matrix = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{option} must be a number or a {d} x {d} matrix, got {value!r}.") from None
    if matrix.ndim == 0:
        return scalar(option, value) * np.eye(d)
    if matrix.shape != (d, d):
        raise ValueError(f"{option} must be a number or a {d} x {d} matrix, got shape {matrix.shape}.")
    symmetric = np.all(np.isfinite(matrix)) and np.allclose(matrix, matrix.T)
    if not symmetric or np.linalg.eigvalsh(matrix)[0] <= 0:
        raise ValueError(f"{option} must be a symmetric positive definite matrix.")
    return matrix


def _known_to(rounding: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The rounding of columns of a cluster that is expected to have this shape.

    Where that is next to flat, as it is where columns are sums of others, cells are known to `LEAST_ROUNDING` of a
    variance at best: sums that are exact would otherwise say that clusters have no width at all.
    """
    deviations = np.sqrt(shape.diagonal())
    if not len(shape) or np.linalg.eigvalsh(shape / np.outer(deviations, deviations))[0] > FLAT:
        return rounding
    return np.maximum(rounding, LEAST_ROUNDING * shape.diagonal())
