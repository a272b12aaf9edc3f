"""Lines of what changed between two runs, against annotators."""

from faithtui.agreement.documents.figure_texts import INTERVALS_BESIDE_P
from faithtui.domain.estimates import Estimate
from faithtui.engine.review.reports.run_comparison import RunComparison
from faithtui.store.records import RunRow
from faithtui.tui.agreement.comparison_notes import list_comparison_notes
from faithtui.tui.runs.run_options_text import format_changed_options
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, fit_text, make_line, wrap

_NAME = 16
_P = 46


def format_run_comparison_lines(change: RunComparison, width: int) -> list[Line]:
    """Say how accuracy and kappa change, how sure that is, and what it rests on.

    Args:
        change: Two runs on the claims that both judged and annotators labelled.
        width: Cells of a line.
    """
    report = change.report
    lines = [
        *_format_compared_run_lines("A", change.a, width),
        *_format_compared_run_lines("B", change.b, width),
        BLANK,
        *_text_lines(
            f"{fmt.format_count_with_noun(report.n_common, 'claim')} in "
            f"{fmt.format_count_with_noun(report.clusters, 'group')} of "
            "conversations, judged by both and labelled by annotators",
            width,
        ),
        *(
            []
            if not change.weighting_sentence
            else _format_escaped_lines(change.weighting_sentence, width)
        ),
        BLANK,
        *_format_estimates_of_both_runs(
            "accuracy", report.accuracy_a, report.accuracy_b, report.difference, width
        ),
        *_format_estimates_of_both_runs(
            "Cohen's kappa", report.kappa_a, report.kappa_b, report.kappa_difference, width
        ),
        BLANK,
        *_text_lines(
            f"only A is right: {report.a_only_correct}; only B is right: {report.b_only_correct}",
            width,
        ),
        BLANK,
        make_line(
            Piece(f" {fit_text('How likely that is if nothing changed', _P)}", "strong"), "p"
        ),
    ]
    for name, value in (
        ("signs of groups flipped", report.signflip_p),
        ("McNemar for groups (Durkalski)", report.clustered_mcnemar_p),
        ("McNemar mid-p, if claims were independent", report.mcnemar_mid_p),
    ):
        lines.append(make_line(Piece(f" {fit_text(name, _P)}", "quiet"), fmt.format_p_value(value)))
    lines += [BLANK, *_text_lines(INTERVALS_BESIDE_P, width)]
    notes = list_comparison_notes(change)
    if change.opening is not None:
        notes.append(change.opening.warning)
    for note in notes:
        lines += [BLANK] if note is notes[0] else []
        lines += wrap([Piece(note)], width - 1, first=[Piece(" ! ", "warn")])
    return lines


def _format_compared_run_lines(letter: str, row: RunRow, width: int) -> list[Line]:
    examples = ", shown examples" if row.spec.example_set else ""
    parameters = row.spec.profile.describe()
    asked = f" ({parameters})" if parameters else ""
    options = format_changed_options(row.spec)
    return wrap(
        [
            Piece(f"run #{row.id} ", "strong"),
            escape_line(row.spec.metric, limit=60),
            Piece(" by ", "quiet"),
            escape_line(f"{row.spec.judge_title}{asked}", limit=200),
            Piece(f" · prompts {row.spec.prompt_digest[:8]}{examples}", "quiet"),
            Piece(f" · {options}" if options else ""),
        ],
        width - 1,
        first=[Piece(f" {letter}  ", "key")],
    )


def _text_lines(words: str, width: int) -> list[Line]:
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def _format_escaped_lines(words: str, width: int) -> list[Line]:
    return wrap([escape_line(words, limit=400)], width - 1, first=[Piece(" ")])


def _format_estimates_of_both_runs(
    name: str, a: Estimate, b: Estimate, difference: Estimate, width: int
) -> list[Line]:
    lines = []
    for what, value in (("A", a), ("B", b), ("B - A", difference)):
        head = Piece(f" {fit_text(name if what == 'A' else '', _NAME)}", "strong")
        lines += wrap(
            [Piece(fmt.format_estimate(value))], width - 1, first=[head, Piece(f"{what:<7}")]
        )
    return lines
