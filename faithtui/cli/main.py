"""The `faithtui` command: its tree, its exit codes, and how errors are told.

`--help` must answer at once, so nothing heavy is imported here: each command imports what it needs
when it runs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

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
SplitOption = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="NAME",
        help="Only conversations of this split: train, dev or test.",
        show_default=False,
    ),
]
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
    code = commands.demo(
        options.store, no_app=no_app, as_json=options.json, reviewer=options.reviewer
    )
    raise typer.Exit(code)


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
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Show these where a verdict is asked for; see `faithtui export examples`.",
            show_default=False,
        ),
    ] = None,
    split: SplitOption = None,
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
        examples=examples,
        split=split,
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
    code = listing.show(
        options.store, run, conversation, filter_, options.reviewer, as_json=options.json
    )
    raise typer.Exit(code)


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
            help="md, json, html, csv, or several with commas. [md; with -o all]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write report.md, .json, .html and claims.csv there; else to stdout.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Put the texts of claims into the JSON too, and the passages of claims nobody "
            "labelled into the CSV.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")
    ] = 0.95,
    duplicates: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Of a claim in several windows the judge's label counts by: first_window, "
            "majority, worst or latest.",
        ),
    ] = "first_window",
    idk: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Keep `three` labels, or read them as faithful or not: strict (idk is faithful), "
            "lenient (it is not) or live (as the run's score has it).",
        ),
    ] = "three",
    interval: Annotated[
        str, typer.Option(metavar="KIND", help="Intervals by jackknife or bootstrap.")
    ] = "jackknife",
    resamples: Annotated[
        int, typer.Option(metavar="N", help="How often the bootstrap draws.")
    ] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="Of everything that is drawn.")] = 0,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Labels are a scale: add weighted figures.")
    ] = False,
    blind_only: Annotated[
        bool,
        typer.Option("--blind-only", help="Count labels only that were given blind."),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            help="The sample to rest on. [the one with the most labels]",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        float, typer.Option(metavar="WIDTH", help="Half-width at which labelling may stop.")
    ] = 0.1,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Another run, to compare the judges of both.", show_default=False
        ),
    ] = None,
    split: SplitOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report how far the judge agrees with people."""
    from faithtui.cli import reporting

    options = common(context, store, json)
    settings = reporting.settings_from(
        level=level,
        duplicates=duplicates,
        idk=idk,
        interval=interval,
        resamples=resamples,
        seed=seed,
        ordinal=ordinal,
        blind_only=blind_only,
        sample=sample,
        target=target,
    )
    code = reporting.report(
        options.store,
        run,
        formats=formats,
        output=output,
        text=text,
        settings=settings,
        compare=compare,
        split=split,
        reviewer=options.reviewer,
        as_json=options.json,
    )
    raise typer.Exit(code)


