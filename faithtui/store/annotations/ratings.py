"""Writing ratings that came with conversations: claims with labels given elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, exists, func, insert, or_, select, update

from faithtui.agreement.rating_scales import translate_to_verdict
from faithtui.domain.conversation import LabelRecord, Rating
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, VERDICT_ACTIONS, Action
from faithtui.store.annotations.label_replay import IS_IMPORTED_LABEL, compute_next_clock
from faithtui.store.runs.rollups import (
    list_items_with_verdict_on_claim,
    update_human_columns_of_items,
)
from faithtui.store.schema.json_columns import span_to_columns
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import (
    hash_normalised_claim,
    make_imported_label_uid,
    replace_unstorable_characters,
)
from faithtui.store.schema.tables import claim, conversation, human_label
from faithtui.store.search.word_index import index_claims

_WORDS: Final = ("reviewer", "scale", "raw_label", "note")
"""Columns by which an imported label is known of which nothing says how it was given."""
_CONTENT: Final = (
    *_WORDS,
    *("action", "saw_judge", "judge_verdict", "seconds", "reason_code", "guideline_version"),
)
"""Columns of what an imported label says."""
_PLAIN: Final = (Action.IMPORTED.value, False, None, None, None, None)
"""The others where nothing says how a label was given."""
_WORDS_END: Final = 1 + len(_WORDS)
"""Columns of an identity that say what was said of which claim; the others say how."""
_earlier = human_label.alias("earlier")
HAS_LABEL_RECORD: Final = or_(
    human_label.c.saw_judge, *(human_label.c[name].is_not(None) for name in _CONTENT[-4:])
)
"""An imported label of which the data say how it was given, beyond that it was final or a skip."""
IS_KNOWN_LABEL_WITH_RECORD: Final = or_(
    HAS_LABEL_RECORD, human_label.c.action != Action.IMPORTED.value
) & exists().where(
    *(_earlier.c[name] == human_label.c[name] for name in ("claim_id", *_WORDS[:-1])),
    _earlier.c.note.is_not_distinct_from(human_label.c.note),
    _earlier.c.clock < human_label.c.clock,
)
"""An imported label that an earlier row has already, and how it was given. The first part is of the
row alone, so that few rows are looked up."""
_UNCOUNTED: Final = frozenset(each.value for each in VERDICT_ACTIONS - COUNTED_ACTIONS)
_KEPT_ACTIONS: Final = (VERDICT_ACTIONS - COUNTED_ACTIONS) | {Action.ADJUDICATED}
"""How a label is stored that has no verdict, or is final; others are imported."""


@dataclass(frozen=True, slots=True)
class MisreadLabels:
    """Labels of an import that an earlier version read in another way than this one."""

    source: str
    """Name of the data set."""
    scale: str
    count: int
    example: tuple[str, str | None, str | None]
    """The word in the file, the verdict that is stored, and the one it has now."""


def list_misread_labels(connection: Connection) -> tuple[MisreadLabels, ...]:
    """List labels of imports whose stored verdict is not what their scale says now."""
    rows = connection.execute(
        select(
            conversation.c.source,
            human_label.c.scale,
            human_label.c.raw_label,
            human_label.c.verdict,
            func.count().label("labels"),
        )
        .join_from(human_label, claim, human_label.c.claim_id == claim.c.id)
        .join(conversation, claim.c.conversation_id == conversation.c.id)
        .where(
            IS_IMPORTED_LABEL,
            human_label.c.scale.is_not(None),
            human_label.c.raw_label.is_not(None),
        )
        .group_by(
            conversation.c.source,
            human_label.c.scale,
            human_label.c.raw_label,
            human_label.c.verdict,
        )
        .order_by(conversation.c.source, human_label.c.scale, human_label.c.raw_label)
    )
    found: dict[tuple[str, str], MisreadLabels] = {}
    for row in rows:
        verdict = translate_to_verdict(row.scale, row.raw_label)
        if verdict == row.verdict:
            continue
        before = found.get((row.source, row.scale))
        found[row.source, row.scale] = MisreadLabels(
            row.source,
            row.scale,
            row.labels + (0 if before is None else before.count),
            (row.raw_label, row.verdict, verdict) if before is None else before.example,
        )
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """What became of the ratings of a batch."""

    new: int = 0
    """Labels that were not there. Not counted: how a label was given that was there already."""
    left_out: int = 0
    """Skips, labels in bulk and accepted ones of conversations that were there already."""


@dataclass(frozen=True, slots=True)
class _ClaimKey:
    """Identity of a claim."""

    conversation_id: int
    kind: str
    turn: int
    digest: str


def add_missing_ratings(
    connection: Connection,
    now: datetime,
    rated: Sequence[tuple[int, Sequence[Rating]]],
    before: set[int],
) -> RatingCounts:
    """Append the ratings that are not there yet.

    A label that is there without how it was given is appended again with that, unless its annotator
    labelled the claim here since; the other way round nothing is appended.

    Args:
        connection: In the write.
        now: Time of the import.
        rated: Ratings by id of their conversation.
        before: Ids of the conversations that were there before this batch.
    """
    if not rated:
        return RatingCounts()
    old = sorted({number for number, _ in rated} & before)
    claims = _find_or_make_claims(connection, rated, old)
    seen = _read_imported_label_identities(connection, old)
    counted = {each[:_WORDS_END] for each in seen if each[_WORDS_END] not in _UNCOUNTED}
    labelled_here = _read_reviewers_of_own_labels(connection, old)
    names = _read_conversation_keys(connection, sorted({number for number, _ in rated}))
    clock = compute_next_clock(connection)
    rows: list[dict[str, Any]] = []
    touched: set[tuple[int, int]] = set()
    left_out = known = 0
    for number, ratings in rated:
        for rating in ratings:
            key = _make_claim_key(number, rating)
            row = {"claim_id": claims[key], **_make_content_columns(rating)}
            same = tuple(row.values())
            words, details = same[:_WORDS_END], same[_WORDS_END:]
            if same in seen or (words in counted and details == _PLAIN):
                continue
            if number in before and row["action"] in _UNCOUNTED:
                left_out += 1  # a label that counts here goes before it
                continue
            if words in counted:
                if (row["claim_id"], row["reviewer"]) in labelled_here:
                    continue
                known += 1
            seen.add(same)
            if row["action"] not in _UNCOUNTED:
                counted.add(words)
            touched.add((number, claims[key]))
            identifying_texts = _list_identifying_texts(row)
            rows.append(
                {
                    **row,
                    "uid": make_imported_label_uid(
                        (*names[number], key.kind, str(key.turn), key.digest, *identifying_texts)
                    ),
                    "clock": clock + len(rows),
                    "verdict": translate_to_verdict(rating.scale, rating.label),
                    "created_at": now,
                }
            )
    if rows:
        connection.execute(insert(human_label), rows)
    items: dict[int, set[int]] = {}
    for number, claim_id in touched:
        if number in before:
            items.setdefault(number, set()).update(
                list_items_with_verdict_on_claim(connection, claim_id)
            )
    for number, held in items.items():
        update_human_columns_of_items(connection, number, sorted(held))
    return RatingCounts(sum(bool(row["raw_label"]) for row in rows) - known, left_out)


def _make_content_columns(rating: Rating) -> dict[str, Any]:
    """Make the columns of what a label says, in the order of `_CONTENT`."""
    record = rating.record or LabelRecord(Action.IMPORTED)
    action = record.action if record.action in _KEPT_ACTIONS else Action.IMPORTED
    texts = (rating.annotator, rating.scale, rating.label, rating.note)
    values = (
        *(None if each is None else replace_unstorable_characters(each) for each in texts),
        action.value,
        record.saw_judge,
        None
        if record.judge_verdict is None
        else replace_unstorable_characters(record.judge_verdict),
        record.seconds,
        record.code,
        None if record.guideline is None else replace_unstorable_characters(record.guideline),
    )
    return dict(zip(_CONTENT, values, strict=True))


def _list_identifying_texts(row: Mapping[str, Any]) -> list[str | None]:
    """List what a label says, of which its name is made; plain labels are known by four texts."""
    texts = [row[name] for name in _WORDS]
    details = tuple(row[name] for name in _CONTENT[len(_WORDS) :])
    if details == _PLAIN:
        return texts
    return [*texts, *(None if each is None else str(each) for each in details)]


def _read_conversation_keys(
    connection: Connection, numbers: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Read source and key of conversations."""
    found: dict[int, tuple[str, str]] = {}
    for some in split_into_chunks(numbers):
        for row in connection.execute(
            select(conversation.c.id, conversation.c.source, conversation.c.key).where(
                conversation.c.id.in_(some)
            )
        ):
            found[row.id] = (row.source, row.key)
    return found


