"""What is exported comes in again by the reader of its format, and nothing is lost."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from faithtui.domain.conversation import Document, LabelRecord, Turn
from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportPassage,
    ExportRepeat,
    ExportTurn,
    ExportVerdict,
    ExportWindow,
)
from faithtui.domain.labels.imported_verdicts import ImportedVerdict, ImportedWindow
from faithtui.domain.labels.label_events import Action
from faithtui.errors import InputError
from faithtui.formats.files.record_files import FileKind
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.faithtui_results import (
    add_faithtui_label,
    make_exported_conversation_name,
)
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.formats.readers.values.conversation_draft import ConversationDraft
from faithtui.formats.writers.answer_results import OWN_KEY, list_answer_results
from faithtui.formats.writers.deepeval_run import format_run_json
from faithtui.formats.writers.flat_files import format_csv_lines, format_json_lines, write_parquet
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, make_claim_rows
from faithtui.formats.writers.langfuse import format_langfuse_score_lines
from faithtui.formats.writers.langsmith import format_langsmith_feedback_lines
from faithtui.formats.writers.llamaindex_results import format_results_json
from faithtui.formats.writers.openinference import format_openinference_annotation_lines
from faithtui.formats.writers.opentelemetry import format_opentelemetry_event_lines
from faithtui.formats.writers.ragas_annotations import (
    AnnotatedAnswer,
    AnnotatedStatement,
    format_annotations_json,
)
from faithtui.formats.writers.ragas_rows import format_ragas_row_lines
from tests.formats.writers.exported import AT, DEPOT, REVIEWED, RUN, make_claim, make_label

_words = st.lists(
    st.sampled_from(
        ["parcel", "arrives", "ünï", "😀", '"quoted"', "=1+1", "a|b", "<b>", "[x]", "\\", "Monday"]
    ),
    min_size=1,
    max_size=4,
)
_texts = _words.map(" ".join)
_json_values = st.none() | st.booleans() | st.integers(-9, 9) | _texts


@st.composite
def make_conversations(draw: st.DrawFn) -> ExportConversation:
    """A conversation with ids of traces, of which every answer has claims, verdicts and labels."""
    answers = draw(st.integers(1, 3))
    turns: list[ExportTurn] = []
    claims: list[ExportClaim] = []
    windows: list[ExportWindow] = []
    view: list[ExportPassage] = []
    for number in range(answers):
        position = 2 * number + 1
        shown = tuple(
            ExportPassage(f"{number}{place}".ljust(64, "f"), f"{text} {number}{place}", source)
            for place, (text, source) in enumerate(
                draw(st.lists(st.tuples(_texts, st.none() | _texts), max_size=2))
            )
        )
        view += shown
        said = [f"{text} {number}.{place}." for place, text in enumerate(draw(_some_texts))]
        turns += [
            ExportTurn("user", f"{draw(_texts)} {number}?", None),
            ExportTurn("assistant", " ".join(said), shown),
        ]
        for text in said:
            start = turns[-1].content.index(text)
            claims.append(
                make_claim(
                    len(claims),
                    draw(st.sampled_from(["yes", "no", "idk"])),
                    turn=position,
                    text=text,
                    span=(start, start + len(text)),
                    window=number,
                    reason=draw(st.none() | _texts),
                    passages=tuple(view),
                    labels=tuple(
                        make_label(annotator, label, note=draw(st.none() | _texts))
                        for annotator in draw(st.sets(st.sampled_from(["ann", "ben", "cy"])))
                        for label in [draw(st.sampled_from(["yes", "no", "idk", "x"]))]
                    ),
                )
            )
        whole = draw(st.none() | st.sampled_from(["1", "2", "4"]))
        if whole is not None:
            imported = make_label(
                "zoe",
                "no" if whole in "12" else "yes",
                action=Action.IMPORTED,
                scale="mtrag-faithfulness-1-4",
                raw_label=whole,
            )
            claims.append(
                make_claim(
                    len(claims),
                    None,
                    kind="answer",
                    turn=position,
                    text=turns[-1].content,
                    span=None,
                    judged=False,
                    window=None,
                    passages=shown,
                    labels=(imported,),
                )
            )
        verdicts = tuple(
            ExportVerdict(each.text, each.verdict, each.word, each.reason)
            for each in claims
            if each.judged
        )
        windows.append(
            ExportWindow(
                number, tuple(range(position + 1)), 0.5, "scored", "why", AT, verdicts, ("A truth",)
            )
        )
    claims = [
        each._replace(
            repeats=tuple(
                ExportRepeat(later, each.verdict, each.word, each.reason)
                for later in range(each.window + 1, answers)
            )
        )
        if each.window is not None
        else each
        for each in claims
    ]
    per_turn = {
        str(2 * number + 1): {"trace_id": f"{number + 1:032x}", "span_id": f"{number + 1:016x}"}
        for number in range(answers)
    }
    metadata = draw(st.dictionaries(st.sampled_from(["model", "tags", "site"]), _json_values))
    return ExportConversation(
        number=1,
        id="conversation-id",
        source="orders",
        key="order-17",
        group="order-17",
        metadata={**metadata, "per_turn": per_turn},
        turns=tuple(turns),
        claims=tuple(claims),
        windows=tuple(windows),
        state="done",
        score=0.5,
        corrected=0.5,
        reason="why",
    )


_some_texts = st.lists(_texts, min_size=1, max_size=3)


def read(files: Mapping[str, str] | Path) -> list[ParsedRecord]:
    """Read files as one data set, as `faithtui import` does."""
    if isinstance(files, Path):
        dataset, opened = open_file_and_detect_format(files, FormatChoice(), "orders")
        return list(dataset.read(opened))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in files.items():
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8", newline="")
            paths.append(path)
        dataset, opened = open_file_and_detect_format(paths[0], FormatChoice(), "orders")
        for path in paths[1:]:
            other, file = open_file_and_detect_format(path, FormatChoice(), "orders")
            file.close()
            assert other.reader is dataset.reader
        return list(replace(dataset, paths=tuple(paths)).read(opened))


def labels_of(chat: ExportConversation) -> set[tuple[object, ...]]:
    """Every label as an import has it."""
    return {
        (
            claim.turn,
            label.annotator,
            label.scale or "faithtui",
            label.raw_label or label.label,
            claim.text if claim.kind == "claim" else None,
            claim.span,
            label.note,
        )
        for claim in chat.claims
        for label in claim.labels
    }


def ratings_of(parsed: ParsedRecord) -> set[tuple[object, ...]]:
    assert not isinstance(parsed.found, Exception)
    return {
        (
            each.turn,
            each.annotator,
            each.scale,
            each.label,
            each.claim,
            None if each.span is None else (each.span.start, each.span.end),
            each.note,
        )
        for each in parsed.found.ratings
    }


def verdicts_of(chat: ExportConversation) -> list[tuple[str, str | None, str | None]]:
    return sorted((each.text, each.word, each.reason) for each in chat.claims if each.judged)


def imported_verdicts(parsed: ParsedRecord) -> list[tuple[str, str | None, str | None]]:
    found = [
        (claim.text, claim.word, claim.reason)
        for each in parsed.verdicts
        if isinstance(each, ImportedWindow)
        for claim in each.claims
    ]
    return sorted(set(found))


def turns_of(chat: ExportConversation, *, with_sources: bool = True) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            each.role,
            each.content,
            None
            if each.passages is None
            else tuple(
                Document(one.text, one.source if with_sources else None) for one in each.passages
            ),
        )
        for each in chat.turns
    )


Write = Callable[[Path, Iterable[Any]], None]


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    path.write_text("".join(format_json_lines(CLAIM_COLUMNS, rows)), encoding="utf-8")


def write_dataset_lines(path: Path, rows: Iterable[Any]) -> None:
    text = "".join(format_json_lines(CLAIM_COLUMNS, rows, json_as_text=True))
    path.write_text(text, encoding="utf-8")


def write_table(path: Path, rows: Iterable[Any]) -> None:
    path.write_text("".join(format_csv_lines(CLAIM_COLUMNS, rows)), encoding="utf-8", newline="")


def write_columns(path: Path, rows: Iterable[Any]) -> None:
    pytest.importorskip("pyarrow")
    write_parquet(path, CLAIM_COLUMNS, rows)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("c.jsonl", write_lines),
        ("c.jsonl", write_dataset_lines),
        ("c.csv", write_table),
        ("c.parquet", write_columns),
    ],
    ids=["jsonl", "dataset", "csv", "parquet"],
)
@settings(max_examples=10)
@given(chat=make_conversations())
def test_claims_come_back_whole(name: str, write: Write, chat: ExportConversation) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path, [make_claim_rows(RUN, chat)])
        (parsed,) = read(path)
    assert not isinstance(parsed.found, Exception)
    assert (parsed.found.source, parsed.found.key) == ("orders", chat.key)
    assert parsed.found.turns == turns_of(chat)
    assert parsed.found.metadata == {
        name: each for name, each in chat.metadata.items() if each is not None
    }
    assert ratings_of(parsed) == labels_of(chat)
    assert imported_verdicts(parsed) == verdicts_of(chat)
    assert {each.judge for each in parsed.verdicts} == {RUN.model}
    windows = [each for each in parsed.verdicts if isinstance(each, ImportedWindow)]
    assert [each.position for each in windows] == list(range(len(windows)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("passages", ...),
        ("passages", "a"),
        ("passages", 5),
        ("window", [1]),
        ("window", 0.5),
        ("conversation", ...),
    ],
)
def test_a_row_of_claims_with_a_wrong_field_is_refused_by_its_name(
    field: str, value: object
) -> None:
    rows = make_claim_rows(RUN, REVIEWED)
    lines = [json.loads(each) for each in format_json_lines(CLAIM_COLUMNS, [rows])]
    if value is ...:
        del lines[1][field]
    else:
        lines[1][field] = value
    found = read({"c.jsonl": "".join(f"{json.dumps(each)}\n" for each in lines)})
    errors = [each.found for each in found if isinstance(each.found, InputError)]
    assert [(each.line, each.field) for each in errors] == [(2, field)]
    assert len(found) == 2


def read_claims(chat: ExportConversation) -> tuple[ParsedRecord, Mapping[str, int]]:
    """Write the claims of a conversation and read them again, with the remarks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.jsonl"
        write_lines(path, [make_claim_rows(RUN, chat)])
        dataset, opened = open_file_and_detect_format(path, FormatChoice(), "orders")
        (parsed,) = dataset.read(opened)
    return parsed, dataset.notes.remarks


