"""A fitted estimator in one file: options, table, posterior, estimate. The format is in ``docs/file-format.md``."""

import os
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral
from typing import Any

import numpy as np

from partita.engines.em import CRITERIA
from partita.files.container import building_from, read_container, write_container
from partita.files.layout import UnknownClassError
from partita.files.layouts import MIXTURE, POSTERIOR
from partita.fitting import Fitting
from partita.json_options import from_json, options_from_json, to_json
from partita.model.predictive import Clusters, Components, Expected
from partita.posterior import Posterior
from partita.table import Origin, Schema, Table
from partita.wording import printable

_ESTIMATORS = {"Mixture": "partita.mixture", "NBCE": "partita.consensus"}
_BLOCKS = ("numeric", "codes", "counts")
_PLAIN_CELLS = (str, int, float, bool)


def save(estimator: Fitting, path: str | os.PathLike) -> None:
    """Write a fitted estimator to one file, all of it or nothing."""
    model, clusters = estimator._model, estimator._clusters
    posterior_header, posterior_arrays = estimator.posterior_.to_container()
    arrays = {f"table/{name}": getattr(model.table, name) for name in _BLOCKS}
    labels, probabilities = estimator._estimate_of_pieces()
    arrays |= {
        "table/weights": model.row_weights,
        "estimate/labels": labels,
        "estimate/probabilities": probabilities,
        "clusters/log_seats": clusters.log_seats,
        "clusters/stats": clusters.stats,
    }
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "estimator": next(kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in _ESTIMATORS),
        "options": {name: to_json(value) for name, value in _lasting_options(estimator).items()},
        "edition": estimator._edition,
        "seed": to_json(estimator._entropy),
        "schema": model.table.schema.to_dict(),
        "origin": _origin_to_json(model.table.origin),
        "feature_names": None if names is None else [str(name) for name in names],
        "maximum": _maximum_to_json(estimator) if isinstance(clusters, Components) else None,
        "approximation": _approximation_to_json(estimator) if isinstance(clusters, Expected) else None,
        "grouping": None if estimator._grouping is None else to_json(estimator._grouping._asdict()),
        "support_cost": getattr(estimator, "_support_cost", None),
    }
    write_container(path, MIXTURE, posterior_header | {"mixture": header}, posterior_arrays | arrays)


def load(path: str | os.PathLike) -> Any:
    """Read what ``save`` of a fitted estimator or of a `Posterior` wrote.

    A file that was changed, cut or is from a newer version is refused, and so is one that no ``save`` wrote. Nothing in
    a file is executed, and nothing is imported because a file names it. What a file cannot hold comes back as the
    default: a callable ``progress``, a ``random_state`` that is no number, a row index of other cells than text and
    numbers.
    """
    header, arrays = read_container(path, MIXTURE, POSTERIOR)
    with building_from(path):
        posterior = Posterior.from_container(header, arrays)
        return _estimator(header["mixture"], arrays, posterior) if header["kind"] == MIXTURE.kind else posterior


def _estimator(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], posterior: Posterior) -> Fitting:
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
    estimator._restore(
        table,
        arrays["table/weights"],
        posterior,
        Clusters(arrays["clusters/log_seats"], arrays["clusters/stats"]),
        (arrays["estimate/labels"], arrays["estimate/probabilities"]),
        _seed_from_json(header["seed"]),
        {name: from_json(header.get(name)) for name in ("maximum", "approximation", "grouping", "support_cost")},
        weighted="maximum" in header,  # absent from files of versions whose families did not read weights
        edition=header.get("edition", 1),
    )
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _seed_from_json(content: Any) -> Any:
    seed = from_json(content)
    np.random.SeedSequence(seed)  # refuses what is no seed
    return seed


def _maximum_to_json(estimator: Any) -> Any:
    """What EM notes besides its components; see `partita.engines.maximum.Maximum`."""
    found = {
        "path": estimator.loglik_path_,
        "n_iter": estimator.n_iter_,
        "converged": estimator.converged_,
        "criteria": {name: getattr(estimator, f"{name}_") for name in CRITERIA},
        "selection": estimator.selection_,
    }
    return to_json({"n_components": estimator._model.prior.n_components, "found": found})


def _approximation_to_json(estimator: Any) -> Any:
    """What the variational engines note besides their clusters."""
    found = {
        "path": estimator.elbo_path_,
        "n_iter": estimator.n_iter_,
        "converged": estimator.converged_,
        "learned": estimator._model.likelihood.learned,
    }
    return to_json(found)


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
