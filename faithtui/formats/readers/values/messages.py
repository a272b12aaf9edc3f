"""Chat messages of any tool become turns; what tools gave becomes the passages of the next answer.

An answer of an agent can only be judged against what its tools returned, so a tool or retriever
message is evidence: its passages belong to the answer that follows, with the tool's name. Messages
of the system are no turns and are kept in the metadata.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from faithtui.domain.conversation import Image
from faithtui.errors import InputError
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.json_lines import describe_json
from faithtui.formats.readers.values.cells import parse_list_or_object_or_keep_text
from faithtui.formats.readers.values.conversation_draft import ConversationDraft, TurnDraft
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.passages import (
    PassageList,
    parse_passages_in_text,
    read_passage_list,
    read_tool_output_as_passages,
)

_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "customer", "client", "humanmessage", "question"), "user"),
    **dict.fromkeys(
        (
            "assistant",
            "ai",
            "agent",
            "bot",
            "model",
            "chatbot",
            "gpt",
            "aimessage",
            "aimessagechunk",
            "answer",
        ),
        "assistant",
    ),
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(
        (
            "tool",
            "function",
            "toolmessage",
            "functionmessage",
            "functioncalloutput",
            "retriever",
            "retrieval",
            "context",
            "documents",
            "observation",
            "ipython",
        ),
        "tool",
    ),
    "functioncall": "call",
    "reasoning": "skip",
}
_CONTEXT = (
    "retrieval_context",
    "retrieved_contexts",
    "contexts",
    "context",
    "documents",
    "passages",
)
_CONTENT: Final = ("content", "text", "value", "parts", "message", "output")
_NOT_SAID: Final = ("tool_calls", "tools_called", "function_call", "arguments", "refusal", "audio")
"""A message that has one of these needs no text."""
_ROLE_KEYS: Final = ("role", "type", "speaker", "from", "sender")
_EXPECTED_ROLE: Final = "expected one of user, assistant, system, developer and tool"
_CALL_KEYS: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *("id", "type", "index", "status", "caller", "cache_control", "extra_content"),
            *("thought_signature", "namespace", "created_by", "is_error", "name", "tool_name"),
            *("description", "reasoning", "output"),  # deepeval's
        ),
    )
)
"""What calls of tools and their results have beside what is read: of OpenAI, Anthropic, Google and
LangChain, and of deepeval, which keeps descriptions of tools in their calls."""
_MESSAGE_KEYS: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            *("role", "type", "id", "name", "index", "status", "phase", "refusal", "annotations"),
            *("audio", "function_call", "tool_calls", "tool_call_id", "logprobs", "finish_reason"),
            *("reasoning", "reasoning_content", "reasoning_details", "thinking", "prefix"),
            *("stop_reason", "stop_sequence", "usage", "model", "cache_control", "weight"),
            *("additional_kwargs", "response_metadata", "usage_metadata", "example"),
            *("invalid_tool_calls", "tool_call_chunks", "artifact", "chunk_position"),
            *("user_id", "tools_called", "mcp_tools_called", "mcp_resources_called"),
            *("mcp_prompts_called", "enrichments", "timestamp", "created_at", "created", "date"),
            *("author", "speaker", "sender", "from", "recipient", "channel", "language"),
        ),
    )
)
"""What messages have beside their text and passages: of OpenAI, Anthropic, DeepSeek, LangChain,
deepeval, MTRAG and logs of chats."""
_NOT_KEPT_OF_CALLS: Final = ("id", "type", "index", "output")
_TEXT_PARTS = ("text", "inputtext", "outputtext", "refusal")
_TOOL_RESULT_PARTS: Final = ("toolresult", "toolcallresponse", "functioncalloutput")


def looks_like_messages(value: object) -> bool:
    """Say whether a value is a list of chat messages."""
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def read_chat_history_as_messages(value: object) -> list[object] | None:
    """Give the messages of a chat before a question, also of pairs as LangChain writes them.

    A pair is a role and its text where that is so of all of them, else a question and its answer.

    Returns:
        None where nobody knows who said what.
    """
    found = parse_list_or_object_or_keep_text(value)
    if not isinstance(found, list) or not found:
        return [] if found in ([], {}, "") else None
    if looks_like_messages(found):
        return found
    if not all(map(_is_pair_of_texts, found)):
        return None
    with_roles: list[object] = [{"role": role, "content": text} for role, text in found]
    if looks_like_messages(with_roles):
        return with_roles
    return [
        {"role": role, "content": text}
        for pair in found
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def _is_pair_of_texts(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)
    )


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    role = AnySpelling(value).read_first_value(*_ROLE_KEYS)
    return isinstance(role, str) and normalise_key_spelling(role) in _ROLES


def list_unknown_message_keys(rest: Mapping[str, object], where: str) -> list[str]:
    """List keys of a message that no tool writes by itself, as `messages[].key`.

    Args:
        rest: What of the message was not read.
        where: Place of the message, `messages[3]`.
    """
    within = where.partition("[")[0]
    return [
        f"{within}[].{key}"
        for key, value in rest.items()
        if value is not None and normalise_key_spelling(key) not in _MESSAGE_KEYS
    ]


def looks_like_messages_without_role(value: object) -> bool:
    """Say whether a value is a list of objects, of which one has no role that is known."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) for each in value)
        and not looks_like_messages(value)
    )


