"""What a table costs whose clusters choose columns, from the definition, cell by cell; and subspaces that are there."""

import numpy as np


def cost_by_definition(rows, labels, clusters, background, *, penalty, share, locality, prior_rows=1.0, smoothing=1.0):
    """Minus the log posterior of Garg, Rudin and Jaakkola (2016) with the logs of sigma and the priors put in.

    ``rows`` are dicts of column to number or category, None where missing; a cluster is a dict of the columns that it
    has chosen, (mean, variance) or a dict of shares; the background is one of all columns.
    """
    whole = {name: [row[name] for row in rows if row[name] is not None] for name in background}
    total = 0.0
    for row, label in zip(rows, labels):
        for name, cell in row.items():
            if cell is not None:
                total += _of_cell(cell, clusters[label].get(name, background[name]))
    for said in (*clusters, background):
        total += sum(_prior(shape, whole[name], prior_rows, smoothing) for name, shape in said.items())
    f = {v: _locality(share, locality, v) for v in (0, 1)}
    for cluster in clusters:
        total += penalty + sum(f[int(name in cluster)] for name in background)
    return total


def _of_cell(cell, shape):
    if isinstance(shape, dict):
        return -np.log(shape[cell])
    mean, variance = shape
    return 0.5 * np.log(variance) + (cell - mean) ** 2 / (2.0 * variance)


def _prior(shape, cells, prior_rows, smoothing):
    if isinstance(shape, dict):
        return -smoothing * sum(np.log(share * len(shape)) for share in shape.values())
    ratio = np.var(cells) / shape[1]
    return 0.5 * prior_rows * (ratio - np.log(ratio) - 1.0)


def _locality(m, rho, v):
    if m == 1.0:
        return 0.0
    a, b = m**2 * (1 - m) / rho - m + v, m * (1 - m) ** 2 / rho + m - v
    return (a + b) * np.log(a + b) - a * np.log(a) - b * np.log(b)


def binary_blocks(seed):
    """Figure 2(a): 300 rows in three groups, each with eight columns of its own that are 1, others 1 in one of ten."""
    return _binary(seed, [100, 100, 100], [range(8), range(8, 16), range(16, 24)])


def uneven_binary_blocks(seed):
    """As Figure 2(c): groups of unequal sizes, blocks in pieces, two that overlap, and a column of noise."""
    blocks = [[0, 1, 2, 3, 8, 9, 10, 11], range(12, 20), [4, 5, 6, 7, 18, 19, 20, 21]]
    table, groups, chosen = _binary(seed, [140, 100, 60], blocks)
    table[:, 23] = np.random.default_rng([seed, 1]).integers(0, 2, len(table))
    return table, groups, chosen


#: As Figure 4: nine columns, sixteen, and eight in two halves, one reaching into the first, one within the second.
UNEQUAL = [range(3, 12), range(12, 28), [1, 2, 3, 4, 21, 22, 23, 24]]


def unequal_binary_blocks(seed):
    """Figure 4(a): clusters of unequal numbers of columns, three columns of noise."""
    return _binary(seed, [100, 100, 100], UNEQUAL, 30)


def _binary(seed, sizes, blocks, n_columns=24):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], sizes)
    table = (rng.random((len(groups), n_columns)) < 0.1).astype(float)
    chosen = np.zeros((3, n_columns), bool)
    for k, block in enumerate(blocks):
        table[np.ix_(groups == k, block)] = 1.0
        chosen[k, block] = True
    return table, groups, chosen


def normal_blocks(seed):
    """Figure 3(a): means 1, 5 and 10 in columns 1-12, 13-24 and 23-34, everything else noise of sd 3."""
    return _normal(seed, [range(12), range(12, 24), range(22, 34)])


def fragmented_normal_blocks(seed):
    """As Figure 3(c): the second block in two pieces, one reaching into the first, one within the third."""
    return _normal(seed, [range(12), [8, 9, 10, 11, 12, 13, 26, 27, 28, 29, 30, 31], range(22, 34)])


def unequal_normal_blocks(seed):
    """Figure 4(c): the same of numbers."""
    return _normal(seed, UNEQUAL)


