"""A screen for adjudication that is not drawn, on the claims of the first run."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from faithtui.agreement.report.figures.rater_comparison import ClaimOpinions, ComparisonFilter
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action, HumanVerdict
from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
from faithtui.tui.adjudication.claim_evidence import ClaimEvidence
from faithtui.tui.adjudication.final_labels import FinalLabels
from faithtui.tui.adjudication.final_notes import FinalNotes
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.session import Session
from tests.tui.fake_screen import FakeScreen


class FakeAdjudicateScreen(FakeScreen):
    """The claims on which bo and zoe differ, the first one under the cursor."""

    filter = ComparisonFilter.HUMANS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.compared = session.store.raters.read_rater_records(RunId(1))
        self.spec = get_metric_spec(self.compared.run.spec)
        self.listed = [each for each in self.compared.claims if each.has_disagreement]
        self.at = 0
        screen = cast(AdjudicationScreen, self)
        self.labels = FinalLabels(screen)
        self.evidence = ClaimEvidence(screen)
        self.notes = FinalNotes(screen)
        self.note_subjects: list[str] = []
        """What the line for notes named, in this order."""
        self.note = SimpleNamespace(value="", display=False, name_subject=self.note_subjects.append)
        self.claims = SimpleNamespace(focus=lambda: None)
        self.add(self.evidence, self.notes)

    def show_claim_being_saved(self, claim: ClaimOpinions) -> None:
        self.listed[self.at] = claim

    def claim_at_cursor(self) -> ClaimOpinions | None:
        return self.listed[self.at] if self.at < len(self.listed) else None

    def query_one(self, _kind: object, _type: object = None) -> SimpleNamespace:
        """Give a pane in which nothing is drawn."""
        region = SimpleNamespace(width=0, height=10)
        return SimpleNamespace(
            show=lambda _build, **_how: None, scrollable_content_region=region, hint=""
        )

    def settle_claim(self) -> ClaimOpinions:
        """Let the claim under the cursor have a final word."""
        claim = self.listed[self.at]
        final = HumanVerdict(claim.claim, "ann", "yes", Action.ADJUDICATED)
        self.listed[self.at] = replace(claim, final=final)
        return self.listed[self.at]
