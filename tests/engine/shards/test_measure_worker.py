"""One worker and one shard: the rows, kills, failures, locks and limits."""

import asyncio
import gc
import json
import os
import shutil
import stat
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Image, Turn
from faithtui.domain.scores import ScoreState
from faithtui.domain.text import sentences
from faithtui.engine.calls import send
from faithtui.engine.calls.budget import BudgetCaps
from faithtui.engine.calls.rate_limiter import SpeedLimit
from faithtui.engine.library.measurement import measure_async
from faithtui.engine.shards import journal_file
from faithtui.engine.shards.call_limits import LocalCallLimits
from faithtui.engine.shards.journal import ShardJournal
from faithtui.engine.shards.journal_file import ShardTaken
from faithtui.engine.shards.judgement_json import judgement_from_json_text
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.measure_worker import ShardOutcome, measure_shard_async
from faithtui.engine.shards.results_schema import TABLES, get_table_file, list_finished_shards
from faithtui.engine.shards.shard_source import Shard, list_shards
from faithtui.engine.shards.table_reader import iter_measured_rows
from faithtui.errors import ExportError, FileUnreadable, JudgeError, JudgeRefused, JudgeUnavailable
from faithtui.formats.image_reader import MAX_IMAGES
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.judges.base import JudgeReply, JudgeRequest, Usage
from faithtui.judges.embedded import embedded_replies
from faithtui.output_files import move_into_place
from tests.engine.building import CountingJudge, conversation, failing
from tests.engine.shards.shard_files import (
    CONVERSATIONS,
    read_rows,
    read_tables,
    write_lines,
)

SETTINGS = MeasureSettings(concurrency=3)


def write_shard(folder: Path, chats: Sequence[Conversation | str] = CONVERSATIONS) -> Shard:
    """Write conversations into a file and give it as a shard."""
    (shard,) = list_shards(write_lines(folder / "parcels.jsonl", chats))
    return shard


async def measure_into(
    results: Path, shard: Shard, judge: CountingJudge, **changes: Any
) -> ShardOutcome:
    return await measure_shard_async(replace(SETTINGS, **changes), shard, results, judge=judge)


async def test_the_rows_say_what_measure_says(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)
    outcome = await measure_into(tmp_path / "r", shard, CountingJudge())
    assert (outcome.is_whole, outcome.conversations, outcome.failed) == (True, 5, 0)
    rows = read_rows(tmp_path / "r", "conversations")
    assert [each["key"] for each in rows] == [each.key for each in CONVERSATIONS]
    for chat, row in zip(CONVERSATIONS, rows, strict=True):
        expected = await measure_async(chat, judge=CountingJudge())
        assert row["windowed"] == expected.score.value
        assert row["claims"] == len(expected.claims) == row["yes"]
        judgement = judgement_from_json_text(row["judgement"])
        assert judgement.assessments == expected.windows
        assert judgement.conclusion.reason == expected.reason
        assert json.loads(row["conversation"])["id"] == chat.key
    claims = read_rows(tmp_path / "r", "claims")
    assert [each["claim"] for each in claims if each["key"] == "a"] == [
        "Parcel a-0 weighs 1 kilograms.",
        "Parcel a-1 weighs 2 kilograms.",
    ]
    first = claims[0]
    assert (first["turn"], first["home_window"], first["windows"]) == (1, 0, 2)
    assert (first["label"], first["differs"], first["uncertainty"]) == ("yes", False, 0.0)
    windows = read_rows(tmp_path / "r", "windows")
    assert [(w["first_turn"], w["last_turn"]) for w in windows[:2]] == [(0, 1), (0, 3)]
    assert sum(each["calls"] for each in rows) == outcome.calls
    assert len(read_rows(tmp_path / "r", "replies")) == outcome.calls
    assert sum(each["tokens_in"] for each in rows) == 7 * outcome.calls


async def test_a_whole_shard_is_not_measured_again(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)
    await measure_into(tmp_path / "r", shard, CountingJudge())
    judge = CountingJudge()
    outcome = await measure_into(tmp_path / "r", shard, judge)
    assert outcome.was_whole
    assert not judge.asked
    assert list((tmp_path / "r" / "journal").iterdir()) == []


async def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    await measure_into(tmp_path / "r", write_shard(tmp_path), CountingJudge())
    for path in (tmp_path / "r").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


