"""The estimate: what it says about itself, metamorphic pairs, refusals."""

import numpy as np
import pytest
from tests.posterior.slow import noisy_draws, slow_expected

from partita.partitions import canonical
from partita.posterior import LOSSES, VI, Posterior


def test_estimate_describes_itself():
    posterior = Posterior(noisy_draws(3))
    found = posterior.estimate()
    sizes = np.bincount(found.labels)
    assert found.labels.dtype == np.int64
    assert found.n_clusters == len(sizes) == found.probabilities.shape[1]
    assert np.all(np.diff(sizes) <= 0)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.confidence, found.probabilities[np.arange(40), found.labels])


def test_weights_are_repeated_draws():
    draws, times = noisy_draws(4), np.random.default_rng(4).integers(0, 4, size=30)
    weighted = Posterior(draws, weights=times).estimate()
    repeated = Posterior(np.repeat(draws, times, axis=0)).estimate()
    np.testing.assert_array_equal(weighted.labels, repeated.labels)
    assert weighted.expected_loss == pytest.approx(repeated.expected_loss)
    np.testing.assert_allclose(weighted.probabilities, repeated.probabilities)


def test_numbering_of_clusters_does_not_matter():
    draws = noisy_draws(5, missing=0.1)
    renumbered = np.where(draws < 0, -1, np.random.default_rng(5).permutation(50)[draws])
    first, second = Posterior(draws).estimate(), Posterior(renumbered).estimate()
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_allclose(first.probabilities, second.probabilities)


def test_permuted_objects_permute_the_estimate():
    draws, order = noisy_draws(6), np.random.default_rng(6).permutation(40)
    plain, permuted = Posterior(draws).estimate(), Posterior(draws[:, order]).estimate()
    assert plain.expected_loss == pytest.approx(permuted.expected_loss)
    np.testing.assert_array_equal(canonical(plain.labels[order]), canonical(permuted.labels))
    np.testing.assert_allclose(plain.confidence[order], permuted.confidence)


def test_the_order_of_draws_does_not_matter():
    draws, order = noisy_draws(3, share=0.4), np.random.default_rng(3).permutation(30)
    plain, permuted = Posterior(draws).estimate(), Posterior(draws[order]).estimate()
    np.testing.assert_array_equal(plain.labels, permuted.labels)
    assert plain.expected_loss == pytest.approx(permuted.expected_loss, abs=1e-12)


def test_objects_that_no_draw_labels_change_nothing():
    draws = noisy_draws(5, share=0.4)
    absent = np.array([0, 7, 8, 30, 40])
    wider = np.insert(draws, absent, -1, axis=1)
    plain, partial = Posterior(draws).estimate(), Posterior(wider).estimate()
    np.testing.assert_array_equal(np.insert(plain.labels, absent, -1), partial.labels)
    assert plain.expected_loss == pytest.approx(partial.expected_loss, abs=1e-12)
    assert np.isnan(partial.confidence[partial.labels < 0]).all()


def test_objects_that_few_draws_label_have_a_label():
    draws = noisy_draws(10)
    draws[1:, 3] = -1
    draws[4, 1:] = -1
    found = Posterior(draws).estimate()
    assert found.labels.min() == 0
    assert found.expected_loss == pytest.approx(slow_expected(VI(), found.labels, draws), abs=1e-12)


def test_one_draw_is_the_estimate_and_the_loss_may_be_an_object():
    found = Posterior([[3, 3, 1]]).estimate(loss=VI())
    assert found.expected_loss == 0.0
    np.testing.assert_array_equal(found.labels, [0, 0, 1])
    np.testing.assert_array_equal(found.confidence, [1.0, 1.0, 1.0])


def test_one_object_and_equal_draws():
    for loss in LOSSES:
        one = Posterior([[0], [0], [0]]).estimate(loss=loss)
        assert (one.expected_loss, one.n_clusters, one.labels.tolist()) == (0.0, 1, [0])
        same = Posterior([[0, 1, 1, 2]] * 3).estimate(loss=loss)
        assert same.expected_loss == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_array_equal(same.labels, [1, 0, 0, 2])


def test_effective_sample_size_is_that_of_the_weights():
    draws = noisy_draws(1)
    assert Posterior(draws).estimate().ess == pytest.approx(30)
    assert Posterior(draws, weights=[3.0, 1.0] + [0.0] * 28).estimate().ess == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "vii"}, r"loss must be one of 'vi', .*; got 'vii'. Did you mean 'vi'\?"),
        ({"max_clusters": 0}, "max_clusters must be a whole number of at least 1 or 'n', got 0"),
        ({"min_size": 2.5}, "min_size must be a whole number of at least 1, got 2.5"),
        ({"min_size": 3}, "min_size is 3, but there are only 2 labelled objects"),
        ({"runs": True}, "runs must be a whole number of at least 1, got True"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"random_state": -1}, "random_state must be None, a whole number >= 0, a RandomState or a Generator, got -1"),
    ],
)
def test_wrong_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        Posterior([[0, 1]]).estimate(**options)


def test_without_any_label_there_is_nothing_to_estimate():
    with pytest.raises(ValueError, match="No draw labels any object"):
        Posterior([[-1, -1]]).estimate()
