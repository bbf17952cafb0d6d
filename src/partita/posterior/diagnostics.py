"""Whether chains agree and how many independent draws they are worth.

Rank-normalised split R-hat and bulk effective sample size (Vehtari et al. 2021) of traces that do
not depend on how clusters are numbered.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from partita.wording import printable

RHAT = 1.01
ESS = 400
MEMBERSHIP_RHAT = 1.05
"""Looser than `RHAT`: it is the worst of several noisy values."""

_MIN_DRAWS = 4


def converged(traces: Mapping[str, np.ndarray], *, rhat: float = RHAT, ess: float = ESS) -> bool:
    """Whether every (chain, draw) trace has R-hat <= ``rhat`` and bulk ESS >= ``ess``.

    Traces with fewer than four draws per chain have not converged. Cost O(size log size).
    """
    for trace in traces.values():
        row = assess(trace)
        if not (row["rhat"] <= rhat and row["ess"] >= ess):
            return False
    return True


def assess(trace: np.ndarray) -> dict[str, float]:
    """R-hat and bulk ESS of one (chain, draw) trace, as ``{"rhat": ..., "ess": ...}``.

    One chain is judged as its two halves. A trace that never changes has R-hat 1 and as many
    effective draws as draws; chains that stand still at different values have R-hat inf and one
    effective draw each. Fewer than four draws per chain, or values that are not finite, give nan.
    """
    values = np.asarray(trace, dtype=np.float64)
    n_chains, n_draws = values.shape
    if n_draws < _MIN_DRAWS or not np.all(np.isfinite(values)):
        return {"rhat": np.nan, "ess": np.nan}
    values = _without_noise(values)
    half = n_draws // 2
    halves = np.concatenate([values[:, :half], values[:, -half:]])
    if _is_constant(values):
        return {"rhat": 1.0, "ess": float(values.size)}
    if all(_is_constant(part) for part in halves):
        return {"rhat": np.inf, "ess": float(n_chains)}
    return {"rhat": _rhat(values, halves), "ess": _ess(values)}


@dataclass(frozen=True)
class Diagnostics:
    """What the chains say about themselves.

    Attributes
    ----------
    table : dict
        Name of a trace -> ``{"rhat": ..., "ess": ...}``. ``"membership"`` is the variation of information
        of every draw from the last draw of each chain: the worst R-hat and ESS over those references.
    n_chains, n_draws : int
        Chains, and draws per chain.
    groups : str
        Of an estimator one sentence on what the draws say for its groups: see `Estimate.verdict`.
    """

    table: dict[str, dict[str, float]]
    n_chains: int
    n_draws: int
    groups: str = ""

    @property
    def converged(self) -> bool:
        """Whether R-hat <= 1.01 and ESS >= 400 on every trace but ``"membership"``."""
        return all(row["rhat"] <= RHAT and row["ess"] >= ESS for row in self._scalars.values())

    @property
    def verdict(self) -> str:
        """One plain sentence on whether the draws can be trusted."""
        unknown = any(np.isnan(row["rhat"]) for row in self._scalars.values())
        if self.n_draws < _MIN_DRAWS or (unknown and self.n_draws < 2 * _MIN_DRAWS):  # halves are halved again
            return f"Too few draws to judge ({self.n_draws} per chain): run longer."
        if self.n_chains == 1:
            return self._verdict_on_one_chain()
        return self._verdict_on_agreement() or self._verdict_on_size() or "Chains agree."

    def __str__(self) -> str:
        names = [printable(name) for name in self.table]
        width = max(map(len, ["trace", *names]))
        lines = [f"{'trace':<{width}}  {'R-hat':>6}  {'ESS':>7}"]
        for name, row in zip(names, self.table.values()):
            lines.append(f"{name:<{width}}  {row['rhat']:>6.3f}  {row['ess']:>7.0f}")
        return "\n".join([*lines, self.verdict, *([self.groups] if self.groups else [])])

    @property
    def _scalars(self) -> dict[str, dict[str, float]]:
        return {name: row for name, row in self.table.items() if name != "membership"}

    def _verdict_on_one_chain(self) -> str:
        unsettled = self._first_above(self._scalars, RHAT)
        sentence = "Only one chain: agreement between chains cannot be judged"
        if unsettled:
            return f"{sentence}, and {printable(unsettled)} still drifts {self._rhat_of(unsettled)}: run longer."
        small = self._verdict_on_size()
        return f"{sentence}; {small[0].lower()}{small[1:]}" if small else f"{sentence}."

    def _verdict_on_agreement(self) -> str:
        if self._first_above(self._scalars, RHAT) == "n_clusters":
            return f"Chains do not agree on K {self._rhat_of('n_clusters')}: run longer."
        on_k = "Chains agree on K but not on" if "n_clusters" in self.table else "Chains do not agree on"
        if self._first_above({"membership": self.table.get("membership", {"rhat": 1.0})}, MEMBERSHIP_RHAT):
            return f"{on_k} who belongs where {self._rhat_of('membership')}: run longer or from other starts."
        unsettled = self._first_above(self._scalars, RHAT)
        return f"{on_k} {printable(unsettled)} {self._rhat_of(unsettled)}: run longer." if unsettled else ""

    def _verdict_on_size(self) -> str:
        small = [(row["ess"], name) for name, row in self._scalars.items() if not row["ess"] >= ESS]
        if not small:
            return ""
        ess, name = min(small)
        return f"Too few effective draws ({printable(name)}: {np.floor(ess):.0f} of {ESS}): run longer."

    def _rhat_of(self, name: str) -> str:
        """The R-hat of a trace beside its limit, with as many digits as tell one from the other."""
        rhat, limit = self.table[name]["rhat"], MEMBERSHIP_RHAT if name == "membership" else RHAT
        digits = next((n for n in range(2, 17) if f"{rhat:.{n}f}" != f"{limit:.{n}f}"), 16)
        return f"(R-hat {rhat:.{digits}f} on {printable(name)}, limit {limit})"

    @staticmethod
    def _first_above(rows: Mapping[str, Mapping[str, float]], limit: float) -> str | None:
        ordered = sorted(rows, key=lambda name: name != "n_clusters")
        return next((name for name in ordered if not rows[name]["rhat"] <= limit), None)


def diagnose(traces: Mapping[str, np.ndarray], membership: np.ndarray) -> Diagnostics:
    """Assess (chain, draw) traces, and (reference, chain, draw) membership traces as their worst."""
    table = {name: assess(trace) for name, trace in traces.items()}
    rows = [assess(trace) for trace in membership]
    table["membership"] = {
        "rhat": float(np.max([row["rhat"] for row in rows])),
        "ess": float(np.min([row["ess"] for row in rows])),
    }
    return Diagnostics(table, *membership.shape[1:])


def _without_noise(values: np.ndarray) -> np.ndarray:
    """Round to 12 digits: ranks must not depend on the order in which equal numbers were summed."""
    largest = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    return np.round(values / largest, 12) * largest


def _is_constant(values: np.ndarray) -> bool:
    return bool(np.ptp(values) == 0.0)


def _rhat(values: np.ndarray, halves: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    # A trace of two equally likely values is constant once folded: 0/0, and only its bulk counts.
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(array_stats.rhat(halves if len(values) == 1 else values, method="rank"))


def _ess(values: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    return float(array_stats.ess(values, method="bulk"))
