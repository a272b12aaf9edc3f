"""The answers of a run as CSV, one flat row each: the twin of the claims, for answer figures."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO

from faithtui.agreement.documents.csv_report import (
    OpinionDates,
    format_all_blind_cell,
    format_count_cell,
    format_number_cell,
    format_opinions_cell,
    format_reason_codes_cell,
    format_yes_or_no_cell,
    read_and_empty_buffer,
)
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    Opinion,
    UnratedAnswer,
    decide_answer_by_majority,
    is_tied,
)
from faithtui.agreement.report.figures.claims_and_answers import (
    find_judge_answer_verdict,
    pass_or_fail,
)
from faithtui.domain.csv_cells import escape_formula
from faithtui.domain.ids import ClaimId
from faithtui.domain.scores import ScoringRule

ANSWER_COLUMNS = (
    "conversation",
    "group",
    "turn",
    "text",
    "judge",
    "score",
    "threshold",
    "claims",
    "human",
    "label",
    "same",
    "tied",
    "rating",
    "sample",
    "stratum",
    "position",
    "weight",
    "reviewers",
    "verdicts",
    "codes",
    "blind",
    "run",
    "metric",
    "judged_by",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An answer of a run, with its verdict and human labels."""

    conversation: str
    """The conversation's own id."""
    group: str
    turn: int
    judge: str | None
    """`yes` where it passes and `no` where it fails; None: nothing was judged in it, or it has no
    score or no threshold."""
    score: float | None = None
    claims: int | None = None
    """None where the metric judges the answer itself."""
    human: str | None = None
    """`yes` or `no` as the figures count it; None: no label that counts, or a tie."""
    label: str | None = None
    """Consensus in words of the metric; None: no label, or a tie."""
    tied: bool | None = None
    """As many annotators pass it as fail it; None: not labelled."""
    rating: float | None = None
    stratum: str | None = None
    position: int | None = None
    weight: float | None = None
    """How many answers it stands for; None: it is not of a random sample."""
    reviewers: int = 0
    opinions: tuple[Opinion, ...] = ()


def make_row_of_answer_labelled_as_whole(answer: AnswerUnit, rule: ScoringRule) -> AnswerRow:
    """Read an answer that annotators labelled as a whole, beside the score of its claims."""
    passes = decide_answer_by_majority(answer, rule.passing, rule.labels)
    return AnswerRow(
        conversation=answer.key,
        group=answer.group,
        turn=answer.turn,
        judge=find_judge_answer_verdict(answer),
        score=answer.score.value,
        claims=answer.claims,
        human=None if passes is None else pass_or_fail(passes),
        label=None if is_tied(answer.opinions, rule.labels) else answer.human,
        tied=None if answer.human is None else passes is None,
        rating=answer.rating,
        reviewers=answer.raters,
        opinions=answer.opinions,
    )


def make_row_of_answer_without_whole_label(answer: UnratedAnswer) -> AnswerRow:
    """Read an answer that nobody labelled as a whole."""
    return AnswerRow(
        conversation=answer.key,
        group=answer.group,
        turn=answer.turn,
        judge=None if answer.passes is None else pass_or_fail(answer.passes),
        score=answer.score,
        claims=answer.claims,
    )


def make_row_of_answer_metric_judges(
    answer: ClaimUnit, rule: ScoringRule, weights: Mapping[ClaimId, float]
) -> AnswerRow:
    """Read an answer that the metric judges itself: it is what samples are drawn from."""

    def word_to_pass_or_fail(word: str | None) -> str | None:
        return pass_or_fail(word in rule.passing) if word in rule.labels else None

    tied = is_tied(answer.opinions, rule.labels)
    return AnswerRow(
        conversation=answer.key,
        group=answer.group,
        turn=answer.turn,
        judge=word_to_pass_or_fail(answer.judge),
        human=None if tied else word_to_pass_or_fail(answer.human),
        label=None if tied else answer.human,
        tied=None if answer.human is None else tied,
        stratum=answer.stratum,
        position=answer.position,
        weight=weights.get(answer.claim),
        reviewers=answer.reviewers,
        opinions=answer.opinions,
    )


def answers_csv(
    answers: Iterable[tuple[AnswerRow, str]],
    header: ReportHeader,
    dates: OpinionDates,
    *,
    threshold: float | None,
    sample: str = "",
) -> Iterator[str]:
    """Write answers as CSV, row by row.

    Cells are quoted and escaped as in `claims_csv`. All figures of answers in a report can be
    computed again from `judge`, `human`, `group` and `weight`.

    Args:
        answers: Answers and what they say, in the order of the rows.
        header: Whose verdicts they are.
        dates: When verdicts were stored.
        threshold: From which score on an answer passes; None: there is none.
        sample: Name of the sample that the positions belong to.

    Yields:
        A header line and one record per answer, lines ending in LF; line breaks in a text stay.
    """
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(ANSWER_COLUMNS)
    judged = (int(header.run), header.metric, escape_formula(header.judge))
    for answer, text in answers:
        yield read_and_empty_buffer(out)
        both = answer.judge is not None and answer.human is not None
        writer.writerow(
            (
                escape_formula(answer.conversation),
                escape_formula(answer.group),
                answer.turn,
                escape_formula(text),
                answer.judge or "",
                format_number_cell(answer.score),
                format_number_cell(threshold),
                format_count_cell(answer.claims),
                answer.human or "",
                escape_formula(answer.label or ""),
                format_yes_or_no_cell(answer.judge == answer.human if both else None),
                format_yes_or_no_cell(answer.tied),
                format_number_cell(answer.rating),
                escape_formula(sample if answer.position is not None else ""),
                escape_formula(answer.stratum or ""),
                format_count_cell(answer.position),
                format_number_cell(answer.weight),
                answer.reviewers,
                format_opinions_cell(answer.opinions, dates),
                format_reason_codes_cell(answer.opinions),
                format_all_blind_cell(answer.opinions),
                *judged,
            )
        )
    yield read_and_empty_buffer(out)
