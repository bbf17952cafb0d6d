"""What cannot be used is refused, in one sentence that says what, where and what to do."""

import numpy as np
import pytest
from tests.contracts.cases import counts, mixed_table, numbers, plain

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.table import Table

NUMBERS = plain(numbers(5, 2))
WORDS = Table.read(np.array([["a", "p"], ["b", "q"], ["b", "p"]], dtype=object))
COUNTS = counts(5, 2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"covariance": "ful"}, ValueError, r"covariance must be one of 'full', 'diag', 'known'; got 'ful'\. "
                                            r"Did you mean 'full'\?"),
        ({"covariance": None}, ValueError, "covariance must be one of"),
        ({"covariance": "known", "dof": 3.0}, ValueError, r"covariance='known'\) does not use dof: it reads mean, "
                                                          "variance, mean_variance"),
        ({"covariance": "known", "scale": 3.0}, ValueError, "does not use scale"),
        ({"covariance": "known", "mean_precision": 3.0}, ValueError, "does not use mean_precision"),
        ({"covariance": "diag", "variance": 1.0}, ValueError, r"covariance='diag'\) does not use variance"),
        ({"covariance": "full", "mean_variance": 1.0}, ValueError, r"covariance='full'\) does not use mean_variance"),
        ({"mean": [1.0, 2.0, 3.0]}, ValueError, r"mean must be a number or 2 numbers \(one per column\), got shape "
                                                r"\(3,\)"),
        ({"mean": [[1.0, 2.0]]}, ValueError, r"mean must be a number or 2 numbers .* got shape \(1, 2\)"),
        ({"mean": "big"}, TypeError, "mean must be a number or one number per column, got 'big'"),
        ({"mean": np.inf}, ValueError, "mean must be finite, got inf"),
        ({"dof": 1.0}, ValueError, "dof must be a finite number greater than 1, got 1.0"),
        ({"dof": [4.0, 4.0]}, TypeError, r"dof must be one number, got \[4.0, 4.0\]"),
        ({"dof": "4"}, TypeError, "dof must be one number, got '4'"),
        ({"mean_precision": 0.0}, ValueError, "mean_precision must be a finite number greater than 0"),
        ({"mean_precision": np.nan}, ValueError, "mean_precision must be a finite number greater than 0, got nan"),
        ({"scale": -1.0}, ValueError, "scale must be a finite number greater than 0, got -1.0"),
        ({"scale": [1.0, 2.0]}, ValueError, r"scale must be a number or a 2 x 2 matrix, got shape \(2,\)"),
        ({"scale": np.eye(3)}, ValueError, r"scale must be a number or a 2 x 2 matrix, got shape \(3, 3\)"),
        ({"scale": [[1.0, 0.5], [0.4, 1.0]]}, ValueError, "scale must be a symmetric positive definite matrix"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, ValueError, "scale must be a symmetric positive definite matrix"),
        ({"scale": [[1.0, np.nan], [np.nan, 1.0]]}, ValueError, "scale must be a symmetric positive definite"),
        ({"scale": "wide"}, TypeError, "scale must be"),
        ({"scale": [[1.0, 0.0], [0.0]]}, (TypeError, ValueError), "scale must be"),
        ({"covariance": "diag", "scale": np.eye(2)}, ValueError, r"scale must be .* got shape \(2, 2\)"),
        ({"covariance": "diag", "dof": -1.0}, ValueError, "dof must be positive and finite, got -1.0"),
        ({"covariance": "diag", "mean_precision": [1.0, 0.0]}, ValueError, "mean_precision must be positive"),
        ({"covariance": "known", "variance": 0.0}, ValueError, "variance must be positive and finite"),
        ({"covariance": "known", "mean_variance": [1.0]}, ValueError, "mean_variance must be a number or 2"),
    ],
    ids=str,
)  # fmt: skip
def test_gaussian_refuses(options, error, message):
    with pytest.raises(error, match=message):
        Gaussian(**options).resolve(NUMBERS)


@pytest.mark.parametrize(
    ("family", "table", "error", "message"),
    [
        (Categorical(pseudocount=0.0), WORDS, ValueError, "pseudocount must be positive and finite, got 0.0"),
        (Categorical(pseudocount=[1.0] * 3), WORDS, ValueError, "pseudocount must be a number or 2 numbers"),
        (
            Categorical(pseudocount="few"),
            WORDS,
            TypeError,
            "pseudocount must be a number or one number per col",
        ),
        (Count(shape=-2.0), COUNTS, ValueError, "shape must be positive and finite, got -2.0"),
        (Count(rate=[1.0, np.inf]), COUNTS, ValueError, "rate must be positive and finite"),
        (Count(rate="fast"), COUNTS, TypeError, "rate must be a number or one number per column, got 'fast'"),
    ],
    ids=repr,
)
def test_categorical_and_count_refuse(family, table, error, message):
    with pytest.raises(error, match=message):
        family.resolve(table)


