"""What is learned of a likelihood, to a power or not: enumeration of partitions times quadrature over the numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import beta, gamma
from tests.engines.models import CATEGORICAL, one_worker
from tests.engines.variational_models import random_responsibilities
from tests.engines.variational_models import run as run_variational
from tests.oracles.agreement import batch_means, compare_partitions
from tests.oracles.enumeration import Exact, exact_posterior, log_likelihoods, subset_log_marginals
from tests.oracles.partitions import set_partitions
from tests.volumes import long, mostly_long

from partita.engines.collapsed_state import bound, state_of
from partita.engines.collapsed_variational import CollapsedVariational
from partita.engines.gibbs import Gibbs
from partita.engines.variational import Variational
from partita.families import Categorical, Conjugate, Family, Gaussian, Mixed
from partita.families.powered import powered
from partita.model.model import Model
from partita.priors import Beta, DirichletProcess, FiniteDirichlet, Gamma, Prior, StickBreaking
from partita.priors.hyperpriors import GammaAbove
from partita.table import Table

SCALE, PRECISION, PSEUDOCOUNT = Gamma(1.5, 2.0), Gamma(1.2, 3.0), Gamma(2.0, 2.0)
HYPERPRIORS = {
    "scale": SCALE,
    "full_scale": SCALE,
    "diag_scale": Gamma(3.0, 2.0),
    "mean_precision": PRECISION,
    "pseudocount": PSEUDOCOUNT,
}
LOG_GRIDS = {  # the densities of the logs are below exp(-12) outside
    "scale": np.linspace(-9.0, 3.0, 49),
    "full_scale": np.linspace(-9.0, 3.0, 49),
    "diag_scale": np.linspace(-5.0, 3.0, 41),
    "mean_precision": np.linspace(-12.0, 2.0, 43),
    "pseudocount": np.linspace(-8.0, 3.0, 45),
}
N_DRAWS = 8000
PRIOR = DirichletProcess(concentration=1.0)


def numbers(n_missing):
    x = np.array([[-1.2, 0.3], [-0.9, 0.1], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]])
    x.flat[[3, 8, 11][:n_missing]] = np.nan
    return Table.read(x, standardize=False)


def three_numbers_and_words():
    x = numbers(0).numeric.astype(object)
    third = np.array([0.4, 0.2, 1.9, None, 0.3, 1.7], dtype=object)
    words = np.array([list("aabbab"), ["p", "q", "q", "p", None, "q"]], dtype=object).T
    return Table.read(np.column_stack([x, third, words]), standardize=False)


@dataclass(frozen=True)
class Learner:
    """A family that learns, and its table."""

    name: str
    family: Family
    table: Table
    hyperpriors: Mapping[str, Gamma] = field(default_factory=lambda: HYPERPRIORS)
    power: float = 1.0

    @property
    def likelihood(self) -> Conjugate:
        return powered(self.family.resolve(self.table), self.power)

    def model(self, prior: Prior) -> Model:
        return Model(self.likelihood, prior, self.table, np.ones(self.table.n_rows, dtype=np.int64))


def by_default(table):
    """The default hyperpriors: an eighth of the cells, and the larger of the shares that the columns' steps explain."""
    columns = [column[~np.isnan(column)] for column in table.numeric.T]
    shape = 2.0 + sum(column.size for column in columns) / 8.0
    least = max(np.median(np.diff(np.unique(column))) ** 2 / 12.0 / column.var() for column in columns)
    return {"scale": GammaAbove(shape, shape / 0.4, least), "mean_precision": Gamma(2.0, 100.0)}


LEARNERS = [
    Learner("full-scale", Gaussian(scale=SCALE, dof=4.0, mean_precision=0.1), numbers(0)),
    Learner("full-precision", Gaussian(scale=0.5, mean_precision=PRECISION), numbers(0)),
    Learner("full-both", Gaussian(scale=SCALE, mean_precision=PRECISION), numbers(0)),
    Learner("full-one-cell-missing", Gaussian(scale=SCALE, mean_precision=0.1), numbers(1)),
    Learner("full-by-default", Gaussian(), numbers(0), by_default(numbers(0))),
    Learner("diag-scale", Gaussian(covariance="diag", scale=SCALE, dof=[3.0, 5.0], mean_precision=0.1), numbers(3)),
    Learner("diag-precision", Gaussian(covariance="diag", scale=1.0, mean_precision=PRECISION), numbers(3)),
    Learner("diag-both", Gaussian(covariance="diag", scale=SCALE, mean_precision=PRECISION), numbers(0)),
    Learner("diag-by-default", Gaussian(covariance="diag"), numbers(3), by_default(numbers(3))),
    Learner(
        "mixed-two-scales",
        Mixed(
            families={
                "x2": Gaussian(scale=HYPERPRIORS["diag_scale"], mean_precision=0.1),
                "numeric": Gaussian(scale=SCALE, mean_precision=0.1),
            }
        ),
        three_numbers_and_words(),
    ),
    Learner(
        "mixed-scale-and-pseudocount",
        Mixed(
            families={
                "numeric": Gaussian(covariance="diag", scale=SCALE, mean_precision=0.1),
                "categorical": Categorical(pseudocount=PSEUDOCOUNT),
            }
        ),
        three_numbers_and_words(),
    ),
]


