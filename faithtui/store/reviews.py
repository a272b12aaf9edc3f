"""What people say about claims: an append-only log, replayed by the domain.

Each act is on the disk before the call returns, together with the scores it changes.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, insert, select

from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.review import Action, LabelAct, next_redo, next_undo
from faithtui.errors import StoreError
from faithtui.store.database import Database, new_id
from faithtui.store.labels import acts_of
from faithtui.store.readings import answer_readings, claim_readings
from faithtui.store.rollups import items_holding, refresh_conversation
from faithtui.store.tables import claim, human_label, run_item, verdict
from faithtui.store.texts import storable


class Reviews:
    """Human verdicts of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def record(
        self,
        claim: ClaimId,
        reviewer: str,
        action: Action,
        verdict: str | None,
        note: str | None = None,
        *,
        run: RunId | None,
        judge_verdict: str | None,
        saw_judge: bool,
        seconds: float | None = None,
    ) -> LabelAct:
        """Append one act; on return the disk has it and every score it corrects is up to date.

        Args:
            claim: What it is about.
            reviewer: Who says it.
            action: What kind of act it is.
            verdict: A label of the metric or `x`; None for acts without one.
            note: A remark; None leaves an earlier one, "" removes it.
            run: The run under review.
            judge_verdict: What the judge had said.
            saw_judge: Whether the reviewer had seen that.
            seconds: Time the reviewer took.

        Returns:
            The act as it stands in the log.

        Raises:
            StoreError: There is no such claim, or it cannot be written; nothing was.
        """
        columns: dict[str, object] = {
            "reviewer": storable(reviewer),
            "action": action.value,
            "verdict": verdict,
            "note": note,
            "run_id": run,
            "judge_verdict": judge_verdict,
            "saw_judge": saw_judge,
            "seconds": seconds,
            "created_at": self._clock(),
        }
        return self._database.write(
            lambda connection: _append(connection, claim, columns), durable=True, urgent=True
        )

    def undo(self, reviewer: str) -> LabelAct | None:
        """Withdraw a reviewer's latest standing act, whenever it was made.

        Returns:
            The act withdrawn; None when nothing is left to undo.
        """
        return self._step(reviewer, next_undo, Action.WITHDRAWN)

    def redo(self, reviewer: str) -> LabelAct | None:
        """Restore the act that a reviewer withdrew last.

        Returns:
            The act restored; None when there is none, or something was done since.
        """
        return self._step(reviewer, next_redo, Action.RESTORED)

    def _step(
        self,
        reviewer: str,
        find: Callable[[list[LabelAct], str], LabelAct | None],
        action: Action,
    ) -> LabelAct | None:
        now = self._clock()
        reviewer = storable(reviewer)

        def step(connection: Connection) -> LabelAct | None:
            log = acts_of(
                connection,
                (human_label.c.reviewer == reviewer)
                & (human_label.c.action != Action.IMPORTED.value),
            )
            target = find(log, reviewer)
            if target is not None:
                _append(
                    connection,
                    target.claim,
                    {
                        "reviewer": reviewer,
                        "action": action.value,
                        "target_id": target.id,
                        "saw_judge": False,
                        "created_at": now,
                    },
                )
            return target

        return self._database.write(step, durable=True, urgent=True)

    def location(self, run_id: RunId, claim: ClaimId) -> ItemId | None:
        """Find the conversation of a run in which a claim got a verdict; None when in none."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(run_item.c.id)
                .join(verdict, verdict.c.run_item_id == run_item.c.id)
                .where(run_item.c.run_id == run_id, verdict.c.claim_id == claim)
                .limit(1)
            ).scalar()
        return None if found is None else ItemId(found)

    def claim_readings(self, run_id: RunId) -> tuple[ClaimReading, ...]:
        """Read everything a run judged once, in the order of the run and of the text.

        Claims, statements or answers, with people's verdicts in the words of the run's metric. A
        consensus that has no word there stays as people said it.
        """
        with self._database.reading() as connection:
            return claim_readings(connection, run_id)

    def answer_readings(self, run_id: RunId) -> tuple[AnswerReading, ...]:
        """Read every answer of a run that people rated as a whole.

        Only of conversations that are done; in the order of the run and of the turns. What the
        run judged of other things than answers cannot be compared with that: then ().
        """
        with self._database.reading() as connection:
            return answer_readings(connection, run_id)


def _append(connection: Connection, claim_id: ClaimId, columns: dict[str, object]) -> LabelAct:
    """Write a row of the log and what follows from it."""
    conversation_id = connection.execute(
        select(claim.c.conversation_id).where(claim.c.id == claim_id)
    ).scalar()
    if conversation_id is None:
        raise StoreError(f"there is no claim {claim_id}; reload the conversation")
    number = new_id(connection, insert(human_label).values(claim_id=claim_id, **columns))
    refresh_conversation(connection, conversation_id, items_holding(connection, claim_id))
    (act,) = acts_of(connection, human_label.c.id == LabelId(number))
    return act
