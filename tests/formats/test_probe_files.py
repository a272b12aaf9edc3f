"""Figures of probes from a file: shares come from its counts, and bad ones are refused by place."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.domain.probes.perturbations import Effect, ProbeKind
from faithtui.errors import InputError
from faithtui.formats.probe_files import read_probe_trial

ROW = {"kind": "number", "probes": 8, "changed": 6, "share": 0.1}
TRIAL = {"judge": "j:m", "fingerprint": "j m 1", "claims": 9, "seed": 3, "probes": [ROW]}


def write(path: Path, found: object) -> Path:
    file = path / "probes.json"
    file.write_text(json.dumps(found))
    return file


def test_shares_and_intervals_are_those_of_the_counts(tmp_path: Path) -> None:
    rows = [ROW, {"kind": "synonyms", "probes": 4, "changed": 0}]
    found = read_probe_trial(write(tmp_path, {**TRIAL, "probes": rows}))
    assert (found.judge, found.fingerprint, found.claims, found.seed) == ("j:m", "j m 1", 9, 3)
    synonyms, number = found.figures
    assert (synonyms.kind, synonyms.effect) == (ProbeKind.SYNONYMS, Effect.KEEPS)
    assert (number.probes, number.changed, number.share) == (8, 6, 0.75)
    assert (number.low, number.high) == wilson_interval(0.75, 8)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"judge": ""}, "judge"),
        ({"fingerprint": None}, "fingerprint"),
        ({"claims": -1}, "claims"),
        ({"seed": True}, "seed"),
        ({"probes": {}}, "probes"),
        ({"probes": [1]}, "probes"),
        ({"probes": [{**ROW, "kind": "copy"}]}, "probes[0].kind"),
        ({"probes": [ROW, ROW]}, "probes[1].kind"),
        ({"probes": [{**ROW, "probes": 0}]}, "probes[0].probes"),
        ({"probes": [{**ROW, "changed": 9}]}, "probes[0].changed"),
        ({"probes": [{**ROW, "changed": 1.5}]}, "probes[0].changed"),
    ],
)
def test_what_is_no_trial_is_refused_by_place(
    tmp_path: Path, changed: Mapping[str, object], field: str
) -> None:
    with pytest.raises(InputError, match="judge probe") as refused:
        read_probe_trial(write(tmp_path, {**TRIAL, **changed}))
    assert refused.value.field == field


@pytest.mark.parametrize("text", ["", "[]", "[{}, {}]", "not json", "{}\n{}"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "probes.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"expected|empty"):
        read_probe_trial(file)
