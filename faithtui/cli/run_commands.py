"""Commands that fill a store: a demonstration, imports, runs, and whether all is in order."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.options import (
    BaseUrlOption,
    ForceOption,
    ImageHostsOption,
    JsonOption,
    SplitOption,
    StoreOption,
    list_typed_options,
    make_timeout_option,
    merge_common_options,
)
from faithtui.errors import ConfigError


def demo(
    context: typer.Context,
    no_app: Annotated[
        bool, typer.Option("--no-app", help="Print a summary instead of opening the app.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Open a demo project: real conversations with human labels.

    The embedded judge has judged them. The project has a store of its own, which later calls
    reuse. Where stdout is no terminal, print a summary instead.

    Example: faithtui demo --no-app
    """
    from faithtui.cli.commands import demo as commands

    options = merge_common_options(context, store, json)
    code = commands.run_demo(
        options.store, no_app=no_app, as_json=options.json, reviewer=options.reviewer
    )
    raise typer.Exit(code)


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
            "--format",
            metavar="NAME",
            help="`auto`: one conversation a line, or a JSON array of them; `jsonl`: lines alone.",
        ),
    ] = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help="Import nothing when any line is refused.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import conversations, their contexts and human labels.

    Conversations that the store has already stay as they are. Exit code 3 if a line was
    refused; the other lines are imported all the same, unless --strict.

    Example: faithtui import conversations.jsonl
    """
    from faithtui.cli.commands import import_

    options = merge_common_options(context, store, json)
    code = import_.import_paths(
        options.store,
        paths,
        source=source,
        form=format_,
        strict=strict,
        as_json=options.json,
    )
    raise typer.Exit(code)


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
            help="The metric, or `all`; `faithtui metrics` lists them; may be repeated. "
            "[turn-faithfulness]",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="JUDGE",
            help="The judge: offline, openai:MODEL, anthropic:MODEL, ollama:MODEL, replay:FILE "
            "and others, see `faithtui judge list`; may be repeated. [offline, or as set]",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="`evidence` asks each question once, `window` asks per window as the peer does.",
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
            metavar="WHICH",
            help="`extracted` by the first judge for all of them, each judge's `own`, or "
            "`imported` with the data.",
        ),
    ] = "extracted",
    as_peer: Annotated[
        bool,
        typer.Option(
            "--as-peer", help="Score exactly as the peer does, its known faults included."
        ),
    ] = False,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Folder with your own prompt texts.", metavar="DIR", show_default=False),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Show these examples to the judge; see `faithtui export examples`.",
            show_default=False,
        ),
    ] = None,
    split: SplitOption = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most so many conversations.", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="Questions in flight at once. [8, or as set]")
    ] = None,
    timeout: Annotated[float | None, make_timeout_option("120")] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            metavar="USD", help="Stop before a run costs more, in dollars.", show_default=False
        ),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Stop before a run uses more tokens.", show_default=False),
    ] = None,
    max_failures: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Stop after N questions in a row with the same error, or when more than P% of the "
            "conversations failed. [10, or as set]",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue a run; questions that failed or lack a verdict are asked again. "
            "Takes --concurrency, --timeout, --budget-usd, --budget-tokens, --max-failures, "
            "--wait, --log-prompts, --allow-image-host and --preview.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Send the questions to the provider's Batch API: cheaper, replies within a day.",
        ),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            help="With batches: wait, and ask the provider every minute until the run is done.",
        ),
    ] = False,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Print the number of calls, tokens and the cost, and ask nothing."
        ),
    ] = False,
    log_prompts: Annotated[
        bool,
        typer.Option("--log-prompts", help="Write questions and replies into a separate log file."),
    ] = False,
    allow_image_host: ImageHostsOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Run metrics over the imported conversations.

    Several metrics run one after the other over the same selection. A question that they
    share is asked once, and several judges judge the same claims. Progress goes to stderr.
    Ctrl-C waits for replies in flight and stores them; --resume continues the run. Exit code
    5 if the run ended incomplete (it stopped, conversations failed, or claims have no
    verdict), 8 if it waits for a batch.

    Example: faithtui run --judge openai:MODEL --budget-usd 2
    """
    from faithtui.cli.commands.run import run

    options = merge_common_options(context, store, json)
    if resume is not None:
        run.refuse_options_beside_resume(list_typed_options(context), preview=preview)
    order = run.RunOptions(
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
        timeout_s=timeout,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_failures=max_failures,
        batch=batch,
        wait=wait,
        preview=preview,
        log_prompts=log_prompts,
        image_hosts=tuple(allow_image_host or ()),
    )
    raise typer.Exit(
        run.start_or_resume_runs(options.store, order, resume=resume, as_json=options.json)
    )


def doctor(
    context: typer.Context,
    judge: Annotated[
        str | None,
        typer.Option(metavar="JUDGE", help="Ask this judge two questions.", show_default=False),
    ] = None,
    base_url: BaseUrlOption = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Send nothing over a network.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            "--debug",
            metavar="FILE",
            help="Write what an error report needs into a zip file: no key, no text of yours.",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
    salvage: Annotated[
        Path | None,
        typer.Option(
            metavar="NEW",
            help="Copy what can be read of a damaged store into a new store.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Check the store, the keys, a judge and the terminal.

    Keys are looked up and never shown.

    Example: faithtui doctor --judge openai:MODEL
    """
    from faithtui.cli.commands.doctor import doctor as checks

    options = merge_common_options(context, store, json)
    if salvage is not None:
        from faithtui.cli.commands.backup import salvage_store

        raise typer.Exit(salvage_store(options.store, salvage, as_json=options.json))
    if bundle is not None:
        from faithtui.cli.commands.doctor.debug_bundle import write_bundle

        raise typer.Exit(write_bundle(bundle, options.store, force=force))
    raise typer.Exit(
        checks.run_doctor(options.store, judge, base_url, offline=offline, as_json=options.json)
    )


def backup(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where the copy goes.", show_default=False)
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Replace the store by this copy; the store is kept beside it.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Copy the store while everything runs, or restore a copy.

    A copy is opened and checked before it is kept, and never replaces another file.

    Example: faithtui backup copy.db
    """
    from faithtui.cli.commands import backup as copies

    options = merge_common_options(context, store, json)
    if file is not None and restore is not None:
        raise ConfigError("a copy is made with FILE or put back with --restore FILE, not both")
    if restore is not None:
        raise typer.Exit(copies.restore_backup(options.store, restore, as_json=options.json))
    if file is None:
        raise ConfigError("name a file for the copy, or a copy to put back with --restore FILE")
    raise typer.Exit(copies.make_backup(options.store, file, as_json=options.json))
