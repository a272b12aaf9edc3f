"""Lines about drawn queues: the list, one of them, what a plan will give, and how one ended."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from faithtui.agreement.population_text import describe_population, describe_unmeasured_results
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.agreement.sampling.label_plan import (
    LabelPlan,
    compute_expected_blind_counts,
    predict_recall,
)
from faithtui.agreement.sampling.stopping_rules import (
    FEWEST_OF_PACE,
    KAPPA_TARGET,
    compute_effective_sample_size,
    predict_half_width,
)
from faithtui.domain.estimates import FEWEST_GROUPS, LEVEL
from faithtui.domain.labels.label_events import HASTY_S
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.review.samples.label_plans import PlanBasis
from faithtui.engine.review.samples.sample_queues import (
    STRATA_TELLING_JUDGE,
    QueueOutcome,
    QueueProgress,
)
from faithtui.store.samples.sample_records import SampleRow, StratumRow
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, fit_text, make_line, wrap

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ConfidenceSequences

KINDS = {
    SampleKind.SAMPLE: "sample",
    SampleKind.SPOT_CHECK: "spot-check",
    SampleKind.REPEAT: "self-agreement",
}
DESIGNS = {
    SamplingDesign.SIMPLE: "simple random",
    SamplingDesign.STRATIFIED: "stratified",
    SamplingDesign.CONVERSATIONS: "whole conversations",
}
_SHARES = (0.5, 0.8, 0.9)
"""Shares whose interval is foreseen."""
_NEAR_WHOLE = 0.01
"""How near to a whole number a reciprocal is to be said as one: 0.33 is 1 in 3 no more."""
_MOST_SHARES = 6
"""Strata of which it is said what is expected."""
_MOST_STRATA = 60
"""Strata that are listed; more are counted."""


_EARLIER_DECISIONS = {"calm": "pass", "alarmed": "fail"}
"""Decisions of spot-checks that earlier versions stored, and what they are called now."""


def format_minutes(seconds: float | None) -> str:
    """Write a span as users read it: `1 min`, `15 min`, `2 h 5 min`."""
    if seconds is None:
        return fmt.NONE
    whole = max(1, math.ceil(seconds / 60)) if seconds > 0 else 0
    hours, rest = divmod(whole, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def queue_status(progress: QueueProgress) -> str:
    """Say how a sample goes on, in one line of our own words.

    Such as `blind sample 45/86 · 11 s a claim · 8 min to go · enough for kappa ±0.10`.
    """
    row = progress.row
    mode = "blind " if row.blind else ""
    parts = [f"{mode}{KINDS[row.kind]} {row.answered}/{row.size}"]
    parts += describe_pace_and_time_left(row.pace_s, row.remaining)
    if row.skipped:
        parts.append(f"{row.skipped} skipped")
    if progress.needed is not None:
        parts.append(describe_labels_needed(progress))
    return " · ".join(parts)


def describe_pace_and_time_left(pace_s: float | None, left: int) -> list[str]:
    """Say how long a claim takes, and all that are left; [] where no pace is known."""
    if pace_s is None:
        return []
    to_go = [f"{format_minutes(pace_s * left)} to go"] if left else []
    return [format_pace(pace_s), *to_go]


WHY_QUEUES = (
    "A queue is a random sample, reviewed blind: every claim has a known chance to be in it, so "
    "your labels of the drawn ones stand for the rest, and agreement can be measured."
)


def describe_labels_needed(progress: QueueProgress, *, has_room: bool = False) -> str:
    """Say how many labels are still to come, and with room for it by what that is known.

    Not to be asked where `progress.needed` is None: how many are needed is not known.

    A report, which weighs claims without a label too, may say another number.
    """
    # Before there are labels to tell kappa from, it is what any rate takes at most.
    target = f"{'a pass rate' if progress.planned else 'kappa'} ±{KAPPA_TARGET:.2f}"
    if not progress.needed:
        return f"enough for {target}"
    if not progress.is_enough_left:
        return _describe_labels_beyond_run(progress, target, has_room=has_room)
    needed = min(progress.needed, progress.left)
    # Labels given with the judge in view, which some claims are drawn for, do not count.
    blind = "blind " * (progress.row.shown_share > 0)
    if not progress.planned:
        more = f"{fmt.format_count(needed)} more {f'{blind}labels ' * bool(blind)}for {target}"
        return f"{more}{', by your labels in this queue' * has_room}"
    words = f"up to {fmt.format_count_with_noun(needed, f'more {blind}label')} for {target}"
    if 0 < progress.until_measured <= needed:
        words += f" (better known after {progress.until_measured} of them)"
    return words


def _describe_labels_beyond_run(progress: QueueProgress, target: str, *, has_room: bool) -> str:
    """Say that what was drawn from has too few claims without a label to reach an interval."""
    whole = "run" if progress.row.population is None else "population"
    if progress.left:
        others = fmt.format_count_with_noun(progress.left, "unlabelled claim")
        return f"{target} needs more than the {others} of the {whole}"
    if has_room:
        return (
            f"all claims of the {whole} are labelled: {target} needs labels of other conversations"
        )
    return f"{target} needs other conversations"


def queue_header_line(width: int) -> Line:
    """Name the columns of the list of queues."""
    named = ("queue", "design", "judge", "done", "skip", "time left")
    return make_line(Piece(_format_queue_columns(width, "", *named), "quiet"))


def queue_line(row: SampleRow, width: int, here: bool) -> Line:
    """Draw a queue in the list."""
    mode = "blind" if row.blind else "shown"
    text = _format_queue_columns(
        width,
        ">" if here else " ",
        escape_line(row.name, limit=200).text,
        KINDS[row.kind] if row.kind is not SampleKind.SAMPLE else DESIGNS[row.design],
        mode,
        f"{fmt.format_count(row.answered)}/{fmt.format_count(row.size)}",
        str(row.skipped or ""),
        "done" if not row.remaining else format_minutes(row.eta_s),
    )
    return make_line(Piece(text))


def _format_queue_columns(
    width: int, mark: str, name: str, design: str, judge: str, done: str, later: str, eta: str
) -> str:
    fixed = 1 + 1 + 6 + 1 + 13 + 6 + 1 + 10 + 1
    room = max(8, width - fixed)
    kind = 20 if room >= 44 else 0
    return (
        f"{fit_text(mark, 1)}{fit_text(name, room - kind)}{fit_text(' ' + design, kind)} "
        f"{fit_text(judge, 6)}"
        f"{fit_text(done, 13, right=True)}{fit_text(later, 6, right=True)} "
        f"{fit_text(eta, 10, right=True)} "
    )


def no_queues_lines(width: int, run: bool, keys: KeyNames) -> list[Line]:
    """Say what to do while there is no queue, or no run to draw one from."""
    words = "No run to draw from yet: {go.runs} goes to the runs, where one is started or opened."
    if run:
        words = (
            "Nothing is drawn from this run yet. {queues.draw} draws a random sample, "
            "{queues.spot-check} takes a spot-check of 20 claims, about five minutes."
        )
    return wrap(keys.fill_in_keys_as_pieces(words, "quiet"), width - 1, first=[Piece(" ")])


def describe_confidence_sequences(found: "ConfidenceSequences", level: float = LEVEL) -> str:
    """Say what is known of this run however often one looks."""
    rate, recall = (f"{low:.0%} to {high:.0%}" for low, high in (found.rate, found.recall))
    positive = " or ".join(found.positive)
    words = (
        f"passing {rate}, recall of {positive} {recall} in this run: {level:.0%} sure however "
        "often you look"
    )
    if found.later:
        labels = fmt.format_count_with_noun(found.later, "label")
        words += f"; {labels} behind the first claim that is skipped or open do not count yet"
    return words


def describe_confidence_sequences_briefly(found: "ConfidenceSequences") -> str:
    """Say the same in few words, for a line that says more: `passing 68-97%, recall 12-63%`."""
    (passing, most_passing), (recall, most_recall) = found.rate, found.recall
    words = (
        f"passing {100 * passing:.0f}-{most_passing:.0%}, "
        f"recall {100 * recall:.0f}-{most_recall:.0%}"
    )
    return f"{words} by the first {found.labels}" if found.later else words


def queue_detail_lines(
    row: SampleRow | None,
    strata: Sequence[StratumRow],
    progress: QueueProgress | None,
    width: int,
    sequences: "ConfidenceSequences | None" = None,
    *,
    works_blind: bool = False,
) -> list[Line]:
    """Describe a queue: how it was drawn, how far it is, what each label stands for.

    Without one, say what queues are for. An annotator who works blind sees of a queue that would
    show the judge what is seen of a blind one.
    """
    if row is None:
        return wrap([Piece(WHY_QUEUES, "quiet")], width - 1, first=[Piece(" ")])
    lines = [BLANK, *_progress_bar_lines(row, width)]
    facts: list[tuple[str, Piece]] = []
    if row.pace_s is not None:
        words = " · ".join(describe_pace_and_time_left(row.pace_s, row.remaining))
        facts.append(("pace", Piece(words)))
    elif row.answered:
        words = f"known after {FEWEST_OF_PACE} claims that took {HASTY_S:.0f} s or more each"
        facts.append(("pace", Piece(words, "quiet")))
    if row.skipped:
        facts.append(("skipped", Piece(f"{row.skipped}; they come again at the end")))
    if progress is not None and progress.needed is not None:
        facts.append(("to go", Piece(describe_labels_needed(progress, has_room=True))))
    if sequences is not None:
        facts.append(("known", Piece(describe_confidence_sequences(sequences))))
    if row.decision is not None:
        decided = _EARLIER_DECISIONS.get(row.decision, row.decision)
        facts.append(("decided", escape_line(decided, "strong", limit=60)))
    lines += _fact_lines(facts, width)
    if row.kind is SampleKind.SAMPLE and strata:
        # Where few claims are left, how far each stratum is would reveal which of them comes next.
        hidden = (
            (row.blind or works_blind)
            and row.remaining > 0
            and not STRATA_TELLING_JUDGE.isdisjoint(row.stratified_by)
        )
        lines += [BLANK, *_strata_lines(strata, width, hidden=hidden)]
    drawn = [
        ("name", escape_line(row.name, limit=200)),
        ("kind", Piece(KINDS[row.kind])),
        ("design", Piece(f"{_describe_design(row)}, seed {row.seed}")),
        ("judge", Piece(_describe_blindness(row))),
        ("drawn", Piece(_describe_size(row))),
        *_list_population_facts(row),
        ("by", escape_line(f"{row.reviewer}, {fmt.format_datetime(row.created_at)}", limit=120)),
    ]
    return [*lines, BLANK, *_fact_lines(drawn, width)]


def _list_population_facts(row: SampleRow) -> list[tuple[str, Piece]]:
    """Say what a queue stands for, where only drawn conversations are in the store."""
    if row.population is None:
        return []
    facts = [("of", escape_line(describe_population(row.population), "strong", limit=400))]
    facts += [("", Piece(each, "warn")) for each in describe_unmeasured_results(row.population)]
    return facts


def _fact_lines(facts: Sequence[tuple[str, Piece]], width: int) -> list[Line]:
    return [
        each
        for name, value in facts
        for each in wrap([value], width - 1, first=[Piece(f" {name:<8}", "quiet")])
    ]


def format_pace(seconds: float) -> str:
    """Say how long a claim takes: `11 s a claim`."""
    return f"{seconds:.0f} s a claim"


def _progress_bar_lines(row: SampleRow, width: int) -> list[Line]:
    counts = f" {fmt.format_count(row.answered)}/{fmt.format_count(row.size)}"
    bar = fmt.format_progress_bar(row.answered, row.size, max(4, min(40, width - 11 - len(counts))))
    return [make_line(Piece(" done    ", "quiet"), Piece(bar, "human"), Piece(counts))]


def _describe_design(row: SampleRow) -> str:
    if row.design is not SamplingDesign.STRATIFIED:
        return DESIGNS[row.design]
    return f"stratified by {', '.join(make_visible_line(each, 40) for each in row.stratified_by)}"


def _describe_blindness(row: SampleRow) -> str:
    if not row.blind:
        return "shown from the beginning: agreement may be too high"
    if row.shown_share:
        return f"hidden until answered; shown on {row.shown_share:.0%}, to measure its influence"
    return "hidden until answered"


def _describe_size(row: SampleRow) -> str:
    drawn = f"{fmt.format_count_with_noun(row.size, 'claim')} of {fmt.format_count(row.frame)}"
    if row.design is not SamplingDesign.CONVERSATIONS:
        return drawn
    whole = row.strata[0]
    return (
        f"{fmt.format_count(whole.drawn)} of "
        f"{fmt.format_count_with_noun(whole.population, 'conversation')}, {drawn}"
    )


def _strata_lines(strata: Sequence[StratumRow], width: int, *, hidden: bool) -> list[Line]:
    """List the strata: what there is, what is labelled, and what each label stands for.

    Args:
        strata: The strata.
        width: Cells of a line.
        hidden: How far each one is must not be shown.
    """
    room = max(8, width - 42)
    head = _stratum_columns(room, "stratum", "have", "drawn", "labelled", "weight now → end")
    lines = [make_line(Piece(head, "quiet"))]
    for each in strata[:_MOST_STRATA]:
        now = fmt.HIDDEN_CELL if hidden else _format_weight(each.weight_now)
        end = _format_weight(each.weight_when_sample_is_done)
        lines.append(
            make_line(
                Piece(
                    _stratum_columns(
                        room,
                        _format_stratum_name(each.stratum.name),
                        fmt.format_count(each.stratum.population),
                        fmt.format_count(each.stratum.drawn),
                        fmt.HIDDEN_CELL if hidden else fmt.format_count(each.labelled),
                        f"{now} → {end}",
                    )
                )
            )
        )
    if len(strata) > _MOST_STRATA:
        lines.append(make_line(Piece(f" and {len(strata) - _MOST_STRATA} more strata", "quiet")))
    words = "The weight says how many claims one of your labels stands for in the report."
    if any(each.shown for each in strata):
        words += " Claims that are drawn to be shown with the verdict count in no figure."
    if hidden:
        words += " What is labelled of each is hidden until all is: it would reveal verdicts."
    return [*lines, *wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])]


def _stratum_columns(
    room: int, name: str, have: str, drawn: str, labelled: str, weight: str
) -> str:
    return (
        f" {fit_text(name, room)}{fit_text(have, 7, right=True)}{fit_text(drawn, 7, right=True)}"
        f"{fit_text(labelled, 9, right=True)}{fit_text(weight, 17, right=True)} "
    )


def _format_stratum_name(name: str) -> str:
    return make_visible_line(name, 200) or "all claims"


def _format_weight(value: float | None) -> str:
    return fmt.NONE if value is None else f"{value:.2f}"


def explain_too_large_size(asked: int, strata: Sequence[Stratum], design: SamplingDesign) -> str:
    """Say that more was asked for than there is, and is drawn; "": it is not so."""
    whole = sum(each.population for each in strata)
    if asked <= whole:
        return ""
    unit = "conversation" if design is SamplingDesign.CONVERSATIONS else "claim"
    return f"size: larger than the {fmt.format_count_with_noun(whole, unit)} there are"


def format_sample_preview_lines(
    strata: Sequence[Stratum],
    design: SamplingDesign,
    frame: int,
    pace_s: float,
    width: int,
    *,
    found: LabelPlan | None = None,
    basis: PlanBasis | None = None,
    shown: float = 0.0,
    asked: int = 0,
) -> list[Line]:
    """Say what a plan draws and what it will give, before anything is drawn.

    Args:
        strata: What would be drawn of what.
        design: How.
        frame: Claims it is drawn from.
        pace_s: Seconds the annotator takes per claim.
        width: Cells.
        found: What labels of these strata are expected to give; None: not known.
        basis: What that is expected from.
        shown: Share of the claims that is shown with the judge's verdict, and counts in no
            figure.
        asked: How many were typed; 0: a number of each stratum, or nothing.
    """
    drawn, whole = sum(each.drawn for each in strata), sum(each.population for each in strata)
    by_conversation = design is SamplingDesign.CONVERSATIONS
    claims = round(frame * drawn / whole) if by_conversation and whole else drawn
    unit = "conversation" if by_conversation else "claim"
    about = f", about {fmt.format_count_with_noun(claims, 'claim')}" if by_conversation else ""
    lines = wrap(
        [
            Piece(
                f"{'all' if drawn == whole else f'{fmt.format_count(drawn)} of'} "
                f"{fmt.format_count_with_noun(whole, unit)}{about}",
                "strong",
            ),
            Piece(f" · about {format_minutes(claims * pace_s)} at {format_pace(pace_s)}"),
        ],
        width,
    )
    if too_large := explain_too_large_size(asked, strata, design):
        lines += wrap([Piece(too_large, "warn")], width)
    if not drawn:
        return [*lines, *wrap([Piece("nothing would be drawn", "warn")], width)]
    blind = compute_expected_blind_counts({each.name: each.drawn for each in strata}, shown)
    counting = round(claims * (1 - shown)) if by_conversation else sum(blind.values())
    if shown:
        about = f"about {fmt.format_count(counting)} of {fmt.format_count(claims)} count"
        lines += wrap([Piece(f"{describe_shown_share(shown)}: {about}")], width)
    if design is SamplingDesign.STRATIFIED:
        room = max(8, width - 37)
        for number, each in enumerate(strata[:_MOST_STRATA], 1):
            name = f"{number} {_format_stratum_name(each.name)}"
            counts = f"{fmt.format_count(each.drawn)} of {fmt.format_count(each.population)}"
            chance = f"probability {each.draw_probability:.3f}"
            lines.append(
                make_line(
                    Piece(f"{fit_text(name, room)}{fit_text(counts, 17, right=True)}  {chance}")
                )
            )
        if len(strata) > _MOST_STRATA:
            lines.append(make_line(Piece(f"and {len(strata) - _MOST_STRATA} more strata", "quiet")))
    else:
        words = f"each {unit} has probability {strata[0].draw_probability:.3f}"
        lines += wrap([Piece(words)], width)
    if found is not None and basis is not None and found.rate is not None:
        return [*lines, *_format_interval_forecast_lines(found, basis, width)]
    labelled = [replace(each, drawn=blind[each.name]) for each in strata]
    words = _describe_interval_widths(labelled, by_conversation, counting)
    return [*lines, *wrap([Piece(words, "quiet")], width)]


def describe_shown_share(share: float) -> str:
    """Say what a share of a blind sample that shows the judge's verdict is for."""
    every = round(1 / share)
    part = f"1 in {every}" if every > 1 and abs(1 / share - every) < _NEAR_WHOLE else f"{share:.0%}"
    return (
        f"{part} shown with the judge's verdict, to measure its influence; they count in no figure"
    )


