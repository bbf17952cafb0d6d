"""What every method has that makes one clustering out of many: it reads labels, and answers for every object."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from partita.consensus.agreement import base_agreement
from partita.consensus.canonical_table import CanonicalTable
from partita.consensus.ensemble import Ensemble
from partita.consensus.label_table import columns_of, label_table, wanted_labels, warn_of_unlabelled
from partita.consensus.votes import telling
from partita.files.layout import UnknownClassError
from partita.files.layouts import CONSENSUS
from partita.parameters import check_random_state, seed_from, whole_number
from partita.partitions import by_size
from partita.table import Schema, Table
from partita.table_estimator import TableEstimator
from partita.wording import count_of, printable

METHODS: dict[str, type["EnsembleEstimator"]] = {}
"""Every method by its short name, besides "nbce"."""


class EnsembleEstimator(TableEstimator, ClusterMixin, BaseEstimator, layout=CONSENSUS):
    """A method that is fitted to base clusterings: ``class CSPA(Partitioner, name="cspa")`` is known by its name.

    Neither the order of objects or of base clusterings nor the names of labels matter: all of them are put into an
    order of their own first (`partita.consensus.canonical`). Objects with the same labels get the same label; one
    without any label goes with the largest cluster.

    A method brings `_solve`, which leaves what it found in attributes; those in ``_numbers`` are kept in files.
    ``_told_by`` is the option by which it is told the number of clusters; text there means that it finds it.
    """

    name: ClassVar[str]
    _numbers: ClassVar[tuple[str, ...]] = ()
    _told_by: ClassVar[str] = "n_clusters"

    #: How many labels the base clusterings have, where some may not occur; None: those that do.
    n_labels: Any = None
    random_state: Any
    n_clusters_: int

    def __init_subclass__(cls, *, name: str | None = None, **options: Any):
        super().__init_subclass__(**options)
        if name is not None:
            cls.name = name
            METHODS[name] = cls

    def fit(self, Y: Any, y: Any = None) -> Self:
        """Find the consensus.

        Parameters
        ----------
        Y : array-like, frame or path of shape (n_objects, n_clusterings), or Partitions
            The label of every object in every base clustering: whole numbers, text, truth values or categories. -1,
            None, nan and empty text mean that there is none. Of a `Partitions` every row is a base clustering.
        y
            Ignored.
        """
        self.check()
        seed = seed_from(self.random_state)
        table = label_table(Y, n_labels=self.n_labels)
        self._forget()
        self._refuse_more_than(int(np.count_nonzero(~table.empty_rows)))
        self._entropy = seed.entropy
        canonical = CanonicalTable(self._heard(table))
        ensemble = Ensemble(canonical.table.codes, canonical.table.schema.n_levels)
        of_kinds = self._solve(ensemble, np.random.default_rng(seed))
        self.labels_ = np.maximum(by_size(ensemble.of_objects(of_kinds)[canonical.place]), 0)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._warn_of_fewer(ensemble.n_kinds)
        self._keep_table(table, columns_of(Y))
        self._put_back(ensemble, canonical)
        return self

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble."""
        check_random_state(self.random_state)

    @property
    def base_agreement_(self) -> np.ndarray:
        """Nats per object that the consensus saves in telling each base clustering, (n_clusterings,).

        See `partita.consensus.agreement.base_agreement`, with a pseudocount of 1.
        """
        check_is_fitted(self)
        return base_agreement(self._table.codes, self.labels_, np.ones(self._table.codes.shape[1]))

    def _heard(self, table: Table) -> Table:
        """The base clusterings by which the method goes."""
        return table

    @abstractmethod
    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> np.ndarray:
        """The label of every kind of object, (A,): whole numbers from 0."""

    def _put_back(self, ensemble: Ensemble, canonical: CanonicalTable) -> None:
        """Turn what `_solve` has left about kinds, columns and labels in canonical order into what `fit` was given."""

    def _refuse_more_than(self, n_objects: int) -> None:
        number = getattr(self, self._told_by)
        if not isinstance(number, str) and number > n_objects:
            raise ValueError(f"{self._told_by}={number} is more than the {count_of(n_objects, 'labelled object')}.")

    def _warn_of_fewer(self, n_kinds: int) -> None:
        number = getattr(self, self._told_by)
        if not isinstance(number, str) and self.n_clusters_ < number:
            why = "there are no more different objects" if self.n_clusters_ == n_kinds else "the others are empty"
            warnings.warn(f"Only {self.n_clusters_} of {number} clusters: {why}.", UserWarning, stacklevel=3)

    def _model_arrays(self) -> dict[str, np.ndarray]:
        """What a file holds of the model that new objects are placed by, if there is one."""
        return {}

    def _restore_model(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over the arrays that `_model_arrays` gave; those that do not fit the table are refused."""

    def _read(self, X: Any) -> Table:
        return super()._read(columns_of(X))

    def _read_table(self, X: Any, schema: Schema) -> Table:
        return label_table(X, schema=schema, unseen=self.unseen)

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        header, arrays = super()._contents()
        numbers = {name: float(getattr(self, name)) for name in self._numbers}
        header[self._layout.kind] |= {"method": self.name, "numbers": numbers}
        model = {f"models/{self.name}/{name}": array for name, array in self._model_arrays().items()}
        header["models"] = [self.name] if model else []
        return header, arrays | {"labels": self.labels_} | model

    @classmethod
    def _from_contents(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
        own = header[cls._layout.kind]
        kind = METHODS.get(own["method"])
        if kind is None or kind._layout is not cls._layout:
            raise UnknownClassError(
                f"The file holds a {printable(own['method'])}, which this version of partita does not know: upgrade "
                "partita."
            )
        estimator = super(EnsembleEstimator, kind)._from_contents(header, arrays)
        with suppress(ImportError):  # of a solver, which only a fit needs
            estimator.check()
        estimator.labels_ = arrays["labels"]
        estimator.n_clusters_ = int(estimator.labels_.max()) + 1
        n_levels = tuple(estimator._table.schema.n_levels)
        if wanted_labels(estimator.n_labels, len(n_levels)) not in ((), n_levels):
            raise ValueError("n_labels is not how many labels the columns have")
        for name in kind._numbers:
            setattr(estimator, name, own["numbers"][name])
        of_model = f"models/{kind.name}/"
        estimator._restore_model({n.removeprefix(of_model): a for n, a in arrays.items() if n.startswith(of_model)})
        return estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags


class Partitioner(EnsembleEstimator):
    """A method that is told the number of clusters and has no model of labels: it places no new objects.

    It brings `_partition`, which is never asked for one cluster, nor for as many as there are kinds of objects.

    A base clustering that tells no objects apart is left out. To methods that look at what objects have in common it
    would not be nothing: it makes all of them more alike, those that it labels more than others, joins parts that
    nothing else joins, and is a cluster of all objects where clusters are counted or grouped.
    """

    n_clusters: Any

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble."""
        super().check()
        whole_number("n_clusters", self.n_clusters, 1)

    @abstractmethod
    def _partition(self, ensemble: Ensemble, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
        """Part the kinds of objects into so many clusters, or fewer."""

    def _heard(self, table: Table) -> Table:
        """The base clusterings that tell objects apart; where none does, one in which all labelled ones are alike."""
        heard = telling(table.codes)
        if heard.all():
            return table
        if not heard.any():
            heard[table.codes.max(axis=0).argmax()] = True
        columns = tuple(column for column, is_heard in zip(table.schema.columns, heard) if is_heard)
        kept = Table(Schema(columns), table.numeric, table.codes[:, heard], table.counts)
        warn_of_unlabelled(kept.empty_rows & ~table.empty_rows, "any clustering that tells objects apart")
        return kept

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> np.ndarray:
        n_clusters = min(int(self.n_clusters), ensemble.n_kinds)
        if n_clusters == ensemble.n_kinds:
            return np.arange(n_clusters)
        return self._partition(ensemble, n_clusters, rng) if n_clusters > 1 else np.zeros(ensemble.n_kinds, np.int64)


def warn_of_chance(n_clusters: int, n_parts: int) -> None:
    """Say that parts of the objects are put together, in fewer clusters, that are as far apart as parts can be.

    To be called by `Partitioner._partition`: most methods put those together last that no base clustering joins,
    `Ensemble.n_parts`.
    """
    if n_clusters < n_parts:
        warnings.warn(
            f"n_clusters={n_clusters} merges parts that are as far apart as can be, and which of them is arbitrary: "
            f"n_clusters={n_parts} may keep them apart.",
            UserWarning,
            stacklevel=5,
        )
