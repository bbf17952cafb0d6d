"""A section: one part of an answer, in every form in which it is shown.

The terminal shows the words of all sections, summary.json their fields, the folder their tables and files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LABELS = "labels.csv"
MODEL = "posterior.partita"
ESTIMATOR = "model.partita"  # of what has no posterior
PICTURE = "coclustering.png"
PREDICTIONS = "predictions.csv"
SUMMARY = "summary.json"


@dataclass(frozen=True)
class Section:
    """A part of an answer.

    Parameters
    ----------
    name : str
    words : sequence of str
        Lines for a reader; an empty one begins a paragraph.
    fields : mapping
        What summary.json holds of it, in types that JSON has.
    tables : mapping
        Name of a CSV file to its columns.
    files : mapping
        Name of any other file to what writes it to a path.
    """

    name: str
    words: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)


def write_sections(sections: Sequence[Section], paths: Mapping[str, Path], *, safe_csv: bool = False) -> None:
    """Write the files of these names, each to its path; `SUMMARY` holds the fields of all sections."""
    from partita.runs.columns import to_csv

    tables = {name: table for section in sections for name, table in section.tables.items()}
    writers = {name: write for section in sections for name, write in section.files.items()}
    for name, path in paths.items():
        if name == SUMMARY:
            fields = {key: value for section in sections for key, value in section.fields.items()}
            path.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
        elif name in tables:
            path.write_text(to_csv(tables[name], safe=safe_csv), encoding="utf-8")
        else:
            writers[name](path)
