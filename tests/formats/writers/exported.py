"""A run and its conversations as exports get them: one by hand, and any that can be."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportEvidence,
    ExportLabel,
    ExportMark,
    ExportPassage,
    ExportRun,
    ExportTurn,
    ExportVerdict,
    ExportWindow,
)
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import ScoringRule

AT = datetime(2026, 3, 2, 9, 0, 5, 250, tzinfo=UTC)
TRACE = "2439739de9cc4d51ac8de242520e7f63"
SPAN = "0533d3abf5181ce2"
RUN_UUID = "4dec337d-4486-469b-9159-68063ce789bb"

RUN = ExportRun(
    id="8caf7d1c-ca28-5e4c-b73d-25baa8e69937",
    number=3,
    metric="turn-faithfulness",
    judge="openai:judge-1",
    model="openai:judge-1",
    prompts="b" * 64,
    strategy="evidence",
    rule=ScoringRule(("yes", "idk"), None, 0.5, labels=("yes", "no", "idk")),
    created_at=AT,
    conversations=1,
    claims=3,
    labelled=2,
    sample="sample 1",
)

DEPOT = ExportPassage("d" * 64, "Parcels leave within two days.", "depot.md")
RETURNS = ExportPassage("e" * 64, "Returns cost 5 euros.", None)


def make_label(annotator: str, label: str | None, **other: Any) -> ExportLabel:
    """A label of somebody, blind and without anything else unless told."""
    made = ExportLabel(
        id=f"{annotator}-{label}",
        annotator=annotator,
        label=label,
        action=Action.BLIND,
        note=None,
        code=None,
        at=AT,
        seconds=2.5,
        saw_judge=False,
        judge_verdict=None,
        guideline=None,
        stratum=None,
        probability=None,
        flagged=False,
        unsure=False,
        evidence=(),
        scale=None,
        raw_label=None,
    )
    return made._replace(**other)


def make_claim(number: int, verdict: str | None, **other: Any) -> ExportClaim:
    """A claim of the answer at turn 1."""
    made = ExportClaim(
        id=f"00000000-0000-5000-8000-{number:012}",
        kind="claim",
        turn=1,
        text=f"Claim {number}.",
        span=(number, number + 8),
        document=None,
        judged=True,
        window=0,
        verdict=verdict,
        word=verdict,
        reason=f"because {number}",
        confidence=0.25,
        judged_at=AT,
        judge_call="c" * 64,
        passages=(DEPOT, RETURNS),
        evidence=(ExportEvidence("Returns cost 5 euros.", "contradicts", RETURNS.document),),
        human=None,
        tied=False,
        labels=(),
        stratum=None,
        probability=None,
    )
    return made._replace(**other)


def make_conversation(
    *claims: ExportClaim, metadata: Mapping[str, object] | None = None
) -> ExportConversation:
    """A question and an answer."""
    verdicts = tuple(
        ExportVerdict(each.text, each.verdict, each.word, each.reason) for each in claims
    )
    return ExportConversation(
        number=1,
        id="0505c71b-0bb2-52f2-87f4-252409807cb5",
        source="orders",
        key="order-17",
        group="order-17",
        metadata=metadata or {},
        turns=(
            ExportTurn("user", "When does it arrive?", None),
            ExportTurn("assistant", "Within two days. Returns are free.", (DEPOT, RETURNS)),
        ),
        claims=claims,
        windows=(ExportWindow(0, (0, 1), 0.5, "scored", "one fails", AT, verdicts, ("A truth",)),),
        state="done",
        score=0.5,
        corrected=1.0,
        reason="one fails",
    )


WITH_IDS: Mapping[str, object] = {
    "model": "bot-1",
    "per_turn": {"1": {"trace_id": TRACE, "span_id": SPAN, "message_id": "m-1"}},
}

REVIEWED = make_conversation(
    make_claim(
        0,
        "yes",
        human="yes",
        labels=(make_label("ann", "yes"), make_label("ben", "x", note="an opinion")),
        stratum="judge yes",
        probability=0.25,
    ),
    make_claim(
        1,
        "no",
        word="contradicted",
        tied=True,
        labels=(
            make_label("ann", "no", evidence=(ExportMark(RETURNS.document, 8, 12, "cost"),)),
            make_label("ben", "yes", action=Action.BULK),
        ),
    ),
    make_claim(
        2,
        None,
        kind="answer",
        text="Within two days. Returns are free.",
        span=None,
        judged=False,
        window=None,
        word=None,
        reason=None,
        confidence=None,
        judged_at=None,
        judge_call=None,
        evidence=(),
        human="no",
        labels=(
            make_label(
                "ann",
                "no",
                action=Action.IMPORTED,
                scale="mtrag-faithfulness-1-4",
                raw_label="2",
                note="they cost 5 euros",
            ),
        ),
    ),
    metadata=WITH_IDS,
)
"""Judge and annotators differ; one verdict was given in bulk, one label came with the data."""
