"""What a fitted mixture answers: which cluster a row belongs to, how dense it is, why, and new rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.engines.outcome import Outcome
from partita.model.explanation import Explanation, explain, read_row
from partita.model.grouping import Grouping
from partita.model.inclusion import inclusion
from partita.model.model import Model
from partita.model.predictive import Clusters, log_posterior_predictive, simulate_prior
from partita.model.profile import cluster_means, profile
from partita.parameters import seed_from, whole_number
from partita.posterior import Estimate, Loss, Posterior
from partita.posterior.estimate import estimate_given
from partita.posterior.hierarchy import Hierarchy, hierarchy, summed
from partita.table import Table
from partita.table.row_positions import position_of
from partita.table_estimator import TableEstimator
from partita.wording import name_some


class MixtureAnswers(TableEstimator):
    """Answers that are read from an `Outcome`, and from the groups that were formed of its clusters."""

    random_state: Any
    loss: str | Loss
    entropy: float
    labels_: np.ndarray
    probabilities_: np.ndarray
    n_clusters_: int
    _outcome: Outcome
    _grouping: Grouping | None = None  # where a number of groups was asked for

    @property
    def _model(self) -> Model:
        return self._outcome.model

    @property
    def _clusters(self) -> Clusters:
        return self._outcome.clusters

    @property
    def posterior_(self) -> Posterior:
        """All draws; of engines other than Gibbs partitions drawn from the responsibilities.

        EM takes its parameters as known. Of the variational engines these are draws from q(Z).
        """
        check_is_fitted(self)
        if self._outcome.posterior is None:
            self._outcome = replace(self._outcome, posterior=self._outcome.drawn(self._rng(4)))
        return self._outcome.posterior  # type: ignore[return-value]

    @property
    def estimate_(self) -> Estimate:
        """What the draws say for ``labels_``: support of every cluster, expected loss, verdict.

        Rows that took no part in the draws are -1 in it. Computed when first asked for.
        """
        posterior = self.posterior_
        *of, found = self.__dict__.get("_described", (None, None, None))
        if of[0] is not posterior or of[1] is not self.labels_:
            found = estimate_given(
                np.where(self._model.row_weights > 0, self.labels_, -1),
                posterior.partitions,
                posterior.weights,
                self.loss,
                entropy=self.entropy,
                support_cost=self._outcome.notes.get("support_cost", 0.0),
            )
            self._described = (posterior, self.labels_, found)
        return found

    def predict(self, X: Any) -> np.ndarray:
        """The estimated cluster that each row most probably belongs to."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each estimated cluster, given that the row is in one of them; (n, n_clusters_)."""
        return self._membership(self._read(X))

    def novelty(self, X: Any) -> np.ndarray:
        """Probability that each row belongs to a cluster not seen in ``fit``."""
        table = self._read(X)
        return self._clusters.novelty(self._model, table)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log posterior-predictive density of each row's observed cells, in the units of X.

        An average over draws, so it needs no point estimate. Of EM the density given its parameters, of the
        variational engines the one that weights and parameters have on average under q.
        """
        table = self._read(X)
        if self._clusters.whole:
            logs = self._clusters.log_density(self._model, table)
        else:
            logs = log_posterior_predictive(self._model, self.posterior_, table, self._rng(2))
        return logs + table.log_jacobian()

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of ``score_samples``."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[Any, np.ndarray]:
        """New rows from the posterior predictive, and the cluster of each (-1: one not seen in ``fit``).

        Rows come as the table did: an array for an array of numbers, otherwise a frame of the same kind.
        """
        check_is_fitted(self)
        n_samples = whole_number("n_samples", n_samples, 1)
        cells, labels = self._clusters.simulate(self._model, n_samples, self._rng(3))
        return self._rows_like(self._model.table, cells), np.append(self._groups(), -1)[labels]

    def sample_prior(self, n_samples: int = 100, *, like: Any = None) -> tuple[Any, np.ndarray]:
        """Rows of a table that the model could have produced before it saw any, and the cluster of each.

        The prior's draw of a partition, a draw of every cluster's parameters, then a row from each row's cluster.

        Parameters
        ----------
        n_samples : int
            Rows of the table.
        like : table, optional
            What the rows are to look like: columns, their types, and all numbers of the family that were left
            open, which are taken from it as `fit` does. By default the table of `fit`.

        Returns
        -------
        rows, labels
            Rows as ``like`` came: an array for an array of numbers, otherwise a frame of the same kind. Labels are
            numbered in order of appearance.
        """
        n_samples = whole_number("n_samples", n_samples, 1)
        if like is None:
            check_is_fitted(self, msg="sample_prior needs a table to go by: pass like=X, or call fit first.")
            model, rng = self._model, self._rng(5)
        else:
            model, rng = self._model_like(like), np.random.default_rng(seed_from(self.random_state))
        cells, labels = simulate_prior(model, n_samples, rng)
        return self._rows_like(model.table, cells), labels

    def _model_like(self, table: Any) -> Model:
        """The model that `fit` would give a table, before it learns."""
        raise NotImplementedError

    @property
    def profile_(self) -> Any:
        """What is typical of every cluster, as a frame of the kind that came in; see `partita.model.profile.profile`.

        One row per cluster and column, of categories one per cluster, column and category: mean and sd, or share,
        with 95 % credible intervals in the units of X, and ``relevance``, the nats per row that the column
        contributes to telling the cluster from the rest. Computed on first access.
        """
        check_is_fitted(self)
        of, columns = self.__dict__.get("_profile", (None, None))
        if of is not self._clusters:
            columns = profile(self._model, self._clusters.joined(self._groups()), self.labels_)
            self._profile = (self._clusters, columns)
        return self._model.table.frame_like(columns, index=range(columns["cluster"].size))

    @property
    def inclusion_(self) -> np.ndarray:
        """Posterior probability (n_clusters_, n_columns) that each cluster selects each column of X, in its order.

        Of ``family=Selective(...)``: exact given ``labels_``, with what is learned at its average over the draws. 0 of
        a constant column. A column that was read in two parts counts as selected where one of them is.
        """
        check_is_fitted(self)
        return inclusion(self._model, self._clusters.joined(self._groups()))

    @property
    def cluster_centers_(self) -> np.ndarray:
        """Means (n_clusters_, n_features_in_) of the rows of each cluster, in the units of X.

        Of tables of numeric columns only; others have ``profile_``. These are plain means over the observed cells of
        the rows that ``labels_`` puts into the cluster, each counted by its weight, as those of k-means: nothing of
        the prior is in them. Of positive columns they are geometric means, unless many of their cells are 0. The
        posterior means of ``profile_`` lean on the prior and have intervals. A cluster without an observed cell in a
        column has nan there.
        """
        check_is_fitted(self)
        table = self._model.table
        others = [column.name for column in table.schema.columns if column.block != "numeric" and not column.part_of]
        if others:
            raise AttributeError(
                f"cluster_centers_ is for tables of numeric columns, and {name_some(others, len(others))} "
                f"{'is' if len(others) == 1 else 'are'} not: profile_ tells what is typical of every cluster."
            )
        return cluster_means(self._model, self.labels_, self.n_clusters_)

    def hierarchy(self, *, criterion: str = "entropy") -> Hierarchy:
        """The estimated clusters as pieces, merged down to one group, each time the two that overlap most.

        Parameters
        ----------
        criterion : {"entropy", "misclassification"}
            "entropy": how many nats of doubt between two groups the rows leave (Baudry et al. 2010).
            "misclassification": the share of one group's rows that would be placed in the other (DEMP; Hennig 2010).
            See `partita.posterior.overlap`.

        Returns
        -------
        Hierarchy
            ``suggested``, ``labels(n_groups)``, ``labels(overlap=...)``, ``probabilities(n_groups)``, ``merges``.

        Notes
        -----
        Overlap is that of the pieces' own densities, with memberships as in ``predict_proba``; what is summed up in
        ``probabilities`` is ``probabilities_``. Of "gibbs" the latter come from draws, which differ also where
        chains disagree or a row wanders: groups that stand apart could then look like one. ``docs/hierarchy.md``
        compares the two.
        """
        check_is_fitted(self)
        model, outcome = self._model, self._outcome
        shares = outcome.clusters.membership(model, model.table)
        found = hierarchy(outcome.labels, shares, model.row_weights, criterion)
        return replace(found, memberships=outcome.probabilities)

    def explain(self, row: Any) -> Explanation:
        """Why a row is in its cluster rather than in the most probable other one: nats per column.

        Parameters
        ----------
        row : name, int, or one row
            A name in the index of the fitted pandas frame, or a position in the fitted table: its cluster is then that
            of ``labels_``. Or a table of one row, a mapping from column names to values, or one value per column:
            its cluster is then that of ``predict``.

        Returns
        -------
        Explanation
            Its ``total`` is log predict_proba[label] - log predict_proba[runner_up].

        Notes
        -----
        A whole number is a position, unless the index holds numbers other than 0, 1, 2, ..., as that of a filtered
        frame does: it is then a name, as in ``.loc``, and never a position; ``explain(X.index[i])`` explains the row
        at position i. A name of several rows is refused. What `partita.load` reads knows its index where that holds
        text and numbers.
        """
        check_is_fitted(self)
        table = self._model.table
        position = position_of(row, table.origin.index, table.n_rows)
        if position is None:
            return explain(self._model, self._clusters, self._groups(), read_row(row, table.schema, self._read_table))
        return self._explain_at(position)

    def _explain_at(self, position: int) -> Explanation:
        chosen = self._model.table.take(np.array([position]))
        return explain(self._model, self._clusters, self._groups(), chosen, int(self.labels_[position]))

    def _groups(self) -> np.ndarray:
        """The group of every cluster: its own, unless groups were formed of them."""
        groups = None if self._grouping is None else self._grouping.groups
        return np.arange(self._clusters.log_seats.size - 1) if groups is None else groups

    def _membership(self, table: Table) -> np.ndarray:
        return summed(self._clusters.membership(self._model, table), self._groups())
