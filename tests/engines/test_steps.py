"""Rows or columns in several places: what crosses the line adds up to the whole, and so does the fit."""

import pickle
from dataclasses import replace
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_blobs
from tests.contracts.cases import mixed_table
from tests.engines.models import EXAMPLES, LEARNED, parameters, take_rows
from tests.engines.variational_models import PRIORS, encoded, random_responsibilities, run

from partita import Mixture
from partita.engines import EM
from partita.engines.em_steps import EMSteps
from partita.engines.steps import Encoded, Statistics, Steps
from partita.engines.table_reader import TableReader
from partita.engines.variational import Variational
from partita.engines.variational_steps import VariationalSteps
from partita.families import Categorical, Gaussian, Mixed
from partita.families.base import Shared
from partita.metrics import adjusted_rand
from partita.model.model import Model
from partita.priors import FiniteDirichlet, StickBreaking
from partita.table import Table

BOTH = [FiniteDirichlet(n_components=12), StickBreaking(n_components=12)]
both_priors = pytest.mark.parametrize("prior", BOTH, ids=lambda prior: prior.name)


def label_matrix(n=400, n_columns=6, seed=0):
    """Labels of noisy base clusterings of four groups, some missing, an object without any."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, n)
    labels = np.column_stack([rng.permutation(4)[group] for _ in range(n_columns)])
    labels = np.where(rng.random(labels.shape) < 0.15, rng.integers(0, 4, labels.shape), labels).astype(object)
    labels[rng.random(labels.shape) < 0.1] = None
    labels[17] = None
    return labels


def read_labels(labels):
    with pytest.warns(UserWarning, match="no observed cell"):
        return Table.read(labels, column_types=dict.fromkeys(range(labels.shape[1]), "categorical"))


def learner(table, family, prior):
    """The steps, and the model of the rows that take part."""
    likelihood = family.resolve(table)
    model = Model(likelihood, prior, table, np.where(table.empty_rows, 0, 1)).taught()
    return Variational().steps(model, TableReader(table.schema)), model


def assert_same_statistics(first, second):
    for own, other in zip(first, second):
        np.testing.assert_allclose(own, other, rtol=1e-10, atol=1e-10 * (1.0 + np.abs(first.stats).max()))


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("example", "prior"), parameters([*EXAMPLES, *LEARNED], PRIORS[1::3], sampled=False))
@pytest.mark.parametrize("tries_merges", [False, True])
def test_statistics_of_parts_add_up(example, prior, tries_merges):
    model = example.model(prior)
    steps = Variational().steps(model)
    n = example.table.n_rows
    state = Variational().start(model, random_responsibilities(n, 3))
    if tries_merges:
        state = replace(state, pairs=np.array([[0, 2], [0, 1]]))
    parts = [np.arange(2), np.arange(2, 3), np.arange(3, n)]
    own = [
        steps.local_statistics(
            Encoded(model.likelihood.rows(take_rows(example.table, part)), np.ones(part.size)), state
        )
        for part in parts
    ]
    assert all(isinstance(array, np.ndarray) for part in own for array in part)
    assert own[0].overlaps.size == (2 if tries_merges else 0)
    assert_same_statistics(steps.local_statistics(encoded(model), state), reduce(steps.merge, own))


class HardState(NamedTuple):
    """Of `HardSteps`: centres of the groups."""

    stats: np.ndarray
    centres: np.ndarray
    log_total: float = np.nan

    @property
    def n_components(self):
        return len(self.centres)


class HardSteps(Steps):
    """A stranger's: k-means, whose iterations need sizes and sums of rows and nothing else."""

    def log_densities(self, rows, state):
        return -((rows.x[:, None] - state.centres) ** 2).sum(axis=2)

    def share_out(self, rows, row_weights, state):
        logs = self.log_densities(rows, state)
        resp = np.eye(state.n_components)[logs.argmax(axis=1)] * row_weights[:, None]
        return Shared(float(row_weights @ logs.max(axis=1)), resp.sum(axis=0), self.likelihood.suffstats(rows, resp))

    def global_step(self, statistics, state=None):
        self.check_statistics(statistics, state)
        d = statistics.stats.shape[1] // 3
        centres = statistics.stats[:, d : 2 * d] / statistics.sizes[:, None]
        return HardState(statistics.stats, centres, statistics.log_total[0])


