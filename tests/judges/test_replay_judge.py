import json
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.errors import InputError, JudgeRequestRejected
from faithtui.judges.base import JudgeReply
from faithtui.judges.replay_judge import ReplayJudge
from faithtui.judges.reply_recorder import hash_system_and_prompt
from tests.judges.questions import PIXEL, question


def recorded(path: Path, *lines: object) -> Path:
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    )
    return path


async def test_a_recorded_question_gets_its_reply(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "replies.jsonl",
        {"prompt_sha256": hash_system_and_prompt("You explain.", "Why?"), "reply": "first"},
        "",
        {
            "prompt_sha256": hash_system_and_prompt("You explain.", "Why?"),
            "reply": "so\0",
            "step": "reason",
        },
        {"prompt_sha256": hash_system_and_prompt("", "How?"), "reply": {"reason": "é"}},
    )
    judge = ReplayJudge(path)
    assert await judge.send(question()) == JudgeReply("so")
    assert json.loads((await judge.send(question("How?", system=""))).text) == {"reason": "é"}
    assert judge.context_window is None
    await judge.aclose()


async def test_a_recorded_reply_fits_a_question_with_images(tmp_path: Path) -> None:
    line = {"prompt_sha256": hash_system_and_prompt("You explain.", "Why?"), "reply": "so"}
    judge = ReplayJudge(recorded(tmp_path / "replies.jsonl", line))
    assert judge.takes_images
    assert await judge.send(replace(question(), images=(PIXEL,))) == JudgeReply("so")


async def test_an_unknown_question_says_how_to_record_it(tmp_path: Path) -> None:
    path = recorded(tmp_path / "replies.jsonl")
    with pytest.raises(JudgeRequestRejected) as caught:
        await ReplayJudge(path).send(question())
    line = str(caught.value).partition("the line ")[2].replace("…", '{"reason": "ok"}')
    reply = await ReplayJudge(recorded(path, line)).send(question())
    assert json.loads(reply.text) == {"reason": "ok"}


def test_the_hash_tells_system_and_prompt_apart() -> None:
    hashes = {
        hash_system_and_prompt("a", "b"),
        hash_system_and_prompt("ab", ""),
        hash_system_and_prompt("", "ab"),
    }
    assert len(hashes) == 3


def test_a_lone_surrogate_can_be_hashed() -> None:
    assert len(hash_system_and_prompt("\ud800", "")) == 64


def test_the_fingerprint_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one.jsonl", {"prompt_sha256": "x", "reply": "1"})
    two = recorded(tmp_path / "two.jsonl", {"prompt_sha256": "x", "reply": "1"})
    three = recorded(tmp_path / "three.jsonl", {"prompt_sha256": "x", "reply": "3"})
    prints = [ReplayJudge(path).fingerprint for path in (one, two, three)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("not json", "is no JSON"),
        ("[" * 50_000, "is no JSON"),
        ("[]", "expected"),
        ('{"reply": "x"}', "expected"),
        ('{"prompt_sha256": 1, "reply": "x"}', "expected"),
        ('{"prompt_sha256": "x"}', "reply: expected"),
        ('{"prompt_sha256": "x", "reply": null}', "reply: expected"),
    ],
)
def test_a_line_that_is_no_reply_is_named(tmp_path: Path, line: str, says: str) -> None:
    path = recorded(tmp_path / "replies.jsonl", {"prompt_sha256": "x", "reply": "1"}, line)
    with pytest.raises(InputError, match=says) as caught:
        ReplayJudge(path)
    assert caught.value.line == 2
    assert caught.value.path == path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read"):
        ReplayJudge(tmp_path / "gone.jsonl")
