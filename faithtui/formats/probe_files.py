"""What `faithtui judge probe --json` wrote, read again for a report."""

from pathlib import Path

from faithtui.agreement.report.figures.probes import PROBED_KINDS, estimate_changed_verdict_share
from faithtui.agreement.report.model import ProbeTrial
from faithtui.domain.probes.perturbations import ProbeKind
from faithtui.errors import InputError
from faithtui.formats.json_lines import JsonRecord, read_json_lines

_MOST = 10**9
"""More probes than anybody asks."""


def read_probe_trial(path: Path) -> ProbeTrial:
    """Read the figures of a judge's probes; shares and intervals are computed from the counts.

    Raises:
        InputError: The file cannot be read, or is not what `judge probe --json` writes.
    """

    def make_field_error(field: str, reason: str) -> InputError:
        hint = "; write the file with `faithtui judge probe … --json > FILE`"
        return InputError(reason + hint, path=path, field=field)

    records: list[JsonRecord] = list(read_json_lines(path))
    if len(records) != 1 or isinstance(records[0].found, InputError):
        raise InputError(
            "expected one JSON object; write the file with `faithtui judge probe … --json > FILE`",
            path=path,
        )
    found = records[0].found

    def read_count(row: dict[str, object], name: str, place: str, lowest: int) -> int:
        value = row.get(name)
        if type(value) is not int or not lowest <= value < _MOST:
            raise make_field_error(f"{place}{name}", f"expected a whole number from {lowest} up")
        return value

    texts = {name: found.get(name) for name in ("judge", "fingerprint")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text:
            raise make_field_error(name, "expected a text that is not empty")
    rows = found.get("probes")
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise make_field_error("probes", "expected a list of objects")
    known = {kind.value: kind for kind in PROBED_KINDS}
    figures = {}
    for number, row in enumerate(rows):
        place = f"probes[{number}]."
        kind = known.get(str(row.get("kind")))
        if kind is None or kind in figures:
            raise make_field_error(
                f"{place}kind", f"expected, each once, one of: {', '.join(known)}"
            )
        probes = read_count(row, "probes", place, 1)
        changed = read_count(row, "changed", place, 0)
        if changed > probes:
            raise make_field_error(f"{place}changed", "expected at most as many as `probes`")
        figures[kind] = estimate_changed_verdict_share(kind, probes, changed)
    return ProbeTrial(
        str(texts["judge"]),
        str(texts["fingerprint"]),
        read_count(found, "claims", "", 0),
        read_count(found, "seed", "", 0),
        tuple(figures[kind] for kind in ProbeKind if kind in figures),
    )
