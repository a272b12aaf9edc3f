"""Runs and their conversations as lists show them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, exists, func, select

from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.integrity.run_summary import CHECKS, IntegritySummary
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, TIE, list_top_verdicts
from faithtui.store.annotations.label_replay import (
    IS_IMPORTED_LABEL,
    read_events,
    replay_verdicts,
)
from faithtui.store.records import (
    ItemRow,
    ItemState,
    LabelCount,
    RunRow,
)
from faithtui.store.runs.run_rows import run_from_row, text_check_counts_from_row
from faithtui.store.schema.json_columns import AnyRow, score_set_from_json
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import (
    claim,
    conversation,
    human_label,
    run,
    run_item,
    turn,
    turn_document,
    verdict,
)


def read_run_rows(
    connection: Connection, runs: Sequence[RunId] | None = None
) -> tuple[RunRow, ...]:
    """Read some runs, or all of them, the newest first; unknown ids are left out."""
    statement = select(run).order_by(run.c.id.desc())
    if runs is not None:
        statement = statement.where(run.c.id.in_(runs))
    return tuple(run_from_row(row) for row in connection.execute(statement))


def find_newest_run_id(connection: Connection, *, with_verdicts: bool) -> RunId | None:
    """Name the newest run; None when there is none.

    One that is archived is named where all are, and none is wanted that has verdicts.

    Args:
        connection: The store.
        with_verdicts: Pass over runs in which no judge gave a verdict.
    """
    unarchived = run.c.archived_at.is_(None)
    statement = select(run.c.id).order_by(unarchived.desc(), run.c.id.desc()).limit(1)
    if with_verdicts:
        verdicts = (
            select(verdict.c.claim_id)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(run_item.c.run_id == run.c.id)
        )
        statement = statement.where(verdicts.exists(), unarchived)
    found = connection.execute(statement).scalar()
    return None if found is None else RunId(found)


_ITEM_COLUMNS = select(
    run_item,
    conversation.c.source,
    conversation.c.key,
    conversation.c.opening,
    conversation.c.turns,
).join(conversation, conversation.c.id == run_item.c.conversation_id)


def count_judge_labels(connection: Connection, run_id: RunId) -> dict[str, LabelCount]:
    """Count claims and conversations of a run by the judge's label; labels not given are left out.

    Adds up the counts in the rows of its conversations, and reads no verdict.
    """
    each = func.json_each(run_item.c.labels).table_valued("key", "value")
    counted = (
        select(each.c.key, func.sum(each.c.value), func.count())
        .select_from(run_item)
        .join(each, each.c.value > 0)
        .where(run_item.c.run_id == run_id)
        .group_by(each.c.key)
    )
    return {
        label: LabelCount(claims, conversations)
        for label, claims, conversations in connection.execute(counted)
    }


def count_windowed_scores(connection: Connection, run_id: RunId) -> dict[float, int]:
    """Count the conversations of a run by the judge's windowed score; those without are left out.

    Scores are shares of a few claims, so that there are far fewer of them than conversations.
    """
    scores = (
        select(run_item.c.score, func.count())
        .where(run_item.c.run_id == run_id, run_item.c.score.is_not(None))
        .group_by(run_item.c.score)
    )
    return {score: count for score, count in connection.execute(scores)}


def read_item_rows(connection: Connection, items: Sequence[ItemId]) -> tuple[ItemRow, ...]:
    """Read conversations of runs, in the order asked; unknown ids are left out."""
    found: dict[int, ItemRow] = {}
    for some in split_into_chunks(items):
        for row in connection.execute(_ITEM_COLUMNS.where(run_item.c.id.in_(some))):
            found[row.id] = _item_from_row(row)
    return tuple(found[item] for item in items if item in found)


def _item_from_row(row: AnyRow) -> ItemRow:
    return ItemRow(
        id=ItemId(row.id),
        run=RunId(row.run_id),
        conversation=ConversationId(row.conversation_id),
        number=row.number,
        source=row.source,
        key=row.key,
        opening=row.opening,
        turns=row.turns,
        state=ItemState(row.state),
        reason=row.reason,
        windows=row.windows,
        scores=None if row.scores is None else score_set_from_json(row.scores),
        corrected=None
        if row.corrected_scores is None
        else score_set_from_json(row.corrected_scores),
        claims=row.claims,
        labels=row.labels,
        missing=row.missing,
        labelled=row.labelled,
        overridden=row.overridden,
        failed_windows=row.failed_windows,
        undefined_windows=row.undefined_windows,
        skipped_windows=row.skipped_windows,
        integrity=_make_integrity_summary(row),
    )


def _make_integrity_summary(row: AnyRow) -> IntegritySummary:
    if row.state not in (ItemState.DONE.value, ItemState.FAILED.value):
        return IntegritySummary()
    if row.checked != CHECKS:
        return IntegritySummary(unchecked=1)
    return IntegritySummary(text_check_counts_from_row(row), checked=1)


def count_own_labels(
    connection: Connection, items: Sequence[ItemId], reviewer: str
) -> Counter[ItemId]:
    """Count the claims of conversations of runs with a human label."""
    found: Counter[ItemId] = Counter()
    for some in split_into_chunks(items):
        item_of = {
            row.claim_id: ItemId(row.run_item_id)
            for row in connection.execute(
                select(verdict.c.run_item_id, verdict.c.claim_id)
                .join(human_label, human_label.c.claim_id == verdict.c.claim_id)
                .where(
                    verdict.c.run_item_id.in_(some),
                    verdict.c.is_home,
                    human_label.c.reviewer == reviewer,
                    human_label.c.verdict.is_not(None),
                )
                .distinct()
            )
        }
        for claims in split_into_chunks(list(item_of)):
            own = claim.c.id.in_(claims) & (human_label.c.reviewer == reviewer)
            for claim_id, verdicts in replay_verdicts(read_events(connection, own)).items():
                if verdicts[0].verdict is not None:
                    found[item_of[claim_id]] += 1
    return found


def read_item_rows_with_list_marks(
    connection: Connection, items: Sequence[ItemId], reviewer: str
) -> tuple[ItemRow, ...]:
    """Read conversations of runs with what a list marks; unknown ids are left out."""
    rows = read_item_rows(connection, items)
    own_labels = count_own_labels(connection, items, reviewer)
    reviewers: dict[int, int] = {}
    bare: set[int] = set()
    for some in split_into_chunks([row.id for row in rows]):
        reviewers |= {
            row.run_item_id: row.people
            for row in connection.execute(
                select(
                    verdict.c.run_item_id,
                    func.count(human_label.c.reviewer.distinct()).label("people"),
                )
                .join(human_label, human_label.c.claim_id == verdict.c.claim_id)
                .where(
                    verdict.c.run_item_id.in_(some),
                    verdict.c.is_home,
                    human_label.c.verdict.is_not(None),
                )
                .group_by(verdict.c.run_item_id)
            )
        }
    for conversations in split_into_chunks([row.conversation for row in rows]):
        found = exists().where(
            turn_document.c.conversation_id == turn.c.conversation_id,
            turn_document.c.turn == turn.c.position,
        )
        bare |= set(
            connection.execute(
                select(turn.c.conversation_id).where(
                    turn.c.conversation_id.in_(conversations), turn.c.role == "assistant", ~found
                )
            ).scalars()
        )
    answers = _count_imported_labels_by_majority(connection, [row.conversation for row in rows])
    return tuple(
        replace(
            row,
            reviewers=reviewers.get(row.id, 0),
            own_labels=own_labels[row.id],
            lacks_passages=row.conversation in bare,
            answer_labels=answers.get(row.conversation, {}),
        )
        for row in rows
    )


def _count_imported_labels_by_majority(
    connection: Connection, conversations: Sequence[ConversationId]
) -> dict[int, Counter[str]]:
    """Read what came with conversations as labels of whole answers, by majority of annotators.

    The newest label of each annotator counts, and of a final label no other.
    """
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for some in split_into_chunks(conversations):
        is_answer = claim.c.conversation_id.in_(some) & (claim.c.kind == "answer")
        verdicts_by_claim = replay_verdicts(read_events(connection, is_answer & IS_IMPORTED_LABEL))
        answers = connection.execute(select(claim.c.id, claim.c.conversation_id).where(is_answer))
        conversation_of = {row.id: row.conversation_id for row in answers}
        for claim_id, verdicts in verdicts_by_claim.items():
            words = list_top_verdicts(verdicts)
            if words:
                label = words[0] if len(words) == 1 else TIE
                found[conversation_of[claim_id]][label] += 1
    return found


def count_imported_answer_labels(connection: Connection, run_id: RunId) -> int:
    """Count the answers of a run's conversations that came with a label of an annotator."""
    labelled = (
        select(claim.c.id)
        .join(run_item, run_item.c.conversation_id == claim.c.conversation_id)
        .join(human_label, human_label.c.claim_id == claim.c.id)
        .where(
            run_item.c.run_id == run_id,
            claim.c.kind == "answer",
            IS_IMPORTED_LABEL,
            human_label.c.action.in_([each.value for each in COUNTED_ACTIONS]),
            human_label.c.verdict.is_not(None),
        )
        .distinct()
    )
    return connection.execute(select(func.count()).select_from(labelled.subquery())).scalar_one()


