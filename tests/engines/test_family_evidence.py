"""``family="auto"`` chooses between a full and a diagonal covariance by evidence, and says and keeps which."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from partita import Mixture, load
from partita.engines.family_evidence import best_family
from partita.engines.runner import Plan
from partita.families import Categorical, Gaussian, Mixed
from partita.families.automatic import candidate_families
from partita.table import Table

FULL, DIAGONAL = Gaussian(covariance="full"), Gaussian(covariance="diag")
FULL_BESIDE = Mixed(families={"numeric": FULL})


def groups(n=240, d=4, *, correlation=0.0, n_groups=3, seed=0):
    """Groups 6 standard deviations apart in a random direction, columns with one correlation inside all of them."""
    rng = np.random.default_rng(seed)
    covariance = np.full((d, d), correlation) + (1.0 - correlation) * np.eye(d)
    labels = np.arange(n) % n_groups
    return 3.0 * rng.normal(size=(n_groups, d))[labels] + rng.multivariate_normal(np.zeros(d), covariance, n)


def collinear(seed=0):
    x = groups(seed=seed)
    return np.column_stack([x, x[:, 0] + x[:, 1], np.repeat([0.48, 1.0], [len(x) - 1, 1])])


def chosen(table, **how):
    """The family, without the shape that was learned for it."""
    table = Table.read(table, **how)
    return shapeless(best_family(candidate_families(table), table, Plan().begun(), fixed=False))


def shapeless(family):
    if isinstance(family, Mixed) and family.families:
        return Mixed(families={name: shapeless(one) for name, one in family.families.items()})
    return clone(family).set_params(shape=None) if isinstance(family, Gaussian) else family


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [2, 4, 8])
def test_correlated_columns_have_a_full_covariance_and_independent_ones_none(d, seed):
    assert chosen(groups(d=d, correlation=0.8, seed=seed)) == FULL
    if d > 2:  # a single free number more is no matter where groups overlap
        assert chosen(groups(d=d, seed=seed)) == DIAGONAL


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_rows_weigh_as_much_as_they_count(power):
    """At half of their weight one wide group accounts better for these than several of independent columns."""
    x = groups()
    options = {"engine": "vb", "power": power, "random_state": 0}
    full, diagonal = (Mixture(family=family, **options).fit(x).elbo_path_[-1] for family in (FULL, DIAGONAL))
    expected = FULL if full > diagonal else DIAGONAL
    assert expected == (DIAGONAL if power == 1.0 else FULL)
    assert shapeless(Mixture(**options).fit(x).family_) == expected


@pytest.mark.parametrize("seed", range(3))
def test_the_same_beside_categories(seed):
    words = np.random.default_rng(seed).choice(list("abc"), 240)
    for correlation, family in ((0.8, FULL_BESIDE), (0.0, Mixed())):
        frame = pd.DataFrame(groups(correlation=correlation, seed=seed)).assign(word=words)
        assert chosen(frame) == family


def test_a_column_that_is_the_sum_of_others_is_no_independent_one():
    """Leaving the sum out of account would count its columns twice; a column all but constant changes nothing."""
    assert chosen(collinear(), column_types={5: "numeric"}) == FULL
    assert chosen(collinear()) == FULL_BESIDE


@pytest.mark.parametrize(("n", "d"), [(20, 12), (60, 40), (400, 60)])
def test_few_rows_and_many_columns_leave_no_choice(n, d):
    assert candidate_families(Table.read(groups(n=n, d=d))) == [DIAGONAL]


@pytest.mark.parametrize("seed", range(3))
def test_twice_as_many_rows_as_columns_do_not_make_a_full_covariance(seed):
    assert chosen(groups(n=40, d=15, seed=seed)) == DIAGONAL


def test_other_tables_leave_no_choice():
    words = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
    assert candidate_families(Table.read(words)) == [Categorical()]
    assert candidate_families(Table.read(words.assign(c=[0.1, 0.25, 3.0, 4.0]))) == [Mixed()]


def test_missing_cells_and_many_rows():
    x = groups(n=3000, correlation=0.8)
    x[:, 1:][np.random.default_rng(1).random((3000, 3)) < 0.2] = np.nan
    assert chosen(x) == FULL


def test_a_fit_says_and_keeps_what_was_chosen(tmp_path):
    for correlation, family in ((0.8, FULL), (0.0, DIAGONAL)):
        x = groups(correlation=correlation)
        model = Mixture(engine="vb", random_state=0).fit(x)
        assert shapeless(model.family_) == family
        told = Mixture(engine="vb", family=model.family_, random_state=0).fit(x)
        np.testing.assert_array_equal(model.probabilities_, told.probabilities_)
        model.save(tmp_path / "model.partita")
        back = load(tmp_path / "model.partita")
        assert back.family_ == model.family_
        np.testing.assert_array_equal(back.predict_proba(x), model.predict_proba(x))


def test_where_time_is_short_the_shape_of_the_table_decides():
    table = Table.read(groups())
    assert best_family(candidate_families(table), table, Plan(max_time=1e-9).begun(), fixed=False) is None
    with pytest.warns(ConvergenceWarning):
        model = Mixture(engine="vb", max_time=1e-9, random_state=0).fit(groups())
    assert model.family_ == FULL
    assert "no time to weigh" in model.family_note_
    assert not hasattr(Mixture(engine="vb", random_state=0).fit(groups()), "family_note_")
