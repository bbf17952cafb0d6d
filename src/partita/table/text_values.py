"""Columns of text that stands for numbers or dates."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from partita.table.cells import ColumnCells
from partita.table.csv_types import MISSING_WORDS
from partita.table.date_text import WrittenDates, read_dates
from partita.table.number_text import WrittenNumbers, read_numbers
from partita.wording import count_of, declare, join_words, shown

if TYPE_CHECKING:
    from partita.table.encoding import Reading

_MOST_NAMED = 5
_AS_DATES = "Write dates as 2024-12-31 or leave the cell empty: missing cells are fine."


class TextColumn(NamedTuple):
    """A column of text: codes (-1 = missing) and the different values that they count."""

    name: str
    codes: np.ndarray
    distinct: tuple[str, ...]


class TextValues(NamedTuple):
    """What text stands for: cells, how they were written, an example in words, and whether the order was a guess."""

    cells: ColumnCells
    written: str
    example: str
    ambiguous: bool = False


def recognised(text: TextColumn, *, decimal_comma: bool = False, told_numbers: bool = False) -> TextValues | None:
    """Numbers or dates, where all cells agree on how they are written; see `read_numbers` and `read_dates`.

    Words for missing values, as in files, stand for missing cells then. None for all other text, and for dates where
    the column is told to hold numbers.
    """
    first = next((word for word in text.distinct if not _is_missing(word)), "")
    if read_dates([first]) is None and read_numbers([first], told=True) is None:
        return None  # most columns of text end here, before all of their values are looked at
    present = _present(text)
    texts = [text.distinct[i] for i in present]
    if not texts:
        return None
    dates = None if told_numbers else read_dates(texts)
    if dates is not None:
        return _dates(text, present, dates)
    numbers = read_numbers(texts, decimal_comma=decimal_comma, told=told_numbers)
    return None if numbers is None else _numbers(text, present, numbers)


def told_dates(text: TextColumn, order: str, *, again: bool) -> TextValues:
    """Dates of a column that is told to hold some, or (``again``) held some in fit, in an order that may be known.

    Raises
    ------
    ValueError
        Text that is no date, that says it in another way than the rest, or (``again``) in an order that is not known.
    """
    present = _present(text)
    texts = [text.distinct[i] for i in present]
    dates = read_dates(texts, known=order)
    if dates is None:
        _refuse(text, present, "dates", lambda some: read_dates(some, known=order), _AS_DATES)
    if dates.ambiguous and again:
        row = int(np.flatnonzero(np.isin(text.codes, present))[0])
        raise ValueError(
            f"Column {text.name!r} holds dates of which the day or the month may come first (row {row}: "
            f"{shown(text.distinct[text.codes[row]])}), and fit saw none of the kind. Write them as 2024-12-31."
        )
    return _dates(text, present, dates)


def numbers_again(text: TextColumn, known: str) -> TextValues:
    """Numbers of a column that held numbers written in this way in fit.

    Raises
    ------
    ValueError
        Text that is no number of this kind.
    """
    present = _present(text)
    numbers = read_numbers([text.distinct[i] for i in present], known=known)
    if numbers is None:
        remedy = f"Write numbers as in fit ({known}) or leave the cell empty: missing cells are fine."
        _refuse(text, present, "numbers", lambda some: read_numbers(some, known=known), remedy)
    return _numbers(text, present, numbers)


def levels_again(text: TextColumn, known: str) -> tuple:
    """The values of text in a column whose categories were numbers written in this way in fit; other text stays."""
    found = [read_numbers([word], known=known) for word in text.distinct]
    return tuple(word if numbers is None else numbers.values[0] for word, numbers in zip(text.distinct, found))


def warn_of_text_values(readings: "Sequence[Reading]") -> None:
    """Say in one warning which columns of text were read as numbers and as dates, and how to change that."""
    found = [reading for reading in readings if reading.example]
    if not found:
        return
    parts = []
    for kinds, words in ((("date",), "dates"), (("numeric", "positive", "count", "categorical"), "numbers")):
        named = [f"{reading.name!r} ({reading.example})" for reading in found if reading.kind in kinds]
        if named:
            more = len(named) - _MOST_NAMED
            shown_names = named if more <= 0 else [*named[:_MOST_NAMED], count_of(more, "other")]
            parts.append(f"as {words} in {'column' if len(named) == 1 else 'columns'} {join_words(shown_names)}")
    guessed = [reading.name for reading in found if reading.ambiguous]
    order = ""
    if guessed:
        those = join_words(map(repr, guessed[:_MOST_NAMED]))
        order = f" In {those} the day was taken to come first; if the month does, {declare(guessed[0], 'month-first')}."
    warnings.warn(
        f"Text was read {' and '.join(parts)}.{order} Where text is meant, {declare(found[0].name, 'categorical')}.",
        UserWarning,
        stacklevel=3,
    )


def warn_of_times_of_day(readings: "Sequence[Reading]") -> None:
    """Warn once of all columns of times of day: their numbers jump at midnight."""
    names = [repr(reading.name) for reading in readings if reading.of_day]
    if names:
        hold = f"Column {names[0]} holds" if len(names) == 1 else f"Columns {join_words(names)} hold"
        warnings.warn(
            f"{hold} times of day, read as seconds since midnight: 23:59 and 0:01 are far apart.",
            UserWarning,
            stacklevel=3,
        )


def _present(text: TextColumn) -> list[int]:
    """Codes that occur and stand for a value."""
    occurring = np.flatnonzero(np.bincount(text.codes[text.codes >= 0], minlength=len(text.distinct)))
    return [i for i in occurring.tolist() if not _is_missing(text.distinct[i])]


def _is_missing(word: str) -> bool:
    word = word.strip()
    return not word or word.lower() in MISSING_WORDS


def _dates(text: TextColumn, present: list[int], dates: WrittenDates) -> TextValues:
    cells = _cells(text, present, dates.values)
    first = str(dates.values[0]).removesuffix("T00:00:00.000000").removesuffix(".000000") if present else ""
    example = f"{shown(text.distinct[present[0]])} is {first}" if present else ""
    found = ColumnCells(text.name, cells, np.isnat(cells), in_utc=dates.in_utc)
    return TextValues(found, dates.written, example, dates.ambiguous)


def _numbers(text: TextColumn, present: list[int], numbers: WrittenNumbers) -> TextValues:
    cells = _cells(text, present, np.array(numbers.values, dtype=np.float64))
    marked = numbers.marked
    example = f"{shown(text.distinct[present[marked]])} is {numbers.values[marked]:.15g}" if marked >= 0 else ""
    return TextValues(ColumnCells(text.name, cells, np.isnan(cells)), numbers.written, example)


def _cells(text: TextColumn, present: list[int], values: np.ndarray) -> np.ndarray:
    """The value of every cell; the last of the lookup is what -1 points to."""
    nothing = np.datetime64("NaT", "us") if values.dtype.kind == "M" else np.nan
    lookup = np.full(len(text.distinct) + 1, nothing, dtype=values.dtype)
    lookup[present] = values
    return lookup[text.codes]


def _refuse(
    text: TextColumn, present: list[int], wanted: str, read: Callable[[list[str]], object], remedy: str
) -> NoReturn:
    """Name the first row whose text does not stand for what is wanted, or else is written unlike the first."""
    rows = np.flatnonzero(np.isin(text.codes, present))
    codes = list(dict.fromkeys(text.codes[rows].tolist()))
    first = text.distinct[codes[0]]
    odd = next((code for code in codes if read([text.distinct[code]]) is None), None)
    words = "" if odd is not None else f", written in another way than {shown(first)} in row {rows[0]}"
    if odd is None:
        odd = next((code for code in codes if read([first, text.distinct[code]]) is None), codes[-1])
    row = int(np.flatnonzero(text.codes == odd)[0])
    raise ValueError(
        f"Column {text.name!r} is to hold {wanted}, but row {row} holds the text {shown(text.distinct[odd])}{words}. "
        f"{remedy}"
    )