def _make_claim_key(number: int, rating: Rating) -> _ClaimKey:
    kind = "answer" if rating.claim is None else "claim"
    return _ClaimKey(number, kind, rating.turn, hash_normalised_claim(rating.claim or ""))


def _find_or_make_claims(
    connection: Connection, rated: Sequence[tuple[int, Sequence[Rating]]], old: Sequence[int]
) -> dict[_ClaimKey, int]:
    """Find or make the claims that ratings are about."""
    wanted: dict[_ClaimKey, Rating] = {}
    for number, ratings in rated:
        for rating in ratings:
            wanted.setdefault(_make_claim_key(number, rating), rating)
    found: dict[_ClaimKey, int] = {}
    for some in split_into_chunks(old):
        for row in connection.execute(
            select(
                claim.c.id,
                claim.c.conversation_id,
                claim.c.kind,
                claim.c.turn,
                claim.c.digest,
                claim.c.span_start,
                claim.c.imported,
            ).where(claim.c.conversation_id.in_(some))
        ):
            key = _ClaimKey(row.conversation_id, row.kind, row.turn, row.digest)
            found[key] = row.id
            if key in wanted and not row.imported:
                # A judge drew the claim before its label came with the data.
                _mark_claim_imported(
                    connection, row.id, wanted[key], has_span=row.span_start is not None
                )
    missing = [key for key in wanted if key not in found]
    if missing:
        before = set(found.values())
        for row in connection.execute(
            insert(claim).returning(
                claim.c.id, claim.c.conversation_id, claim.c.kind, claim.c.turn, claim.c.digest
            ),
            [
                {
                    "conversation_id": key.conversation_id,
                    "kind": key.kind,
                    "turn": key.turn,
                    "digest": key.digest,
                    "text": wanted[key].claim or "",
                    **_span_columns(wanted[key]),
                    "imported": True,
                }
                for key in missing
            ],
        ):
            found[_ClaimKey(row.conversation_id, row.kind, row.turn, row.digest)] = row.id
        index_claims(connection, set(found.values()) - before)
    return found


