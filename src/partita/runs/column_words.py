"""The columns of a table in plain words: what they hold, and what is typical of each group."""

import re
from typing import Any

import numpy as np

from partita.families import Family
from partita.families.automatic import covariance_of, has_shape
from partita.mixture import Mixture
from partita.runs.columns import columns_of
from partita.runs.fits import Fit, Input
from partita.runs.words import MOST_GROUPS, missing_in_words, short, some
from partita.table import Column, Table
from partita.table.column_keys import named_columns
from partita.table.dates import date_words
from partita.table.dependent_columns import dependent_columns
from partita.table.kinds import why_guessed
from partita.table.units import from_standard
from partita.wording import count_of

COLUMNS_PER_GROUP = 3
NOTHING = 1e-9  # standard deviations of its column below which a mean is 0
LEAST_RELEVANCE = 0.01  # nats per row that make a column worth naming
NOTABLE_STEP = 0.05  # standard deviations of its column that make a step worth naming
MOST_DRIVERS = 5
LONG_FRACTION = re.compile(r"-?\d*\.\d{7,}")
FEW_VALUES = 10  # of whole numbers, which may be codes,
LARGEST_CODE = 1e6  # unless they are larger


def describe_input(given: Input) -> list[str]:
    """Rows, columns by kind, missing cells, and what was left out."""
    table, schema, request = given.table, given.table.schema, given.request
    n_columns = len(schema.used) - len(schema.zero_flags)
    gaps = missing_in_words(table.n_missing, table.n_rows * n_columns, "cell")
    lines = [f"{request.table}: {count_of(table.n_rows, 'row')}, {count_of(n_columns, 'column')}, {gaps}."]
    empty = [c.name for c in schema.columns if schema.drops(c.name) and _holds_nothing(c)]
    kinds = {
        "numbers": [short(column.name) for column in schema.numeric if column.kind == "numeric"],
        "positive numbers (log-normal)": [short(column.name) for column in schema.numeric if column.kind == "positive"],
        "dates": _spans(table),
        "categories": [f"{short(c.name)} ({len(c.levels)})" for c in schema.categorical if not c.part_of],
        "counts": [short(column.name) for column in schema.counts],
        "constant, left out": [name for name in schema.dropped if name not in empty],
        "without any value, left out": empty,
        "ignored": list(request.ignore),
        "names the rows": [request.id] if request.id else [],
    }
    lines += [f"  {kind}: {some(names)}" for kind, names in kinds.items() if names]
    scales = [f"{short(c.name)} {_scale_words(c)}" for c in schema.numeric if c.scale != 1.0]
    if scales:
        lines.append(f"  standardised by: {some(scales)}")
    steps = {c.name: c.step for c in schema.numeric if (12.0 * c.rounding) ** 0.5 >= NOTABLE_STEP and c.kind != "date"}
    if steps:
        said = [f"{short(name)} {step:g}" for name, step in steps.items()]
        lines.append(f"  recorded in steps: {some(said)}")
    for kind, words in (("categorical", "categories, though they are numbers"), ("positive", "positive numbers")):
        reasons: dict[str, list[str]] = {}
        for column in schema.used:
            if column.guessed and column.kind == kind and not column.part_of:
                reasons.setdefault(why_guessed(column), []).append(short(column.name))
        for reason, names in reasons.items():
            lines.append(f"  read as {words} ({reason}): {some(names)}; otherwise --types NAME=numeric")
    if schema.zero_flags:
        said = [f"{short(name)} ({share:.0%} are 0)" for name, share in _shares_of_zeros(table).items()]
        lines.append(f"  read in two parts, 0 or not and how much: {some(said)}; otherwise --types NAME=numeric")
    determined = [short(schema.numeric[j].name) for j in dependent_columns(table.numeric)]
    if determined:
        lines.append(
            f"  sums or multiples of other columns, which count twice: {some(determined)}; --ignore NAME leaves one out"
        )
    codes = _maybe_codes(table)
    if codes:
        lines.append(f"  whole numbers with few values: {some(codes)}; if they are codes, --types NAME=categorical")
    return lines


