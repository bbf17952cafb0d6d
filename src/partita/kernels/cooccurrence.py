"""Which kinds of objects have labels in common, and how many: rows of a sparse matrix."""

import numpy as np

from partita.kernels.compiling import entry, inner


@entry
def compare_all(columns, weights, common, starts, neighbours, pairs):  # OUT: common, starts, neighbours, pairs
    """The other kinds that each of A kinds has a label in common with, and the labels in common of all their objects.

    Column m of labels is ``columns[m]`` (A,), -1: none. ``weights`` (A,) are the objects of a kind: a pair of kinds
    counts w_i w_j times the labels in common. Neighbours of kind i begin at ``starts[i]``, those of all kinds end at
    ``starts[A]``; one more place is written to. Every two kinds are compared, several at a time.
    """
    end = 0
    for i in range(weights.shape[0]):
        starts[i] = end
        common[:] = 0
        for m in range(columns.shape[0]):
            if columns[m, i] >= 0:
                _add_equal(columns[m], columns[m, i], common)
        common[i] = 0
        for j in range(weights.shape[0]):
            neighbours[end] = j
            pairs[end] = common[j] * weights[i] * weights[j]
            end += common[j] > 0  # without a branch, which is guessed wrong every other time
    starts[weights.shape[0]] = end


@inner
def _add_equal(column, own, common):
    for j in range(column.shape[0]):
        common[j] += column[j] == own


@entry
def count_neighbours(labels, label_starts, kinds, kind_starts, seen, out):  # OUT: seen (A,), out (A,)
    """With how many other kinds each of A kinds has a label in common.

    Kind i has ``labels[label_starts[i] : label_starts[i + 1]]``; label c is had by ``kinds`` between ``kind_starts[c]``
    and ``kind_starts[c + 1]``. ``seen`` comes in as -1.
    """
    for i in range(out.shape[0]):
        seen[i] = i
        n_found = 0
        for place in range(label_starts[i], label_starts[i + 1]):
            label = labels[place]
            for j in kinds[kind_starts[label] : kind_starts[label + 1]]:
                n_found += seen[j] != i
                seen[j] = i
        out[i] = n_found


@entry
def list_neighbours(  # OUT: common, neighbours, pairs
    labels, label_starts, kinds, kind_starts, weights, starts, common, neighbours, pairs
):
    """What `compare_all` finds, by way of the kinds that have each label, where ``starts`` (A + 1,) is known.

    For labels that few kinds have. ``common`` (A,) comes in as 0.
    """
    for i in range(weights.shape[0]):
        end = starts[i]
        common[i] = 1
        for place in range(label_starts[i], label_starts[i + 1]):
            label = labels[place]
            for j in kinds[kind_starts[label] : kind_starts[label + 1]]:
                neighbours[end] = j
                end += common[j] == 0
                common[j] += 1
        for place in range(starts[i], end):
            j = neighbours[place]
            pairs[place] = common[j] * weights[i] * weights[j]
            common[j] = 0
        common[i] = 0


@entry(allocates=True)
def nearest_of_some(rng, codes, offsets, kinds, kind_starts, n_drawn, nearest, common):  # OUT: nearest, common
    """Of kinds drawn from every cluster of a kind, those with the most labels in common, (A, k) each.

    Label y of column m is number ``offsets[m] + y``; of a label that at most ``n_drawn`` kinds have all are drawn.
    Rows of ``common`` end in zeros where fewer than k kinds were found.
    """
    n_kinds, n_members = codes.shape
    seen = np.full(n_kinds, -1)
    drawn, shared = np.empty((2, n_members * n_drawn), np.int64)
    histogram = np.empty(n_members + 2, np.int64)
    for i in range(n_kinds):
        seen[i] = i
        histogram[:] = 0
        n_found = 0
        for turn in range(n_drawn):
            for m in range(n_members):
                if codes[i, m] < 0:
                    continue
                begin = kind_starts[offsets[m] + codes[i, m]]
                size = kind_starts[offsets[m] + codes[i, m] + 1] - begin
                j = i
                if size > n_drawn:
                    j = kinds[begin + int(rng.random() * size)]
                elif turn < size:
                    j = kinds[begin + turn]
                if seen[j] != i:
                    seen[j] = i
                    drawn[n_found], shared[n_found] = j, _labels_shared(codes[i], codes[j])
                    histogram[shared[n_found]] += 1
                    n_found += 1
        _keep_most(drawn, shared, n_found, histogram, nearest[i], common[i])


@inner
def _labels_shared(one, other):
    n_shared = 0
    for m in range(one.shape[0]):
        n_shared += one[m] >= 0 and one[m] == other[m]
    return n_shared


@inner
def _keep_most(drawn, shared, n_found, histogram, nearest, common):  # OUT: nearest (k,), common (k,)
    """Those that share most; of equals the first that were drawn."""
    least, above = histogram.shape[0] - 1, 0
    while least > 1 and above + histogram[least] < nearest.shape[0]:
        above += histogram[least]
        least -= 1
    n_kept, n_equal = 0, nearest.shape[0] - above
    for place in range(n_found):
        if shared[place] > least or (shared[place] == least and n_equal > 0):
            n_equal -= shared[place] == least
            nearest[n_kept], common[n_kept] = drawn[place], shared[place]
            n_kept += 1
