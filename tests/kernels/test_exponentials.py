"""Exponentials many at a time, against those one at a time."""

import numba
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.special import softmax as scipy_softmax

from partita.kernels import exponentials as kernels


@numba.njit
def exponentials(logs, top, powers, bits):
    kernels.exponentials(logs, top, powers, bits)


@numba.njit
def softmax(logs, powers, bits):
    return kernels.softmax(logs, powers, bits)


def work(size):
    powers = np.empty(size)
    return powers, powers.view(np.int64)


@pytest.mark.parametrize("size", [1, 3, 8, 1000])
def test_exponentials_are_exact_to_the_last_bits(size):
    x = -np.random.default_rng(size).uniform(0.0, 39.9, size)
    x[0] = 0.0
    found = 3.0 + x
    exponentials(found, 3.0, *work(size))
    np.testing.assert_allclose(found, np.exp((3.0 + x) - 3.0), rtol=4e-16)


def test_halves_of_powers_of_two_are_between_two_roundings():
    x = -np.log(2.0) * (np.arange(110) / 2.0 + 0.5 * (np.arange(110) % 2))[:57]
    found = x.copy()
    exponentials(found, 0.0, *work(x.size))
    np.testing.assert_allclose(found, np.exp(x), rtol=4e-16)


def test_what_is_far_below_is_nothing():
    logs = np.array([-1e308, 700.0, 659.99, 660.01, -np.inf, 0.0])
    exponentials(logs, 700.0, *work(6))
    np.testing.assert_array_equal(logs > 0.0, [False, True, False, True, False, False])
    assert logs[1] == 1.0


@pytest.mark.parametrize("size", [1, 2, 7, 64, 101])
@pytest.mark.parametrize("spread", [0.1, 3.0, 300.0])
def test_softmax_is_that_of_scipy(size, spread):
    logs = spread * np.random.default_rng(size).normal(size=size) - 1e4
    shares = logs.copy()
    log_sum, n_positive = softmax(shares, *work(size))
    assert log_sum == pytest.approx(logsumexp(logs), rel=1e-15)
    np.testing.assert_allclose(shares, scipy_softmax(logs), rtol=1e-12, atol=1e-17)
    assert n_positive == np.count_nonzero(shares)
    assert shares.sum() == pytest.approx(1.0, abs=1e-14)


def test_nothing_has_no_share():
    logs = np.array([0.0, np.log(3.0), -np.inf])
    assert softmax(logs, *work(3)) == (pytest.approx(np.log(4.0), rel=1e-15), 2)
    np.testing.assert_allclose(logs, [0.25, 0.75, 0.0], rtol=1e-15)
