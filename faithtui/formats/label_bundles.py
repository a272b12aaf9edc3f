"""Label bundles as files: one JSON object a line. docs/bundles.md describes every field.

Equal bundles give equal bytes. Within a file claims, conversations and runs have numbers, so that
a line of an act is short; the numbers mean nothing outside of it. A line that cannot be used is
told with its number and field, and so is every line that needs it; the others are read.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from faithtui.agreement.sampling.draw import Design, SampleKind
from faithtui.domain.annotations import REASON_CODES, Action, Mark
from faithtui.domain.conversation import Span
from faithtui.domain.label_bundle import (
    LARGEST_CLOCK,
    Bundle,
    ClaimName,
    ClaimText,
    ConversationName,
    DrawnClaim,
    GuidelineText,
    RunName,
    SampleText,
    ToldAct,
)
from faithtui.domain.label_sets import KNOWN_WORDS
from faithtui.domain.limits import GUIDELINE, NOTE, REVIEWER
from faithtui.domain.verdicts import ClaimKind
from faithtui.errors import InputError
from faithtui.formats.fields import Fields
from faithtui.formats.json_lines import read_json_lines, shortened

FORMAT = "faithtui-labels"
VERSION = 1

_CODES = tuple(code.name for code in REASON_CODES)
_ACTIONS = tuple(action.value for action in Action)
_MARKS = tuple(mark.value for mark in Mark)
_WITH_TARGET = (Action.WITHDRAWN, Action.RESTORED)


@dataclass(frozen=True, slots=True)
class BundleRead:
    """What a file gave."""

    bundle: Bundle
    refusals: tuple[InputError, ...]
    """One per line that cannot be used, in order; and one when the file was cut off."""
    lines: Mapping[str, int]
    """Line number of each act, by its `uid`."""


def bundle_lines(bundle: Bundle) -> Iterator[str]:
    """Write a bundle.

    Yields:
        Lines, each with its line end: a header, then what is referred to before what refers to it.
    """
    yield _line(
        {"type": FORMAT, "version": VERSION, "acts": len(bundle.acts), "claims": len(bundle.claims)}
    )
    conversations: dict[ConversationName, int] = {}
    claims: dict[ClaimName, int] = {}
    for name, text in bundle.claims.items():
        if name.conversation not in conversations:
            number = conversations[name.conversation] = len(conversations)
            yield _line({"type": "conversation", "number": number, **_conversation(name)})
        claims[name] = len(claims)
        yield _line(
            {
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
        )
    for guideline in bundle.guidelines:
        yield _line(
            {
                "type": "guideline",
                "digest": guideline.digest,
                "text": guideline.text,
                "author": guideline.author,
                "created_at": _time(guideline.created_at),
            }
        )
    named = [*(each.run for each in bundle.samples), *(each.run for each in bundle.acts)]
    runs = {run: number for number, run in enumerate(dict.fromkeys(each for each in named if each))}
    for run, number in runs.items():
        yield _line(
            {
                "type": "run",
                "number": number,
                "metric": run.metric,
                "judge": run.judge,
                "judge_fingerprint": run.judge_fingerprint,
                "prompt_digest": run.prompt_digest,
                "created_at": _time(run.created_at),
            }
        )
    for sample in bundle.samples:
        yield _line(_sample(sample, runs, claims))
    for act in bundle.acts:
        yield _line(_act(act, runs, claims))


def read_bundle(path: Path) -> BundleRead:
    """Read a bundle.

    Raises:
        InputError: The file cannot be read, is no bundle, or is of a newer version.
    """
    reader = _Reader(path)
    for line in read_json_lines(path):
        if isinstance(line.found, InputError):
            if not reader.begun:
                raise line.found
            reader.refusals.append(line.found)
        else:
            reader.take(Fields(line.found, path, line.line), line.line)
    return reader.done()


def _line(value: Mapping[str, object]) -> str:
    kept = {key: part for key, part in value.items() if part is not None}
    return json.dumps(kept, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _conversation(name: ClaimName) -> dict[str, object]:
    conversation = name.conversation
    return {
        "source": conversation.source,
        "key": conversation.key,
        "content_hash": conversation.content_hash,
    }


def _sample(
    sample: SampleText, runs: Mapping[RunName, int], claims: Mapping[ClaimName, int]
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
        "created_at": _time(sample.created_at),
        "closed_at": None if sample.closed_at is None else _time(sample.closed_at),
        "decision": sample.decision,
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


def _act(
    act: ToldAct, runs: Mapping[RunName, int], claims: Mapping[ClaimName, int]
) -> dict[str, object]:
    return {
        "type": "act",
        "uid": act.uid,
        "clock": act.clock,
        "claim": claims[act.claim],
        "reviewer": act.reviewer,
        "action": act.action.value,
        "verdict": act.verdict,
        "note": act.note,
        "target": act.target,
        "batch": act.batch,
        "scale": act.scale,
        "raw_label": act.raw_label,
        "run": None if act.run is None else runs[act.run],
        "judge_verdict": act.judge_verdict,
        "saw_judge": act.saw_judge,
        "seconds": act.seconds,
        "code": act.code,
        "mark": None if act.mark is None else act.mark.value,
        "sample": act.sample,
        "stratum": act.stratum,
        "probability": act.probability,
        "guideline": act.guideline,
        "created_at": _time(act.created_at),
    }


class _Reader:
    """Takes the lines of one file in."""

    def __init__(self, path: Path) -> None:
        self.begun = False
        self.refusals: list[InputError] = []
        self._path = path
        self._told = 0
        """Acts the header promises."""
        self._seen = 0
        """Lines of acts, usable or not."""
        self._conversations: dict[int, ConversationName] = {}
        self._claims: dict[int, ClaimName] = {}
        self._texts: dict[ClaimName, ClaimText] = {}
        self._runs: dict[int, RunName] = {}
        self._samples: dict[str, SampleText] = {}
        self._guidelines: list[GuidelineText] = []
        self._acts: dict[str, ToldAct] = {}
        self._lines: dict[str, int] = {}

    def take(self, fields: Fields, number: int) -> None:
        """Take one line in; one that cannot be used is told.

        Raises:
            InputError: It is the first line, and not the header of a bundle.
        """
        if not self.begun:
            self._begin(fields)
            return
        try:
            match kind := fields.text("type"):
                case "conversation":
                    self._conversation(fields)
                case "claim":
                    self._claim(fields)
                case "guideline":
                    self._guideline(fields)
                case "run":
                    self._run(fields)
                case "sample":
                    self._sample(fields)
                case "act":
                    self._seen += 1
                    self._act(fields, number)
                case _:
                    known = "conversation, claim, guideline, run, sample or act"
                    raise fields.wrong("type", f"is {shortened(kind)}; expected {known}")
        except InputError as error:
            self.refusals.append(error)

    def done(self) -> BundleRead:
        """Give what was read.

        Raises:
            InputError: There was no line at all.
        """
        if not self.begun:
            raise InputError("is empty; expected a label bundle", path=self._path)
        if self._seen < self._told:
            words = f"was cut off: it holds {self._seen} of {self._told} acts; export it again"
            self.refusals.append(InputError(words, path=self._path))
        acts = sorted(self._acts.values(), key=lambda act: (act.clock, act.uid))
        bundle = Bundle(
            tuple(acts), self._texts, tuple(self._samples.values()), tuple(self._guidelines)
        )
        return BundleRead(bundle, tuple(self.refusals), self._lines)

    def _begin(self, fields: Fields) -> None:
        if fields.get("type") != FORMAT:
            words = f"is no label bundle; expected `{FORMAT}`, as `faithtui export labels` writes"
            raise fields.wrong("type", words)
        version = fields.number("version", 1)
        if version > VERSION:
            words = f"is {version}, and this faithtui knows {VERSION}; update faithtui"
            raise fields.wrong("version", words)
        self._told = fields.number("acts", 0)
        self.begun = True

    def _conversation(self, fields: Fields) -> None:
        self._conversations[fields.number("number", 0)] = ConversationName(
            fields.text("source", empty=True),
            fields.text("key"),
            fields.text("content_hash"),
        )

    def _claim(self, fields: Fields) -> None:
        kind: ClaimKind = fields.one_of("kind", get_args(ClaimKind))
        document = fields.text_or_none("document")
        if (document is not None) != (kind == "statement"):
            raise fields.wrong("document", "belongs to statements, and every statement has one")
        name = ClaimName(
            fields.found("conversation", self._conversations),
            kind,
            fields.number("turn", 0),
            fields.text("digest"),
            document,
        )
        self._texts[name] = ClaimText(
            fields.text("text", empty=True), _span(fields), fields.flag("imported")
        )
        self._claims[fields.number("number", 0)] = name

    def _guideline(self, fields: Fields) -> None:
        self._guidelines.append(
            GuidelineText(
                fields.text("digest"),
                fields.text("text", empty=True, limit=GUIDELINE),
                fields.text("author", limit=REVIEWER),
                fields.time("created_at"),
            )
        )

    def _run(self, fields: Fields) -> None:
        self._runs[fields.number("number", 0)] = RunName(
            fields.text("metric"),
            fields.text("judge"),
            fields.text("judge_fingerprint"),
            fields.text("prompt_digest"),
            fields.time("created_at"),
        )

    def _sample(self, fields: Fields) -> None:
        drawn = tuple(
            DrawnClaim(
                each.found("claim", self._claims),
                each.text("stratum", empty=True),
                each.share("probability"),
                each.flag("shown"),
            )
            for each in fields.objects("drawn")
        )
        found = SampleText(
            uid=fields.text("uid"),
            name=fields.text("name", empty=True),
            kind=fields.one_of("kind", tuple(each.value for each in SampleKind)),
            run=fields.found("run", self._runs),
            reviewer=fields.text("reviewer", limit=REVIEWER),
            design=fields.one_of("design", tuple(each.value for each in Design)),
            stratified_by=fields.texts("stratified_by"),
            seed=fields.number("seed", -LARGEST_CLOCK),
            blind=fields.flag("blind"),
            shown_share=fields.share("shown_share", zero=True),
            frame=fields.number("frame", 0),
            strata=tuple(
                (
                    each.text("name", empty=True),
                    each.number("population", 0),
                    each.number("drawn", 0),
                )
                for each in fields.objects("strata")
            ),
            created_at=fields.time("created_at"),
            closed_at=fields.time_or_none("closed_at"),
            decision=fields.text_or_none("decision"),
            claims=drawn,
        )
        if len({each.claim for each in drawn}) < len(drawn):
            raise fields.wrong("drawn", "holds a claim twice")
        if self._samples.setdefault(found.uid, found) != found:
            raise fields.wrong("uid", "is that of an earlier sample, which says something else")

    def _act(self, fields: Fields, number: int) -> None:
        mark = fields.get("mark")
        code = fields.get("code")
        act = ToldAct(
            uid=fields.text("uid"),
            clock=fields.number("clock", 1),
            claim=fields.found("claim", self._claims),
            reviewer=fields.text("reviewer", limit=REVIEWER),
            action=Action(fields.one_of("action", _ACTIONS)),
            created_at=fields.time("created_at"),
            verdict=_verdict(fields),
            note=fields.text_or_none("note", empty=True, limit=NOTE),
            target=fields.text_or_none("target"),
            batch=fields.text_or_none("batch"),
            scale=fields.text_or_none("scale"),
            raw_label=fields.text_or_none("raw_label", empty=True),
            run=None if fields.get("run") is None else fields.found("run", self._runs),
            judge_verdict=fields.text_or_none("judge_verdict"),
            saw_judge=fields.flag("saw_judge"),
            seconds=fields.amount_or_none("seconds"),
            code=None if code is None else fields.one_of("code", _CODES),
            mark=None if mark is None else Mark(fields.one_of("mark", _MARKS)),
            sample=fields.text_or_none("sample"),
            stratum=fields.text_or_none("stratum", empty=True),
            probability=None if fields.get("probability") is None else fields.share("probability"),
            guideline=fields.text_or_none("guideline"),
        )
        if (act.target is not None) != (act.action in _WITH_TARGET):
            words = "names the act that `withdrawn` and `restored` are about; no other has one"
            raise fields.wrong("target", words)
        if (act.mark is not None) != (act.action is Action.MARKED):
            raise fields.wrong("mark", "belongs to `marked`, and every such act has one")
        known = self._acts.get(act.uid)
        if known is not None and replace(known, clock=act.clock) != act:
            words = f"is that of line {self._lines[act.uid]} too, which says something else"
            raise fields.wrong("uid", words)
        if known is None or act.clock < known.clock:
            self._acts[act.uid] = act
        self._lines.setdefault(act.uid, number)


def _verdict(fields: Fields) -> str | None:
    word = fields.text_or_none("verdict")
    if word is not None and word not in KNOWN_WORDS:
        known = ", ".join(f"`{each}`" for each in KNOWN_WORDS)
        words = f"is {shortened(word)}, which no metric knows; expected {known}; update faithtui"
        raise fields.wrong("verdict", words)
    return word


def _span(fields: Fields) -> Span | None:
    span = fields.get("span")
    match span:
        case None:
            return None
        case [int(start), int(end)] if 0 <= start < end <= LARGEST_CLOCK:
            return Span(start, end)
    raise fields.wrong("span", "is no span; expected [first character, character after the last]")
