"""What methods have that cut a graph into clusters of nearly equal sizes: CSPA, HGPA and MCLA."""

from typing import Any, ClassVar

from partita.consensus.ensemble_estimator import Partitioner
from partita.consensus.graph_cuts import check_options


class GraphPartitioner(Partitioner):
    """A method that is a graph cut by a solver of others, or by its spectrum, which asks for no equal sizes."""

    _solvers: ClassVar[tuple[str, ...]] = ("metis", "spectral")

    def __init__(self, *, n_clusters: int, solver: str = "metis", imbalance: float = 0.05, random_state: Any = None):
        self.n_clusters = n_clusters
        self.solver = solver
        self.imbalance = imbalance
        self.random_state = random_state

    def check(self) -> None:
        """Refuse options outside their range, as `fit` does, without an ensemble, and a solver that is not there."""
        super().check()
        check_options(self.solver, self._solvers, self.imbalance)