def test_what_rows_of_a_conversation_repeat_is_held_once_wherever_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[bool, bool]] = []
    add = RecordGroups.add

    def count_and_add(self: RecordGroups, key: str, value: Any) -> None:
        held.append((value["messages"] is not None, bool(value["passages"])))
        add(self, key, value)

    monkeypatch.setattr(RecordGroups, "add", count_and_add)
    other = replace(REVIEWED, id=f"{REVIEWED.id} 2", key="other")
    lines = [
        list(format_json_lines(CLAIM_COLUMNS, [make_claim_rows(RUN, each)]))
        for each in (REVIEWED, other)
    ]
    count = len(lines[0])
    assert count > 1
    read: list[list[Any]] = []
    for ordered in (
        lines[0] + lines[1],
        [each for pair in zip(*lines, strict=True) for each in pair],
    ):
        path = tmp_path / "c.jsonl"
        path.write_text("".join(ordered), encoding="utf-8")
        dataset, opened = open_file_and_detect_format(path, FormatChoice(), "orders")
        read.append([(each.found, each.verdicts) for each in dataset.read(opened)])
    assert read[0] == read[1]
    assert held[: 2 * count] == 2 * [(True, True), *[(False, False)] * (count - 1)]
    assert all(each[0] for each in held[2 * count :])


