"""F25 to F27: judges that take no schema, say they do and do not, or are simply weak."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.engine.calls.output_format_fallback import MOST_WASTED
from faithtui.engine.runs.events import WayChanged
from faithtui.judges.base import OutputFormat
from faithtui.store.records import RunState
from tests.engine.faulty_runs import Ran, filled, in_every_way, judged, providers
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import Fault

CONVERSATIONS = 6
CONCURRENCY = 4
OUTPUT_FORMATS = {
    "openai": ("schema", "tool", "json", "text"),
    "anthropic": ("schema", "tool", "text"),
}


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@providers
@pytest.mark.parametrize(
    ("status", "knows"),
    [(422, ("tool", "json", "text")), (400, ("json", "text")), (500, ("text",)), (500, ("tool",))],
)
async def test_f25_the_best_way_that_works_is_found_and_remembered(
    tmp_path: Path,
    server: FaultServer,
    clean: list[ScoreSet | None],
    provider: str,
    status: int,
    knows: Sequence[str],
) -> None:
    server.config.knows = tuple(knows)
    server.config.unsupported_status = status
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
        # Other questions, the same judge.
        again = await judged(store, server, provider, options={})
    assert ran.scores == clean
    best = next(way for way in OUTPUT_FORMATS[provider] if way in knows)
    for way in OUTPUT_FORMATS[provider]:
        rejected = [each for each in ran.entries if each.output_format == way and each.kind != "ok"]
        assert len(rejected) <= CONCURRENCY + 1
    assert {each.output_format for each in ran.entries if each.kind == "ok"} == {best}
    assert steps(ran) == OUTPUT_FORMATS[provider][: OUTPUT_FORMATS[provider].index(best) + 1]
    assert again.state is RunState.DONE
    assert again.entries
    assert {(each.output_format, each.kind) for each in again.entries} == {(best, "ok")}


@providers
@pytest.mark.parametrize("ignored", [("schema",), ("schema", "tool")])
@pytest.mark.parametrize("chats", [1, CONVERSATIONS])
async def test_f26_a_way_that_is_taken_and_ignored_is_left_after_a_few_replies(
    tmp_path: Path,
    server: FaultServer,
    clean: list[ScoreSet | None],
    provider: str,
    ignored: tuple[str, ...],
    chats: int,
) -> None:
    server.config.ignores = ignored
    with filled(tmp_path / "s.db", chats) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
    assert ran.scores == clean[:chats], "not even the questions that found it out are lost"
    assert ran.kinds["ignored"] <= 3


@providers
async def test_f26_a_judge_that_knows_no_json_is_given_up_after_six_replies(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    server.config.rules = (Rule((Fault("prose_only"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
    assert ran.state is RunState.STOPPED
    assert "did not return usable JSON" in (ran.row.reason or "")
    assert len(ran.entries) == MOST_WASTED
    assert (ran.row.pending, ran.row.failed) == (CONVERSATIONS, 0)


@in_every_way
async def test_f27_a_judge_that_gets_every_second_reply_wrong_loses_little_and_invents_nothing(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    weak = tuple(
        map(Fault, ("truncated_content", "wrong_schema", "prose", "think", "trailing_comma"))
    )
    server.config.seed = 4
    server.config.rules = (Rule(weak, probability=0.5),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        while ran.row.failed:
            ran = await judged(store, server, provider, run=ran.run, retry_unfinished=True)
    assert ran.state is RunState.DONE
    assert ran.scores == clean


def steps(ran: Ran) -> tuple[str, ...]:
    """List the ways that were tried, in order."""
    chosen = [event.taken for event in ran.events if isinstance(event, WayChanged)]
    return tuple(way for way, _ in groupby([OutputFormat.SCHEMA.value, *chosen]))
