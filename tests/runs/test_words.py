"""What a run says, in words that hold at the edges."""

from pathlib import Path

import numpy as np
import pytest

from partita import Mixture, Posterior
from partita.runs.clustering import Input, Run
from partita.runs.request import Request
from partita.runs.words import describe_input, describe_run
from partita.table import Table

pytestmark = [
    pytest.mark.xdist_group("known"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def run_of(x):
    table = Table.read(np.asarray(x, dtype=float))
    given = Input(Request(Path("t.csv"), {}), table, None, [])
    return Run(given, Mixture(family="gaussian", chains=2, draws=30, random_state=0).fit(table), 1.0)


def test_one_row():
    first, second = describe_run(run_of([[1.0, 2.0]]))[:2]
    assert first == "1 group of 1 row. How many groups there are: 1 with probability 1.00."
    assert second == "1 of 1 rows are placed with confidence 0.9 or more."


def test_large_numbers_are_written_out():
    rng = np.random.default_rng(0)
    lines = describe_run(run_of(np.repeat([[20000.0], [90000.0]], 30, axis=0) + rng.normal(0, 100, (60, 1))))
    told = next(line for line in lines if line.startswith("  group 0"))
    assert "e+" not in told
    assert "x0 " in told


def test_a_summary_with_another_number_of_groups_says_so():
    run = run_of(np.random.default_rng(1).normal(size=(40, 1)))
    draws = np.arange(40)[None] % np.array([[5], [6], [7], [5], [6], [7]])
    run.model._posterior = Posterior(draws)
    run.model.labels_, run.model.probabilities_ = np.zeros(40, dtype=np.int64), np.ones((40, 1))
    run.model.n_clusters_ = 1
    assert "; 1 (0.00) is the best summary: groups that come and go are not in it." in describe_run(run)[0]


def test_whole_numbers_with_few_values_are_pointed_out():
    x = np.column_stack([np.arange(60) % 3, np.random.default_rng(2).normal(size=60), np.arange(60) * 7 % 41])
    said = describe_input(run_of(x).input)
    assert said[-1] == "  whole numbers with few values: x0 (3); if they are codes, --types NAME=categorical"
