"""The plot of EM at work: ellipses by Mahalanobis distance, responsibilities by scipy's densities."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from partita import Mixture
from partita.plots import em_iterations, em_iterations_data
from partita.plots.ellipses import outlines


def record(seed, n_components=3, d=3):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n_components, d, d)) + 0.5 * np.eye(d)
    units = 10.0 ** np.arange(d)
    return SimpleNamespace(
        weights=rng.dirichlet(np.ones(n_components)),
        means=rng.normal(size=(n_components, d)) * units,
        covariances=roots @ roots.transpose(0, 2, 1) * np.outer(units, units),
        objective=-500.0 + seed,
    )


def rows(n=80, d=3):
    return np.random.default_rng(9).normal(size=(n, d)) * 10.0 ** np.arange(d)


def test_ellipses_are_one_and_two_deviations_of_the_block_of_the_covariance():
    one = record(1)
    [data] = em_iterations_data([one], rows(), [2, 0])
    for k in range(3):
        block = one.covariances[k][np.ix_([2, 0], [2, 0])]
        np.testing.assert_array_equal(data.covariances[k], block)
        for deviations in (1.0, 2.0):
            away = outlines(data.means, data.covariances, deviations)[k] - one.means[k][[2, 0]]
            distance = np.sqrt(np.einsum("ij,jk,ik->i", away, np.linalg.inv(block), away))
            np.testing.assert_allclose(distance, deviations, rtol=1e-9)
            # the farthest and the nearest point are those of the eigenvectors
            values = np.linalg.eigvalsh(block)
            fine = outlines(data.means, data.covariances, deviations, 20001)[k] - one.means[k][[2, 0]]
            lengths = np.linalg.norm(fine, axis=1)
            assert lengths.max() == pytest.approx(deviations * np.sqrt(values[1]), rel=1e-6)
            assert lengths.min() == pytest.approx(deviations * np.sqrt(values[0]), rel=1e-3)


def test_what_is_drawn_are_these_ellipses():
    one = record(2)
    [ax] = em_iterations([one], rows(), n_panels=1)
    [data] = em_iterations_data([one], rows())
    drawn = [np.column_stack(line.get_data()) for line in ax.lines]
    expected = [outline for away in (1.0, 2.0) for outline in outlines(data.means, data.covariances, away)]
    np.testing.assert_allclose(drawn, expected)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_rows_are_coloured_by_responsibilities_in_all_columns():
    one, X = record(3), rows()
    X[4, 2] = np.nan
    [data] = em_iterations_data([one], X, [0, 1])
    joint = np.stack(
        [
            weight * stats.multivariate_normal(mean, covariance).pdf(np.nan_to_num(X))
            for weight, mean, covariance in zip(one.weights, one.means, one.covariances)
        ],
        axis=1,
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    expected[4] = np.nan
    np.testing.assert_allclose(data.responsibilities, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(data.points, X[:, :2])


def test_columns_that_are_no_numbers_leave_rows_grey():
    table = pd.DataFrame(rows(d=2), columns=["a", "b"]).assign(kind=np.tile(["x", "y"], 40))
    [data] = em_iterations_data([record(4, d=2)], table)
    assert np.isnan(data.responsibilities).all()
    assert data.columns == ("a", "b")
    em_iterations([record(4, d=2)], table)[0].figure.draw_without_rendering()


def test_panels_are_the_first_some_and_the_last_iteration():
    records = [record(seed, n_components=2 + seed % 2) for seed in range(64)]
    data = em_iterations_data(records, rows())
    assert [one.number for one in data] == [1, 4, 16, 64]
    for one in data:
        assert one.objective == records[one.number - 1].objective
        np.testing.assert_array_equal(one.weights, records[one.number - 1].weights)
        np.testing.assert_array_equal(one.means, records[one.number - 1].means[:, :2])
    assert [one.number for one in em_iterations_data(records[:2], rows())] == [1, 2]
    axes = em_iterations(records, rows(), n_panels=3)
    assert [ax.get_title("left") for ax in axes] == [
        "Iteration 1: objective -500.0",
        "Iteration 8: objective -493.0",
        "Iteration 64: objective -437.0",
    ]
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("x0", "x1")
    axes[0].figure.draw_without_rendering()


def test_of_many_rows_some_are_shown_and_incomplete_ones_left_out():
    X = rows(500)
    X[7, 1] = np.nan
    [data] = em_iterations_data([record(5)], X, most_rows=50)
    assert data.points.shape == (50, 2)
    [data] = em_iterations_data([record(5)], X)
    assert data.points.shape == (499, 2)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="the list is empty"):
        em_iterations([], rows())
    with pytest.raises(ValueError, match=r"need two numeric columns; got x0 only"):
        em_iterations([record(1, d=1)], rows(d=1))
    with pytest.raises(ValueError, match="means of 3 columns, and X has 2 numeric ones"):
        em_iterations([record(1)], rows(d=2))
    with pytest.raises(ValueError, match="n_panels must be a whole number"):
        em_iterations([record(1)], rows(), n_panels=0)
    with pytest.raises(ValueError, match="2 are needed, got 1"):
        em_iterations([record(1), record(2)], rows(), axes=[Figure().subplots()])
    with pytest.raises(ValueError, match=r"engine=EM\(keep_iterations=True\)"):
        em_iterations(Mixture())
    X = rows()
    X[::2, 0], X[1::2, 1] = np.nan, np.nan
    with pytest.raises(ValueError, match="No row has a cell in both columns 'x0' and 'x1'"):
        em_iterations([record(1)], X)
