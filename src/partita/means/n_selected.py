"""How many columns a cluster chooses, from a share or a number of them, and how far clusters may choose alike."""

from numbers import Integral
from typing import Any

import numpy as np

from partita.means.locality import default_locality
from partita.parameters import is_number


def n_selected(asked: Any, n_columns: int) -> int:
    """How many columns a share of them is, one at least; or a number of them."""
    if is_count(asked):
        if not 1 <= int(asked) <= n_columns:
            raise ValueError(
                f"n_features_to_select must be a share in (0, 1] or a whole number from 1 to {n_columns}, the columns "
                f"that vary, got {asked!r}."
            )
        return int(asked)
    if not (is_number(asked) and 0.0 < asked <= 1.0):
        raise ValueError(
            f"n_features_to_select must be a share in (0, 1] or a whole number from 1 to {n_columns}, got {asked!r}."
        )
    return min(n_columns, max(1, round(float(asked) * n_columns)))


def is_count(asked: Any) -> bool:
    """Whether columns are asked for by their number, not by their share."""
    return isinstance(asked, Integral) and not isinstance(asked, bool | np.bool_)


def checked_locality(asked: Any, share: float) -> float:
    """rho, refused outside (0, m (1 - m)); of all columns it says nothing."""
    if asked is None or share == 1.0:
        return default_locality(share)
    limit = share * (1.0 - share)
    if not (is_number(asked) and 0.0 < asked < limit):
        raise ValueError(
            f"locality must be between 0 and {limit:.4g}, m (1 - m) for the share m = {share:.4g} of the columns, got "
            f"{asked!r}."
        )
    return float(asked)
