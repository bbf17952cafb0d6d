"""The command line: words to calls, nothing else."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from partita.commands import cluster_table, default_folder, find_consensus_of
from partita.console import BAD_INPUT, TRACEBACK, complain, made, refusing, say, writing_to
from partita.running.interruptions import hear_no_more, hear_once

INTERRUPTED = 130

app = typer.Typer(
    help="Finds the groups in a table without being told how many there are, and says how sure it is.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",  # paragraphs flow to the width of the terminal
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Ignore = Annotated[list[str] | None, typer.Option(help="Columns to leave out: name,comment.")]
Chains = Annotated[int, typer.Option(help="Independent chains; that they agree is the test of the answer.")]
Draws = Annotated[str, typer.Option(help="Draws of every chain; auto: until the chains agree.")]
MaxTime = Annotated[
    str,
    typer.Option(
        metavar="SECONDS",
        help="Seconds until it answers with what it has; none: no limit. Compiling on first use does not count.",
    ),
]
LossName = Annotated[
    str, typer.Option(help="What is made small: vi, binder, one-minus-ari, nvi, nid, zero-one or vi-lb.")
]
Entropy = Annotated[float, typer.Option(help="Weight of a draw's entropy; above 0, draws with tiny groups count less.")]
MinSize = Annotated[int | None, typer.Option(min=1, help="The least members that a group may have.")]
MaxClusters = Annotated[
    str | None,
    typer.Option(help="The most groups that there may be; default: as many as a draw has; n: as many as members."),
]
MinSupport = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="How often draws must hold a group together, and apart; 0: never mind."),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
MaxUnpacked = Annotated[
    str | None, typer.Option(metavar="SIZE", help="What a compressed file may unpack to, if you trust it: 500MB, 4GB.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files in the folder also where partita did not write them.")
]
SafeCsv = Annotated[
    bool, typer.Option("--safe-csv", help="Keep spreadsheets from computing text: =1+1 is written as '=1+1.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def main() -> None:
    """Run the command line: exit code 0, 2 with one sentence for bad input, never a traceback."""
    hear_once()
    try:
        code = app(standalone_mode=False) or 0
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
    """Finds the groups in a table without being told how many there are, and says how sure it is."""


@app.command()
def cluster(
    table: Annotated[
        Path, typer.Argument(help="CSV (also .gz, also separated by ; or tab) or Parquet, with a header.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for a table NAME.csv.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="Types that the values do not show: zip=categorical,visits=count (or numeric)."),
    ] = None,
    ignore: Ignore = None,
    id: Annotated[str | None, typer.Option(help="Column that names the rows; it is not clustered by.")] = None,
    prior: Annotated[
        str | None, typer.Option(help="How rows fall into groups: dp (the default), pitman-yor or finite-mixtures.")
    ] = None,
    expected_clusters: Annotated[
        float | None, typer.Option(help="How many groups the prior expects; default: learned from the table.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(help="gibbs (samples), vb or cvb (approximate, faster), or em (1 to 10 groups, chosen by BIC)."),
    ] = "gibbs",
    n_clusters: Annotated[
        int | None, typer.Option(min=1, help="So many groups and no others; default: as many as the table shows.")
    ] = None,
    groups: Annotated[
        str, typer.Option(help="Groups that overlapping ones are merged into: a number, auto (by overlap) or none.")
    ] = "auto",
    loss: LossName = "vi",
    entropy: Entropy = 0.0,
    min_size: MinSize = None,
    max_clusters: MaxClusters = None,
    min_support: MinSupport = 0.5,
    chains: Chains = 4,
    draws: Draws = "auto",
    max_time: MaxTime = "300",
    seed: Seed = 0,
    max_unpacked: MaxUnpacked = None,
    force: Force = False,
    safe_csv: SafeCsv = False,
    quiet: Quiet = False,
) -> None:
    """Find the groups in a table and write them to a folder.

    Numbers are numeric columns, text is categorical, empty cells are missing. Writes labels.csv (id or row
    number from 0, label, confidence, runner-up), summary.json, profile.csv (what is typical of every group),
    posterior.partita (all draws and the model, for 'partita predict') and coclustering.png. While it samples,
    Ctrl-C stops early and keeps what was drawn.

    Example: partita cluster customers.csv --id customer --types zip=categorical
    """
    with refusing():
        from partita.runs.request import Request, bytes_of, draws_of, number_of, seconds_of, types_of, words_of

        request = Request(
            table=table,
            types=types_of(types or []),
            ignore=words_of(ignore or []),
            id=id,
            prior=prior,
            expected_clusters=expected_clusters,
            engine=engine,
            n_clusters=n_clusters,
            groups=number_of("--groups", groups, "auto", "none") or "auto",
            loss=loss,
            entropy=entropy,
            max_clusters=number_of("--max-clusters", max_clusters, "n"),
            min_size=min_size,
            min_support=min_support,
            chains=chains,
            draws=draws_of(draws),
            max_time=seconds_of(max_time),
            seed=seed,
            max_unpacked=bytes_of(max_unpacked),
        )
    cluster_table(request, out or default_folder(table), quiet, force=force, safe_csv=safe_csv)


@app.command()
def consensus(
    labels: Annotated[
        Path, typer.Argument(help="CSV (also .gz, also separated by ; or tab) or Parquet: a column per clustering.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for labels NAME.csv.")
    ] = None,
    ignore: Ignore = None,
    id: Annotated[str | None, typer.Option(help="Column that names the objects; it is no clustering.")] = None,
    method: Annotated[str, typer.Option(help="nbce (samples), or nbce-vb or nbce-cvb (approximate, faster).")] = "nbce",
    prior: Annotated[
        str, typer.Option(help="How objects fall into groups: stick-breaking, finite-dirichlet or dirichlet-process.")
    ] = "stick-breaking",
    components: Annotated[int, typer.Option(min=1, help="The most groups that there may be.")] = 100,
    concentration: Annotated[
        float | None, typer.Option(help="The larger, the more groups the prior expects; default: learned.")
    ] = None,
    pseudocount: Annotated[
        float, typer.Option(help="Labels of every kind that each group is taken to hold beforehand.")
    ] = 1.0,
    chains: Chains = 4,
    draws: Draws = "auto",
    max_time: MaxTime = "300",
    seed: Seed = 0,
    max_unpacked: MaxUnpacked = None,
    force: Force = False,
    safe_csv: SafeCsv = False,
    quiet: Quiet = False,
) -> None:
    """Find the one clustering that many clusterings of the same objects agree on, and write it to a folder.

    A row per object, a column per clustering, labels of any kind; empty cells and -1 are missing. Writes
    labels.csv (id or row number from 0, label, confidence, runner-up), agreement.csv (how far each clustering
    agrees), summary.json, posterior.partita (all draws and the model, for 'partita predict') and
    coclustering.png. While it samples, Ctrl-C stops early and keeps what was drawn.

    Example: partita consensus votes.csv --id object
    """
    with refusing():
        from partita.runs.consensus import ConsensusRequest
        from partita.runs.request import bytes_of, draws_of, seconds_of, words_of

        request = ConsensusRequest(
            labels=labels,
            ignore=words_of(ignore or []),
            id=id,
            method=method,
            prior=prior,
            components=components,
            concentration=concentration,
            pseudocount=pseudocount,
            chains=chains,
            draws=draws_of(draws),
            max_time=seconds_of(max_time),
            seed=seed,
            max_unpacked=bytes_of(max_unpacked),
        )
    find_consensus_of(request, out or default_folder(labels), quiet, force=force, safe_csv=safe_csv)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(help="Folder that 'partita cluster' or 'partita consensus' wrote.")],
    table: Annotated[Path, typer.Argument(help="CSV or Parquet with the same columns.")],
    out: Annotated[
        Path | None, typer.Option(help="CSV file for the results; default: predictions.csv in the run's folder.")
    ] = None,
    max_unpacked: MaxUnpacked = None,
    force: Force = False,
    safe_csv: SafeCsv = False,
    quiet: Quiet = False,
) -> None:
    """Label rows never seen by the groups of an earlier run.

    Writes id or row number, label, its probability, runner-up and novelty: the probability that a row belongs to a
    group that the run did not see.
    """
    with refusing():
        from partita.runs.folder import PREDICTIONS
        from partita.runs.predicting import is_beside, open_run, write_predictions
        from partita.runs.predicting import predict as predict_rows
        from partita.runs.request import bytes_of
        from partita.runs.run_folder import RunFolder, refuse_to_replace

        target = out or run / PREDICTIONS
        if target.is_dir():
            raise IsADirectoryError(f"{str(target)!r} is a folder: name a file in it with --out.")
        earlier = open_run(run)
        for kept in (table, *earlier.paths):
            refuse_to_replace(kept, [target])
        folder = RunFolder(run, earlier.command, force or out is not None) if is_beside(target, run) else None
        if folder is not None:
            folder.refuse_others([PREDICTIONS])
        predictions = predict_rows(earlier.model, earlier.request, table, bytes_of(max_unpacked))
    with refusing(), writing_to(target):
        write_predictions(predictions, target, folder, safe_csv=safe_csv)
    say([*predictions.describe(), f"Written to {target}."], quiet)


@app.command()
def explain(
    run: Annotated[Path, typer.Argument(help="Folder that 'partita cluster' or 'partita consensus' wrote.")],
    row: Annotated[str, typer.Argument(help="The row's id as in labels.csv, or its number from 0 without ids.")],
    number: Annotated[
        bool, typer.Option("--number", help="ROW is a number from 0, also where the rows have ids.")
    ] = False,
) -> None:
    """Say why a row of an earlier run is in its group and not in the next best one, column by column.

    Nats are logs of odds: +1 makes the row's group 2.7 times as probable against the runner-up. Nothing is written.

    Example: partita explain partita-orders "customer 17"
    """
    with refusing():
        from partita.runs.explaining import explain_row
        from partita.runs.predicting import open_run

        lines = explain_row(open_run(run), run, row, by_number=number)
    say(lines, quiet=False)


@app.command()
def summarize(
    draws: Annotated[
        Path, typer.Argument(help="CSV, Parquet or .npy, a row per draw and a column per object; or a .partita file.")
    ],
    *,
    loss: LossName = "vi",
    entropy: Entropy = 0.0,
    min_size: MinSize = None,
    max_clusters: MaxClusters = None,
    min_support: MinSupport = 0.0,
    runs: Annotated[int, typer.Option(min=1, help="Starts of the search; more may find a better answer.")] = 16,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: partita-NAME for draws NAME.csv.")
    ] = None,
    seed: Seed = 0,
    max_unpacked: MaxUnpacked = None,
    force: Force = False,
    safe_csv: SafeCsv = False,
    quiet: Quiet = False,
) -> None:
    """Sum up draws of a partition that any program made, and write the answer to a folder.

    -1 and empty cells mean that an object is not observed in that draw. Writes labels.csv (object, label,
    confidence, runner-up), summary.json, posterior.partita (all draws) and coclustering.png.

    Example: partita summarize draws.csv --loss binder --entropy 20
    """
    out = out or default_folder(draws)
    with refusing():
        from partita.runs.request import bytes_of, number_of
        from partita.runs.run_folder import RunFolder, refuse_to_replace
        from partita.runs.summarizing import SummaryRequest, read_draws_file
        from partita.runs.summarizing import summarize as sum_up
        from partita.runs.summary_files import COMMAND, FILES, write_summary
        from partita.runs.summary_words import describe_draws, describe_summary

        folder = RunFolder(out, COMMAND, force)
        request = SummaryRequest(
            draws=draws,
            loss=loss,
            entropy=entropy,
            max_clusters=number_of("--max-clusters", max_clusters, "n"),
            min_size=min_size,
            min_support=min_support,
            runs=runs,
            seed=seed,
            max_unpacked=bytes_of(max_unpacked),
        )
        given = read_draws_file(request)
        refuse_to_replace(draws, [out / name for name in FILES])
        folder.refuse_others(FILES)
    with made(out), refusing(), writing_to(out):
        folder.prepare(FILES)
        say([*describe_draws(given), ""], quiet)
        with refusing():
            summary = sum_up(given)
        write_summary(summary, folder, safe_csv=safe_csv)
    say([*describe_summary(summary), "", f"Written to {out}: {', '.join(FILES)}."], quiet)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results; files of an earlier demo are replaced.")] = Path(
        "partita-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampler; the table is always the same.")] = 0,
    force: Force = False,
) -> None:
    """Cluster a built-in table of 300 shop customers: 'partita cluster' on the file customers.csv that it writes."""
    with refusing():
        from partita.demo import CUSTOMERS, write_customers
        from partita.runs.folder import COMMAND, FILES
        from partita.runs.request import Request
        from partita.runs.run_folder import RunFolder

        folder = RunFolder(out, COMMAND, force)
        folder.refuse_others((*FILES, CUSTOMERS))
    with refusing(), writing_to(out):
        folder.prepare((*FILES, CUSTOMERS))
        with folder.writing_beside(CUSTOMERS) as (path,):
            write_customers(path)
    cluster_table(Request(table=out / CUSTOMERS, types={}, seed=seed), out, quiet=False, force=force)
