"""Compiled code is chosen by the types of its arguments: the same types, the same compilation."""

import numba
import numpy as np
import pytest
from tests.contracts.cases import CORRELATED, EXAMPLES, MORE, SAMPLED, counts, numbers, plain

from partita.families import Categorical, Count, Gaussian, Mixed
from partita.priors import PRIORS, GibbsType
from partita.priors.gibbs_type import GibbsTypePrior
from partita.priors.stick_state import StickBreakingPrior
from partita.table import Table


def types_of(family, table):
    likelihood = family.resolve(table)
    return numba.typeof(likelihood.rows(table)), numba.typeof(likelihood.state(3))


def test_every_example_of_a_likelihood_has_one_type():
    types = {}
    for family, table in [*EXAMPLES, *MORE, *SAMPLED]:
        types.setdefault(type(family.resolve(table)).__name__, set()).add(types_of(family, table))
    assert len(types) == 8
    for name, found in types.items():
        assert len(found) == 1, name


def read_only(values, order="C"):
    array = np.array(values, dtype=np.float64, order=order)
    array.setflags(write=False)
    return array


PAIR = plain(numbers(5, 2))
WORDS = Table.read(np.array([["a", "p"], ["b", "q"], ["b", "p"]], dtype=object))


@pytest.mark.parametrize(
    ("family", "plain_family", "table"),
    [
        (Gaussian(scale=read_only(CORRELATED[:2, :2])), Gaussian(), PAIR),
        (Gaussian(scale=read_only(CORRELATED[:2, :2], order="F")), Gaussian(), PAIR),
        (Gaussian(scale=CORRELATED[1:3, 1:3]), Gaussian(), PAIR),
        (Gaussian(mean=read_only([0.0, 1.0])), Gaussian(), PAIR),
        (Gaussian(covariance="diag", dof=read_only([3.0, 4.0])), Gaussian(covariance="diag"), PAIR),
        (Gaussian(covariance="known", variance=read_only([3.0, 4.0])), Gaussian(covariance="known"), PAIR),
        (Categorical(pseudocount=read_only([3.0, 4.0])), Categorical(), WORDS),
        (Categorical(pseudocount=np.array([3, 4, 5, 6])[::2]), Categorical(), WORDS),
        (Count(shape=read_only([3.0, 4.0]), rate=read_only([1.0, 1.0])), Count(), counts(5, 2)),
        (Mixed(families={"numeric": Gaussian(scale=read_only(np.eye(2)))}), Mixed(), PAIR),
        (Mixed(families={"categorical": Categorical(pseudocount=read_only([1.0, 2.0]))}), Mixed(), WORDS),
    ],
    ids=repr,
)
def test_read_only_or_strided_options_change_no_type(family, plain_family, table):
    assert types_of(family, table) == types_of(plain_family, table)


def test_one_row_one_column_or_one_slot_change_no_type():
    for n, d in [(1, 1), (1, 3), (4, 1)]:
        table = plain(numbers(n, d))
        for covariance in ("full", "diag", "known"):
            family = Gaussian(covariance=covariance)
            assert types_of(family, table) == types_of(family, PAIR)
            assert numba.typeof(family.resolve(table).state(1)) == types_of(family, PAIR)[1]


def test_all_priors_of_gibbs_type_are_one_class_and_type():
    types = set()
    for kind in PRIORS.values():
        for prior in kind.examples():
            state = prior.compiled(12, prior.initial_concentration(), 9)
            grown = prior.recompiled(state, 12, prior.initial_concentration(), 18)
            learned = prior.recompiled(grown, 12, 1.7, 18)
            assert type(state) is (GibbsTypePrior if isinstance(prior, GibbsType) else StickBreakingPrior)
            types |= {(type(s), numba.typeof(s)) for s in (state, grown, learned)}
    assert {kind for kind, _ in types} == {GibbsTypePrior, StickBreakingPrior}
    assert len(types) == 2
