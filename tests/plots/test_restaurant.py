"""The plot of a restaurant: probabilities of the next seat, and nobody sits on anybody."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist
from tests.volumes import long, mostly_long

from partita.plots import restaurant, restaurant_data
from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet, Gamma, PitmanYor, StickBreaking

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]


@mostly_long
@pytest.mark.parametrize("prior", EXAMPLES, ids=repr)
def test_the_next_seat_has_the_ratio_of_partition_probabilities(prior):
    data = restaurant_data(prior, 9, random_state=2)
    now = prior.log_probability(data.labels)
    for table in range(data.sizes.size + 1):
        grown = prior.log_probability(np.append(data.labels, table))
        assert data.next_customer[table] == pytest.approx(np.exp(grown - now), abs=1e-9)
    assert data.next_customer.sum() == pytest.approx(1)
    np.testing.assert_array_equal(data.sizes, np.bincount(data.labels))
    restaurant(prior, 9, random_state=2).figure.draw_without_rendering()


def test_the_chinese_restaurant():
    data = restaurant_data(DirichletProcess(concentration=2.0), labels=[5, 5, 1, 5, 9])
    assert data.labels.tolist() == [0, 0, 1, 0, 2]
    np.testing.assert_allclose(data.next_customer, np.array([3, 1, 1, 2]) / 7)


def test_the_restaurants_relatives():
    discounted = restaurant_data(PitmanYor(concentration=1.0, discount=0.5), labels=[0, 0, 0, 1])
    np.testing.assert_allclose(discounted.next_customer, np.array([2.5, 0.5, 2.0]) / 5)
    full = restaurant_data(FiniteDirichlet(n_components=2, concentration=1.0), labels=[0, 0, 0, 1])
    np.testing.assert_allclose(full.next_customer, np.array([3.5, 1.5, 0.0]) / 5)


@pytest.mark.parametrize("concentration", [5.0, Gamma(5.0, 1.0)])
def test_many_tables_of_sticks_have_the_ratio_of_partition_probabilities(concentration):
    prior = StickBreaking(n_components=20, concentration=concentration)
    labels = np.repeat(range(9), [9, 7, 6, 5, 4, 3, 2, 1, 1])
    seats = restaurant_data(prior, labels=labels).next_customer
    opened = np.exp(prior.log_probability(np.append(labels, 9)) - prior.log_probability(labels))
    assert seats[-1] == pytest.approx(opened, abs=1e-9)
    assert seats[7] == seats[8]


def test_tables_of_many_different_sizes():
    prior, sizes = StickBreaking(n_components=24, concentration=3.0), np.arange(20, 0, -1)
    data = restaurant_data(prior, labels=np.repeat(np.arange(20), sizes))
    np.testing.assert_allclose(data.next_customer, np.exp(prior.log_seats(sizes, 3.0)), rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 14, 15, 40, 300])
@pytest.mark.parametrize("concentration", [0.05, 1.0, 40.0])
def test_nothing_overlaps(n, concentration):
    data = restaurant_data(DirichletProcess(concentration=concentration), n, random_state=4)
    apart = pdist(data.centres) - pdist(data.reach[:, None], lambda a, b: a[0] + b[0])
    assert np.all(apart > 0)
    if n > 1:
        # Customers are 0.86 wide.
        assert pdist(data.seats).min() > 0.86
    from_centre = np.linalg.norm(data.seats - data.centres[data.labels], axis=1)
    assert np.all(from_centre - 0.5 >= data.radii[data.labels] - 1e-12)
    assert np.all(from_centre + 0.5 <= data.reach[data.labels] + 1e-12)


def test_the_picture_holds_all_tables_and_says_who_sits():
    given = Figure(figsize=(6, 4)).subplots()
    ax = restaurant(DirichletProcess(concentration=1.0), 12, random_state=0, ax=given)
    assert ax is given
    data = restaurant_data(DirichletProcess(concentration=1.0), 12, random_state=0)
    assert len(ax.patches) == data.sizes.size + 1
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    reach = data.reach[:, None]
    assert np.all(data.centres - reach >= low - 1e-9)
    assert np.all(data.centres + reach <= high + 1e-9)
    written = [text.get_text() for text in ax.texts]
    assert set(map(str, range(1, 13))) <= set(written)
    assert "new" in written
    assert f"{data.next_customer[0]:.0%}" in written
    assert ax.get_title("left").startswith(f"12 customers at {data.sizes.size} tables")
    assert ax.get_title("left").endswith("(Dirichlet process with concentration 1)")


@long
def test_numbers_that_could_not_be_read_are_left_out():
    ax = restaurant(DirichletProcess(concentration=300.0), 2000, random_state=0)
    assert not ax.texts


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"labels": []}, "at least one customer"),
        ({"labels": [0, 1, 2]}, "no more tables than"),
        ({"labels": [0.5]}, "labels must be"),
    ],
)
def test_bad_input_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        restaurant_data(StickBreaking(n_components=2, concentration=1.0), **options)


def test_what_is_no_prior_is_refused():
    with pytest.raises(TypeError, match=r"prior must be a Prior, such as .*; got 5"):
        restaurant(5, 5)
