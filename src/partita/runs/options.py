"""The options that several commands have, and what their words mean."""

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

MAX_TIME = 300.0  # seconds: what a person waits for without having been asked

TableFile = Annotated[
    Path, typer.Argument(help="CSV (also .gz, also separated by ; or tab) or Parquet, with a header.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="What stands for a missing cell besides an empty one: -999,unknown, or age=-999 in one column."),
]
Ignore = Annotated[list[str] | None, typer.Option(help="Columns to leave out: name,comment.")]
Chains = Annotated[int, typer.Option(help="Independent chains; that they agree is the test of the answer.")]
Draws = Annotated[str, typer.Option(help="Draws of every chain; auto: until the chains agree.")]
MaxTime = Annotated[
    str,
    typer.Option(
        metavar="SECONDS",
        help="Seconds until it answers with what it has; none: no limit. Compiling on first use does not count.",
    ),
]
Components = Annotated[
    int | None,
    typer.Option(min=1, help="The most groups of stick-breaking, finite-dirichlet or an approximation; default: 100."),
]
LossName = Annotated[
    str, typer.Option(help="What is made small: vi, binder, one-minus-ari, nvi, nid, zero-one or vi-lb.")
]
Entropy = Annotated[float, typer.Option(help="Weight of a draw's entropy; above 0, draws with tiny groups count less.")]
MinSize = Annotated[int | None, typer.Option(min=1, help="The least members that a group may have.")]
MaxClusters = Annotated[
    str | None,
    typer.Option(help="The most groups that there may be; default: as many as a draw has; n: as many as members."),
]
MinSupport = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="How often draws must hold a group together, and apart; 0: never mind."),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
MaxUnpacked = Annotated[
    str | None, typer.Option(metavar="SIZE", help="What a compressed file may unpack to, if you trust it: 500MB, 4GB.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files in the folder also where partita did not write them.")
]
SafeCsv = Annotated[
    bool, typer.Option("--safe-csv", help="Keep spreadsheets from computing text: =1+1 is written as '=1+1.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def words_of(values: Sequence[str] | None) -> tuple[str, ...]:
    """The items of comma-separated lists, repeated options joined; an item with a comma stands in double quotes."""
    items = [item.strip() for value in values or () for item in next(csv.reader([value], skipinitialspace=True), [])]
    return tuple(item for item in items if item)


def types_of(values: Sequence[str] | None) -> dict[str, str]:
    """Kinds by column or pattern from items like ``zip=categorical``; what is after the last ``=`` is the kind.

    Columns without a kind have that of the next one that has: ``zip,area=categorical``.
    """
    types: dict[str, str] = {}
    for value in values or ():
        waiting: list[str] = []
        for item in words_of([value]):
            column, equals, kind = item.rpartition("=")
            waiting.append(column.strip() if equals else item)
            if equals:
                _give_type(types, waiting, kind.strip(), item)
                waiting = []
        if waiting:
            _refuse_type(waiting[-1])
    return types


def _give_type(types: dict[str, str], columns: list[str], kind: str, item: str) -> None:
    for column in columns:
        if not column:
            _refuse_type(item)
        if types.setdefault(column, kind) != kind:
            raise ValueError(f"--types gives column {column!r} two types: name it once.")


def _refuse_type(item: str) -> NoReturn:
    raise ValueError(f"--types takes COLUMN=TYPE, for example zip=categorical; got {item!r}.")


def missing_of(words: Sequence[str]) -> dict[str | None, list[str]]:
    """Values that stand for a missing cell by column, None for all, from ``-999`` and ``age=-999``."""
    values: dict[str | None, list[str]] = {}
    for word in words:
        column, equals, value = (part.strip() for part in word.rpartition("="))
        if equals and not (column and value):
            raise ValueError(f"--missing takes VALUE or COLUMN=VALUE, for example -999 or age=-999; got {word!r}.")
        values.setdefault(column or None, []).append(value)
    return values


def bytes_of(size: str | None) -> int | None:
    """Bytes of a size like 500MB or 4GB."""
    from partita.table.unpacking import size_in_bytes

    return None if size is None else size_in_bytes(size)


def seconds_of(value: str) -> float | None:
    """A number of seconds, or "none" for no limit."""
    if value.strip().lower() == "none":
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        raise ValueError(f"--max-time must be a positive number of seconds, or none for no limit; got {value!r}.")
    return seconds


def number_of(option: str, value: str | None, names: Sequence[str] = ()) -> int | str | None:
    """A whole number of at least 1, or one of the names; None where there is none."""
    if value is None or value in names:
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        also = "".join(f", or {name!r}" for name in names)
        raise ValueError(f"{option} must be a whole number of at least 1{also}; got {value!r}.")
    return int(value)


def votes_of(value: str | None) -> str | float | None:
    """A number of votes, "auto" or "all"; None where there is none."""
    if value in (None, "auto", "all"):
        return value
    from partita.consensus.votes import checked_votes

    votes: Any = value
    with suppress(ValueError):
        votes = float(votes)
    checked_votes(votes, "--votes")
    return votes


def draws_of(value: str) -> int | str:
    """A number of draws, or "auto"."""
    if value == "auto":
        return value
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--draws must be 'auto' or a whole number of at least 1; got {value!r}.") from None


_MEANINGS: Mapping[str, Callable[[Any], Any]] = {
    "types": types_of,
    "ignore": words_of,
    "missing": words_of,
    "groups": partial(number_of, "--groups", names=("auto", "none")),
    "max_clusters": partial(number_of, "--max-clusters", names=("n",)),
    "draws": draws_of,
    "votes": votes_of,
    "max_time": seconds_of,
    "max_unpacked": bytes_of,
}


def meaning(option: str, word: Any) -> Any:
    """What the word of an option means, the same in every command; most are taken as they are, and paths are."""
    return word if option not in _MEANINGS or isinstance(word, Path) else _MEANINGS[option](word)
