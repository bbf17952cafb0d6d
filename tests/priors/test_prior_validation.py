"""Wrong parameters are refused when a prior is used, with the parameter, the value and the range."""

import numpy as np
import pytest

from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (DirichletProcess(concentration=0), ["concentration", "greater than 0", "got 0"]),
        (DirichletProcess(concentration="high"), ["concentration", "'high'"]),
        (DirichletProcess(concentration=True), ["concentration", "True"]),
        (DirichletProcess(concentration=np.inf), ["concentration", "inf"]),
        (DirichletProcess(concentration=Gamma(-1, 1)), ["Gamma's shape", "got -1"]),
        (DirichletProcess(concentration=Gamma(1, np.nan)), ["Gamma's rate", "nan"]),
        (PitmanYor(discount=1.0), ["discount", "[0, 1)", "1.0"]),
        (PitmanYor(discount=-0.1), ["discount", "[0, 1)", "-0.1"]),
        (PitmanYor(concentration=-0.3, discount=0.3), ["concentration", "greater than -0.3"]),
        (FiniteMixtures(mean_components=0.0), ["mean_components", "greater than 0"]),
        (FiniteMixtures(concentration=-1.0), ["concentration", "-1.0"]),
        (FiniteDirichlet(n_components=0), ["n_components", "at least 1", "got 0"]),
        (FiniteDirichlet(n_components=2.5), ["n_components", "integer", "2.5"]),
        (StickBreaking(n_components=-3), ["n_components", "-3"]),
        (StickBreaking(n_components=3, concentration=0.0), ["concentration", "0.0"]),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda p: p.expected_clusters(5),
        lambda p: p.log_probability([0, 0, 1]),
        lambda p: p.sample_partition(5, 0),
        lambda p: p.sample_weights(5, 0),
        lambda p: p.sample_measure(np.zeros, 5, 0),
        lambda p: p.cluster_count_distribution(5),
        lambda p: p.initial_concentration(),
    ],
)
def test_wrong_parameters_are_refused_in_use(prior, words, use):
    with pytest.raises(ValueError) as error:
        use(prior)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(
    ("kind", "k", "n", "others", "words"),
    [
        (DirichletProcess, 1, 10, {}, "between 1 and 10"),
        (DirichletProcess, 10, 10, {}, "between 1 and 10"),
        (DirichletProcess, 0.5, 10, {}, "got 0.5"),
        (PitmanYor, 11, 10, {"discount": 0.3}, "between 1 and 10"),
        (FiniteMixtures, 1.0, 10, {}, "between 1 and 10"),
        (FiniteDirichlet, 4, 100, {"n_components": 4}, "between 1 and 4"),
        (FiniteDirichlet, 3.9, 5, {"n_components": 4}, "between 1 and 3.05"),
        (StickBreaking, 4, 100, {"n_components": 4}, "between 1 and 3."),
        (StickBreaking, 1.2, 100, {"n_components": 1}, "between 1 and 1 "),
        (DirichletProcess, 2, 0, {}, "n must be an integer"),
        (FiniteMixtures, 10**4 - 1e-4, 10**4, {}, "components on average"),
    ],
)
def test_unreachable_expectations_are_refused(kind, k, n, others, words):
    with pytest.raises(ValueError) as error:
        kind.from_expected_clusters(k, n, **others)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("kind", "others"),
    [(DirichletProcess, {"concentration": 1.0}), (FiniteMixtures, {"mean_components": 1.0})],
)
def test_the_solved_parameter_cannot_be_given(kind, others):
    with pytest.raises(TypeError, match="solves for"):
        kind.from_expected_clusters(2, 10, **others)


@pytest.mark.parametrize("labels", [[0.5, 1.0], [[0, 1]], ["a", "b"]])
def test_labels_that_are_no_labelling_are_refused(labels):
    with pytest.raises(ValueError, match="labels must be"):
        DirichletProcess(concentration=1.0).log_probability(labels)


def test_tables_of_a_learned_concentration_ask_for_it():
    with pytest.raises(ValueError, match="pass the concentration"):
        DirichletProcess().tables(5)
    log_v, log_w = DirichletProcess().tables(5, concentration=2.0)
    assert log_v.shape == log_w.shape == (6,)


def test_stick_breaking_update_needs_all_components():
    with pytest.raises(ValueError, match="all 4 components"):
        StickBreaking(n_components=4).update(np.random.default_rng(0), np.array([3, 1]), 1.0)


@pytest.mark.parametrize("n", [-1, 2.5, 2.0, True, "5", None, np.nan])
@pytest.mark.parametrize(
    "use",
    [
        lambda p, n: p.sample_partition(n, 0),
        lambda p, n: p.sample_weights(n, 0),
        lambda p, n: p.sample_measure(np.zeros, n, 0),
        lambda p, n: p.cluster_count_distribution(n),
    ],
)
def test_numbers_of_rows_and_components_are_whole(n, use):
    with pytest.raises(ValueError, match="n must be an integer of at least 0"):
        use(DirichletProcess(concentration=1.0), n)


@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_more_components_than_memory_or_a_float_holds_are_refused(kind):
    with pytest.raises(ValueError, match="n_components must be an integer of at most"):
        kind(n_components=10**17).check()
