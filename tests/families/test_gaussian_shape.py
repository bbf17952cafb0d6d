"""``Gaussian(shape=...)``: what the scale of a group is a multiple of, and how "auto" learns it from a table."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import Mixture, load
from partita.engines.family_evidence import best_family, shape_within
from partita.engines.runner import Plan
from partita.engines.variational import Variational
from partita.families import Gaussian, LogNormal, Mixed
from partita.families.automatic import candidate_families, covariance_of, has_shape, with_shape
from partita.model.model import Model
from partita.priors import DirichletProcess
from partita.table import Table

MATRIX = np.array([[1.0, 0.3, -2.0], [0.5, 4.0, 0.1], [0.0, 1.0, 0.2]])
SHAPE = np.array([[1.0, 0.6, 0.0], [0.6, 2.0, -0.5], [0.0, -0.5, 0.7]])


def cloud(n=200, seed=0):
    return np.random.default_rng(seed).multivariate_normal(np.zeros(3), SHAPE, n)


def three_groups(seed=0, n=60):
    """Three groups, each clear of the others, in three columns, their sum and a double."""
    rng = np.random.default_rng(seed)
    centres = 4.0 * np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 1.0], [0.0, 1.5, -1.0]])
    x = np.repeat(centres, n, axis=0) + rng.normal(size=(3 * n, 3))
    return np.column_stack([x, x[:, 0] + x[:, 1], 2.0 * x[:, 2]])


def thin_groups(seed=0):
    """Three groups 6 standard deviations apart, of five columns of which each nearly tells the others."""
    rng = np.random.default_rng(seed)
    corners = 6.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.866]])
    directions = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, :2]
    root = np.linalg.cholesky(np.full((5, 5), 0.97) + 0.03 * np.eye(5))
    return (rng.normal(size=(210, 5)) + np.repeat(corners @ directions.T, 70, axis=0)) @ root.T


def read(x, **how):
    return Table.read(x, **{"standardize": False, "column_steps": 0, "guess_types": False} | how)


def outcome_of(table, family):
    engine = Variational(n_init=1, max_iter=30)
    model = Model(
        family.resolve(table), engine.prior_for(DirichletProcess()), table, table.row_weights.astype(np.int64)
    )
    return engine.fit(model, Plan().begun(), np.random.SeedSequence(0))


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_the_shape_of_the_columns_is_the_default(covariance):
    table = read(cloud())
    variances = table.numeric.var(axis=0)
    given = Gaussian(covariance=covariance, shape=np.diag(variances) if covariance == "full" else variances)
    stats = given.resolve(table).suffstats(given.resolve(table).rows(table), np.ones((200, 1)))
    default = Gaussian(covariance=covariance).resolve(table)
    np.testing.assert_allclose(given.resolve(table).log_marginal(stats), default.log_marginal(stats), rtol=1e-12)


def test_in_any_linear_coordinates_the_model_is_the_same():
    """log p(A x) = log p(x) - n log |A| for every set of rows where the shape is A S A', whatever A."""
    x = cloud(60)
    options = {"mean_precision": 0.3, "dof": 6.0}
    both = [
        (Gaussian(shape=shape, **options).resolve(read(rows)), read(rows))
        for rows, shape in ((x, SHAPE), (x @ MATRIX.T, MATRIX @ SHAPE @ MATRIX.T))
    ]
    resp = np.eye(3)[np.random.default_rng(0).integers(0, 3, 60)]
    found = [model.log_marginal(model.suffstats(model.rows(table), resp)) for model, table in both]
    np.testing.assert_allclose(found[1], found[0] - resp.sum(axis=0) * np.linalg.slogdet(MATRIX)[1], rtol=1e-9)


def test_engines_that_do_not_learn_expect_half_of_it():
    table = read(cloud())
    np.testing.assert_allclose(
        Gaussian(shape=SHAPE).resolve_fixed(table).scale, 0.5 * (6.0 - 3.0 - 1.0) * SHAPE, rtol=1e-12
    )
    widths = np.array([1.0, 2.0, 3.0])
    diagonal = Gaussian(covariance="diag", shape=widths).resolve_fixed(table)
    np.testing.assert_allclose(diagonal.scale, 0.5 * (4.0 - 1.0 - 1.0) * widths, rtol=1e-12)


