"""Co-clustering probabilities against a slow count of pairs."""

import numpy as np
import pytest

from partita.posterior import Posterior


def slow_similarity(draws, weights):
    n = draws.shape[1]
    result = np.eye(n)
    for i in range(n):
        for j in range(n):
            both = (draws[:, i] != -1) & (draws[:, j] != -1)
            if i != j:
                together = weights[both & (draws[:, i] == draws[:, j])].sum()
                result[i, j] = together / weights[both].sum() if both.any() else np.nan
    return result


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(("n_draws", "n_objects"), [(25, 60), (3, 700)])
def test_similarity_counts_pairs(n_draws, n_objects, missing):
    rng = np.random.default_rng(n_draws)
    draws = rng.integers(0, 4, size=(n_draws, n_objects))[:, rng.integers(0, n_objects, size=90)]
    if n_objects == 700:  # more atoms than one tile of the compiled loop
        draws = rng.integers(0, 30, size=(n_draws, n_objects))
    draws[rng.random(draws.shape) < missing] = -1
    weights = rng.exponential(size=n_draws)
    found = Posterior(draws, weights=weights).similarity()
    assert found.dtype == np.float64
    some = slice(None) if n_objects == 60 else np.r_[0:20, 300:320, 500:530, 680:700]
    expected = slow_similarity(draws[:, some], weights)
    np.testing.assert_allclose(found[some][:, some], expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert np.nanmax(found) <= 1.0


def test_a_large_matrix_is_only_made_on_request(monkeypatch):
    posterior = Posterior(np.zeros((1, 20_001), int))
    with pytest.raises(ValueError, match=r"20,001 objects needs 3.2 GB.*allow_large=True"):
        posterior.similarity()
    monkeypatch.setattr("partita.posterior.similarity.LARGE", 2)
    small = Posterior([[0, 0, 1]])
    with pytest.raises(ValueError, match="allow_large"):
        small.similarity()
    np.testing.assert_array_equal(
        small.similarity(allow_large=True), [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    )
