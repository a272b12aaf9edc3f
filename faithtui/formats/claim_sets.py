"""Claim sets as files: one JSON object a line. docs/claim-sets.md describes every field.

A header, the conversations with their passages, the claims and labels as a label bundle has them,
and at last the place of each claim in the design. A set is taken in whole or not at all: the first
line that cannot be used ends the reading, and a file that was cut off or changed is refused.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

from faithtui.agreement.sampling.draw import CONVERSATIONS, SamplingDesign
from faithtui.domain.claims.claim_set import (
    MOST_NAME,
    ClaimSetBundle,
    SetClaim,
    hash_drawing,
    hash_set_version,
    is_valid_set_name,
)
from faithtui.domain.conversation import Conversation, content_hash
from faithtui.domain.labels.label_bundle import (
    LARGEST_CLOCK,
    ClaimName,
    ConversationName,
    LabelBundle,
)
from faithtui.domain.limits import RECORD, REVIEWER
from faithtui.errors import ExportError, InputError
from faithtui.formats.fields import FieldReader
from faithtui.formats.json_lines import format_json_line, read_json_lines
from faithtui.formats.label_bundles import BundleReader, format_bundle_lines
from faithtui.formats.readers.conversation_json import ParsedConversation, conversation_from_json
from faithtui.formats.writers.conversations import conversation_to_json

FORMAT = "faithtui-claim-set"
VERSION = 1

_TRANSCRIPT = "transcript"
_CLAIM = "set-claim"


@dataclass(frozen=True, slots=True)
class ConversationWithImages:
    """A conversation of a set, with the bytes of its images by SHA-256."""

    conversation: Conversation
    images: Mapping[str, bytes]


def claim_set_lines(
    found: ClaimSetBundle, transcripts: Iterable[ConversationWithImages]
) -> Iterator[str]:
    """Write a set.

    Args:
        found: The set.
        transcripts: All conversations its claims are of.

    Yields:
        Lines, each with its line end.

    Raises:
        ExportError: A conversation is too large with its images to be read again.
    """
    conversations = {each.claim.conversation for each in found.claims}
    yield format_json_line(
        {
            "type": FORMAT,
            "version": VERSION,
            "name": found.name,
            "set_version": found.version,
            "digest": found.digest,
            "labels_digest": found.labels_digest,
            "metric": found.metric,
            "window_size": found.window_size,
            "design": found.design,
            "stratified_by": list(found.stratified_by),
            "seed": found.seed,
            "strata": [
                {"name": name, "population": population, "drawn": drawn}
                for name, population, drawn in found.strata
            ],
            "sample": found.sample_uid,
            "made_by": found.made_by,
            "created_at": found.created_at.astimezone(UTC).isoformat(),
            "drawn_at": None
            if found.drawn_at is None
            else found.drawn_at.astimezone(UTC).isoformat(),
            "other_labels": found.other_labels,
            "drawing_digest": hash_drawing(found),
            "conversations": len(conversations),
            "claims": len(found.claims),
        }
    )
    for each in transcripts:
        line = format_json_line(
            {
                "type": _TRANSCRIPT,
                "source": each.conversation.source,
                "group": each.conversation.group,
                "conversation": conversation_to_json(each.conversation, each.images),
            }
        )
        problem = RECORD.find_size_problem(len(line.encode()))
        if problem is not None:
            name = f"{each.conversation.source}/{each.conversation.key}"
            raise ExportError(f"{name} cannot be exported with its images: {problem}")
        yield line
    yield from format_bundle_lines(found.labels)
    numbers = {name: number for number, name in enumerate(found.labels.claims)}
    for claim in found.claims:
        line_of_claim: dict[str, object] = {
            "type": _CLAIM,
            "claim": numbers[claim.claim],
            "stratum": claim.stratum,
        }
        if claim.place is not None:
            line_of_claim["place"] = claim.place
        if claim.shown:
            line_of_claim["shown"] = True
        yield format_json_line(line_of_claim)


def read_and_check_claim_set(path: Path) -> ClaimSetBundle:
    """Read a set without its conversations, and check that all of it is there.

    Raises:
        InputError: The file cannot be read, is no claim set, is of a newer version, was cut off or
            changed, or a line cannot be used.
    """
    header: ClaimSetBundle | None = None
    announced = (0, 0)
    transcripts: set[ConversationName] = set()
    reader = BundleReader(path)
    claims: list[SetClaim] = []
    for fields, number in _read_lines(path):
        kind = fields.get_value_or_none("type")
        if header is None:
            header = _read_header(fields)
            announced = (
                fields.read_whole_number("conversations", 1),
                fields.read_whole_number("claims", 1),
            )
        elif kind == _TRANSCRIPT:
            talk = _read_transcript(fields, path, number).conversation
            transcripts.add(ConversationName(talk.source, talk.key, content_hash(talk.turns)))
        elif kind == _CLAIM:
            claims.append(_read_claim(fields, reader))
        else:
            reader.read_line(fields, number)
            if reader.refusals:
                raise reader.refusals[0]
    if header is None:
        raise InputError("is empty; expected a claim set", path=path)
    labels = reader.make_parsed_bundle()
    if labels.refusals:
        raise labels.refusals[0]
    if (len(transcripts), len(claims)) != announced:
        raise InputError(
            f"was cut off: it holds {len(transcripts)} of {announced[0]} conversations and "
            f"{len(claims)} of {announced[1]} claims; export it again",
            path=path,
        )
    found = replace(header, claims=tuple(claims), labels=labels.bundle)
    problem = _find_inconsistency(found, transcripts)
    if problem is not None:
        raise InputError(problem, path=path)
    return found


def read_transcripts(path: Path) -> Iterator[ParsedConversation]:
    """Read the conversations of a set that `read_and_check_claim_set` found whole."""
    for fields, number in _read_lines(path):
        if fields.get_value_or_none("type") == _TRANSCRIPT:
            yield _read_transcript(fields, path, number)


def _read_lines(path: Path) -> Iterator[tuple[FieldReader, int]]:
    for line in read_json_lines(path):
        if isinstance(line.found, InputError):
            raise line.found
        yield FieldReader(line.found, path, line.line), line.line


def _read_header(fields: FieldReader) -> ClaimSetBundle:
    if fields.get_value_or_none("type") != FORMAT:
        words = f"is no claim set; expected `{FORMAT}`, as `faithtui claim-set export` writes"
        raise fields.make_error("type", words)
    version = fields.read_whole_number("version", 1)
    if version > VERSION:
        words = f"is {version}, and this faithtui knows {VERSION}; update faithtui"
        raise fields.make_error("version", words)
    name = fields.read_text("name")
    if not is_valid_set_name(name):
        raise fields.make_error(
            "name", f"is no name of a claim set; expected up to {MOST_NAME} letters and digits"
        )
    found = ClaimSetBundle(
        name=name,
        version=fields.read_whole_number("set_version", 1),
        digest=fields.read_text("digest"),
        labels_digest=fields.read_text("labels_digest"),
        metric=fields.read_text("metric"),
        window_size=None
        if fields.get_value_or_none("window_size") is None
        else fields.read_whole_number("window_size", 1),
        design=fields.read_one_of_words("design", tuple(each.value for each in SamplingDesign)),
        stratified_by=fields.read_texts("stratified_by"),
        seed=fields.read_whole_number("seed", -LARGEST_CLOCK),
        strata=tuple(
            (
                each.read_text("name", empty=True),
                each.read_whole_number("population", 0),
                each.read_whole_number("drawn", 0),
            )
            for each in fields.read_objects("strata")
        ),
        sample_uid=fields.read_text("sample"),
        made_by=fields.read_text("made_by", limit=REVIEWER),
        created_at=fields.read_utc_time("created_at"),
        drawn_at=fields.read_utc_time_or_none("drawn_at"),
        other_labels=None
        if fields.get_value_or_none("other_labels") is None
        else fields.read_whole_number("other_labels", 0),
        claims=(),
        labels=LabelBundle(),
    )
    digest = fields.read_text_or_none("drawing_digest")
    if digest is None:
        # Earlier versions wrote none, and so does whoever changes what is said of the drawing.
        return replace(found, drawn_at=None, other_labels=None)
    if digest != hash_drawing(found):
        raise fields.make_error(
            "drawing_digest",
            "does not fit `sample`, `drawn_at` and `other_labels`: the file was changed after it "
            "was written; export the set again",
        )
    return found


def _read_transcript(fields: FieldReader, path: Path, line: int) -> ParsedConversation:
    shape = fields.get_value_or_none("conversation")
    if not isinstance(shape, dict):
        raise fields.make_error("conversation", "is missing; expected a conversation")
    parsed = conversation_from_json(
        shape, source=fields.read_text("source", empty=True), path=path, line=line
    )
    conversation = replace(
        parsed.conversation, group=fields.read_text("group", empty=True), ratings=()
    )
    return replace(parsed, conversation=conversation)


def _read_claim(fields: FieldReader, reader: BundleReader) -> SetClaim:
    return SetClaim(
        fields.get_entry_of_earlier_line("claim", reader.claims),
        fields.read_text("stratum", empty=True),
        None if fields.get_value_or_none("place") is None else fields.read_whole_number("place", 0),
        fields.read_flag("shown"),
    )


def _count_claims_by_stratum(found: ClaimSetBundle) -> dict[str, tuple[int, int]]:
    """Count all claims and drawn ones by stratum; of whole conversations, conversations."""
    if found.design == SamplingDesign.CONVERSATIONS:
        everything = {each.claim.conversation for each in found.claims}
        drawn = {each.claim.conversation for each in found.claims if each.place is not None}
        return {CONVERSATIONS: (len(everything), len(drawn))}
    by_strata = found.design == SamplingDesign.STRATIFIED
    populations = Counter(each.stratum if by_strata else "" for each in found.claims)
    drawn_from = Counter(
        each.stratum if by_strata else "" for each in found.claims if each.place is not None
    )
    return {name: (count, drawn_from[name]) for name, count in populations.items()}


def _find_inconsistency(found: ClaimSetBundle, transcripts: set[ConversationName]) -> str | None:
    """Say why a set cannot be what it says it is."""
    names: set[ClaimName] = {each.claim for each in found.claims}
    places = [each.place for each in found.claims if each.place is not None]
    strata = {name for name, _, _ in found.strata}
    if len(names) < len(found.claims) or len(set(places)) < len(places):
        return "has a claim, or a place in the drawn order, twice"
    if not places:
        return "has no claim that was drawn"
    if {each.conversation for each in names} != transcripts:
        return "does not hold the conversations of all its claims, or holds others"
    if any(act.claim not in names for act in found.labels.acts):
        return "has a label of a claim that is not in the set"
    if (
        found.design != SamplingDesign.CONVERSATIONS
        and {each.stratum for each in found.claims} - strata
    ):
        return "has a claim of a stratum that is not in its design"
    if _count_claims_by_stratum(found) != {
        name: (population, drawn) for name, population, drawn in found.strata if population
    }:
        return (
            f"was changed after it was written: its strata are not those of its claims and of a "
            f"design `{found.design}`"
        )
    digest = hash_set_version(
        found.metric, found.window_size, found.design, found.strata, found.claims
    )
    if digest != found.digest:
        return "was changed after it was written: its claims are not those of its digest"
    return None
