"""A family written in one file registers itself and runs in the sampler, exactly."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.contracts import toy_family
from tests.contracts.cases import TOY, make
from tests.oracles.partitions import canonical, counts_agree, set_partitions
from tests.volumes import long

from partita.engines import Gibbs
from partita.families import Conjugate
from partita.families.base import one_hot
from partita.model.model import Model
from partita.priors import DirichletProcess, StickBreaking

STEPS_PER_DRAW = 5
N_DRAWS = 3000
pytestmark = pytest.mark.xdist_group("GammaExponential")


def test_the_toy_registered_itself():
    assert list(TOY.items()) == [("waiting", toy_family.Waiting)]


@long
@pytest.mark.parametrize(
    "prior",
    [
        DirichletProcess(concentration=1.3),
        pytest.param(StickBreaking(n_components=4, concentration=1.7), marks=long),
    ],
    ids=repr,
)
def test_gibbs_visits_partitions_as_often_as_their_posterior_says(prior):
    case = make(*toy_family.Waiting.examples()[0])
    partitions = list(set_partitions(case.n_rows))
    logs = np.array([log_joint(case, prior, np.array(labels)) for labels in partitions])
    visits = Counter(draws(case, prior, seed=41))
    counts = [visits[labels] for labels in partitions]
    assert sum(counts) == N_DRAWS
    assert counts_agree(counts, np.exp(logs - logsumexp(logs)))
    assert not counts_agree(counts, one_row_wrong(case, prior, partitions))


def log_joint(case, prior, labels):
    stats = case.likelihood.suffstats(case.rows, one_hot(labels, labels.max() + 1))
    return prior.log_probability(labels) + case.likelihood.log_marginal(stats).sum()


def one_row_wrong(case, prior, partitions):
    """The posterior without the missing-cell rule: the row with a gap loses its other cell too."""
    rows = case.rows._replace(x=np.where(np.isnan(case.rows.x).any(axis=1, keepdims=True), np.nan, case.rows.x))
    logs = np.array([log_joint(case._replace(rows=rows), prior, np.array(labels)) for labels in partitions])
    return np.exp(logs - logsumexp(logs))


def draws(case, prior, seed):
    rng, engine = np.random.default_rng(seed), Gibbs(merge_split=3)
    model = Model(case.likelihood, prior, case.table, np.ones(case.n_rows, dtype=np.int64))
    state = engine.init(rng, model)
    for _ in range(N_DRAWS):
        for _ in range(STEPS_PER_DRAW):
            state, info = engine.step(rng, state, model)
        labels = canonical(tuple(state.allocation.labels.tolist()))
        assert info.n_clusters == max(labels) + 1
        yield labels


def test_a_family_that_lacks_what_em_needs_says_so():
    family, table = toy_family.Waiting.examples()[0]
    likelihood = family.resolve(table)
    with pytest.raises(NotImplementedError, match="does not implement ml_params, which EM needs"):
        Conjugate.ml_params(likelihood, np.zeros((1, 2)), 0.0)