MAKERS = {
    "vb": VariationalSteps,
    "em map": EMSteps,
    "em ml": partial(EMSteps, estimate="ml"),
    "a stranger's": HardSteps,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
class TestAnySteps:
    """What every engine of this kind promises, whatever it maximises."""

    x = make_blobs(60, 2, random_state=3)[0]
    table = Table.read(x)
    model = Model(
        Gaussian(covariance="diag").resolve(table), FiniteDirichlet(n_components=3), table, np.ones(60, np.int64)
    )

    def rows(self, chosen):
        return Encoded(self.model.likelihood.rows(self.table.take(chosen)), np.ones(len(chosen)))

    def states(self, make, places, n_steps=5):
        """States of some iterations over rows in places."""
        steps = make(self.model.likelihood, self.model.prior)
        whole = self.rows(np.arange(60))
        states = [steps.global_step(steps.given_responsibilities(whole, random_responsibilities(60, 3)))]
        for _ in range(n_steps):
            parts = [steps.local_statistics(self.rows(place), states[-1]) for place in places]
            states.append(steps.global_step(reduce(steps.merge, parts), states[-1]))
        return steps, states

    def test_places_change_nothing(self, make):
        _, whole = self.states(make, [np.arange(60)])
        _, apart = self.states(make, [np.arange(10), np.arange(10, 11), np.arange(11, 60)])
        for one, other in zip(whole, apart):
            np.testing.assert_allclose(one.stats, other.stats, rtol=1e-9, atol=1e-9)

    def test_weights_are_copies(self, make):
        steps, states = self.states(make, [np.arange(60)], 1)
        copies = np.arange(60) % 3
        weighted = Encoded(self.model.likelihood.rows(self.table), copies.astype(float))
        repeated = self.rows(np.repeat(np.arange(60), copies))
        first, second = (steps.local_statistics(rows, states[-1]) for rows in (weighted, repeated))
        assert_same_statistics(first, second)

    def test_memberships_are_the_shares_of_the_densities(self, make):
        steps, states = self.states(make, [np.arange(60)], 1)
        rows, state = self.rows(np.arange(60)), states[-1]
        resp = steps.memberships(rows, state)
        np.testing.assert_allclose(resp.sum(axis=1), 1.0)
        np.testing.assert_allclose(resp, softmax(steps.log_densities(rows.rows, state), axis=1), rtol=1e-9, atol=1e-300)

    def test_statistics_of_another_state_are_refused(self, make):
        steps, states = self.states(make, [np.arange(60)], 1)
        statistics = steps.local_statistics(self.rows(np.arange(60)), states[-1])
        fewer = statistics._replace(sizes=statistics.sizes[1:], stats=statistics.stats[1:])
        with pytest.raises(ValueError, match="not statistics under this state"):
            steps.global_step(fewer, states[-1])
        with pytest.raises(ValueError, match="different states"):
            steps.merge(statistics, fewer)

    def test_steps_and_states_travel(self, make):
        steps, states = self.states(make, [np.arange(60)], 1)
        there, state = pickle.loads(pickle.dumps((steps, states[-1])))
        rows = self.rows(np.arange(60))
        assert_same_statistics(steps.local_statistics(rows, states[-1]), there.local_statistics(rows, state))


@pytest.mark.parametrize("estimate", ["map", "ml"])
def test_em_over_places_is_the_plain_fit(estimate):
    x, _ = make_blobs(90, 3, random_state=1)
    engine = EM(estimate=estimate, n_init=1)
    fitted = Mixture(engine=engine, prior=FiniteDirichlet(n_components=3), random_state=0).fit(x)
    steps, state = fitted.steps_, fitted.state_
    parts = [steps.local_statistics(x[:30], state), steps.local_statistics(x[30:], state)]
    after = steps.global_step(reduce(steps.merge, parts), state)
    offset = fitted.table_.log_jacobian().sum()
    assert after.objective + offset == pytest.approx(fitted.loglik_path_[-1], abs=1e-3)
    np.testing.assert_array_equal(
        np.argsort(np.argsort(-np.exp(state.log_weights))), np.argsort(np.argsort(-np.exp(after.log_weights)))
    )
    assert adjusted_rand(fitted.labels_, steps.memberships(x, state).argmax(axis=1)) == 1.0


@both_priors
def test_a_fit_over_three_places_is_the_plain_fit(prior):
    labels = label_matrix()
    steps, model = learner(read_labels(labels), Categorical(), prior)
    steps = pickle.loads(pickle.dumps(steps))
    state = steps.start(np.random.default_rng(3), labels)
    engine = Variational()
    plain, bounds = run(engine, model, engine.init(np.random.default_rng(3), model))
    assert state.sizes == pytest.approx(plain[0].sizes)
    places = [labels[:150], labels[150:151], labels[151:]]
    path = []
    while not state.settled:
        parts = [steps.local_statistics(rows, state) for rows in places]
        last, state = state, pickle.loads(pickle.dumps(steps.global_step(reduce(steps.merge, parts), state)))
        path.append(state.bound)
    assert plain[-1].n_components == 4 < plain[0].n_components
    np.testing.assert_allclose(path, bounds, rtol=1e-10)
    np.testing.assert_allclose(last.sizes, plain[-1].sizes, rtol=1e-9)
    np.testing.assert_allclose(last.stats, plain[-1].stats, rtol=1e-9, atol=1e-8)


def test_equal_rows_are_encoded_once_and_rows_without_cells_left_out():
    labels = np.array([["a", "x"], ["b", "y"], ["a", "x"], [None, None], ["a", None]], dtype=object)
    table = read_labels(labels)
    steps, _ = learner(table, Categorical(), BOTH[0])
    found = steps.encode(labels)
    assert sorted(found.weights) == [1.0, 1.0, 2.0]
    assert steps.encode(labels, [1, 5, 2, 9, 0]).weights.sum() == 8.0


def test_raw_rows_need_a_reader():
    steps = Variational().steps(EXAMPLES[0].model(BOTH[0]))
    with pytest.raises(ValueError, match=r"with a reader, for example TableReader\(schema\)"):
        steps.encode([[1.0, 2.0]])


def test_messages_hold_no_array_of_rows():
    labels = label_matrix()
    steps, _ = learner(read_labels(labels), Categorical(), BOTH[0])
    state = steps.start(np.random.default_rng(0), labels)
    message = steps.local_statistics(labels, state)
    k, s = state.stats.shape
    assert Statistics(*(array.shape for array in message)) == ((1,), (k,), (k, s), (0,))


# --- columns --------------------------------------------------------------------------------------


def one_step_by_columns(steps, columns, state):
    loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(columns))
    resp = steps.responsibilities(loglik, state)
    parts = [steps.column_statistics(column, resp, m) for m, column in enumerate(columns)]
    return steps.join_columns(loglik, parts, state)


