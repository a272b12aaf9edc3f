"""`faithtui metrics`."""

from faithtui.cli.output import Column, print_json, print_table, print_text
from faithtui.metrics.registry import METRICS, MetricEntry, describe_options, find_metric


def print_metrics(metric: str | None, *, as_json: bool) -> int:
    """List the metrics, or the options of one."""
    if metric is not None:
        return _print_metric(find_metric(metric), as_json=as_json)
    if as_json:
        print_json([_metric_json(each) for each in METRICS])
        return 0
    print_table(
        (Column("metric"), Column("title"), Column("after"), Column("judges"), Column("labels")),
        [
            (
                each.spec.key,
                each.spec.title,
                each.spec.peer,
                each.spec.units[1],
                ", ".join(f"{label.name} ({label.meaning})" for label in each.spec.labels.labels),
            )
            for each in METRICS
        ],
    )
    return 0


def _print_metric(found: MetricEntry, *, as_json: bool) -> int:
    options = describe_options(found.spec.key)
    if as_json:
        told = [
            {"option": each.name, "default": each.default, "meaning": each.meaning}
            for each in options
        ]
        print_json({**_metric_json(found), "options": told})
        return 0
    print_text(f"{found.spec.key}: {found.spec.title}, after {found.spec.peer}")
    print_table(
        (Column("option"), Column("default"), Column("meaning", flexible=True)),
        [(each.name, _format_default(each.default), each.meaning) for each in options],
    )
    return 0


def _format_default(default: object) -> str:
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)


def _metric_json(found: MetricEntry) -> dict[str, object]:
    spec = found.spec
    return {
        "metric": spec.key,
        "title": spec.title,
        "version": spec.version,
        "peer": spec.peer,
        "judges": spec.judges,
        "labels": [
            {"label": label.name, "meaning": label.meaning, "polarity": label.polarity.value}
            for label in spec.labels.labels
        ],
    }
