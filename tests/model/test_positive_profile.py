"""Positive columns in profiles, centers and parameters: medians and factors in the user's units."""

import numpy as np
import pandas as pd
import pytest

from partita import Mixture
from partita.engines import EM
from partita.families import Gaussian, LogNormal
from partita.plots.em_iterations import em_iterations_data
from partita.runs.column_words import _overall

RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1], 60)
FRAME = pd.DataFrame({"income": np.exp(RNG.normal(6.0 + 3.0 * GROUP, 0.5)), "size": np.exp(RNG.normal(1.0, 0.4, 120))})


@pytest.fixture(scope="module")
def model():
    return Mixture(family=LogNormal(offset=2.0), engine="vb", column_steps=0.0, random_state=0).fit(FRAME)


def test_means_are_medians_and_deviations_factors(model):
    profile = model.profile_
    logs = Mixture(family=Gaussian(), engine="vb", column_steps=0.0, random_state=0).fit(np.log(FRAME + 2.0)).profile_
    assert set(profile["kind"]) == {"positive"}
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(profile[f"mean{end}"], np.exp(logs[f"mean{end}"]) - 2.0, rtol=1e-8)
        np.testing.assert_allclose(profile[f"sd{end}"], np.exp(logs[f"sd{end}"]), rtol=1e-8)
    np.testing.assert_allclose(profile["relevance"], logs["relevance"], atol=1e-8)


def test_centers_are_geometric_means(model):
    expected = [np.exp(np.log(FRAME[model.labels_ == k] + 2.0).mean()) - 2.0 for k in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-10)


def test_the_whole_table_is_compared_by_its_median_too(model):
    assert _overall(model.table_)["income", ""] == pytest.approx(np.exp(np.log(FRAME["income"] + 2.0).mean()) - 2.0)


def test_explanations_print_the_number(model):
    row = {"income": 1234.5, "size": 3.25}
    found = model.explain(row)
    assert found.values == pytest.approx(row)
    assert "1234.5" in str(found)


def test_parameters_of_em():
    engine = EM(keep_iterations=True)
    found = Mixture(family=LogNormal(), engine=engine, n_clusters=2, column_steps=0.0, random_state=0).fit(FRAME)
    of_logs = Mixture(family=Gaussian(), engine=engine, n_clusters=2, column_steps=0.0, random_state=0)
    of_logs.fit(np.log(FRAME))
    np.testing.assert_allclose(found.means_, np.exp(of_logs.means_), rtol=1e-8)
    np.testing.assert_allclose(found.covariances_, of_logs.covariances_, rtol=1e-8)
    last, expected = em_iterations_data(found)[-1], em_iterations_data(of_logs)[-1]
    assert last.columns == ("log income", "log size")
    np.testing.assert_allclose(last.points, expected.points, rtol=1e-8)
    np.testing.assert_allclose(last.responsibilities, expected.responsibilities, atol=1e-8)
