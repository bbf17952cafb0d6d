"""Newton-Raphson in the log of a positive parameter: the maximum is found, from wherever it starts."""

import math

import numpy as np
import pytest

from partita.priors.hyperpriors import Gamma, newton_on_log


@pytest.mark.parametrize("start", [1e-200, 1e-6, 0.3, 40.0, 1e150])
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (0.2, 30.0), (500.0, 1e-4)])
def test_density_of_log_is_largest_at_shape_over_rate(shape, rate, start):
    assert newton_on_log(Gamma(shape, rate).slopes_of_log, start) == pytest.approx(shape / rate, rel=1e-12)


def test_slopes_of_log_are_derivatives():
    gamma, log_x, step = Gamma(2.5, 0.7), 0.4, 1e-4
    low, middle, high = (gamma.log_density_of_log(log_x + shift) for shift in (-step, 0.0, step))
    value, gradient, curvature = gamma.slopes_of_log(log_x)
    assert value == middle
    assert gradient == pytest.approx((high - low) / (2 * step), rel=1e-7)
    assert curvature == pytest.approx((high - 2 * middle + low) / step**2, rel=1e-5)


def test_bounded_steps_where_the_curvature_is_no_help():
    def slopes(log_x):  # log of a Cauchy density: convex outside (2, 4), where Newton's step leads away
        apart = log_x - 3.0
        return -math.log1p(apart**2), -2 * apart / (1 + apart**2), 2 * (apart**2 - 1) / (1 + apart**2) ** 2

    for start in np.exp([-80.0, 1.9, 3.0, 4.2, 90.0]):
        assert math.log(newton_on_log(slopes, start)) == pytest.approx(3.0, abs=1e-12)


def test_a_place_that_is_not_better_is_not_taken():
    def slopes(log_x):  # slopes that lie
        return -log_x, 1.0, -1.0

    assert newton_on_log(slopes, 2.0) == pytest.approx(2.0)
