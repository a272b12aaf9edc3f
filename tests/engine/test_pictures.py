"""From an import file to the request: images on their whole way."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.ids import RunId
from faithtui.engine import runner
from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned
from tests.engine.willing_server import reply_to

SIGN, SHOP = (Image(digit * 64, "image/png") for digit in "ab")
FAR = Image("c" * 64, "", "https://example.org/far.png")
DATA = {SIGN.sha256: b"sign", SHOP.sha256: b"shop"}


class Seer(CountingJudge):
    """Takes images; answers anything, from the question alone."""

    takes_images = True

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        self._before(request)
        assert request.schema is not None
        return JudgeReply(json.dumps(reply_to(request.schema, request.prompt)), structured=True)


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
    state = await runner.execute(store, run, lambda event: None, judge=opened(judge))
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
    view = store.runs.review_view(store.runs.item_ids(run)[0], "me")
    assert [each.document for each in view.truths] == [1, 1, 2, 2]


async def test_a_judge_that_refuses_images_costs_their_conversation_alone(store: Store) -> None:
    def refuse(request: JudgeRequest) -> None:
        if request.images:
            raise JudgeRequestRejected("takes no images", status=400)

    judge = Seer(refuse)
    run = await judged(store, judge)
    row = store.runs.row(run)
    assert (row.done, row.failed) == (1, 1)
    (reason,) = store.runs.reasons(run, ItemState.FAILED)
    assert "takes no images" in reason
    asked = [each.prompt for each in judge.asked if each.images]
    assert len(asked) == len(set(asked)), "a refusal is not asked again"


async def test_a_blind_judge_is_asked_nothing_about_images(store: Store) -> None:
    judge = CountingJudge()
    run = await judged(store, judge)
    assert store.runs.row(run).failed == 1
    (reason,) = store.runs.reasons(run, ItemState.FAILED)
    assert "holds images and this judge takes none" in reason
    assert not [each for each in judge.asked if "Which?" in each.prompt]
