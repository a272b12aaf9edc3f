"""Label bundles as files: one JSON object a line. docs/bundles.md describes every field.

Equal bundles give equal bytes, and the first line holds a digest of the others. Within a file
claims, conversations and runs have numbers, so that a line of an event is short; the numbers mean
nothing outside of it. A line that cannot be used is reported with its number and field, and so is
every line that needs it; the others are read.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import get_args

from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.conversation import Span
from faithtui.domain.labels.label_bundle import (
    LARGEST_CLOCK,
    BundleClaim,
    BundleEvent,
    BundleGuideline,
    BundleSample,
    BundleSampleClaim,
    ClaimName,
    ConversationName,
    LabelBundle,
    RunName,
)
from faithtui.domain.labels.label_events import (
    Action,
    Event,
    LabelMark,
    MarkedPassage,
    merge_overlapping_evidence_marks,
)
from faithtui.domain.labels.label_sets import KNOWN_WORDS
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.limits import GUIDELINE, NOTE, REVIEWER
from faithtui.errors import InputError
from faithtui.formats.fields import FieldReader
from faithtui.formats.json_lines import describe_json, format_json_line, read_json_lines

FORMAT = "faithtui-labels"
VERSION = 2
"""Version 1 knew no guidelines of one metric."""

_CHANGED = (
    "was cut off or changed after it was exported: its lines are not those of its `digest`; export "
    "it again. Without `digest` in the first line it is merged, and its labels are unverified"
)

_CODES = tuple(code.name for code in REASON_CODES)
_ACTIONS = tuple(action.value for action in Action)
_MARKS = tuple(mark.value for mark in LabelMark)
_WITH_TARGET = (Action.WITHDRAWN, Action.RESTORED)


@dataclass(frozen=True, slots=True)
class ParsedBundle:
    """What a file gave."""

    bundle: LabelBundle
    refusals: tuple[InputError, ...]
    """One per line that cannot be used, in order; and one when the file was cut off."""
    lines: Mapping[str, int]
    """Line number of each event, by its `uid`."""
    has_digest: bool = True
    """Whether the file says what it was when it was exported."""


class BundleDigest:
    """Tells a file that is what was exported from one that was edited since.

    It is of what lines say, not of their bytes: blanks and line ends may change on the way.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, line: Mapping[str, object]) -> None:
        """Take the next line after the header in."""
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        self._hash.update(f"{text}\n".encode("ascii"))

    def compute(self) -> str:
        """Give the digest of all lines so far."""
        return self._hash.hexdigest()


def format_bundle_lines(bundle: LabelBundle) -> Iterator[str]:
    """Write a bundle.

    Yields:
        Lines, each with its line end: a header, then what is referred to before what refers to it.
    """
    digest = BundleDigest()
    for line in _iter_lines_below_header(bundle):
        digest.add(line)
    yield format_json_line(
        {
            "type": FORMAT,
            "version": _choose_oldest_format_version(bundle),
            "acts": len(bundle.acts),
            "claims": len(bundle.claims),
            "digest": digest.compute(),
        }
    )
    # Made a second time: a large bundle would not fit into memory as text.
    yield from map(format_json_line, _iter_lines_below_header(bundle))


def _iter_lines_below_header(bundle: LabelBundle) -> Iterator[dict[str, object]]:
    """Give the lines after the header, without fields that hold nothing."""
    for line in _iter_lines_with_empty_fields(bundle):
        yield {key: value for key, value in line.items() if value is not None}


