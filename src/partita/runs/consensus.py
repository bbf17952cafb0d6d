"""Read a file of base clusterings, and set aside what names the objects or is to be ignored."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

from partita.consensus import NBCE
from partita.consensus.label_table import label_table
from partita.consensus.nbce_options import PRIORS
from partita.parameters import choose
from partita.runs.clustering import Input
from partita.runs.collecting import collecting
from partita.runs.request import MAX_TIME
from partita.runs.setting_aside import set_aside
from partita.table import Origin, Table, read_file
from partita.table.csv_types import MISSING_WORDS

METHODS: Mapping[str, str] = {"nbce": "gibbs", "nbce-vb": "vb", "nbce-cvb": "cvb"}


@dataclass(frozen=True)
class ConsensusRequest:
    """A file of base clusterings and how their consensus is to be found.

    Parameters
    ----------
    labels : Path
        A CSV or Parquet file with one row per object and one column per base clustering.
    ignore : tuple of str
        Columns to leave out.
    id : str or None
        A column to leave out that names the objects in the results.
    method : str
        A name of `METHODS`.
    prior, components, pseudocount, chains, draws, max_time, seed
        As in `NBCE`, where ``components`` is ``n_components`` and ``seed`` is ``random_state``.
    concentration : float or None
        That of the prior; None: learned.
    max_unpacked : int or None
        Bytes that a compressed file may become, as in `read_file`.
    """

    labels: Path
    ignore: tuple[str, ...] = ()
    id: str | None = None
    method: str = "nbce"
    prior: str = "stick-breaking"
    components: int = 100
    concentration: float | None = None
    pseudocount: float = 1.0
    chains: int = 4
    draws: int | str = "auto"
    max_time: float | None = MAX_TIME
    seed: int = 0
    max_unpacked: int | None = None

    sampling: ClassVar[str] = "--method nbce"
    approximating: ClassVar[str] = "--method nbce-vb"

    @property
    def engine(self) -> str:
        """The engine of `NBCE` that the method is."""
        return choose("--method", self.method, METHODS)

    @property
    def samples(self) -> bool:
        """Whether the method samples; the others approximate."""
        return self.engine == "gibbs"

    def model(self, *, progress: bool) -> NBCE:
        """The estimator that is asked for, its options checked; it runs on all cores."""
        engine = self.engine
        choose("--prior", self.prior, PRIORS)
        for option in ("concentration", "pseudocount"):
            number = getattr(self, option)
            if number is not None and not (isfinite(number) and number > 0):
                raise ValueError(f"--{option} must be a positive number; got {number}.")
        model = NBCE(
            prior=self.prior,
            n_components=self.components,
            concentration=self.concentration,
            pseudocount=self.pseudocount,
            engine=engine,
            learn=("concentration",) if self.concentration is None else (),
            chains=self.chains,
            draws=self.draws,
            max_time=self.max_time,
            n_jobs=-1,
            progress=progress,
            random_state=self.seed,
        )
        model.check()
        return model

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has."""
        return vars(self) | {"labels": str(self.labels), "ignore": list(self.ignore)}


def read_labels(request: ConsensusRequest) -> Input:
    """Read the file, every column a clustering; raises OSError, TypeError or ValueError with a sentence."""
    with collecting() as said:
        names_objects = () if request.id is None else (request.id,)
        frame = read_file(request.labels, text=names_objects, categories=True, max_unpacked=request.max_unpacked)
        kept, ids = set_aside(frame, request.id, request.ignore)
        table = replace(label_table(kept), origin=Origin())
    return Input(request, table, ids, [*said, *_doubts(table)])


def _doubts(table: Table) -> list[str]:
    """What may have been meant otherwise: words for missing labels."""
    doubts = []
    words = {
        level: c.name
        for c in table.schema.columns
        for level in c.levels
        if isinstance(level, str) and level.strip().lower() in MISSING_WORDS
    }
    for word, name in words.items():
        doubts.append(f"{word!r} is a label like any other in column {name!r}: leave a cell empty where there is none.")
    return doubts
