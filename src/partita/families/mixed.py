"""Clusters of rows with columns of several kinds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.families.base import Conjugate, Family
from partita.families.categorical import Categorical
from partita.families.count import Count
from partita.families.dirichlet_categorical import DirichletCategorical
from partita.families.gamma_poisson import GammaPoisson
from partita.families.gaussian import Gaussian, is_open, scale_matrix
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.families.normal_known_variance import NormalKnownVariance
from partita.families.product import Product
from partita.parameters import choose
from partita.priors.hyperpriors import Gamma
from partita.table import Table

Group = tuple[Family, str, np.ndarray]
KINDS: dict[str, type[Family]] = {"numeric": Gaussian, "categorical": Categorical, "count": Count}


class Mixed(Family, name="mixed"):
    """A product over blocks of columns: independent given the cluster.

    Parameters
    ----------
    families : mapping or None
        From column name, or from column type ("numeric", "categorical", "count"), to a family. A name goes
        before a type; columns that nothing names are read by type: ``Gaussian(covariance="diag")``,
        ``Categorical()``, ``Count()``. ``{"numeric": Gaussian(covariance="full")}`` gives all numeric
        columns that are not named one covariance matrix per cluster.

    Columns of one kind of likelihood (full, diagonal, known, categorical, count) form a block. A number that is
    learned, as the scale of ``Gaussian(covariance="diag", scale=priors.Gamma(1, 1))``, is one number for the whole
    block, so all columns of the block must have the same hyperprior of it. Where some columns of a block have numbers,
    what others leave open is not learned, but as in `Gaussian.resolve_fixed`.
    """

    def __init__(self, *, families: Mapping[str, Family] | None = None):
        self.families = families

    def resolve(self, table: Table) -> Conjugate:
        """One block per kind of likelihood, hyperparameters column by column."""
        groups = self._groups(table)
        numeric = [family for family, _, _ in groups if isinstance(family, Gaussian)]
        diagonal = [family for family in numeric if family.covariance == "diag"]
        if any(_open_beside_numbers(diagonal, option) for option in ("scale", "mean_precision")):
            groups = [
                (_fixed(family, table, columns) if family in diagonal else family, kind, columns)
                for family, kind, columns in groups
            ]
        return _product(groups, table)

    def resolve_fixed(self, table: Table) -> Conjugate:
        """As `resolve`, nothing learned unasked."""
        return _product(self._groups(table, fixed=True), table)

    def _groups(self, table: Table, *, fixed: bool = False) -> list[Group]:
        """Family, kind and positions within the kind's block, one group per name and per kind."""
        given = {str(key): family for key, family in (self.families or {}).items()}
        of_kind = {
            "numeric": table.schema.numeric,
            "categorical": table.schema.categorical,
            "count": table.schema.counts,
        }
        names = {str(column.name) for column in table.schema.columns}
        for key, family in given.items():
            choose("the key of Mixed(families=...)", key, dict.fromkeys([*names, *KINDS]))
            if not isinstance(family, Gaussian | Categorical | Count):
                raise TypeError(
                    f"Mixed(families=...) takes Gaussian, Categorical or Count, got {family!r} for {key!r}."
                )
        groups: list[Group] = []
        for kind, block in of_kind.items():
            rest = []
            for position, column in enumerate(block):
                if str(column.name) in given:
                    family, columns = _matching(given[str(column.name)], kind, str(column.name)), np.array([position])
                    family = _fixed(family, table, columns) if fixed else family
                    groups.append((_one_column(family), kind, columns))
                else:
                    rest.append(position)
            if rest:
                by_type = given.get(kind, Gaussian(covariance="diag") if kind == "numeric" else KINDS[kind]())
                family, columns = _matching(by_type, kind, kind), np.array(rest)
                groups.append((_fixed(family, table, columns) if fixed else family, kind, columns))
        return groups

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        """Six rows with a column of every kind, cells missing; a full covariance beside categories; one that learns."""
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
        return [
            (cls(families=known), Table.read(x, column_types=types, standardize=False)),
            (cls(families=full), Table.read(one_missing, column_types=types, standardize=False)),
            (cls(families=learned), Table.read(one_missing, column_types=types, standardize=False)),
        ]


