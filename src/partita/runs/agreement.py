"""How far each base clustering agrees with the consensus."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import entropy

from partita.runs.clustering import Run


@dataclass(frozen=True)
class Agreement:
    """One entry per base clustering, in the order of the file.

    Attributes
    ----------
    names : list of str
    n_clusters, n_labelled : (M,) int
        Labels that occur, and objects that have one.
    nats : (M,)
        `NBCE.base_agreement_`.
    entropy : (M,)
        Nats per object of the labels by themselves, which a consensus hardly saves more than.
    """

    names: list[str]
    n_clusters: np.ndarray
    n_labelled: np.ndarray
    nats: np.ndarray
    entropy: np.ndarray

    def ranked(self) -> list[int]:
        """Positions of the clusterings with two labels or more, from the largest share of the entropy saved."""
        told = np.flatnonzero(self.n_clusters > 1)
        return told[np.argsort(-self.nats[told] / self.entropy[told], kind="stable")].tolist()


def agreement_of(run: Run) -> Agreement:
    """The agreement of every base clustering of a run."""
    codes, columns = run.input.table.codes, run.input.table.schema.columns
    sizes = [np.bincount(column[column >= 0], minlength=1) for column in codes.T]
    return Agreement(
        names=[column.name for column in columns],
        n_clusters=np.array([len(column.levels) for column in columns]),
        n_labelled=np.array([int(one.sum()) for one in sizes]),
        nats=run.model.base_agreement_,
        entropy=np.array([entropy(one) if one.any() else 0.0 for one in sizes]),
    )
