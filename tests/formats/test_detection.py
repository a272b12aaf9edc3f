"""A file is taken for one format, for a reason, or it is a question."""

import bz2
import codecs
import gzip
import importlib
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from faithtui.domain.conversation import Conversation
from faithtui.errors import ConfigError, InputError
from faithtui.formats.files import record_files
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.readers.datasets import (
    FormatChoice,
    list_data_files,
    make_shard_dataset_name,
    open_file_and_detect_format,
)
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.formats.readers.registry import READERS
from faithtui.formats.readers.values.suggestions import (
    may_hold_passages,
    parse_map_options,
    suggest_key,
    suggest_key_for_value,
)
from tests.formats.test_real_formats import FOLDER, contexts, read, texts

FIXTURES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".md")
ROW = {"question": "q", "answer": "An answer.", "contexts": ["p"]}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def refusal(path: Path, choice: FormatChoice | None = None) -> str:
    with pytest.raises(InputError) as raised:
        list(open_file_and_detect_format(path, choice or FormatChoice(), None)[0].read())
    return str(raised.value)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_exactly_one_reader_recognises_a_file(path: Path) -> None:
    with RecordFile(path) as file:
        found = [each.name for each in READERS if each.explain_match(file.sample)]
    assert len(found) == 1


def test_a_file_without_records_and_one_with_none_that_can_be_read_say_so(tmp_path: Path) -> None:
    reasons = []
    for name, text in (
        ("header.csv", b"question,answer,contexts\n"),
        ("latin.csv", b"q,a\n\xe9,b\n"),
    ):
        (tmp_path / name).write_bytes(text)
        dataset, file = open_file_and_detect_format(tmp_path / name, FormatChoice(), None)
        list(dataset.read(file))
        reasons.append(dataset.reason)
    assert reasons[0] == "it holds no records"
    assert "JSON, so" not in reasons[1]


@pytest.mark.parametrize(
    ("keys", "way"),
    [
        (
            ("question", "rply", "contexts"),
            "not the answer; .*: `--map answer=rply`",
        ),
        (("question", "contexts"), "not the answer; .*: `--map answer=COLUMN`"),
        (("notes", "qestion", "answer"), "not the question; .*: `--map question=qestion`"),
        (("notes", "contexts"), "no format that is known"),
    ],
)
def test_rows_without_a_question_or_an_answer_name_the_missing_part(
    tmp_path: Path, keys: tuple[str, ...], way: str
) -> None:
    assert re.search(way, refusal(write(tmp_path / "x.jsonl", dict.fromkeys(keys, "a text"))))


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("faithtui-labels", "faithtui merge FILE"),
        ("faithtui-claim-set", "faithtui claim-set import FILE"),
        ("faithtui-example", "faithtui run --examples FILE"),
    ],
)
def test_a_file_of_ours_that_is_no_import_names_its_command(
    tmp_path: Path, kind: str, command: str
) -> None:
    path = write(tmp_path / "own.jsonl", {"type": kind, "version": 1})
    assert refusal(path).endswith(f"`{command}`")
    other = write(tmp_path / "other.jsonl", {"type": [kind], "version": 1})
    assert "in no format that is known" in refusal(other)


def camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(map(str.capitalize, rest))


def snake(key: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in key)


def respell(value: object, spell: Any) -> object:
    """Spell all keys otherwise, turn their order round and leave out what is null or empty."""
    match value:
        case dict():
            return {
                spell(key): respell(each, spell)
                for key, each in reversed(value.items())
                if each not in (None, {})
            }
        case list():
            return [respell(each, spell) for each in value]
        case _:
            return value


