"""The section about the groups, the same in every answer; and the groups that overlapping clusters of a fit form."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from partita.posterior import Estimate, Posterior
from partita.posterior.hierarchy import SMALL_SHARE, summed
from partita.posterior.support import MOST_CLUSTERS
from partita.runs import words
from partita.runs.columns import DIGITS
from partita.runs.fits import Fit
from partita.runs.labels import draw, labels_table
from partita.runs.section import LABELS, PICTURE, Section
from partita.wording import count_of


def groups_section(
    rows: Mapping[str, Any],
    n_clusters: int,
    posterior: Posterior,
    estimate: Estimate | None,
    *,
    noun: str,
    source: str,
    number: str,
    more: Sequence[str],
    **fields: Any,
) -> Section:
    """How many groups there are, how large, how sure, and what the draws say for them.

    Parameters
    ----------
    rows : mapping
        The columns of labels.csv: names first, then at least "label" and "confidence"; "empty" tells of which nothing
        is observed, otherwise those without a label are.
    estimate : Estimate or None
        What the draws say for the labels; None where the draws are those of an approximation.
    noun, source : str
        What a line is called, and what may not determine groups: ``This table does``.
    number, more : str, sequence of str
        What is known of the number of groups; further lines.
    fields
        Further fields, or others for those that are here.
    """
    labels, confidence = np.asarray(rows["label"]), np.asarray(rows["confidence"])
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    return Section(
        "groups",
        words=[
            *_doubt(estimate, source, noun),
            f"{count_of(n_clusters, 'group')} of {words.sizes_in_words(sizes, noun)}. {number}",
            words.placed_in_words(confidence, n_clusters, next(iter(rows.values())), noun),
            *more,
        ],
        fields={
            "n_objects": len(labels),
            "n_empty": int(np.count_nonzero(rows.get("empty", labels < 0))),
            "n_clusters": n_clusters,
            "n_clusters_probabilities": chances_of(posterior),
            "sizes": sizes.tolist(),
            "n_confident": int((confidence >= words.CONFIDENT).sum()),
            **_support(estimate),
            **fields,
        },
        tables={LABELS: rows},
        files={PICTURE: partial(draw, posterior, labels, noun)},
    )


def chances_of(posterior: Posterior) -> dict[str, float]:
    """The probability of every number of groups, for programs."""
    return {str(k): round(p, DIGITS) for k, p in posterior.n_clusters().items()}


def fitted_groups(fit: Fit) -> Section:
    """The groups of a fit, what they are merged into, and how they were found."""
    model, request = fit.model, fit.input.request
    unions = unions_of(model, request.groups)
    return groups_section(
        labels_table(fit) | _columns(unions),
        int(model.n_clusters_),
        model.posterior_,
        model.estimate_ if fit.sampled else None,
        noun=request.noun,
        source=request.source,
        number=_number_in_words(model),
        more=[*_unions_in_words(unions, request.groups, model.n_clusters_), words.how_found(fit)],
        group_sizes=None if unions is None else unions.sizes.tolist(),
        **_selection(model),
    )


class Unions(NamedTuple):
    """Groups that the clusters of a fit, its pieces, were merged into."""

    n_pieces: int
    labels: np.ndarray  # (n,) the group of every row, 0 the largest
    confidence: np.ndarray  # (n,) the probability of every row's own group
    asked: bool  # whether their number was asked for

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every group."""
        return np.bincount(self.labels)


def unions_of(model: Any, wanted: int | str) -> Unions | None:
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
    return Unions(n_pieces, labels, probabilities[np.arange(len(labels)), labels], wanted != "auto")


def _columns(unions: Unions | None) -> dict[str, Any]:
    """Where clusters were merged, the group of every row and the confidence in that."""
    if unions is None:
        return {}
    return {"group": unions.labels, "group_confidence": np.round(unions.confidence, DIGITS)}


def _unions_in_words(unions: Unions | None, wanted: int | str, n_clusters: int) -> list[str]:
    """How many pieces form how many groups, why, and how many rows are surely in theirs; or why none are merged."""
    if unions is None:
        if isinstance(wanted, str) or wanted <= n_clusters:
            return []
        return [f"--groups {wanted} can only merge what was found: --n-clusters {wanted} asks for so many groups."]
    why = f": joined until at most {SMALL_SHARE:.0%} of the rows of any would be placed in another"
    n_sure, sizes = int((unions.confidence >= words.CONFIDENT).sum()), words.sizes_in_words(unions.sizes, "row")
    return [
        f"{unions.n_pieces} pieces form {count_of(len(unions.sizes), 'group')} of {sizes}{'' if unions.asked else why}."
        f" {n_sure} of {len(unions.labels)} rows are placed in their group with confidence {words.CONFIDENT} or more."
    ]


def _number_in_words(model: Any) -> str:
    """How a wish for a number of groups was answered, what a criterion chose, or how probable every number is."""
    if hasattr(model, "groups_note_"):
        return model.groups_note_
    if getattr(model, "selection_", None):
        return words.how_many(words.chosen_in_words(model.selection_, model.engine_.select))
    return words.how_many(words.chances_in_words(model.posterior_.n_clusters(), model.n_clusters_))


def _selection(model: Any) -> dict[str, Any]:
    """What a criterion says of every number of groups that was tried, in place of their probabilities."""
    tried = getattr(model, "selection_", None)
    if not tried:
        return {}
    return {"n_clusters_probabilities": None, model.engine_.select: {str(k): value for k, value in tried.items()}}


def _doubt(estimate: Estimate | None, source: str, noun: str) -> list[str]:
    """That the draws determine no groups, where that is so: the first thing to know."""
    if estimate is None or not estimate.diffuse:
        return []
    return [estimate.verdict.replace("The draws do", source).replace("object", noun)]


def _support(estimate: Estimate | None) -> dict[str, Any]:
    """What the draws say for the clusters, and the shares of every one."""
    if estimate is None:
        return {}
    many, shares = estimate.n_clusters > MOST_CLUSTERS, ("company", "together", "apart")
    return {
        "diffuse": estimate.diffuse,
        "groups_verdict": estimate.verdict,
        "support": None
        if many
        else {name: np.round(getattr(estimate.support, name), DIGITS).tolist() for name in shares},
        "support_cost": round(estimate.support_cost, DIGITS),
    }
