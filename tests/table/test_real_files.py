"""Files of the benchmark collection are understood as the table in their README says.

The collection lies beside the repository, in ``../shared/data``, or where the variable PARTITA_BENCHMARK_DATA points.
"""

import os
import re
from pathlib import Path

import pytest

from partita.table import Table

FOLDER = Path(os.environ.get("PARTITA_BENCHMARK_DATA", Path(__file__).parents[3] / "shared" / "data"))
README = FOLDER / "README.md"
CODES_ARE_CATEGORIES = ("monk3.csv", "monk3_train.csv")

pytestmark = [
    pytest.mark.skipif(not README.exists(), reason="the benchmark collection is not beside the repository"),
    # Constant columns, rows without a word, columns that number something.
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def described():
    """File, rows, numeric and categorical columns and missing cells of each line of the README's table."""
    if not README.exists():
        return [("no file", 0, 0, 0, 0)]  # for a test that is skipped
    text = README.read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([\w.]+)` \| (\d+) \| (\d+) \| (\d+)(?: \(views\))? \| (\d+) \|", text, re.MULTILINE)
    return [(name, *map(int, numbers)) for name, *numbers in lines]


def test_every_file_of_the_collection_is_described():
    assert {name for name, *_ in described()} == {path.name for path in FOLDER.glob("*.csv*")}


@pytest.mark.parametrize(("name", "n_rows", "n_numeric", "n_categorical", "n_missing"), described())
def test_columns_are_understood(name, n_rows, n_numeric, n_categorical, n_missing):
    path = FOLDER / name
    told = dict.fromkeys((f"a{j}" for j in range(1, 7)), "categorical") if name in CODES_ARE_CATEGORIES else None
    table = Table.read(path, column_types=told, guess_types=False)
    kinds = [column.kind for column in table.schema.columns if column.name != "label"]
    assert table.n_rows == n_rows
    assert (kinds.count("numeric"), kinds.count("categorical")) == (n_numeric, n_categorical)
    assert len(kinds) == n_numeric + n_categorical
    assert table.has_missing == (n_missing > 0)


@pytest.mark.parametrize(
    ("name", "positive"),
    [
        ("spambase.csv.gz", {f"capital_run_length_{which}" for which in ("average", "longest", "total")}),
        ("wine.csv", {"color_intensity"}),
        *((name, set()) for name in ("glass.csv", "iris.csv", "ecoli.csv", "old_faithful.csv", "control_chart.csv")),
    ],
)
def test_which_columns_have_a_long_tail(name, positive):
    schema = Table.read(FOLDER / name).schema
    found = {column.name for column in schema.numeric if column.kind == "positive" and column.name != "label"}
    assert found - set(schema.zero_flags) == positive


@pytest.mark.parametrize(
    ("name", "n_parted"),
    [("spambase.csv.gz", 54), ("glass.csv", 4), *((f"{name}.csv", 0) for name in ("letter_AJ_700", "wine", "ecoli"))],
)
def test_which_columns_are_0_or_something(name, n_parted):
    assert len(Table.read(FOLDER / name).schema.zero_flags) == n_parted
