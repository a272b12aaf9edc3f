"""Which claims of a run can be drawn, and of which stratum each is."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, func, select

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.sampling import Frame
from faithtui.store.codecs import AnyRow
from faithtui.store.tables import claim, conversation, run, run_item, verdict
from faithtui.store.texts import storable

STRATA = ("verdict", "turn", "model", "disagreement", "flip")
"""What strata can be made of: the judge's verdict, where in the conversation, the model that wrote
the answer, whether another run's judge says something else, whether this one changed its word."""

_TURNS = ((2, "turns 1-2"), (5, "turns 3-5"))
"""Upper ends of the bands of interactions, and their names; what is later is `turns 6+`."""

_AT_ONCE = 10_000
"""Rows that are held at a time."""

Value = Callable[[AnyRow], str]
"""Gives a claim's value of one thing that strata are made of."""


def frame_of(connection: Connection, run_id: RunId, stratified_by: Sequence[str]) -> Frame:
    """Read the frame of a run; see `Samples.frame`."""
    values = [_value(connection, run_id, name) for name in stratified_by]
    rows = connection.execute(
        select(verdict.c.run_item_id, verdict.c.claim_id, verdict.c.label, claim.c.turn)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .where(run_item.c.run_id == run_id, verdict.c.is_home)
        .order_by(run_item.c.number, claim.c.turn, verdict.c.position, claim.c.id)
    )

    def units() -> Iterator[tuple[ItemId, ClaimId, str]]:
        for part in rows.partitions(_AT_ONCE):
            for row in part:
                stratum = " · ".join([value(row) for value in values])
                yield row.run_item_id, row.claim_id, stratum

    return Frame(units())


def _value(connection: Connection, run_id: RunId, name: str) -> Value:
    """Read what is needed to tell the values of one of `STRATA`."""
    match name:
        case "verdict":
            return lambda row: f"judge {row.label or 'without a verdict'}"
        case "turn":
            return lambda row: _band(row.turn // 2 + 1)
        case "model":
            models = _models(connection, run_id)
            return lambda row: models[row.run_item_id]
        case "disagreement":
            others = _other_labels(connection, run_id)
            return lambda row: _stand(row.label, others.get(row.claim_id))
        case _:
            flipped = _flipped(connection, run_id)
            return lambda row: "word changed" if row.claim_id in flipped else "word steady"


def _band(interaction: int) -> str:
    return next((words for last, words in _TURNS if interaction <= last), "turns 6+")


def _stand(label: str | None, others: set[str | None] | None) -> str:
    if not others:
        return "one judge"
    return "judges agree" if others == {label} else "judges differ"


def _models(connection: Connection, run_id: RunId) -> Mapping[int, str]:
    """Read which model wrote the answers of each conversation of a run."""
    found: dict[int, str] = {}
    for row in connection.execute(
        select(run_item.c.id, conversation.c.details)
        .join(conversation, conversation.c.id == run_item.c.conversation_id)
        .where(run_item.c.run_id == run_id)
    ):
        model = row.details.get("model")
        found[row.id] = storable(model) if isinstance(model, str) and model else "model unknown"
    return found


def _flipped(connection: Connection, run_id: RunId) -> set[int]:
    """Find the claims on which the judge's word differs between windows."""
    return set(
        connection.execute(
            select(verdict.c.claim_id)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(run_item.c.run_id == run_id)
            .group_by(verdict.c.run_item_id, verdict.c.claim_id)
            .having(func.count(func.coalesce(verdict.c.label, "").distinct()) > 1)
        ).scalars()
    )


def _other_labels(connection: Connection, run_id: RunId) -> Mapping[int, set[str | None]]:
    """Read what the judges of other runs of the same metric say of the claims of a run."""
    metric = select(run.c.metric).where(run.c.id == run_id).scalar_subquery()
    found: dict[int, set[str | None]] = defaultdict(set)
    for row in connection.execute(
        select(verdict.c.claim_id, verdict.c.label)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(run, run.c.id == run_item.c.run_id)
        .where(verdict.c.is_home, run.c.id != run_id, run.c.metric == metric)
    ):
        found[row.claim_id].add(row.label)
    return found
