"""From an import file to the request: images on their whole way."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.ids import RunId
from faithtui.domain.judging.tasks import ExtractTruths
from faithtui.engine.batches.files import export_questions, import_answers_and_finish_conversations
from faithtui.engine.calls.image_hosts import find_image_hosts
from faithtui.engine.library.measurement import measure
from faithtui.engine.preview.run_preview import preview_requests, preview_runs
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ImageHostNotAllowed, InputError, JudgeRequestRejected
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned
from tests.judges.question_answers import answer_to, read_request

SIGN, SHOP = (Image(digit * 64, "image/png") for digit in "ab")
FAR = Image("c" * 64, "", "https://example.org/far.png")
DATA = {SIGN.sha256: b"sign", SHOP.sha256: b"shop"}


class Seer(CountingJudge):
    """Takes images and reads two facts off each document; answers the rest from the question."""

    takes_images = True

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        self._before(request)
        answer = answer_to(read_request(request))
        if isinstance(request.task, ExtractTruths):
            answer = {name: [f"{name} is red.", f"{name} is big."] for name in answer}
        return JudgeReply(json.dumps(answer), structured=True)


def pictured() -> Conversation:
    """A question with two images, answered from two documents that are an image each."""
    text = "Which? [DEEPEVAL:IMAGE:/etc/hostname]"
    documents = (Document("", None, (SIGN,)), Document("", None, (SHOP,)))
    turns = (Turn("user", text, images=(SIGN, FAR)), Turn("assistant", "That one.", documents))
    return Conversation("pictures", "one", turns, "pictures/one")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.db") as found:
        found.conversations.import_batch([pictured(), conversation("plain")], DATA)
        yield found


async def judged(store: Store, judge: CountingJudge, **changes: object) -> RunId:
    run = planned(store, **changes)
    state = await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    assert state is RunState.DONE
    return run


@pytest.mark.parametrize("strategy", ["evidence", "window"])
async def test_questions_carry_the_images_of_what_they_show(store: Store, strategy: str) -> None:
    judge = Seer()
    await judged(store, judge, strategy=strategy)
    carried = {each.step: each.images for each in judge.asked if each.images}
    assert {
        step: [(each.sha256, each.data, each.url) for each in images]
        for step, images in carried.items()
    } == {
        "truths": [(SIGN.sha256, b"sign", None), (SHOP.sha256, b"shop", None)],
        "claims": [(SIGN.sha256, b"sign", None), (FAR.sha256, None, FAR.url)],
    }
    for each in judge.asked:
        assert all(image.mark in each.prompt for image in each.images)


async def test_truths_belong_to_the_picture_they_were_read_from(store: Store) -> None:
    run = await judged(store, Seer())
    view = store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "me")
    assert [each.document for each in view.truths] == [1, 1, 2, 2]


async def test_a_judge_that_refuses_images_costs_their_conversation_alone(store: Store) -> None:
    def refuse(request: JudgeRequest) -> None:
        if request.images:
            raise JudgeRequestRejected("takes no images", status=400)

    judge = Seer(refuse)
    run = await judged(store, judge)
    row = store.runs.read_run(run)
    assert (row.done, row.failed) == (1, 1)
    (reason,) = store.run_contents.count_conversations_by_state_reason(run, ItemState.FAILED)
    assert "takes no images" in reason
    asked = [each.prompt for each in judge.asked if each.images]
    assert len(asked) == len(set(asked)), "a refusal is not asked again"


async def test_a_blind_judge_is_asked_nothing_about_images(store: Store) -> None:
    judge = CountingJudge()
    run = await judged(store, judge)
    assert store.runs.read_run(run).failed == 1
    (reason,) = store.run_contents.count_conversations_by_state_reason(run, ItemState.FAILED)
    assert "holds images and this judge takes none" in reason
    assert not [each for each in judge.asked if "Which?" in each.prompt]


HERE = RunEnvironment(image_hosts=("example.org",))


def over_the_network(store: Store, environment: RunEnvironment = HERE, **changes: object) -> RunId:
    """Plan a run of a judge whose provider would fetch what it is sent."""
    request = RunRequest(judge="vllm:w", **changes)  # type: ignore[arg-type]  # checked by the class
    return run_planner.save_planned_run(store, request, environ={}, environment=environment)


@pytest.mark.parametrize("hosts", [(), ("example.com",), ("cdn.example.org",), ("org",)])
def test_no_run_is_planned_that_would_send_addresses_nobody_allowed(
    store: Store, hosts: tuple[str, ...]
) -> None:
    other = replace(pictured(), key="two", group="pictures/two")
    store.conversations.import_batch([other], DATA)
    with pytest.raises(ImageHostNotAllowed) as raised:
        over_the_network(store, RunEnvironment(image_hosts=hosts))
    assert str(raised.value) == (
        "2 conversations have images at example.org; vllm:w would be sent the addresses and its "
        "provider would fetch them. Allow it with --allow-image-host example.org, or with "
        'image_hosts = ["example.org"], which is a setting and an argument of `measure`; or '
        "import the images themselves, as `path` or `base64`"
    )
    assert store.runs.list_runs() == ()
    with pytest.raises(ImageHostNotAllowed, match=r"2 conversations have images at example\.org"):
        preview_requests(
            store, [RunRequest(judge="vllm:w")], environment=RunEnvironment(image_hosts=hosts)
        )


def test_many_hosts_are_named_in_part(store: Store) -> None:
    images = tuple(
        Image(f"{number:064x}", "", f"https://h{number}.example.net/a") for number in range(8)
    )
    turns = (Turn("user", "?", images=images), Turn("assistant", "!", (Document("d"),)))
    store.conversations.import_batch([Conversation("pictures", "many", turns, "g")])
    with pytest.raises(ImageHostNotAllowed) as raised:
        over_the_network(store, RunEnvironment())
    assert "1 conversation has images at example.org, " in str(raised.value)
    assert "and more at 4 other hosts;" in str(raised.value)


@pytest.mark.parametrize("hosts", [("example.org",), ("*",)])
async def test_an_address_is_sent_where_its_host_is_allowed(
    store: Store, hosts: tuple[str, ...]
) -> None:
    environment, judge = RunEnvironment(image_hosts=hosts), Seer()
    run = over_the_network(store, environment)
    await runner.execute_run(
        store, run, lambda event: None, judge=opened(judge), environment=environment
    )
    assert FAR.url in [image.url for each in judge.asked for image in each.images]
    assert store.runs.read_run(run).done == 2


async def test_what_was_allowed_once_is_asked_again_when_a_run_goes_on(store: Store) -> None:
    run, judge = over_the_network(store), Seer()
    with pytest.raises(ImageHostNotAllowed):
        await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    with pytest.raises(ImageHostNotAllowed):
        preview_runs(store, [run])
    assert judge.asked == []
    assert store.runs.read_run(run).state is RunState.PLANNED


async def test_conversations_that_are_tried_again_are_looked_at_before_anything_is_sent(
    store: Store,
) -> None:
    run, judge = over_the_network(store), Seer()
    for item in store.runs.list_item_ids(run):
        store.runs.score_and_finish_item(item, ItemState.FAILED, "the judge was out of order")
    store.runs.set_state(run, RunState.DONE)
    with pytest.raises(ImageHostNotAllowed):
        await runner.execute_run(
            store, run, lambda event: None, judge=opened(judge), retry_unfinished=True
        )
    with pytest.raises(ImageHostNotAllowed):
        preview_runs(store, [run])
    assert judge.asked == []
    assert store.runs.read_run(run).failed == 2, "nothing is taken up again"


async def test_batches_and_files_of_questions_ask_too(store: Store, tmp_path: Path) -> None:
    run = over_the_network(store)
    with pytest.raises(ImageHostNotAllowed):
        await export_questions(store, run, tmp_path / "q.jsonl")
    assert not (tmp_path / "q.jsonl").exists()
    assert await export_questions(store, run, tmp_path / "q.jsonl", environment=HERE)
    assert FAR.url is not None
    assert FAR.url in (tmp_path / "q.jsonl").read_text()
    (tmp_path / "none.jsonl").write_text("")
    # Nothing is sent by reading answers, so nothing has to be allowed again.
    await import_answers_and_finish_conversations(store, run, tmp_path / "none.jsonl")
    assert store.runs.read_run(run).failed == 0


@pytest.mark.parametrize(
    "address",
    [
        "http://192.168.1.1/a.png",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/a.png",
        "http://localhost/a.png",
        "http://printer.local/a.png",
        "https://ann:hunter2@example.org/a.png",
        "https://example.org/a.png?X-Amz-Signature=hunter2",
    ],
)
async def test_some_addresses_go_to_nobody_whatever_is_allowed(store: Store, address: str) -> None:
    odd = Image("d" * 64, "", address)
    turns = (
        Turn("user", "?", images=(odd,)),
        Turn("assistant", "!", (Document("d", None, (SIGN,)),)),
    )
    store.conversations.import_batch([Conversation("pictures", "odd", turns, "g")], DATA)
    environment, judge = RunEnvironment(image_hosts=("*",)), Seer()
    run = over_the_network(store, environment)
    found = find_image_hosts(store, store.conversations.list_ids(()), "vllm:w")
    assert found.public_hosts == {"example.org": 1}
    assert "1 conversation has an image whose address " in (
        found.format_never_allowed_warning() or ""
    )
    await runner.execute_run(
        store, run, lambda event: None, judge=opened(judge), environment=environment
    )
    assert store.runs.read_run(run).done == 2
    (reason,) = store.run_contents.count_conversations_by_state_reason(run, ItemState.FAILED)
    assert "no judge is sent it; import the image itself, as `path` or `base64`" in reason
    for text in (reason, found.format_never_allowed_warning() or ""):
        assert "hunter2" not in text
    # Nothing of that conversation was asked, not even what shows no image.
    assert not [each for each in judge.asked if "\n?" in each.prompt or address in str(each)]


async def test_judges_of_this_program_need_no_allowance(store: Store) -> None:
    assert planned(store, judge="offline")
    assert find_image_hosts(store, store.conversations.list_ids(()), "offline").public_hosts == {}


@pytest.mark.parametrize("hosts", [[], ["example.com"]])
def test_the_library_asks_too(hosts: list[str]) -> None:
    judge = Seer()
    with pytest.raises(ImageHostNotAllowed, match=r"image_hosts = \[\"example.org\"\]"):
        measure(pictured(), judge=as_remote(judge), images=DATA, image_hosts=hosts)
    assert judge.asked == []


def test_the_library_sends_what_is_allowed_and_refuses_what_is_no_host() -> None:
    judge = Seer()
    measure(pictured(), judge=as_remote(judge), images=DATA, image_hosts=["EXAMPLE.org"])
    assert FAR.url in [image.url for each in judge.asked for image in each.images]
    with pytest.raises(InputError, match=r"image_hosts: holds .https://example\.org."):
        measure(pictured(), judge=as_remote(judge), image_hosts=["https://example.org"])
    with pytest.raises(
        InputError, match=r"image_hosts.* holds '10.0.0.7', which is a host of a priv"
    ):
        measure(pictured(), judge=as_remote(judge), image_hosts=["10.0.0.7"])


class Remote:
    """A judge that is not known to be one of this machine."""

    def __init__(self, judge: Seer) -> None:
        self._judge = judge
        self.ref = "mine"

    def __getattr__(self, name: str) -> object:
        return getattr(self._judge, name)


def as_remote(judge: Seer) -> Judge:
    return Remote(judge)  # type: ignore[return-value]  # by its attributes
