"""Labels of objects whose components differ from label to label: shared out, and told one after the other."""

import math

import numpy as np

from partita.kernels.compiling import entry, inner

SMALL, LARGE = 1e-150, 1e150  # products of two numbers between them are numbers


@entry
def share_out_labels(position, weights, leaning, shares, scratch, assigned, counts):  # OUT: scratch, assigned, counts
    """Share every label of every object out, phi_mk ~ leaning_k shares[label m, k]; return the weighted log totals.

    ``position`` (A, M) is the label among those of all columns, negative where there is none; ``leaning`` is (A, K),
    ``shares`` (L, K), ``scratch`` (K,). ``assigned`` (A, K) becomes the sum over the labels of an object; the weighted
    sum over objects is added to ``counts`` (L, K). A label that no component has is shared out to none.
    """
    n_components = shares.shape[1]
    log_total = 0.0
    for i in range(position.shape[0]):
        assigned[i] = 0.0
        product, logs = 1.0, 0.0
        for m in range(position.shape[1]):
            label = position[i, m]
            if label < 0:
                continue
            total = 0.0
            for k in range(n_components):
                scratch[k] = leaning[i, k] * shares[label, k]
                total += scratch[k]
            if total <= 0.0:
                logs = -np.inf
                continue
            product, logs = _times(product, logs, total)
            for k in range(n_components):
                part = scratch[k] / total
                assigned[i, k] += part
                counts[label, k] += weights[i] * part
        log_total += weights[i] * (logs + math.log(product))
    return log_total


@entry
def tell_labels(position, alpha, shares, chances, scratch, out):  # OUT: scratch (2, K), out (A,)
    """Log of the mean over draws of prod_m p(label m | labels before it, their components as drawn), for every object.

    ``position`` and ``shares`` as above, ``alpha`` (K,), ``chances`` (draws, M) uniform. With C_k of the labels before
    drawn from component k, p = sum_k (alpha_k + C_k) shares[label, k] / sum_k (alpha_k + C_k), and the component of the
    label is drawn in proportion to the terms.
    """
    seats, terms = scratch[0], scratch[1]
    n_draws = chances.shape[0]
    for i in range(position.shape[0]):
        top, mean = -np.inf, 0.0  # the mean is that of exp(log - top)
        for draw in range(n_draws):
            log = _told(position[i], alpha, shares, chances[draw], seats, terms)
            if log > top:
                mean *= math.exp(top - log)
                top = log
            if log > -np.inf:
                mean += math.exp(log - top) / n_draws
        out[i] = top + math.log(mean) if mean > 0.0 else -np.inf


@inner
def _told(position, alpha, shares, chances, seats, terms):
    """Log probability of the labels of one object, given the components that the chances (M,) draw."""
    product, logs, n_seats = 1.0, 0.0, 0.0
    for k in range(alpha.shape[0]):
        seats[k] = alpha[k]
        n_seats += alpha[k]
    for m in range(position.shape[0]):
        label = position[m]
        if label < 0:
            continue
        total = 0.0
        for k in range(alpha.shape[0]):
            terms[k] = seats[k] * shares[label, k]
            total += terms[k]
        if total <= 0.0:
            return -np.inf
        product, logs = _times(product, logs, total / n_seats)
        left, k = chances[m] * total - terms[0], 0
        while left >= 0.0 and k < alpha.shape[0] - 1:
            k += 1
            left -= terms[k]
        seats[k] += 1.0
        n_seats += 1.0
    return logs + math.log(product)


@inner
def _times(product, logs, factor):
    """A product with one more positive factor, and the logs of what was taken out of it to keep it in range."""
    if factor < SMALL or product < SMALL or product > LARGE:
        logs += math.log(product)
        product = 1.0
    return product * factor, logs
