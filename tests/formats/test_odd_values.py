"""Odd values in files of any format are refused by name, never by a traceback."""

import json
import random
from copy import deepcopy
from pathlib import Path

import pytest

from faithtui.domain.imported_verdicts import ImportedVerdict
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_dataset

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"
NAMES = sorted(each.name for each in FOLDER.iterdir() if each.suffix in (".json", ".jsonl"))
MUTATIONS = 3
ODD: tuple[object, ...] = (
    None,
    True,
    "true",
    "",
    0,
    -1,
    1.5,
    10**400,
    [],
    {},
    [[]],
    [None],
    {"id": {"id": [1]}},
    {"a": None},
    [{"role": 1, "content": {}}],
    "[{",
    "\x00\ud800",
)


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


def read_mutated(name: str, seed: int, path: Path) -> None:
    """Read a fixture in which a few values are odd, to its end or to a named error."""
    chance = random.Random(f"{name} {seed}")
    text = (FOLDER / name).read_text(encoding="utf-8")
    is_lines = name.endswith(".jsonl")
    records = [json.loads(each) for each in text.splitlines()[:6]] if is_lines else json.loads(text)
    dataset, file = open_dataset(FOLDER / name, FormatChoice(), None)
    file.close()
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(list_places(records))
        container[key] = deepcopy(chance.choice(ODD))  # type: ignore[index]  # a list or a dict
    written = "\n".join(map(json.dumps, records)) if is_lines else json.dumps(records)
    path.write_text(written, encoding="utf-8")
    choice = FormatChoice(dataset.reader.name)
    try:
        dataset, file = open_dataset(path, choice, None)
        list(dataset.read(file))
    except InputError:
        pass


def test_an_id_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    first, *others = (FOLDER / "mtrag_generation_tasks.jsonl").read_text().splitlines()
    odd = json.dumps({**json.loads(first), "task_id": {"id": 1}})
    path.write_text("\n".join((odd, *others)))
    dataset, file = open_dataset(path, FormatChoice(), None)
    found = [each.found for each in dataset.read(file)]
    [error] = [each for each in found if isinstance(each, InputError)]
    assert (error.line, error.field) == (1, "task_id")
    assert len(found) > 1


def test_a_score_too_large_for_a_number_is_no_score(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    records = json.loads((FOLDER / "langfuse_traces.json").read_text())
    for trace in records:
        for score in trace["scores"]:
            score["value"] = 10**400
    path.write_text(json.dumps(records))
    dataset, file = open_dataset(path, FormatChoice(), None)
    [record] = dataset.read(file)
    assert isinstance(record.verdicts[0], ImportedVerdict)
    assert record.verdicts[0].score is None


@pytest.mark.parametrize("name", NAMES)
def test_odd_values_are_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
    for seed in range(MUTATIONS):
        read_mutated(name, seed, tmp_path / name)
