"""Iterations against their formulas, the bound against its definition and the evidence, halves against the whole."""

from functools import reduce

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, xlogy
from scipy.stats import dirichlet
from tests.consensus.ensembles import noisy_copies
from tests.oracles.mixed_membership import log_evidence

from partita.consensus import drop_labels
from partita.consensus.bce_steps import BCESteps, Objects, best_alpha, settled, shared_alike

N_LABELS = np.array([3, 3, 4, 2])
SMOOTHING = pytest.mark.parametrize("smoothing", [0.0, 0.1, 2.0])


def ensemble(n=40, *, seed=0, missing=0.2):
    """Codes (n, 4) of columns of 3, 3, 4 and 2 labels that follow three groups, with gaps; no object has none."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    right = rng.random((n, 4)) < 0.7
    codes = np.where(right, group[:, None] % N_LABELS, rng.integers(N_LABELS, size=(n, 4)))
    codes = drop_labels(codes, missing, rng)
    codes[(codes < 0).all(axis=1), 0] = 0
    return codes


def begun(codes, smoothing, n_components=3, seed=0):
    """Steps, objects and a first state."""
    steps = BCESteps(N_LABELS, smoothing)
    objects = steps.encode(codes, n_components)
    labels = np.random.default_rng(seed).integers(n_components, size=len(objects.position))
    return steps, objects, steps.start(objects, labels)


def iterated(steps, objects, state, n_iter):
    """The last state, and the bounds of all states but it."""
    bounds = []
    for _ in range(n_iter):
        state = steps.global_step(steps.local_statistics(objects, state), state)
        bounds.append(state.bound)
    return state, np.array(bounds)


def plain_iteration(codes, alpha, beta, gamma, smoothing):
    """phi, gamma and beta by the formulas of the paper, one object and one label at a time; beta is a list (K, J_m)."""
    counts = [np.full(own.shape, smoothing) for own in beta]
    phis, gammas = [], []
    for own, lean in zip(codes, gamma):
        weights = np.exp(digamma(lean) - digamma(lean.sum()))
        phi = [weights * beta[m][:, label] / (weights @ beta[m][:, label]) for m, label in enumerate(own) if label >= 0]
        for m, share in zip(np.flatnonzero(own >= 0), phi):
            counts[m][:, own[m]] += share
        phis.append(phi)
        gammas.append(alpha + sum(phi))
    return phis, np.array(gammas), [own / own.sum(axis=1, keepdims=True) for own in counts]


def bound_by_definition(codes, alpha, beta, gamma, phis):
    """E_q log p(theta, z, y) - E_q log q(theta, z), term by term."""
    total = 0.0
    for own, g, phi in zip(codes, gamma, phis):
        log_theta = digamma(g) - digamma(g.sum())
        total += gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1.0) @ log_theta
        total += dirichlet(g).entropy()
        for m, share in zip(np.flatnonzero(own >= 0), phi):
            total += share @ log_theta + xlogy(share, beta[m][:, own[m]]).sum() - xlogy(share, share).sum()
    return total


def by_column(shares):
    return [own.T for own in np.split(shares, np.cumsum(N_LABELS)[:-1])]


@SMOOTHING
def test_iterations_are_those_of_the_formulas(smoothing):
    """Ten of them; equal objects are stored once here and one by one there."""
    codes = ensemble()
    steps, objects, state = begun(codes, smoothing)
    n_labels = np.count_nonzero(codes >= 0, axis=1)
    assigned = np.repeat(n_labels[:, None] / 3.0, 3, axis=1)
    for _ in range(10):
        beta = by_column(state.shares)
        phis, gamma, best_beta = plain_iteration(codes, state.alpha, beta, state.alpha + assigned, smoothing)
        bound = bound_by_definition(codes, state.alpha, beta, state.alpha + assigned, phis)
        bound += smoothing * np.log(state.shares).sum() if smoothing else 0.0
        statistics = steps.local_statistics(objects, state)
        np.testing.assert_allclose(
            statistics.log_memberships, (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).sum(axis=0)
        )
        following = steps.global_step(statistics, state)
        assert following.bound == pytest.approx(bound, rel=1e-11)
        np.testing.assert_allclose(following.shares, np.hstack(best_beta).T, rtol=1e-10, atol=1e-14)
        assigned, state = gamma - state.alpha, following


@SMOOTHING
@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_the_bound_never_falls(smoothing, n_components):
    steps, objects, state = begun(ensemble(), smoothing, n_components)
    bounds = iterated(steps, objects, state, 150)[1]
    assert (np.diff(bounds) >= -1e-10 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0]


@SMOOTHING
def test_the_bound_is_below_the_evidence(smoothing):
    """By enumeration, from the first state to the last; with smoothing the term of the shares is known."""
    steps, objects, state = begun(ensemble(), smoothing)
    gaps = []
    for _ in range(40):
        following, (bound,) = iterated(steps, objects, state, 1)
        evidence = objects.weights @ log_evidence(objects.position, state.alpha, state.shares)
        gaps.append(evidence + steps.log_smoothing(state.shares) - bound)
        assert bound <= evidence + steps.log_smoothing(state.shares) <= evidence
        state = following
    assert gaps[-1] < gaps[0]


def test_of_one_component_the_bound_is_the_evidence():
    codes = ensemble()
    steps, objects, state = begun(codes, 0.0, n_components=1)
    bounds = iterated(steps, objects, state, 3)[1]
    counts = [np.bincount(own[own >= 0]) for own in codes.T]
    exact = sum(xlogy(own, own / own.sum()).sum() for own in counts)
    np.testing.assert_allclose(bounds[1:], exact, rtol=1e-12)


@pytest.mark.parametrize("spread", [0.02, 1.0, 30.0])
@pytest.mark.parametrize("start", [1e-8, 0.3, 1e3])
def test_alpha_is_at_its_maximum(spread, start):
    """Against another optimiser, from starts far off on either side."""
    rng = np.random.default_rng(3)
    theta = np.maximum(rng.dirichlet(spread * np.array([1.0, 2.0, 0.5]), 400), 1e-200)
    sums = np.log(theta).sum(axis=0)

    def loss(log_alpha):
        alpha = np.exp(log_alpha)
        slope = 400 * (digamma(alpha.sum()) - digamma(alpha)) + sums
        return -(400 * (gammaln(alpha.sum()) - gammaln(alpha).sum()) + alpha @ sums), -slope * alpha

    other = minimize(loss, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-7})
    found = best_alpha(400.0, sums, np.full(3, start))
    np.testing.assert_allclose(found, np.exp(other.x), rtol=1e-4)
    assert loss(np.log(found))[0] <= other.fun + 1e-9 * abs(other.fun)


def test_alpha_of_one_component_stays():
    assert best_alpha(10.0, np.zeros(1), np.array([0.7])).tolist() == [0.7]


@SMOOTHING
def test_places_with_some_objects_each_are_the_whole(smoothing):
    codes = ensemble()
    steps, objects, state = begun(codes, smoothing)
    places = [steps.encode(part, 3) for part in np.array_split(codes, [5, 22])]
    whole = apart = state
    for _ in range(40):
        whole = steps.global_step(steps.local_statistics(objects, whole), whole)
        parts = [steps.local_statistics(place, apart) for place in places]
        apart = steps.global_step(reduce(steps.merge, parts), apart)
        for mine, theirs in zip(apart, whole):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


@SMOOTHING
def test_owners_of_some_columns_each_are_the_whole(smoothing):
    """Two owners; who joins what they send sees neither labels nor shares."""
    codes = ensemble()
    steps = BCESteps(N_LABELS, smoothing)
    whole_objects = shared_alike(one_by_one(steps, codes))
    labels = np.random.default_rng(0).integers(3, size=len(codes))
    whole = steps.start(whole_objects, labels)
    owners = [BCESteps(N_LABELS[own], smoothing) for own in (slice(0, 1), slice(1, 4))]
    own_objects = [one_by_one(owner, codes[:, own]) for owner, own in zip(owners, (slice(0, 1), slice(1, 4)))]
    shares = [owner.start(own, labels).shares for owner, own in zip(owners, own_objects)]
    middle = BCESteps(np.empty(0, dtype=np.int64), smoothing)
    objects = Objects(np.empty((len(codes), 0), np.int64), np.ones(len(codes)), whole_objects.assigned.copy())
    apart = middle.start(objects, labels)
    assert apart.shares.shape == (0, 3)
    for _ in range(40):
        whole = steps.global_step(steps.local_statistics(whole_objects, whole), whole)
        leaning, smoothed = middle.leaning(objects, apart), sum(o.log_smoothing(s) for o, s in zip(owners, shares))
        parts = [
            owner.share_out(own.position, own.weights, leaning, share)
            for owner, own, share in zip(owners, own_objects, shares)
        ]
        apart = middle.global_step(middle.join_columns(objects, parts, apart), apart)
        shares = [owner.best_shares(part.counts) for owner, part in zip(owners, parts)]
        np.testing.assert_allclose(apart.alpha, whole.alpha, rtol=1e-10)
        np.testing.assert_allclose(np.vstack(shares), whole.shares, rtol=1e-10, atol=1e-12)
        assert apart.bound + smoothed == pytest.approx(whole.bound, rel=1e-10)


def one_by_one(steps, codes):
    """Objects in the order of the codes, none merged."""
    position = np.where(codes < 0, -1, codes + steps.offsets[:-1])
    return Objects(position, np.ones(len(codes)), np.empty((len(codes), 3)))


@SMOOTHING
def test_a_column_of_one_label_says_nothing(smoothing):
    """Its labels are certain: iterations are those without it."""
    codes = ensemble()
    steps, objects, _ = begun(codes, smoothing)
    padded = np.column_stack([codes, np.where(np.arange(len(codes)) % 3, 0, -1)])
    longer = BCESteps(np.append(N_LABELS, 1), smoothing)
    more = longer.encode(padded, 3)
    order = [np.flatnonzero((objects.position == own).all(axis=1))[0] for own in more.position[:, :4]]
    ours = steps.start(objects, np.arange(len(objects.weights)) % 3)
    theirs = longer.start(more, np.arange(len(objects.weights))[order] % 3)
    np.testing.assert_allclose(theirs.shares[:-1], ours.shares, rtol=1e-12)
    ours, bounds = iterated(steps, objects, ours, 20)
    theirs, longer_bounds = iterated(longer, more, theirs, 20)
    np.testing.assert_allclose(longer_bounds, bounds, rtol=1e-11)
    np.testing.assert_allclose(theirs.shares, np.vstack([ours.shares, np.ones(3)]), rtol=1e-8)
    np.testing.assert_allclose(theirs.alpha, ours.alpha, rtol=1e-8)


def test_an_object_settles_alone_where_its_bound_is_stationary():
    """phi and gamma are best for each other; and the company of other objects changes no bit."""
    codes = ensemble()
    steps, objects, state = begun(codes, 0.1)
    state = iterated(steps, objects, state, 60)[0]
    gamma = settled(objects.position, state)
    kinds = np.where(objects.position < 0, -1, objects.position - steps.offsets[:-1])
    again = plain_iteration(kinds, state.alpha, by_column(state.shares), gamma, 0.1)[1]
    np.testing.assert_allclose(again, gamma, atol=1e-7)
    for i in (0, 7, 20):
        np.testing.assert_array_equal(settled(objects.position[i : i + 1], state)[0], gamma[i])


def test_objects_of_one_group_each_get_a_small_alpha():
    Y, _ = noisy_copies(rate=0.0)
    steps = BCESteps(Y.max(axis=0) + 1, 0.1)
    objects = steps.encode(Y, 3)
    state, bounds = iterated(steps, objects, steps.start(objects, np.arange(3)), 300)
    assert state.alpha.sum() < 0.02
    assert (state.alpha > 0).all()
    assert (np.diff(bounds) >= -1e-10 * np.abs(bounds[1:])).all()


def test_what_does_not_fit_is_refused():
    steps, objects, state = begun(ensemble(), 0.1)
    with pytest.raises(ValueError, match="not codes of 4 columns"):
        steps.encode(np.full((3, 4), 3), 3)
    with pytest.raises(ValueError, match="not codes of 4 columns"):
        steps.encode(np.zeros((3, 2), dtype=int), 3)
    with pytest.raises(ValueError, match="not of the same objects, labels and components"):
        steps.share_out(objects.position, objects.weights, np.ones((2, 3)), state.shares)
    with pytest.raises(ValueError, match="not of the same objects, labels and components"):
        steps.share_out(objects.position, objects.weights, steps.leaning(objects, state), state.shares[:5])
    with pytest.raises(ValueError, match="under different states"):
        steps.merge(
            steps.local_statistics(objects, state),
            steps.local_statistics(*begun(ensemble(), 0.1, n_components=2)[1:]),
        )