def _normal(seed, blocks):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 100)
    table = rng.normal(0.0, 3.0, (300, 36))
    chosen = np.zeros((3, 36), bool)
    for k, (block, mean) in enumerate(zip(blocks, (1.0, 5.0, 10.0))):
        table[np.ix_(groups == k, block)] = rng.normal(mean, 1.0, (100, len(block)))
        chosen[k, block] = True
    return table, groups, chosen


def algorithm_1_by_hand(numbers, codes, n_levels, rng, *, m, rho, penalty, n_passes, thresholds=None, smoothing=0.1):
    """Algorithm 1 of the paper, row by row and cell by cell; missing cells are nan and -1.

    Returns labels, the chosen columns of every cluster, and the objective after every pass.
    """
    n, p, d = len(numbers), numbers.shape[1], numbers.shape[1] + codes.shape[1]
    a, b = m**2 * (1 - m) / rho - m, m * (1 - m) ** 2 / rho + m
    f_0, f_1 = _locality(m, rho, 0), _locality(m, rho, 1)

    def eta(rows, j):
        counts = [sum(codes[i, j] == t for i in rows) + smoothing for t in range(n_levels[j])]
        return np.array(counts) / sum(counts)

    eta_0 = [eta(range(n), j) for j in range(d - p)]

    def observed(rows, j):
        return [numbers[i, j] for i in rows if not np.isnan(numbers[i, j])]

    def said(rows, at_one_row):
        means = [np.mean(observed(rows, j) or observed(range(n), j)) for j in range(p)]
        variances = [1.0 if at_one_row or not observed(rows, j) else np.var(observed(rows, j)) for j in range(p)]
        return means, variances, [eta(rows, j) for j in range(d - p)]

    def distance(i, v, shape):
        means, variances, shares = shape
        found = (f_1 - f_0) * sum(v)
        for j in range(p):
            rest = numbers[i, j] - means[j]
            if v[j] and not np.isnan(rest) and rest != 0.0:
                found += rest**2 / (2 * variances[j]) if variances[j] > 0.0 else np.inf
        for j in range(d - p):
            if codes[i, j] >= 0:
                found -= np.log((shares if v[p + j] else eta_0)[j][codes[i, j]])
        return found

    def chosen(rows, shape):
        v = np.zeros(d, bool)
        spread = [shape[1][j] if observed(rows, j) else np.inf for j in range(p)]
        g, g_k = (
            np.array([-sum(np.log(e[j][codes[i, j]]) for i in rows if codes[i, j] >= 0) for j in range(d - p)])
            for e in (eta_0, shape[2])
        )
        if thresholds:
            v[:p], v[p:] = np.array(spread) < thresholds[1], g - g_k > thresholds[0] * g
            return v
        v[np.argsort(spread, kind="stable")[: max(1, round(m * p))]] = True
        v[p + np.argsort(g_k - g, kind="stable")[: max(1, round(m * (d - p)))]] = True
        return v

    first = int(rng.integers(n))
    clusters, path = [(rng.random(d) < m, said([first], True))], []
    for _ in range(n_passes):
        labels = np.zeros(n, int)
        for i in range(n):
            distances = [distance(i, *cluster) for cluster in clusters]
            labels[i] = int(np.argmin(distances))
            if min(distances) > penalty + d * f_0:
                labels[i] = len(clusters)
                probable = sum(a + v for v, _ in clusters) / (len(clusters) * (a + b))
                clusters.append((rng.random(d) < probable, said([i], True)))
        order = list(dict.fromkeys(labels))
        labels = np.array([order.index(k) for k in labels])
        members = [np.flatnonzero(labels == k) for k in range(len(order))]
        shapes = [said(rows, False) for rows in members]
        clusters = [(chosen(rows, shape), shape) for rows, shape in zip(members, shapes)]
        n_chosen = sum(int(v.sum()) for v, _ in clusters)
        rows = sum(distance(i, *clusters[k]) - (f_1 - f_0) * clusters[k][0].sum() for i, k in enumerate(labels))
        path.append(rows + (penalty + d * f_0) * len(clusters) + (f_1 - f_0) * n_chosen)
    return labels, np.array([v for v, _ in clusters]), path
