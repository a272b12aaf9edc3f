"""Files of conversations become values, and every fault is named."""

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Conversation, Document, Rating, Span, content_hash
from faithtui.errors import InputError
from faithtui.formats.json_lines import describe_json
from faithtui.formats.readers.conversation_files import (
    read_conversation_records,
    read_conversations,
)
from faithtui.formats.readers.conversation_json import conversation_from_json

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOOD = FIXTURES / "conversations" / "good.jsonl"
BAD = FIXTURES / "conversations" / "bad.jsonl"

ANSWERED: list[dict[str, object]] = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "An answer."},
]


def write(directory: Path, *lines: object, name: str = "data.jsonl") -> Path:
    """Write lines: bytes as they are, anything else as JSON."""
    path = directory / name
    path.write_bytes(
        b"".join(
            line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
        )
    )
    return path


def good() -> dict[str, Conversation]:
    """Conversations of the good file by key."""
    read = list(read_conversations(GOOD))
    assert not [found for found in read if isinstance(found, InputError)]
    return {found.key: found for found in read if isinstance(found, Conversation)}


def error_of(path: Path) -> InputError:
    """The only thing a file with one bad line gives."""
    [found] = read_conversations(path)
    assert isinstance(found, InputError)
    return found


def test_good_lines_come_in_order_with_their_source() -> None:
    read = good()
    assert list(read)[:6] == [
        "greeting-first",
        "unanswered-question",
        "empty-context",
        "unknown-context",
        "no-question",
        "17",
    ]
    assert {conversation.source for conversation in read.values()} == {"good"}


def test_source_can_be_named() -> None:
    assert {
        found.source
        for found in read_conversations(GOOD, "mine")
        if isinstance(found, Conversation)
    } == {"mine"}


def test_a_file_name_that_is_no_text_gives_a_source_that_is(tmp_path: Path) -> None:
    path = tmp_path / "d\udcffta.jsonl"
    write(tmp_path, {"id": "a", "turns": ANSWERED}).rename(path)
    [found] = read_conversations(path)
    assert isinstance(found, Conversation)
    assert found.source == "d�ta"


def test_nothing_retrieved_and_unknown_are_different() -> None:
    read = good()
    assert read["empty-context"].turns[1].retrieval_context == ()
    assert read["unknown-context"].turns[1].retrieval_context is None


def test_context_is_read_in_every_form() -> None:
    asked, answered = good()["17"].turns
    assert asked.retrieval_context == (Document("A user's own note."),)
    assert answered.retrieval_context == (
        Document("Yearbook, page 3.", "yearbook.pdf"),
        Document("Roof log."),
        Document("Letter."),
        Document("A plain string."),
    )


def test_labels_of_all_scales_become_ratings() -> None:
    conversation = good()["greeting-first"]
    content = conversation.turns[2].content
    assert conversation.ratings == (
        Rating(2, "ann", "mtrag-faithfulness-1-4", "4"),
        Rating(2, "ben", "mtrag-faithfulness-1-4", "2", note="May is nowhere to be read"),
        Rating(2, "7", "supported", "false"),
        Rating(2, "ann", "expertqa-support", "Complete", content[:37], Span(0, 37)),
        Rating(2, "ann", "expertqa-support", "Incomplete", content[38:], Span(38, 56)),
        Rating(2, "ben", "yes-no-idk", "idk", "The cranes come back every year.", note=""),
    )


@pytest.mark.parametrize(
    ("label", "text"),
    [(4, "4"), (4.0, "4"), (3.5, "3.5"), (True, "true"), ("Yes ", "Yes "), (-1, "-1")],
)
def test_labels_are_kept_as_text(label: object, text: str) -> None:
    found = {
        "turns": ANSWERED,
        "human_labels": [{"turn": 1, "annotator": "a", "label": label, "scale": "s"}],
    }
    assert conversation_from_json(found, source="x").conversation.ratings[0].label == text


def test_what_nobody_reads_is_kept_in_the_metadata() -> None:
    assert good()["greeting-first"].metadata == {
        "conversation_id": "birds",
        "model": "made-up",
        "reference_judges": {"overlap": 0.5},
        "extra": {"language": "en"},
    }
    assert good()["unanswered-question"].metadata == {"conversation_id": "birds"}


def test_groups_hold_together_what_shares_a_history_or_a_passage() -> None:
    read = good()
    assert read["greeting-first"].group == read["unanswered-question"].group
    assert read["greeting-first"].group == "conversation_id:birds"
    assert read["no-question"].group == "passage_group:p1"
    assert read["empty-context"].group == "good/empty-context"


