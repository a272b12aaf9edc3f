"""`faithtui measure`: conversations measured where they lie, into Parquet tables."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.judge_options import (
    AsPeerOption,
    BudgetTokensOption,
    BudgetUsdOption,
    ConcurrencyOption,
    ExtraBodyOption,
    ExtraHeaderOption,
    MaxTokensOption,
    MetricOptionsOption,
    PromptsOption,
    ReasoningEffortOption,
    SeedOption,
    StrategyOption,
    TemperatureOption,
    TopPOption,
)
from faithtui.cli.output import print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    BaseUrlOption,
    ImageHostsOption,
    make_timeout_option,
    merge_common_options,
    parse_path_as_typed,
)


def measure(
    context: typer.Context,
    source_path: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A file, a folder, a pattern, or an address such as s3://bucket/logs/*.parquet.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", parser=parse_path_as_typed, metavar="DIR", help="The results folder."
        ),
    ],
    metric: Annotated[str, typer.Option(metavar="NAME", help="The metric.")] = "turn-faithfulness",
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="JUDGE", help="The judge, as for `faithtui run`. [offline, or as set]"
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    temperature: TemperatureOption = None,
    top_p: TopPOption = None,
    seed: SeedOption = None,
    reasoning_effort: ReasoningEffortOption = None,
    max_tokens: MaxTokensOption = None,
    extra_body: ExtraBodyOption = None,
    extra_header: ExtraHeaderOption = None,
    strategy: StrategyOption = "evidence",
    option: MetricOptionsOption = None,
    as_peer: AsPeerOption = False,
    prompts: PromptsOption = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the data set. [the name of each file]"),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help="Format of the files; `auto` detects it."),
    ] = "auto",
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=COLUMN",
            help="Column or key that holds a part of a conversation, such as "
            "question=user_input; may be repeated.",
        ),
    ] = None,
    shard_size: Annotated[
        int | None,
        typer.Option(
            metavar="ROWS",
            help="Split Parquet files with more than ROWS rows into shards, at their row "
            "groups. [a file is a shard]",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="N/M|NAME",
            help="Measure only part N of M equal parts of all shards, such as 1/4, or the "
            "shard of this name.",
        ),
    ] = None,
    list_shards: Annotated[
        bool, typer.Option("--list-shards", help="Print the names of all shards and stop.")
    ] = False,
    wave: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Send nothing: read answers from DIR/answers and write the questions still to "
            "ask into DIR/questions, one file per shard, in the format of OpenAI's Batch "
            "API.",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of worker processes on this machine, or of Ray actors."
        ),
    ] = 1,
    on: Annotated[
        str, typer.Option(metavar="ENGINE", help="`local`, or `ray` with faithtui[ray].")
    ] = "local",
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of an existing Ray cluster, such as auto. [a local cluster for this "
            "command]",
        ),
    ] = None,
    concurrency: ConcurrencyOption = None,
    timeout: Annotated[float | None, make_timeout_option("120")] = None,
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_failures: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Stop a shard after N questions in a row with the same error. [10, or as set]",
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Measure failed conversations of finished shards again; stored replies are "
            "used, not paid for again.",
        ),
    ] = False,
    allow_image_host: ImageHostsOption = None,
    json: JsonOption = False,
) -> None:
    """Measure conversations in files and write Parquet tables, without a store.

    Each file is a shard. To continue after an interruption, run the same command again: finished
    shards are skipped, and no reply of a shard is paid for twice. Records that cannot be read or
    judged become rows with a reason. --concurrency applies to each worker, budgets to the whole
    results folder. Needs faithtui[parquet]. Exit code 5 if something failed, lacks a verdict or is
    incomplete, 8 if questions of --wave wait for answers.

    Example: faithtui measure logs/ -o results/ --judge openai:MODEL --workers 4
    """
    from faithtui.cli.commands.measure.progress import ShardProgressLine
    from faithtui.cli.commands.measure.summary import (
        choose_exit_code_of_shards,
        print_summary,
        summary_to_json,
    )
    from faithtui.cli.commands.run.run_requests import (
        make_requests,
        parse_budget_in_nano_dollars,
        read_failure_limit,
        read_typed_judge_parameters,
    )
    from faithtui.cli.run_settings import (
        check_judge_of_settings,
        make_run_environment_from_settings,
    )
    from faithtui.config import load_settings
    from faithtui.engine.calls.budget import NUSD
    from faithtui.engine.runs.request import RunRequest
    from faithtui.engine.shards import shard_source
    from faithtui.engine.shards.execution_backends import RAY
    from faithtui.engine.shards.manifest import reuse_stored_shard_names
    from faithtui.engine.shards.measure_settings import MeasureSettings
    from faithtui.engine.shards.measure_shards import MeasureRequest, measure_unfinished_shards
    from faithtui.formats.readers.datasets import FormatChoice
    from faithtui.formats.readers.values.suggestions import parse_map_options
    from faithtui.judges.deadlines import require_valid_timeout

    as_json = merge_common_options(context, None, json).json
    if list_shards:
        shards = shard_source.list_shards(
            source_path, source=source, shard_size=shard_size, results=output, wave=wave
        )
        for each in reuse_stored_shard_names(output, shards):
            print_text(each.name)
        return
    settings = load_settings()
    if judge is None:
        check_judge_of_settings(settings)
    environment = make_run_environment_from_settings(settings, allow_image_host or ())
    (request,) = make_requests(
        RunRequest(
            judge=settings.judge,
            base_url=settings.base_url if base_url is None and not judge else base_url,
        ),
        (metric,),
        () if judge is None else (judge,),
        option or (),
        settings.judges,
        read_typed_judge_parameters(
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            reasoning_effort=reasoning_effort,
            max_tokens=max_tokens,
            extra_body=extra_body,
            extra_headers=extra_header,
        ),
    )
    budget_nusd = parse_budget_in_nano_dollars(budget_usd)
    measure_request = MeasureRequest(
        source=source_path,
        results=output,
        settings=MeasureSettings(
            metric=request.metric,
            options={**request.options, "strategy": strategy, "as_peer": as_peer},
            prompts_dir=None if prompts is None else prompts.absolute(),
            judge=request.judge,
            base_url=request.base_url,
            profile=request.profile,
            redact=settings.redact,
            choice=FormatChoice(format_, parse_map_options(mapped or [])),
            concurrency=settings.concurrency if concurrency is None else concurrency,
            timeout_s=(
                settings.timeout_s
                if timeout is None
                else require_valid_timeout(timeout, "--timeout")
            ),
            budget_usd=None if budget_nusd is None else budget_nusd / NUSD,
            budget_tokens=budget_tokens,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
            max_failures=read_failure_limit(max_failures or settings.max_failures),
            prices=settings.prices,
            image_hosts=environment.image_hosts,
            wave=None if wave is None else wave.absolute(),
            retry_failed=retry_failed,
        ),
        name=source,
        shard_size=shard_size,
        shard=shard,
        workers=workers,
        on=on,
        ray_address=ray_address,
    )
    progress = ShardProgressLine()
    # Ray prints on stdout when it gives a shard to another worker; stdout is for the summary.
    with redirect_stdout(sys.stderr) if on == RAY else nullcontext():
        summary = measure_unfinished_shards(
            measure_request,
            progress,
            progress.set_and_print_shard_counts,
            progress.print_left_out_files,
        )
    progress.end()
    if as_json:
        print_json(summary_to_json(summary))
    print_summary(summary, with_line=not as_json)
    raise typer.Exit(choose_exit_code_of_shards(summary))
