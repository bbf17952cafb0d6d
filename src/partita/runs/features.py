"""What groups have selected: as a table of clusters and columns, and in words."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita.runs.column_words import COLUMNS_PER_GROUP, LEAST_RELEVANCE, level_words, number_words
from partita.runs.columns import DIGITS
from partita.runs.fits import Fit
from partita.runs.labels import labels_table
from partita.runs.section import Section
from partita.runs.words import MOST_GROUPS, short, sizes_in_words, some
from partita.table import Column, Table
from partita.table.dates import date_words
from partita.wording import count_of

if TYPE_CHECKING:
    from partita.means import CRAFT


class Feature(NamedTuple):
    """A column in a cluster.

    Attributes
    ----------
    category : str or number
        Of a column of categories the one that is more frequent here than elsewhere by the largest difference.
    here, elsewhere : number or str
        The mean of the column in the cluster and in all others, of positive numbers the geometric one, of dates a date;
        or the share of the category. None where nothing is observed.
    """

    cluster: int
    column: str
    kind: str
    selected: bool
    gain: float
    category: Any
    here: Any
    elsewhere: Any


def features_of(model: "CRAFT") -> list[Feature]:
    """Every column that varies in every cluster, cluster after cluster."""
    table = model.table_
    numbers, levels = iter(range(len(table.schema.numeric))), iter(range(len(table.schema.categorical)))
    by_column = [
        _numbers_in(model, column, next(numbers))
        if column.block == "numeric"
        else _levels_in(model, column, next(levels))
        for column in table.schema.used
    ]
    return [of_column[k] for k in range(model.n_clusters_) for of_column in by_column]


def selected_groups(fit: Fit, file: str) -> Section:
    """How many groups there are, who has said how many, and how many columns each has selected."""
    model: CRAFT = fit.model
    sizes, used = np.bincount(model.labels_), [column.name for column in model.table_.schema.used]
    chosen = model.features_[:, [model.table_.names.index(name) for name in used]]
    fields = {
        "n_objects": len(model.labels_),
        "n_empty": int(model.table_.empty_rows.sum()),
        "n_clusters": model.n_clusters_,
        "n_clusters_probabilities": None,
        "sizes": sizes.tolist(),
        "n_confident": None,
        "penalty": model.penalty_,
        "objective": model.objective_,
        "selected": [[name for name, one in zip(used, row) if one] for row in chosen],
    }
    found = f"{count_of(sizes.size, 'group')} of {sizes_in_words(sizes, 'row')}. {_how_many(fit)}"
    return Section("groups", [found, *_how_selected(used, chosen)], fields, {file: labels_table(fit)})


def features_section(fit: Fit, file: str) -> Section:
    """What is selected: the table, and for every group the columns that save most."""
    features, model = features_of(fit.model), fit.model
    columns = {name: [getattr(feature, name) for feature in features] for name in Feature._fields}
    columns["gain"] = np.round(columns["gain"], DIGITS).tolist()
    schema = model.table_.schema
    fields = {"columns": {column.name: column.kind for column in schema.used}, "dropped": list(schema.dropped)}
    return Section("features", _described(model, features, file), fields, {file: columns})


def _numbers_in(model: "CRAFT", column: Column, place: int) -> list[Feature]:
    """A column of numbers in every cluster, with its means there and elsewhere."""
    cells, labels = model.table_.numeric[:, place], model.labels_
    seen = ~np.isnan(cells)
    counts = np.bincount(labels[seen], minlength=model.n_clusters_)
    sums = np.bincount(labels[seen], weights=cells[seen], minlength=model.n_clusters_)
    here = _means(model.table_, column, place, sums, counts)
    elsewhere = _means(model.table_, column, place, sums.sum() - sums, counts.sum() - counts)
    return [Feature(*_about(model, column, k), None, *both) for k, both in enumerate(zip(here, elsewhere))]


def _means(table: Table, column: Column, place: int, sums: np.ndarray, counts: np.ndarray) -> list[Any]:
    """Means in the user's units, of cells that are in standard ones; None of no cells."""
    standard = np.zeros((len(sums), len(table.schema.numeric)))
    standard[:, place] = sums / np.maximum(counts, 1)
    units = table.to_units(standard)[:, place]
    values = date_words(units, column) if column.kind == "date" else units.tolist()
    return [value if n else None for value, n in zip(values, counts)]


