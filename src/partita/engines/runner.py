"""Run chains of an engine on a model until there are enough draws, and hand over a Posterior."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from partita.engines.chain import Chain
from partita.engines.keeping import Keeping
from partita.engines.provenance import provenance_of
from partita.model.model import Model
from partita.partitions import Partitions
from partita.posterior import Posterior
from partita.posterior.diagnostics import converged
from partita.posterior.estimate import EstimateOptions
from partita.posterior.estimate.losses import VI, Loss
from partita.running.clock import running_seconds
from partita.running.crew import Crew
from partita.running.progress import Progress, Reporter
from partita.running.watch import Watch

FIRST_CHECK = 200  # sweeps of every chain before the first look at the diagnostics
CHECK_GROWTH = 1.35
BOUT_SHARE = 0.1  # of its sweeps that a chain may be ahead of another
WARMUP_SHARES = (0.25, 0.5)  # of all sweeps, tried in this order
MOST_SWEEPS = 5_000  # of every chain, with draws="auto"
EARLY = ("max_time", "interrupted")  # ends before all sweeps were made or the chains agreed


class EstimatePlan(NamedTuple):
    """How draws become one partition."""

    loss: Loss = VI()
    entropy: float = 0.0
    options: EstimateOptions = EstimateOptions()


@dataclass(frozen=True)
class Plan:
    """How long to run and what to keep.

    ``draws="auto"``: the diagnostics are looked at after 200 sweeps of every chain and then at
    growing intervals. It stops when R-hat <= 1.01 and ESS >= 400 on K, log joint, entropy and concentration, or
    at ``max_time``, or after 5000 sweeps. Without ``warmup`` the first quarter of all sweeps counts as
    warm-up if the rest has converged, otherwise the first half. A
    number of draws: that many per chain after ``warmup`` sweeps (default: half as many, at least 50).

    Of ``max_time`` a ``reading_share`` is left for diagnostics, ``estimate`` and memberships, and where another fit may
    have to follow, the half of what there is: ``n_fits`` is 2.

    A run that ends early, by the clock or the keyboard, keeps at least the later half of the sweeps that it made: where
    fewer than twice the sweeps of the warm-up were made, half of them count as warm-up.

    Stored labels take 2 bytes per row and draw; when all chains together would pass 1 GiB, every second
    draw is dropped and from then on half as many are kept.
    """

    chains: int = 4
    draws: int | str = "auto"
    warmup: int | None = None
    thin: int = 1
    max_time: float | None = None
    reading_share: float = 0.0
    n_jobs: int | None = None
    progress: Callable[[Progress], None] | bool = False
    estimate: EstimatePlan = field(default_factory=EstimatePlan)
    n_fits: int = 1
    watch: Watch | None = None

    def begun(self) -> "Plan":
        """The plan with a watch, which is started now unless it runs already."""
        return self if self.watch is not None else replace(self, watch=Watch(self.max_time))

    def crew(self) -> Crew:
        """Threads for the engine: a share of the time that is left is for reading what it found."""
        watch = self.running_watch
        return Crew(self.n_jobs, watch.deadline((1.0 - self.reading_share) / self.n_fits), watch)

    def reading_crew(self) -> Crew:
        """Threads for what is read from the draws."""
        watch = self.running_watch
        return Crew(self.n_jobs, watch.deadline(1.0 / self.n_fits), watch)

    @property
    def running_watch(self) -> Watch:
        """The watch of a plan that has begun."""
        if self.watch is None:
            raise ValueError("The plan has not begun: call begun().")
        return self.watch

    @property
    def warmup_is_stated(self) -> bool:
        """Whether the number of sweeps before the first draw is known beforehand."""
        return not self.automatic or self.warmup is not None

    @property
    def automatic(self) -> bool:
        """Whether the diagnostics decide when to stop."""
        return self.draws == "auto"

    def first_sweep_kept(self) -> int:
        """Sweeps before the first that is kept (automatic without warm-up: as few as could be used)."""
        if self.warmup is not None:
            return self.warmup
        return int(WARMUP_SHARES[0] * FIRST_CHECK) if self.automatic else max(50, int(self.draws) // 2)

    def checkpoints(self) -> list[int]:
        """Total sweeps at which the chains are judged, the last of which is the end."""
        start = self.first_sweep_kept()
        if not self.automatic:
            return [start + int(self.draws) * self.thin]
        first = start + (FIRST_CHECK - int(WARMUP_SHARES[0] * FIRST_CHECK)) * self.thin
        points = [first]
        last = max(MOST_SWEEPS, 2 * first)
        while points[-1] < last:
            points.append(min(last, int(points[-1] * CHECK_GROWTH)))
        return points


def run(engine: Any, model: Model, plan: Plan, seed: np.random.SeedSequence) -> tuple[Posterior, list[Any]]:
    """Run the chains in threads; the draws depend on the seed alone unless time runs out.

    Returns the posterior and the last state of every chain. An interruption from the keyboard ends every chain
    after its present sweep and keeps what was drawn.
    """
    chains = _Run(engine, model, plan, seed)
    return chains.posterior(), [chain.state for chain in chains.chains]


class _Run:
    def __init__(self, engine: Any, model: Model, plan: Plan, seed: np.random.SeedSequence):
        self.engine, self.model, self.plan, self.seed = engine, model, plan.begun(), seed
        seeds = seed.spawn(plan.chains)
        self.chains = [Chain(engine, model, s, number) for number, s in enumerate(seeds)]
        self.started = time.monotonic()
        self.crew = self.plan.crew()
        self.keeping = Keeping(self.chains, plan.thin, plan.first_sweep_kept(), WARMUP_SHARES[0])
        self.points = plan.checkpoints()
        self.reporter = Reporter(plan.progress, self.points[-1], self.crew.watch)

    def posterior(self) -> Posterior:
        with self.crew.watch.listening():
            reason = self._advance_to_the_end()
        elapsed = time.monotonic() - self.started
        self.reporter.close()
        n_draws = self.keeping.n_draws(early=reason in EARLY)
        labels = np.stack([np.stack(chain.labels[len(chain.labels) - n_draws :]) for chain in self.chains])
        return Posterior(
            Partitions(labels),
            traces=self._traces(n_draws),
            provenance=self._provenance(reason, elapsed, labels.nbytes),
        )

    def _advance_to_the_end(self) -> str:
        _ = self.model.shared_rows  # kept by the model: were they not there, every chain's thread would make them
        for point in self.points:
            reason = self._advance_to(point)
            if not reason and self.plan.automatic:
                reason = self._judge(point)
            if reason:
                return reason
        return "cap" if self.plan.automatic else "draws"

    def _advance_to(self, point: int) -> str:
        """Bring all chains to so many sweeps, all about equally far at any time; return why not."""
        n_sweeps, warmup = self.chains[0].n_sweeps, self.keeping.warmup
        while n_sweeps < point:
            part = min(point, n_sweeps + max(1, int(BOUT_SHARE * n_sweeps)))
            n_sweeps = min(part, warmup) if n_sweeps < warmup else part
            self.keeping.make_room(n_sweeps)
            reason = self._bout(n_sweeps)
            if reason:
                return reason
            self.keeping.forget(n_sweeps)
            if n_sweeps == warmup and self.plan.warmup_is_stated:
                self.keeping.end_warmup()
        return ""

    def _bout(self, until: int) -> str:
        """Bring all chains to ``until`` sweeps; return why not, if they did not get there."""
        crew, waiting, lock = self.crew, len(self.chains), Lock()
        n_workers = min(len(self.chains), crew.n_workers)

        def advance(chain: Chain) -> None:
            nonlocal waiting
            with lock:
                share = n_workers / max(waiting, n_workers)
                waiting -= 1
            now = running_seconds()
            deadline = now + share * (crew.deadline - now)
            chain.advance(until, self.keeping.every, lambda: crew.is_over(deadline), self._report)

        crew.run(advance, self.chains)
        if crew.interrupted:
            return "interrupted"
        return "max_time" if any(chain.n_sweeps < until for chain in self.chains) else ""

    def _report(self, chain: Chain) -> None:
        self.reporter.report(chain, self.chains)

    def _judge(self, n_sweeps: int) -> str:
        """Whether the chains agree after a shorter or a longer warm-up; what cannot be used any more is dropped."""
        shares = WARMUP_SHARES if self.plan.warmup is None else (0.0,)
        n_kept = min(chain.n_draws_after(self.keeping.spare_until) for chain in self.chains)
        windows = [min(n_kept, max(1, (n_sweeps - int(share * n_sweeps)) // self.keeping.every)) for share in shares]
        agreed = [n_draws for n_draws in windows if converged(self._traces(n_draws))]
        last = n_sweeps == self.points[-1]
        wanted = agreed[0] if agreed else windows[-1] if last else windows[0]
        if self.plan.warmup is None:
            for chain in self.chains:
                chain.forget(len(chain.labels) - wanted)
        return "interrupted" if self.crew.interrupted else "converged" if agreed else ""

    def _traces(self, n_draws: int) -> dict[str, np.ndarray]:
        per_chain = [chain.traces(n_draws) for chain in self.chains]
        return {name: np.stack([traces[name] for traces in per_chain]) for name in per_chain[0]}

    def _provenance(self, reason: str, elapsed: float, n_bytes: int) -> dict[str, Any]:
        return provenance_of(self.engine, self.model, self.seed) | {
            "stopped": reason,
            "sweeps": [chain.n_sweeps for chain in self.chains],
            "kept_every": self.keeping.every,
            "seconds": round(elapsed, 3),
            "label_bytes": n_bytes,
        }
