"""Words of the command line become options, or one sentence says why not."""

from pathlib import Path

import pytest

from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, PitmanYor, StickBreaking
from partita.runs.cluster import ClusterRequest
from partita.runs.consensus import ConsensusRequest
from partita.runs.options import draws_of, missing_of, types_of, words_of


def test_lists_are_separated_by_commas_and_may_be_repeated():
    assert words_of(["a, b", "c"]) == ("a", "b", "c")
    assert words_of(['"last, first",age']) == ("last, first", "age")
    assert words_of([]) == words_of([""]) == ()


def test_types_are_column_and_kind():
    assert types_of(["zip=categorical,visits=count"]) == {"zip": "categorical", "visits": "count"}
    assert types_of(['"a,b=c=numeric"']) == {"a,b=c": "numeric"}
    assert types_of(["*=categorical", "q?=count"]) == {"*": "categorical", "q?": "count"}


def test_columns_before_a_type_share_it():
    assert types_of(["a,b=count,c=numeric"]) == {"a": "count", "b": "count", "c": "numeric"}
    assert types_of(['"last, first", age = categorical']) == {"last, first": "categorical", "age": "categorical"}
    with pytest.raises(ValueError, match="COLUMN=TYPE, for example zip=categorical; got 'c'"):
        types_of(["a=count,b,c", "d=count"])  # each option for itself
    with pytest.raises(ValueError, match="--types gives column 'a' two types: name it once"):
        types_of(["a,b=count,a=numeric"])


@pytest.mark.parametrize("wrong", ["zip", "=count", "zip categorical"])
def test_types_without_a_kind(wrong):
    with pytest.raises(ValueError, match=r"--types takes COLUMN=TYPE, for example zip=categorical; got"):
        types_of([wrong])


def test_a_column_of_two_types():
    assert types_of(["a=count", "a=count"]) == {"a": "count"}
    with pytest.raises(ValueError, match="--types gives column 'a' two types: name it once"):
        types_of(["a=count,a=numeric"])


def test_values_that_stand_for_missing_cells():
    assert missing_of(("-999", "age=-9", "unknown", "age=99", "a=b = x")) == {
        None: ["-999", "unknown"],
        "age": ["-9", "99"],
        "a=b": ["x"],
    }
    for wrong in ("=3", "age="):
        with pytest.raises(ValueError, match="--missing takes VALUE or COLUMN=VALUE, for example -999 or age=-999"):
            missing_of((wrong,))


def test_draws():
    assert draws_of("auto") == "auto"
    assert draws_of("250") == 250
    with pytest.raises(ValueError, match="--draws must be 'auto' or a whole number of at least 1; got 'many'"):
        draws_of("many")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("dp", DirichletProcess),
        ("dirichlet-process", DirichletProcess),
        ("pitman-yor", PitmanYor),
        ("finite-mixtures", FiniteMixtures),
    ],
)
def test_priors_by_name(name, kind):
    request = ClusterRequest(Path("t.csv"), {}, prior=name)
    assert request.prior_for(100) == kind()
    expecting = ClusterRequest(Path("t.csv"), {}, prior=name, expected_clusters=6).prior_for(200)
    assert type(expecting) is kind
    assert expecting.expected_clusters(200) == pytest.approx(6, rel=1e-6)


@pytest.mark.parametrize(("name", "kind"), [("stick-breaking", StickBreaking), ("finite-dirichlet", FiniteDirichlet)])
def test_priors_that_have_a_limit(name, kind):
    def asked(**options):
        return ClusterRequest(Path("t.csv"), {}, prior=name, **options).prior_for(200)

    assert asked() == asked(engine="vb") == kind(n_components=100)
    assert asked(components=7) == kind(n_components=7)
    assert asked(components=30, expected_clusters=6).expected_clusters(200) == pytest.approx(6, rel=1e-6)


@pytest.mark.parametrize("prior", ["dp", "dirichlet-process", "pitman-yor", "finite-mixtures"])
def test_a_limit_for_a_prior_that_has_none_when_it_is_sampled(prior):
    words = f"--components limits --prior finite-dirichlet, stick-breaking; {prior} has no limit when it is sampled"
    with pytest.raises(ValueError, match=words):
        ClusterRequest(Path("t.csv"), {}, prior=prior, components=7).prior_for(10)
    with pytest.raises(ValueError, match=words):
        ConsensusRequest(Path("t.csv"), prior=prior, components=7).model()


@pytest.mark.parametrize("engine", ["vb", "cvb"])
def test_an_approximation_has_a_limit_for_every_prior(engine):
    table = ClusterRequest(Path("t.csv"), {}, prior="dp", components=7, engine=engine).mixture_for(20)
    assert (table.prior, table.engine.truncation) == (DirichletProcess(), 7)
    labels = ConsensusRequest(Path("t.csv"), prior="dp", components=7, engine=engine).model()
    assert labels._options().prior.n_components == table._options().prior.n_components == 7


def test_an_unknown_prior_gets_the_nearest_name():
    with pytest.raises(
        ValueError,
        match=r"--prior must be one of 'dirichlet-process', .*'dp'; got 'pitman_yor'. Did you mean 'pitman-yor'",
    ):
        ClusterRequest(Path("t.csv"), {}, prior="pitman_yor").prior_for(10)
