"""A consensus in plain words: what was read, what was found, how sure that is, which clusterings agree with it."""

import numpy as np

from partita.runs.agreement import Agreement, agreement_of
from partita.runs.clustering import Input, Run
from partita.runs.folder import row_names
from partita.runs.words import (
    MORE,
    chances_in_words,
    confidence,
    described_warnings,
    placed_in_words,
    short,
    sizes_in_words,
    some,
    unsaid_verdict,
)
from partita.table.wording import count_of

MOST_AGREEMENTS = 6  # named: all, or half as many of the best and of the least
APPROXIMATIONS = {"nbce-vb": "variational Bayes", "nbce-cvb": "collapsed variational Bayes"}


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
        f"{count_of(model.n_clusters_, 'group')} of {sizes_in_words(np.bincount(model.labels_), 'object')}."
        f" How many groups there are: {chances_in_words(model.posterior_.n_clusters(), model.n_clusters_)}.",
        placed_in_words(confidence(model), model.n_clusters_, names),
        _how_found(run),
        *_agreement_in_words(agreement_of(run)),
    ]
    more = MORE.format(model.posterior_.partitions.shape[1]) if request.samples and not model.converged_ else None
    return lines + described_warnings(run.warnings, more)


def _how_found(run: Run) -> str:
    model, request = run.model, run.input.request
    if not request.samples:
        return (
            f"By {APPROXIMATIONS[request.method]}: probabilities and confidence are those of an approximation, which is"
            " mostly surer than it should be; --method nbce samples instead."
        )
    n_chains, n_draws = model.posterior_.partitions.shape[:2]
    verdict = unsaid_verdict(model.diagnostics_.verdict, run.warnings)
    return f"{count_of(n_chains, 'chain')} of {count_of(n_draws, 'draw')}. {verdict}".rstrip()


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
