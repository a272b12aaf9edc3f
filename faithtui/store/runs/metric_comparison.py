"""One conversation, as the newest run of each metric and judge sees it, answer by answer."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from sqlalchemy import Connection, select

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId
from faithtui.domain.labels.label_events import TIE, HumanVerdict, list_top_verdicts
from faithtui.domain.scores import Score, ScoreState, ScoringRule
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import compute_consensus, read_events, replay_verdicts
from faithtui.store.records import (
    ComparisonAnswer,
    ComparisonCell,
    ComparisonRun,
    ComparisonView,
    ItemState,
)
from faithtui.store.runs.answer_view import (
    HomeLabel,
    read_claim_labels_by_answer,
    read_document_labels_by_answer,
    read_first_window_scores,
    score_answer,
)
from faithtui.store.runs.list_rows import read_item_rows, read_run_rows
from faithtui.store.schema.tables import claim, conversation, run, run_item, turn


def read_conversation_across_runs(
    connection: Connection, conversation_id: ConversationId, own_run: RunId | None = None
) -> ComparisonView:
    """Read a conversation as all runs see it; see `Runs.read_conversation_across_runs`."""
    named = connection.execute(
        select(conversation.c.source, conversation.c.key).where(
            conversation.c.id == conversation_id
        )
    ).one_or_none()
    if named is None:
        raise StoreError(f"there is no conversation {conversation_id}; go back to the list")
    runs = _find_newest_runs(connection, conversation_id, own_run)
    human = replay_verdicts(read_events(connection, claim.c.conversation_id == conversation_id))
    columns = _compute_cells_by_run_and_turn(connection, runs, human)
    rated = _find_answer_claims(connection, conversation_id)
    answers = connection.execute(
        select(turn.c.position, turn.c.content)
        .where(turn.c.conversation_id == conversation_id, turn.c.role == "assistant")
        .order_by(turn.c.position)
    )
    return ComparisonView(
        conversation=conversation_id,
        source=named.source,
        key=named.key,
        runs=tuple(runs),
        answers=tuple(
            ComparisonAnswer(
                turn=row.position,
                content=row.content,
                human=_find_majority_or_tie(human.get(rated[row.position], ()))
                if row.position in rated
                else None,
                cells=tuple(column.get(row.position) for column in columns),
            )
            for row in answers
        ),
    )


def _find_majority_or_tie(verdicts: Sequence[HumanVerdict]) -> str | None:
    words = list_top_verdicts(verdicts)
    return TIE if len(words) > 1 else next(iter(words), None)


def _find_newest_runs(
    connection: Connection, conversation_id: ConversationId, own_run: RunId | None
) -> list[ComparisonRun]:
    """Find the newest run of each metric and judge that is through with a conversation.

    Archived ones are left out. `own_run` stands for its metric and judge, however old it is.
    """
    newest: dict[tuple[str, str], tuple[int, int]] = {}
    for row in connection.execute(
        select(run.c.metric, run.c.judge, run_item.c.run_id, run_item.c.id)
        .join(run, run.c.id == run_item.c.run_id)
        .where(
            run_item.c.conversation_id == conversation_id,
            run_item.c.state.in_([ItemState.DONE.value, ItemState.FAILED.value]),
            run.c.archived_at.is_(None) | (run.c.id == own_run),
        )
        # The last one counts.
        .order_by(run_item.c.run_id == own_run, run_item.c.run_id)
    ):
        newest[row.metric, row.judge] = (row.run_id, row.id)
    found = sorted(newest.values())
    rows = {
        each.id: each for each in read_run_rows(connection, [RunId(number) for number, _ in found])
    }
    items = read_item_rows(connection, [ItemId(item) for _, item in found])
    return [ComparisonRun(rows[item.run], item) for item in items]


def _compute_cells_by_run_and_turn(
    connection: Connection,
    runs: Sequence[ComparisonRun],
    human: Mapping[ClaimId, tuple[HumanVerdict, ...]],
) -> list[dict[int, ComparisonCell]]:
    """Compute what each run says, by turn; turns it did not judge are left out."""
    which = run_item.c.id.in_([each.item.id for each in runs])
    labels = read_claim_labels_by_answer(connection, which) | read_document_labels_by_answer(
        connection, which
    )
    homes = read_first_window_scores(connection, which)
    columns = []
    for each in runs:
        rule, item = each.run.spec.rule, each.item.id
        consensus = compute_consensus(human, rule)
        own = {turn_: found for (number, turn_), found in labels.items() if number == item}
        whole = {label.kind for found in own.values() for label in found} == {"answer"}
        columns.append(
            {
                turn_: _make_comparison_cell(rule, own.get(turn_, []), home, consensus)
                for (number, turn_), home in homes.items()
                # An answer of several turns is judged once, at its last.
                if number == item and not (whole and _is_judged(home) and turn_ not in own)
            }
        )
    return columns


def _is_judged(home: Score) -> bool:
    return home.state not in (ScoreState.FAILED, ScoreState.SKIPPED)


def _make_comparison_cell(
    rule: ScoringRule, labels: Sequence[HomeLabel], home: Score, consensus: Mapping[Hashable, str]
) -> ComparisonCell:
    counts = Counter(each.label for each in labels)
    return ComparisonCell(
        score=score_answer(rule, labels, home),
        labels={label: count for label, count in counts.items() if label is not None},
        missing=counts[None],
        corrected=score_answer(rule, labels, home, consensus),
        reviewed=sum(each.claim in consensus for each in labels),
    )


def _find_answer_claims(
    connection: Connection, conversation_id: ConversationId
) -> dict[int, ClaimId]:
    """Find the claim that stands for each whole answer, by turn."""
    rows = connection.execute(
        select(claim.c.turn, claim.c.id).where(
            claim.c.conversation_id == conversation_id, claim.c.kind == "answer"
        )
    )
    return {row.turn: ClaimId(row.id) for row in rows}