@pytest.mark.parametrize(
    ("metadata", "group"),
    [
        (
            {"knowledge_group": "k", "passage_group": "p", "conversation_id": "c"},
            "conversation_id:c",
        ),
        (
            {"knowledge_group": "k", "passage_group": "p", "conversation_id": None},
            "passage_group:p",
        ),
        ({"knowledge_group": 12, "conversation_id": ""}, "knowledge_group:12"),
    ],
)
def test_the_first_group_that_is_there_counts(metadata: dict[str, object], group: str) -> None:
    found = {"id": "a", "turns": ANSWERED, "metadata": metadata}
    assert conversation_from_json(found, source="x").conversation.group == group


def test_without_an_id_the_key_is_the_hash_of_the_turns() -> None:
    [conversation] = [found for found in good().values() if found.group == "knowledge_group:12"]
    assert conversation.key == content_hash(conversation.turns)


@pytest.mark.parametrize("field", ["id", "metadata.conversation_id"])
def test_a_name_that_no_list_could_show_is_refused(tmp_path: Path, field: str) -> None:
    paths = [tmp_path / "short.jsonl", tmp_path / "long.jsonl"]
    for path, length in zip(paths, (1000, 1001), strict=True):
        name = "x" * length
        given = {"id": name} if field == "id" else {"metadata": {"conversation_id": name}}
        path.write_text(json.dumps({**given, "turns": [{"role": "user", "content": "?"}]}))
    assert not isinstance(next(iter(read_conversations(paths[0]))), InputError)
    error = error_of(paths[1])
    assert (error.field, error.line) == (field, 1)
    assert "may have 1,000 characters, and this has 1,001" in error.reason


def test_texts_stay_as_they_came() -> None:
    asked, answered = good()["markup-as-text"].turns
    assert asked.content == "Is it [bold]safe[/bold]?"
    assert answered.content == "[@click=app.quit]yes[/] \u202eabc \u0007"
    assert answered.retrieval_context == (Document("Line one\r\n\tLine two\u2028Line three"),)


def test_lone_surrogates_become_replacement_characters_one_for_one() -> None:
    asked, answered = good()["lone-surrogate"].turns
    assert asked.content == "What is this: �?"
    assert answered.content == "Half an emoji: �, and a whole one: \U0001f600."


def test_surrogates_in_keys_are_replaced_too(tmp_path: Path) -> None:
    line = rb'{"id": "a", "turns": [{"role": "user", "content": "q"}], "metadata": {"\ud800": 1}}'
    [found] = read_conversations(write(tmp_path, line))
    assert isinstance(found, Conversation)
    assert found.metadata == {"�": 1}


BAD_LINES: list[tuple[int, str | None, str]] = [
    (2, None, "is not JSON: Expecting value at character 1"),
    (3, None, "is not JSON: Unterminated string starting at character 34"),
    (4, None, "is a list; expected a JSON object"),
    (5, None, "is null; expected a JSON object"),
    (6, None, 'has the key "id" twice'),
    (7, None, "holds NaN"),
    (8, None, "holds the number 1e999, which is too large"),
    (9, None, "is nested more than 64 levels deep"),
    (11, "turns", "is missing (found `id`); expected a list with at least one turn"),
    (12, "turns", "is empty"),
    (13, "turns", "is an object; expected a list"),
    (14, "turns[0]", 'is "hello"; expected an object with `role` and `content`'),
    (15, "turns[1].role", "is missing; expected `user` or `assistant`"),
    (16, "turns[0].role", 'is "system"; expected `user` or `assistant`'),
    (17, "turns[0].content", "is missing; expected a string"),
    (18, "turns[1].content", "is null; expected a string"),
    (19, "turns[1].retrieval_context", 'is "one passage"; expected a list of strings'),
    (20, "turns[1].retrieval_context[1]", "is 2; expected a string or an object with `text`"),
    (21, "turns[1].retrieval_context[0]", "expected exactly one of `text`, `context` and"),
    (22, "turns[1].retrieval_context[0].source", "is 5; expected a string"),
    (23, "turns[1]", "has both `retrieval_context` and `context`"),
    (24, "id", "is empty"),
    (25, "id", "is true; expected a string"),
    (26, "metadata", "is a list; expected an object"),
    (27, "metadata.conversation_id", "is a list; expected a string or a number"),
    (28, "metadata.extra", "is a name faithtui needs here"),
    (29, "reference_judges", "is a list; expected an object"),
    (30, "human_labels[0]", 'is "yes"; expected an object with `turn`'),
    (31, "human_labels[0].annotator", "is missing"),
    (32, "human_labels[0].scale", "is missing"),
    (33, "human_labels[0].label", "is null"),
    (34, "human_labels[0].label", "is empty"),
    (35, "human_labels[0].turn", 'is "1"; expected the position of a turn'),
    (36, "human_labels[0].turn", "is true; expected the position of a turn"),
    (37, "human_labels[0].turn", "is 2; expected 0 to 1"),
    (38, "human_labels[0].turn", "is -1; expected 0 to 1"),
    (39, "human_labels[0].turn", "is 0, a user turn; expected an assistant turn"),
    (40, "human_labels[0].span", 'is "An answer."; expected an object with `text`'),
    (41, "human_labels[0].span", "has only one of `start` and `end`"),
    (42, "human_labels[0].span.start", "is 0.5; expected a position"),
    (43, "human_labels[0].span", "is 0 to 11; expected a range inside the 10 characters"),
    (44, "human_labels[0].span", "is 2 to 0"),
    (45, "human_labels[0].span.text", 'is "answer", but turns[1].content has "An" at 0 to 2'),
    (46, "human_labels[0].span.text", "is blank"),
    (47, "human_labels[0].span.text", "is missing"),
    (48, "human_labels[0].note", "is 3; expected a string"),
]


