"""What a loss is, given the sums over one contingency table of an estimate and a draw.

With ``phi`` the function that the loss sums, ``rows`` is the sum of phi over the sizes of the estimate's clusters,
``columns`` that over the draw's, ``joint`` that over the cells, and ``whole`` is phi(n), all over the ``n`` objects
that both label.
"""

from partita.kernels.compiling import inner

VI, BINDER, ONE_MINUS_ARI, NVI, NID, ZERO_ONE = range(6)


@inner
def loss_value(kind, a, n, whole, rows, columns, joint):
    """One loss of one pair of labelings; ``a`` is the cost of a wrong split. Nothing in common costs nothing."""
    if n == 0:
        return 0.0
    if kind == VI:
        return max(0.0, (2.0 - a) * rows + a * columns - 2.0 * joint) / n
    if kind == BINDER:
        return max(0.0, (2.0 - a) * rows + a * columns - 2.0 * joint) / whole
    if kind == ONE_MINUS_ARI:
        return _one_minus_ari(n, whole, rows, columns, joint)
    if kind == ZERO_ONE:
        return 0.0 if joint == rows and joint == columns else 1.0
    shared = whole - rows - columns + joint
    most = whole - joint if kind == NVI else whole - min(rows, columns)
    return max(0.0, 1.0 - shared / most) if most > 0.0 else 0.0


@inner
def _one_minus_ari(n, whole, rows, columns, joint):
    """From pairs of objects: phi is the square. Two trivial partitions that agree have no chance to disagree."""
    if whole == n:
        return 0.0
    per_pair = 1.0 / (whole - n)
    first, second, both = (rows - n) * per_pair, (columns - n) * per_pair, (joint - n) * per_pair
    by_chance = first * second
    most = (first + second) / 2.0 - by_chance
    return 1.0 - (both - by_chance) / most if most > 1e-12 else 0.0
