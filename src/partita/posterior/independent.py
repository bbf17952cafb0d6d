"""Draws of partitions whose objects are independent: membership probabilities as a posterior."""

import numpy as np

DRAWS = 200
MOST_MEMORY = 2**28  # bytes of labels


def independent_draws(rng: np.random.Generator, probabilities: np.ndarray, n_draws: int) -> np.ndarray:
    """Labels (n_draws, n): of every object one cluster, with its probabilities (n, K), independent of all others."""
    edges = np.cumsum(probabilities, axis=1)
    labels = np.empty((n_draws, probabilities.shape[0]), dtype=np.int16 if edges.shape[1] < 2**15 else np.int32)
    for draw in labels:
        chance = rng.random(edges.shape[0]) * edges[:, -1]
        draw[:] = (edges[:, :-1] <= chance[:, None]).sum(axis=1)
    return labels


def number_of_draws(wanted: int | str, n_objects: int) -> int:
    """As many as were asked for; "auto": 200, or as many as fit in 256 MiB."""
    return min(DRAWS, max(1, MOST_MEMORY // (2 * max(1, n_objects)))) if wanted == "auto" else int(wanted)
