"""The picture of the number of clusters along votes: its data against fits, its mark, and its time limit."""

import os
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from tests.consensus.ensembles import categorical, noisy_copies, unconverged_is_fine

from partita import Mixture
from partita.consensus import NBCE
from partita.options import READING_SHARE
from partita.plots import votes, votes_data
from partita.plots.votes import CUT, _coarse_to_fine, short_number, votes_in_words

pytestmark = [categorical, unconverged_is_fine]


@pytest.fixture(scope="module")
def fitted():
    return NBCE(engine="vb", votes=2.5, random_state=0).fit(noisy_copies(rate=0.3)[0])


def test_every_number_is_that_of_a_fit_with_so_many_votes(fitted):
    data = votes_data(fitted, votes=[4, 1, 2])
    assert data.votes.tolist() == [1.0, 2.0, 4.0]
    again = [NBCE(engine="vb", votes=k, random_state=0).fit(noisy_copies(rate=0.3)[0]).n_clusters_ for k in data.votes]
    assert data.n_clusters.tolist() == again
    assert (data.chosen, data.n_chosen) == (2.5, fitted.n_clusters_)


def test_by_default_votes_go_from_one_to_all_in_about_equal_ratios_and_are_as_they_are_said(fitted):
    data = votes_data(fitted)
    assert (data.votes[0], data.votes[-1], data.votes.size, data.n_planned) == (1.0, 6.0, 12, 12)
    np.testing.assert_allclose(data.votes, np.geomspace(1, 6, 12), atol=0.05)
    assert [float(short_number(number)) for number in data.votes] == data.votes.tolist()


def test_more_votes_than_base_clusterings_are_as_many(fitted):
    assert votes_data(fitted, votes=[3, 6, 60]).votes.tolist() == [3.0, 6.0]


def test_one_base_clustering_has_one_number_of_votes():
    with pytest.warns(UserWarning, match="single clustering"):
        alone = NBCE(engine="vb", random_state=0).fit(noisy_copies(n_clusterings=1)[0])
    assert votes_data(alone).votes.tolist() == [1.0]
    assert votes(alone).get_title("left").endswith("with 1 vote of 1 base clustering")
    assert ticks(votes(alone)) == ["1"]


def test_base_clusterings_that_tell_nothing_have_no_vote():
    Y, _ = noisy_copies()
    padded = np.column_stack([Y, np.zeros(len(Y), int), np.full(len(Y), -1)])
    assert votes_data(NBCE(engine="vb", random_state=0).fit(padded), votes=[8]).votes.tolist() == [6.0]
    nothing = votes_data(NBCE(engine="vb", random_state=0).fit(np.zeros((20, 2), int)))
    assert (nothing.votes.size, nothing.n_planned, nothing.chosen, nothing.n_members) == (0, 0, 0.0, 0)
    ax = votes(nothing)
    ax.figure.draw_without_rendering()
    assert ax.get_title("left") == "1 group: no base clustering tells objects apart"


def test_when_the_time_is_over_there_are_as_many_numbers_as_were_fitted(fitted):
    data = votes_data(fitted, max_time=1e-9)
    assert (data.votes.size, data.n_planned) == (0, 12)
    ax = votes(data)
    ax.figure.draw_without_rendering()
    assert ax.lines[-1].get_xydata().tolist() == [[2.5, fitted.n_clusters_]]
    assert ax.get_xlabel().endswith("\n0 of 12 numbers of votes were tried")


def fit_that(does):
    """A fit in place of `NBCE.fit`, which comes to its end after something has happened on the third call."""
    calls = []

    def fit(self, *rest):
        calls.append(self.votes)
        if len(calls) == 3:
            does()
        self.n_clusters_ = len(calls)
        return self

    return fit


def test_a_fit_that_its_time_limit_may_have_cut_counts_for_no_number(fitted, monkeypatch):
    clock = [0.0]

    def take_long():
        clock[0] += 8.0

    monkeypatch.setattr(NBCE, "fit", fit_that(take_long))
    monkeypatch.setattr(sys.modules["partita.plots.votes"], "running_seconds", lambda: clock[0])
    assert votes_data(fitted, max_time=10.1).votes.size == 12
    monkeypatch.setattr(NBCE, "fit", fit_that(take_long))
    assert votes_data(fitted, max_time=9.9).votes.tolist() == [1.0, 6.0]
    assert pytest.approx(1.0 - READING_SHARE) == CUT


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_with_what_was_fitted(fitted, monkeypatch):
    monkeypatch.setattr(NBCE, "fit", fit_that(lambda: os.kill(os.getpid(), signal.SIGINT)))
    data = votes_data(fitted)
    assert data.votes.tolist() == [1.0, 6.0]
    assert (data.n_clusters.tolist(), data.n_planned) == ([1, 2], 12)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_that_a_fit_answers_with_what_it_has_counts_for_no_number(fitted, monkeypatch):
    real, calls = NBCE.fit, []

    def fit(self, *rest):
        calls.append(self.votes)
        self.set_params(progress=lambda news: os.kill(os.getpid(), signal.SIGINT) if len(calls) == 2 else None)
        return real(self, *rest)

    monkeypatch.setattr(NBCE, "fit", fit)
    data = votes_data(fitted)
    assert data.votes.tolist() == [1.0]
    assert calls == [1.0, 6.0]


