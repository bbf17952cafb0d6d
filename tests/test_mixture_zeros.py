"""Fits of tables with columns of which many cells are 0."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import partita
from partita import Mixture
from partita.families import Gaussian, Mixed

RNG = np.random.default_rng(4)
GROUP = RNG.integers(0, 2, 200)
NOTHING = RNG.random(200) < np.where(GROUP == 1, 0.9, 0.15)
NO_VISIT = RNG.random(200) < np.where(GROUP == 1, 0.6, 0.2)
TABLE = pd.DataFrame(
    {
        "spent": np.where(NOTHING, 0.0, np.exp(RNG.normal(3 + GROUP, 0.5))).round(2),
        "visits": np.where(NO_VISIT, 0.0, np.exp(RNG.normal(1, 0.8, 200))).round(2),
        "age": RNG.normal(40 + 25 * GROUP, 7),
    }
)
ENGINES = {"gibbs": {"max_time": 20}, "vb": {}, "cvb": {}, "em": {"n_clusters": 2}}


@pytest.fixture(scope="module")
def fits():
    return {name: Mixture(engine=name, random_state=0, **options).fit(TABLE) for name, options in ENGINES.items()}


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_answers_and_files_speak_of_the_columns_that_came_in(fits, engine, tmp_path):
    model = fits[engine]
    assert model.n_features_in_ == 3
    assert list(model.feature_names_in_) == ["spent", "visits", "age"]
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(GROUP, model.labels_) > 0.85
    new = model.sample(50)[0]
    assert list(new) == ["spent", "visits", "age"]
    assert 5 < (np.asarray(new["spent"]) == 0).sum() < 45
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    rows = pd.DataFrame({"age": [30.0, 70.0], "visits": [2.5, 0.0], "spent": [20.0, 0.0]})[["spent", "visits", "age"]]
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    assert len(set(model.predict(rows))) == 2


def test_profiles_tell_how_often_nothing_and_how_much_otherwise(fits):
    profile = fits["vb"].profile_
    older = fits["vb"].predict(TABLE.iloc[[int(np.argmax(TABLE["age"]))]])[0]
    of_older = profile[profile["cluster"] == older].set_index("column")
    flag = of_older.loc["spent is 0"].set_index("category")
    share = NOTHING[GROUP == 1].mean()
    assert flag.loc["yes", "share"] == pytest.approx(share, abs=0.06)
    amounts = TABLE["spent"][(GROUP == 1) & ~NOTHING]
    assert of_older.loc["spent", "mean"] == pytest.approx(np.exp(np.log(amounts).mean()), rel=0.4)
    assert of_older.loc["spent", "n_observed"] == (TABLE["spent"][fits["vb"].labels_ == older] > 0).sum()


def test_centers_are_plain_means_with_zeros(fits):
    model = fits["vb"]
    for k, center in enumerate(model.cluster_centers_):
        members = TABLE[model.labels_ == k]
        assert center.tolist() == pytest.approx(members.mean().tolist())


def test_an_explanation_has_one_line_per_column_and_sums_to_the_log_odds(fits):
    model = fits["vb"]
    row = {"spent": 0.0, "visits": 1.0, "age": 55.0}
    said = model.explain(row)
    assert said.values == pytest.approx(row)
    assert set(said.log_weights) == set(row)
    odds = np.log(model.predict_proba(pd.DataFrame([row]))[0])
    total = said.prior + sum(said.log_weights.values())
    assert total == pytest.approx(odds[said.label] - odds[said.runner_up], abs=1e-6)


def test_densities_are_shares_of_zeros_times_densities_of_amounts(fits):
    model = fits["vb"]
    grid = np.exp(np.linspace(-4, 12, 4001))
    rows = pd.DataFrame({"spent": grid, "visits": np.nan, "age": np.nan})
    of_amounts = np.trapezoid(np.exp(model.score_samples(rows)), grid)
    of_zero = float(np.exp(model.score_samples(rows[:1].assign(spent=0.0)))[0])
    assert of_amounts + of_zero == pytest.approx(1.0, abs=1e-3)
    assert of_zero == pytest.approx(NOTHING.mean(), abs=0.05)


def test_a_family_of_numbers_reads_them_as_they_are():
    model = Mixture(family=Gaussian(covariance="diag"), engine="vb", random_state=0).fit(TABLE)
    assert not model.table_.schema.zero_flags


def test_columns_apart_are_all_that_rows_are():
    model = Mixture(family=Mixed(), engine="vb", random_state=0).fit(TABLE)
    steps, state = model.steps_, model.state_
    loglik = sum(steps.column_loglik(TABLE[name].to_numpy(), state, m) for m, name in enumerate(TABLE))
    resp = steps.responsibilities(loglik, state)
    parts = [steps.column_statistics(TABLE[name].to_numpy(), resp, m) for m, name in enumerate(TABLE)]
    joined, whole = steps.join_columns(loglik, parts, state), steps.local_statistics(TABLE, state)
    np.testing.assert_allclose(joined.stats, whole.stats, atol=1e-8)
    np.testing.assert_allclose(joined.log_total, whole.log_total)
