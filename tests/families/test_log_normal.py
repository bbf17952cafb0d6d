"""Log-normal columns: the Gaussian of the logs, densities in the units of the numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm
from tests.contracts.cases import Waiting

import partita
from partita import Mixture
from partita.families import Categorical, Count, Gaussian, LogNormal, Mixed
from partita.table import Table

OFFSETS = [0.0, 1.5]
COVARIANCES = ["full", "diag", "known"]


def logs_of_three_groups(n=150, d=2, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    return rng.normal(2.0 + 3.0 * group[:, None], 0.6, (n, d)), group


def fitted(family, X, **options):
    return Mixture(family=family, random_state=0, **{"engine": "vb"} | options).fit(X)


def same_answers(found, expected, X, logs, offset, among=slice(None)):
    assert np.array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(logs), atol=1e-9)
    jacobian = np.nansum(np.log(np.asarray(X)[:, among].astype(float) + offset), axis=1)
    np.testing.assert_allclose(found.score_samples(X), expected.score_samples(logs) - jacobian, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("engine", ["vb", "em"])
def test_it_is_the_gaussian_of_the_logs(covariance, offset, engine):
    x = np.exp(logs_of_three_groups()[0]) - offset * 0.5
    logs = np.log(x + offset)
    options = {"column_steps": 0.0, "engine": engine, "n_clusters": 3 if engine == "em" else None}
    found = fitted(LogNormal(covariance=covariance, offset=offset), x, **options)
    same_answers(found, fitted(Gaussian(covariance=covariance), logs, **options), x, logs, offset)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_missing_cells_and_gibbs(covariance):
    x = np.exp(logs_of_three_groups(90)[0])
    x[::10, 0] = x[3::10, 1] = np.nan
    options = {"column_steps": 0.0, "engine": "gibbs", "draws": 100, "chains": 2}
    found = fitted(LogNormal(covariance=covariance), x, **options)
    same_answers(found, fitted(Gaussian(covariance=covariance), np.log(x), **options), x, np.log(x), 0.0)


def test_a_column_that_is_told_to_be_positive_is_the_same_model():
    x = np.exp(logs_of_three_groups()[0])
    told = fitted(Gaussian(), x, column_types={0: "positive", 1: "positive"})
    assert np.array_equal(fitted(LogNormal(), x).score_samples(x), told.score_samples(x))
    assert np.array_equal(fitted("log-normal", x).score_samples(x), told.score_samples(x))


@pytest.mark.parametrize("key", ["x0", "positive"])
def test_within_mixed(key):
    logs, group = logs_of_three_groups()
    rows = np.empty((150, 3), dtype=object)
    rows[:, 0], rows[:, 1], rows[:, 2] = np.exp(logs[:, 0]) - 1.0, logs[:, 1], np.array(["a", "b", "c"])[group]
    as_logs = rows.copy()
    as_logs[:, 0] = logs[:, 0]
    types = {0: "positive"} if key == "positive" else {}
    family = Mixed(families={key: LogNormal(offset=1.0), "categorical": Categorical()})
    found = fitted(family, rows, column_types=types, column_steps=0.0, guess_types=False)
    assert [column.kind for column in found.table_.schema.columns] == ["positive", "numeric", "categorical"]
    plain = Mixed(families={"x0": Gaussian(covariance="diag")})
    expected = fitted(plain, as_logs, column_steps=0.0, guess_types=False)
    if key == "x0":
        same_answers(found, expected, rows, as_logs, 1.0, among=slice(0, 1))
    else:
        assert np.array_equal(found.labels_, expected.labels_)


def test_one_matrix_over_numbers_and_positive_numbers():
    logs, _ = logs_of_three_groups(d=3)
    rows = np.column_stack([np.exp(logs[:, 0]), logs[:, 1:]])
    types = {0: "positive", 1: "numeric", 2: "numeric"}
    expected = fitted(Gaussian(), logs, column_steps=0.0)
    full = Gaussian(covariance="full")
    for families in (
        {"numeric": full},
        {"numeric": full, "positive": LogNormal()},
        {"numeric": full, "positive": full},
    ):
        found = fitted(Mixed(families=families), rows, column_types=types, column_steps=0.0)
        same_answers(found, expected, rows, logs, 0.0, among=slice(0, 1))
    with pytest.raises(ValueError, match="one matrix for all columns: give both the same dof"):
        fitted(Mixed(families={"numeric": full, "positive": LogNormal(dof=9.0)}), rows, column_types=types)


def test_density_of_one_column_is_that_of_scipy():
    x = np.exp(np.random.default_rng(1).normal(2.0, 0.7, 200))[:, None]
    model = fitted(LogNormal(), x, engine="em", n_clusters=1, column_steps=0.0)
    sd = np.sqrt(model.covariances_[0, 0, 0])
    expected = lognorm(s=sd, scale=model.means_[0, 0]).logpdf(x[:, 0])
    np.testing.assert_allclose(model.score_samples(x), expected, rtol=1e-10)


@pytest.mark.parametrize("offset", OFFSETS)
def test_new_rows_lie_above_minus_the_offset(offset):
    x = np.exp(logs_of_three_groups()[0]) - offset * 0.5
    model = fitted(LogNormal(offset=offset), x)
    for rows in (model.sample(500)[0], model.sample_prior(300)[0]):
        assert (rows >= -offset).all()
        assert np.isfinite(rows).all()
    np.testing.assert_allclose(
        np.median(np.log(model.sample(2000)[0] + offset)), np.median(np.log(x + offset)), atol=0.5
    )


def test_save_load_predict(tmp_path):
    x = pd.DataFrame(np.exp(logs_of_three_groups()[0]), columns=["income", "size"])
    model = fitted(LogNormal(offset=0.25), x)
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert np.array_equal(again.score_samples(x), model.score_samples(x))
    assert again.table_.schema == model.table_.schema
    assert again.family.offset == 0.25


def test_a_new_zero_is_missing_or_an_error():
    x = pd.DataFrame(np.exp(logs_of_three_groups()[0]), columns=["income", "size"])
    model = fitted(LogNormal(), x)
    gap = pd.DataFrame({"income": [np.nan], "size": [30.0]})
    with pytest.warns(UserWarning, match=r"1 cell holds a value not seen in fit.*0.0 in column 'income' \(row 0\)"):
        probabilities = model.predict_proba(gap.assign(income=0.0))
    assert np.array_equal(probabilities, model.predict_proba(gap))
    with pytest.raises(ValueError, match="not seen in fit"):
        fitted(LogNormal(), x, unseen="error").predict(gap.assign(income=0.0))


def test_zeros_are_refused_by_row_and_an_offset_helps():
    x = np.exp(logs_of_three_groups()[0])
    x[[4, 9], 1] = 0.0
    with pytest.raises(ValueError, match=r"'x1' is to hold positive numbers, but 2 cells \(rows 4, 9\).*offset=1.0"):
        fitted(LogNormal(), x)
    assert fitted(LogNormal(offset=1.0), x).n_clusters_ >= 1


def test_columns_and_offsets_that_it_cannot_read():
    x = np.exp(logs_of_three_groups()[0])
    with pytest.raises(ValueError, match="LogNormal reads positive columns, and 'x0' is read as numbers"):
        fitted(LogNormal(), x, column_types={0: "numeric"})
    with pytest.raises(ValueError, match=r"LogNormal\(offset=1.0\) does not fit the table, in which 'x0', 'x1' are"):
        fitted(LogNormal(offset=1.0), Table.read(x, positive=True))
    with pytest.raises(ValueError, match="offset must be a finite number of at least 0"):
        fitted(LogNormal(offset=-1.0), x)
    with pytest.raises(ValueError, match=r"LogNormal.covariance='diag'. does not use variance"):
        fitted(LogNormal(covariance="diag", variance=1.0), x)


def test_a_family_of_plain_numbers_refuses_logs():
    x = np.exp(logs_of_three_groups()[0])
    types = {0: "positive", 1: "positive"}
    for family in (Waiting(), Mixed(families={"numeric": Waiting()}), Mixed(families={"x0": Waiting()})):
        with pytest.raises(ValueError, match=r"Waiting reads numbers as they are, but 'x0'"):
            fitted(family, x, column_types=types)
    with pytest.raises(ValueError, match=r"gives Count.. to 'positive', whose columns are numeric"):
        fitted(Mixed(families={"positive": Count()}), x, column_types=types)
