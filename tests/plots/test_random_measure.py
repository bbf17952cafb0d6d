"""The plot of a draw G: the atoms of the draw, the density of the base."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from partita.plots import random_measure, random_measure_data
from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet

EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]


@pytest.mark.parametrize("prior", EXAMPLES, ids=repr)
def test_spikes_are_a_draw_of_the_prior(prior):
    base = stats.norm(0, 3)
    data = random_measure_data(prior, base, 30, random_state=4)
    drawn = prior.sample_measure(base, 30, np.random.default_rng(np.random.SeedSequence(4)))
    order = np.argsort(drawn.atoms)
    np.testing.assert_array_equal(data.atoms, drawn.atoms[order])
    np.testing.assert_array_equal(data.weights, drawn.weights[order])
    assert data.weights.sum() + data.rest == pytest.approx(1.0)
    np.testing.assert_allclose(data.density, base.pdf(data.grid))
    assert data.grid[0] < data.atoms[0] < data.atoms[-1] < data.grid[-1]


def test_atoms_drawn_twice_are_one():
    data = random_measure_data(DirichletProcess(concentration=5.0), stats.poisson(1), 50, random_state=0)
    assert (np.diff(data.atoms) > 0).all()
    drawn = DirichletProcess(concentration=5.0).sample_measure(stats.poisson(1), 50, 0)
    for atom, weight in zip(data.atoms, data.weights):
        assert weight == pytest.approx(drawn.weights[drawn.atoms == atom].sum())
    assert data.density.size == 0


def test_the_density_may_be_given():
    prior = DirichletProcess(concentration=2.0)
    data = random_measure_data(
        prior, lambda n, rng: rng.gamma(2.0, size=n), density=stats.gamma(2.0).pdf, random_state=1
    )
    np.testing.assert_allclose(data.density, stats.gamma(2.0).pdf(data.grid))


def test_what_is_drawn():
    given = Figure().subplots()
    prior, base = DirichletProcess(concentration=5.0), stats.norm(0, 3)
    ax = random_measure(prior, base, 20, random_state=0, ax=given)
    assert ax is given
    data = random_measure_data(prior, base, 20, random_state=0)
    spikes = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(spikes[:, 1], np.column_stack([data.atoms, data.weights]))
    np.testing.assert_array_equal(spikes[:, 0, 1], 0.0)
    _, right = ax.figure.axes
    np.testing.assert_allclose(right.lines[0].get_ydata(), data.density)
    assert (ax.get_ylabel(), right.get_ylabel()) == ("weight of the atom", "density of the base")
    assert ax.get_title("left") == (
        f"A draw G: 20 atoms, {data.rest:.1%} on others\n(Dirichlet process with concentration 5)"
    )
    ax.figure.draw_without_rendering()


def test_a_finite_prior_counts_the_atoms_that_weigh():
    ax = random_measure(FiniteDirichlet(n_components=4, concentration=1.0), lambda n, rng: rng.normal(size=n), 9)
    assert ax.get_title("left").startswith("A draw G: 4 atoms\n")
    assert len(ax.figure.axes) == 1


def test_bad_input_is_refused():
    prior = DirichletProcess(concentration=1.0)
    with pytest.raises(TypeError, match="prior must be a Prior; got 5"):
        random_measure(5, stats.norm())
    with pytest.raises(ValueError, match=r"numbers to be drawn along a line; the base gives shape \(2,\)"):
        random_measure(prior, lambda n, rng: rng.normal(size=(n, 2)))
    with pytest.raises(ValueError, match="n must be a whole number"):
        random_measure(prior, stats.norm(), 0)
