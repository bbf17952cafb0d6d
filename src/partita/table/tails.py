"""Whether numbers are positive ones with a long tail: what their logs say of them against what they say themselves."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from partita.table.encoding import Reading
from partita.table.guessing import Guess, may_be
from partita.table.positive import SMALL, offset_of
from partita.table.schema import WIDEST_LOG_STEP
from partita.table.steps import recorded_step

MARGIN = 7.0  # nats by which the logs must win
FEWEST_CELLS = 30  # of positive weight that must be there to tell,
FEWEST_VALUES = 11  # and different values among them
MOST_CELLS = 256  # that are looked at: evenly spaced order statistics
MOST_NORMALS = 4  # of the mixture that a column is described by
STEPS = 30  # of EM, from two starts
END_SHARE = 0.05  # of the cells at either end, between which a gap is no sign of groups
SPREAD, SPREAD_CELLS = 0.05, 2.0  # a share of the column's variance, and how many cells it weighs in every normal
COLUMNS_AT_ONCE = 16  # whose cells stay in the processor's cache


def guessed_positive(
    readings: Sequence[Reading],
    told: Collection[str],
    weights: np.ndarray | None,
    guess: Guess,
    offset: float | Callable[[str], float],
    steps: Mapping[str, float],
) -> tuple[list[Reading], dict[str, float]]:
    """Columns of numbers that nobody told as positive ones where their logs win, and the steps found on the way.

    ``guess`` says whether to, a function of which columns and kinds; ``steps`` are those that are known.
    """
    found: dict[str, float] = {}
    candidates = {}
    for j, reading in enumerate(readings):
        if not may_be(reading, "positive", told, guess):
            continue
        seen = reading.observed if weights is None else reading.observed & (weights > 0)
        cells, shift = reading.values[seen], offset_of(reading.name, offset)
        if not _may_be_positive(cells, shift):
            continue
        step = found[reading.name] = steps[reading.name] if reading.name in steps else recorded_step(cells)
        counts = np.ones(len(cells)) if weights is None else weights[seen]
        if counts.sum() >= FEWEST_CELLS:
            candidates[j] = (order_statistics(cells, counts), step, shift)
    won = dict(zip(candidates, log_gains(*zip(*candidates.values())) > MARGIN)) if candidates else {}
    offsets = {j: candidates[j][2] for j in candidates if won[j]}
    read = [
        replace(reading, kind="positive", guessed=True, offset=offsets[j]) if j in offsets else reading
        for j, reading in enumerate(readings)
    ]
    return read, found


def _may_be_positive(cells: np.ndarray, offset: float) -> bool:
    if not len(cells) or cells.min() + offset <= 0.0 or not np.isfinite(cells.max() + offset):
        return False
    return len(np.unique(cells)) >= FEWEST_VALUES


def order_statistics(cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All cells in order, each ``counts`` times, or 256 of them, evenly spaced."""
    order = np.argsort(cells, kind="stable")
    upto = np.cumsum(counts[order])
    n = int(min(upto[-1], MOST_CELLS))
    return cells[order][np.searchsorted(upto, (np.arange(n) + 0.5) / n * upto[-1])]


def log_gains(cells: Sequence[np.ndarray], steps: Sequence[float], offsets: Sequence[float]) -> np.ndarray:
    """By how many nats the logs of every column (ordered positive numbers) tell of it better than the numbers.

    log p(log(x + offset)) - sum log(x + offset) less log p(x), each p the best mixture of one to four normals by the
    Bayesian information criterion; see `evidence`. Mixtures, since two groups far apart are no long tail.
    """
    gains = np.empty(len(cells))
    for start in range(0, len(cells), COLUMNS_AT_ONCE):
        block = slice(start, start + COLUMNS_AT_ONCE)
        x = _padded([one + offset for one, offset in zip(cells[block], offsets[block])])
        step = np.array(steps[block])
        gains[block] = evidence_of_logs(x, step) - evidence(x, step)
    return gains


