"""Where a command writes: a folder in which a run becomes visible as a whole, one file, or nowhere.

Only partita's own files are replaced in a folder.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from partita.files.atomic import check_writable, flush, remove_leftovers, replacing
from partita.running.interruptions import holding
from partita.runs.manifest import (
    MANIFEST,
    Fingerprint,
    Manifest,
    UnusableManifestError,
    fingerprint,
    read_manifest,
    recognise,
    write_manifest,
)
from partita.runs.section import PREDICTIONS

_REMEDY = "choose another place with --out, or replace it with --force."


@dataclass(frozen=True)
class RunFolder:
    """A folder for the results of a command.

    Parameters
    ----------
    path : Path
        It need not exist yet.
    command : str
        Whose result it holds, as in `Manifest`.
    force : bool
        Whether files may be replaced that are not partita's own.
    """

    path: Path
    command: str
    force: bool = False

    def prepare(self, names: Sequence[str]) -> None:
        """Make the folder and make sure that these files can be written into it; raises OSError otherwise.

        What killed processes left of them is removed.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        check_writable(self.path)
        for name in (*names, MANIFEST):
            remove_leftovers(self.path / name)

    def refuse(self, kept: Iterable[Path], names: Iterable[str]) -> None:
        """Refuse to replace the files that are read, and as `refuse_others` does."""
        refuse_to_replace(kept, [self.path / name for name in names])
        self.refuse_others(names)

    def refuse_others(self, names: Iterable[str]) -> None:
        """Refuse a folder in which these files would replace what partita did not write, or mix two results.

        Raises ValueError with the file and the remedy.
        """
        self._claim(names)

    @contextmanager
    def writing(self, names: Sequence[str]) -> Iterator[tuple[Path, ...]]:
        """Paths to write the files of a run to; they become a run when the block ends well.

        A manifest that is not complete goes before them, a complete one after them: at any moment the folder holds the
        old run, the new one, or none, and whatever a kill leaves there the next run may replace. After an error in the
        block the folder is as it was; Ctrl-C is not heard once the first of them is in place.
        """
        with holding() as hold:
            with replacing(*(self.path / name for name in names)) as temporaries:
                yield temporaries
                earlier, replaced = self._claim(names)
                manifest = replace(earlier, complete=True, files=_written(names, temporaries))
                hold()
                write_manifest(self.path, replace(manifest, complete=False, replaced={**earlier.replaced, **replaced}))
            write_manifest(self.path, manifest)

    @contextmanager
    def writing_beside(self, name: str) -> Iterator[tuple[Path, ...]]:
        """The path to write a file to that is no part of the run but that partita may replace later."""
        with replacing(self.path / name) as temporaries:
            yield temporaries
            earlier, replaced = self._claim([name])
            manifest = replace(earlier, beside={**earlier.beside, **_written([name], temporaries)})
            write_manifest(self.path, replace(manifest, replaced={**earlier.replaced, **replaced}))
        write_manifest(self.path, manifest)

    def told(self, names: Sequence[str]) -> list[str]:
        """Where the results are; predictions of an earlier run are pointed out."""
        lines = ["", f"Written to {self.path}: {', '.join(names)}."]
        if (self.path / PREDICTIONS).exists():
            lines.append(f"The {PREDICTIONS} there belongs to an earlier run.")
        return lines

    def _claim(self, names: Iterable[str]) -> tuple[Manifest, dict[str, Fingerprint]]:
        """What partita wrote before, less the replaced of ``names``, and those of them that are there.

        Raises as `refuse_others`.
        """
        earlier = self._earlier()
        if earlier.command != self.command:
            raise ValueError(
                f"{str(self.path)!r} holds the result of {earlier.command!r}, which would be replaced in part: choose"
                " another folder with --out."
            )
        found = {name: self._replaceable(name, earlier.fingerprints(name)) for name in names}
        still = {name: known for name, known in earlier.replaced.items() if name not in found}
        return replace(earlier, replaced=still), {name: known for name, known in found.items() if known is not None}

    def _earlier(self) -> Manifest:
        _refuse_folder(self.path / MANIFEST)
        try:
            return read_manifest(self.path) or Manifest(self.command)
        except UnusableManifestError as refusal:
            if self.force:
                return Manifest(self.command)
            raise ValueError(f"{refusal}: {_REMEDY}") from None

    def _replaceable(self, name: str, known: set[Fingerprint]) -> Fingerprint | None:
        """The fingerprint of a file that may be replaced, None where no regular file is; others are refused."""
        path = self.path / name
        if not os.path.lexists(path):
            return None
        _refuse_folder(path)
        is_plain = path.is_file() and not path.is_symlink()
        if self.force:
            return fingerprint(path) if is_plain else None
        if not known:
            raise ValueError(f"{str(path)!r} was not written by partita: {_REMEDY}")
        found = recognise(path, known) if is_plain else None
        if found is None:
            raise ValueError(f"{str(path)!r} was changed after partita wrote it: {_REMEDY}")
        return found


@dataclass(frozen=True)
class OneFile:
    """A file, the old one or the whole new one; ``beside`` is the run that it lies beside as partita's own, if any."""

    path: Path
    beside: RunFolder | None = None

    def refuse(self, kept: Iterable[Path], names: Iterable[str]) -> None:
        """Refuse to replace a file that is read or, beside a run, one that partita did not write."""
        refuse_to_replace(kept, [self.path])
        if self.beside is not None:
            self.beside.refuse_others([self.path.name])

    def prepare(self, names: Sequence[str]) -> None:
        """Make nothing: whether there is a place for one file shows when it is written."""

    def writing(self, names: Sequence[str]) -> AbstractContextManager[tuple[Path, ...]]:
        """The path to write to; the file takes its place when the block ends well."""
        return replacing(self.path) if self.beside is None else self.beside.writing_beside(self.path.name)

    def told(self, names: Sequence[str]) -> list[str]:
        """Where the file is."""
        return [f"Written to {self.path}."]


@dataclass(frozen=True)
class Nowhere:
    """The place of a command that only says its answer: nothing is refused, made or written."""

    path: Path = Path()

    def refuse(self, kept: Iterable[Path], names: Iterable[str]) -> None:
        """Refuse nothing."""

    def prepare(self, names: Sequence[str]) -> None:
        """Make nothing."""

    def writing(self, names: Sequence[str]) -> AbstractContextManager[tuple[Path, ...]]:
        """No paths."""
        return nullcontext(())

    def told(self, names: Sequence[str]) -> list[str]:
        """Nothing."""
        return []


def refuse_to_replace(kept: Iterable[Path], targets: Sequence[Path]) -> None:
    """Refuse to write over files that are read."""
    for path, target in product(kept, targets):
        if path.exists() and target.exists() and target.samefile(path):
            raise ValueError(f"The result would replace {str(path)!r}, which is read: choose another place with --out.")


def _refuse_folder(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        raise ValueError(f"{str(path)!r} is a folder, where a file is to be written: choose another place with --out.")


def _written(names: Iterable[str], temporaries: Iterable[Path]) -> dict[str, Fingerprint]:
    """The fingerprints of files that are on disk before a manifest speaks of them."""
    for temporary in temporaries:
        flush(temporary)
    return {name: fingerprint(temporary) for name, temporary in zip(names, temporaries)}
