"""Every family is a parameter object, and resolving it changes neither it nor the table."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.contracts import toy_family
from tests.contracts.cases import EXAMPLES, every_sampled_example

import partita.families
from partita.families import FAMILIES, Family
from partita.priors import Beta, Gamma

NAMES = {**vars(partita.families), "Waiting": toy_family.Waiting, "Beta": Beta, "Gamma": Gamma}


@every_sampled_example
def test_clone_is_equal_and_separate(case):
    twin = clone(case.family)
    assert twin is not case.family
    assert twin == case.family
    assert twin.get_params(deep=False).keys() == case.family.get_params(deep=False).keys()
    for option in case.family.get_params(deep=False):
        changed = clone(case.family).set_params(**{option: "changed"})
        assert getattr(changed, option) == "changed"
        assert changed != case.family


@every_sampled_example
def test_repr_is_the_call_that_makes_it(case):
    assert eval(repr(case.family), dict(NAMES)) == case.family


@every_sampled_example
def test_default_object_has_every_option_as_keyword_only(case):
    kind = type(case.family)
    assert kind() == kind()
    assert kind() != case.family
    with pytest.raises(TypeError, match="positional"):
        kind(*case.family.get_params(deep=False).values())
    with pytest.raises(ValueError, match="Invalid parameter 'pseudocuont'"):
        kind().set_params(pseudocuont=1.0)


def test_families_of_different_classes_differ():
    families = [family for family, _ in EXAMPLES]
    for a, first in enumerate(families):
        for b, second in enumerate(families):
            assert (first == second) == (a == b)


@every_sampled_example
def test_resolving_changes_neither_family_nor_table(case):
    before, cells = clone(case.family), case.table.fingerprint()
    case.family.resolve(case.table).rows(case.table)
    assert case.family == before
    assert case.table.fingerprint() == cells


@every_sampled_example
def test_rows_are_the_engines_own(case):
    """An engine that draws missing cells writes to its rows, never to another engine's."""
    first, second = case.likelihood.rows(case.table), case.likelihood.rows(case.table)
    for mine, other in zip(leaves(first), leaves(second)):
        assert mine.flags.writeable
        assert not np.shares_memory(mine, other)
        for block in (case.table.numeric, case.table.codes, case.table.counts):
            assert not np.shares_memory(mine, block)


def leaves(rows):
    return [rows] if isinstance(rows, np.ndarray) else [leaf for part in rows for leaf in leaves(part)]


@every_sampled_example
def test_state_has_room_for_any_number_of_slots(case):
    for n_slots in (1, 17):
        state = case.likelihood.state(n_slots)
        assert case.likelihood.stats_of(state).shape == (n_slots, case.stats(np.ones(case.n_rows)).shape[1])
    stats = case.stats(np.ones(case.n_rows), np.arange(case.n_rows))
    case.likelihood.load(state, stats)
    np.testing.assert_array_equal(case.likelihood.stats_of(state)[:2], stats)
    assert not case.likelihood.stats_of(state)[2:].any()


def test_a_class_with_a_name_registers_itself_and_one_without_does_not():
    class Named(toy_family.Waiting, name="named"):
        pass

    class Nameless(toy_family.Waiting):
        pass

    try:
        assert FAMILIES["named"] is Named
        assert Nameless not in FAMILIES.values()
    finally:
        del FAMILIES["named"]
    with pytest.raises(TypeError, match="abstract"):
        Family()
