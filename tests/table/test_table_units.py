"""Centers, scales and weights: closed forms, repeated rows, and magnitudes at the edge of float64."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from partita.table import Table


@pytest.mark.filterwarnings("ignore:. rows? ha.* no observed cell:UserWarning")
def test_center_and_scale_are_mean_and_population_sd_of_observed_cells():
    rng = np.random.default_rng(1)
    values = rng.gamma(2.0, size=(200, 3)) * [1.0, 1e-6, 1e6]
    values[rng.random(values.shape) < 0.2] = np.nan
    table = Table.read(values, guess_types=False)
    np.testing.assert_allclose([c.center for c in table.schema.numeric], np.nanmean(values, axis=0), rtol=1e-13)
    np.testing.assert_allclose([c.scale for c in table.schema.numeric], np.nanstd(values, axis=0), rtol=1e-13)
    np.testing.assert_allclose(table.to_units(table.numeric), values, rtol=1e-12)


def test_without_standardisation_cells_stay_as_they_are():
    values = np.array([[1.0, 5.0], [np.nan, 9.0], [4.0, -2.0]])
    table = Table.read(values, standardize=False)
    np.testing.assert_array_equal(table.numeric, values)
    np.testing.assert_array_equal(table.log_jacobian(), [0.0, 0.0, 0.0])


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, size=60)
    frame = pd.DataFrame({"a": rng.normal(5.0, 3.0, 60), "s": rng.choice(["u", "v", "w"], 60)})
    frame.loc[rng.random(60) < 0.2, "a"] = np.nan
    weighted = Table.read(frame, sample_weight=weight)
    repeated = Table.read(frame.loc[np.repeat(np.arange(60), weight)])
    for mine, theirs in zip(weighted.schema.columns, repeated.schema.columns):
        assert mine.levels == theirs.levels
        np.testing.assert_allclose([mine.center, mine.scale], [theirs.center, theirs.scale], rtol=1e-13)
    np.testing.assert_allclose(np.repeat(weighted.numeric, weight, axis=0), repeated.numeric, atol=1e-12)


def test_rows_of_weight_zero_teach_nothing():
    frame = pd.DataFrame({"a": [1.0, 3.0, 99.0], "s": ["u", "u", "new"], "t": ["u", "v", "new"], "n": [4, 4, 5]})
    with pytest.warns(UserWarning, match=r"2 constant columns.*'s', 'n'"):
        table = Table.read(frame, sample_weight=[1, 1, 0], column_types={"n": "count"})
    assert (table.schema.numeric[0].center, table.schema.numeric[0].scale) == (2.0, 1.0)
    assert table.schema.categorical[0].levels == ("u", "v")
    np.testing.assert_array_equal(table.codes[:, 0], [0, 1, -1])
    np.testing.assert_array_equal(table.numeric[:, 0], [-1.0, 1.0, 97.0])


@pytest.mark.parametrize("magnitude", [1e300, 1.7e308, 1e-300, 1e-307])
def test_extreme_magnitudes_standardise_and_come_back(magnitude):
    values = np.array([[-1.0], [1.0], [0.5], [-0.25]])
    table = Table.read(values * magnitude)
    plain = Table.read(values)
    np.testing.assert_allclose(table.numeric, plain.numeric, rtol=1e-9)
    np.testing.assert_allclose(table.to_units(table.numeric), values * magnitude, rtol=1e-9)
    assert np.isfinite(table.log_jacobian()).all()


def test_range_wider_than_float64_stays_finite():
    values = np.array([[-1.7e308], [1.7e308], [1.7e308]])
    table = Table.read(values)
    np.testing.assert_allclose(table.numeric[:, 0], [-np.sqrt(2), np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-12)
    np.testing.assert_allclose(table.to_units(table.numeric), values, rtol=1e-12)


def test_neighbouring_floats_far_from_zero_are_told_apart():
    base = 1e9
    values = np.array([[base], [np.nextafter(base, np.inf)]] * 3)
    table = Table.read(values)
    assert np.isfinite(table.numeric).all()
    assert len(np.unique(table.numeric)) == 2


def test_spread_below_float64_gets_scale_one():
    table = Table.read(np.array([[5e-324], [0.0], [0.0], [0.0], [0.0], [0.0]]))
    assert table.schema.numeric[0].scale == 1.0


def test_log_jacobian_turns_stored_densities_into_users_densities():
    rng = np.random.default_rng(3)
    values = rng.normal([10.0, -4.0], [0.01, 300.0], size=(50, 2))
    values[::7, 0] = np.nan
    table = Table.read(values)
    center = np.array([c.center for c in table.schema.numeric])
    scale = np.array([c.scale for c in table.schema.numeric])
    stored = np.nansum(stats.norm.logpdf(table.numeric), axis=1)
    users = np.nansum(stats.norm.logpdf(values, center, scale), axis=1)
    np.testing.assert_allclose(stored + table.log_jacobian(), users, rtol=1e-11)


def test_log_jacobian_without_numeric_columns_is_zero():
    np.testing.assert_array_equal(Table.read([["a"], ["b"]]).log_jacobian(), [0.0, 0.0])


def test_column_order_and_memory_layout_do_not_change_a_column():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(1000, 3))
    table = Table.read(values)
    swapped = Table.read(np.asfortranarray(values[:, ::-1]))
    np.testing.assert_array_equal(table.numeric, swapped.numeric[:, ::-1])
