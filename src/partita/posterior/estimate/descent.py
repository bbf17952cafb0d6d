"""One descent: from a start to a partition that no move of one unit improves."""

from dataclasses import replace
from typing import Any

import numpy as np

from partita.kernels.search import Rules, Seats, search
from partita.partitions import canonical
from partita.posterior.condensing import Condensed
from partita.posterior.estimate.comparing import n_labels
from partita.posterior.estimate.limits import Limits
from partita.posterior.estimate.losses import Loss
from partita.posterior.estimate.objectives import Units
from partita.posterior.estimate.references import References, references, shared_labels

DRAWS_READ = 500
"""Draws that a scan reads at most, evenly spaced in weight; the best of all runs is then improved with all of them."""

POLISH_WORK = 5e8
"""Elementary steps that this improvement may take; one scan it always has."""

RUN_WORK = 2e8
"""Elementary steps that the scans of one run may take; 10 scans it always has, 300 at most."""

SCAN_WORK = 2e9
"""Elementary steps (about half a nanosecond each) up to which a scan reads so many draws."""

MOST_WORK = 4e9
"""Elementary steps of one scan above which there is no search."""

TABLE_CELLS = 1 << 26
"""Counts that one run may keep."""

_FEWEST_DRAWS = 8
_FEWEST_SCANS, _MOST_SCANS = 10, 300
_SCANS_WITHOUT = 5
_ZEALOUS = 10
_SPARE_SLOTS = 8
_TIE = 1e-12


