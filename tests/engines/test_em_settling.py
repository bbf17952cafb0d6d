"""EM of many rows: starts climb on a sample, and the best goes on with all rows."""

import numpy as np
import pytest
from tests.volumes import long, mostly_long

from partita import Mixture
from partita.engines import EM, maximum
from partita.priors import FiniteDirichlet

N_ROWS = 600


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """A table of a few hundred rows is a large one."""
    monkeypatch.setattr(maximum, "MOST_SETTLING", 100)
    monkeypatch.setattr(maximum, "ROWS_PER_COMPONENT", 20)


def rows(seed=0):
    """Three groups: words with rare ones among them, a number, a count that is nearly always 0."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N_ROWS)
    x = np.empty((N_ROWS, 3), dtype=object)
    x[:, 0] = np.where(rng.random(N_ROWS) < 0.8, np.array(["red", "green", "blue"])[group], "red")
    x[[3, 77, 410], 0] = ["mauve", "puce", "teal"]
    x[:, 1] = rng.normal(5.0 * group)
    x[:, 2] = 0
    x[[8, 300], 2] = 4
    return x, group


def mixture(n_components=3, **options):
    prior = FiniteDirichlet(n_components=n_components)
    return Mixture(engine=EM(**options), prior=prior, column_types={2: "count"}, random_state=0)


@pytest.mark.parametrize("estimate", ["ml", "map"])
@pytest.mark.parametrize("columns", [[0], [2], [0, 1, 2]], ids=["words", "counts", "mixed"])
def test_what_the_sample_has_not_seen_is_possible(estimate, columns):
    x, _ = rows()
    types = {columns.index(2): "count"} if 2 in columns else None
    model = mixture(2, estimate=estimate).set_params(column_types=types).fit(x[:, columns])
    assert np.isfinite(model.score_samples(x[:, columns])).all()
    assert (np.diff(model.loglik_path_) >= 0).all()


@mostly_long
@pytest.mark.parametrize("estimate", ["ml", "map"])
def test_the_top_is_no_lower_than_that_of_all_rows(estimate, monkeypatch):
    x, _ = rows()
    settled = mixture(estimate=estimate, tol=1e-9).fit(x)
    monkeypatch.setattr(maximum, "MOST_SETTLING", N_ROWS)
    whole = mixture(estimate=estimate, tol=1e-9).fit(x)
    assert settled.loglik_path_[0] > whole.loglik_path_[0]
    assert settled.loglik_path_[-1] > whole.loglik_path_[-1] - 1e-4


def test_iterations_that_are_kept_are_all_there_are(monkeypatch):
    x, _ = rows()
    kept = mixture(keep_iterations=True).fit(x)
    monkeypatch.setattr(maximum, "MOST_SETTLING", N_ROWS)
    whole = mixture().fit(x)
    np.testing.assert_array_equal(kept.loglik_path_, whole.loglik_path_)
    assert len(kept.iterations_) == len(kept.loglik_path_)


@long
def test_a_number_of_components_is_tried_as_if_it_were_the_only_one():
    x, _ = rows()
    alone = mixture(3).fit(x)
    several = mixture([3, 12], select="bic").fit(x)  # 12 have a larger sample
    assert several.selection_[3] == alone.bic_
