"""Odd values in files of any format are refused by name, never by a traceback."""

import json
from pathlib import Path

from faithtui.domain.labels.imported_verdicts import ImportedVerdict
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"


def test_an_id_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    first, *others = (FOLDER / "mtrag_generation_tasks.jsonl").read_text().splitlines()
    odd = json.dumps({**json.loads(first), "task_id": {"id": 1}})
    path.write_text("\n".join((odd, *others)))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
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
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    [record] = dataset.read(file)
    assert isinstance(record.verdicts[0], ImportedVerdict)
    assert record.verdicts[0].score is None
