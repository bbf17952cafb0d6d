"""Families that `Mixed` has never heard of: their blocks stand beside the built-in ones, in every engine."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.contracts.cases import LEARNED_CATEGORIES, LEARNED_RATE, MIXED_TOYS, Waiting, make, numbers, waiting_table
from tests.contracts.toy_family import GammaExponential, WaitingState
from tests.engines import test_learned_scale
from tests.engines.models import Example
from tests.engines.test_learned_scale import Learner, exact_joint
from tests.families.copied_family import Copied
from tests.mixtures import quick, unconverged_is_fine
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs
from tests.volumes import long

import partita
from partita import Mixture
from partita.engines import EM, CollapsedVariational
from partita.families import FAMILIES, Categorical, Count, Family, Gaussian, Mixed
from partita.families.beside import BesideState
from partita.kernels.compiling import _tuple_classes
from partita.kernels.gibbs import log_predictive_matrix, predictive_matrix, refresh_slots, sweep
from partita.model.model import Model
from partita.priors import DirichletProcess, FiniteDirichlet, Gamma
from partita.table import Table

KNOWN = Gaussian(covariance="known", variance=0.4)
PRIOR = DirichletProcess(concentration=1.0)


def beside(test):
    """Long: the engines' loops are compiled for the built-in blocks and the stranger together."""
    return long(pytest.mark.xdist_group("ProductGammaExponential")(test))


