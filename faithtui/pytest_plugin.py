"""The pytest plugin: assert that answers are faithful, and gate on a store.

It is loaded wherever faithtui is installed beside pytest, so that it imports nothing of the
program until a test uses it. What tests find out travels in their reports, which pytest-xdist
carries between processes too.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from faithtui.domain.conversation import Conversation
    from faithtui.domain.judging.judge_profile import JudgeProfile
    from faithtui.engine.library.judge_session import AnyJudge
    from faithtui.engine.library.measurement_result import Measurement
    from faithtui.metrics.base import Metric

GATE: Final = "faithtui_gate"
"""Name of the marker."""
_JUDGE_OPTION: Final = "--faithtui-judge"
_JUDGE_SETTING: Final = "faithtui_judge"
_RESULT: Final = "faithtui"
"""Name of the property of a report that holds a result."""
_MOST_CLAIMS: Final = 20
"""Claims that a message lists."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--faithtui-judge`."""
    group = parser.getgroup("faithtui", "faithfulness of answers")
    group.addoption(
        _JUDGE_OPTION,
        metavar="JUDGE",
        help="Judge of assert_faithful: offline, openai:MODEL, anthropic:MODEL, replay:FILE, … "
        f"[offline, or `{_JUDGE_SETTING}` of the ini file]",
    )
    parser.addini(_JUDGE_SETTING, "Judge of assert_faithful.", default="offline")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{GATE}(store, run='last', min_kappa=None, min_recall_no=None, min_score=None, "
        "min_labels=None, accept=(), certificate=None): fails unless the judge of a run in a store "
        "meets the thresholds, as `faithtui gate` decides.",
    )


class FaithfulnessCheck:
    """What the fixture `assert_faithful` gives a test: call it with a conversation."""

    def __init__(self, node: pytest.Item, judge: str) -> None:
        self._node = node
        self._judge = judge

    def __call__(
        self,
        conversation: "Conversation",
        min_score: float | None = None,
        *,
        metric: "str | Metric[Any]" = "turn-faithfulness",
        judge: "AnyJudge | None" = None,
        options: Mapping[str, object] | None = None,
        base_url: str | None = None,
        profile: "JudgeProfile | None" = None,
    ) -> "Measurement":
        """Measure a conversation; fail the test where its score is too low or there is none.

        Args:
            conversation: As `Conversation.of` and `single_turn` make it.
            min_score: Least score, 0 to 1; None: the threshold of the metric.
            metric: Key of a metric, or one that `build` made.
            judge: Who judges; None: as `--faithtui-judge` says.
            options: Options of the metric, when it is a key.
            base_url: Another server that speaks the judge's protocol.
            profile: Parameters that a provider's model is asked with; None: temperature 0.

        Returns:
            The measurement, for further assertions.

        Raises:
            AssertionError: The score is too low, undefined, failed, or was not computed.
            FaithtuiError: It cannot be measured, such as for want of a key, or `min_score` is no
                score.
        """
        __tracebackhide__ = True
        from faithtui.engine.library.measurement import measure
        from faithtui.errors import ConfigError, FaithtuiError
        from faithtui.judges.plugin_judge import get_ref_or_class_name

        if min_score is not None and not 0 <= min_score <= 1:
            raise ConfigError(f"min_score is {min_score}; expected a number from 0 to 1")
        asked = judge or self._judge
        try:
            found = measure(
                conversation, metric, asked, options=options, base_url=base_url, profile=profile
            )
        except FaithtuiError as error:
            # The sentence says it; what a judge of the test's own raised is shown beside it.
            cause = None if isinstance(asked, str) else _find_foreign_cause(error)
            raise error.with_traceback(None) from cause
        passed = _meets_score(found, min_score)
        name = asked if isinstance(asked, str) else get_ref_or_class_name(asked)
        result = {"kind": "score", "judge": name, "score": found.score.value, "passed": passed}
        self._node.user_properties.append((_RESULT, result))
        if not passed:
            raise AssertionError(_format_failure(found, min_score, name))
        return found


