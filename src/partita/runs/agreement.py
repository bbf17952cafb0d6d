"""How far each base clustering agrees with the consensus."""

from typing import Any

import numpy as np
from scipy.stats import entropy

from partita.runs.fits import Fit
from partita.runs.section import Section
from partita.runs.words import short

MOST_AGREEMENTS = 6  # named: all, or half as many of the best and of the least


def agreement_section(fit: Fit, file: str) -> Section:
    """The agreement in words, in nats for programs, and as a table with a line per base clustering."""
    table = agreement_table(fit)
    nats = dict(zip(table["clustering"], table["nats"].tolist()))
    return Section("agreement", _agreement_in_words(table), {"agreement": nats}, {file: table})


def agreement_table(fit: Fit) -> dict[str, Any]:
    """Columns with a cell per base clustering, in the order of the file.

    ``n_clusters`` labels occur, ``n_labelled`` objects have one; ``nats`` are `NBCE.base_agreement_`, and ``entropy``
    those per object of the labels by themselves, which a consensus hardly saves more than.
    """
    columns = fit.input.table.schema.columns
    sizes = [np.bincount(codes[codes >= 0], minlength=1) for codes in fit.input.table.codes.T]
    return {
        "clustering": [column.name for column in columns],
        "n_clusters": np.array([len(column.levels) for column in columns]),
        "n_labelled": np.array([int(one.sum()) for one in sizes]),
        "nats": fit.model.base_agreement_,
        "entropy": np.array([entropy(one) if one.any() else 0.0 for one in sizes]),
    }


def _agreement_in_words(table: dict[str, Any]) -> list[str]:
    """The clusterings that the consensus predicts best and least; one that has a single label is neither."""
    names, nats, entropies = (table[name] for name in ("clustering", "nats", "entropy"))
    told = np.flatnonzero(table["n_clusters"] > 1)
    ranked = told[np.argsort(-nats[told] / entropies[told], kind="stable")]
    if not len(ranked):
        return []
    words = [f"{short(names[m])} {nats[m]:.2f} of {entropies[m]:.2f}" for m in ranked]
    half = MOST_AGREEMENTS // 2
    all_of_them = ", ".join(words)
    if len(words) > MOST_AGREEMENTS:
        all_of_them = f"best {', '.join(words[:half])}; least {', '.join(words[-half:])}"
    return [
        f"How well the consensus predicts the clusterings (nats saved per object, of those it takes): {all_of_them}."
    ]