@pytest.mark.parametrize("spell", [camel, snake])
@pytest.mark.parametrize(
    "name",
    [
        "deepeval_conversational_test_cases.json",
        "deepeval_conversational_goldens.json",
        "deepeval_goldens.json",
        "langfuse_traces.json",
        "langsmith_runs.jsonl",
        "llamaindex_evaluation_results.json",
        "llamaindex_labelled_rag_dataset.json",
        "mtrag_inspectorraget.json",
        "neutral.jsonl",
        "openai_chat.jsonl",
        "ragas_multi_turn.jsonl",
        "ragas_single_turn.jsonl",
    ],
)
def test_other_spellings_and_another_order_say_the_same(
    tmp_path: Path, name: str, spell: Any
) -> None:
    text = (FOLDER / name).read_text()
    records = (
        [json.loads(line) for line in text.splitlines()]
        if name.endswith("jsonl")
        else [json.loads(text)]
    )
    if isinstance(records[0], list):
        records = records[0]
    path = write(tmp_path / "respelt.jsonl", *(respell(each, spell) for each in records))
    respelt, _ = read(path)
    as_it_was, _ = read(FOLDER / name)
    assert texts(respelt) == texts(as_it_was)
    assert contexts(respelt) == contexts(as_it_was)


def test_a_file_that_may_be_two_formats_is_a_question(tmp_path: Path) -> None:
    both = {"messages": [{"role": "user", "content": "q"}], "query": "q", "reference_answer": "a"}
    said = refusal(write(tmp_path / "x.jsonl", both))
    assert "may be several formats" in said
    assert "`openai-chat`" in said
    assert "`llamaindex`" in said
    assert "--format" in said
    conversations, _ = read(tmp_path / "x.jsonl", choice=FormatChoice("openai-chat"))
    assert texts(conversations) == [("user", "q")]


def test_a_file_of_no_known_format_is_told_with_its_keys(tmp_path: Path) -> None:
    said = refusal(write(tmp_path / "x.jsonl", {"colour": "red", "retreival_context": []}))
    assert "`colour`, `retreival_context`" in said
    assert "--map retrieval_context=retreival_context" in said
    assert "--format" in said


def test_keys_are_read_under_the_names_they_are_mapped_to(tmp_path: Path) -> None:
    row = {"frage": "q", "inner": {"deep": {"reply": "An answer."}}, "belege": ["p"]}
    renames = parse_map_options(["question=frage", "answer=inner.deep.reply", "contexts=belege"])
    [conversation], _ = read(write(tmp_path / "x.jsonl", row), choice=FormatChoice(renames=renames))
    assert texts([conversation]) == [("user", "q"), ("assistant", "An answer.")]
    assert contexts([conversation]) == [["p"]]


@pytest.mark.parametrize("name", ["retrieval_context", "contexts"])
def test_a_misspelt_column_of_ragas_is_read_under_the_name_it_is_mapped_to(
    tmp_path: Path, name: str
) -> None:
    row = {"user_input": "q", "response": "An answer.", "retreived_contexts": ["p"]}
    renames = parse_map_options([f"{name}=retreived_contexts"])
    path = write(tmp_path / "x.jsonl", row)
    [conversation], _ = read(path, choice=FormatChoice(renames=renames))
    assert contexts([conversation]) == [["p"]]
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    assert dataset.reason.endswith("names `user_input`, `response`"), "the column is not there"


