"""Files into a real store: counts, refusals, strict mode, progress."""

import base64
import bz2
import gzip
import json
import lzma
import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import event

from faithtui.agreement.rating_scales import translate_to_verdict
from faithtui.domain.conversation import Conversation, Image
from faithtui.engine import dataset_import, import_word_index
from faithtui.engine.dataset_import import FileImport, ImportProgress, ImportResult, import_files
from faithtui.engine.imported_labels import UnreadLabels
from faithtui.errors import ConfigError
from faithtui.formats.files import record_files
from faithtui.formats.files.byte_streams import ByteStream, open_file_or_stdin_as_utf8
from faithtui.formats.readers.conversation_files import read_conversations
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.store.conversations import Conversations
from faithtui.store.records import EqualElsewhere, ImportCounts
from faithtui.store.search import word_index
from faithtui.store.store import Store

FIXTURES = Path(__file__).parents[2] / "fixtures"
GOOD = FIXTURES / "conversations" / "good.jsonl"
BAD = FIXTURES / "conversations" / "bad.jsonl"
BAD_LINES = 46


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def ignore(progress: ImportProgress) -> None:
    """Report to nobody."""


def run(store: Store, *paths: Path, strict: bool = False, batch_size: int = 200) -> ImportResult:
    return import_files(store, paths, strict=strict, report=ignore, batch_size=batch_size)


def line(key: str | None, answer: str = "An answer.", label: str | None = None) -> str:
    """One line of a file: a question, an answer and perhaps a label."""
    found: dict[str, object] = {
        "turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}]
    }
    if key is not None:
        found["id"] = key
    if label is not None:
        found["human_labels"] = [{"turn": 1, "annotator": "a", "label": label, "scale": "s"}]
    return json.dumps(found) + "\n"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def stored(store: Store) -> dict[tuple[str, str], Conversation]:
    read = map(store.conversations.get, store.conversations.list_ids())
    return {(conversation.source, conversation.key): conversation for conversation in read}


def test_good_lines_are_stored_as_they_were_read(store: Store) -> None:
    result = run(store, GOOD)
    assert result == ImportResult(
        files=(
            FileImport(
                GOOD,
                "good",
                read=9,
                new=9,
                new_ratings=7,
                without_interaction=1,
                without_passages=2,
                format="faithtui",
                reason="`turns` with role and content",
                unknown_keys={"language": 1},
                dropped_keys={
                    "human_labels[].contexts": 1,
                    "human_labels[].labels_raw": 1,
                    "human_labels[].source_span": 1,
                },
                meant_keys={},
            ),
        ),
        refusals=(),
        refused=0,
        same_content=(),
    )
    assert list(stored(store).values()) == list(read_conversations(GOOD))


@pytest.mark.parametrize("batch_size", [1, 3, 200])
def test_batches_change_no_count(store: Store, batch_size: int) -> None:
    result = run(store, GOOD, BAD, batch_size=batch_size)
    assert [(one.read, one.new, one.refused) for one in result.files] == [
        (9, 9, 0),
        (BAD_LINES + 2, 2, BAD_LINES),
    ]
    assert [error.line for error in result.refusals] == sorted(
        error.line or 0 for error in result.refusals
    )


def test_bad_lines_are_told_and_the_good_ones_imported(store: Store) -> None:
    result = run(store, BAD)
    assert result.refused == len(result.refusals) == BAD_LINES
    assert stored(store).keys() == {("bad", "fine-first"), ("bad", "fine-last")}


def labels(store: Store) -> list[tuple[str, str, str | None]]:
    """Scale, label and verdict of every human label."""
    return sorted(
        (rating.scale, rating.label, translate_to_verdict(rating.scale, rating.label))
        for each in stored(store).values()
        for rating in each.ratings
    )


