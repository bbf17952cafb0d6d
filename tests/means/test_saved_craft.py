"""Files of `CRAFT`: what comes back, what the page says of them, and what is refused."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.files.test_layouts import PAGE, fields_table, members_table
from tests.fuzzing.sealing import Parts

import partita
from partita.files.json_options import to_json
from partita.files.layouts import CRAFT as LAYOUT
from partita.files.layouts import TABLE_MEMBERS
from partita.means import CRAFT

pytestmark = pytest.mark.filterwarnings("ignore:Dropped 1 constant column", "ignore:Farthest-first found")


def animals():
    """Numbers, dates, categories and flags with gaps, and a column that is constant."""
    rng, kind = np.random.default_rng(0), np.repeat(["cat", "dog", "owl"], 20)
    frame = pd.DataFrame(
        {
            "coat": np.where(kind == "owl", "feathers", "fur"),
            "weight": np.select([kind == "cat", kind == "dog"], [4.0, 20.0], 1.0) * np.exp(rng.normal(0, 0.2, 60)),
            "planet": "earth",
            "flies": (kind == "owl").astype(int),
            "born": np.datetime64("2020-01-01") + rng.integers(0, 700, 60).astype("timedelta64[D]"),
            "name": rng.choice(["Mia", "Leo", "Max"], 60),
        },
        index=[f"animal {i}" for i in range(60)],
    )
    frame.loc[frame.index[::7], ["weight", "name"]] = None
    return frame


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of a saved model."""
    path = tmp_path_factory.mktemp("saved") / "craft.partita"
    with pytest.warns(UserWarning, match="Dropped 1 constant column"):
        CRAFT(n_clusters_hint=3, n_init=2, random_state=0).fit(animals()).save(path)
    return path


@pytest.fixture
def changed(saved, tmp_path):
    """The path of the saved model after a change, sealed again."""

    def write(change):
        parts = Parts.of(saved)
        change(parts)
        parts.write(tmp_path / "changed.partita")
        return tmp_path / "changed.partita"

    return write


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"column_types": {"weight": "positive", "flies": "numeric"}, "n_clusters_hint": 3},
        {"budget": "approximate", "penalty": 8.0, "standardize": False},
        {"n_features_to_select": 2, "variance": "fixed", "locality": 0.1, "n_jobs": 2},
        {"distance": "euclidean", "n_clusters_hint": 3},
        {"as_printed": True, "n_clusters_hint": 3},
        {"budget": "approximate", "gain_threshold": 0.1, "n_clusters_hint": 2},
    ],
    ids=str,
)
def test_a_model_comes_back_with_the_same_answers(options, tmp_path):
    X = animals()
    model = CRAFT(n_init=2, random_state=np.random.default_rng(0), **options).fit(X)
    model.save(tmp_path / "model.partita")
    loaded = partita.load(tmp_path / "model.partita")
    assert type(loaded) is CRAFT
    assert loaded.get_params() == model.get_params() | {"random_state": None}
    for name in ("labels_", "features_", "gains_", "objective_path_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    for name in ("n_clusters_", "penalty_", "objective_", "n_iter_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(model, name)
        assert type(getattr(loaded, name)) is type(getattr(model, name))
    new = X.iloc[::-1]
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.get_support(cluster=0), model.get_support(cluster=0))
    assert loaded.to_frame().equals(model.to_frame())


@pytest.mark.parametrize(
    "X", [np.random.default_rng(0).normal(size=(30, 3)), np.random.default_rng(0).choice(["a", "b"], (30, 3))]
)
def test_tables_of_one_kind_come_back(X, tmp_path):
    model = CRAFT(n_init=2, random_state=0).fit(X)
    model.save(tmp_path / "model.partita")
    np.testing.assert_array_equal(partita.load(tmp_path / "model.partita").predict(X), model.predict(X))


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    partita.load(saved).save(tmp_path / "again.partita")
    assert (tmp_path / "again.partita").read_bytes() == saved.read_bytes()


def test_what_is_written_is_what_is_described(saved):
    parts = Parts.of(saved)
    LAYOUT.check_header(parts.header)
    LAYOUT.check_arrays(parts.header, parts.arrays)
    assert set(LAYOUT.arrays(parts.header)) == set(parts.arrays)
    told = {field.path.split(".")[1] for field in LAYOUT.fields if field.path.startswith("craft.")}
    assert set(parts.header["craft"]) | {"missing"} == told | {"missing"}


def test_the_page_says_what_the_layout_checks():
    assert members_table(LAYOUT.members[len(TABLE_MEMBERS) :]) in PAGE.read_text()
    assert fields_table([field for field in LAYOUT.fields if field.path == "craft.penalty"]) in PAGE.read_text()


def test_a_fresh_process_knows_the_estimator(saved):
    code = f"import partita; print(partita.load({str(saved)!r}).labels_.tolist())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(partita.load(saved).labels_.tolist())


def array(name, edit):
    """A change of one array."""
    return lambda parts: parts.put(name, edit(parts.arrays[name].copy()))


def first(value):
    """A change of the first number of an array."""

    def edit(numbers):
        numbers.flat[0] = value
        return numbers

    return edit


def option(name, value):
    return lambda parts: parts.header["craft"]["options"].update({name: to_json(value)})


@pytest.mark.parametrize(
    "change",
    [
        array("labels", first(3)),
        array("labels", first(-1)),
        array("labels", lambda labels: labels[:-1]),
        array("labels", lambda labels: np.minimum(labels, 1)),
        array("labels", lambda labels: labels.astype(float)),
        array("clusters/chosen", first(2)),
        array("clusters/chosen", lambda chosen: chosen[:, :-1]),
        array("clusters/chosen", lambda chosen: chosen[:-1]),
        array("clusters/chosen", lambda chosen: chosen.astype(float)),
        array("clusters/means", first(np.nan)),
        array("clusters/means", lambda means: means[:, :-1]),
        array("clusters/variances", first(0.0)),
        array("clusters/variances", first(-1.0)),
        array("clusters/variances", first(np.inf)),
        array("clusters/costs", first(np.nan)),
        array("clusters/costs", lambda costs: costs * 2.0),
        array("clusters/costs", lambda costs: costs[:, :-1]),
        array("background/means", lambda means: means[:-1]),
        array("background/variances", first(0.0)),
        array("background/costs", lambda costs: costs + 1.0),
        array("path", lambda path: path[:0]),
        array("path", first(np.nan)),
        array("table/numeric", lambda cells: cells[:-1]),
        array("table/codes", first(9)),
        option("budget", "some"),
        option("n_features_to_select", 99),
        option("n_features_to_select", "half"),
        option("penalty", 3.0),
        option("locality", 7.0),
        option("depth", 3),
        lambda parts: parts.header["craft"].update(penalty=0.0),
        lambda parts: parts.header["craft"].update(penalty=float("nan")),
        lambda parts: parts.header["craft"].pop("penalty"),
        lambda parts: parts.header["craft"]["schema"]["columns"].pop(),
        lambda parts: parts.header["craft"]["schema"]["dropped"].clear(),
        lambda parts: parts.members.pop("clusters/means.npy"),
        lambda parts: parts.header["arrays"].pop("labels"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(changed, change):
    with pytest.raises(ValueError, match=r"is not as partita writes files|is damaged or incomplete") as refusal:
        partita.load(changed(change))
    assert "\n" not in str(refusal.value)


def test_no_file_is_cut(saved, tmp_path):
    (tmp_path / "cut.partita").write_bytes(saved.read_bytes()[:-500])
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        partita.load(tmp_path / "cut.partita")
