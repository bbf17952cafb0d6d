"""The manifest of a folder: which files partita wrote into it, and whether they are a whole run."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import partita
from partita.files.atomic import replacing

MANIFEST = "manifest.json"
FORMAT = "partita-run"
FORMAT_VERSION = 1

_PARTS = ("files", "beside", "replaced")
_MOST_BYTES = 1 << 20
_COMMAND = re.compile(r"partita [a-z][a-z0-9-]*")
_FILE_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")  # of the folder itself: no separators, no ".."
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


class Fingerprint(NamedTuple):
    """What tells the content of a file from any other."""

    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Manifest:
    """What partita wrote into a folder.

    Parameters
    ----------
    command : str
        Whose result it is: ``partita cluster``.
    complete : bool
        Whether the run is there as a whole: False from before its first file takes its place until after its last.
    files : mapping
        Name to fingerprint of every file of the run.
    beside : mapping
        The same of files that are no part of the run: the table of a demo, predictions.
    replaced : mapping
        The same of files whose places those above are about to take. They are partita's own to replace, whichever of
        the two is found after a kill.
    """

    command: str
    complete: bool = False
    files: Mapping[str, Fingerprint] = field(default_factory=dict)
    beside: Mapping[str, Fingerprint] = field(default_factory=dict)
    replaced: Mapping[str, Fingerprint] = field(default_factory=dict)

    def fingerprints(self, name: str) -> set[Fingerprint]:
        """What partita may have written to the file of this name."""
        return {part[name] for part in (self.files, self.beside, self.replaced) if name in part}


class UnusableManifestError(ValueError):
    """A manifest.json that partita cannot have written; the message names it and lacks the remedy and the point."""


def fingerprint(path: Path) -> Fingerprint:
    """The fingerprint of a file."""
    digest, n_bytes = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            n_bytes += len(chunk)
    return Fingerprint(digest.hexdigest(), n_bytes)


def recognise(path: Path, known: set[Fingerprint]) -> Fingerprint | None:
    """The fingerprint of a file that is one of these; the hash is only taken where the size is right."""
    if path.stat().st_size not in {one.n_bytes for one in known}:
        return None
    found = fingerprint(path)
    return found if found in known else None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a folder's manifest: the old one or the whole new one."""
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "command": manifest.command,
        "version": partita.__version__,
        "complete": manifest.complete,
    }
    for part in _PARTS:
        content[part] = {
            name: {"sha256": known.sha256, "bytes": known.n_bytes} for name, known in getattr(manifest, part).items()
        }
    with replacing(folder / MANIFEST) as (temporary,):
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None where there is none.

    Raises
    ------
    UnusableManifestError
        What lies there is of another program or of a newer partita, or was changed by hand.
    """
    path = folder / MANIFEST
    if not os.path.lexists(path):
        return None
    try:
        content = read_json(path, _MOST_BYTES)
        newer = _is_newer(content)
        if not newer:
            return _manifest(content)
    except (OSError, ValueError, KeyError):
        raise UnusableManifestError(f"{str(path)!r} is not the manifest of a run of partita") from None
    raise UnusableManifestError(f"{str(path)!r} was written by a newer partita")


def _is_newer(content: Any) -> bool:
    _require(isinstance(content, dict) and content["format"] == FORMAT)
    version = content["format_version"]
    _require(type(version) is int and version >= 1)
    return version > FORMAT_VERSION


def _manifest(content: dict[str, Any]) -> Manifest:
    command, complete = content["command"], content["complete"]
    _require(isinstance(command, str) and _COMMAND.fullmatch(command) is not None)
    _require(isinstance(complete, bool))
    return Manifest(command, complete, *(_fingerprints(content[part]) for part in _PARTS))


def _fingerprints(content: Any) -> dict[str, Fingerprint]:
    _require(isinstance(content, dict))
    _require(all(_FILE_NAME.fullmatch(name) for name in content))
    return {name: _fingerprint(known) for name, known in content.items()}


def _fingerprint(content: Any) -> Fingerprint:
    _require(isinstance(content, dict))
    digest, n_bytes = content["sha256"], content["bytes"]
    _require(isinstance(digest, str) and _SHA256.fullmatch(digest) is not None)
    _require(type(n_bytes) is int and n_bytes >= 0)
    return Fingerprint(digest, n_bytes)


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def read_json(path: Path, most_bytes: int) -> Any:
    """The content of a JSON file that anyone may have written.

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is no regular file, is larger than ``most_bytes``, is nested without end, is no UTF-8, or is no JSON; NaN and
        infinities, which JSON does not have, count as such.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise ValueError("no regular file")
    with open(path, "rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError("too large")
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested without end") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
