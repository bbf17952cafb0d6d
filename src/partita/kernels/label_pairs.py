"""How often labels of two clusterings meet, for many pairs of clusterings in one pass over the objects."""

from partita.kernels.compiling import entry


@entry
def count_pairs(codes, pairs, starts, widths, out):  # OUT: out (cells of all tables,)
    """Add the objects of ``codes`` (n, M; -1: no label) to the contingency tables of ``pairs`` (P, 2) of columns.

    Table p begins at ``starts[p]``, row after row of ``widths[p]`` cells.
    """
    for i in range(codes.shape[0]):
        for p in range(pairs.shape[0]):
            a, b = codes[i, pairs[p, 0]], codes[i, pairs[p, 1]]
            if a >= 0 and b >= 0:
                out[starts[p] + a * widths[p] + b] += 1