async def interrupted_journal(tmp_path: Path, shard: Shard) -> bytes:
    """Give the journal of a shard whose tables could not be written: all answers are in it."""
    results = tmp_path / "interrupted"
    results.mkdir()
    (results / "claims").write_text("in the way")
    with pytest.raises(ExportError, match="asks nothing again"):
        await measure_into(results, shard, CountingJudge())
    assert not list((results / "conversations").glob("*.parquet"))
    return (results / "journal" / f"{shard.name}.jsonl").read_bytes()


async def test_whatever_a_kill_leaves_of_the_journal_nothing_is_bought_twice(
    tmp_path: Path,
) -> None:
    shard = write_shard(tmp_path, CONVERSATIONS[:2])
    await measure_into(tmp_path / "whole", shard, CountingJudge())
    expected = read_tables(tmp_path / "whole")
    journal = await interrupted_journal(tmp_path, shard)
    lines = journal.splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(len(lines) + 1)]
    # At the end of each line, in the middle of each, and within the last character.
    cuts = {*ends, *(end + len(line) // 2 for end, line in zip(ends, lines, strict=False))}
    cuts |= {end - 1 for end in ends[1:]}
    for cut in sorted(cuts):
        results = tmp_path / "again"
        shutil.rmtree(results, ignore_errors=True)
        (results / "journal").mkdir(parents=True, mode=0o700)
        (results / "journal" / f"{shard.name}.jsonl").write_bytes(journal[:cut])
        kept = [json.loads(line) for line, end in zip(lines, ends[1:], strict=True) if end <= cut]
        replies = [each for each in kept if "key" in each]
        judge = CountingJudge()
        told: list[ShardOutcome] = []
        outcome = await measure_shard_async(
            SETTINGS, shard, results, judge=judge, on_progress=told.append
        )
        assert outcome.is_whole
        assert len(told) == 2 - sum("done" in each for each in kept), "none is measured twice"
        assert len(judge.asked) + len(replies) == len(expected["replies"]), cut
        assert read_tables(results) == expected, cut


async def test_a_reply_is_in_the_journal_before_it_is_used(tmp_path: Path) -> None:
    shard = write_shard(tmp_path, CONVERSATIONS[:1])
    path = tmp_path / "r" / "journal" / f"{shard.name}.jsonl"
    seen: list[Counter[str]] = []

    def look(request: JudgeRequest) -> None:
        lines = map(json.loads, path.read_text().splitlines())
        seen.append(Counter(line["step"] for line in lines))

    judge = CountingJudge(look)
    await measure_into(tmp_path / "r", shard, judge)
    for request, before in zip(judge.asked, seen, strict=True):
        if request.step == "evidence":  # it asks about what the other two said
            assert before["truths"], before
            assert before["claims"], before


async def test_a_reply_that_costs_is_on_the_disk_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def note_and_sync(number: int) -> None:
        synced.append(number)
        real(number)

    monkeypatch.setattr(os, "fsync", note_and_sync)
    shard = write_shard(tmp_path, CONVERSATIONS[:1])
    await measure_into(tmp_path / "r", shard, CountingJudge())
    with_own_judge = len(synced)
    await measure_shard_async(SETTINGS, shard, tmp_path / "free")
    # The files of both are flushed; the replies of the embedded judge can be computed again.
    assert with_own_judge > len(synced) - with_own_judge


async def test_what_cannot_be_read_or_judged_is_a_row_with_a_reason(tmp_path: Path) -> None:
    chats: list[Conversation | str] = [
        CONVERSATIONS[0],
        '{"id": "broken", "turns": 7}',
        "{not json",
        CONVERSATIONS[1],
        CONVERSATIONS[2],
    ]
    shard = write_shard(tmp_path, chats)
    judge = failing(JudgeRefused("no", raw="no"), lambda request: "b-0" in request.prompt)
    outcome = await measure_into(tmp_path / "r", shard, judge)
    assert (outcome.is_whole, outcome.conversations, outcome.failed) == (True, 5, 3)
    rows = read_rows(tmp_path / "r", "conversations")
    assert [each["state"] for each in rows] == ["scored", "failed", "failed", "failed", "scored"]
    assert [each["number"] for each in rows] == [0, 1, 2, 3, 4]
    assert rows[1]["key"] == "line 2"
    assert "turns" in rows[1]["reason"]
    assert "is not JSON" in rows[2]["reason"]
    assert rows[2]["conversation"] is None
    assert "no" in rows[3]["reason"]
    assert rows[3]["key"] == "b"


async def test_a_file_that_breaks_off_ends_in_a_row_that_says_so(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "all.jsonl").read_text().splitlines()
    (tmp_path / "parcels.json").write_text("[" + ",\n".join(lines[:3]) + ",\n")
    (shard,) = list_shards(tmp_path / "parcels.json")
    outcome = await measure_into(tmp_path / "r", shard, CountingJudge())
    rows = read_rows(tmp_path / "r", "conversations")
    assert outcome.is_whole
    assert [each["state"] for each in rows] == ["scored", "scored", "scored", "failed"]
    assert "parcels.json" in rows[3]["reason"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("p.jsonl", '{"id": "1", "turns": [\n{"id": "2", "tur\n', "is not JSON"),
        ("p.jsonl", "prose and nothing else\n", "is text that begins with"),
        ("p.jsonl", '{"a": 1}\n{"a": 2}\n', "in no format that is known here"),
        ("p.jsonl", '{"id": "1", "turns": 7}\n', "in no format that is known here"),
        ("p.json", "[5, 6]", "is text that begins with"),
        ("p.csv", 'id,turns\nx,"open\n', "is not CSV"),
        ("p.parquet", "PAR1, and then nothing", "it may be cut off"),
        ("p.parquet", "", "is empty"),
        ("p.jsonl.gz", "\x1f\x8b\x08, and then nothing", "p.jsonl.gz"),
    ],
)
async def test_a_file_of_which_nobody_can_read_anything_is_one_failed_row(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text, encoding="latin-1")
    (shard,) = list_shards(tmp_path / name, shard_size=1)
    outcome = await measure_into(tmp_path / "r", shard, CountingJudge())
    assert (outcome.is_whole, outcome.conversations, outcome.failed) == (True, 1, 1)
    (row,) = read_rows(tmp_path / "r", "conversations")
    assert (row["state"], row["conversation"]) == ("failed", None)
    assert reason in row["reason"]
    assert reason in (outcome.problem or "")


async def test_lines_of_which_none_can_be_read_are_a_failed_row_each(tmp_path: Path) -> None:
    shard = write_shard(tmp_path, ["{broken"] * 40 + [CONVERSATIONS[0]])
    outcome = await measure_into(tmp_path / "r", shard, CountingJudge())
    assert (outcome.is_whole, outcome.conversations, outcome.failed) == (True, 41, 40)


async def test_a_file_that_the_system_does_not_give_is_no_shard_that_is_whole(
    tmp_path: Path,
) -> None:
    shard = write_shard(tmp_path)
    (tmp_path / "parcels.jsonl").unlink()
    with pytest.raises(FileUnreadable, match="cannot be read"):
        await measure_into(tmp_path / "r", shard, CountingJudge())
    assert not get_table_file(tmp_path / "r", "conversations", shard.name).exists()


async def test_a_file_that_the_system_gives_no_more_of_is_read_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = write_shard(tmp_path)
    judge, read = CountingJudge(), Shard.read

    def read_two(shard: Shard, choice: FormatChoice) -> Iterator[ParsedRecord]:
        yield from islice(read(shard, choice), 2)
        raise FileUnreadable("cannot be read: Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(Shard, "read", read_two)
        with pytest.raises(FileUnreadable, match="Input/output error"):
            await measure_into(tmp_path / "r", shard, judge)
    assert not list(list_finished_shards(tmp_path / "r"))
    assert (await measure_into(tmp_path / "r", shard, judge)).failed == 0
    whole = CountingJudge()
    await measure_into(tmp_path / "whole", shard, whole)
    assert read_tables(tmp_path / "r") == read_tables(tmp_path / "whole")
    assert len(judge.asked) == len(whole.asked)  # what was on its way was kept


async def test_two_workers_cannot_have_one_shard(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)
    with (
        ShardJournal(tmp_path / "r", shard.name, "judge", durable=True),
        pytest.raises(ShardTaken, match=r"another worker has shard parcels.jsonl; wait for it"),
    ):
        await measure_into(tmp_path / "r", shard, CountingJudge())
    outcome = await measure_into(tmp_path / "r", shard, CountingJudge())
    assert outcome.is_whole


async def test_a_worker_that_comes_late_finds_the_shard_whole(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)
    await measure_into(tmp_path / "r", shard, CountingJudge())
    with ShardJournal(tmp_path / "r", shard.name, "judge", durable=True) as journal:
        assert journal.is_whole
        assert not journal.path.exists()


async def test_two_equal_questions_of_a_shard_are_bought_once(tmp_path: Path) -> None:
    twin = Conversation("parcels", "twin", CONVERSATIONS[0].turns, "parcels/twin")
    judge = CountingJudge()
    await measure_into(
        tmp_path / "r", write_shard(tmp_path, [CONVERSATIONS[0], twin]), judge, concurrency=1
    )
    alone = CountingJudge()
    await measure_into(
        tmp_path / "alone", write_shard(tmp_path / "one", CONVERSATIONS[:1]), alone, concurrency=1
    )
    assert len(judge.asked) == len(alone.asked)
    rows = read_rows(tmp_path / "r", "conversations")
    assert [each["calls"] for each in rows] == [len(alone.asked), 0]
    assert rows[1]["calls_stored"] == len(alone.asked)


async def test_a_budget_ends_the_work_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)

    class Costly(CountingJudge):
        async def send(self, request: JudgeRequest) -> JudgeReply:
            return replace(await super().send(request), usage=Usage(2000, 1000))

    judge = Costly()
    call_limits = LocalCallLimits(SpeedLimit(), BudgetCaps(tokens=25_000))
    outcome = await measure_shard_async(
        SETTINGS, shard, tmp_path / "r", call_limits=call_limits, judge=judge
    )
    assert not outcome.is_whole
    assert outcome.stops_all
    assert "the budget of 25,000 tokens does not hold another question" in (outcome.problem or "")
    assert outcome.error_code == 5
    rest = CountingJudge()
    assert (await measure_into(tmp_path / "r", shard, rest)).is_whole
    await measure_into(tmp_path / "whole", shard, CountingJudge())
    assert read_tables(tmp_path / "r") == read_tables(tmp_path / "whole")
    assert len(judge.asked) + len(rest.asked) == len(read_rows(tmp_path / "r", "replies"))


async def test_a_judge_that_restarts_as_a_shard_begins_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "FIRST_WAIT_S", 0.0)
    refused = JudgeUnavailable("nothing listens")
    refused.nothing_listens = True
    is_gone = True
    tries: Counter[str] = Counter()

    def be_silent(request: JudgeRequest) -> None:
        tries[request.prompt] += 1
        if is_gone and tries[request.prompt] <= send.ATTEMPTS_WHERE_NOTHING_LISTENS:
            raise refused

    judge = CountingJudge(be_silent)
    call_limits = LocalCallLimits(SpeedLimit(), BudgetCaps())

    async def measure(name: str) -> ShardOutcome:
        tries.clear()
        return await measure_shard_async(
            replace(SETTINGS, concurrency=1),
            write_shard(tmp_path / name),
            tmp_path / name / "results",
            call_limits=call_limits,
            judge=judge,
        )

    assert "Nothing was answered so far" in ((await measure("first")).problem or "")
    is_gone = False
    assert (await measure("second")).is_whole
    is_gone = True
    assert (await measure("third")).is_whole


