"""A run that an earlier command wrote, read back from its folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.runs.manifest import MANIFEST, Manifest, UnusableManifestError, read_json, read_manifest, recognise
from partita.runs.section import ESTIMATOR, MODEL, SUMMARY
from partita.saving import load
from partita.table_estimator import TableEstimator

_RUN = "RUN is the folder that 'partita cluster', 'partita select' or 'partita consensus' wrote."
_AGAIN = "make the folder again."
_MOST_BYTES = 1 << 26  # of a summary


@dataclass(frozen=True)
class EarlierRun:
    """A run that was read from its folder.

    Attributes
    ----------
    command : str
        That made it.
    paths : list of Path
        Its files.
    model : fitted estimator
        `Mixture`, `CRAFT`, `NBCE` or another method of consensus, which need not have answers about new rows.
    request : dict
        The columns that were set aside when it was made: ``id`` and ``ignore``.
    """

    command: str
    paths: list[Path]
    model: Any
    request: dict[str, Any]

    def refuse_without(self, answer: str, words: str) -> None:
        """Refuse a model that has no method of this name; the words say what it cannot do.

        Raises
        ------
        ValueError
        """
        from partita.consensus.ensemble_estimator import METHODS

        if hasattr(self.model, answer):
            return
        other = "'partita cluster'"
        if type(self.model) in METHODS.values():
            others = sorted(name for name, kind in METHODS.items() if hasattr(kind, answer))
            also = f", or with --method {' or '.join(others)}," if others else ""
            other = f"{self.command!r} without --method{also}"
        raise ValueError(
            f"{str(self.paths[0].parent)!r} is a run of {type(self.model).__name__}, which {words}: a run of {other} "
            "does."
        )


def open_run(run: Path) -> EarlierRun:
    """Read a run, after making sure that its files are those that its manifest names.

    Raises
    ------
    OSError, ValueError
        With a sentence, when the folder is not one that ``partita cluster``, ``select`` or ``consensus`` wrote.
    """
    if not run.is_dir():
        what = "is a file, not a folder" if run.exists() else "does not exist"
        raise FileNotFoundError(f"{str(run)!r} {what}: {_RUN}")
    manifest = _complete_manifest(run)
    return EarlierRun(
        command=manifest.command,
        paths=[run / name for name in (*manifest.files, MANIFEST)],
        model=_load_model(run / _model_file(manifest)),
        request=_read_request(run / SUMMARY),
    )


def _complete_manifest(run: Path) -> Manifest:
    try:
        manifest = read_manifest(run)
    except UnusableManifestError as refusal:
        raise ValueError(f"{refusal}: {_AGAIN}") from None
    if manifest is None:
        raise FileNotFoundError(f"{str(run)!r} has no {MANIFEST}: {_RUN}")
    if not manifest.complete:
        raise ValueError(f"The run in {str(run)!r} was interrupted while it was written: {_AGAIN}")
    for name in {_model_file(manifest), SUMMARY, *manifest.files}:
        path = run / name
        if not path.is_file():
            raise FileNotFoundError(f"{str(run)!r} has no {name}: {_RUN}")
        if recognise(path, manifest.fingerprints(name)) is None:
            raise ValueError(f"{str(path)!r} is damaged or was changed after the run: {_AGAIN}")
    return manifest


def _model_file(manifest: Manifest) -> str:
    return ESTIMATOR if ESTIMATOR in manifest.files else MODEL


def _load_model(path: Path) -> Any:
    model = load(path)
    if not isinstance(model, TableEstimator):
        raise ValueError(f"{str(path)!r} holds draws without a model. {_RUN}")
    return model


def _read_request(path: Path) -> dict[str, Any]:
    try:
        request = read_json(path, _MOST_BYTES)["request"]
        name, ignored = request["id"], request["ignore"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{str(path)!r} is damaged: {_AGAIN}") from None
    is_text = isinstance(ignored, list) and all(isinstance(column, str) for column in ignored)
    if not is_text or not (name is None or isinstance(name, str)):
        raise ValueError(f"{str(path)!r} is damaged: {_AGAIN}")
    return {"id": name, "ignore": ignored}
