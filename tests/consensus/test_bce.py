"""BCE: where its fit ends, what it says of new objects, and against enumeration. More in test_label_models."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.consensus.ensembles import noisy_copies
from tests.oracles.mixed_membership import log_evidence

from partita.consensus import BCE, bce, drop_labels
from partita.consensus.bce_steps import BCESteps


def gapped(n=90, n_clusterings=6):
    """Labels of three groups, a fifth of them missing."""
    Y, _ = noisy_copies(n, n_clusterings=n_clusterings, rate=0.3)
    Y = drop_labels(Y, 0.2, 0)
    Y[(Y < 0).all(axis=1), 0] = 0
    return Y


def places(model, Y):
    """Labels by their places among those of all columns."""
    n_labels = model.table_.schema.n_levels
    return np.where(Y < 0, -1, Y + np.cumsum(n_labels) - n_labels)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_the_bound_is_below_the_evidence(smoothing):
    """The evidence of the fitted alpha and beta by enumeration; with smoothing the term of the shares is known."""
    Y = gapped(n_clusterings=4)
    model = BCE(n_components=3, smoothing=smoothing, random_state=0).fit(Y)
    assert model.bound_ == model.bound_path_[-1]
    shares = model.state_.shares
    smoothed = smoothing * np.log(shares).sum() if smoothing else 0.0
    evidence = log_evidence(places(model, Y), model.alpha_, shares).sum()
    assert model.bound_ - smoothed <= evidence
    assert model.bound_ - smoothed > evidence - 0.3 * len(Y)


def test_scores_are_the_log_probabilities_of_an_enumeration():
    """Within the error of the draws, which is small beside what objects differ by; and nearly without bias."""
    Y = gapped()
    model = BCE(n_components=3, random_state=0).fit(Y)
    errors = model.score_samples(Y) - log_evidence(places(model, Y), model.alpha_, model.state_.shares)
    assert np.abs(errors).max() < 0.1
    assert abs(errors.mean()) < 0.01
    one = model.score_samples([[2, -1, -1, -1, -1, -1]])
    exact = np.log(model.alpha_ @ model.shares_["x0"][:, 2] / model.alpha_.sum())
    np.testing.assert_allclose(one, exact, rtol=1e-12)


def test_one_more_iteration_of_its_steps_changes_nothing():
    """Objects begin as `predict` leaves them."""
    Y = gapped()
    model = BCE(n_components=3, random_state=0, tol=1e-12, max_iter=20_000).fit(Y)
    steps, state = model.steps_, model.state_
    objects = steps.encode(np.asarray(model.table_.codes), 3)
    for _ in range(300):
        steps.local_statistics(objects, state)
    following = steps.global_step(steps.local_statistics(objects, state), state)
    np.testing.assert_allclose(following.alpha, state.alpha, rtol=1e-3)
    np.testing.assert_allclose(following.shares, state.shares, atol=1e-4)
    assert following.bound == pytest.approx(model.bound_, rel=1e-6)


def test_memberships_are_posterior_means():
    Y = gapped()
    model = BCE(n_components=3, random_state=0).fit(Y)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.memberships_, model.probabilities_)
    n_labels, total = np.count_nonzero(Y >= 0, axis=1), model.alpha_.sum()
    assigned = model.memberships_ * (total + n_labels)[:, None] - model.alpha_
    np.testing.assert_allclose(assigned.sum(axis=1), n_labels)
    assert assigned.min() > -1e-9
    np.testing.assert_allclose(model.predict_proba([[-1] * 6])[0], model.alpha_ / total)


def test_objects_between_two_clusters_belong_to_both():
    """Ten of each of two clusters, and five that half of the base clusterings put into either."""
    Y = np.repeat([[0] * 8, [1] * 8, [0] * 4 + [1] * 4], [10, 10, 5], axis=0)
    model = BCE(n_components=2, random_state=0).fit(Y)
    assert (model.memberships_[:20].max(axis=1) > 0.9).all()
    between = model.memberships_[20:]
    assert (between.max(axis=1) < 0.6).all()


def test_many_objects_begin_with_a_sample_of_them(monkeypatch):
    """The end is that of all objects: as high as where all starts climb on all."""
    Y, _ = noisy_copies(600, n_clusterings=8, rate=0.3)
    whole = BCE(n_components=3, random_state=0).fit(Y)
    monkeypatch.setattr(bce, "MOST_SETTLING", 100)
    sampled = BCE(n_components=3, random_state=0).fit(Y)
    assert sampled.bound_ == pytest.approx(whole.bound_, rel=1e-4)
    assert (sampled.labels_ == whole.labels_).mean() > 0.97


@pytest.mark.parametrize("max_iter", [1, 2, 30])
def test_no_start_has_more_iterations_than_were_asked_for(max_iter, monkeypatch):
    """Those on a sample and those on all objects together; one at least is on all."""
    Y, _ = noisy_copies(400, n_clusterings=8, rate=0.4)
    monkeypatch.setattr(bce, "MOST_SETTLING", 100)
    done, local_statistics = [], BCESteps.local_statistics

    def told(self, objects, state):
        done.append(len(objects.weights))
        return local_statistics(self, objects, state)

    monkeypatch.setattr(BCESteps, "local_statistics", told)
    with pytest.warns(ConvergenceWarning, match=f"when max_iter={max_iter} was reached, after {max_iter} iteration"):
        model = BCE(n_components=3, n_init=1, max_iter=max_iter, tol=0.0, random_state=0).fit(Y)
    assert model.n_iter_ == max_iter == len(done)
    n_sampled = done.count(100)
    assert done == [100] * n_sampled + [max(done)] * (max_iter - n_sampled)
    assert max_iter > n_sampled == min(n_sampled, max_iter - 1)
    assert len(model.bound_path_) == max_iter - n_sampled


def test_what_leaves_the_range_of_numbers_is_refused():
    with pytest.raises(ValueError, match=r"BCE left the range of floating-point numbers: its bound is -inf\. Pass"):
        BCE(n_components=3, smoothing=1e307, random_state=0).fit(noisy_copies()[0])
