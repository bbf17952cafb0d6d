"""What a command does once its words are understood: read, refuse, compute, write, say."""

from pathlib import Path
from typing import TYPE_CHECKING

from partita.console import made, refusing, say, writing_to

if TYPE_CHECKING:
    from partita.runs.consensus import ConsensusRequest
    from partita.runs.request import Request

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".npy", ".npz", ".partita")


def default_folder(table: Path) -> Path:
    """partita-NAME for NAME.csv, NAME.csv.gz, NAME.parquet and the like."""
    name = table.name.removesuffix(".gz")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return Path(f"partita-{name or 'table'}")


def cluster_table(request: "Request", out: Path, quiet: bool, *, force: bool = False, safe_csv: bool = False) -> None:
    """Cluster a table and write the run to a folder."""
    with refusing():
        from partita.runs.clustering import cluster as cluster_rows
        from partita.runs.clustering import mixture_for, read_input
        from partita.runs.folder import COMMAND, FILES, write_run
        from partita.runs.how_found import budget_in_words
        from partita.runs.run_folder import RunFolder, refuse_to_replace
        from partita.runs.words import describe_input, describe_run

        folder = RunFolder(out, COMMAND, force)
        given = read_input(request)
        refuse_to_replace(request.table, [out / name for name in FILES])
        folder.refuse_others(FILES)
        model = mixture_for(given, progress=not quiet)
    with made(out), refusing(), writing_to(out):
        folder.prepare(FILES)
        say([*describe_input(given), budget_in_words(request.max_time), ""], quiet)
        with refusing():
            run = cluster_rows(given, model, None if quiet else _tell)
        write_run(run, folder, safe_csv=safe_csv)
    say([*describe_run(run), "", *_written(out, FILES)], quiet)


def find_consensus_of(
    request: "ConsensusRequest", out: Path, quiet: bool, *, force: bool = False, safe_csv: bool = False
) -> None:
    """Find the consensus of a file of clusterings and write it to a folder."""
    with refusing():
        from partita.runs.clustering import cluster as cluster_rows
        from partita.runs.consensus import read_labels
        from partita.runs.consensus_files import COMMAND, FILES, write_consensus
        from partita.runs.consensus_words import describe_consensus, describe_labels
        from partita.runs.how_found import budget_in_words
        from partita.runs.run_folder import RunFolder, refuse_to_replace

        folder = RunFolder(out, COMMAND, force)
        model = request.model(progress=not quiet)
        given = read_labels(request)
        refuse_to_replace(request.labels, [out / name for name in FILES])
        folder.refuse_others(FILES)
    with made(out), refusing(), writing_to(out):
        folder.prepare(FILES)
        say([*describe_labels(given), budget_in_words(request.max_time), ""], quiet)
        with refusing():
            run = cluster_rows(given, model, None if quiet else _tell)
        write_consensus(run, folder, safe_csv=safe_csv)
    say([*describe_consensus(run), "", *_written(out, FILES)], quiet)


def _tell(words: str) -> None:
    say([words, ""], quiet=False)


def _written(out: Path, files: tuple[str, ...]) -> list[str]:
    """Where the results are; predictions of an earlier run are pointed out."""
    from partita.runs.folder import PREDICTIONS

    lines = [f"Written to {out}: {', '.join(files)}."]
    if (out / PREDICTIONS).exists():
        lines.append(f"The {PREDICTIONS} there belongs to an earlier run.")
    return lines
