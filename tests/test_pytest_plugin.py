"""The pytest plugin, in tests of its own."""

import re
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from faithtui import measure, open_store, single_turn
from faithtui.errors import JudgeUnavailable, JudgeUnreachable
from tests.engine.library.test_project import CONVERSATIONS

pytest_plugins = ["pytester"]

# A nested run in this process forgets what it imported, and compiled modules load only once: what
# it needs is imported here.
for _module in (
    "review.gate.gate_json",
    "review.reports.agreement_report",
    "library.project",
):
    import_module(f"faithtui.engine.{_module}")
measure(single_turn("When?", "In May.", ["In May."]))

PLUGIN = "faithtui.pytest_plugin"
INSTALLED = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
WITH_PLUGIN = () if INSTALLED else ("-p", PLUGIN)
"""pytest registers a plugin by its entry point, and refuses the same one by another name."""
WITHOUT_OTHERS = [
    f"-pno:{each}" for each in ("textual-snapshot", "syrupy", "asyncio", "hypothesispytest")
]
"""Plugins of these tests, which a nested run would import again, or sets up anew."""
CONVERSATION = """
from faithtui import single_turn
GOOD = single_turn("When?", "It opens in May.", ["It opens in May."])
BAD = single_turn("When?", "It opens in May. It is free.", ["It opens in May."])
EMPTY = single_turn("When?", "It opens in May.")
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run tests with the plugin, which may be installed or not."""
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    for name in ("CI", "BUILD_NUMBER"):  # with one of them pytest repeats each failure in full
        monkeypatch.delenv(name, raising=False)

    def run_tests(code: str, *words: str) -> pytest.RunResult:
        pytester.makepyfile(CONVERSATION + code)
        # It keeps what it found in a variable of its module, which the tests around these need.
        return pytester.runpytest_inprocess(*WITH_PLUGIN, *WITHOUT_OTHERS, *words)

    return run_tests


def test_the_plugin_is_an_entry_point_of_pytest() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"faithtui": PLUGIN}


def test_a_faithful_answer_passes_and_another_fails_with_its_claims(run: Run) -> None:
    found = run("""
def test_good(assert_faithful):
    result = assert_faithful(GOOD, min_score=1)
    assert result.score.value == 1.0

def test_idk_passes_the_threshold_of_the_metric(assert_faithful):
    assert_faithful(BAD)

def test_bad(assert_faithful):
    assert_faithful(BAD, min_score=0.75, options={"penalize_ambiguous_claims": True})
""")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(
        [
            "*faithfulness is 0.5, below 0.75 (turn-faithfulness by offline)*",
            "*idk: It is free.*",
            "*= faithtui =*",
            "3 measured by offline: 2 faithful enough, 1 not; mean score 0.83, "
            "lowest 0.50 in *::test_bad",
        ]
    )
    assert "measure(conversation" not in found.stdout.str()  # no frame of the plugin


def test_what_has_no_score_fails(run: Run) -> None:
    found = run("""
def test_empty(assert_faithful):
    assert_faithful(EMPTY, min_score=0)
def test_wrong(assert_faithful):
    assert_faithful(GOOD, min_score=50)
""")
    found.assert_outcomes(failed=2)
    found.stdout.fnmatch_lines(
        ["*no score: skipped, no retrieval context*", "*min_score is 50; expected*"]
    )


def test_a_judge_of_ones_own_and_parameters_are_taken(run: Run) -> None:
    found = run("""
import json
from faithtui import JudgeProfile
class Mine:
    fingerprint = "mine 1"
    async def answer(self, question):
        return json.dumps(fill(question.schema))
def fill(schema):
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: fill(part) for name, part in schema["properties"].items()}
    return [fill(schema["items"])] if schema["type"] == "array" else "It opens."
def test_mine(assert_faithful):
    assert_faithful(GOOD, judge=Mine())
def test_parameters(assert_faithful):
    assert_faithful(GOOD, profile=JudgeProfile(temperature=0))
def test_refused(assert_faithful):
    assert_faithful(GOOD, profile=JudgeProfile(seed=1))
""")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["*offline takes no parameters*", "1 measured by Mine: 1 faithful*"])


def test_what_cannot_be_measured_is_told_without_frames_of_the_program(run: Run) -> None:
    found = run("""
def test_metric(assert_faithful):
    assert_faithful(GOOD, metric="faithfulness")
""")
    found.assert_outcomes(failed=1)
    out = found.stdout.str()
    assert "there is no metric `faithfulness`" in out
    assert "interrupts.py" not in out
    assert "RuntimeError" not in out
    assert "During handling" not in out


def test_what_a_judge_of_the_tests_own_raised_is_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: object, **more: object) -> None:
        unavailable = JudgeUnavailable("the judge failed")
        unavailable.__cause__ = OSError("the disk is full")
        raise JudgeUnreachable("nothing was answered") from unavailable

    monkeypatch.setattr("faithtui.engine.library.measurement.measure", fail)
    found = run("""
class Own:
    ref = "own"

def test_own(assert_faithful):
    assert_faithful(GOOD, judge=Own())

def test_named(assert_faithful):
    assert_faithful(GOOD, judge="openai:x")
""")
    found.assert_outcomes(failed=2)
    own, named = found.stdout.str().split("_ test_named _")
    assert "OSError: the disk is full" in own
    assert "JudgeUnavailable" not in own
    assert "JudgeUnreachable: nothing was answered" in named
    assert "OSError" not in named


