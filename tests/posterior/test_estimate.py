"""Expected variation of information against a slow double loop, the search that starts from it, metamorphic pairs."""

import numpy as np
import pytest

from partita.metrics import variation_of_information
from partita.partitions import canonical
from partita.posterior import VI, Posterior, least_expected_vi, losses


def slow_expected_vi(candidate, draws, weights):
    weights = np.asarray(weights) / np.sum(weights)
    return sum(w * variation_of_information(candidate, draw) for w, draw in zip(weights, draws))


def noisy_draws(seed, *, n_draws=30, n_objects=40, n_clusters=4, share=0.2, missing=0.0):
    rng = np.random.default_rng(seed)
    draws = np.tile(rng.integers(0, n_clusters, n_objects), (n_draws, 1))
    moved = rng.random(draws.shape) < share
    draws[moved] = rng.integers(0, n_clusters + 2, moved.sum())
    draws[rng.random(draws.shape) < missing] = -1
    return draws


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(6))
def test_expected_losses_match_the_definition(seed, missing):
    draws = noisy_draws(seed, missing=missing)
    weights = np.random.default_rng(seed).exponential(size=len(draws))
    candidates = noisy_draws(seed + 100, n_draws=12, missing=missing)
    index, found = least_expected_vi(candidates, draws, weights)
    expected = [slow_expected_vi(c, draws, weights) for c in candidates]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert index == np.argmin(expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_estimate_starts_from_the_draw_of_least_expected_loss(seed):
    draws = noisy_draws(seed)[np.random.default_rng(seed).integers(0, 30, size=50)]
    weights = np.random.default_rng(seed).exponential(size=50)
    weights[::7] = 0.0
    found = Posterior(draws, weights=weights).estimate()
    expected = np.array([slow_expected_vi(c, draws, weights) for c in draws])
    expected[::7] = np.inf
    assert expected[found.draw] == pytest.approx(expected.min(), abs=1e-12)
    assert found.expected_loss == pytest.approx(slow_expected_vi(found.labels, draws, weights), abs=1e-12)
    assert found.expected_loss < expected.min()


def test_estimate_describes_itself():
    posterior = Posterior(noisy_draws(3))
    found = posterior.estimate()
    sizes = np.bincount(found.labels)
    assert found.labels.dtype == np.int64
    assert found.n_clusters == len(sizes) == found.probabilities.shape[1]
    assert np.all(np.diff(sizes) <= 0)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.confidence, found.probabilities[np.arange(40), found.labels])


def test_the_estimate_among_all_partitions_is_the_enumerated_one():
    draws = noisy_draws(8, n_objects=6, n_draws=15)
    every = np.array([p for p in np.ndindex(1, 2, 3, 4, 5, 6) if list(canonical(p)) == list(p)])
    assert len(every) == 203
    index, found = least_expected_vi(every, draws)
    expected = [slow_expected_vi(p, draws, np.ones(15)) for p in every]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert expected[index] == pytest.approx(min(expected), abs=1e-12)


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
    assert first.draw == second.draw
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_allclose(first.probabilities, second.probabilities)


def test_permuted_objects_permute_the_estimate():
    draws, order = noisy_draws(6), np.random.default_rng(6).permutation(40)
    plain, permuted = Posterior(draws).estimate(), Posterior(draws[:, order]).estimate()
    assert plain.draw == permuted.draw
    assert plain.expected_loss == pytest.approx(permuted.expected_loss)
    np.testing.assert_array_equal(canonical(plain.labels[order]), canonical(permuted.labels))
    np.testing.assert_allclose(plain.confidence[order], permuted.confidence)


@pytest.mark.parametrize(("name", "value"), [("_TABLE_CELLS", 0), ("_DRAWS_TOGETHER", 3)])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_every_way_to_score_gives_the_same_losses(monkeypatch, missing, name, value):
    draws = noisy_draws(7, missing=missing)
    index, found = least_expected_vi(draws, draws)
    monkeypatch.setattr(losses, name, value)
    again, others = least_expected_vi(draws, draws)
    assert index == again
    np.testing.assert_allclose(found, others, atol=1e-12)


@pytest.mark.parametrize("cells", [losses._TABLE_CELLS, 0])
def test_shortlist_finds_the_least_expected_loss_of_an_easy_posterior(monkeypatch, cells):
    draws = noisy_draws(9, n_draws=300, share=0.3)
    centre = noisy_draws(9, n_draws=1, share=0.0)
    draws[123] = centre[0]
    exact, every_loss = least_expected_vi(draws, draws)
    assert exact == 123
    monkeypatch.setattr(losses, "EXACT_WORK", 0)
    monkeypatch.setattr(losses, "_TABLE_CELLS", cells)
    index, some = least_expected_vi(draws, draws)
    assert index == exact
    assert np.isfinite(some).sum() == 32
    np.testing.assert_allclose(some[np.isfinite(some)], every_loss[np.isfinite(some)], atol=1e-12)
    assert Posterior(draws).estimate().draw == exact


def test_many_clusters():
    draws = np.stack([np.random.default_rng(s).permutation(400) // 2 for s in range(5)])
    _, found = least_expected_vi(draws, draws)
    np.testing.assert_allclose(found, [slow_expected_vi(d, draws, np.ones(5)) for d in draws], atol=1e-12)


def test_a_draw_that_labels_little_is_not_the_estimate():
    draws = noisy_draws(10)
    draws[4, 1:] = -1
    found = Posterior(draws).estimate()
    assert found.draw != 4
    assert found.labels.min() == 0
    full = np.delete(np.arange(30), 4)
    expected = [slow_expected_vi(draws[b], draws, np.ones(30)) for b in full]
    assert found.draw == full[np.argmin(expected)]


def test_one_draw_is_the_estimate_and_the_loss_may_be_an_object():
    found = Posterior([[3, 3, 1]]).estimate(loss=VI())
    assert found.expected_loss == 0.0
    np.testing.assert_array_equal(found.labels, [0, 0, 1])
    np.testing.assert_array_equal(found.confidence, [1.0, 1.0, 1.0])


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(ValueError, match=r"loss must be one of 'vi'; got 'vii'. Did you mean 'vi'\?"):
        Posterior([[0, 1]]).estimate(loss="vii")
    with pytest.raises(ValueError, match="No draw labels any object"):
        Posterior([[-1, -1]]).estimate()
    with pytest.raises(ValueError, match="3 objects and the draws 2"):
        least_expected_vi([[0, 0, 1]], [[0, 1]])