def to_power(name, power):
    """One of the learners, its rows counting other than once."""
    return replace(next(one for one in LEARNERS if one.name == name), name=f"{name}^{power}", power=power)


def words(power, **options):
    family = Categorical(pseudocount=PSEUDOCOUNT, **options)
    name = "-".join(["words", *options])
    return Learner(f"{name}^{power}", family, CATEGORICAL.table, power=power)


LEARNERS += [
    *(to_power("full-both", power) for power in (0.4, 1.7)),
    *(to_power(name, 0.4) for name in ("diag-both", "mixed-two-scales", "mixed-scale-and-pseudocount")),
    to_power("diag-scale", 1.7),
    *(words(power) for power in (0.4, 1.7)),
    *(words(power, column_weight=0.6) for power in (1.0, 0.4)),
]
QUICK = ("full-scale", "full-one-cell-missing", "diag-precision", "diag-both", "mixed-scale-and-pseudocount")
QUICK += ("full-both^0.4", "diag-scale^1.7", "mixed-scale-and-pseudocount^0.4", "words^0.4", "words-column_weight^0.4")
every_learner = pytest.mark.parametrize(
    "learner", [pytest.param(one, id=one.name, marks=one_worker(one)) for one in LEARNERS]
)


def exact_joint(learner, prior, log_grids=LOG_GRIDS):
    """Posterior of every partition, and the posterior density (grid,) of the log of every learned number."""
    likelihood = learner.likelihood
    names = list(likelihood.learned)
    grids = np.meshgrid(*(log_grids[name] for name in names), indexing="ij")
    states = np.array(list(set_partitions(learner.table.n_rows)))
    log_prior = np.array([prior.log_probability(state) for state in states])
    rows = likelihood.rows(learner.table)
    log_joint = np.empty((states.shape[0], grids[0].size))
    for position, logs in enumerate(zip(*(grid.ravel() for grid in grids))):
        fixed = likelihood.with_learned(**dict(zip(names, map(float, np.exp(logs)))))
        log_joint[:, position] = log_likelihoods(subset_log_marginals(fixed, rows), states) + log_prior
        log_joint[:, position] += sum(log_density(learner.hyperpriors[name], log) for name, log in zip(names, logs))
    evidence = logsumexp(log_joint)
    joint = np.exp(log_joint - evidence)
    margin = joint.sum(axis=0).reshape(grids[0].shape)
    axes = range(len(names))
    densities = {name: margin.sum(axis=tuple(a for a in axes if a != i)) for i, name in enumerate(names)}
    return Exact(states, joint.sum(axis=1), float(evidence)), densities


def log_density(hyperprior, log_value):
    if isinstance(hyperprior, Beta):
        return beta(hyperprior.a, hyperprior.b).logpdf(np.exp(log_value)) + log_value
    if log_value < np.log(max(hyperprior.least, 1e-300)):
        return -np.inf
    return gamma(hyperprior.shape, scale=1 / hyperprior.rate).logpdf(np.exp(log_value)) + log_value


def run(learner, prior, seed, n_draws=N_DRAWS):
    model = learner.model(prior)
    rng, engine = np.random.default_rng(seed), Gibbs(merge_split=3)
    state = engine.init(rng, model)
    labels = np.empty((n_draws, learner.table.n_rows), dtype=np.int64)
    logs = {name: np.empty(n_draws) for name in model.likelihood.learned}
    for draw in range(-100, n_draws):
        state, info = engine.step(rng, state, model)
        if draw >= 0:
            labels[draw] = state.allocation.labels
            for name, value in info.learned.items():
                logs[name][draw] = np.log(value)
    return labels, logs


