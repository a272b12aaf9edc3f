"""Which claims are labelled: a sample that is there, one that is drawn now, or a whole run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.cli.commands.label.queue_options import NEW_SAMPLES, ORDERS
from faithtui.cli.shared_options import read_named_numbers
from faithtui.config import Settings
from faithtui.domain.ids import RunId
from faithtui.domain.text.suggestions import format_known_names, format_suggestion
from faithtui.engine.review.samples.sample_queues import (
    USUAL_CONVERSATIONS,
    USUAL_SIZE,
    SampleRequest,
    draw_and_save_run_sample,
    find_unused_seed,
    make_repeat_labels_request,
    make_spot_check_request,
    read_sampling_frame,
)
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.errors import ConfigError
from faithtui.store.records import RunState
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.samples.sampling_frames import STRATA
from faithtui.store.store import Store
from faithtui.tui.samples.queue import ClaimQueue, make_sample_queue


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """What an annotator asked to label."""

    sample: str | None
    """The number of a sample, or one of `NEW_SAMPLES`; None: the newest with something left."""
    size: int | None
    seed: int | None
    stratify: str | None
    """Of `STRATA`, with commas."""
    sizes: Sequence[str] | None
    """Claims by stratum, see `read_named_numbers`."""
    blind: bool | None
    order: str
    reviewer_option: str
    """As it was typed, ` --reviewer ann`; "": none was."""


def find_or_draw_queue(
    store: Store,
    run: RunId,
    request: QueueRequest,
    settings: Settings,
    *,
    before_drawing: Callable[[], object],
) -> ClaimQueue:
    """Find or draw what is to be worked through.

    Args:
        store: Where everything is.
        run: The run.
        request: What was asked for.
        settings: The user's settings.
        before_drawing: Called before a sample is drawn and stored; what it raises prevents that.

    Raises:
        ConfigError: The options contradict each other, or nothing has anything left.
        StoreError: There is no such sample, or nothing can be drawn.
    """
    if request.order not in ORDERS:
        meant = format_suggestion(request.order, ORDERS)
        raise ConfigError(f"--order {request.order}; expected {' or '.join(ORDERS)}{meant}")
    if request.order == "text":
        return _make_whole_run_queue(store, run, request, settings)
    reviewer = settings.reviewer
    samples = store.samples.list_samples(reviewer)
    rows = [row for row in samples if row.run == run]
    others = [row for row in samples if row.run != run]
    if not rows:
        _refuse_run_without_claims(store, run)
    given = [request.size, request.seed, request.stratify, request.sizes]
    wanted = request.sample
    if wanted is None and any(each is not None for each in given):
        wanted = "new"
    if wanted is None:
        row = next((row for row in rows if row.remaining and row.closed_at is None), None)
        if row is None:
            elsewhere = _name_open_sample(others, request)
            raise ConfigError(
                f"no sample of run {run} has anything left for you{elsewhere}; of run {run} "
                "--sample new draws one, --sample spot-check takes 20 claims, --order text goes "
                "through every claim"
            )
    elif wanted in NEW_SAMPLES:
        order = _make_sample_request(wanted, request, settings, rows)
        frame = read_sampling_frame(store, run, reviewer, order)
        _refuse_unknown_strata(order.sizes, frame.claim_counts_by_stratum)
        before_drawing()
        row = draw_and_save_run_sample(store, run, reviewer, order, frame)
    else:
        row = _find_sample(wanted, rows, others, request)
    queue = make_sample_queue(store, row.id, reviewer)
    if request.blind and not queue.blind:
        queue = replace(queue, blind=True, place={})
    return queue


def _refuse_run_without_claims(store: Store, run: RunId) -> None:
    """Refuse a run of which nothing can be drawn, and say how it comes by claims.

    Raises:
        ConfigError: Nothing is judged in it.
    """
    row = read_run_marking_interrupted(store, run)
    if row.claims:
        return
    if row.state is RunState.RUNNING:
        raise ConfigError(f"run {run} has no verdicts yet; another process judges it now")
    if row.pending:
        raise ConfigError(f"run {run} has no verdicts yet; faithtui run --resume {run}")
    raise ConfigError(f"run {run} found no claims to give a verdict on; faithtui show {run}")


def _make_whole_run_queue(
    store: Store, run: RunId, request: QueueRequest, settings: Settings
) -> ClaimQueue:
    drawing = (request.sample, request.size, request.stratify, request.sizes)
    if any(each is not None for each in drawing):
        raise ConfigError("--order text goes through every claim; leave out what draws a sample")
    _refuse_run_without_claims(store, run)
    frame = store.samples.read_frame(run)
    if not len(frame):
        raise ConfigError("the run has judged nothing yet")
    blind = settings.blind if request.blind is None else request.blind
    entries = tuple((each.item, each.claim) for each in frame)
    return ClaimQueue("every claim, in the order of the text", run, entries, blind)


def _name_open_sample(others: Sequence[SampleRow], request: QueueRequest) -> str:
    """Name the newest sample of another run that has claims left; "": none has."""
    row = next((row for row in others if row.remaining and row.closed_at is None), None)
    if row is None:
        return ""
    left = f"{row.remaining:,} claim{'s' * (row.remaining > 1)} left"
    command = f"faithtui label {row.run}{request.reviewer_option}"
    return f"; sample {row.id} of run {row.run} has {left}: {command}"


def _find_sample(
    wanted: str, rows: Sequence[SampleRow], others: Sequence[SampleRow], request: QueueRequest
) -> SampleRow:
    """Find a sample of the run by its number."""
    drawing = (request.size, request.seed, request.stratify, request.sizes)
    if any(each is not None for each in drawing):
        raise ConfigError("--size, --seed, --stratify and --sizes are for a new sample")
    row = _find_numbered_sample(wanted, rows)
    if row is None and (other := _find_numbered_sample(wanted, others)) is not None:
        raise ConfigError(
            f"--sample {wanted} is a sample of run {other.run}: "
            f"faithtui label {other.run} --sample {other.id}{request.reviewer_option}"
        )
    if row is None:
        known = ", ".join(str(row.id) for row in rows) or "none yet"
        meant = format_suggestion(wanted, NEW_SAMPLES)
        raise ConfigError(
            f"--sample {wanted}: expected {', '.join(NEW_SAMPLES)}, or the number of a "
            "sample of this run "
            f"({known}){meant}"
        )
    if row.blind and request.blind is False:
        raise ConfigError(f"sample {row.id} was drawn blind; v shows the judge on one claim")
    return row


def _find_numbered_sample(wanted: str, rows: Sequence[SampleRow]) -> SampleRow | None:
    return next((row for row in rows if wanted.lstrip("#") == str(row.id)), None)


def _parse_sample_size_per_stratum(request: QueueRequest) -> dict[str, int]:
    """Read how many claims each stratum gives; {} where nothing was typed."""
    found = read_named_numbers(request.sizes, "--sizes")
    if found and request.size is not None:
        raise ConfigError("--sizes says how many of each stratum; leave out --size")
    for name, number in found.items():
        if number < 0 or number != int(number):
            raise ConfigError(f"--sizes {name}={number:g}; expected a whole number")
    if found and not any(found.values()):
        raise ConfigError("--sizes draws nothing; one number above 0 is expected")
    return {name: int(number) for name, number in found.items()}


def _refuse_unknown_strata(sizes: Mapping[str, int], populations: Mapping[str, int]) -> None:
    """Refuse names of strata that there are not.

    Raises:
        ConfigError: There is one.
    """
    for name in sizes:
        if name not in populations:
            raise ConfigError(
                f"there is no stratum `{name}`; known: {format_known_names(name, populations)}"
            )


def _make_sample_request(
    wanted: str, request: QueueRequest, settings: Settings, rows: Sequence[SampleRow]
) -> SampleRequest:
    """Read what is to be drawn."""
    seed = find_unused_seed(rows) if request.seed is None else request.seed
    if request.size is not None and request.size < 1:
        raise ConfigError("--size takes a number above 0")
    strata = tuple(each.strip() for each in (request.stratify or "").split(",") if each.strip())
    for each in strata:
        if each not in STRATA:
            known = f"{', '.join(STRATA)}, with commas{format_suggestion(each, STRATA)}"
            raise ConfigError(f"--stratify {each}; expected {known}")
    sizes = _parse_sample_size_per_stratum(request)
    fixed = wanted in ("spot-check", "repeats")
    if fixed and (strata or sizes or request.blind is False):
        raise ConfigError(f"a {wanted} is simple random and blind; leave out the other options")
    if wanted == "spot-check":
        if request.size is not None:
            raise ConfigError("a spot-check has its own size; leave out --size")
        return make_spot_check_request(seed)
    if wanted == "repeats":
        repeats = make_repeat_labels_request(seed)
        return repeats if request.size is None else replace(repeats, size=request.size)
    design = SamplingDesign(wanted) if wanted != "new" else SamplingDesign.SIMPLE
    if sizes and not strata:
        strata = ("verdict",)
    if strata:
        if design is SamplingDesign.CONVERSATIONS or wanted == "simple":
            option = "--stratify" if request.stratify else "--sizes"
            raise ConfigError(f"{option} does not go with --sample {wanted}")
        design = SamplingDesign.STRATIFIED
    elif design is SamplingDesign.STRATIFIED:
        strata = ("verdict",)
    whole = design is SamplingDesign.CONVERSATIONS
    return SampleRequest(
        name="",
        kind=SampleKind.SAMPLE,
        design=design,
        stratified_by=strata,
        sizes=sizes,
        size=request.size or (USUAL_CONVERSATIONS if whole else USUAL_SIZE),
        seed=seed,
        blind=settings.blind if request.blind is None else request.blind,
        shown_share=settings.audit_share,
    )
