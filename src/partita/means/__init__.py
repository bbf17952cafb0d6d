"""Clusters by k-means and its kin without a number of clusters: a penalty for each is told, or found."""

from partita.means.binary_means import BinaryMeans
from partita.means.craft import CRAFT
from partita.means.dp_means import DPMeans
from partita.means.penalty_path import PenaltyPath

__all__ = ["CRAFT", "BinaryMeans", "DPMeans", "PenaltyPath"]
