"""What holds of both models of labels that are told the number of components: `MultinomialMixture` and `BCE`."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import noisy_copies

from partita import Partitions
from partita.consensus import BCE, MultinomialMixture, add_label_noise, drop_labels
from partita.consensus.ensemble_estimator import METHODS

#: Three starts do on tables as small as these.
both = pytest.mark.parametrize(
    "kind", [partial(MultinomialMixture, n_init=3), partial(BCE, n_init=3)], ids=["mm", "bce"]
)


def gapped(seed=0):
    """Labels (90, 6) of three groups, a fifth of them missing, and the groups."""
    Y, truth = noisy_copies(rate=0.3, seed=seed)
    Y = drop_labels(Y, 0.2, seed)
    Y[(Y < 0).all(axis=1), 0] = 0
    return Y, truth


def shares_of(model):
    return list(model.shares_.values())


@both
def test_probabilities_of_all_labels_sum_to_one(kind):
    """Of BCE each is an estimate: to its error."""
    Y, _ = noisy_copies(60, n_clusterings=3, rate=0.3)
    model = kind(n_components=2, random_state=0).fit(Y)
    every = np.array(list(product(range(3), repeat=3)))
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, abs=0.01 if kind.func is BCE else 1e-12)


@both
@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_a_noise_free_ensemble_with_permuted_labels_returns_the_truth(kind, n_groups):
    rng = np.random.default_rng(n_groups)
    truth = np.repeat(np.arange(n_groups), 10 + np.arange(n_groups))
    Y = np.stack([rng.permutation(n_groups)[truth] for _ in range(5)], axis=1)
    model = kind(n_components=n_groups, random_state=0).fit(Y)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.n_clusters_ == n_groups
    assert model.perplexity(Y) < n_groups + 0.1


@both
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_noisy_copies_are_seen_through(kind, smoothing):
    Y, truth = noisy_copies(300, n_clusterings=10, rate=0.3)
    model = kind(n_components=3, smoothing=smoothing, random_state=0).fit(Y)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    np.testing.assert_array_equal(model.labels_, model.probabilities_.argmax(axis=1))
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)
    assert np.bincount(model.labels_).tolist() == sorted(np.bincount(model.labels_), reverse=True)


@both
def test_objects_of_fit_are_answered_as_new_ones_are(kind):
    Y, _ = gapped()
    Y[7] = -1
    with pytest.warns(UserWarning, match="1 object has no label"):
        model = kind(n_components=3, random_state=0).fit(Y)
    np.testing.assert_array_equal(model.predict(Y), model.labels_)
    np.testing.assert_array_equal(model.predict_proba(Y), model.probabilities_)
    assert model.labels_[7] == 0
    assert model.score_samples(Y)[7] == pytest.approx(0.0, abs=1e-12)
    alone = [model.predict_proba(Y[i : i + 1])[0] for i in range(10)]
    np.testing.assert_array_equal(alone, model.probabilities_[:10])
    assert model.score(Y) == pytest.approx(model.score_samples(Y).mean())
    frame = model.to_frame()
    np.testing.assert_allclose(frame["confidence"], model.probabilities_[np.arange(90), model.labels_])


@both
def test_neither_order_nor_names_matter(kind):
    Y, _ = gapped()
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(90), rng.permutation(6)
    names = np.array(["c", "a", "b", ""], dtype=object)  # -1 is the last
    model = kind(n_components=3, random_state=4).fit(Y)
    other = kind(n_components=3, random_state=4).fit(names[Y][rows][:, columns])
    np.testing.assert_array_equal(other.labels_, model.labels_[rows])
    np.testing.assert_array_equal(other.probabilities_, model.probabilities_[rows])
    np.testing.assert_array_equal(other._parameters.path, model._parameters.path)
    turned = names[Y][:, columns]
    np.testing.assert_array_equal(other.score_samples(turned), model.score_samples(Y))
    np.testing.assert_array_equal(other.predict(turned), model.predict(Y))
    for place, column in enumerate(columns):
        ours, theirs = model.shares_[f"x{column}"], other.shares_[f"x{place}"]
        np.testing.assert_array_equal(theirs, ours[:, [1, 2, 0]])  # "a", "b", "c" are labels 1, 2, 0


@both
def test_a_seed_repeats_and_one_start_more_is_no_worse(kind):
    Y, _ = noisy_copies(rate=0.3)
    first, second, third = (kind(n_components=3, random_state=3, n_init=n).fit(Y) for n in (2, 2, 6))
    np.testing.assert_array_equal(first.score_samples(Y), second.score_samples(Y))
    assert third._parameters.path[-1] >= first._parameters.path[-1] - 1e-3 * len(Y)


@both
def test_objects_given_twice_count_twice(kind):
    """With twice the smoothing all expected counts are doubled."""
    Y, _ = gapped()
    once, twice = kind(n_components=3, random_state=0, tol=1e-10), kind(n_components=3, smoothing=0.2, random_state=0)
    once.fit(Y)
    twice.set_params(tol=1e-10).fit(np.repeat(Y, 2, axis=0))
    np.testing.assert_array_equal(np.repeat(once.labels_, 2), twice.labels_)
    np.testing.assert_allclose(np.hstack(shares_of(twice)), np.hstack(shares_of(once)), atol=1e-3)


@both
def test_whatever_nbce_takes_is_taken(kind, tmp_path):
    Y, _ = gapped()
    words = pd.DataFrame(np.array(["fig", "plum", "pear", ""])[Y], columns=list("abcdef"))
    words.to_csv(tmp_path / "labels.csv", index=False)
    plain = kind(n_components=3, random_state=0).fit(Y)
    for same in (
        pd.DataFrame(Y, columns=list("abcdef")).replace(-1, np.nan),
        np.where(Y < 0, np.nan, Y),
        Y.tolist(),
        Partitions(Y.T),
        pl.DataFrame(Y, schema=list("abcdef")),
        pl.from_pandas(words).with_columns(pl.all().cast(pl.Categorical)),
        tmp_path / "labels.csv",
    ):
        np.testing.assert_array_equal(kind(n_components=3, random_state=0).fit(same).labels_, plain.labels_)


@both
def test_held_out_perplexity_is_finite_with_smoothing_and_may_be_infinite_without(kind):
    """A label that only one cluster has, beside one that only the other has."""
    Y = np.repeat([[0, 0], [1, 1]], 5, axis=0)
    strange = np.array([[0, 1], [0, 0]])
    smoothed = kind(n_components=2, random_state=0).fit(Y)
    assert np.isfinite(smoothed.perplexity(strange))
    likeliest = MultinomialMixture(n_components=2, smoothing=0.0, random_state=0).fit(Y)
    assert likeliest.score_samples(strange)[0] == -np.inf
    assert likeliest.perplexity(strange) == np.inf
    np.testing.assert_allclose(likeliest.predict_proba(strange)[0], likeliest.weights_)
    known = kind(n_components=2, smoothing=0.0, n_labels=3, random_state=0).fit(Y)
    assert known.perplexity([[2, 0]]) == np.inf
    assert np.isfinite(kind(n_components=2, n_labels=3, random_state=0).fit(Y).perplexity([[2, 0]]))


@both
def test_perplexity_is_that_of_the_scores(kind):
    Y, _ = gapped()
    model = kind(n_components=3, random_state=0).fit(Y)
    expected = np.exp(-model.score_samples(Y).sum() / np.count_nonzero(Y >= 0))
    assert model.perplexity(Y) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="no label at all"):
        model.perplexity(np.full((2, 6), -1))


@both
def test_the_default_smoothing_tells_labels_of_groups_well(kind):
    """Held-out labels of noisy copies: between the entropy of a label given the group and that of any label."""
    Y, _ = noisy_copies(400, n_clusterings=10, rate=0.3)
    model = kind(n_components=3, random_state=0).fit(Y[::2])
    given_group = np.exp(-(0.7 * np.log(0.7) + 0.3 * np.log(0.15)))  # at best: the group itself must be told too
    assert given_group < model.perplexity(Y[1::2]) < 3.0


@both
def test_a_label_not_seen_is_missing_or_refused(kind):
    Y, _ = noisy_copies()
    model = kind(n_components=3, random_state=0).fit(Y)
    strange = Y[:4].copy()
    strange[:, 2] = 9
    with pytest.warns(UserWarning, match="9"):
        found = model.predict_proba(strange)
    strange[:, 2] = -1
    np.testing.assert_array_equal(found, model.predict_proba(strange))
    with pytest.raises(ValueError, match="7"):
        clone(model).set_params(unseen="error").fit(Y).predict(np.full((1, 6), 7))


@both
def test_fewer_clusters_than_components_are_said(kind):
    with pytest.warns(UserWarning, match="Only 1 of 3 clusters: there are no more different objects"):
        model = kind(n_components=3, random_state=0).fit(np.zeros((6, 3), dtype=int))
    assert model.labels_.tolist() == [0] * 6
    assert model.n_clusters_ == 1
    assert model.predict([[0, 0, 0]]).tolist() == [0]
    rng = np.random.default_rng(0)
    Y = np.stack([add_label_noise(np.repeat([0, 1], 30), 0.02, rng) for _ in range(12)], axis=1)
    with pytest.warns(UserWarning, match="Only . of 9 clusters: the others are empty"):
        many = kind(n_components=9, random_state=0).fit(Y)
    assert many.n_clusters_ == many.labels_.max() + 1 < 9
    assert many.predict(Y).max() < many.n_clusters_
    assert many.predict_proba(Y).shape[1] == many.probabilities_.shape[1] >= many.n_clusters_


@both
def test_of_more_components_than_different_objects_many_are_empty(kind):
    Y, _ = noisy_copies()
    n_kinds = len(np.unique(Y, axis=0))
    with pytest.warns(UserWarning, match=r"Only \d+ of 90 clusters: the others are empty"):
        assert kind(n_components=90, random_state=0).fit(Y).n_clusters_ < n_kinds


@both
def test_parts_that_nothing_joins_are_joined_without_a_word(kind):
    Y = np.repeat([[0, 0], [1, 1], [2, 2], [2, 3]], 5, axis=0)
    assert kind(n_components=2, random_state=0).fit(Y).n_clusters_ == 2  # warnings are errors here


@both
def test_one_component_one_member_one_object_and_a_column_that_says_nothing(kind):
    Y, truth = noisy_copies(rate=0.1)
    assert not kind(n_components=1).fit(Y).labels_.any()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        one = kind(n_components=3, random_state=0).fit(truth[:, None])
        assert kind(n_components=1).fit(Y[:1]).labels_.tolist() == [0]
    assert "single clustering" in str(said[0].message)
    assert all(np.unique(one.labels_[truth == group]).size == 1 for group in range(3))
    for label in (5, -1):
        padded = kind(n_components=3, random_state=0).fit(np.column_stack([Y, np.full(90, label)]))
        assert adjusted_rand_score(truth, padded.labels_) > 0.95
        assert padded.shares_["x6"].tolist() == [[1.0]] * 3
        new = np.column_stack([Y[:5], np.full(5, -1)])
        np.testing.assert_array_equal(padded.predict_proba(new), padded.probabilities_[:5])
        np.testing.assert_array_equal(
            padded.score_samples(new), padded.score_samples(np.column_stack([Y, np.full(90, label)])[:5])
        )


@both
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": 91}, "n_components=91 is more than the 90 labelled objects"),
        ({"n_components": "auto"}, "n_components must be a whole number"),
        ({"smoothing": -0.1}, "smoothing must be a number of at least 0, got -0.1"),
        ({"smoothing": np.inf}, "smoothing must be a number of at least 0"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": None}, "tol must be a number of at least 0, got None"),
        ({"n_labels": 2}, "n_labels says 2"),
        ({"unseen": "skip"}, "unseen must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_wrong_options_are_refused(kind, options, words):
    model = kind(**{"n_components": 3} | options)
    with pytest.raises(ValueError, match=words):
        model.fit(noisy_copies()[0])
    assert not hasattr(model, "labels_")


@both
def test_what_is_not_fitted_says_so(kind):
    model = kind(n_components=2)
    for ask in (lambda: model.predict([[0, 1]]), lambda: model.shares_, lambda: model.perplexity([[0, 1]])):
        with pytest.raises(NotFittedError):
            ask()


@both
def test_too_few_iterations_are_said(kind):
    Y, _ = noisy_copies(rate=0.5)
    with pytest.warns(ConvergenceWarning, match="had not converged when max_iter=2 was reached, after 2 iterations"):
        model = kind(n_components=3, max_iter=2, random_state=0).fit(Y)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_they_are_known_by_their_short_names():
    assert METHODS["mm"] is MultinomialMixture
    assert METHODS["bce"] is BCE