def _iter_lines_with_empty_fields(bundle: LabelBundle) -> Iterator[dict[str, object]]:
    conversations: dict[ConversationName, int] = {}
    claims: dict[ClaimName, int] = {}
    for name, text in bundle.claims.items():
        if name.conversation not in conversations:
            number = conversations[name.conversation] = len(conversations)
            yield {"type": "conversation", "number": number, **_conversation_name_to_json(name)}
        claims[name] = len(claims)
        yield {
            "type": "claim",
            "number": claims[name],
            "conversation": conversations[name.conversation],
            "kind": name.kind,
            "turn": name.turn,
            "digest": name.digest,
            "document": name.document,
            "text": text.text,
            "span": None if text.span is None else [text.span.start, text.span.end],
            "imported": text.imported,
        }
    for guideline in bundle.guidelines:
        yield {
            "type": "guideline",
            "digest": guideline.digest,
            "text": guideline.text,
            "author": guideline.author,
            "created_at": _format_time(guideline.created_at),
            "metric": guideline.metric,
            "built_in": guideline.built_in or None,
        }
    named = [*(each.run for each in bundle.samples), *(each.run for each in bundle.acts)]
    runs = {run: number for number, run in enumerate(dict.fromkeys(each for each in named if each))}
    for run, number in runs.items():
        yield {
            "type": "run",
            "number": number,
            "metric": run.metric,
            "judge": run.judge,
            "judge_fingerprint": run.judge_fingerprint,
            "prompt_digest": run.prompt_digest,
            "created_at": _format_time(run.created_at),
        }
    for sample in bundle.samples:
        yield _sample_to_json(sample, runs, claims)
    for act in bundle.acts:
        yield _event_to_json(act, runs, claims)


def _choose_oldest_format_version(bundle: LabelBundle) -> int:
    """Give the oldest version of the format that says it all, so that older programs read it."""
    return VERSION if any(each.metric is not None for each in bundle.guidelines) else 1


def read_bundle(path: Path) -> ParsedBundle:
    """Read a bundle.

    Raises:
        InputError: The file cannot be read, is no bundle, or is of a newer version.
    """
    reader = BundleReader(path)
    for line in read_json_lines(path):
        if isinstance(line.found, InputError):
            if not reader.has_header:
                raise line.found
            reader.refusals.append(line.found)
        else:
            reader.read_line(FieldReader(line.found, path, line.line), line.line)
    return reader.make_parsed_bundle()


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _conversation_name_to_json(name: ClaimName) -> dict[str, object]:
    conversation = name.conversation
    return {
        "source": conversation.source,
        "key": conversation.key,
        "content_hash": conversation.content_hash,
    }


def _read_population(fields: FieldReader) -> Mapping[str, object] | None:
    """Read what a sample was drawn from; None where it was drawn from its run."""
    found = fields.get_value_or_none("population")
    if found is None:
        return None
    try:
        # Without an object it has no counts, and says so.
        return Population.from_json(found if isinstance(found, dict) else {}).to_json()
    except ValueError as error:
        raise fields.make_error("population", str(error)) from error


def _sample_to_json(
    sample: BundleSample, runs: Mapping[RunName, int], claims: Mapping[ClaimName, int]
) -> dict[str, object]:
    return {
        "type": "sample",
        "uid": sample.uid,
        "name": sample.name,
        "kind": sample.kind,
        "run": runs[sample.run],
        "reviewer": sample.reviewer,
        "design": sample.design,
        "stratified_by": list(sample.stratified_by),
        "seed": sample.seed,
        "blind": sample.blind,
        "shown_share": sample.shown_share,
        "frame": sample.frame,
        "strata": [
            {"name": name, "population": population, "drawn": drawn}
            for name, population, drawn in sample.strata
        ],
        "created_at": _format_time(sample.created_at),
        "closed_at": None if sample.closed_at is None else _format_time(sample.closed_at),
        "decision": sample.decision,
        **({} if sample.population is None else {"population": dict(sample.population)}),
        "drawn": [
            {
                "claim": claims[each.claim],
                "stratum": each.stratum,
                "probability": each.probability,
                "shown": each.shown,
            }
            for each in sample.claims
        ],
    }


