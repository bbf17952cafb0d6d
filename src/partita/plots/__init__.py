"""Pictures of what was learned: one file per plot, each with a data function and a draw function."""

from partita.plots.coclustering import CoclusteringData, coclustering, coclustering_data
from partita.plots.partition_cost import CostCurve, partition_cost, partition_cost_data

__all__ = [
    "CoclusteringData",
    "CostCurve",
    "coclustering",
    "coclustering_data",
    "partition_cost",
    "partition_cost_data",
]
