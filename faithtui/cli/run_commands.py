"""Commands that fill a store: a demonstration, imports, runs, and whether all is in order."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.options import (
    BaseUrlOption,
    ImageHostsOption,
    JsonOption,
    SplitOption,
    StoreOption,
    list_typed_options,
    make_timeout_option,
    merge_common_options,
)


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