@pytest.mark.parametrize(
    ("row", "passages"),
    [
        ({"user_input": "q", "response": "a", "contexts": 5}, None),
        ({"user_input": "q", "response": "a", "retrieval_context": ["notes"]}, None),
        ({"user_input": "q", "response": "a", "retrieved_contexts": ["p"], "contexts": "x"}, ["p"]),
        ({"input": "q", "actual_output": "a", "expected_output": "a", "contexts": "notes"}, None),
    ],
)
def test_a_column_of_ones_own_is_no_passages_unless_it_is_mapped(
    tmp_path: Path, row: dict[str, object], passages: list[str] | None
) -> None:
    path = write(tmp_path / "x.jsonl", row)
    for renames in ({}, parse_map_options(["question=frage"])):
        [conversation], errors = read(path, choice=FormatChoice(renames=renames))
        assert not errors
        assert contexts([conversation]) == [passages]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("question", "expected NAME=COLUMN"),
        ("frage=question", "did you mean --map question=frage?"),
        ("retrieved_contexts=belege", "did you mean --map retrieval_context=belege?"),
        ("frage=reply", "there is no name `frage`"),
    ],
)
def test_a_map_that_cannot_be_meant_is_refused(given: str, says: str) -> None:
    with pytest.raises(ConfigError, match="--map") as raised:
        parse_map_options([given])
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("contexts", "retrieval_context"),
        ("turns[].retrieved_contexts", "retrieval_context"),
        ("retreival_context", "retrieval_context"),
        ("retreived_contexts", "retrieval_context"),
        ("Speaker", "role"),
        ("zebra", None),
        ("turn", None),
    ],
)
def test_a_key_nobody_understood_gets_a_suggestion(key: str, meant: str | None) -> None:
    assert suggest_key(key) == meant


def test_a_suggestion_fits_what_the_key_holds() -> None:
    assert suggest_key_for_value("turn", 3) is None
    assert suggest_key_for_value("turn", [{}]) == "turns"
    assert suggest_key_for_value("chunks", 3) is None
    assert suggest_key_for_value("chunks", ["p"]) == "retrieval_context"
    passages = ("docs_found", "my docs", "outputs.sources", "retreived_contexts")
    assert all(map(may_hold_passages, passages))
    others = ("dataset_id", "chat_history", "document_ids", "contextId", "chunk_count", "zebra")
    assert not any(map(may_hold_passages, others))


def test_keys_nobody_understood_are_counted_and_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {**ROW, "zebra": 1}, {**ROW, "zebra": None}, ROW)
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    found = [each.found for each in dataset.read(file)]
    assert dict(dataset.notes.unknown_keys) == {"zebra": 1}
    assert isinstance(found[0], Conversation)
    assert found[0].metadata["extra"] == {"zebra": 1}


def test_a_misspelt_key_of_a_message_is_counted_where_its_text_is_missing(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "q", "likes": 3},
        {"role": "assistant", "content": None, "tool_calls": [], "likes": 3},
        {"role": "tool", "contnt": "d", "tool_call_id": "c1"},
        {"role": "assistant", "contnt": "a"},
    ]
    path = write(tmp_path / "x.jsonl", {"messages": messages})
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    list(dataset.read(file))
    assert dict(dataset.notes.unknown_keys) == {"contnt": 2, "messages[].likes": 2}


def test_a_key_of_a_turn_that_is_not_read_is_counted(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "contexts": []},
    ]
    dataset, file = open_file_and_detect_format(
        write(tmp_path / "x.jsonl", {"turns": turns}), FormatChoice(), None
    )
    list(dataset.read(file))
    assert dict(dataset.notes.dropped_keys) == {"turns[].contexts": 1}
    assert not dataset.notes.unknown_keys


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda data: zstandard.ZstdCompressor().compress(data),
        lambda data: codecs.BOM_UTF8 + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.decode().encode("utf-16-le"),
        lambda data: data.decode().encode("utf-16-be"),
        lambda data: gzip.compress(data.decode().encode("utf-16")),
    ],
)
@pytest.mark.parametrize("name", ["ragas_single_turn.csv", "ragas_single_turn.jsonl"])
def test_a_file_is_read_however_it_is_packed_or_encoded(
    tmp_path: Path, name: str, pack: Any
) -> None:
    path = tmp_path / "data"
    path.write_bytes(pack((FOLDER / name).read_bytes()))
    packed, _ = read(path)
    plain, _ = read(FOLDER / name)
    assert [text.replace("\r\n", "\n") for _, text in texts(packed)] == [
        text for _, text in texts(plain)
    ]
    assert [len(each or ()) for each in contexts(packed)] == [2, 2, 0, 3, 3]


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)
@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_a_packed_file_that_is_cut_off_is_told(
    tmp_path: Path, pack: Callable[[bytes], bytes], kept: float
) -> None:
    packed = pack(b"".join(b'{"question": "%d", "answer": "a"}\n' % n for n in range(9_000)))
    path = tmp_path / "cut"
    path.write_bytes(packed[: int(kept * len(packed))])
    with pytest.raises(InputError, match="cut off or damaged"):
        read(path)


