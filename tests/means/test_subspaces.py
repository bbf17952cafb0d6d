"""Costs of clusters that choose columns: the definition, and every step the minimiser of its block."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.oracles.craft import cost_by_definition

from partita.means.cells import Categories, Numbers
from partita.means.choices import SoMany, WhatPays
from partita.means.descent import descend
from partita.means.locality import default_locality, locality_costs
from partita.means.subspaces import SelectedColumns

SHARE = 0.5


def table(seed, n=9, p=2, c=2, gaps=0.15):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, p)) * 2.0 + 1.0
    codes = rng.integers(0, 3, (n, c)).astype(np.int32)
    codes[:3] = np.arange(3)[:, None]  # all categories occur
    numbers[rng.random(numbers.shape) < gaps] = np.nan
    codes[rng.random(codes.shape) < gaps] = -1
    return numbers, codes


def costs_of(numbers, codes, *, penalty=0.7, choice=None, fixed=False):
    share = SHARE
    locality = locality_costs(share, default_locality(share))
    n_columns = numbers.shape[1] + codes.shape[1]
    blocks = Numbers(numbers, fixed=fixed), Categories(codes, np.full(codes.shape[1], 3))
    prices = {"ignored": locality.ignored, "prices": locality.chosen_more}
    return SelectedColumns(*blocks, penalty=penalty, choice=choice or SoMany(round(share * n_columns)), **prices)


def total(costs, clusters, labels=None):
    if labels is None:
        least = costs.cheapest(clusters)[1]
        return least.sum() + costs.of_clusters(clusters)
    return sum(costs.cheapest(clusters.taken(np.array([k])))[1][labels == k].sum() for k in np.unique(labels)) + (
        costs.of_clusters(clusters)
    )


def as_dicts(numbers, codes, clusters):
    """What the oracle takes."""
    p = numbers.shape[1]
    rows = [
        {f"x{j}": None if np.isnan(x) else float(x) for j, x in enumerate(cells)}
        | {f"c{j}": None if t < 0 else int(t) for j, t in enumerate(labels)}
        for cells, labels in zip(numbers, codes)
    ]

    def said(shapes, k, chosen):
        normal, table = shapes
        own = {f"x{j}": (normal.means[k, j], normal.variances[k, j]) for j in range(p) if chosen[j]}
        return own | {
            f"c{j}": {t: float(np.exp(-table[k, 3 * j + t])) for t in range(3)}
            for j in range(codes.shape[1])
            if chosen[p + j]
        }

    own = [said(clusters.shapes, k, chosen) for k, chosen in enumerate(clusters.chosen)]
    return rows, own, said(clusters.background, 0, np.ones(clusters.chosen.shape[1], bool))


@pytest.mark.parametrize("seed", range(5))
def test_costs_are_those_of_the_definition(seed):
    numbers, codes = table(seed)
    labels = np.random.default_rng(seed).permutation(np.arange(9) % 3)
    costs = costs_of(numbers, codes)
    clusters = costs.fitted(labels, 3, None)
    rows, own, background = as_dicts(numbers, codes, clusters)
    expected = cost_by_definition(
        rows, labels, own, background, penalty=0.7, share=SHARE, locality=default_locality(SHARE)
    )
    assert total(costs, clusters, labels) == pytest.approx(expected, rel=1e-12)
    found, least = costs.cheapest(clusters)
    cheapest = cost_by_definition(
        rows, found, own, background, penalty=0.7, share=SHARE, locality=default_locality(SHARE)
    )
    assert least.sum() + costs.of_clusters(clusters) == pytest.approx(cheapest, rel=1e-12)
    assert cheapest <= expected + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_no_other_numbers_say_clusters_and_background_better(seed):
    numbers, codes = table(seed)
    labels = np.arange(9) % 2
    costs = costs_of(numbers, codes)
    clusters = costs.fitted(labels, 2, None)
    least = total(costs, clusters, labels)

    def moved(steps):
        own, other = np.split(steps, [8 + 12])
        shapes = _moved(clusters.shapes, own, 2)
        background = _moved(clusters.background, other, 1)
        return total(costs, clusters._replace(shapes=shapes, background=background), labels)

    start = np.zeros(8 + 12 + 4 + 6)
    assert moved(start) == pytest.approx(least)
    assert minimize(moved, start, method="BFGS", options={"maxiter": 60}).fun >= least - 1e-6


def _moved(shapes, steps, k):
    """Shapes with other means, log variances and logits."""
    normal, table = shapes
    means, variances, logits = np.split(steps, [2 * k, 4 * k])
    table = table - logits.reshape(k, -1)
    by_column = table.reshape(k, 2, 3)
    table = (by_column + np.log(np.exp(-by_column).sum(axis=2, keepdims=True))).reshape(k, -1)
    other = type(normal)(normal.means + means.reshape(k, -1), normal.variances * np.exp(variances.reshape(k, -1)))
    return other, table


@pytest.mark.parametrize("seed", range(5))
def test_no_other_columns_are_better_beside_the_background(seed):
    numbers, codes = table(seed)
    labels = np.arange(9) % 3
    costs = costs_of(numbers, codes)
    clusters = costs.fitted(labels, 3, None)
    least = total(costs, clusters, labels)
    for k in range(3):
        for columns in combinations(range(4), 2):
            chosen = clusters.chosen.copy()
            chosen[k] = np.isin(np.arange(4), columns)
            assert total(costs, clusters._replace(chosen=chosen), labels) >= least - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_row_alone_costs_what_its_own_cluster_does(seed):
    numbers, codes = table(seed)
    costs = costs_of(numbers, codes)
    clusters = costs.fitted(np.arange(9) % 2, 2, None)
    alone = costs.alone(clusters)
    for i in range(9):
        own = costs.best_for(np.array([i]), clusters)
        prior = costs.of_clusters(own) - costs.of_clusters(clusters.taken(np.arange(0)))
        assert alone[i] == pytest.approx(costs.cheapest(own)[1][i] + prior)


@pytest.mark.parametrize("choice", [None, WhatPays(0.2)])
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_costs_never_rise(seed, fixed, choice):
    rng = np.random.default_rng(seed)
    numbers, codes = table(seed, n=int(rng.integers(3, 80)), p=int(rng.integers(1, 5)), c=int(rng.integers(1, 5)))
    numbers[: len(numbers) // 3, 0] = 4.0  # constant within a cluster
    costs = costs_of(numbers, codes, penalty=float(rng.uniform(0.1, 4.0)), choice=choice, fixed=fixed)
    for start in (costs.fitted(np.zeros(len(numbers), np.int64), 1, None), costs.best_for(np.array([0]), None)):
        end = descend(costs, start, max_iter=100)
        scale = max(map(abs, end.path))
        assert (np.diff(end.path) <= 1e-9 * scale).all()
        assert end.converged
        assert end.path[-1] == pytest.approx(total(costs, end.clusters))
        assert end.path[0] <= total(costs, start) + 1e-9 * scale
