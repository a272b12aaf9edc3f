"""The short way of reading a conversation gives what the long way gives."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain import conversation as domain
from faithtui.domain.conversation import Turn, content_hash
from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileKind, FileRecord, Sample
from faithtui.formats.readers import conversation_json, faithtui_conversations
from faithtui.formats.readers.protocol import ReadNotes, ReadOptions

_TEXT = st.text(max_size=8)
_DOCUMENT: st.SearchStrategy[Any] = st.one_of(
    _TEXT,
    st.fixed_dictionaries(
        {}, optional={"text": _TEXT, "source": st.none() | _TEXT, "images": st.just([]), "x": _TEXT}
    ),
    st.integers(),
)
_TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"])},
    optional={
        "content": st.one_of(_TEXT, st.none()),
        "retrieval_context": st.none() | st.lists(_DOCUMENT, max_size=2),
        "context": st.lists(_TEXT, max_size=1),
    },
)
_LINE = st.fixed_dictionaries(
    {"turns": st.lists(_TURN, max_size=3)},
    optional={
        "id": st.one_of(_TEXT, st.none(), st.integers(0, 9)),
        "metadata": st.none() | st.dictionaries(st.sampled_from(["conversation_id", "a"]), _TEXT),
        "reference_judges": st.none() | st.dictionaries(_TEXT, st.floats(0, 1)),
        "other": _TEXT,
    },
)


def read(line: dict[str, Any]) -> object:
    try:
        return conversation_json.conversation_from_json(line, source="s").conversation
    except InputError as error:
        return str(error)


@given(_LINE)
def test_both_ways_give_the_same_conversation_or_error(line: dict[str, Any]) -> None:
    short = read(line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversation_json, "build_plain_conversation", lambda found, source: None)
        assert read(line) == short


_FILE = Path("x.jsonl")


def read_as_file(line: dict[str, Any]) -> tuple[object, ReadNotes]:
    options = ReadOptions("s", Sample(_FILE, FileKind.LINES, ()))
    [read] = faithtui_conversations.READER.read([FileRecord(_FILE, 1, None, 0, 0, line)], options)
    found = str(read.found) if isinstance(read.found, InputError) else read.found
    return found, options.notes


@given(_LINE)
def test_both_ways_give_the_same_of_a_record_of_a_file(line: dict[str, Any]) -> None:
    short = read_as_file(line)
    with pytest.MonkeyPatch.context() as patch:
        for module in (conversation_json, faithtui_conversations):
            patch.setattr(module, "build_plain_conversation", lambda found, source: None)
        assert read_as_file(line) == short


def test_a_plain_record_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("_parse_cells", "_respell_known_keys", "_count_unknown_keys"):
        monkeypatch.setattr(faithtui_conversations, name, lambda *_, name=name: calls.append(name))
    turns = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "Now.", "retrieval_context": ["Now.", {"text": "Then."}]},
    ]
    read_as_file({"turns": turns})
    assert not calls


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), max_size=3))
def test_a_hash_does_not_tell_in_how_many_pieces_it_was_made(
    turns: list[tuple[domain.Role, str]],
) -> None:
    made = [Turn(role, content) for role, content in turns]
    whole = content_hash(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(domain, "_PIECE", 1)
        assert content_hash(made) == whole


def test_a_long_text_hashes_as_its_pieces() -> None:
    long = "é😀" * domain._PIECE
    turns = [Turn("user", long)]
    shape: list[list[object]] = [["user", long, None, []]]
    text = json.dumps(shape, separators=(",", ":"))
    assert content_hash(turns) == hashlib.sha256(text.encode()).hexdigest()


def test_metadata_written_as_text_are_an_object() -> None:
    """Columns of Parquet have them so, those of `faithtui measure` too; other text is refused."""
    turns = [{"role": "user", "content": "When?"}]
    text = '{"team": "north", "conversation_id": 3}'
    found = conversation_json.conversation_from_json({"turns": turns, "metadata": text}, source="s")
    assert found.conversation.metadata == {"team": "north", "conversation_id": 3}
    assert found.conversation.group == "conversation_id:3"
    for wrong in ("north", "[1]", "{north}"):
        with pytest.raises(InputError, match="metadata"):
            conversation_json.conversation_from_json(
                {"turns": turns, "metadata": wrong}, source="s"
            )
