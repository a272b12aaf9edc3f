"""Traces of an application become conversations: one exchange a trace, joined by session.

What every tracing tool has in common: a trace has a question, an answer, what was retrieved
between them, and scores; traces of one session are one conversation. How to find these parts in a
tool's own records is for its reader.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from faithtui.domain.conversation import Document
from faithtui.domain.imported_verdicts import ImportedVerdict
from faithtui.formats.images import ImageCollector
from faithtui.formats.json_lines import parse_inner_json
from faithtui.formats.readers.own_results import add_exported_result_to_draft, find_faithtui_details
from faithtui.formats.readers.protocol import ReadOptions
from faithtui.formats.readers.question_rows import ANSWER, CONTEXTS, HISTORY, QUESTION
from faithtui.formats.readers.values.any_spelling import (
    AnySpelling,
    ShapeError,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.draft import ConversationDraft, list_roles_and_texts
from faithtui.formats.readers.values.messages import MessageReader, looks_like_messages
from faithtui.formats.readers.values.passages import PassageList, read_tool_output_as_passages
from faithtui.formats.readers.values.suggestions import suggest_key

_MOST_NESTING: Final = 6
_FAITHFUL: Final = re.compile(
    r"(?<![a-z])(faithful|grounded|supported|support$|attribut|factual|consisten)"
)
"""Words that speak of faithfulness, from their beginning: unfaithful is the opposite."""
_AROUND_ANSWER: Final = (
    *ANSWER,
    "result",
    "final_answer",
    "final_output",
    "output_text",
    "text",
    "message",
    "messages",
    "choices",
    "generations",
    "outputs",
    "kwargs",
)
"""Keys under which applications give the text of an answer, most telling first."""
_IN_INPUT_OR_OUTPUT: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *(*QUESTION, *HISTORY, *CONTEXTS, *_AROUND_ANSWER),
            *("input_messages", "inputs", "content", "parts", "role", "type", "name", "id", "lc"),
            # What providers and LangChain write around a reply.
            *("object", "created", "model", "usage", "system_fingerprint", "service_tier"),
            *("llm_output", "run", "index", "finish_reason", "stop_reason", "stop_sequence"),
            *("usage_metadata", "response_metadata", "additional_kwargs", "invalid_tool_calls"),
            *("tool_calls", "tools", "tool_choice", "refusal", "annotations", "audio", "reasoning"),
            *("args", "stop", "temperature", "stream", "top_p", "max_tokens", "config", "metadata"),
        ),
    )
)
"""Keys of what went into an application and came out of it that are read, or mean nothing here."""


@dataclass(slots=True)
class TraceScore:
    """What somebody said of an exchange."""

    name: str
    value: object = None
    """A number, a word or a truth value."""
    comment: str | None = None
    annotator: str | None = None
    """The person; None where it is none."""
    judge: str | None = None
    """The judge; None where it is none. Without either it is only kept."""
    details: dict[str, object] = field(default_factory=dict)
    """As it came, with its ids."""
    step: str | None = None
    """Id of the span, run or observation that it is about; None: of the exchange as a whole."""


@dataclass(slots=True)
class Exchange:
    """One question and its answer."""

    session: str
    time: str = ""
    """When it began, as text that sorts so."""
    messages: list[object] = field(default_factory=list)
    """The history with the question, as chat messages."""
    answer: str | None = None
    passages: PassageList | None = None
    """None: nothing was retrieved and nobody asked."""
    details: dict[str, object] = field(default_factory=dict)
    """Ids, tags and metadata of the answer."""
    scores: list[TraceScore] = field(default_factory=list)
    answer_steps: list[str] = field(default_factory=list)
    """Ids of the steps that gave the answer; a score of any other is none of the answer."""
    unknown: dict[str, list[object]] = field(default_factory=dict)
    """What nobody understood in its records, by key, once for each time it came."""

    def add_passages(self, found: PassageList) -> None:
        """Put more passages behind those it has."""
        self.passages = found if self.passages is None else self.passages + found

    def keep_unknown_fields(
        self, fields: Mapping[str, object], known: Collection[str], within: str = ""
    ) -> None:
        """Keep what a record of the trace has and its tool's schema has not.

        Args:
            fields: The record, or an object in it.
            known: Folded names that the schema has.
            within: Name of the field the object stands in, with a dot; "" for a whole record.
        """
        for key, value in fields.items():
            if normalise_key_spelling(key) not in known and value not in (None, "", [], {}):
                self.unknown.setdefault(f"{within}{key}", []).append(value)

    def read_mapped_passages(self, record: AnySpelling) -> None:
        """Take passages of a key that was mapped to `retrieval_context`, in any record."""
        mapped = record.read_first_value("retrieval_context")
        if mapped is not None:
            self.add_passages(read_tool_output_as_passages(mapped, None))

    def read_rest_of_input_and_output(self, given: Mapping[str, object]) -> None:
        """Take passages that the application was given or gave beside the answer; keep the rest.

        Where a step of the trace retrieved something, that is what counts.

        Args:
            given: What went into the trace and what came out of it, by the name it has there.
        """
        texts_as_they_stand = [self.answer, *(_get_content(each) for each in self.messages)]
        objects = [
            (name, AnySpelling(inner))
            for name, value in given.items()
            if value not in texts_as_they_stand
            and isinstance(inner := parse_json_or_keep_text(value), dict)
        ]
        for name, fields in reversed(objects):
            found = fields.read_first_value(*CONTEXTS)
            if self.passages is None and found is not None:
                self.passages = read_tool_output_as_passages(found, None)
            names = _IN_INPUT_OR_OUTPUT
            texts = [key for key, each in fields.value.items() if isinstance(each, str)]
            if len(texts) == 1:  # a text alone is the question or the answer, whatever its key
                names = names | {normalise_key_spelling(texts[0])}
            self.keep_unknown_fields(fields.value, names, f"{name}.")

    def to_json(self) -> dict[str, object]:
        """Write it for `RecordGroups`."""
        return {
            "session": self.session,
            "time": self.time,
            "messages": self.messages,
            "answer": self.answer,
            "passages": None
            if self.passages is None
            else [
                [each.text, each.source, details]
                for each, details in zip(
                    self.passages.documents, self.passages.details, strict=True
                )
            ],
            "details": self.details,
            "scores": [
                [
                    each.name,
                    each.value,
                    each.comment,
                    each.annotator,
                    each.judge,
                    each.details,
                    each.step,
                ]
                for each in self.scores
            ],
            "answer_steps": self.answer_steps,
            "unknown": self.unknown,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, "object"]) -> "Exchange":
        """Read what `to_json` wrote."""
        given: object = value["passages"]
        passages = None
        if isinstance(given, list):
            passages = PassageList(
                tuple(Document(text, source) for text, source, _ in given),
                tuple(details for *_, details in given),
            )
        names = ("session", "time", "messages", "answer", "details", "answer_steps", "unknown")
        rest = {name: value[name] for name in names}
        scores: object = value["scores"]
        assert isinstance(scores, list)
        return cls(passages=passages, scores=[TraceScore(*each) for each in scores], **rest)  # type: ignore[arg-type]  # as `to_json` wrote them


def make_conversation_from_exchanges(
    session: str,
    exchanges: Sequence[Exchange],
    options: ReadOptions,
    collector: ImageCollector,
) -> ConversationDraft:
    """Make one conversation of the exchanges of a session, in order of time.

    An exchange may hold the whole history before it; what is there already is not repeated.

    Raises:
        ShapeError: A message has a role that nobody knows.
    """
    draft = ConversationDraft(key=session)
    unknown_in_messages: Counter[str] = Counter()
    for each in sorted(exchanges, key=lambda exchange: make_sortable_time(exchange.time)):
        _add_new_messages_of_exchange(draft, each, collector, unknown_in_messages)
        _keep_unknown_fields_in_draft(draft, each, options)
        if each.answer is None:
            _add_unanswered_to_metadata(draft, each, options)
            continue
        turn = draft.add_turn("assistant", each.answer, each.passages)
        waiting = draft.metadata.pop("unused_tool_results", None)
        calls = draft.metadata.pop("unused_tool_calls", None)
        if calls:
            turn.details["tools"] = calls
        if isinstance(waiting, list) and turn.passages is None:
            turn.passages = PassageList(tuple(map(Document, waiting)), ({},) * len(waiting))
        turn.details |= each.details
        position = len(draft.turns) - 1
        if each.scores:
            turn.details["scores"] = [score.details for score in each.scores]
        for score in each.scores:
            if score.step is None or score.step in each.answer_steps:
                add_rating_or_verdict(draft, position, score, options)
            elif find_faithtui_details(score.details) is not None:
                add_rating_or_verdict(draft, position, score, options)  # whatever it was sent with
            else:
                _remark_on_score_of_step(score, options)
    options.notes.unknown_keys.update(unknown_in_messages)
    return draft


def _keep_unknown_fields_in_draft(
    draft: ConversationDraft, exchange: Exchange, options: ReadOptions
) -> None:
    """Keep what nobody understood under `extra`, and count it.

    `retrieval_context` is read of every record of a trace, but not of attributes of spans, whose
    names are no keys of the file; other names have no such place.
    """
    for key, values in exchange.unknown.items():
        if options.notes.meant_keys is None:
            options.notes.meant_keys = {}
        kept = draft.extra.setdefault(key, [])
        assert isinstance(kept, list)
        kept += values
        options.notes.unknown_keys[key] += len(values)
        if suggest_key(key) == "retrieval_context" and not key.startswith("attributes."):
            options.notes.meant_keys[key] = "retrieval_context"


def _remark_on_score_of_step(score: TraceScore, options: ReadOptions) -> None:
    """Say that a score of something else than the answer is kept as metadata alone."""
    if score.annotator or score.judge:
        options.notes.remarks[
            f"scores named `{score.name}` of a step that did not give the answer, or that is not "
            "in the files, are kept as metadata"
        ] += 1


def _add_unanswered_to_metadata(
    draft: ConversationDraft, exchange: Exchange, options: ReadOptions
) -> None:
    """Keep what is known of an exchange that has no answer: there is no turn to keep it with."""
    kept = draft.metadata.setdefault("exchanges_without_answer", [])
    assert isinstance(kept, list)
    passages = exchange.passages
    known = {
        **exchange.details,
        "scores": [score.details for score in exchange.scores],
        "contexts": [] if passages is None else [each.text for each in passages.documents],
    }
    kept.append({name: each for name, each in known.items() if each})
    if exchange.scores:
        options.notes.remarks["scores of exchanges without an answer are kept as metadata"] += len(
            exchange.scores
        )


def name_score_judge(model: str | None, score: str, tool: str) -> str:
    """Name the judge of a score: its model, and what it judged where that has another name.

    One model may give several scores of one answer, which are verdicts of several judges.
    """
    if model is None:
        return f"{tool} {score}"
    return model if normalise_key_spelling(score) == "faithfulness" else f"{model} ({score})"


def list_ids_of_answer_steps(
    answer: str | None, steps: Sequence[tuple[str | None, str | None]]
) -> list[str]:
    """Find the steps of an exchange that gave its answer.

    Args:
        answer: The answer.
        steps: Id and text of each step that may have, such as calls of a model.

    Returns:
        Those with the same text; without one, the only step there is.
    """
    named = [(each, text) for each, text in steps if each is not None]
    same = [
        each for each, text in named if text is not None and text.strip() == (answer or "").strip()
    ]
    return same or ([named[0][0]] if len(named) == 1 else [])


def _add_new_messages_of_exchange(
    draft: ConversationDraft,
    exchange: Exchange,
    collector: ImageCollector,
    unknown_keys: Counter[str],
) -> None:
    history = ConversationDraft()
    reader = MessageReader(history, collector)
    reader.add_messages_to_draft(exchange.messages)
    for name, value in history.metadata.items():
        draft.metadata.setdefault(name, value)
    told = list_roles_and_texts(history.turns)
    before = list_roles_and_texts(draft.turns)
    is_repeated = told[: len(before)] == before
    for key, count in reader.unknown_keys.items():
        unknown_keys[key] = (
            max(unknown_keys[key], count) if is_repeated else unknown_keys[key] + count
        )
    for key, values in history.extra.items():
        kept = draft.extra.setdefault(key, [])
        assert isinstance(kept, list)
        assert isinstance(values, list)
        kept += [each for each in values if each not in kept]
    if is_repeated:
        new = history.turns[len(before) :]
    else:
        # The history was cut or edited: what was said since its last answer is the question.
        answer = history.last_answer_position
        new = history.turns if answer is None else history.turns[answer + 1 :]
    draft.turns += new


def add_rating_or_verdict(
    draft: ConversationDraft, position: int, score: TraceScore, options: ReadOptions
) -> None:
    """Make a human label or an imported verdict of a score, where it is about faithfulness.

    Others are kept in the metadata alone: a rating of tone is no verdict.
    """
    own = find_faithtui_details(score.details)
    if own is not None:
        add_exported_result_to_draft(draft, position, own)
        return
    if not is_about_faithfulness(score.name) and not options.note_score_and_tell_if_scale_named(
        score.name
    ):
        if score.annotator or score.judge:
            options.notes.remarks[
                f"scores named `{score.name}` are kept as metadata; if they say how faithful an "
                f"answer is, name their scale: `--scale {score.name}=SCALE`"
            ] += 1
        return
    options.notes.scores.add(score.name)
    if score.value is None:
        options.notes.remarks[
            f"scores named `{score.name}` without a value are kept as metadata"
        ] += 1
        return
    if score.annotator is not None:
        draft.add_human_label(
            position,
            score.annotator,
            options.choose_and_note_scale(score.name),
            _format_label_text(score.value),
            note=score.comment,
        )
    elif score.judge is not None:
        number = _to_number(score.value)
        inside = number is not None and 0 <= number <= 1
        draft.add_judge_verdict_on_answer(
            ImportedVerdict(
                score.judge,
                position,
                word=_format_label_text(score.value),
                score=number if inside else None,
                reason=score.comment,
            )
        )


def is_about_faithfulness(name: str) -> bool:
    """Say whether the name of a score says that it is about faithfulness."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return _FAITHFUL.search(words) is not None


