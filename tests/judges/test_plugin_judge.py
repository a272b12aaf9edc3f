import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.judging.judge_names import judge_title
from faithtui.domain.judging.tasks import JudgeClaims
from faithtui.errors import (
    ConfigError,
    JudgeRateLimited,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, StopReason, Usage
from faithtui.judges.providers.api_keys import find_key_source
from faithtui.judges.registry import (
    find_missing_key_variable,
    is_prompt_based,
    make_judge_fingerprint,
    open_judge,
)
from tests.judges.acme import install_package
from tests.judges.questions import PIXEL, question


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with judges, installed for one test."""
    folder = tmp_path / "site"
    install_package(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("acme_judge", None)


async def ask(
    ref: str, request: JudgeRequest | None = None, *, timeout_s: float = 600.0
) -> JudgeReply:
    async with open_judge(ref, timeout_s=timeout_s) as judge:
        return await judge.send(request or question())


async def test_a_package_adds_a_judge(acme: Path) -> None:
    reply = await ask("parrot:plain")
    assert reply.text == "You explain.|Why?|300"
    assert reply.stop is StopReason.OK
    assert reply.usage == Usage()
    assert not reply.structured
    assert reply.output_format is None


async def test_a_package_adds_a_verifier(acme: Path) -> None:
    source = acme / "acme_judge.py"
    verifier = """
class Sure:
    fingerprint = "sure 1"

    def verify(self, claim, evidence):
        return (0.75, 0.0, 0.25)


def Parrot(rest, base_url):
    return Sure()
"""
    source.write_text(source.read_text() + verifier)
    claims = JudgeClaims(("The mill is old.",), ("The mill is old.",))
    reply = await ask("parrot:plain", replace(question(), task=claims))
    assert '"verdict": "yes", "confidence": 0.75' in reply.text
    small, big, elsewhere = (
        make_judge_fingerprint("parrot:small"),
        make_judge_fingerprint("parrot:big"),
        make_judge_fingerprint("parrot:big", "http://h:1"),
    )
    assert small.startswith("verifier/1 parrot:small - sure 1;evidence=")
    assert big.startswith("verifier/1 parrot:big - sure 1;")
    assert elsewhere.startswith("verifier/1 parrot:big http://h:1 sure 1;")


SLOW_VERIFIER = """
import threading

awake = threading.Event()

class Slow:
    fingerprint = "slow 1"

    def verify(self, claim, evidence):
        awake.wait(60)
        return (1.0, 0.0, 0.0)

    async def aclose(self):
        awake.set()
        closed.append("slow")


def Parrot(rest, base_url):
    return Slow()
"""


async def test_a_verifier_has_the_time_of_any_judge_and_is_closed(acme: Path) -> None:
    source = acme / "acme_judge.py"
    source.write_text(source.read_text() + SLOW_VERIFIER)
    claims = JudgeClaims(("The mill is old.",), ("The mill is old.",))
    with pytest.raises(JudgeTimeout, match=r"parrot:x gave no answer within 0\.05 s"):
        await ask("parrot:x", replace(question(), task=claims), timeout_s=0.05)
    assert sys.modules["acme_judge"].closed == ["slow"]


def test_a_verifier_reads_no_prompts(acme: Path) -> None:
    assert is_prompt_based("parrot:x")
    sys.modules.pop("acme_judge", None)
    source = acme / "acme_judge.py"
    source.write_text(source.read_text() + SLOW_VERIFIER)
    assert not is_prompt_based("parrot:x")
    assert is_prompt_based("openai:m")
    assert not is_prompt_based("offline")
    assert not is_prompt_based("nli:model")


async def test_an_answer_may_say_more_than_its_text(acme: Path) -> None:
    reply = await ask("parrot:full")
    assert reply == replace(
        reply, text="cut\ufffd", stop=StopReason.LENGTH, served_model="parrot-2b"
    )
    assert reply.usage == Usage(7, 3)


async def test_it_is_closed_when_it_is_no_longer_needed(acme: Path) -> None:
    await ask("parrot:plain")
    assert sys.modules["acme_judge"].closed == ["plain"]


async def test_a_judge_that_closes_nothing_is_fine(acme: Path) -> None:
    source = acme / "acme_judge.py"
    source.write_text(source.read_text().replace("async def aclose", "async def unused"))
    assert (await ask("parrot:plain")).text


async def test_it_shows_images_only_if_it_takes_them(acme: Path) -> None:
    async with open_judge("parrot:plain") as blind, open_judge("parrot:sighted") as sighted:
        assert not blind.takes_images
        assert sighted.takes_images
        reply = await sighted.send(replace(question(), images=(PIXEL,)))
    assert reply.text == "['[attached image 1111]']"


async def test_its_limits_are_its_own(acme: Path) -> None:
    async with open_judge("parrot:plain") as one, open_judge("parrot:full") as other:
        assert one.account
        assert one.account != other.account
        assert one.output_formats == ()
        assert one.context_window is None


async def test_whatever_determines_an_answer_is_in_its_fingerprint(acme: Path) -> None:
    prints = {
        make_judge_fingerprint("parrot:plain"),
        make_judge_fingerprint("parrot:full"),
        make_judge_fingerprint("parrot:plain", "http://localhost:1/x"),
    }
    assert len(prints) == 3
    assert all("parrot-2" in each for each in prints)
    async with open_judge("parrot:plain") as judge:
        assert judge.fingerprint == make_judge_fingerprint("parrot:plain")
        assert judge.ref == judge_title(judge.ref) == "parrot:plain"


def test_it_needs_no_key_of_ours(acme: Path) -> None:
    assert find_missing_key_variable("parrot:plain", None, {}) is None
    assert find_key_source("parrot:plain", None, {}) is None


async def test_errors_of_ours_come_through(acme: Path) -> None:
    with pytest.raises(JudgeRateLimited) as caught:
        await ask("parrot:busy")
    assert caught.value.retry_after_s == 2.0


@pytest.mark.parametrize(("rest", "says"), [("broken", "KeyError: 'nest'"), ("impatient", "Time")])
async def test_any_other_error_is_unavailable_and_named(acme: Path, rest: str, says: str) -> None:
    with pytest.raises(JudgeUnavailable, match=f"parrot:{rest} failed: {says}") as caught:
        await ask(f"parrot:{rest}")
    assert caught.value.__cause__ is not None


async def test_an_answer_that_takes_too_long_is_given_up(acme: Path) -> None:
    with pytest.raises(JudgeTimeout, match=r"parrot:asleep gave no answer within 0\.05 s"):
        await ask("parrot:asleep", timeout_s=0.05)


async def test_an_answer_of_another_kind_is_refused(acme: Path) -> None:
    with pytest.raises(JudgeRequestRejected, match="answered with int"):
        await ask("parrot:odd")


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        ("nameless:x", "nameless:x has no fingerprint"),
        ("deaf:x", "deaf:x of the package acme has no `async def answer` and no `def verify`"),
        ("failing:x", "package acme cannot be opened: RuntimeError: no licence"),
        ("failing:told", "^acme needs a licence: set ACME_LICENCE$"),
        ("absent:x", "cannot be opened: AttributeError"),
        ("unbuilt:x", "cannot be opened: ModuleNotFoundError"),
    ],
)
async def test_a_judge_that_cannot_be_opened_names_its_package(
    acme: Path, ref: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        make_judge_fingerprint(ref)
    with pytest.raises(ConfigError, match=says):
        await ask(ref)


@pytest.mark.parametrize("ref", ["parrto:plain", "parrot", "parrot:", "parrot:\n"])
def test_an_unknown_judge_lists_the_installed_ones(acme: Path, ref: str) -> None:
    with pytest.raises(ConfigError, match=r"replay:FILE.*; installed: .*parrot:…"):
        open_judge(ref)


@pytest.mark.parametrize("name", ["offline", "openai", "replay", "ollama"])
def test_a_name_of_ours_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    install_package(tmp_path / "site", points=f"[faithtui.judges]\n{name} = acme_judge:Parrot\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(ConfigError, match=f"the package acme adds a judge called {name}"):
        open_judge("offline" if name == "offline" else f"{name}:x", environ={"OPENAI_API_KEY": "k"})


def test_two_packages_with_one_name_are_refused(
    acme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    install_package(other, package="zoo", points="[faithtui.judges]\nparrot = acme_judge:Parrot\n")
    monkeypatch.syspath_prepend(other)
    for use in (open_judge, make_judge_fingerprint):
        with pytest.raises(ConfigError, match=r"add a judge called parrot: (acme, zoo|zoo, acme);"):
            use("parrot:plain")
