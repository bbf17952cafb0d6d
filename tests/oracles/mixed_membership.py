"""What a mixed-membership model of labels says of them, by sums over all components of all labels."""

from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp


def log_evidence(position, alpha, shares):
    """log p(labels | alpha, beta) of every object (A,), by enumeration of the K^M assignments of its labels.

    Memberships are summed out: p(z) = Gamma(sum alpha) / Gamma(sum alpha + M) prod_k Gamma(alpha_k + C_k) /
    Gamma(alpha_k), C_k the labels of component k.
    """
    found = []
    for own in position:
        labels, logs = own[own >= 0], []
        for z in product(range(alpha.size), repeat=labels.size):
            counts = np.bincount(np.array(z, dtype=int), minlength=alpha.size)
            prior = gammaln(alpha.sum()) - gammaln(alpha.sum() + labels.size)
            prior += (gammaln(alpha + counts) - gammaln(alpha)).sum()
            with np.errstate(divide="ignore"):
                logs.append(prior + np.log(shares[labels, list(z)]).sum())
        found.append(logsumexp(logs))
    return np.array(found)