def _mark_claim_imported(
    connection: Connection, claim_id: int, rating: Rating, *, has_span: bool
) -> None:
    columns: dict[str, Any] = {"imported": True}
    if not has_span:
        columns |= _span_columns(rating)
    connection.execute(update(claim).where(claim.c.id == claim_id).values(columns))


def _span_columns(rating: Rating) -> dict[str, int | None]:
    return span_to_columns(rating.span if rating.claim is not None else None)


def _read_imported_label_identities(
    connection: Connection, conversations: Sequence[int]
) -> set[tuple[object, ...]]:
    """Read what identifies the imported labels of some conversations."""
    seen: set[tuple[object, ...]] = set()
    for some in split_into_chunks(conversations):
        seen |= {
            tuple(row)
            for row in connection.execute(
                select(human_label.c.claim_id, *(human_label.c[name] for name in _CONTENT))
                .join(claim, claim.c.id == human_label.c.claim_id)
                .where(claim.c.conversation_id.in_(some), IS_IMPORTED_LABEL)
            )
        }
    return seen


def _read_reviewers_of_own_labels(
    connection: Connection, conversations: Sequence[int]
) -> set[tuple[int, str]]:
    """Read who labelled which claims of some conversations here, by claim."""
    found: set[tuple[int, str]] = set()
    for some in split_into_chunks(conversations):
        rows = connection.execute(
            select(human_label.c.claim_id, human_label.c.reviewer)
            .join(claim, claim.c.id == human_label.c.claim_id)
            .where(
                claim.c.conversation_id.in_(some),
                human_label.c.action.in_([each.value for each in VERDICT_ACTIONS]),
                ~IS_IMPORTED_LABEL,
            )
        )
        found |= {(row.claim_id, row.reviewer) for row in rows}
    return found