def test_passages_without_their_text_come_back_as_unknown() -> None:
    """No claim of the second answer was judged, so no row has the text of its second passage."""
    other = ExportPassage("f" * 64, "Parcels are brown.", None)
    turns = (
        *REVIEWED.turns,
        ExportTurn("user", "Which colour?", None),
        ExportTurn("assistant", "Brown.", (DEPOT, other)),
        ExportTurn("user", "And?", None),
        ExportTurn("assistant", "Nothing.", ()),
    )
    parsed, remarks = read_claims(replace(REVIEWED, turns=turns))
    assert not isinstance(parsed.found, Exception)
    shown = [each.retrieval_context for each in parsed.found.turns if each.role == "assistant"]
    assert [None if each is None else len(each) for each in shown] == [2, None, 0]
    assert [count for text, count in remarks.items() if "unknown passages" in text] == [1]


def test_one_text_from_two_sources_comes_back_with_both() -> None:
    shown = (DEPOT, DEPOT._replace(source="faq.md"))
    turns = (REVIEWED.turns[0], REVIEWED.turns[1]._replace(passages=shown))
    claims = tuple(each._replace(passages=shown) for each in REVIEWED.claims)
    chat = replace(REVIEWED, turns=turns, claims=claims)
    parsed, _ = read_claims(chat)
    assert not isinstance(parsed.found, Exception)
    assert parsed.found.turns == turns_of(chat)


