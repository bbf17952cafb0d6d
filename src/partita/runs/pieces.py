"""Pieces and groups of a run: the estimated clusters, and the unions that overlapping ones form."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from partita.posterior import Estimate
from partita.posterior.hierarchy import SMALL_SHARE, summed
from partita.posterior.support import MOST_CLUSTERS
from partita.runs import words
from partita.runs.columns import DIGITS
from partita.runs.fits import Run
from partita.runs.labels import draw, labels_table
from partita.runs.section import LABELS, PICTURE, Section
from partita.wording import count_of


class Groups(NamedTuple):
    """Unions of a run's clusters."""

    n_pieces: int  # clusters of the estimate
    labels: np.ndarray  # (n,) the group of every row, 0 the largest
    confidence: np.ndarray  # (n,) the probability of every row's own group
    asked: bool  # whether their number was asked for

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every group."""
        return np.bincount(self.labels)


def groups_of(model: Any, wanted: int | str) -> Groups | None:
    """The groups that were asked for: a number of them, "auto" for what their overlap suggests, or "none".

    None where nothing is merged, also where more are asked for than there are clusters. "auto" merges where it matters:
    where the groups are at most half as many as the pieces. Of two clusters that overlap and that the draws hold apart
    it makes nothing: the picture shows how much they do.
    """
    n_pieces = int(model.n_clusters_)
    if wanted == "none" or n_pieces == 1 or model.n_clusters is not None:
        return None
    found = model.hierarchy()
    n_groups = found.suggested if wanted == "auto" else int(wanted)
    if n_groups >= n_pieces or (wanted == "auto" and 2 * n_groups > n_pieces):
        return None
    groups = found.groups(n_groups)
    labels = groups[model.labels_]
    probabilities = summed(model.probabilities_, groups)
    return Groups(n_pieces, labels, probabilities[np.arange(len(labels)), labels], wanted != "auto")


def groups_section(run: Run) -> Section:
    """The groups of the rows, their probability, what they are merged into, and how they were found."""
    model, request, table = run.model, run.input.request, run.input.table
    sizes, n_sure = words.group_sizes(model), int((words.confidence(model) >= words.CONFIDENT).sum())
    return Section(
        "groups",
        words=[
            *(words.doubt_in_words(model.estimate_, "This table does", "row") if request.samples else ()),
            f"{count_of(model.n_clusters_, 'group')} of {words.sizes_in_words(sizes, 'row')}. {_number_in_words(run)}",
            f"{n_sure} of {model.labels_.size} rows are placed with confidence {words.CONFIDENT} or more."
            if model.n_clusters_ > 1
            else words.ONE_GROUP.format("row"),
            *_merged_in_words(run),
            words.how_found(run),
        ],
        fields={
            "n_clusters": int(model.n_clusters_),
            **_number(run),
            "sizes": sizes.tolist(),
            "group_sizes": None if run.groups is None else run.groups.sizes.tolist(),
            **(_support(model.estimate_) if request.samples else {}),
            "n_confident": n_sure,
            "n_empty_rows": int(table.empty_rows.sum()),
        },
        tables={LABELS: labels_table(run) | _merged(run.groups)},
        files={PICTURE: partial(draw, model.posterior_, model.labels_)},
    )


def _number_in_words(run: Run) -> str:
    model = run.model
    if model.n_clusters is not None:
        return model.groups_note_
    if run.input.request.engine == "em":
        return f"How many groups there are: {words.chosen_in_words(model)}."
    return f"How many groups there are: {words.chances_in_words(model.posterior_.n_clusters(), model.n_clusters_)}."


def _number(run: Run) -> dict[str, Any]:
    """Probabilities of the number of groups, or of EM what its criterion says of every number that it tried."""
    if run.input.request.engine == "em":
        return {"n_clusters_probabilities": None, "bic": {str(k): value for k, value in run.model.selection_.items()}}
    return {"n_clusters_probabilities": words.rounded_chances(run.model.posterior_.n_clusters())}


def _merged(groups: Groups | None) -> dict[str, Any]:
    """Where clusters were merged, the group of every row and the confidence in that."""
    if groups is None:
        return {}
    return {"group": groups.labels, "group_confidence": np.round(groups.confidence, DIGITS)}


def _merged_in_words(run: Run) -> list[str]:
    """How many pieces form how many groups, why, and how many rows are surely in theirs; or why none are merged."""
    groups, wanted = run.groups, run.input.request.groups
    if groups is None:
        if isinstance(wanted, str) or wanted <= run.model.n_clusters_:
            return []
        return [f"--groups {wanted} can only merge what was found: --n-clusters {wanted} asks for so many groups."]
    why = f": joined until at most {SMALL_SHARE:.0%} of the rows of any would be placed in another"
    n_sure, sizes = int((groups.confidence >= words.CONFIDENT).sum()), words.sizes_in_words(groups.sizes, "row")
    return [
        f"{groups.n_pieces} pieces form {count_of(len(groups.sizes), 'group')} of {sizes}{'' if groups.asked else why}."
        f" {n_sure} of {len(groups.labels)} rows are placed in their group with confidence {words.CONFIDENT} or more."
    ]


def _support(found: Estimate) -> dict[str, Any]:
    """What the draws say for the clusters, and both shares of every one."""
    many = found.n_clusters > MOST_CLUSTERS
    shares = ("company", "together", "apart")
    return {
        "diffuse": found.diffuse,
        "groups_verdict": found.verdict,
        "support": None if many else {name: np.round(getattr(found.support, name), DIGITS).tolist() for name in shares},
        "support_cost": round(found.support_cost, DIGITS),
    }
