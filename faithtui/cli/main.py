"""The `faithtui` command: its tree, its exit codes, and how errors are told.

`--help` must answer at once, so nothing heavy is imported here: each command imports what it needs
when it runs.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from faithtui.errors import FaithtuiError

INTERRUPTED = 130

app = typer.Typer(
    name="faithtui",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(slots=True)
class Common:
    """Options that every command takes, before or after its name."""

    store: Path | None
    json: bool


StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="The store to use.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's number, or `last`.")]


def common(context: typer.Context, store: Path | None, json: bool) -> Common:
    """Merge options given before a command's name with those given after it."""
    before: Common = context.obj
    return Common(store or before.store, json or before.json)


@app.callback()
def root(
    context: typer.Context,
    store: StoreOption = None,
    json: JsonOption = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Review what an LLM judge said about faithfulness, and say how far it can be trusted.

    Without a command it opens the app.
    """
    context.obj = Common(store, json)
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("faithtui"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        from faithtui.cli import opening

        raise typer.Exit(opening.open_app(store))


@app.command()
def demo(
    context: typer.Context,
    no_app: Annotated[
        bool, typer.Option("--no-app", help="Print a summary instead of opening the app.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Open a project of real, human-rated conversations, judged by the embedded judge.

    It lives in a store of its own and is used again next time. When stdout is no terminal, the
    summary is printed instead.
    """
    from faithtui.cli import demo as commands

    options = common(context, store, json)
    raise typer.Exit(commands.demo(options.store, no_app=no_app, as_json=options.json))


@app.command("import")
def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, or folders of *.jsonl files.")
    ],
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the data set; else each file's name.", show_default=False
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="`auto`, or `jsonl`: one conversation a line."
        ),
    ] = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help="Import nothing when any line is refused.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import conversations with their contexts and human labels.

    What is there already stays as it is. Exit code 3 when a line was refused; the good lines are
    imported all the same, unless --strict.
    """
    from faithtui.cli import importing

    options = common(context, store, json)
    code = importing.import_paths(
        options.store,
        paths,
        source=source,
        form=format_,
        strict=strict,
        as_json=options.json,
    )
    raise typer.Exit(code)


@app.command()
def run(
    context: typer.Context,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME",
            help="Only this data set; may be repeated.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="What to measure, or `all`; `faithtui metrics` lists them; may be repeated. "
            "[turn-faithfulness]",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="JUDGE",
            help="Who judges: offline, openai:MODEL, anthropic:MODEL or replay:FILE; may be "
            "repeated. [offline, or as set]",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible server.", metavar="URL", show_default=False),
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="`evidence` asks everything once, `window` as the peer does."
        ),
    ] = "evidence",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the metrics that have it, such as window_size=5, or of one, such as "
            "ragas-faithfulness.batch_size=4; may be repeated.",
        ),
    ] = None,
    claims: Annotated[
        str,
        typer.Option(
            metavar="WHICH", help="`extracted` by the judge, or `imported` with the data."
        ),
    ] = "extracted",
    as_peer: Annotated[
        bool, typer.Option("--as-peer", help="The peer's arithmetic, oddities included.")
    ] = False,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Folder with your own prompt texts.", metavar="DIR", show_default=False),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most so many conversations.", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="Questions in the air at once. [8, or as set]")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Go on with a run, failed ones included.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Run metrics over the imported conversations.

    Several run one after the other over the same selection; questions that they share are asked
    once. Progress goes to stderr. Ctrl-C is safe: what was answered is stored, and --resume goes
    on. Exit code 5 when the judge failed on some conversations.
    """
    from faithtui.cli import running

    options = common(context, store, json)
    order = running.Order(
        metrics=tuple(metric or ()),
        judges=tuple(judge or ()),
        base_url=base_url,
        strategy=strategy,
        options=tuple(option or ()),
        claims=claims,
        as_peer=as_peer,
        prompts=prompts,
        sources=tuple(source or ()),
        limit=limit,
        concurrency=concurrency,
    )
    raise typer.Exit(running.run(options.store, order, resume=resume, as_json=options.json))


@app.command()
def metrics(
    context: typer.Context,
    metric: Annotated[
        str | None,
        typer.Argument(
            metavar="[METRIC]", help="One of them, with its options.", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the metrics, or the options of one."""
    from faithtui.cli import metrics as listed

    raise typer.Exit(listed.metrics(metric, as_json=common(context, None, json).json))


@app.command()
def runs(context: typer.Context, store: StoreOption = None, json: JsonOption = False) -> None:
    """List the runs, newest first."""
    from faithtui.cli import listing

    options = common(context, store, json)
    raise typer.Exit(listing.runs(options.store, as_json=options.json))


@app.command()
def show(
    context: typer.Context,
    run: RunArgument,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONVERSATION]", help="Its id or its number in the run.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show a run's conversations, or one conversation's claims with their evidence.

    Of a conversation that several runs have judged, all metrics are put side by side.
    """
    from faithtui.cli import listing

    options = common(context, store, json)
    raise typer.Exit(listing.show(options.store, run, conversation, as_json=options.json))


@app.command()
def report(
    context: typer.Context,
    run: RunArgument,
    formats: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="NAMES",
            help="md, json, csv, or several with commas. [md; with -o all]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write report.md, report.json and claims.csv there; else to stdout.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Put the texts of claims into the JSON too.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report how far the judge agrees with people."""
    from faithtui.cli import reporting

    options = common(context, store, json)
    code = reporting.report(
        options.store, run, formats=formats, output=output, text=text, as_json=options.json
    )
    raise typer.Exit(code)


@app.command()
def doctor(
    context: typer.Context,
    judge: Annotated[
        str | None,
        typer.Option(metavar="JUDGE", help="Ask this judge one question.", show_default=False),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible server.", metavar="URL", show_default=False),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Check the store, the keys (never shown), a judge and the terminal."""
    from faithtui.cli import doctor as checks

    options = common(context, store, json)
    raise typer.Exit(checks.doctor(options.store, judge, base_url, as_json=options.json))


def main() -> None:
    """Run the command; errors that a person can mend become one sentence and an exit code."""
    try:
        app()
    except FaithtuiError as error:
        from faithtui.domain.plain import visible

        print(f"error: {visible(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell, and flushing would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
