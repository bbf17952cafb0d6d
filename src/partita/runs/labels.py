"""The labels of a run: as a table, with the rows named as in the file, and as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from partita.posterior import Posterior
from partita.runs.columns import DIGITS, columns_of
from partita.runs.fits import Fit

RESERVED = ("label", "confidence", "group", "group_confidence", "probability", "runner_up", "novelty", "empty")
"""Names of columns that are partita's own."""


def labels_table(fit: Fit) -> dict[str, Any]:
    """Id or row number, label, confidence and runner-up of every row, and whether it has no observed cell.

    Confidence and runner-up are those of models that have probabilities.
    """
    names = row_names(fit.input.ids, fit.input.request.id, fit.model.labels_.size)
    columns: dict[str, Any] = columns_of(fit.model.to_frame())
    if "confidence" in columns:
        columns["confidence"] = np.round(columns["confidence"], DIGITS)
    return names | columns


def row_names(ids: Sequence[Any] | None, name: str | None, n_rows: int) -> dict[str, Any]:
    """The first column of a file of rows: the ids under their own name, or row numbers from 0."""
    if ids is None or name is None:
        return {"row": np.arange(n_rows)}
    taken = name in RESERVED
    return {"id" if taken else name: [_id_text(value) for value in ids]}


def _id_text(value: Any) -> str:
    """An id in full; numbers that a missing one turned into floats as the whole numbers they were."""
    if value is None or value != value:  # noqa: PLR0124  (nan)
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def draw(posterior: Posterior, labels: np.ndarray, noun: str, path: Path, share: str = "") -> None:
    """The co-clustering picture as PNG; ``noun`` is what it shows, ``share`` what a colour is if no probability."""
    from matplotlib.figure import Figure

    from partita.plots import coclustering
    from partita.plots.canvas import say_title

    axes = coclustering(posterior, labels)
    say_title(axes, axes.get_title("left").replace("row", noun))
    sizes = [tick.get_text().replace("row", noun) for tick in axes.get_yticklabels()]
    axes.set_yticks(axes.get_yticks(), sizes)
    if share:
        axes.images[0].colorbar.set_label(share)  # type: ignore[union-attr]
    cast(Figure, axes.figure).savefig(path, format="png")
