"""Loss of one labelling from every draw."""

from collections.abc import Callable
from typing import Any

import numpy as np

from partita.kernels.contingency import pairwise_vi
from partita.metrics import adjusted_rand, binder_loss, nid, nvi, variation_of_information
from partita.parameters import choose
from partita.partitions import Partitions
from partita.posterior.losses import VI, n_labels, xlogx_table

_MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "vi": variation_of_information,
    "binder": binder_loss,
    "one-minus-ari": lambda found, truth: 1.0 - adjusted_rand(found, truth),
    "nvi": nvi,
    "nid": nid,
}


def losses_to_draws(loss: Any, labels: np.ndarray, partitions: Partitions) -> np.ndarray:
    """Loss of one labelling from every draw, over the objects that both label."""
    measure = choose("loss", "vi" if isinstance(loss, VI) else loss, _MEASURES)
    if measure is not variation_of_information:
        return np.array([measure(labels, draw) for draw in partitions.flat])
    draws = partitions.flat.astype(np.int64)
    counts, losses = np.ones(partitions.n_objects, np.int64), np.empty((1, len(draws)))
    found = labels.astype(np.int64)[None]
    pairwise_vi(found, draws, counts, xlogx_table(counts), max(n_labels(found), n_labels(draws)), losses)
    return losses[0]
