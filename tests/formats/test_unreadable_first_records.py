"""A file whose first records cannot be read is taken for what the others are, or for nothing."""

import json
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import FormatUnknown
from faithtui.formats.files import record_files
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_detection import ROW, refusal
from tests.formats.test_real_formats import FOLDER

GOOD_LINE = json.dumps(ROW) + "\n"
HEADER = "question,answer,contexts\n"
GOOD_ROW = "When?,At nine.,[]\n"
BAD_ROW = "a,b,c,d\n"


def write_text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read_format_and_count(path: Path, choice: FormatChoice | None = None) -> tuple[str, str, int]:
    """Give the format, its reason and the number of conversations."""
    dataset, file = open_file_and_detect_format(path, choice or FormatChoice(), None)
    found = [each.found for each in dataset.read(file)]
    count = sum(isinstance(each, Conversation) for each in found)
    return dataset.reader.name, dataset.reason, count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", "{bad json\n" * 60 + GOOD_LINE * 3),
        ("x.csv", HEADER + BAD_ROW * 60 + GOOD_ROW * 3),
    ],
)
def test_records_behind_many_that_cannot_be_read_say_what_a_file_is(
    tmp_path: Path, name: str, text: str
) -> None:
    found, reason, count = read_format_and_count(write_text(tmp_path / name, text))
    assert (found, count) == ("rows", 3)
    assert reason == "rows with `question`, `answer`, `contexts`"


def test_a_header_settles_a_table_whose_first_rows_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "SAMPLE_UNREADABLE", 40)
    path = write_text(tmp_path / "x.csv", HEADER + BAD_ROW * 60 + GOOD_ROW * 3)
    found, reason, count = read_format_and_count(path)
    assert (found, count) == ("rows", 3)
    assert reason.endswith("; of its first rows none can be read")
    other = write_text(tmp_path / "y.csv", f"frage,answer\n{BAD_ROW * 60}When?,At nine.\n")
    assert "has the answer and not the question" in refusal(other)
    assert "40 of its first 40 cannot be read: line 2: has 4 cells" in refusal(other)
    choice = FormatChoice(renames={"frage": "question"})
    assert read_format_and_count(other, choice)[::2] == ("rows", 1)


@pytest.mark.parametrize("bound", ["SAMPLE_UNREADABLE", "SAMPLE_UNREADABLE_BYTES"])
def test_lines_that_cannot_be_read_for_too_long_are_no_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(record_files, bound, 40)
    path = write_text(tmp_path / "x.jsonl", "{bad json\n" * 60 + GOOD_LINE)
    told = refusal(path)
    assert "is JSON lines in no format that can be told" in told
    assert "`openai-chat`" in told
    assert read_format_and_count(path, FormatChoice("rows"))[::2] == ("rows", 1)


def test_a_document_that_was_cut_off_is_no_format(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.json", '{"samples": [' + json.dumps(ROW) + ",")
    with pytest.raises(FormatUnknown, match=r"x\.json: line 1: is not JSON.*`faithbench`"):
        open_file_and_detect_format(path, FormatChoice(), None)


def test_what_cuts_off_the_only_record_is_said_first(tmp_path: Path) -> None:
    path = write_text(tmp_path / "x.jsonl", GOOD_LINE[:40])
    with pytest.raises(FormatUnknown) as caught:
        open_file_and_detect_format(path, FormatChoice(), None)
    assert str(caught.value).startswith(f"{path}: line 1: is not JSON: Expecting")


@pytest.mark.parametrize(
    "name",
    [
        "mtrag_inspectorraget.json",
        "faithbench_batch.json",
        "ragas_annotated_helpfulness.json",
        "llamaindex_labelled_rag_dataset.json",
        "deepeval_test_run.json",
    ],
)
def test_formats_of_one_document_are_refused_whole_where_they_were_cut_off(
    tmp_path: Path, name: str
) -> None:
    """As docs/formats.md says."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert "is not JSON" in refusal(write_text(tmp_path / name, text[: len(text) // 2]))