def _format_interval_forecast_lines(found: LabelPlan, basis: PlanBasis, width: int) -> list[Line]:
    """Say what labels are expected to give, and from what that is expected."""
    words = f"of this run: share that passes ±{found.rate:.3f}"
    if found.recall is not None:
        words += f", recall ±{found.recall:.2f}"
    shares = ", ".join(
        f"{each.share:.0%} of {_format_stratum_name(each.name)}"
        for each in basis.strata[:_MOST_SHARES]
    )
    more = ", …" if len(basis.strata) > _MOST_SHARES else ""
    labels = sum(each.labels for each in basis.strata)
    source = "assumed"
    if labels:
        source = f"by {fmt.format_count_with_noun(labels, 'label')} and two more assumed for each"
    failing = " or ".join(make_visible_line(each, 40) for each in basis.failing)
    lines = wrap([Piece(words, "strong")], width)
    if basis.has_too_few_conversations:
        few = (
            f"of {fmt.format_count_with_noun(basis.conversation_count, 'conversation')}: "
            f"below {FEWEST_GROUPS} reports give recall, kappa and new data no interval"
        )
        lines += wrap([Piece(few, "warn")], width)
    source = f"if {failing} is right for {shares}{more} ({source})"
    lines += wrap([Piece(source, "quiet")], width)
    recall = predict_recall(basis.strata)
    if basis.measured_recall is None or recall is None:
        return lines
    words = f"recall {recall:.0%} then; reports show {basis.measured_recall:.0%}, of labels alone"
    return [*lines, *wrap([Piece(words, "quiet")], width)]