def test_each_place_of_a_text_from_two_sources_keeps_its_own() -> None:
    """The rows name the sources of claims, which may come in another order than the messages."""
    faq = DEPOT._replace(source="faq.md")
    question, answer = REVIEWED.turns[:2]
    turns = (
        question,
        answer._replace(passages=(faq,)),
        question,
        answer._replace(passages=(DEPOT, faq, DEPOT._replace(source=None))),
    )
    claims = tuple(each._replace(passages=(DEPOT, faq)) for each in REVIEWED.claims)
    chat = replace(REVIEWED, turns=turns, claims=claims)
    parsed, _ = read_claims(chat)
    assert not isinstance(parsed.found, Exception)
    assert parsed.found.turns == turns_of(chat)


@pytest.mark.parametrize("is_known", [False, True])
def test_ragas_rows_tell_unknown_passages_from_none(is_known: bool) -> None:
    turns = (REVIEWED.turns[0], REVIEWED.turns[1]._replace(passages=() if is_known else None))
    claims = tuple(each._replace(passages=()) for each in REVIEWED.claims)
    chat = replace(REVIEWED, turns=turns, claims=claims)
    (parsed,) = read({"rows.jsonl": "".join(format_ragas_row_lines(RUN, chat))})
    assert not isinstance(parsed.found, Exception)
    assert parsed.found.turns[1].retrieval_context == (() if is_known else None)


def langfuse_trace(place: int, question: str, turn: ExportTurn) -> dict[str, object]:
    return {
        "id": f"{place + 1:032x}",
        "timestamp": f"2026-03-0{place + 1}T09:00:00Z",
        "sessionId": "order-17",
        "input": {"messages": [{"role": "user", "content": question}]},
        "output": {"role": "assistant", "content": turn.content},
        "observations": [],
    }


def langsmith_run(place: int, question: str, turn: ExportTurn) -> dict[str, object]:
    return {
        "id": f"00000000-0000-0000-0000-{place + 1:012x}",
        "trace_id": f"00000000-0000-0000-0000-{place + 1:012x}",
        "run_type": "chain",
        "start_time": f"2026-03-0{place + 1}T09:00:00Z",
        "inputs": {"messages": [{"role": "user", "content": question}]},
        "outputs": {"output": turn.content},
        "extra": {"metadata": {"thread_id": "order-17"}},
    }


def span(place: int, question: str, turn: ExportTurn) -> dict[str, object]:
    return {
        "name": "chat",
        "context": {"trace_id": f"{place + 1:032x}", "span_id": f"{place + 1:016x}"},
        "parent_id": None,
        "start_time": f"2026-03-0{place + 1}T09:00:00Z",
        "attributes": {
            "openinference.span.kind": "CHAIN",
            "session.id": "order-17",
            "input.value": json.dumps({"messages": [{"role": "user", "content": question}]}),
            "output.value": json.dumps({"content": turn.content}),
        },
    }


