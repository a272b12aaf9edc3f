"""A whole source measured into a results folder: planned, checked, and given to workers."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, JudgeProfile
from faithtui.domain.text.suggestions import format_known_names
from faithtui.engine.calls.budget import NO_EXPENSE, NUSD, Expense
from faithtui.engine.interrupts import (
    run_until_done_or_cancelled_twice,
    run_until_done_or_interrupted,
)
from faithtui.engine.library.judge_session import CONCURRENCY
from faithtui.engine.shards.execution_backends import BACKENDS, LOCAL, RAY
from faithtui.engine.shards.journal import delete_leftover_journal, sum_reply_costs_of_journal
from faithtui.engine.shards.local_measure_workers import (
    ProgressSink,
    measure_shards_in_processes,
    measure_shards_in_turn,
)
from faithtui.engine.shards.manifest import reuse_stored_shard_names, write_or_extend_manifest
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.measure_worker import ShardOutcome
from faithtui.engine.shards.results_schema import (
    JOURNAL,
    get_table_file,
    list_finished_shards,
    require_pyarrow,
)
from faithtui.engine.shards.shard_source import (
    Shard,
    check_address_has_no_key,
    is_object_store_address,
    list_shards,
    select_shards,
)
from faithtui.engine.shards.table_reader import count_failed_conversations
from faithtui.errors import ConfigError, InputError
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.formats.readers.registry import AUTO, get_reader_by_name
from faithtui.judges.providers.api_keys import explain_how_to_provide_key
from faithtui.judges.registry import find_missing_key_variable
from faithtui.output_files import refuse_name_of_stdout
from faithtui.paths import expand_home


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """Which shards of a source are measured, and where."""

    source: str
    results: Path
    settings: MeasureSettings
    name: str | None = None
    """Name of the data set; None: as an import names each file."""
    shard_size: int | None = None
    """Rows of a shard, where large Parquet files are cut; None: a file is a shard."""
    shard: str | None = None
    """Only this one: its name, or `N/M` for the Nth of M equal parts of all."""
    workers: int = 1
    on: str = LOCAL
    ray_address: str | None = None
    """An existing cluster; None: one of this machine is begun and ended."""


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """What became of the shards of a source."""

    results: Path
    shards: int
    """Of the source, or of the part of it that was ordered."""
    whole: int
    """Of these, with all their files."""
    outcomes: tuple[ShardOutcome, ...]
    """Of the shards that were worked on, in order of name; what was whole before is none."""

    @property
    def conversations(self) -> int:
        """Conversations of these shards that are finished."""
        return sum(each.conversations for each in self.outcomes)

    @property
    def conversations_before(self) -> int:
        """Of these, that were finished before."""
        return sum(each.conversations_before for each in self.outcomes)

    @property
    def failed(self) -> int:
        """Of these, that have a reason and no score because something went wrong."""
        return sum(each.failed for each in self.outcomes)

    @property
    def incomplete(self) -> int:
        """Of these, that lack a verdict."""
        return sum(each.incomplete for each in self.outcomes)

    @property
    def waiting(self) -> int:
        """Questions in files that wait for answers."""
        return sum(each.waiting for each in self.outcomes)

    @property
    def calls(self) -> int:
        """Calls of the judge."""
        return sum(each.calls for each in self.outcomes)

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost; None: the price of one is not known."""
        costs = [each.cost_usd for each in self.outcomes]
        known = [each for each in costs if each is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def problems(self) -> tuple[str, ...]:
        """Why shards ended early, each reason once."""
        return tuple(dict.fromkeys(each.problem for each in self.outcomes if each.problem))

    @property
    def is_whole(self) -> bool:
        """Whether every shard is whole."""
        return self.whole == self.shards


def measure_shards(
    source: str | Path,
    results: str | Path,
    metric: str = "turn-faithfulness",
    judge: str = "offline",
    *,
    options: Mapping[str, object] | None = None,
    prompts_dir: Path | None = None,
    base_url: str | None = None,
    profile: JudgeProfile | None = None,
    name: str | None = None,
    format: str = "auto",
    shard: str | None = None,
    shard_size: int | None = None,
    wave: str | Path | None = None,
    workers: int = 1,
    on: str = LOCAL,
    ray_address: str | None = None,
    concurrency: int = CONCURRENCY,
    timeout_s: float | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    retry_failed: bool = False,
    on_progress: ProgressSink = lambda outcome: None,
) -> MeasureSummary:
    """Measure conversations where they lie, shard by shard, into Parquet files.

    Called again after whatever ended it, it goes on: whole shards are skipped, and no reply is
    bought twice. The first interrupt ends the asking and keeps what was answered.

    Args:
        source: A file, a folder, a pattern, or such an address as `s3://bucket/logs/*.parquet`.
        results: Folder for the results; see docs/scale.md.
        metric: Key of a metric.
        judge: `offline`, `openai:MODEL` or another reference.
        options: Options of the metric by the peer's names.
        prompts_dir: Folder with prompt texts of your own.
        base_url: Another server that speaks the judge's protocol.
        profile: Parameters that a provider's model is asked with; None: temperature 0.
        name: Name of the data set; None: as an import names each file.
        format: What the files are; `auto` finds out.
        shard: Only this one: its name, or `N/M` for the Nth of M equal parts of all.
        shard_size: Parquet files with more rows are cut between row groups.
        wave: Folder of questions and answers in files, for judges that serve files: nobody is
            asked, answers there are read, and what is to be asked next is written.
        workers: Processes, or actors of Ray.
        on: `local` or `ray`.
        ray_address: An existing Ray cluster; None: one of this machine.
        concurrency: Questions in flight at once, of each worker.
        timeout_s: Seconds one question may take.
        budget_usd: What all shards together may cost in US dollars, with what they cost before.
        budget_tokens: Tokens they may use.
        requests_per_minute: Most requests of all workers together.
        tokens_per_minute: Most tokens.
        retry_failed: Measure failed conversations of whole shards again, with the replies that
            are there.
        on_progress: Called with the totals of a shard from time to time.

    Returns:
        What became of the shards.

    Raises:
        ConfigError: Settings that cannot be, or the folder has results of other settings.
        InputError: The source cannot be read.
        ExportError: The folder cannot be written.

    Example:
        >>> from faithtui import measure_shards
        >>> summary = measure_shards("logs/", "results/", judge="offline")  # doctest: +SKIP
    """
    request = MeasureRequest(
        source=str(source),
        results=Path(results),
        settings=MeasureSettings(
            metric=metric,
            options=dict(options or {}),
            prompts_dir=prompts_dir,
            judge=judge,
            base_url=base_url,
            profile=DEFAULT_PROFILE if profile is None else profile,
            choice=FormatChoice(format),
            concurrency=concurrency,
            timeout_s=timeout_s,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            wave=None if wave is None else Path(wave).absolute(),
            retry_failed=retry_failed,
        ),
        name=name,
        shard_size=shard_size,
        shard=shard,
        workers=workers,
        on=on,
        ray_address=ray_address,
    )
    return measure_unfinished_shards(request, on_progress)


def measure_unfinished_shards(
    request: MeasureRequest,
    on_progress: ProgressSink = lambda outcome: None,
    on_plan: Callable[[int, int], None] = lambda shards, whole: None,
    on_left_out: Callable[[Mapping[str, int]], None] = lambda counts: None,
) -> MeasureSummary:
    """Check a request, write the manifest, and measure what is not whole.

    Args:
        request: What is measured.
        on_progress: Called with the totals of a shard from time to time.
        on_plan: Called before the first question with how many shards there are, and how many are
            whole.
        on_left_out: Called with how many files of the source are no logs, by the folder that
            faithtui wrote them into.

    Raises:
        FaithtuiError: As `measure_shards`.
    """
    require_pyarrow()
    # A path has one slash where an address has two.
    check_address_has_no_key(str(request.results))
    if is_object_store_address(str(request.results).replace(":/", "://", 1)):
        raise ConfigError(
            f"results go into a folder of a file system, and {request.results} is an address: "
            "journals of shards under way are locked and grow there. Name a folder with -o, and "
            "copy it when its shards are whole, such as by `aws s3 sync`; "
            "`faithtui sample` reads it from where it is then"
        )
    if request.workers < 1:
        raise ConfigError(f"there are {request.workers} workers; expected 1 or more")
    if request.on not in BACKENDS:
        known = format_known_names(request.on, BACKENDS)
        raise ConfigError(f"there is no engine `{request.on}`; known: {known}")
    refuse_name_of_stdout(request.results, "folder")
    settings, results = request.settings, expand_home(request.results).absolute()
    if settings.max_failures.share is not None:
        raise ConfigError(
            f"--max-failures is {settings.max_failures}, and nobody knows how many conversations "
            "there are before they are read; give a number of questions in a row, such as 10"
        )
    if request.on == RAY:
        from faithtui.engine.shards.ray_measure_workers import require_ray

        require_ray()
    elif request.ray_address is not None:
        raise ConfigError("--ray-address goes with --on ray; leave it out, or add --on ray")
    settings.make_asking_options()
    if settings.choice.name != AUTO:
        get_reader_by_name(settings.choice.name)
    described = settings.to_manifest_json()
    if settings.wave is None:
        check_judge_key_and_headers(settings)
    every = list_shards(
        request.source,
        source=request.name,
        shard_size=request.shard_size,
        results=results,
        wave=settings.wave,
        on_left_out=on_left_out,
    )
    every = reuse_stored_shard_names(results, every)
    shards = every if request.shard is None else select_shards(every, request.shard)
    write_or_extend_manifest(results, described, request.source, request.shard_size, every)
    whole = set(list_finished_shards(results))
    if settings.retry_failed:
        wanted = whole.intersection(each.name for each in shards)
        whole = {each for each in wanted if not _may_have_failed(results, each)}
    waiting = [each for each in shards if each.name not in whole]
    for each in shards:
        if each.name in whole:
            delete_leftover_journal(results, each.name)
    on_plan(len(shards), len(shards) - len(waiting))
    outcomes = _measure_on_workers(request, results, waiting, on_progress) if waiting else []
    done = sum(get_table_file(results, "conversations", each.name).exists() for each in shards)
    return MeasureSummary(
        results, len(shards), done, tuple(sorted(outcomes, key=lambda each: each.shard))
    )


def _may_have_failed(results: Path, shard: str) -> bool:
    """Say whether a whole shard has failed conversations, or a table that cannot be read.

    Of the latter its worker says why, and the other shards are measured.
    """
    try:
        return count_failed_conversations(results, shard) > 0
    except InputError:
        return True


def check_judge_key_and_headers(settings: MeasureSettings) -> None:
    """See that the judge has the key and the headers that it needs.

    Raises:
        ConfigError: Something of it is missing.
    """
    judge = settings.build_metric().judge or settings.judge
    settings.profile.resolve_headers(os.environ)
    key = find_missing_key_variable(judge, settings.base_url)
    if key is not None:
        raise ConfigError(
            f"{judge} needs a key: {explain_how_to_provide_key(key)}, or use --judge offline, "
            "which "
            "needs none"
        )


def _measure_on_workers(
    request: MeasureRequest, results: Path, waiting: Sequence[Shard], on_progress: ProgressSink
) -> list[ShardOutcome]:
    settings = request.settings
    spent = sum_reply_costs_of_results(results) if settings.has_budget else NO_EXPENSE
    if request.workers > 1:
        # A large one that begins last is measured while the other workers have nothing to do.
        waiting = sorted(waiting, key=lambda each: each.size * each.share, reverse=True)

    async def measure_until(stop: asyncio.Event) -> list[ShardOutcome]:
        if request.on == RAY:
            from faithtui.engine.shards.ray_measure_workers import measure_on_ray

            return await measure_on_ray(
                settings,
                waiting,
                results,
                spent,
                on_progress,
                stop,
                request.workers,
                request.ray_address,
            )
        if request.workers > 1:
            return await measure_shards_in_processes(
                settings, waiting, results, spent, on_progress, stop, request.workers
            )
        return await measure_shards_in_turn(settings, waiting, results, spent, on_progress, stop)

    return run_until_done_or_interrupted(lambda: run_until_done_or_cancelled_twice(measure_until))


def sum_reply_costs_of_results(results: Path) -> Expense:
    """Add up what all replies of a results folder cost, those of shards under way too.

    Raises:
        InputError: A file of replies cannot be read.
    """
    pa = require_pyarrow()
    import pyarrow.compute
    import pyarrow.parquet

    columns = ["cost_usd", "tokens_in", "tokens_out"]
    by_shard: dict[str, Expense] = {}
    for path in sorted((results / "replies").glob("*.parquet")):
        try:
            table = pyarrow.parquet.read_table(path, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read: {error}", path=path) from error
        cost, *tokens = (pyarrow.compute.sum(table[name]).as_py() or 0 for name in columns)
        by_shard[path.stem] = Expense(round(cost * NUSD), sum(tokens))
    for path in sorted((results / JOURNAL).glob("*.jsonl")):
        # A journal beside tables has their replies and perhaps more, or is not all there yet.
        written, under_way = by_shard.get(path.stem, NO_EXPENSE), sum_reply_costs_of_journal(path)
        by_shard[path.stem] = Expense(
            max(written.nusd, under_way.nusd), max(written.tokens, under_way.tokens)
        )
    return sum(by_shard.values(), NO_EXPENSE)
