"""A learned scale and mean_precision: the sampler against enumeration of partitions times quadrature over both."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import gamma
from tests.engines.models import one_worker
from tests.oracles.agreement import N_BATCHES, compare_partitions
from tests.oracles.enumeration import Exact, log_likelihoods, subset_log_marginals
from tests.oracles.partitions import set_partitions

from partita.engines.gibbs import Gibbs
from partita.engines.model import Model
from partita.families import Conjugate, Family, Gaussian
from partita.priors import DirichletProcess, Gamma, StickBreaking
from partita.table import Table

SCALE, PRECISION = Gamma(1.5, 2.0), Gamma(1.2, 3.0)
LOG_GRIDS = {  # the densities of the logs are below exp(-13) outside
    "scale": np.linspace(-9.0, 3.0, 49),
    "mean_precision": np.linspace(-12.0, 2.0, 43),
}
N_DRAWS = 8000
PRIOR = DirichletProcess(concentration=1.0)


def numbers(n_missing):
    x = np.array([[-1.2, 0.3], [-0.9, 0.1], [0.1, -0.2], [1.1, 0.9], [1.4, 1.3], [0.2, -1.5]])
    x.flat[[3, 8, 11][:n_missing]] = np.nan
    return Table.read(x, standardize=False)


@dataclass(frozen=True)
class Learner:
    """A family that learns, and its table."""

    name: str
    family: Family
    table: Table

    @property
    def likelihood(self) -> Conjugate:
        return self.family.resolve(self.table)


LEARNERS = [
    Learner("full-scale", Gaussian(scale=SCALE, dof=4.0), numbers(0)),
    Learner("full-precision", Gaussian(mean_precision=PRECISION), numbers(0)),
    Learner("full-both", Gaussian(scale=SCALE, mean_precision=PRECISION), numbers(0)),
    Learner("full-one-cell-missing", Gaussian(scale=SCALE), numbers(1)),
    Learner("diag-scale", Gaussian(covariance="diag", scale=SCALE, dof=[3.0, 5.0]), numbers(3)),
    Learner("diag-precision", Gaussian(covariance="diag", mean_precision=PRECISION), numbers(3)),
    Learner("diag-both", Gaussian(covariance="diag", scale=SCALE, mean_precision=PRECISION), numbers(0)),
]
every_learner = pytest.mark.parametrize(
    "learner", [pytest.param(one, id=one.name, marks=one_worker(one)) for one in LEARNERS]
)


def exact_joint(learner, prior):
    """Posterior of every partition, and the posterior density (grid,) of the log of every learned number."""
    likelihood = learner.likelihood
    names = list(likelihood.learned)
    grids = np.meshgrid(*(LOG_GRIDS[name] for name in names), indexing="ij")
    states = np.array(list(set_partitions(learner.table.n_rows)))
    log_prior = np.array([prior.log_probability(state) for state in states])
    rows = likelihood.rows(learner.table)
    log_joint = np.empty((states.shape[0], grids[0].size))
    for position, logs in enumerate(zip(*(grid.ravel() for grid in grids))):
        fixed = likelihood.with_learned(**dict(zip(names, map(float, np.exp(logs)))))
        log_joint[:, position] = log_likelihoods(subset_log_marginals(fixed, rows), states) + log_prior
        log_joint[:, position] += sum(log_density(likelihood, name, log) for name, log in zip(names, logs))
    evidence = logsumexp(log_joint)
    joint = np.exp(log_joint - evidence)
    margin = joint.sum(axis=0).reshape(grids[0].shape)
    axes = range(len(names))
    densities = {name: margin.sum(axis=tuple(a for a in axes if a != i)) for i, name in enumerate(names)}
    return Exact(states, joint.sum(axis=1), float(evidence)), densities


def log_density(likelihood, name, log_value):
    hyperprior = likelihood.hyperpriors[name]
    return gamma(hyperprior.shape, scale=1 / hyperprior.rate).logpdf(np.exp(log_value)) + log_value


def run(learner, prior, seed):
    model = Model(learner.likelihood, prior, learner.table, np.ones(learner.table.n_rows, dtype=np.int64))
    rng, engine = np.random.default_rng(seed), Gibbs(merge_split=3)
    state = engine.init(rng, model)
    labels = np.empty((N_DRAWS, learner.table.n_rows), dtype=np.int64)
    logs = {name: np.empty(N_DRAWS) for name in model.likelihood.learned}
    for draw in range(-100, N_DRAWS):
        state, info = engine.step(rng, state, model)
        if draw >= 0:
            labels[draw] = state.allocation.labels
            for name, value in info.learned.items():
                logs[name][draw] = np.log(value)
    return labels, logs


@every_learner
@pytest.mark.parametrize("prior", [PRIOR, StickBreaking(n_components=3, concentration=1.0)], ids=lambda p: p.name)
def test_partitions_and_learned_numbers_are_from_the_exact_posterior(learner, prior):
    exact, densities = exact_joint(learner, prior)
    labels, logs = run(learner, prior, seed=11)
    agreement = compare_partitions(labels, exact)
    assert agreement.agrees, agreement
    for name, draws in logs.items():
        for power in (1, 2):
            means = (draws**power).reshape(N_BATCHES, -1).mean(axis=1)
            error = means.std(ddof=1) / np.sqrt(N_BATCHES)
            assert abs(means.mean() - densities[name] @ LOG_GRIDS[name] ** power) < 4.5 * error, (name, power)
