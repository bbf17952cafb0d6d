"""What every engine keeps to, those of others too: an engine is one class, known once it is defined."""

import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.oracles.enumeration import exact_posterior, subset_log_marginals
from tests.volumes import mostly_long, short_and_long

import partita
from partita import Mixture
from partita.engines import ENGINES, Engine
from partita.families import Gaussian
from partita.files.json_options import from_json, to_json
from partita.priors import DirichletProcess, FiniteDirichlet

BUILT_IN = tuple(ENGINES)
TOYS = ("enumerated", "one-row")
ROWS = pd.DataFrame(
    {"size": [0.1, 0.3, -0.2, 5.1, 4.8, np.nan, 0.0], "weight": [1.0, 1.2, 0.8, -3.0, np.nan, np.nan, 1.1]},
    index=list("abcdefg"),
)
FAMILY = Gaussian(covariance="diag", mean=0.0, mean_precision=0.2, dof=4.0, scale=2.0)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:1 row has no observed cell"),
]


@pytest.fixture(scope="module", autouse=True)
def toys():
    """The toys are known in this module only."""
    module = importlib.import_module("tests.contracts.toy_engines")
    yield module
    for name in TOYS:
        del Engine.known[name]
    del sys.modules["tests.contracts.toy_engines"]


def mixture(name, **options):
    prior = DirichletProcess(concentration=0.7) if ENGINES[name].finds_number else FiniteDirichlet(n_components=2)
    given = {"family": FAMILY, "prior": prior, "engine": name, "draws": 60, "chains": 2, "random_state": 3}
    return Mixture(**{**given, **options})


@pytest.mark.parametrize("name", [*BUILT_IN, *TOYS])
class TestEveryEngine:
    def test_options_come_back(self, name):
        engine = ENGINES[name]()
        engine.check()
        assert clone(engine) == engine == from_json(to_json(engine))

    def test_an_outcome_is_whole(self, name):
        weights = [1, 1, 1, 1, 1, 1, 0]
        model = mixture(name).fit(ROWS, sample_weight=weights)
        assert model.engine_ == ENGINES[name]()
        assert model.labels_.shape == (7,)
        assert model.labels_.min() == 0
        assert model.probabilities_.shape == (7, model.n_clusters_)
        np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)
        assert isinstance(model.converged_, bool | np.bool_)
        drawn = model.posterior_.draws
        assert ((drawn >= 0).all(axis=0) == [True, True, True, True, True, False, False]).all()
        assert model.labels_[0] == model.labels_[6]  # labelled as predict does
        assert model.predict(ROWS).shape == model.score_samples(ROWS).shape == model.novelty(ROWS).shape == (7,)
        assert list(model.to_frame().index) == list("abcdefg")
        assert model.table_.names == ("size", "weight")

    def test_the_seed_decides_and_the_number_of_threads_does_not(self, name):
        models = [mixture(name, n_jobs=n_jobs).fit(ROWS) for n_jobs in (1, 2)]
        first, second = models
        np.testing.assert_array_equal(first.posterior_.draws, second.posterior_.draws)
        np.testing.assert_array_equal(first.probabilities_, second.probabilities_)

    def test_files_hold_it(self, name, tmp_path):
        model = mixture(name).fit(ROWS)
        model.save(tmp_path / "model.partita")
        again = partita.load(tmp_path / "model.partita")
        assert again.engine_ == model.engine_
        assert again.converged_ == model.converged_
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.posterior_.draws, model.posterior_.draws)
        for ask in ("predict_proba", "score_samples", "novelty"):
            np.testing.assert_allclose(getattr(again, ask)(ROWS), getattr(model, ask)(ROWS), rtol=1e-9)
        notes = {name: value for name, value in vars(model).items() if name.endswith("_") and np.isscalar(value)}
        assert notes == {name: value for name, value in vars(again).items() if name in notes}


@mostly_long
@pytest.mark.parametrize("name", TOYS)
@short_and_long("n_draws", 500, 3000)
def test_an_engine_of_others_is_exact(name, n_draws):
    """The enumeration by definition, the chain within what its draws can tell."""
    model = mixture(name, draws=n_draws).fit(ROWS)
    taught = model._model.taught()
    exact = exact_posterior(subset_log_marginals(taught.likelihood, taught.shared_rows), taught.prior)
    seen = model._model.row_weights > 0
    found = np.asarray(model.posterior_.similarity())[np.ix_(seen, seen)]
    effective = np.inf if name == "enumerated" else model.diagnostics_.table["n_clusters"]["ess"]
    error = 1e-10 + 5.0 * 0.5 / np.sqrt(effective)
    np.testing.assert_allclose(found, exact.similarity(), atol=error)


def test_a_wrong_name_is_answered_with_the_names_of_others_too():
    with pytest.raises(ValueError, match=r"'em', 'enumerated', 'one-row'; got 'enumerate'\. Did you mean 'enumerated'"):
        Mixture(engine="enumerate").check()


def test_refusals_of_an_engine_of_others_reach_the_person():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="cannot enumerate 20 rows"):
        mixture("enumerated").fit(rows)