@pytest.mark.parametrize(("line", "field", "reason"), BAD_LINES)
def test_a_bad_line_is_named_with_its_field_and_reason(
    line: int, field: str | None, reason: str
) -> None:
    [found] = [read.found for read in read_conversation_records(BAD) if read.line == line]
    assert isinstance(found, InputError)
    assert (found.path, found.line, found.field) == (BAD, line, field)
    assert reason in found.reason
    assert "  " not in str(found)


@pytest.mark.parametrize("field", ["annotator", "label"])
def test_a_label_of_blanks_is_refused(tmp_path: Path, field: str) -> None:
    label = {"turn": 1, "annotator": "ann", "label": "yes", "scale": "s", field: "\u00a0 "}
    found = error_of(write(tmp_path, {"turns": ANSWERED, "human_labels": [label]}))
    assert found.field == f"human_labels[0].{field}"
    assert "is blank; expected a string that is not empty" in found.reason


def test_reading_goes_on_after_bad_lines() -> None:
    lines = {read.line: read.found for read in read_conversation_records(BAD)}
    assert [line for line, found in lines.items() if isinstance(found, Conversation)] == [1, 49]
    assert sorted(lines.keys() - {1, 49}) == [line for line, _, _ in BAD_LINES]


def test_byte_order_mark_blank_lines_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    one, two = ({"id": name, "turns": ANSWERED} for name in ("one", "two"))
    path = write(
        tmp_path,
        b"\xef\xbb\xbf" + json.dumps(one).encode() + b"\r\n",
        b"\r\n \n",
        json.dumps(two).encode(),
    )
    lines = list(read_conversation_records(path))
    assert [(read.line, read.end) for read in lines] == [
        (1, path.stat().st_size - len(json.dumps(two)) - 4),
        (4, path.stat().st_size),
    ]
    assert all(isinstance(read.found, Conversation) for read in lines)


def test_a_line_of_several_megabytes_is_read(tmp_path: Path) -> None:
    turns = [ANSWERED[0], {"role": "assistant", "content": "é" * 3_000_000}]
    path = write(tmp_path, {"id": "a", "turns": turns}, {"id": "b", "turns": ANSWERED})
    first, second = read_conversations(path)
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert len(first.turns[1].content) == 3_000_000


def test_a_line_that_is_not_utf8_is_an_error_and_the_next_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"id": "caf\xe9"}\n', {"id": "b", "turns": ANSWERED})
    first, second = read_conversations(path)
    assert isinstance(first, InputError)
    assert (first.line, first.field) == (1, None)
    assert "byte 12 (0xe9) is not UTF-8" in first.reason
    assert isinstance(second, Conversation)


def test_a_number_with_too_many_digits_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"id": ' + b"9" * 5000 + b', "turns": []}')
    assert "too many digits" in error_of(path).reason


def test_nesting_without_end_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"id": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    assert "nested more than 64 levels" in error_of(path).reason