@both_priors
def test_a_fit_over_columns_is_the_plain_fit(prior):
    labels = label_matrix()
    steps, model = learner(read_labels(labels), Categorical(), prior)
    engine = Variational()
    plain, bounds = run(engine, model, engine.init(np.random.default_rng(3), model))
    state, path = plain[0], []
    while not state.settled:
        state = steps.global_step(one_step_by_columns(steps, list(labels.T), state), state)
        path.append(state.bound)
    np.testing.assert_allclose(path, bounds, rtol=1e-10)


MIXED = mixed_table(n=9, n_missing=3)
MIXED_CELLS = np.column_stack(list(MIXED.decode(MIXED.numeric, MIXED.codes, MIXED.counts).values())).astype(object)


@pytest.mark.parametrize("weights", [None, np.arange(9) % 3])
def test_columns_of_any_kind_add_up(weights):
    likelihood = Mixed().resolve(MIXED)
    steps = VariationalSteps(likelihood, BOTH[0], TableReader(MIXED.schema))
    counted = np.ones(9) if weights is None else weights
    rows = Encoded(likelihood.rows(MIXED), counted)
    state = steps.global_step(steps.given_responsibilities(rows, random_responsibilities(9, 3)))
    state = replace(state, pairs=np.array([[0, 2]]))
    columns = list(MIXED_CELLS.T)
    loglik = sum(steps.column_loglik(column, state, m) for m, column in enumerate(columns))
    resp = steps.responsibilities(loglik, state, weights)
    parts = [steps.column_statistics(column, resp, m) for m, column in enumerate(columns)]
    assert_same_statistics(steps.local_statistics(rows, state), steps.join_columns(loglik, parts, state, weights))


