"""Compiled functions seen from Python, few of them because each compiles once per family."""

import numpy as np

from partita.kernels.compiling import entry
from partita.kernels.names import add, combine, log_marginal, log_predictive, log_weights, reset, weights


@entry
def play(rows, state, moves, out):  # OUT: out (moves, 2)
    """Add ``w`` copies of a row to a slot (w = 0: reset it), move by move (row, w, slot).

    Writes the log predictive before each move and the log marginal of the slot after it.
    """
    for m in range(moves.shape[0]):
        i, w, slot = moves[m]
        if w == 0:
            reset(state, slot)
        else:
            out[m, 0] = log_predictive(rows, i, w, state, slot)
            add(rows, i, w, state, slot)
        out[m, 1] = log_marginal(state, slot)


@entry
def score(rows, i, w, state, sizes, n_slots, own, prior_scores, log_out, out):  # OUT: log_out, out (slots,)
    """Logs and, for one copy, linear weights of a row in every slot; returns the log of their common factor."""
    log_weights(rows, i, w, state, sizes, n_slots, own, log_out)
    return weights(rows, i, state, sizes, n_slots, own, prior_scores, out)


@entry
def combine_slots(state, target, first, second):
    """Give a slot the rows of two others."""
    combine(state, target, first, second)


def played(rows, state, *moves: tuple[int, int, int]) -> np.ndarray:
    """Log predictive before and log marginal after each move (row, w, slot)."""
    out = np.zeros((len(moves), 2))
    play(rows, state, np.array(moves, dtype=np.int64).reshape(-1, 3), out)
    return out
