"""Options of an estimator as plain JSON and back: numbers, names, lists, arrays and parameter objects."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from partita.files.layout import UnknownClassError
from partita.parameters import REGISTRY, Named, Parameters

_NUMBERS = re.compile(r"[<>|][biuf][1248]")


def to_json(value: Any) -> Any:
    """The value in types that JSON has; floats keep every bit.

    Raises
    ------
    TypeError
        A value that cannot be written, for example an object of a class that is not registered.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, np.ndarray):
        return {"array": to_json(value.tolist()), "dtype": value.dtype.str}
    if isinstance(value, list | tuple | range):
        return {"list": [to_json(item) for item in value]}
    if isinstance(value, Mapping):  # pairs: keys may be numbers
        return {"mapping": [[to_json(key), to_json(item)] for key, item in value.items()]}
    room, name = _registered(value)
    return {room: name, "options": {key: to_json(item) for key, item in value.get_params(deep=False).items()}}


def from_json(content: Any) -> Any:
    """The value that `to_json` wrote; arrays come back as arrays, tuples and ranges as lists.

    Raises
    ------
    UnknownClassError
        An object of a class that is not registered here.
    ValueError
        What `to_json` does not write.
    """
    if content is None or isinstance(content, bool | int | float | str):
        return content
    if not isinstance(content, dict):
        raise ValueError(f"a {type(content).__name__} stands where an option should")
    for form, read in _FORMS.items():
        if form in content:
            return read(content)
    return _object(content)


def options_from_json(kind: type[BaseEstimator], content: Any) -> dict[str, Any]:
    """Options of a class, by name.

    Raises
    ------
    ValueError
        Options that the class does not have.
    """
    if not isinstance(content, dict):
        raise ValueError(f"the options of {kind.__name__} are no object")
    unknown = content.keys() - set(kind._get_param_names())
    if unknown:
        raise ValueError(f"{kind.__name__} has no option {min(unknown)!r}")
    return {name: from_json(value) for name, value in content.items()}


def _array(content: Mapping[str, Any]) -> np.ndarray:
    dtype = content.get("dtype")
    if not (isinstance(dtype, str) and _NUMBERS.fullmatch(dtype)):
        raise ValueError("an array among the options does not hold numbers")
    return np.array(from_json(content["array"]), dtype=dtype)


def _list(content: Mapping[str, Any]) -> list[Any]:
    if not isinstance(content["list"], list):
        raise ValueError("a list among the options is none")
    return [from_json(item) for item in content["list"]]


def _mapping(content: Mapping[str, Any]) -> dict[Any, Any]:
    pairs = content["mapping"]
    if not (isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)):
        raise ValueError("a mapping among the options does not consist of pairs")
    return {_key(key): from_json(item) for key, item in pairs}


def _key(content: Any) -> Any:
    """A name, a number, or a tuple of these."""
    parts = content["list"] if isinstance(content, dict) and content.keys() == {"list"} else None
    key = tuple(parts) if isinstance(parts, list) else content
    if any(isinstance(part, dict | list) for part in (key if isinstance(key, tuple) else (key,))):
        raise ValueError("a key of a mapping among the options is no name and no number")
    return key


_FORMS = {"array": _array, "list": _list, "mapping": _mapping}


def _object(content: Mapping[str, Any]) -> Any:
    room = next((room for room in REGISTRY if room in content), None)
    if room is None or content.keys() != {room, "options"} or not isinstance(content[room], str):
        raise ValueError("an option is neither a value nor an object by its name")
    kind = REGISTRY[room].get(content[room])
    if kind is None:
        raise UnknownClassError(
            f"The {room} {content[room]!r} is not known here: import the module that registers it first."
        )
    return kind(**options_from_json(kind, content["options"]))


def record_of(prior: Named) -> dict[str, Any]:
    """What provenance says of a prior: its words, and its options (None where its class is not registered)."""
    options = to_json(prior) if prior.is_known() else None
    return {"prior": repr(prior), "prior_options": options}


def _registered(value: Any) -> tuple[str, str]:
    if isinstance(value, Named) and value.is_known():
        return value.kind_of, value.name
    what = "is not registered" if isinstance(value, Parameters) else "is no option that a file can hold"
    raise TypeError(f"{value!r} cannot be saved: its class {type(value).__name__} {what}.")
