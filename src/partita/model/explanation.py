"""Why a row is in its group rather than in the next best one, column by column."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies
from scipy.special import logsumexp

from partita.model.model import Model
from partita.model.predictive import Clusters
from partita.table import Table
from partita.table.schema import Schema
from partita.table.source import warn_of_extra
from partita.wording import count_of, name_some, printable

SHOWN_COLUMNS = 10
LARGEST_LOG_ODDS = np.log(1e6)


@dataclass(frozen=True)
class Explanation:
    """What speaks for a row's group against the runner-up.

    ``str()`` of it is a short text, the weightiest columns first.

    Parameters
    ----------
    label : int
        The row's group.
    runner_up : int
        The most probable other group; -1 where there is only one.
    prior : float
        Nats in favour of ``label`` by the sizes of the groups alone.
    log_weights : dict
        Column name to nats in favour of ``label`` against ``runner_up``; 0 for a missing cell. Under a full
        covariance a column's weight is the average of its terms in the chain rule through the columns in their
        order and in the reverse order; of two columns these are the Shapley values.
    values : dict
        Column name to the row's value in the user's units, None where it is missing.
    """

    label: int
    runner_up: int
    prior: float
    log_weights: dict[str, float]
    values: dict[str, Any]

    @property
    def total(self) -> float:
        """Log odds of ``label`` against ``runner_up``: prior and all columns together.

        Where each of the two is impossible by some column nothing but the prior tells, as in ``predict_proba``.
        """
        total = self.prior + sum(self.log_weights.values())
        return self.prior if np.isnan(total) else total

    def __str__(self) -> str:
        if self.runner_up < 0:
            return f"Group {self.label} is the only one."
        lines = [f"Group {self.label} against group {self.runner_up}: {self.total:+.2f} nats ({_odds(self.total)})."]
        ranked = sorted(self.log_weights, key=lambda name: -abs(self.log_weights[name]))
        shown = {name: printable(name) for name in ranked[:SHOWN_COLUMNS]}
        width = max(map(len, [*shown.values(), "group sizes"]))
        for name, words in shown.items():
            value = "missing" if self.values[name] is None else _short(self.values[name])
            lines.append(f"  {words:{width}}  {self.log_weights[name]:+8.2f}  {value}")
        rest = ranked[SHOWN_COLUMNS:]
        if rest:
            weight = sum(self.log_weights[name] for name in rest)
            lines.append(f"  {'others':{width}}  {weight:+8.2f}  {count_of(len(rest), 'column')}")
        return "\n".join([*lines, f"  {'group sizes':{width}}  {self.prior:+8.2f}"])


def explain(model: Model, clusters: Clusters, groups: np.ndarray, row: Table, label: int | None = None) -> Explanation:
    """Explain the group of a table's only row: ``label``, or else the most probable one.

    Sums of log weights are exact: with C completions of missing cells of the fitted table, and a group that is united
    of clusters k with weights w_k, what a column contributes is the difference of log (1/C) sum_c sum_k w_k p_ck(cells
    up to it). ``groups`` (K,) is the group of every cluster.
    """
    pieces = clusters.log_joint(model, row)[0, :-1]
    joint, seats = _by_group(pieces, groups), _by_group(clusters.log_seats[:-1], groups)
    label = int(joint.argmax()) if label is None else label
    columns = row.decode(row.numeric, row.codes, row.counts)
    values = {column.name: _plain(columns[column.name][0]) for column in row.schema.used if not column.part_of}
    if joint.size == 1:
        return Explanation(label, -1, 0.0, dict.fromkeys(values, 0.0), values)
    others = np.delete(np.arange(joint.size), label)
    possible = joint[others] if np.isfinite(joint[others]).any() else seats[others]
    runner_up = int(others[possible.argmax()])
    pair = [np.flatnonzero(groups == group) for group in (label, runner_up)]
    orders = [_contributions(model, clusters, pair, row, reverse) for reverse in (False, True)]
    found = 0.5 * (np.stack(orders[0]) + np.stack(orders[1]))
    by_name = dict(zip(model.likelihood.column_names(row.schema), _difference(*found).tolist()))
    for name, flag in row.schema.zero_flags.items():
        by_name[name] += by_name.pop(flag.name)
    prior = float(seats[label] - seats[runner_up])
    return Explanation(label, runner_up, prior, {name: by_name[name] for name in values}, values)


def _difference(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """own - other, 0 where both are impossible."""
    return np.where(own == other, 0.0, own - np.where(own == other, 0.0, other))


def _by_group(logs: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Log sums (G,) of exponentials by group."""
    return np.array([logsumexp(logs[groups == group]) for group in range(int(groups.max()) + 1)])


