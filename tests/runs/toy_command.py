"""A whole command in one file: how often each word of a text occurs."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, ClassVar

import typer

from partita.runs import options
from partita.runs.command import Request, carry_out_words, command
from partita.runs.section import SUMMARY, Section


@command
def tally(
    text: Annotated[Path, typer.Argument(help="A text file.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    ignore: options.Ignore = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    quiet: options.Quiet = False,
) -> None:
    """Count the words of a text."""
    carry_out_words(TallyRequest, **locals())


@dataclass(frozen=True)
class TallyRequest(Request):
    text: Path
    ignore: tuple[str, ...] = ()
    seed: int = 0

    command: ClassVar[str] = "partita tally"
    files: ClassVar[tuple[str, ...]] = ("tally.csv", SUMMARY, "longest.txt")

    def read(self):
        words = self.text.read_text().split()
        if not words:
            raise ValueError(f"{str(self.text)!r} has no words: name a text.")
        return words

    def describe(self, given):
        return Section("text", [f"{self.text}: {len(given)} words."], {"n_words": len(given)})

    def compute(self, given, tell=None):
        if tell is not None:
            tell("This will not take long.")
        counts = Counter(word for word in given if word not in self.ignore)
        return SimpleNamespace(counts=dict(counts.most_common()), seconds=0.0)

    def sections(self, answer):
        words, counts = list(answer.counts), list(answer.counts.values())
        longest, table = max(words, key=len), {"word": words, "n": counts}
        return [
            Section("tally", [f"Most often: {words[0]}."], {"most": words[0]}, {"tally.csv": table}),
            Section(
                "longest", ["", f"Longest: {longest}."], files={"longest.txt": lambda path: path.write_text(longest)}
            ),
        ]