@pytest.mark.parametrize(
    ("make_trace", "write"),
    [
        (langfuse_trace, format_langfuse_score_lines),
        (langsmith_run, format_langsmith_feedback_lines),
        (span, format_openinference_annotation_lines),
        (span, format_opentelemetry_event_lines),
    ],
    ids=["langfuse", "langsmith", "openinference", "opentelemetry"],
)
@settings(max_examples=8)
@given(chat=make_conversations())
def test_scores_come_back_beside_their_traces_claim_by_claim(
    make_trace: Any, write: Any, chat: ExportConversation
) -> None:
    # The last answer has a score that says that there is none.
    last = len(chat.turns) - 1
    if last > 1:
        chat = replace(chat, claims=tuple(each for each in chat.claims if each.turn != last))
    answers = [each for each in chat.turns if each.role == "assistant"]
    questions = [each.content for each in chat.turns if each.role == "user"]
    traces = [
        make_trace(place, question, turn)
        for place, (question, turn) in enumerate(zip(questions, answers, strict=True))
    ]
    scores = "".join(line for each in list_answer_results(RUN, chat) for line in write(each))
    (parsed,) = read(
        {"traces.jsonl": "".join(f"{json.dumps(each)}\n" for each in traces), "s.jsonl": scores}
    )
    assert not isinstance(parsed.found, Exception)
    assert [each.content for each in parsed.found.turns] == [each.content for each in chat.turns]
    assert ratings_of(parsed) == labels_of(chat)
    assert imported_verdicts(parsed) == verdicts_of(chat)
    assert {each.judge for each in parsed.verdicts} == {RUN.judge}


@settings(max_examples=10)
@given(chat=make_conversations())
def test_a_deepeval_run_comes_back_with_windows_and_labels(chat: ExportConversation) -> None:
    assume(not any('"' in each.text or "\\" in each.text for each in chat.claims))
    (parsed,) = read({"run.json": "".join(format_run_json(RUN, [chat]))})
    assert not isinstance(parsed.found, Exception)
    assert parsed.found.turns == turns_of(chat, with_sources=False)
    assert parsed.found.metadata["per_turn"] == chat.metadata["per_turn"]
    assert ratings_of(parsed) == labels_of(chat)
    windows = [each for each in parsed.verdicts if isinstance(each, ImportedWindow)]
    assert [
        [(each.text, each.word, each.reason) for each in window.claims] for window in windows
    ] == [
        [(each.claim, each.word, each.reason) for each in window.verdicts]
        for window in chat.windows
    ]
    assert [each.truths for each in windows] == [each.truths for each in chat.windows]
    assert {each.judge for each in windows} == {RUN.judge}


@settings(max_examples=10)
@given(chat=make_conversations())
def test_ragas_rows_come_back_as_an_interaction_each(chat: ExportConversation) -> None:
    check_answers(chat, read({"rows.jsonl": "".join(format_ragas_row_lines(RUN, chat))}))


def check_answers(chat: ExportConversation, parsed: Sequence[ParsedRecord]) -> None:
    """See that each answer came back as a conversation, with what was said of it and its ids."""
    assert [each.found.turns[-1].content for each in parsed] == [  # type: ignore[union-attr]
        each.content for each in chat.turns if each.role == "assistant"
    ]
    found: set[tuple[object, ...]] = set()
    for place, each in enumerate(parsed):
        assert not isinstance(each.found, Exception)
        assert each.found.key == f"orders/order-17:{2 * place + 1}"
        ids = {"trace_id": f"{place + 1:032x}", "span_id": f"{place + 1:016x}"}
        per_turn = each.found.metadata["per_turn"]
        assert isinstance(per_turn, dict)
        assert per_turn["1"].items() >= ids.items()
        found |= {(2 * place + 1, *rating[1:]) for rating in ratings_of(each)}
    assert found == labels_of(chat)
    said = sorted(one for each in parsed for one in imported_verdicts(each))
    assert said == verdicts_of(chat)


