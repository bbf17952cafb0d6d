"""Numbers that are categories: guessed by a stated rule, said, and undone by one option."""

import numpy as np
import pandas as pd
import pytest

from partita import Mixture
from partita.families import Gaussian, Mixed
from partita.table import Table
from partita.table.kinds import are_codes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (RNG.integers(0, 2, 100), True),
        (np.repeat([0, 1], [98, 2]), True),
        (RNG.integers(1, 3, 100), True),
        (RNG.integers(1, 4, 432), True),
        (RNG.integers(1, 6, 500), True),
        (np.where(RNG.random(500) < 0.9, 0, RNG.integers(1, 4, 500)), True),
        (RNG.integers(0, 2, 19), False),  # too few cells to tell
        (RNG.permutation(np.repeat(np.arange(9), [5, 40, 90, 30, 10, 50, 80, 20, 5])), False),  # too many values
        (RNG.choice([0.48, 1.0], 300), True),  # any two numbers
        (np.repeat([0.0, 0.11111111, 0.22222222, 0.33333334], [260, 34, 5, 1]), True),  # ninths
        (RNG.normal(40, 12, 300).round(), False),
        (RNG.normal(0, 0.8, 40).round().clip(-2, 2), False),  # bell-shaped: a normal distribution needs fewer numbers
        (np.zeros(100), False),
        (RNG.integers(2008, 2020, 400), True),  # evenly spread, as years are
        (RNG.integers(1, 13, 90), True),
        (RNG.integers(1, 32, 5000), True),
        (np.round(2000 + 20 * RNG.random(100_000) ** 0.9), True),  # the later, the fewer by a little
        (RNG.integers(0, 60, 290), False),  # too few cells for each
        (RNG.integers(0, 61, 4000), False),  # too many values
        (RNG.normal(2014, 3, 400).round().clip(2008, 2020), False),
        (np.concatenate([RNG.normal(2008, 1, 200), RNG.normal(2018, 1, 200)]).round(), False),  # two groups of years
        (np.repeat(RNG.normal(0, 100, 50).round(), 10), False),  # copies of measurements
        (np.repeat([-1.7e308, 1.7e308], 50), False),
        (RNG.poisson(3, 400), False),
        (RNG.geometric(0.3, 400), False),
        (RNG.choice([0.13, 0.57, 1.9, 4.2], 300), False),  # multiples of nothing
        (RNG.choice([10115, 20095, 50667], 300), True),  # whole numbers need no equal steps
        (RNG.choice([1, 5, 10, 25], 300), True),
        (RNG.choice(17, 400, p=[0.2, *[0.05] * 16]), False),  # a value that many hold: not spread evenly
        (RNG.integers(1, 11, 400) / 2, True),  # half stars, spread evenly
    ],
)
def test_the_rule(values, codes):
    assert are_codes(np.asarray(values, dtype=np.float64)) == codes


FRAME = pd.DataFrame({"flag": RNG.integers(0, 2, 60), "size": RNG.normal(size=60), "grade": RNG.integers(1, 4, 60)})


def kinds_of(table):
    return {column.name: (column.kind, column.guessed) for column in table.schema.columns}


def test_what_is_guessed_is_marked_and_what_is_told_is_not():
    as_guessed = {"flag": ("categorical", True), "size": ("numeric", False), "grade": ("categorical", True)}
    assert kinds_of(Table.read(FRAME)) == as_guessed
    told = Table.read(FRAME, column_types={"flag": "categorical", "gr*": "numeric"})
    assert kinds_of(told) == {"flag": ("categorical", False), "size": ("numeric", False), "grade": ("numeric", False)}
    assert set(kinds_of(Table.read(FRAME, guess_types=False)).values()) == {("numeric", False)}


def test_a_guess_is_the_same_as_a_word():
    guessed, told = (Table.read(FRAME, **how) for how in ({}, {"column_types": {("flag", "grade"): "categorical"}}))
    assert guessed.fingerprint() == told.fingerprint()
    assert guessed.schema.columns[0].levels == (0, 1)


def test_rows_of_weight_zero_have_no_say():
    frame = pd.concat([FRAME, FRAME.assign(flag=0.5, grade=7)])
    assert kinds_of(Table.read(frame, sample_weight=np.repeat([1, 0], 60))) == kinds_of(Table.read(FRAME))


def test_a_family_of_numbers_leaves_nothing_to_guess():
    for family, flag in (
        (Gaussian(), "numeric"),
        (Mixed(families={"flag": Gaussian()}), "numeric"),
        (Mixed(), "categorical"),
    ):
        model = Mixture(family=family, engine="vb", random_state=0).fit(FRAME)
        assert model.table_.schema.columns[0].kind == flag


def test_one_option_undoes_it():
    model = Mixture(engine="vb", guess_types=False, random_state=0).fit(FRAME)
    assert {column.kind for column in model.table_.schema.columns} == {"numeric"}
    with pytest.raises(TypeError, match="guess_types must be True or False, got 1"):
        Mixture(guess_types=1).fit(FRAME)


def test_random_flags_are_one_group():
    flags = pd.DataFrame(np.random.default_rng(3).integers(0, 2, (300, 4)), columns=list("abcd"))
    assert Mixture(random_state=0, max_time=30).fit(flags).n_clusters_ == 1
