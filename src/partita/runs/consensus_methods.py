"""partita consensus --method: the consensus by a method that is told the number of groups."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from partita.posterior import Posterior
from partita.running.clock import running_seconds
from partita.runs import words
from partita.runs.agreement import agreement_section
from partita.runs.columns import DIGITS
from partita.runs.command import Request, Tell, default_folder
from partita.runs.consensus import AGREEMENT, ConsensusRequest
from partita.runs.consensus_folder import ConsensusFolder
from partita.runs.console import collecting
from partita.runs.fits import Fit, Input
from partita.runs.groups import chances_of
from partita.runs.labels import draw, labels_table
from partita.runs.section import ESTIMATOR, LABELS, PICTURE, SUMMARY, Section
from partita.wording import count_of

if TYPE_CHECKING:
    from partita.runs.run_folder import RunFolder

COUNTED = ("labels", "ignore", "id", "seed", "max_unpacked")
"""Options that say what is read and drawn, whichever the method is."""
SHARE = "share in one group, of clusterings that label both"
"""What a colour of the picture is."""

_OPTIONS = {"n_clusters": "--clusters", "n_components": "--clusters", "solver": "--solver"}
_OPTION = re.compile(rf"\b({'|'.join(_OPTIONS)})=(['\"]?)([\w-]+)\2")


@dataclass(frozen=True)
class MethodFit(Fit):
    """A method fitted to labels, the number of groups that it was told, and the `NBCE` that has found it, if any."""

    number: int = 1
    finder: Fit | None = None


@dataclass(frozen=True)
class MethodRequest(Request):
    """A file of base clusterings and the method by which their consensus is to be found.

    Parameters
    ----------
    labels : Path
    method : str
        Its short name.
    clusters : int or None
        The number of groups; None: what ``nbce`` finds.
    solver : str or None
        Of methods that have several; None: as they have it.
    nbce : ConsensusRequest
        What is read, and how `NBCE` finds the number.
    """

    labels: Path
    method: str
    clusters: int | None
    solver: str | None
    nbce: ConsensusRequest

    command: ClassVar[str] = ConsensusRequest.command
    files: ClassVar[tuple[str, ...]] = (LABELS, AGREEMENT, SUMMARY, ESTIMATOR, PICTURE)

    @property
    def seed(self) -> int:
        """The same seed gives the same answer."""
        return self.nbce.seed

    @property
    def finds(self) -> bool:
        """Whether the number of groups is to be found."""
        return self.clusters is None

    def folder(self, out: Path | None = None, *, force: bool = False) -> "RunFolder":
        """The folder of the run: ``out``, or one that is named after what is read and the method."""
        named = default_folder(self.labels)
        return ConsensusFolder(out or named.with_name(f"{named.name}-{self.method}"), self.command, force)

    def read(self) -> Input:
        """Check the options and read the file, every column a clustering."""
        self._refuse_idle_options()
        with refusing_in_options():
            self.estimator(self.clusters or 1).check()
        given = self.nbce.read()
        n_labelled = int(np.count_nonzero(~given.table.empty_rows))
        if self.clusters and self.clusters > n_labelled:
            raise ValueError(
                f"--clusters {self.clusters} is more than the {count_of(n_labelled, 'object')} with a label."
            )
        return given

    def estimator(self, n_clusters: int) -> Any:
        """The method, told the number of groups; its other options are its defaults."""
        from partita.consensus.ensemble_estimator import METHODS
        from partita.consensus.named_methods import method_named

        method = method_named(self.method, n_clusters, self.seed)
        if self.solver is None:
            return method
        if "solver" not in method.get_params():
            others = ", ".join(name for name, kind in METHODS.items() if "solver" in kind._get_param_names())
            raise ValueError(f"--solver is of --method {others}; --method {self.method} has none: leave it out.")
        return method.set_params(solver=self.solver)

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has."""
        own = {"method": self.method, "clusters": self.clusters, "solver": self.solver}
        return self.nbce.to_dict() | own

    def describe(self, given: Input) -> Section:
        """What was read, and how the number of groups is found, if it is."""
        read = self.nbce.describe_labels(given)
        how = (
            f"told {count_of(self.clusters, 'group')}" if self.clusters else "told the number of groups that nbce finds"
        )
        told = [f"  method: {self.method}, {how}"]
        if self.finds:
            told.append(words.budget_in_words(self.nbce.max_time))
        fields = {"method": self.method, "engine": self.nbce.engine if self.finds else None}
        return replace(read, words=[*read.words, *told], fields={**read.fields, **fields})

    def compute(self, given: Input, tell: Tell | None = None) -> MethodFit:
        """Find the number of groups where it is not asked for, and the consensus with so many."""
        started = running_seconds()
        finder = self.nbce.compute(given, tell) if self.finds else None
        number: Any = self.clusters if finder is None else finder.model.n_clusters_
        estimator = self.estimator(number)
        with collecting() as said, refusing_in_options():
            estimator.fit(given.table)
        before = given.warnings if finder is None else finder.warnings
        seconds = running_seconds() - started
        return MethodFit(given, estimator, seconds, [*before, *map(in_options, said)], number=number, finder=finder)

    def sections(self, answer: Fit) -> list[Section]:
        """Groups, agreement of the clusterings, and what was warned of."""
        fit = cast(MethodFit, answer)
        return [_groups(self, fit), agreement_section(fit, AGREEMENT), _end(fit)]

    def _refuse_idle_options(self) -> None:
        """Refuse options of `NBCE` where it has nothing to do."""
        plain = ConsensusRequest(**{name: getattr(self.nbce, name) for name in COUNTED})
        idle = [name for name, value in vars(self.nbce).items() if value != getattr(plain, name)]
        if idle and not self.finds:
            raise ValueError(
                f"--{idle[0].replace('_', '-')} is of nbce, which has nothing to do where --clusters tells --method "
                f"{self.method} how many groups there are: leave out one of the two."
            )


