"""The `faithtui` command: its tree, its exit codes, and how errors are told.

`--help` must answer at once, so nothing heavy is imported here: each command imports what it needs
when it runs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.telling import told

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
    reviewer: str | None = None
    """Who gives verdicts, of the commands that ask; only before a command's name."""


StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="The store to use.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's number, or `last`.")]


def common(context: typer.Context, store: Path | None, json: bool) -> Common:
    """Merge options given before a command's name with those given after it."""
    before: Common = context.obj
    return Common(store or before.store, json or before.json, before.reviewer)


@app.callback()
def root(
    context: typer.Context,
    store: StoreOption = None,
    json: JsonOption = False,
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who gives verdicts. [the login name, or as set]",
            show_default=False,
        ),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Review what an LLM judge said about faithfulness, and say how far it can be trusted.

    Without a command it opens the app.
    """
    context.obj = Common(store, json, reviewer)
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("faithtui"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        from faithtui.cli import opening

        raise typer.Exit(opening.open_app(store, reviewer))


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
def keys(
    context: typer.Context,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Key map that comes with faithtui; else the one that the app begins with.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the keys of the app with the names that `keymap.toml` calls them by."""
    from faithtui.cli import keys as commands

    options = common(context, None, json)
    raise typer.Exit(commands.keys(preset, as_json=options.json))


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
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="TEXT",
            help="Only what words or terms such as verdict:no find; docs/filters.md has them all.",
            show_default=False,
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
    raise typer.Exit(listing.show(options.store, run, conversation, filter_, as_json=options.json))


@app.command()
def label(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run's number, or `last`.", show_default=False)
    ] = "last",
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Line by line instead of the app: for screen readers and pipes."
        ),
    ] = False,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="A sample's number, or what to draw: new, simple, stratified, conversations, "
            "spot-check or repeats. [the newest with something left]",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Claims of a new sample, or conversations. [100, or 10]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed draws the same claims. [a new one]", show_default=False
        ),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Equal parts of each stratum, made of verdict, turn, model, disagreement, flip, "
            "or several with commas.",
            show_default=False,
        ),
    ] = None,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--shown",
            help="Hide the judge until a claim is answered. [blind, or as set]",
            show_default=False,
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who labels. [the login name, or as set]"),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="`drawn`, or `text`: every claim of the run as it comes, which is no sample.",
        ),
    ] = "drawn",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Label claims, one after the other, in the app or line by line.

    With --plain, and with --json, one claim and one prompt at a time on stdout, answers on stdin,
    a line each; `?` lists the keys. Each answer is stored before the next claim comes.
    """
    from faithtui.cli import labelling

    options = common(context, store, json)
    person = reviewer or options.reviewer
    wanted = labelling.LabelOrder(sample, size, seed, stratify, blind, person, order)
    code = labelling.label(options.store, run, wanted, plain=plain, as_json=options.json)
    raise typer.Exit(code)


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
def export(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="`labels`: what people said, as a bundle.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write there; else to stdout.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Only labels of claims that this run judged.", show_default=False
        ),
    ] = None,
    reviewer: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer",
            metavar="NAME",
            help="Only labels of this person; may be repeated.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Export what can be taken into other stores.

    A label bundle holds every act of every person with what it refers to; `faithtui merge` takes
    it in. Nothing else of the store is in it: no answers, no documents, no judge's reasons.
    """
    from faithtui.cli import bundling

    options = common(context, store, json)
    code = bundling.export(
        options.store,
        what,
        output,
        run=run,
        reviewers=tuple(reviewer or ()),
        as_json=options.json,
    )
    raise typer.Exit(code)


@app.command()
def merge(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Bundles of `faithtui export labels`.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Merge what people said in other stores into this one.

    Nothing conflicts: merging in any order, or twice, gives the same state, whose name is printed.
    Exit code 3 when a conversation is not here or a line was refused; the rest is merged.
    """
    from faithtui.cli import bundling

    options = common(context, store, json)
    raise typer.Exit(bundling.merge(options.store, files, as_json=options.json))


@app.command()
def guideline(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints the one in force, `set` puts another one in force, `history` lists "
            "all versions. [show]",
            show_default=False,
        ),
    ] = "show",
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="With `set`: the text; - is stdin.", show_default=False
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who sets it. [the login name, or as set]"),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show or set the text that says how to judge. Labels name the version that was in force."""
    from faithtui.cli import guideline as commands

    options = common(context, store, json)
    person = reviewer or options.reviewer
    code = commands.guideline(options.store, action, file, person, as_json=options.json)
    raise typer.Exit(code)


@app.command()
def check(
    context: typer.Context,
    run: RunArgument,
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="List the entries of one kind, such as flip.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Look for what seems wrong in what the judge said: missing verdicts, flips, lost facts, ….

    Conversations judged since the last time are checked first; that can be interrupted and goes
    on where it stopped. With --json the entries are printed too.
    """
    from faithtui.cli import checking

    options = common(context, store, json)
    raise typer.Exit(checking.check(options.store, run, kind, as_json=options.json))


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
    """Run the command of the command line.

    Raises:
        SystemExit: Always, with the exit code.
    """
    told(app)
