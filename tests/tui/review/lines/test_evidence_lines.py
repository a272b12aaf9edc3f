"""What is drawn of evidence, lost facts and added words, and what is not while blind."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import ClaimId
from faithtui.metrics.registry import find_metric
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.records import ClaimView, EvidenceView, ReviewView
from faithtui.store.store import Store
from faithtui.tui.review.lines.claim_card import claim_card_lines
from faithtui.tui.review.lines.evidence_lines import (
    excerpt_passage,
    find_and_rank_claim_passages,
    full_passage_lines,
    highlight_unsupported_words,
    is_match_hidden,
    passage_lines,
    tokenise_view,
)
from faithtui.tui.review.lines.lazy_values import LazyMapping
from faithtui.tui.review.lines.reference_lines import reference_lines
from faithtui.tui.review.lines.verdict_lines import VerdictView, verdict_lines
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.theme.lines import Line, count_cells_of_pieces
from tests.tui.building import SHOES_SAID, SHOES_TRUTHS, SPEC, Said, assessments, save, shop

METRIC = find_metric("turn-faithfulness").spec
ELSEWHERE = Conversation(
    "shop",
    "conv-far",
    (
        Turn("user", "How long is the window?"),
        Turn("assistant", "30 days.", (Document("The window is 30 days. Gold pays nothing."),)),
        Turn("user", "And pickup for silver members?"),
        Turn("assistant", "Pickup is free.", (Document("Silver members pay for pickup."),)),
    ),
    "shop",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as opened:
        yield opened


@pytest.fixture
def view(store: Store) -> ReviewView:
    (run,) = store.runs.list_runs()
    return store.runs.read_conversation_for_review(store.runs.list_item_ids(run.id)[0], "ann")


def text(lines: list[Line]) -> str:
    return "\n".join(line.text for line in lines)


def claim_of(view: ReviewView, words: str) -> ClaimView:
    return next(claim for claim in view.claims if words in claim.text)


def evidence(view: ReviewView, claim: ClaimView, window: int | None = None) -> str:
    ranked = find_and_rank_claim_passages(view, claim, window, tokenise_view(view))
    return text(passage_lines(view, claim, ranked, 0, METRIC, 80, 40)[0])


def truths(view: ReviewView, claim: ClaimView) -> str:
    return text(reference_lines(view, claim, None, tokenise_view(view), METRIC, 60))


def card(view: ReviewView, claim: ClaimView) -> str:
    return text(claim_card_lines(view, claim, METRIC, 80, tokenise_view(view)))


@pytest.mark.parametrize(("judge", "is_shown"), [("offline", False), ("openai:gpt-5", True)])
def test_likeness_that_is_the_embedded_judges_own_reasoning_is_hidden_with_it(
    view: ReviewView, judge: str, is_shown: bool
) -> None:
    claim = next(claim for claim in view.claims if "similarity" in evidence(view, claim))
    run = replace(view.run, spec=replace(view.run.spec, judge=judge))
    view = replace(view, run=run)
    assert "similarity" in evidence(view, claim), "the judge is shown"
    blind = hide_judge_verdicts(view)
    claim = next(each for each in blind.claims if each.id == claim.id)
    ranked = find_and_rank_claim_passages(blind, claim, None, tokenise_view(blind))
    has_match = not is_match_hidden(claim, blind)
    whole = text(full_passage_lines(ranked[0], {}, 80, has_match=has_match))
    for drawn in (evidence(blind, claim), whole):
        assert ("similarity" in drawn) is is_shown
        assert ("differs:" in drawn) <= is_shown


def test_a_fact_that_no_truth_covers_is_told_with_the_truths(view: ReviewView) -> None:
    labels = claim_of(view, "Return labels are always free")
    drawn = truths(view, labels)
    assert "! P1 has 1 fact that no truth covers:" in drawn
    assert "«unless the customer is a gold member»" in drawn
    assert "the judge never saw it" in drawn
    assert "1 fact in no truth" in evidence(view, labels)
    assert "«unless the customer is a gold member»" in " ".join(evidence(view, labels).split())


def test_a_truth_names_its_sentence(view: ReviewView) -> None:
    assert "P1 s3" in truths(view, claim_of(view, "Return labels are always free"))


def test_truths_of_the_shown_window_come_before_those_of_other_windows(view: ReviewView) -> None:
    claim = claim_of(view, "Return labels are always free")
    (against,) = (each for each in claim.evidence if each.stance == "contradicts")
    behind = next(each for each in view.truths if each.id != against.truth)
    home = claim.first_window_verdict.window
    moved = tuple(
        replace(truth, windows=(home + 1,) if truth.id == against.truth else (home,))
        for truth in view.truths
        if truth.id in (against.truth, behind.id)
    )
    named = replace(claim, evidence=(against, replace(against, truth=behind.id, stance="supports")))
    view = replace(view, truths=moved, claims=(named,))
    drawn = truths(view, named)
    assert drawn.index("truths that support") < drawn.index("truths that contradict")
    assert drawn.count(f"not in w{home + 1}") == 1
    shown = VerdictView(view, named, ReviewPosition(None, named.id), METRIC, False, "")
    said = text(verdict_lines(shown, 60, 30))
    assert said.index("supports") < said.index("contradicts")


def test_what_contradicts_is_told_with_the_passage(view: ReviewView) -> None:
    drawn = evidence(view, claim_of(view, "Return labels are always free"))
    assert "T4 contradicts" in drawn
    assert "«" in drawn


def test_nothing_that_looks_wrong_is_told_while_the_judge_is_hidden(view: ReviewView) -> None:
    made_up = replace(claim_of(view, "Members get 45 days"), text="Berlin has 9 shops.", span=None)
    claims = tuple(made_up if each.id == made_up.id else each for each in view.claims)
    open_view = replace(view, claims=claims)
    assert "phantom? not in the answer: Berlin, 9, shops" in card(open_view, made_up).replace(
        "\n ", " "
    )
    hidden = hide_judge_verdicts(open_view)
    assert hidden.hidden
    for claim in hidden.claims:
        drawn = card(hidden, claim) + truths(hidden, claim) + evidence(hidden, claim)
        for word in ("phantom", "added", "no truth covers", "in no truth", "supports", "T4"):
            assert word not in drawn, word
    labels = claim_of(hidden, "Return labels")
    partly = hide_judge_verdicts(open_view, revealed=[labels.id])
    assert "no truth covers" not in truths(partly, claim_of(partly, "Return labels"))
    revealed = hide_judge_verdicts(open_view, truths=True)
    assert "no truth covers" not in truths(revealed, claim_of(revealed, "Return labels"))


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Window 30 days members days.", "all its words are in the answer, 0 added"),
        ("The shoes window is 30 days.", "nothing added; from earlier turns: shoes"),
        ("The lovely window is 30 days.", "added: lovely"),
    ],
)
def test_where_the_words_of_a_claim_come_from(view: ReviewView, claim: str, words: str) -> None:
    made = replace(claim_of(view, "Members get 45 days"), text=claim, span=None)
    drawn = " ".join(card(view, made).split())
    assert words in drawn
    assert "answer, nearest words:" in drawn
    assert "phantom" not in drawn


def test_passages_of_other_turns_that_bear_on_a_claim_stand_apart(store: Store) -> None:
    store.conversations.import_batch([ELSEWHERE])
    number = store.conversations.list_ids(("shop",))[-1]
    run = store.runs.create(SPEC, [number])
    (item,) = store.runs.list_item_ids(run)
    said = [Said(1, "Silver members pay for pickup.", "idk"), Said(3, "Pickup is free.", "no")]
    save(store, item, assessments(ELSEWHERE, said, ()))
    view = store.runs.read_conversation_for_review(item, "ann")
    first, second = view.claims
    found = find_and_rank_claim_passages(view, first, 0, tokenise_view(view))
    assert [(each.document.number, each.where) for each in found] == [(1, "turn"), (2, "elsewhere")]
    assert "in the conversation, but not retrieved at this turn:" in evidence(view, first, 0)
    found = find_and_rank_claim_passages(view, second, 1, tokenise_view(view))
    assert [(each.document.number, each.where) for each in found] == [(2, "turn"), (1, "window")]
    assert "not retrieved for this answer" in evidence(view, second, 1)


def test_what_was_said_fits_what_the_store_has(view: ReviewView) -> None:
    assert len(view.claims) == len(SHOES_SAID)
    assert len(view.truths) == len(SHOES_TRUTHS)
    assert claim_card_lines(view, None, METRIC, 40, tokenise_view(view))
    assert reference_lines(view, None, None, tokenise_view(view), METRIC, 40) == []
    assert ClaimId(0) not in {claim.id for claim in view.claims}


def long_view(store: Store, claim: str, passage: str) -> ReviewView:
    """Judge a conversation of long texts."""
    chat = Conversation(
        "shop",
        "long",
        (Turn("user", "And?"), Turn("assistant", "It is blue.", (Document(passage),))),
        "shop",
    )
    store.conversations.import_batch([chat])
    run = store.runs.create(SPEC, store.conversations.list_ids()[-1:])
    (item,) = store.runs.list_item_ids(run)
    save(store, item, assessments(chat, [Said(1, claim, "no")], []))
    return store.runs.read_conversation_for_review(item, "ann")


@pytest.mark.parametrize(
    ("claim", "passage", "says"),
    [
        ("It is blue.", "It is red.", None),
        ("It is blue. " * 100, "It is red.", "compared: the first 1,000 characters of this text"),
        ("It is blue.", "It is red. " * 9_000, "compared: the first 60,000 of each long passage"),
        ("It is blue. " * 100, "It is red. " * 9_000, "of this text and the first 60,000 of each"),
    ],
)
def test_what_is_compared_of_long_texts_is_said(
    store: Store, claim: str, passage: str, says: str | None
) -> None:
    view = long_view(store, claim, passage)
    shown = " ".join(evidence(view, view.claims[0]).split())
    assert (says in shown) if says else ("compared" not in shown)


def verdict(view: ReviewView, claim: ClaimView, width: int = 60, height: int = 30) -> str:
    shown = VerdictView(view, claim, ReviewPosition(None, claim.id), METRIC, False, "")
    return text(verdict_lines(shown, width, height))


def test_a_verdict_that_settles_nothing_and_passes_is_explained_beside_the_score(
    view: ReviewView,
) -> None:
    sure = claim_of(view, "Return labels")
    (first, *others) = sure.verdicts
    unsure = replace(sure, verdicts=(replace(first, label="idk"), *others))
    said = " ".join(verdict(view, unsure, width=110).split())
    assert "(idk counts as a pass)" in said
    assert "(idk passes)" in verdict(view, unsure, width=110, height=4)
    assert "pass)" not in verdict(view, replace(sure, verdicts=(replace(first, label="yes"),)))
    strict = replace(view.run.spec, rule=replace(view.run.spec.rule, passing=("yes",)))
    failing = replace(view, run=replace(view.run, spec=strict))
    assert "pass)" not in verdict(failing, unsure, width=110)


@pytest.fixture
def joint(view: ReviewView) -> tuple[ReviewView, ClaimView]:
    """Give a claim that T1 and T4 support together, of which only the second window has both."""
    claim = claim_of(view, "Return labels")
    numbers = {truth.number: truth.id for truth in view.truths}
    claim = replace(
        claim,
        evidence=tuple(EvidenceView(numbers[n], "supports", (1,)) for n in (1, 4)),
        verdicts=(
            replace(claim.first_window_verdict, window=0),
            replace(claim.first_window_verdict, window=1),
        ),
    )
    seen = {1: (0, 1), 4: (1,)}
    truths = tuple(
        replace(truth, windows=seen.get(truth.number, truth.windows)) for truth in view.truths
    )
    return replace(view, truths=truths), claim


@pytest.mark.parametrize("height", [30, 4])
def test_truths_that_support_together_are_told_with_the_windows_that_have_them(
    joint: tuple[ReviewView, ClaimView], height: int
) -> None:
    told = " ".join(verdict(*joint, width=110, height=height).split())
    assert "support together: T1+T4 in w2" in told
    view, claim = joint
    away = replace(claim, verdicts=claim.verdicts[1:])
    assert "support together: T1+T4 in w" not in " ".join(verdict(view, away).split())


def test_truths_out_of_view_are_told_apart_from_those_in_view(
    joint: tuple[ReviewView, ClaimView],
) -> None:
    view, claim = joint
    alone = replace(claim, evidence=tuple(replace(each, sets=()) for each in claim.evidence))
    told = " ".join(verdict(view, alone, width=110).split())
    assert "T1 supports · T4 supports in w2" in told


def test_a_set_of_truths_is_told_with_the_truths_and_the_passages(
    joint: tuple[ReviewView, ClaimView],
) -> None:
    assert "(T1+T4 only together)" in " ".join(truths(*joint).split())
    assert "T1 supports with others" in " ".join(evidence(*joint).split())


def test_only_what_a_passage_says_otherwise_is_loud(view: ReviewView) -> None:
    """Numbers and negations that merely stand there, and words that match, are quiet."""
    claim = claim_of(view, "return window")
    loud = [
        piece.text
        for passage in find_and_rank_claim_passages(view, claim, None, tokenise_view(view))
        for piece in excerpt_passage(passage, 4_000)
        if "mark" in piece.look or "strong" in piece.look.replace("quote strong", "")
    ]
    assert [each for each in loud if each not in "«»"] == []
    wrong = replace(claim, text="The return window is 31 days from delivery.", evidence=())
    ranked = find_and_rank_claim_passages(view, wrong, None, tokenise_view(view))
    marked = [p.text for p in excerpt_passage(ranked[0], 4_000) if "mark" in p.look]
    assert marked == ["30"]
    pieces = {piece.text: piece.look for piece in highlight_unsupported_words(wrong, ranked[0])}
    assert pieces["31"] == "bad strong mark"
    assert "MISSING" not in evidence(view, wrong), "it is marked where it is contradicted"
    assert "".join(pieces) == wrong.text


def test_words_that_no_passage_has_are_said_unless_the_judge_is_hidden(view: ReviewView) -> None:
    claim = replace(
        claim_of(view, "return window"), text="The window of pickup is 30 days with a receipt."
    )
    shown = evidence(view, claim)
    assert "MISSING in all passages: pickup" in shown
    assert "not in P1 but in P2: receipt" in shown
    assert "MISSING" not in evidence(hide_judge_verdicts(view), claim)
    card = claim_card_lines(
        hide_judge_verdicts(view), claim, METRIC, 80, tokenise_view(view),
        best=find_and_rank_claim_passages(view, claim, None, tokenise_view(view))[0],
    )  # fmt: skip
    assert not any("warn" in piece.look for line in card for piece in line.pieces)


def lengthen(view: ReviewView) -> ReviewView:
    """Put a hundred exchanges with passages of their own behind a conversation."""
    _, answer, *_ = view.turns
    assert answer.documents
    (first, *_) = answer.documents
    more = tuple(
        replace(
            answer,
            position=position,
            documents=(replace(first, number=100 + position, text=f"Parcel {position} is blue."),),
        )
        for position in range(len(view.turns), len(view.turns) + 100)
    )
    return replace(view, turns=(*view.turns, *more))


def test_of_a_long_conversation_only_what_is_near_is_compared_before_it_is_shown(
    view: ReviewView,
) -> None:
    long = lengthen(view)
    claim = claim_of(long, "labels are always free")
    read = tokenise_view(long, at_once=False)
    assert not read.is_filled
    ranked = find_and_rank_claim_passages(long, claim, None, read)
    assert [each.where for each in ranked] == ["turn"] * len(ranked)
    lines = text(reference_lines(long, claim, None, read, METRIC, 60))
    assert "T4" in lines, "what the judge cited is there at once"
    assert "are being compared" in lines
    assert isinstance(read.documents, LazyMapping)
    assert read.documents.made_count < 10
    read.compute_lazy_parts()
    assert "nearest first" in text(reference_lines(long, claim, None, read, METRIC, 60))
    whole = tokenise_view(long)
    now, later = (
        [(each.document.number, each.where, each.lost_count) for each in ranked]
        for ranked in (
            find_and_rank_claim_passages(long, claim, None, read),
            find_and_rank_claim_passages(long, claim, None, whole),
        )
    )
    assert now == later


def test_of_a_short_conversation_all_is_compared_at_once(view: ReviewView) -> None:
    assert tokenise_view(view, at_once=False).is_filled


@pytest.mark.parametrize(("height", "is_whole"), [(5, True), (4, False)])
def test_choices_in_a_narrow_strip_take_two_lines_where_there_are_two(
    view: ReviewView, height: int, is_whole: bool
) -> None:
    shown = VerdictView(view, view.claims[0], ReviewPosition(), METRIC, False, "")
    lines = verdict_lines(shown, 36, height)
    assert len(lines) == height
    assert all(count_cells_of_pieces(line.pieces) <= 36 for line in lines)
    words = text(lines[:2])
    assert ("contradicted" in words and "not addressed" in words) == is_whole
