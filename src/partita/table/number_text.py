"""Numbers as people write them: with thousands separators, currency and percent signs, negative in parentheses."""

import re
from collections.abc import Sequence
from typing import NamedTuple

SIGNS = ("$", "€", "£", "¥", "₹")
CODES = ("USD", "EUR", "GBP", "JPY", "CNY", "INR", "CHF", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN")
"""Currencies that are known before or after a number."""
_CURRENCY = "|".join(map(re.escape, (*SIGNS, *CODES)))
_SHAPE = re.compile(
    rf"(?P<sign>[+-])? ?(?P<first>{_CURRENCY})? ?(?P<open>\()?(?P<inner_sign>[+-])? ?(?P<second>{_CURRENCY})? ?"
    rf"(?P<digits>[0-9](?:[0-9.,' ]*[0-9])?|[.,][0-9]+) ?(?P<third>%|{_CURRENCY})?(?P<close>\))? ?"
    rf"(?P<last>%|{_CURRENCY})?"
)
_PLAIN_SIGNS = {0xA0: " ", 0x202F: " ", 0x2009: " ", 0x2212: "-", 0x2019: "'"}  # of typesetters
_LEADING_ZERO = re.compile(r"0[0-9]")

# How numbers are written -> the mark between groups of three digits and the mark before decimals.
MARKS = {
    "1,234.5": (",", "."),
    "1 234.5": (" ", "."),
    "1'234.5": ("'", "."),
    "1.234,5": (".", ","),
    "1 234,5": (" ", ","),
    "1'234,5": ("'", ","),
    "1234,5": ("", ","),
    "1234.5": ("", "."),
}
_IN_ORDER = ("1,234.5", "1 234.5", "1'234.5", "1.234,5", "1 234,5", "1'234,5")
_IN_ORDER_WITH_COMMAS = ("1234,5", "1234.5", "1.234,5", "1 234,5", "1'234,5", *_IN_ORDER[:3])


def _pattern(group: str, point: str) -> re.Pattern[str]:
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{re.escape(group)}[0-9]{{3}})+" if group else ""
    decimals = rf"{re.escape(point)}[0-9]+"
    return re.compile(rf"(?:[0-9]+{grouped})(?:{decimals})?|{decimals}")


_PATTERNS = {style: _pattern(*marks) for style, marks in MARKS.items()}
_WRITTEN = re.compile(rf"(?P<sign>{_CURRENCY})?(?P<style>{'|'.join(map(re.escape, MARKS))})(?P<percent>%)?")


class WrittenNumbers(NamedTuple):
    """Numbers, how they were written, and the position of the first that is not plain digits (-1: none)."""

    values: list[float]
    written: str
    marked: int


class _Shape(NamedTuple):
    digits: str
    negative: bool
    in_parentheses: bool
    sign: str


def is_number_style(written: str) -> bool:
    """Whether these words say how numbers are written."""
    return _WRITTEN.fullmatch(written) is not None


def read_numbers(
    texts: Sequence[str], *, decimal_comma: bool = False, known: str = "", told: bool = False
) -> WrittenNumbers | None:
    """Numbers of different texts, where all of them agree on how numbers are written; None where they do not.

    A comma, space or apostrophe with three digits after each of them separates thousands. So does a point where a
    decimal comma follows one of them, or a cell has two; otherwise it is a decimal point, as in numbers that are plain.
    With ``decimal_comma``, as in files that commas do not separate, the same is true of the comma. At most one currency
    is named in all cells, and all cells or none have a percent sign, which is left out: 12% is 12. A number in
    parentheses is negative.

    Numbers that are plain, all of them, are text that was meant to be text, and so are codes that begin with a zero,
    and numbers that are all in parentheses. That is not so where the column is ``told`` to hold numbers, or held such
    text before (``known``: `WrittenNumbers.written`).
    """
    shapes = []
    for text in texts:
        shape = _shape_of(text)
        if shape is None:
            return None  # most columns of text end here
        shapes.append(shape)
    sign = _shared_sign(shapes, known)
    style = _style_of([shape.digits for shape in shapes], decimal_comma, known)
    if sign is None or style is None:
        return None
    group, point = MARKS[style]
    in_groups = [group != "" and group in shape.digits for shape in shapes]
    marked = next((i for i, shape in enumerate(shapes) if in_groups[i] or shape.sign), -1)
    enclosed = [shape.in_parentheses for shape in shapes]
    if marked < 0 and any(enclosed) and not all(enclosed):
        marked = enclosed.index(True)
    is_code = any(_LEADING_ZERO.match(shape.digits) for shape in shapes)
    if not (told or known) and (marked < 0 or is_code):
        return None
    values = [_number(shape, group, point) for shape in shapes]
    return WrittenNumbers(values, f"{style}{sign}" if sign == "%" else f"{sign}{style}", marked)


def _shape_of(text: str) -> _Shape | None:
    found = _SHAPE.fullmatch(text.translate(_PLAIN_SIGNS).strip())
    if found is None:
        return None
    signs = [mark for mark in found.group("first", "second", "third", "last") if mark]
    minus = [mark for mark in found.group("sign", "inner_sign") if mark]
    enclosed = found["open"] is not None
    if len(signs) > 1 or len(minus) > 1 or enclosed != (found["close"] is not None) or (enclosed and minus):
        return None
    return _Shape(found["digits"], enclosed or minus == ["-"], enclosed, signs[0] if signs else "")


def _shared_sign(shapes: Sequence[_Shape], known: str) -> str | None:
    """The currency or percent sign of all cells, "" for none; None where they do not agree."""
    signs = {shape.sign for shape in shapes}
    named = signs - {""}
    match = _WRITTEN.fullmatch(known)
    if match:
        before = match["sign"] or match["percent"] or ""
        return before if named <= {before} else None
    if len(named) > 1 or ("%" in signs and "" in signs):
        return None
    return named.pop() if named else ""


def _style_of(digits: Sequence[str], decimal_comma: bool, known: str) -> str | None:
    match = _WRITTEN.fullmatch(known)
    styles = (match["style"],) if match else _IN_ORDER_WITH_COMMAS if decimal_comma else _IN_ORDER
    return next((style for style in styles if all(map(_PATTERNS[style].fullmatch, digits))), None)


def _number(shape: _Shape, group: str, point: str) -> float:
    digits = shape.digits.replace(group, "") if group else shape.digits
    number = float(digits.replace(point, "."))
    return -number if shape.negative else number
