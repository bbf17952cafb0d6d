"""What a run says, in words that hold at the edges."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from partita import Mixture, Posterior
from partita.runs.cluster import ClusterRequest
from partita.runs.column_words import describe_input
from partita.runs.fits import Fit, Input
from partita.runs.words import chances_in_words
from partita.table import Table

pytestmark = [
    pytest.mark.xdist_group("known"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def run_of(x):
    table = Table.read(np.asarray(x, dtype=float))
    given = Input(ClusterRequest(Path("t.csv"), {}), table, None, [])
    return Fit(given, Mixture(family="gaussian", chains=2, draws=30, random_state=0).fit(table), 1.0)


def said_of(run):
    return [line for section in run.input.request.sections(run) for line in section.words]


def test_one_row():
    first, second = said_of(run_of([[1.0, 2.0]]))[:2]
    assert first == "1 group of 1 row. How many groups there are: 1 with probability 1.00."
    assert second.startswith("With one group no row has another to belong to")


def test_large_numbers_are_written_out():
    rng = np.random.default_rng(0)
    lines = said_of(run_of(np.repeat([[20000.0], [90000.0]], 30, axis=0) + rng.normal(0, 100, (60, 1))))
    told = next(line for line in lines if line.startswith("  group 0"))
    assert "e+" not in told
    assert "x0 " in told


def test_draws_that_determine_nothing_come_first():
    run = run_of(np.random.default_rng(1).normal(size=(40, 1)))
    draws = np.arange(40)[None] % np.array([[5], [6], [7], [5], [6], [7]])
    run.model._outcome = replace(run.model._outcome, posterior=Posterior(draws))
    run.model.labels_, run.model.probabilities_ = np.zeros(40, dtype=np.int64), np.ones((40, 1))
    run.model.n_clusters_ = 1
    first, second, *_ = said_of(run)
    assert first.startswith("This table does not determine groups: two rows are together with probability 0.15")
    assert "; 1 is reported, fewer than in 100% of the draws: groups that come and go are left out." in second


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_of_the_number_of_groups_is_true(seed):
    """Every number and every comparison in the sentence, read back from it."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice(np.arange(1, 15), size=rng.integers(1, 9), replace=False)
    chances = dict(zip(numbers.tolist(), rng.dirichlet(np.ones(len(numbers)))))
    reported = int(rng.integers(1, 18))
    said = chances_in_words(chances, reported)
    for k, p in re.findall(r"(\d+) with probability (\d\.\d\d)", said):
        assert float(p) == pytest.approx(chances[int(k)], abs=0.0051)
    compared = re.search(r"; (\d+) (?:is|are) reported, (fewer|more) than in (\d+)% of the draws", said)
    likely = sorted(chances, key=lambda k: -chances[k])[:3]
    assert (compared is None) == (reported in likely)
    if compared is not None:
        beyond = {"fewer": np.greater, "more": np.less}[compared[2]]
        share = sum(p for k, p in chances.items() if beyond(k, reported))
        assert int(compared[1]) == reported
        assert int(compared[3]) == pytest.approx(100 * share, abs=0.51)
        assert share >= 0.5 * (1.0 - chances.get(reported, 0.0)) - 1e-12


def test_whole_numbers_with_few_values_are_pointed_out():
    x = np.column_stack(
        [
            np.repeat(np.arange(8), [1, 4, 9, 17, 16, 8, 4, 1]),
            np.random.default_rng(2).normal(size=60),
            np.arange(60) * 7 % 41,
        ]
    )
    said = describe_input(run_of(x).input)
    assert said[-1] == "  whole numbers with few values: x0 (8); if they are codes, --types NAME=categorical"
