"""Draws from elsewhere: arrays, lists, frames and files become a Posterior.

Rows are draws and columns are objects; nothing about the orientation is guessed. ``docs/draws.md`` has the rules.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from partita.files.container import is_container
from partita.labels import code_labels, code_numbers, holds_numbers
from partita.partitions import Partitions
from partita.posterior.array_files import read_array_file
from partita.posterior.draw_text import read_text
from partita.posterior.posterior import Posterior
from partita.posterior.row_names import has_row_names
from partita.table.cells import WIDER_THAN_NUMPY
from partita.table.files import read_parquet_or_text, shown_path
from partita.table.python_cells import python_cells
from partita.table.source import frame_or_other
from partita.wording import count_of, name_some, printable

OBJECTS = "objects"
"""Where the provenance of a Posterior holds the names of its objects, if they have some."""

_ONE_PER_DRAW = "one row per draw and one column per object, (n_draws, n_objects) or (chain, draw, object)"


def read_draws(draws: Any, weights: Any = None, max_unpacked: int | None = None) -> Posterior:
    """Turn draws of any form into a Posterior; see `Posterior.from_draws`."""
    if isinstance(draws, str | os.PathLike):
        read = _read_path(draws, max_unpacked)
    else:
        read = draws if isinstance(draws, Posterior) else _named(*_read(draws))
    if weights is not None:
        weights = np.reshape(weights, -1) if np.shape(weights) == read.partitions.shape[:2] else weights
        read = Posterior(read.partitions, weights=weights, traces=read.traces, provenance=read.provenance)
    _check_observed(read)
    return read


def object_names(posterior: Posterior) -> list[Any]:
    """The names of a posterior's objects, or numbers from 0."""
    names = posterior.provenance.get(OBJECTS)
    known = isinstance(names, list) and len(names) == posterior.n_objects
    return list(names) if known and names else list(range(posterior.n_objects))


def _named(labels: Any, names: Sequence[str] | None) -> Posterior:
    known = names is not None and list(names) != [str(i) for i in range(len(names))]
    return Posterior(labels, provenance={OBJECTS: list(names)} if known and names else None)


def _read_path(path: str | os.PathLike, max_unpacked: int | None) -> Posterior:
    if is_container(path):
        return Posterior.load(path)
    shown = shown_path(path)
    try:
        array = read_array_file(path, shown, max_unpacked)
        if array is not None:
            return _named(_code_array(array), None)
        content = read_parquet_or_text(path, shown, max_unpacked)
        return _named(*(read_text(content, shown) if isinstance(content, bytes) else _read(content)))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        words = printable(error)  # pyarrow may quote a cell
        raise kind(words if shown in words else f"{shown}: {words}") from None


def _read(draws: Any) -> tuple[Any, list[str] | None]:
    """Partitions, or integers with -1 for what is not observed; and names of the objects."""
    if isinstance(draws, Partitions):
        return draws, None
    _refuse_other_things(draws)
    frame = frame_or_other(draws, "draws")
    if isinstance(frame, nw.DataFrame):
        return _read_frame(frame)
    if isinstance(draws, list | tuple):
        return _code_list(draws), None
    if isinstance(draws, np.ma.MaskedArray):
        labels = np.ma.getdata(draws).astype(object)
        labels[np.ma.getmaskarray(draws)] = None
        return _code_array(labels), None
    labels = np.asarray(draws)
    if labels.ndim == 0:
        raise TypeError(f"draws is a {type(draws).__name__}: pass an array, a list of labelings, a frame or a path.")
    return _code_array(labels), None


def _refuse_other_things(draws: Any) -> None:
    if isinstance(draws, Mapping | set | frozenset) or hasattr(draws, "data_vars"):
        raise TypeError(
            f"draws is a {type(draws).__name__}, not labels: pass the variable that holds the assignments, for example"
            " trace.posterior['z'] of PyMC."
        )
    if issparse(draws):
        raise TypeError("draws is a sparse matrix, and labels are dense: pass draws.toarray().")


def _read_frame(frame: nw.DataFrame) -> tuple[np.ndarray, list[str]]:
    names = [str(name) for name in frame.columns]
    _check_shape(frame.shape)
    if has_row_names(names[0], python_cells(names[0], frame[:, 0]), len(names)):
        frame, names = frame[:, 1:], names[1:]
    kinds = set(frame.schema.values())
    if all(kind.is_numeric() and kind not in WIDER_THAN_NUMPY for kind in kinds) or kinds == {nw.Boolean()}:
        values = frame.to_numpy()
        if holds_numbers(values):
            return code_numbers(values), names
    rows = zip(*(python_cells(name, column) for name, column in zip(names, frame.iter_columns())))
    return code_labels(list(chain.from_iterable(rows)), frame.shape), names


