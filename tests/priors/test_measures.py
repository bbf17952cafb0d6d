"""A draw G: weights as ``sample_weights`` draws them, atoms from a base that may be called in several ways."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from partita.priors import PRIORS, DirichletProcess, FiniteDirichlet, Measure

PROCESS = DirichletProcess(concentration=2.0)
EXAMPLES = [prior for kind in PRIORS.values() for prior in kind.examples()]


def by_position(how_many, source, /):
    return source.normal(size=how_many)


def backwards(generator, count):
    return generator.normal(size=count)


def with_options(loc=0.0, scale=1.0, size=None, *, random_state=None):
    return random_state.normal(loc, scale, size)


def half_named(how_many, rng):
    return rng.normal(size=how_many)


class Sampler:
    def __call__(self, n_samples, seed):
        return np.random.default_rng(seed).normal(size=n_samples)


SAME_NORMALS = [
    lambda n, rng: rng.normal(size=n),
    lambda size, random_state: random_state.normal(size=size),
    lambda a, b: b.normal(size=a),
    lambda *both: both[1].normal(size=both[0]),
    lambda rng: rng.normal(),
    lambda n, rng=None, scale=1.0: rng.normal(scale=scale, size=n),
    by_position,
    backwards,
    with_options,
    half_named,
    partial(with_options, 0.0),
    partial(with_options, scale=1.0),
    stats.norm,
    stats.norm(0, 1),
    stats.norm.rvs,
    partial(stats.norm.rvs, loc=0, scale=1),
    lambda shape=1.0, size=None, rng=None: rng.normal(scale=shape, size=size),
    lambda count=3, n=None, seed=None, rng=None: rng.normal(size=n),
    lambda scale=1.0, *, rng: rng.normal(scale=scale),
    lambda a=None, b=None: b.normal(size=a),
    lambda a, *, loc=0.0, rng=None: rng.normal(loc, size=a),
    Sampler(),
    stats.norm(0, 1).rvs,
]


@pytest.mark.parametrize("base", SAME_NORMALS)
def test_all_ways_to_write_a_base_draw_the_same_atoms(base):
    rng = np.random.default_rng(4)
    weights = PROCESS.sample_weights(7, rng)
    measure = PROCESS.sample_measure(base, 7, 4)
    assert isinstance(measure, Measure)
    np.testing.assert_array_equal(measure.weights, weights)
    np.testing.assert_array_equal(measure.atoms, rng.normal(size=7))


@pytest.mark.parametrize("prior", EXAMPLES, ids=repr)
def test_weights_are_those_of_sample_weights(prior):
    atoms, weights = prior.sample_measure(lambda n, rng: rng.normal(size=(n, 2)), 12, 9)
    assert atoms.shape == (12, 2)
    np.testing.assert_array_equal(weights, prior.sample_weights(12, 9))


@pytest.mark.parametrize(
    ("base", "shape"),
    [
        (np.arange, ()),
        (lambda how_many: np.zeros((how_many, 3, 2)), (3, 2)),
        (np.zeros, ()),
        (np.random.default_rng(0).normal, ()),
        (partial(np.random.default_rng(0).normal, 5.0, 0.1), ()),
        (lambda: 3.0, ()),
        (lambda rng: rng.normal(size=(2, 2)), (2, 2)),
        (stats.multivariate_normal(np.zeros(2)).rvs, (2,)),
        (stats.dirichlet([1.0, 2.0, 3.0]).rvs, (3,)),
        (lambda n: ["a"] * n, ()),
    ],
)
@pytest.mark.parametrize("n", [1, 5])
def test_atoms_may_have_any_shape(base, shape, n):
    assert PROCESS.sample_measure(base, n, 0).atoms.shape == (n, *shape)


class NoSignature:
    __signature__ = "not a signature"

    def __call__(self, *, size):
        return np.zeros(size)


def test_without_a_readable_signature_the_base_is_asked_by_size():
    assert PROCESS.sample_measure(NoSignature(), 6, 0).atoms.shape == (6,)


def test_no_components_have_no_atoms():
    atoms, weights = PROCESS.sample_measure(stats.norm(0, 1).rvs, 0, 0)
    assert atoms.shape == weights.shape == (0,)


def test_the_mean_of_draws_is_the_base():
    # E G(A) = H(A), and Var G(A) = H(A) (1 - H(A)) / (alpha + 1).
    rng = np.random.default_rng(6)
    share = np.empty(3000)
    for draw in range(share.size):
        atoms, weights = PROCESS.sample_measure(lambda n, rng: rng.random(n), 60, rng)
        share[draw] = weights[atoms < 0.3].sum()
    variance = 0.3 * 0.7 / 3
    # The 60 components leave E prod(1 - v) = (2/3)^60 < 1e-10.
    assert abs(share.mean() - 0.3) < 4 * np.sqrt(variance / share.size)
    fourth = np.mean((share - share.mean()) ** 4)
    assert abs(share.var() - variance) < 4 * np.sqrt((fourth - variance**2) / share.size)


@pytest.mark.parametrize(("base", "words"), [(3.0, "got 3.0"), (None, "None")])
def test_what_cannot_be_called_is_refused(base, words):
    with pytest.raises(TypeError, match=rf"base must be a function base\(n, rng\).*{words}"):
        PROCESS.sample_measure(base, 5, 0)


@pytest.mark.parametrize("base", [lambda n: np.zeros(n + 1), lambda n: 1.0, lambda n: np.zeros((2, n))])
def test_a_wrong_number_of_atoms_is_refused(base):
    with pytest.raises(ValueError, match=r"base must return 5 atoms.*got shape"):
        FiniteDirichlet(n_components=2).sample_measure(base, 5, 0)


def test_a_base_that_needs_more_is_refused():
    for base in (lambda n, rng, scale: None, lambda scale, size=None, rng=None: None):
        with pytest.raises(TypeError, match="what should 'scale' be"):
            PROCESS.sample_measure(base, 5, 0)


def test_the_parameters_of_a_scipy_distribution_stay_its_own():
    rng = np.random.default_rng(4)
    PROCESS.sample_weights(7, rng)
    measure = PROCESS.sample_measure(partial(stats.gamma.rvs, 2.0), 7, 4)
    np.testing.assert_array_equal(measure.atoms, stats.gamma(2.0).rvs(size=7, random_state=rng))


def test_options_without_a_known_name_keep_their_defaults():
    assert PROCESS.sample_measure(lambda scale=2.0: scale, 5, 0).atoms.tolist() == [2.0] * 5
    assert PROCESS.sample_measure(lambda a=2.0, b=3.0: a * b, 5, 0).atoms.tolist() == [6.0] * 5


@pytest.mark.parametrize("base", [lambda g: g.normal(), lambda m: m + "a", lambda source, /: source.random()])
def test_a_single_parameter_that_is_no_number_is_to_be_named(base):
    with pytest.raises(TypeError, match="name its parameter n if it is the number, or rng") as refused:
        PROCESS.sample_measure(base, 5, 0)
    assert isinstance(refused.value.__cause__, (TypeError, AttributeError))


@pytest.mark.parametrize("base", [lambda n: n.normal(), lambda a, b: a.normal(size=b)])
def test_other_errors_of_the_base_are_its_own(base):
    with pytest.raises(AttributeError, match="'int' object has no attribute 'normal'"):
        PROCESS.sample_measure(base, 5, 0)
