"""Geweke's joint test of the engine with learned concentrations, scales, precisions of means and pseudocounts."""

import numpy as np
import pytest
from tests.engines.models import Example, marks_of, one_worker
from tests.oracles.geweke import chain_draws, forward_draws, limit, z_scores
from tests.volumes import long, long_but, short_and_long

from partita.engines.gibbs import Gibbs
from partita.families import Categorical, Count, Gaussian
from partita.families.normal_inverse_gamma import NormalInverseGamma
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking
from partita.table import Table

pytestmark = long

HYPER = Gamma(2.0, 2.0)
WIDTH = Gamma(4.0, 3.0)
DIRICHLET = DirichletProcess(concentration=HYPER)
STICKS = StickBreaking(n_components=4, concentration=HYPER)
FINITE = FiniteDirichlet(n_components=4, concentration=HYPER)
MIXTURES = FiniteMixtures(concentration=HYPER, mean_components=1.5)
YOR = PitmanYor(concentration=HYPER, discount=0.3)


def examples() -> dict[str, Example]:
    """Tables with missing cells, under priors narrow enough that data do not hold their labels fast."""
    x = np.arange(12.0).reshape(6, 2)
    x[1, 1] = x[4, 0] = np.nan
    codes = np.array([list("abcab"), list("pqpqp"), list("uvuvu")], dtype=object).T
    codes[1, 1] = codes[4, 0] = None
    numbers, counts = Table.read(x, standardize=False), Table.read(x, column_types={0: "count", 1: "count"})
    pairs = {
        "known": (Gaussian(covariance="known", mean=0.3, variance=1.0, mean_variance=0.8), numbers),
        "diag": (Gaussian(covariance="diag", mean=0.3, mean_precision=1.5, dof=8.0, scale=6.0), numbers),
        "full": (Gaussian(mean=0.3, mean_precision=1.5, dof=8.0, scale=[[5.0, 1.0], [1.0, 4.0]]), numbers),
        "categorical": (Categorical(pseudocount=0.8), Table.read(codes)),
        "diag-learned": (Gaussian(covariance="diag", mean=0.3, dof=8.0, scale=WIDTH, mean_precision=WIDTH), numbers),
        "full-learned": (Gaussian(mean=0.3, dof=8.0, scale=WIDTH, mean_precision=WIDTH), numbers),
        "categorical-learned": (Categorical(pseudocount=WIDTH), Table.read(codes)),
        "count": (Count(shape=3.0, rate=[1.0, 2.0]), counts),
    }
    return {name: Example(name, family.resolve(table), table) for name, (family, table) in pairs.items()}


MODELS = examples()
PAIRS = [
    ("known", DIRICHLET),
    ("known", YOR),
    ("known", MIXTURES),
    ("known", FINITE),
    ("known", STICKS),
    ("diag", DIRICHLET),
    ("diag", STICKS),
    ("categorical", DIRICHLET),
    ("categorical", STICKS),
    ("count", DIRICHLET),
    ("count", STICKS),
    ("full", DIRICHLET),
    ("full", STICKS),
    ("diag-learned", DIRICHLET),
    ("full-learned", DIRICHLET),
    ("categorical-learned", DIRICHLET),
]


@pytest.mark.parametrize(
    ("example", "prior"),
    long_but(
        [
            "known-pitman-yor",
            "known-stick-breaking",
            "full-dirichlet-process",
            "diag-learned-dirichlet-process",
            "categorical-learned-dirichlet-process",
            "count-dirichlet-process",
        ],
        [
            pytest.param(MODELS[name], prior, id=f"{name}-{prior.name}", marks=marks_of(MODELS[name], prior))
            for name, prior in PAIRS
        ],
    ),
)
@short_and_long("n_draws", 400, 2500)
def test_both_simulators_agree(example, prior, n_draws):
    model = example.model(prior)
    n_draws = min(n_draws, 1200) if prior_draws_are_slow(example) else n_draws
    forward = forward_draws(model, n_draws=n_draws, seed=21)
    chain = chain_draws(Gibbs(merge_split=2), model, n_draws=n_draws, seed=22)
    scores = z_scores(forward, chain)
    assert max(map(abs, scores.values())) < limit(), scores


def prior_draws_are_slow(example):
    """Whether parameters hold covariance matrices, drawn one by one."""
    return example.name.startswith("full")


@long
@one_worker(MODELS["diag-learned"])
def test_the_test_sees_a_draw_of_the_scale_as_if_every_row_were_there_twice(monkeypatch):
    right = NormalInverseGamma.redrawn
    monkeypatch.setattr(NormalInverseGamma, "redrawn", lambda self, rng, stats: right(self, rng, 2.0 * stats))
    model = MODELS["diag-learned"].model(DIRICHLET)
    forward = forward_draws(model, n_draws=2500, seed=21)
    chain = chain_draws(Gibbs(merge_split=2), model, n_draws=2500, seed=22)
    assert abs(z_scores(forward, chain)["log of what is learned"]) > limit()


class CountsClustersTwice(DirichletProcess):
    """Updates the concentration as if there were twice as many clusters."""

    def update(self, rng, sizes, concentration):
        return super().update(rng, np.concatenate([sizes, sizes]), concentration)


@long
@one_worker(MODELS["known"])
def test_the_test_sees_a_wrong_update_of_the_concentration():
    model = MODELS["known"].model(CountsClustersTwice(concentration=HYPER))
    forward = forward_draws(model, n_draws=3000, seed=21)
    chain = chain_draws(Gibbs(merge_split=2), model, n_draws=3000, seed=22)
    assert abs(z_scores(forward, chain)["log concentration"]) > limit()
