"""Small dense linear algebra and gamma functions for kernels."""

import math

import numpy as np

from partita.kernels.compiling import inner

LARGEST_FACTOR = 1e20  # of which a dozen can be multiplied
NO_COPIES = 1e-10  # of those that leave: fewer than that many stay where rounding alone does
REASSOCIATE = {"reassoc", "contract", "nsz"}  # lets sums use vector registers; keeps NaN and inf


@inner(fastmath=REASSOCIATE)
def squared_distance(x, i, mean, factor, slot, work):
    """|F (x_i - m)|^2 for the lower triangular F of ``slot``; leaves F (x_i - m) in ``work[1]``."""
    d = x.shape[1]
    for c in range(d):
        work[0, c] = x[i, c] - mean[slot, c]
    q = 0.0
    for j in range(d):
        y = 0.0
        for c in range(j + 1):
            y += factor[slot, j, c] * work[0, c]
        work[1, j] = y
        q += y * y
    return q


@inner(fastmath=REASSOCIATE)
def squared_distance_within(x, i, mean, factor, slot, limit):
    """|F (x_i - m)|^2, or the part of it that first exceeds ``limit``."""
    q = 0.0
    for j in range(x.shape[1]):
        y = 0.0
        for c in range(j + 1):
            y += factor[slot, j, c] * (x[i, c] - mean[slot, c])
        q += y * y
        if q > limit:
            break
    return q


@inner
def rank_one_update(factor, work, step):
    """Turn the inverse Cholesky factor of S into that of S + step v v'; ``work[1]`` holds F v.

    With p = F v the new factor is M^-1 F, M the Cholesky factor of I + step p p'; M^-1 is applied
    row by row through running sums (t_j = 1 + step sum_{i<=j} p_i^2), O(d^2) in all.
    """
    d = factor.shape[0]
    p, running = work[1], work[2]
    for c in range(d):
        running[c] = 0.0
    before = 1.0
    for j in range(d):
        after = before + step * p[j] * p[j]
        shrink = math.sqrt(before / after)
        pull = step * p[j] / before
        for c in range(j + 1):
            old = factor[j, c]
            factor[j, c] = (old - pull * running[c]) * shrink
            running[c] += p[j] * old
        before = after


@inner
def add_outer(stats, x, w):
    """Add w * [1, x, xx'] to a flat row of statistics."""
    d = x.shape[0]
    stats[0] += w
    for a in range(d):
        scaled = w * x[a]
        stats[1 + a] += scaled
        for b in range(d):
            stats[1 + d + a * d + b] += scaled * x[b]


@inner
def copies_left(n, w):
    """n + w; 0 where parts of copies came and went, as many, and only their rounding is left."""
    left = n + w
    return left if left > -NO_COPIES * w else 0.0


@inner
def cholesky_in_place(matrix):
    """Replace a symmetric matrix by its lower Cholesky factor (upper part zero); return log |matrix|.

    A pivot that rounding made non-positive is raised to the smallest that the diagonal can resolve.
    """
    d = matrix.shape[0]
    log_det = 0.0
    for j in range(d):
        floor = 1e-14 * abs(matrix[j, j]) + 1e-300
        pivot = matrix[j, j]
        for c in range(j):
            pivot -= matrix[j, c] * matrix[j, c]
        root = math.sqrt(max(pivot, floor))
        matrix[j, j] = root
        log_det += 2.0 * math.log(root)
        for r in range(j + 1, d):
            value = matrix[r, j]
            for c in range(j):
                value -= matrix[r, c] * matrix[j, c]
            matrix[r, j] = value / root
            matrix[j, r] = 0.0
    return log_det


@inner
def invert_lower(lower, out):
    """Write the inverse of a lower triangular matrix to ``out``."""
    d = lower.shape[0]
    for c in range(d):
        for r in range(c):
            out[r, c] = 0.0
        out[c, c] = 1.0 / lower[c, c]
        for r in range(c + 1, d):
            value = 0.0
            for s in range(c, r):
                value -= lower[r, s] * out[s, c]
            out[r, c] = value / lower[r, r]


@inner
def log_multigamma_ratio(v, w, d):
    """log of G_d((v + w)/2) / G_d(v/2), G_d the multivariate gamma function.

    For w = 1 the product telescopes to two ordinary gamma functions.
    """
    if w == 1:
        return math.lgamma(0.5 * (v + 1.0)) - math.lgamma(0.5 * (v + 1.0 - d))
    total = 0.0
    for j in range(d):
        total += math.lgamma(0.5 * (v + w - j)) - math.lgamma(0.5 * (v - j))
    return total


@inner
def log_rising(z, m):
    """log of z (z + 1) ... (z + m - 1), for any m >= 0 log of Gamma(z + m) / Gamma(z)."""
    if m <= 12 and m == int(m) and z < LARGEST_FACTOR:
        product = 1.0
        for step in range(int(m)):
            product *= z + step
        return np.log(product)
    return log_gamma_ratio(z, m)


@inner
def log_gamma_ratio(z, m):
    """log of Gamma(z + m) / Gamma(z) for m >= 0; beyond z = 1000, where the two would cancel, by Stirling's series."""
    if z < 1000.0:
        return math.lgamma(z + m) - math.lgamma(z)
    end = z + m
    series = (end - 0.5) * math.log1p(m / z) - m + (1.0 / end - 1.0 / z) / 12.0 - (end**-3.0 - z**-3.0) / 360.0
    return series + m * math.log(z)