def _holds_nothing(dropped: Column) -> bool:
    return not dropped.levels if dropped.kind == "categorical" else bool(np.isnan(dropped.center))


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


def describe_family(family: Family) -> list[str]:
    """Whether numeric columns vary together within groups, where there is a choice."""
    covariance = covariance_of(family)
    words = {
        "full": "Within groups the numbers depend on each other (full covariance).",
        "diag": "Within groups the numbers are taken as independent of each other (diagonal covariance).",
    }
    if covariance not in words:
        return []
    learned = "Along which lines groups are thin was learned from the table first."
    return [words[covariance], learned] if has_shape(family) else [words[covariance]]


def drivers(model: Mixture) -> dict[str, float]:
    """Every column's share of what tells groups apart, the largest first: nats per row, groups by their sizes."""
    profile = columns_of(model.profile_)
    sizes = np.bincount(model.labels_, minlength=model.n_clusters_) / len(model.labels_)
    nats: dict[str, float] = {}
    seen: set[tuple[int, str]] = set()
    for k, column, relevance in zip(profile["cluster"], profile["column"], profile["relevance"]):
        if (k, column) not in seen:  # of a categorical column one row per category
            seen.add((k, column))
            nats[column] = nats.get(column, 0.0) + float(sizes[k] * relevance)
    total = sum(nats.values())
    ranked = sorted(nats.items(), key=lambda item: -item[1])
    return {column: value / total if total > 0.0 else 0.0 for column, value in ranked}


def column_table(fit: Fit) -> dict[str, list[Any]]:
    """What was decided for every column and why, and its share of what tells groups apart; None where nothing is."""
    table, share = fit.input.table, drivers(fit.model)
    schema, told = table.schema, named_columns(fit.input.request.types, table.names, by_position=False)
    kept = [column for column in schema.columns if not schema.drops(column.name)]
    dropped = [column for column in schema.columns if schema.drops(column.name)]
    numeric = {column.name for column in schema.numeric}
    return {
        "column": [column.name for column in (*kept, *dropped)],
        "kind": [column.kind for column in (*kept, *dropped)],
        "reason": [why_guessed(c) or ("told" if c.name in told else "its cells") for c in kept]
        + ["without any value, left out" if _holds_nothing(column) else "constant, left out" for column in dropped],
        "step": [column.step if column.name in numeric else None for column in kept] + [None] * len(dropped),
        "scale": [column.scale if column.name in numeric else None for column in kept] + [None] * len(dropped),
        "tells_groups_apart": [share.get(column.name, 0.0) for column in kept] + [None] * len(dropped),
    }


def describe_drivers(model: Mixture) -> str:
    """The columns that tell groups apart most, each with its share."""
    said = [f"{short(column)} {share:.0%}" for column, share in list(drivers(model).items())[:MOST_DRIVERS]]
    return f"What tells the groups apart: {', '.join(said)}."


def _facts(model: Mixture, everywhere: dict[tuple[str, str], Any]) -> list[list[str]]:
    """The most relevant columns of every cluster in words."""
    profile = columns_of(model.profile_)
    chosen: list[dict[str, tuple[float, float, str]]] = [{} for _ in range(model.n_clusters_)]
    names = ("cluster", "column", "kind", "category", "n_observed", "mean", "share", "relevance")
    for k, column, kind, category, n_observed, mean, share, relevance in zip(*(profile[name] for name in names)):
        if kind == "categorical":
            whole = everywhere[column, str(category)]
            gap, words = share - whole, f"{short(column)} = {level_words(category)} {share:.0%} ({whole:.0%})"
        else:
            gap, words = 0.0, f"{short(column)} {number_words(mean)} ({number_words(everywhere[column, ''])})"
        if relevance < LEAST_RELEVANCE or n_observed == 0:
            continue
        if column not in chosen[k] or gap > chosen[k][column][1]:
            chosen[k][column] = (relevance, gap, words)
    ranked = [sorted(columns.values(), key=lambda fact: -fact[0]) for columns in chosen]
    return [[words for _, _, words in facts[:COLUMNS_PER_GROUP]] for facts in ranked]


