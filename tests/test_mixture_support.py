"""What a fitted mixture reports: groups that the draws hold, also after saving, and rows that harm nobody."""

import numpy as np
import pytest
from tests.volumes import long

import partita
from partita import Mixture
from partita.posterior import VI, Binder
from partita.priors import DirichletProcess, Gamma

WIDE = DirichletProcess(concentration=Gamma(1.0, 1.0))
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def random_categories():
    return np.array(list("abcd"), dtype=object)[np.random.default_rng(2).integers(0, 4, (50, 5))]


@pytest.fixture(scope="module")
def diffuse(random_categories):
    return Mixture(prior=WIDE, chains=2, draws=300, random_state=0).fit(random_categories)


@long
def test_random_categories_are_one_group_or_none(diffuse, random_categories):
    for model in (diffuse, Mixture(chains=2, draws=300, random_state=0).fit(random_categories)):
        assert model.n_clusters_ == 1
        assert model.estimate_.diffuse
        assert model.diagnostics_.groups == model.estimate_.verdict
        assert model.estimate_.verdict in str(model.diagnostics_)
    assert diffuse.estimate_.support_cost > 0.0


def test_without_support_there_are_no_more_groups_than_in_a_draw(random_categories):
    free = Mixture(prior=WIDE, chains=2, draws=300, min_support=0, random_state=0).fit(random_categories)
    assert free.n_clusters_ <= free.posterior_.partitions.n_clusters().max()
    assert free.estimate_.support_cost == 0.0


def test_what_the_draws_say_outlives_the_process(diffuse, tmp_path):
    diffuse.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.diagnostics_ == diffuse.diagnostics_
    assert again.estimate_.support_cost == diffuse.estimate_.support_cost
    assert again.estimate_.expected_loss == diffuse.estimate_.expected_loss
    np.testing.assert_array_equal(again.estimate_.support.together, diffuse.estimate_.support.together)


def test_a_row_with_one_cell_is_no_group_and_harms_nobody():
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(mean, 1.0, (40, 3)) for mean in (-6.0, 0.0, 6.0)])
    wanderer = np.vstack([x, [np.nan, np.nan, 3.0]])
    plain, with_it = (Mixture(chains=2, draws=300, random_state=0).fit(table) for table in (x, wanderer))
    assert plain.n_clusters_ == with_it.n_clusters_ == 3
    changes = np.abs(with_it.to_frame()["confidence"][:-1] - plain.to_frame()["confidence"])
    assert changes.max() <= 1 / 30


def test_loss_and_limits_are_those_of_the_posterior():
    x = np.random.default_rng(3).normal(size=(40, 2))
    model = Mixture(
        chains=2, draws=100, loss=Binder(a=1.2), entropy=2.0, max_clusters=3, min_size=4, min_support=0, random_state=1
    ).fit(x)
    found = model.posterior_.estimate(loss=Binder(a=1.2), entropy=2.0, max_clusters=3, min_size=4)
    assert model.estimate_.expected_loss == pytest.approx(found.expected_loss, abs=1e-12)
    assert np.bincount(model.labels_).min() >= 4
    assert model.n_clusters_ <= 3


def test_a_loss_with_options_is_saved(tmp_path):
    x = np.random.default_rng(4).normal(size=(20, 2))
    Mixture(chains=1, draws=20, loss=VI(a=0.5), random_state=0).fit(x).save(tmp_path / "model.partita")
    assert repr(partita.load(tmp_path / "model.partita").loss) == "VI(a=0.5)"


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("min_support", 1.5, "min_support must be a number from 0 to 1"),
        ("entropy", "much", "entropy must be a finite number"),
        ("max_clusters", "all", "max_clusters must be a whole number of at least 1 or 'n'"),
        ("min_size", 0, "min_size must be a whole number of at least 1"),
        ("loss", "vii", "loss must be one of"),
    ],
)
def test_wrong_options_are_refused(option, value, words):
    with pytest.raises(ValueError, match=words):
        Mixture(**{option: value}).fit(np.zeros((3, 1)))
