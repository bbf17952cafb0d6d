"""Rows against clusters that have chosen some columns: numbers and categories, cells may be missing."""

import math

import numpy as np

from partita.kernels.compiling import entry


@entry
def cheapest_subspaces(cells, starts, columns, numbers, tables, cost, labels, least):  # OUT: labels, least (n,)
    """The cluster in which every row costs least, the first of equals, and what it costs there.

    Parameters
    ----------
    cells : (numeric (n, p), codes (n, c), firsts (c,))
        nan and -1 are missing; ``firsts`` are the positions of the columns' first categories in ``tables``.
    starts : (K + 1, 2)
        Where the chosen columns of every cluster begin, of numbers and of categories.
    columns : (numeric, categorical)
        The chosen columns, cluster after cluster.
    numbers : (chosen (C, 3), elsewhere (p, 3))
        Centre, factor of the squared distance and constant, of chosen columns and of columns that are not chosen.
    tables : (chosen (K, T), elsewhere (T,))
        What each category costs.
    cost : (p + c,)
        Scratch: what the cells of a row cost where they are not chosen.
    """
    numeric, codes, firsts = cells
    of_numbers, elsewhere_numbers = numbers
    of_codes, elsewhere_codes = tables
    n, p = numeric.shape
    n_codes = codes.shape[1]
    n_clusters = starts.shape[0] - 1
    for i in range(n):
        base = 0.0
        for j in range(p):
            rest = numeric[i, j] - elsewhere_numbers[j, 0]
            own = elsewhere_numbers[j, 2] + elsewhere_numbers[j, 1] * rest * rest
            cost[j] = 0.0 if math.isnan(own) else own
            base += cost[j]
        for j in range(n_codes):
            cost[p + j] = elsewhere_codes[firsts[j] + codes[i, j]] if codes[i, j] >= 0 else 0.0
            base += cost[p + j]
        labels[i], least[i] = 0, np.inf
        for k in range(n_clusters):
            own = base
            for at in range(starts[k, 0], starts[k + 1, 0]):
                j = columns[0][at]
                rest = numeric[i, j] - of_numbers[at, 0]
                if not math.isnan(rest):
                    own += of_numbers[at, 2] + of_numbers[at, 1] * rest * rest - cost[j]
            for at in range(starts[k, 1], starts[k + 1, 1]):
                j = columns[1][at]
                if codes[i, j] >= 0:
                    own += of_codes[k, firsts[j] + codes[i, j]] - cost[p + j]
            if own < least[i]:
                labels[i], least[i] = k, own


@entry
def add_numbers(numeric, labels, counts, sums):  # OUT: counts, sums (K, p)
    """Count and add the numbers of every cluster."""
    for i in range(numeric.shape[0]):
        k = labels[i]
        for j in range(numeric.shape[1]):
            cell = numeric[i, j]
            if not math.isnan(cell):
                counts[k, j] += 1.0
                sums[k, j] += cell


@entry
def add_squares(numeric, labels, means, squares):  # OUT: squares (K, p)
    """Add the squared distances of the numbers of every cluster from its means."""
    for i in range(numeric.shape[0]):
        k = labels[i]
        for j in range(numeric.shape[1]):
            rest = numeric[i, j] - means[k, j]
            if not math.isnan(rest):
                squares[k, j] += rest * rest


@entry
def add_codes(codes, firsts, labels, counts):  # OUT: counts (K, T)
    """Count the categories of every cluster."""
    for i in range(codes.shape[0]):
        k = labels[i]
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                counts[k, firsts[j] + codes[i, j]] += 1.0
