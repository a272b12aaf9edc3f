"""One conversation of a run, complete: what the review screen and `faithtui show` draw."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from faithtui.domain.claims.verdicts import STANCES
from faithtui.domain.ids import ClaimId, ItemId, TruthId
from faithtui.domain.labels.label_events import HumanVerdict, list_claim_reviewer_exposures_to_judge
from faithtui.domain.scores import ScoreState, make_empty_score, score_conversation
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import compute_consensus, read_events, replay_verdicts
from faithtui.store.annotations.missed_claims import read_missed_claims_and_complete_answers
from faithtui.store.records import (
    ClaimView,
    DocumentView,
    EvidenceView,
    ItemRow,
    ReviewView,
    TruthView,
    TurnView,
    WindowRow,
    WindowVerdictView,
)
from faithtui.store.runs.list_rows import read_item_rows, read_run_rows
from faithtui.store.runs.rollups import StoredWindow, read_stored_windows
from faithtui.store.schema.json_columns import AnyRow, images_from_json, span_from_row
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    document,
    evidence,
    exposure,
    run_item,
    sufficient_set,
    truth,
    turn,
    turn_document,
    verdict,
    window,
)


def read_conversation_for_review(
    connection: Connection, item_id: ItemId, reviewer: str
) -> ReviewView:
    """Read a conversation of a run; see `Runs.read_conversation_for_review`."""
    reviewer = replace_unstorable_characters(reviewer)
    items = read_item_rows(connection, [item_id])
    if not items:
        raise StoreError(f"there is no conversation {item_id} in any run; go back to the list")
    (item,) = items
    (run,) = read_run_rows(connection, [item.run])
    acts = read_events(connection, claim.c.conversation_id == item.conversation)
    human = replay_verdicts(acts)
    exposed = (
        connection.execute(
            select(exposure.c.at).where(
                exposure.c.run_item_id == item.id, exposure.c.reviewer == reviewer
            )
        ).first()
        is not None
    )
    known = {
        claim_id
        for claim_id, who in list_claim_reviewer_exposures_to_judge(acts)
        if who == reviewer
    }
    numbers, turns = read_turns_and_document_numbers(connection, item.conversation)
    # Read once, for scores and for columns: a long conversation has many more than claims.
    claim_rows = _read_claim_rows(connection, item.id)
    verdict_rows = _read_verdict_rows(connection, item.id)
    turn_of = {row.id: row.turn for row in claim_rows}
    stored = read_stored_windows(
        connection,
        item.id,
        item.conversation,
        ((at, claim_id, turn_of[claim_id], label) for at, claim_id, label, *_ in verdict_rows),
    )
    extras = {
        row.position: row
        for row in connection.execute(
            select(
                window.c.position, window.c.reason, window.c.without_context, window.c.truths
            ).where(window.c.run_item_id == item.id)
        )
    }
    consensus = compute_consensus(human, run.spec.rule)
    _, corrected = score_conversation([each.judged for each in stored], run.spec.rule, consensus)
    truths = _read_truths(
        connection, item.id, numbers, {at: row.truths for at, row in extras.items()}
    )
    missed, complete = read_missed_claims_and_complete_answers(
        connection, run.id, reviewer, human, {each for row in stored for each in row.claims}
    )
    return ReviewView(
        run=run,
        item=item,
        turns=turns,
        windows=_add_rows_for_unjudged_windows(
            WindowRow(
                position=each.position,
                turns=each.turns,
                score=each.score,
                corrected=score,
                reason=extras[each.position].reason,
                without_context=extras[each.position].without_context,
                claims=_list_window_claims_once(each),
            )
            for each, score in zip(stored, corrected, strict=True)
        ),
        claims=_read_claims(
            connection,
            item.id,
            claim_rows,
            _group_verdicts_by_claim(verdict_rows, {each.id: each.position for each in stored}),
            reviewer,
            human,
            consensus,
            {each.id: place for place, each in enumerate(truths)},
            numbers,
            {each.position: each.content for each in turns},
            None if exposed else known,
        ),
        truths=truths,
        reason=_read_final_reason(connection, item.id),
        previous=_find_nearest_item_with_claims(connection, item, ahead=False),
        next=_find_nearest_item_with_claims(connection, item, ahead=True),
        missed=missed,
        complete=complete,
    )


def _add_rows_for_unjudged_windows(rows: Iterable[WindowRow]) -> tuple[WindowRow, ...]:
    """Put a row where a window is still to be judged, so that the others keep their places."""
    found: list[WindowRow] = []
    waiting = make_empty_score(ScoreState.INCOMPLETE, "not judged yet")
    for row in rows:
        while len(found) < row.position:
            found.append(WindowRow(len(found), (), waiting, waiting, None, False, ()))
        found.append(row)
    return tuple(found)


def _list_window_claims_once(window: StoredWindow) -> tuple[ClaimId, ...]:
    return tuple(dict.fromkeys(window.claims))


def read_turns_and_document_numbers(
    connection: Connection, conversation_id: int
) -> tuple[dict[int, int], tuple[TurnView, ...]]:
    """Read the turns, and number the documents through the conversation.

    Returns:
        P number by id of the document, and the turns in order.
    """
    numbers: dict[int, int] = {}
    retrieved: dict[int, list[DocumentView]] = defaultdict(list)
    for row in connection.execute(
        select(
            turn_document.c.turn,
            turn_document.c.document_id,
            turn_document.c.source,
            turn_document.c.images,
            document.c.text,
            document.c.hash,
        )
        .join(document, document.c.id == turn_document.c.document_id)
        .where(turn_document.c.conversation_id == conversation_id)
        .order_by(turn_document.c.turn, turn_document.c.position)
    ):
        number = numbers.setdefault(row.document_id, len(numbers) + 1)
        retrieved[row.turn].append(
            DocumentView(number, row.text, row.source, images_from_json(row.images), row.hash)
        )
    rows = connection.execute(
        select(turn.c.position, turn.c.role, turn.c.content, turn.c.has_context, turn.c.images)
        .where(turn.c.conversation_id == conversation_id)
        .order_by(turn.c.position)
    )
    return numbers, tuple(
        TurnView(
            row.position,
            row.role,
            row.content,
            tuple(retrieved[row.position]) if row.has_context else None,
            images_from_json(row.images),
        )
        for row in rows
    )


def _read_truths(
    connection: Connection, item: ItemId, numbers: dict[int, int], in_view: dict[int, list[int]]
) -> tuple[TruthView, ...]:
    """Read the truths in the order in which the windows bring them up.

    Args:
        connection: Where to read.
        item: Conversation of the run.
        numbers: P number by id of the document.
        in_view: Ids of the truths in view, by position of the window.
    """
    windows: dict[int, list[int]] = defaultdict(list)
    for position in sorted(in_view):
        for truth_id in in_view[position]:
            windows[truth_id].append(position)
    order = {truth_id: place for place, truth_id in enumerate(windows)}
    rows = connection.execute(
        select(
            truth.c.id,
            truth.c.text,
            truth.c.document_id,
            truth.c.span_start,
            truth.c.span_end,
            truth.c.quote,
        ).where(truth.c.run_item_id == item)
    )
    shown = sorted(rows, key=lambda row: (order.get(row.id, len(order)), row.id))
    return tuple(
        TruthView(
            id=TruthId(row.id),
            number=number,
            text=row.text,
            document=numbers.get(row.document_id),
            span=span_from_row(row),
            windows=tuple(windows.get(row.id, ())),
            quote=row.quote,
        )
        for number, row in enumerate(shown, start=1)
    )


def _read_claims(
    connection: Connection,
    item: ItemId,
    rows: Sequence[AnyRow],
    verdicts: Mapping[int, Mapping[int, WindowVerdictView]],
    reviewer: str,
    human: Mapping[ClaimId, tuple[HumanVerdict, ...]],
    consensus: Mapping[Hashable, str],
    place: Mapping[TruthId, int],
    numbers: Mapping[int, int],
    contents: Mapping[int, str],
    known: Collection[ClaimId] | None,
) -> tuple[ClaimView, ...]:
    """Read the unique claims in the order of the answers, with everything said about them.

    Args:
        connection: Where to read.
        item: Conversation of the run.
        rows: The claims.
        verdicts: The judge's verdicts by claim and window, claims as windows bring them up.
        reviewer: Whose verdicts are `mine`.
        human: The human labels in force, in the words they were given in.
        consensus: Consensus of annotators, in the run's words.
        place: Place of each truth in the list on screen.
        numbers: P number by id of the document.
        contents: What each turn says.
        known: Claims on which the reviewer knows the judge's verdict; None: on all of them.
    """
    named: dict[int, list[AnyRow]] = defaultdict(list)
    for found in connection.execute(
        select(evidence.c.claim_id, evidence.c.truth_id, evidence.c.stance).where(
            evidence.c.run_item_id == item
        )
    ):
        named[found.claim_id].append(found)
    sets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for member in connection.execute(
        select(sufficient_set.c.claim_id, sufficient_set.c.truth_id, sufficient_set.c.number)
        .where(sufficient_set.c.run_item_id == item)
        .order_by(sufficient_set.c.number)
    ):
        sets[member.claim_id, member.truth_id].append(member.number)
    order = {claim_id: index for index, claim_id in enumerate(verdicts)}
    shown = sorted(rows, key=lambda row: (row.turn, order[row.id]))
    return tuple(
        ClaimView(
            id=ClaimId(row.id),
            number=number,
            turn=row.turn,
            text=contents[row.turn] if row.kind == "answer" else row.text,
            span=span_from_row(row),
            verdicts=tuple(verdicts[row.id].values()),
            evidence=_make_evidence(named[row.id], sets, place),
            mine=next(
                (each for each in human.get(ClaimId(row.id), ()) if each.reviewer == reviewer), None
            ),
            others=tuple(
                each for each in human.get(ClaimId(row.id), ()) if each.reviewer != reviewer
            ),
            human=consensus.get(ClaimId(row.id)),
            kind=row.kind,
            document=numbers.get(row.document_id),
            seen=known is None or row.id in known,
        )
        for number, row in enumerate(shown, start=1)
    )


def _read_claim_rows(connection: Connection, item: ItemId) -> Sequence[AnyRow]:
    """Read the claims on which there is a verdict."""
    return connection.execute(
        select(
            claim.c.id,
            claim.c.kind,
            claim.c.turn,
            claim.c.text,
            claim.c.span_start,
            claim.c.span_end,
            claim.c.document_id,
        ).where(claim.c.id.in_(select(verdict.c.claim_id).where(verdict.c.run_item_id == item)))
    ).all()


def _read_verdict_rows(connection: Connection, item: ItemId) -> Sequence[AnyRow]:
    """Read the judge's verdicts as they stand in each window.

    Returns:
        Rows of the window's id, the claim's id, label, word, reason and confidence.
    """
    return connection.execute(
        select(
            verdict.c.window_id,
            verdict.c.claim_id,
            verdict.c.label,
            verdict.c.word,
            verdict.c.reason,
            verdict.c.confidence,
        )
        .where(verdict.c.run_item_id == item)
        .order_by(verdict.c.window_id, verdict.c.position)
    ).all()


def _group_verdicts_by_claim(
    rows: Iterable[AnyRow], positions: Mapping[int, int]
) -> dict[int, dict[int, WindowVerdictView]]:
    """Group verdicts by claim and window, in the order in which windows bring up the claims.

    Args:
        rows: As `_read_verdict_rows` gives them. Of two on a claim in one window the first counts.
        positions: Of the windows, by their ids.
    """
    verdicts: dict[int, dict[int, WindowVerdictView]] = defaultdict(dict)
    for window_id, claim_id, *fields in sorted(rows, key=lambda row: positions[row[0]]):
        at, of_claim = positions[window_id], verdicts[claim_id]
        if at not in of_claim:
            of_claim[at] = WindowVerdictView(at, *fields)
    return verdicts


def _make_evidence(
    named: Sequence[AnyRow],
    sets: Mapping[tuple[int, int], Sequence[int]],
    place: Mapping[TruthId, int],
) -> tuple[EvidenceView, ...]:
    """List what was named for a claim, by stance and then in reading order.

    A truth of a set speaks for a part in windows that do not show all of the set; where another
    window does, it is listed once, as support.
    """
    supporting = {each.truth_id for each in named if each.stance == "supports"}
    listed = [each for each in named if each.stance != "partial" or each.truth_id not in supporting]
    listed.sort(key=lambda each: (STANCES.index(each.stance), place[each.truth_id]))
    return tuple(
        EvidenceView(
            TruthId(each.truth_id),
            each.stance,
            tuple(sets.get((each.claim_id, each.truth_id), ()))
            if each.stance == "supports"
            else (),
        )
        for each in listed
    )


def _read_final_reason(connection: Connection, item: ItemId) -> str | None:
    reason: str | None = connection.execute(
        select(run_item.c.conclusion).where(run_item.c.id == item)
    ).scalar_one()
    return reason


def _find_nearest_item_with_claims(
    connection: Connection, item: ItemRow, *, ahead: bool
) -> ItemId | None:
    """Find the nearest conversation of the run that has claims, after or before this one."""
    number = run_item.c.number
    found = connection.execute(
        select(run_item.c.id)
        .where(
            run_item.c.run_id == item.run,
            run_item.c.claims > 0,
            number > item.number if ahead else number < item.number,
        )
        .order_by(number if ahead else number.desc())
        .limit(1)
    ).scalar()
    return None if found is None else ItemId(found)
