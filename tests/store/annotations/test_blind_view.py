"""What a blind view may hold: nothing of the judge, nothing of other people."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId, SampleId, TruthId
from faithtui.domain.labels.label_events import Action, HumanVerdict
from faithtui.domain.scores import Score, ScoreSet, ScoreState
from faithtui.store.annotations.blind_view import has_given_queue_verdict, hide_judge_verdicts
from faithtui.store.records import (
    ClaimView,
    EvidenceView,
    ItemRow,
    ItemState,
    ReviewView,
    RunRow,
    RunState,
    TruthView,
    TurnView,
    WindowRow,
    WindowVerdictView,
)
from tests.store.building import SPEC

SAMPLE = SampleId(7)
NOON = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = 0.123456
"""A number that only scores and confidences have."""
COUNTS = 770_000
"""Counts that would tell begin here."""


def everything(value: object) -> Iterator[object]:
    """Walk a value with all that is in it."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from everything(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from everything(key)
            yield from everything(inner)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for inner in value:
            yield from everything(inner)


def secrets(value: object) -> set[object]:
    """Find what only the judge, or other people, can have put there."""
    return {
        each
        for each in everything(value)
        if (isinstance(each, str) and "SECRET" in each)
        or (isinstance(each, float) and each == SECRET)
        or (isinstance(each, int) and not isinstance(each, bool) and each >= COUNTS)
    }


def score(name: str) -> Score:
    return Score(SECRET, ScoreState.SCORED, f"SECRET score of {name}")


def run_row() -> RunRow:
    return RunRow(
        RunId(1), SPEC, RunState.DONE, None, NOON, NOON, 1, 0, 1, 0, 0, 1, 0, 3, COUNTS + 1, 0,
        SECRET, SECRET, 9, 9, 9,
    )  # fmt: skip


def item_row() -> ItemRow:
    scores = ScoreSet(score("windowed"), score("per interaction"), score("pooled"))
    labels = {"SECRET yes": COUNTS + 2}
    return ItemRow(
        ItemId(1), RunId(1), ConversationId(1), 1, "s", "k", "Hello", 2, ItemState.DONE, None, 1,
        scores, scores, 3, labels, COUNTS + 3, 0, COUNTS + 4,
    )  # fmt: skip


def mine_of(number: int, kind: str) -> HumanVerdict | None:
    match kind:
        case "none":
            return None
        case "later":
            return HumanVerdict(ClaimId(number), "ann", None, Action.SKIPPED)
        case "note":
            return HumanVerdict(ClaimId(number), "ann", None, None, "my own note")
        case "before":
            return HumanVerdict(
                ClaimId(number), "ann", "SECRET before", Action.OVERRIDDEN, "my own note", "SECRET",
                skipped_since=True,
            )  # fmt: skip
        case _:
            return HumanVerdict(ClaimId(number), "ann", "yes", Action.BLIND, sample=SAMPLE)


@st.composite
def views(draw: st.DrawFn) -> ReviewView:
    """Conversations in which all that must not be known is told apart from the rest."""
    kinds = draw(
        st.lists(
            st.sampled_from(["none", "later", "note", "before", "answered"]), min_size=1, max_size=5
        )
    )
    truths = tuple(
        TruthView(TruthId(n), n + 1, f"SECRET truth {n}", None, None, (0,))
        for n in range(draw(st.integers(0, 4)))
    )
    claims = tuple(
        ClaimView(
            ClaimId(n),
            n + 1,
            1,
            f"claim {n}",
            None,
            tuple(
                WindowVerdictView(
                    w, f"SECRET label {n}", f"SECRET word {n}", f"SECRET reason {n}", SECRET
                )
                for w in range(draw(st.integers(1, 3)))
            ),
            tuple(
                EvidenceView(truth.id, "supports") for truth in truths[: draw(st.integers(0, 4))]
            ),
            mine_of(n, kind),
            (HumanVerdict(ClaimId(n), "bo", f"SECRET other {n}", Action.BLIND, "SECRET note"),),
            f"SECRET consensus {n}",
            seen=draw(st.booleans()),
        )
        for n, kind in enumerate(kinds)
    )
    return ReviewView(
        run_row(),
        item_row(),
        (TurnView(0, "user", "Hello?", None), TurnView(1, "assistant", "Answer.", ())),
        (
            WindowRow(
                0, (0, 1), score("w"), score("c"), "SECRET why", False, tuple(c.id for c in claims)
            ),
        ),
        claims,
        truths,
        "SECRET final reason",
        None,
        None,
    )


OPEN = st.sets(st.integers(0, 4).map(ClaimId))


@given(views(), OPEN, st.booleans())
def test_nothing_of_the_judge_is_left_on_what_is_hidden(
    view: ReviewView, revealed: set[ClaimId], in_sample: bool
) -> None:
    sample = SAMPLE if in_sample else None
    blind = hide_judge_verdicts(view, revealed=revealed, sample=sample)
    hidden = [each for each in blind.claims if each.id in blind.hidden]
    assert {each.id for each in hidden} == {
        each.id
        for each in view.claims
        if each.id not in revealed and not has_given_queue_verdict(each, sample)
    }
    assert all(not secrets(each) for each in hidden)
    assert all(each.text == f"claim {each.id}" for each in hidden)
    if not hidden:
        assert blind is view
        return
    open_claims = [each for each in view.claims if each.id not in blind.hidden]
    open_truths = {each.truth for claim in open_claims for each in claim.evidence}
    assert {each.id for each in blind.truths} == {
        each.id for each in view.truths if each.id in open_truths
    }
    bare = replace(blind, claims=(), truths=())
    assert not secrets(bare)
    assert [each for each in blind.claims if each.id not in blind.hidden] == open_claims


@given(views())
def test_a_wholly_blind_view_holds_no_secret_at_all(view: ReviewView) -> None:
    assert secrets(view)
    other = SampleId(8)
    blind = hide_judge_verdicts(view, sample=other)
    assert blind.hidden == {each.id for each in view.claims}
    assert not secrets(blind)


@given(views())
def test_own_notes_stay_and_earlier_verdicts_do_not(view: ReviewView) -> None:
    for claim in hide_judge_verdicts(view, sample=SampleId(8)).claims:
        own = view.claims[claim.number - 1].mine
        assert (claim.mine.note if claim.mine else None) == (own.note if own else None)
        assert claim.mine is None or claim.mine.verdict is None


@given(views())
def test_truths_may_be_left_but_not_which_claim_they_were_named_for(view: ReviewView) -> None:
    blind = hide_judge_verdicts(view, sample=SampleId(8), truths=True)
    assert blind.truths == view.truths
    assert not secrets(replace(blind, truths=()))
    assert all(claim.evidence == () for claim in blind.claims)
