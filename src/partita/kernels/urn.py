"""Draw a partition row by row from the two-parameter urn scheme."""

import numpy as np

from partita.kernels.compiling import entry


@entry(allocates=True)
def draw_urn_labels(rng, n, concentration, discount):
    """Draw labels, in order of appearance, from the Pitman-Yor urn (a Dirichlet process at discount 0).

    Row i opens a cluster with probability (concentration + discount K) / (concentration + i), otherwise it
    joins cluster k with probability proportional to n_k - discount. That join is drawn without
    looking at sizes: pick an earlier row; the first row of a cluster counts 1 - discount, any other 1.
    Cost O(n) for any number of clusters (each pick is accepted with probability 1 - discount K / i).
    """
    labels = np.empty(n, np.int64)
    founder = np.zeros(n, np.bool_)
    n_clusters = 0
    for i in range(n):
        if i == 0 or rng.random() * (concentration + i) < concentration + discount * n_clusters:
            labels[i] = n_clusters
            founder[i] = True
            n_clusters += 1
            continue
        earlier = min(int(rng.random() * i), i - 1)
        while founder[earlier] and rng.random() < discount:
            earlier = min(int(rng.random() * i), i - 1)
        labels[i] = labels[earlier]
    return labels
