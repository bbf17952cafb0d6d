"""A fitted Mixture in one file: options, table, posterior, estimate. The format is in ``docs/file-format.md``."""

import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from partita.engines.em import CRITERIA
from partita.json_options import from_json, to_json
from partita.mixture import Mixture
from partita.posterior import Posterior
from partita.posterior.storage import read_container, write_container
from partita.predictive import Clusters, Components
from partita.table import Origin, Schema, Table

KIND = "mixture"
_BLOCKS = ("numeric", "codes", "counts")
_PLAIN_CELLS = (str, int, float, bool)


def save(mixture: Mixture, path: str | os.PathLike) -> None:
    """Write a fitted Mixture to one file, all of it or nothing."""
    model, clusters = mixture._model, mixture._clusters
    posterior_header, posterior_arrays = mixture.posterior_.to_container()
    arrays = {f"table/{name}": getattr(model.table, name) for name in _BLOCKS}
    arrays |= {
        "table/weights": model.row_weights,
        "estimate/labels": mixture.labels_,
        "estimate/probabilities": mixture.probabilities_,
        "clusters/log_seats": clusters.log_seats,
        "clusters/stats": clusters.stats,
    }
    names = getattr(mixture, "feature_names_in_", None)
    header = {
        "options": {name: to_json(value) for name, value in _lasting_options(mixture).items()},
        "seed": to_json(mixture._entropy),
        "schema": model.table.schema.to_dict(),
        "origin": _origin_to_json(model.table.origin),
        "feature_names": None if names is None else [str(name) for name in names],
        "maximum": _maximum_to_json(mixture) if isinstance(clusters, Components) else None,
    }
    write_container(path, KIND, posterior_header | {"mixture": header}, posterior_arrays | arrays)


def load(path: str | os.PathLike) -> Mixture | Posterior:
    """Read what ``Mixture.save`` or ``Posterior.save`` wrote.

    A file that was changed, cut or is from a newer version is refused. Nothing in a file is
    executed. What a file cannot hold comes back as the default: a callable ``progress``, a ``random_state`` that is
    no number, a row index of other cells than text and numbers.
    """
    header, arrays = read_container(path, KIND, "posterior")
    posterior = Posterior.from_container(header, arrays)
    return _mixture(header["mixture"], arrays, posterior) if header["kind"] == KIND else posterior


def _mixture(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], posterior: Posterior) -> Mixture:
    mixture = Mixture(**{name: from_json(value) for name, value in header["options"].items()})
    blocks = {name: arrays[f"table/{name}"] for name in _BLOCKS}
    table = Table(Schema.from_dict(header["schema"]), **blocks, origin=_origin_from_json(header["origin"]))
    mixture._restore(
        table,
        arrays["table/weights"],
        posterior,
        Clusters(arrays["clusters/log_seats"], arrays["clusters/stats"]),
        (arrays["estimate/labels"], arrays["estimate/probabilities"]),
        from_json(header["seed"]),
        from_json(header.get("maximum")),
        weighted="maximum" in header,  # absent from files of versions whose families did not read weights
    )
    if header["feature_names"] is not None:
        mixture.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return mixture


def _maximum_to_json(mixture: Mixture) -> Any:
    """What EM notes besides its components; see `partita.maximum.Maximum`."""
    found = {
        "path": mixture.loglik_path_,
        "n_iter": mixture.n_iter_,
        "converged": mixture.converged_,
        "criteria": {name: getattr(mixture, f"{name}_") for name in CRITERIA},
        "selection": mixture.selection_,
    }
    return to_json({"n_components": mixture._model.prior.n_components, "found": found})


def _lasting_options(mixture: Mixture) -> dict[str, Any]:
    """The options without what cannot outlive the process: a callback, a generator that has moved on."""
    options = mixture.get_params(deep=False)
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


def _origin_from_json(content: Mapping[str, Any]) -> Origin:
    if content["library"] != "pandas" or content["index"] is None:
        return Origin(content["library"])
    import pandas as pd

    return Origin("pandas", pd.Index(content["index"], name=content["index_name"]))
