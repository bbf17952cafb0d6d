"""Geweke's joint test of the engine with learned concentrations."""

import numpy as np
import pytest
from tests.engines.models import EXAMPLES, KNOWN, Example, one_worker
from tests.oracles.geweke import chain_draws, forward_draws, limit, z_scores

from partita.engines.gibbs import Gibbs
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking

HYPER = Gamma(2.0, 2.0)
DIRICHLET = DirichletProcess(concentration=HYPER)
STICKS = StickBreaking(n_components=4, concentration=HYPER)
FINITE = FiniteDirichlet(n_components=4, concentration=HYPER)
MIXTURES = FiniteMixtures(concentration=HYPER, mean_components=1.5)
YOR = PitmanYor(concentration=HYPER, discount=0.3)
BY_TITLE: dict[str, Example] = {e.likelihood.title: e for e in EXAMPLES}
PAIRS = [
    ("known-variance Gaussian", DIRICHLET),
    ("known-variance Gaussian", YOR),
    ("known-variance Gaussian", MIXTURES),
    ("known-variance Gaussian", FINITE),
    ("known-variance Gaussian", STICKS),
    ("diagonal Gaussian", DIRICHLET),
    ("diagonal Gaussian", STICKS),
    ("categorical", DIRICHLET),
    ("categorical", STICKS),
    ("categorical", FINITE),
    ("count", DIRICHLET),
    ("count", STICKS),
    ("full-covariance Gaussian", DIRICHLET),
    ("full-covariance Gaussian", STICKS),
]


@pytest.mark.parametrize(
    ("example", "prior"),
    [
        pytest.param(BY_TITLE[title], prior, id=f"{title}-{prior.name}", marks=one_worker(BY_TITLE[title]))
        for title, prior in PAIRS
    ],
)
def test_both_simulators_agree(example, prior):
    model = example.model(prior)
    forward = forward_draws(model, n_draws=5000, seed=21)
    chain = chain_draws(Gibbs(merge_split=2), model, n_draws=5000, seed=22)
    scores = z_scores(forward, chain)
    assert max(map(abs, scores.values())) < limit(), scores


class ForgetsTheRows(DirichletProcess):
    """Updates the concentration as if there were twice as many clusters."""

    def update(self, rng, sizes, concentration):
        return super().update(rng, np.concatenate([sizes, sizes]), concentration)


@pytest.mark.xdist_group(type(KNOWN.likelihood).__name__)
def test_the_test_sees_a_wrong_update_of_the_concentration():
    model = KNOWN.model(ForgetsTheRows(concentration=HYPER))
    forward = forward_draws(model, n_draws=5000, seed=21)
    chain = chain_draws(Gibbs(merge_split=2), model, n_draws=5000, seed=22)
    assert abs(z_scores(forward, chain)["log concentration"]) > limit()
