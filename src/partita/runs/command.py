"""What a command is, and the one way to carry one out.

A command is one file: a function under `command`, whose parameters are its options, and the `Request` that they
make. It is known from then on: `partita --help` names it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import partita
from partita.runs.console import made, refusing, say, writing_to
from partita.runs.options import meaning
from partita.runs.section import SUMMARY, Section, write_sections

if TYPE_CHECKING:
    from partita.runs.run_folder import Nowhere, OneFile, RunFolder

COMMANDS: dict[str, Callable[..., None]] = {}
"""Every command by its name, in the order of the help."""

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".npy", ".npz", ".partita")
Tell = Callable[[str], None]
F = TypeVar("F", bound=Callable[..., None])


def command(function: F) -> F:
    """Make a function a command: its name is the word, its parameters are the options, its docstring is the help."""
    COMMANDS[function.__name__] = function
    return function


class Request(ABC):
    """What a person asks of a command: a frozen dataclass of the options, and what is done about them.

    The first option is the file or folder that is read. A request with a `SUMMARY` among its files has a ``seed``, and
    its answer ``seconds``. `read` and `compute` raise OSError, ValueError or TypeError with a sentence that says what
    cannot be used, where, and what to do.
    """

    command: ClassVar[str]
    """Whose result a folder holds: ``partita cluster``."""
    files: ClassVar[tuple[str, ...]]
    """What is written, in the order in which it is named."""

    @property
    def kept(self) -> tuple[Path, ...]:
        """The files that are read, which nothing may replace."""
        return (next(iter(vars(self).values())),)

    @abstractmethod
    def read(self) -> Any:
        """Check the options and read the file, before anything is made."""

    def describe(self, given: Any) -> Section:
        """What was read; its words are said before the work begins."""
        return Section("input")

    @abstractmethod
    def compute(self, given: Any, tell: Tell | None = None) -> Any:
        """The answer; ``tell`` says a sentence meanwhile, None where nothing is to be said or shown."""

    @abstractmethod
    def sections(self, answer: Any) -> list[Section]:
        """What was found."""

    def to_dict(self) -> dict[str, Any]:
        """The request in types that JSON has."""
        return {name: _plain(value) for name, value in vars(self).items()}

    def folder(self, out: Path | None = None, *, force: bool = False) -> "RunFolder":
        """The folder of the run: ``out``, or one that is named after what is read."""
        from partita.runs.run_folder import RunFolder

        return RunFolder(out or default_folder(self.kept[0]), self.command, force)


def carry_out_words(
    make: Callable[..., Request], *, out: Path | None, force: bool, safe_csv: bool, quiet: bool, **words: Any
) -> None:
    """Carry out the request that the words of the options make, in a folder."""
    with refusing():
        request = make(**{name: meaning(name, word) for name, word in words.items()})
    carry_out(request, request.folder(out, force=force), quiet=quiet, safe_csv=safe_csv)


def carry_out(
    request: Request, place: "RunFolder | OneFile | Nowhere", *, quiet: bool = False, safe_csv: bool = False
) -> None:
    """Read, refuse, make the place ready, say what was read, compute, write, and say what was found."""
    files = request.files
    with refusing():
        given = request.read()
        place.refuse(request.kept, files)
        understood = request.describe(given)
    with made(place.path), refusing(), writing_to(place.path):
        place.prepare(files)
        if understood.words:
            say([*understood.words, ""], quiet)
        with refusing():
            answer = request.compute(given, None if quiet else lambda words: say([words, ""], quiet))
            sections = [understood, *sections_of(request, answer)]
        with place.writing(files) as paths:
            write_sections(sections, dict(zip(files, paths)), safe_csv=safe_csv)
    say([*(line for section in sections[1:] for line in section.words), *place.told(files)], quiet)


def sections_of(request: Request, answer: Any) -> list[Section]:
    """The sections of an answer, and last what was asked for and used."""
    sections = request.sections(answer)
    if SUMMARY not in request.files:
        return sections
    used = {"seed": request.seed, "seconds": round(answer.seconds, 3)}  # type: ignore[attr-defined]
    fields = {"request": request.to_dict(), **used, "version": partita.__version__}
    return [*sections, Section("request", fields=fields)]


def default_folder(source: Path) -> Path:
    """partita-NAME for NAME.csv, NAME.csv.gz, NAME.parquet and the like."""
    name = source.name.removesuffix(".gz")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return Path(f"partita-{name or 'table'}")


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
