"""Lines of what changed between two runs, against people."""

from faithtui.domain.estimates import Estimate
from faithtui.engine.integrity.judged_conversations import integrity_sentence
from faithtui.engine.review.run_comparison import RunChange
from faithtui.store.records import RunRow
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, fit, line, shown_line, wrap

_NAME = 16
_P = 46


def change_lines(change: RunChange, width: int) -> list[Line]:
    """Say how accuracy and kappa change, how sure that is, and what it rests on.

    Args:
        change: Two runs on the claims that both judged and people labelled.
        width: Cells of a line.
    """
    report = change.report
    lines = [
        *_named("A", change.a, width),
        *_named("B", change.b, width),
        BLANK,
        *_told(
            f"{fmt.plural(report.common, 'claim')} in {fmt.plural(report.clusters, 'group')} of "
            "conversations, judged by both and labelled by annotators",
            width,
        ),
        BLANK,
        *_figures("accuracy", report.accuracy_a, report.accuracy_b, report.difference, width),
        *_figures("Cohen's kappa", change.kappa_a, change.kappa_b, report.kappa_difference, width),
        BLANK,
        *_told(f"only A is right: {report.only_a}; only B is right: {report.only_b}", width),
        BLANK,
        line(Piece(f" {fit('How likely that is if nothing changed', _P)}", "strong"), "p"),
    ]
    for name, value in (
        ("signs of groups flipped", report.signflip_p),
        ("McNemar for groups (Durkalski)", report.durkalski_p),
        ("McNemar mid-p, if claims were independent", report.mcnemar_p),
    ):
        lines.append(line(Piece(f" {fit(name, _P)}", "quiet"), fmt.probability(value)))
    notes = _notes(change)
    for note in notes:
        lines += [BLANK] if note is notes[0] else []
        lines += wrap([Piece(note)], width - 1, first=[Piece(" ! ", "warn")])
    return lines


def _named(letter: str, row: RunRow, width: int) -> list[Line]:
    examples = ", shown examples" if row.spec.examples else ""
    return wrap(
        [
            Piece(f"run #{row.id} ", "strong"),
            shown_line(row.spec.metric, limit=60),
            Piece(" by ", "quiet"),
            shown_line(row.spec.judge_title, limit=200),
            Piece(f" · prompts {row.spec.prompt_digest[:8]}{examples}", "quiet"),
        ],
        width - 1,
        first=[Piece(f" {letter}  ", "key")],
    )


def _told(words: str, width: int) -> list[Line]:
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def _figures(name: str, a: Estimate, b: Estimate, difference: Estimate, width: int) -> list[Line]:
    lines = []
    for what, value in (("A", a), ("B", b), ("B - A", difference)):
        head = Piece(f" {fit(name if what == 'A' else '', _NAME)}", "strong")
        lines += wrap([Piece(fmt.estimate(value))], width - 1, first=[head, Piece(f"{what:<7}")])
    return lines


def _notes(change: RunChange) -> list[str]:
    """Say what the figures leave out, and what they lean on."""
    left = change.left_out
    parts = (
        (left.shown, "of conversations that examples came from"),
        (left.without_verdict, "without a verdict of a judge"),
        (left.unlabelled, "without a human label that counts"),
        (left.unfair, "labelled x, not a fair claim"),
    )
    notes = [
        f"run {row.id}: {found}"
        for row in (change.a, change.b)
        if (found := integrity_sentence(row.spec.metric, row.integrity))
    ]
    notes += [f"left out: {fmt.plural(count, 'claim')} {why}" for count, why in parts if count]
    if change.only_a or change.only_b:
        notes.append(
            f"not compared: {fmt.plural(change.only_a, 'claim')} only A judged, "
            f"{fmt.thousands(change.only_b)} only B"
        )
    if change.in_view:
        notes.append(
            f"{fmt.thousands(change.in_view)} of {fmt.plural(change.report.common, 'claim')} were "
            "labelled with a judge's verdict shown, which favours that judge"
        )
    if change.opening is not None:
        notes.append(change.opening.sentence)
    return notes
