"""Lines of the verdict: what can be said, what was said, and what it does to the scores."""

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from faithtui.domain.labels.label_events import (
    Action,
)
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.store.records import ClaimView, FreshVerdict, ReviewView
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import get_reference_noun_plural, reference_letter
from faithtui.tui.review.lines.claim_lines import is_judge_wording_unlike_label
from faithtui.tui.review.lines.evidence_lines import (
    STANCE_LOOKS,
    STANCE_WORDS,
    format_other_windows,
    list_joint_truth_sets,
)
from faithtui.tui.review.position import ReviewPosition, get_judge_verdict, translate_label
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    escape_text,
    make_line,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

VERDICT_KEYS = ("y", "n", "i")
"""Keys of a metric's labels, in the order of its label set."""
UNFAIR_KEY = "x"
VERDICT_IDS = {"y": "yes", "n": "no", "i": "idk", "x": "unfair"}
"""Ends of the ids of the bindings that these keys have."""


@dataclass(frozen=True, slots=True)
class VerdictView:
    """Everything the verdict pane draws."""

    view: ReviewView
    claim: ClaimView | None
    focus: ReviewPosition
    spec: "MetricSpec"
    per_interaction: bool
    """Show scores in which each interaction counts once, not once per window."""
    last_act_words: str
    """The last label event in words; "" for none yet."""
    keys: KeyNames = field(default_factory=lambda: KeyNames({}))
    """What keys are called."""
    asked_again: tuple[FreshVerdict, ...] = ()
    """What the judge said when it was asked again, of all claims that are not hidden."""

    @property
    def label_set(self) -> LabelSet:
        """The labels that judge and annotators can give."""
        return self.spec.labels


def list_verdict_choices(spec: "MetricSpec") -> tuple[tuple[str, str, str], ...]:
    """List the labels that an annotator can give: key, label and meaning."""
    own = tuple(
        (key, label.name, label.meaning)
        for key, label in zip(VERDICT_KEYS, spec.labels.labels, strict=False)
    )
    return (*own, (UNFAIR_KEY, NOT_A_CLAIM, f"not a fair {spec.units[0]}"))


def verdict_lines(shown_view: VerdictView, width: int, height: int) -> list[Line]:
    """Draw the verdict, in a strip where the pane is low and wide, else as a column."""
    if shown_view.claim is None:
        return [make_line(Piece(" nothing to judge here", "quiet"))]
    if uses_strip_layout(width, height):
        return _verdict_strip_lines(shown_view, shown_view.claim, width, height)
    return _verdict_column_lines(shown_view, shown_view.claim, width)


def uses_strip_layout(width: int, height: int) -> bool:
    """Say whether a pane is too low for a column, and wide or very low."""
    return height < 6 or (height < 10 and width >= 70)


def score_pieces(shown_view: VerdictView, *, is_brief: bool = False) -> list[Piece]:
    """Show the scores: the judge's and, where they differ, those with overrides.

    Args:
        shown_view: What is drawn.
        is_brief: Say in a word, not in a sentence, what stands against them.
    """
    view, window = shown_view.view, shown_view.focus.window
    name = "per interaction" if shown_view.per_interaction else "mean of windows"
    pieces = [Piece(f"{name} ", "quiet")]
    pieces.append(Piece(format_conversation_score(view, shown_view.per_interaction), "strong"))
    if not view.is_blind and view.item.corrected not in (None, view.item.scores):
        reviewed = "" if is_brief else f", {view.item.labelled} of {view.item.claims} reviewed"
        pieces.append(Piece(f" with overrides{reviewed}", "quiet"))
    if passing := _find_open_verdict_that_passes(shown_view):
        pieces.append(
            Piece(f" ({passing} {'passes' if is_brief else 'counts as a pass'})", "quiet")
        )
    found = view.item.integrity
    if not view.is_blind and fmt.get_soundness_mark(found):
        sentence = shown_view.spec.format_integrity_sentence(found)
        words = found.soundness.value if is_brief else sentence
        pieces.append(Piece(f" {words}", fmt.get_soundness_look(found)))
    if window is not None and window < len(view.windows) and not view.is_blind:
        row = view.windows[window]
        pieces += [
            Piece(f" · w{window + 1} ", "quiet"),
            Piece(fmt.format_score_change(row.score, row.corrected), "strong"),
        ]
    return pieces


def _find_open_verdict_that_passes(shown_view: VerdictView) -> str | None:
    """Give the judge's verdict on the claim where it settles nothing and passes in the score."""
    claim = shown_view.claim
    if claim is None or shown_view.view.is_blind:
        return None
    label = get_judge_verdict(claim, shown_view.focus.window).label
    labels, rule = shown_view.spec.labels, shown_view.view.run.spec.rule
    is_open = labels.find_label_polarity(label) is Polarity.UNSURE
    return label if is_open and label in rule.passing else None


def format_conversation_score(view: ReviewView, once: bool) -> str:
    """Write the conversation's score, judge's and with overrides, after the mark of soundness."""
    if view.is_blind:
        return fmt.HIDDEN
    judge, corrected = view.item.scores, view.item.corrected
    mark = fmt.get_soundness_mark(view.item.integrity)
    if once:
        return mark + fmt.format_score_change(
            judge.per_interaction if judge else None,
            corrected.per_interaction if corrected else None,
        )
    return mark + fmt.format_score_change(
        judge.windowed if judge else None, corrected.windowed if corrected else None
    )


def _get_reviewer_verdict(shown_view: VerdictView, claim: ClaimView) -> str | None:
    """Give the reviewer's word, in the words of the run's metric."""
    return translate_label(shown_view.view, claim.mine.verdict) if claim.mine else None


def _judge_wording_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    """Give what the judge wrote where that is not the label itself."""
    verdict = get_judge_verdict(claim, shown_view.focus.window)
    if not is_judge_wording_unlike_label(claim, verdict):
        return []
    return [Piece("«"), escape_line(verdict.word or "", limit=400), Piece("»")]


def _judge_verdict_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    labels = shown_view.label_set
    if _is_judge_verdict_hidden(shown_view, claim):
        if claim.seen:
            return [Piece(fmt.HIDDEN, "quiet"), Piece(" seen before: not blind", "warn")]
        return [Piece(fmt.HIDDEN, "quiet"), Piece(" hidden until you answer", "quiet")]
    verdict = get_judge_verdict(claim, shown_view.focus.window)
    judge = shown_view.view.run.spec.judge
    pieces = [
        Piece(
            fmt.describe_label(verdict.label, labels, judge),
            f"strong {fmt.get_label_look(verdict.label, labels)}",
        ),
        Piece(f" in w{verdict.window + 1}", "quiet"),
        Piece(fmt.format_confidence(verdict.confidence, labels, judge), "quiet"),
    ]
    others = [each for each in claim.verdicts if each.label != verdict.label]
    if others:
        words = ", ".join(
            f"w{o.window + 1} {fmt.get_label_letter(o.label, labels)}" for o in others[:6]
        )
        pieces.append(Piece(f" · differs: {words}", "warn"))
    elif len(claim.verdicts) > 1:
        where = fmt.format_window_ranges(tuple(each.window for each in claim.verdicts))
        pieces.append(Piece(f" · same in {where}", "quiet"))
    return pieces


def _re_asked_verdict_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    """List the judge's verdict when it was asked again, in that order."""
    labels = shown_view.label_set
    pieces: list[Piece] = []
    for each in shown_view.asked_again:
        if each.claim == claim.id:
            pieces += [Piece(", ", "quiet")] if pieces else []
            word = "no verdict" if each.label is None else escape_line(each.label, limit=24).text
            pieces.append(Piece(word, fmt.get_label_look(each.label, labels)))
    return pieces and [Piece("asked again: ", "quiet"), *pieces]


def _is_judge_verdict_hidden(shown_view: VerdictView, claim: ClaimView) -> bool:
    return claim.id in shown_view.view.hidden


def _label_remark_pieces(claim: ClaimView) -> list[Piece]:
    """Show what belongs to the reviewer's label: code, doubt, flag, skip, whether it counts."""
    mine = claim.mine
    if mine is None:
        return []
    code = next((each for each in REASON_CODES if each.name == mine.code), None)
    words = [
        (f"code {code.title}" if code else "", "human"),
        ("low confidence" if mine.unsure else "", "warn"),
        ("flagged" if mine.flagged else "", "warn strong"),
        ("skipped" if mine.is_skipped else "", "warn"),
        ("in bulk: not counted" if mine.action is Action.BULK else "", "quiet"),
        ("accepted: not counted" if mine.action is Action.ACCEPTED else "", "quiet"),
    ]
    pieces: list[Piece] = []
    for text, look in words:
        if text:
            pieces += [Piece(" · ", "quiet")] if pieces else []
            pieces.append(Piece(text, look))
    return pieces


def _reason_code_lines(shown_view: VerdictView, width: int) -> list[Line]:
    """List the reason codes, each behind its key on one line."""
    lines: list[list[Piece]] = [[Piece(f" {'code':<7}", "quiet")]]
    for code in REASON_CODES:
        key = shown_view.keys(f"review.code-{code.name}")
        named = [Piece(key, "key"), Piece(f" {code.title}  ", "quiet")]
        # The blanks behind the last one may go over the edge.
        if len(lines[-1]) > 1 and count_cells_of_pieces([*lines[-1], *named]) - 2 > width - 1:
            lines.append([Piece(" " * 8)])
        lines[-1] += named
    return [Line(tuple(truncate_pieces(each, width))) for each in lines[:4]]


def _evidence_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    """Name the evidence in the window that is shown, then what is in view elsewhere, and where."""
    by_id = {truth.id: truth for truth in shown_view.view.truths}
    letter = reference_letter(shown_view.spec)
    facts = shown_view.spec.references_are_facts
    home = get_judge_verdict(claim, shown_view.focus.window).window
    in_view: list[Piece] = []
    elsewhere: list[Piece] = []

    def add(words: str, look: str, where: str) -> None:
        pieces = elsewhere if where else in_view
        pieces += [Piece(f" · {words}", look), Piece(where, "quiet")]

    for stance, look in STANCE_LOOKS:
        for together in list_joint_truth_sets(claim, by_id)[:3] if stance == "supports" else ():
            listed = "+".join(f"{letter}{truth.number}" for truth in together)
            add(f"support together: {listed}", look, format_other_windows(together, home))
        named: dict[str, list[int]] = {}
        for each in claim.evidence:
            if each.stance == stance and each.truth in by_id and not each.sets:
                truth = by_id[each.truth]
                named.setdefault(format_other_windows([truth], home), []).append(truth.number)
        for where, numbers in sorted(named.items()):
            listed = " ".join(f"{letter}{n}" for n in numbers[:5])
            add(f"{listed} {STANCE_WORDS[stance]}" if facts else f"serves {listed}", look, where)
    return [*in_view, *elsewhere]


def _note_pieces(claim: ClaimView) -> list[Piece]:
    if claim.mine and claim.mine.note:
        return [Piece("note ", "quiet"), escape_line(claim.mine.note, "human", limit=400)]
    return []


def _other_reviewer_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    pieces: list[Piece] = []
    for other in claim.others[:4]:
        if other.verdict is None:
            continue
        if pieces:
            pieces.append(Piece(", ", "quiet"))
        word = translate_label(shown_view.view, other.verdict)
        name = escape_line(other.reviewer, "quiet", limit=24)
        if word is None:
            pieces += [name, Piece(f" {_describe_other_metric_label(other.verdict)}", "quiet")]
        else:
            # The letter comes first: where the line is cut, the name is.
            letter = fmt.get_label_letter(word, shown_view.label_set)
            pieces += [Piece(f"{letter} ", "human strong"), name]
    if len(claim.others) > 4:
        pieces.append(Piece(f" and {len(claim.others) - 4} more", "quiet"))
    return pieces


def _other_metric_verdict_pieces(shown_view: VerdictView, claim: ClaimView) -> list[Piece]:
    """Report a label of the reviewer that this metric has no meaning for."""
    if (
        claim.mine is None
        or claim.mine.verdict is None
        or _get_reviewer_verdict(shown_view, claim) is not None
    ):
        return []
    return [Piece(_describe_other_metric_label(claim.mine.verdict), "warn")]


def _describe_other_metric_label(word: str) -> str:
    """Quote a word that was said under another metric and means nothing under this one."""
    return f"`{escape_line(word, limit=24).text}`, a word of another metric"


def _describe_reveal_keys(shown_view: VerdictView) -> str:
    """Name the keys that show what is hidden."""
    words = "{review.reveal} shows it, and that is recorded"
    if shown_view.spec.references is not None and not shown_view.view.truths_whole:
        references = get_reference_noun_plural(shown_view.spec)
        words = f"{{review.reveal}} shows it, {{review.truths}} the {references}; both are recorded"
    return shown_view.keys.fill_in_keys(words)


def _choice_pieces(key: str, label: str, meaning: str, given_label: str | None) -> list[Piece]:
    chosen = label == given_label
    mark = Piece(f"[{key}]", "human mark" if chosen else "key")
    return [mark, Piece(f" {meaning}", "human strong" if chosen else "")]


def _strip_choice_rows(
    shown_view: VerdictView, given_label: str | None, room: int, most: int
) -> list[list[Piece]]:
    """Put all that can be said on one line, or on two where that leaves its words whole."""
    row = _one_line_choice_pieces(shown_view, given_label, room)
    if most < 2 or not any("…" in piece.text for piece in row):
        return [row]
    choices = [
        _choice_pieces(key, label, meaning, given_label)
        for key, label, meaning in _list_strip_choices(shown_view)
    ]
    columns = -(-len(choices) // 2)
    empty: list[Piece] = []
    pairs = list(zip_longest(choices[:columns], choices[columns:], fillvalue=empty))
    cells = [max(map(count_cells_of_pieces, pair)) for pair in pairs]
    gap = min(2, (room - sum(cells)) // max(1, columns - 1))
    if gap < 1:
        return [row]
    rows: list[list[Piece]] = [[], []]
    for pair, column in zip(pairs, cells, strict=True):
        for pieces, choice in zip(rows, pair, strict=True):
            pieces += [Piece(" " * gap)] if pieces else []
            pieces += [*choice, Piece(" " * (column - count_cells_of_pieces(choice)))]
    return rows


def _list_strip_choices(shown_view: VerdictView) -> list[tuple[str, str, str]]:
    """List key, label and meaning of all that can be said, in few words."""
    return [
        (
            shown_view.keys(f"review.verdict-{VERDICT_IDS[key]}"),
            label,
            "not fair" if label == NOT_A_CLAIM else meaning,
        )
        for key, label, meaning in list_verdict_choices(shown_view.spec)
    ]


def _one_line_choice_pieces(
    shown_view: VerdictView, given_label: str | None, room: int
) -> list[Piece]:
    """Put all that can be said on one line, its words cut evenly where they have no room."""
    listed = _list_strip_choices(shown_view)

    def make_row(head: str, longest: int) -> list[Piece]:
        pieces = [Piece(head, "quiet")]
        for number, (key, label, meaning) in enumerate(listed):
            words = escape_line(meaning, limit=longest).text
            pieces += [Piece("  ")] if number else []
            pieces += _choice_pieces(key, label, words, given_label)
        return pieces

    full = max(count_cells_of_pieces([Piece(meaning)]) for _, _, meaning in listed)
    tries = [("yours: ", full), *(("", longest) for longest in range(full, 3, -1))]
    rows = (make_row(head, longest) for head, longest in tries)
    return next((each for each in rows if count_cells_of_pieces(each) <= room), make_row("", 4))


def _choice_lines(
    shown_view: VerdictView, given_label: str | None, width: int, pad: int
) -> list[Line]:
    """Put all that can be said on as few lines as hold it, in columns."""
    choices = [
        _choice_pieces(
            shown_view.keys(f"review.verdict-{VERDICT_IDS[key]}"), label, meaning, given_label
        )
        for key, label, meaning in list_verdict_choices(shown_view.spec)
    ]
    cells = max(count_cells_of_pieces(pieces) for pieces in choices) + 2
    if width - 1 - pad < 2 * cells <= width + 1:
        pad, cells = 1, width // 2
    columns = max(1, min(len(choices), (width + 1 - pad) // cells))
    columns = 2 if columns == 3 and len(choices) == 4 else columns
    lines = []
    for first in range(0, len(choices), columns):
        head = "yours" if first == 0 and pad > 1 else ""
        pieces = [Piece(f" {head:<{pad - 1}}", "quiet")]
        for choice in choices[first : first + columns]:
            pieces += [*choice, Piece(" " * (cells - count_cells_of_pieces(choice)))]
        lines.append(make_line(*pieces))
    return lines


def _verdict_strip_lines(
    shown_view: VerdictView, claim: ClaimView, width: int, height: int
) -> list[Line]:
    """Draw four or five lines; only the word for what is not fair is shorter than elsewhere."""
    room = width - 2
    own_label = _get_reviewer_verdict(shown_view, claim)
    yours = _strip_choice_rows(shown_view, own_label, room, height - 3)
    judge = [Piece("judge: ", "quiet"), *_judge_verdict_pieces(shown_view, claim)]
    if again := _re_asked_verdict_pieces(shown_view, claim):
        judge += [Piece(" · ", "quiet"), *again]
    judge += _evidence_pieces(shown_view, claim)
    reason = get_judge_verdict(claim, shown_view.focus.window).reason
    wrote = _judge_wording_pieces(shown_view, claim)
    hidden = _is_judge_verdict_hidden(shown_view, claim)
    none = _describe_reveal_keys(shown_view) if hidden else "no reason given"
    why = [
        Piece("       " if hidden else "why:   ", "quiet"),
        *([Piece("wrote ", "quiet"), *wrote, Piece(" · ", "quiet")] if wrote else []),
        escape_line(reason, limit=600) if reason else Piece(none, "quiet"),
    ]
    last: list[Piece] = [Piece("score: ", "quiet"), *score_pieces(shown_view, is_brief=True)]
    note = _note_pieces(claim)
    marks = _label_remark_pieces(claim)
    if marks:
        last += [Piece(" · ", "quiet"), *marks]
    others = _other_reviewer_pieces(shown_view, claim)
    elsewhere = _other_metric_verdict_pieces(shown_view, claim)
    if elsewhere:
        last += [Piece(" · you said ", "quiet"), *elsewhere]
    elif note:
        last += [Piece(" · ", "quiet"), *note]
    elif others:
        last += [Piece(" · others: ", "quiet"), *others]
    elif shown_view.last_act_words:
        act = [Piece(" · last: ", "quiet"), Piece(shown_view.last_act_words)]
        # The line of what happened last says it too: a piece of it says nothing.
        last += act if count_cells_of_pieces([*last, *act]) <= room else []
    return [Line((Piece(" "), *truncate_pieces(each, room))) for each in (*yours, judge, why, last)]


def _verdict_column_lines(shown_view: VerdictView, claim: ClaimView, width: int) -> list[Line]:
    own_label = _get_reviewer_verdict(shown_view, claim)
    lines: list[Line] = []
    pad = 8
    lines += _choice_lines(shown_view, own_label, width, pad)
    elsewhere = _other_metric_verdict_pieces(shown_view, claim)
    if elsewhere:
        lines += wrap(elsewhere, width - 1, first=[Piece(" " * pad)], most=2)
    lines.append(BLANK)

    def field_lines(name: str, pieces: list[Piece], most: int) -> list[Line]:
        return wrap(pieces, width - 1, first=[Piece(f" {name:<{pad - 1}}", "quiet")], most=most)

    lines += field_lines("judge", _judge_verdict_pieces(shown_view, claim), 4)
    title = escape_line(shown_view.view.run.spec.judge_title, "quiet", limit=80)
    lines.append(make_line(Piece(" " * pad), *truncate_pieces([title], width - 1 - pad)))
    if again := _re_asked_verdict_pieces(shown_view, claim):
        lines += field_lines("", again, 2)
    truths = _evidence_pieces(shown_view, claim)
    if truths:
        first, *rest = truths
        lines += field_lines("", [Piece(first.text.removeprefix(" · "), first.look), *rest], 2)
    reason = get_judge_verdict(claim, shown_view.focus.window).reason
    wrote = _judge_wording_pieces(shown_view, claim)
    if wrote:
        lines += field_lines("wrote", wrote, 4)
    none = "no reason given"
    if _is_judge_verdict_hidden(shown_view, claim):
        none = _describe_reveal_keys(shown_view)
    lines += field_lines(
        "why" if reason else "", [escape_text(reason)] if reason else [Piece(none, "quiet")], 5
    )
    others = _other_reviewer_pieces(shown_view, claim)
    if others:
        lines += field_lines("others", others, 2)
    if not shown_view.view.is_blind:
        lines += [BLANK, *field_lines("score", score_pieces(shown_view), 3)]
    marks = _label_remark_pieces(claim)
    if marks:
        lines += field_lines("marks", marks, 2)
    note = _note_pieces(claim)
    if note:
        lines += wrap(note[1:], width - 1, first=[Piece(f" {'note':<{pad - 1}}", "quiet")], most=3)
    if shown_view.last_act_words:
        was_undone = shown_view.last_act_words.startswith("undone ")
        back = " · {review.redo} redoes" if was_undone else " · {review.undo} undoes"
        way_back = Piece(shown_view.keys.fill_in_keys(back), "quiet")
        lines += field_lines("last", [Piece(shown_view.last_act_words), way_back], 3)
        lines += [BLANK, *_reason_code_lines(shown_view, width)]
    return lines
