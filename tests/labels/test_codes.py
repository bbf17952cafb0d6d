"""Labels of any kind become codes in one place."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from partita.labels import coded, counted, is_missing, label_codes

MISSING = [-1, -1.0, np.int8(-1), Decimal(-1), None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT")]
PRESENT = [0, 1, -2, 0.5, True, False, "", "-1", "nan", b"-1", (-1,), (), float("inf"), pd.Timestamp("2020-01-01")]


@pytest.mark.parametrize("label", MISSING, ids=repr)
def test_what_is_no_label(label):
    assert is_missing(label)
    assert label_codes(["a", label, "b"]).tolist() == [0, -1, 1]


@pytest.mark.parametrize("label", PRESENT, ids=repr)
def test_what_is_one(label):
    assert not is_missing(label)
    assert label_codes([label, None, label, "other"]).tolist() == [0, -1, 0, 1]


@pytest.mark.parametrize(
    ("labels", "codes", "values"),
    [
        ([7, 3, -1, 7], [1, 0, -1, 1], [3, 7]),
        (np.array([7, 3, -1, 7], np.int8), [1, 0, -1, 1], [3, 7]),
        (np.array([2**64 - 1, 5, 5], np.uint64), [1, 0, 0], [5, 2**64 - 1]),
        ([2**70, -(2**70), 2**70], [0, 1, 0], [2**70, -(2**70)]),
        ([2**53, 2**53 + 1, 0.5], [0, 1, 2], [2**53, 2**53 + 1, 0.5]),
        ([0.2, 0.7, np.nan, 0.2], [0, 1, -1, 0], [0.2, 0.7]),
        ([np.inf, -np.inf, 0.0], [2, 0, 1], [-np.inf, 0.0, np.inf]),
        ([True, False, True], [1, 0, 1], [0, 1]),
        ([1, "1", 1.0, True], [0, 1, 0, 0], [1, "1"]),
        (["b", "a", None, "b"], [0, 1, -1, 0], ["b", "a"]),
        (np.array(["b", "a", "b"]), [0, 1, 0], ["b", "a"]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), [0, -1, 1], ["b", "a"]),
        (pd.Categorical(["b", None, "a"]), [0, -1, 1], ["b", "a"]),
        ([(1, 2), (3, 4), (1, 2)], [0, 1, 0], [(1, 2), (3, 4)]),
        (dict.fromkeys("abc").keys(), [0, 1, 2], ["a", "b", "c"]),
        ([], [], []),
        ([None, -1], [-1, -1], []),
    ],
)
def test_codes_and_what_they_stand_for(labels, codes, values):
    found, labels = coded(labels)
    assert found.tolist() == codes
    assert labels == values


def test_what_is_no_labelling():
    for wrong in ("aab", 3, None):
        with pytest.raises(TypeError, match="A labelling is a sequence"):
            coded(wrong)
    with pytest.raises(ValueError, match="one dimension"):
        coded([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="one dimension; got shape"):
        coded(np.zeros((2, 2)))


@pytest.mark.parametrize("spread", [1, 40, 10**6, 2**62])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_counting_off_is_ranking(spread, dtype):
    rng = np.random.default_rng(spread)
    numbers = (rng.integers(-1, 12, 200) * spread // 2).astype(dtype)
    codes, values = counted(numbers)
    expected = np.unique(numbers[numbers != -1])
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(expected[codes[codes >= 0]], numbers[numbers != -1])
    assert (codes[numbers == -1] == -1).all()
