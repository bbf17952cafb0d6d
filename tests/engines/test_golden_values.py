"""Posteriors of two small tables, known to ten digits: by enumeration and by the sampler."""

import numpy as np
import pytest
from tests.engines.models import CATEGORICAL, Example, one_worker
from tests.oracles.agreement import compare_partitions
from tests.oracles.enumeration import exact_posterior, run_gibbs
from tests.volumes import mostly_long, short_and_long

from partita.families import Gaussian
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking
from partita.table import Table


def seven_numbers() -> Example:
    x = np.array([[-2.1], [-1.9], [-2.0], [1.8], [2.2], [2.0], [0.1]])
    table = Table.read(x, standardize=False, column_steps=0)
    family = Gaussian(covariance="known", mean=0.0, variance=1.0, mean_variance=4.0)
    return Example("seven numbers", family.resolve(table), table)


NUMBERS = seven_numbers()
#: Log evidence, E[K], P(K = 2), P(rows 0 and 1 together), P(rows 0 and 6 together).
GAUSSIAN = [
    (
        DirichletProcess(concentration=1.0),
        (-15.3129929321, 3.1473369130, 0.2607540372, 0.6800543467, 0.2708610571),
    ),
    (
        PitmanYor(concentration=0.5, discount=0.25),
        (-15.3576764838, 3.5147760493, 0.1945339121, 0.5997528783, 0.2382353635),
    ),
    (
        FiniteMixtures(concentration=1.0, mean_components=1.0),
        (-15.8069200284, 2.3898611709, 0.6542124481, 0.8699126195, 0.3725186463),
    ),
]
#: Log evidence, E[K], P(rows 0 and 1 together) of the clustering-ensemble table.
ENSEMBLE = [
    (StickBreaking(n_components=3, concentration=1.0), (-15.5702637824, 2.5400569560, 0.6082659100)),
    (FiniteDirichlet(n_components=3, concentration=1.0), (-15.9154544883, 2.2797232295, 0.6784318628)),
    (DirichletProcess(concentration=1.0), (-15.2466133363, 3.2398805789, 0.4585315949)),
]


def expected_clusters(exact):
    return exact.n_clusters() @ np.arange(exact.n_clusters().size)


@pytest.mark.parametrize(("prior", "values"), GAUSSIAN, ids=lambda v: getattr(v, "name", ""))
def test_gaussian_values(prior, values):
    exact = exact_posterior(NUMBERS.subsets(), prior)
    similarity = exact.similarity()
    found = (
        exact.log_evidence,
        expected_clusters(exact),
        exact.n_clusters()[2],
        similarity[0, 1],
        similarity[0, 6],
    )
    np.testing.assert_allclose(found, values, atol=1e-9, rtol=0)
    assert exact.states[exact.probabilities.argmax()].tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("prior", "values"), ENSEMBLE, ids=lambda v: getattr(v, "name", ""))
def test_ensemble_values(prior, values):
    exact = exact_posterior(CATEGORICAL.subsets(), prior)
    found = exact.log_evidence, expected_clusters(exact), exact.similarity()[0, 1]
    np.testing.assert_allclose(found, values, atol=1e-9, rtol=0)


@mostly_long
@pytest.mark.parametrize(
    ("example", "prior"),
    [
        *(pytest.param(NUMBERS, prior, marks=one_worker(NUMBERS), id=prior.name) for prior, _ in GAUSSIAN),
        *(
            pytest.param(CATEGORICAL, prior, marks=one_worker(CATEGORICAL), id=f"ensemble-{prior.name}")
            for prior, _ in ENSEMBLE
        ),
    ],
)
@short_and_long("n_draws", 2000, 12_000)
def test_the_sampler_finds_them(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=3)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement
