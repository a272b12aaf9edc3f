"""Lines of the adjudication screen: raters, claims, and two sides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    ComparisonFilter,
    RaterComparison,
    RaterFigures,
    SelfAgreement,
    order_opinions_anonymously,
)
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import (
    HumanVerdict,
)
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.store.annotations.raters import ClaimRow, RaterRecords
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.lines.verdict_lines import list_verdict_choices
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    align_to_edges,
    count_cells_of_pieces,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

LETTERS = "ABCDEFGH"
"""Names of annotators while theirs are hidden."""
_TAKE_BINDINGS = ("adjudicate.take-a", "adjudicate.take-b")
"""Ids of the keys that take over an annotator's label."""
LEAST_CLAIMS = 10
"""Claims below which a figure says nothing."""
MOST_JUDGES = 4
"""Judges with a column of their own in the list."""
WIDE = 120
"""Cells of the table from which names have more room."""
JUDGES_FROM = 38
"""Cells of the list from which judges have columns."""
_SIDES_FROM = 6
"""Rows of the pane from which annotators' words stand in columns."""
_SIDES_FIRST_FROM = 10
"""Rows of the pane from which what annotators say stands above what is decided."""
MOST_SIDES = 3
"""Annotators side by side; of more, the others follow below."""
_NAME, _COUNT, _KAPPA, _AC1 = 30, 8, 21, 8


@dataclass(frozen=True, slots=True)
class FinalVerdictView:
    """What the pane of the final label draws."""

    claim: ClaimOpinions | None
    compared: RaterRecords
    spec: "MetricSpec"
    filter: ComparisonFilter
    last: str
    """The last label event in words; "" for none yet."""
    keys: KeyNames
    """What keys are called."""


_WHAT_N_COUNTS = (
    "n counts every label, drawn or not, blind or not; the agreement screen counts a sample's alone"
)
"""Why the judge's figures here are others than on the agreement screen."""


def format_rater_agreement_lines(
    compared: RaterRecords, raters: RaterComparison, spec: "MetricSpec", width: int
) -> list[Line]:
    """Draw a row per judge, pair of annotators and annotator, each with its number of claims."""
    bad = next((each.letter for each in spec.labels.labels if each.polarity is Polarity.BAD), "")
    room = width - _COUNT - _KAPPA - _AC1 - 12
    name = max(16, min(_NAME if width < WIDE else 2 * _NAME, room))
    head = (
        f" {'rater':<{name}}{'n':>{_COUNT}}  "
        f"{'κ vs human':<{_KAPPA}}{'AC1':<{_AC1}}{f'recall {bad}' if bad else ''}"
    )
    lines = [make_line(Piece(head, "quiet"))]
    if raters.judges:
        lines += wrap([Piece(_WHAT_N_COUNTS, "quiet")], width - 1, first=[Piece(" ")])
    rows = {each.id: each for each in compared.runs}
    for judge in raters.judges:
        run = rows[judge.run]
        here = "strong" if judge.run == compared.run.id else ""
        title = escape_line(f"#{run.id} {run.spec.judge_title}", limit=name)
        lines.append(_format_rater_agreement_line(title.text, here, judge.figures, name))
    for pair in raters.pairs:
        title = escape_line(f"{pair.first} / {pair.second}", limit=60)
        lines.append(
            _format_rater_agreement_line(title.text, "human", pair.figures, name, found=False)
        )
    for person in raters.people:
        title = escape_line(f"{person.reviewer} vs the others", limit=60)
        lines.append(_format_rater_agreement_line(title.text, "human", person.figures, name))
        if person.self_agreement is not None:
            lines += wrap(
                _self_agreement_pieces(person.self_agreement), width - 1, first=[Piece("   ")]
            )
    return lines


def _format_rater_agreement_line(
    name: str, look: str, figures: RaterFigures, width: int, *, found: bool = True
) -> Line:
    start = (
        Piece(f" {fit_text(name, width)}", look),
        Piece(f"{fmt.format_count(figures.n):>{_COUNT}}  ", ""),
    )
    kappa = figures.kappa
    if kappa.n >= LEAST_CLAIMS and kappa.value is None and kappa.reason is not None:
        why = (
            "none: they agree on all, or one uses one label"
            if kappa.reason is WithheldReason.NO_VARIATION
            else fmt.describe_missing_reason(kappa.reason)
        )
        return make_line(*start, Piece(why, "quiet"))
    return make_line(
        *start,
        Piece(fit_text(_format_value_with_interval(kappa), _KAPPA - 1) + " ", "strong"),
        Piece(fit_text(_format_number_or_too_few(figures.ac1), _AC1)),
        Piece(_format_number_or_too_few(figures.recall) if found else ""),
    )


def _format_number_or_too_few(value: Estimate) -> str:
    if value.n < LEAST_CLAIMS:
        return "too few" if value.n else fmt.NONE
    return fmt.format_number(value.value, 3)


def _format_value_with_interval(value: Estimate) -> str:
    text = _format_number_or_too_few(value)
    if (
        value.n < LEAST_CLAIMS
        or value.value is None
        or value.ci_low is None
        or value.ci_high is None
    ):
        return text
    interval = f" [{value.ci_low:.2f}, {value.ci_high:.2f}]"
    # Three signs take the room of the third digit.
    return (text if len(text + interval) < _KAPPA else f"{value.value:.2f}") + interval


def _self_agreement_pieces(own: SelfAgreement) -> list[Piece]:
    pieces = [escape_line(own.reviewer, "human", limit=40), Piece(f" again on {own.n}: ")]
    if own.same.value is not None:
        pieces.append(Piece(f"{own.same.value:.0%} the same", "strong"))
    if own.n >= LEAST_CLAIMS and own.kappa.value is not None:
        pieces.append(Piece(f" · κ {_format_value_with_interval(own.kappa)}"))
    return [*pieces, Piece(f" · {_format_time_between(own.gap_s)} between", "quiet")]


def _format_time_between(seconds: float) -> str:
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return fmt.format_count_with_noun(round(seconds / size), word)
    return fmt.format_count_with_noun(round(max(0.0, seconds)), "second")


def choose_judge_columns(compared: RaterRecords) -> tuple[RunId, ...]:
    """Choose the judges that have a column in the list: the run's own, then the newest."""
    return tuple(each.id for each in compared.runs[:MOST_JUDGES])


def format_claim_list_heading(
    compared: RaterRecords, most: int, spec: "MetricSpec", width: int
) -> Line:
    """Draw the headings of the list; `most` annotators labelled one claim."""
    people = " ".join(LETTERS[:most])
    judges = (
        "".join(f" {f'#{run}':>3}" for run in choose_judge_columns(compared))
        if width >= JUDGES_FROM
        else ""
    )
    return align_to_edges(
        [Piece(f"   {spec.units[0]}", "quiet")], [Piece(f"{people} F{judges} ", "quiet")], width
    )


def claim_line(
    row: ClaimRow,
    claim: ClaimOpinions,
    compared: RaterRecords,
    most: int,
    labels: LabelSet,
    width: int,
    here: bool = False,
) -> Line:
    """Draw a claim: its words, each annotator's label, the final label, and the verdicts."""
    mark = Piece("!", "warn") if claim.flagged else Piece("·" if claim.final else " ", "quiet")
    right: list[Piece] = []
    opinions = order_opinions_anonymously(claim)
    for place in range(most):
        right.append(
            _letter_piece(opinions[place].verdict, labels) if place < len(opinions) else Piece(" ")
        )
        right.append(Piece(" "))
    right.append(_letter_piece(claim.final.verdict, labels) if claim.final else Piece(" "))
    if width >= JUDGES_FROM:
        for run in choose_judge_columns(compared):
            right.append(Piece("   "))
            if claim.is_undecided:
                right.append(Piece(fmt.HIDDEN_CELL, "quiet"))
            elif run in claim.judges:
                label = claim.judges[run]
                right.append(
                    Piece(fmt.get_label_letter(label, labels), fmt.get_label_look(label, labels))
                )
            else:
                right.append(Piece(" "))
    right.append(Piece(" "))
    room = width - count_cells_of_pieces(right) - 4
    text = fit_text(escape_line(row.text).text, room)
    look = "" if claim.is_undecided else "quiet"
    chosen = Piece(">" if here else " ")
    return make_line(chosen, mark, Piece(" "), Piece(f"{text} ", look), *right)


def _letter_piece(label: str | None, labels: LabelSet) -> Piece:
    return Piece(fmt.get_label_letter(label, labels), f"strong {fmt.get_label_look(label, labels)}")


def format_final_decision_lines(found: FinalVerdictView, width: int, height: int) -> list[Line]:
    """Draw both sides without their names, and what the final label can be."""
    claim = found.claim
    if claim is None:
        return [make_line(Piece(" nothing chosen", "quiet"))]
    if height < _SIDES_FROM:
        return _format_compact_opinion_lines(found, claim, width)
    return _format_side_by_side_decision_lines(found, claim, width, height)


def _make_final_choice_pieces(found: FinalVerdictView, claim: ClaimOpinions) -> list[Piece]:
    pieces: list[Piece] = []
    final_label = None if claim.final is None else claim.final.verdict
    for key, label, meaning in _list_final_choices(found):
        words = "not fair" if label == NOT_A_CLAIM else meaning
        chosen = label == final_label
        pieces += [
            Piece(f"[{key}]", "human mark" if chosen else "key"),
            Piece(f" {words}  ", "human strong" if chosen else ""),
        ]
    return pieces


def _choice_lines(pieces: list[Piece], width: int) -> list[Line]:
    """Draw the choices, a key and its words each, without a break within one."""
    rows = [[Piece(" final  ", "quiet")]]
    for key, words in zip(pieces[::2], pieces[1::2], strict=True):
        is_full = count_cells_of_pieces([*rows[-1], key, Piece(words.text.rstrip())]) > width - 1
        if is_full and len(rows[-1]) > 1:
            rows.append([Piece(" " * 8)])
        rows[-1] += [key, words]
    return [Line(tuple(truncate_pieces(row, width))) for row in rows]


def _list_final_choices(found: FinalVerdictView) -> Iterator[tuple[str, str, str]]:
    """List what the final label can be: key, label and meaning."""
    for number, (_, label, meaning) in enumerate(list_verdict_choices(found.spec), start=1):
        name = "unfair" if label == NOT_A_CLAIM else str(number)
        yield found.keys(f"adjudicate.final-{name}"), label, meaning


def _find_key_taking_over(found: FinalVerdictView, place: int, opinion: HumanVerdict) -> str:
    """Name the key that makes an annotator's label the final one; "" where none does.

    From C on it is that of the label itself: further letters have other meanings here.
    """
    if place < len(_TAKE_BINDINGS):
        return found.keys(_TAKE_BINDINGS[place])
    word = opinion.verdict or NOT_A_CLAIM
    return next((key for key, label, _ in _list_final_choices(found) if label == word), "")


def _opinion_pieces(letter: str, opinion: HumanVerdict, labels: LabelSet) -> list[Piece]:
    word = fmt.describe_label(opinion.verdict, labels)
    pieces = [
        Piece(f"{letter} ", "human strong"),
        Piece(word, fmt.get_label_look(opinion.verdict, labels)),
    ]
    code = next((each for each in REASON_CODES if each.name == opinion.code), None)
    if code is not None:
        pieces.append(Piece(f" · code {code.title}"))
    if opinion.unsure:
        pieces.append(Piece(" · low confidence", "warn"))
    return pieces


def _make_judge_verdict_pieces(found: FinalVerdictView, claim: ClaimOpinions) -> list[Piece]:
    if claim.is_undecided:
        return [Piece("judges: ", "quiet"), Piece("hidden until you decide", "quiet")]
    pieces = [Piece("judges: ", "quiet")]
    for run in found.compared.runs[:8]:
        if run.id in claim.judges:
            pieces += [
                Piece(f"#{run.id} ", "quiet"),
                _letter_piece(claim.judges[run.id], found.spec.labels),
            ]
            pieces.append(Piece("  "))
    return pieces