def in_options(words: str) -> str:
    """What the library says of a method, with the names that options and methods have on the command line.

    Examples
    --------
    >>> in_options("n_clusters=3 is too many: use solver='spectral' or BipartiteCut.")
    '--clusters 3 is too many: use --solver spectral or --method hbgf.'
    """
    from partita.consensus.ensemble_estimator import METHODS

    words = _OPTION.sub(lambda found: f"{_OPTIONS[found[1]]} {found[3]}", words)
    methods = {kind.__name__: name for name, kind in METHODS.items()} | {"NBCE": "nbce"}
    class_names = re.compile(rf"(?<!['\"])\b({'|'.join(methods)})\b(\([^)]*\))?")
    return class_names.sub(lambda found: f"--method {methods[found[1]]}", words)


@contextmanager
def refusing_in_options() -> Iterator[None]:
    """Refuse in the words of the command line, also a solver whose package is not installed."""
    try:
        yield
    except (ImportError, ValueError) as error:
        raise ValueError(in_options(str(error))) from None


def _groups(request: MethodRequest, fit: MethodFit) -> Section:
    """How many groups there are, who has said how many, and how sure objects are of theirs where that is known."""
    model, rows = fit.model, labels_table(fit)
    sizes, number = np.bincount(model.labels_), fit.number
    lines = [f"{count_of(sizes.size, 'group')} of {words.sizes_in_words(sizes, 'object')}. {_told(request, fit)}"]
    fields: dict[str, Any] = {
        "n_objects": len(model.labels_),
        "n_empty": int(fit.input.table.empty_rows.sum()),
        "n_clusters": int(sizes.size),
        "n_clusters_told": number,
        "told_by": "nbce" if fit.finder else "clusters",
        "finder": None if fit.finder is None else _found(fit.finder),
        "n_clusters_probabilities": None,
        "sizes": sizes.tolist(),
        "n_confident": None,
    }
    if "confidence" in rows:
        confidence = np.asarray(rows["confidence"])
        lines.append(words.placed_in_words(confidence, sizes.size, next(iter(rows.values())), "object"))
        fields["n_confident"] = int((confidence >= words.CONFIDENT).sum())
    picture = partial(draw, Posterior(fit.input.table.codes.T), model.labels_, "object", share=SHARE)
    return Section("groups", lines, fields, {LABELS: rows}, {PICTURE: picture})


def _told(request: MethodRequest, fit: MethodFit) -> str:
    groups = count_of(fit.number, "group")
    if fit.finder is None:
        return f"{request.method} was told {groups} by --clusters."
    nbce = fit.finder.model
    chances = words.chances_in_words(nbce.posterior_.n_clusters(), nbce.n_clusters_)
    return f"{request.method} was told {groups}, which nbce finds ({chances}); --clusters tells it another number."


def _found(finder: Fit) -> dict[str, Any]:
    """What `NBCE` says of the number of groups that it has told, by the names that the fields of its own runs have."""
    nbce = finder.model
    return {
        "n_clusters_probabilities": chances_of(nbce.posterior_),
        "converged": bool(nbce.converged_),
        "verdict": nbce.diagnostics_.verdict if finder.sampled else None,
        "stopped": nbce.posterior_.provenance.get("stopped"),
        "votes": round(nbce.votes_, DIGITS),
    }


def _end(fit: MethodFit) -> Section:
    """Warnings; the method in its file."""
    converged = getattr(fit.model, "converged_", None)
    fields = {"converged": converged, "verdict": None, "stopped": None, "warnings": fit.warnings}
    return Section("end", words.described_warnings(fit.warnings, None), fields, files={ESTIMATOR: fit.model.save})
