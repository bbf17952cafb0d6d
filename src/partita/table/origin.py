"""Where a table came from, so that results go back in the same form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

_PREFERRED = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class Origin:
    """The kind of frame that came in.

    Parameters
    ----------
    library : str or None
        Importable name of the frame library, for example ``"pandas"``; None for arrays and lists.
    index : pandas index or None
        The row index of a pandas frame.
    """

    library: str | None = None
    index: Any = None

    def frame_like(self, columns: Mapping[str, np.ndarray], *, index: Sequence[Any] | None = None) -> Any:
        """Frame of the same library with these columns.

        A pandas frame gets ``index``, or by default the index that came in when the row counts
        agree. For arrays, and where that library is not installed, it is a frame of the first that is: pandas, polars,
        pyarrow.
        """
        module = import_module(_first_installed(self.library, *_PREFERRED))
        content = {name: v.tolist() if v.dtype == object else v for name, v in _arrays(columns).items()}
        build = module.table if module.__name__ == "pyarrow" else module.DataFrame
        frame = build(content)
        if hasattr(frame, "index"):
            chosen = self.index if index is None else index
            if chosen is not None and len(chosen) == len(frame):
                frame.index = chosen
        return frame


def _arrays(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in columns.items()}


def _first_installed(*libraries: str | None) -> str:
    return next(library for library in libraries if library is not None and find_spec(library) is not None)
