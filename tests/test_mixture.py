"""Mixture finds the groups that were put in, the same ones from the same seed, and says how sure it is."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from tests.mixtures import categorical, counted, diagonal, full, known, mixed, quick, unconverged_is_fine
from tests.volumes import mostly_long

from partita import Mixture, Posterior, Table
from partita.engines import runner
from partita.families import Gaussian
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking

pytestmark = unconverged_is_fine


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(90, 2, centers=[[-6, 0], [6, 1], [0, 9]], cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def people() -> tuple[pd.DataFrame, np.ndarray]:
    """Two kinds of rows with numbers, text, truth values and counts, a tenth of the cells missing."""
    rng = np.random.default_rng(4)
    group = np.repeat([0, 1], [35, 25])
    frame = pd.DataFrame(
        {
            "height": rng.normal(np.array([160.0, 185.0])[group], 5.0),
            "town": np.where(rng.random(60) < 0.9, np.array(["Ulm", "Bonn"])[group], "Trier"),
            "member": rng.random(60) < np.array([0.1, 0.95])[group],
            "visits": rng.poisson(np.array([2.0, 25.0])[group]),
            "weight": rng.normal(np.array([55.0, 90.0])[group], 6.0),
        },
        index=[f"p{i}" for i in range(60)],
    ).astype({"member": object, "visits": float})
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, group


def assert_sound(model: Mixture, n_rows: int) -> None:
    """What holds of every fitted model."""
    labels, probabilities = model.labels_, model.probabilities_
    assert labels.dtype == np.int64
    assert labels.shape == (n_rows,)
    sizes = np.bincount(labels)
    assert sizes.size == model.n_clusters_
    assert (sizes > 0).all()
    first = [int(np.flatnonzero(labels == k)[0]) for k in range(sizes.size)]
    assert sorted(zip(-sizes, first)) == list(zip(-sizes, first))  # by size, ties by first row
    assert probabilities.shape == (n_rows, model.n_clusters_)
    assert probabilities.min() >= 0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.posterior_.n_objects == n_rows
    assert np.mean(probabilities.argmax(axis=1) == labels) > 0.9


# --- quality --------------------------------------------------------------------------------------


@full
@pytest.mark.parametrize(
    "prior",
    [DirichletProcess(), PitmanYor(), FiniteMixtures(), FiniteDirichlet(n_components=6), "finite-mixtures"],
)
def test_three_blobs(blobs, prior):
    X, y = blobs
    model = quick(prior=prior).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert_sound(model, 90)
    assert model.probabilities_[np.arange(90), model.labels_].min() > 0.7


@known
@pytest.mark.parametrize("prior", [None, StickBreaking(n_components=8)])
def test_three_blobs_of_known_variance(blobs, prior):
    X, y = blobs
    family = Gaussian(covariance="known", variance=0.64, mean_variance=25.0)
    model = quick(family=family, standardize=False, prior=prior).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert_sound(model, 90)


@mostly_long
@full
@pytest.mark.parametrize(("load", "n_large", "least"), [(load_iris, 3, 0.9), (load_wine, 3, 0.85)])
def test_tables_that_everybody_knows(load, n_large, least):
    X, y = load(return_X_y=True)
    model = quick(draws=100).fit(X)
    sizes = np.bincount(model.labels_)
    assert (sizes > 10).sum() == n_large
    assert sizes[sizes > 10].sum() > 0.9 * len(X)
    assert adjusted_rand_score(y, model.labels_) > least
    assert_sound(model, len(X))


@diagonal
def test_iris_with_independent_columns():
    X, y = load_iris(return_X_y=True)
    model = quick(family=Gaussian(covariance="diag")).fit(X)
    assert 3 <= model.n_clusters_ <= 7
    assert adjusted_rand_score(y, model.labels_) > 0.5
    assert_sound(model, len(X))


@full
def test_one_gaussian_is_one_cluster():
    X = np.random.default_rng(0).multivariate_normal([3.0, -20.0], [[4.0, 3.0], [3.0, 9.0]], 150)
    model = quick().fit(X)
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.probabilities_, np.ones((150, 1)))
    assert (model.to_frame()["runner_up"] == -1).all()


@mixed
def test_a_mixed_table_with_missing_cells(people):
    frame, group = people
    model = quick(column_types={"visits": "count"}).fit(frame)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(group, model.labels_) == 1.0
    assert model.posterior_.provenance["likelihood"] == "mixed"
    assert_sound(model, 60)
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(frame.columns)


@categorical
def test_categories_alone():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], [20, 15, 10])
    X = np.array(list("abc"), dtype=object)[(group[:, None] + (rng.random((45, 8)) < 0.1)) % 3]
    model = quick().fit(X)
    assert adjusted_rand_score(group, model.labels_) > 0.9
    assert_sound(model, 45)
    assert not hasattr(model, "feature_names_in_")


@counted
def test_counts_by_column_types():
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1], [25, 15])
    X = rng.poisson(np.array([[1, 12, 3], [9, 1, 3]])[group])
    model = quick(column_types=dict.fromkeys(range(3), "count")).fit(X)
    assert model.posterior_.provenance["likelihood"] == "count"
    assert adjusted_rand_score(group, model.labels_) > 0.85
    assert_sound(model, 40)


@known
def test_identical_rows_share_a_label_where_draws_part_them():
    X = np.repeat([[0.0], [0.8], [1.6], [2.4]], [5, 3, 4, 2], axis=0)
    X = X[np.random.default_rng(0).permutation(14)]
    family = Gaussian(covariance="known", variance=0.3)
    model = quick(family=family, prior=DirichletProcess(concentration=15.0), draws=100).fit(X)
    same = X == X.T
    parted = (model.posterior_.similarity() < 1.0) & same & ~np.eye(14, dtype=bool)
    assert parted[same & ~np.eye(14, dtype=bool)].all()
    assert (model.labels_[:, None] == model.labels_)[same].all()
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)


@full
def test_the_estimate_is_that_of_the_posterior(blobs):
    model = quick().fit(blobs[0])
    estimate = model.posterior_.estimate()
    np.testing.assert_array_equal(model.labels_, estimate.labels)
    np.testing.assert_array_equal(model.probabilities_, estimate.probabilities)
    np.testing.assert_array_equal(model.to_frame()["confidence"], estimate.confidence)


# --- the same seed, the same draws ----------------------------------------------------------------


@mostly_long
@full
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_draws_do_not_depend_on_the_number_of_jobs(blobs, n_jobs):
    X = blobs[0].copy()
    X[::7, 1] = np.nan  # cells are drawn too
    alone = quick(chains=3).fit(X)
    together = quick(chains=3, n_jobs=n_jobs).fit(X)
    np.testing.assert_array_equal(together.posterior_.draws, alone.posterior_.draws)
    np.testing.assert_array_equal(together.score_samples(X), alone.score_samples(X))
    for name, trace in alone.posterior_.traces.items():
        np.testing.assert_array_equal(together.posterior_.traces[name], trace)


@mostly_long
@full
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng, lambda s: s, np.int64])
def test_random_states(blobs, kind):
    X, _ = blobs
    first, again, other = (quick(random_state=kind(seed)).fit(X) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.posterior_.draws, again.posterior_.draws)
    np.testing.assert_array_equal(first.sample(5)[0], again.sample(5)[0])
    assert not np.array_equal(first.posterior_.traces["log_joint"], other.posterior_.traces["log_joint"])


@full
def test_a_generator_is_used_up_and_no_seed_is_a_new_seed(blobs):
    rng = np.random.default_rng(0)
    traces = [
        quick(random_state=state).fit(blobs[0]).posterior_.traces["log_joint"] for state in (rng, rng, None, None)
    ]
    assert len({trace.tobytes() for trace in traces}) == 4


@full
def test_the_kind_of_frame_does_not_matter(blobs):
    X, _ = blobs
    reference = quick().fit(X)
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind({"a": X[:, 0], "b": X[:, 1]})
        model = quick().fit(frame)
        np.testing.assert_array_equal(model.posterior_.draws, reference.posterior_.draws)
        np.testing.assert_array_equal(model.score_samples(frame), reference.score_samples(X))
        assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(quick().fit(X.tolist()).posterior_.draws, reference.posterior_.draws)


@mixed
def test_every_form_of_a_mixed_table_gives_the_same_draws(people, tmp_path):
    frame, _ = people
    columns = {name: [None if pd.isna(v) else v for v in frame[name]] for name in frame}
    arrow = pa.table(columns)
    pa.parquet.write_table(arrow, tmp_path / "people.parquet")
    pa.csv.write_csv(arrow, tmp_path / "people.csv")
    rows = np.array(list(zip(*columns.values())), dtype=object)
    forms = [pl.DataFrame(columns), arrow, rows, tmp_path / "people.parquet", tmp_path / "people.csv"]
    reference = quick(draws=20).fit(frame)
    for form in forms:
        model = quick(draws=20).fit(form)
        np.testing.assert_array_equal(model.posterior_.draws, reference.posterior_.draws)
        np.testing.assert_array_equal(model.predict_proba(form), reference.predict_proba(frame))
        if form is not rows:  # whose columns have no names
            assert model.posterior_.provenance["data"] == reference.posterior_.provenance["data"]


@mixed
def test_a_file_and_a_table_that_was_read_go_in_as_well(people, tmp_path):
    frame, _ = people
    frame.to_csv(tmp_path / "people.csv", index=False)
    of_path = quick(draws=20).fit(tmp_path / "people.csv")
    of_table = quick(draws=20).fit(Table.read(tmp_path / "people.csv"))
    np.testing.assert_array_equal(of_path.posterior_.draws, of_table.posterior_.draws)
    assert of_path.feature_names_in_.tolist() == of_table.feature_names_in_.tolist() == list(frame.columns)
    assert list(of_path.to_frame()) == ["label", "confidence", "runner_up"]
    np.testing.assert_array_equal(of_path.predict(tmp_path / "people.csv"), of_table.predict(frame))
    with pytest.raises(ValueError, match="X is a Table, whose columns are read already"):
        quick(column_types={"a": "count"}).fit(Table.read(tmp_path / "people.csv"))
    with pytest.raises(ValueError, match="X is a Table that was read without the schema of fit"):
        of_path.predict(Table.read(frame.iloc[:20]))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        of_path.predict(tmp_path / "nobody.csv")


@full
def test_a_table_of_an_array_has_no_names_to_check(blobs):
    X, _ = blobs
    model = quick().fit(Table.read(pd.DataFrame(X, columns=["a", "b"])))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit(Table.read(X))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    model.predict(X)  # without a warning about names


# --- when a run ends ------------------------------------------------------------------------------


@full
def test_an_easy_table_converges(blobs):
    model = Mixture(random_state=0).fit(blobs[0])  # without any warning
    assert model.converged_ is True
    assert model.posterior_.provenance["stopped"] == "converged"
    assert model.posterior_.n_chains == 4
    assert model.diagnostics_.verdict == "Chains agree."
    learned = {"concentration", "scale", "mean_precision"}
    assert {"n_clusters", "log_joint", "entropy", "membership"} | learned == model.diagnostics_.table.keys()


@full
def test_the_cap_is_reported(blobs, monkeypatch):
    monkeypatch.setattr(runner, "MOST_SWEEPS", 400)
    monkeypatch.setattr(runner, "converged", lambda traces: False)
    with pytest.warns(ConvergenceWarning, match=r"not converged when 400 sweeps per chain were reached\. Only one"):
        model = Mixture(chains=1, random_state=0).fit(blobs[0])
    assert model.posterior_.provenance["stopped"] == "cap"
    assert model.converged_ is False


@full
@pytest.mark.parametrize("draws", ["auto", 500])
def test_hardly_any_time_is_reported(blobs, draws):
    with pytest.warns(ConvergenceWarning, match="Too few draws to judge"):
        model = Mixture(chains=3, draws=draws, max_time=1e-6, random_state=0).fit(blobs[0])
    assert model.posterior_.provenance["stopped"] == "max_time"
    assert model.family_note_ == "There was no time to weigh Gaussian() against Gaussian(covariance='diag')."
    assert model.posterior_.partitions.shape[:2] == (3, 1)
    assert_sound(model, 90)


@full
def test_an_interruption_is_reported(blobs):
    def stop(progress):
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="Interrupted: the result rests on 2 draws"):
        model = quick(progress=stop).fit(blobs[0])
    assert model.posterior_.provenance["stopped"] == "interrupted"
    assert_sound(model, 90)


@full
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_disagreement_of_a_stated_number_of_draws_is_reported(blobs):
    with pytest.warns(ConvergenceWarning, match="run longer"):
        quick(draws=3, warmup=0).fit(blobs[0])
    quick(draws=400).fit(blobs[0])  # enough to agree: silent


@full
def test_progress_and_posterior(blobs, tmp_path):
    seen = []
    model = quick(progress=seen.append).fit(blobs[0])
    assert seen[0].sweep == 1
    model.posterior_.save(tmp_path / "draws.partita")
    again = Posterior.load(tmp_path / "draws.partita")
    np.testing.assert_array_equal(again.draws, model.posterior_.draws)
    assert again.provenance == model.posterior_.provenance
    tree = model.posterior_.to_arviz()
    assert tree["posterior"]["partition"].shape == (2, 40, 90)
    np.testing.assert_array_equal(tree["posterior"]["n_clusters"], model.posterior_.traces["n_clusters"])
