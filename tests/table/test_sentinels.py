"""Numbers that stand for missing cells are named, and numbers that do not are left alone."""

import warnings

import numpy as np
import pandas as pd
import pytest

from partita.table import Table
from partita.table.sentinels import find_spikes

N = 200


def rng():
    return np.random.default_rng(0)


TRUE_COLUMNS = {
    "normal": lambda: rng().normal(170, 8, N),
    "log-normal": lambda: np.exp(rng().normal(0, 2, N)),
    "log-normal with one giant": lambda: np.append(np.exp(rng().normal(0, 1, N)), 99999.0),
    "whole and long-tailed": lambda: np.floor(rng().pareto(0.7, N)),
    "counts": lambda: rng().poisson(3, N),
    "rare counts": lambda: rng().poisson(0.05, N),
    "years": lambda: rng().integers(1950, 2024, N),
    "years that end in nines": lambda: rng().choice([1997, 1998, 1999], N),
    "ages to 99": lambda: np.append(rng().integers(9, 99, N), [9, 9, 99, 99, 99]),
    "two values": lambda: rng().choice([0, 999], N),
    "codes": lambda: rng().choice([10, 20, 30, 40, 100], N),
    "few codes": lambda: rng().choice([1, 2, 3, 9], N, p=[0.3, 0.3, 0.3, 0.1]) * 10,
    "answers": lambda: rng().integers(1, 6, N),
    "answers and 9": lambda: np.append(rng().integers(1, 6, N), [9] * 5),  # not far
    "balances": lambda: np.append(np.round(rng().normal(0, 400, N)), [-999, -999]),
    "minus one": lambda: np.append(rng().integers(0, 50, N), [-1] * 9),
    "zeros": lambda: np.where(rng().random(N) < 0.5, 0.0, rng().normal(300, 60, N)),
    "two groups of whole numbers": lambda: np.round(rng().normal(np.repeat([0, 1000], N // 2), 0.4)),
    "no range": lambda: np.array([5e-324, 0.0] * 10 + [999.0] * 3),
    "huge": lambda: np.array([-1.7e308, 1.7e308, 1e300] * 10),
    "few cells": lambda: np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, -999, -999]),
    "one value": lambda: np.full(20, -999.0),
}


@pytest.mark.parametrize("name", TRUE_COLUMNS)
def test_true_columns_are_left_alone(name):
    assert find_spikes(name, np.asarray(TRUE_COLUMNS[name](), dtype=float)) is None


@pytest.mark.parametrize(
    ("values", "spikes"),
    [
        (lambda: rng().integers(18, 90, N), [-999]),
        (lambda: rng().integers(18, 90, N), [999]),
        (lambda: rng().integers(0, 99, N), [-99]),  # as far as they reach
        (lambda: rng().integers(0, 2, N), [-9999]),
        (lambda: rng().integers(0, 2, N), [99]),
        (lambda: rng().integers(1, 6, N), [97, 98, 99]),
        (lambda: rng().integers(1, 6, N), [77, 88]),
        (lambda: rng().poisson(3, N), [-9]),
        (lambda: np.floor(np.exp(rng().normal(2, 2, N))), [-999]),
        (lambda: rng().integers(1950, 2024, N), [9999]),
        (lambda: rng().integers(1950, 2024, N), [0]),  # of no usual form, and very far
        (lambda: rng().normal(15, 5, N), [-99.9]),
        (lambda: rng().normal(15, 5, N), [-9999, 999.9]),
        (lambda: rng().normal(15, 5, N), [-1e30]),
    ],
)
def test_spikes_far_from_all_others_are_found(values, spikes):
    cells = np.append(np.asarray(values(), dtype=float), np.repeat(spikes, 3))
    found = find_spikes("x", cells)
    assert found.values == spikes
    assert found.n_cells == 3 * len(spikes)
    assert (found.least, found.most) == (cells[:N].min(), cells[:N].max())
    assert find_spikes("x", cells[:N]) is None
    assert find_spikes("x", cells[: N + 1]) is None or len(spikes) > 1  # one cell is no spike


def table(**columns):
    ages = np.append(rng().integers(18, 90, N), [-999] * 4)
    return pd.DataFrame({"age": ages, "size": rng().normal(170, 8, N + 4)} | columns)


def heard(X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read = Table.read(X, **options)
    return read, [str(warning.message) for warning in caught]


def test_the_warning_names_the_option_that_takes_it_away():
    words = (
        "Far from all other values lies -999 in column 'age' (4 cells; the others: 18 to 89). If it stands for missing "
        "cells, pass missing=-999 (command line: --missing -999)."
    )
    assert heard(table())[1] == [words]
    read, said = heard(table(), missing=-999)
    assert said == []
    assert np.isnan(read.numeric[-4:, 0]).all()
    assert heard(table(), sample_weight=[1] * N + [0] * 4)[1] == []
    assert heard(table(), column_types={"age": "categorical"})[1] == []


def test_one_warning_for_all_columns():
    more = {f"q{j}": np.append(rng().integers(1, 6, N), [97, 98, 99, 99]) for j in range(3)}
    _, said = heard(table(**more))
    assert len(said) == 1
    assert "; 97, 98 and 99 in column 'q0' (4 cells; the others: 1 to 5); " in said[0]
    assert said[0].endswith(
        "; and others in 1 more column. If they stand for missing cells, pass missing=[-999, 97, 98, 99] (command "
        "line: --missing -999,97,98,99)."
    )


def test_a_column_that_holds_the_value_by_right_is_spared():
    balance = np.append(np.round(rng().normal(0, 400, N)), [-999, 5, 5, 5])
    _, said = heard(table(balance=balance))
    assert "pass missing={'age': [-999]} (command line: --missing age=-999)" in said[0]
    assert heard(table(balance=balance), missing={"age": [-999]})[1] == []
    _, said = heard(table(balance=balance).rename(columns={"age": "age, in years"}))
    assert "(command line: --missing '\"age, in years=-999\"')" in said[0]


def test_codes_that_are_read_as_categories_are_looked_at_too():
    rng = np.random.default_rng(2)
    flags = rng.integers(0, 2, 200).astype(float)
    flags[:12] = -999
    with pytest.warns(UserWarning, match="-999"):
        Table.read(pd.DataFrame({"flag": flags, "size": rng.normal(size=200)}))
