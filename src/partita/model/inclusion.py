"""Which columns define every cluster, where the family lets clusters select them."""

import numpy as np

from partita.families.selective import Selected
from partita.model.model import Model
from partita.model.predictive import Clusters


def inclusion(model: Model, clusters: Clusters) -> np.ndarray:
    """Probability (K, columns) that each cluster selects each column that came in; 0 of constant ones.

    A column of which many numbers are 0 is read in two parts, which are selected apart: the probability is that of one
    of them or both.
    """
    likelihood, schema = model.likelihood.plain, model.table.schema
    if not isinstance(likelihood, Selected):
        raise AttributeError(
            f"inclusion_ is of family=Selective(...), whose clusters select columns, and this one is "
            f"{likelihood.title}: its clusters have all of them."
        )
    found = likelihood.inclusion(clusters.stats[0, :-1])
    outside = {column.name: np.ones(found.shape[0]) for column in schema.columns if not column.part_of}
    for column in schema.used:
        own = found[:, likelihood.column_names(schema).index(column.name)]
        outside[column.part_of or column.name] = outside[column.part_of or column.name] * (1.0 - own)
    return 1.0 - np.column_stack(list(outside.values()))
