"""What a fit warns of after a run of chains: how it ended, what its draws rest on, whether they can be trusted."""

import numpy as np

from partita.engines.runner import EARLY, Plan
from partita.posterior import Posterior
from partita.posterior.diagnostics import Diagnostics

DISAGREEMENT = 1.05  # R-hat of any trace, membership included, from which a fit warns


def doubt(plan: Plan, posterior: Posterior, diagnostics: Diagnostics) -> str:
    """Why the draws are not what was asked for, or may not be trusted; empty where there is nothing to say."""
    worst = np.max([row["rhat"] for row in diagnostics.table.values()])
    ended = _early_end(plan, posterior, diagnostics.converged)
    if ended:
        return f"{ended} {diagnostics.verdict}"
    return "" if worst <= DISAGREEMENT else diagnostics.verdict  # nan: too few draws to tell


def _early_end(plan: Plan, posterior: Posterior, converged: bool) -> str:
    stopped, sweeps = posterior.provenance["stopped"], posterior.provenance["sweeps"]
    if stopped == "interrupted":
        ended = f"Interrupted: the result rests on {posterior.n_draws} draws."
    elif not plan.automatic:
        if stopped != "max_time":
            return ""
        n_draws = posterior.partitions.shape[1]
        ended = f"max_time was reached: the result rests on {n_draws} of {plan.draws} draws of every chain."
    elif converged:
        return ""
    else:
        why = "max_time was reached" if stopped == "max_time" else f"{max(sweeps)} sweeps per chain were reached"
        ended = f"The chains had not converged when {why}."
    return f"{ended} {_cut_warmup(plan, min(sweeps))}".rstrip() if stopped in EARLY else ended


def _cut_warmup(plan: Plan, n_sweeps: int) -> str:
    """That draws of a stated warm-up are among those kept."""
    warmup = plan.first_sweep_kept()
    if not plan.warmup_is_stated or n_sweeps >= 2 * warmup:
        return ""
    return f"The warm-up of {warmup} sweeps was cut to half of those made, {n_sweeps}."
