"""Newton's steps on the bound alone: where they end, that the bound never falls, and who refuses the hyperprior."""

import numpy as np
import pandas as pd
import pytest
from tests.consensus.ensembles import noisy_copies
from tests.engines.models import CATEGORICAL
from tests.engines.variational_models import random_responsibilities

import partita
from partita import NBCE, Mixture
from partita.engines import CollapsedVariational, Gibbs, Variational
from partita.families import Categorical, Mixed
from partita.metrics import adjusted_rand
from partita.model.model import Model
from partita.plots.prior_words import prior_in_words
from partita.priors import DirichletProcess, FiniteDirichlet, Flat, Gamma, StickBreaking

LEARN = ("concentration", "pseudocount")

pytestmark = pytest.mark.xdist_group("DirichletCategorical")


def model_of(prior):
    likelihood = Categorical(pseudocount=Flat()).resolve(CATEGORICAL.table)
    return Model(likelihood, prior, CATEGORICAL.table, np.ones(6, dtype=np.int64))


@pytest.mark.parametrize("kind", [StickBreaking, FiniteDirichlet])
def test_no_other_numbers_have_a_higher_bound(kind):
    model = model_of(kind(n_components=3, concentration=Flat()))
    resp = random_responsibilities(6, 3, 2)
    sizes, stats = model.row_weights @ resp, model.shared_stats(resp)
    concentration = model.prior.learned_concentration(sizes, 1.0)
    likelihood = model.likelihood.relearned(stats)

    def bound(alpha, beta):
        at = likelihood.with_learned(pseudocount=beta)
        return model.prior.log_allocation(sizes, alpha) + float(at.log_marginal(stats).sum())

    best = bound(concentration, likelihood.learned["pseudocount"])
    for alpha in np.geomspace(1e-6, 1e6, 49):
        for beta in np.geomspace(1e-6, 1e6, 49):
            assert bound(alpha, beta) <= best + 1e-9
    assert likelihood.log_hyperprior() + model.prior.log_hyperprior(concentration) == 0.0


@pytest.mark.parametrize(
    "engine", [Variational(tol=1e-9, max_iter=5000), CollapsedVariational(tol=1e-9, max_iter=2000)], ids=["vb", "cvb"]
)
def test_a_consensus_learns_both_numbers_and_is_the_limit_of_faint_gammas(engine):
    Y, truth = noisy_copies(200, n_clusterings=8, rate=0.2)
    options = {"engine": engine, "n_components": 10, "learn": LEARN, "random_state": 0}
    flat = NBCE(concentration=Flat(), pseudocount=Flat(), **options).fit(Y)
    faint = NBCE(concentration=Gamma(1e-9, 1e-9), pseudocount=Gamma(1e-9, 1e-9), **options).fit(Y)
    np.testing.assert_array_equal(flat.labels_, faint.labels_)
    assert flat.state_.concentration == pytest.approx(faint.state_.concentration, rel=1e-7)
    learned = [one.state_.likelihood.learned["pseudocount"] for one in (flat, faint)]
    assert learned[0] == pytest.approx(learned[1], rel=1e-7)
    assert adjusted_rand(truth, flat.labels_) > 0.9
    if engine.monotone:
        assert (np.diff(flat.elbo_path_) >= 0.0).all()


def test_it_is_kept_in_a_file(tmp_path):
    Y, _ = noisy_copies()
    fitted = NBCE(engine="vb", concentration=Flat(start=2.0), pseudocount=Flat(), learn=LEARN, random_state=0).fit(Y)
    fitted.save(tmp_path / "flat.partita")
    again = partita.load(tmp_path / "flat.partita")
    assert again.concentration == Flat(start=2.0)
    np.testing.assert_array_equal(again.predict_proba(Y), fitted.predict_proba(Y))


@pytest.mark.parametrize(
    ("prior", "pseudocount", "what"),
    [
        (DirichletProcess(concentration=Flat()), 1.0, "concentration"),
        (StickBreaking(n_components=3, concentration=Flat()), 1.0, "concentration"),
        (DirichletProcess(concentration=1.0), Flat(), "pseudocount"),
    ],
    ids=["dirichlet-process", "stick-breaking", "pseudocount"],
)
def test_gibbs_refuses_it_at_once(prior, pseudocount, what):
    table = CATEGORICAL.table
    model = Model(Categorical(pseudocount=pseudocount).resolve(table), prior, table, np.ones(6, dtype=np.int64))
    with pytest.raises(ValueError, match=rf"A draw of the {what} cannot be had under Flat\(\)"):
        Gibbs().init(np.random.default_rng(0), model)
    with pytest.raises(ValueError, match=rf"A draw of the {what} cannot be had under Flat\(\)"):
        Mixture(family=Categorical(pseudocount=pseudocount), prior=prior).fit(np.array([["a", "b"], ["b", "a"]] * 5))


def test_em_holds_it_where_it_begins():
    rows = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("uuvvuuvw")})
    options = {"engine": "em", "prior": FiniteDirichlet(n_components=2, concentration=2.0), "random_state": 0}
    flat, fixed = (Mixture(family=Categorical(pseudocount=one), **options).fit(rows) for one in (Flat(start=2.0), 2.0))
    np.testing.assert_array_equal(flat.probabilities_, fixed.probabilities_)


def test_words():
    prior = DirichletProcess(concentration=Flat())
    assert prior_in_words(prior) == "Dirichlet process with concentration learned under a flat hyperprior"


def test_a_block_of_mixed_is_told_beforehand_too():
    X = np.array([list("aabb"), [1.0, 2.0, 3.0, 4.0]], dtype=object).T
    family = Mixed(families={"categorical": Categorical(pseudocount=Flat())})
    with pytest.raises(ValueError, match=r"A draw of the pseudocount cannot be had under Flat\(\)"):
        Mixture(family=family, draws=5).fit(X)