def test_a_missing_label_contributes_exactly_nothing():
    labels = label_matrix()
    steps, model = learner(read_labels(labels), Categorical(), BOTH[0])
    state = Variational().init(np.random.default_rng(0), model)
    gone = np.array([label is None for label in labels[:, 2]])
    found = steps.column_loglik(labels[:, 2], state, 2)
    assert (found[gone] == 0.0).all()
    assert (found[~gone] < 0.0).all()
    assert (steps.column_statistics(np.full(400, None), np.full((400, 3), 1 / 3), 2) == 0.0).all()


def test_a_constant_column_says_nothing():
    with pytest.warns(UserWarning, match="constant"):
        table = Table.read([["a", "c"], ["b", "c"], ["a", "c"]])
    steps, model = learner(table, Categorical(), FiniteDirichlet(n_components=2))
    state = Variational().start(model, random_responsibilities(3, 2))
    assert (steps.column_loglik(["c", "d", None], state, 1) == 0.0).all()


def test_full_covariances_cannot_be_taken_apart():
    x, _ = make_blobs(20, 2, random_state=0)
    steps, model = learner(Table.read(x), Gaussian(), FiniteDirichlet(n_components=2))
    state = Variational().start(model, random_responsibilities(20, 2))
    with pytest.raises(ValueError, match=r"full-covariance Gaussian looks at all columns.*covariance='diag'"):
        steps.column_loglik(x[:, 0], state, 0)
    with pytest.raises(ValueError, match="looks at all columns"):
        steps.column_statistics(x[:, 0], random_responsibilities(20, 2), 0)


def test_columns_that_cannot_be_read():
    reader = TableReader(MIXED.schema)
    with pytest.raises(ValueError, match="Column 6 was not seen in fit: they are numbered from 0 to 5"):
        reader.read_column(np.zeros(3), 6)
    with pytest.raises(ValueError, match=r"one cell per row: got an array of shape \(3, 2\)"):
        reader.read_column(np.zeros((3, 2)), 1)
    with pytest.raises(ValueError, match=r"'x0'.*not seen in fit"):
        TableReader(MIXED.schema, unseen="error").read_column(["a", "elephant"], 0)
    with pytest.warns(UserWarning, match="'elephant' in column 'x0'"):
        table = reader.read_column(["a", "elephant"], 0)
    np.testing.assert_array_equal(table.codes, reader.read_column(["a", None], 0).codes)


# --- arrays that do not fit -----------------------------------------------------------------------


def test_arrays_that_do_not_fit_reach_no_kernel():
    labels = label_matrix(n=30, n_columns=3)
    table = read_labels(labels)
    steps, model = learner(table, Categorical(), BOTH[0])
    rows = Encoded(model.likelihood.rows(model.table), np.ones(model.table.n_rows))
    resp = np.full((model.table.n_rows, 2), 0.5)
    state = steps.global_step(steps.given_responsibilities(rows, resp))
    for wrong in (resp[:-1], resp[:, 0], -resp, resp * np.nan, resp.astype(str), np.empty((0, 2))):
        with pytest.raises(ValueError, match="Responsibilities"):
            steps.given_responsibilities(rows, wrong)
        with pytest.raises(ValueError, match="Responsibilities"):
            steps.column_statistics(labels[~table.empty_rows, 0], wrong, 0)
    statistics = steps.local_statistics(rows, state)
    for wrong in (
        statistics._replace(sizes=statistics.sizes[:-1]),
        statistics._replace(stats=statistics.stats[:, :-1]),
        statistics._replace(stats=statistics.stats.astype(np.float32)),
        statistics._replace(log_total=np.empty(0)),
    ):
        for known in (state, None):
            with pytest.raises(ValueError, match=r"Statistics are float64 arrays|not statistics under this state"):
                steps.global_step(wrong, known)
    for change in ({"log_weights": state.log_weights[:-1]}, {"pairs": np.array([[0, 99]])}, {"stats": state.stats[:0]}):
        with pytest.raises(ValueError, match="do not fit together"):
            replace(state, **change)