@pytest.mark.parametrize("n", [1, 2, 3, 12, 13])
def test_every_beginning_of_the_order_is_spread_out(n):
    order = _coarse_to_fine(n)
    assert sorted(order) == list(range(n))
    for length in range(1, n + 1):
        gaps = np.diff([*sorted(order[:length]), n])
        assert gaps.max() <= 4 * n / length


@pytest.mark.parametrize("n", [1, 2, 3, 12, 13])
def test_both_ends_come_first(n):
    assert _coarse_to_fine(n)[:2] == [0, n - 1][:n]


def test_a_prior_that_variational_bayes_does_not_run_gives_way_to_the_default_and_that_is_said(fitted):
    Y, _ = noisy_copies()
    data = votes_data(NBCE(prior="pitman-yor", chains=2, draws=20, random_state=0).fit(Y), votes=[2, 6])
    again = [NBCE(engine="vb", votes=k, random_state=0).fit(Y).n_clusters_ for k in (2, 6)]
    assert data.n_clusters.tolist() == again
    assert data.other_prior == "stick-breaking"
    assert votes(data).get_xlabel().endswith("\nthe line is that of another prior, stick-breaking")
    assert votes_data(fitted, votes=[2]).other_prior == ""


def test_the_fit_is_left_alone(fitted):
    before = repr(fitted.get_params())
    votes_data(fitted, votes=[1])
    assert repr(fitted.get_params()) == before


def test_points_mark_and_words(fitted):
    given = Figure().subplots()
    ax = votes(fitted, votes=[1, 3, 6], ax=given)
    assert ax is given
    line, mark = ax.lines
    data = votes_data(fitted, votes=[1, 3, 6])
    np.testing.assert_array_equal(votes(data).lines[0].get_xydata(), line.get_xydata())
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([data.votes, data.n_clusters]))
    assert mark.get_xydata().tolist() == [[2.5, fitted.n_clusters_]]
    assert ax.texts[0].get_text() == "this fit"
    n = fitted.n_clusters_
    assert ax.get_title("left") == f"{n} group{'s' * (n > 1)} with 2.5 votes of 6 base clusterings"
    ax.figure.draw_without_rendering()
    assert ticks(ax) == ["1", "2", "3", "5", "6"]
    assert ax.get_xlabel() == "votes that the base clusterings have together"


def ticks(ax):
    return [tick.get_text() for tick in ax.get_xticklabels()]


@pytest.mark.parametrize(
    ("numbers", "chosen", "n_members", "expected"),
    [
        ([0.2, 1, 6], 0.2, 6, ["0.2", "0.3", "0.5", "1", "2", "3", "6"]),
        ([1, 5, 21], 2.5, 21, ["1", "2", "3", "5", "10", "21"]),
        ([1, 150], 150.0, 150, ["1", "2", "3", "5", "10", "20", "30", "50", "100", "150"]),
        ([2, 3], 2.5, 6, ["1", "2", "3", "5", "6"]),
        ([], 2.5, 6, ["1", "2", "3", "5", "6"]),
        ([], 0.04, 1, ["0.05", "0.1", "0.2", "0.3", "0.5", "1"]),
    ],
)
def test_ticks_go_below_one_and_are_at_the_number_of_base_clusterings(fitted, numbers, chosen, n_members, expected):
    data = votes_data(fitted, votes=[])
    shown = {"votes": np.array(numbers, dtype=float), "n_clusters": np.ones(len(numbers), dtype=int)}
    ax = votes(replace(data, **shown, chosen=chosen, n_members=n_members))
    ax.figure.draw_without_rendering()
    assert ticks(ax) == expected


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1.0, "1 vote"),
        (1.04, "1 vote"),
        (7.34, "7.3 votes"),
        (9.97, "10 votes"),
        (0.05, "0.05 votes"),
        (40.0, "40 votes"),
        (1500.0, "1500 votes"),
        (1e6, "1000000 votes"),
    ],
)
def test_votes_in_words_have_no_exponent(number, words):
    assert votes_in_words(number) == words


@pytest.mark.parametrize(
    "told", ["all", "auto", [0], [-1.0], [1, float("nan")], ["a"], [[1, 2], [3, 4]], [10**400], {}, [None]]
)
def test_what_are_no_numbers_of_votes_is_refused(fitted, told):
    with pytest.raises(ValueError, match=r"votes must be positive numbers, such as \[1, 2, 5\], got "):
        votes_data(fitted, votes=told)


@pytest.mark.parametrize("draw", [votes, votes_data])
def test_only_a_fitted_nbce_has_votes(draw):
    with pytest.raises(TypeError, match="Only an NBCE has votes, got a Mixture"):
        draw(Mixture())
    with pytest.raises(NotFittedError):
        draw(NBCE())
