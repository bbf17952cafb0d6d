"""Compiled loops over label matrices: canonical labels, column hashes and contingency counts.

A label matrix has one row per partition and one column per object or atom; -1 means not labelled. ``counts[a]`` is
the number of objects that atom ``a`` stands for; a loss is its kind, the cost ``a`` of a wrong split and the table
``phi`` of what it sums (see `partita.kernels.loss_values`). Inside a contingency table label ``l`` has index ``l +
1``, so index 0 collects what is not labelled.
"""

import numpy as np

from partita.kernels.compiling import entry, inner
from partita.kernels.loss_values import loss_value

_TILE_ROWS = 32
_TILE_COLUMNS = 512
DRAWS_TOGETHER = 16


@entry(allocates=True)
def relabel_rows(rows, newest):
    """Relabel every row 0, 1, ... by first appearance; the largest number of labels is returned.

    ``rows`` is read and written, ``newest`` is scratch that every label of ``rows`` can index.
    """
    most = 0
    for b in range(rows.shape[0]):
        newest[:] = -1
        n_labels = 0
        for i in range(rows.shape[1]):
            label = rows[b, i]
            if label < 0:
                continue
            if newest[label] < 0:
                newest[label] = n_labels
                n_labels += 1
            rows[b, i] = newest[label]
        most = max(most, n_labels)
    return most


@entry(allocates=True)
def add_hashes(rows, keys, hashes):
    """Add to every column's hash the key of its label in each row (``keys[row, label + 1]``)."""
    for b in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            hashes[i] += keys[b, rows[b, i] + 1]


@entry(allocates=True)
def chained_losses(candidates, columns, kind, a, counts, phi, tables, losses):
    """Loss of every candidate and draw; ``losses`` (candidate, draw) is written.

    One contingency table per draw is kept from candidate to candidate: the next candidate's labels
    are first matched to those of the one before, and only the atoms that still differ are moved.
    ``columns`` (atom, draw) are the draws; ``tables`` (draw, candidate label + 1, draw label + 1) is
    scratch and starts at 0. Cost: draws x (atoms + moved atoms + candidates x labels^2).
    """
    n_atoms, n_draws = columns.shape
    n_rows, n_columns = tables.shape[1:]
    overlap = np.zeros((n_rows, n_rows), np.int64)
    matched = np.zeros(n_rows, np.int64)
    column_sums = np.zeros(n_columns, np.int64)
    current, moved, origin = np.zeros((3, n_atoms), np.int64)
    cells = tables.reshape(n_draws, n_rows * n_columns)
    for i in range(n_atoms):
        _add(cells, columns[i], 1, counts[i])
    for s in range(candidates.shape[0]):
        _match(candidates[s], current, counts, overlap, matched)
        for m in range(_move(candidates[s], matched, current, moved, origin)):
            i = moved[m]
            _add(cells, columns[i], 1 + n_columns * origin[m], -counts[i])
            _add(cells, columns[i], 1 + n_columns * current[i], counts[i])
        for b in range(n_draws):
            losses[s, b] = _table_loss(kind, a, tables[b], phi, column_sums)


@entry(allocates=True)
def count_moves(candidates, counts, n_labels):
    """Count the atoms that `chained_losses` moves, summed over the candidates."""
    n_atoms = candidates.shape[1]
    overlap = np.zeros((n_labels + 1, n_labels + 1), np.int64)
    matched = np.zeros(n_labels + 1, np.int64)
    current, moved, origin = np.zeros((3, n_atoms), np.int64)
    total = 0
    for s in range(candidates.shape[0]):
        _match(candidates[s], current, counts, overlap, matched)
        total += _move(candidates[s], matched, current, moved, origin)
    return total


