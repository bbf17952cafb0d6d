"""One clustering out of many: the consensus of base clusterings, its number of clusters unknown."""

from partita.consensus.base_clusterings import base_clusterings
from partita.consensus.bce import BCE
from partita.consensus.bipartite_cut import BipartiteCut
from partita.consensus.comparing import compare
from partita.consensus.cspa import CSPA
from partita.consensus.evidence_accumulation import EvidenceAccumulation
from partita.consensus.hgpa import HGPA
from partita.consensus.label_noise import add_label_noise, drop_labels
from partita.consensus.locally_weighted import LocallyWeighted
from partita.consensus.mcla import MCLA
from partita.consensus.multinomial_mixture import MultinomialMixture
from partita.consensus.nbce import NBCE
from partita.consensus.outliers import two_clusters_with_outliers

__all__ = [
    "BCE",
    "CSPA",
    "HGPA",
    "MCLA",
    "NBCE",
    "BipartiteCut",
    "EvidenceAccumulation",
    "LocallyWeighted",
    "MultinomialMixture",
    "add_label_noise",
    "base_clusterings",
    "compare",
    "drop_labels",
    "two_clusters_with_outliers",
]