def _overall(table: Table) -> dict[tuple[str, str], Any]:
    """The mean over a column's observed cells, by (column, ""), or the share of a category, by (column, category).

    The mean of dates is a date as text, and of positive numbers it is that of their logs, turned back.
    """
    numbers = dict(zip((column.name for column in table.schema.numeric), table.to_units(table.numeric).T))
    numbers |= {column.name: np.where(x < 0, np.nan, x) for column, x in zip(table.schema.counts, table.counts.T)}
    whole = {(name, ""): float(np.nanmean(x)) for name, x in numbers.items() if not np.isnan(x).all()}
    for j, column in enumerate(table.schema.numeric):
        if abs(whole.get((column.name, ""), np.inf)) < NOTHING * column.scale:
            whole[column.name, ""] = 0.0
        if column.kind == "positive" and (column.name, "") in whole:
            whole[column.name, ""] = float(from_standard(np.nanmean(table.numeric[:, [j]], axis=0), [column])[0])
        if column.kind == "date" and (column.name, "") in whole:
            whole[column.name, ""] = date_words(np.array([whole[column.name, ""]]), column)[0]
    for column, codes in zip(table.schema.categorical, table.codes.T):
        sizes = np.bincount(codes[codes >= 0], minlength=len(column.levels))
        whole |= {(column.name, str(level)): size / sizes.sum() for level, size in zip(column.levels, sizes)}
    return whole


def level_words(category: str) -> str:
    """A category in few characters; thirds and other long fractions with six digits."""
    if not LONG_FRACTION.fullmatch(category):
        return short(category)
    return f"{float(category):.6g}"


def _spans(table: Table) -> list[str]:
    """Every column of dates with its first and last one."""
    spans = []
    for column, x in zip(table.schema.numeric, table.to_units(table.numeric).T):
        if column.kind == "date" and not np.isnan(x).all():
            first, last = date_words(np.array([np.nanmin(x), np.nanmax(x)]), column)
            spans.append(f"{short(column.name)} ({first} to {last})")
    return spans


def _scale_words(column: Column) -> str:
    """Standard deviation in the user's units, of logs as a factor."""
    if column.kind == "positive":
        return f"x {np.exp(column.scale):.3g}"
    return f"{column.scale:.3g}{' ' + column.unit if column.unit else ''}"


def number_words(value: float | str) -> str:
    """A number with three digits, or all before the point; a date is text already."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def _shares_of_zeros(table: Table) -> dict[str, float]:
    """Of every column that is read in two parts the share of its observed cells that are 0."""
    flags = {c.part_of: codes for c, codes in zip(table.schema.categorical, table.codes.T) if c.part_of}
    return {name: float((codes > 0).sum() / (codes >= 0).sum()) for name, codes in flags.items()}


def _maybe_codes(table: Table) -> list[str]:
    """Numeric columns with few values, all of them whole; dates and durations are no codes."""
    found = []
    for column, cells in zip(table.schema.numeric, table.to_units(table.numeric).T):
        if column.unit:
            continue
        seen = cells[np.abs(cells) < LARGEST_CODE]
        values = np.unique(seen.round(9))  # units and back may cost the last digit
        all_small = len(seen) == np.count_nonzero(~np.isnan(cells))
        if all_small and len(values) <= FEW_VALUES < table.n_rows / 2 and np.array_equal(values, np.round(values)):
            found.append(f"{short(column.name)} ({len(values)})")
    return found