def _padded(cells: list[np.ndarray]) -> np.ndarray:
    """Columns (C, m) of different lengths; nan behind the last."""
    block = np.full((len(cells), max(map(len, cells))), np.nan)
    for row, one in zip(block, cells):
        row[: len(one)] = one
    return block


def evidence(x: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Log evidence (C,) of columns (C, m), ordered, nan behind the last: the best of one to four normals.

    max over K of log likelihood - (3 K - 1) / 2 log n; a cell stands for what lies within half a ``step`` of it.
    """
    seen = ~np.isnan(x)
    n = seen.sum(axis=1)
    center = np.nanmean(x, axis=1)
    sd = np.nanstd(x, axis=1)
    sd = np.where(sd > 0.0, sd, 1.0)
    z = np.where(seen, (x - center[:, None]) / sd[:, None], 0.0)
    rounding = (step / sd) ** 2 / 12.0
    found = [
        _log_likelihood(z, seen.astype(np.float64), k, own, rounding) - 0.5 * (3 * k - 1) * np.log(n)
        for k in range(1, MOST_NORMALS + 1)
        for own in (_equal_shares(seen, k), _parts_between_gaps(z, seen, k))[: 2 if k > 1 else 1]
    ]
    return np.max(found, axis=0) - n * np.log(sd)


def evidence_of_logs(x: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Log evidence (C,) of columns (C, m) of positive numbers, as `evidence`, where their logs are the normals."""
    logs = np.log(x)
    log_step = np.minimum(step / np.nanquantile(x, SMALL, axis=1), WIDEST_LOG_STEP)
    return evidence(logs, log_step) - np.nansum(logs, axis=1)


def _equal_shares(seen: np.ndarray, k: int) -> np.ndarray:
    """The normal of every cell (C, m) where ordered cells are dealt to k of them in equal shares."""
    rank = np.cumsum(seen, axis=1) - seen
    return np.floor(rank * k / seen.sum(axis=1)[:, None])


def _parts_between_gaps(z: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
    """The normal of every cell (C, m) where ordered cells are cut at the k - 1 largest gaps, away from the ends."""
    rank, n = np.cumsum(seen, axis=1), seen.sum(axis=1)[:, None]
    inside = (rank[:, :-1] >= END_SHARE * n) & (rank[:, :-1] <= (1.0 - END_SHARE) * n)
    gaps = np.where(inside, np.diff(z, axis=1), -1.0)
    cuts = np.zeros(z.shape)
    largest = np.argpartition(-gaps, k - 1, axis=1)[:, : k - 1]
    np.put_along_axis(cuts, largest + 1, 1.0, axis=1)
    return np.cumsum(cuts, axis=1)


def _log_likelihood(z: np.ndarray, seen: np.ndarray, k: int, own: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Log likelihood (C,) of columns of variance 1 under k normals after some steps of EM from ``own``, cells' normals.

    Variances lean on a twentieth of the column's with the weight of two cells, so that no normal shrinks to a point.
    """
    n = seen.sum(axis=1)
    resp = (own == np.arange(k)[:, None, None]) * seen  # (k, C, m)
    square = z * z
    log_likelihood = np.zeros(len(z))
    for step in range(STEPS + 1 if k > 1 else 1):
        size = resp.sum(axis=2) + 1e-9
        mean = np.einsum("kcm,cm->kc", resp, z) / size
        scatter = np.einsum("kcm,cm->kc", resp, square) - size * mean**2
        scatter = np.maximum(scatter, 0.0) + size * rounding + SPREAD_CELLS * SPREAD
        variance = scatter / (size + SPREAD_CELLS)
        constant = np.log(size / n) - 0.5 * np.log(2.0 * np.pi * variance) - 0.5 * (mean**2 + rounding) / variance
        resp = square * (-0.5 / variance)[..., None]
        resp += z * (mean / variance)[..., None]
        resp += constant[..., None]
        top = resp.max(axis=0)
        resp -= top
        np.exp(resp, out=resp)
        total = resp.sum(axis=0)
        resp *= seen / total
        if step == (STEPS if k > 1 else 0):
            log_likelihood = ((np.log(total) + top) * seen).sum(axis=1)
    return log_likelihood
