"""Small conversations, runs and assessments for the tests of the store."""

from collections.abc import Mapping, Sequence

from faithtui.domain.assessment import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import Score, ScoringRule, window_score
from faithtui.domain.windows import Window, interactions, sliding
from faithtui.store.records import ItemState, RunSpec
from faithtui.store.store import Store

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)

SPEC = RunSpec(
    metric="turn-faithfulness",
    metric_version="1",
    peer="deepeval 4.3.1",
    strategy="evidence",
    options={"window_size": 10, "penalize_ambiguous_claims": False},
    rule=RULE,
    judge="offline",
    judge_fingerprint="offline 1",
    base_url=None,
    prompt_digest="0" * 64,
    prompts_dir=None,
    claims="extracted",
    sources=("tests",),
    concurrency=8,
)


Labels = Mapping[int, Sequence[str | None]]
"""The judge's labels of the claims of each turn, in order."""


def talk(
    key: str = "one",
    *,
    answers: int = 2,
    source: str = "tests",
    ratings: Sequence[Rating] = (),
    say: str = "Answer",
) -> Conversation:
    """A conversation of so many interactions, each answer with a document of its own."""
    turns: list[Turn] = []
    for number in range(answers):
        turns.append(Turn("user", f"Question {number} of {key}?"))
        turns.append(
            Turn("assistant", f"{say} {number} of {key}.", (Document(f"Fact {number}.", "a.md"),))
        )
    return Conversation(source, key, tuple(turns), group=key, ratings=tuple(ratings))


def windows_of(conversation: Conversation, size: int = 10) -> tuple[Window, ...]:
    """Sliding windows of a conversation."""
    return sliding(interactions(conversation.turns), size)


def assess(
    window: Window,
    labels: Labels,
    *,
    rule: ScoringRule = RULE,
    score: Score | None = None,
) -> Assessment:
    """Judge a window.

    Args:
        window: The window.
        labels: The judge's labels of each turn's claims; claim k of turn t reads "Claim t.k".
        rule: How to score.
        score: A score decided otherwise, such as a failure.
    """
    verdicts = tuple(
        Verdict(
            Claim(turn, f"Claim {turn}.{number}"),
            label,
            word=label,
            reason=f"because {turn}.{number}",
            evidence=(Evidence(Truth(f"Truth {turn}", f"Fact {turn // 2}."), "supports"),)
            if label == "yes"
            else (),
        )
        for turn in window.turns
        for number, label in enumerate(labels.get(turn, ()))
    )
    return Assessment(
        window,
        score or window_score([each.label for each in verdicts], rule),
        verdicts,
        truths=tuple(
            Truth(f"Truth {turn}", f"Fact {turn // 2}.") for turn in window.turns if turn % 2
        ),
        reason=f"window {window.position}",
    )


def judged(
    store: Store,
    conversation: Conversation,
    labels: Labels,
    *,
    spec: RunSpec = SPEC,
    finish: ItemState | None = ItemState.DONE,
) -> tuple[RunId, ItemId]:
    """Import one conversation where needed, run over it, and store all its windows."""
    store.conversations.import_batch([conversation])
    ids = store.conversations.ids((conversation.source,))
    (number,) = [each for each in ids if store.conversations.get(each).key == conversation.key]
    run = store.runs.create(spec, [number])
    (item,) = store.runs.item_ids(run)
    for window in windows_of(conversation):
        store.runs.save_window(item, assess(window, labels, rule=spec.rule))
    if finish is not None:
        store.runs.finish_item(item, finish, None, "all in all")
    return run, item
