"""The command line: words to calls, nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Finds the groups in a table without being told how many there are, and says how sure it is.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        from partita import __version__

        typer.echo(f"partita {__version__}")
        raise typer.Exit


@app.callback()
def partita(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Keep ``demo`` a word of its own while it is the only command."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results; files of an earlier demo are replaced.")] = Path(
        "partita-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampler; the table is always the same.")] = 0,
) -> None:
    """Cluster a built-in table of 300 shop customers, say what was found and write it to a folder.

    Writes labels.csv, summary.json and coclustering.png.
    """
    from partita import demo as steps

    with _writing_to(out):
        steps.prepare_folder(out)
    typer.echo(steps.describe_table(steps.customers()))
    result = steps.fit(seed)
    for line in steps.describe(result):
        typer.echo(line)
    with _writing_to(out):
        files = steps.write_files(result, out)
    typer.echo(f"\nWritten to {out}: {', '.join(path.name for path in files)}.")


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """Turn a folder that cannot be written to into one sentence and exit code 2."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        typer.echo(f"Cannot write to {str(folder)!r}: {why}. Choose another folder with --out.", err=True)
        raise typer.Exit(2) from None
