"""partita summarize: the partition that sums up draws which any program made."""

import time
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from partita.runs import options
from partita.runs.command import Request, Tell, carry_out_words, command
from partita.runs.console import collecting
from partita.runs.section import LABELS, MODEL, PICTURE, SUMMARY, Section

if TYPE_CHECKING:
    from partita.posterior import Estimate, Posterior

_UNEQUAL = 1 - 1e-9


@command
def summarize(
    draws: Annotated[
        Path, typer.Argument(help="CSV, Parquet or .npy, a row per draw and a column per object; or a .partita file.")
    ],
    *,
    loss: options.LossName = "vi",
    entropy: options.Entropy = 0.0,
    min_size: options.MinSize = None,
    max_clusters: options.MaxClusters = None,
    min_support: options.MinSupport = 0.0,
    runs: Annotated[int, typer.Option(min=1, help="Starts of the search; more may find a better answer.")] = 16,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for draws NAME.csv.")
    ] = None,
    seed: options.Seed = 0,
    max_unpacked: options.MaxUnpacked = None,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    quiet: options.Quiet = False,
) -> None:
    """Sum up draws of a partition that any program made, and write the answer to a folder.

    -1 and empty cells mean that an object is not observed in that draw. Writes labels.csv (object, label,
    confidence, runner-up), summary.json, posterior.partita (all draws) and coclustering.png.

    Example: partita summarize draws.csv --loss binder --entropy 20
    """
    carry_out_words(SummarizeRequest, **locals())


@dataclass(frozen=True)
class DrawsSummed:
    """Draws and the partition that sums them up; ``weighted`` have the weights that it used, also those of entropy."""

    posterior: "Posterior"
    weighted: "Posterior"
    estimate: "Estimate"
    seconds: float
    warnings: list[str]


@dataclass(frozen=True)
class SummarizeRequest(Request):
    """A file of draws and how it is to be summed up: the options above, understood.

    They are those of `Posterior.estimate`; ``entropy`` is that of `Posterior.regularize_entropy`, 0 for none.
    """

    draws: Path
    loss: str = "vi"
    entropy: float = 0.0
    max_clusters: int | str | None = None
    min_size: int | None = None
    min_support: float = 0.0
    runs: int = 16
    seed: int = 0
    max_unpacked: int | None = None

    command: ClassVar[str] = "partita summarize"
    files: ClassVar[tuple[str, ...]] = (LABELS, SUMMARY, MODEL, PICTURE)

    def read(self) -> "tuple[Posterior, list[str]]":
        """Check the options and read the file; what was said meanwhile."""
        from partita.parameters import choose
        from partita.posterior import Posterior
        from partita.posterior.estimate.losses import LOSSES

        choose("--loss", self.loss, LOSSES)
        if not isfinite(self.entropy):
            raise ValueError(f"--entropy must be a finite number; got {self.entropy}.")
        with collecting() as said:
            posterior = Posterior.from_draws(self.draws, max_unpacked=self.max_unpacked)
        return posterior, said

    def describe(self, given: Any) -> Section:
        """How many draws of how many objects, and how many labels are missing."""
        from partita.runs.words import missing_in_words
        from partita.wording import count_of

        posterior, _ = given
        gaps = missing_in_words(int((posterior.draws < 0).sum()), posterior.draws.size, "label")
        chains = f" ({posterior.n_chains} chains)" if posterior.n_chains > 1 else ""
        n_draws, n_objects = count_of(posterior.n_draws, "draw"), count_of(posterior.n_objects, "object")
        fields = {name: getattr(posterior, name) for name in ("n_draws", "n_chains")} | {"loss": self.loss}
        return Section("draws", [f"{self.draws}: {n_draws}{chains} of {n_objects}, {gaps}."], fields)

    def compute(self, given: Any, tell: Tell | None = None) -> DrawsSummed:
        """Weight the draws and find the partition of least expected loss."""
        started, (posterior, warnings) = time.perf_counter(), given
        with collecting() as said:
            weighted = posterior.regularize_entropy(self.entropy) if self.entropy else posterior
            found = weighted.estimate(
                n_jobs=-1,
                random_state=self.seed,
                **{name: getattr(self, name) for name in ("loss", "max_clusters", "min_size", "min_support", "runs")},
            )
        return DrawsSummed(posterior, weighted, found, time.perf_counter() - started, warnings + said)

    def sections(self, answer: DrawsSummed) -> list[Section]:
        """Groups, and what they rest on."""
        return [self._groups(answer), self._weights(answer)]

    def _groups(self, answer: DrawsSummed) -> Section:
        """Groups, expected loss, number of groups, and what is shaky."""
        from partita.posterior.reading import object_names
        from partita.runs.groups import groups_section
        from partita.runs.words import chances_in_words, how_many

        posterior, found = answer.weighted, answer.estimate
        told = chances_in_words(posterior.n_clusters(), found.n_clusters)
        return groups_section(
            {"object": object_names(posterior)} | _labels_table(found),
            found.n_clusters,
            posterior,
            found,
            noun="object",
            source="The draws do",
            number=how_many(told, " after the weighting" if self.entropy else ""),
            more=[f"Expected loss ({self.loss}): {found.expected_loss:.4g}.", *_limits_in_words(posterior, found)],
            expected_loss=found.expected_loss,
        )

    def _weights(self, answer: DrawsSummed) -> Section:
        """How many equally weighted draws these are worth, and warnings; the draws as they were in their file."""
        from partita.runs.words import described_warnings

        n_draws, ess = answer.weighted.n_draws, float(1.0 / (answer.weighted.weights**2).sum())
        how = f" by entropy ({self.entropy:g})" if self.entropy else ""
        weighted = f"The draws are weighted{how}: effective sample size {ess:.4g} of {n_draws}."
        return Section(
            "weights",
            words=[*([weighted] if ess < _UNEQUAL * n_draws else ()), *described_warnings(answer.warnings, None)],
            fields={"entropy": self.entropy, "ess": ess, "warnings": answer.warnings},
            files={MODEL: answer.posterior.save},
        )


def _limits_in_words(posterior: "Posterior", found: "Estimate") -> list[str]:
    """That there are more groups than in any draw, or too many for runners-up, or objects without a label."""
    from partita.posterior.membership import is_large
    from partita.wording import count_of

    lines = []
    most_drawn, n_unlabelled = int(posterior.partitions.n_clusters().max()), int((found.labels < 0).sum())
    if found.n_clusters > most_drawn:
        most = count_of(most_drawn, "group")
        lines.append(f"No draw has more than {most}: --max-clusters {most_drawn} keeps to that.")
    if is_large(found.labels, found.draws):
        lines.append("So many groups of so many objects leave no memory for runners-up: their column is empty.")
    if n_unlabelled:
        lines.append(f"{count_of(n_unlabelled, 'object')} without a label in any draw.")
    return lines


def _labels_table(found: "Estimate") -> dict[str, Any]:
    """Label, confidence and runner-up of every object; -1 and an empty cell where no draw labels it.

    Runners-up are left empty where the probabilities that they are read from would not fit in memory.
    """
    import numpy as np

    from partita.posterior.membership import is_large, runners_up
    from partita.runs.columns import DIGITS

    others: Any = [""] * len(found.labels)
    if not is_large(found.labels, found.draws):
        others = np.where(found.labels < 0, -1, runners_up(found.labels, found.probabilities))
    return {"label": found.labels, "confidence": np.round(found.confidence, DIGITS), "runner_up": others}
