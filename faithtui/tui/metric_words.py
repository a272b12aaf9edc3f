"""What screens know of a run's metric: its own description, whichever metric it is.

Nothing on a screen asks for a metric by name. Words, labels and empty panes come from here; a run
of a metric that this version does not have is described by what was stored with it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from faithtui.domain.labels.label_sets import FAITHFULNESS, Label, LabelSet, Polarity
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ConfigError
from faithtui.store.runs.run_records import RunSpec
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.agreement.report.settings import ReportLevel
    from faithtui.domain.scores import ScoringRule
    from faithtui.metrics.base import MetricSpec


def get_metric_spec(run: RunSpec) -> "MetricSpec":
    """Describe the metric of a run.

    Imports the metrics, so the first call belongs into a thread.
    """
    from faithtui.metrics import registry

    try:
        return registry.find_metric(run.metric).spec
    except ConfigError:
        return _describe_unknown_metric(run)


def list_changed_options(run: RunSpec) -> Mapping[str, object]:
    """List the options of a run that are not as by default; all of a metric that is not known.

    Imports the metrics, so the first call belongs into a thread.
    """
    from faithtui.metrics import registry

    try:
        return registry.drop_default_options(run.metric, run.options)
    except ConfigError:
        return run.options


def format_unit_count(count: int, spec: "MetricSpec") -> str:
    """Count what the metric judges: `1 claim`, `2 statements`."""
    return fmt.format_count_with_noun(count, *spec.units)


def capitalise(words: str) -> str:
    """Begin with a capital."""
    return words[:1].upper() + words[1:]


def get_reference_noun_plural(spec: "MetricSpec") -> str:
    """Name what units are checked against, in the plural, for headings."""
    return spec.references or "checked against"


def reference_letter(spec: "MetricSpec") -> str:
    """Give the letter before the numbers of references, such as T for truths."""
    return get_reference_noun_plural(spec)[0].upper()


def name_units_at_level(level: "ReportLevel", spec: "MetricSpec") -> tuple[str, str]:
    """Name what a level of agreement counts, one and many."""
    if level.value == "claims":
        return spec.units
    if spec.judges == "answer":
        return "rated answer", "rated answers"
    return "answer", "answers"


def _describe_unknown_metric(run: RunSpec) -> "MetricSpec":
    """Describe a metric that a newer faithtui may have stored."""
    from faithtui.metrics.base import MetricSpec

    name = make_visible_line(run.metric, 60)
    return MetricSpec(
        key=name,
        title=name,
        version=run.metric_version,
        peer=run.peer,
        labels=_make_label_set(run.rule),
        judges="claim",
        units=("claim", "claims"),
        references="truths",
        references_are_facts=True,
        nothing_judged="The judge found nothing here to give a verdict on.",
        nothing_checked="The judge named nothing that was checked against.",
        context_from="other turns",
    )


def _make_label_set(rule: "ScoringRule") -> LabelSet:
    """Make a vocabulary of stored words; the three of faithfulness where none were stored."""
    if set(rule.labels) <= set(FAITHFULNESS.names):
        return FAITHFULNESS
    words = [(name, make_visible_line(name, 24)) for name in rule.labels]
    return LabelSet(
        tuple(
            Label(
                name,
                word[:1].upper() or "?",
                "passes" if name in rule.passing else "does not pass",
                Polarity.GOOD if name in rule.passing else Polarity.BAD,
            )
            for name, word in words
        )
    )