async def test_a_stop_keeps_what_was_answered(tmp_path: Path) -> None:
    shard = write_shard(tmp_path)
    stop = asyncio.Event()

    def stop_at_fourth(request: JudgeRequest) -> None:
        if len(judge.asked) >= 4:
            stop.set()

    judge = CountingJudge(stop_at_fourth)
    outcome = await measure_shard_async(SETTINGS, shard, tmp_path / "r", judge=judge, stop=stop)
    assert not outcome.is_whole
    assert outcome.problem is None
    rest = CountingJudge()
    assert (await measure_into(tmp_path / "r", shard, rest)).is_whole
    assert len(judge.asked) + len(rest.asked) == len(read_rows(tmp_path / "r", "replies"))


async def test_a_full_disk_is_told_and_nothing_more_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=3_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    judge = CountingJudge()
    with pytest.raises(ExportError, match="has only 3 MB left; make room"):
        await measure_into(tmp_path / "r", write_shard(tmp_path), judge)
    assert not judge.asked


async def test_images_are_held_only_while_they_are_needed(tmp_path: Path) -> None:
    from faithtui.engine.shards.measure_worker import _ImagesInFlight

    held = _ImagesInFlight()
    with held.hold({"1": b"a", "2": b"b"}):
        with held.hold({"2": b"b", "3": b"c"}):
            assert dict(held) == {"1": b"a", "2": b"b", "3": b"c"}
        assert dict(held) == {"1": b"a", "2": b"b"}
    assert len(held) == 0
    assert MAX_IMAGES  # of one conversation, so what is in flight is bounded


