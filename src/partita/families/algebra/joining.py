"""Models of one likelihood, each over columns of its own, as one model over all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.priors.hyperpriors import Gamma


def joined_options(blocks: Sequence[Any], *names: str) -> dict[str, Any]:
    """Numbers per column of several models, column after column, and ``columns``; nothing of no models."""
    options = {name: np.concatenate([getattr(block, name) for block in blocks] or [np.empty(0)]) for name in names}
    positions = [block.columns for block in blocks]
    return options | {"columns": np.concatenate(positions or [np.empty(0, dtype=np.int64)])}


def shared_hyperpriors(blocks: Sequence[Any]) -> dict[str, Gamma]:
    """The ``hyperpriors`` of all models, by the name of what they are of; a number learned for all needs one.

    Raises
    ------
    ValueError
        Models that differ in one of them.
    """
    for name in dict.fromkeys(name for block in blocks for name in block.hyperpriors):
        found = [block.hyperpriors.get(name) for block in blocks]
        other = next((one for one in found if one != found[0]), found[0])
        if other != found[0]:
            words = [f"learned under {one!r}" if one else "fixed" for one in (found[0], other)]
            raise ValueError(
                f"Mixed learns one {name} for all its {blocks[0].title} columns, but it is {words[0]} for some and "
                f"{words[1]} for others: give all of them the same hyperprior, or numbers to all."
            )
    return blocks[0].hyperpriors if blocks else {}
