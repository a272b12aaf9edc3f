"""The page of formats has an example of each, and each is what it says."""

import json
import re
from pathlib import Path

import pytest

from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.registry import READERS

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
EXAMPLES = dict(
    re.findall(
        r"^### `([a-z-]+)`\n.*?```json\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
)


def test_there_is_an_example_of_each_format() -> None:
    assert list(EXAMPLES) == [each.name for each in READERS]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_recognised_and_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "example.json"
    path.write_text(json.dumps(json.loads(EXAMPLES[name])))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    assert dataset.reader.name == name
    found = [each.found for each in dataset.read(file)]
    assert bool(found) == (name != "faithtui-labels")
    for each in found:
        assert not isinstance(each, InputError)
        assert any(turn.role == "assistant" for turn in each.turns)
    assert not dataset.notes.unknown_keys