async def test_a_conversation_that_the_metric_skips_is_a_row(tmp_path: Path) -> None:
    lone = Conversation("parcels", "lone", (Turn("user", "Hello?"),), "parcels/lone")
    await measure_into(tmp_path / "r", write_shard(tmp_path, [lone]), CountingJudge())
    (row,) = read_rows(tmp_path / "r", "conversations")
    assert row["state"] == "skipped"
    assert row["reason"]
    assert row["judgement"] is None
    assert all(not read_rows(tmp_path / "r", each) for each in TABLES if each != "conversations")


async def test_an_image_behind_an_address_is_a_row_with_a_reason(tmp_path: Path) -> None:
    image = Image("0" * 64, "", "https://cdn.example.com/a.png")
    shown = Turn("user", "What is it?", images=(image,))
    chat = Conversation("parcels", "shown", (shown, *CONVERSATIONS[0].turns[1:]), "parcels/shown")
    shard = write_shard(tmp_path, [chat, CONVERSATIONS[1]])

    class Elsewhere(CountingJudge):
        takes_images = True

    class Remote:
        """The same, and no part of this program."""

        ref = "elsewhere:m"

        def __init__(self) -> None:
            self._judge = Elsewhere()

        def __getattr__(self, name: str) -> object:
            return getattr(self._judge, name)

    outcome = await measure_shard_async(SETTINGS, shard, tmp_path / "r", judge=Remote())  # type: ignore[arg-type]  # by attribute
    assert (outcome.is_whole, outcome.failed) == (True, 1)
    assert "cdn.example.com" in read_rows(tmp_path / "r", "conversations")[0]["reason"]


