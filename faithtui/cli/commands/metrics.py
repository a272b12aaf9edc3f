"""`faithtui metrics`."""

from faithtui.cli.output import Column, put, put_json, put_table
from faithtui.metrics.registry import METRICS, Entry, entry, options_told


def metrics(metric: str | None, *, as_json: bool) -> int:
    """List the metrics, or the options of one."""
    if metric is not None:
        return _one(entry(metric), as_json=as_json)
    if as_json:
        put_json([_metric_json(each) for each in METRICS])
        return 0
    put_table(
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


def _one(found: Entry, *, as_json: bool) -> int:
    options = options_told(found.spec.key)
    if as_json:
        told = [
            {"option": each.name, "default": each.default, "meaning": each.meaning}
            for each in options
        ]
        put_json({**_metric_json(found), "options": told})
        return 0
    put(f"{found.spec.key}: {found.spec.title}, after {found.spec.peer}")
    put_table(
        (Column("option"), Column("default"), Column("meaning", flexible=True)),
        [(each.name, _shown(each.default), each.meaning) for each in options],
    )
    return 0


def _shown(default: object) -> str:
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)


def _metric_json(found: Entry) -> dict[str, object]:
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
