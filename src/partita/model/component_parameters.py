"""Parameters of a mixture's components in the user's own units."""

from typing import Any, NamedTuple

import numpy as np

from partita.model.model import Model
from partita.table.units import from_standard


class ComponentParameters(NamedTuple):
    """What K components are; of kinds of columns that the table does not have, None.

    Attributes
    ----------
    weights : (K,) array
    means : (K, d) array
        Of the d numeric columns, in the units of the table.
    covariances : (K, d, d) array
    rates : (K, q) array
        Expected counts of the q columns of counts.
    shares : dict
        Name of a categorical column to the shares (K, levels) of its levels.
    objective : float
        What was maximised, where the components stand for an iteration.
    """

    weights: np.ndarray
    means: np.ndarray | None = None
    covariances: np.ndarray | None = None
    rates: np.ndarray | None = None
    shares: dict[str, np.ndarray] | None = None
    objective: float = np.nan


def component_parameters(
    model: Model, log_weights: np.ndarray, params: Any, objective: float = np.nan
) -> ComponentParameters:
    """Parameters (K components) of the model's likelihood as a person reads them."""
    schema, said = model.table.schema, model.likelihood.readable(params)
    if "shares" in said:
        names = [column.name for column in schema.categorical]
        said["shares"] = {names[position]: own for position, own in said["shares"].items()}
    found = ComponentParameters(np.exp(log_weights), objective=objective, **said)
    if found.means is not None and found.covariances is not None:
        scale = np.array([column.scale for column in schema.numeric])
        means = from_standard(found.means, schema.numeric)
        found = found._replace(means=means, covariances=found.covariances * np.outer(scale, scale))
    return found