def test_a_score_that_is_0_or_1_in_all_files_is_read(store: Store, tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", line("a", label="1"), line("b", label="1"))
    two = write(tmp_path / "two.jsonl", line("c", label="0"))
    first, second = run(store, one, two).files
    assert not first.unread_labels
    assert not second.unread_labels
    assert list(first.remarks.values()) == [2]
    scale = "q2-consistent-0-1"
    assert labels(store) == [(scale, "0", "no"), (scale, "1", "yes"), (scale, "1", "yes")]


def test_a_number_of_a_scale_that_nobody_named_has_no_verdict(store: Store, tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", line("a", label="1"), line("b", label="0"))
    two = write(tmp_path / "two.jsonl", line("c", label="5"), line("d", label="yes"))
    first, second = run(store, one, two, strict=True).files
    assert first.unread_labels == (UnreadLabels("s", 2, 2, ("0", "1")),)
    assert second.unread_labels == (UnreadLabels("s", 1, 2, ("5",)),)
    assert [verdict for _, _, verdict in labels(store)] == [None, None, None, "yes"]


def test_a_scale_of_our_own_shape_may_be_named(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", line("a", label="1"))
    choice = FormatChoice(scales={"s": "mtrag-faithfulness-1-4", "t": "begin-3"})
    result = import_files(store, [path], report=ignore, choice=choice)
    assert labels(store) == [("mtrag-faithfulness-1-4", "1", "no")]
    assert result.missing_scores == ("t",)


def test_importing_again_changes_nothing(store: Store) -> None:
    run(store, GOOD)
    before = stored(store)
    [again] = run(store, GOOD).files
    assert (again.read, again.new, again.unchanged, again.new_ratings) == (9, 0, 9, 0)
    assert again.without_interaction == 1
    assert stored(store) == before


def test_new_labels_of_a_known_conversation_are_added(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", line("one"))
    run(store, path)
    [again] = run(store, write(path, line("one", label="yes"))).files
    assert (again.unchanged, again.new_ratings) == (1, 1)


def test_the_source_may_be_named(store: Store) -> None:
    import_files(store, [GOOD], source="mine", report=ignore)
    assert {source for source, _ in stored(store)} == {"mine"}


def test_a_key_stored_with_other_turns_is_refused_with_its_line(
    store: Store, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", line("one"), line("two"))
    run(store, path)
    write(path, line("zero"), "x\n", line("one", "Another answer."), "y\n", line("two"))
    result = run(store, path)
    [one] = result.files
    assert (one.read, one.new, one.unchanged, one.refused) == (5, 1, 1, 3)
    assert [(error.line, error.field) for error in result.refusals] == [
        (2, None),
        (3, "id"),
        (4, None),
    ]
    assert "'one' is stored in 'a' with other turns" in result.refusals[1].reason
    assert "faithtui delete dataset a" in result.refusals[1].reason
    assert stored(store)["a", "one"].turns[1].content == "An answer."


@pytest.mark.parametrize("way", ["stored", "strict", "seen before"])
@pytest.mark.parametrize(("name", "differs"), [("kb", True), (None, False)])
def test_a_key_stored_with_other_names_of_passages_alone_is_refused_for_that(
    store: Store, tmp_path: Path, way: str, name: str | None, differs: bool
) -> None:
    def make_line(text: str, source: str | None) -> str:
        passage = {"text": text, "source": source}
        answer = {"role": "assistant", "content": "a", "retrieval_context": [passage, "p"]}
        return json.dumps({"id": "one", "turns": [{"role": "user", "content": "q"}, answer]}) + "\n"

    path = write(tmp_path / "a.jsonl", make_line("It sails.", None))
    second = make_line("It sails." if differs else "It rows.", name)
    if way == "seen before":
        write(path, path.read_text(), second)
    else:
        run(store, path)
        write(path, second)
    result = run(store, path, strict=way != "stored")
    [refusal] = result.refusals
    what = "equal turns whose passages have other names (sources);" if differs else "other turns;"
    assert f"'one' is stored in 'a' with {what}" in refusal.reason


@pytest.mark.parametrize("strict", [False, True])
def test_of_a_key_given_twice_the_second_line_is_refused(
    store: Store, tmp_path: Path, strict: bool
) -> None:
    path = write(tmp_path / "a.jsonl", line("one"), line("one", "Another."), line("one"))
    result = run(store, path, strict=strict)
    assert [error.line for error in result.refusals] == [2]
    [one] = result.files
    assert (one.read, one.new, one.unchanged) == ((3, 0, 0) if strict else (3, 1, 1))


def test_equal_turns_under_two_keys_are_both_kept_and_told(store: Store, tmp_path: Path) -> None:
    result = run(store, write(tmp_path / "a.jsonl", line("one"), line("two")))
    assert result.same_content == (("two", "one"),)
    assert len(stored(store)) == 2


def test_a_line_without_an_id_given_twice_is_one_conversation(store: Store, tmp_path: Path) -> None:
    [one] = run(store, write(tmp_path / "a.jsonl", line(None), line(None))).files
    assert (one.new, one.unchanged, one.refused) == (1, 1, 0)


def test_a_file_that_cannot_be_read_does_not_stop_the_others(store: Store, tmp_path: Path) -> None:
    missing = tmp_path / "none.jsonl"
    too_long = tmp_path / ("n" * 5000)
    table = write(tmp_path / "table.csv", "colour,size\nred,9\n")
    result = run(store, missing, too_long, table, GOOD)
    assert [(one.read, one.new, one.refused) for one in result.files] == [
        (0, 0, 1),
        (0, 0, 1),
        (9, 9, 0),
    ]
    assert [(error.path, error.line) for error in result.refusals] == [
        (missing, None),
        (too_long, None),
        (table, None),
    ]


def test_a_directory_means_the_files_in_it_by_name(store: Store, tmp_path: Path) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    two = write(inside / "two.jsonl", line("2"))
    one = write(inside / "one.jsonl", line("1"))
    write(inside / "notes.txt", "no data\n")
    result = run(store, inside)
    assert [read.path for read in result.files] == [one, two]
    assert result.refused == 0


def test_a_pipe_in_a_directory_is_not_waited_for(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    write(tmp_path / "b.jsonl", line("b"))
    result = run(store, tmp_path)
    assert [each.path.name for each in result.files] == ["b.jsonl"]
    (refusal,) = result.refusals
    assert (refusal.path, refusal.reason) == (
        tmp_path / "a.jsonl",
        "is a pipe; name it to read from it",
    )


def test_a_directory_without_a_file_is_refused(store: Store, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = run(store, empty, GOOD)
    assert [error.path for error in result.refusals] == [empty]
    assert result.files[0].new == 9


def test_strict_writes_nothing_when_anything_is_refused(store: Store) -> None:
    before = store.read_change_number()
    result = run(store, GOOD, BAD, strict=True)
    assert store.read_change_number() == before
    assert stored(store) == {}
    assert [(one.read, one.new, one.refused) for one in result.files] == [
        (9, 0, 0),
        (BAD_LINES + 2, 0, BAD_LINES),
    ]
    assert result.refused == BAD_LINES


def test_strict_sees_conflicts_with_the_store(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", line("one"))
    run(store, path)
    write(path, line("new"), line("one", "Another answer."))
    result = run(store, path, strict=True)
    assert [(error.line, error.field) for error in result.refusals] == [(2, "id")]
    assert stored(store).keys() == {("a", "one")}


def test_strict_does_not_take_another_data_set_for_a_conflict(store: Store, tmp_path: Path) -> None:
    run(store, write(tmp_path / "a.jsonl", line("one")))
    result = run(store, write(tmp_path / "b.jsonl", line("one", "Another.")), strict=True)
    assert (result.refused, result.files[0].new) == (0, 1)


def test_strict_imports_when_everything_is_fine(store: Store) -> None:
    [one] = run(store, GOOD, strict=True).files
    assert (one.new, one.new_ratings) == (9, 7)
    [again] = run(store, GOOD, strict=True).files
    assert (again.new, again.unchanged, again.refused) == (0, 9, 0)


@pytest.mark.parametrize("strict", [False, True])
def test_progress_grows_to_the_size_of_all_files(
    store: Store, tmp_path: Path, strict: bool
) -> None:
    seen: list[ImportProgress] = []
    other = write(tmp_path / "other.jsonl", line("one"))
    total = GOOD.stat().st_size + other.stat().st_size
    import_files(store, [GOOD, other], strict=strict, report=seen.append, batch_size=4)
    passes = [
        [progress for progress in seen if progress.checking is flag] for flag in (True, False)
    ]
    assert [bool(steps) for steps in passes] == [strict, True]
    for steps in filter(None, passes):
        assert [step.bytes_done for step in steps] == sorted(step.bytes_done for step in steps)
        assert {step.bytes_total for step in steps} == {total}
        assert steps[-1] == ImportProgress(other, 1, total, total, steps[0].checking)
        assert [step.lines for step in steps if step.path == GOOD] == [4, 8, 9, 9]


def test_a_file_that_cannot_be_read_ends_its_progress_too(store: Store, tmp_path: Path) -> None:
    seen: list[ImportProgress] = []
    too_long = tmp_path / ("n" * 5000)
    import_files(store, [too_long], strict=True, report=seen.append)
    assert seen == [ImportProgress(too_long, 0, 0, 0, True)]


def test_refusals_are_kept_up_to_a_limit_and_all_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_import, "REFUSALS_KEPT", 5)
    result = run(store, BAD, batch_size=3)
    assert [error.line for error in result.refusals] == [2, 3, 4, 5, 6]
    assert result.refused == BAD_LINES


def test_texts_no_database_takes_are_the_same_at_the_next_import(
    store: Store, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", line("k\x00\ud800", "A\x00B\udfffC"))
    for strict in (False, True):
        result = run(store, path, strict=strict)
        assert result.refused == 0
    assert [found.turns[1].content for found in stored(store).values()] == ["A�B�C"]
    write(path, line("k\x00\ud800", "Another."))
    assert [error.line for error in run(store, path).refusals] == [1]


PNG = b"\x89PNG\r\n\x1a\n pixels"


def picture(key: str, *images: object) -> str:
    """One line whose question has these images."""
    turns = [
        {"role": "user", "content": "q", "images": images},
        {"role": "assistant", "content": f"An answer about {key}."},
    ]
    return json.dumps({"id": key, "turns": turns}) + "\n"


def coded(data: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(data).decode()}


@pytest.mark.parametrize("strict", [False, True])
def test_images_go_into_the_store_with_their_conversation(
    store: Store, tmp_path: Path, strict: bool
) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    address = "https://example.org/a.png"
    path = write(
        tmp_path / "data.jsonl",
        picture("one", {"path": "a.png"}, {"url": address}),
        picture("two", coded(PNG)),
    )
    [file] = run(store, path, strict=strict).files
    assert (file.new, file.refused) == (2, 0)
    near = Image(sha256(PNG).hexdigest(), "image/png")
    far = Image(sha256(address.encode()).hexdigest(), "", address)
    assert [found.images for found in stored(store).values()] == [(near, far), (near,)]
    assert store.images.read(near.sha256).data == PNG
    assert store.images.read(far.sha256).data is None
    (tmp_path / "a.png").unlink()
    result = run(store, path, strict=strict)
    assert [(error.line, error.field) for error in result.refusals] == [
        (1, "turns[0].images[0].path")
    ]


def test_an_image_that_cannot_be_had_costs_its_line_alone(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path / "data.jsonl",
        picture("one", {"path": "../secret.png"}),
        picture("two", coded(PNG)),
        picture("three", coded(b"no image")),
    )
    result = run(store, path)
    assert [(error.path, error.line, error.field) for error in result.refusals] == [
        (path, 1, "turns[0].images[0].path"),
        (path, 3, "turns[0].images[0].base64"),
    ]
    assert [key for _, key in stored(store)] == ["two"]


def test_an_image_named_in_a_text_is_a_text(store: Store, tmp_path: Path) -> None:
    (tmp_path / "pic.png").write_bytes(PNG)
    texts = "[DEEPEVAL:IMAGE:/etc/hostname] ![](pic.png)"
    run(store, write(tmp_path / "data.jsonl", line("one", texts)))
    [found] = stored(store).values()
    assert (found.turns[1].content, found.images) == (texts, ())


def test_a_batch_holds_few_bytes_of_images(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_import, "_IMAGE_BYTES", 3 * len(PNG))
    batches: list[list[str]] = []
    real = Conversations.import_batch

    def counted(
        self: Conversations,
        conversations: Sequence[Conversation],
        images: Mapping[str, bytes],
        *,
        merge_equal: bool,
        index_words: bool,
    ) -> ImportCounts:
        batches.append([each.key for each in conversations])
        return real(self, conversations, images, merge_equal=merge_equal, index_words=index_words)

    monkeypatch.setattr(Conversations, "import_batch", counted)
    huge = coded(PNG + bytes(5 * len(PNG)))
    path = write(
        tmp_path / "data.jsonl",
        *(picture(str(number), coded(PNG)) for number in range(4)),
        *(picture(f"b{number}", coded(PNG + bytes([number]))) for number in range(2)),
        picture("huge", huge),
        picture("again", huge),
        picture("none"),
        picture("last", coded(PNG)),
    )
    [file] = run(store, path).files
    assert file.new == 10
    assert batches == [
        ["0", "1", "2", "3", "b0"],
        ["b1"],
        ["huge", "again", "none"],
        ["last"],
    ]


def test_what_other_tools_say_of_a_case_is_kept_and_never_read(
    store: Store, tmp_path: Path
) -> None:
    """Fields of a test case that no metric here reads."""
    others: dict[str, object] = {
        "scenario": "a customer asks",
        "expected_outcome": "the parcel arrives",
        "expected_output": "On Monday.",
        "user_description": "in a hurry",
        "chatbot_role": "helper",
        "context": ["The ideal context says Sunday."],
        "retrieval_context": ["Not a turn's."],
        "additional_metadata": {"run": 7},
        "images": [{"path": "/etc/hostname"}],
    }
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({**json.loads(line("one")), **others}) + "\n")
    [file] = run(store, path).files
    assert file.refused == 0
    [found] = stored(store).values()
    assert found.metadata == {"extra": others}
    assert [turn.retrieval_context for turn in found.turns] == [None, None]
    assert found.images == ()


def write_in_background(path: Path, text: str) -> threading.Thread:
    """Write into a pipe, which waits for somebody to read."""
    thread = threading.Thread(target=path.write_text, args=(text,), daemon=True)
    thread.start()
    return thread


def test_a_pipe_that_would_be_read_twice_is_refused(store: Store, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match=r"the pipe .* can be read once"):
        import_files(store, [pipe], strict=True, report=lambda progress: None)


def test_several_pipes_are_one_data_set_and_read_once(store: Store, tmp_path: Path) -> None:
    run = {"id": "r", "trace_id": "r", "run_type": "chain", "inputs": {"question": "q"}}
    feedback = {"id": "f", "run_id": "r", "trace_id": "r", "key": "faithfulness", "score": 1.0}
    texts = (
        json.dumps({**run, "outputs": {"answer": "a"}}),
        json.dumps({**feedback, "comment": None, "feedback_source": {"type": "model"}}),
    )
    pipes = [tmp_path / name for name in ("runs", "feedback")]
    for pipe in pipes:
        os.mkfifo(pipe)
    threads = [write_in_background(*each) for each in zip(pipes, texts, strict=True)]
    [file] = import_files(store, pipes, report=lambda progress: None).files
    for thread in threads:
        thread.join()
    assert (file.new, file.refused) == (1, 0)
    assert [(each.judge, each.conversations) for each in file.runs] == [
        ("imported:langsmith faithfulness", 1)
    ]


def test_a_file_that_comes_alone_is_opened_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first record may be large, and memory that held it is not given back at once."""
    opened: list[Path] = []
    open_stream = open_file_or_stdin_as_utf8

    def count(path: Path) -> ByteStream:
        opened.append(path)
        return open_stream(path)

    monkeypatch.setattr(record_files, "open_file_or_stdin_as_utf8", count)
    run(store, GOOD)
    assert opened == [GOOD]


def test_words_are_indexed_in_lots_and_deferred_ones_by_the_next_import(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "LOT_ROWS", 4)
    monkeypatch.setattr(import_word_index, "LOT_ROWS", 4)
    first = write(tmp_path / "first.jsonl", *(line(f"a{number}") for number in range(6)))
    second = write(tmp_path / "second.jsonl", *(line(f"b{number}") for number in range(6)))
    deferred = import_files(store, [first], report=ignore, defer_index=True)
    assert deferred.unindexed == store.word_index.count_unindexed_texts() == 6

    waiting: list[int] = []
    reported: list[ImportProgress] = []

    def report(progress: ImportProgress) -> None:
        waiting.append(store.word_index.count_unindexed_texts())
        reported.append(progress)

    outcome = import_files(store, [second], report=report, batch_size=3)
    assert outcome.unindexed == store.word_index.count_unindexed_texts() == 0
    # Words of before come last: after the second batch a lot of them is taken up.
    assert waiting[:2] == [9, 8]
    assert [each.unindexed for each in reported[-3:]] == [8, 4, 0]
    assert [each.unindexed for each in reported[:-3]] == [0] * (len(reported) - 3)


def test_a_rehearsal_counts_other_metadata_as_the_import_does(store: Store, tmp_path: Path) -> None:
    def with_metadata(key: str, metadata: object) -> str:
        return json.dumps({**json.loads(line(key)), "metadata": metadata}) + "\n"

    stored = write(tmp_path / "d.jsonl", with_metadata("a", {"x": 1}), with_metadata("b", {"x": 1}))
    run(store, stored)
    again = write(
        tmp_path / "d.jsonl",
        with_metadata("a", {"x": 1}),
        with_metadata("b", {"x": 2}),
        with_metadata("c", {"x": 1}),
        with_metadata("c", {"x": 1}),
        with_metadata("c", {"x": 3}),
    )
    rehearsed = import_files(store, [again], report=ignore, rehearse=True)
    assert list(rehearsed.files[0].remarks.values()) == [2]
    assert dict(run(store, again).files[0].remarks) == dict(rehearsed.files[0].remarks)


@pytest.mark.parametrize("merge_equal", [False, True])
def test_a_rehearsal_counts_equal_turns_under_another_key_as_the_import_does(
    store: Store, tmp_path: Path, merge_equal: bool
) -> None:
    run(store, write(tmp_path / "d.jsonl", line("a")))
    twins = [json.dumps({**json.loads(line("a")), "id": key}) + "\n" for key in ("b", "c")]
    fresh = [
        json.dumps({**json.loads(line("x", "Another.")), "id": key}) + "\n" for key in ("x", "y")
    ]
    again = write(tmp_path / "d.jsonl", line("a"), *twins, *fresh)
    rehearsed, done = (
        import_files(store, [again], report=ignore, merge_equal=merge_equal, rehearse=rehearse)
        for rehearse in (True, False)
    )
    assert rehearsed.same_content == done.same_content == (("b", "a"), ("c", "a"), ("y", "x"))
    for each in (rehearsed.files[0], done.files[0]):
        counts = (each.new, each.unchanged, each.merged)
        assert counts == ((1, 1, 3) if merge_equal else (4, 1, 0))


@pytest.mark.parametrize("merge_equal", [False, True])
def test_a_rehearsal_counts_equal_turns_of_other_data_sets_as_the_import_does(
    store: Store, tmp_path: Path, merge_equal: bool
) -> None:
    run(store, write(tmp_path / "first.jsonl", line("a"), line("b", "Another.")))
    second = write(tmp_path / "second.jsonl", line("a"), line("c", "Third."))
    third = write(tmp_path / "third.jsonl", line("b", "Another."), line("c", "Third."))
    rehearsed, done, again = (
        import_files(
            store, [second, third], report=ignore, merge_equal=merge_equal, rehearse=rehearse
        )
        for rehearse in (True, False, False)
    )
    expected = [("second", "first"), ("third", "first"), ("third", "second")]
    for each in (rehearsed, done):
        assert each.equal_elsewhere == tuple(EqualElsewhere(*pair, 1) for pair in expected)
        assert (each.same_content, [file.new for file in each.files]) == ((), [2, 2])
    assert again.equal_elsewhere == ()
    nowhere = import_files(None, [second, third], report=ignore, rehearse=True)
    assert nowhere.equal_elsewhere == (EqualElsewhere("third", "second", 1),)


def test_a_pattern_means_the_files_and_folders_that_match_it(store: Store, tmp_path: Path) -> None:
    (tmp_path / "data" / "more").mkdir(parents=True)
    write(tmp_path / "data" / "b.jsonl", line("b"))
    write(tmp_path / "data" / "a.jsonl", line("a"))
    write(tmp_path / "data" / "more" / "c.jsonl", line("c"))
    write(tmp_path / "[x].jsonl", line("x"))
    found = run(store, tmp_path / "data" / "*.jsonl", tmp_path / "[x].jsonl")
    assert [each.path.name for each in found.files] == ["a.jsonl", "b.jsonl", "[x].jsonl"]
    deep = run(store, tmp_path / "da*" / "**" / "*.jsonl")
    assert [each.path.name for each in deep.files] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    folders = run(store, tmp_path / "data" / "mo*")
    assert [each.path.name for each in folders.files] == ["c.jsonl"]
    nothing = run(store, tmp_path / "data" / "*.csv")
    assert (nothing.files, nothing.refused) == ((), 1)
    assert "is a pattern that no file matches" in str(nothing.refusals[0])


@pytest.mark.parametrize("pattern", ["data/**/*", "data/*", "da*"])
def test_a_file_that_a_pattern_means_twice_is_read_once(
    store: Store, tmp_path: Path, pattern: str
) -> None:
    (tmp_path / "data" / "sub" / "deep").mkdir(parents=True)
    write(tmp_path / "data" / "a.jsonl", line("a"))
    write(tmp_path / "data" / "sub" / "b.jsonl", line("b"), "no JSON\n")
    write(tmp_path / "data" / "sub" / "deep" / "c.jsonl", line("c"))
    reports: list[ImportProgress] = []
    found = import_files(store, [tmp_path / pattern], report=reports.append)
    assert [each.path.name for each in found.files] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert [(each.read, each.new) for each in found.files] == [(1, 1), (2, 1), (1, 1)]
    assert found.refused == 1
    size = sum(each.stat().st_size for each in tmp_path.rglob("*.jsonl"))
    assert {each.bytes_total for each in reports} == {size}


def test_a_file_that_is_named_twice_is_read_once_under_its_first_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.jsonl", line("a"))
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    circle = tmp_path / "circle.jsonl"
    circle.symlink_to(circle.name)
    monkeypatch.chdir(tmp_path)
    names = ("link.jsonl", "a.jsonl", "./a.jsonl", str(tmp_path / "a.jsonl"), "circle.jsonl")
    found = run(store, *map(Path, names))
    assert [(str(each.path), each.new, each.refused) for each in found.files] == [
        ("link.jsonl", 1, 0),
        ("circle.jsonl", 0, 1),
    ]


def test_a_pipe_that_a_pattern_matches_is_refused_once(store: Store, tmp_path: Path) -> None:
    (tmp_path / "data" / "sub").mkdir(parents=True)
    write(tmp_path / "data" / "a.jsonl", line("a"))
    os.mkfifo(tmp_path / "data" / "sub" / "pipe.jsonl")
    found = run(store, tmp_path / "data" / "**" / "*")
    assert [each.path.name for each in found.files] == ["a.jsonl"]
    [refusal] = found.refusals
    assert "is a pipe; name it to read from it" in str(refusal)


def test_a_folder_with_the_name_of_a_file_is_no_file(store: Store, tmp_path: Path) -> None:
    """Spark writes a table as a folder, `table.parquet/part-0.parquet`."""
    folder = tmp_path / "data" / "table.jsonl"
    folder.mkdir(parents=True)
    write(folder / "part-0.jsonl", line("a"))
    found = run(store, tmp_path / "data")
    assert ([each.path.name for each in found.files], found.refused) == (["part-0.jsonl"], 0)


def _pack_zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    packed: bytes = zstandard.ZstdCompressor().compress(data)
    return packed


def _pack_bzip2(data: bytes) -> bytes:
    return bz2.compress(data, 1)


@pytest.mark.parametrize(
    ("pack", "records"),
    [(gzip.compress, 60), (lzma.compress, 60), (_pack_bzip2, 4_000), (_pack_zstd, 4_000)],
)
def test_whole_records_of_a_packed_file_that_was_cut_off_come_in(
    store: Store, tmp_path: Path, pack: Callable[[bytes], bytes], records: int
) -> None:
    chance = random.Random(3)
    words = [line(f"k{number}", f"{chance.random()}") for number in range(records)]
    packed = pack("".join(words).encode())
    path = tmp_path / "cut.jsonl.packed"
    path.write_bytes(packed[: len(packed) * 7 // 10])
    [found] = run(store, path, batch_size=5_000).files
    # bzip2 and zstd pack blocks of which there is nothing without their end.
    assert found.new > records // 4
    assert found.new < records
    assert found.refused == 1


def test_a_rehearsal_counts_labels_of_known_conversations_as_the_import_does(
    store: Store, tmp_path: Path
) -> None:
    header = "question,answer,label,annotator\n"
    run(store, write(tmp_path / "d.csv", header, "q,a,yes,ann\n"))
    again = write(
        tmp_path / "d.csv",
        header,
        *("q,a,yes,ann\n", "q,a,no,ben\n", "q,a,no,ben\n", "r,a,yes,ann\n", "r,a,yes,ben\n"),
    )
    counts = [
        import_files(store, [again], report=ignore, rehearse=rehearse).files[0].new_ratings
        for rehearse in (True, False)
    ]
    assert counts == [3, 3]


def test_a_rehearsal_reads_the_labels_of_a_batch_at_once(store: Store, tmp_path: Path) -> None:
    asked: list[str] = []
    event.listen(
        store._database._readers._engine,
        "before_cursor_execute",
        lambda *call: asked.append(call[2]),
    )
    counts = []
    for rows in (2, 40):
        lines = (f"q{row},a,yes,ann\n" for row in range(rows))
        path = write(tmp_path / f"{rows}.csv", "question,answer,label,annotator\n", *lines)
        run(store, path)
        asked.clear()
        (found,) = import_files(store, [path], report=ignore, rehearse=True).files
        assert (found.unchanged, found.new_ratings) == (rows, 0)
        counts.append(len(asked))
    assert any("human_label" in statement for statement in asked)
    assert counts[0] == counts[1]
