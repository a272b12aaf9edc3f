"""When, and under which guideline, the labels behind a report were given: for an auditor."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from faithtui.agreement.documents.files import LabelProvenance
from faithtui.agreement.labelled_units import Opinion, RunUnits
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.ids import RunId
from faithtui.store.annotations.label_provenance import LabelMoment
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class LabelDates:
    """Date and guideline of every verdict on a run."""

    moments: tuple[LabelMoment, ...]
    """In the order of the log."""
    versions: dict[str, int]
    """Numbers of the store's guidelines by digest; 0: the default of a metric."""

    def get_date(self, opinion: Opinion) -> datetime | None:
        """Say when a verdict was stored; None for one that came after the reading of the dates."""
        known = self._get_moment(opinion)
        return None if known is None else known.at

    def get_guideline(self, opinion: Opinion) -> str | None:
        """Name the guideline in force when a label was given; None: it came with data without."""
        known = self._get_moment(opinion)
        if known is None or (opinion.came_with_data and known.guideline is None):
            return None
        if known.guideline is None:
            return "no guideline"
        match self.versions.get(known.guideline):
            case None:
                name = "a guideline of another store"
            case 0:
                name = "default guideline"
            case number:
                name = f"guideline version {number}"
        return f"{name} ({known.guideline})"

    def make_provenance_by_level(self, units: RunUnits) -> dict[ReportLevel, LabelProvenance]:
        """Say it of the labels that count at each level; levels without any are left out."""
        found = {
            ReportLevel.CLAIMS: self._make_provenance(each.opinions for each in units.claims),
            ReportLevel.ANSWERS: self._make_provenance(each.opinions for each in units.answers),
        }
        return {level: facts for level, facts in found.items() if facts is not None}

    def _make_provenance(self, opinions: Iterable[Iterable[Opinion]]) -> LabelProvenance | None:
        dated = [(at, each) for some in opinions for each in some if (at := self.get_date(each))]
        if not dated:
            return None
        names = Counter(name for _, each in dated if (name := self.get_guideline(each)))
        dates = [at for at, _ in dated]
        return LabelProvenance(
            min(dates),
            max(dates),
            imported=sum(each.came_with_data for _, each in dated),
            by_guideline=tuple(sorted(names.items())),
        )

    def _get_moment(self, opinion: Opinion) -> LabelMoment | None:
        return self.moments[opinion.order] if opinion.order < len(self.moments) else None


def read_label_dates(store: Store, run: RunId) -> LabelDates:
    """Read the dates and guidelines of the verdicts on a run."""
    versions = dict.fromkeys(store.guidelines.list_default_digests(), 0)
    versions |= {each.digest: each.number for each in store.guidelines.list_versions()}
    return LabelDates(store.provenance.read_label_times_and_guidelines(run), versions)
