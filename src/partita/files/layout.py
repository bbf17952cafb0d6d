"""How the content of a file is described, and how a file is held to that before anything is built from it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

_MOST = float(np.finfo(np.float64).max)
_LEAST = -_MOST
_ROUNDING = 1e-9  # of sums of probabilities


class MismatchError(ValueError):
    """What differs from the description, in words."""


class UnknownClassError(ValueError):
    """A file names a class that nobody here has registered; the words say what to do."""


@dataclass(frozen=True)
class Member:
    """One array.

    Parameters
    ----------
    name : str
        Its name in the file; ``NAME`` in it stands for every name in ``Layout.named_by``.
    dtypes : tuple of str
        What its type may be called.
    shape : tuple of str
        A name per axis. Axes of one name are of one length in all members; ``"cluster + 1"`` and ``"chain x draw"`` are
        computed from axes named before.
    holds : str
        What it holds, in words.
    least, most : float
        Its numbers are from here to there; infinite ones only where a bound says so.
    below : str, optional
        Its numbers are below the length of this axis.
    gaps : bool
        Whether nan stands for a missing number.
    """

    name: str
    dtypes: tuple[str, ...]
    shape: tuple[str, ...]
    holds: str
    least: float = _LEAST
    most: float = _MOST
    below: str = ""
    gaps: bool = False

    @property
    def numbers(self) -> str:
        """Which numbers it may hold, in words."""
        if self.most == math.inf:
            return "of any size"
        least = f"from {_number(self.least)}" if self.least != _LEAST else ""
        most = f"to {_number(self.most)}" if self.most != _MOST else ""
        below = f"below the number of {self.below}s" if self.below else ""
        told = " ".join(filter(None, [least, most, below])) or "that are finite"
        return f"{told}, nan = missing" if self.gaps else told

    def check(self, name: str, array: np.ndarray, lengths: Mapping[str, int]) -> None:
        """Refuse numbers outside the range."""
        if array.size == 0:
            return
        lesser, greater = (np.fmin, np.fmax) if self.gaps else (np.minimum, np.maximum)  # the first two pass nan over
        least, most = lesser.reduce(array, axis=None), greater.reduce(array, axis=None)
        ceiling = min(self.most, lengths[self.below] - 1) if self.below else self.most
        only_gaps = self.gaps and np.isnan(least)
        if not (only_gaps or (least >= self.least and most <= ceiling + _ROUNDING)):
            raise MismatchError(f"{name} must hold numbers {self.numbers}, and holds {least:g} to {most:g}")


@dataclass(frozen=True)
class Field:
    """One entry of the header: where it is (``a[].b``: in every item of a list), what it is, and the test of that."""

    path: str
    words: str
    test: Callable[[Any], bool]
    required: bool = True
    written: bool = True  # if not, it is of earlier versions and only read

    def check(self, header: Mapping[str, Any]) -> None:
        """Refuse a header that lacks the entry or has another thing there."""
        for place, value in _values_at(header, self.path.split("."), self.required):
            if not self.test(value):
                raise MismatchError(f"{place} must be {self.words}")


@dataclass(frozen=True)
class Layout:
    """What a file of one kind holds; other entries and arrays may be there and are not read."""

    kind: str
    fields: tuple[Field, ...]
    members: tuple[Member, ...]
    named_by: str

    def check_header(self, header: Mapping[str, Any]) -> None:
        """Refuse a header that is not as described.

        Raises
        ------
        MismatchError
        """
        for field in self.fields:
            field.check(header)

    def arrays(self, header: Mapping[str, Any]) -> dict[str, Member]:
        """The arrays that a file with this header has, by name."""
        found: dict[str, Member] = {}
        for member in self.members:
            names = header[self.named_by] if "NAME" in member.name else [""]
            found |= {member.name.replace("NAME", name): member for name in names}
        return found

    def check_shapes(self, header: Mapping[str, Any], about: Mapping[str, tuple[np.dtype, tuple[int, ...]]]) -> None:
        """Refuse arrays whose types or shapes, by name, do not fit each other; nothing of them need have been read."""
        self._lengths(header, about)

    def check_arrays(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Refuse arrays that are not as described.

        Raises
        ------
        MismatchError
        """
        lengths = self._lengths(header, {name: (array.dtype, array.shape) for name, array in arrays.items()})
        for name, member in self.arrays(header).items():
            member.check(name, arrays[name], lengths)

    def _lengths(
        self, header: Mapping[str, Any], about: Mapping[str, tuple[np.dtype, tuple[int, ...]]]
    ) -> dict[str, int]:
        lengths: dict[str, int] = {}
        for name, member in self.arrays(header).items():
            if name not in about:
                raise MismatchError(f"{name} is missing")
            dtype, shape = about[name]
            if dtype.name not in member.dtypes:
                raise MismatchError(f"{name} must be of type {' or '.join(member.dtypes)}, and is {dtype.name}")
            expected = ", ".join(member.shape)
            if len(shape) != len(member.shape):
                raise MismatchError(f"{name} must have shape ({expected}), and has {shape}")
            for axis, length in zip(member.shape, shape):
                if _length(axis, lengths, length) != length:
                    raise MismatchError(f"{name} must have shape ({expected}) with {_told(lengths)}, and has {shape}")
        return lengths


def _length(axis: str, lengths: dict[str, int], found: int) -> int:
    """The length that an axis must have; an axis that was not met before has the length that is found."""
    if " x " in axis:
        return math.prod(lengths[name] for name in axis.split(" x "))
    if axis.endswith(" + 1"):
        return lengths[axis.removesuffix(" + 1")] + 1
    return lengths.setdefault(axis, found)


def _told(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{axis} = {length}" for axis, length in lengths.items())


def _number(value: float) -> str:
    return f"2^{round(math.log2(value))}" if value > 1e6 else f"{value:g}"


def _values_at(content: Any, path: list[str], required: bool, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that a path leads to, with the words for where it is."""
    if not path:
        yield place, content
        return
    step, rest = path[0], path[1:]
    name, of_each = step.removesuffix("[]"), step.endswith("[]")
    here = f"{place}.{name}" if place else name
    if not isinstance(content, dict):
        raise MismatchError(f"{place} must be an object")
    if name not in content:
        if required:
            raise MismatchError(f"{here} is missing")
        return
    if not of_each:
        yield from _values_at(content[name], rest, required, here)
        return
    if not isinstance(content[name], list):
        raise MismatchError(f"{here} must be a list")
    for i, item in enumerate(content[name]):
        yield from _values_at(item, rest, required, f"{here}[{i}]")
