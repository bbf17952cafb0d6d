"""A fit that learns the scale of Gaussian groups: traces, files, predictions, profiles, the other engines."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from tests.volumes import mostly_long

from partita import Mixture, load
from partita.families import Categorical, Gaussian, Mixed
from partita.priors import DirichletProcess, FiniteDirichlet, Gamma

SCALE, PRECISION = Gamma(2.0, 3.0), Gamma(1.0, 4.0)
TABLES = {
    "full": Gaussian(scale=SCALE, mean_precision=PRECISION),
    "diag": Gaussian(covariance="diag", scale=SCALE, mean_precision=PRECISION),
    "mixed": Mixed(
        families={
            "a": Gaussian(scale=SCALE, mean_precision=0.1),
            "numeric": Gaussian(scale=SCALE, mean_precision=0.1),
            "categorical": Categorical(pseudocount=Gamma(1.0, 1.0)),
        }
    ),
}
NAMES = {
    "full": {"scale", "mean_precision"},
    "diag": {"scale", "mean_precision"},
    "mixed": {"full_scale", "diag_scale", "pseudocount"},
}
every_table = pytest.mark.parametrize("kind", TABLES)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def frame(kind):
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1], 15)
    found = pd.DataFrame(0.4 * rng.normal(size=(30, 3)) + 3.0 * group[:, None], columns=list("abc"))
    if kind == "mixed":
        found["word"] = np.where(rng.random(30) < 0.8, np.array(["p", "q"])[group], "r")
    return found


def fitted(kind, engine):
    options = {"draws": 20, "chains": 2, "warmup": 20} if engine == "gibbs" else {}
    return Mixture(family=TABLES[kind], engine=engine, random_state=0, **options).fit(frame(kind))


@mostly_long
@every_table
@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
def test_a_file_holds_what_was_learned(kind, engine, tmp_path):
    model, rows = fitted(kind, engine), frame(kind)
    learned = model._model.likelihood.learned
    start = TABLES[kind].resolve(model._model.table).learned
    assert learned.keys() == NAMES[kind]
    assert all(learned[name] != start[name] for name in learned)
    model.save(tmp_path / "model.partita")
    again = load(tmp_path / "model.partita")
    assert again.family == TABLES[kind]
    assert again._model.likelihood.learned == pytest.approx(learned, rel=1e-14)
    np.testing.assert_allclose(again.score_samples(rows), model.score_samples(rows), rtol=1e-12)
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
    pd.testing.assert_frame_equal(again.profile_, model.profile_)


@every_table
def test_traces_are_by_name(kind):
    traces = fitted(kind, "gibbs").posterior_.traces
    assert set(traces) == NAMES[kind] | {"n_clusters", "log_joint", "entropy", "concentration"}
    for name in NAMES[kind]:
        assert traces[name].shape == (2, 20)
        assert np.unique(traces[name]).size == 40


@every_table
def test_densities_average_over_draws_each_at_its_own_numbers(kind):
    model = fitted(kind, "gibbs")
    table, posterior = model._read(frame(kind)[:4]), model.posterior_
    per_draw = []
    for draw, labels in enumerate(posterior.draws):
        values = {name: float(trace.ravel()[draw]) for name, trace in posterior.traces.items()}
        likelihood = model._model.likelihood.with_learned(**{name: values[name] for name in NAMES[kind]})
        stats = likelihood.suffstats(likelihood.rows(model._model.table), np.eye(labels.max() + 2)[labels])
        own = likelihood.suffstats(likelihood.rows(table), np.eye(4))
        seats = model._model.prior.log_seats(np.bincount(labels), values["concentration"])
        terms = [likelihood.log_marginal(stats + row) - likelihood.log_marginal(stats) for row in own]
        per_draw.append(logsumexp(np.array(terms) + seats, axis=1))
    expected = logsumexp(per_draw, axis=0) - np.log(len(per_draw)) + table.log_jacobian()
    np.testing.assert_allclose(model.score_samples(frame(kind)[:4]), expected, rtol=1e-9)


@every_table
def test_the_bound_of_a_fit_never_falls(kind):
    model = fitted(kind, "vb")
    assert (np.diff(model.elbo_path_) >= -1e-9 * np.abs(model.elbo_path_[:-1])).all()
    assert model.n_clusters_ == 2


@every_table
def test_other_readings_of_a_fit(kind):
    model, rows = fitted(kind, "gibbs"), frame(kind)
    assert np.isfinite(model.profile_["relevance"]).all()
    assert np.isfinite(model.sample(5)[0].select_dtypes("number").to_numpy()).all()
    costs = model.posterior_.costs(table=rows, family=TABLES[kind], prior=DirichletProcess(concentration=1.0))
    assert np.isfinite(costs.total).all()
    assert model.posterior_.sensitivity([0.5, 1.0])
    assert clone(model).family == TABLES[kind]
    em = Mixture(family=TABLES[kind], engine="em", prior=FiniteDirichlet(n_components=2), random_state=0).fit(rows)
    assert em._model.likelihood.learned == TABLES[kind].resolve(em._model.table).learned


def test_options_of_the_hyperprior_are_set_by_name():
    model = Mixture(family=Gaussian(scale=Gamma(2.0, 3.0)))
    model.set_params(family__scale__rate=5.0)
    assert model.family.scale == Gamma(2.0, 5.0)
