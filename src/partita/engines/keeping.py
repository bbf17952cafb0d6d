"""Which draws of the chains are kept: few enough for memory, and at any end at least the later half of the sweeps."""

from collections.abc import Sequence

import numpy as np

from partita.engines.chain import Chain

MOST_MEMORY = 2**30  # bytes of stored labels, all chains together
SPARE_SHARE = 0.25  # of it that draws of a warm-up may take once that is over


class Keeping:
    """The draws of chains that advance side by side, kept from the first sweep on.

    Parameters
    ----------
    chains : sequence of Chain
    thin : int
        Sweeps from one draw to the next, as long as there is room.
    warmup : int
        Sweeps that are not to be kept.
    forgets : float
        Of the sweeps made, the share that is dropped at once as long as there were fewer than ``warmup / forgets``.

    Attributes
    ----------
    every : int
        Sweeps from one draw to the next now. When labels, 2 bytes per row and draw, would pass ``MOST_MEMORY``, every
        second draw is dropped and this doubles.
    spare_until : int
        The last sweep of a warm-up that is over, 0 before. Its draws are the result of an early end only.
    """

    def __init__(self, chains: Sequence[Chain], thin: int, warmup: int, forgets: float):
        self.chains, self.thin, self.warmup, self.forgets = chains, thin, warmup, forgets
        self.every = self.spare_every = thin
        self.spare_until = 0

    def make_room(self, until: int) -> None:
        """Keep fewer draws, but some, where those that will be there at this sweep would be too many."""
        while max(self._n_draws_at(until)) > 1 and self._bytes_at(until) > MOST_MEMORY:
            self.every *= 2
            for chain in self.chains:
                chain.thin(self.every, after=self.spare_until)

    def forget(self, n_sweeps: int) -> None:
        """Drop what even an early end will not need, now that every chain has made so many sweeps."""
        for chain in self.chains:
            chain.forget(len(chain.labels) - chain.n_draws_after(min(self.warmup, int(self.forgets * n_sweeps))))

    def end_warmup(self) -> None:
        """Go on as if there were no draws yet; those of the warm-up take little room besides."""
        self.spare_every, self.every, self.spare_until = self.every, self.thin, self.warmup
        while sum(labels.nbytes for chain in self.chains for labels in chain.labels) > SPARE_SHARE * MOST_MEMORY:
            self.spare_every *= 2
            for chain in self.chains:
                chain.thin(self.spare_every)

    def n_draws(self, *, early: bool) -> int:
        """The last draws of every chain that are the result.

        Those after the warm-up; of an early end at least those of the later half of every chain's sweeps. Where memory
        has left draws of the warm-up that are farther apart than the others, these are made as few, unless they are
        more by themselves.
        """
        n_after = min(chain.n_draws_after(self.spare_until) for chain in self.chains)
        if not early:
            return n_after
        every = max(self.every, self.spare_every)
        if n_after == 0 or n_after < min(sum(sweep % every == 0 for sweep in chain.sweeps) for chain in self.chains):
            self.every, self.spare_until = every, 0
            for chain in self.chains:
                chain.thin(every)
        for chain in self.chains:
            if not chain.labels:  # stopped before the first draw: where the chain is, is all there is
                chain.keep()
        return self._n_later_draws()

    def _n_later_draws(self) -> int:
        """Draws after the warm-up, or those of the later half of every chain's sweeps if these are more."""
        halves = [chain.n_sweeps // 2 for chain in self.chains]
        most = min(chain.n_draws_after(self.spare_until) for chain in self.chains)
        after = min(chain.n_draws_after(min(self.warmup, half)) for chain, half in zip(self.chains, halves))
        later = max(chain.n_draws_after(half) for chain, half in zip(self.chains, halves))
        return min(max(1, after, later), most)

    def _n_draws_at(self, sweep: int) -> list[int]:
        """Draws of every chain after the warm-up, once it has made so many sweeps."""
        return [
            chain.n_draws_after(self.spare_until) + sweep // self.every - chain.n_sweeps // self.every
            for chain in self.chains
        ]

    def _bytes_at(self, sweep: int) -> int:
        sizes = [
            chain.labels[-1].nbytes if chain.labels else np.dtype(np.int16).itemsize * chain.model.table.n_rows
            for chain in self.chains
        ]
        return sum(n_draws * size for n_draws, size in zip(self._n_draws_at(sweep), sizes))
