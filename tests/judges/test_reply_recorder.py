"""A recording holds one judge's replies, and can be replayed whatever happened to its last line."""

import json
from pathlib import Path

import pytest

from faithtui.errors import ExportError
from faithtui.judges.replay_judge import ReplayJudge
from faithtui.judges.reply_recorder import ReplyRecorder
from tests.judges.questions import question


def record(file: Path, *prompts: str, ref: str = "openai:m", fingerprint: str = "m t=0") -> None:
    with ReplyRecorder(file) as recorder:
        recorder.record_judge_of_next_replies(ref, fingerprint, None)
        for prompt in prompts:
            recorder.record_reply(question(prompt), f"{prompt} yes")


def without_fingerprint(file: Path) -> None:
    head, rest = file.read_text().split("\n", 1)
    fields = json.loads(head)
    del fields["fingerprint"]
    file.write_text(json.dumps(fields) + "\n" + rest)


@pytest.mark.parametrize(
    ("other", "whose"),
    [
        ({"ref": "openai:m2"}, "openai:m"),
        ({"fingerprint": "m t=1"}, "openai:m with other parameters, version or address"),
    ],
)
def test_another_judge_is_refused_and_the_file_stays(
    tmp_path: Path, other: dict[str, str], whose: str
) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, "Why?")
    file.write_bytes(file.read_bytes()[:-5])
    before = file.read_bytes()
    with pytest.raises(ExportError) as caught:
        record(file, "How?", **other)
    assert str(caught.value) == f"{file} is a recording of {whose}; name another file"
    assert file.read_bytes() == before


def test_another_judge_is_refused_in_a_new_file_too(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with ReplyRecorder(file) as recorder:
        recorder.record_judge_of_next_replies("openai:m", "m t=0", None)
        recorder.record_judge_of_next_replies("openai:m", "m t=0", None)
        with pytest.raises(ExportError, match="is a recording of openai:m;"):
            recorder.record_judge_of_next_replies("openai:m2", "m2", None)
    assert file.read_text().count("\n") == 1


async def test_an_earlier_recording_is_continued_by_the_judge_it_names_alone(
    tmp_path: Path,
) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, "Why?")
    without_fingerprint(file)
    with pytest.raises(ExportError, match="is a recording of openai:m;"):
        record(file, "How?", ref="openai:m2")
    record(file, "How?")
    replay = ReplayJudge(file)
    for prompt in ("Why?", "How?"):
        assert (await replay.send(question(prompt))).text == f"{prompt} yes"
    with ReplyRecorder(file) as recorder:
        recorder.record_judge_of_next_replies("openai:m", "m t=0", None)
        with pytest.raises(ExportError, match="with other parameters"):
            recorder.record_judge_of_next_replies("openai:m", "m t=1", None)


def test_a_file_that_names_no_judge_is_not_written_on(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"prompt_sha256": "x", "reply": "1"}\n')
    with pytest.raises(ExportError, match="does not say in its first line whose"):
        ReplyRecorder(file)


@pytest.mark.parametrize(("cut", "is_kept"), [(1, True), (2, False), (30, False)])
async def test_a_cut_recording_goes_on_and_is_replayed(
    tmp_path: Path, cut: int, is_kept: bool
) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, "Why?", "Who?")
    file.write_bytes(file.read_bytes()[:-cut])
    record(file, "How?")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    replies = ["Why? yes", "Who? yes", "How? yes"] if is_kept else ["Why? yes", "How? yes"]
    assert [line["reply"] for line in lines[1:]] == replies
    assert (await ReplayJudge(file).send(question("How?"))).text == "How? yes"


async def test_a_head_without_a_newline_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    record(file)
    file.write_text(file.read_text().rstrip("\n"))
    record(file, "How?")
    assert (await ReplayJudge(file).send(question("How?"))).text == "How? yes"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_once_and_not_as_another_error_when_the_file_is_closed() -> None:
    with pytest.raises(ExportError, match="No space left on device") as caught:
        record(Path("/dev/full"), "Why?")
    assert isinstance(caught.value.__context__, OSError)