def test_long_values_are_cut_in_messages(tmp_path: Path) -> None:
    path = write(tmp_path, {"turns": [{"role": "x" * 1000, "content": ""}]})
    assert len(str(error_of(path))) < len(str(path)) + 140


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    assert list(read_conversations(write(tmp_path))) == []
    assert list(read_conversations(write(tmp_path, b"\n\n"))) == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('{"id": "a"}\n'.encode("utf-16"), "is UTF-16 text"),
        ('{"id": "a"}\n'.encode("utf-16-le"), "is UTF-16 text"),
        ('{"id": "a"}\n'.encode("utf-16-be"), "is UTF-16 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
        (b"\x1f\x8b\x08\x00", "is a gzip archive"),
        (b"PK\x03\x04\x14", "is a zip archive"),
        (b"PAR1\x15\x04", "is a Parquet file"),
        (b"[see below]", 'is text that begins with "[see below]"'),
        (b'{\n  "testCases": []\n}', "is one JSON document over several lines"),
        (b"user_input,response\r\nq,a\r\n", 'is text that begins with "user_input,response"'),
        (b"null\n", 'is text that begins with "null"'),
    ],
)
def test_another_format_is_refused_with_what_was_found(
    tmp_path: Path, content: bytes, found: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as raised:
        list(read_conversations(path))
    expected = "expected UTF-8 text with one JSON object a line, or one JSON array of objects"
    assert raised.value.reason == f"{found}; {expected}"
    assert (raised.value.path, raised.value.line) == (path, None)


def test_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(InputError, match="is a SQLite database"):
        list(read_conversations(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        list(read_conversations(tmp_path / "none.jsonl"))


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory; expected UTF-8 text"):
        list(read_conversations(tmp_path))


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a", "turns": ANSWERED}, *[b"x\n"] * 100_000)
    assert isinstance(next(read_conversation_records(path)).found, Conversation)
    assert next(read_conversation_records(path)).end < 200


JUNK: list[object] = [None, True, 0, 1, -1, 1.5, "", "An", [], {}, [None], ["An"], [{}]]


def perhaps(*right: object) -> st.SearchStrategy[object]:
    """A right value most of the time, else anything."""
    return st.sampled_from([*right] * len(JUNK) + JUNK)


def table(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """An object that may lack any of its fields."""
    return st.fixed_dictionaries({}, optional=fields) | st.fixed_dictionaries(fields)


TURN = table(
    role=perhaps("user", "assistant"),
    content=perhaps("An answer."),
    retrieval_context=perhaps(["passage"], [{"text": "passage"}]),
    context=perhaps(None),
)
LABEL = table(
    turn=perhaps(0),
    annotator=perhaps("ann"),
    label=perhaps("yes", 4),
    scale=perhaps("s"),
    span=table(start=perhaps(0), end=perhaps(2), text=perhaps("An")),
    note=perhaps("n"),
)
LINE = table(
    id=perhaps("a"),
    turns=st.lists(TURN, max_size=3),
    metadata=perhaps({"conversation_id": 1}),
    human_labels=st.lists(LABEL, max_size=2),
    reference_judges=perhaps({"x": 1}),
    x=perhaps("extra"),
)


@given(LINE)
def test_any_object_gives_a_conversation_or_names_a_field(found: dict[str, object]) -> None:
    try:
        conversation = conversation_from_json(found, source="x").conversation
    except InputError as refused:
        error = refused
    else:
        assert conversation.turns
        assert conversation.key
        return
    assert error.field
    assert "; " in error.reason


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_a_span_is_taken_exactly_when_it_is_that_piece(text: str, start: int, end: int) -> None:
    found = {
        "turns": [{"role": "assistant", "content": text}],
        "human_labels": [
            {
                "turn": 0,
                "annotator": "a",
                "label": "no",
                "scale": "s",
                "span": {"start": start, "end": end, "text": text[start:end] or "."},
            }
        ],
    }
    fits = start < end <= len(text) and text[start:end].strip() != ""
    try:
        [rating] = conversation_from_json(found, source="x").conversation.ratings
    except InputError:
        assert not fits
    else:
        assert fits
        assert rating.span == Span(start, end)
        assert rating.claim == text[start:end]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ([1], "a list"),
        ({}, "an object"),
        ('a"b', '"a\\"b"'),
        ("x" * 41, '"' + "x" * 40 + '"…'),
    ],
)
def test_values_are_described_in_few_words(value: object, text: str) -> None:
    assert describe_json(value) == text