def _describe_unknown_role(role: object) -> str:
    if role is None:
        return f"is missing; {_EXPECTED_ROLE}; if another key has it: --map role=KEY"
    return f"is {describe_json(role)}; {_EXPECTED_ROLE}"


@dataclass(slots=True)
class MessageReader:
    """Reads the messages of one conversation, one after the other."""

    draft: ConversationDraft
    collector: ImageCollector
    unknown_keys: Counter[str] = field(default_factory=Counter)
    """Counts keys that no tool's messages have, and all of messages and parts without a text, as
    one may be the key of the text, misspelt."""
    unused_passages: PassageList | None = None
    """What tools gave after the last answer; None: nothing was asked of them since."""
    _waiting: PassageList | None = None
    """What tools gave since the last answer; None: nothing was asked of them."""
    _tools: list[dict[str, object]] = field(default_factory=list)
    _call_names: dict[str, str] = field(default_factory=dict)
    _last_call: str | None = None
    _has_tools: bool = False

    def add_messages_to_draft(self, messages: Iterable[object], where: str = "messages") -> None:
        """Read a list of messages.

        Raises:
            ShapeError: One of them is none, or has a role that nobody knows.
        """
        for place, each in enumerate(messages):
            self.add_message_to_draft(each, f"{where}[{place}]")
        self._set_empty_passages_of_answers_without_tool_calls()
        self.keep_unused_tool_results()

    def add_message_to_draft(self, value: object, where: str) -> TurnDraft | None:
        """Read a message; None where it is no turn.

        Raises:
            ShapeError: It is none, or has a role that nobody knows.
        """
        if isinstance(value, dict) and isinstance(value.get("kwargs"), dict):
            value = {"type": (value.get("id") or ["?"])[-1], **value["kwargs"]}  # LangChain's dump
        if not isinstance(value, dict):
            raise ShapeError(where, f"is {describe_json(value)}; expected a message, an object")
        fields = AnySpelling(value, where)
        role = self._take_role(fields)
        turn = self._add_message_of_role(role, fields)
        if role != "call" and not fields.has_one_of_keys(*_CONTENT, *_NOT_SAID):
            self.unknown_keys.update(fields.get_unread_fields().keys())
        return turn

    def _add_message_of_role(self, role: str, fields: AnySpelling) -> TurnDraft | None:
        match role:
            case "system":
                self._add_system_message(fields)
                return None
            case "tool":
                self._hold_tool_output_for_next_answer(fields)
                return None
            case "call":
                self._remember_tool_call(fields)
                return None
            case "skip":
                return None
            case "user":
                return self._add_user_turn(fields)
            case _:
                return self._add_assistant_turn(fields)

    def _set_empty_passages_of_answers_without_tool_calls(self) -> None:
        """Where calls of tools are written down, an answer without any had no passages."""
        if self._has_tools:
            for turn in self.draft.turns:
                if turn.role == "assistant" and turn.passages is None:
                    turn.passages = PassageList()

    def keep_unused_tool_results(self) -> None:
        """Keep what tools gave after the last answer, which no answer can be judged by."""
        if self._waiting is not None and self._waiting.documents:
            self.draft.metadata["unused_tool_results"] = [
                each.text for each in self._waiting.documents
            ]
        if self._tools:
            self.draft.metadata["unused_tool_calls"] = self._tools
        self.unused_passages, self._waiting, self._tools = self._waiting, None, []

    def add_passages_for_next_answer(self, passages: PassageList) -> None:
        """Take in passages for the answer that follows."""
        self._has_tools = True
        self._waiting = passages if self._waiting is None else self._waiting + passages

    def _take_role(self, fields: AnySpelling) -> str:
        role = fields.read_first_value("role")
        if role is None:
            role = fields.read_first_value("speaker", "from", "sender", "author", "type")
        if isinstance(role, dict):
            role = role.get("role")
        known = _ROLES.get(normalise_key_spelling(role)) if isinstance(role, str) else None
        if known is None:
            raise ShapeError(f"{fields.where}.role", _describe_unknown_role(role))
        return known

    def _add_system_message(self, fields: AnySpelling) -> None:
        text, _ = self._read_text_and_images(fields)
        kept = self.draft.metadata.setdefault("system", [])
        assert isinstance(kept, list)
        kept.append(text)

    def _hold_tool_output_for_next_answer(self, fields: AnySpelling) -> None:
        number = fields.read_text("tool_call_id", "call_id")
        name = fields.read_text("name", "tool_name") or self._call_names.get(number or "")
        name = name or (self._last_call if number is None else None)
        content = fields.read_first_value("content", "output", "value", "text", "parts")
        if isinstance(content, list) and any(map(_is_tool_result_part, content)):
            for place, part in enumerate(content):
                self._add_part_of_tool_message(part, f"{fields.where}.parts[{place}]", name)
            return
        rest = fields.get_unread_fields()
        if not self._add_tool_output(content, name).documents and content not in ("", [], "[]"):
            rest["content"] = content  # such as what it was asked
        self._tools.append(make_dict_without_none(name=name, id=number, **rest))

    def _add_part_of_tool_message(self, part: object, where: str, name: str | None) -> None:
        """Add a part of a message in which one says itself that it is a tool's result."""
        if isinstance(part, dict) and _is_tool_result_part(part):
            self._add_tool_result_part(AnySpelling(part, where))
        else:
            self._add_tool_output([part], name)

    def _add_tool_result_part(self, fields: AnySpelling) -> None:
        number = fields.read_text("tool_use_id", "id", "tool_call_id")
        name = self._call_names.get(number or "") or fields.read_if_text("name", "tool_name")
        given = fields.read_first_value("content", "response", "result", "output")
        self._add_tool_output(given, name or self._last_call)
        if given is None:
            self._keep_unknown_fields_of_part(fields)

    def _add_tool_output(self, content: object, name: str | None) -> PassageList:
        """Take what a tool gave for passages of the next answer; parts of text are one text."""
        if isinstance(content, list) and content and all(map(_is_text_part, content)):
            content = "\n".join(str(each["text"]) for each in content if isinstance(each, dict))
        found = read_tool_output_as_passages(content, name)
        self.add_passages_for_next_answer(found)
        return found

    def _remember_tool_call(self, fields: AnySpelling, within: str = "") -> None:
        """Keep a call for the details of the next answer, and its name for what it gives.

        Args:
            fields: The call.
            within: Name of the list it stands in, with `[].`; "" where it is a message or a part.
        """
        inner = fields.read_first_value("function", "custom")
        named = AnySpelling(inner) if isinstance(inner, dict) else fields
        name = named.read_text("name")
        number = fields.read_text("call_id", "id", "tool_call_id")
        if name is not None:
            self._last_call = name
            if number is not None:
                self._call_names[number] = name
        arguments = named.read_first_value("arguments", "args", "input", "input_parameters")
        rest = fields.get_unread_fields()
        self._count_unknown_keys_of_call(rest, within, _CALL_KEYS)
        kept = {key: each for key, each in rest.items() if key not in _NOT_KEPT_OF_CALLS}
        if named is not fields:
            inner_name = "function" if fields.read_first_value("function") is inner else "custom"
            inside = named.get_unread_fields()
            self._count_unknown_keys_of_call(
                inside, f"{within}{inner_name}.", _CALL_KEYS - {"output"}
            )
            for key, each in inside.items():
                is_taken = key in rest or key in _NOT_KEPT_OF_CALLS
                kept[f"{inner_name}.{key}" if is_taken else key] = each
        known = make_dict_without_none(name=name, id=number, arguments=arguments)
        self._tools.append(kept | known)

    def _count_unknown_keys_of_call(
        self, rest: Mapping[str, object], within: str, known: Collection[str]
    ) -> None:
        for key in rest:
            if normalise_key_spelling(key) not in known:
                self.unknown_keys[f"{within}{key}"] += 1

    def _add_user_turn(self, fields: AnySpelling) -> TurnDraft | None:
        text, images = self._read_text_and_images(fields)
        is_tool_result_alone = not text and not images and self._waiting is not None
        content = fields.value.get("content", fields.value.get("parts"))
        if is_tool_result_alone and isinstance(content, list):
            return None
        turn = self.draft.add_turn("user", text)
        turn.images = images
        self._add_turn_context_and_details(turn, fields)
        return turn

    def _add_assistant_turn(self, fields: AnySpelling) -> TurnDraft | None:
        calls = fields.read_first_value("tool_calls", "tools_called")
        extra = fields.read_first_value("additional_kwargs")
        if not calls and isinstance(extra, dict):
            calls = extra.get("tool_calls")
        called = (
            [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []
        )
        for each in called:
            self._remember_tool_call(AnySpelling(each), "tool_calls[].")
        text, images = self._read_text_and_images(fields)
        if not text.strip() and not images and (called or self._tools):
            return None
        turn = self.draft.add_turn("assistant", text)
        turn.images = images
        is_answer = not called or any("output" in each for each in called)
        for each in called:
            if each.get("output") is not None:  # deepeval keeps what a tool gave in its call
                self.add_passages_for_next_answer(
                    read_tool_output_as_passages(each["output"], _text_or_none(each.get("name")))
                )
        if is_answer:
            turn.passages, self._waiting = self._waiting, None
        if self._tools:
            turn.details["tools"], self._tools = self._tools, []
        self._add_turn_context_and_details(turn, fields)
        return turn

    def _add_turn_context_and_details(self, turn: TurnDraft, fields: AnySpelling) -> None:
        given = parse_passages_in_text(fields.read_first_value(*_CONTEXT))
        self.draft.note_broken_list(given, f"{fields.where}.context")
        if given is not None:
            turn.add_passages(read_passage_list(given, f"{fields.where}.context"))
        metadata = fields.read_first_value("metadata", "additional_metadata")
        if isinstance(metadata, dict):
            turn.details |= metadata
        rest = {
            name: each for name, each in fields.get_unread_fields().items() if each not in ({}, [])
        }
        if fields.has_one_of_keys(*_CONTENT, *_NOT_SAID):  # else every key is counted
            self.unknown_keys.update(list_unknown_message_keys(rest, fields.where))
        turn.details |= rest

    def _read_text_and_images(self, fields: AnySpelling) -> tuple[str, tuple[Image, ...]]:
        content = fields.read_first_value("content", "text", "value", "parts", "message")
        if content is None:
            return "", ()
        if isinstance(content, str):
            return content, ()
        if isinstance(content, dict):
            content = [content]
        if not isinstance(content, list):
            raise ShapeError(
                f"{fields.where}.content", f"is {describe_json(content)}; expected a string"
            )
        texts: list[str] = []
        images: list[Image] = []
        for place, part in enumerate(content):
            self._read_content_part(part, f"{fields.where}.content[{place}]", texts, images)
        return "\n".join(texts), tuple(images)

    def _read_content_part(
        self, part: object, where: str, texts: list[str], images: list[Image]
    ) -> None:
        if isinstance(part, str):
            texts.append(part)
            return
        if not isinstance(part, dict):
            raise ShapeError(where, f"is {describe_json(part)}; expected a part of a message")
        fields = AnySpelling(part, where)
        kind = normalise_key_spelling(fields.read_if_text("type") or "text")
        if kind in _TEXT_PARTS:
            text = fields.read_first_value("text", "refusal", "content")
            if isinstance(text, str):
                texts.append(text)
            else:
                self._keep_unknown_fields_of_part(fields)
        elif kind in _TOOL_RESULT_PARTS:
            self._add_tool_result_part(fields)
        elif kind == "searchresult":  # Anthropic's, of an application that searched by itself
            self._add_tool_output([part], None)
        elif kind in ("tooluse", "toolcall", "functioncall"):
            self._remember_tool_call(fields)
        elif kind in ("imageurl", "inputimage", "image"):
            images.append(self._read_image(fields, where))
        elif kind not in ("thinking", "reasoning"):
            raise ShapeError(
                f"{where}.type", f"is {describe_json(kind)}; expected text, an image or a tool part"
            )

    def _keep_unknown_fields_of_part(self, fields: AnySpelling) -> None:
        """Keep what else a part without a text or result has: one key may be its own, misspelt."""
        for key, value in fields.get_unread_fields().items():
            if normalise_key_spelling(key) in _CALL_KEYS:
                continue
            self.unknown_keys[key] += 1
            kept = self.draft.extra.setdefault(key, [])
            if isinstance(kept, list):
                kept.append(value)

    def _read_image(self, fields: AnySpelling, where: str) -> Image:
        found = fields.read_first_value("image_url", "url", "source", "image")
        inner = AnySpelling(found, where) if isinstance(found, dict) else None
        try:
            if inner is not None and inner.has_one_of_keys("data"):
                return self.collector.add_base64(
                    inner.read_text("data") or "", inner.read_text("media_type", "mime_type")
                )
            address = inner.read_text("url") if inner is not None else _text_or_none(found)
            return self.collector.add_url(address or "", None)
        except InputError as error:
            raise ShapeError(where, error.reason) from error


def _is_text_part(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return normalise_key_spelling(str(value.get("type", ""))) in _TEXT_PARTS and isinstance(
        value.get("text"), str
    )


def _is_tool_result_part(value: object) -> bool:
    kind = AnySpelling(value).read_if_text("type") if isinstance(value, dict) else None
    return normalise_key_spelling(kind or "") in _TOOL_RESULT_PARTS


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def make_dict_without_none(**fields: object) -> dict[str, object]:
    """Make a dictionary of the fields that have a value."""
    return {name: each for name, each in fields.items() if each is not None}
