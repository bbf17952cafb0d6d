"""Graphs and tables for the tests of the spectral room."""

import numpy as np
from scipy.sparse import block_diag, csr_array, diags_array, identity, kron
from sklearn.neighbors import kneighbors_graph


def random_graph(sizes, rng, density=0.5):
    """Connected components of the given sizes with random weights, objects in random order: matrix and components."""
    blocks = []
    for size in sizes:
        weights = rng.uniform(0.1, 1.0, (size, size)) * (rng.random((size, size)) < density)
        ring = np.roll(np.eye(size), 1, axis=1) * rng.uniform(0.1, 1.0)
        block = np.triu(weights + (ring + ring.T if size > 2 else np.ones((size, size))), 1)
        blocks.append(block + block.T)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    order = rng.permutation(truth.size)
    return block_diag(blocks).toarray()[np.ix_(order, order)], truth[order]


def neighbours(X, k=10):
    near = kneighbors_graph(X, k, include_self=True)
    return csr_array(0.5 * (near + near.T))


def torus(rows, columns):
    """A grid that is closed in both directions: many eigenvalues are there two or four times."""

    def ring(n):
        return diags_array([np.ones(1), np.ones(n - 1), np.ones(n - 1), np.ones(1)], offsets=[1 - n, -1, 1, n - 1])

    return csr_array(kron(ring(rows), identity(columns)) + kron(identity(rows), ring(columns)))


def cliques(sizes, *, between=0.0):
    """Complete graphs, every two of them joined by one edge of weight ``between``."""
    weights = block_diag([np.ones((s, s)) for s in sizes]).toarray()
    starts = np.cumsum([0, *sizes[:-1]])
    weights[np.ix_(starts, starts)] += between
    np.fill_diagonal(weights, 0.0)
    return weights
