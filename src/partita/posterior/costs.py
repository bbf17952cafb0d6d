"""What a partition costs under a model: the parts of minus its log posterior at the best parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from partita.families.automatic import family_from, guessing, positive_columns
from partita.families.base import Conjugate
from partita.families.powered import powered
from partita.parameters import is_number
from partita.posterior.cluster_sizes import ClusterSizes, cluster_sizes
from partita.posterior.posterior import Posterior
from partita.posterior.recorded import prior_of_draws, refuse_weighted_rows
from partita.priors import DirichletProcess, PitmanYor, Prior
from partita.table import Table

_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Costs:
    """Minus log posterior of every draw, in parts; see `Posterior.costs`.

    Attributes
    ----------
    partition : (n_draws,) array
        Cost of the cluster sizes under the prior.
    likelihood : (n_draws,) array or None
        Cost of the rows given the parameters; None without a table.
    base : (n_draws,) array or None
        Cost of the parameters under their prior; None without a table.
    total : (n_draws,) array
        The sum of the parts that there are.
    """

    partition: np.ndarray
    likelihood: np.ndarray | None
    base: np.ndarray | None
    total: np.ndarray


def costs(posterior: Posterior, prior: Any, family: Any, table: Any) -> Costs:
    """Minus log posterior of every draw, C = C_partition + C_likelihood + C_base.

    C_likelihood = -sum_c sum_{i in c} log k(y_i; theta_c) over observed cells and C_base = -sum_c log p0(theta_c), at
    the parameters theta_c of least C_likelihood + C_base; p0 is the density of a mean and a variance (or covariance),
    of rates, or of shares. Densities are those of the columns as the table stores them. For C_partition see
    `partition_costs`; where the concentration is learned, what it leaves out differs between draws. Rows and columns
    that counted other than once do so here: log k is times the power that is recorded, and a family must say for itself
    which column_weight its columns had.

    With a table the cost is O(draws x objects x clusters). Franzolini and Rebaudo (2022), section 2.
    """
    if family is not None and table is None:
        raise ValueError("family says what the rows of a table look like: pass table=... as well.")
    clusters = cluster_sizes(posterior.partitions)
    chosen = prior_of_draws(prior, posterior.provenance) or DirichletProcess(concentration=1.0)
    refuse_weighted_rows(clusters, posterior.provenance)
    partition = partition_costs(chosen, clusters, _concentrations(chosen, posterior))
    if table is None:
        return Costs(partition, None, None, partition)
    likelihood, base = _parameter_costs(*_model(posterior, family, table), posterior)
    return Costs(partition, likelihood, base, partition + likelihood + base)


def partition_costs(prior: Prior, clusters: ClusterSizes, concentrations: np.ndarray) -> np.ndarray:
    """Partition cost (n_draws,) under a Dirichlet process or Pitman-Yor prior with these concentrations (n_draws,).

    Dirichlet process: -K log alpha - sum_c log G(n_c), that is -log p(partition) without log G(alpha + n) / G(alpha).
    Pitman-Yor: -sum_{c=2..K} log(alpha + sigma (c - 1)) - sum_c log G(n_c - sigma) + K log G(1 - sigma), that is
    without log G(alpha + n) / G(alpha + 1). The paper prints the first sum from c = 1, which fails for alpha <= 0
    and otherwise adds a constant.
    """
    if isinstance(prior, DirichletProcess):
        return -clusters.n_clusters * np.log(concentrations) - clusters.sum(gammaln(clusters.sizes))
    if isinstance(prior, PitmanYor):
        openings = concentrations[clusters.draw] + prior.discount * clusters.rank
        log_openings = np.log(np.where(clusters.rank > 0, openings, 1.0))
        return -clusters.sum(log_openings + prior.log_w(clusters.sizes, 0.0))
    raise ValueError(
        f"The partition cost is that of a Dirichlet process or a Pitman-Yor process, not of {prior}: "
        "pass prior=DirichletProcess(...) or PitmanYor(...)."
    )


def _concentrations(prior: Prior, posterior: Posterior) -> np.ndarray:
    """One concentration per draw: the fixed one, or the drawn ones."""
    if not prior.learns_concentration:
        return np.full(posterior.n_draws, float(prior.concentration))
    if "concentration" not in posterior.traces:
        raise ValueError(
            f"{prior} learns its concentration, but the draws have no trace 'concentration': "
            "pass a prior with a number as concentration."
        )
    return posterior.traces["concentration"].ravel()


def _model(posterior: Posterior, family: Any, table: Any) -> tuple[Conjugate, Any]:
    """The likelihood, its open numbers filled in from the rows that some draw labels, and all rows as it reads them."""
    read = Table.read(table, guess_types=guessing(True, family), **positive_columns(family))
    if read.n_rows != posterior.n_objects:
        raise ValueError(f"The table has {read.n_rows} rows and the draws {posterior.n_objects} objects.")
    taught = (posterior.draws >= 0).any(axis=0)
    shown = Table(read.schema, read.numeric[taught], read.codes[taught], read.counts[taught])
    likelihood = family_from("auto" if family is None else family, shown).resolve(shown)
    if likelihood.draws_cells(likelihood.rows(shown)):
        raise ValueError(
            "Rows with missing cells have no likelihood cost under a full covariance: use "
            "family=Gaussian(covariance='diag'), or leave these rows out of draws and table."
        )
    return _as_drawn(likelihood, posterior.provenance), likelihood.rows(read)


def _as_drawn(likelihood: Conjugate, provenance: Mapping[str, Any]) -> Conjugate:
    """The likelihood to the power of the draws; one that does not say how often columns counted is refused."""
    power = provenance.get("power", 1.0)
    if not (is_number(power) and power > 0.0):
        raise ValueError("The draws record a power that is no positive number: their file was changed.")
    if provenance.get("column_weights") and not likelihood.column_weights:
        raise ValueError(
            "Columns of categories did not count once in the fit of these draws: pass the family that says how often "
            "they did, which is family_ of the estimator."
        )
    return powered(likelihood, float(power))


def _parameter_costs(model: Conjugate, rows: Any, posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Likelihood and base cost (n_draws,) of every draw, some draws at a time."""
    n_clusters = posterior.partitions.n_clusters()
    step = max(1, _NUMBERS_AT_ONCE // (int(n_clusters.max()) * model.n_stats))
    parts = []
    for start in range(0, posterior.n_draws, step):
        some = slice(start, start + step)
        drawn = zip(posterior.draws[some].astype(np.int64), n_clusters[some])
        stats = np.vstack([model.labelled_stats(rows, labels, k) for labels, k in drawn])
        params = model.map_params(stats)
        logs = model.summed_log_likelihood(stats, params), model.log_prior_density(params)
        draw = np.repeat(np.arange(len(n_clusters[some])), n_clusters[some])
        parts.append([-np.bincount(draw, weights=log, minlength=len(n_clusters[some])) for log in logs])
    likelihood, base = np.concatenate(parts, axis=1)
    if not np.isfinite(base).all():
        raise ValueError(
            "The density of some cluster's parameters has no maximum: with a pseudocount (or shape) below 1 it is "
            "infinite where a category that the cluster lacks has share 0 (or a count that is always 0 has rate 0). "
            "Pass a family with a pseudocount or shape of at least 1."
        )
    return likelihood, base
