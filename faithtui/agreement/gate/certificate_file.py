"""Certificates as files: small JSON with a digest over itself.

The digest distinguishes an edited or broken file from a whole one. It is no signature: whoever
wants to forge a certificate can compute it too.
"""

import json
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter, ValidationError

from faithtui.agreement.gate.certificate import CERTIFICATE_SCHEMA_VERSION, Certificate
from faithtui.agreement.gate.certificate_changes import list_contradictions_inside_certificate
from faithtui.errors import InputError

_ADAPTER = TypeAdapter(Certificate)

MOST_BYTES = 1_000_000
"""A certificate has some five thousand."""


def format_certificate(certificate: Certificate) -> str:
    """Write a certificate; equal ones give equal bytes."""
    content = _ADAPTER.dump_python(certificate, mode="json")
    found = {**content, "digest": _hash_content(content)}
    return json.dumps(found, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def parse_certificate(content: bytes) -> Certificate:
    """Read what `format_certificate` wrote.

    Raises:
        InputError: It is something else, of another version, was changed since it was written, or
            contradicts itself, as one does that was changed and given a new digest.
    """
    found = _parse_json_object(content)
    version = found.get("schema_version")
    if isinstance(version, int) and version > CERTIFICATE_SCHEMA_VERSION:
        raise InputError(
            f"is a certificate of schema version {version}, of a newer faithtui; this one reads "
            f"version {CERTIFICATE_SCHEMA_VERSION}: update faithtui, or write the certificate "
            "again with faithtui gate --write-certificate"
        )
    if version != CERTIFICATE_SCHEMA_VERSION:
        raise InputError(
            f"is no certificate of schema version {CERTIFICATE_SCHEMA_VERSION} (version 1 rests on "
            "narrower intervals, and its warnings were not asked about); write it again with "
            "faithtui gate --write-certificate"
        )
    digest = found.pop("digest", None)
    if digest != _hash_content(found):
        raise InputError(
            "does not match its own digest: it was changed after it was written; write it again "
            "with faithtui gate --write-certificate"
        )
    try:
        certificate = _ADAPTER.validate_python(found)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise InputError("is missing or is not what it should be", field=where) from error
    for contradiction in list_contradictions_inside_certificate(certificate):
        raise InputError(
            f"contradicts itself: {contradiction}; write it again with faithtui gate "
            "--write-certificate"
        )
    return certificate


def _parse_json_object(content: bytes) -> dict[str, Any]:
    if len(content) > MOST_BYTES:
        raise InputError("is too large for a certificate")
    try:
        found: object = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError("is no JSON; expected a certificate") from error
    if not isinstance(found, dict):
        raise InputError("is no JSON object; expected a certificate")
    return found


def _hash_content(content: dict[str, Any]) -> str:
    whole = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return sha256(whole.encode()).hexdigest()
