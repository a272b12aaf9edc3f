"""Traces of an application become conversations: one exchange a trace, joined by session.

What every tracing tool has in common: a trace has a question, an answer, what was retrieved
between them, and scores; traces of one session are one conversation. How to find these parts in a
tool's own records is for its reader.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from faithtui.domain.conversation import Document
from faithtui.domain.labels.imported_verdicts import ImportedVerdict
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.json_lines import parse_inner_json
from faithtui.formats.readers.faithtui_results import (
    add_exported_result_to_draft,
    find_faithtui_details,
)
from faithtui.formats.readers.protocol import ReadOptions
from faithtui.formats.readers.question_rows import ANSWER, CONTEXTS, HISTORY, QUESTION
from faithtui.formats.readers.traces.unknown_fields import UnknownFields
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    TurnDraft,
    list_roles_and_texts,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_keys,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import MessageReader, looks_like_messages
from faithtui.formats.readers.values.passages import (
    PassageList,
    read_passage_list,
    read_tool_output_as_passages,
)
from faithtui.formats.readers.values.suggestions import suggest_key

HIDDEN: Final = "__REDACTED__"
"""What OpenInference writes in place of a text that its settings hide."""
_MOST_NESTING: Final = 6
_UNUSED_RESULTS: Final = "unused_tool_results"
_UNUSED_CALLS: Final = "unused_tool_calls"
_CONTEXTS: Final = "contexts"
_UNANSWERED: Final = "exchanges_without_answer"
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
            *(*QUESTION, *HISTORY, *_AROUND_ANSWER),
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
_OUTER_STEP: Final = (
    "the passages of an answer are those that an outer step gave, not all that steps within it gave"
)
_FAILED_RETRIEVER: Final = (
    "what a retriever gave that failed is no evidence, as it is no list of documents"
)
_AROUND_QUESTION: Final = ("messages", "input_messages", *QUESTION, "inputs")
"""Keys under which applications are given the question, most telling first."""
_AROUND_EITHER: Final = (*_AROUND_QUESTION, *HISTORY, *_AROUND_ANSWER, "args")
_CONTEXT_NAMES: Final = frozenset(map(normalise_key_spelling, CONTEXTS))
_TEXT_OF_DOCUMENT: Final = (
    *("text", "page_content", "content", "context", "passage", "chunk", "document"),
    *("body", "snippet"),
)


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


@dataclass(frozen=True, slots=True)
class InnerStep:
    """A step of a trace that is neither its root nor a retriever or a tool."""

    number: str | None
    """Its id."""
    name: str | None
    output: object
    ancestors: frozenset[str] = frozenset()
    """Ids of the steps that it is in."""


def find_ancestors(number: str | None, parents: Mapping[str | None, str | None]) -> frozenset[str]:
    """Find the ids of all steps that a step is in, by the parent of each step of its trace.

    Returns:
        None of a step that would be in itself: such parents say nothing.
    """
    found: set[str] = set()
    parent = parents.get(number)
    while parent is not None and parent not in found:
        found.add(parent)
        parent = parents.get(parent)
    return frozenset() if number in found else frozenset(found)


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
    unknown: UnknownFields = field(default_factory=UnknownFields)
    """What nobody understood in its records."""
    passages_beside: PassageList | None = None
    """What the application was given or gave beside the answer."""
    key_of_passages_beside: str = ""

    def add_passages(self, found: PassageList) -> None:
        """Put more passages behind those it has."""
        self.passages = found if self.passages is None else self.passages + found

    def add_output_of_step(
        self, output: object, name: str | None, options: ReadOptions, *, has_failed: bool = False
    ) -> None:
        """Take what a retriever or a tool gave; without it, what was retrieved is not known.

        Args:
            output: A text or JSON.
            name: The step.
            options: Take the remark.
            has_failed: Whether it is a retriever that failed.
        """
        found = read_output_of_step(output, name, options, has_failed=has_failed)
        if found is not None:
            self.add_passages(found)

    def read_outputs_of_other_steps(
        self,
        steps: Iterable[InnerStep],
        key: str,
        way: str,
        options: ReadOptions,
    ) -> None:
        """Find passages in what steps gave that are no retriever, where nothing else gave any.

        Documents under a name of theirs are taken as those beside the answer are. A list without
        a name may be anything: it is reported. What a step gave counts over what steps within it
        did.

        Args:
            steps: All that may have given some.
            key: Where outputs stand in a trace.
            way: How to say that such a step is a retriever.
            options: Take the remarks.
        """
        if self.passages is not None or self.passages_beside is not None:
            return
        unread, given = [], []
        for step in steps:
            inner = parse_json_or_keep_text(step.output)
            if isinstance(inner, dict):
                found = self._take_passages_of_step(inner, key)
                given += [(step, found)] if found is not None else []
            elif _read_list_of_documents(inner) is not None:
                unread.append((step.name, inner))
        self.passages_beside = _join_passages_of_outermost_steps(given, options)
        for name, inner in unread if self.passages_beside is None else ():
            self.unknown.add_value(key, inner, can_be_mapped=False)
            options.notes.remarks[
                f"`{key}` of the step `{(name or '')[:40]}` is a list that may be passages and was "
                f"not taken for evidence; if it is, {way}"
            ] += 1

    def _take_passages_of_step(self, output: dict[str, object], key: str) -> PassageList | None:
        self.passages_beside = None
        self._take_passages_beside_answer(AnySpelling(output), key)
        return self.passages_beside

    def read_mapped_passages(self, record: AnySpelling) -> None:
        """Take passages of a key that was mapped to `retrieval_context`, in any record."""
        mapped = record.read_first_value("retrieval_context")
        if mapped is not None:
            # A step may hold again what the whole trace holds.
            found = read_tool_output_as_passages(mapped, None)
            self.add_passages(found if self.passages is None else found - self.passages)

    def read_rest_of_input_and_output(self, given: Mapping[str, object]) -> None:
        """Find passages that the application was given or gave beside the answer; keep the rest.

        Args:
            given: What went into the trace and what came out of it, by the name it has there.
        """
        texts_as_they_stand = [self.answer, *(_get_content(each) for each in self.messages)]
        for name, value in reversed(tuple(given.items())):
            if value == HIDDEN or value in texts_as_they_stand:
                continue
            inner = parse_json_or_keep_text(value)
            if isinstance(inner, dict):
                can_be_mapped = isinstance(value, dict) and "." not in name
                self._read_rest_of_object(inner, name, texts_as_they_stand, can_be_mapped)
            elif inner not in (None, "", []) and not _is_question_or_answer(inner, name):
                self.unknown.add_value(name, inner, can_be_mapped=False)

    def _read_rest_of_object(
        self,
        found: dict[str, object],
        name: str,
        texts_as_they_stand: list[object],
        can_be_mapped: bool,
        depth: int = 0,
    ) -> None:
        fields = AnySpelling(found)
        names = _IN_INPUT_OR_OUTPUT | self._take_passages_beside_answer(fields, name)
        texts = [key for key, each in found.items() if isinstance(each, str)]
        if len(texts) == 1:  # a text alone is the question or the answer, whatever its key
            fold = normalise_key_spelling(texts[0])
            is_read = found[texts[0]] in texts_as_they_stand
            is_no_context = depth == 0 and fold not in _CONTEXT_NAMES
            names = names | ({fold} if is_read or is_no_context else set())
        self.unknown.add_fields(found, names, f"{name}.", can_be_mapped=can_be_mapped)
        for key in dict.fromkeys(fields.get_key_spelling(each) for each in _AROUND_EITHER):
            value, within = found.get(key), f"{name}.{key}"
            if looks_like_messages([value]) or has_keys(value, "lc"):
                continue  # a message has keys of its own
            if isinstance(value, dict) and depth < _MOST_NESTING:
                self._read_rest_of_object(value, within, texts_as_they_stand, False, depth + 1)
                continue
            can_be_lost = isinstance(value, list | int | float) and value != []
            if can_be_lost and not _is_question_or_answer(value, name):
                self.unknown.add_value(within, value, can_be_mapped=False)

    def _take_passages_beside_answer(self, fields: AnySpelling, within: str) -> set[str]:
        """Take the first list of passages; give the folded names of all with nothing else in it."""
        taken = set()
        for name in CONTEXTS:
            found = _read_list_of_documents(fields.read_first_value(name))
            if found is None:
                continue
            if self.passages_beside is None:
                self.passages_beside = found
                self.key_of_passages_beside = f"{within}.{fields.get_key_spelling(name)}"
            if _list_other_texts(found, self.passages_beside) == []:
                taken.add(normalise_key_spelling(name))
        return taken

    def to_json(self) -> dict[str, object]:
        """Write it for `RecordGroups`."""
        return {
            "session": self.session,
            "time": self.time,
            "messages": self.messages,
            "answer": self.answer,
            "passages": _passages_to_json(self.passages),
            "passages_beside": _passages_to_json(self.passages_beside),
            "key_of_passages_beside": self.key_of_passages_beside,
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
            "unknown": self.unknown.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, "object"]) -> "Exchange":
        """Read what `to_json` wrote."""
        names = ("session", "time", "messages", "answer", "details", "answer_steps")
        rest = {name: value[name] for name in (*names, "key_of_passages_beside")}
        scores: object = value["scores"]
        unknown: object = value["unknown"]
        assert isinstance(scores, list)
        assert isinstance(unknown, list)
        return cls(
            passages=_passages_from_json(value["passages"]),
            passages_beside=_passages_from_json(value["passages_beside"]),
            scores=[TraceScore(*each) for each in scores],
            unknown=UnknownFields.from_json(unknown),
            **rest,  # type: ignore[arg-type]  # as `to_json` wrote them
        )


def read_output_of_step(
    output: object, name: str | None, options: ReadOptions, *, has_failed: bool = False
) -> PassageList | None:
    """Read the passages that a retriever or a tool gave; see `Exchange.add_output_of_step`.

    Returns:
        None where the output is not known: tools write an empty object for one that is hidden or
        missing, and a retriever that failed may give an empty list or an error. Documents it gave
        count.
    """
    inner = parse_json_or_keep_text(output)
    if inner in (None, HIDDEN, {}):
        return None
    if has_failed:
        within = (
            AnySpelling(inner).read_first_value(*CONTEXTS) if isinstance(inner, dict) else inner
        )
        documents = _read_list_of_documents(within)
        if documents is None and inner not in ("", []) and within != []:
            options.notes.remarks[_FAILED_RETRIEVER] += 1
        return documents
    return read_tool_output_as_passages(output, name)


def _passages_to_json(passages: PassageList | None) -> list[object] | None:
    if passages is None:
        return None
    return [
        [each.text, each.source, details]
        for each, details in zip(passages.documents, passages.details, strict=True)
    ]


def _passages_from_json(value: object) -> PassageList | None:
    if not isinstance(value, list):
        return None
    return PassageList(
        tuple(Document(text, source) for text, source, _ in value),
        tuple(details for *_, details in value),
    )


def _is_question_or_answer(value: object, name: str) -> bool:
    """Say whether all of what went into a trace is its question, or what came out its answer."""
    if not name.startswith("input"):
        return find_answer_text(value) is not None
    is_call = isinstance(value, list) and len(value) > 1 and not looks_like_messages(value)
    return not is_call and bool(find_chat_messages(value))


def _join_passages_of_outermost_steps(
    given: list[tuple[InnerStep, PassageList]], options: ReadOptions
) -> PassageList | None:
    """Join what steps gave that are in no other of them; say so where that is not all."""
    numbers = {step.number for step, _ in given}
    joined: PassageList | None = None
    for step, found in given:
        if numbers.isdisjoint(step.ancestors):
            joined = found if joined is None else joined + (found - joined)
    if any(_list_other_texts(found, joined) for _, found in given):
        options.notes.remarks[_OUTER_STEP] += 1
    return joined


def _read_list_of_documents(value: object) -> PassageList | None:
    """Read a list of texts, or of objects with a text that are no messages.

    Returns:
        None for anything else: what applications call their context may be a user, a session or a
        chat history.
    """
    found = parse_json_or_keep_text(value)
    if not isinstance(found, list) or not found:
        return None
    if not all(isinstance(each, str) and each.strip() for each in found) and not all(
        map(_is_document, found)
    ):
        return None
    return read_passage_list(found, "")


def _is_document(value: object) -> bool:
    if not isinstance(value, dict) or has_keys(value, "role") or looks_like_messages([value]):
        return False
    fields = AnySpelling(value)
    author = fields.read_first_value("author")
    return not looks_like_messages([{"role": author}]) and any(
        fields.read_if_text(name) for name in _TEXT_OF_DOCUMENT
    )


def _list_other_texts(found: PassageList, known: PassageList | None) -> list[str]:
    """List the texts of passages that others have not."""
    texts = {each.text for each in known.documents} if known is not None else set()
    return [each.text for each in found.documents if each.text not in texts]


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
    unknown = UnknownFields()
    for each in sorted(exchanges, key=lambda exchange: make_sortable_time(exchange.time)):
        results = _add_new_messages_of_exchange(draft, each, collector, unknown_in_messages)
        calls = draft.metadata.pop(_UNUSED_CALLS, None)
        draft.metadata.pop(_UNUSED_RESULTS, None)  # they are of this exchange alone
        if each.answer is None:
            _add_unanswered_to_metadata(draft, each, results, calls, options)
        else:
            _add_answer(draft, each, results, calls, options)
        unknown.add_all(each.unknown)
    _drop_secrets_in_draft(draft, unknown)
    _keep_unknown_fields_in_draft(draft, unknown, options)
    options.notes.unknown_keys.update(unknown_in_messages)
    return draft


def _drop_secrets_in_draft(draft: ConversationDraft, unknown: UnknownFields) -> None:
    """Leave texts that may be secrets out of what becomes metadata; they are reported as dropped.

    Messages and what tools gave are none, whatever they say.
    """
    for turn in draft.turns:
        turn.details = _drop_secrets_beside(turn.details, (_UNUSED_RESULTS,), unknown, "")
        if turn.passages is not None:
            details = (unknown.drop_secrets(each, "passages[].") for each in turn.passages.details)
            turn.passages = replace(turn.passages, details=tuple(details))
    unanswered = draft.metadata.get(_UNANSWERED, [])
    assert isinstance(unanswered, list)
    evidence = (_UNUSED_RESULTS, _CONTEXTS)
    unanswered[:] = [
        _drop_secrets_beside(each, evidence, unknown, f"{_UNANSWERED}[].") for each in unanswered
    ]
    searched_or_said = (_UNANSWERED, _UNUSED_RESULTS, "system")
    draft.metadata = _drop_secrets_beside(draft.metadata, searched_or_said, unknown, "")
    draft.extra = unknown.drop_secrets(draft.extra, "")


def _drop_secrets_beside(
    fields: Mapping[str, object], kept: Collection[str], unknown: UnknownFields, within: str
) -> dict[str, object]:
    """Drop secrets of all fields but those that are kept as they are."""
    searched = unknown.drop_secrets(
        {name: fields[name] for name in fields if name not in kept}, within
    )
    return {
        name: searched.get(name, each)
        for name, each in fields.items()
        if name in searched or name in kept
    }


def _add_answer(
    draft: ConversationDraft,
    exchange: Exchange,
    results: PassageList | None,
    calls: object,
    options: ReadOptions,
) -> None:
    assert exchange.answer is not None
    turn = draft.add_turn("assistant", exchange.answer, exchange.passages)
    if calls:
        turn.details["tools"] = calls
    if results and (turn.passages is None or not turn.passages.documents):
        turn.passages = results
    elif results and (rest := _list_other_texts(results, turn.passages)):
        turn.details[_UNUSED_RESULTS] = rest
    _use_or_keep_passages_beside_answer(turn, exchange, options)
    turn.details |= exchange.details
    position = len(draft.turns) - 1
    if exchange.scores:
        turn.details["scores"] = [score.details for score in exchange.scores]
    for score in exchange.scores:
        if score.step is None or score.step in exchange.answer_steps:
            add_rating_or_verdict(draft, position, score, options)
        elif find_faithtui_details(score.details) is not None:
            add_rating_or_verdict(draft, position, score, options)  # whatever it was sent with
        else:
            _remark_on_score_of_step(score, options)


def _use_or_keep_passages_beside_answer(
    turn: TurnDraft, exchange: Exchange, options: ReadOptions
) -> None:
    """Take passages beside the answer for its evidence where neither step nor tool gave any."""
    beside, key = exchange.passages_beside, exchange.key_of_passages_beside
    if beside is None:
        return
    if turn.passages is None:
        turn.passages = beside
        options.notes.remarks[
            f"the passages of an answer are those in `{key}`, as no retriever or tool of its "
            "trace gave any"
        ] += 1
    elif rest := _list_other_texts(beside, turn.passages):
        exchange.unknown.add_fields({key: rest}, ())


def _keep_unknown_fields_in_draft(
    draft: ConversationDraft, unknown: UnknownFields, options: ReadOptions
) -> None:
    """Keep what nobody understood under `extra`, and count it.

    `retrieval_context` is read of every record of a trace; other names have no such place.
    """
    for key, values in unknown.values.items():
        kept = draft.extra.setdefault(key, [])
        assert isinstance(kept, list)
        kept += values.values()
    options.notes.unknown_keys.update(unknown.kept)
    options.notes.dropped_keys.update(unknown.dropped)
    for key in (*unknown.kept, *unknown.dropped):
        if options.notes.meant_keys is None:
            options.notes.meant_keys = {}
        is_context = normalise_key_spelling(key.rpartition(".")[2]) in _CONTEXT_NAMES
        if key not in unknown.unreachable and (
            is_context or suggest_key(key) == "retrieval_context"
        ):
            options.notes.meant_keys[key] = "retrieval_context"


def _remark_on_score_of_step(score: TraceScore, options: ReadOptions) -> None:
    """Say that a score of something else than the answer is kept as metadata alone."""
    if score.annotator or score.judge:
        options.notes.remarks[
            f"scores named `{score.name}` of a step that did not give the answer, or that is not "
            "in the files, are kept as metadata"
        ] += 1


def _add_unanswered_to_metadata(
    draft: ConversationDraft,
    exchange: Exchange,
    results: PassageList | None,
    calls: object,
    options: ReadOptions,
) -> None:
    """Keep what is known of an exchange that has no answer: there is no turn to keep it with."""
    kept = draft.metadata.setdefault(_UNANSWERED, [])
    assert isinstance(kept, list)
    passages = exchange.passages if exchange.passages is not None else exchange.passages_beside
    known = {
        **exchange.details,
        _UNUSED_CALLS: calls,
        _UNUSED_RESULTS: [] if results is None else [each.text for each in results.documents],
        "scores": [score.details for score in exchange.scores],
        _CONTEXTS: [] if passages is None else [each.text for each in passages.documents],
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
) -> PassageList | None:
    """Add what was said since the exchange before.

    Returns:
        What tools gave behind its last message; None where none was asked.
    """
    history = ConversationDraft()
    reader = MessageReader(history, collector)
    reader.add_messages_to_draft(exchange.messages)
    for name, value in history.metadata.items():
        draft.metadata.setdefault(name, value)
    messages = list_roles_and_texts(history.turns)
    before = list_roles_and_texts(draft.turns)
    is_repeated = messages[: len(before)] == before
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
    return reader.unused_passages


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
    if not is_about_faithfulness(score.name) and not options.note_score_and_check_scale_is_named(
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
    if depth > _MOST_NESTING or value in (None, HIDDEN):
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
    places = [fields.read_first_value(name) for name in (*_AROUND_QUESTION, "text", "content")]
    for each in (*places, *_list_arguments(fields)):
        found = find_chat_messages(each, depth + 1)
        if found:
            return [*before, *found]
    texts = [each for each in value.values() if isinstance(each, str)]
    return [*before, *find_chat_messages(texts[0], depth + 1)] if len(texts) == 1 else before


def _list_arguments(fields: AnySpelling) -> list[object]:
    """List what may be the question among the arguments of a call, as decorators keep them.

    Those by place have no names: messages are it, or the only text. Of those by name beside them,
    only a usual name says so, as others may be a user or a tenant.
    """
    args, kwargs = fields.read_first_value("args"), fields.read_first_value("kwargs")
    if not isinstance(args, list):
        return [kwargs]
    likely = list(filter(looks_like_messages, args)) or [
        each for each in args if isinstance(each, str) and each
    ]
    named = AnySpelling(kwargs if isinstance(kwargs, dict) else {})
    usual = {name: named.read_first_value(name) for name in (*_AROUND_QUESTION, *HISTORY)}
    return [likely[0] if len(likely) == 1 else args, usual]


def find_answer_text(value: object, depth: int = 0) -> str | None:
    """Find the text of the answer in what an application gave; None when there is none."""
    if depth > _MOST_NESTING or value in (None, HIDDEN):
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
