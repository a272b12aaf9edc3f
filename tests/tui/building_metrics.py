"""An invented conversation judged by every metric, with images and context nobody reads."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Image, Rating, Span, Turn
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoringRule, score_window
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.metrics import registry
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.tui.building import NOON, SPEC, check_item

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)
ADDRESS = "https://shop.example/warranty.png"
PHOTO = Image(hashlib.sha256(PNG).hexdigest(), "image/png")
PLATE = Image(hashlib.sha256(ADDRESS.encode()).hexdigest(), "", ADDRESS)

WARRANTY = Document(
    "The warranty covers broken seams. Scratches are wear and not covered. Ask in the store.",
    "warranty.md",
    (PLATE,),
)
ZIPS = Document("Zips are covered for six months.", "zips.md")
QUERY = Document("Scratch: a mark on the surface.", "glossary.md")
BOOTS = Conversation(
    "shop",
    "conv-0300",
    (
        Turn("user", "Is this scratch covered?", (QUERY,), (PHOTO,)),
        Turn("assistant", "Scratches are not covered, but broken seams are.", (WARRANTY,)),
        Turn("user", "And the zip?"),
        Turn("assistant", "Zips are covered for a year.", (ZIPS,)),
    ),
    "shop",
    ratings=(Rating(1, "bo", "yes-no", "yes"), Rating(3, "bo", "yes-no", "no")),
)
KEYS = tuple(each.spec.key for each in registry.METRICS)

CLAIMS = (
    Claim(1, "Scratches are not covered.", Span(0, 25)),
    Claim(1, "Broken seams are covered."),
    Claim(3, "Zips are covered for a year.", Span(0, 28)),
)
FACTS = (
    Truth("Scratches are not covered.", WARRANTY.text),
    Truth("Broken seams are covered.", WARRANTY.text),
    Truth("Zips are covered for six months.", ZIPS.text, Span(0, 32)),
)
MESSAGES = (Truth("Is this scratch covered?"), Truth("And the zip?"))


@dataclass(frozen=True)
class Judged:
    """What a metric makes of the boots."""

    verdicts: tuple[Verdict, ...]
    truths: tuple[Truth, ...] = ()
    size: int = 1
    """Interactions of a window."""


def _stated(text: str, label: str, serves: Truth | None = None) -> Verdict:
    document = ZIPS if text in ZIPS.text else WARRANTY
    start = document.text.index(text)
    turn = 3 if document is ZIPS else 1
    claim = Claim(turn, text, Span(start, start + len(text)), "statement", document.text)
    evidence = () if serves is None else (Evidence(serves, "supports"),)
    return Verdict(claim, label, label, None, None, evidence)


FAITHFUL = Judged(
    (
        Verdict(CLAIMS[0], "yes", "yes", None, 0.9, (Evidence(FACTS[0], "supports"),)),
        Verdict(CLAIMS[1], "yes", "yes", None, 0.8, (Evidence(FACTS[1], "supports"),)),
        Verdict(
            CLAIMS[2], "no", "no", "six months, not a year", 0.1,
            (Evidence(FACTS[2], "contradicts"),),
        ),
    ),
    FACTS,
    10,
)  # fmt: skip
JUDGED: Mapping[str, Judged] = {
    "turn-faithfulness": FAITHFUL,
    "deepevalex-faithfulness": replace(FAITHFUL, size=1),
    "turn-contextual-relevancy": Judged(
        (
            _stated("The warranty covers broken seams.", "no"),
            _stated("Scratches are wear and not covered.", "yes", MESSAGES[0]),
            _stated("Ask in the store.", "no"),
            _stated("Zips are covered for six months.", "yes", MESSAGES[1]),
        ),
        MESSAGES,
        10,
    ),
    "ragas-faithfulness": Judged(
        tuple(
            Verdict(claim, label, label, reason)
            for claim, label, reason in zip(
                CLAIMS, ("1", "1", "0"), ("it says so", "it says so", "six months"), strict=True
            )
        )
    ),
    "llamaindex-faithfulness": Judged(
        (
            Verdict(Claim(1, BOOTS.turns[1].content, None, "answer"), "yes", "YES"),
            Verdict(
                Claim(3, BOOTS.turns[3].content, None, "answer"), "yes", "NO. Eyes open.",
                "the letters yes occur in the reply",
            ),
        )
    ),
}  # fmt: skip


def rule_of(key: str) -> ScoringRule:
    """Give a metric's rule with its vocabulary, as its defaults have it."""
    rule = registry.build(key, {}).rule
    assert rule.labels
    return rule


def boots(
    path: Path, keys: Sequence[str] = KEYS, conversation: Conversation = BOOTS
) -> dict[str, RunId]:
    """Fill a store with one run of each metric over the boots.

    Returns:
        The runs by metric, in the order asked.
    """
    with Store.open(path, clock=lambda: NOON) as store:
        store.conversations.import_batch([conversation], {PHOTO.sha256: PNG})
        return {key: judge(store, key) for key in keys}


def judge(store: Store, key: str) -> RunId:
    """Store a run of a metric over everything there is."""
    spec = registry.find_metric(key).spec
    rule = rule_of(key)
    made = replace(SPEC, metric=key, peer=spec.peer, rule=rule, options={})
    run = store.runs.create(made, store.conversations.list_ids())
    for item in store.runs.list_item_ids(run):
        _save(store, item, JUDGED[key], rule)
    store.runs.set_state(run, RunState.DONE)
    return run


def _save(store: Store, item: ItemId, judged: Judged, rule: ScoringRule) -> None:
    for window in cut_sliding_windows(split_into_interactions(BOOTS.turns), judged.size):
        store.runs.save_window(item, _assessment(judged, window, rule))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    check_item(store, item)


def _assessment(judged: Judged, window: Window, rule: ScoringRule) -> Assessment:
    verdicts = tuple(each for each in judged.verdicts if each.claim.turn in window.turns)
    documents = {
        document.text
        for turn in window.turns
        for document in BOOTS.turns[turn].retrieval_context or ()
    }
    said = {BOOTS.turns[turn].content for turn in window.turns}
    truths = tuple(
        each for each in judged.truths if each.document in documents or each.text in said
    )
    return Assessment(
        window, score_window([each.label for each in verdicts], rule), verdicts, truths
    )
