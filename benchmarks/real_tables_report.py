"""The figures of `benchmarks.real_tables` as text: every table, then means by half and over all."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.labelled_tables import CONFIRMED, FIXED, HALVES
from benchmarks.made_tables import GROUPED, ONE

Results = dict[str, dict[str, dict[str, dict[str, Any]]]]  # by method, table and seed
HEAD = f"  {'':<22}{'ARI':>7}  {'groups':<14}{'suggested':<14}{'ARI':>7}{'held out':>13}{'seconds':>9}{'CPU':>7}"
KEYS = ("ari", "suggested_ari", "held_out", "seconds", "cpu")
REFERENCE = "start"  # what held-out densities are compared with, table by table


def report(results: Results) -> Iterator[str]:
    """Every table and the means, in lines."""
    parts = {
        f"labelled, rules {FIXED} on them": HALVES[FIXED],
        f"labelled, rules {CONFIRMED} on them": HALVES[CONFIRMED],
        "labelled, all": HALVES[FIXED] + HALVES[CONFIRMED],
        "made, three groups": tuple(GROUPED),
        "structureless": tuple(ONE),
    }
    for name in dict.fromkeys(name for names in parts.values() for name in names):
        rows = [line(method, runs(results, method, name)) for method in results if runs(results, method, name)]
        if rows:
            yield from ["", name, HEAD, *rows]
        reasons = {method: reason for method in results if (reason := skipped(results, method, name))}
        yield from (f"  {method:<22}skipped: {reason}" for method, reason in reasons.items())
    for title, names in parts.items():
        if any(runs(results, method, name) for method in results for name in names):
            yield from ["", f"=== {title}", MEANS_HEAD]
            yield from (means(results, method, names) for method in results)


def runs(results: Results, method: str, table: str) -> list[dict[str, Any]]:
    """The records of all seeds that were measured."""
    found = results[method].get(table, {})
    return [found[seed] for seed in sorted(found) if "skipped" not in found[seed]]


def skipped(results: Results, method: str, table: str) -> str:
    """Why the method was not measured on the table; empty where it was."""
    return next((one["skipped"] for one in results[method].get(table, {}).values() if "skipped" in one), "")


def line(method: str, found: Sequence[dict[str, Any]]) -> str:
    """One method on one table: means over seeds, and the number of groups of every seed."""
    values = {key: mean([one.get(key) for one in found]) for key in KEYS}
    groups, suggested = (" ".join(str(one[key]) for one in found if key in one) for key in ("k", "suggested"))
    return (
        f"  {method:<22}{values['ari']:>7.3f}  {groups:<14}{suggested:<14}{shown(values['suggested_ari'], 7, 3)}"
        f"{shown(values['held_out'], 13, 3)}{values['seconds']:>9.1f}{values['cpu']:>7.1f}"
    )


MEANS_HEAD = (
    f"  {'':<22}{'tables':>7}{'ARI':>8}{'suggested':>11}{'one group':>11}{f'held out - {REFERENCE}':>20}"
    f"{'of':>4}{'seconds':>9}{'CPU':>7}"
)


def means(results: Results, method: str, names: Sequence[str]) -> str:
    """One method on many tables: the mean over tables of the mean over seeds, and the share that have one group.

    Of held-out densities it is the median difference from those of the reference, over tables where both have one: a
    density that breaks down on one table would be all that a mean shows.
    """
    by_table = {name: found for name in names if (found := runs(results, method, name))}
    ari, suggested, _, seconds, cpu = (
        mean([mean([one.get(key) for one in found]) for found in by_table.values()]) for key in KEYS
    )
    one_group = mean([mean([one["k"] <= 1 for one in found]) for found in by_table.values()])
    gains = []
    for name in by_table:
        own, reference = (
            mean([one.get("held_out") for one in runs(results, which, name)]) if which in results else np.nan
            for which in (method, REFERENCE)
        )
        gains += [] if np.isnan(own - reference) else [own - reference]
    gain = float(np.median(gains)) if gains else np.nan
    return (
        f"  {method:<22}{len(by_table):>7}{shown(ari, 8, 3)}{shown(suggested, 11, 3)}{shown(one_group, 11, 2)}"
        f"{shown(gain, 20, 3)}{len(gains):>4}{shown(seconds, 9, 1)}{shown(cpu, 7, 1)}"
    )


def mean(values: Sequence[float | None]) -> float:
    """Of those that are known; nan where none is."""
    known = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def shown(value: float, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if np.isnan(value) else f"{value:>{width}.{digits}f}"
