"""EM of label mixtures against its formulas. What holds of `BCE` too is in test_label_models."""

import warnings

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, xlogy
from tests.consensus.ensembles import noisy_copies
from tests.consensus.test_label_models import gapped, shares_of
from tests.volumes import long

from partita.consensus import MultinomialMixture
from partita.engines import EM

SMOOTHING = pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])


def log_joint(Y, weights, shares):
    """log pi_k prod_m theta_km[y_m], of the labels that there are."""
    logs = np.tile(np.log(weights), (len(Y), 1))
    with np.errstate(divide="ignore"):
        for column, own in zip(Y.T, shares):
            logs[column >= 0] += np.log(own.T[column[column >= 0]])
    return logs


def plain_iteration(Y, weights, shares, smoothing):
    """The E-step and the M-step by the formulas."""
    logs = log_joint(Y, weights, shares)
    resp = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    following = []
    for m, own in enumerate(shares):
        counts = np.stack([resp[Y[:, m] == j].sum(axis=0) for j in range(own.shape[1])], axis=1) + smoothing
        following.append(counts / counts.sum(axis=1, keepdims=True))
    return resp.mean(axis=0), following


def objective(Y, weights, shares, smoothing):
    """Log likelihood, and log densities of weights under Dirichlet(1) and of shares under Dirichlet(1 + smoothing)."""
    total = logsumexp(log_joint(Y, weights, shares), axis=1).sum()
    if smoothing:
        total += gammaln(weights.size)
        for own in shares:
            n_labels, each = own.shape[1], 1.0 + smoothing
            constant = gammaln(n_labels * each) - n_labels * gammaln(each)
            total += len(own) * constant + xlogy(smoothing, own).sum()
    return total


@SMOOTHING
def test_the_end_is_a_fixed_point_of_the_formulas(smoothing):
    Y, _ = gapped()
    model = MultinomialMixture(n_components=3, smoothing=smoothing, tol=1e-13, max_iter=5000, random_state=0).fit(Y)
    weights, shares = plain_iteration(Y, model.weights_, shares_of(model), smoothing)
    np.testing.assert_allclose(weights, model.weights_, atol=1e-6)
    np.testing.assert_allclose(np.hstack(shares), np.hstack(shares_of(model)), atol=1e-6)
    assert model.loglik_path_[-1] == pytest.approx(objective(Y, model.weights_, shares_of(model), smoothing), rel=1e-10)


@SMOOTHING
@pytest.mark.parametrize("n_components", [1, 3, 7])
def test_what_is_maximised_never_falls(smoothing, n_components, monkeypatch):
    """What every step says of the state that it is given, before any is left out of the path.

    With another number of components it is another function.
    """
    Y, _ = gapped()
    told, left, step = [], [], EM.step

    def raw(self, rng, state, model):
        following, info = step(self, rng, state, model)
        told.append(info.objective)
        left.append(info.n_clusters)
        return following, info

    monkeypatch.setattr(EM, "step", raw)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Only . of 7 clusters")
        model = MultinomialMixture(n_components=n_components, smoothing=smoothing, n_init=1, random_state=0).fit(Y)
    falls = np.diff(told) < -1e-10 * np.abs(told[1:])
    assert not falls[np.diff(left) == 0].any()
    assert len(told) == model.n_iter_ > 1
    assert set(model.loglik_path_) <= set(np.array(told)[np.array(left) == left[-1]])
    assert model.converged_


@pytest.mark.parametrize("smoothing", [0.1, pytest.param(0.0, marks=long), pytest.param(1.0, marks=long)])
def test_no_start_of_the_plain_formulas_gets_higher(smoothing):
    """Twenty random starts of a hundred iterations each."""
    Y, _ = noisy_copies(rate=0.15)
    model = MultinomialMixture(n_components=3, smoothing=smoothing, random_state=0).fit(Y)
    reached = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights, shares = np.full(3, 1 / 3), [rng.dirichlet(np.ones(3), 3) for _ in range(6)]
        for _ in range(100):
            weights, shares = plain_iteration(Y, weights, shares, smoothing)
        reached.append(objective(Y, weights, shares, smoothing))
    assert model.loglik_path_[-1] >= max(reached) - 1e-3


def test_smoothing_by_hand():
    """One component: (3 + s) / (4 + 2 s) of four labels."""
    Y = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    model = MultinomialMixture(n_components=1, smoothing=0.5).fit(Y)
    np.testing.assert_allclose(model.shares_["x0"], [[3.5 / 5, 1.5 / 5]])
    np.testing.assert_allclose(np.exp(model.score_samples([[1, 0]])), [1.5 / 5 * 2.5 / 5])


def test_a_missing_label_is_summed_out():
    Y, _ = noisy_copies(60, n_clusterings=3, rate=0.3)
    model = MultinomialMixture(n_components=2, random_state=0).fit(Y)
    some = np.array([[0, -1, 2]])
    each = [model.score_samples([[0, label, 2]])[0] for label in range(3)]
    assert model.score_samples(some)[0] == pytest.approx(logsumexp(each), abs=1e-12)
    assert model.score_samples([[-1, -1, -1]])[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.predict_proba([[-1, -1, -1]])[0], model.weights_)
