"""One clustering out of many: the consensus of base clusterings, its number of clusters unknown."""

from partita.consensus.base_clusterings import base_clusterings
from partita.consensus.label_noise import add_label_noise, drop_labels
from partita.consensus.nbce import NBCE
from partita.consensus.outliers import two_clusters_with_outliers

__all__ = ["NBCE", "add_label_noise", "base_clusterings", "drop_labels", "two_clusters_with_outliers"]