def _code_array(values: np.ndarray) -> np.ndarray:
    if values.dtype == object and values.ndim == 1 and values.size and isinstance(values[0], list | tuple | np.ndarray):
        return _code_list(values.tolist())
    _check_shape(values.shape)
    return code_numbers(values) if holds_numbers(values) else code_labels(values.ravel().tolist(), values.shape)


def _code_list(draws: Sequence[Any]) -> np.ndarray:
    """A list of labelings or, where these hold lists or arrays, of chains: a list cannot be a label."""
    rows = [_labelling(draw, i) for i, draw in enumerate(draws)]
    if rows and all(_is_chain(row) for row in rows):
        lengths = [len(row) for row in rows]
        _refuse_ragged(lengths, "Chain", "draw")
        codes = _code_list(list(chain.from_iterable(rows)))
        return codes.reshape(len(rows), lengths[0], -1)
    lengths = [len(row) for row in rows]
    _check_shape((len(rows), lengths[0] if rows else 0))
    _refuse_ragged(lengths, "Draw", "label")
    stacked = _stacked(rows)
    if stacked is not None:
        return code_numbers(stacked)
    labels = chain.from_iterable(row.tolist() if isinstance(row, np.ndarray) else row for row in rows)
    return code_labels(list(labels), (len(rows), lengths[0]))


def _labelling(draw: Any, i: int) -> Any:
    labels = draw if isinstance(draw, list | tuple) else np.asarray(draw)
    if isinstance(labels, np.ndarray) and labels.ndim == 0:
        raise TypeError(
            f"Draw {i} is a single {type(draw).__name__}: draws must have {_ONE_PER_DRAW}. Pass [labels] for one draw."
        )
    return labels


def _is_chain(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 2
    return len(row) > 0 and all(isinstance(item, list | np.ndarray) for item in row)


def _stacked(rows: Sequence[Any]) -> np.ndarray | None:
    """All rows in one array of numbers, if every label is a number and none loses digits."""
    if any(isinstance(row[0], str) for row in rows):
        return None
    try:
        arrays = [np.asarray(row) for row in rows]
    except ValueError:  # tuples of different lengths, which are labels
        return None
    if any(array.ndim != 1 or array.dtype.kind not in "biuf" for array in arrays):
        return None
    stacked = np.stack(arrays)
    return stacked if holds_numbers(stacked) else None


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) not in (2, 3):
        hint = " Pass [labels] for one draw." if len(shape) == 1 else ""
        raise ValueError(f"draws must have {_ONE_PER_DRAW}; got shape {shape}.{hint}")
    if 0 in shape:
        what = "object" if shape[-1] == 0 and 0 not in shape[:-1] else "draw"
        raise ValueError(f"There is no {what}: draws must have {_ONE_PER_DRAW}, none of them 0; got shape {shape}.")


def _refuse_ragged(lengths: Sequence[int], what: str, item: str) -> None:
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"{what} {i} has {count_of(length, item)} and {what.lower()} 0 has {lengths[0]}: all need as many"
                f"{'. Give None to an object that a draw does not label' if item == 'label' else ''}."
            )


def _check_observed(read: Posterior) -> None:
    """Refuse draws without any label; warn of objects and of draws without one."""
    labels = read.draws
    if labels.min() >= 0:
        return
    if labels.max() < 0:
        raise ValueError("No draw labels any object: all labels are missing (-1, None or nan).")
    never = np.flatnonzero(labels.max(axis=0) < 0)
    silent = np.flatnonzero(labels.max(axis=1) < 0)
    if len(never):
        names = object_names(read)
        which = name_some([names[i] for i in never[:3]], len(never))
        one = len(never) == 1
        _warn(
            f"{count_of(len(never), 'object')} {'is' if one else 'are'} labelled in no draw ({which}): the estimate"
            f" leaves {'it' if one else 'them'} without a label (-1)."
        )
    if len(silent):
        one = len(silent) == 1
        _warn(
            f"{count_of(len(silent), 'draw')} {'labels' if one else 'label'} no object"
            f" ({name_some(silent[:3].tolist(), len(silent))}): {'it says' if one else 'they say'} nothing and"
            f" {'counts' if one else 'count'} as 0 clusters. Leave {'it' if one else 'them'} out."
        )


def _warn(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=3)