def test_the_parts_of_a_zstd_file_are_read_one_after_the_other(tmp_path: Path) -> None:
    rows = [b'{"question": "q%d", "answer": "a", "contexts": ["c"]}\n' % n for n in range(3)]
    skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    path = tmp_path / "parts"
    pack = zstandard.ZstdCompressor().compress
    path.write_bytes(pack(rows[0]) + skipped + pack(rows[1] * 400) + pack(rows[2]))
    found, _ = read(path)
    assert len(list(found)) == 402


def test_without_zstd_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"{}"))
    monkeypatch.setattr(importlib, "import_module", refuse)
    assert "install `faithtui[zstd]`" in refusal(path)


def test_a_packed_file_that_is_cut_off_is_told_after_what_could_be_read(tmp_path: Path) -> None:
    lines = b"".join(
        json.dumps({**ROW, "id": str(number), "x": str(hash(number)) * 40}).encode() + b"\n"
        for number in range(3000)
    )
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-500])
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    found: list[ParsedRecord] = []
    with pytest.raises(InputError, match="cut off or damaged"):
        found.extend(dataset.read(file))  # what came before the error is in it
    assert len(found) > 1000


@pytest.mark.parametrize("first", [ROW, {"id": ["1", "2"], "question": ["q", "r"]}])
def test_the_first_line_is_given_where_the_second_cannot_be_unpacked(
    tmp_path: Path, first: dict[str, object]
) -> None:
    words = "".join(chr(33 + number * number * 7 % 89) for number in range(20_000))
    packed = gzip.compress(f"{json.dumps(first)}\n{json.dumps({**ROW, 'x': words})}\n".encode())
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    found: list[object] = []
    with RecordFile(path) as file, pytest.raises(InputError, match="cut off or damaged"):
        found.extend(each.found for each in file)
    assert found == [first]


@pytest.mark.parametrize(
    ("name", "records", "kept"),
    [("langfuse_traces.json", 5, 3), ("mtrag_generation_tasks.jsonl", 4, 2)],
)
def test_of_an_array_that_is_cut_off_readers_that_collect_give_what_came_before(
    tmp_path: Path, name: str, records: int, kept: int
) -> None:
    text = (FOLDER / name).read_text()
    values = (
        json.loads(text) if name.endswith(".json") else list(map(json.loads, text.split("\n")[:-1]))
    )
    assert len(values) == records
    parts = [json.dumps(each) for each in values]
    path = tmp_path / "x.json"
    path.write_text(f"[{', '.join(parts[:kept])}, {parts[kept][:100]}")
    whole = tmp_path / "whole.json"
    whole.write_text(f"[{', '.join(parts[:kept])}]")
    dataset, file = open_file_and_detect_format(path, FormatChoice(), "x")
    found: list[ParsedRecord] = []
    with pytest.raises(InputError, match=f"ends in the middle of record {kept + 1}"):
        found.extend(dataset.read(file))
    expected, opened = open_file_and_detect_format(whole, FormatChoice(), "x")
    assert [each.found for each in found] == [each.found for each in expected.read(opened)]
    assert found


def test_a_table_that_is_cut_off_inside_a_row_gives_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,contexts\nWhen?,At nine.,[]\nWhere?,At the no")
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    first, last = (each.found for each in dataset.read(file))
    assert not isinstance(first, InputError)
    assert isinstance(last, InputError)
    assert "has 2 of 3 cells" in last.reason
    path.write_text("question,answer,contexts\nWhen?,At nine.,[]\nWhere?,At the north pier.\n")
    conversations, _ = read(path)
    assert len(conversations) == 2


