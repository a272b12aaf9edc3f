"""`faithtui label`: choose or draw a queue, and work through it in the app or line by line."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.cli.stores import (
    choose_store_path,
    open_store,
    read_run_id,
    replace_reviewer,
    show_app,
)
from faithtui.config import Settings, load_settings_with_origins
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.review.sample_queues import (
    USUAL_CONVERSATIONS,
    USUAL_SIZE,
    SampleRequest,
    conclude_queue,
    draw_sample,
    name_sample,
    next_seed,
    repeat_request,
    spot_check_request,
)
from faithtui.errors import ConfigError
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.samples.sampling_frames import STRATA
from faithtui.tui.samples.queue import ClaimQueue, sample_queue

if TYPE_CHECKING:
    from faithtui.cli.commands.label.line_output import LineOutput
    from faithtui.store.store import Store

NEW_SAMPLES = ("new", "simple", "stratified", "conversations", "spot-check", "repeats")
"""What can be drawn."""
ORDERS = ("drawn", "text")
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """What a person asked to label."""

    sample: str | None
    """The number of a sample, or one of `NEW_SAMPLES`; None: the newest with something left."""
    size: int | None
    seed: int | None
    stratify: str | None
    """Of `STRATA`, with commas."""
    blind: bool | None
    reviewer: str | None
    order: str


def label_claims(
    named: Path | None, run: str, order: LabelOptions, *, plain: bool, as_json: bool
) -> int:
    """Open a queue and return the exit code.

    Raises:
        ConfigError: An option is not one that can be carried out.
        StoreError: There is no such run or sample, or nothing can be drawn.
    """
    configured = replace_reviewer(load_settings_with_origins(), order.reviewer)
    settings = configured.settings
    with open_store(named, settings) as store:
        queue = choose_queue(store, read_run_id(store, run), order, settings)
        if plain or as_json:
            return _run_line_mode(store, queue, settings.reviewer, as_json=as_json)
    return show_app(
        choose_store_path(named, settings),
        configured,
        first_screen="review",
        run=queue.run,
        queue=queue,
    )


def choose_queue(store: "Store", run: RunId, order: LabelOptions, settings: Settings) -> ClaimQueue:
    """Find or draw what is to be worked through.

    Raises:
        ConfigError: The options contradict each other, or nothing has anything left.
        StoreError: There is no such sample, or nothing can be drawn.
    """
    if order.order not in ORDERS:
        raise ConfigError(f"--order {order.order}; expected {' or '.join(ORDERS)}")
    if order.order == "text":
        return _queue_whole_run(store, run, order, settings)
    reviewer = settings.reviewer
    rows = store.samples.rows(reviewer, run)
    given = [order.size, order.seed, order.stratify]
    wanted = order.sample
    if wanted is None and any(each is not None for each in given):
        wanted = "new"
    if wanted is None:
        row = next((row for row in rows if row.remaining and row.closed_at is None), None)
        if row is None:
            raise ConfigError(
                "no sample of this run has anything left for you: --sample new draws one, "
                "--sample spot-check takes 20 claims, --order text goes through every claim"
            )
    elif wanted in NEW_SAMPLES:
        row = draw_sample(store, run, reviewer, _make_sample_request(wanted, order, settings, rows))
    else:
        row = _find_sample(wanted, rows, order)
    queue = sample_queue(store, row.id, reviewer)
    if order.blind and not queue.blind:
        queue = replace(queue, blind=True, place={})
    return queue


def _queue_whole_run(
    store: "Store", run: RunId, order: LabelOptions, settings: Settings
) -> ClaimQueue:
    if order.sample is not None or order.size is not None or order.stratify is not None:
        raise ConfigError("--order text goes through every claim; leave out what draws a sample")
    frame = store.samples.read_frame(run)
    if not len(frame):
        raise ConfigError("the run has judged nothing yet")
    blind = settings.blind if order.blind is None else order.blind
    entries = tuple((each.item, each.claim) for each in frame)
    return ClaimQueue("every claim, in the order of the text", run, entries, blind)


def _find_sample(wanted: str, rows: Sequence[SampleRow], order: LabelOptions) -> SampleRow:
    """Find a sample of the run by its number."""
    if order.size is not None or order.seed is not None or order.stratify is not None:
        raise ConfigError("--size, --seed and --stratify are for a new sample")
    row = next((row for row in rows if wanted.lstrip("#") == str(row.id)), None)
    if row is None:
        known = ", ".join(str(row.id) for row in rows) or "none yet"
        raise ConfigError(
            f"--sample {wanted}: expected {', '.join(NEW_SAMPLES)}, or the number of a "
            "sample of this run "
            f"({known})"
        )
    if row.blind and order.blind is False:
        raise ConfigError(f"sample {row.id} was drawn blind; v shows the judge on one claim")
    return row


def _make_sample_request(
    wanted: str, order: LabelOptions, settings: Settings, rows: Sequence[SampleRow]
) -> SampleRequest:
    """Read what is to be drawn."""
    seed = next_seed(rows) if order.seed is None else order.seed
    if order.size is not None and order.size < 1:
        raise ConfigError("--size takes a number above 0")
    strata = tuple(each.strip() for each in (order.stratify or "").split(",") if each.strip())
    for each in strata:
        if each not in STRATA:
            raise ConfigError(f"--stratify {each}; expected {', '.join(STRATA)}, with commas")
    fixed = wanted in ("spot-check", "repeats")
    if fixed and (strata or order.blind is False):
        raise ConfigError(f"a {wanted} is simple random and blind; leave out the other options")
    if wanted == "spot-check":
        if order.size is not None:
            raise ConfigError("a spot-check has its own size; leave out --size")
        return spot_check_request(seed)
    if wanted == "repeats":
        request = repeat_request(seed)
        return request if order.size is None else replace(request, size=order.size)
    design = SamplingDesign(wanted) if wanted != "new" else SamplingDesign.SIMPLE
    if strata:
        if design is SamplingDesign.CONVERSATIONS or wanted == "simple":
            raise ConfigError(f"--stratify does not go with --sample {wanted}")
        design = SamplingDesign.STRATIFIED
    elif design is SamplingDesign.STRATIFIED:
        strata = ("verdict",)
    whole = design is SamplingDesign.CONVERSATIONS
    return SampleRequest(
        name=name_sample(design, strata),
        kind=SampleKind.SAMPLE,
        design=design,
        stratified_by=strata,
        size=order.size or (USUAL_CONVERSATIONS if whole else USUAL_SIZE),
        seed=seed,
        blind=settings.blind if order.blind is None else order.blind,
        shown_share=settings.audit_share,
    )


def _run_line_mode(store: "Store", queue: ClaimQueue, reviewer: str, *, as_json: bool) -> int:
    """Work through a queue on stdin and stdout."""
    from faithtui.cli.commands.label.line_mode import LineMode
    from faithtui.cli.commands.label.line_output import LineOutput

    if isinstance(sys.stdin, TextIOWrapper):
        # A byte that is no text is a wrong key, or a blot in a note: no reason to stop.
        sys.stdin.reconfigure(errors="replace")
    talk = LineOutput(as_json=as_json, prompt_ends_line=not sys.stdin.isatty())
    talk.say("queue", *_opening_lines(queue, reviewer), **_opening_values(queue, reviewer))
    mode = LineMode(store, queue, reviewer, talk, sys.stdin.readline)
    interrupted = False
    try:
        mode.run()
    except KeyboardInterrupt:
        interrupted = True
    mode.say_totals()
    if queue.sample is not None:
        _say_sample_status(store, queue.sample, reviewer, talk, through=not interrupted)
    if interrupted:
        return INTERRUPTED
    return 0 if mode.error is None else mode.error.exit_code


def _opening_lines(queue: ClaimQueue, reviewer: str) -> list[str]:
    from faithtui.cli.commands.label.line_text import wrap_with_label

    where = f"sample {queue.sample}" if queue.sample is not None else "a convenience order"
    title = make_visible_line(queue.title, 200)
    lines = [
        *wrap_with_label("queue", f"{title}, {where}, {len(queue.entries)} of run {queue.run}"),
        *wrap_with_label("reviewer", make_visible_line(reviewer, 200)),
        "judge: hidden until you answer" if queue.blind else "judge: shown",
    ]
    if queue.repeats:
        lines.append("these are claims you labelled before; this changes no verdict")
    return lines


def _opening_values(queue: ClaimQueue, reviewer: str) -> dict[str, object]:
    return {
        "title": queue.title,
        "run": queue.run,
        "sample": queue.sample,
        "claims": len(queue.entries),
        "blind": queue.blind,
        "reviewer": reviewer,
    }


def _say_sample_status(
    store: "Store", sample: SampleId, reviewer: str, talk: "LineOutput", *, through: bool
) -> None:
    """Say how the sample stands, and what a spot-check came to."""
    from faithtui.cli.commands.label.line_text import wrap_with_label
    from faithtui.tui.samples.sample_lines import queue_status

    end = conclude_queue(store, sample, reviewer)
    row = end.progress.row
    lines = wrap_with_label("status", queue_status(end.progress))
    check = end.check if end.progress.is_finished and through else None
    if check is not None:
        lines += wrap_with_label("decision", f"{check.decision.value}. {check.sentences}")
    talk.say(
        "status",
        *lines,
        answered=row.answered,
        size=row.size,
        later=row.skipped,
        pace_s=row.pace_s,
        needed=end.progress.needed,
        decision=None if check is None else check.decision.value,
    )
