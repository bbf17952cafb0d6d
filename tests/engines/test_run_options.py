"""How long chains run is an option of the engine; those of an estimator are shortcuts to it."""

import numpy as np
import pytest

import partita
from partita import NBCE, Mixture
from partita.engines import EM, CollapsedVariational, Gibbs, Variational
from partita.priors import FiniteDirichlet

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ROWS = np.random.default_rng(2).normal(size=(20, 1))


@pytest.mark.parametrize("estimator", [Mixture, NBCE])
def test_the_engine_goes_before_the_estimator(estimator, tmp_path):
    rows = ROWS if estimator is Mixture else np.hstack([ROWS > 0, ROWS > 0.5]).astype(int)
    short = estimator(chains=3, draws=12, warmup=4, random_state=1).fit(rows)
    engine = Gibbs(chains=3, draws=12, warmup=4)
    own = estimator(engine=engine, chains=1, draws=7, random_state=1).fit(rows)
    np.testing.assert_array_equal(own.posterior_.partitions, short.posterior_.partitions)
    assert own.posterior_.partitions.shape[:2] == (3, 12)
    own.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.engine_ == engine
    np.testing.assert_array_equal(again.posterior_.partitions, own.posterior_.partitions)


def test_what_the_engine_leaves_open_the_estimator_says():
    model = Mixture(engine=Gibbs(thin=2), chains=2, draws=10, warmup=0, random_state=1).fit(ROWS)
    assert model.posterior_.partitions.shape[:2] == (2, 10)
    assert model.posterior_.provenance["sweeps"] == [20, 20]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chains": 0}, r"Gibbs\(chains=...\) must be a whole number of at least 1 or None, got 0"),
        ({"draws": "many"}, r"Gibbs\(draws=...\) must be .* or None or 'auto', got 'many'"),
        ({"warmup": -1}, r"Gibbs\(warmup=...\) must be a whole number of at least 0"),
        ({"thin": 1.5}, r"Gibbs\(thin=...\)"),
    ],
)
def test_options_outside_their_range(options, words):
    with pytest.raises(ValueError, match=words):
        Mixture(engine=Gibbs(**options)).check()


@pytest.mark.parametrize("engine", [EM, Variational, CollapsedVariational])
def test_other_engines_say_how_many_partitions_are_drawn(engine):
    prior = FiniteDirichlet(n_components=2)
    own = Mixture(engine=engine(draws=30), prior=prior, draws=7, random_state=1).fit(ROWS)
    shortcut = Mixture(engine=engine(), prior=prior, draws=30, random_state=1).fit(ROWS)
    np.testing.assert_array_equal(own.posterior_.partitions, shortcut.posterior_.partitions)
    assert own.posterior_.n_draws == 30
    with pytest.raises(ValueError, match=rf"{engine.__name__}\(draws=...\) must be a whole number of at least 1"):
        Mixture(engine=engine(draws=0), prior=prior).check()