def _event_to_json(
    act: BundleEvent, runs: Mapping[RunName, int], claims: Mapping[ClaimName, int]
) -> dict[str, object]:
    return {
        "type": "act",
        "uid": act.id,
        **dict(zip(_EVENT_FIELDS, _read_event_fields(act), strict=True)),
        "claim": claims[act.claim],
        "run": None if act.run is None else runs[act.run],
        "created_at": None if act.created_at is None else _format_time(act.created_at),
        "evidence": [mark._asdict() for mark in act.evidence] or None,
        "unverified": act.unverified or None,
    }


_EVENT_FIELDS = (
    *("clock", "claim", "reviewer", "action", "verdict", "note", "target", "batch", "scale"),
    *("raw_label", "run", "judge_verdict", "saw_judge", "seconds", "code", "mark", "sample"),
    *("stratum", "probability", "guideline", "created_at"),
)
"""An event's fields but its `id`, in the order in which bundles have them."""

_read_event_fields = attrgetter(*_EVENT_FIELDS)


class BundleReader:
    """Takes the lines of one file in.

    Args:
        path: The file, for messages.
    """

    def __init__(self, path: Path) -> None:
        self.has_header = False
        self.refusals: list[InputError] = []
        self._path = path
        self._announced_acts = 0
        """Events the header promises."""
        self._announced_digest: str | None = None
        """None: nothing says what the file was when it was exported."""
        self._digest = BundleDigest()
        self._seen_acts = 0
        """Lines of events, usable or not."""
        self._conversations: dict[int, ConversationName] = {}
        self.claims: dict[int, ClaimName] = {}
        """Claims that were read, by their number in the file."""
        self._texts: dict[ClaimName, BundleClaim] = {}
        self._runs: dict[int, RunName] = {}
        self._samples: dict[str, BundleSample] = {}
        self._guidelines: list[BundleGuideline] = []
        self._acts: dict[str, BundleEvent] = {}
        self._lines: dict[str, int] = {}

    def read_line(self, fields: FieldReader, number: int) -> None:
        """Take one line in; one that cannot be used is reported.

        Raises:
            InputError: It is the first line, and not the header of a bundle.
        """
        if not self.has_header:
            self._read_header(fields)
            return
        self._digest.add(fields.value)
        try:
            match kind := fields.read_text("type"):
                case "conversation":
                    self._read_conversation(fields)
                case "claim":
                    self._read_claim(fields)
                case "guideline":
                    self._read_guideline(fields)
                case "run":
                    self._read_run(fields)
                case "sample":
                    self._read_sample(fields)
                case "act":
                    self._seen_acts += 1
                    self._read_event(fields, number)
                case _:
                    known = "conversation, claim, guideline, run, sample or act"
                    raise fields.make_error("type", f"is {describe_json(kind)}; expected {known}")
        except InputError as error:
            self.refusals.append(error)

    def make_parsed_bundle(self) -> ParsedBundle:
        """Give what was read.

        Raises:
            InputError: There was no line at all, or the lines are not those of the digest.
        """
        if not self.has_header:
            raise InputError("is empty; expected a label bundle", path=self._path)
        if self._seen_acts < self._announced_acts:
            words = (
                f"was cut off: it holds {self._seen_acts} of {self._announced_acts} "
                "acts; export it again"
            )
            self.refusals.append(InputError(words, path=self._path))
        if self._announced_digest is None:
            self._acts = {uid: act._replace(unverified=True) for uid, act in self._acts.items()}
        elif self._announced_digest != self._digest.compute():
            raise InputError(_CHANGED, path=self._path)
        acts = sorted(self._acts.values(), key=lambda act: (act.clock, act.id))
        bundle = LabelBundle(
            tuple(acts), self._texts, tuple(self._samples.values()), tuple(self._guidelines)
        )
        has_digest = self._announced_digest is not None
        return ParsedBundle(bundle, tuple(self.refusals), self._lines, has_digest)

    def _read_header(self, fields: FieldReader) -> None:
        if fields.get_value_or_none("type") != FORMAT:
            words = f"is no label bundle; expected `{FORMAT}`, as `faithtui export labels` writes"
            raise fields.make_error("type", words)
        version = fields.read_whole_number("version", 1)
        if version > VERSION:
            words = f"is {version}, and this faithtui knows {VERSION}; update faithtui"
            raise fields.make_error("version", words)
        self._announced_acts = fields.read_whole_number("acts", 0)
        self._announced_digest = fields.read_text_or_none("digest")
        self.has_header = True

    def _read_conversation(self, fields: FieldReader) -> None:
        self._conversations[fields.read_whole_number("number", 0)] = ConversationName(
            fields.read_text("source", empty=True),
            fields.read_text("key"),
            fields.read_text("content_hash"),
        )

    def _read_claim(self, fields: FieldReader) -> None:
        kind: ClaimKind = fields.read_one_of_words("kind", get_args(ClaimKind))
        document = fields.read_text_or_none("document")
        if (document is not None) != (kind == "statement"):
            raise fields.make_error(
                "document", "belongs to statements, and every statement has one"
            )
        name = ClaimName(
            fields.get_entry_of_earlier_line("conversation", self._conversations),
            kind,
            fields.read_whole_number("turn", 0),
            fields.read_text("digest"),
            document,
        )
        self._texts[name] = BundleClaim(
            fields.read_text("text", empty=True), _read_span(fields), fields.read_flag("imported")
        )
        self.claims[fields.read_whole_number("number", 0)] = name

    def _read_guideline(self, fields: FieldReader) -> None:
        self._guidelines.append(
            BundleGuideline(
                fields.read_text("digest"),
                fields.read_text("text", empty=True, limit=GUIDELINE),
                fields.read_text("author", limit=REVIEWER),
                fields.read_utc_time("created_at"),
                fields.read_text_or_none("metric"),
                fields.get_value_or_none("built_in") is not None and fields.read_flag("built_in"),
            )
        )

    def _read_run(self, fields: FieldReader) -> None:
        self._runs[fields.read_whole_number("number", 0)] = RunName(
            fields.read_text("metric"),
            fields.read_text("judge"),
            fields.read_text("judge_fingerprint"),
            fields.read_text("prompt_digest"),
            fields.read_utc_time("created_at"),
        )

    def _read_sample(self, fields: FieldReader) -> None:
        drawn = tuple(
            BundleSampleClaim(
                each.get_entry_of_earlier_line("claim", self.claims),
                each.read_text("stratum", empty=True),
                each.read_number_up_to_1("probability"),
                each.read_flag("shown"),
            )
            for each in fields.read_objects("drawn")
        )
        found = BundleSample(
            uid=fields.read_text("uid"),
            name=fields.read_text("name", empty=True),
            kind=fields.read_one_of_words("kind", tuple(each.value for each in SampleKind)),
            run=fields.get_entry_of_earlier_line("run", self._runs),
            reviewer=fields.read_text("reviewer", limit=REVIEWER),
            design=fields.read_one_of_words("design", tuple(each.value for each in SamplingDesign)),
            stratified_by=fields.read_texts("stratified_by"),
            seed=fields.read_whole_number("seed", -LARGEST_CLOCK),
            blind=fields.read_flag("blind"),
            shown_share=fields.read_number_up_to_1("shown_share", zero=True),
            frame=fields.read_whole_number("frame", 0),
            strata=tuple(
                (
                    each.read_text("name", empty=True),
                    each.read_whole_number("population", 0),
                    each.read_whole_number("drawn", 0),
                )
                for each in fields.read_objects("strata")
            ),
            created_at=fields.read_utc_time("created_at"),
            closed_at=fields.read_utc_time_or_none("closed_at"),
            decision=fields.read_text_or_none("decision"),
            claims=drawn,
            population=_read_population(fields),
        )
        if len({each.claim for each in drawn}) < len(drawn):
            raise fields.make_error("drawn", "holds a claim twice")
        if self._samples.setdefault(found.uid, found) != found:
            raise fields.make_error(
                "uid", "is that of an earlier sample, which says something else"
            )

    def _read_event(self, fields: FieldReader, number: int) -> None:
        mark = fields.get_value_or_none("mark")
        code = fields.get_value_or_none("code")
        act = Event(
            id=fields.read_text("uid"),
            clock=fields.read_whole_number("clock", 1),
            claim=fields.get_entry_of_earlier_line("claim", self.claims),
            reviewer=fields.read_text("reviewer", limit=REVIEWER),
            action=Action(fields.read_one_of_words("action", _ACTIONS)),
            created_at=fields.read_utc_time("created_at"),
            verdict=_read_verdict(fields, "verdict"),
            note=fields.read_text_or_none("note", empty=True, limit=NOTE),
            target=fields.read_text_or_none("target"),
            batch=fields.read_text_or_none("batch"),
            scale=fields.read_text_or_none("scale"),
            raw_label=fields.read_text_or_none("raw_label", empty=True),
            run=None
            if fields.get_value_or_none("run") is None
            else fields.get_entry_of_earlier_line("run", self._runs),
            judge_verdict=_read_verdict(fields, "judge_verdict"),
            saw_judge=fields.read_flag("saw_judge"),
            seconds=fields.read_non_negative_number_or_none("seconds"),
            code=None if code is None else fields.read_one_of_words("code", _CODES),
            mark=None if mark is None else LabelMark(fields.read_one_of_words("mark", _MARKS)),
            sample=fields.read_text_or_none("sample"),
            stratum=fields.read_text_or_none("stratum", empty=True),
            probability=None
            if fields.get_value_or_none("probability") is None
            else fields.read_number_up_to_1("probability"),
            guideline=fields.read_text_or_none("guideline"),
            evidence=_read_evidence(fields),
            unverified=fields.get_value_or_none("unverified") is not None
            and fields.read_flag("unverified"),
        )
        if act.evidence and act.action is not Action.EVIDENCE:
            raise fields.make_error("evidence", "belongs to `evidence`; no other act marks any")
        if (act.target is not None) != (act.action in _WITH_TARGET):
            words = "names the act that `withdrawn` and `restored` are about; no other has one"
            raise fields.make_error("target", words)
        if (act.mark is not None) != (act.action is Action.MARKED):
            raise fields.make_error("mark", "belongs to `marked`, and every such act has one")
        known = self._acts.get(act.id)
        if known is not None and known._replace(clock=act.clock) != act:
            words = f"is that of line {self._lines[act.id]} too, which says something else"
            raise fields.make_error("uid", words)
        if known is None or act.clock < known.clock:
            self._acts[act.id] = act
        self._lines.setdefault(act.id, number)


def _read_verdict(fields: FieldReader, name: str) -> str | None:
    word = fields.read_text_or_none(name)
    if word is not None and word not in KNOWN_WORDS:
        known = ", ".join(f"`{each}`" for each in KNOWN_WORDS)
        words = (
            f"is {describe_json(word)}, which no metric knows; expected {known}; update faithtui"
        )
        raise fields.make_error(name, words)
    return word


def _read_evidence(fields: FieldReader) -> tuple[MarkedPassage, ...]:
    if fields.get_value_or_none("evidence") is None:
        return ()
    marks = []
    for each in fields.read_objects("evidence"):
        start = each.read_whole_number("start", 0)
        end = each.read_whole_number("end", start + 1)
        marks.append(MarkedPassage(each.read_text("document"), start, end))
    return merge_overlapping_evidence_marks(marks)


def _read_span(fields: FieldReader) -> Span | None:
    span = fields.get_value_or_none("span")
    match span:
        case None:
            return None
        case [int(start), int(end)] if 0 <= start < end <= LARGEST_CLOCK:
            return Span(start, end)
    raise fields.make_error(
        "span", "is no span; expected [first character, character after the last]"
    )
