"""`faithtui metrics`: the metrics there are, and the options of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import TableColumn, print_json, print_table, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import merge_common_options

if TYPE_CHECKING:
    from faithtui.metrics.registry import MetricEntry


def metrics(
    context: typer.Context,
    metric: Annotated[
        str | None, typer.Argument(metavar="[METRIC]", help="A metric, to list its options.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the metrics, or the options of one metric.

    Example: faithtui metrics turn-faithfulness
    """
    from faithtui.metrics.registry import METRICS, find_metric

    as_json = merge_common_options(context, None, json).json
    if metric is not None:
        _print_metric_options(find_metric(metric), as_json=as_json)
    elif as_json:
        print_json([_metric_json(each) for each in METRICS])
    else:
        _print_metrics(METRICS)


def _print_metrics(metrics: "Sequence[MetricEntry]") -> None:
    print_table(
        (
            TableColumn("metric"),
            TableColumn("title"),
            TableColumn("after"),
            TableColumn("judges"),
            TableColumn("labels"),
        ),
        [
            (
                each.spec.key,
                each.spec.title,
                each.spec.peer,
                each.spec.units[1],
                ", ".join(f"{label.name} ({label.meaning})" for label in each.spec.labels.labels),
            )
            for each in metrics
        ],
    )


def _print_metric_options(found: "MetricEntry", *, as_json: bool) -> None:
    from faithtui.metrics.registry import describe_options

    options = describe_options(found.spec.key)
    if as_json:
        option_objects = [
            {"option": each.name, "default": each.default, "meaning": each.meaning}
            for each in options
        ]
        print_json({**_metric_json(found), "options": option_objects})
        return
    print_text(f"{found.spec.key}: {found.spec.title}, after {found.spec.peer}")
    print_table(
        (TableColumn("option"), TableColumn("default"), TableColumn("meaning", flexible=True)),
        [(each.name, _format_default(each.default), each.meaning) for each in options],
    )


def _format_default(default: object) -> str:
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)


def _metric_json(found: "MetricEntry") -> dict[str, object]:
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
