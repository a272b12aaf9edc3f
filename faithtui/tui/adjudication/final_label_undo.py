"""`u` and `ctrl+r` in adjudication: the last final label, or flag for a talk, taken back."""

from functools import partial
from typing import TYPE_CHECKING

from faithtui.tui.adjudication.final_label_keys import make_check_of_keys_that_settle
from faithtui.tui.screen.label_undo import LabelUndo

if TYPE_CHECKING:
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen


class FinalLabelUndo(LabelUndo["AdjudicationScreen"]):
    """Undo and redo of what was decided here: labels of review are not undone in adjudication."""

    def __init__(self, screen: "AdjudicationScreen") -> None:
        labels = screen.labels
        super().__init__(
            screen,
            labels.report_undone_step_and_go_to_claim,
            partial(make_check_of_keys_that_settle, screen),
            labels.is_own_event,
        )

    def is_key_shown(self, action: str) -> bool:
        """Leave both out of the footer of an empty list while nothing was decided in another."""
        return bool(self.screen.listed_entries) or self._has_decided_anything()

    def _has_decided_anything(self) -> bool:
        """Whether this annotator gave a final label in this run, or did something here."""
        if self.screen.labels.last_act_words or self.session.discussion_flags:
            return True
        claims = () if self.screen.compared is None else self.screen.compared.claims
        finals = (each.final for each in claims)
        return any(each and each.reviewer == self.session.reviewer for each in finals)
