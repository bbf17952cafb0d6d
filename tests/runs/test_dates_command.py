"""The command on tables with dates, prices and percents: what it says, writes, predicts and explains."""

import csv
import datetime
import json

import numpy as np
import pytest

OPTIONS = ("--chains", 1, "--draws", 30, "--quiet")


def write(path, rows, header=("joined", "price", "share", "kind")):
    path.write_text("\n".join(";".join(row) for row in (header, *rows)) + "\n")
    return path


def rows_of(n=60, seed=3):
    rng = np.random.default_rng(seed)
    for group in rng.integers(0, 2, n):
        day = datetime.date(2020, 3, 1) + datetime.timedelta(int(400 * group + rng.integers(0, 60)))
        price = f"{rng.normal(2000 + 9000 * group, 300):,.2f}".translate(str.maketrans(",.", ".,"))
        yield f"{day:%d.%m.%Y}", f"{price} €", f"{rng.integers(0, 99)} %", rng.choice(["a", "b"])


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "orders.csv", rows_of())


def test_what_was_understood_is_said(table, partita, tmp_path):
    done = partita("cluster", table, "--out", tmp_path / "run", *OPTIONS[:-1])
    assert done.code == 0, done.err
    assert "  numbers: price, share\n  dates: joined (2020-03-0" in done.out
    noted = [line for line in done.out.splitlines() if "Text was read" in line]
    assert len(noted) == 1
    assert noted[0].startswith("Warning: Text was read as dates in column 'joined' ('")
    assert "and as numbers in columns 'price' ('" in noted[0]
    group = next(line for line in done.out.splitlines() if "group 0," in line)
    assert "joined 202" in group
    assert datetime.date.fromisoformat(group.split("joined ")[1][:10])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["columns"] == {"joined": "date", "price": "numeric", "share": "numeric", "kind": "categorical"}


def test_the_profile_has_dates_and_numbers(table, partita, tmp_path):
    assert partita("cluster", table, "--out", tmp_path / "run", *OPTIONS).code == 0
    profile = list(csv.DictReader((tmp_path / "run" / "profile.csv").read_text().splitlines()))
    for row in profile:
        if row["column"] == "joined":
            assert row["mean_low"] <= row["mean"] <= row["mean_high"]
            assert datetime.date.fromisoformat(row["mean"])
        elif row["kind"] == "numeric":
            assert float(row["mean_low"]) < float(row["mean"]) < float(row["mean_high"])
        else:
            assert row["mean"] == ""


def test_new_rows_and_explanations(table, partita, tmp_path):
    run = tmp_path / "run"
    assert partita("cluster", table, "--out", run, *OPTIONS).code == 0
    new = write(tmp_path / "new.csv", [("01.02.2030", "1.999 €", "5 %", "a"), ("", "NA", "", "b")])
    done = partita("predict", run, new)
    assert done.code == 0, done.err
    explained = partita("explain", run, "0")
    day = datetime.datetime.strptime(next(rows_of())[0], "%d.%m.%Y").date()
    assert str(day) in explained.out
    bad = write(tmp_path / "bad.csv", [("01.02.2030", "1.999 €", "5 %", "a"), ("soon", "5", "6", "b")])
    done = partita("predict", run, bad, "--force")
    assert done.code == 2
    assert "Column 'joined' is to hold dates, but row 1 holds the text 'soon'" in done.err


def test_the_order_of_day_and_month_may_be_told(partita, tmp_path):
    rows = [(f"0{1 + i % 9}/0{1 + i % 7}/2024", str(i * i % 31)) for i in range(40)]
    path = write(tmp_path / "t.csv", rows, ("when", "x"))
    done = partita("cluster", path, "--out", tmp_path / "a", *OPTIONS[:-1])
    assert "--types when=month-first" in done.out
    done = partita("cluster", path, "--out", tmp_path / "b", "--types", "when=month-first", *OPTIONS[:-1])
    assert "Text was read" not in done.out
    assert "dates: when (2024-01-01 to 2024-09-0" in done.out
