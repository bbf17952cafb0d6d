"""What is typical of every group of a partition, column by column, in the user's own units."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from partita.families.profiles import ColumnProfile, IntervalEstimate
from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.table.dates import date_words
from partita.table.schema import Column
from partita.table.units import from_standard

ESTIMATES = ("mean", "sd", "share")


def profile(model: Model, clusters: Clusters, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Profile of every cluster as named columns of equal length.

    One row per cluster and column, clusters first; of a categorical column one per category. ``mean``, ``sd`` and
    ``share`` are posterior estimates (of ``sd`` the median), each with the ends ``_low`` and ``_high`` of its 95 %
    equal-tailed credible interval; ``relevance`` is how many nats per row the column contributes to telling the
    cluster from the rest. ``n_observed`` is the weight of the cluster's observed cells. What does not apply is nan, or
    None in ``category``, which holds text. ``mean`` of a column of dates is a date as ISO text, and its ``sd`` a number
    of days or seconds. ``mean`` of a positive column is the median, exp(mean of the logs) - offset, and its ``sd`` the
    factor exp(sd of the logs): two thirds of the group lie between the median divided and multiplied by it.

    Parameters
    ----------
    model : Model
        Likelihood, prior and table.
    clusters : Clusters
        Statistics and prior weights of the partition.
    labels : (n,) int
        The partition, -1 for rows in no cluster.
    """
    shares = np.exp(clusters.log_seats[:-1])
    found = model.likelihood.profile(clusters.stats[:, :-1], shares / shares.sum())
    by_name = dict(zip(model.likelihood.column_names(model.table.schema), found))
    n_observed = _observed_weight(model, labels, shares.size)
    parts = [_rows(column, by_name[column.name], n_observed[column.name]) for column in model.table.schema.used]
    return {name: np.concatenate([part[name] for part in parts], axis=1).ravel() for name in parts[0]}


def cluster_means(model: Model, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Weighted means (K, columns) of the observed cells of every cluster of a numeric table, in the user's units.

    Columns are all that came in: a constant one has its value. nan where a cluster has no observed cell. Dates are days
    or seconds since the first; of positive columns these are geometric means, exp(mean of log(x + offset)) - offset,
    and plain ones of columns of which many cells are 0.
    """
    table = model.table
    means = _means(table.numeric, labels, model.row_weights, n_clusters)
    units = dict(zip((column.name for column in table.schema.numeric), table.to_units(means).T))
    constant = {c.name: np.full(n_clusters, c.center) for c in table.schema.columns if not c.part_of}
    if table.schema.zero_flags:
        cells = table.decode(table.numeric, table.codes, table.counts)
        with_zeros = np.column_stack([cells[name] for name in table.schema.zero_flags])
        units |= zip(table.schema.zero_flags, _means(with_zeros, labels, model.row_weights, n_clusters).T)
    return np.column_stack(list((constant | units).values()))


def _means(cells: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_clusters: int) -> np.ndarray:
    """Weighted means (K, d) of the observed cells (n, d) of every cluster; nan where it has none."""
    means = np.full((n_clusters, cells.shape[1]), np.nan)
    for j, column in enumerate(cells.T):
        seen = ~np.isnan(column)
        total = np.bincount(labels[seen], weights[seen], n_clusters)
        sums = np.bincount(labels[seen], weights[seen] * column[seen], n_clusters)
        np.divide(sums, total, out=means[:, j], where=total > 0)
    return means


def _observed_weight(model: Model, labels: np.ndarray, n_clusters: int) -> dict[str, np.ndarray]:
    """Summed weight (K,) of every cluster's observed cells in each column."""
    columns = model.table.schema.by_kind
    weights, cluster = np.where(labels >= 0, model.row_weights, 0), np.maximum(labels, 0)
    return {
        column.name: np.bincount(cluster, weights * cells, n_clusters).astype(np.int64)
        for kind, observed in model.table.observed.items()
        for column, cells in zip(columns[kind], observed.T)
    }


def _rows(column: Column, found: ColumnProfile, n_observed: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of one column, arrays (K, r); r is 1, or the number of levels of a categorical column."""
    n_clusters = n_observed.size
    categories: list[Any] = [str(level) for level in column.levels] if column.kind == "categorical" else [None]
    rows: dict[str, Any] = {
        "cluster": np.arange(n_clusters)[:, None],
        "column": np.array(column.name, dtype=object),
        "kind": np.array(column.kind, dtype=object),
        "category": np.array(categories, dtype=object),
        "n_observed": n_observed[:, None],
    }
    for name in ESTIMATES:
        estimate = getattr(found, name)
        parts = _in_units(column, name, estimate) if estimate is not None else (np.nan, np.nan, np.nan)
        rows |= zip((name, f"{name}_low", f"{name}_high"), parts)
    rows["relevance"] = found.relevance[:, None]
    return {name: np.broadcast_to(values, (n_clusters, len(categories))) for name, values in rows.items()}


def _in_units(column: Column, name: str, estimate: IntervalEstimate) -> Iterable[np.ndarray]:
    """Estimate and interval in the user's units, each (K, r)."""
    if name == "share":
        return estimate
    block = np.stack(estimate)[:, :, None]
    if column.kind == "count":
        return block
    if name == "sd":
        return np.exp(block * column.scale) if column.kind == "positive" else block * column.scale
    means = from_standard(block, [column])
    return date_words(means, column) if column.kind == "date" else means