class Problem:
    """A loss, draws, and units of their atoms.

    Notes
    -----
    Cost per scan: atoms x draws x clusters; memory: labels of the draws once more (int32), and draws x clusters^2
    counts for every run at work. For `VILowerBound`: atoms^2, whatever the draws. At most ``DRAWS_READ`` draws are
    read, evenly spaced in weight; where a scan would take more than ``SCAN_WORK`` steps or the counts more than
    ``TABLE_CELLS``, fewer, but 8 at least. Where that is still too much, ``is_too_large`` says so and there is no
    descent.
    """

    def __init__(self, loss: Loss, draws: Condensed, units: np.ndarray, limits: Limits):
        self.loss, self.draws, self.limits = loss, draws, limits
        seen = np.flatnonzero((draws.labels >= 0).any(axis=0)) if draws.partial else np.arange(len(draws.counts))
        self.kept = seen[np.argsort(units[seen], kind="stable")]
        starts = np.append(np.flatnonzero(np.diff(units[self.kept], prepend=-1)), len(self.kept))
        self.units = Units(starts, draws.counts[self.kept])
        self.n_drawn = n_labels(draws.labels)
        self.n_slots = min(self.n_drawn, limits.max_clusters) + _SPARE_SLOTS
        self.n_rows = max(1, n_labels(shared_labels(draws.labels)) if loss.adds else self.n_drawn)
        n_read = int(min(max(self._affordable_draws(), _FEWEST_DRAWS), DRAWS_READ, len(draws.labels)))
        n_read = len(draws.labels) if loss.reads_all_draws else n_read
        self.is_too_large = not self._is_within(n_read)
        self.reads_some = n_read < len(draws.labels)
        self._n_read = n_read
        self._against = None if self.is_too_large else self._references(n_read)
        if self._against is not None:
            loss.prepare(self._against)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units.starts) - 1

    def on_units(self, labels: np.ndarray) -> np.ndarray:
        """A partition of the atoms as one of the units."""
        found = labels[self.kept[self.units.starts[:-1]]]
        return canonical(found) if np.any(found >= 0) else np.full(len(found), -1)

    def on_atoms(self, labels: np.ndarray) -> np.ndarray:
        """A partition of the units as one of the atoms, canonical."""
        found = np.full(len(self.draws.counts), -1)
        found[self.kept] = np.repeat(labels, np.diff(self.units.starts))
        return canonical(found)

    def descend(
        self, start: np.ndarray, rng: np.random.Generator, *, zealous: int = _ZEALOUS
    ) -> tuple[np.ndarray, int]:
        """Search from labels of the units (-1: no seat yet); the labels found and the number of scans."""
        n_scans = max(_FEWEST_SCANS, int(RUN_WORK / self._scan_work(self._n_read)))
        return self._descend(self._against, start, rng, zealous, n_scans=n_scans)

    def polish(self, labels: np.ndarray) -> np.ndarray:
        """Sweeten a partition of the atoms with all draws, where that can be done, as long as `POLISH_WORK` allows."""
        n_draws = len(self.draws.labels)
        if not self._is_within(n_draws):
            return labels
        n_scans = max(1, int(POLISH_WORK / self._scan_work(n_draws)))
        against, start, rng = self._references(n_draws), self.on_units(labels), np.random.default_rng(0)
        return self.on_atoms(self._descend(against, start, rng, 0, n_scans=n_scans)[0])

    def without(self, labels: np.ndarray, clusters: np.ndarray) -> np.ndarray:
        """A partition of the atoms after the units of some clusters went to others, and all to where they do best."""
        of_units = labels[self.kept[self.units.starts[:-1]]]
        start = canonical(np.where(np.isin(of_units, clusters), -1, of_units))
        limits = replace(self.limits, max_clusters=int(start.max()) + 1)
        rng = np.random.default_rng(0)
        return self.on_atoms(self._descend(self._against, start, rng, 0, limits=limits, n_scans=_SCANS_WITHOUT)[0])

    def finish_alone(self, labels: np.ndarray) -> np.ndarray:
        """Labels of units, those without one alone."""
        missing = np.flatnonzero(labels < 0)
        labels = labels.copy()
        labels[missing] = labels.max() + 1 + np.arange(len(missing))
        return labels

    def _descend(
        self, against, start, rng, zealous, *, limits: Limits | None = None, n_scans: int = _MOST_SCANS
    ) -> tuple[np.ndarray, int]:
        """Search with more and more slots: a search that wants another cluster and has no room for it stops."""
        limits = self.limits if limits is None else limits
        labels, n_done = start.copy(), 0
        n_slots = max(self.n_slots, int(labels.max()) + 1 + _SPARE_SLOTS)
        most_slots = max(n_slots, TABLE_CELLS // (against.n_draws * self.n_rows))
        while True:
            n_slots = min(n_slots, most_slots, self.n_units)
            objective, seats = self._state(against, labels, n_slots)
            last = n_slots == min(most_slots, self.n_units)
            most = min(limits.max_clusters, n_slots) if last else limits.max_clusters
            n_done += search(
                rng, objective, seats, Rules(most, limits.min_size, min(n_scans, _MOST_SCANS), zealous, _TIE)
            )
            labels = canonical(seats.labels) if np.any(seats.labels >= 0) else seats.labels
            if not seats.full[0]:
                return labels, n_done
            n_slots *= 4

    def state(self, labels: np.ndarray, n_slots: int) -> tuple[Any, Seats]:
        """The compiled search's view of a partition of the units, with room for so many clusters."""
        return self._state(self._against, labels, n_slots)

    def _state(self, against, labels, n_slots) -> tuple[Any, Seats]:
        seats = Seats(
            labels=labels,
            weights=self.units.sizes,
            sizes=np.zeros(n_slots, np.int64),
            change=np.zeros(n_slots),
            order=np.arange(self.n_units),
            kept=np.zeros(self.n_units, np.int64),
            tried=np.arange(n_slots),
            full=np.zeros(1, np.bool_),
        )
        return self.loss.objective(against, self.units, n_slots), seats

    @property
    def work(self) -> float:
        """Elementary steps of a short run: it seats all, and sweetens twice."""
        return 3.0 * self._scan_work(self._n_read)

    def _scan_work(self, n_draws: float) -> float:
        """Elementary steps of a scan that reads so many draws."""
        return self.loss.scan_work(len(self.kept), self.n_slots, n_draws)

    def _affordable_draws(self) -> float:
        return min(SCAN_WORK / self._scan_work(1), TABLE_CELLS / (self.n_rows * self.n_slots))

    def _is_within(self, n_draws: int) -> bool:
        n_cells = 0 if self.loss.reads_all_draws else n_draws * self.n_rows * self.n_slots
        is_few = n_cells <= TABLE_CELLS and self._scan_work(n_draws) <= MOST_WORK
        return is_few and len(self.kept) <= self.loss.most_atoms

    def _references(self, n_draws: int) -> References:
        return references(self.draws, self.kept, n_draws, without_single=self.loss.adds)
