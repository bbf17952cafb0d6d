"""Partita files taken apart and put together again, with right checksums: what whoever makes a file can do."""

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HEADER = "partita.json"
DEEP = "so many lists in each other that a recursion ends"
_DEPTH = 100_000


@dataclass
class Parts:
    """The header, the members of the arrays by name, and how they are to be packed."""

    header: Any
    members: dict[str, bytes]
    arrays: dict[str, np.ndarray]  # as they were
    compression: int = zipfile.ZIP_STORED

    @classmethod
    def of(cls, path: Path) -> "Parts":
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
        header = json.loads(members.pop(HEADER))
        arrays = {name.removesuffix(".npy"): np.load(io.BytesIO(content)) for name, content in members.items()}
        return cls(header, members, arrays)

    def put(self, name: str, array: np.ndarray) -> None:
        stream = io.BytesIO()
        np.save(stream, array)
        self.put_bytes(name, stream.getvalue())

    def put_bytes(self, name: str, content: bytes) -> None:
        self.members[f"{name}.npy"] = content
        if isinstance(self.header, dict) and isinstance(self.header.get("arrays"), dict):
            self.header["arrays"][name] = hashlib.sha256(content).hexdigest()

    def write(self, path: Path) -> None:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", self.compression) as archive:
            archive.comment = b"sha256 " + b"0" * 64
            archive.writestr(HEADER, json.dumps(self.header).replace(f'"{DEEP}"', _DEPTH * "[" + _DEPTH * "]"))
            for name, content in self.members.items():
                archive.writestr(name, content)
        path.write_bytes(sealed(stream.getvalue()))


def sealed(whole: bytes) -> bytes:
    """The bytes with the seal that fits them."""
    return whole[:-64] + hashlib.sha256(whole[:-64]).hexdigest().encode()
