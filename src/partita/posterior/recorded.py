"""The prior that draws were made with, as their provenance records it."""

from collections.abc import Mapping
from typing import Any

from partita.files.json_options import from_json
from partita.posterior.cluster_sizes import ClusterSizes
from partita.priors import Prior
from partita.priors.named import prior_from


def prior_of_draws(given: Any, provenance: Mapping[str, Any]) -> Prior | None:
    """The prior that was given, else the recorded one, else None.

    Raises
    ------
    ValueError
        A prior is recorded in words only.
    """
    if given is not None:
        return _checked(given)
    if provenance.get("prior_options") is not None:
        return _checked(from_json(provenance["prior_options"]))
    if "prior" in provenance:
        raise ValueError(f"The prior of the draws is recorded in words only ({provenance['prior']}): pass prior=...")
    return None


def refuse_weighted_rows(clusters: ClusterSizes, provenance: Mapping[str, Any]) -> None:
    """Refuse draws of rows with weights: sizes of clusters are then not those that the prior counted."""
    total = provenance.get("total_weight")
    if not isinstance(total, int | None):
        raise ValueError("The draws record a sum of sample_weight that is no whole number: their file was changed.")
    if total is not None and (clusters.n_labelled != total).any():
        raise ValueError(
            f"The draws come from a fit with sample_weight (sum {total}), and the prior counted weights, not rows: "
            "their partition probabilities cannot be computed from the draws alone. Fit without weights."
        )


def _checked(value: Any) -> Prior:
    prior = prior_from(value)
    prior.check()
    return prior