def keep_own_details_out(results: str) -> str:
    """Give results of LlamaIndex as LlamaIndex itself would write them."""
    return json.dumps(
        [
            {name: value for name, value in each.items() if name not in (OWN_KEY, "metadata")}
            for each in json.loads(results)
        ]
    )


@settings(max_examples=8)
@given(chat=make_conversations())
def test_llamaindex_results_come_back_as_verdicts_on_answers(chat: ExportConversation) -> None:
    written = "".join(format_results_json(RUN, [chat]))
    parsed = read({"r.json": keep_own_details_out(written)})
    judged = [each for each in list_answer_results(RUN, chat) if each.by == "judge"]
    found: Sequence[ImportedVerdict] = [
        each for one in parsed for each in one.verdicts if isinstance(each, ImportedVerdict)
    ]
    assert [each.score for each in found] == [each.score for each in judged]
    assert [each.word or each.reason for each in found] == [each.explanation for each in judged]


@settings(max_examples=8)
@given(chat=make_conversations())
def test_llamaindex_results_come_back_claim_by_claim(chat: ExportConversation) -> None:
    check_answers(chat, read({"r.json": "".join(format_results_json(RUN, [chat]))}))


def test_cases_of_a_deepeval_run_are_read_one_by_one(tmp_path: Path) -> None:
    """A run of some hundred conversations is more than one JSON document may have."""
    talks_of_run = [replace(REVIEWED, id=str(number), key=str(number)) for number in range(3)]
    text = "".join(format_run_json(RUN, talks_of_run))
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), "orders")
    assert opened.kind is FileKind.TEST_RUN
    found = list(dataset.read(opened))
    assert [each.record for each in found] == [1, 2, 3]
    as_one = path.with_name("one.json")
    as_one.write_text(json.dumps({"identifier": "first", **json.loads(text)}), encoding="utf-8")
    assert [each.found for each in read(as_one)] == [each.found for each in found]
    path.write_text(text[: text.rindex('"order": 2')], encoding="utf-8")
    dataset, opened = open_file_and_detect_format(path, FormatChoice(), "orders")
    kept: list[ParsedRecord] = []
    with pytest.raises(InputError, match="ends in the middle of record 3"):
        kept.extend(dataset.read(opened))
    assert [each.found for each in kept] == [each.found for each in found[:2]]


def write_claims(chats: Sequence[ExportConversation]) -> dict[str, str]:
    rows = [make_claim_rows(RUN, each) for each in chats]
    return {"c.jsonl": "".join(format_json_lines(CLAIM_COLUMNS, rows))}


def write_claim_table(chats: Sequence[ExportConversation]) -> dict[str, str]:
    return {
        "c.csv": "".join(
            format_csv_lines(CLAIM_COLUMNS, [make_claim_rows(RUN, each) for each in chats])
        )
    }


def write_deepeval(chats: Sequence[ExportConversation]) -> dict[str, str]:
    run = replace(RUN, data_sets=len({each.source for each in chats}))
    return {"run.json": "".join(format_run_json(run, chats))}


def write_ragas_rows(chats: Sequence[ExportConversation]) -> dict[str, str]:
    return {
        "rows.jsonl": "".join(line for each in chats for line in format_ragas_row_lines(RUN, each))
    }


def write_llamaindex(chats: Sequence[ExportConversation]) -> dict[str, str]:
    return {"r.json": "".join(format_results_json(RUN, chats))}


def write_annotations(chats: Sequence[ExportConversation]) -> dict[str, str]:
    answers = [
        AnnotatedAnswer(
            "When?",
            turn.content,
            (),
            tuple(
                AnnotatedStatement(claim.text, True, "", True, "")
                for claim in each.claims
                if claim.turn == position and claim.judged
            ),
            source=each.source,
            conversation=each.key,
            turn=position,
        )
        for each in chats
        for position, turn in enumerate(each.turns)
        if turn.role == "assistant"
    ]
    return {"a.json": format_annotations_json(answers)}


