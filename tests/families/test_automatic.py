"""``family="auto"``: which family a table gets."""

import numpy as np
import pytest

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.families.automatic import automatic_family
from partita.table import Table


def numeric(n: int, d: int) -> Table:
    return Table.read(np.random.default_rng(0).normal(size=(n, d)))


def other(*kinds: str) -> Table:
    """Five rows with one column of every kind named."""
    columns = {
        "numeric": [0.5, -1.0, 2.5, 0.0, 3.0],
        "count": [0, 3, 1, 8, 2],
        "categorical": ["a", "b", "a", "c", "b"],
    }
    X = np.array([columns[kind] for kind in kinds], dtype=object).T
    return Table.read(X, column_types=dict(enumerate(kinds)))


@pytest.mark.parametrize(
    ("n", "d", "covariance"),
    [(2, 1, "full"), (8, 4, "full"), (7, 4, "diag"), (100, 50, "full"), (99, 50, "diag"), (600, 51, "diag")],
)
def test_full_covariance_for_few_columns_for_their_rows(n, d, covariance):
    assert automatic_family(numeric(n, d)) == Gaussian(covariance=covariance)


@pytest.mark.parametrize(("n", "d", "covariance"), [(10, 1, "full"), (9, 1, "diag"), (40, 4, "full"), (39, 4, "diag")])
def test_a_full_covariance_whose_scale_is_not_learned_takes_more_rows(n, d, covariance):
    assert automatic_family(numeric(n, d), fixed=True) == Gaussian(covariance=covariance)


@pytest.mark.parametrize(
    ("kinds", "family"),
    [
        (["categorical"], Categorical()),
        (["categorical", "categorical"], Categorical()),
        (["count", "count"], Count()),
        (["numeric", "categorical"], Mixed()),
        (["numeric", "count"], Mixed()),
        (["categorical", "count"], Mixed()),
        (["categorical", "numeric", "count"], Mixed()),
    ],
)
def test_other_tables_by_their_kinds(kinds, family):
    assert automatic_family(other(*kinds)) == family


def test_constant_columns_do_not_count():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 1] = 7.0
    with pytest.warns(UserWarning, match="constant"):
        table = Table.read(X)
    assert automatic_family(table) == Gaussian(covariance="full")
    words = np.array([["a", 1.5], ["a", 2.5]], dtype=object)
    with pytest.warns(UserWarning, match="constant"):
        assert automatic_family(Table.read(words)) == Gaussian(covariance="full")


def test_missing_cells_do_not_matter():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[::3, 0] = np.nan
    assert automatic_family(Table.read(X)) == Gaussian(covariance="full")
