"""What a file holds comes back: a fitted estimator, or a posterior. The format is in ``docs/file-format.md``."""

import os
from importlib import import_module
from typing import Any

from partita.files.container import building_from, read_container
from partita.files.layouts import CONSENSUS, CRAFT, MIXTURE, POSTERIOR, options_of_earlier_files
from partita.posterior import Posterior
from partita.table_estimator import SAVED

_HOMES = {MIXTURE.kind: "partita.bayesian_mixture", CONSENSUS.kind: "partita.consensus", CRAFT.kind: "partita.means"}
"""Where the estimators of this package are, by the kind of their files; those of others are known once imported."""


def load(path: str | os.PathLike) -> Any:
    """Read what ``save`` of a fitted estimator or of a `Posterior` wrote.

    A file that was changed, cut or is from a newer version is refused, and so is one that no ``save`` wrote. Nothing in
    a file is executed, and nothing is imported because a file names it. What a file cannot hold comes back as the
    default: a callable ``progress``, a ``random_state`` that is no number, a row index of other cells than text and
    numbers.

    Examples
    --------
    >>> import tempfile
    >>> from partita import Posterior
    >>> path = f"{tempfile.mkdtemp()}/draws.partita"
    >>> Posterior([[0, 0, 1], [0, 1, 1]]).save(path)
    >>> load(path).n_draws
    2
    """
    header, arrays = read_container(
        path, POSTERIOR, MIXTURE, CONSENSUS, CRAFT, *(kind._layout for kind in SAVED.values())
    )
    with building_from(path):
        if header["kind"] == POSTERIOR.kind:
            return Posterior.from_container(header, arrays)
        if header["kind"] in _HOMES:
            import_module(_HOMES[header["kind"]])
        if header["kind"] == MIXTURE.kind:
            own = header[MIXTURE.kind]
            own["options"] = options_of_earlier_files(own.get("estimator", "")) | own["options"]
        return SAVED[header["kind"]]._from_contents(header, arrays)
