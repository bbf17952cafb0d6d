"""What every estimator of a table has, whatever it finds: reading, names, frames, files."""

import os
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from partita.families.base import Cells
from partita.files.container import write_container
from partita.files.json_options import from_json, options_from_json, to_json
from partita.files.layout import Layout
from partita.parameters import stream_of
from partita.posterior.membership import runners_up
from partita.table import Origin, Schema, Table
from partita.table.source import without_extra_columns
from partita.wording import printable_errors

SAVED: dict[str, type["TableEstimator"]] = {}
"""Estimators that files hold, by the kind of their layout."""

_BLOCKS = ("numeric", "codes", "counts")


class TableEstimator:
    """Reads tables, knows their columns, and answers in frames of the kind that came in.

    A ``fit`` calls `_keep_table` and leaves ``labels_`` and, where it has some, ``probabilities_``. With
    ``class Mine(TableEstimator, layout=...)`` it can be saved, and `partita.load` reads it: `_contents` and
    `_from_contents` add what it found to options and table, which are here.
    """

    #: What a file holds of it.
    _layout: ClassVar[Layout]

    #: What ``fit`` leaves besides attributes that end with an underscore.
    _left_by_fit: ClassVar[Iterable[str]] = ("_table", "_entropy")

    #: What becomes of a category that ``fit`` did not see: "missing" or "error".
    unseen: str = "missing"

    labels_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    _table: Table
    _entropy: Any = 0  # the root of all random numbers of the fit, where it needs some

    def __init_subclass__(cls, *, layout: Layout | None = None, **options: Any):
        super().__init_subclass__(**options)
        if layout is not None:
            cls._layout, SAVED[layout.kind] = layout, cls

    @property
    def table_(self) -> Table:
        """The table that was fitted: typed columns, missing cells, names and units."""
        check_is_fitted(self)
        return self._table

    def to_frame(self) -> Any:
        """Label, confidence and runner-up of every row, with the index of the frame that came in.

        ``runner_up`` is the second most probable label, -1 where there is only one cluster. When some rows have
        no observed cell, a fourth column ``empty`` tells which: their label is the prior's answer.
        """
        check_is_fitted(self)
        columns = {"label": self.labels_}
        if hasattr(self, "probabilities_"):
            columns["confidence"] = self.probabilities_[np.arange(self.labels_.size), self.labels_]
            columns["runner_up"] = runners_up(self.labels_, self.probabilities_)
        if self.table_.empty_rows.any():
            columns["empty"] = self.table_.empty_rows
        return self.table_.frame_like(columns)

    def read_rows(self, X: Any) -> Table:
        """Rows of another table as `fit` read its own, whatever the order of its columns: what every method takes."""
        return self._read_table(X, self.table_.schema)

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to one file, all of it or nothing; ``partita.load(path)`` reads it.

        The file holds options, table, draws and estimate, and nothing that runs: see ``docs/file-format.md``.
        """
        check_is_fitted(self)
        if not hasattr(self, "_layout"):
            raise NotImplementedError(f"{type(self).__name__} has no layout, so that it cannot be saved.")
        write_container(path, self._layout, *self._contents())

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Header and arrays of a file: options, table and names; an estimator adds what it found."""
        table, names = self.table_, getattr(self, "feature_names_in_", None)
        header = {
            "options": {name: to_json(value) for name, value in _lasting_options(self).items()},
            "seed": to_json(self._entropy),
            "schema": table.schema.to_dict(),
            "origin": table.origin.to_dict(),
            "feature_names": None if names is None else [str(name) for name in names],
        }
        return {self._layout.kind: header}, {f"table/{name}": getattr(table, name) for name in _BLOCKS}

    @classmethod
    def _from_contents(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
        """The estimator with options, table and names; parts that do not fit each other are refused."""
        own = header[cls._layout.kind]
        estimator = cls(**options_from_json(cls, own["options"]))
        blocks = {name: arrays[f"table/{name}"] for name in _BLOCKS}
        origin = Origin.from_dict(own["origin"], len(blocks["numeric"]))
        estimator._keep_table(Table(Schema.from_dict(own["schema"]), **blocks, origin=origin))
        estimator._entropy = from_json(own["seed"])
        np.random.SeedSequence(estimator._entropy)  # refuses what is no seed
        if own["feature_names"] is not None:
            if len(own["feature_names"]) != estimator.n_features_in_:
                raise ValueError("there are not as many feature names as columns")
            estimator.feature_names_in_ = np.array(own["feature_names"], dtype=object)
        return estimator

    def _keep_table(self, table: Table, X: Any = None) -> None:
        """Keep the table, and the names of its columns as scikit-learn reads them from ``X``."""
        self._table = table
        if X is not None and not isinstance(X, str | os.PathLike | Table):
            with printable_errors():
                _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            return
        self.n_features_in_ = len(table.names)
        if X is not None and not table.schema.names_are_automatic:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _forget(self) -> None:
        """Drop what an earlier fit has left."""
        for name in [name for name in vars(self) if name.endswith("_") or name in self._left_by_fit]:
            delattr(self, name)

    def _read(self, X: Any) -> Table:
        """Rows that are asked about, with the columns of the fit; others are left out with a warning."""
        check_is_fitted(self)
        X = without_extra_columns(X, self.table_.names)
        if not isinstance(X, str | os.PathLike | Table):
            with printable_errors():
                _check_feature_names(self, X, reset=False)
        if len(getattr(X, "shape", ())) == 2:  # anything else is judged by the table
            _check_n_features(self, X, reset=False)
        return self._read_table(X, self.table_.schema)

    def _read_table(self, X: Any, schema: Schema) -> Table:
        """Read what is asked about as `fit` read the table that it learned ``schema`` from."""
        return Table.read(X, schema=schema, unseen=self.unseen)

    def _rows_like(self, table: Table, cells: Cells) -> Any:
        """Simulated cells as rows of the kind that came in."""
        columns = table.decode(*cells)
        came_as_numbers = all(column.guessed for column in table.schema.categorical)
        if table.origin.library is None and came_as_numbers and all(c.dtype.kind in "iuf" for c in columns.values()):
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
        return table.frame_like(columns, index=range(len(cells.numeric)))

    def _rng(self, stream: int) -> np.random.Generator:
        return stream_of(self._entropy, stream)


def _lasting_options(estimator: Any) -> dict[str, Any]:
    """The options without what cannot outlive the process: a callback, a generator that has moved on."""
    options = estimator.get_params(deep=False)
    if not isinstance(options.get("progress", False), bool):
        del options["progress"]
    if not isinstance(options.get("random_state", 0), Integral):
        del options["random_state"]
    return options