@pytest.fixture
def assert_faithful(request: pytest.FixtureRequest) -> FaithfulnessCheck:
    """Assert that the answers of a conversation are supported by their passages.

    Example: assert_faithful(single_turn(question, answer, passages), min_score=0.9)
    """
    named = request.config.getoption(_JUDGE_OPTION) or request.config.getini(_JUDGE_SETTING)
    return FaithfulnessCheck(request.node, str(named))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Hold the runs that markers name against their thresholds, before the test itself."""
    __tracebackhide__ = True
    for marker in item.iter_markers(GATE):
        _assert_gate_passes(item, marker)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was measured, where anything was."""
    results = [
        (report.nodeid, value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == _RESULT and isinstance(value, dict)
    ]
    if not results:
        return
    terminalreporter.section("faithtui")
    for line in _format_summary_lines(results):
        terminalreporter.write_line(line)


def _find_foreign_cause(error: BaseException) -> BaseException | None:
    """Find what another program raised that led to an error of this one."""
    from faithtui.errors import FaithtuiError

    cause = error.__cause__
    while isinstance(cause, FaithtuiError):
        cause = cause.__cause__
    return cause


def _meets_score(found: "Measurement", min_score: float | None) -> bool:
    from faithtui.domain.scores import TOLERANCE

    if min_score is None:
        return found.success is True
    value = found.score.value
    return value is not None and value >= min_score - TOLERANCE


def _format_failure(found: "Measurement", min_score: float | None, judge: str) -> str:
    """Say why a test fails: the score, and each claim that is not supported."""
    from faithtui.domain.labels.label_sets import Polarity
    from faithtui.domain.text.visible_text import make_visible_line

    def show(text: str) -> str:
        return make_visible_line(text, 500)

    score = found.score
    if score.value is None:
        head = f"no score: {score.state.value}, {score.reason or 'without a reason'}"
    else:
        wanted = "the threshold of the metric" if min_score is None else f"{min_score:g}"
        head = f"faithfulness is {score.value:.3g}, below {wanted}"
    lines = [f"{head} ({found.spec.key} by {judge})"]
    labels = found.spec.labels
    bad = [
        each
        for each in found.verdicts
        if each.label is None or labels.get_label(each.label).polarity is not Polarity.GOOD
    ]
    for verdict in bad[:_MOST_CLAIMS]:
        label = "no verdict" if verdict.label is None else verdict.label
        lines.append(f"  {label}: {show(verdict.claim.text)}")
        if verdict.reason:
            lines.append(f"    {show(verdict.reason)}")
    if len(bad) > _MOST_CLAIMS:
        lines.append(f"  … and {len(bad) - _MOST_CLAIMS} more")
    if found.warning:
        lines.append(f"  {show(found.warning)}")
    return "\n".join(lines)


def _assert_gate_passes(item: pytest.Item, marker: pytest.Mark) -> None:
    __tracebackhide__ = True
    from faithtui.engine.library.project import open_store
    from faithtui.errors import FaithtuiError
    from faithtui.paths import expand_home

    if len(marker.args) != 1:
        pytest.fail(f"the marker {GATE} needs the store: {GATE}('store.db', …)", pytrace=False)
    path = expand_home(marker.args[0])
    thresholds: dict[str, Any] = dict(marker.kwargs)
    run = thresholds.pop("run", "last")
    root = item.config.rootpath
    problem = None
    if not (root / path).exists():
        problem = f"there is no such file; the path is seen from pytest's root directory: {root}"
    else:
        try:
            with open_store(root / path, create=False) as store:
                found = store.gate(run, **thresholds)
        except (FaithtuiError, TypeError) as error:
            problem = str(error)
    if problem is not None:  # outside of the handler: pytest would print the message twice
        pytest.fail(f"gate over {path}: {problem}", pytrace=False)
    passed = found["result"] == "passed"
    result = {"kind": "gate", "store": path.name, "result": found["result"], "passed": passed}
    item.user_properties.append((_RESULT, result))
    if not passed:
        pytest.fail("\n".join(_format_gate_lines(found, path)), pytrace=False)


def _format_gate_lines(found: Mapping[str, Any], path: Path) -> Iterator[str]:
    yield f"gate over run {found['run']} of {path}: {found['result']}"
    for each in found["criteria"]:
        value = "none" if each["value"] is None else f"{each['value']:.3g}"
        reason = f", {each['reason']}" if each["reason"] else ""
        yield f"  {each['name']}: {value}, wanted {each['threshold']:g}: {each['result']}{reason}"
    for each in found["stale_or_broken"]:
        yield f"  stale or broken: {each}"


def _format_summary_lines(results: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Say in a line per judge and per gate what came of them."""
    scores = [(node, each) for node, each in results if each["kind"] == "score"]
    for judge in dict.fromkeys(each["judge"] for _, each in scores):
        own = [(node, each) for node, each in scores if each["judge"] == judge]
        below = sum(not each["passed"] for _, each in own)
        known = [(each["score"], node) for node, each in own if each["score"] is not None]
        line = f"{len(own)} measured by {judge}: {len(own) - below} faithful enough, {below} not"
        if known:
            lowest, node = min(known)
            mean = sum(score for score, _ in known) / len(known)
            line += f"; mean score {mean:.2f}, lowest {lowest:.2f} in {node}"
        yield line
    for node, each in results:
        if each["kind"] == "gate":
            yield f"gate over {each['store']}: {each['result']} ({node})"
