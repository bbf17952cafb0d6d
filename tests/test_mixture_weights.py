"""Weights of rows: tied copies, rows that teach nothing, and weights that are refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from tests.mixtures import full, known, quick, unconverged_is_fine
from tests.volumes import long

from partita.families import Gaussian
from partita.priors import DirichletProcess

pytestmark = unconverged_is_fine


X, _ = make_blobs(40, 2, centers=[[-5, 0], [5, 2]], cluster_std=0.8, random_state=0)
KNOWN = Gaussian(covariance="known")
NAN = np.nan
BILLIONS_OF_ROWS = """
import json, resource, warnings
from pathlib import Path
import numpy as np
from partita import Mixture
from partita.families import Count
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor

X = np.repeat([[1, 2], [60, 50]], 3, axis=0)
weights = np.full(6, (2**31 - 10) // 6)
weights[0] += 2**31 - 10 - weights.sum()
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 2**31
resource.setrlimit(resource.RLIMIT_AS, (most, most))
warnings.simplefilter("ignore")
options = dict(family=Count(), column_types={0: "count", 1: "count"}, draws=20, chains=2, random_state=0)
two = FiniteDirichlet(n_components=2)
runs = [("gibbs", p) for p in (DirichletProcess(), PitmanYor(), FiniteMixtures(concentration=None), two)]
runs += [("vb", DirichletProcess()), ("cvb", DirichletProcess()), ("em", two)]
models = [Mixture(engine=engine, prior=prior, **options).fit(X, sample_weight=weights) for engine, prior in runs]
print(json.dumps([model.labels_.tolist() for model in models]))
"""


@full
def test_rows_of_weight_zero_teach_nothing():
    table = np.vstack([X, [[500.0, -500.0], [X[0, 0], NAN], X[3]]])
    weights = np.append(np.ones(40), [0, 0, 0])
    model = quick().fit(table, sample_weight=weights)
    without = quick().fit(X)
    np.testing.assert_array_equal(model.posterior_.draws[:, :40], without.posterior_.draws)
    assert (model.posterior_.draws[:, 40:] == -1).all()
    np.testing.assert_array_equal(model.labels_[:40], without.labels_)
    np.testing.assert_array_equal(model.labels_[40:42], without.predict(table[40:42]))
    expected = without.predict_proba(table[40:42])  # an average over completions of a gap is rounded otherwise
    np.testing.assert_allclose(model.probabilities_[40:42], expected, rtol=1e-14)
    assert model.labels_[42] == model.labels_[3]
    np.testing.assert_array_equal(model.probabilities_[42], model.probabilities_[3])
    np.testing.assert_array_equal(model.score_samples(X), without.score_samples(X))
    assert model._model.likelihood.scale.tolist() == without._model.likelihood.scale.tolist()


@long
@known
def test_a_twin_of_weight_zero_follows_its_row():
    """Also on a border, where the label of a row and its prediction differ."""
    table = np.array([[-2.0], [-1.9], [0.05], [1.0], [1.1], [0.05], [0.05]])
    prior = DirichletProcess(concentration=1.0)
    labels = [
        quick(family=KNOWN, prior=prior, draws=3, random_state=seed)
        .fit(table, sample_weight=[1, 1, 1, 1, 1, 0, 0])
        .labels_
        for seed in range(40)
    ]
    assert all(found[2] == found[5] == found[6] for found in labels)
    assert len({found[2] for found in labels}) > 1


@full
def test_missing_cells_and_weights_of_a_full_covariance():
    table = X.copy()
    table[5, 1] = NAN
    heavy = np.ones(40)
    heavy[0] = 3
    with pytest.raises(ValueError, match=r"sample_weight above 1.*cannot be combined with missing cells under a"):
        quick(family=Gaussian()).fit(table, sample_weight=heavy)
    assert quick().fit(table, sample_weight=heavy).family_ == Gaussian(covariance="diag")
    heavy[5] = 0  # the only gap is in a row that does not count
    assert quick(family=Gaussian()).fit(table, sample_weight=heavy).n_clusters_ == 2


@full
def test_whole_floats_are_weights():
    weights = np.tile([1, 2, 0, 1], 10)
    models = [quick().fit(X, sample_weight=w) for w in (weights, weights.astype(float), weights.tolist())]
    for model in models[1:]:
        np.testing.assert_array_equal(model.posterior_.draws, models[0].posterior_.draws)
    unweighted = quick().fit(X).posterior_.traces["log_joint"]
    assert not np.array_equal(models[0].posterior_.traces["log_joint"], unweighted)
    ones = quick().fit(X, sample_weight=np.ones(40))
    np.testing.assert_array_equal(ones.posterior_.traces["log_joint"], unweighted)


@long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory can be limited on Linux")
def test_memory_does_not_grow_with_the_weights():
    """Rows of weight 2**31 in all, in a process that may take 2 GiB more than it has."""
    command = [sys.executable, "-c", BILLIONS_OF_ROWS]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == 7 * [[0, 0, 0, 1, 1, 1]]


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (0.5, "non-negative whole numbers.*first 0.5"),
        (-1.0, "non-negative whole numbers.*first -1.0"),
        (NAN, "non-negative whole numbers"),
        (0.0, "sample_weight is zero for every row"),
        (2.0**40, "sample_weight sums to .*the most"),
    ],
)
def test_weights_that_are_refused(weight, words):
    with pytest.raises(ValueError, match=words):
        quick().fit(X, sample_weight=np.full(40, weight))


def test_one_weight_per_row():
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\), but X has 40 rows"):
        quick().fit(X, sample_weight=[1, 1, 1])
