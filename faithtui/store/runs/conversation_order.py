"""The orders of a run's conversations in lists: by score, missing verdicts, labels."""

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import Select, desc, func, select

from faithtui.domain.ids import RunId
from faithtui.store.annotations.label_replay import IS_IMPORTED_LABEL
from faithtui.store.schema.tables import claim, human_label, run_item

ItemOrder = Literal["number", "score", "corrected", "missing", "overridden", "unlabelled", "recent"]
"""Orders of a run's conversations; see `Runs.list_item_ids`."""


def select_ordered_item_ids(run_id: RunId, order: ItemOrder) -> Select[Any]:
    """Select the ids of a run's conversations in an order."""
    labelled = (
        select(claim.c.conversation_id, func.max(human_label.c.created_at).label("at"))
        .select_from(human_label)
        .join(claim, claim.c.id == human_label.c.claim_id)
        .where(~IS_IMPORTED_LABEL)
        .group_by(claim.c.conversation_id)
        .subquery()
    )
    keys: Mapping[ItemOrder, tuple[Any, ...]] = {
        "number": (),
        "score": (run_item.c.score.is_(None), run_item.c.score),
        "corrected": (run_item.c.corrected.is_(None), run_item.c.corrected),
        "missing": (desc(run_item.c.missing),),
        "overridden": (desc(run_item.c.overridden),),
        "unlabelled": (desc(run_item.c.claims - run_item.c.labelled),),
        "recent": (labelled.c.at.is_(None), desc(labelled.c.at)),
    }
    listed = select(run_item.c.id).where(run_item.c.run_id == run_id)
    if order == "recent":
        listed = listed.outerjoin(
            labelled, labelled.c.conversation_id == run_item.c.conversation_id
        )
    return listed.order_by(*keys[order], run_item.c.number)