def _format_label_text(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def _to_number(value: object) -> float | None:
    match value:
        case bool() | int() | float():
            return float(value) if abs(value) <= sys.float_info.max else None
        case _:
            return None


def find_chat_messages(value: object, depth: int = 0) -> list[object]:
    """Find the chat messages in what an application was given; a text is one of the user.

    Args:
        value: A text, perhaps JSON, a list of messages, or an object around one.
        depth: How deep it lies in what was given.
    """
    if depth > _MOST_NESTING or value is None:
        return []
    if isinstance(value, str):
        parsed = _parse_json_or_none(value)
        found = find_chat_messages(parsed, depth + 1) if parsed is not None else []
        return found or ([{"role": "user", "content": value}] if value else [])
    if isinstance(value, list):
        if looks_like_messages(value):
            return list(value)
        if len(value) == 1:  # LangChain's batches of one
            return find_chat_messages(value[0], depth + 1)
        return []
    if not isinstance(value, dict):
        return []
    if looks_like_messages([value]) and "content" in value:
        return [value]
    fields = AnySpelling(value)
    history = fields.read_first_value("chat_history", "history")
    before = list(history) if looks_like_messages(history) and isinstance(history, list) else []
    for name in ("messages", "input_messages", *QUESTION, "inputs", "text", "content", "kwargs"):
        found = find_chat_messages(fields.read_first_value(name), depth + 1)
        if found:
            return [*before, *found]
    texts = [each for each in value.values() if isinstance(each, str)]
    return [*before, *find_chat_messages(texts[0], depth + 1)] if len(texts) == 1 else before


def find_answer_text(value: object, depth: int = 0) -> str | None:
    """Find the text of the answer in what an application gave; None when there is none."""
    if depth > _MOST_NESTING or value is None:
        return None
    if isinstance(value, str):
        # An answer may well be JSON itself: only what is clearly put around one is taken off.
        parsed = _parse_json_or_none(value)
        found = find_answer_text(parsed, depth + 1) if _can_contain_answer(parsed) else None
        return found if found is not None else value
    if isinstance(value, list):
        if not any(isinstance(each, dict | list) for each in value):
            return json.dumps(value, ensure_ascii=False) if value else None
        for each in reversed(value):
            found = find_answer_text(each, depth + 1)
            if found is not None:
                return found
        return None
    if not isinstance(value, dict):
        return str(value) if isinstance(value, int | float) else None
    fields = AnySpelling(value)
    parts = fields.read_first_value("content", "parts")
    if isinstance(parts, list):
        texts = [_part_text(each) for each in parts]
        return "\n".join(text for text in texts if text is not None) or None
    if isinstance(parts, str):
        return parts
    for name in _AROUND_ANSWER:
        found = find_answer_text(fields.read_first_value(name), depth + 1)
        if found is not None:
            return found
    texts_ = [each for each in value.values() if isinstance(each, str)]
    return texts_[0] if len(texts_) == 1 else None


def _can_contain_answer(value: object) -> bool:
    """Say whether a value is a list of messages, or an object with a key that holds an answer.

    `a` alone, as in tables of `q` and `a`, says too little.
    """
    if isinstance(value, list):
        return looks_like_messages(value)
    if not isinstance(value, dict):
        return False
    names = (*_AROUND_ANSWER, "content", "parts")
    return any(has_keys(value, name) for name in names if len(name) > 1)


def _get_content(message: object) -> object:
    return message.get("content") if isinstance(message, dict) else None


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or normalise_key_spelling(str(part.get("type", "text"))) not in (
        "text",
        "outputtext",
        "refusal",
    ):
        return None
    return AnySpelling(part).read_if_text("text", "content", "refusal")


def _parse_json_or_none(text: str) -> object:
    """Parse a text that is a JSON object or list; None for any other."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = parse_inner_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def parse_json_or_keep_text(value: object) -> object:
    """Read JSON that stands in a text; any other text stays one."""
    try:
        return parse_list_or_object_cell(value, "output")
    except ShapeError:
        return value  # it is evidence as it stands


def make_sortable_time(time: str) -> str:
    """Give a time as a text that sorts by time: with and without fractions, in any zone.

    Args:
        time: As its tool writes it: ISO 8601, or a number since an epoch; anything else sorts by
            its letters.
    """
    if time.isascii() and time.isdecimal():
        return time.zfill(30)
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    if not 1 < moment.year < 9999:  # such a year may be none in another zone
        return time
    return (
        moment.replace(tzinfo=moment.tzinfo or UTC)
        .astimezone(UTC)
        .isoformat(timespec="microseconds")
    )