@pytest.mark.parametrize(
    ("family", "table", "kind"),
    [
        (Gaussian(), WORDS, "numeric"),
        (Gaussian(), COUNTS, "numeric"),
        (Categorical(), NUMBERS, "categorical"),
        (Count(), NUMBERS, "count"),
    ],
    ids=repr,
)
def test_columns_of_another_kind_are_refused_by_name(family, table, kind):
    message = (
        rf"family={type(family).__name__} reads {kind} columns only, but 'x0', 'x1' are of another kind: "
        r"use family='auto' or Mixed\(\)"
    )
    for resolve in (family.resolve, family.resolve_fixed):
        with pytest.raises(ValueError, match=message):
            resolve(table)


def test_many_columns_of_another_kind_are_summed_up_and_one_is_singular():
    words = np.array([["a"] * 6, ["b"] * 6], dtype=object)
    with pytest.raises(ValueError, match="'x0', 'x1', 'x2' and 3 more columns are of another kind"):
        Gaussian().resolve(Table.read(words))
    with pytest.raises(ValueError, match="'x0' is of another kind"):
        Gaussian().resolve(Table.read(words[:, :1]))


@pytest.mark.parametrize(
    ("families", "error", "message"),
    [
        ({"nmueric": Gaussian()}, ValueError, r"key of Mixed\(families=...\) must be one of .*got 'nmueric'\. "
                                              r"Did you mean 'numeric'\?"),
        ({"x9": Gaussian()}, ValueError, "key of .* must be one of .*'x0'.*got 'x9'"),
        ({"x1": "gaussian"}, TypeError, r"takes families, got 'gaussian' for 'x1': pass for example Gaussian\(\)"),
        ({"x1": Mixed()}, TypeError, r"takes families of one kind of columns, got Mixed\(\) for 'x1': Mixed must set "
                                     r"kind to 'numeric', 'categorical', 'count' and implement on_columns\(table"),
        ({"x1": Categorical()}, ValueError, r"gives Categorical\(\) to 'x1', whose columns are numeric: "
                                            "use Gaussian or LogNormal, or set the column's type with column_types"),
        ({"x0": Gaussian()}, ValueError, r"gives Gaussian\(\) to 'x0', whose columns are categorical"),
        ({"count": Gaussian()}, ValueError, r"gives Gaussian\(\) to 'count', whose columns are count"),
        ({"x1": Gaussian(covariance="dag")}, ValueError, "Did you mean 'diag'"),
        ({"numeric": Gaussian(dof=-3.0)}, ValueError, "dof must be"),
        ({"x1": Gaussian(covariance="full", variance=1.0)}, ValueError, "does not use variance"),
        ({"x1": Gaussian(covariance="full", scale=np.eye(2))}, ValueError, "scale must be"),
        ({"x1": Gaussian(covariance="full", scale=-1.0)}, ValueError, "scale must be"),
        ({"x1": Gaussian(covariance="full", dof=0.0)}, ValueError, "dof must be"),
    ],
    ids=str,
)  # fmt: skip
def test_mixed_refuses(families, error, message):
    with pytest.raises(error, match=message):
        Mixed(families=families).resolve(mixed_table())


def test_mixed_does_not_ignore_a_column_label_that_is_a_number():
    pd = pytest.importorskip("pandas")
    table = Table.read(pd.DataFrame(numbers(6, 2), columns=[10, 20]), standardize=False)
    assert Mixed(families={"10": Gaussian(covariance="known")}).resolve(table).blocks[2].columns.tolist() == [0]
    try:
        by_label = Mixed(families={10: Gaussian(covariance="known")}).resolve(table)
    except (TypeError, ValueError):
        return
    assert by_label.blocks[2].columns.tolist() == [0]


@pytest.mark.parametrize("covariance", ["full", "diag", "known"])
def test_numbers_whose_squares_no_float_holds_are_refused(covariance):
    table = Table.read(np.array([[1.0], [2.0], [1e300]]), standardize=False)
    with pytest.raises(ValueError, match="squares of some numeric column leave the range of float64: standardize"):
        Gaussian(covariance=covariance).resolve(table)
