"""Pictures of what was learned: one file per plot, each with a data function and a draw function."""

from partita.plots.coclustering import CoclusteringData, coclustering, coclustering_data

__all__ = ["CoclusteringData", "coclustering", "coclustering_data"]
