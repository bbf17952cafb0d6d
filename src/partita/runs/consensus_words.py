"""A consensus in plain words: what was read, what was found, how sure that is, which clusterings agree with it."""

import numpy as np

from partita.runs.agreement import Agreement, agreement_of
from partita.runs.clustering import Input, Run
from partita.runs.folder import row_names
from partita.runs.how_found import advice, how_found
from partita.runs.words import (
    chances_in_words,
    confidence,
    described_warnings,
    doubt_in_words,
    placed_in_words,
    short,
    sizes_in_words,
    some,
)
from partita.wording import count_of

MOST_AGREEMENTS = 6  # named: all, or half as many of the best and of the least


def describe_labels(given: Input) -> list[str]:
    """Objects, clusterings with their numbers of labels, missing labels, and what was left out."""
    table, request = given.table, given.request
    n_missing = int((table.codes < 0).sum())
    share = n_missing / table.codes.size
    gaps = f"{n_missing} of {table.codes.size} labels missing ({share:.0%})" if n_missing else "no label missing"
    columns = table.schema.columns
    kinds = {
        "clusterings": [f"{short(column.name)} ({len(column.levels)})" for column in columns],
        "ignored": list(request.ignore),
        "names the objects": [request.id] if request.id else [],
    }
    return [
        f"{request.labels}: {count_of(table.n_rows, 'object')}, {count_of(len(columns), 'clustering')}, {gaps}.",
        *(f"  {kind}: {some(names)}" for kind, names in kinds.items() if names),
    ]


def describe_consensus(run: Run) -> list[str]:
    """Groups, their probability, what is shaky, agreement of the clusterings, how it was found, and warnings."""
    model, request = run.model, run.input.request
    (names,) = row_names(run.input.ids, request.id, model.labels_.size).values()
    lines = [
        *doubt_in_words(run, "ensemble", "object"),
        f"{count_of(model.n_clusters_, 'group')} of {sizes_in_words(np.bincount(model.labels_), 'object')}."
        f" How many groups there are: {chances_in_words(model.posterior_.n_clusters(), model.n_clusters_)}.",
        placed_in_words(confidence(model), model.n_clusters_, names),
        how_found(run),
        *_agreement_in_words(agreement_of(run)),
    ]
    return lines + described_warnings(run.warnings, advice(run))


def _agreement_in_words(found: Agreement) -> list[str]:
    """The clusterings that the consensus predicts best and least; one that has a single label is neither."""
    ranked = found.ranked()
    if not ranked:
        return []
    words = [f"{short(found.names[m])} {found.nats[m]:.2f} of {found.entropy[m]:.2f}" for m in ranked]
    half = MOST_AGREEMENTS // 2
    if len(words) <= MOST_AGREEMENTS:
        told = ", ".join(words)
    else:
        told = f"best {', '.join(words[:half])}; least {', '.join(words[-half:])}"
    return [f"How well the consensus predicts the clusterings (nats saved per object, of those it takes): {told}."]
