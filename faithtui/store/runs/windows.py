"""Writing judged windows of a conversation: everything of them in one transaction, or nothing.

What windows share with others (claims, truths, evidence) is looked up with one query per table
and inserted in bulk, so that a window of a hundred truths takes a few milliseconds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple, assert_never

from sqlalchemy import Connection, Table, delete, insert, select, update

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth
from faithtui.domain.conversation import Passage
from faithtui.domain.ids import ItemId
from faithtui.domain.scores import ScoreState
from faithtui.errors import StoreError
from faithtui.store.runs.rollups import compute_judge_label_columns, update_item_and_run_counters
from faithtui.store.schema.json_columns import images_from_json, span_to_columns
from faithtui.store.schema.statements import insert_returning_id
from faithtui.store.schema.storable_text import (
    hash_normalised_claim,
    hash_normalised_statement,
    text_hash,
)
from faithtui.store.schema.tables import (
    claim,
    document,
    evidence,
    run_item,
    sufficient_set,
    truth,
    turn_document,
    verdict,
    window,
)
from faithtui.store.search.word_index import index_claims

ClaimKey = tuple[str, int, str]
"""Kind, turn and digest."""
TruthKey = tuple[int | None, str]
"""Document id and digest."""


class _FirstVerdict(NamedTuple):
    """Where a claim got its first verdict in a conversation."""

    window_position: int
    window_id: int
    position: int
    """Among the verdicts of the window."""


UNFINISHED = (ScoreState.FAILED.value, ScoreState.INCOMPLETE.value)
"""Windows that are judged again when their conversation is."""


def save_windows(
    connection: Connection, now: datetime, item: ItemId, assessments: Sequence[Assessment]
) -> None:
    """Write windows of a conversation of a run; see `Runs.save_windows`."""
    rows = connection.execute(
        select(run_item.c.conversation_id, window.c.id, window.c.position, window.c.score_state)
        .outerjoin(window, window.c.run_item_id == run_item.c.id)
        .where(run_item.c.id == item)
    ).all()
    if not rows:
        raise StoreError(f"there is no conversation {item} in any run; start the run again")
    conversation_id = rows[0].conversation_id
    stored = {row.position: row for row in rows if row.id is not None}
    new = [
        each
        for each in assessments
        if each.window.position not in stored
        or _takes_place_of_stored(each, stored[each.window.position].score_state)
    ]
    if not new:
        return
    replaced = [stored[each.window.position].id for each in new if each.window.position in stored]
    if replaced:
        _remove_windows(connection, item, replaced)
    claims = find_or_insert_claim_ids(
        connection,
        conversation_id,
        [claim_verdict.claim for each in new for claim_verdict in each.verdicts],
    )
    truths = _find_or_insert_truth_ids(connection, item, conversation_id, new)
    homes = _read_first_verdicts(connection, item)
    for each in new:
        window_id = _insert_window(connection, now, item, each, truths)
        claim_ids = [claims[claim_verdict.claim] for claim_verdict in each.verdicts]
        _add_verdicts(connection, item, window_id, each, claim_ids, homes)
        _add_evidence(connection, item, each, claim_ids, truths)
    _update_judge_columns(connection, item)


def _takes_place_of_stored(assessment: Assessment, stored_state: str) -> bool:
    """Say whether a window is written though there is one at its position."""
    lacks_verdict = stored_state == ScoreState.INCOMPLETE.value
    is_no_better = lacks_verdict and assessment.score.state is ScoreState.FAILED
    return stored_state in UNFINISHED and not is_no_better


def _insert_window(
    connection: Connection,
    now: datetime,
    item: int,
    assessment: Assessment,
    truths: Mapping[Truth, int],
) -> int:
    score = assessment.score
    return insert_returning_id(
        connection,
        insert(window).values(
            run_item_id=item,
            position=assessment.window.position,
            interactions=list(assessment.window.interactions),
            turns=list(assessment.window.turns),
            score=score.value,
            score_state=score.state.value,
            score_reason=score.reason,
            reason=assessment.reason,
            without_context=assessment.without_context,
            surplus=list(assessment.surplus),
            truths=list(dict.fromkeys(truths[each] for each in assessment.truths)),
            judged_at=now,
        ),
    )


def _update_judge_columns(connection: Connection, item: int) -> None:
    """Bring what the row of a conversation of a run counts of its windows up to date."""
    update_item_and_run_counters(
        connection,
        item,
        {
            "checked": 0,
            **_count_windows_by_state(connection, item),
            **compute_judge_label_columns(connection, item),
        },
    )


def _count_windows_by_state(connection: Connection, item: int) -> dict[str, object]:
    """Count the windows of a conversation of a run by state, as columns of its row."""
    states = Counter(
        connection.execute(
            select(window.c.score_state).where(window.c.run_item_id == item)
        ).scalars()
    )
    counted = (ScoreState.FAILED, ScoreState.UNDEFINED, ScoreState.SKIPPED)
    return {
        "windows": states.total(),
        **{f"{state.value}_windows": states[state.value] for state in counted},
    }


def find_or_insert_claim_ids(
    connection: Connection, conversation_id: int, claims: Iterable[Claim]
) -> dict[Claim, int]:
    """Give the numbers of claims of a conversation; those that are not there are written."""
    keys = {each: _claim_key(each) for each in claims}
    if not keys:
        return {}
    known = select(claim.c.id, claim.c.kind, claim.c.turn, claim.c.digest).where(
        claim.c.conversation_id == conversation_id,
        claim.c.kind.in_(sorted({each.kind for each in keys})),
    )
    ids: dict[ClaimKey, int] = {
        (row.kind, row.turn, row.digest): row.id for row in connection.execute(known)
    }
    # From behind, so that of several with one key the first gives the words.
    first = {key: each for each, key in reversed(keys.items())}
    missing = [key for key in dict.fromkeys(keys.values()) if key not in ids]
    if missing:
        of_documents = any(first[key].document is not None for key in missing)
        documents = _read_document_ids_by_hash(connection, conversation_id) if of_documents else {}
        connection.execute(
            insert(claim),
            [
                {
                    "conversation_id": conversation_id,
                    "kind": each.kind,
                    "turn": each.turn,
                    "digest": digest,
                    # What a turn says stands in the turn, so an answer repeats nothing.
                    "text": "" if each.kind == "answer" else each.text,
                    **span_to_columns(None if each.kind == "answer" else each.span),
                    "imported": False,
                    "document_id": None
                    if each.document is None
                    else documents.get(text_hash(each.document)),
                }
                for each, digest in ((first[key], key[2]) for key in missing)
            ],
        )
        # Read again, as inserting many rows at once gives no numbers back.
        before = set(ids.values())
        ids = {(row.kind, row.turn, row.digest): row.id for row in connection.execute(known)}
        index_claims(connection, set(ids.values()) - before)
    return {each: ids[key] for each, key in keys.items()}


def _claim_key(claim: Claim) -> ClaimKey:
    match claim.kind:
        case "claim":
            digest = hash_normalised_claim(claim.text)
        case "statement":
            digest = hash_normalised_statement(claim.document or "", claim.text)
        case "answer":
            digest = hash_normalised_claim("")
        case _:
            assert_never(claim.kind)
    return claim.kind, claim.turn, digest


def _find_or_insert_truth_ids(
    connection: Connection, item: int, conversation_id: int, assessments: Sequence[Assessment]
) -> dict[Truth, int]:
    truths = list(dict.fromkeys(chain.from_iterable(map(_iterate_truths, assessments))))
    if not truths:
        return {}
    documents = _read_document_ids_by_hash(connection, conversation_id)
    named_documents = {each.document for each in truths if each.document is not None}
    hashes = {text: text_hash(text) for text in named_documents}
    keys: dict[Truth, TruthKey] = {
        each: (
            None if each.document is None else documents.get(hashes[each.document]),
            hash_normalised_claim(each.text),
        )
        for each in truths
    }
    known = select(truth.c.id, truth.c.document_id, truth.c.digest).where(
        truth.c.run_item_id == item
    )
    ids: dict[TruthKey, int] = {
        (row.document_id, row.digest): row.id for row in connection.execute(known)
    }
    # From behind, so that of several with one key the first gives the words.
    first = {key: each for each, key in reversed(keys.items())}
    missing = [key for key in dict.fromkeys(keys.values()) if key not in ids]
    if missing:
        connection.execute(
            insert(truth),
            [
                {
                    "run_item_id": item,
                    "document_id": key[0],
                    "digest": key[1],
                    "text": first[key].text,
                    "quote": first[key].quote,
                    **span_to_columns(first[key].span),
                }
                for key in missing
            ],
        )
        ids = {(row.document_id, row.digest): row.id for row in connection.execute(known)}
    return {each: ids[key] for each, key in keys.items()}


def _iterate_truths(assessment: Assessment) -> Iterator[Truth]:
    """Give the truths of a window, and those that are evidence for a claim of it."""
    yield from assessment.truths
    for claim_verdict in assessment.verdicts:
        yield from (each.truth for each in claim_verdict.evidence)


def _read_document_ids_by_hash(connection: Connection, conversation_id: int) -> dict[str, int]:
    """Find the documents of a conversation by the hash of what is shown of them.

    The bare text of a document with images stands for the first such document: a question that
    did not show the images names it so.
    """
    found: dict[str, int] = {}
    by_text: dict[str, int] = {}
    for row in connection.execute(
        select(
            turn_document.c.document_id, turn_document.c.images, document.c.hash, document.c.text
        )
        .join(document, document.c.id == turn_document.c.document_id)
        .where(turn_document.c.conversation_id == conversation_id)
        .order_by(turn_document.c.turn, turn_document.c.position)
    ):
        if row.images:
            passage = Passage(row.text, images_from_json(row.images))
            found.setdefault(text_hash(passage.text_with_marks), row.document_id)
            by_text.setdefault(text_hash(row.text), row.document_id)
        else:
            found.setdefault(row.hash, row.document_id)
    # The right side goes first: a whole match before one by the bare text.
    return by_text | found


def _read_first_verdicts(connection: Connection, item: int) -> dict[int, _FirstVerdict]:
    """Find the first verdict in a conversation of a run of each claim, by its number."""
    return {
        row.claim_id: _FirstVerdict(row.at, row.window_id, row.position)
        for row in connection.execute(
            select(
                verdict.c.claim_id,
                verdict.c.window_id,
                verdict.c.position,
                window.c.position.label("at"),
            )
            .join(window, window.c.id == verdict.c.window_id)
            .where(verdict.c.run_item_id == item, verdict.c.is_home)
        )
    }


def _add_verdicts(
    connection: Connection,
    item: int,
    window_id: int,
    assessment: Assessment,
    claim_ids: list[int],
    homes: dict[int, _FirstVerdict],
) -> None:
    """Write the verdicts of a window; `homes` is brought up to date."""
    rows = []
    for place, (claim_verdict, claim_id) in enumerate(
        zip(assessment.verdicts, claim_ids, strict=True)
    ):
        home = homes.get(claim_id)
        is_home = home is None or assessment.window.position < home.window_position
        if is_home:
            homes[claim_id] = _FirstVerdict(assessment.window.position, window_id, place)
        if is_home and home is not None:
            # Windows may finish in any order; the home is the first one in the conversation.
            connection.execute(
                update(verdict)
                .where(verdict.c.window_id == home.window_id, verdict.c.position == home.position)
                .values(is_home=False)
            )
        rows.append(
            {
                "window_id": window_id,
                "position": place,
                "run_item_id": item,
                "claim_id": claim_id,
                "label": claim_verdict.label,
                "word": claim_verdict.word,
                "reason": claim_verdict.reason,
                "confidence": claim_verdict.confidence,
                "is_home": is_home,
            }
        )
    if rows:
        connection.execute(insert(verdict), rows)


def _add_evidence(
    connection: Connection,
    item: int,
    assessment: Assessment,
    claim_ids: list[int],
    truths: dict[Truth, int],
) -> None:
    named = [
        (claim_id, truths[each.truth], each)
        for claim_verdict, claim_id in zip(assessment.verdicts, claim_ids, strict=True)
        for each in claim_verdict.evidence
    ]
    _insert_missing_rows(
        connection,
        evidence,
        item,
        ("claim_id", "truth_id", "stance"),
        [(claim_id, truth_id, each.stance) for claim_id, truth_id, each in named],
    )
    _insert_joint_truth_sets(connection, item, named)


def _insert_joint_truth_sets(
    connection: Connection, item: int, named: Sequence[tuple[int, int, Evidence]]
) -> None:
    """Store the sets of truths of a window that are enough only together.

    A set is known by its members: windows that are judged at another time may number it otherwise.
    """
    members: dict[tuple[int, int], set[int]] = defaultdict(set)
    for claim_id, truth_id, each in named:
        for number in each.sets:
            members[claim_id, number].add(truth_id)
    if not members:
        return
    stored: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for claim_id, number, truth_id in connection.execute(
        select(sufficient_set.c.claim_id, sufficient_set.c.number, sufficient_set.c.truth_id).where(
            sufficient_set.c.run_item_id == item
        )
    ):
        stored[claim_id][number].add(truth_id)
    for (claim_id, _), truths in members.items():
        known = stored[claim_id]
        if truths not in known.values():
            number = max(known, default=0) + 1
            known[number] = truths
            connection.execute(
                insert(sufficient_set),
                [
                    {
                        "run_item_id": item,
                        "claim_id": claim_id,
                        "number": number,
                        "truth_id": truth_id,
                    }
                    for truth_id in sorted(truths)
                ],
            )


def _insert_missing_rows(
    connection: Connection,
    table: Table,
    item: int,
    columns: tuple[str, ...],
    rows: Iterable[tuple[object, ...]],
) -> None:
    """Insert the rows that a conversation of a run does not have yet, each once."""
    wanted = dict.fromkeys(rows)
    if not wanted:
        return
    known = {
        tuple(row)
        for row in connection.execute(
            select(*(table.c[name] for name in columns)).where(table.c.run_item_id == item)
        )
    }
    new = [
        {"run_item_id": item, **dict(zip(columns, row, strict=True))}
        for row in wanted
        if row not in known
    ]
    if new:
        connection.execute(insert(table), new)


def remove_failed_windows(connection: Connection, item: int) -> None:
    """Take the failed windows of a conversation of a run away, so that they are judged again."""
    gone = list(
        connection.execute(
            select(window.c.id).where(
                window.c.run_item_id == item, window.c.score_state == ScoreState.FAILED.value
            )
        ).scalars()
    )
    if not gone:
        return
    _remove_windows(connection, item, gone)
    _update_judge_columns(connection, item)


def _remove_windows(connection: Connection, item: int, gone: Sequence[int]) -> None:
    """Take windows of a conversation of a run away. The human labels of their claims stay."""
    connection.execute(delete(verdict).where(verdict.c.window_id.in_(gone)))
    connection.execute(delete(window).where(window.c.id.in_(gone)))
    _update_first_verdict_flags(connection, item)
    for named in (evidence, sufficient_set):
        connection.execute(
            delete(named).where(
                named.c.run_item_id == item,
                named.c.claim_id.not_in(
                    select(verdict.c.claim_id).where(verdict.c.run_item_id == item)
                ),
            )
        )


def _update_first_verdict_flags(connection: Connection, item: int) -> None:
    """Mark the first verdict of every claim, after windows have gone."""
    homes: dict[int, tuple[int, int]] = {}
    for row in connection.execute(
        select(verdict.c.claim_id, verdict.c.window_id, verdict.c.position)
        .join(window, window.c.id == verdict.c.window_id)
        .where(verdict.c.run_item_id == item)
        .order_by(window.c.position, verdict.c.position)
    ):
        homes.setdefault(row.claim_id, (row.window_id, row.position))
    connection.execute(update(verdict).where(verdict.c.run_item_id == item).values(is_home=False))
    for window_id, position in homes.values():
        connection.execute(
            update(verdict)
            .where(verdict.c.window_id == window_id, verdict.c.position == position)
            .values(is_home=True)
        )
