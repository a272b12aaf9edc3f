"""Every reader takes or refuses whatever stands in a file of its format, without a traceback.

Files are changed at random, with fixed seeds: odd values, types exchanged, null, deep nesting,
numbers too large, lone surrogates, a key twice.
"""

import csv
import io
import json
import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.json_lines import make_storable_json
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import RecordReader
from faithtui.formats.readers.registry import READERS, get_reader_by_name
from faithtui.formats.writers.flat_files import format_csv_lines, format_json_lines
from faithtui.formats.writers.flat_rows import (
    CLAIM_COLUMNS,
    LABEL_COLUMNS,
    make_claim_rows,
    make_label_rows,
)
from tests.formats.writers.exported import RUN, make_claim, make_conversation, make_label

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"
DEEP: object = json.loads("[" * 90 + "1" + "]" * 90)
DEEP_TEXT = "[" * 900 + "]" * 900
ODD: tuple[object, ...] = (
    None,
    True,
    "",
    "true",
    "None",
    0,
    -1,
    1.5,
    10**400,
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": ""},
    {"id": {"id": [1]}},
    [{"role": 1, "content": {}}],
    [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": 5}}]}],
    {"kwargs": {"content": "x"}, "id": {}},
    DEEP,
    DEEP_TEXT,
    '{"a": 1e999}',
    "[1e999]",
    "['a', 1e999]",
    '{"a": 1, "a": 2}',
    '["\\ud800"]',
    "\x00\ud800",
    "[{",
    "=1+1",
)
RAW = ("1e999", "-1e999", "NaN", "9" * 5000, '"\\ud800"', '{"a":1,"a":2}', "[" * 900 + "]" * 900)
"""What no JSON library writes, put into the text."""
MARK = "a place for what no library writes"
CELLS = (
    *(each.replace("\x00", "") for each in ODD if isinstance(each, str)),
    "[]",
    "{}",
    "1e999",
    "nan",
)
"""A NUL near the beginning makes a file a binary one."""


@dataclass(frozen=True)
class Sample:
    """Records of one format as they are, to be changed."""

    format: str
    records: list[object]
    is_document: bool = False


def load_samples() -> list[Sample]:
    found = []
    for path in sorted(FOLDER.iterdir()):
        if path.suffix not in (".json", ".jsonl"):
            continue
        dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
        file.close()
        text = path.read_text(encoding="utf-8")
        value = [json.loads(each) for each in text.splitlines()] if path.suffix == ".jsonl" else (
            json.loads(text)
        )  # fmt: skip
        is_document = not isinstance(value, list)
        found.append(
            Sample(dataset.reader.name, [value] if is_document else value[:6], is_document)
        )
    row = {"id": 1, "question": "q", "answer": "a", "contexts": ["c"], "chat_history": []}
    labels = {"label": "yes", "annotator": "ann", "faithfulness": 0.5, "judge": "j", "note": "n"}
    found.append(Sample("rows", [{**row, **labels}] * 3))
    chat = make_conversation(make_claim(0, "yes", labels=(make_label("ann", "yes"),)))
    claims = format_json_lines(CLAIM_COLUMNS, [make_claim_rows(RUN, chat)])
    found.append(Sample("faithtui-claims", [json.loads(each) for each in claims]))
    written = format_json_lines(LABEL_COLUMNS, [make_label_rows(RUN, chat)])
    found.append(Sample("faithtui-labels", [json.loads(each) for each in written]))
    return found


SAMPLES = load_samples()


def list_places(value: object, most: int = 400) -> list[tuple[object, object]]:
    """List containers with a key or place of each value in them, from the outside in."""
    found: list[tuple[object, object]] = []
    waiting = [value]
    while waiting and len(found) < most:
        each = waiting.pop(0)
        parts = each.items() if isinstance(each, dict) else enumerate(each)  # type: ignore[arg-type]  # only containers wait
        for key, inner in parts:
            found.append((each, key))
            if isinstance(inner, dict | list):
                waiting.append(inner)
    return found


def change_records(sample: Sample, chance: random.Random) -> str:
    """Write records in which a few values are odd."""
    records = deepcopy(sample.records)
    for _ in range(chance.randint(1, 3)):
        places = list_places(records)
        container, key = chance.choice(places)
        if container is records:  # what is no object is refused before any reader sees it
            continue
        other, name = chance.choice(places)
        odd = chance.choice((*ODD, MARK, other[name]))  # type: ignore[index]  # a list or a dict
        container[key] = deepcopy(odd)  # type: ignore[index]  # a list or a dict
    parts = [json.dumps(each).replace(f'"{MARK}"', chance.choice(RAW)) for each in records]
    return parts[0] if sample.is_document else "\n".join(parts)


def read_whole(path: Path, name: str) -> tuple[list[Conversation], list[InputError]]:
    try:
        dataset, file = open_file_and_detect_format(path, FormatChoice(name), None)
        found = [each.found for each in dataset.read(file)]
    except InputError as error:
        found = [error]
    for each in found:
        if isinstance(each, Conversation):
            make_storable_json(each.metadata)
            json.dumps([turn.content for turn in each.turns], ensure_ascii=False).encode()
    return (
        [each for each in found if isinstance(each, Conversation)],
        [each for each in found if isinstance(each, InputError)],
    )


def check_mutations(sample: Sample, seeds: Sequence[int], folder: Path) -> None:
    path = folder / "x.json"
    for seed in seeds:
        chance = random.Random(f"{sample.format} {seed}")
        path.write_text(change_records(sample, chance), encoding="utf-8", errors="surrogatepass")
        found, errors = read_whole(path, sample.format)
        for error in errors:
            assert error.path == path
        if isinstance(get_reader_by_name(sample.format), RecordReader) and not sample.is_document:
            # Each record gives something, even if it is a refusal.
            assert len(found) + len(errors) >= len(sample.records), (sample.format, seed)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.format)