def _levels_in(model: "CRAFT", column: Column, place: int) -> list[Feature]:
    """A column of categories in every cluster, with the one that tells most, and its shares there and elsewhere."""
    codes, levels = model.table_.codes[:, place], column.levels or (None,)
    seen = codes >= 0
    both = model.labels_[seen] * len(levels) + codes[seen]
    counts = np.bincount(both, minlength=model.n_clusters_ * len(levels)).reshape(-1, len(levels))
    found = []
    for k, here in enumerate(counts):
        elsewhere = counts.sum(axis=0) - here
        shares = [each / max(each.sum(), 1) for each in (here, elsewhere)]
        level = int((shares[0] - shares[1]).argmax())
        told = [float(share[level]) if each.sum() else None for share, each in zip(shares, (here, elsewhere))]
        found.append(Feature(*_about(model, column, k), levels[level], *told))
    return found


def _about(model: "CRAFT", column: Column, k: int) -> tuple[int, str, str, bool, float]:
    place = model.table_.names.index(column.name)
    return k, column.name, column.kind, bool(model.features_[k, place]), float(model.gains_[k, place])


def _how_many(fit: Fit) -> str:
    """Who has said how many groups there are."""
    request, penalty = fit.input.request, f"{fit.model.penalty_:.4g} nats"
    if request.penalty is not None:
        return f"A group costs {penalty}, as --penalty says."
    if request.clusters_hint is not None:
        return f"--clusters-hint asks for {request.clusters_hint}: a group costs {penalty}."
    return (
        "The classification likelihood has chosen how many, with columns independent within groups: where they depend"
        " on each other, one group may be several here. --clusters-hint asks for another number."
        if fit.model.n_clusters_ > 1
        else "Nothing in this table tells rows apart by columns that are independent within groups."
    )


def _how_selected(used: list[str], chosen: np.ndarray) -> list[str]:
    """How many columns groups have selected, and which ones none has."""
    if len(chosen) == 1:
        return ["One group: what it has selected says nothing."]
    numbers = chosen.sum(axis=1)
    least, most = int(numbers.min()), int(numbers.max())
    many = f"{least}" if least == most else f"{least} to {most}"
    none = [short(used[j]) for j in np.flatnonzero(~chosen.any(axis=0))]
    rest = f"; selected by none: {some(none)}" if none else ""
    return [f"Each group selects {many} of {count_of(len(used), 'column')}{rest}."]


def _described(model: "CRAFT", features: list[Feature], file: str) -> list[str]:
    """For every group the selected columns that save most, each with what it holds there and elsewhere."""
    if model.n_clusters_ == 1:
        return []
    sizes, lines = np.bincount(model.labels_), []
    for k, size in enumerate(sizes[:MOST_GROUPS]):
        own = [one for one in features if one.cluster == k and one.selected and one.gain >= LEAST_RELEVANCE]
        first = sorted(own, key=lambda one: -one.gain)[:COLUMNS_PER_GROUP]
        said = "; ".join(map(_in_words, first)) or "no column tells it from the rest"
        lines.append(f"  group {k}, {count_of(int(size), 'row')}: {said}")
    left = len(sizes) - MOST_GROUPS
    more = [f"  and {count_of(left, 'group')} more: see {file}"] if left > 0 else []
    return ["", "What each group has selected, by what it saves (in brackets: elsewhere):", *lines, *more]


def _in_words(feature: Feature) -> str:
    name = short(feature.column)
    if feature.kind == "categorical":
        here, elsewhere = (
            "nothing" if share is None else f"{share:.0%}" for share in (feature.here, feature.elsewhere)
        )
        return f"{name} = {level_words(str(feature.category))} {here} ({elsewhere})"
    here, elsewhere = ("nothing" if mean is None else number_words(mean) for mean in (feature.here, feature.elsewhere))
    return f"{name} {here} ({elsewhere})"