def list_annotators(connection: Connection, run_id: RunId) -> tuple[str, ...]:
    """List who said anything of a run's conversations, by name."""
    found = (
        select(human_label.c.reviewer)
        .join(claim, claim.c.id == human_label.c.claim_id)
        .join(run_item, run_item.c.conversation_id == claim.c.conversation_id)
        .where(run_item.c.run_id == run_id)
        .distinct()
        .order_by(human_label.c.reviewer)
    )
    return tuple(connection.execute(found).scalars())


def list_sources(connection: Connection, run_id: RunId) -> tuple[str, ...]:
    """List the data sets of a run's conversations, by name."""
    found = (
        select(conversation.c.source)
        .join(run_item, run_item.c.conversation_id == conversation.c.id)
        .where(run_item.c.run_id == run_id)
        .distinct()
        .order_by(conversation.c.source)
    )
    return tuple(connection.execute(found).scalars())


def find_common_key_prefix(connection: Connection, run_id: RunId) -> str:
    """Give what the keys of all conversations of a run begin with, up to the end of a word.

    The first and the last key in order have in common what all have.
    """
    ends = (
        select(func.min(conversation.c.key), func.max(conversation.c.key))
        .join(run_item, run_item.c.conversation_id == conversation.c.id)
        .where(run_item.c.run_id == run_id)
    )
    first, last = connection.execute(ends).one()
    if first is None or first == last:
        return ""
    common = ""
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        common += one
    return common[: max(common.rfind(each) for each in "-_/:. ") + 1]
