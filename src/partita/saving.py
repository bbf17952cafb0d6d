"""A fitted estimator in one file: options, table, posterior, estimate. The format is in ``docs/file-format.md``."""

import os
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral
from typing import Any

import numpy as np

from partita.engines.outcome import Kept
from partita.files.container import building_from, read_container, write_container
from partita.files.json_options import from_json, options_from_json, to_json
from partita.files.layout import UnknownClassError
from partita.files.layouts import MIXTURE, POSTERIOR
from partita.posterior import Posterior
from partita.table import Origin, Schema, Table
from partita.wording import printable

_ESTIMATORS = {"Mixture": "partita.mixture", "NBCE": "partita.consensus"}
_BLOCKS = ("numeric", "codes", "counts")
_PLAIN_CELLS = (str, int, float, bool)


def save(estimator: Any, path: str | os.PathLike) -> None:
    """Write a fitted estimator to one file, all of it or nothing."""
    outcome, table = estimator._outcome, estimator.table_
    posterior_header, posterior_arrays = estimator.posterior_.to_container()
    arrays = {f"table/{name}": getattr(table, name) for name in _BLOCKS}
    arrays |= {
        "table/weights": outcome.model.row_weights,
        "estimate/labels": outcome.labels,
        "estimate/probabilities": outcome.probabilities,
        "clusters/log_seats": outcome.clusters.log_seats,
        "clusters/stats": outcome.clusters.stats,
    }
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "estimator": next(kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in _ESTIMATORS),
        "options": {name: to_json(value) for name, value in _lasting_options(estimator).items()},
        "edition": estimator._edition,
        "seed": to_json(estimator._entropy),
        "schema": table.schema.to_dict(),
        "origin": _origin_to_json(table.origin),
        "feature_names": None if names is None else [str(name) for name in names],
        "notes": to_json(outcome.kept_notes()),
        "grouping": None if estimator._grouping is None else to_json(estimator._grouping._asdict()),
    }
    write_container(path, MIXTURE, posterior_header | {"mixture": header}, posterior_arrays | arrays)


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
    header, arrays = read_container(path, MIXTURE, POSTERIOR)
    with building_from(path):
        posterior = Posterior.from_container(header, arrays)
        return _estimator(header["mixture"], arrays, posterior) if header["kind"] == MIXTURE.kind else posterior


def _estimator(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], posterior: Posterior) -> Any:
    name = header.get("estimator", "Mixture")
    if name not in _ESTIMATORS:
        raise UnknownClassError(
            f"The file holds a {printable(name)}, which this version of partita does not know: upgrade partita."
        )
    kind = getattr(import_module(_ESTIMATORS[name]), name)
    estimator = kind(**options_from_json(kind, header["options"]))
    blocks = {name: arrays[f"table/{name}"] for name in _BLOCKS}
    origin = _origin_from_json(header["origin"], len(blocks["numeric"]))
    table = Table(Schema.from_dict(header["schema"]), **blocks, origin=origin)
    names = header["feature_names"]
    if names is not None and len(names) != len(table.names):
        raise ValueError("there are not as many feature names as columns")
    kept = Kept(
        posterior,
        arrays["clusters/log_seats"],
        arrays["clusters/stats"],
        arrays["estimate/labels"],
        arrays["estimate/probabilities"],
        _notes_from_json(header),
    )
    estimator._restore(
        table,
        arrays["table/weights"],
        kept,
        from_json(header.get("grouping")),
        _seed_from_json(header["seed"]),
        weighted="notes" in header or "maximum" in header,  # before, families did not read weights
        edition=header.get("edition", 1),
    )
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _seed_from_json(content: Any) -> Any:
    seed = from_json(content)
    np.random.SeedSequence(seed)  # refuses what is no seed
    return seed


def _notes_from_json(header: Mapping[str, Any]) -> dict[str, Any]:
    """What an engine noted; earlier versions had a place of its own for each kind of engine."""
    if "notes" in header:
        if header.get("maximum") is not None or header.get("approximation") is not None:
            raise ValueError("there are notes of two versions")
        return from_json(header["notes"])
    maximum, approximation = from_json(header.get("maximum")), from_json(header.get("approximation"))
    try:
        if maximum is not None:
            found = dict(maximum["found"])
            notes = {"loglik_path": found.pop("path"), **found.pop("criteria"), **found, "learned": None}
            return notes | {"n_components": maximum["n_components"]}
        if approximation is not None:
            found = dict(approximation)
            return {"elbo_path": found.pop("path"), **found}
    except (KeyError, TypeError, ValueError):
        raise ValueError("maximum or approximation is not what an engine notes") from None
    return {"converged": False, "learned": {}, "support_cost": header.get("support_cost") or 0.0}


def _lasting_options(estimator: Any) -> dict[str, Any]:
    """The options without what cannot outlive the process: a callback, a generator that has moved on."""
    options = estimator.get_params(deep=False)
    if not isinstance(options["progress"], bool):
        del options["progress"]
    if not isinstance(options["random_state"], Integral):
        del options["random_state"]
    return options


def _origin_to_json(origin: Origin) -> dict[str, Any]:
    """Library and index; an index of other cells than text and numbers is left out."""
    index = None if origin.index is None else [_plain(cell) for cell in origin.index.tolist()]
    if index is not None and not all(isinstance(cell, _PLAIN_CELLS) for cell in index):
        index = None
    name = getattr(origin.index, "name", None)
    return {"library": origin.library, "index": index, "index_name": name if isinstance(name, str) else None}


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _origin_from_json(content: Mapping[str, Any], n_rows: int) -> Origin:
    index = content["index"]
    if index is not None and (content["library"] != "pandas" or len(index) != n_rows):
        raise ValueError("the row index is not that of a pandas frame with as many rows")
    if index is None or find_spec("pandas") is None:
        return Origin(content["library"])
    import pandas as pd

    return Origin("pandas", pd.Index(index, name=content["index_name"]))
