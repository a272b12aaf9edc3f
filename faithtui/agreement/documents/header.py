"""What a report is about, beside its figures."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from faithtui.agreement.report.settings import ReportLevel


@dataclass(frozen=True, slots=True)
class LabelProvenance:
    """When, and under which guideline, the labels of a level were given."""

    first_at: datetime
    """Of the first label that counts; aware."""
    last_at: datetime
    imported: int
    """Labels that came with the data: they are as old as their import, under rules of their own."""
    by_guideline: tuple[tuple[str, int], ...]
    """Labels given here, by name of the guideline version that was in force."""


@dataclass(frozen=True, slots=True)
class ReportHeader:
    """What a report is about."""

    run: int
    """The run's number."""
    metric: str
    judge: str
    options: Mapping[str, object]
    """Options of the metric, JSON values."""
    sources: tuple[str, ...]
    """Names of the data sets; () means all."""
    prompt_digest: str
    input_digest: str
    """The report's `digest`."""
    windows: int
    """Windows of the run."""
    vacuous_windows: int
    """Of those, the ones without a claim."""
    created_at: datetime
    """When the run was made; aware."""
    generated_at: datetime
    """When the report was made; aware."""
    tool_version: str
    unscored_windows: int = 0
    """Windows that were judged and have no score: undefined or incomplete."""
    judge_parameters: str = ""
    """What the judge was asked with, such as `temperature 0`; "" for nothing."""
    provenance: Mapping[ReportLevel, LabelProvenance] = field(default_factory=dict)
    """Of the levels at which anything is labelled."""

    @property
    def sources_and_options_line(self) -> str:
        """Sources and options on one line."""
        sources = ", ".join(self.sources) or "all sources"
        return "; ".join([sources, *list_option_texts(self.options)])


def list_option_texts(options: Mapping[str, object]) -> list[str]:
    """Write options as `name=value` with JSON values, sorted by name."""
    return [f"{name}={json.dumps(value)}" for name, value in sorted(options.items())]


@dataclass(frozen=True, slots=True)
class PlotFile:
    """A picture that belongs to a report."""

    id: str
    """Such as `confusion`."""
    file: str
    """Name of the file it is in; with `#id` where it is a part of a page."""
    alt: str
    """A sentence that says what the picture says."""


def format_utc_time(moment: datetime) -> str:
    """Write an aware time in UTC, to the second, as in `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
