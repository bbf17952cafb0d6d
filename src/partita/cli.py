"""The command line: every command that there is under one name, and how it ends."""

import os
import sys
from typing import Annotated

import typer

from partita.running.interruptions import hear_no_more, hear_once

# They are named in this order.
# isort: off
from partita.runs import cluster, select, consensus, predict, explain, summarize, demo  # noqa: F401

# isort: on
from partita.runs.command import COMMANDS
from partita.runs.console import BAD_INPUT, TRACEBACK, complain

INTERRUPTED = 130


def main() -> None:
    """Run the command line: exit code 0, 2 with one sentence for bad input, never a traceback."""
    hear_once()
    try:
        code = _app()(standalone_mode=False) or 0
    except typer.Exit as end:
        code = end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):  # of the command line itself: unknown options and the like
            words = error.format_message()
            if words:  # none: the help was shown instead
                complain(f"{words if words.endswith(('.', '?')) else f'{words}.'} See 'partita --help'.")
            sys.exit(BAD_INPUT)
        if TRACEBACK in os.environ:
            raise
        complain(f"partita failed ({type(error).__name__}: {error}). Set {TRACEBACK}=1 to see where.")
        sys.exit(1)
    hear_no_more()
    if code == INTERRUPTED:  # which some versions of typer return
        complain("Interrupted before the result was complete.")
    sys.exit(code)


def _app() -> typer.Typer:
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="markdown",  # paragraphs flow to the width of the terminal
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(partita)
    for name, function in COMMANDS.items():
        app.command(name)(function)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from partita import __version__

        typer.echo(f"partita {__version__}")
        raise typer.Exit


def partita(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Finds the groups in a table without being told how many there are, and says how sure it is."""
