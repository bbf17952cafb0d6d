"""Many exponentials at once: what a processor does four or eight at a time, where calls of exp are one by one."""

import math

from partita.kernels.compiling import inner

REACH = 40.0  # nats below the largest term: exp(-40) of it is less than rounding
_LOG2_E = 1.4426950408889634
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # log 2 in two parts
_ROUND = 1.5 * 2.0**52  # added to a number it leaves the nearest whole one in the last bits
_BIAS, _EXPONENT = 1023, 52  # of a float's binary exponent, and where its bits begin


@inner(fastmath={"contract"})
def exponentials(logs, top, powers, bits):
    """Replace ``logs`` by exp(logs - top), by 0 where that is below exp(-40); no log may be above ``top``.

    exp(x) = 2^n exp(r), n the whole number nearest to x / log 2 and |r| <= log(2)/2, where thirteen terms of the
    series are exact to rounding. 2^n is made of its bits: ``powers`` is scratch, ``bits`` the same memory as int64.
    """
    for k in range(logs.shape[0]):
        x = logs[k] - top
        near = x > -REACH
        x = x if near else 0.0
        shifted = x * _LOG2_E + _ROUND
        powers[k] = shifted
        n = shifted - _ROUND
        series = _series((x - n * _LOG_2_HIGH) - n * _LOG_2_LOW)
        logs[k] = series if near else 0.0
    for k in range(logs.shape[0]):
        bits[k] = (bits[k] << _EXPONENT) + (_BIAS << _EXPONENT)
    for k in range(logs.shape[0]):
        logs[k] *= powers[k]


@inner(fastmath={"contract"}, forceinline=True)
def _series(r):
    """exp(r) by Horner's rule, r^13 / 13! its last term."""
    s = 1.0 / 6227020800.0
    s = s * r + 1.0 / 479001600.0
    s = s * r + 1.0 / 39916800.0
    s = s * r + 1.0 / 3628800.0
    s = s * r + 1.0 / 362880.0
    s = s * r + 1.0 / 40320.0
    s = s * r + 1.0 / 5040.0
    s = s * r + 1.0 / 720.0
    s = s * r + 1.0 / 120.0
    s = s * r + 1.0 / 24.0
    s = s * r + 1.0 / 6.0
    s = s * r + 0.5
    s = s * r + 1.0
    return s * r + 1.0


@inner
def softmax(logs, powers, bits):
    """Replace ``logs`` by shares in proportion to exp(logs), 0 below exp(-40) of the largest.

    Return log sum exp, and how many shares are above 0; ``powers`` and ``bits`` as in `exponentials`.
    """
    top = _largest(logs)
    exponentials(logs, top, powers, bits)
    total, n_positive = _sum_and_positives(logs)
    scale = 1.0 / total
    for k in range(logs.shape[0]):
        logs[k] *= scale
    return top + math.log(total), n_positive


@inner(fastmath={"nnan", "nsz", "reassoc"})
def _largest(values):
    """The largest of some numbers, none of them NaN."""
    top = values[0]
    for k in range(1, values.shape[0]):
        top = max(top, values[k])
    return top


@inner(fastmath={"reassoc"})
def _sum_and_positives(values):
    """The sum of some numbers, and how many are above 0."""
    total, n_positive = 0.0, 0
    for k in range(values.shape[0]):
        total += values[k]
        n_positive += values[k] > 0.0
    return total, n_positive
