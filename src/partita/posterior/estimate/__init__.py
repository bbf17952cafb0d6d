"""One partition from many draws: losses, and the search for the partition of least expected loss."""

from partita.posterior.estimate.point_estimate import Estimate, EstimateOptions, estimate, estimate_given

__all__ = ["Estimate", "EstimateOptions", "estimate", "estimate_given"]
