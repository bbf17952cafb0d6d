"""Numbers that are positive ones with a long tail: guessed by a stated rule, said, and undone by one option."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.contracts.cases import Waiting

from partita import Mixture
from partita.families import Gaussian, LogNormal, Mixed
from partita.table import Table
from partita.table.tails import MARGIN, evidence, log_gains, order_statistics


def kinds_of(X, **options):
    return [column.kind for column in Table.read(X, **options).schema.columns]


def log_normal_groups(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    return np.exp(rng.normal(2.0 * group[:, None], 0.6, (n, d))), group


def gaussian_groups(n, n_groups, mean, seed=0):
    rng = np.random.default_rng(seed)
    return np.abs(rng.normal(mean + 5.0 * rng.integers(0, n_groups, n)[:, None], 1.0, (n, 6)))


@pytest.mark.parametrize("n", [60, 300, 5000])
@pytest.mark.parametrize("n_groups", [1, 2, 3])
@pytest.mark.parametrize("mean", [6.0, 20.0, 1e4])
def test_gaussian_groups_stay_numbers(n, n_groups, mean):
    assert kinds_of(gaussian_groups(n, n_groups, mean)) == ["numeric"] * 6


@pytest.mark.parametrize(
    "X",
    [
        np.exp(np.random.default_rng(0).normal(size=(1000, 4))),
        np.exp(np.random.default_rng(1).normal(8.0, 0.5, size=(300, 4))),
        np.ceil(np.exp(np.random.default_rng(2).normal(1.5, 0.8, size=(500, 4)))),
        log_normal_groups(150)[0],
        log_normal_groups(1000)[0],
    ],
    ids=["structureless", "narrow", "whole numbers", "three groups", "three large groups"],
)
def test_log_normal_columns_are_positive(X):
    table = Table.read(X)
    assert [(column.kind, column.guessed) for column in table.schema.columns] == [("positive", True)] * 4


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.append(x, 0.0),
        lambda x: x[:29],
        lambda x: np.ceil(np.minimum(x, 10.0)),
        lambda x: x - x.min() - 1.0,
    ],
    ids=["a zero", "few cells", "ten values", "negative"],
)
def test_what_cannot_tell_stays_numbers(change):
    x = np.exp(np.random.default_rng(0).normal(1.0, 1.5, size=400))
    assert kinds_of(x[:, None]) == ["positive"]
    assert kinds_of(change(x)[:, None]) == ["numeric"]


def test_a_guess_is_the_same_as_a_word_and_one_option_undoes_it():
    frame = pd.DataFrame(log_normal_groups()[0], columns=list("abcd"))
    told = Table.read(frame, column_types={"*": "positive"})
    assert Table.read(frame).fingerprint() == told.fingerprint()
    assert not any(column.guessed for column in told.schema.columns)
    assert kinds_of(frame, guess_types=False) == ["numeric"] * 4
    assert kinds_of(frame, column_types={"b": "numeric"}) == ["positive", "numeric", "positive", "positive"]


@pytest.mark.parametrize(
    ("family", "kinds"),
    [
        ("auto", ["positive"] * 4),
        (Mixed(), ["positive"] * 4),
        (Gaussian(), ["numeric"] * 4),
        (LogNormal(), ["positive"] * 4),
        (Mixed(families={"x0": Gaussian()}), ["numeric"] + ["positive"] * 3),
        (Mixed(families={"numeric": Waiting()}), ["numeric"] * 4),
    ],
)
def test_families_that_were_chosen_are_heard(family, kinds):
    model = Mixture(family=family, engine="vb", random_state=0).fit(log_normal_groups(90)[0])
    assert [column.kind for column in model.table_.schema.columns] == kinds


def test_copies_and_rows_of_weight_zero():
    X, _ = log_normal_groups(60)
    X = np.vstack([X, X])
    X[60:, 0] *= -1.0
    weights = np.append(np.random.default_rng(0).integers(1, 4, 60), np.zeros(60, int))
    weighted, repeated = Table.read(X, sample_weight=weights), Table.read(np.repeat(X, weights, axis=0))
    assert [column.kind for column in weighted.schema.columns] == [column.kind for column in repeated.schema.columns]
    assert np.array_equal(
        order_statistics(X[:60, 0], weights[:60].astype(float)), np.sort(np.repeat(X[:60, 0], weights[:60]))
    )


def test_the_evidence_of_one_normal_by_hand():
    x = np.sort(np.random.default_rng(0).normal(5.0, 2.0, 200))
    variance = (200 * x.var() + 0.1 * x.var()) / 202
    expected = -100 * np.log(2 * np.pi * variance) - 100 * x.var() / variance - np.log(200)
    assert evidence(x[None], np.zeros(1))[0] == pytest.approx(expected)


def test_units_and_company_change_nothing():
    X, _ = log_normal_groups()
    columns = [np.sort(x) for x in X.T] + [np.sort(X[:50, 0])]
    alone = np.array([log_gains([x], [0.0], [0.0])[0] for x in columns])
    np.testing.assert_allclose(log_gains(columns, [0.0] * 5, [0.0] * 5), alone, rtol=1e-8)
    np.testing.assert_allclose(log_gains([1e6 * x for x in columns], [0.0] * 5, [0.0] * 5), alone, rtol=1e-6)
    assert (alone[:4] > MARGIN).all()


def test_many_columns_take_a_second():
    X = np.exp(np.random.default_rng(0).normal(size=(2000, 150)))
    columns = [order_statistics(x, np.ones(2000)) for x in X.T]
    start = time.perf_counter()
    log_gains(columns, [0.0] * 150, [0.0] * 150)
    assert time.perf_counter() - start < 2.0


def test_three_log_normal_groups_are_found():
    X, group = log_normal_groups(300, 4)
    model = Mixture(random_state=0, max_time=30).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(group, model.labels_) >= 0.85


def test_a_structureless_table_is_one_group():
    X = np.exp(np.random.default_rng(0).normal(size=(1000, 4)))
    assert Mixture(random_state=0, max_time=30).fit(X).n_clusters_ == 1
