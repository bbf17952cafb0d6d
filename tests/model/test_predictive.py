"""Densities, memberships and new rows: against enumeration, quadrature and formulas by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import kstest, norm
from scipy.stats import t as student
from tests.mixtures import unconverged_is_fine
from tests.oracles.enumeration import exact_posterior, subset_log_marginals
from tests.volumes import long, long_but, mostly_long

from partita import Mixture, Posterior, Table
from partita.families import Categorical, Count, Gaussian
from partita.model.predictive import Clusters, log_posterior_predictive
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking

pytestmark = unconverged_is_fine

N_CHAINS = 20
NAN = np.nan
FULL = Gaussian(dof=4.0, scale=0.8, mean=0.1)
KNOWN = Gaussian(covariance="known", variance=0.5, mean_variance=2.0, mean=0.3)
DIAGONAL = Gaussian(covariance="diag", mean_precision=0.3, dof=5.0, scale=2.0)
FIXED = DirichletProcess(concentration=0.8)

numbers = np.array([[-1.2, 0.3], [-0.9, 0.8], [0.1, -0.2], [1.1, 0.9], [1.6, 1.3]])
with_a_gap = numbers.copy()
with_a_gap[1, 1] = NAN
new_numbers = np.array([[-1.0, 0.5], [1.2, -2.0], [4.0, 1.0], [0.3, NAN]])
words = np.array([["a", "p"], ["a", "q"], ["b", "p"], ["b", "r"], ["a", None]], dtype=object)
new_words = np.array([["a", "q"], ["b", "q"], [None, "r"], ["b", None]], dtype=object)
counts = np.array([[0, 3], [1, NAN], [0, 20], [7, 15], [9, 2]])
new_counts = np.array([[0, 2], [8, 9], [30, 50], [NAN, 4]])


def case(kind, name, x, new, family, prior, **options):
    mark = pytest.mark.xdist_group(kind)
    return pytest.param(x, new, {"family": family, "prior": prior, **options}, id=f"{kind}-{name}", marks=mark)


TYPED = {"column_types": {0: "count", 1: "count"}}
CASES = [
    case("known", "fixed", numbers, new_numbers, KNOWN, FIXED),
    case("known", "learned", with_a_gap, new_numbers, KNOWN, DirichletProcess()),
    case("known", "pitman-yor", numbers, new_numbers, KNOWN, PitmanYor(concentration=0.4, discount=0.3)),
    case("known", "finite-mixtures", numbers, new_numbers, KNOWN, FiniteMixtures()),
    case("known", "finite", numbers, new_numbers, KNOWN, FiniteDirichlet(n_components=3, concentration=2.0)),
    case("known", "sticks", numbers, new_numbers, KNOWN, StickBreaking(n_components=3, concentration=0.9)),
    case("gaussian-full", "fixed", numbers, new_numbers, FULL, FIXED),
    case("gaussian-full", "gap", with_a_gap, new_numbers[:3], FULL, FIXED),
    case("gaussian-diag", "gap", with_a_gap, new_numbers, DIAGONAL, FIXED),
    case("categorical", "learned", words, new_words, Categorical(pseudocount=0.6), DirichletProcess()),
    case("count", "fixed", counts, new_counts, Count(shape=0.8, rate=0.2), FIXED, **TYPED),
]


QUICK = ["gaussian-full-gap"]


def joined(table: Table, other: Table, row: int) -> Table:
    """The table and one row of another."""
    blocks = ("numeric", "codes", "counts")
    return replace(table, **{b: np.vstack([getattr(table, b), getattr(other, b)[row : row + 1]]) for b in blocks})


def exact_log_density(mixture: Mixture, new: Table, weights=None) -> np.ndarray:
    """Log evidence of the table with a new row minus that without, over all partitions."""
    model = mixture._model
    copies = None if weights is None else np.asarray(weights)

    def log_evidence(table, copies):
        subsets = subset_log_marginals(model.likelihood, model.likelihood.rows(table), copies)
        return exact_posterior(subsets, model.prior, copies).log_evidence

    before = log_evidence(model.table, copies)
    more = None if copies is None else np.append(copies, 1)
    return np.array([log_evidence(joined(model.table, new, i), more) for i in range(new.n_rows)]) - before


def by_chain(mixture: Mixture, new: Table) -> np.ndarray:
    """Density of every new row by the draws of each chain alone, (chains, rows)."""
    posterior = mixture.posterior_
    return np.array(
        [
            np.exp(log_posterior_predictive(mixture._model, one_chain(posterior, c), new, np.random.default_rng(c)))
            for c in range(posterior.n_chains)
        ]
    )


def one_chain(posterior: Posterior, c: int) -> Posterior:
    traces = {name: trace[c : c + 1] for name, trace in posterior.traces.items()}
    return Posterior(np.asarray(posterior.partitions)[c : c + 1], traces=traces)


def fitted(x, **options) -> Mixture:
    sample_weight = options.pop("sample_weight", None)
    quick = {"chains": N_CHAINS, "draws": 100, "standardize": False, "column_steps": 0, "random_state": 0}
    return Mixture(**(quick | options)).fit(x, sample_weight=sample_weight)


def z_scores(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    return (found.mean(axis=0) - exact) / (found.std(axis=0, ddof=1) / np.sqrt(len(found)))


LIMIT = float(student.isf(1e-5, N_CHAINS - 1))


@pytest.mark.parametrize(("x", "new", "options"), long_but(QUICK, CASES))
def test_score_samples_is_the_exact_posterior_predictive(x, new, options):
    mixture = fitted(x, **options)
    new_table = Table.read(new, schema=mixture._model.table.schema)
    densities = by_chain(mixture, new_table)
    exact = np.exp(exact_log_density(mixture, new_table))
    assert np.abs(z_scores(densities, exact)).max() < LIMIT
    if not np.isnan(mixture._model.table.numeric).any():  # nothing drawn on the way
        np.testing.assert_allclose(mixture.score_samples(new), np.log(densities.mean(axis=0)))
    assert mixture.score(new) == pytest.approx(mixture.score_samples(new).mean())


@long
@pytest.mark.xdist_group("known")
def test_the_comparison_sees_another_concentration():
    mixture = fitted(numbers, family=KNOWN, prior=FIXED)
    new = Table.read(new_numbers, schema=mixture._model.table.schema)
    densities = by_chain(mixture, new)
    other = replace(mixture._model, prior=DirichletProcess(concentration=1.0))
    mixture._outcome = replace(mixture._outcome, model=other)
    assert np.abs(z_scores(densities, np.exp(exact_log_density(mixture, new)))).max() > LIMIT


@mostly_long
@pytest.mark.xdist_group("known")
@pytest.mark.parametrize("prior", [FIXED, StickBreaking(n_components=3, concentration=0.9)])
def test_weights_are_tied_copies(prior):
    weights = [2, 1, 0, 3, 1]
    mixture = fitted(numbers, family=KNOWN, prior=prior, sample_weight=weights)
    new = Table.read(new_numbers, schema=mixture._model.table.schema)
    used = replace(mixture._model.table, numeric=numbers[[0, 1, 3, 4]], codes=np.empty((4, 0)), counts=np.empty((4, 0)))
    tied = replace(mixture._model, table=used, row_weights=np.array([2, 1, 3, 1]))
    densities = by_chain(mixture, new)
    mixture._outcome = replace(mixture._outcome, model=tied)
    exact = np.exp(exact_log_density(mixture, new, weights=[2, 1, 3, 1]))
    assert np.abs(z_scores(densities, exact)).max() < LIMIT
    untied = np.exp(exact_log_density(mixture, new))
    assert np.abs(z_scores(densities, untied)).max() > LIMIT


# --- units and missing cells ----------------------------------------------------------------------

GAUSSIANS = [
    pytest.param(kind, id=kind, marks=pytest.mark.xdist_group("known" if kind == "known" else f"gaussian-{kind}"))
    for kind in ("full", "diag", "known")
]


@mostly_long
@pytest.mark.parametrize("covariance", GAUSSIANS)
@pytest.mark.parametrize("standardize", [True, False])
def test_the_density_integrates_to_one_in_the_users_units(covariance, standardize):
    x = 1000.0 + 40.0 * numbers[:, :1] if standardize else numbers[:, :1]
    options = {"family": Gaussian(covariance=covariance, mean=x.mean() if not standardize else None)}
    mixture = fitted(x, chains=2, draws=20, standardize=standardize, prior=FIXED, **options)
    u = np.linspace(-12.0, 12.0, 4001)
    grid = x.mean() + x.std() * np.sinh(u)
    density = np.exp(mixture.score_samples(grid[:, None]))
    width = x.std() * np.cosh(u) * (u[1] - u[0])
    assert density @ width == pytest.approx(1.0, abs=1e-3 if covariance == "known" else 2e-3)


@pytest.mark.parametrize("covariance", GAUSSIANS)
def test_a_missing_cell_is_integrated_out(covariance):
    x = numbers * [3.0, 0.2] + [10.0, 1.0]
    mixture = fitted(x, chains=2, draws=20, standardize=True, family=Gaussian(covariance=covariance), prior=FIXED)
    u = np.linspace(-11.0, 11.0, 3001)
    spread = x[:, 1].std()
    rows = np.column_stack([np.full(u.size, 9.0), x[:, 1].mean() + spread * np.sinh(u)])
    integral = np.exp(mixture.score_samples(rows)) @ (spread * np.cosh(u) * (u[1] - u[0]))
    assert mixture.score_samples([[9.0, NAN]])[0] == pytest.approx(np.log(integral), abs=2e-3)
    assert mixture.score_samples([[NAN, NAN]])[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.xdist_group("categorical")
def test_a_missing_category_is_summed_out():
    mixture = fitted(words, chains=2, draws=20, prior=FIXED)
    rows = np.array([["b", "p"], ["b", "q"], ["b", "r"]], dtype=object)
    alone = mixture.score_samples(np.array([["b", None]], dtype=object))
    assert alone[0] == pytest.approx(logsumexp(mixture.score_samples(rows)))


@pytest.mark.xdist_group("count")
def test_a_missing_count_is_summed_out():
    mixture = fitted(counts, chains=2, draws=20, prior=FIXED, **TYPED)
    rows = np.column_stack([np.full(3000, 5), np.arange(3000)])
    assert mixture.score_samples([[5, NAN]])[0] == pytest.approx(logsumexp(mixture.score_samples(rows)), abs=1e-6)


# --- given the estimated partition ----------------------------------------------------------------


@pytest.fixture(scope="module")
def two_groups() -> tuple[np.ndarray, Mixture]:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(-4, 0.7, 14), rng.normal(4, 0.7, 6)])[:, None]
    prior = DirichletProcess(concentration=1.5)
    return x, fitted(x, chains=2, draws=60, family=KNOWN, prior=prior)


def log_joint_by_hand(
    x: np.ndarray, labels: np.ndarray, new: np.ndarray, concentration: float, weights=1
) -> np.ndarray:
    """log [n_k N(new; m_k, v_k + variance)] of every cluster, and of an unseen one; (new, K + 1)."""
    columns = []
    x, labels = np.repeat(x, weights), np.repeat(labels, weights)
    for k in [*range(labels.max() + 1), None]:
        inside = x[labels == k] if k is not None else x[:0]
        precision = len(inside) / 0.5 + 1 / 2.0
        mean = (inside.sum() / 0.5 + 0.3 / 2.0) / precision
        seats = len(inside) if k is not None else concentration
        columns.append(np.log(seats) + norm(mean, np.sqrt(1 / precision + 0.5)).logpdf(new))
    return np.column_stack(columns)


@pytest.mark.xdist_group("known")
def test_predict_and_novelty_by_hand(two_groups):
    x, mixture = two_groups
    assert mixture.n_clusters_ == 2
    new = np.array([-4.0, -1.0, 0.2, 0.6, 3.0, 9.0, 40.0])
    logs = log_joint_by_hand(x[:, 0], mixture.labels_, new, 1.5)
    inside = np.exp(logs[:, :2] - logsumexp(logs[:, :2], axis=1, keepdims=True))
    np.testing.assert_allclose(mixture.predict_proba(new[:, None]), inside)
    np.testing.assert_array_equal(mixture.predict(new[:, None]), inside.argmax(axis=1))
    novelty = np.exp(logs[:, 2] - logsumexp(logs, axis=1))
    np.testing.assert_allclose(mixture.novelty(new[:, None]), novelty)
    assert novelty[0] < 0.05
    assert novelty[-1] > 0.99


@pytest.mark.xdist_group("known")
def test_predict_and_novelty_by_hand_with_weights(two_groups):
    x, _ = two_groups
    weights = np.resize([2, 1, 0, 5], 20)
    prior = DirichletProcess(concentration=1.5)
    mixture = fitted(x, chains=2, draws=60, family=KNOWN, prior=prior, sample_weight=weights)
    assert mixture.n_clusters_ == 2
    new = np.array([-4.0, 0.2, 0.6, 9.0])
    logs = log_joint_by_hand(x[:, 0], mixture.labels_, new, 1.5, weights)
    np.testing.assert_allclose(mixture.novelty(new[:, None]), np.exp(logs[:, 2] - logsumexp(logs, axis=1)))
    inside = np.exp(logs[:, :2] - logsumexp(logs[:, :2], axis=1, keepdims=True))
    np.testing.assert_allclose(mixture.predict_proba(new[:, None]), inside)


@pytest.mark.xdist_group("known")
def test_a_full_house_has_no_room_for_novelty():
    x = np.array([[-5.0], [-5.1], [5.0], [5.2]])
    mixture = fitted(x, family=KNOWN, prior=FiniteDirichlet(n_components=2, concentration=1.0), chains=2)
    assert mixture.n_clusters_ == 2
    np.testing.assert_array_equal(mixture.novelty([[-5.0], [100.0]]), [0.0, 0.0])
    _, labels = mixture.sample(200)
    assert set(labels) == {0, 1}


@pytest.mark.parametrize("sizes", [[3], [4, 1], [2, 2, 1], [5, 3, 1, 1], [1] * 6])
def test_seats_of_stick_breaking_by_enumeration(sizes):
    prior = StickBreaking(n_components=6, concentration=1.3)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    logs = [prior.log_probability(np.append(labels, k)) for k in range(len(sizes) + 1)]
    expected = np.array(logs) - prior.log_probability(labels)
    np.testing.assert_allclose(np.exp(prior.log_seats(np.array(sizes), 1.3)), np.exp(expected), atol=1e-12)


@pytest.mark.parametrize("n_components", [9, 12, 40])
def test_seats_of_many_sticks(n_components):
    prior = StickBreaking(n_components=n_components, concentration=2.0)
    sizes = np.array([3, 90, 20, 1, 400, 7, 50, 2, 11])
    seats = np.exp(prior.log_seats(sizes, 2.0))
    assert seats.sum() == pytest.approx(1.0)
    assert (seats[-1] == 0) == (n_components == 9)
    np.testing.assert_array_equal(np.argsort(-seats[:-1])[:4], np.argsort(-sizes)[:4])
    shuffled = np.random.default_rng(0).permutation(9)
    np.testing.assert_allclose(np.exp(prior.log_seats(sizes[shuffled], 2.0))[:-1], seats[shuffled])


# --- new rows -------------------------------------------------------------------------------------


@pytest.mark.xdist_group("known")
def test_simulated_rows_have_the_predictive_distribution(two_groups):
    x, mixture = two_groups
    rng = np.random.default_rng(5)
    draws = [mixture._clusters.simulate(mixture._model, 1, rng) for _ in range(2000)]
    rows = np.array([cells.numeric[0, 0] for cells, _ in draws])
    labels = np.array([label[0] for _, label in draws])
    seats = np.array([14, 6, 1.5]) / 21.5
    shares = np.bincount(labels, minlength=3) / 2000
    assert np.abs((shares - seats) / np.sqrt(seats * (1 - seats) / 2000)).max() < 4.5

    def cdf(value):
        found = 0.0
        for k, share in enumerate(seats):
            inside = x[mixture.labels_ == k, 0]
            precision = inside.size / 0.5 + 1 / 2.0
            mean = (inside.sum() / 0.5 + 0.3 / 2.0) / precision
            found = found + share * norm(mean, np.sqrt(1 / precision + 0.5)).cdf(value)
        return found

    assert kstest(rows, cdf).pvalue > 1e-4


@pytest.mark.xdist_group("known")
def test_unseen_clusters_of_one_call_differ(two_groups):
    _, mixture = two_groups
    only_unseen = Clusters(np.log([1e-300, 1e-300, 1.0]), mixture._clusters.stats)
    cells, labels = only_unseen.simulate(mixture._model, 1000, np.random.default_rng(0))
    assert set(labels) == {2}
    spread = cells.numeric.std()  # sqrt(variance + mean_variance), were they one cluster: sqrt(variance)
    assert abs(spread - np.sqrt(2.5)) < 4.5 * np.sqrt(2.5 / 2 / 1000)