@entry(allocates=True)
def pairwise_losses(candidates, draws, kind, a, counts, phi, n_labels, losses):
    """Loss of every candidate and draw; ``losses`` (candidate, draw) is written.

    ``n_labels`` bounds the labels of both. Memory is linear in atoms and labels, so any number of
    clusters will do. Cost: 2 x candidates x draws x atoms.
    """
    n_atoms = candidates.shape[1]
    starts = np.empty(n_labels + 2, np.int64)
    order = np.empty(n_atoms, np.int64)
    seen = np.zeros(n_labels + 1, np.int64)
    column_sums = np.zeros(n_labels + 1, np.int64)
    for s in range(candidates.shape[0]):
        _group(candidates[s], starts, order)
        for b in range(draws.shape[0]):
            column_sums[:] = 0
            n, joint, rows = 0, 0.0, 0.0
            for k in range(1, n_labels + 1):
                row_sum = 0
                for p in range(starts[k], starts[k + 1]):
                    label = draws[b, order[p]] + 1
                    if label > 0:
                        seen[label] += counts[order[p]]
                        row_sum += counts[order[p]]
                for p in range(starts[k], starts[k + 1]):
                    label = draws[b, order[p]] + 1
                    joint += phi[seen[label]]
                    column_sums[label] += seen[label]
                    seen[label] = 0
                rows += phi[row_sum]
                n += row_sum
            losses[s, b] = loss_value(kind, a, n, phi[n], rows, _sum(phi, column_sums), joint)


@entry(allocates=True)
def add_memberships(labels, draws, weights, counts, n_labels, shares):
    """Add to ``shares`` (atom, cluster) each draw's weight, shared out as the company of one object of the atom is.

    The company are the other objects of the same draw label that ``labels`` has in some cluster; an object without
    any counts for its own cluster. Draws go over the atoms a few at a time, so that ``shares`` travels less.
    """
    n_clusters = shares.shape[1]
    table = np.zeros((DRAWS_TOGETHER, n_labels, n_clusters))
    company = np.zeros((DRAWS_TOGETHER, n_labels))
    for start in range(0, draws.shape[0], DRAWS_TOGETHER):
        n_together = min(DRAWS_TOGETHER, draws.shape[0] - start)
        for t in range(n_together):
            _count_company(labels, draws[start + t], counts, table[t], company[t])
        for a in range(labels.shape[0]):
            own = labels[a]
            for t in range(n_together):
                label, weight = draws[start + t, a], weights[start + t]
                if label < 0:
                    continue
                others = company[t, label] - (own >= 0)
                if others > 0:
                    per_object = weight / others
                    for k in range(max(own, 0)):
                        shares[a, k] += per_object * table[t, label, k]
                    if own >= 0:
                        shares[a, own] += per_object * (table[t, label, own] - 1.0)
                    for k in range(own + 1, n_clusters):
                        shares[a, k] += per_object * table[t, label, k]
                elif own >= 0:
                    shares[a, own] += weight


@entry(allocates=True)
def add_support(clusters, draws, weights, counts, n_labels, sizes, shared, own):
    """Add to ``shared`` (cluster, cluster) each draw's weight for every ordered pair of objects with one label, an
    object with itself among them, and to ``own`` (cluster,) its weight for every object times the share of the
    object's company that is of its cluster, 1 where it is alone; ``sizes`` (draw, cluster) counts labelled objects.

    Every atom is in a cluster. Cost: draws x (atoms + labels x the square of the clusters that a label meets).
    """
    starts = np.empty(n_labels + 2, np.int64)
    order = np.empty(clusters.shape[0], np.int64)
    seen = np.zeros(own.shape[0])
    met = np.empty(own.shape[0], np.int64)
    for b in range(draws.shape[0]):
        _group(draws[b], starts, order)
        for label in range(1, n_labels + 1):
            n_met, total = 0, 0.0
            for p in range(starts[label], starts[label + 1]):
                k = clusters[order[p]]
                if seen[k] == 0.0:
                    met[n_met] = k
                    n_met += 1
                seen[k] += counts[order[p]]
                total += counts[order[p]]
            for i in range(n_met):
                k = met[i]
                objects = weights[b] * seen[k]
                sizes[b, k] += seen[k]
                own[k] += objects * (seen[k] - 1.0) / (total - 1.0) if total > 1.0 else objects
                for j in range(n_met):
                    shared[k, met[j]] += objects * seen[met[j]]
            for i in range(n_met):
                seen[met[i]] = 0.0


