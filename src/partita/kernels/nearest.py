"""The nearest of several centres, and sums of what is nearest to each: the passes of k-means and its kin."""

from partita.kernels.compiling import entry, inner


@entry
def nearest_centres(x, centres, square, labels, squares):  # OUT: labels, squares (n,); square (K,) is scratch
    """The nearest of ``centres`` (d, K) to every row of ``x`` (n, d), the first of equals, and its squared distance."""
    n_columns, n_centres = centres.shape
    if n_centres == 1:
        _distances(x, centres, labels, squares)
        return
    for i in range(x.shape[0]):
        square[:] = 0.0
        for j in range(n_columns):
            cell = x[i, j]
            for k in range(n_centres):
                rest = cell - centres[j, k]
                square[k] += rest * rest
        best = 0
        for k in range(1, n_centres):
            if square[k] < square[best]:
                best = k
        labels[i], squares[i] = best, square[best]


@inner
def _distances(x, centres, labels, squares):
    """The same of a single centre, without the loop over them: three times as fast."""
    for i in range(x.shape[0]):
        square = 0.0
        for j in range(x.shape[1]):
            rest = x[i, j] - centres[j, 0]
            square += rest * rest
        labels[i], squares[i] = 0, square


@entry
def add_residuals(x, labels, centres, sums, counts):  # OUT: sums (K, d), counts (K,)
    """Add every row of ``x``, less the one of ``centres`` (K, d) that its label names, to the sums of its label."""
    for i in range(x.shape[0]):
        k = labels[i]
        counts[k] += 1
        for j in range(x.shape[1]):
            sums[k, j] += x[i, j] - centres[k, j]
