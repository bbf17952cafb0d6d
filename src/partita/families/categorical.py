"""Categorical clusters: the option, and what it becomes given a table."""

from typing import Any

import numpy as np

from partita.families.algebra.columns import per_column
from partita.families.base import Conjugate, Family
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.weighed_categories import WeighedCategories, checked_column_weight
from partita.priors.hyperpriors import Gamma
from partita.table import Table


class Categorical(Family, name="categorical"):
    """Independent categorical columns; every cluster's shares are summed out.

    Parameters
    ----------
    pseudocount : float, one per column, Gamma or None
        Symmetric Dirichlet parameter of every column's shares. A column's categories are those seen in ``fit``.
        ``priors.Gamma(shape, rate)``: one number for all columns, learned from the rows by engines that do so and else
        held at its mean; None is ``Gamma(1, 1)``. ``priors.Flat()``: where a variational bound is largest.
    column_weight : float
        How often a column counts as evidence of who is together: p(rows | partition) is the product of those of the
        columns, each to this power. Below 1 where columns repeat each other: two copies of a column at 1/2 each are
        one. 1 takes columns as independent given the cluster; other numbers make a generalised posterior.

    Examples
    --------
    >>> from partita import Mixture
    >>> rows = [["red", "small"]] * 4 + [["blue", "large"]] * 4
    >>> Mixture(family=Categorical(pseudocount=0.5), engine="vb", random_state=0).fit(rows).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    kind = "categorical"

    def __init__(self, *, pseudocount: Any = 1.0, column_weight: float = 1.0):
        self.pseudocount = pseudocount
        self.column_weight = column_weight

    def on_columns(self, table: Table, columns: np.ndarray) -> Conjugate:
        """The conjugate model over some of the table's categorical columns."""
        hyperprior = self._hyperprior()
        given = self.pseudocount if hyperprior is None else hyperprior.mean
        pseudocount = per_column("pseudocount", given, len(columns))
        complete = not (table.codes[:, columns] < 0).any()
        n_levels = np.asarray(table.schema.n_levels, dtype=np.int64)[columns]
        weight = checked_column_weight(self.column_weight)
        if weight == 1.0:
            return DirichletCategorical(pseudocount, n_levels, columns, complete, hyperprior)
        return WeighedCategories(pseudocount, n_levels, columns, complete, hyperprior, column_weight=weight)

    def _hyperprior(self) -> Gamma | None:
        if self.pseudocount is None:
            return Gamma(1.0, 1.0)
        if not isinstance(self.pseudocount, Gamma):
            return None
        self.pseudocount.check()
        return self.pseudocount

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Six rows of three columns, two cells missing (the NBCE golden table); and a complete one."""
        rows = [
            ["a", "p", "u"], ["a", "p", "v"], ["a", "q", None], ["b", "r", "v"], ["b", "r", "u"], [None, "q", "v"],
        ]  # fmt: skip
        complete = [["a", "p"], ["a", "p"], ["b", "q"], ["b", "r"], ["a", "q"], ["b", "r"]]
        return [
            (cls(pseudocount=0.5), Table.read(np.array(rows, dtype=object))),
            (cls(pseudocount=[0.7, 1.3]), Table.read(np.array(complete, dtype=object))),
        ]
