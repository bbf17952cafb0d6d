"""How many labels a base clustering has, where some do not occur."""

import numpy as np
import pytest
from tests.consensus.ensembles import GOLDEN, categorical, noisy_copies, quick, unconverged_is_fine
from tests.oracles.enumeration import exact_posterior, subset_log_marginals

import partita
from partita.consensus import BCE, MultinomialMixture
from partita.consensus.label_table import all_labels, label_table

pytestmark = [categorical, unconverged_is_fine]


@pytest.mark.parametrize(
    ("seen", "n_labels", "levels"),
    [
        ((0, 2), 4, (0, 1, 2, 3)),
        ((1, 4), 4, (1, 2, 3, 4)),
        ((), 2, (0, 1)),
        (("a", "b"), 2, ("a", "b")),
        (("a", "b"), 3, ("a", "b", "(does not occur: 1)")),
        ((7, 90), 3, (7, 90, "(does not occur: 1)")),
    ],
)
def test_labels_that_do_not_occur_are_known_or_counted(seen, n_labels, levels):
    assert all_labels("x0", seen, n_labels) == levels


def test_every_label_there_may_be_takes_its_share():
    """log p(y | posterior) by hand: one cluster, beta = 1, J = 5 instead of 3."""
    Y = np.array([[0], [0], [1], [2]])
    with pytest.warns(UserWarning, match="single clustering"):
        nbce = quick(prior="finite-dirichlet", n_components=1, engine="vb", pseudocount=1.0, n_labels=5).fit(Y)
    np.testing.assert_allclose(np.exp(nbce.score_samples(np.arange(5)[:, None])), [3 / 9, 2 / 9, 2 / 9, 1 / 9, 1 / 9])


def test_a_known_label_that_fit_did_not_see_is_no_stranger(tmp_path):
    Y, _ = noisy_copies()
    strange = Y[:3].copy()
    strange[0, 2] = 4
    nbce = quick(engine="vb", n_labels=[3, 3, 5, 3, 3, 3]).fit(Y)
    found = nbce.score_samples(strange)
    assert found[0] < found[1:].min()
    nbce.save(tmp_path / "nbce.partita")
    np.testing.assert_array_equal(partita.load(tmp_path / "nbce.partita").score_samples(strange), found)
    with pytest.warns(UserWarning, match="4"):
        missing = quick(engine="vb").fit(Y).score_samples(strange)
    assert missing[0] > found[0]


def test_the_posterior_is_that_of_so_many_labels():
    """By enumeration, and unmoved by the order of columns."""

    def exact(Y, n_labels):
        model = quick(learn=(), n_labels=n_labels, engine="vb").fit(Y)._model
        return exact_posterior(subset_log_marginals(model.likelihood, model.likelihood.rows(model.table)), model.prior)

    seen, more = exact(GOLDEN, None), exact(GOLDEN, [2, 6, 4])
    assert exact(GOLDEN, [2, 3, 2]).log_evidence == pytest.approx(seen.log_evidence, abs=1e-12)
    assert more.log_evidence < seen.log_evidence
    assert exact(GOLDEN[:, [2, 0, 1]], [4, 2, 6]).log_evidence == pytest.approx(more.log_evidence, abs=1e-12)


@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
def test_order_changes_nothing(engine):
    Y, _ = noisy_copies()
    n_labels, order = [3, 4, 3, 5, 3, 6], np.array([4, 0, 3, 5, 2, 1])
    given, turned = (quick(engine=engine, n_labels=n) for n in (n_labels, np.array(n_labels)[order].tolist()))
    given.fit(Y)
    turned.fit(Y[:, order])
    np.testing.assert_array_equal(given.labels_, turned.labels_)
    np.testing.assert_allclose(given.score_samples(Y), turned.score_samples(Y[:, order]), rtol=1e-12)


@pytest.mark.parametrize(
    "Y",
    [
        np.array([[0, 3], [2, 1], [2, -1], [0, 3]]),
        np.array([["c", "b"], ["a", "d"], ["a", ""], ["c", "b"]]),
        np.array([[True, 7], [False, "x"], [None, "x"], [True, -1]], dtype=object),
    ],
)
@pytest.mark.parametrize("n_labels", [4, [2, 3], [3, 5]])
def test_of_a_table_they_are_counted_as_of_what_it_was_read_from(Y, n_labels):
    if n_labels == [2, 3] and Y.dtype == int:
        n_labels = [3, 3]
    table, whole = label_table(label_table(Y), n_labels=n_labels), label_table(Y, n_labels=n_labels)
    assert table.schema == whole.schema
    np.testing.assert_array_equal(table.codes, whole.codes)
    assert table.fingerprint() == whole.fingerprint()
    again = label_table(table, n_labels=n_labels)
    assert again.schema == whole.schema
    np.testing.assert_array_equal(again.codes, whole.codes)
    assert label_table(table, schema=table.schema, n_labels=n_labels) is table


@pytest.mark.parametrize("kind", [MultinomialMixture, BCE])
def test_a_model_of_a_table_knows_labels_that_do_not_occur(kind):
    Y, _ = noisy_copies()
    of_table, plain = (
        kind(n_components=3, n_labels=5, n_init=2, random_state=0).fit(form) for form in (label_table(Y), Y)
    )
    assert of_table.table_.schema.n_levels.tolist() == [5] * 6
    np.testing.assert_array_equal(of_table.score_samples([[4] * 6]), plain.score_samples([[4] * 6]))


def test_nbce_of_a_table_knows_labels_that_do_not_occur():
    Y, _ = noisy_copies()
    of_table, plain = (quick(engine="vb", n_labels=5).fit(form) for form in (label_table(Y), Y))
    np.testing.assert_array_equal(of_table.score_samples(Y), plain.score_samples(Y))
    assert of_table.perplexity(Y) != quick(engine="vb").fit(label_table(Y)).perplexity(Y)


@pytest.mark.parametrize(
    ("n_labels", "words"),
    [
        (2, "Column 'x0' has 3 labels, and n_labels says 2"),
        ([3, 3], "n_labels has 2 numbers for 6 base clusterings"),
        (0, "n_labels must be a whole number of at least 1"),
        (2.5, "n_labels must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused(n_labels, words):
    Y, _ = noisy_copies()
    for form in (Y, label_table(Y)):
        with pytest.raises(ValueError, match=words):
            label_table(form, n_labels=n_labels)
