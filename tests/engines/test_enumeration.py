"""The engine's draws are those of the exact posterior, found by enumeration, for every family and prior."""

import numpy as np
import pytest
from scipy.stats import gamma
from tests.engines.models import (
    CATEGORICAL,
    EXAMPLES,
    KNOWN,
    SEPARATED_GAUSSIAN,
    WITHOUT_DRAWN_CELLS,
    fixed_priors,
    learned_priors,
    one_per_compilation,
    parameters,
)
from tests.oracles.agreement import batch_means, compare_labelled, compare_partitions
from tests.oracles.enumeration import exact_labelled, exact_posterior, run_gibbs, run_merge_split
from tests.volumes import long, mostly_long, short_and_long

from partita.priors import DirichletProcess, FiniteDirichlet, StickBreaking

STICKS = [StickBreaking(n_components=3, concentration=0.8), StickBreaking(n_components=2, concentration=2.5)]


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([*EXAMPLES, SEPARATED_GAUSSIAN], fixed_priors()))
@short_and_long("n_draws", 2000, 6000)
def test_draws_are_from_the_exact_posterior(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@pytest.mark.parametrize(
    ("example", "prior"),
    parameters([KNOWN, CATEGORICAL], [FiniteDirichlet(n_components=3, concentration=0.9, as_printed=True)]),
)
def test_draws_under_the_misprinted_prior(example, prior):
    chain = run_gibbs(example.model(prior), n_draws=6000, seed=5)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters([KNOWN], learned_priors()))
@short_and_long("n_draws", 1500, 5000)
def test_draws_with_a_learned_concentration(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=6)
    exact = exact_posterior(example.subsets(), prior)
    agreement = compare_partitions(chain.labels, exact)
    assert agreement.agrees, agreement
    assert abs(z_of_log_concentration(chain, exact, prior)) < 4.5


def z_of_log_concentration(chain, exact, prior):
    """Mean of the log concentration against quadrature for every partition, in standard errors."""
    grid = np.linspace(-16.0, 5.0, 300)
    hyper = gamma(prior.hyperprior.shape, scale=1 / prior.hyperprior.rate)
    log_p = hyper.logpdf(np.exp(grid)) + grid
    given: dict[tuple[int, ...], float] = {}
    truth = 0.0
    for state, probability in zip(exact.states, exact.probabilities):
        sizes = tuple(sorted(np.bincount(state)))
        if probability > 0 and sizes not in given:
            terms = log_p + [prior.log_probability_given(np.array(sizes), a) for a in np.exp(grid)]
            p = np.exp(terms - terms.max())
            given[sizes] = p @ grid / p.sum()
        truth += probability * given.get(sizes, 0.0)
    means = batch_means(np.log(chain.concentration))
    return (means.mean() - truth) / (means.std(ddof=1) / np.sqrt(len(means)))


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(EXAMPLES, one_per_compilation()))
@short_and_long("n_draws", 2000, 5000)
def test_the_scan_alone_keeps_the_posterior(example, prior, n_draws):
    chain = run_gibbs(example.model(prior), n_draws=n_draws, seed=7, merge_split=0)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize(("example", "prior"), parameters(WITHOUT_DRAWN_CELLS, one_per_compilation()))
def test_merge_split_moves_alone_keep_the_posterior(example, prior):
    chain = run_merge_split(example.model(prior), n_draws=5000, seed=8)
    agreement = compare_partitions(chain.labels, exact_posterior(example.subsets(), prior))
    assert agreement.agrees, agreement


@mostly_long
@pytest.mark.parametrize("run", [run_gibbs, run_merge_split])
@pytest.mark.parametrize(("example", "prior"), parameters([KNOWN.first(4), CATEGORICAL.first(4)], STICKS))
@short_and_long("n_draws", 3000, 12_000)
def test_labelled_states_of_stick_breaking(example, prior, run, n_draws):
    chain = run(example.model(prior), n_draws=n_draws, seed=9)
    labelled = exact_labelled(example.subsets(), prior)
    assert compare_labelled(chain.labels, labelled).agrees, compare_labelled(chain.labels, labelled)
    assert labelled.log_evidence == pytest.approx(exact_posterior(example.subsets(), prior).log_evidence)


@long
def test_the_oracle_sees_another_prior():
    chain = run_gibbs(KNOWN.model(DirichletProcess(concentration=0.7)), n_draws=12_000, seed=5)
    near = exact_posterior(KNOWN.subsets(), DirichletProcess(concentration=0.8))
    assert not compare_partitions(chain.labels, near).agrees


@long
def test_the_oracle_sees_rows_that_change_places():
    prior = DirichletProcess(concentration=0.7)
    chain = run_gibbs(KNOWN.model(prior), n_draws=12_000, seed=5)
    exact = exact_posterior(KNOWN.subsets(), prior)
    assert not compare_partitions(chain.labels[:, [1, 0, 2, 3, 4, 5]], exact).agrees