def break_some(error: JudgeError) -> CountingJudge:
    """Make a judge that does not say what two of the conversations claim."""
    return failing(
        error,
        lambda request: (
            request.step == "claims" and any(name in request.prompt for name in ("b-1", "d-0"))
        ),
    )


def check_equal_but_for_replies(results: Path, expected: Path) -> None:
    """See that tables are equal; an answer about what failed may be there besides."""
    first, second = read_tables(results), read_tables(expected)
    keys, other_keys = ({each["key"] for each in found.pop("replies")} for found in (first, second))
    assert first == second
    assert keys >= other_keys


async def test_failed_rows_are_measured_again_and_nothing_is_bought_twice(tmp_path: Path) -> None:
    shard, results = write_shard(tmp_path), tmp_path / "r"
    await measure_into(tmp_path / "expected", shard, CountingJudge())
    first = break_some(JudgeRefused("no", raw=""))
    assert (await measure_into(results, shard, first)).failed == 2
    before = read_tables(results)
    assert (await measure_into(results, shard, CountingJudge())).was_whole
    assert read_tables(results) == before
    judge = CountingJudge()
    outcome = await measure_into(results, shard, judge, retry_failed=True)
    assert (outcome.is_whole, outcome.failed, outcome.conversations) == (True, 0, 5)
    assert outcome.conversations_before == 3
    check_equal_but_for_replies(results, tmp_path / "expected")
    replies = read_tables(results)["replies"]
    assert len(judge.asked) == len(replies) - len(before["replies"]) > 0
    assert [each for each in replies if each in before["replies"]] == before["replies"]
    assert list((results / "journal").iterdir()) == []
    again = CountingJudge()
    assert (await measure_into(results, shard, again, retry_failed=True)).was_whole
    assert not again.asked


async def test_a_retry_that_is_killed_leaves_tables_whole_and_goes_on(tmp_path: Path) -> None:
    shard, results = write_shard(tmp_path), tmp_path / "r"
    await measure_into(tmp_path / "expected", shard, CountingJudge())
    await measure_into(results, shard, break_some(JudgeRefused("no", raw="")))
    before = read_tables(results)
    whole = tmp_path / "whole"
    shutil.copytree(results, whole)
    fingerprint = CountingJudge().fingerprint
    with ShardJournal(results, shard.name, fingerprint, durable=False, retry_failed=True) as begun:
        assert begun.finished_count == 3
    assert read_tables(results) == before
    journal = (results / "journal" / f"{shard.name}.jsonl").read_bytes()
    lines = journal.splitlines(keepends=True)
    for count in (0, 1, len(lines) - 1, len(lines)):
        shutil.rmtree(results)
        shutil.copytree(whole, results)
        (results / "journal" / f"{shard.name}.jsonl").write_bytes(b"".join(lines[:count]))
        judge = CountingJudge()
        await measure_into(results, shard, judge, retry_failed=True)
        check_equal_but_for_replies(results, tmp_path / "expected")
        replies = read_tables(results)["replies"]
        assert len(judge.asked) == len(replies) - len(before["replies"]), count