@app.command()
def figures(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files with human labels, one conversation a line."),
    ],
    together: Annotated[
        bool, typer.Option("--together", help="Count all files as one data set.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare the labels and judges' scores that came with data, without a store or a judge.

    People with each other: alpha, AC1, kappa of each pair. Each judge with people: Spearman,
    AUROC, balanced accuracy. docs/figures.md says how labels are counted.
    """
    from faithtui.cli import figures as commands

    options = common(context, None, json)
    raise typer.Exit(commands.figures(files, together=together, as_json=options.json))


@app.command()
def export(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="`labels`: what people said, as a bundle. `examples`: corrections as examples for "
            "a judge. `ragas`: reviewed answers as annotations that ragas trains from.",
        ),
    ],
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="A run's number, or `last`. [last]", show_default=False
        ),
    ] = None,
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
    only_run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="The same as RUN. Without either, labels of all runs.",
            show_default=False,
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
    everything: Annotated[
        bool,
        typer.Option("--all", help="Examples too where people agree with the judge."),
    ] = False,
    split: SplitOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="At most so many examples, drawn at random.", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed draws the same examples. [0]", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Export what people said, for other stores and for judges.

    A label bundle holds every act of every person with what it refers to; `faithtui merge` takes
    it in. Nothing else of the store is in it: no answers, no documents, no judge's reasons.

    Examples, one a line, hold a claim with its passages, both verdicts and the reasons, where
    people differ from the judge; `faithtui run --examples` shows them to a judge. Annotations for
    ragas hold the answers of which every statement has a verdict of people.
    """
    from faithtui.cli import exporting

    options = common(context, store, json)
    order = exporting.Order(
        what=what,
        run=run,
        only_run=only_run,
        output=output,
        reviewers=tuple(reviewer or ()),
        everything=everything,
        split=split,
        limit=limit,
        seed=seed,
        who=options.reviewer,
    )
    raise typer.Exit(exporting.export(options.store, order, as_json=options.json))


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
def split(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints it, `make` makes it, once and for all. [show]",
            show_default=False,
        ),
    ] = "show",
    shares: Annotated[
        str | None,
        typer.Option(
            metavar="T,D,T",
            help="Percent of the groups in train, dev and test. [60,20,20]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Another seed is another split. [0]", show_default=False),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who makes it. [the login name, or as set]"),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Split the conversations into train, dev and test, or show how they are split.

    Conversations of one group stay together, and later ones get their split by the same rule.
    Judges learn from train, are compared on dev and tested on test, where every look is counted.
    """
    from faithtui.cli import splitting

    options = common(context, store, json)
    person = reviewer or options.reviewer
    code = splitting.split(options.store, action, shares, seed, person, as_json=options.json)
    raise typer.Exit(code)


@app.command()
def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="The run before.")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="The run after.")],
    split: SplitOption = None,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who looks. [the login name, or as set]"),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs with people, on the claims that both judged and people labelled.

    Prints how accuracy and kappa change from A to B, with intervals over conversations, and how
    likely such a change is if nothing changed.
    """
    from faithtui.cli import changing

    options = common(context, store, json)
    person = reviewer or options.reviewer
    code = changing.compare(options.store, first, second, split, person, as_json=options.json)
    raise typer.Exit(code)


class _GateCommand(TyperCommand):
    """A command whose exit code 2 is an answer, so that a mistyped option must not give it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; what cannot be read ends with the code for broken."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # typer exports no name for all errors of usage
            if getattr(error, "exit_code", None) == 2:
                error.exit_code = 3  # type: ignore[attr-defined]  # just asked for
            raise


@app.command(cls=_GateCommand)
def gate(
    context: typer.Context,
    run: RunArgument,
    min_kappa: Annotated[
        float | None,
        typer.Option(metavar="X", help="Cohen's kappa, -1 to 1, at least.", show_default=False),
    ] = None,
    min_recall_no: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Share of what people call unfaithful that the judge finds, 0 to 1, at least.",
            show_default=False,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Share that passes, 0 to 1, as corrected by people's labels, at least.",
            show_default=False,
        ),
    ] = None,
    min_labels: Annotated[
        int | None,
        typer.Option(metavar="N", help="Labelled units, at least. [30]", show_default=False),
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            help="Days since the judge's verdicts and since the newest label, at most.",
            show_default=False,
        ),
    ] = None,
    lower: Annotated[
        bool | None,
        typer.Option(
            "--use-lower-bound/--point",
            help="What must reach a threshold: the lower end of the interval, or the value. "
            "[the lower end]",
            show_default=False,
        ),
    ] = None,
    among_labelled: Annotated[
        bool,
        typer.Option(
            "--among-labelled", help="Accept labels that are no random sample and not of all units."
        ),
    ] = False,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="`claims` or `answers`. [what the report speaks of first]",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this certificate; its thresholds hold unless others are named.",
            show_default=False,
        ),
    ] = None,
    write_certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a certificate if everything passes.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Say by the exit code whether a judge agrees with people well enough.

    0 passed, 1 below a threshold, 2 not enough labels, 3 stale or broken; of several the largest.
    docs/gate.md says what each number is, docs/ci.md has a workflow.
    """
    from faithtui.cli import gating

    options = common(context, store, json)

    def work() -> int:
        order = gating.order(
            kappa=min_kappa,
            recall_no=min_recall_no,
            score=min_score,
            labels=min_labels,
            age_days=max_age,
            lower=lower,
            among_labelled=among_labelled,
            level=level,
            certificate=certificate,
            write=write_certificate,
        )
        return gating.gate(options.store, run, order, as_json=options.json)

    raise typer.Exit(gating.guarded(work))


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
    code = checking.check(options.store, run, kind, options.reviewer, as_json=options.json)
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
    """Run the command of the command line.

    Raises:
        SystemExit: Always, with the exit code.
    """
    told(app)
