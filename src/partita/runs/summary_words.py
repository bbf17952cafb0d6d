"""A summary of draws in plain words."""

import numpy as np

from partita.posterior.membership import is_large
from partita.runs.summarizing import DrawsRead, Summary
from partita.runs.words import chances_in_words, described_warnings, placed_in_words, sizes_in_words
from partita.wording import count_of

_UNEQUAL = 1 - 1e-9


def describe_draws(given: DrawsRead) -> list[str]:
    """How many draws of how many objects, and how many labels are missing."""
    posterior = given.posterior
    n_missing = int((posterior.draws < 0).sum())
    share = n_missing / posterior.draws.size
    gaps = f"{n_missing} of {posterior.draws.size} labels missing ({share:.0%})" if n_missing else "no label missing"
    chains = f" ({posterior.n_chains} chains)" if posterior.n_chains > 1 else ""
    n_draws, n_objects = count_of(posterior.n_draws, "draw"), count_of(posterior.n_objects, "object")
    return [f"{given.request.draws}: {n_draws}{chains} of {n_objects}, {gaps}."]


def describe_summary(summary: Summary) -> list[str]:
    """Groups, expected loss, number of groups, what is shaky, weights, and warnings."""
    request, found = summary.given.request, summary.estimate
    left_out = summary.posterior.n_objects - int(summary.sizes.sum())
    lines = [
        *([found.verdict] if found.diffuse else []),
        f"{count_of(found.n_clusters, 'group')} of {sizes_in_words(summary.sizes, 'object')}."
        f" Expected loss ({request.loss}): {found.expected_loss:.4g}.",
        f"How many groups there are{' after the weighting' if request.entropy else ''}:"
        f" {chances_in_words(summary.posterior.n_clusters(), found.n_clusters)}.",
        placed_in_words(np.where(found.labels >= 0, found.confidence, np.nan), found.n_clusters, summary.object_names),
    ]
    most_drawn = int(summary.posterior.partitions.n_clusters().max())
    if found.n_clusters > most_drawn:
        lines.append(
            f"No draw has more than {count_of(most_drawn, 'group')}: --max-clusters {most_drawn} keeps to that."
        )
    if is_large(found.labels, found.draws):
        lines.append("So many groups of so many objects leave no memory for runners-up: their column is empty.")
    if left_out:
        lines.append(f"{count_of(left_out, 'object')} without a label in any draw.")
    if summary.ess < _UNEQUAL * summary.posterior.n_draws:
        how = f" by entropy ({request.entropy:g})" if request.entropy else ""
        lines.append(
            f"The draws are weighted{how}: effective sample size {summary.ess:.4g} of {summary.posterior.n_draws}."
        )
    return lines + described_warnings(summary.warnings, None)
