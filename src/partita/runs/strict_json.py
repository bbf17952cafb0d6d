"""JSON that anyone may have written: read in full, or refused with one kind of error."""

import json
from pathlib import Path
from typing import Any, NoReturn


def read_json(path: Path, most_bytes: int) -> Any:
    """The content of a JSON file.

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is no regular file, is larger than ``most_bytes``, is nested without end, is no UTF-8, or is no JSON; NaN and
        infinities, which JSON does not have, count as such.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise ValueError("no regular file")
    with open(path, "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError("too large")
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested without end") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
