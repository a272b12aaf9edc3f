"""`faithtui run`: judge conversations, or go on with a run."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
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
    JudgesOption,
    MaxTokensOption,
    MetricOptionsOption,
    PromptsOption,
    ReasoningEffortOption,
    SeedOption,
    StrategyOption,
    TemperatureOption,
    TopPOption,
)
from faithtui.cli.output import print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    BaseUrlOption,
    ImageHostsOption,
    SplitOption,
    StoreOption,
    list_typed_options,
    make_timeout_option,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import PATIENCE_S, open_store, read_run_id
from faithtui.errors import ConfigError

_BESIDE_PREVIEW = frozenset(
    ("--concurrency", "--timeout", "--budget-usd", "--budget-tokens", "--max-failures", "--wait")
)
"""Options that say how a run goes on, of which a preview of its rest makes nothing."""
_BESIDE_RESUME = _BESIDE_PREVIEW.union(
    (
        "--resume",
        "--preview",
        "--log-prompts",
        "--record",
        "--allow-image-host",
        "--store",
        "--json",
        "--quiet",
        "--verbose",
        "--color",
    )
)
"""What may stand there. All other options say what a run is, and that was said at its start."""


def run(
    context: typer.Context,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="NAME", help="Only this data set; may be repeated."),
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
    judge: JudgesOption = None,
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
    claims: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="Which claims to judge: `extracted` by the first judge and judged by all, "
            "`own` extracted by each judge, `imported` with the data, `run:N` of an "
            "earlier run, or `set:NAME` of a claim set.",
        ),
    ] = "extracted",
    as_peer: AsPeerOption = False,
    prompts: PromptsOption = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Show these examples to the judge; see `faithtui export examples`."
        ),
    ] = None,
    split: SplitOption = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Judge at most N conversations.")
    ] = None,
    concurrency: ConcurrencyOption = None,
    timeout: Annotated[float | None, make_timeout_option("120")] = None,
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_failures: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Stop after N questions in a row with the same error, or when more than P% of the "
            "conversations failed. [10, or as set]",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue a run; questions that failed or lack a verdict are asked again. "
            "Takes --concurrency, --timeout, --budget-usd, --budget-tokens, --max-failures, "
            "--wait, --log-prompts, --record, --allow-image-host and --preview.",
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
            "--preview", help="Print the number of calls and tokens and the cost, and send nothing."
        ),
    ] = False,
    log_prompts: Annotated[
        bool,
        typer.Option("--log-prompts", help="Write questions and replies into a separate log file."),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(
            parser=parse_path_as_typed,
            metavar="FILE",
            help="Write every reply into a file that the judge replay:FILE answers from; an "
            "existing file of the same judge is continued.",
        ),
    ] = None,
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
    from faithtui.cli.commands.run.execution import (
        execute_run_with_progress_and_choose_exit_code,
        execute_runs_in_turn_and_choose_exit_code,
    )
    from faithtui.cli.commands.run.preview import show_preview
    from faithtui.cli.commands.run.run_requests import (
        make_requests,
        parse_budget_in_nano_dollars,
        read_failure_limit,
        read_typed_judge_parameters,
        resolve_claims_option,
        update_limits_of_resumed_run,
        warn_of_blocked_images,
    )
    from faithtui.cli.run_settings import (
        check_judge_of_settings,
        make_run_environment_from_settings,
    )
    from faithtui.config import load_settings
    from faithtui.engine.review.samples.store_split import parse_split
    from faithtui.engine.runs.request import RunRequest
    from faithtui.engine.runs.run_planner import save_planned_runs
    from faithtui.judges.deadlines import require_valid_timeout
    from faithtui.judges.reply_recorder import ReplyRecorder
    from faithtui.logbook import PROMPTS_FILE, open_log
    from faithtui.paths import expand_home, log_dir

    options = merge_common_options(context, store, json)
    if resume is not None:
        _refuse_options_beside_resume(list_typed_options(context), preview=preview)
    settings = load_settings()
    if not judge and resume is None:
        check_judge_of_settings(settings)
    environment = replace(
        make_run_environment_from_settings(settings, allow_image_host or ()),
        log_prompts=log_prompts,
    )
    if timeout is not None:
        environment = replace(
            environment, typed_timeout_s=require_valid_timeout(timeout, "--timeout")
        )
    if record is not None and (batch or preview):
        other = "--batch" if batch else "--preview"
        raise ConfigError(
            f"--record writes replies as they come, and {other} gets none: leave out one of the two"
        )
    if record is not None and len(judge or ()) > 1:
        raise ConfigError(
            "--record takes one judge, whose replies the file then holds: run each --judge by "
            "itself, with a file of its own"
        )
    open_log(log_dir(), prompts=log_prompts)
    if log_prompts:
        print_to_stderr(f"questions and answers are written to {log_dir() / PROMPTS_FILE}")
    request = RunRequest(
        judge=settings.judge,
        base_url=settings.base_url if base_url is None and not judge else base_url,
        strategy=strategy,
        claims=claims,
        as_peer=as_peer,
        prompts_dir=prompts,
        examples=examples,
        sources=tuple(source or ()),
        split=parse_split(split),
        limit=limit,
        concurrency=settings.concurrency if concurrency is None else concurrency,
        budget_nusd=parse_budget_in_nano_dollars(budget_usd),
        budget_tokens=budget_tokens,
        max_failures=read_failure_limit(max_failures or settings.max_failures),
        batch=batch,
    )
    requests = (
        ()
        if resume is not None
        else make_requests(
            request,
            metric or (),
            judge or (),
            option or (),
            settings.judges,
            read_typed_judge_parameters(
                temperature=temperature,
                top_p=top_p,
                seed=seed,
                reasoning_effort=reasoning_effort,
                max_tokens=max_tokens,
                timeout_s=None if timeout is None else str(timeout),
                extra_body=extra_body,
                extra_headers=extra_header,
            ),
        )
    )
    with (
        open_store(options.store, settings, busy_timeout_s=PATIENCE_S) as opened,
        nullcontext() if record is None else ReplyRecorder(expand_home(record)) as recorder,
    ):
        environment = replace(environment, recorder=recorder)
        resumed = None if resume is None else read_run_id(opened, resume)
        requests = resolve_claims_option(opened, requests)
        if preview:
            runs = () if resumed is None else (resumed,)
            show_preview(opened, requests, runs, environment, as_json=options.json)
            return
        if resumed is not None:
            if recorder is not None:
                spec = opened.runs.read_run(resumed).spec
                recorder.refuse_other_judge_than_recorded(spec.judge, spec.judge_fingerprint)
            update_limits_of_resumed_run(
                opened,
                resumed,
                environment,
                concurrency=concurrency,
                budget_nusd=request.budget_nusd,
                budget_tokens=request.budget_tokens,
                max_failures=None if max_failures is None else read_failure_limit(max_failures),
            )
            code = execute_run_with_progress_and_choose_exit_code(
                opened,
                resumed,
                as_json=options.json,
                retry_unfinished=True,
                environment=environment,
                wait=wait,
                concurrency=concurrency,
            )
        else:
            planned = save_planned_runs(opened, requests, environment)
            warn_of_blocked_images(opened, planned)
            code = execute_runs_in_turn_and_choose_exit_code(
                opened, planned, environment, wait=wait, as_json=options.json
            )
    raise typer.Exit(code)


def _refuse_options_beside_resume(typed: Iterable[str], *, preview: bool) -> None:
    """Refuse options that a run that goes on would pass over.

    Args:
        typed: Names of all options that were typed, `--resume` among them.
        preview: Whether the rest of the run is only to be told.

    Raises:
        ConfigError: There are such options.
    """
    typed = list(typed)
    others = [each for each in typed if each not in _BESIDE_RESUME]
    if others:
        raise ConfigError(
            f"--resume continues a run as it was started, and {', '.join(others)} would change "
            "nothing of it: leave that out, or begin another run without --resume"
        )
    passed_over = [each for each in typed if preview and each in _BESIDE_PREVIEW]
    if passed_over:
        raise ConfigError(
            f"--preview shows what is left of a run and changes nothing: leave out "
            f"{', '.join(passed_over)}, or leave out --preview"
        )
