"""Label matrices at the edge: the right answer, or an error that says what to do."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.consensus.ensembles import GOLDEN, categorical, noisy_copies, quick, unconverged_is_fine
from tests.oracles.enumeration import exact_posterior, subset_log_marginals

pytestmark = [categorical, unconverged_is_fine]


def test_one_object():
    with pytest.warns(UserWarning, match="transposed"):
        nbce = quick().fit(np.array([[0, 4, 2]]))
    assert nbce.n_clusters_ == 1
    np.testing.assert_array_equal(nbce.labels_, [0])
    np.testing.assert_array_equal(nbce.probabilities_, [[1.0]])
    np.testing.assert_array_equal(nbce.base_agreement_, 0.0)


def test_one_object_and_one_clustering():
    with pytest.warns(UserWarning, match="single clustering"):
        assert quick().fit([["a"]]).labels_.tolist() == [0]


def test_one_clustering():
    """Two objects of a label never part, and the answer is a coarsening of the clustering."""
    column = np.repeat([0, 1, 2], [20, 30, 50])[:, None]
    with pytest.warns(UserWarning, match="single clustering"):
        labels = quick().fit(column).labels_
    assert all(len(set(labels[column[:, 0] == k])) == 1 for k in range(3))


def test_a_column_of_a_single_label_changes_no_probability():
    """By enumeration: the evidence and every pair of objects, with and without the column."""
    plain, padded = (
        exact_posterior(subset_log_marginals(model.likelihood, model.likelihood.rows(model.table)), model.prior)
        for model in (
            quick(learn=()).fit(GOLDEN)._model,
            quick(learn=()).fit(np.column_stack([np.full(6, 5), GOLDEN, [5, 5, 5, -1, -1, 5]]))._model,
        )
    )
    assert padded.log_evidence == pytest.approx(plain.log_evidence, abs=1e-10)
    np.testing.assert_allclose(padded.similarity(), plain.similarity(), atol=1e-12)
    nbce = quick().fit(np.column_stack([noisy_copies()[0], np.full(90, 5)]))
    assert nbce.base_agreement_[-1] == 0.0


def test_a_column_without_any_label_changes_nothing():
    Y, truth = noisy_copies()
    nbce = quick().fit(np.column_stack([Y, np.full(90, -1)]))
    assert adjusted_rand_score(truth, nbce.labels_) == 1.0
    assert nbce.base_agreement_[-1] == 0.0
    assert nbce.predict(np.array([[0] * 6 + [-1]])).shape == (1,)


def test_an_object_without_any_label_gets_the_answer_of_the_prior():
    Y, _ = noisy_copies()
    gapped = np.vstack([Y, np.full(6, -1)])
    with pytest.warns(UserWarning, match=r"1 object has no label in any clustering \(row 90\)"):
        nbce = quick().fit(gapped)
    assert nbce.labels_[90] == 0  # the largest cluster
    sizes = np.bincount(nbce.labels_[:90])
    np.testing.assert_allclose(nbce.probabilities_[90], sizes / sizes.sum(), atol=0.05)
    assert (nbce.posterior_.draws[:, 90] == -1).all()
    np.testing.assert_array_equal(nbce.predict_proba(gapped[-1:]), nbce.probabilities_[[90]])


def test_a_clustering_given_twice_counts_twice():
    Y, truth = noisy_copies(rate=0.03)
    nbce = quick().fit(np.column_stack([Y, Y[:, 0], 2 - Y[:, 0]]))
    assert adjusted_rand_score(truth, nbce.labels_) > 0.9
    np.testing.assert_allclose(nbce.base_agreement_[[6, 7]], nbce.base_agreement_[0], rtol=1e-12)


def test_more_clusterings_than_objects():
    Y, truth = noisy_copies(12, 2, 30, rate=0.05)
    with pytest.warns(UserWarning, match="12 objects .* 30 clusterings .* transposed"):
        nbce = quick().fit(Y)
    assert adjusted_rand_score(truth, nbce.labels_) == 1.0


def test_clusterings_without_overlap():
    """Objects of one clustering are all missing in the other: each half falls into its own labels."""
    Y = np.full((80, 2), -1)
    Y[:40, 0], Y[40:, 1] = np.repeat([0, 1], 20), np.repeat([0, 1], 20)
    nbce = quick().fit(Y)
    assert nbce.probabilities_.shape[0] == 80
    assert np.isfinite(nbce.perplexity(Y))


@pytest.mark.parametrize(
    ("Y", "words"),
    [
        (np.array([[0.0, 1.0], [0.5, 1.0]]), "'x0', row 1 holds 0.5"),
        (np.array([0, 1, 1]), "one dimension"),
        ([[0, 1], [1]], "differ in length"),
        (np.full((3, 2), -1), "No object has a label"),
    ],
)
def test_what_is_no_ensemble_is_refused(Y, words):
    nbce = quick()
    with pytest.raises(ValueError, match=words):
        nbce.fit(Y)
    assert not hasattr(nbce, "labels_")


def test_a_complete_ensemble_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=UserWarning, message="Chains|Too few")
        quick().fit(noisy_copies()[0])
