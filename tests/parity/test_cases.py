import asyncio
import functools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.judging.tasks import RelateDocument
from faithtui.metrics.context_packs import pack_contexts_as_llamaindex
from faithtui.metrics.llamaindex import refinement
from faithtui.metrics.registry import METRICS
from tests.parity import run_cases
from tests.parity.oracle import OracleJudge, fitted

Json = Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "parity"
RECORDED = FOLDER / "cases.json"
PARTIAL = FOLDER / "partial_cases.json"
"""Claims that need several truths together, and claims of which a part is stated nowhere."""
OWN = sorted(FOLDER.glob("own_cases_*.json"))


def cases_of(*paths: Path) -> list[Json]:
    return [
        case for path in paths for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]


def runs(found: list[Json]) -> int:
    """Count what is run: conversations under both strategies, answers once."""
    return sum(1 if run_cases.key_of(case) in run_cases.ONE_ANSWER else 2 for case in found)


def test_every_metric_has_recorded_cases_and_own_ones() -> None:
    metrics = {entry.spec.key for entry in METRICS}
    assert {run_cases.key_of(case) for case in cases_of(RECORDED)} == metrics
    counts = Counter(run_cases.key_of(case) for case in cases_of(*OWN))
    assert set(counts) == metrics
    assert min(counts.values()) >= 100


@pytest.mark.parametrize("path", [RECORDED, PARTIAL], ids=lambda path: str(path.stem))
def test_every_recorded_case_passes_under_every_strategy(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cases.main([str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{runs(cases_of(path))} passed, 0 failed, 0 skipped"


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.stem))
def test_every_own_case_passes_under_the_peers_own_questions(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sixty cases have the same long contexts.
    pack = functools.cache(pack_contexts_as_llamaindex)
    monkeypatch.setattr(
        refinement, "pack_contexts_as_llamaindex", lambda texts, limit: pack(tuple(texts), limit)
    )
    own = cases_of(path)
    assert run_cases.run(own, ["window"]) == (len(own), 0, 0)


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.stem))
def test_own_cases_pass_under_evidence_unless_they_script_a_window(path: Path) -> None:
    own = cases_of(path)
    passed, failed, skipped = run_cases.run(own, ["evidence"])
    assert (passed + skipped, failed) == (len(own), 0)
    scripting = sum(run_cases.judge_of(case).scripts_a_window() for case in own)
    assert skipped <= (scripting if path.stem.endswith("turn_faithfulness") else 0)
    assert skipped < 15


@pytest.mark.thorough
def test_the_command_line_counts_differences_and_unknown_metrics_as_failed(tmp_path: Path) -> None:
    right, wrong, foreign = (dict(case) for case in cases_of(RECORDED)[:3])
    wrong["expected"] = {**wrong["expected"], "score": 0.123}
    foreign["metric"] = "no_such_metric"
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": [right, wrong, foreign]}), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "tests/parity/run_cases.py", str(file), "--strategy", "evidence"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    lines = ran.stdout.splitlines()
    assert lines[-1] == "1 passed, 2 failed, 0 skipped"
    assert (ran.returncode, ran.stderr) == (1, "")
    assert any("expected 0.123" in line for line in lines)
    assert any("there is no metric no_such_metric" in line for line in lines)


def test_a_file_may_be_a_bare_list_of_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases_of(RECORDED)[:1]), encoding="utf-8")
    assert run_cases.main([str(file)]) == 0
    assert capsys.readouterr().out.endswith("2 passed, 0 failed, 0 skipped\n")


def test_an_option_of_the_peer_that_we_do_not_have_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = {**cases_of(RECORDED)[0], "options": {"flaky": True, "no_such_option": 1}}
    assert run_cases.run([case], ["window"]) == (1, 0, 0)
    assert "(without flaky, no_such_option)" in capsys.readouterr().out


def test_a_scripted_reply_that_no_question_asks_for_is_skipped_and_not_passed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recorded = next(each for each in cases_of(RECORDED) if each["id"] == "tf-three-w2")
    judge = {**recorded["judge"], "verdict_list": {"truncate_to": 1}}
    assert run_cases.run([{**recorded, "judge": judge}], ["evidence"]) == (0, 0, 1)
    assert "SKIP tf-three-w2 [evidence]" in capsys.readouterr().out


@pytest.mark.parametrize(("fence", "error"), [("```", None), ("```json", "invalid_judge_reply")])
def test_a_corrected_text_in_a_fence_is_read_as_ragas_reads_it(
    fence: str, error: str | None
) -> None:
    """ragas 0.4.3 looks for ```json in the whole repaired reply, and finds its escaped inside."""
    case = next(each for each in cases_of(RECORDED) if each["id"] == "rg-all-supported")
    fixed = f'{fence}\n{{"statements": []}}\n```'
    judge = {**case["judge"], "faults": {"claims": {"raw": "no JSON"}}, "fixed_text": fixed}
    got = asyncio.run(run_cases.measured(case, OracleJudge(judge), "evidence"))
    assert (got.error, got.score) == (error, None)


def test_a_key_of_our_own_question_in_a_scripted_reply_means_nothing() -> None:
    task = RelateDocument("A document.", ("A message?",))
    assert fitted(task, '{"statements": []}', structured=True) == '{"others": []}'
    assert fitted(task, '{"verdicts": []}', structured=True) == '{"statements": []}'


@pytest.mark.parametrize("aspect", ["score", "success", "windows", "error", "verdicts"])
def test_aspects_of_the_peer_alone_are_not_compared(aspect: str) -> None:
    case = cases_of(RECORDED)[1]
    got = asyncio.run(run_cases.measured(case, run_cases.judge_of(case), "evidence"))
    window = {**case["expected"]["windows"][0], "verdicts": ["no"], "turns": [9]}
    wrong: dict[str, Json] = {
        "score": {"score": 0.1},
        "success": {"success": None},
        "windows": {"windows": [window]},
        "error": {"error": {"kind": "type_error"}},
        "verdicts": {"windows": [{**window, "turns": [0, 1]}]},
    }
    expected = {**case["expected"], **wrong[aspect]}
    assert run_cases.differences(expected, got, [])
    assert run_cases.differences(expected, got, [aspect]) == []


@pytest.mark.parametrize(
    ("start", "wrong"),
    [("ex-three", {"verdicts": ["yes", "yes", "idk"]}), ("li-supported", {"feedback": "NO"})],
)
def test_what_is_recorded_of_one_answer_is_compared(start: str, wrong: Json) -> None:
    case = next(each for each in cases_of(RECORDED) if each["id"].startswith(start))
    got = asyncio.run(run_cases.measured(case, run_cases.judge_of(case), "window"))
    assert run_cases.differences(case["expected"], got, []) == []
    expected = {**case["expected"], **wrong}
    assert len(run_cases.differences(expected, got, [])) == 1
    assert run_cases.differences(expected, got, list(wrong)) == []


def test_a_missing_window_is_a_difference() -> None:
    case = cases_of(RECORDED)[3]
    got = asyncio.run(run_cases.measured(case, run_cases.judge_of(case), "window"))
    expected = {**case["expected"], "n_windows": 2, "windows": case["expected"]["windows"][:2]}
    assert run_cases.differences(expected, got, []) == ["3 windows, expected 2"]
