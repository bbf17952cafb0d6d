"""Compiled search for a partition of little loss: allocation, sweetening and zealous updates.

These are the phases of SALSO (Dahl, Johnson and Mueller, 2022), for any objective. An objective is a NamedTuple of
arrays that answers to three generic names, `score`, `place` and `value`; it knows the *units* that move and how many
objects they hold of which label in which draw. A cluster lives in a slot; a slot may be empty.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import entry, inner
from partita.kernels.dispatch import generic


class Seats(NamedTuple):
    """Who sits where, and scratch."""

    labels: np.ndarray  # (unit,) slot, -1: not seated yet
    weights: np.ndarray  # (unit,) objects
    sizes: np.ndarray  # (slot,) objects
    change: np.ndarray  # (slot,) scratch
    order: np.ndarray  # (unit,) a permutation of the units
    kept: np.ndarray  # (unit,) scratch
    tried: np.ndarray  # (slot,) a permutation of the slots
    full: np.ndarray  # (1,) whether a cluster could not be opened for want of a slot


class Rules(NamedTuple):
    """What the search may do."""

    most_clusters: int
    least_size: int  # objects per cluster
    n_scans: int  # of all phases together
    n_zealous: int
    tie: float  # a move must lower the objective by more


@generic("objective", inline=True)
def score(objective, unit, own, out):
    """Write the objective's value with ``unit`` in each slot, up to a number that is the same for all slots.

    ``own`` is where the unit sits, -1 if nowhere.
    """


@generic("objective", inline=True)
def place(objective, unit, slot, sign):
    """Put ``unit`` into ``slot`` (``sign`` 1) or take it out (-1)."""


@generic("objective")
def value(objective):
    """The objective of all units that are placed, up to a constant."""


@entry
def search(rng, objective, seats, rules):
    """Seat who has no seat, sweeten, try zealous updates; the number of scans is returned.

    Where slots run out it stops: ``seats.full`` says so, and the caller goes on from there with more of them.

    Units with a label start there. Clusters in excess of the most that there may be are dissolved first, those
    smaller than the least size at the end, and the phases are repeated without making new ones. Deterministic given
    ``rng``. Cost per scan: one `score` of every unit.
    """
    free = Rules(rules.most_clusters, 1, rules.n_scans, rules.n_zealous, rules.tie)
    for unit in range(seats.labels.shape[0]):
        if seats.labels[unit] >= 0:
            _sit(objective, seats, unit, seats.labels[unit])
    _seat_all(rng, objective, seats, free)
    while _n_clusters(seats.sizes) > rules.most_clusters and not seats.full[0]:
        _dissolve(rng, objective, seats, rules, _smallest(seats.sizes))
    if seats.full[0]:
        return 0
    n_scans = _sweeten_zealously(rng, objective, seats, free, 0)
    if not seats.full[0] and _repair(rng, objective, seats, rules) and not seats.full[0]:
        n_scans = _sweeten_zealously(rng, objective, seats, rules, n_scans)
    return n_scans


@inner
def _sweeten_zealously(rng, objective, seats, rules, n_scans):
    n_scans += _sweeten(rng, objective, seats, rules, rules.n_scans - n_scans)
    _shuffle(rng, seats.tried)
    n_left = rules.n_zealous
    for slot in seats.tried:
        if n_left == 0 or n_scans >= rules.n_scans or seats.full[0]:
            break
        # Where clusters have a least size, the units of the only one could not be seated so that they keep it.
        if seats.sizes[slot] > 0 and (rules.least_size == 1 or _n_clusters(seats.sizes) > 1):
            n_left -= 1
            n_scans += _try_without(rng, objective, seats, rules, slot, rules.n_scans - n_scans)
    return n_scans


@inner
def _try_without(rng, objective, seats, rules, slot, n_scans):
    """A zealous update: dissolve a cluster and sweeten; undo it if that is no better."""
    before, size = value(objective), seats.sizes[slot]
    _keep(seats)
    _dissolve(rng, objective, seats, rules, slot)
    if not seats.full[0] and _came_back(seats, slot, size):
        return 0
    n_done = 0 if seats.full[0] else _sweeten(rng, objective, seats, rules, n_scans)
    if seats.full[0] or not value(objective) < before - rules.tie:
        _go_back(objective, seats)
    return n_done


@inner
def _keep(seats):
    for unit in range(seats.labels.shape[0]):
        seats.kept[unit] = seats.labels[unit]


@inner
def _go_back(objective, seats):
    """Undo all moves since `_keep`."""
    for unit in range(seats.labels.shape[0]):
        if seats.labels[unit] != seats.kept[unit]:
            if seats.labels[unit] >= 0:
                _rise(objective, seats, unit)
            _sit(objective, seats, unit, seats.kept[unit])


@inner
def _came_back(seats, slot, size):
    """Whether the units of a dissolved cluster are together again and alone: then nothing else would move."""
    now = -1
    for unit in range(seats.labels.shape[0]):
        if seats.kept[unit] == slot:
            if now >= 0 and seats.labels[unit] != now:
                return False
            now = seats.labels[unit]
    return seats.sizes[now] == size


@inner
def _repair(rng, objective, seats, rules):
    """Dissolve every cluster that is too small, or fill it up where it lacks less than it has and that is better.

    Returns whether there was any.
    """
    repaired = False
    slot = _smallest(seats.sizes)
    while _n_clusters(seats.sizes) > 1 and seats.sizes[slot] < rules.least_size and not seats.full[0]:
        repaired, size = True, seats.sizes[slot]
        _keep(seats)
        _dissolve(rng, objective, seats, rules, slot)
        dissolved = value(objective)
        if 2 * size >= rules.least_size:
            _go_back(objective, seats)
            if not _fill_up(objective, seats, rules, slot) or value(objective) > dissolved:
                _go_back(objective, seats)
                _dissolve(rng, objective, seats, rules, slot)
        slot = _smallest(seats.sizes)
    return repaired


@inner
def _fill_up(objective, seats, rules, slot):
    """Move units to a cluster, the cheapest first, until it has the least size; whether others could spare enough."""
    labels, sizes, change = seats.labels, seats.sizes, seats.change
    while sizes[slot] < rules.least_size:
        cheapest, cost = -1, np.inf
        for unit in range(labels.shape[0]):
            own = labels[unit]
            if own == slot or sizes[own] - seats.weights[unit] < rules.least_size:
                continue
            score(objective, unit, own, change)
            if change[slot] - change[own] < cost:
                cheapest, cost = unit, change[slot] - change[own]
        if cheapest < 0:
            return False
        _rise(objective, seats, cheapest)
        _sit(objective, seats, cheapest, slot)
    return True


@inner
def _dissolve(rng, objective, seats, rules, slot):
    """Seat the units of a cluster anew, in random order."""
    for unit in range(seats.labels.shape[0]):
        if seats.labels[unit] == slot:
            _rise(objective, seats, unit)
    _seat_all(rng, objective, seats, rules)


@inner
def _seat_all(rng, objective, seats, rules):
    """Seat the units that have no seat one after the other, each where the objective is least."""
    labels, weights, sizes, change = seats.labels, seats.weights, seats.sizes, seats.change
    _shuffle(rng, seats.order)
    used, n_clusters, empty = _count(sizes)
    for unit in seats.order:
        if labels[unit] >= 0:
            continue
        may_open = n_clusters == 0 or (n_clusters < rules.most_clusters and rules.least_size <= weights[unit])
        if may_open and empty < 0:
            seats.full[0] = True
            return
        opening = empty if may_open else -1
        n_slots = max(used, opening + 1)
        score(objective, unit, -1, change[:n_slots])
        best = _least(change[:n_slots], sizes, -1, opening, 0.0)
        _sit(objective, seats, unit, best)
        if best == opening:
            used, n_clusters, empty = _count(sizes)


@inner
def _sweeten(rng, objective, seats, rules, n_scans):
    """Move every unit to where the objective is least, until none moves; the number of scans is returned.

    A cluster may be opened or die out, but none may come to hold fewer objects than the least size.
    """
    labels, weights, sizes, change = seats.labels, seats.weights, seats.sizes, seats.change
    for scan in range(n_scans):
        _shuffle(rng, seats.order)
        n_moved = 0
        used, n_clusters, empty = _count(sizes)
        for unit in seats.order:
            own = labels[unit]
            left = sizes[own] - weights[unit]
            if 0 < left < rules.least_size:
                continue
            may_open = left > 0 and n_clusters < rules.most_clusters and rules.least_size <= weights[unit]
            if may_open and empty < 0:
                seats.full[0] = True
                return scan
            opening = empty if may_open else -1
            n_slots = max(used, opening + 1)
            score(objective, unit, own, change[:n_slots])
            best = _least(change[:n_slots], sizes, own, opening, rules.tie)
            if best != own:
                _rise(objective, seats, unit)
                _sit(objective, seats, unit, best)
                n_moved += 1
                if left == 0 or best == opening:
                    used, n_clusters, empty = _count(sizes)
        if n_moved == 0:
            return scan + 1
    return n_scans


@inner
def _least(change, sizes, own, opening, tie):
    """The first allowed slot of least value; the own one if none is better by more than ``tie``."""
    best = own
    least = np.inf if own < 0 else change[own] - tie
    for slot in range(change.shape[0]):
        if change[slot] < least and (sizes[slot] > 0 or slot == opening):
            best, least = slot, change[slot]
    return best


@inner
def _sit(objective, seats, unit, slot):
    place(objective, unit, slot, 1)
    seats.labels[unit] = slot
    seats.sizes[slot] += seats.weights[unit]


@inner
def _rise(objective, seats, unit):
    slot = seats.labels[unit]
    place(objective, unit, slot, -1)
    seats.labels[unit] = -1
    seats.sizes[slot] -= seats.weights[unit]


@inner
def _count(sizes):
    """One past the last slot in use, the number of clusters, and the first empty slot (-1: none)."""
    used, n_clusters, empty = 0, 0, -1
    for slot in range(sizes.shape[0]):
        if sizes[slot] > 0:
            used = slot + 1
            n_clusters += 1
        elif empty < 0:
            empty = slot
    return used, n_clusters, empty


@inner
def _n_clusters(sizes):
    return _count(sizes)[1]


@inner
def _smallest(sizes):
    """The slot of the smallest cluster, the last of several."""
    smallest = -1
    for slot in range(sizes.shape[0]):
        if sizes[slot] > 0 and (smallest < 0 or sizes[slot] <= sizes[smallest]):
            smallest = slot
    return smallest


@inner
def _shuffle(rng, order):
    for i in range(order.shape[0] - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
