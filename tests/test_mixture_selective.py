"""Mixture with a family whose clusters select columns: what it finds, answers, keeps and refuses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.volumes import long

import partita
from partita import Mixture
from partita.families import Categorical, Count, Gaussian, LogNormal, Mixed, Selective
from partita.families.selective import Selected
from partita.metrics import adjusted_rand
from partita.priors import Beta, FiniteDirichlet, Gamma

pytestmark = [
    pytest.mark.xdist_group("Selected"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
DIAGONAL = Gaussian(covariance="diag")
QUICK = {"chains": 2, "draws": 60, "warmup": 40, "random_state": 0}


def fitted(X, family=None, **options):
    return Mixture(**{"family": family or Selective(DIAGONAL), **QUICK, **options}).fit(X)


def in_two_subspaces(seed=0):
    """Two groups of 40 among 320 rows, told by five columns each, beside ten of noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(320, 20))
    rows[:40, :5], rows[40:80, 5:10] = rng.normal(1.0, 0.1, (40, 5)), rng.normal(-1.0, 0.1, (40, 5))
    return rows, np.repeat([1, 2, 0], [40, 40, 240])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=long), pytest.param(2, marks=long)])
def test_groups_are_found_by_the_columns_that_define_them(seed):
    rows, group = in_two_subspaces(seed)
    model = fitted(rows)
    assert adjusted_rand(group, model.labels_) > 0.95
    of_group = [model.inclusion_[model.labels_[np.flatnonzero(group == g)[0]]] for g in range(3)]
    assert of_group[1][:5].min() > 0.99
    assert of_group[2][5:10].min() > 0.99
    assert of_group[0].max() < 0.1
    for elsewhere in (of_group[1][5:], np.delete(of_group[2], range(5, 10))):
        assert np.mean(elsewhere) < 0.15
        assert np.median(elsewhere) < 0.05


@pytest.mark.parametrize("share", [0.5, Beta(1.0, 1.0)], ids=repr)
def test_a_table_without_structure_is_one_group_that_selects_nothing(share):
    rows = np.random.default_rng(3).normal(size=(150, 10))
    model = fitted(rows, Selective(DIAGONAL, share=share))
    assert model.n_clusters_ == 1
    assert model.inclusion_.max() < 0.1


@pytest.fixture(scope="module")
def of_every_kind():
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], 40)
    table = pd.DataFrame(
        {
            "noise": rng.normal(size=80),
            "visits": rng.poisson(np.where(group, 30, 2)),
            "same": np.ones(80),
            "colour": np.where(rng.random(80) < 0.9, np.where(group, "red", "blue"), "green"),
            "size": rng.normal(6.0 * group, 1.0),
            "word": np.array(["p", "q", "r"])[rng.integers(0, 3, 80)],
        }
    )
    table.loc[3, "size"], table.loc[5, "colour"] = np.nan, None
    with pytest.warns(UserWarning, match="constant"):
        return table, fitted(table, Selective(share=0.4), column_types={"visits": "count"})


def test_columns_are_in_the_order_of_the_table(of_every_kind):
    _, model = of_every_kind
    assert model.inclusion_.shape == (2, 6)
    np.testing.assert_array_equal(model.inclusion_[:, 2], 0.0)
    assert model.inclusion_[:, [1, 3, 4]].min() > 0.99
    assert model.inclusion_[:, [0, 5]].max() < 0.3
    profile = model.profile_.set_index(["cluster", "column"])["relevance"].groupby(level=[0, 1]).first()
    assert profile[0, "size"] > 1.0
    assert profile[0, "noise"] < 0.1


