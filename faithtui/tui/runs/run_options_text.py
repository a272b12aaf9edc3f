"""Options of runs in words, where they are not the defaults: scores depend on them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faithtui.domain.text.visible_text import make_visible_line

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.store.runs.run_records import RunSpec


def format_changed_options(run: "RunSpec") -> str:
    """Write the options of a run that are not the defaults, as `--option` takes them."""
    return " ".join(_format_changed_options_by_name(run).values())


def describe_differing_options(runs: Mapping["RunId", "RunSpec"]) -> Sequence[str]:
    """Say which runs of one metric have other options than the first of it.

    Args:
        runs: By number, in the order in which they are shown.
    """
    first: dict[str, RunId] = {}
    notes = []
    for number, run in runs.items():
        known = first.setdefault(run.metric, number)
        mine, before = (
            _format_changed_options_by_name(run),
            _format_changed_options_by_name(runs[known]),
        )
        names = [name for name in mine | before if mine.get(name) != before.get(name)]
        if names:
            notes.append(
                f"scores of run {number} are not comparable with those of run {known}: "
                f"other {', '.join(names)}"
            )
    return notes


def format_option_values(options: Mapping[str, object]) -> str:
    """Write options as `--option` takes them."""
    return " ".join(_format_options_by_name(options).values())


def _format_changed_options_by_name(run: "RunSpec") -> dict[str, str]:
    from faithtui.tui.metric_words import list_changed_options

    return _format_options_by_name(list_changed_options(run))


def _format_options_by_name(options: Mapping[str, object]) -> dict[str, str]:
    return {
        make_visible_line(name): make_visible_line(f"{name}={_format_option_value(value)}")
        for name, value in options.items()
    }


def _format_option_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | None) else str(value)
