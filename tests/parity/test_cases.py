import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.parity import reference, run_cases
from tests.parity.strategies import cases, scripted_cases

Json = Any

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "fixtures" / "parity" / "cases.json"
OWN = ROOT / "fixtures" / "parity" / "own_cases.json"


def cases_of(path: Path) -> list[Json]:
    found: list[Json] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return found


def comparable(outcome: Mapping[str, Json]) -> Json:
    return {
        "error": (outcome["error"] or {}).get("kind"),
        "score": outcome["score"],
        "success": outcome["success"],
        "windows": [
            {aspect: window[aspect] for aspect in ("turns", "score", "verdicts")}
            for window in outcome["windows"]
        ],
    }


def differences(case: Json, strategy: run_cases.Strategy) -> list[str]:
    judge = run_cases.OracleJudge(case["judge"])
    got = asyncio.run(run_cases.measured(case, judge, strategy))
    return run_cases.differences(reference.outcome(case), got, ())


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tests/parity/run_cases.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("case", cases_of(RECORDED), ids=lambda case: str(case["id"]))
def test_the_reference_works_out_what_was_recorded(case: Json) -> None:
    assert comparable(reference.outcome(case)) == comparable(case["expected"])


@pytest.mark.parametrize("case", cases_of(OWN), ids=lambda case: str(case["id"]))
def test_what_our_own_cases_expect_is_what_the_reference_works_out(case: Json) -> None:
    assert comparable(reference.outcome(case)) == comparable(case["expected"])


def test_every_recorded_case_passes_under_both_strategies() -> None:
    assert run_cases.run(cases_of(RECORDED), run_cases.STRATEGIES) == (28, 0, 0)


def test_every_own_case_passes_under_the_peers_own_questions() -> None:
    assert run_cases.run(cases_of(OWN), ["window"]) == (len(cases_of(OWN)), 0, 0)


def test_own_cases_that_script_no_window_pass_under_evidence() -> None:
    passed, failed, skipped = run_cases.run(cases_of(OWN), ["evidence"])
    assert (failed, passed + skipped) == (0, len(cases_of(OWN)))
    assert skipped == sum(
        run_cases.OracleJudge(case["judge"]).scripts_a_window() for case in cases_of(OWN)
    )


@given(cases())
@settings(deadline=None)
def test_both_strategies_and_the_reference_agree_on_any_conversation(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@given(cases(faults=True))
@settings(deadline=None, max_examples=50)
def test_they_agree_on_which_failing_questions_lose_a_conversation(case: Json) -> None:
    assert differences(case, "evidence") == []
    assert differences(case, "window") == []


@given(scripted_cases())
@settings(deadline=None)
def test_any_scripted_reply_is_read_as_the_peer_reads_it(case: Json) -> None:
    assert differences(case, "window") == []


def test_the_command_line_ends_with_the_counts_and_0() -> None:
    ran = command_line(str(RECORDED))
    assert ran.stdout.splitlines()[-1] == "28 passed, 0 failed, 0 skipped"
    assert ran.returncode == 0
    assert ran.stderr == ""


def test_the_command_line_runs_one_strategy_alone() -> None:
    ran = command_line(str(RECORDED), "--strategy", "window")
    assert ran.stdout.splitlines()[-1] == "14 passed, 0 failed, 0 skipped"
    assert ran.returncode == 0


def test_the_command_line_counts_differences_and_unknown_metrics_as_failed(tmp_path: Path) -> None:
    right, wrong, foreign = (dict(case) for case in cases_of(RECORDED)[:3])
    wrong["expected"] = {**wrong["expected"], "score": 0.123}
    foreign["metric"] = "no_such_metric"
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": [right, wrong, foreign]}), encoding="utf-8")
    ran = command_line(str(file), "--strategy", "evidence")
    lines = ran.stdout.splitlines()
    assert lines[-1] == "1 passed, 2 failed, 0 skipped"
    assert ran.returncode == 1
    assert any("expected 0.123" in line for line in lines)
    assert any("there is no metric no_such_metric" in line for line in lines)


def test_a_file_may_be_a_bare_list_of_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases_of(RECORDED)[:1]), encoding="utf-8")
    assert run_cases.main([str(file)]) == 0
    assert capsys.readouterr().out.endswith("2 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize("aspect", ["score", "success", "windows", "error", "verdicts"])
def test_aspects_of_the_peer_alone_are_not_compared(aspect: str) -> None:
    case = cases_of(RECORDED)[1]
    got = asyncio.run(run_cases.measured(case, run_cases.OracleJudge(case["judge"]), "evidence"))
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


def test_a_missing_window_is_a_difference() -> None:
    case = cases_of(RECORDED)[3]
    got = asyncio.run(run_cases.measured(case, run_cases.OracleJudge(case["judge"]), "window"))
    expected = {**case["expected"], "n_windows": 2, "windows": case["expected"]["windows"][:2]}
    assert run_cases.differences(expected, got, []) == ["3 windows, expected 2"]
