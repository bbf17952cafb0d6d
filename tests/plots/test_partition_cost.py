"""The partition cost plot: its bounds against all cluster sizes, its differences against the priors' probabilities."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from partita.plots import partition_cost, partition_cost_data
from partita.priors import DirichletProcess, FiniteMixtures, PitmanYor

PRIORS = [
    DirichletProcess(concentration=1.0),
    DirichletProcess(concentration=2.5),
    PitmanYor(concentration=1.0, discount=0.5),
    PitmanYor(concentration=-0.3, discount=0.8),
]


def all_sizes(n, k, least=1):
    if k == 1:
        return [(n,)]
    return [(first, *rest) for first in range(least, n // k + 1) for rest in all_sizes(n - first, k - 1, first)]


def cost_by_the_formula(prior, sizes):
    k, alpha = len(sizes), prior.concentration
    if isinstance(prior, DirichletProcess):
        return -k * math.log(alpha) - sum(math.lgamma(size) for size in sizes)
    opened = sum(math.log(alpha + prior.discount * (c - 1)) for c in range(2, k + 1))
    grown = sum(math.lgamma(size - prior.discount) for size in sizes)
    return -opened - grown + k * math.lgamma(1 - prior.discount)


def entropy(sizes):
    n, k = sum(sizes), len(sizes)
    return -sum(size / n * math.log(size / n, k) for size in sizes)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize(("n", "k"), [(100, 2), (40, 3), (24, 5), (9, 7)])
def test_the_cost_of_all_sizes_lies_between_the_bounds(prior, n, k):
    (curve,) = partition_cost_data(prior, n, k)
    sizes = all_sizes(n, k)
    entropies = [entropy(one) for one in sizes]
    costs = np.array([cost_by_the_formula(prior, one) for one in sizes])
    # Between the points of a curve straight lines stand for it: the error is below 1e-5 of its range.
    rounding = 1e-5 * np.ptp(curve.highest)
    assert np.all(costs <= np.interp(entropies, curve.entropy, curve.highest) + rounding)
    assert np.all(costs >= np.interp(entropies, curve.entropy, curve.lowest) - rounding)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_both_bounds_are_reached(prior):
    (curve,) = partition_cost_data(prior, 40, 4)
    rounding = 1e-5 * np.ptp(curve.highest)
    for sizes, bound in [
        ((10, 10, 10, 10), curve.highest),
        ((4, 4, 4, 28), curve.highest),
        ((1, 3, 18, 18), curve.lowest),
    ]:
        reached = np.interp(entropy(sizes), curve.entropy, bound)
        assert reached == pytest.approx(cost_by_the_formula(prior, sizes), abs=rounding)
    width = curve.highest - curve.lowest
    assert width.max() > 100 * rounding
    np.testing.assert_allclose(width[[0, -1]], 0.0, atol=1e-9)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_costs_are_minus_log_probabilities_up_to_a_constant(prior):
    two, three = partition_cost_data(prior, 30, (2, 3))
    skewed_two, equal_three = np.repeat([0, 1], [29, 1]), np.repeat([0, 1, 2], 10)
    assert three.highest[-1] - two.highest[0] == pytest.approx(
        prior.log_probability(skewed_two) - prior.log_probability(equal_three)
    )


def test_entropy_runs_from_the_most_skewed_sizes_to_equal_ones():
    two, three = partition_cost_data(PRIORS[0], 100, [2, 3])
    assert [two.n_clusters, three.n_clusters] == [2, 3]
    assert two.entropy[0] == pytest.approx(entropy((1, 99)))
    assert three.entropy[0] == pytest.approx(entropy((1, 1, 98)))
    for curve in (two, three):
        assert np.all(np.diff(curve.entropy) > 0)
        assert curve.entropy[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(two.lowest, two.highest, atol=1e-9)


def test_one_cluster_and_singletons_are_points():
    one, singletons = partition_cost_data(PRIORS[2], 6, (1, 6))
    assert (one.entropy.tolist(), singletons.entropy.tolist()) == ([0.0], [pytest.approx(1.0)])
    assert one.highest[0] == one.lowest[0] == pytest.approx(cost_by_the_formula(PRIORS[2], (6,)))
    assert singletons.highest[0] == singletons.lowest[0] == pytest.approx(cost_by_the_formula(PRIORS[2], (1,) * 6))


def test_priors_without_a_cost_and_impossible_counts_are_refused():
    with pytest.raises(TypeError, match="known for DirichletProcess and PitmanYor; got FiniteMixtures"):
        partition_cost_data(FiniteMixtures(concentration=1.0), 10, 2)
    with pytest.raises(ValueError, match=r"needs a number as concentration, such as PitmanYor\(concentration=1.0\)"):
        partition_cost_data(PitmanYor(), 10, 2)
    with pytest.raises(ValueError, match="concentration must be a number greater than 0"):
        partition_cost_data(DirichletProcess(concentration=-1.0), 10, 2)
    with pytest.raises(ValueError, match="n_clusters must be at most n=10, since no cluster is empty; got 11"):
        partition_cost_data(PRIORS[0], 10, (2, 11))
    with pytest.raises(ValueError, match="n_clusters must be an integer of at least 1; got 0"):
        partition_cost_data(PRIORS[0], 10, 0)


def test_the_figure_of_the_paper():
    ax = partition_cost(PitmanYor(concentration=1.0, discount=0.5), 100, (2, 3, 4))
    assert ax.get_title("left") == "100 rows, Pitman-Yor process with concentration 1, discount 0.5"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 groups", "3 groups", "4 groups"]
    for line, curve in zip(ax.lines, partition_cost_data(PitmanYor(concentration=1.0, discount=0.5), 100, (2, 3, 4))):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.entropy, curve.highest]))
        assert line.get_ydata()[0] < line.get_ydata()[-1]
    assert len(ax.collections) == 3
    ax.figure.draw_without_rendering()


def test_given_axes_are_used_and_many_lines_differ():
    given = Figure().subplots()
    ax = partition_cost(DirichletProcess(concentration=1), 40, range(1, 16), ax=given)
    assert ax is given
    assert ax.get_title("left") == "40 rows, Dirichlet process with concentration 1"
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 15