def people(n=60, seed=7):
    """Three groups: waiting times in minutes (x0), a number of large units (x1), a word (x2), a count (x3)."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    x = np.empty((n, 4), dtype=object)
    x[:, 0] = rng.exponential(np.array([0.3, 8.0, 90.0])[group])
    x[:, 1] = 1000.0 + rng.normal(40.0 * group, 8.0)
    x[:, 2] = np.where(rng.random(n) < 0.8, np.array(["red", "green", "blue"])[group], "red")
    x[:, 3] = rng.poisson(1.0 + 5.0 * group)
    for j in range(4):
        x[rng.choice(n, 3, replace=False), j] = None
    return x, group


# --- what the blocks are ------------------------------------------------------------------------------


def test_a_family_alone_is_the_whole_model():
    family, table = MIXED_TOYS[0]
    likelihood = family.resolve(table)
    assert type(likelihood) is GammaExponential
    assert likelihood.columns.tolist() == [0, 1]


def test_a_stranger_stands_behind_the_built_in_blocks():
    likelihood = Mixed(families={"x0": Waiting(shape=2.5)}).resolve(waiting_table())
    assert [block.columns.tolist() for block in likelihood.blocks] == [[], [1], [], [0], [0], [0]]
    state = likelihood.state(2)
    assert type(state) is BesideState
    assert type(state.second) is WaitingState


def test_a_model_of_a_built_in_class_joins_its_block():
    class Wide(Gaussian):
        def on_columns(self, table, columns):
            return Gaussian(covariance="known", variance=9.0).on_columns(table, columns)

    likelihood = Mixed(families={"x0": Wide(), "x1": KNOWN}).resolve(waiting_table())
    assert len(likelihood.blocks) == 5
    np.testing.assert_array_equal(likelihood.blocks[2].variance, [9.0, 0.4])


def test_a_family_may_join_its_columns_itself():
    table = Table.read(numbers(6, 3), standardize=False)
    stranger = Copied(covariance="known", variance=0.2)
    likelihood = Mixed(families={"x0": stranger, "x2": stranger}).resolve(table)
    assert [block.columns.tolist() for block in likelihood.blocks] == [[], [1], [], [], [], [0, 2]]


def test_the_classes_within_a_tuple_decide_which_code_is_run():
    """Of two combinations the second must not run, or be kept, as the first."""
    likelihood = Mixed(families={"x0": Waiting()}).resolve(waiting_table())
    assert WaitingState in _tuple_classes((1, likelihood.state(2)))


@long
def test_two_strangers_of_one_class_are_two_blocks():
    table = Table.read(np.exp(numbers(6, 3)), standardize=False)
    two = make(Mixed(families={"x0": Waiting(shape=2.0), "x2": Waiting(rate=3.0), "x1": KNOWN}), table)
    copies = np.array([[1, 0, 2, 0, 1, 0], [0, 1, 0, 1, 0, 3], [0] * 6])
    expected = np.zeros((6, 3))
    for family, column in ((Waiting(shape=2.0), 0), (Waiting(rate=3.0), 2), (KNOWN, 1)):
        likelihood = family.on_columns(table, np.array([column]))
        block = two._replace(likelihood=likelihood, rows=likelihood.rows(table))
        before = [block.log_marginal(c) for c in copies]
        expected += [[block.log_marginal(c + x) for c in copies] for x in np.eye(6)] - np.array(before)
    state = two.filled(*copies)
    np.testing.assert_allclose(log_predictive_matrix(two.rows, state, 6, 3), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two.likelihood.stats_of(state), two.stats(*copies), rtol=1e-12)
    assert code_is_kept(predictive_matrix, "BesideState")


def test_learned_numbers_of_two_blocks_are_told_apart():
    table = Table.read(np.exp(numbers(6, 3)), standardize=False)
    first, second = Waiting(rate=Gamma(2.0, 4.0)), Waiting(shape=2.0, rate=Gamma(3.0, 1.0))
    families = {"x0": first, "x2": second, "x1": KNOWN}
    found = Mixed(families=families).resolve(table)
    assert found.learned == {"x0_rate": 0.5, "x2_rate": 3.0}
    moved = found.with_learned(x0_rate=0.7, x2_rate=1.9)
    assert moved.learned == {"x0_rate": 0.7, "x2_rate": 1.9}
    alone = [family.on_columns(table, np.array([j])) for family, j in ((first, 0), (second, 2))]
    assert found.log_hyperprior() == pytest.approx(sum(block.log_hyperprior() for block in alone))
    resp = np.random.default_rng(5).dirichlet(np.ones(2), 6)
    best = [block.relearned(block.suffstats(block.rows(table), resp)).learned["rate"] for block in alone]
    relearned = found.relearned(found.suffstats(found.rows(table), resp)).learned
    assert list(relearned.values()) == pytest.approx(best)
    assert Mixed(families={**families, "x2": Waiting()}).resolve(table).learned == {"rate": 0.5}


def test_a_block_called_as_another_blocks_number_keeps_names_apart():
    pd = pytest.importorskip("pandas")
    table = Table.read(pd.DataFrame(np.exp(numbers(6, 2)), columns=["a", "b"]), standardize=False)
    found = Mixed(families={"a": LEARNED_RATE, "b": LEARNED_RATE}).resolve(table)
    found.names = (*found.names[:-2], "same", "same")
    assert list(found.learned) == ["same_rate", "same_rate_"]


# --- exact posteriors ---------------------------------------------------------------------------------


@beside
@pytest.mark.parametrize("position", [1, 2], ids=["known", "one cell of a full covariance drawn"])
def test_draws_are_from_the_exact_posterior(position):
    family, table = MIXED_TOYS[position]
    example = Example("mixed-toy", family.resolve(table), table)
    chain = run_gibbs(example.model(PRIOR), n_draws=6000, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), PRIOR))
    assert agreement.agrees, agreement
    other = Mixed(families={**family.families, "x0": Waiting(shape=20.0)}).resolve(table)
    wrong = exact_posterior(Example("other", other, table).subsets(), PRIOR)
    assert not compare_partitions(chain.labels, wrong).agrees
    assert code_is_kept(sweep, "BesideState")


def code_is_kept(entry, name):
    """Whether the next start finds code that needs nothing of this process; else it would be compiled again."""
    folders = {dispatcher._cache.folder for dispatcher in entry._by_kinds.values()}
    kept = [file.read_bytes() for folder in folders for file in folder.glob(f"{entry.__name__}-*")]
    assert all(b".numba.unresolved" not in content for content in kept)
    return any(name.encode() in content for content in kept)


@beside
def test_partitions_and_learned_numbers_are_from_the_exact_posterior(monkeypatch):
    families = {"x0": LEARNED_RATE, "x1": KNOWN, "categorical": LEARNED_CATEGORIES}
    hyperpriors = {"rate": LEARNED_RATE.rate, "pseudocount": LEARNED_CATEGORIES.pseudocount}
    learner = Learner("mixed-toy", Mixed(families=families), waiting_table(), hyperpriors)
    monkeypatch.setitem(test_learned_scale.LOG_GRIDS, "rate", np.linspace(-5.0, 3.0, 41))
    exact, densities = exact_joint(learner, PRIOR)
    labels, logs = test_learned_scale.run(learner, PRIOR, seed=11)
    agreement = compare_partitions(labels, exact)
    assert agreement.agrees, agreement
    assert logs.keys() == {"rate", "pseudocount"}
    for name, draws in logs.items():
        means = batch_means(draws)
        error = means.std(ddof=1) / np.sqrt(len(means))
        assert abs(means.mean() - densities[name] @ test_learned_scale.LOG_GRIDS[name]) < 4.5 * error, name


# --- a copy of a built-in block answers as the block ---------------------------------------------------


@long
@pytest.mark.xdist_group("copied")
@unconverged_is_fine
@pytest.mark.parametrize(
    "options",
    [{}, {"engine": "vb"}, {"engine": EM(), "prior": FiniteDirichlet(n_components=3)}],
    ids=repr,
)
def test_a_copy_of_a_block_answers_as_the_block(options):
    X, _ = people()
    X[:, 0] = np.where(X[:, 0] == None, 1.0, X[:, 0])  # noqa: E711
    X[:, 0] = np.log(X[:, 0].astype(float))
    rest = {"numeric": Gaussian(scale=0.5), "categorical": Categorical(pseudocount=0.5), "count": Count(shape=2.0)}
    given = {"covariance": "known", "variance": 0.3}
    models = [
        quick(family=Mixed(families={"x0": family(**given), **rest}), column_types={3: "count"}, **options).fit(X)
        for family in (Gaussian, Copied)
    ]
    block, copy = models
    assert block.n_clusters_ > 1
    assert len(copy._model.likelihood.blocks) == 6
    np.testing.assert_array_equal(copy.labels_, block.labels_)
    np.testing.assert_array_equal(copy.posterior_.draws, block.posterior_.draws)
    np.testing.assert_allclose(copy.predict_proba(X), block.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(copy.score_samples(X), block.score_samples(X), rtol=1e-9)
    for name in ("mean", "share", "relevance"):
        found, expected = (frame_column(model.profile_, name) for model in (copy, block))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    one, other = (model.explain(4) for model in (copy, block))
    assert one.log_weights == pytest.approx(other.log_weights, rel=1e-9, abs=1e-9)


def frame_column(frame, name):
    return np.asarray(frame[name], dtype=float)


# --- an estimator, from fit to file ---------------------------------------------------------------------


@beside
@unconverged_is_fine
@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb", "em"])
def test_a_model_with_a_stranger_from_fit_to_file(engine, tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, "waiting", Waiting)
    X, group = people()
    family = Mixed(families={"x0": Waiting(shape=2.0, rate=Gamma(2.0, 2.0)), "categorical": LEARNED_CATEGORIES})
    prior = FiniteDirichlet(n_components=3) if engine == "em" else None
    model = Mixture(family=family, engine=engine, prior=prior, column_types={3: "count"}, chains=2, draws=60,
                    random_state=0).fit(X)  # fmt: skip
    assert adjusted_rand_score(group, model.labels_) > 0.6
    columns = {column.name: column for column in model._model.table.schema.used}
    assert (columns["x0"].center, columns["x0"].scale) == (0.0, 1.0)
    assert columns["x1"].center > 900.0
    if engine == "gibbs":
        assert {"rate", "pseudocount", "scale", "mean_precision"} <= model.posterior_.traces.keys()
    model.save(tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita")
    assert again.family == family
    for answer in (Mixture.predict, Mixture.predict_proba, Mixture.score_samples, Mixture.novelty):
        np.testing.assert_array_equal(answer(again, X[:9]), answer(model, X[:9]))
    rows, _ = again.sample(50)
    assert str(rows) == str(model.sample(50)[0])
    assert (np.asarray(rows["x0"] if hasattr(rows, "columns") else rows[:, 0], dtype=float) > 0.0).all()
    assert str(again.profile_) == str(model.profile_)
    assert str(again.explain(3)) == str(model.explain(3))
    assert "x0" in str(model.explain(3))


@beside
def test_a_file_of_a_family_that_is_not_imported_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, "waiting", Waiting)
    X, _ = people()
    model = Mixture(family=Mixed(families={"x0": Waiting()}), engine="vb", column_types={3: "count"}).fit(X)
    model.save(tmp_path / "model.partita")
    monkeypatch.delitem(FAMILIES, "waiting")
    with pytest.raises(ValueError, match="family 'waiting' is not known here: import the module that registers it"):
        partita.load(tmp_path / "model.partita")


def test_numbers_of_a_family_alone_stay_as_they_are(monkeypatch):
    monkeypatch.setitem(FAMILIES, "waiting", Waiting)
    X = np.random.default_rng(2).exponential(3.0, (20, 1))
    for family in ("waiting", Waiting()):
        model = Mixture(family=family, engine="em", prior=FiniteDirichlet(n_components=1)).fit(X)
        np.testing.assert_array_equal(model._model.table.numeric, X)


# --- the second order of collapsed variational inference -------------------------------------------------


@long
@pytest.mark.xdist_group("Product")
def test_categories_in_mixed_have_the_second_order_of_categories_alone():
    words = np.array([list("aabbabba"), list("ppqqpqrr"), list("uvuvuvuv")], dtype=object).T
    table = Table.read(words)
    assert not Mixed().resolve(waiting_table()).has_second_order
    prior, engine, found = FiniteDirichlet(n_components=3, concentration=1.0), CollapsedVariational(order=2), []
    for family in (Mixed(), Categorical()):
        model = Model(family.resolve(table), prior, table, np.ones(8, dtype=np.int64))
        state = engine.init(np.random.default_rng(0), model)
        for _ in range(3):
            state, _ = engine.step(np.random.default_rng(0), state, model)
        found.append(state.resp)
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-14)


# --- refusals ---------------------------------------------------------------------------------------------


class Unfinished(Family):
    """Brings neither a kind nor on_columns."""

    @classmethod
    def examples(cls):
        return []


class Displaced(Waiting):
    """Loses its place in the table."""

    def on_columns(self, table, columns):
        return super().on_columns(table, np.zeros_like(columns))


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"x1": Unfinished()}, r"got Unfinished\(\) for 'x1': Unfinished must set kind to 'numeric', 'categorical', "
                               r"'count' and implement on_columns\(table, columns\)"),
        ({"x1": Displaced()}, r"Displaced.on_columns\(table, columns\) must return a model with the family's kind"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_block_is_told_what_it_lacks(families, message):
    table = Table.read(np.exp(numbers(6, 2)), standardize=False)
    with pytest.raises(TypeError, match=message):
        Mixed(families=families).resolve(table)


def test_a_family_of_no_columns_says_what_to_implement():
    with pytest.raises(NotImplementedError, match=r"Unfinished reads no columns: set its kind .* on_columns\(table"):
        Unfinished().resolve(waiting_table())


def test_a_stranger_is_named_where_its_kind_is_asked_for(monkeypatch):
    monkeypatch.setitem(FAMILIES, "waiting", Waiting)
    with pytest.raises(ValueError, match="'x1', whose columns are numeric: use Gaussian or LogNormal or Waiting"):
        Mixed(families={"x1": Count()}).resolve(waiting_table())


@pytest.mark.xdist_group("GammaExponential")
def test_a_learned_number_must_not_be_called_as_a_trace():
    class Clashing(GammaExponential):
        @property
        def learned(self):
            return {"concentration": 1.0}

    class ClashingFamily(Waiting):
        def on_columns(self, table, columns):
            return Clashing(np.ones(len(columns)), np.ones(len(columns)), columns)

    with pytest.raises(ValueError, match="learns a number called 'concentration', which is what the draws call"):
        quick(family=ClashingFamily()).fit(np.exp(numbers(6, 1)))


def test_refreshed_slots_of_both_parts_are_those_of_the_statistics():
    case = make(*MIXED_TOYS[1])
    state = case.filled(np.arange(6), np.ones(6))
    before = state.second.log_rate.copy(), state.first.known.mean.copy()
    state.second.log_rate[:] = state.first.known.mean[:] = np.nan
    refresh_slots(state, 2)
    np.testing.assert_array_equal(state.second.log_rate, before[0])
    np.testing.assert_array_equal(state.first.known.mean, before[1])
