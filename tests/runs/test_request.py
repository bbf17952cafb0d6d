"""Words of the command line become options, or one sentence says why not."""

from pathlib import Path

import pytest

from partita.priors import DirichletProcess, FiniteMixtures, PitmanYor
from partita.runs.request import Request, draws_of, types_of, words_of


def test_lists_are_separated_by_commas_and_may_be_repeated():
    assert words_of(["a, b", "c"]) == ("a", "b", "c")
    assert words_of(['"last, first",age']) == ("last, first", "age")
    assert words_of([]) == words_of([""]) == ()


def test_types_are_column_and_kind():
    assert types_of(["zip=categorical,visits=count"]) == {"zip": "categorical", "visits": "count"}
    assert types_of(['"a,b=c=numeric"']) == {"a,b=c": "numeric"}


@pytest.mark.parametrize("wrong", ["zip", "=count", "zip categorical"])
def test_types_without_a_kind(wrong):
    with pytest.raises(ValueError, match=r"--types takes COLUMN=TYPE, for example zip=categorical; got"):
        types_of([wrong])


def test_a_column_of_two_types():
    assert types_of(["a=count", "a=count"]) == {"a": "count"}
    with pytest.raises(ValueError, match="--types gives column 'a' two types: name it once"):
        types_of(["a=count,a=numeric"])


def test_draws():
    assert draws_of("auto") == "auto"
    assert draws_of("250") == 250
    with pytest.raises(ValueError, match="--draws must be 'auto' or a whole number of at least 1; got 'many'"):
        draws_of("many")


@pytest.mark.parametrize(
    ("name", "kind"), [("dp", DirichletProcess), ("pitman-yor", PitmanYor), ("finite-mixtures", FiniteMixtures)]
)
def test_priors_by_name(name, kind):
    request = Request(Path("t.csv"), {}, prior=name)
    assert request.prior_for(100) == kind()
    expecting = Request(Path("t.csv"), {}, prior=name, expected_clusters=6).prior_for(200)
    assert type(expecting) is kind
    assert expecting.expected_clusters(200) == pytest.approx(6, rel=1e-6)


def test_an_unknown_prior_gets_the_nearest_name():
    with pytest.raises(ValueError, match=r"--prior must be one of 'dp', .*got 'pitman_yor'. Did you mean 'pitman-yor'"):
        Request(Path("t.csv"), {}, prior="pitman_yor").prior_for(10)