def test_the_shape_within_groups_by_the_definition():
    x = three_groups()[:, :3]
    table, weights = read(x), np.random.default_rng(1).integers(1, 4, len(x))
    weighted = replace(read(x, column_steps=0.6), weights=weights)
    for one, of_rows, rounding in ((table, np.ones(len(x)), 0.0), (weighted, weights, 0.6**2 / 12.0)):
        outcome = outcome_of(one, Gaussian())
        resp = outcome.probabilities * of_rows[:, None]
        expected = rounding * np.eye(3)
        for k in range(resp.shape[1]):
            rest = x - np.average(x, axis=0, weights=resp[:, k])
            expected += (resp[:, [k]] * rest).T @ rest / resp.sum()
        variances = np.cov(x.T, fweights=of_rows.astype(int), ddof=0).diagonal()
        expected /= np.mean(expected.diagonal() / variances)
        np.testing.assert_allclose(shape_within(outcome, one), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_a_shape_is_positive_definite_where_columns_are_sums_and_cells_are_missing(gaps):
    x = three_groups()
    x[np.random.default_rng(0).random(x.shape) < gaps] = np.nan
    table = read(x)
    eigenvalues = np.linalg.eigvalsh(shape_within(outcome_of(table, Gaussian(covariance="diag")), table))
    assert eigenvalues[0] > 1e-8 * eigenvalues[-1]


@pytest.mark.parametrize("engine", ["gibbs", "vb", "cvb"])
@pytest.mark.parametrize("seed", [0, 1])
def test_groups_are_found_beside_sums_of_columns(engine, seed):
    options = {"engine": engine, "random_state": 0, "max_time": 20}
    x = three_groups(seed)
    model = Mixture(**options).fit(x)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 60), model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_groups_lie_side_by_side_in_a_thin_table(seed):
    x = thin_groups(seed)
    for rows in (x, np.column_stack([x.astype(object), np.array(list("ab"))[np.arange(210) % 2]])):
        model = Mixture(engine="vb", random_state=0).fit(rows)
        assert covariance_of(model.family_) == "full"
        assert adjusted_rand_score(np.repeat([0, 1, 2], 70), model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_one_thin_cloud_is_one_group(seed):
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(np.full((5, 5), 0.97) + 0.03 * np.eye(5))
    assert Mixture(engine="vb", random_state=0).fit(rng.normal(size=(60 + 70 * seed, 5)) @ root.T).n_clusters_ == 1


def test_a_fit_keeps_the_shape_in_its_file(tmp_path):
    x = thin_groups()
    model = Mixture(engine="vb", random_state=0).fit(x)
    assert has_shape(model.family_)
    model.save(tmp_path / "model.partita")
    back = load(tmp_path / "model.partita")
    assert back.family_ == model.family_
    np.testing.assert_array_equal(back.predict_proba(x), model.predict_proba(x))


def test_it_depends_on_the_table_alone_and_not_on_a_clock_that_is_far():
    table = Table.read(thin_groups())
    families = candidate_families(table)
    assert best_family(families, table, Plan().begun(), fixed=False) == best_family(
        families, table, Plan(max_time=1000.0).begun(), fixed=False
    )
    assert best_family(families, table, Plan().begun(), fixed=True) in families


def test_what_has_no_width_to_learn_keeps_what_it_has():
    known = Gaussian(covariance="known")
    assert with_shape(known, SHAPE) is known
    assert with_shape(Gaussian(covariance="diag"), SHAPE) == Gaussian(covariance="diag", shape=SHAPE.diagonal())
    assert with_shape(Mixed(), SHAPE) == Mixed(
        families={"numeric": Gaussian(covariance="diag", shape=SHAPE.diagonal())}
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": [[1.0, 2.0], [2.0, 1.0]]}, "a 3 x 3 matrix"),
        ({"shape": np.ones((3, 3))}, "positive definite"),
        ({"shape": "round"}, "shape must be a number"),
        ({"shape": SHAPE, "scale": 0.8}, "leave one out"),
        ({"shape": [1.0, 2.0], "covariance": "diag"}, "one per column"),
        ({"shape": 1.0, "covariance": "known"}, "does not use shape"),
    ],
)
def test_what_it_cannot_be_is_refused(options, words):
    for family in (Gaussian(**options), LogNormal(**options)):
        with pytest.raises((TypeError, ValueError), match=words):
            Mixture(family=family).fit(np.exp(cloud(20)))