@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_a_document_that_is_cut_off_is_told(tmp_path: Path, kept: float) -> None:
    text = (FOLDER / "ragas_annotated_helpfulness.json").read_text()
    path = tmp_path / "x.json"
    path.write_text(text[: int(len(text) * kept)])
    assert "is not JSON" in refusal(path)


def test_bare_nan_is_null_for_other_tools_and_refused_in_our_own_shape(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({**ROW, "score": float("nan")}) + "\n")
    conversations, _ = read(path)
    assert texts(conversations) == [("user", "q"), ("assistant", "An answer.")]
    turns = [{"role": "user", "content": "q"}]
    path.write_text(json.dumps({"turns": turns, "metadata": {"x": float("nan")}}) + "\n")
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, InputError)
    assert "NaN" in found.reason


def test_a_folder_gives_its_data_files_and_none_that_describe_them(tmp_path: Path) -> None:
    folder = tmp_path / "wiki"
    for name in (
        "train/data-00000-of-00001.arrow",
        "train/dataset_info.json",
        "train/state.json",
        "dataset_dict.json",
        "data/test-00000-of-00002.parquet",
        ".cache/x.jsonl",
        "notes.md",
        "plain.csv.gz",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    found = list_data_files(folder)
    assert [each.relative_to(folder).as_posix() for each in found] == [
        "data/test-00000-of-00002.parquet",
        "plain.csv.gz",
        "train/data-00000-of-00001.arrow",
    ]
    assert list(map(make_shard_dataset_name, found)) == ["wiki-test", "plain", "train"]


def test_what_holds_no_conversations_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content, says in (
        (b"PK\x03\x04zip", "is a zip archive; unpack it"),
        (b"SQLite format 3\x00", "is a SQLite database"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
        (b"see below. All of it", "is text that begins with"),
    ):
        path.write_bytes(content)
        assert says in refusal(path)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"messages": [{"role": "user", "content": "?"}], "id": "x" * 1001}, "id"),
        ({**ROW, "conversation_id": "x" * 1001}, "metadata.conversation_id"),
    ],
)
def test_a_name_that_no_list_could_show_is_refused_in_every_format(
    tmp_path: Path, row: dict[str, object], field: str
) -> None:
    dataset, file = open_file_and_detect_format(
        write(tmp_path / "long.jsonl", row), FormatChoice(), None
    )
    [record] = list(dataset.read())
    file.close()
    assert isinstance(record.found, InputError)
    assert record.found.field == field


@pytest.mark.parametrize("count", [2, 3, 4000])
def test_a_document_may_have_its_list_line_by_line(tmp_path: Path, count: int) -> None:
    """Its first line is no JSON, and others begin as lines of objects do."""
    path = tmp_path / "x.json"
    for end in ("]}", "\n]}\n", "\n]\n}"):
        path.write_text('{"samples": [' + ",\n".join([json.dumps(ROW)] * count) + end)
        with RecordFile(path) as file:
            assert file.kind == "one JSON document", end
            [record] = file
        assert isinstance(record.found, dict)
        assert record.found["samples"] == [ROW] * count


def test_lines_after_a_broken_one_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"question": "q",\n' + json.dumps(ROW) + "\n")
    with RecordFile(path) as file:
        assert file.kind == "JSON lines"


def test_a_file_is_recognised_by_the_records_after_a_first_one_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "SAMPLE_BYTES", 100)
    path = write(tmp_path / "x.jsonl", ["x" * 200], ROW)
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    too_large, row = (each.found for each in dataset.read(file))
    assert dataset.reader.name == "rows"
    assert isinstance(too_large, InputError)
    assert isinstance(row, Conversation)


def test_a_bad_line_among_our_own_is_no_golden_of_deepeval(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    path = write(tmp_path / "x.jsonl", {"id": "a", "turns": "no"}, {"id": "b", "turns": turns})
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    assert dataset.reader.name == "faithtui"
