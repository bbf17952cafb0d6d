"""A manifest that anybody may have written: read, or refused in one sentence."""

import copy
import json
import os

import pytest

from partita.runs.manifest import MANIFEST, Manifest, UnusableManifestError, fingerprint, read_manifest, write_manifest

GOOD = {
    "format": "partita-run",
    "format_version": 1,
    "command": "partita cluster",
    "version": "0.1.0",
    "complete": True,
    "files": {"labels.csv": {"sha256": "0" * 64, "bytes": 7}},
    "beside": {},
    "replaced": {},
}


def changed(**parts):
    return copy.deepcopy(GOOD) | parts


def file_named(name):
    return changed(files={name: {"sha256": "0" * 64, "bytes": 7}})


def file_with(**parts):
    return changed(files={"labels.csv": {"sha256": "0" * 64, "bytes": 7} | parts})


BAD = {
    "empty": "",
    "no JSON": "{'format'",
    "a list": "[]",
    "a number": "3",
    "null": "null",
    "NaN": json.dumps(file_with(bytes=float("nan"))),
    "an infinity": json.dumps(GOOD).replace('"bytes": 7', '"bytes": -Infinity'),
    "no UTF-8": b"\xff\xfe{}",
    "nested": "[" * 100_000,
    "nested inside": json.dumps(GOOD)[:-1] + ', "more": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}",
    "a long number": json.dumps(GOOD).replace('"bytes": 7', '"bytes": ' + "7" * 10_000),
    "huge": json.dumps(changed(more="x" * (1 << 20))),
    "another format": changed(format="npm"),
    "format of another type": changed(format=["partita-run"]),
    "version as text": changed(format_version="1"),
    "version as truth": changed(format_version=True),
    "version nought": changed(format_version=0),
    "no command": {key: value for key, value in GOOD.items() if key != "command"},
    "another command": changed(command="partita \x1b[31m"),
    "command of another type": changed(command={"a": 1}),
    "complete as a number": changed(complete=1),
    "files as a list": changed(files=["labels.csv"]),
    "beside as null": changed(beside=None),
    "no replaced": {key: value for key, value in GOOD.items() if key != "replaced"},
    "a fingerprint as text": changed(files={"labels.csv": "0" * 64}),
    "a short hash": file_with(sha256="00"),
    "a hash of other letters": file_with(sha256="G" * 64),
    "a hash of another type": file_with(sha256=0),
    "a negative size": file_with(bytes=-1),
    "a size that is not whole": file_with(bytes=7.5),
    "a size as truth": file_with(bytes=True),
    **{
        f"the name {name!r}": file_named(name)
        for name in (
            "../labels.csv",
            "a/b",
            "/etc/passwd",
            "..",
            ".",
            "",
            "a\\b",
            "C:x",
            "a\0b",
            "a\n",
            ".hidden",
            "a..b",
        )
    },
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_what_is_no_manifest(tmp_path, content):
    text = json.dumps(content) if isinstance(content, dict) else content
    (tmp_path / MANIFEST).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UnusableManifestError, match=r"manifest\.json' is not the manifest of a run of partita$"):
        read_manifest(tmp_path)


def test_a_newer_one(tmp_path):
    (tmp_path / MANIFEST).write_text(json.dumps({"format": "partita-run", "format_version": 2}))
    with pytest.raises(UnusableManifestError, match=r"was written by a newer partita$"):
        read_manifest(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / MANIFEST)
    with pytest.raises(UnusableManifestError):
        read_manifest(tmp_path)


def test_what_is_written_is_read(tmp_path):
    (tmp_path / "labels.csv").write_text("row,label\n")
    known = {"labels.csv": fingerprint(tmp_path / "labels.csv")}
    manifest = Manifest("partita consensus", True, known, {"predictions.csv": known["labels.csv"]}, known)
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
