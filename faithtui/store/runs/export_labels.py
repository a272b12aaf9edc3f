"""Labels of a stretch of a run, as they are written into files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from faithtui.domain.exported_conversation import ExportLabel, ExportMark, make_stable_uuid
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import HumanVerdict
from faithtui.store.annotations.label_replay import read_events, replay_verdicts
from faithtui.store.schema.tables import claim, document, human_label


class ExportLabelReader:
    """Reads the human labels of conversations."""

    def __init__(self, connection: Connection, run: RunId) -> None:
        """Look whether there is any label."""
        self._connection = connection
        self._run = run
        self._has_labels = connection.execute(select(human_label.c.id).limit(1)).first() is not None

    def read_labels(
        self, conversations: Collection[int]
    ) -> tuple[dict[ClaimId, tuple[HumanVerdict, ...]], dict[ClaimId, list[ExportLabel]]]:
        """Read labels and the label events behind them, by claim."""
        if not self._has_labels:
            return {}, {}
        verdicts_by_claim = replay_verdicts(
            read_events(self._connection, claim.c.conversation_id.in_(conversations))
        )
        standing = [
            each.event.id
            for people in verdicts_by_claim.values()
            for each in people
            if each.event is not None
        ]
        events = (
            {
                row[0]: row
                for row in self._connection.execute(
                    select(
                        human_label.c.id,
                        human_label.c.uid,
                        human_label.c.created_at,
                        human_label.c.guideline_version,
                        human_label.c.stratum,
                        human_label.c.probability,
                    )
                    .join(claim, claim.c.id == human_label.c.claim_id)
                    .where(claim.c.conversation_id.in_(conversations))
                )
            }
            if standing
            else {}
        )
        texts = self._read_marked_texts(verdicts_by_claim)
        return verdicts_by_claim, {
            claim_id: [_make_export_label(each, events, texts, self._run) for each in people]
            for claim_id, people in verdicts_by_claim.items()
        }

    def _read_marked_texts(
        self, labels: Mapping[ClaimId, tuple[HumanVerdict, ...]]
    ) -> Mapping[str, str]:
        names = {
            mark.document for people in labels.values() for one in people for mark in one.evidence
        }
        if not names:
            return {}
        return {
            digest: text
            for digest, text in self._connection.execute(
                select(document.c.hash, document.c.text).where(document.c.hash.in_(names))
            )
        }


def _make_export_label(
    found: HumanVerdict, events: Mapping[int, Any], texts: Mapping[str, str], run: RunId
) -> ExportLabel:
    act = found.event
    uid, at, guideline, stratum, probability = (
        (None, None, None, None, None) if act is None else events[act.id][1:]
    )
    return ExportLabel(
        uid or "",
        found.reviewer,
        found.verdict,
        found.action,
        found.note,
        found.code,
        at,
        None if act is None else act.seconds,
        act is not None and act.saw_judge,
        None if act is None else act.judge_verdict,
        guideline,
        stratum,
        probability,
        found.flagged,
        found.unsure,
        tuple(
            ExportMark(
                mark.document,
                mark.start,
                mark.end,
                texts.get(mark.document, "")[mark.start : mark.end],
            )
            for mark in found.evidence
        ),
        None if act is None else act.scale,
        None if act is None else act.raw_label,
        "missed" if run in found.missed_in else "complete" if run in found.complete_in else None,
    )


def iter_labels_with_missing_ids_filled_in(
    labels: Sequence[ExportLabel], claim_name: str
) -> Iterator[ExportLabel]:
    """Name what was said without a label, such as a note, by whom and what it is about."""
    for each in labels:
        yield (
            each
            if each.id
            else each._replace(id=make_stable_uuid("note", claim_name, each.annotator))
        )
