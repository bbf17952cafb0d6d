"""Values of categorical columns that fit did not see: missing cells with one warning, or an error."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from partita.parameters import choose
from partita.wording import count_of, name_rows, name_some

Unseen = Literal["missing", "error"]
_MOST_COLUMNS = 3


def checked_unseen(value: Any, option: str = "unseen") -> Unseen:
    """What the option says, or a refusal that names what it may be."""
    return choose(option, value, {rule: rule for rule in get_args(Unseen)})


@dataclass
class UnseenValues:
    """What becomes of values that fit did not see, and those that were met in a table.

    Parameters
    ----------
    rule : {"missing", "error"}
        "missing": the cell counts as missing, and `warn` names all such cells in one warning. "error": the first column
        that has some is refused.
    """

    rule: Unseen
    met: list[tuple[str, Sequence[Any], np.ndarray]] = field(default_factory=list)

    def meet(self, column: str, values: Sequence[Any], rows: np.ndarray) -> None:
        """Note the values of a column that fit did not see, and the rows that hold one."""
        if self.rule == "error":
            raise ValueError(
                f"Column {column!r} has {count_of(len(values), 'value')} not seen in fit: "
                f"{name_some(values, len(values))} ({name_rows(rows)}). Correct the cell or leave the cell empty: "
                "missing cells are fine."
            )
        self.met.append((column, values, rows))

    def warn(self) -> None:
        """Say in one warning which cells are taken as missing."""
        if not self.met:
            return
        n_cells = sum(len(rows) for _, _, rows in self.met)
        columns = [
            f"{name_some(values, len(values))} in column {name!r} ({name_rows(rows)})"
            for name, values, rows in self.met[:_MOST_COLUMNS]
        ]
        left = len(self.met) - len(columns)
        if left:
            columns.append(f"and others in {count_of(left, 'more column')}")
        holds, counts = ("holds a value", "counts") if n_cells == 1 else ("hold values", "count")
        warnings.warn(
            f"{count_of(n_cells, 'cell')} {holds} not seen in fit and {counts} as missing: {'; '.join(columns)}. To "
            "refuse them, set unseen='error' (command line: --unseen error).",
            UserWarning,
            stacklevel=4,
        )
