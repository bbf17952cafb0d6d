"""The columns of a table in plain words: what they hold, and what is typical of each group."""

import numpy as np

from partita.mixture import Mixture
from partita.runs.columns import columns_of
from partita.runs.fits import Fit, Input
from partita.runs.words import MOST_GROUPS, missing_in_words, short, some
from partita.table import Table
from partita.wording import count_of

COLUMNS_PER_GROUP = 3
LEAST_RELEVANCE = 0.01  # nats per row that make a column worth naming
FEW_VALUES = 10  # of whole numbers, which may be codes,
LARGEST_CODE = 1e6  # unless they are larger


def describe_input(given: Input) -> list[str]:
    """Rows, columns by kind, missing cells, and what was left out."""
    table, schema, request = given.table, given.table.schema, given.request
    n_missing = int(np.isnan(table.numeric).sum() + (table.codes < 0).sum() + (table.counts < 0).sum())
    gaps = missing_in_words(n_missing, table.n_rows * len(schema.used), "cell")
    lines = [f"{request.table}: {count_of(table.n_rows, 'row')}, {count_of(len(schema.used), 'column')}, {gaps}."]
    kinds = {
        "numbers": [short(column.name) for column in schema.numeric],
        "categories": [f"{short(column.name)} ({len(column.levels)})" for column in schema.categorical],
        "counts": [short(column.name) for column in schema.counts],
        "constant, left out": list(schema.dropped),
        "ignored": list(request.ignore),
        "names the rows": [request.id] if request.id else [],
    }
    lines += [f"  {kind}: {some(names)}" for kind, names in kinds.items() if names]
    codes = _maybe_codes(table)
    if codes:
        lines.append(f"  whole numbers with few values: {some(codes)}; if they are codes, --types NAME=categorical")
    return lines


def describe_groups(fit: Fit) -> list[str]:
    """For every group the columns that tell it from the rest best, with its means and shares."""
    sizes = np.bincount(fit.model.labels_, minlength=fit.model.n_clusters_)  # a component of EM may have no row
    facts = _facts(fit.model, _overall(fit.input.table))
    lines = [
        f"group {k}, {count_of(int(sizes[k]), 'row')}: {'; '.join(facts[k]) or 'no column tells it from the rest'}"
        for k in range(len(facts))
    ]
    left = len(lines) - MOST_GROUPS
    return lines if left <= 0 else [*lines[:MOST_GROUPS], f"and {count_of(left, 'group')} more: see profile.csv"]


def _facts(model: Mixture, everywhere: dict[tuple[str, str], float]) -> list[list[str]]:
    """The most relevant columns of every cluster in words."""
    profile = columns_of(model.profile_)
    chosen: list[dict[str, tuple[float, float, str]]] = [{} for _ in range(model.n_clusters_)]
    for k, column, kind, category, mean, share, relevance in zip(
        *(profile[name] for name in ("cluster", "column", "kind", "category", "mean", "share", "relevance"))
    ):
        if kind == "categorical":
            whole = everywhere[column, str(category)]
            gap, words = share - whole, f"{short(column)} = {short(category)} {share:.0%} ({whole:.0%})"
        else:
            gap, words = 0.0, f"{short(column)} {_number(mean)} ({_number(everywhere[column, ''])})"
        if relevance < LEAST_RELEVANCE:
            continue
        if column not in chosen[k] or gap > chosen[k][column][1]:
            chosen[k][column] = (relevance, gap, words)
    ranked = [sorted(columns.values(), key=lambda fact: -fact[0]) for columns in chosen]
    return [[words for _, _, words in facts[:COLUMNS_PER_GROUP]] for facts in ranked]


def _overall(table: Table) -> dict[tuple[str, str], float]:
    """The mean over a column's observed cells, by (column, ""), or the share of a category, by (column, category)."""
    numbers = dict(zip((column.name for column in table.schema.numeric), table.to_units(table.numeric).T))
    numbers |= {column.name: np.where(x < 0, np.nan, x) for column, x in zip(table.schema.counts, table.counts.T)}
    whole = {(name, ""): float(np.nanmean(x)) for name, x in numbers.items() if not np.isnan(x).all()}
    for column, codes in zip(table.schema.categorical, table.codes.T):
        sizes = np.bincount(codes[codes >= 0], minlength=len(column.levels))
        whole |= {(column.name, str(level)): size / sizes.sum() for level, size in zip(column.levels, sizes)}
    return whole


def _number(value: float) -> str:
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def _maybe_codes(table: Table) -> list[str]:
    """Numeric columns with few values, all of them whole."""
    found = []
    for column, cells in zip(table.schema.numeric, table.to_units(table.numeric).T):
        seen = cells[np.abs(cells) < LARGEST_CODE]
        values = np.unique(seen.round(9))  # units and back may cost the last digit
        all_small = len(seen) == np.count_nonzero(~np.isnan(cells))
        if all_small and len(values) <= FEW_VALUES < table.n_rows / 2 and np.array_equal(values, np.round(values)):
            found.append(f"{short(column.name)} ({len(values)})")
    return found
