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


def _binary(seed, sizes, blocks):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], sizes)
    table = (rng.random((len(groups), 24)) < 0.1).astype(float)
    chosen = np.zeros((3, 24), bool)
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


def _normal(seed, blocks):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 100)
    table = rng.normal(0.0, 3.0, (300, 36))
    chosen = np.zeros((3, 36), bool)
    for k, (block, mean) in enumerate(zip(blocks, (1.0, 5.0, 10.0))):
        table[np.ix_(groups == k, block)] = rng.normal(mean, 1.0, (100, len(block)))
        chosen[k, block] = True
    return table, groups, chosen