@pytest.mark.parametrize(
    ("write", "are_answers"),
    [
        (write_claims, False),
        (write_claim_table, False),
        (write_deepeval, False),
        (write_ragas_rows, True),
        (write_llamaindex, True),
        (write_annotations, True),
    ],
)
@settings(max_examples=10)
@given(
    names=st.sets(
        st.tuples(
            st.sampled_from(["a", "b", "a/b", "a%2Fb", "a%252Fb", "50%"]),
            st.sampled_from(["1", "2", "b/1", "1:1"]),
        ),
        min_size=1,
        max_size=4,
    ),
    data=st.data(),
)
def test_equal_conversations_and_equal_ids_of_several_data_sets_stay_apart(
    write: Callable[[Sequence[ExportConversation]], dict[str, str]],
    are_answers: bool,
    names: set[tuple[str, str]],
    data: st.DataObject,
) -> None:
    """Data sets number their conversations alike, hold the same ones, and have any name."""
    some = data.draw(st.lists(make_conversations(), min_size=1, max_size=2))
    exported = [
        replace(data.draw(st.sampled_from(some)), id=f"{source}/{key}", source=source, key=key)
        for source, key in sorted(names)
    ]
    parsed = read(write(exported))
    keys = [each.found.key for each in parsed if not isinstance(each.found, Exception)]
    several = len({source for source, _ in names}) > 1
    if are_answers:
        expected = [
            f"{escape(each.source)}/{each.key}:{position}"
            for each in exported
            for position, turn in enumerate(each.turns)
            if turn.role == "assistant"
        ]
    else:
        expected = [
            f"{escape(each.source)}/{each.key}" if several else each.key for each in exported
        ]
    assert sorted(keys) == sorted(expected)
    assert len(set(keys)) == len(keys)


def escape(source: str) -> str:
    """Give a name of `names` as it stands in an id: as it is, unless it has a slash or seems to."""
    return {"a/b": "a%2Fb", "a%2Fb": "a%252Fb", "a%252Fb": "a%25252Fb"}.get(source, source)


@given(
    names=st.sets(
        st.tuples(st.text("a/%25F", max_size=6), st.text("a/%25F", max_size=6)), max_size=20
    )
)
def test_no_two_pairs_of_names_make_one_id(names: set[tuple[str, str]]) -> None:
    made = {
        make_exported_conversation_name(source, key, is_one_of_several=True)
        for source, key in names
    }
    assert len(made) == len(names)
    for source, key in names:
        if "/" not in source and "%2F" not in source and "%25" not in source:
            assert f"{source}/{key}" in made


@pytest.mark.parametrize(
    ("label", "record"),
    [
        ({}, None),
        ({"action": ["blind"], "seconds": 4}, None),
        ({"saw_judge": True}, LabelRecord(Action.IMPORTED, True)),
        ({"saw_judge": None, "seconds": 4}, None),
        ({"saw_judge": False, "seconds": 4}, LabelRecord(Action.IMPORTED, seconds=4.0)),
        ({"action": "agreed", "saw_judge": False}, LabelRecord(Action.AGREED, True)),
        (
            {"action": "blind", "seconds": 10**400, "code": ["truth"], "guideline": "a" * 101},
            LabelRecord(Action.BLIND),
        ),
        (
            {"action": "blind", "seconds": True, "code": "of no list", "judge_verdict": 4},
            LabelRecord(Action.BLIND),
        ),
        (
            {"action": "adjudicated", "seconds": 2, "code": "truth", "judge_verdict": "yes"},
            LabelRecord(Action.ADJUDICATED, False, "yes", 2.0, "truth"),
        ),
    ],
)
def test_how_a_label_was_given_is_read_of_what_can_be(
    label: Mapping[str, object], record: LabelRecord | None
) -> None:
    draft = ConversationDraft()
    draft.add_turn("assistant", "At nine.")
    add_faithtui_label(draft, 0, "ann", {"kind": "answer"}, {"label": "no", **label})
    assert [each.record for each in draft.ratings] == [record]
