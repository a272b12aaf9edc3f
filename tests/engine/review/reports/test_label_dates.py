"""When, and under which guideline, labels were given."""

from datetime import UTC, datetime

import pytest

from faithtui.agreement.labelled_units import Opinion
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.reports.label_dates import LabelDates
from faithtui.store.annotations.label_provenance import LabelMoment

AT = datetime(2026, 5, 4, tzinfo=UTC)
DATES = LabelDates(
    tuple(LabelMoment(AT, digest) for digest in (None, "aa", "bb", "cc")), {"aa": 0, "bb": 3}
)


@pytest.mark.parametrize(
    ("action", "order", "name"),
    [
        (Action.BLIND, 0, "no guideline"),
        (Action.BLIND, 1, "default guideline (aa)"),
        (Action.AGREED, 2, "guideline version 3 (bb)"),
        (Action.OVERRIDDEN, 3, "a guideline of another store (cc)"),
        (Action.IMPORTED, 0, None),
        (Action.IMPORTED, 2, "guideline version 3 (bb)"),
        (Action.BLIND, 4, None),
    ],
)
def test_a_verdict_given_here_has_the_guideline_of_its_time(
    action: Action, order: int, name: str | None
) -> None:
    imported = action is Action.IMPORTED
    opinion = Opinion("ann", "no", action, True, order=order, came_with_data=imported)
    assert DATES.get_guideline(opinion) == name
    assert DATES.get_date(opinion) == (AT if order < 4 else None)