def _describe_interval_widths(strata: Sequence[Stratum], by_conversation: bool, claims: int) -> str:
    """Say how wide intervals of shares will be."""
    size = float(claims) if by_conversation else compute_effective_sample_size(strata)
    if not size:
        return "a stratum that gives nothing: no figure for the whole run can be had from this"
    widths = ", ".join(
        f"±{predict_half_width(size, share):.3f} at {share:.0%}" for share in _SHARES
    )
    alike = "less surely where claims of a conversation are alike"
    return f"a pass rate will be known to {widths}, {alike}"


def queue_end_lines(end: QueueOutcome, width: int) -> list[Line]:
    """Say what came of a queue, and what can be done next."""
    progress, row = end.progress, end.progress.row
    paragraphs: list[list[Piece]] = [
        [
            # A spot-check that nobody named has the name of its kind.
            Piece("" if row.name == KINDS[row.kind] else f"{KINDS[row.kind]} ", "quiet"),
            escape_line(row.name, "strong", limit=200),
        ],
        [
            Piece(
                f"{fmt.format_count(row.answered)} of "
                f"{fmt.format_count_with_noun(row.size, 'claim')} answered"
            ),
            Piece(
                f" · {end.actions['blind']} blind, {end.actions['shown']} with the judge shown",
                "quiet",
            ),
        ],
    ]
    if row.skipped:
        paragraphs.append(
            [Piece(f"{fmt.format_count_with_noun(row.skipped, 'claim')} skipped and left", "warn")]
        )
    if end.check is not None:
        paragraphs.append(
            [Piece(end.check.decision.value, "strong"), Piece(f": {end.check.decision_text}")]
        )
    elif row.kind is SampleKind.REPEAT:
        paragraphs.append([Piece("The agreement screen shows your self-agreement.")])
    else:
        agreed = progress.compared - progress.differ
        words = f"{agreed} of {progress.compared} compared claims have the label of the judge"
        if row.shown_share:
            words += "; those drawn to be shown with it count in no figure"
        paragraphs.append([Piece(words)])
        if progress.needed is not None:
            paragraphs.append([Piece(describe_labels_needed(progress, has_room=True))])
    if end.sequences is not None:
        paragraphs.append(
            [Piece("known: ", "quiet"), Piece(describe_confidence_sequences(end.sequences))]
        )
    lines = [BLANK]
    for pieces in paragraphs:
        lines += [*wrap(pieces, width - 1, first=[Piece(" ")]), BLANK]
    return lines
