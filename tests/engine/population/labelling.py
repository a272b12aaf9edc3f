"""Naming and labelling what was drawn."""

from collections.abc import Callable

from faithtui.agreement.labelled_units import ClaimUnit, UnitSettings
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store

ClaimName = tuple[str, str]
"""Key of the conversation and text of the claim."""


def read_drawn(store: Store, row: SampleRow) -> list[ClaimUnit]:
    """Read the claims of a sample, in the order in which they are served."""
    units = store.labelled_units.read_report_units(row.run, UnitSettings(sample=row.id)).claims
    return sorted(units, key=lambda each: -1 if each.position is None else each.position)


def list_drawn(store: Store, row: SampleRow) -> list[ClaimName]:
    """Name the claims of a sample, in that order."""
    return [(each.key, each.text) for each in read_drawn(store, row)]


def label_drawn(
    store: Store, row: SampleRow, say: Callable[[ClaimUnit], str], first: int | None = None
) -> None:
    """Label a sample, or the first claims of it, blind where it is served so."""
    entries = {
        each.claim: each for each in store.samples.list_claims_in_served_order(row.id, "ann")
    }
    for unit in read_drawn(store, row)[:first]:
        store.label_log.record_verdict(
            unit.claim,
            "ann",
            say(unit),
            run=row.run,
            saw_judge=entries[unit.claim].shown,
            sample=row.id,
        )
