"""Options of an estimator as plain JSON and back: numbers, names, lists, arrays and parameter objects."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from partita.engines import ENGINES
from partita.families import FAMILIES
from partita.parameters import Parameters
from partita.priors import PRIORS, Gamma, Prior

_REGISTRIES: dict[str, Mapping[str, type]] = {
    "family": FAMILIES,
    "prior": PRIORS,
    "engine": ENGINES,
    "hyperprior": {"gamma": Gamma},
}


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
    ValueError
        An object of a class that is not registered here.
    """
    if not isinstance(content, dict):
        return content
    if "array" in content:
        return np.array(from_json(content["array"]), dtype=content["dtype"])
    if "list" in content:
        return [from_json(item) for item in content["list"]]
    if "mapping" in content:
        return {from_json(key): from_json(item) for key, item in content["mapping"]}
    room = next(iter(content))
    kinds = _REGISTRIES[room]
    if content[room] not in kinds:
        raise ValueError(f"The {room} {content[room]!r} is not known here: import the module that registers it first.")
    return kinds[content[room]](**{key: from_json(item) for key, item in content["options"].items()})


def record_of(prior: Prior) -> dict[str, Any]:
    """What provenance says of a prior: its words, and its options (None where its class is not registered)."""
    options = to_json(prior) if type(prior) in PRIORS.values() else None
    return {"prior": repr(prior), "prior_options": options}


def _registered(value: Any) -> tuple[str, str]:
    for room, kinds in _REGISTRIES.items():
        for name, kind in kinds.items():
            if type(value) is kind:
                return room, name
    what = "is not registered" if isinstance(value, Parameters) else "is no option that a file can hold"
    raise TypeError(f"{value!r} cannot be saved: its class {type(value).__name__} {what}.")
