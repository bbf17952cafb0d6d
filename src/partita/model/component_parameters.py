"""Parameters of a mixture's components in the user's own units."""

from typing import Any, NamedTuple

import numpy as np

from partita.model.model import Model
from partita.table.units import from_standard

STANDARD = ("means", "covariances", "rates", "shares")
"""What families may say of their parameters, besides what has names of their own; see `Conjugate.readable`."""

RESERVED = ("weights", "objective", "others")


class ComponentParameters(NamedTuple):
    """What K components are; of kinds of columns that the table does not have, None.

    Attributes
    ----------
    weights : (K,) array
    means : (K, d) array
        Of the d numeric columns, in the units of the table; of positive columns medians, exp(mean of logs) - offset.
    covariances : (K, d, d) array
        In the units of the table; of positive columns those of the logs.
    rates : (K, q) array
        Expected counts of the q columns of counts.
    shares : dict
        Name of a categorical column to the shares (K, levels) of its levels.
    others : dict
        What a family has besides: its own name for it to a dict from the name of a column to an array (K, ...).
    objective : float
        What was maximised, where the components stand for an iteration.
    """

    weights: np.ndarray
    means: np.ndarray | None = None
    covariances: np.ndarray | None = None
    rates: np.ndarray | None = None
    shares: dict[str, np.ndarray] | None = None
    others: dict[str, dict[str, np.ndarray]] | None = None
    objective: float = np.nan


def component_parameters(
    model: Model, log_weights: np.ndarray, params: Any, objective: float = np.nan
) -> ComponentParameters:
    """Parameters (K components) of the model's likelihood as a person reads them."""
    schema, said = model.table.schema, model.likelihood.readable(params)
    standard = {name: said[name] for name in STANDARD if name in said}
    if "shares" in standard:
        names = [column.name for column in schema.categorical]
        standard["shares"] = {names[position]: own for position, own in standard["shares"].items()}
    others = _others(model, params) or None
    found = ComponentParameters(np.exp(log_weights), others=others, objective=objective, **standard)
    if found.means is not None:
        found = found._replace(means=from_standard(found.means, schema.numeric))
    if found.covariances is not None:
        scale = np.array([column.scale for column in schema.numeric])
        found = found._replace(covariances=found.covariances * np.outer(scale, scale))
    return found


def _others(model: Model, params: Any) -> dict[str, dict[str, np.ndarray]]:
    """What families have besides, by name and column."""
    others: dict[str, dict[str, np.ndarray]] = {}
    for block, own in model.likelihood.with_params(params):
        names = block.column_names(model.table.schema)
        for name, values in block.readable(own).items():
            if name in RESERVED:
                raise ValueError(
                    f"{type(block).__name__}.readable calls parameters {name!r}, which is taken: rename them."
                )
            if name not in STANDARD:
                others.setdefault(name, {}).update(zip(names, np.moveaxis(values, 1, 0)))
    return others
