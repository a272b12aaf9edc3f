"""Reads any question of ours off the wire, in both protocols, and answers it in its own shape.

An answer depends on nothing but the text it is about: what is said of claim `c1` is decided by the
words of that claim, wherever it stands and however often it is asked. So two runs over the same
conversations have the same scores, whatever happened on the way, and mixing up two claims shows.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faithtui.judges.base import JudgeRequest
from faithtui.judges.output_formats import JSON_INSTRUCTION

Json = Any

REPAIR = "\n\nAn earlier answer could not be used"
"""How the engine begins what it adds to a question that it asks again."""

_LISTED = re.compile(r"^\[([a-z]\d+)\] (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^<\w+ ([a-z]\d+) ([0-9a-f]{8})>\n(.*?)\n</\2>", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A question as it arrived."""

    is_openai: bool
    system: str
    prompt: str
    """Without the schema that stands behind it where nothing else binds."""
    schema: Json
    """None: the answer is plain text."""
    output_format: str | None
    """`schema`, `tool`, `json` or `text`; None without a schema."""
    tool: str
    """Name of the tool that is to be called."""
    max_tokens: int
    model: str

    @property
    def question(self) -> str:
        """The prompt without what a repair added."""
        return self.prompt.partition(REPAIR)[0]

    @property
    def is_repair(self) -> bool:
        return REPAIR in self.prompt

    @cached_property
    def digest(self) -> str:
        """Names the question, however it is asked: 16 hexadecimal digits."""
        return _digest(self.system, self.question)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """What the prompt shows, by number."""
        return {
            **{name: text for name, _, text in _BLOCK.findall(self.question)},
            **dict(_LISTED.findall(self.question)),
        }


def read_question(body: Json, *, is_openai: bool) -> Asked:
    """Read the body of a request."""
    return _read_openai(body) if is_openai else _read_anthropic(body)


def read_request(request: JudgeRequest) -> Asked:
    """Read a question that goes over no wire."""
    return Asked(
        is_openai=True,
        system=request.system,
        prompt=request.prompt,
        schema=request.schema,
        output_format="schema",
        tool="",
        max_tokens=request.max_tokens,
        model="",
    )


def answer_to(asked: Asked) -> Json:
    """Answer it: a JSON object, or a word where plain text is wanted."""
    if asked.schema is None:
        return "YES" if int(asked.digest[:2], 16) % 3 else "NO"
    return _filled(asked.schema, asked, (), asked.digest)


def _read_openai(body: Json) -> Asked:
    messages = body["messages"]
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    prompt, schema = _split(_text(messages[-1]["content"]))
    form = body.get("response_format")
    tool = ""
    output_format = None if schema is None else "text"
    if "tools" in body:
        function = body["tools"][0]["function"]
        output_format, schema, tool = "tool", function["parameters"], function["name"]
    elif form is not None and form["type"] == "json_schema":
        output_format, schema = "schema", form["json_schema"]["schema"]
    elif form is not None:
        output_format = "json"
    limit = body.get("max_tokens") or body["max_completion_tokens"]
    return Asked(True, system, prompt, schema, output_format, tool, limit, body["model"])


def _read_anthropic(body: Json) -> Asked:
    prompt, schema = _split(_text(body["messages"][-1]["content"]))
    tool = ""
    output_format = None if schema is None else "text"
    if "tools" in body:
        output_format, schema, tool = (
            "tool",
            body["tools"][0]["input_schema"],
            body["tools"][0]["name"],
        )
    elif "output_config" in body:
        output_format, schema = "schema", body["output_config"]["format"]["schema"]
    system = _text(body.get("system", ""))
    return Asked(
        False, system, prompt, schema, output_format, tool, body["max_tokens"], body["model"]
    )


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _split(prompt: str) -> tuple[str, Json]:
    """Take the schema from behind a prompt that has one."""
    question, found, schema = prompt.rpartition(f"\n\n{JSON_INSTRUCTION}\n")
    return (question, json.loads(schema.partition("\n")[0])) if found else (prompt, None)


def _filled(schema: Json, asked: Asked, path: tuple[str, ...], seed: str) -> Json:
    """Fill a schema. `seed` is what decides: of the nearest numbered text, else of the question."""
    if "enum" in schema:
        words = schema["enum"]
        return words[int(_digest(seed, *path[-1:])[:4], 16) % len(words)]
    if schema.get("type") == "object":
        return {
            name: _filled(part, asked, (*path, name), _seed(name, asked, seed))
            for name, part in schema["properties"].items()
        }
    if schema.get("type") == "array":
        return _list(schema["items"], asked, path, seed)
    return f"Because of {_digest(seed, *path[-1:])[:6]}."


def _list(items: Json, asked: Asked, path: tuple[str, ...], seed: str) -> Json:
    if path[-1] in {"sufficient", "partial", "contradicts"}:
        return []
    if items.get("type") == "object":
        claims = [name for name in asked.texts if name.startswith("c")] or ["c0", "c1"]
        return [_filled(items, asked, (*path, each), _seed(each, asked, seed)) for each in claims]
    digest = _digest(seed, *path[-1:])
    return [f"Statement {digest[:6]}.", f"Statement {digest[6:12]}."]


def _seed(name: str, asked: Asked, otherwise: str) -> str:
    # The number itself is no part of it: the same claim may have another one next time.
    return _digest(asked.texts[name]) if name in asked.texts else otherwise


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
