import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.judging.tasks import JudgeClaims
from faithtui.errors import ConfigError, JudgeRequestRejected
from faithtui.judges.redaction import Redaction, load_and_try_redaction_hook
from faithtui.judges.registry import make_judge_fingerprint, open_judge
from tests.judges.acme import install_package
from tests.judges.fake_server import FakeServer, openai_body
from tests.judges.questions import PIXEL, question

HOOKS = """
def stars(text):
    return text.replace("Ann", "***")
def number(text):
    return 7
def failing(text):
    raise ValueError(text)
constant = "text"
"""


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_hooks.py").write_text(HOOKS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_hooks", None)


def stars(text: str) -> str:
    return text.replace("Ann", "***")


async def test_nothing_leaves_before_the_hook_has_seen_it(server: FakeServer, hooks: None) -> None:
    server.answer(openai_body())
    asked = question("Is Ann right?", system="Ann asks.")
    asked = replace(asked, images=(replace(PIXEL, mark="[Ann's image]"),))
    redact = load_and_try_redaction_hook("my_hooks:stars")
    async with open_judge("openai:m", base_url=server.url, environ={}, redact=redact) as judge:
        await judge.send(asked)
    sent = str(server.sent[0].body)
    assert "Ann" not in sent
    for text in ("*** asks.", "Is *** right?", "[***'s image]"):
        assert text in sent


async def test_replies_to_redacted_questions_are_kept_apart(server: FakeServer) -> None:
    redact = Redaction("my_hooks:stars", stars)
    plain = make_judge_fingerprint("openai:m", server.url)
    for hook, name in ((redact, "my_hooks:stars"), (stars, f"{__name__}:stars")):
        with_hook = make_judge_fingerprint("openai:m", server.url, redact=hook)
        assert with_hook == f"{plain} redact={name}"
        async with open_judge("openai:m", base_url=server.url, environ={}, redact=hook) as judge:
            assert judge.fingerprint == with_hook


async def test_otherwise_it_is_the_same_judge(server: FakeServer) -> None:
    async with (
        open_judge("openai:m", base_url=server.url, environ={}) as bare,
        open_judge("openai:m", base_url=server.url, environ={}, redact=stars) as judge,
    ):
        assert judge.ref == bare.ref
        assert judge.takes_images is bare.takes_images
        assert judge.context_window is bare.context_window
        assert judge.output_formats == bare.output_formats
        assert judge.account == bare.account


def number(text: str) -> str:
    return len(text)  # type: ignore[return-value]  # what a hook without types may do


def failing(text: str) -> str:
    raise ValueError(text)


@pytest.mark.parametrize(
    ("hook", "says"), [(failing, "raised ValueError"), (number, "returned int")]
)
async def test_when_the_hook_fails_nothing_is_sent(
    server: FakeServer, hook: Callable[[str], str], says: str
) -> None:
    async with open_judge("openai:m", base_url=server.url, environ={}, redact=hook) as judge:
        with pytest.raises(JudgeRequestRejected, match="the redaction hook failed") as caught:
            await judge.send(question("Ann's secret"))
    assert says in str(caught.value)
    assert "Ann" not in str(caught.value)
    assert not server.sent


async def test_judges_of_packages_see_what_is_left_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    async with open_judge("parrot:plain", redact=stars) as judge:
        reply = await judge.send(question("Ann?", system="Ann."))
        assert judge.fingerprint == make_judge_fingerprint("parrot:plain", redact=stars)
    sys.modules.pop("acme_judge", None)
    assert reply.text == "***.|***?|300"


VERIFIER = """
seen = []

class Sure:
    fingerprint = "sure 1"

    def verify(self, claim, evidence):
        seen.append((claim, evidence))
        return (0.75, 0.0, 0.25)

def Parrot(rest, base_url):
    return Sure()
"""


async def test_a_verifier_of_a_package_gets_what_is_left_of_claim_and_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path / "site")
    source = tmp_path / "site" / "acme_judge.py"
    source.write_text(source.read_text() + VERIFIER)
    monkeypatch.syspath_prepend(tmp_path / "site")
    task = JudgeClaims(("Ann owns the mill.",), ("Ann owns the old mill.",))
    asked = replace(question("Ann?"), task=task)
    async with open_judge("parrot:plain", redact=stars) as judge:
        await judge.send(asked)
        assert judge.fingerprint == make_judge_fingerprint("parrot:plain", redact=stars)
        assert judge.fingerprint.count("redact=") == 1
    async with open_judge("parrot:plain", redact=failing) as judge:
        with pytest.raises(JudgeRequestRejected, match="raised ValueError"):
            await judge.send(asked)
    seen = sys.modules.pop("acme_judge").seen
    assert seen == [("*** owns the mill.", "*** owns the old mill.")]


async def test_the_judge_that_is_part_of_this_program_needs_none() -> None:
    async with open_judge("offline", redact=failing) as judge:
        assert judge.fingerprint == make_judge_fingerprint("offline")
    assert make_judge_fingerprint("offline", redact=failing) == make_judge_fingerprint("offline")


def test_a_hook_is_loaded_by_name(hooks: None) -> None:
    redact = load_and_try_redaction_hook("my_hooks:stars")
    assert redact("Ann!") == "***!"
    assert redact.name == "my_hooks:stars"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my_hooks", "expected MODULE:FUNCTION"),
        ("my_hooks:", "expected MODULE:FUNCTION"),
        (":stars", "expected MODULE:FUNCTION"),
        ("my_missing_hooks:stars", "cannot be loaded: ModuleNotFoundError"),
        ("my_hooks:gone", "cannot be loaded: AttributeError"),
        ("my_hooks:number", "returns int; it must return a text"),
        ("my_hooks:failing", "fails on a plain sentence: ValueError"),
        ("my_hooks:constant", "fails on a plain sentence: TypeError"),
    ],
)
def test_a_hook_that_cannot_work_is_refused_at_once(hooks: None, name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load_and_try_redaction_hook(name)
