"""Small conversations, runs, assessments and labels for the tests of the store."""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, Event, NewEvent
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE, RELEVANCE, SUPPORT, LabelSet
from faithtui.domain.scores import Score, ScoringRule, score_window
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.store.database import Database
from faithtui.store.records import ItemCheckResult, ItemState, RunSpec, RunState
from faithtui.store.store import Store

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)


def rule_of(labels: LabelSet, passing: str, when_empty: float | None = 1.0) -> ScoringRule:
    """A rule that knows its own words and what others stand for."""
    return ScoringRule((passing,), when_empty, labels=labels.names, synonyms=labels.synonyms)


FACTS = replace(rule_of(FAITHFULNESS, "yes"), passing=("yes", "idk"))
INFERRED = rule_of(INFERENCE, "1", None)
RELEVANT = rule_of(RELEVANCE, "yes")
SUPPORTED = rule_of(SUPPORT, "yes")

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
    claims_from="extracted",
    sources=("tests",),
    concurrency=8,
)


def spec_of(metric: str, rule: ScoringRule, judge: str = "offline") -> RunSpec:
    """What another metric's run is made of."""
    return replace(SPEC, metric=metric, rule=rule, judge=judge)


Labels = Mapping[int, Sequence[str | None]]
"""The judge's labels of the claims of each turn, in order."""
CONVERSATIONS = 24
CLAIMS = ("yes", "yes", "no", "no")
"""What the judge says of the claims of each conversation."""
JUDGED = replace(
    SPEC, rule=FACTS, judge="openai:judge-1", judge_fingerprint="openai/1 judge-1", sources=()
)
Person = Callable[[int, int, str], str | None]
"""From number of the conversation, place of the claim and the judge's word to a verdict."""


def make_conversation(
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
    return cut_sliding_windows(split_into_interactions(conversation.turns), size)


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
        score or score_window([each.label for each in verdicts], rule),
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
    run = store.runs.create(spec, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    for window in windows_of(conversation):
        store.runs.save_window(item, assess(window, labels, rule=spec.rule))
    if finish is not None:
        store.runs.score_and_finish_item(item, finish, None, "all in all")
    return run, item


def import_conversations(store: Store, chats: Sequence[Conversation]) -> list[ConversationId]:
    """Import conversations where needed, and say which they are."""
    store.conversations.import_batch(chats)
    found: dict[tuple[str, str], ConversationId] = {}
    for source in {each.source for each in chats}:
        stored = store.conversations.read_content_hashes_by_key(source)
        keys = {each.key: stored[each.key] for each in chats if each.source == source}
        for key, conversation in store.conversations.map_unchanged_keys_to_ids(
            source, keys
        ).items():
            found[source, key] = conversation
    return [found[each.source, each.key] for each in chats]


def imported(store: Store, conversation: Conversation) -> ConversationId:
    """Import one conversation where needed, and say which it is."""
    return import_conversations(store, [conversation])[0]


def said(
    store: Store,
    conversation: Conversation,
    spec: RunSpec,
    verdicts: Mapping[int, Sequence[Verdict]],
    *,
    scores: Mapping[int, Score] | None = None,
    size: int = 1,
    finish: ItemState = ItemState.DONE,
) -> tuple[RunId, ItemId]:
    """Run over one conversation with verdicts of any kind.

    Args:
        store: Where to.
        conversation: Imported where needed.
        spec: The run.
        verdicts: Verdicts of each turn.
        scores: Scores of windows that were decided otherwise, such as failures, by position.
        size: Interactions in a window.
        finish: State of the conversation at the end.
    """
    run = store.runs.create(spec, [imported(store, conversation)])
    (item,) = store.runs.list_item_ids(run)
    for window in windows_of(conversation, size):
        decided = (scores or {}).get(window.position)
        found = tuple(each for turn in window.turns for each in verdicts.get(turn, ()))
        if decided is not None:
            store.runs.save_window(item, Assessment(window, decided))
            continue
        score = score_window([each.label for each in found], spec.rule)
        store.runs.save_window(item, Assessment(window, score, found))
    store.runs.score_and_finish_item(
        item, finish, None if finish is ItemState.DONE else "it failed"
    )
    return run, item


@cache
def read_empty_store() -> bytes:
    """Make an empty store and read its file.

    Processes that are forked after the first call have the bytes.
    """
    with tempfile.TemporaryDirectory(prefix="faithtui_empty_") as folder:
        path = Path(folder) / "empty.db"
        Database.open(path, create=True, busy_timeout_s=5.0).close()
        return path.read_bytes()


def fair(number: int, place: int, judge: str) -> str:
    """Differ from the judge on every sixth conversation's second and every fourth's third claim."""
    if (place == 1 and number % 6 == 0) or (place == 2 and number % 4 == 0):
        return "no" if judge == "yes" else "yes"
    return judge


def run_over(
    store: Store,
    spec: RunSpec = JUDGED,
    *,
    name: str = "t",
    chats: int = CONVERSATIONS,
    said: Sequence[str | None] = CLAIMS,
    rated: int = 0,
) -> RunId:
    """Judge conversations of one answer each, the same in all; the first came with a rating."""
    rating = Rating(1, "ann", "mtrag-faithfulness-1-4", "4")
    them = [
        make_conversation(f"{name}{number}", answers=1, ratings=[rating] if number < rated else ())
        for number in range(chats)
    ]
    run = store.runs.create(spec, import_conversations(store, them))
    items = store.runs.list_item_ids(run)
    for item, each in zip(items, them, strict=True):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, {1: said}, rule=spec.rule))
        store.runs.score_and_finish_item(item, ItemState.DONE, None, "all in all")
    store.findings.replace_findings_of_conversations(
        [
            ItemCheckResult(row.id, row.state, row.windows, ())
            for row in store.runs.read_item_rows(items)
        ]
    )
    store.runs.set_state(run, RunState.DONE)
    return run


def label(
    store: Store,
    run: RunId,
    person: Person = fair,
    *,
    by: str = "ann",
    action: Action = Action.BLIND,
    only: Sequence[ClaimId] | None = None,
) -> None:
    """Say something about every claim of a run, or some."""
    given: list[NewEvent] = []
    numbers = {item: number for number, item in enumerate(store.runs.list_item_ids(run))}
    places: Counter[ItemId] = Counter()
    for each in store.samples.read_frame(run, ("verdict",)):
        number, place = numbers[each.item], places[each.item]
        places[each.item] += 1
        word = each.stratum.removeprefix("judge ")
        verdict = person(number, place, word)
        if verdict is not None and (only is None or each.claim in only):
            knew = action not in (Action.BLIND, Action.IMPORTED)
            given.append(
                Event(
                    None,
                    each.claim,
                    by,
                    action,
                    verdict,
                    saw_judge=knew,
                    run=run,
                    judge_verdict=word,
                )
            )
    store.label_log.append_label_events_as_one_step(given)
