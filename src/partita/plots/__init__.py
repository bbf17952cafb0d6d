"""Pictures of what was learned: one file per plot, each with a data function and a draw function."""

from partita.plots.affinity import AffinityData, affinity, affinity_data
from partita.plots.cluster_sizes import ClusterSizesData, cluster_sizes, cluster_sizes_data
from partita.plots.clusters import ClustersData, clusters, clusters_data
from partita.plots.coclustering import CoclusteringData, coclustering, coclustering_data
from partita.plots.consensus_methods import ConsensusMethodsData, consensus_methods, consensus_methods_data
from partita.plots.credible_ball import CredibleBallData, credible_ball, credible_ball_data
from partita.plots.dirichlet_simplex import DirichletSimplexData, dirichlet_simplex, dirichlet_simplex_data
from partita.plots.eigengap import EigengapData, eigengap, eigengap_data
from partita.plots.em_iterations import EMIterationsData, em_iterations, em_iterations_data
from partita.plots.hierarchy import HierarchyData, hierarchy, hierarchy_data
from partita.plots.n_clusters import NClustersData, n_clusters, n_clusters_data
from partita.plots.objective_path import ObjectivePathData, objective_path, objective_path_data
from partita.plots.partition_cost import CostCurve, partition_cost, partition_cost_data
from partita.plots.penalty_path import penalty_path
from partita.plots.random_measure import RandomMeasureData, random_measure, random_measure_data
from partita.plots.restaurant import RestaurantData, restaurant, restaurant_data
from partita.plots.selected import SelectedData, selected, selected_data
from partita.plots.sparse_share import SparseShareData, sparse_share, sparse_share_data
from partita.plots.stick_breaking import StickBreakingData, stick_breaking, stick_breaking_data
from partita.plots.votes import VotesData, votes, votes_data

__all__ = [
    "AffinityData",
    "ClusterSizesData",
    "ClustersData",
    "CoclusteringData",
    "ConsensusMethodsData",
    "CostCurve",
    "CredibleBallData",
    "DirichletSimplexData",
    "EMIterationsData",
    "EigengapData",
    "HierarchyData",
    "NClustersData",
    "ObjectivePathData",
    "RandomMeasureData",
    "RestaurantData",
    "SelectedData",
    "SparseShareData",
    "StickBreakingData",
    "VotesData",
    "affinity",
    "affinity_data",
    "cluster_sizes",
    "cluster_sizes_data",
    "clusters",
    "clusters_data",
    "coclustering",
    "coclustering_data",
    "consensus_methods",
    "consensus_methods_data",
    "credible_ball",
    "credible_ball_data",
    "dirichlet_simplex",
    "dirichlet_simplex_data",
    "eigengap",
    "eigengap_data",
    "em_iterations",
    "em_iterations_data",
    "hierarchy",
    "hierarchy_data",
    "n_clusters",
    "n_clusters_data",
    "objective_path",
    "objective_path_data",
    "partition_cost",
    "partition_cost_data",
    "penalty_path",
    "random_measure",
    "random_measure_data",
    "restaurant",
    "restaurant_data",
    "selected",
    "selected_data",
    "sparse_share",
    "sparse_share_data",
    "stick_breaking",
    "stick_breaking_data",
    "votes",
    "votes_data",
]