def _format_compact_opinion_lines(
    found: FinalVerdictView, claim: ClaimOpinions, width: int
) -> list[Line]:
    room = width - 2
    opinions = order_opinions_anonymously(claim)
    share = max(12, room // max(1, min(3, len(opinions))) - 1)
    both: list[Piece] = []
    for letter, opinion in zip(LETTERS, opinions[:3], strict=False):
        note = (
            [Piece(" ‹"), escape_line(opinion.note, limit=200), Piece("›")] if opinion.note else []
        )
        part = truncate_pieces([*_opinion_pieces(letter, opinion, found.spec.labels), *note], share)
        both += [*part, Piece(" " * max(1, share + 1 - count_cells_of_pieces(part)))]
    final: list[Piece] = [Piece("final: ", "quiet"), *_make_final_choice_pieces(found, claim)]
    last = [*_make_judge_verdict_pieces(found, claim)]
    if found.last:
        last += [Piece(" · last: ", "quiet"), Piece(found.last)]
    keys = [found.keys(name) for name in _TAKE_BINDINGS]
    keys += [_find_key_taking_over(found, place, each) for place, each in enumerate(opinions)][2:3]
    take = [
        piece
        for letter, key in zip(LETTERS, keys, strict=False)
        if key
        for piece in (Piece(f"[{key}]", "key"), Piece(f" take {letter}  "))
    ]
    lines = [both or [Piece("nobody has labelled anything yet", "quiet")], final, take, last]
    if claim.final is not None and claim.final.note:
        lines[2] += [Piece("note ", "quiet"), escape_line(claim.final.note, "human", limit=200)]
    return [Line((Piece(" "), *truncate_pieces(each, room))) for each in lines]


def _format_side_by_side_decision_lines(
    found: FinalVerdictView, claim: ClaimOpinions, width: int, height: int
) -> list[Line]:
    """Draw what annotators say side by side, then what the final label can be, and the judges."""
    pad = [Piece(" ")]
    opinions = order_opinions_anonymously(claim)
    sides: list[Line] = []
    if not opinions:
        sides += wrap([Piece("Nobody has given a verdict yet.", "quiet")], width - 1, first=pad)
    for start in range(0, len(opinions), MOST_SIDES):
        sides += _format_opinion_column_lines(found, opinions, start, width)
    final = _choice_lines(_make_final_choice_pieces(found, claim), width)
    if claim.final is not None:
        settled = [
            Piece("settled by ", "quiet"),
            escape_line(claim.final.reviewer, "human", limit=40),
        ]
        if claim.final.note:
            settled += [Piece(" ‹"), escape_text(claim.final.note, "human", 600), Piece("›")]
        final += wrap(settled, width - 1, first=pad, most=6)
    final += wrap(_make_judge_verdict_pieces(found, claim), width - 1, first=pad, most=3)
    # Notes are as long as somebody wrote them: where room is short, what is decided comes first.
    lines = [*sides, BLANK, *final] if height >= _SIDES_FIRST_FROM else [*final, *sides]
    if claim.flagged:
        lines += wrap([Piece("flagged for a talk", "warn")], width - 1, first=pad)
    if found.last:
        last = [
            Piece("last ", "quiet"),
            Piece(found.last),
            *found.keys.fill_in_keys_as_pieces(" · {adjudicate.undo} undoes", "quiet"),
        ]
        lines += wrap(last, width - 1, first=pad, most=3)
    return lines


def _format_opinion_column_lines(
    found: FinalVerdictView, opinions: Sequence[HumanVerdict], start: int, width: int
) -> list[Line]:
    """Set some opinions beside each other, each with its key, code and note in full."""
    some = opinions[start : start + MOST_SIDES]
    wide = max(16, (width - 1) // len(some))
    columns = [
        _annotator_column(
            found, LETTERS[min(start + place, len(LETTERS) - 1)], start + place, each, wide
        )
        for place, each in enumerate(some)
    ]
    lines = []
    for row in range(max(map(len, columns))):
        pieces: list[Piece] = []
        for column in columns:
            kept = truncate_pieces(column[row].pieces, wide) if row < len(column) else []
            pieces += [*kept, Piece(" " * (wide - count_cells_of_pieces(kept)))]
        lines.append(make_line(*pieces))
    return lines


def _annotator_column(
    found: FinalVerdictView, letter: str, place: int, opinion: HumanVerdict, width: int
) -> list[Line]:
    """Draw one annotator's label, reason and words."""
    head: list[Piece] = [Piece(f" {letter} ", "human strong")]
    if key := _find_key_taking_over(found, place, opinion):
        head = [Piece(" "), Piece(f"[{key}]", "key"), Piece(" ")]
        head.append(Piece(f"{letter} ", "human strong"))
    word = fmt.describe_label(opinion.verdict, found.spec.labels)
    verdict_piece = Piece(word, fmt.get_label_look(opinion.verdict, found.spec.labels))
    lines = wrap([verdict_piece], width - 1, first=head)
    code = next((each for each in REASON_CODES if each.name == opinion.code), None)
    facts = [f"code: {code.title}"] if code is not None else ["no reason code"]
    facts += ["low confidence"] if opinion.unsure else []
    lines += wrap([Piece(", ".join(facts), "quiet")], width - 1, first=[Piece("   ")])
    if opinion.note:
        note = [Piece("‹"), escape_text(opinion.note, "", 600), Piece("›")]
        lines += wrap(note, width - 1, first=[Piece("   ")], most=8)
    return lines


_WHERE_NEXT_DIFFERS: Final = {
    ComparisonFilter.HUMANS: "the judge differs from the human label",
    ComparisonFilter.FINAL: "judges of different runs differ",
    ComparisonFilter.JUDGES: "annotators differ",
}
"""By what is listed: who differs in the list that comes next."""


def no_compared_claims_lines(
    compared: RaterRecords | None, chosen: ComparisonFilter, spec: "MetricSpec | None", width: int
) -> Sequence[Line]:
    """Say in few words why the list is empty."""
    first, *_ = _explain_empty_list(compared, chosen, spec)
    return wrap([Piece(first, "strong")], width - 1, first=[Piece(" ")])


def adjudication_step_lines(
    compared: RaterRecords | None,
    chosen: ComparisonFilter,
    spec: "MetricSpec | None",
    width: int,
    keys: KeyNames,
) -> Sequence[Line]:
    """Say how something would come into the list, a way each."""
    lines: list[Line] = []
    for each in _explain_empty_list(compared, chosen, spec)[1:]:
        lines += wrap(
            keys.fill_in_keys_as_pieces(each), width - 1, first=[Piece(" ")], rest=[Piece("    ")]
        )
    return lines


def _explain_empty_list(
    compared: RaterRecords | None, chosen: ComparisonFilter, spec: "MetricSpec | None"
) -> tuple[str, ...]:
    """Give sentences: what is needed, then how to get there."""
    if compared is None or spec is None:
        return ("There is no run yet.", "{go.runs}, then {runs.new} starts one.")
    unit, units = spec.units
    people = {each.reviewer for claim in compared.claims for each in claim.opinions}
    common = sum(len(each.opinions) > 1 for each in compared.claims)
    other = f"{{adjudicate.filter}} lists {units} on which {_WHERE_NEXT_DIFFERS[chosen]}."
    ways = (
        "1. {go.queues} draws a sample to label.",
        "2. Both label this store, each under a name: faithtui --reviewer NAME.",
        "   Or each labels a copy: there faithtui export labels, here faithtui merge FILE.",
        f"3. Where they differ, the {units} are listed here with both reasons, and you give the "
        "final label.",
    )
    match chosen:
        case ComparisonFilter.HUMANS if len(people) < 2:
            return (
                f"Nothing to settle: two annotators must label the same {units}. So far "
                f"{'one annotator has' if people else 'nobody has'} labelled any.",
                *ways,
                other,
            )
        case ComparisonFilter.HUMANS if not common:
            return (
                f"Nothing to settle: no {unit} has labels of two annotators. {len(people)} "
                "annotators have labelled, each something else.",
                *ways,
                other,
            )
        case ComparisonFilter.HUMANS:
            return (
                f"Nothing to settle: {fmt.format_count_with_noun(common, unit, units)} "
                f"{'has' if common == 1 else 'have'} labels of two annotators or more, who differ "
                "on none.",
                f"When annotators give a {unit} different labels, it is listed here with their "
                "reasons, and you give the final label.",
                "{go.queues} draws more to label.",
                other,
            )
        case ComparisonFilter.FINAL:
            return (
                "The judge's verdict equals the human label wherever there is one."
                if people
                else "Nothing of this run has a human label yet.",
                f"{units.capitalize()} that still need adjudication are not listed here: that "
                "would reveal the judge's verdict.",
                other,
            )
        case ComparisonFilter.JUDGES:
            return (
                f"Needed: another run of this metric that judges the same {units} otherwise.",
                "{go.runs}, then {runs.new} starts one.",
                other,
            )
