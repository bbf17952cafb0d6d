"""The plot of broken sticks: pieces are weights, grey is the rest, priors share their luck."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.volumes import mostly_long

from partita.plots import stick_breaking, stick_breaking_data
from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet, Gamma, PitmanYor

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]


@mostly_long
@pytest.mark.parametrize("prior", EXAMPLES, ids=repr)
def test_pieces_and_rest_make_a_stick_for_every_prior(prior):
    (data,) = stick_breaking_data(prior, 6, draws=4, random_state=3)
    assert data.weights.shape == (4, 6)
    np.testing.assert_allclose(data.weights.sum(axis=1) + data.rest, 1, atol=1e-12)
    seeds = np.random.SeedSequence(3).spawn(4)
    drawn = [prior.sample_weights(6, np.random.default_rng(seed)) for seed in seeds]
    np.testing.assert_array_equal(data.weights, drawn)
    stick_breaking(prior, 6, random_state=3).figure.draw_without_rendering()


def test_priors_are_compared_with_the_same_random_numbers():
    same = DirichletProcess(concentration=2.0), PitmanYor(concentration=2.0, discount=0.0)
    first, second = stick_breaking_data(same, 5, random_state=1)
    np.testing.assert_allclose(first.weights, second.weights)
    assert first.name == "Dirichlet process\nconcentration 2"
    assert second.name == "Pitman-Yor process\nconcentration 2\ndiscount 0"


def test_names_are_options_or_what_the_mapping_says():
    priors = [FiniteDirichlet(n_components=4), FiniteDirichlet(n_components=4, concentration=Gamma(2.0, 0.5))]
    names = [one.name for one in stick_breaking_data(priors, 3)]
    assert names == ["concentration learned\n4 components", "concentration from Gamma(2, 0.5)\n4 components"]
    [printed] = stick_breaking_data(FiniteDirichlet(n_components=4, as_printed=True), 3)
    assert printed.name == "concentration learned\nas printed\n4 components"
    assert [one.name for one in stick_breaking_data({"few": priors[0], "many": priors[1]}, 3)] == ["few", "many"]


def test_bars_are_the_pieces():
    given = Figure().subplots()
    ax = stick_breaking({"a": DirichletProcess(concentration=3.0)}, 5, draws=2, random_state=0, ax=given)
    assert ax is given
    (data,) = stick_breaking_data(DirichletProcess(concentration=3.0), 5, draws=2, random_state=0)
    lengths = np.array([bar.get_width() for bar in ax.patches]).reshape(2, 6)
    np.testing.assert_allclose(lengths, np.column_stack([data.weights, data.rest]))
    starts = np.array([bar.get_x() for bar in ax.patches]).reshape(2, 6)
    np.testing.assert_allclose(starts[:, 1:], np.cumsum(lengths, axis=1)[:, :-1], atol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a"]
    assert ax.get_title("left") == "2 sticks each, broken into weights: grey is what 5 pieces leave"


def test_the_title_names_a_single_prior():
    ax = stick_breaking(DirichletProcess(concentration=1.0), 1, draws=1)
    assert ax.get_title("left") == (
        "A stick broken into weights: grey is what 1 piece leaves\n(Dirichlet process with concentration 1)"
    )


@pytest.mark.parametrize(
    ("prior", "options", "error", "words"),
    [
        ([], {}, ValueError, "no prior"),
        ({}, {}, ValueError, "no prior"),
        ([DirichletProcess(concentration=1.0)] * 2, {}, ValueError, "the same"),
        (["dirichlet-process"], {}, TypeError, "must be a Prior"),
        (5, {}, TypeError, "must be a Prior, a sequence or a mapping of them; got 5"),
        ({"five": 5}, {}, TypeError, "must be a Prior, a sequence or a mapping of them; got 5"),
        (DirichletProcess(), {"n": 0}, ValueError, "n must be a whole number"),
        (DirichletProcess(), {"draws": 1.5}, ValueError, "draws must be a whole number"),
        (DirichletProcess(), {"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_bad_input_is_refused(prior, options, error, words):
    with pytest.raises(error, match=words):
        stick_breaking_data(prior, **options)