def test_changed_records_are_read_or_refused(sample: Sample, tmp_path: Path) -> None:
    check_mutations(sample, range(12), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.format)
def test_many_changed_records_are_read_or_refused(sample: Sample, tmp_path: Path) -> None:
    """Ten times as many as each change is checked with."""
    check_mutations(sample, range(12, 150), tmp_path)


def test_all_readers_are_tried() -> None:
    assert {each.format for each in SAMPLES} == {each.name for each in READERS}


def load_tables() -> list[tuple[str, str]]:
    chat = make_conversation(make_claim(0, "yes", labels=(make_label("ann", "yes"),)))
    tables = [
        (path.name, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.csv"))
    ]
    claims = "".join(format_csv_lines(CLAIM_COLUMNS, [make_claim_rows(RUN, chat)]))
    rows = "id,question,answer,contexts,chat_history,label,annotator,faithfulness\n" + (
        '1,q,a,"[""c""]",[],yes,ann,0.5\n' * 3
    )
    return [*tables, ("claims", claims), ("rows", rows)]


TABLES = load_tables()


def check_tables(name: str, text: str, seeds: Sequence[int], folder: Path) -> None:
    path = folder / "x.csv"
    path.write_text(text, encoding="utf-8")
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    head, *rows = list(csv.reader(io.StringIO(text)))
    rows = rows[:6]
    for seed in seeds:
        chance = random.Random(f"{name} {seed}")
        changed = deepcopy(rows)
        for _ in range(chance.randint(1, 3)):
            row = chance.choice(changed)
            if chance.random() < 0.2:
                row.append("one more")
            elif row:
                row[chance.randrange(len(row))] = chance.choice(CELLS)
        written = io.StringIO()
        csv.writer(written).writerows([head, *changed])
        path.write_bytes(written.getvalue().encode("utf-8", "surrogatepass"))
        found, errors = read_whole(path, dataset.reader.name)
        if isinstance(dataset.reader, RecordReader):
            assert len(found) + len(errors) == sum(any(row) for row in changed), (name, seed)


@pytest.mark.parametrize(("name", "text"), TABLES, ids=[name for name, _ in TABLES])
def test_changed_tables_are_read_or_refused_row_by_row(
    name: str, text: str, tmp_path: Path
) -> None:
    check_tables(name, text, range(12), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "text"), TABLES, ids=[name for name, _ in TABLES])
def test_many_changed_tables_are_read_or_refused(name: str, text: str, tmp_path: Path) -> None:
    """Ten times as many as each change is checked with."""
    check_tables(name, text, range(12, 150), tmp_path)