def _matching(family: Family, kind: str, key: str) -> Family:
    if not isinstance(family, KINDS[kind]):
        raise ValueError(
            f"Mixed(families=...) gives {family!r} to {key!r}, whose columns are {kind}: "
            f"use {KINDS[kind].__name__}, or set the column's type with column_types."
        )
    return family


def _one_column(family: Family) -> Family:
    """A full covariance of one column is its diagonal form, parameter by parameter."""
    if not isinstance(family, Gaussian):
        return family
    family.check()
    if family.covariance != "full":
        return family
    if is_open(family.scale):
        dof, scale = family.dof, family.scale
    else:
        dof, scale = 3.0 if family.dof is None else family.dof, scale_matrix(family.scale, 1)[0, 0]
    return Gaussian(covariance="diag", mean=family.mean, mean_precision=family.mean_precision, dof=dof, scale=scale)


def _open_beside_numbers(families: list[Gaussian], option: str) -> bool:
    """Whether some leave the option open where others have numbers for it."""
    values = [getattr(family, option) for family in families]
    return any(value is None for value in values) and not all(is_open(value) for value in values)


def _fixed(family: Family, table: Table, columns: np.ndarray) -> Family:
    return family.fixed(table, columns) if isinstance(family, Gaussian) else family


def _product(groups: list[Group], table: Table) -> Product:
    blocks: dict[str, list[Conjugate]] = {"full": [], "diag": [], "known": [], "categorical": [], "count": []}
    for family, kind, columns in groups:
        block = family.covariance if isinstance(family, Gaussian) else kind
        blocks[block].append(family.on_columns(table, columns))  # type: ignore[attr-defined]
    return Product(
        _only(blocks["full"]),
        _joined_gamma(blocks["diag"]),
        _joined_known(blocks["known"]),
        _joined_categorical(blocks["categorical"]),
        _joined_count(blocks["count"]),
    )


def _one_hyperprior_each(blocks: list[Any]) -> dict[str, Gamma]:
    """Hyperpriors that are the same in all blocks of one kind, by the name of what they are of."""
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


def _join(blocks: list[Any], *names: str) -> dict[str, Any]:
    """Options of several blocks of one kind, column after column."""
    joined = {name: np.concatenate([getattr(b, name) for b in blocks]) if blocks else np.empty(0) for name in names}
    positions = [b.columns for b in blocks]
    return joined | {"columns": np.concatenate(positions) if positions else np.empty(0, dtype=np.int64)}


def _only(blocks: list[Any]) -> NormalInverseWishart:
    if blocks:
        return blocks[0]
    return NormalInverseWishart(np.empty(0), 1.0, 1.0, np.empty((0, 0)), np.empty(0, dtype=np.int64))


def _joined_gamma(blocks: list[Any]) -> NormalInverseGamma:
    hyperpriors = _one_hyperprior_each(blocks)
    options = _join(blocks, "mean", "mean_precision", "dof", "base_scale")
    options["scale"] = options.pop("base_scale")
    joined = NormalInverseGamma(**options, complete=all(b.complete for b in blocks), hyperpriors=hyperpriors)
    return joined.with_learned(**blocks[0].learned) if hyperpriors else joined


def _joined_known(blocks: list[Any]) -> NormalKnownVariance:
    return NormalKnownVariance(**_join(blocks, "mean", "variance", "mean_variance"))


def _joined_categorical(blocks: list[Any]) -> DirichletCategorical:
    options = _join(blocks, "pseudocount", "n_levels")
    options["n_levels"] = options["n_levels"].astype(np.int64)
    hyperprior = _one_hyperprior_each(blocks).get("pseudocount")
    return DirichletCategorical(**options, complete=all(b.complete for b in blocks), hyperprior=hyperprior)


def _joined_count(blocks: list[Any]) -> GammaPoisson:
    return GammaPoisson(**_join(blocks, "shape", "rate"))