def test_answers_hold_together_and_files_keep_them(of_every_kind, tmp_path):
    table, model = of_every_kind
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.family_ == model.family_ == Selective(share=0.4)
    np.testing.assert_allclose(again.inclusion_, model.inclusion_, rtol=1e-12)
    for ask in ("predict_proba", "score_samples", "novelty"):
        np.testing.assert_allclose(getattr(again, ask)(table), getattr(model, ask)(table), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    found = model.explain(0)
    probabilities = model.predict_proba(table.iloc[[0]])[0]
    assert found.total == pytest.approx(np.log(probabilities[found.label] / probabilities[1 - found.label]), rel=1e-6)
    rows, labels = model.sample(50)
    assert list(rows.columns) == list(table.columns)
    assert labels.shape == (50,)


def test_what_is_learned_is_recorded(tmp_path):
    rows, _ = in_two_subspaces()
    family = Selective(Gaussian(covariance="diag", scale=Gamma(2.0, 2.0)), share=Beta(1.0, 3.0))
    model = fitted(rows[:120], family)
    assert {"scale", "share"} <= set(model.posterior_.traces)
    assert ((model.posterior_.traces["share"] > 0.0) & (model.posterior_.traces["share"] < 1.0)).all()
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.family_ == family
    np.testing.assert_allclose(again.inclusion_, model.inclusion_, rtol=1e-12)
    np.testing.assert_allclose(again.score_samples(rows), model.score_samples(rows), rtol=1e-9)


def test_powers_merged_groups_and_tied_rows():
    rows, group = in_two_subspaces()
    rows, group = rows[:160], group[:160]
    model = fitted(rows, power=0.8, n_clusters=2, prior=FiniteDirichlet(n_components=4))
    assert model.inclusion_.shape == (2, 20)
    engine = partita.engines.Gibbs(collapse_identical=True)
    collapsed = fitted(np.vstack([rows, rows[:40]]), engine=engine)
    assert adjusted_rand(group, collapsed.labels_[:160]) > 0.9


def test_a_column_of_many_zeros_is_selected_where_one_of_its_parts_is():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(120, 2))
    amounts = np.where(rng.random(120) < np.repeat([0.1, 0.9], 60), 0.0, np.exp(rng.normal(size=120)))
    model = fitted(
        pd.DataFrame({"a": rows[:, 0], "spent": amounts, "b": rows[:, 1] + np.repeat([0.0, 9.0], 60)}), Selective()
    )
    assert model.inclusion_.shape == (model.n_clusters_, 3)
    assert model.inclusion_[:, 1].min() > 0.9


@pytest.mark.parametrize("engine", ["vb", "cvb", "em"])
def test_engines_that_climb_refuse(engine):
    with pytest.raises(ValueError, match=r"Selective sums out which columns .* cannot do: pass engine='gibbs'\.$"):
        fitted(np.random.default_rng(0).normal(size=(20, 2)), engine=engine, n_clusters=2)


@pytest.mark.parametrize(
    ("family", "error", "words"),
    [
        (Selective(Gaussian()), ValueError, "cannot select full-covariance Gaussian columns one by one: take Gaussian"),
        (Selective(LogNormal(offset=9.0)), ValueError, "full-covariance Gaussian"),
        (Selective(Categorical()), ValueError, "reads categorical columns only"),
        (Selective("gaussian"), TypeError, "takes a family, got 'gaussian'"),
        (Selective(Selective()), TypeError, "takes a family, got Selective"),
        (Selective(DIAGONAL, share=1.0), ValueError, "between 0 and 1.*which is the family itself"),
        (Selective(DIAGONAL, share=0), ValueError, "between 0 and 1"),
        (Selective(DIAGONAL, share="half"), ValueError, "between 0 and 1"),
        (Selective(DIAGONAL, share=Beta(0.0, 1.0)), ValueError, "Beta's a must be a number greater than 0"),
        (Mixed(families={"x0": Selective()}), TypeError, "takes families of one kind of columns"),
    ],
    ids=repr,
)
def test_refusals(family, error, words):
    with pytest.raises(error, match=words):
        fitted(np.random.default_rng(0).normal(size=(20, 2)), family)


def test_column_weights_are_refused():
    words = np.array([["a", "p"], ["b", "q"], ["a", "q"]] * 5, dtype=object)
    with pytest.raises(ValueError, match="cannot select weighed categorical columns one by one"):
        fitted(words, Selective(Categorical(column_weight=0.5)))


def test_other_families_have_no_inclusion():
    model = fitted(np.random.default_rng(0).normal(size=(20, 2)), DIAGONAL)
    assert not hasattr(model, "inclusion_")
    with pytest.raises(AttributeError, match="inclusion_ is of family=Selective"):
        model.inclusion_  # noqa: B018


def test_it_is_a_parameter_object_with_a_base_inside():
    family = Selective(Count(shape=2.0), share=Beta(1.0, 2.0))
    assert clone(family) == family
    assert family.get_params()["base__shape"] == 2.0
    assert family.set_params(base__shape=3.0).base.shape == 3.0


def test_a_share_near_one_is_the_family():
    """Every column is then its own, whatever the background says."""
    family, table = Selective.examples()[0]
    near = Selective(family.base, share=1.0 - 1e-12).resolve(table)
    assert isinstance(near, Selected)
    plain = family.base.resolve(table)
    resp = np.random.default_rng(0).dirichlet(np.ones(3), table.n_rows)
    found = near.log_marginal(near.suffstats(near.rows(table), resp))
    np.testing.assert_allclose(found, plain.log_marginal(plain.suffstats(plain.rows(table), resp)), atol=1e-6)
