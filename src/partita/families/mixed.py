"""Clusters of rows with columns of several kinds."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from partita.families.algebra.columns import refuse_logs
from partita.families.base import FAMILIES, Conjugate, Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.gaussian import Gaussian
from partita.families.product import BUILT_IN, Product
from partita.parameters import choose
from partita.priors.hyperpriors import Gamma
from partita.table import Column, Table
from partita.table.schema import ColumnKind, Kind

#: What reads the columns of a kind that nothing names.
DEFAULTS: dict[Kind, Family] = {
    "numeric": Gaussian(covariance="diag"),
    "categorical": Categorical(),
    "count": Count(),
}


POSITIVE = "positive"
"""Key of the positive columns, which are otherwise among the numeric ones."""


class Group(NamedTuple):
    """Columns that one family reads, by their positions among those of its kind."""

    family: Family
    columns: np.ndarray

    def fixed(self, table: Table) -> "Group":
        """The columns, nothing learned of them unasked."""
        return Group(self.family.fixed(table, self.columns), self.columns)


class Mixed(Family, name="mixed"):
    """A product over blocks of columns: independent given the cluster.

    Parameters
    ----------
    families : mapping or None
        From column name, or from column type ("numeric", "positive", "categorical", "count"), to a family. A name
        goes before a type; columns that nothing names are read by type: ``Gaussian(covariance="diag")``,
        ``Categorical()``, ``Count()``. ``{"numeric": Gaussian(covariance="full")}`` gives all numeric
        columns that are not named one covariance matrix per cluster. Any family that has a ``kind`` and
        ``on_columns`` will do.

        Positive columns are among the numeric ones, unless "positive" is a key. A column that `LogNormal` is named
        for is read as positive numbers with its offset.

    Columns of one kind of likelihood (full, diagonal, known, categorical, count) form a block. A number that is
    learned, as the scale of ``Gaussian(covariance="diag", scale=priors.Gamma(1, 1))``, is one number for the whole
    block, so all columns of the block must have the same hyperprior of it. Where some columns of a block have numbers,
    what others leave open is not learned, but as in `Gaussian.fixed`. Another family is a block of its own for every
    key, unless it joins its columns itself (`Conjugate.joined`).

    Examples
    --------
    >>> from partita import Mixture
    >>> from partita.families import Gaussian
    >>> family = Mixed(families={"numeric": Gaussian(covariance="known", variance=0.1)})
    >>> rows = [[1.0, "a"], [1.2, "a"], [0.9, "a"], [7.0, "b"], [7.2, "b"], [6.9, "b"]]
    >>> Mixture(family=family, engine="vb", random_state=0).fit(rows).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, *, families: Mapping[str, Family] | None = None):
        self.families = families

    def resolve(self, table: Table) -> Conjugate:
        """One block per kind of likelihood, hyperparameters column by column."""
        groups = self._groups(table)
        families = [group.family for group in groups]
        return _product([g.fixed(table) if g.family.is_fixed_beside(families) else g for g in groups], table)

    def resolve_fixed(self, table: Table) -> Conjugate:
        """As `resolve`, nothing learned unasked."""
        return _product(self._groups(table, fixed=True), table)

    def standardizes_column(self, name: str) -> bool:
        """Whether the family of this column does."""
        given = self._given()
        return getattr(given.get(name, given.get("numeric")), "standardizes", True)

    def _given(self) -> dict[str, Family]:
        return {str(key): family for key, family in (self.families or {}).items()}

    def guesses_column(self, name: str, kind: ColumnKind) -> bool:
        """Whether no family was named for this column; positive only where its family reads logs."""
        given = self._given()
        return name not in given and (kind != POSITIVE or getattr(_of_positive(given), "reads_logs", False))

    def reads_as_positive(self, name: str) -> bool:
        """Whether the family of this column does."""
        given = self._given()
        family = given.get(name, given.get("numeric"))
        return isinstance(family, Family) and family.reads_as_positive(name)  # what is none is refused later

    def offset_of_column(self, name: str) -> float:
        """That of the family that reads it."""
        given = self._given()
        family = given.get(name, _of_positive(given))
        return family.offset_of_column(name) if isinstance(family, Family) else 0.0

    def _groups(self, table: Table, *, fixed: bool = False) -> list[Group]:
        """One group per name and per kind."""
        given = self._given()
        keys = dict.fromkeys([*map(str, table.schema.names), *DEFAULTS, POSITIVE])
        for key, family in given.items():
            choose("the key of Mixed(families=...)", key, keys)
            _refuse_no_block(family, key)
        groups: list[Group] = []
        for kind, block in table.schema.by_kind.items():
            rest: dict[str, list[int]] = {}
            for position, column in enumerate(block):
                if column.name in given:
                    group = Group(_matching(given[column.name], [column], column.name), np.array([position]))
                    group = group.fixed(table) if fixed else group
                    groups.append(group._replace(family=group.family.of_one_column()))
                else:
                    apart = column.kind == POSITIVE and POSITIVE in given
                    rest.setdefault(POSITIVE if apart else kind, []).append(position)
            for group in _by_type(rest, given, block):
                groups.append(group.fixed(table) if fixed else group)
        return groups

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Six rows with a column of every kind, cells missing; a full covariance beside categories; one that learns.

        The numbers of the second were recorded in large steps, those of the others are continuous.
        """
        x = np.array(
            [
                [-1.2, 0.3, "a", 0],
                [-0.9, None, "a", 2],
                [0.1, -0.2, "b", None],
                [1.1, 0.9, None, 7],
                [1.4, 1.3, "b", 9],
                [None, -1.5, "b", 1],
            ],
            dtype=object,
        )
        one_missing = x.copy()
        one_missing[5, 0] = 0.2
        types = {3: "count"}
        known = {"x0": Gaussian(covariance="known", variance=0.4), "numeric": Gaussian(covariance="diag")}
        full = {
            "numeric": Gaussian(covariance="full", dof=4.0, scale=0.8),
            "categorical": Categorical(pseudocount=0.5),
        }
        learned = {
            "x0": Gaussian(scale=Gamma(3.0, 2.0)),
            "numeric": Gaussian(scale=Gamma(2.0, 2.0), mean_precision=Gamma(2.0, 5.0)),
            "categorical": Categorical(pseudocount=Gamma(2.0, 4.0)),
        }

        def read(cells: np.ndarray, step: float) -> Table:
            return Table.read(cells, column_types=types, standardize=False, column_steps=step)

        return [
            (cls(families=known), read(x, 0.0)),
            (cls(families=full), read(one_missing, 0.8)),
            (cls(families=learned), read(one_missing, 0.0)),
        ]


def _refuse_no_block(family: Any, key: str) -> None:
    """Refuse what cannot be asked for a block of columns."""
    if not isinstance(family, Family):
        raise TypeError(f"Mixed(families=...) takes families, got {family!r} for {key!r}: pass for example Gaussian().")
    if family.kind is None or type(family).on_columns is Family.on_columns:
        raise TypeError(
            f"Mixed(families=...) takes families of one kind of columns, got {family!r} for {key!r}: "
            f"{type(family).__name__} must set kind to {', '.join(map(repr, DEFAULTS))} and implement "
            "on_columns(table, columns)."
        )


def _of_positive(given: Mapping[str, Family]) -> Family:
    """What reads positive columns that are not named."""
    return given.get(POSITIVE, given.get("numeric", DEFAULTS["numeric"]))


def _by_type(rest: dict[str, list[int]], given: Mapping[str, Family], block: Sequence[Column]) -> list[Group]:
    """One group per type of the columns of a block that are not named, by their positions in it.

    Numeric and positive columns are one group where both have the same full covariance.
    """
    families = {
        key: _matching(given[key] if key in given else DEFAULTS[block[0].block], [block[j] for j in positions], key)
        for key, positions in rest.items()
    }
    full = [key for key, family in families.items() if getattr(family, "covariance", None) == "full"]
    if {"numeric", POSITIVE} <= set(full):
        _refuse_two_matrices(families["numeric"], families[POSITIVE])
        return [Group(families["numeric"], np.sort(rest["numeric"] + rest[POSITIVE]))]
    return [Group(families[key], np.array(positions)) for key, positions in rest.items()]


def _refuse_two_matrices(numeric: Family, positive: Family) -> None:
    """Refuse full covariances of numeric and of positive columns that differ in their options."""
    one, other = (family.get_params(deep=False) for family in (numeric, positive))
    same = {
        name: np.array_equal(np.array(one[name], object), np.array(other[name], object)) for name in one.keys() & other
    }
    different = sorted(name for name, equal in same.items() if not equal)
    if different:
        raise ValueError(
            "Mixed(families=...) gives numeric and positive columns a full covariance each, and there is one matrix "
            f"for all columns: give both the same {' and '.join(different)}, or one of them covariance='diag'."
        )


def _matching(family: Family, columns: Sequence[Column], key: str) -> Family:
    kind = columns[0].block
    if family.kind == kind and not family.reads_logs:
        refuse_logs(columns, type(family).__name__)
    if family.kind != kind:
        others = " or ".join(other.__name__ for other in FAMILIES.values() if other.kind == kind)
        raise ValueError(
            f"Mixed(families=...) gives {family!r} to {key!r}, whose columns are {kind}: "
            f"use {others}, or set the column's type with column_types."
        )
    return family


def _product(groups: list[Group], table: Table) -> Conjugate:
    """The product of all blocks; a single block of another family is the whole model."""
    found: dict[type[Conjugate], list[Conjugate]] = {}
    for group in groups:
        block = _block(group, table)
        found.setdefault(type(block), []).append(block)
    built_in = [kind.joined(found.pop(kind, []))[0] for kind in BUILT_IN.values()]
    others = [block for kind, blocks in found.items() for block in kind.joined(blocks)]
    if len(others) == 1 and not any(block.columns.size for block in built_in):
        return others[0]
    return Product([*built_in, *others], [block.column_names(table.schema)[0] for block in others])


def _block(group: Group, table: Table) -> Conjugate:
    block = group.family.on_columns(table, group.columns)
    if getattr(block, "kind", None) != group.family.kind or not np.array_equal(block.columns, group.columns):
        raise TypeError(
            f"{type(group.family).__name__}.on_columns(table, columns) must return a model with the family's kind and "
            f"these columns: {type(block).__name__} has others, so its cells would stand in the wrong places."
        )
    return block
