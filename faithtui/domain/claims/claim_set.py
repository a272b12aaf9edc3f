"""A claim set, so that it can travel: labelled claims, what they were drawn from, and how.

Nothing in here is a database key; see `label_bundle`.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from faithtui.domain.labels.label_bundle import ClaimName, LabelBundle

MOST_NAME = 60
"""Characters of a name."""

_NAME = re.compile(rf"[\w.-]{{1,{MOST_NAME}}}")


def is_valid_set_name(name: str) -> bool:
    """Say whether a set may be called so: letters, digits, `_`, `.` and `-`."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class SetClaim:
    """A claim of a set."""

    claim: ClaimName
    stratum: str
    """In the drawing."""
    place: int | None
    """In the drawn order, from 0; None: it was not drawn."""
    shown: bool = False
    """Served with the judge's verdict in view, to measure its pull on annotators."""


def hash_set_version(
    metric: str,
    window_size: int | None,
    design: str,
    strata: Iterable[tuple[str, int, int]],
    claims: Iterable[SetClaim],
) -> str:
    """Hash what a version is made of, labels aside, in 64 hexadecimal digits; equal everywhere."""
    digest = hashlib.sha256(json.dumps([metric, window_size, design, list(strata)]).encode())
    for each in claims:
        name, talk = each.claim, each.claim.conversation
        parts = (talk.source, talk.key, talk.content_hash, name.kind, name.turn, name.digest)
        line = json.dumps([*parts, name.document, each.stratum, each.place, each.shown])
        digest.update(f"\n{line}".encode())
    return digest.hexdigest()


def hash_drawing(found: "ClaimSetBundle") -> str:
    """Hash what a file says of the drawing of a set: its sample, when it was, and other labels."""
    at = None if found.drawn_at is None else found.drawn_at.astimezone(UTC).isoformat()
    fields = [found.digest, found.sample_uid, at, found.other_labels]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ClaimSetBundle:
    """A version of a claim set with its claims and labels."""

    name: str
    version: int
    digest: str
    """Hash of its claims, strata and places."""
    labels_digest: str
    """Hash of the labels its claims had when this version was made."""
    metric: str
    window_size: int | None
    design: str
    stratified_by: tuple[str, ...]
    seed: int
    strata: tuple[tuple[str, int, int], ...]
    """Name, population and drawn of each."""
    sample_uid: str
    made_by: str
    created_at: datetime
    drawn_at: datetime | None
    """When its sample was drawn; None: nothing says."""
    other_labels: int | None
    """Claims of it that were not drawn and have a label, of other samples; None: nothing says."""
    claims: tuple[SetClaim, ...]
    """All that could be drawn, in the order of the run they were drawn from."""
    labels: LabelBundle
    """Events on these claims, with the texts of all of them."""
