from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import InputError
from tests.agreement.golden.window_rows import (
    GIVEN,
    DuplicateRule,
    JudgeRow,
    State,
    pipeline_counts,
)

WORDS = ("yes", "no", "idk")


def row(
    claim: str = "k", window: int = 0, judge: str | None = "yes", human: str | None = None
) -> JudgeRow:
    state = State.UNREVIEWED if human is None else State.BLIND
    return JudgeRow("c", claim, window, judge, state, "ann" if human else None, human)


@st.composite
def drawn(draw: st.DrawFn) -> list[JudgeRow]:
    found = []
    for claim in range(draw(st.integers(0, 12))):
        state = draw(st.sampled_from(list(State)))
        human = draw(st.sampled_from(WORDS)) if state in GIVEN else None
        judge = draw(st.sampled_from((*WORDS, None)))
        found.append(JudgeRow(f"c{claim % 3}", f"k{claim}", 0, judge, state, None, human))
    return found


@given(drawn(), st.integers(1, 4))
def test_repeating_every_window_changes_nothing(rows: list[JudgeRow], times: int) -> None:
    once = pipeline_counts(rows, WORDS)
    repeated = [replace(each, window=window) for each in rows for window in range(times)]
    found = pipeline_counts(repeated, WORDS)
    assert replace(found, compared_rows=0, agreed_rows=0) == replace(
        once, compared_rows=0, agreed_rows=0
    )
    assert found.wrong_if_windows_counted == once.wrong_if_windows_counted


@given(drawn(), st.integers(1, 5))
def test_unreviewed_claims_change_the_coverage_only(rows: list[JudgeRow], more: int) -> None:
    before = pipeline_counts(rows, WORDS)
    after = pipeline_counts([*rows, *(row(f"new {i}") for i in range(more))], WORDS)
    assert after.total == before.total + more
    assert after.unreviewed == before.unreviewed + more
    assert (after.agreement, after.confusion) == (before.agreement, before.confusion)


@given(drawn())
def test_every_unit_is_counted_once(rows: list[JudgeRow]) -> None:
    found = pipeline_counts(rows, WORDS)
    standing = found.skipped + found.unreviewed + found.bulk + found.stale
    assert found.total == found.reviewed + standing == len(rows)
    assert sum(map(sum, found.confusion)) == found.compared <= found.reviewed
    assert found.agreed == sum(found.confusion[i][i] for i in range(3))


@given(drawn())
def test_the_order_of_rows_does_not_matter(rows: list[JudgeRow]) -> None:
    assert pipeline_counts(rows[::-1], WORDS) == pipeline_counts(rows, WORDS)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (DuplicateRule.FIRST_WINDOW, "yes"),
        (DuplicateRule.MAJORITY, "idk"),
        (DuplicateRule.WORST, "no"),
        (DuplicateRule.LATEST, "idk"),
    ],
)
def test_which_verdict_a_claim_in_several_windows_has(rule: DuplicateRule, expected: str) -> None:
    rows = [
        row(window=3, judge="idk", human="yes"),
        row(window=0, judge="yes", human="yes"),
        row(window=1, judge="no", human="yes"),
        row(window=2, judge="idk", human="yes"),
        row(window=4, judge=None, human="yes"),
    ]
    found = pipeline_counts(rows, WORDS, rule)
    assert found.confusion[0][WORDS.index(expected)] == 1


@pytest.mark.parametrize(
    ("verdicts", "winner"),
    [(("yes", "no"), "no"), (("yes", "idk"), "idk"), (("idk", "no"), "no"), (WORDS, "no")],
)
def test_a_tie_goes_to_the_most_severe(verdicts: tuple[str, ...], winner: str) -> None:
    judged = [row(window=i, judge=word, human="yes") for i, word in enumerate(verdicts)]
    assert pipeline_counts(judged, WORDS).confusion[0][WORDS.index(winner)] == 1
    said = [row(window=i, human=word) for i, word in enumerate(verdicts)]
    assert pipeline_counts(said, WORDS).confusion[WORDS.index(winner)][0] == 1


def test_one_reviewed_window_makes_a_reviewed_claim() -> None:
    rows = [row(window=0), row(window=1, human="no"), row(window=2)]
    found = pipeline_counts(rows, WORDS)
    assert (found.reviewed, found.unreviewed, found.compared_rows) == (1, 0, 1)


def test_what_was_settled_goes_first() -> None:
    settled = replace(row(window=0, human="no"), state=State.ADJUDICATED)
    rows = [settled, row(window=1, human="yes"), row(window=2, human="yes")]
    assert pipeline_counts(rows, WORDS).confusion[1][0] == 1


@pytest.mark.parametrize("state", [State.STALE, State.BULK, State.SKIPPED])
def test_labels_that_do_not_count_do_not_count(state: State) -> None:
    found = pipeline_counts([replace(row(human="yes"), state=state), row(window=1)], WORDS)
    assert (found.total, found.reviewed, found.agreement) == (1, 0, None)
    assert found.stale + found.bulk + found.skipped == 1
    assert found.wrong_if_unreviewed_counted == 1


@pytest.mark.parametrize("human", ["x", "cannot-tell"])
def test_a_claim_that_is_none_is_reviewed_and_not_compared(human: str) -> None:
    found = pipeline_counts([row(human=human), row("other", human="yes")], WORDS)
    assert (found.reviewed, found.compared, found.agreement) == (2, 1, 1.0)
    tied = pipeline_counts([row(human=human), row(window=1, human="yes")], WORDS)
    assert tied.compared == 1


def test_without_a_verdict_of_the_judge_nothing_is_compared() -> None:
    found = pipeline_counts([row(judge=None, human="yes")], WORDS)
    assert (found.reviewed, found.compared, found.coverage) == (1, 0, 1.0)


def test_nothing_is_nothing() -> None:
    found = pipeline_counts([], WORDS)
    assert (found.total, found.agreement, found.coverage) == (0, None, None)
    assert found.wrong_if_windows_counted is None
    assert found.wrong_if_unreviewed_counted is None


@pytest.mark.parametrize(
    "bad",
    [
        row(judge="maybe"),
        row(human="maybe"),
        replace(row(human="yes"), human=None),
    ],
)
def test_words_that_are_no_category_are_refused(bad: JudgeRow) -> None:
    with pytest.raises(InputError, match="none of"):
        pipeline_counts([bad], WORDS)


def test_a_tie_between_words_of_unknown_severity_is_not_broken() -> None:
    rows = [row(window=0, judge="good", human="good"), row(window=1, judge="bad", human="good")]
    with pytest.raises(InputError, match="severity"):
        pipeline_counts(rows, ("good", "bad"))