@entry(allocates=True)
def coclustering(draws, weights, together):
    """Write to the lower triangle of ``together`` the weight of the draws in which two atoms share a label.

    The sums of one tile at a time stay in the processor's cache. Cost: draws x atoms^2 / 2.
    """
    n_atoms = draws.shape[1]
    tile = np.empty((_TILE_ROWS, _TILE_COLUMNS))
    for top in range(0, n_atoms, _TILE_ROWS):
        n_rows = min(_TILE_ROWS, n_atoms - top)
        for left in range(0, top + n_rows, _TILE_COLUMNS):
            n_columns = min(_TILE_COLUMNS, top + n_rows - left)
            tile[:, :] = 0.0
            for b in range(draws.shape[0]):
                weight = weights[b]
                labels = draws[b, left : left + n_columns]
                for i in range(n_rows):
                    label = draws[b, top + i]
                    if label < 0:
                        continue
                    sums = tile[i]
                    for j in range(labels.shape[0]):
                        sums[j] += weight if labels[j] == label else 0.0
            together[top : top + n_rows, left : left + n_columns] = tile[:n_rows, :n_columns]


@inner
def _match(candidate, current, counts, overlap, matched):
    """Give each label of ``candidate`` the index in ``current`` that it overlaps most, each once."""
    n_rows = overlap.shape[0]
    overlap[:, :] = 0
    for a in range(candidate.shape[0]):
        overlap[candidate[a] + 1, current[a]] += counts[a]
    best = np.zeros(n_rows, np.int64)
    most = np.zeros(n_rows, np.int64)
    for row in range(1, n_rows):
        best[row] = 1 + np.argmax(overlap[row, 1:])
        most[row] = overlap[row, best[row]]
    taken = np.zeros(n_rows, np.bool_)
    matched[:] = 0
    for row in np.argsort(-most):
        if row > 0 and most[row] > 0 and not taken[best[row]]:
            matched[row] = best[row]
            taken[best[row]] = True
    free = 1
    for row in range(1, n_rows):
        if matched[row] == 0:
            while taken[free]:
                free += 1
            matched[row] = free
            taken[free] = True


@inner
def _move(candidate, matched, current, moved, origin):
    """Bring ``current`` to the matched labels of ``candidate`` and list the atoms that moved."""
    n_moved = 0
    for a in range(candidate.shape[0]):
        target = matched[candidate[a] + 1]
        if target != current[a]:
            moved[n_moved] = a
            origin[n_moved] = current[a]
            current[a] = target
            n_moved += 1
    return n_moved


@inner
def _add(cells, column, first, count):
    """Add an atom to every draw's flat table; ``first`` is the cell of draw label 0."""
    # An unsigned index spares the innermost loop the test for one that counts from the end.
    for b in range(column.shape[0]):
        cells[b, np.uint64(first + column[b])] += count


@inner
def _table_loss(kind, a, table, phi, column_sums):
    """Loss from a contingency table whose row and column 0 do not count."""
    column_sums[:] = 0
    n, joint, rows = 0, 0.0, 0.0
    for k in range(1, table.shape[0]):
        row_sum = 0
        for column in range(1, table.shape[1]):
            joint += phi[table[k, column]]
            row_sum += table[k, column]
            column_sums[column] += table[k, column]
        rows += phi[row_sum]
        n += row_sum
    return loss_value(kind, a, n, phi[n], rows, _sum(phi, column_sums), joint)


@inner
def _sum(phi, sizes):
    total = 0.0
    for size in sizes:
        total += phi[size]
    return total


@inner
def _group(labels, starts, order):
    """Order atoms by label: those of label ``l`` are ``order[starts[l + 1] : starts[l + 2]]``."""
    starts[:] = 0
    for a in range(labels.shape[0]):
        starts[labels[a] + 2] += 1
    for k in range(1, starts.shape[0]):
        starts[k] += starts[k - 1]
    following = starts.copy()
    for a in range(labels.shape[0]):
        order[following[labels[a] + 1]] = a
        following[labels[a] + 1] += 1


@inner
def _count_company(labels, draw, counts, table, company):
    """Objects of every draw label in every cluster, and in any; both are written."""
    table[:, :] = 0.0
    company[:] = 0.0
    for a in range(labels.shape[0]):
        if draw[a] >= 0 and labels[a] >= 0:
            table[draw[a], labels[a]] += counts[a]
            company[draw[a]] += counts[a]