def test_the_judge_is_named_on_the_command_line_or_in_the_ini_file(
    run: Run, pytester: pytest.Pytester
) -> None:
    code = """
def test_good(assert_faithful):
    assert_faithful(GOOD)
"""
    found = run(code, "--faithtui-judge", "nobody:x")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*unknown judge 'nobody:x'*"])
    pytester.makeini("[pytest]\nfaithtui_judge = somebody:x\n")
    run(code).stdout.fnmatch_lines(["*unknown judge 'somebody:x'*"])
    run(code, "--faithtui-judge", "offline").assert_outcomes(passed=1)


def test_a_marker_holds_a_run_against_thresholds(run: Run, pytester: pytest.Pytester) -> None:
    with open_store(pytester.path / "chats.db", reviewer="ann") as store:
        store.import_rows(CONVERSATIONS, source="houses")
        store.run()
        for claim in store.claims(blind=True):
            number = claim["claim"]
            assert isinstance(number, int)
            store.label(number, "yes" if "opens" in str(claim["text"]) else "no")
    found = run("""
import pytest

@pytest.mark.faithtui_gate("chats.db", min_kappa=0.6, min_labels=1)
def test_trusted():
    raise AssertionError("never comes to it")

@pytest.mark.faithtui_gate("none.db", min_kappa=0.6)
def test_missing(): pass

@pytest.mark.faithtui_gate("chats.db", run=1)
def test_nothing_asked(): pass

@pytest.mark.faithtui_gate("chats.db", kappa=0.6)
def test_misspelt(): pass
""")
    found.assert_outcomes(failed=4)
    out = found.stdout.str()
    assert "gate over run 1 of chats.db: " in out
    assert "kappa: " in out
    assert "wanted 0.6" in out
    assert "never comes to it" not in out
    assert out.count("there is no such file") == 1
    root = pytester.path
    assert "gate over none.db: there is no such file; the path is seen from pytest's root" in out
    assert f"root directory: {root}" in out
    assert "--store" not in out
    assert "During handling" not in out
    assert "nothing is asked" in out
    assert "unexpected keyword argument 'kappa'" in out
    assert "gate over chats.db: " in out


def test_a_gate_that_is_met_lets_the_test_run(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enough labels for a gate that is met take long to make; what it says is tested elsewhere."""
    with open_store(pytester.path / "chats.db", reviewer="ann") as store:
        store.import_rows(CONVERSATIONS, source="houses")
        store.run()
    passed = {"run": 1, "result": "passed", "criteria": [], "stale_or_broken": []}
    monkeypatch.setattr(
        "faithtui.engine.library.project.Project.gate", lambda *words, **more: passed
    )
    found = run("""
import pytest

@pytest.mark.faithtui_gate("chats.db", min_kappa=0.6)
def test_trusted():
    pass
""")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["gate over chats.db: passed (*::test_trusted)"])


def test_who_does_not_use_it_pays_and_sees_nothing(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
import sys
def pytest_sessionfinish():
    print("LOADED", sorted(each for each in sys.modules if each.startswith("faithtui")))
""")
    pytester.makepyfile(test_plain="def test_plain(): pass")
    found = pytester.runpytest_subprocess(
        *WITH_PLUGIN, *WITHOUT_OTHERS, "-s", "--strict-markers", "-W", "error"
    )
    found.assert_outcomes(passed=1)
    assert "LOADED ['faithtui', 'faithtui.pytest_plugin']" in found.stdout.str()
    assert "measured by" not in found.stdout.str()


def test_the_examples_of_the_page_are_tests(run: Run) -> None:
    page = (Path(__file__).parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    bot = "def ask_my_bot(question): return 'It opens in May.', ['It opens in May.']\n"
    found = run(bot + "\n".join(blocks))
    found.assert_outcomes(passed=1, failed=1)
    assert "gate over labels.db: there is no" in found.stdout.str()
    # The message on the page is the one of the bot that it quotes.
    said, passage = (
        "It can be returned for 90 days. Returns are free.",
        "30 days. Returns are free.",
    )
    assert f"*{said}*" in page
    [message] = re.findall(r"^```text\n(faithfulness is .*?)^```$", page, re.MULTILINE | re.DOTALL)
    bot = f"def ask_my_bot(question): return {said!r}, ['It can be returned for {passage}']\n"
    failed = run(bot + blocks[0])
    printed = [line.removeprefix("E").strip() for line in failed.stdout.lines]
    for line in message.splitlines():
        assert any(each.endswith(line.strip()) for each in printed), line


def test_results_come_through_the_processes_of_xdist(run: Run) -> None:
    found = run(
        """
def test_good(record_property):  # as `assert_faithful` does, which would load all of it there
    found = {"kind": "score", "judge": "offline", "score": 1.0, "passed": True}
    record_property("faithtui", found)
""",
        "-n",
        "1",
    )
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["1 measured by offline: 1 faithful enough, 0 not;*"])