@mostly_long
@pytest.mark.parametrize(
    "learner", [pytest.param(one, id=one.name, marks=one_worker(one)) for one in LEARNERS if one.name in QUICK]
)
def test_short_chains_are_from_the_exact_posterior(learner):
    """The quadrature takes every second point: what it integrates is smooth."""
    every_second = {name: grid[::2] for name, grid in LOG_GRIDS.items()}
    assert_exact(learner, PRIOR, every_second, n_draws=2000)


@every_learner
@pytest.mark.parametrize("prior", [PRIOR, StickBreaking(n_components=3, concentration=1.0)], ids=lambda p: p.name)
@long
def test_partitions_and_learned_numbers_are_from_the_exact_posterior(learner, prior):
    assert_exact(learner, prior, LOG_GRIDS, N_DRAWS)


def assert_exact(learner, prior, log_grids, n_draws):
    exact, densities = exact_joint(learner, prior, log_grids)
    labels, logs = run(learner, prior, seed=11, n_draws=n_draws)
    agreement = compare_partitions(labels, exact)
    assert agreement.agrees, agreement
    for name, draws in logs.items():
        for power in (1, 2):
            means = batch_means(draws**power)
            error = means.std(ddof=1) / np.sqrt(len(means))
            assert abs(means.mean() - densities[name] @ log_grids[name] ** power) < 4.5 * error, (name, power)


@long
def test_the_test_tells_a_learned_scale_from_a_fixed_one():
    """The posterior under the hyperprior's mean is far from that of the draws."""
    learner = next(one for one in LEARNERS if one.name == "diag-both")
    labels, _ = run(learner, PRIOR, seed=12)
    fixed = learner.likelihood
    other = exact_posterior(subset_log_marginals(fixed, fixed.rows(learner.table)), PRIOR)
    assert not compare_partitions(labels, other).agrees


@every_learner
def test_the_caches_are_those_of_the_present_numbers(learner):
    model = learner.model(PRIOR)
    rng, engine = np.random.default_rng(13), Gibbs()
    state = engine.init(rng, model)
    before = model.likelihood.learned
    for _ in range(5):
        state, info = engine.step(rng, state, model)
        likelihood = model.likelihood.with_learned(**info.learned)
        stats = likelihood.stats_of(state.slots)
        assert_same(state.slots, Model(likelihood, PRIOR, model.table, model.row_weights).state_from(stats))
    assert model.likelihood.learned == before != info.learned


def assert_same(one, other):
    for name, first, second in zip(one._fields, one, other):
        if isinstance(first, tuple):
            assert_same(first, second)
        elif name not in ("work", "matrix", "scratch", "exponent", "factors"):
            np.testing.assert_allclose(first, second, rtol=1e-12, err_msg=name)


# --- variational engines --------------------------------------------------------------------------


@mostly_long
@every_learner
@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_variational_bayes_never_loses_and_stays_below_the_evidence_at_what_it_learned(learner, kind):
    prior = kind(n_components=3, concentration=1.0)
    model, engine = learner.model(prior), Variational(tol=1e-9)
    for seed in range(3):
        start = engine.start(model, random_responsibilities(6, 3, seed=seed))
        states, bounds = run_variational(engine, model, start, n_steps=2000)
        found = states[-1].likelihood
        evidence = exact_posterior(subset_log_marginals(found, found.rows(learner.table)), prior).log_evidence
        assert (np.diff(bounds) >= -1e-8).all()
        assert found.learned != model.likelihood.learned
        assert bounds[-1] - found.log_hyperprior() < evidence


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(one, id=one.name, marks=[long] if one.name.startswith("mixed") else [])
        for one in LEARNERS
        if "missing" not in one.name
    ],
)
def test_collapsed_inference_moves_the_numbers_to_where_its_bound_is_largest(learner):
    model = learner.model(FiniteDirichlet(n_components=3, concentration=1.0))
    resp = random_responsibilities(6, 3, seed=5)
    learned = state_of(model, resp, 1.0, model.likelihood)
    here = bound(model, learned)
    assert here > bound(model, replace(learned, likelihood=model.likelihood))
    for name, value in learned.likelihood.learned.items():
        for factor in (0.5, 0.99, 1.01, 2.0):
            moved = learned.likelihood.with_learned(**learned.likelihood.learned | {name: factor * value})
            assert bound(model, replace(learned, likelihood=moved)) < here
    engine, state = CollapsedVariational(), learned
    for _ in range(30):
        state, _ = engine.step(np.random.default_rng(0), state, model)
    again = state_of(model, state.resp, state.concentration, state.likelihood)
    assert again.likelihood.learned == pytest.approx(state.likelihood.learned, rel=1e-5)
