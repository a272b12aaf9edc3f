"""A small invented store: returns of a shop, judged by nobody, so that every screen has something.

The conversations are made up for these tests. Times are frozen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Stance, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Rating, Span, Turn
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoreState, ScoringRule, make_empty_score, score_window
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions
from faithtui.engine.integrity.judged_conversations import make_check_rules
from faithtui.engine.integrity.run_checks import check_stored_conversation
from faithtui.store.records import ItemState, RunSpec, RunState
from faithtui.store.store import Store

NOON = datetime(2026, 11, 20, 12, 4, 19, tzinfo=UTC)
RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)

RETURNS = Document(
    "The window is 30 days from delivery; gold and silver members get 45 days. A prepaid return "
    "label is free for defective items. For other returns a fee of $5.95 is taken from the refund "
    "unless the customer is a gold member.",
    "returns.md",
)
SHIPPING = Document(
    "Labels are printed at the store or sent by mail within two days. Keep the receipt until the "
    "refund arrives.",
    "shipping.md",
)
SALE = Document("Sale items can be returned within 14 days for store credit only.", "sale.md")


@dataclass(frozen=True)
class Said:
    """A claim of an answer, as a test wants it judged."""

    turn: int
    text: str
    label: str | None
    named: tuple[tuple[int, Stance], ...] = ()
    """Truths by index."""
    reason: str | None = None
    confidence: float | None = None


SHOES = Conversation(
    "shop",
    "conv-0147",
    (
        Turn("user", "Can I return shoes after 40 days?"),
        Turn(
            "assistant",
            "Our window is 30 days from delivery, but members get 45 days.",
            (RETURNS, SHIPPING),
        ),
        Turn("user", "Is the label free as well?"),
        Turn("assistant", "Yes, return labels are always free.", (RETURNS, SHIPPING)),
        Turn("user", "And for sale items?"),
        Turn("assistant", "Sale items can be returned within 14 days for cash.", (SALE,)),
    ),
    "shop",
    ratings=(
        Rating(1, "bo", "yes-no", "yes"),
        Rating(3, "bo", "yes-no", "no"),
        Rating(5, "bo", "yes-no", "no"),
    ),
)


def _piece(document: Document, words: str) -> Span:
    start = document.text.index(words)
    return Span(start, start + len(words))


SHOES_TRUTHS = (
    Truth(
        "The return window is 30 days from delivery.",
        RETURNS.text,
        _piece(RETURNS, "The window is 30 days from delivery"),
    ),
    Truth(
        "Gold and silver members get 45 days.",
        RETURNS.text,
        _piece(RETURNS, "gold and silver members get 45 days"),
    ),
    Truth("A return label is free for defective items.", RETURNS.text),
    Truth(
        "Other returns cost a fee of $5.95.",
        RETURNS.text,
        _piece(RETURNS, "For other returns a fee of $5.95 is taken from the refund"),
    ),
    Truth("Sale items are returned for store credit only.", SALE.text),
)
SHOES_SAID = (
    Said(1, "The return window is 30 days from delivery.", "yes", ((0, "supports"),), None, 0.97),
    Said(1, "Members get 45 days.", "yes", ((1, "supports"),), None, 0.88),
    Said(
        3,
        "Return labels are always free.",
        "no",
        ((2, "supports"), (3, "contradicts")),
        "P1 names a fee of $5.95 for returns that are not defective.",
        0.12,
    ),
    Said(5, "Sale items can be returned within 14 days.", "yes", ((4, "supports"),), None, 0.91),
    Said(5, "Sale items are refunded in cash.", "idk", (), "No truth speaks of cash.", 0.41),
)
GIFT = Conversation(
    "shop",
    "conv-0031",
    (
        Turn("user", "Do gift cards expire?"),
        Turn("assistant", "Gift cards never expire.", (Document("Gift cards do not expire."),)),
    ),
    "shop",
    ratings=(Rating(1, "bo", "yes-no", "yes"),),
)
GIFT_SAID = (Said(1, "Gift cards never expire.", "yes", ((0, "supports"),)),)
GIFT_TRUTHS = (Truth("Gift cards do not expire.", "Gift cards do not expire."),)
SPEC = RunSpec(
    metric="turn-faithfulness",
    metric_version="1",
    peer="deepeval 4.3.1",
    strategy="evidence",
    options={"threshold": 0.5, "window_size": 10},
    rule=RULE,
    judge="offline",
    judge_fingerprint="offline:test",
    base_url=None,
    prompt_digest="3f9a" * 16,
    prompts_dir=None,
    claims_from="extracted",
    sources=(),
    concurrency=8,
)


def assessments(
    conversation: Conversation, said: Sequence[Said], truths: Sequence[Truth]
) -> list[Assessment]:
    """Judge every window of a conversation as a test wants it."""
    made = []
    for window in cut_sliding_windows(split_into_interactions(conversation.turns), 10):
        held = [each for each in said if each.turn in window.turns]
        verdicts = tuple(
            Verdict(
                Claim(
                    each.turn, each.text, _span(conversation.turns[each.turn].content, each.text)
                ),
                each.label,
                each.label,
                each.reason,
                each.confidence,
                tuple(Evidence(truths[index], stance) for index, stance in each.named),
            )
            for each in held
        )
        score = score_window([verdict.label for verdict in verdicts], RULE)
        made.append(Assessment(window, score, verdicts, tuple(truths)))
    return made


def _span(answer: str, claim: str) -> Span | None:
    start = answer.find(claim.rstrip("."))
    return Span(start, start + len(claim.rstrip("."))) if start >= 0 else None


def save(
    store: Store,
    item: ItemId,
    judged: Sequence[Assessment],
    state: ItemState = ItemState.DONE,
    reason: str | None = None,
) -> None:
    """Store the windows of a conversation and close it."""
    for assessment in judged:
        store.runs.save_window(item, assessment)
    store.runs.score_and_finish_item(item, state, reason)
    if state is not ItemState.SKIPPED:
        check_item(store, item)


def check_item(store: Store, item: ItemId) -> None:
    """Check a conversation of a run, as every run does when it has judged one."""
    row = store.runs.read_run(store.runs.read_item_rows([item])[0].run)
    store.findings.replace_findings_of_conversations(
        [check_stored_conversation(store, item, make_check_rules(store, row.spec))]
    )


def shop(path: Path) -> RunId:
    """Fill a store with a run of four conversations: two judged, one failed, one skipped."""
    with Store.open(path, clock=lambda: NOON) as store:
        failed = Conversation(
            "shop",
            "conv-0112",
            (Turn("user", "Is pickup free?"), Turn("assistant", "Pickup is free.", ())),
            "shop",
        )
        skipped = Conversation(
            "shop", "conv-0090", (Turn("assistant", "Welcome to the shop.", None),), "shop"
        )
        store.conversations.import_batch([SHOES, GIFT, failed, skipped])
        run = store.runs.create(SPEC, store.conversations.list_ids())
        first, second, third, fourth = store.runs.list_item_ids(run)
        save(store, first, assessments(SHOES, SHOES_SAID, SHOES_TRUTHS))
        save(store, second, assessments(GIFT, GIFT_SAID, GIFT_TRUTHS))
        lost = make_empty_score(ScoreState.FAILED, "the judge gave no usable answer")
        (window,) = cut_sliding_windows(split_into_interactions(failed.turns), 10)
        save(store, third, [Assessment(window, lost)], ItemState.FAILED, "1 of 1 windows failed")
        save(store, fourth, [], ItemState.SKIPPED, "no user turn")
        store.runs.set_state(run, RunState.DONE)
        return run
