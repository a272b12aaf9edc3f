"""Which claims of a run can be drawn, and of which stratum each is."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, func, select

from faithtui.agreement.sampling.draw import SamplingFrame
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.store.schema.tables import claim, conversation, run, run_item, verdict, window

STRATA = ("verdict", "turn", "model", "disagreement", "flip")
"""What strata can be made of: the judge's verdict, where in the conversation, the model that wrote
the answer, whether another run's judge says something else, whether this one changed its word."""

_TURNS = ((2, "turns 1-2"), (5, "turns 3-5"))
"""Upper ends of the bands of interactions, and their names; what is later is `turns 6+`."""

_AT_ONCE = 600
"""Rows that are held at a time: so few that the collector does not look at each of them."""

_NO_VERDICT = "without a verdict"

T = TypeVar("T", bound=Hashable)


class FrameColumns(NamedTuple):
    """Rows of a frame, as columns."""

    items: tuple[ItemId, ...]
    claims: tuple[ClaimId, ...]
    labels: tuple[str | None, ...]
    turns: tuple[int, ...]


ValueReader = Callable[[FrameColumns], Sequence[str]]
"""Gives the value of one thing that strata are made of, of each row."""


def read_frame(
    connection: Connection,
    run_id: RunId,
    stratified_by: Sequence[str],
    drawn_at: datetime | None = None,
) -> SamplingFrame:
    """Read the frame of a run; see `Samples.read_frame`.

    Args:
        connection: Where to read.
        run_id: The run.
        stratified_by: Of `STRATA`.
        drawn_at: When the sample was drawn whose strata these are: what other judges said later
            moves no claim into another stratum. None: now.
    """
    strata_of = _make_strata_namer(connection, run_id, stratified_by, drawn_at)
    rows = connection.execute(
        select(verdict.c.run_item_id, verdict.c.claim_id, verdict.c.label, claim.c.turn)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .where(run_item.c.run_id == run_id, verdict.c.is_home)
        .order_by(run_item.c.number, claim.c.turn, verdict.c.position, claim.c.id)
    )

    def read_column_chunks() -> Iterator[
        tuple[tuple[ItemId, ...], tuple[ClaimId, ...], Sequence[str]]
    ]:
        for part in rows.partitions(_AT_ONCE):
            # Column by column: a million rows are too many to call a function for each.
            columns = FrameColumns(*zip(*part, strict=True))
            yield columns.items, columns.claims, strata_of(columns)

    return SamplingFrame.from_columns(read_column_chunks())


def name_verdict_stratum(label: str | None) -> str:
    """Name the stratum of claims with a verdict; None: without one."""
    return f"judge {label or _NO_VERDICT}"


def _make_strata_namer(
    connection: Connection, run_id: RunId, stratified_by: Sequence[str], drawn_at: datetime | None
) -> Callable[[FrameColumns], Sequence[str]]:
    """Read what is needed to name the strata of rows."""
    values = [
        _make_stratum_value_reader(connection, run_id, name, drawn_at) for name in stratified_by
    ]
    names: dict[tuple[str, ...], str] = {}

    def name_strata(columns: FrameColumns) -> Sequence[str]:
        if not values:
            return [""] * len(columns.claims)
        found = list(zip(*(value(columns) for value in values), strict=True))
        for each in set(found) - names.keys():
            names[each] = " · ".join(each)
        return [names[each] for each in found]

    return name_strata


def _make_stratum_value_reader(
    connection: Connection, run_id: RunId, name: str, drawn_at: datetime | None
) -> ValueReader:
    """Read what is needed to tell the values of one of `STRATA`."""
    match name:
        case "verdict":
            return lambda rows: _name_distinct_values_once(rows.labels, name_verdict_stratum)
        case "turn":
            return lambda rows: _name_distinct_values_once(
                rows.turns, lambda turn: _name_turn_band(turn // 2 + 1)
            )
        case "model":
            models = _read_answer_models(connection, run_id)
            return lambda rows: [models[item] for item in rows.items]
        case "disagreement":
            others = _read_other_judge_labels(connection, run_id, drawn_at)
            return lambda rows: [
                _name_judge_agreement(label, others.get(claim_id))
                for claim_id, label in zip(rows.claims, rows.labels, strict=True)
            ]
        case _:
            flipped = _find_claims_with_differing_verdicts(connection, run_id)
            return lambda rows: [
                "word changed" if each in flipped else "word steady" for each in rows.claims
            ]


def _name_distinct_values_once(values: Sequence[T], named: Callable[[T], str]) -> list[str]:
    """Name values of which there are few different ones."""
    names = {value: named(value) for value in set(values)}
    return [names[value] for value in values]


def _name_turn_band(interaction: int) -> str:
    return next((words for last, words in _TURNS if interaction <= last), "turns 6+")


def _name_judge_agreement(label: str | None, others: set[str | None] | None) -> str:
    if not others:
        return "one judge"
    return "judges agree" if others == {label} else "judges differ"


def _read_answer_models(connection: Connection, run_id: RunId) -> Mapping[int, str]:
    """Read which model wrote the answers of each conversation of a run."""
    found: dict[int, str] = {}
    for row in connection.execute(
        select(run_item.c.id, conversation.c.details)
        .join(conversation, conversation.c.id == run_item.c.conversation_id)
        .where(run_item.c.run_id == run_id)
    ):
        model = row.details.get("model")
        found[row.id] = (
            make_visible_line(model) if isinstance(model, str) and model else "model unknown"
        )
    return found


def _find_claims_with_differing_verdicts(connection: Connection, run_id: RunId) -> set[int]:
    """Find the claims on which the judge's verdict differs between windows."""
    return set(
        connection.execute(
            select(verdict.c.claim_id)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(run_item.c.run_id == run_id)
            .group_by(verdict.c.run_item_id, verdict.c.claim_id)
            .having(func.count(func.coalesce(verdict.c.label, "").distinct()) > 1)
        ).scalars()
    )


def _read_other_judge_labels(
    connection: Connection, run_id: RunId, until: datetime | None
) -> Mapping[int, set[str | None]]:
    """Read what the judges of other runs of the same metric say of the claims of a run."""
    metric = select(run.c.metric).where(run.c.id == run_id).scalar_subquery()
    found: dict[int, set[str | None]] = defaultdict(set)
    wanted = (
        select(verdict.c.claim_id, verdict.c.label)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(run, run.c.id == run_item.c.run_id)
        .where(verdict.c.is_home, run.c.id != run_id, run.c.metric == metric)
    )
    if until is not None:
        wanted = wanted.join(window, window.c.id == verdict.c.window_id).where(
            window.c.judged_at <= until
        )
    for row in connection.execute(wanted):
        found[row.claim_id].add(row.label)
    return found
