"""Labelled claims from a file: one JSON object per line, with claim, context and label."""

from pathlib import Path
from typing import Final

from faithtui.domain.probes.labelled_claims import LabelledClaim
from faithtui.errors import InputError
from faithtui.formats.json_lines import JsonRecord, read_json_lines

_SUPPORTED: Final = {
    "supported": True,
    "yes": True,
    "unsupported": False,
    "no": False,
    "idk": False,
}
_FAMILY_FIELDS: Final = ("family", "source")
ONE_FAMILY: Final = "all"
"""What claims are of whose line names no family."""


def read_labelled_claims(path: Path) -> tuple[LabelledClaim, ...]:
    """Read a file of labelled claims.

    Each line has `claim`, `context` (a text, or a list of passages), `label` (yes, no, idk,
    supported, unsupported), and if there are several kinds of data `family`, or `source`. Other
    fields are not read; empty lines are passed over.

    Raises:
        InputError: The file cannot be read, has no claim, or a line lacks something.
    """
    found = tuple(_parse_labelled_claim(path, each) for each in read_json_lines(path))
    if not found:
        raise InputError("holds no labelled claim", path=path)
    return found


def _parse_labelled_claim(path: Path, record: JsonRecord) -> LabelledClaim:
    def make_field_error(field: str, reason: str) -> InputError:
        return InputError(reason, path=path, line=record.line, field=field)

    if isinstance(record.found, InputError):
        raise record.found
    row = record.found
    claim, context = row.get("claim"), row.get("context")
    if not isinstance(claim, str) or not claim.strip():
        raise make_field_error("claim", "expected a text that is not empty")
    passages = [context] if isinstance(context, str) else context
    if not isinstance(passages, list) or not all(isinstance(each, str) for each in passages):
        raise make_field_error("context", "expected a text, or a list of passages")
    label = str(row.get("label")).lower()
    if label not in _SUPPORTED:
        raise make_field_error("label", f"expected one of: {', '.join(_SUPPORTED)}")
    family = next((row[name] for name in _FAMILY_FIELDS if row.get(name)), ONE_FAMILY)
    if not isinstance(family, str):
        raise make_field_error("family", "expected a text")
    is_verdict = label in ("yes", "no", "idk")
    return LabelledClaim(
        claim, tuple(passages), _SUPPORTED[label], label if is_verdict else None, family
    )
