"""A finished run over many conversations, and people who mostly agree with its judge."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from faithtui.domain.conversation import Rating
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, Event, NewEvent
from faithtui.store.records import ItemCheckResult, ItemState, RunSpec, RunState
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    SPEC,
    assess,
    import_conversations,
    make_conversation,
    windows_of,
)

CONVERSATIONS = 24
CLAIMS = ("yes", "yes", "no", "no")
"""What the judge says of the claims of each conversation."""
JUDGED = replace(
    SPEC, rule=FACTS, judge="openai:judge-1", judge_fingerprint="openai/1 judge-1", sources=()
)
DAY = datetime(2026, 3, 1, tzinfo=UTC)

Person = Callable[[int, int, str], str | None]
"""From number of the conversation, place of the claim and the judge's word to a verdict."""


class Calendar:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)  # no two runs are made in the same moment
        return self.now

    def wait(self, days: float) -> None:
        """Let time go by."""
        self.now += timedelta(days=days)


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
