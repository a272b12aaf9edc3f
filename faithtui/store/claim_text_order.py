"""Claims in the order of the conversation's text."""

from typing import Any

from sqlalchemy import Connection, Select

from faithtui.domain.claims.verdicts import Claim
from faithtui.store.schema.json_columns import span_from_row
from faithtui.store.schema.tables import claim


def read_claims_in_text_order(
    connection: Connection, select_claims: Select[Any]
) -> tuple[Claim, ...]:
    """Read claims by turn, and within one by span; those without a span come last, by id.

    Args:
        connection: Where to read.
        select_claims: Selects from `claim`, of any columns.
    """
    rows = connection.execute(
        select_claims.with_only_columns(
            claim.c.turn,
            claim.c.text,
            claim.c.span_start,
            claim.c.span_end,
            maintain_column_froms=True,
        ).order_by(
            claim.c.turn,
            claim.c.span_start.is_(None),
            claim.c.span_start,
            claim.c.span_end,
            claim.c.id,
        )
    )
    return tuple(Claim(row.turn, row.text, span_from_row(row)) for row in rows)
