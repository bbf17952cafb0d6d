"""Spectral clustering: graphs, their Laplacians, how many clusters the spectrum shows."""

from partita.spectral.clustering import SpectralClustering
from partita.spectral.eigengap import choose_n_clusters, relative_gaps
from partita.spectral.embedding import embed, labels_from_embedding
from partita.spectral.laplacian import Components, Spectrum, components, spectrum

__all__ = [
    "Components",
    "SpectralClustering",
    "Spectrum",
    "choose_n_clusters",
    "components",
    "embed",
    "labels_from_embedding",
    "relative_gaps",
    "spectrum",
]