async def test_what_failed_again_before_a_retry_was_interrupted_is_retried(tmp_path: Path) -> None:
    shard, results = write_shard(tmp_path), tmp_path / "r"
    await measure_into(tmp_path / "expected", shard, CountingJudge())
    await measure_into(results, shard, break_some(JudgeRefused("no", raw="")))
    failed = next(
        each for each in iter_measured_rows(results, shard.name) if each.state is ScoreState.FAILED
    )
    number, fingerprint = failed.conversation["number"], CountingJudge().fingerprint
    for _ in range(2):  # it fails, and fails again in the retry of the retry
        with ShardJournal(
            results, shard.name, fingerprint, durable=False, retry_failed=True
        ) as begun:
            assert (begun.finished_count, begun.is_finished(number)) == (3, False)
            begun.append_finished_conversation(number, failed)
            assert begun.states[ScoreState.FAILED] == 1
    outcome = await measure_into(results, shard, CountingJudge(), retry_failed=True)
    assert (outcome.failed, outcome.conversations) == (0, 5)
    check_equal_but_for_replies(results, tmp_path / "expected")


async def test_tables_are_taken_over_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, results = write_shard(tmp_path), tmp_path / "r"
    await measure_into(results, shard, break_some(JudgeRefused("no", raw="")))
    threads: list[int] = []
    real = ShardJournal._restore_from_tables_for_retry

    def begin(journal: ShardJournal, *words: Any) -> None:
        threads.append(threading.get_ident())
        real(journal, *words)

    monkeypatch.setattr(ShardJournal, "_restore_from_tables_for_retry", begin)
    await measure_into(results, shard, CountingJudge(), retry_failed=True)
    assert threads
    assert threading.get_ident() not in threads


async def test_a_kill_while_files_are_replaced_leaves_the_shard_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, results = write_shard(tmp_path), tmp_path / "r"
    await measure_into(tmp_path / "expected", shard, CountingJudge())
    await measure_into(results, shard, break_some(JudgeRefused("no", raw="")))
    real = move_into_place

    def move_until_claims(new: Path, target: Path, *, force: bool) -> None:
        if target.parent.name == "claims":  # the file that says the rest is there comes after it
            raise OSError("killed here")
        real(new, target, force=force)

    monkeypatch.setattr("faithtui.engine.shards.table_files.move_into_place", move_until_claims)
    with pytest.raises(ExportError):
        await measure_into(results, shard, CountingJudge(), retry_failed=True)
    assert list_finished_shards(results) == []
    monkeypatch.undo()
    judge = CountingJudge()
    assert (await measure_into(results, shard, judge)).is_whole
    assert not judge.asked
    check_equal_but_for_replies(results, tmp_path / "expected")


async def test_rows_of_conversations_are_not_parsed_for_the_table_of_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = write_shard(tmp_path)
    content = await interrupted_journal(tmp_path, shard)
    parsed: list[bytes] = []

    def note(line: bytes) -> Any:
        parsed.append(line)
        return json.loads(line)

    with ShardJournal(tmp_path / "interrupted", shard.name, "", durable=False) as found:
        monkeypatch.setattr(journal_file, "from_json", note)
        replies = list(found.iter_reply_rows(shard.name))
    assert len(parsed) == len(replies) == content.count(b'{"key"') > 0


@pytest.mark.thorough
async def test_a_worker_holds_nothing_more_after_more_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is remembered of texts has bounds that take thousands of them to be reached.
    monkeypatch.setattr(embedded_replies, "_KEPT_TRUTHS", 1)
    monkeypatch.setattr(sentences, "_split_passage", sentences._split_text)
    shard = write_shard(tmp_path, [conversation(f"{number}", 1) for number in range(600)])
    held: dict[int, int] = {}

    def count_objects(outcome: ShardOutcome) -> None:
        if outcome.conversations % 200 == 0:
            gc.collect()
            held[outcome.conversations] = len(gc.get_objects())

    settings = replace(SETTINGS, options={"include_reason": False})
    await measure_shard_async(settings, shard, tmp_path / "r", on_progress=count_objects)
    # Of what is finished there are numbers in arrays alone: not one object a conversation.
    assert held[600] - held[200] < 400
