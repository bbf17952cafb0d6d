"""A run in plain words: what was understood, what was found, how sure that is, what to do about it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partita.mixture import Mixture
from partita.mixture_answers import MixtureAnswers
from partita.runs.clustering import Input, Run
from partita.runs.columns import columns_of
from partita.runs.how_found import advice, chosen_in_words, how_found
from partita.runs.pieces import groups_in_words, unmet_in_words
from partita.table import Table
from partita.wording import count_of

CONFIDENT = 0.9
NOVEL = 0.5
MOST_COLUMNS = 12  # named of every kind
MOST_GROUPS = 12  # described on the screen; all are in profile.csv
COLUMNS_PER_GROUP = 3
LEAST_SURE = 3  # objects that are named
LEAST_RELEVANCE = 0.01  # nats per row that make a column worth naming
MOST_LETTERS = 40  # of a name
ONE_GROUP = "With one group no {} has another to belong to: the picture shows how much the draws agree."
FEW_VALUES = 10  # of whole numbers, which may be codes,
LARGEST_CODE = 1e6  # unless they are larger


def describe_input(given: Input) -> list[str]:
    """Rows, columns by kind, missing cells, and what was left out."""
    table, schema, request = given.table, given.table.schema, given.request
    n_cells = table.n_rows * len(schema.used)
    n_missing = _n_missing(table)
    gaps = f"{n_missing} of {n_cells} cells missing ({n_missing / n_cells:.0%})" if n_missing else "no cell missing"
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


def describe_run(run: Run) -> list[str]:
    """Groups, their probability, confident rows, what is typical of each group, and warnings."""
    model = run.model
    sure = int((confidence(model) >= CONFIDENT).sum())
    lines = [
        *doubt_in_words(run, "table", "row"),
        f"{count_of(model.n_clusters_, 'group')} of {sizes_in_words(group_sizes(model), 'row')}."
        f" {_number_in_words(run)}",
        f"{sure} of {model.labels_.size} rows are placed with confidence {CONFIDENT} or more."
        if model.n_clusters_ > 1
        else ONE_GROUP.format("row"),
        *_groups_in_words(run),
        how_found(run),
    ]
    if model.n_clusters_ > 1:
        lines += ["", "What is typical of each group (in brackets: all rows):"]
        lines += [f"  {line}" for line in describe_groups(run)]
    return lines + described_warnings(run.warnings, advice(run))


def group_sizes(model: MixtureAnswers) -> np.ndarray:
    """Rows of every group; of EM a component may have none."""
    return np.bincount(model.labels_, minlength=model.n_clusters_)


def describe_groups(run: Run) -> list[str]:
    """For every group the columns that tell it from the rest best, with its means and shares."""
    sizes = group_sizes(run.model)
    facts = _facts(run.model, _overall(run.input.table))
    lines = [
        f"group {k}, {count_of(int(sizes[k]), 'row')}: {'; '.join(facts[k]) or 'no column tells it from the rest'}"
        for k in range(len(facts))
    ]
    left = len(lines) - MOST_GROUPS
    return lines if left <= 0 else [*lines[:MOST_GROUPS], f"and {count_of(left, 'group')} more: see profile.csv"]


def confidence(model: MixtureAnswers) -> np.ndarray:
    """The probability of every row's own label."""
    return model.probabilities_[np.arange(model.labels_.size), model.labels_]


def doubt_in_words(run: Run, what: str, noun: str) -> list[str]:
    """That the draws determine no groups, where that is so: the first thing to know."""
    if not run.input.request.samples or not run.model.estimate_.diffuse:
        return []
    verdict = run.model.estimate_.verdict.replace("The draws do not", f"This {what} does not")
    return [verdict.replace("object", noun)]


def _number_in_words(run: Run) -> str:
    model = run.model
    if model.n_clusters is not None:
        return model.groups_note_
    if run.input.request.engine == "em":
        return f"How many groups there are: {chosen_in_words(model)}."
    return f"How many groups there are: {chances_in_words(model.posterior_.n_clusters(), model.n_clusters_)}."


def _groups_in_words(run: Run) -> list[str]:
    groups, unmet = run.groups, unmet_in_words(run.model, run.input.request.groups)
    if groups is None:
        return [unmet] if unmet else []
    return [groups_in_words(groups, sizes_in_words(groups.sizes, "row"), CONFIDENT)]


def chances_in_words(chances: Mapping[int, float], n_clusters: int) -> str:
    """The most probable numbers of groups, and how that of the estimate compares where it is not among them."""
    likely = sorted(chances, key=lambda k: -chances[k])[:3]
    told = ", ".join(f"{k} with probability {chances[k]:.2f}" for k in likely if chances[k] >= 0.005)
    if n_clusters in likely:
        return told
    more, fewer = (sum(p for k, p in chances.items() if (k > n_clusters) is side) for side in (True, False))
    fewer -= chances.get(n_clusters, 0.0)
    are = f"{n_clusters} {'is' if n_clusters == 1 else 'are'} reported"
    if more >= fewer:
        return f"{told}; {are}, fewer than in {more:.0%} of the draws: groups that come and go are left out"
    return f"{told}; {are}, more than in {fewer:.0%} of the draws: which of them are one changes from draw to draw"


def sizes_in_words(sizes: np.ndarray, noun: str) -> str:
    """The sizes of the groups, the largest first: ``12, 7, 3 rows``."""
    shown, left = sizes[:MOST_GROUPS], len(sizes) - MOST_GROUPS
    if len(sizes) == 1:
        return count_of(int(sizes[0]), noun)
    more = f" and {count_of(left, 'smaller group')}" if left > 0 else ""
    return f"{', '.join(map(str, shown))} {noun}s{more}"


def placed_in_words(confidence: np.ndarray, n_clusters: int, names: Sequence[Any]) -> str:
    """How many objects are placed surely, and which least; nan is an object without a place."""
    if n_clusters == 1:
        return ONE_GROUP.format("object")
    n_sure, n_placed = int((confidence >= CONFIDENT).sum()), int((~np.isnan(confidence)).sum())
    words = f"{n_sure} of {n_placed} objects are placed with confidence {CONFIDENT} or more"
    least = [i for i in np.argsort(confidence, kind="stable")[:LEAST_SURE] if confidence[i] < CONFIDENT]
    if not least:
        return f"{words}."
    return f"{words}; the least sure: {', '.join(f'{names[i]} ({confidence[i]:.2f})' for i in least)}."


def described_warnings(warnings: Sequence[str], more: str | None) -> list[str]:
    """The warnings under an empty line, and what would make the answer better."""
    lines = [f"Warning: {sentence}" for sentence in warnings] + ([more] if more else [])
    return ["", *lines] if lines else []


def short(name: str) -> str:
    """The name, or the beginning of a long one."""
    return name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}..."


def some(names: list[str]) -> str:
    """The first of the names, and how many more there are."""
    shown = ", ".join(names[:MOST_COLUMNS])
    more = len(names) - MOST_COLUMNS
    return shown if more <= 0 else f"{shown} and {more} more"


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


def _n_missing(table: Table) -> int:
    return int(np.isnan(table.numeric).sum() + (table.codes < 0).sum() + (table.counts < 0).sum())
