"""What a person reads of tables whose groups are known, with defaults; `benchmarks.defaults` does so at length."""

import numpy as np
import pytest
from benchmarks.generators import cloud, counts, groups_apart, independent_categories
from sklearn.metrics import adjusted_rand_score
from tests.volumes import long, mostly_long

from partita import Mixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def found_in(rows, **options):
    return Mixture(**{"chains": 2, "draws": 200, "random_state": 0} | options).fit(rows)


@mostly_long
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=long), pytest.param(2, marks=long)])
@pytest.mark.parametrize(("n", "d"), [(20, 1), (30, 3), (60, 10), (500, 3)])
def test_one_cloud_is_one_group(n, d, seed):
    model = found_in(cloud(np.random.default_rng(seed), n, d, "normal")[0])
    assert model.n_clusters_ == 1
    probabilities = model.posterior_.n_clusters()
    assert max(probabilities, key=probabilities.get) == 1


@mostly_long
@pytest.mark.parametrize("engine", ["gibbs", "vb"])
@pytest.mark.parametrize(("k", "d"), [(3, 2), (8, 4), (10, 2)])
def test_groups_six_deviations_apart_are_found(k, d, engine):
    rows, truth = groups_apart(np.random.default_rng(1), np.full(k, 25), d, 6.0)
    model = found_in(rows, engine=engine)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(truth, model.labels_) > 0.95


def test_the_scale_of_tight_groups_is_below_what_was_expected_and_above_their_share_of_the_variance():
    rows, truth = groups_apart(np.random.default_rng(2), np.full(5, 200), 2, 8.0)
    within = np.mean([rows[truth == k].var(axis=0) for k in range(5)]) / rows.var(axis=0).mean()
    scale = found_in(rows).posterior_.traces["scale"].mean()
    assert within < scale < 0.2


@mostly_long
@pytest.mark.parametrize("skewed", [False, True])
def test_independent_categories_are_one_group(skewed):
    model = found_in(independent_categories(np.random.default_rng(3), 200, 5, skewed=skewed)[0])
    assert model.n_clusters_ == 1


def test_one_cloud_of_counts_is_one_group_and_three_are_three():
    for k in (1, 3):
        rows, _ = counts(np.random.default_rng(4), 120, 5, k)
        model = found_in(rows, column_types=dict.fromkeys(range(5), "count"))
        assert model.n_clusters_ == k
