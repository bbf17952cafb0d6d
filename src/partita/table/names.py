"""Names of columns."""

from collections import Counter
from collections.abc import Sequence

from partita.wording import name_some


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse names that more than one column has."""
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise ValueError(
            f"Column names must differ, but these repeat: {name_some(repeated, len(repeated))}. Rename them."
        )