def _contributions(
    model: Model, clusters: Clusters, pair: list[np.ndarray], row: Table, reverse: bool
) -> list[np.ndarray]:
    """What each column adds to the row's log density in two groups, (2, d) in the family's order of columns."""
    way = slice(None, None, -1 if reverse else 1)
    terms = clusters.terms(model, row, reverse=reverse)[:, 0, :, way]
    return [_of_group(terms[:, pieces], clusters.log_seats[pieces])[way] for pieces in pair]


def _of_group(terms: np.ndarray, log_seats: np.ndarray) -> np.ndarray:
    """What each column adds (d,) to the log density of a group, given the terms (C, k, d) of its clusters."""
    if terms.shape[:2] == (1, 1):  # also exact where a cell is impossible
        return terms[0, 0]
    start = np.broadcast_to((log_seats - logsumexp(log_seats))[:, None], (*terms.shape[:2], 1))
    sums = logsumexp(np.cumsum(np.concatenate([start, terms], axis=2), axis=2), axis=(0, 1))
    with np.errstate(invalid="ignore"):
        added = np.diff(sums)
    return np.where(np.isnan(added), 0.0, added)  # after a cell that is impossible in all of them


def read_row(row: Any, schema: Schema, read: Callable[[Any, Schema], Table]) -> Table:
    """One row as a table of the fitted schema.

    ``row`` is a table of one row, a mapping from column names to values, or one value per column; ``read`` makes a
    table of rows.
    """
    table = read(_as_table(row, schema.names), schema)
    if table.n_rows != 1:
        raise ValueError(
            f"explain takes one row, got {table.n_rows}: pass one of them, or its name or position in fit."
        )
    return table


def _as_table(row: Any, names: tuple[str, ...]) -> Any:
    if isinstance(row, Mapping):
        return [_in_order({str(name): value for name, value in row.items()}, names)]
    if dependencies.is_into_series(row):
        values = nw.from_native(row, series_only=True).to_list()
        labels = [str(label) for label in getattr(row, "index", ())]
        return [_in_order(dict(zip(labels, values)), names) if set(labels) & set(names) else values]
    if isinstance(row, list | tuple):
        is_table = bool(row) and all(isinstance(part, list | tuple | np.ndarray) for part in row)
        return row if is_table else [list(row)]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row[None]
    if dependencies.is_into_dataframe(row) or np.ndim(row) == 2:
        return row
    raise TypeError(
        "row must be a position in the fitted table (a whole number), a name in its index, a table of one row or one"
        f" value per column, not {type(row).__name__}."
    )


def _in_order(given: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    absent = [name for name in names if name not in given]
    if absent:
        raise ValueError(
            f"The row lacks columns seen in fit: {name_some(absent, len(absent))}. A missing cell is given as None."
        )
    warn_of_extra(list(given), names)
    return [given[name] for name in names]


def _plain(value: Any) -> Any:
    """The cell as a built-in type, None for nan."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and np.isnan(value) else value


def _odds(nats: float) -> str:
    if abs(nats) >= LARGEST_LOG_ODDS:
        odds = "more than a million"
    else:
        ratio = np.exp(abs(nats))
        odds = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    return f"odds {odds} to 1" if nats >= 0 else f"odds 1 to {odds}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)
