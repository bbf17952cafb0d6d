"""The folder of a consensus: runs by different methods have different files, and are not mixed."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from partita.runs.run_folder import RunFolder
from partita.runs.section import ESTIMATOR, MODEL


@dataclass(frozen=True)
class ConsensusFolder(RunFolder):
    """A folder that takes no run where one by a method with another kind of model is."""

    def refuse(self, kept: Iterable[Path], names: Iterable[str]) -> None:
        """Refuse as every folder does, and a run whose model would stay beside the new one's."""
        names = tuple(names)
        super().refuse(kept, names)
        earlier = self._earlier()
        left = [name for name in (MODEL, ESTIMATOR) if name in earlier.files and name not in names]
        if left:
            raise ValueError(
                f"{str(self.path)!r} holds a run by another --method, whose {left[0]} would stay there: choose another "
                "folder with --out."
            )
