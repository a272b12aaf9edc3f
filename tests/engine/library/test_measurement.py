import asyncio
import dataclasses
import sys
from pathlib import Path

import pytest

import faithtui
from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Conversation, Document, Image, Turn, single_turn
from faithtui.domain.scores import ScoreState
from faithtui.engine.library.measurement import measure, measure_async
from faithtui.errors import (
    ConfigError,
    ImageHostNotAllowed,
    ImagesNotSupported,
    JudgeRequestRejected,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, Usage
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.metrics.registry import METRICS, build
from tests.engine.building import CountingJudge, RandomJudge, conversation

CONVERSATION = Conversation.of(
    Turn("user", "When does it leave?"),
    Turn("assistant", "It leaves within two days.", (Document("It leaves within two days."),)),
    Turn("user", "And can I return it?"),
    Turn(
        "assistant",
        "Returns take a year. It leaves within two days.",
        (Document("Returns take thirty days."),),
    ),
)

each_metric = pytest.mark.parametrize("key", [each.spec.key for each in METRICS])


class Paid(OfflineJudge):
    """Answers like the embedded judge, and counts what it shows and costs."""

    def __init__(self, *, takes_images: bool = False, fails: str | None = None) -> None:
        super().__init__()
        self.requests: list[JudgeRequest] = []
        self._images = takes_images
        self._fails = fails

    @property
    def ref(self) -> str:
        return "anthropic:claude-sonnet-5-5"

    @property
    def takes_images(self) -> bool:
        return self._images

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.requests.append(request)
        if request.step == self._fails:
            raise JudgeRequestRejected("it does not want to")
        reply = await super().send(request)
        return dataclasses.replace(reply, usage=Usage(1000, 100, 0))


@each_metric
def test_every_metric_measures_and_says_what_it_rests_on(key: str) -> None:
    judge = Paid()
    result = measure(CONVERSATION, key, judge)
    assert result.spec.key == key
    assert result.judge == "anthropic:claude-sonnet-5-5"
    assert result.score.value is not None
    assert 0 <= result.score.value <= 1
    assert len(result.windows) == 2
    assert result.claims
    assert all(verdict.label in result.spec.labels.names for verdict in result.verdicts)
    assert len(result.calls) == len(judge.requests)
    assert result.tokens_in == 1000 * len(judge.requests)
    assert result.cost_usd == pytest.approx(len(judge.requests) * (1000 * 2 + 100 * 10) / 1e6)
    assert result.latency_ms >= 0
    assert len(result.peer) in (1, 2)
    assert result.spec.title in result.steps()


@each_metric
def test_without_labels_corrected_is_the_judges_and_a_label_moves_it(key: str) -> None:
    result = measure(CONVERSATION, key, "offline")
    assert result.score_with_overrides({}) == result.scores
    worst = result.spec.labels.names[1]
    best = result.spec.labels.names[0]
    assert result.score_with_overrides(dict.fromkeys(result.claims, worst)).windowed.value == 0
    assert result.score_with_overrides(dict.fromkeys(result.claims, best)).windowed.value == 1


def test_a_label_of_a_claim_that_was_not_judged_is_refused() -> None:
    with pytest.raises(KeyError):
        measure(CONVERSATION).score_with_overrides({Claim(1, "Something else."): "no"})


def test_a_word_the_metric_does_not_know_is_refused() -> None:
    result = measure(CONVERSATION)
    assert result.score_with_overrides({result.claims[0]: "1"}) == result.scores
    with pytest.raises(ValueError, match="'No' is no label of turn-faithfulness; expected yes, no"):
        result.score_with_overrides({result.claims[0]: "No"})


def test_a_repeated_claim_is_one_claim_with_one_home_verdict() -> None:
    result = measure(CONVERSATION)
    texts = [claim.text for claim in result.claims]
    assert texts.count("It leaves within two days.") == 2, "once per answer that makes it"
    assert len(result.windows[1].verdicts) == 3
    assert len(result.claims) == 3


def test_evidence_names_truths_of_the_documents() -> None:
    result = measure(CONVERSATION)
    supported = result.claims[0]
    assert [each.truth.text for each in result.evidence[supported]] == [
        "It leaves within two days."
    ]
    assert {truth.text for truth in result.truths} == {
        "It leaves within two days.",
        "Returns take thirty days.",
    }


async def test_inside_a_running_loop_both_ways_give_the_same() -> None:
    waited = measure(CONVERSATION)
    assert (await measure_async(CONVERSATION)).scores == waited.scores


def test_an_error_inside_a_running_loop_comes_out() -> None:
    async def inside() -> None:
        with pytest.raises(ConfigError):
            measure(CONVERSATION, "turn-faithfulness", "nobody:x")

    asyncio.run(inside())


def test_the_embedded_judge_costs_nothing_and_an_unknown_price_is_not_nothing() -> None:
    class Unknown(Paid):
        @property
        def ref(self) -> str:
            return "openai:somebody-elses-model"

    class Own(Paid):
        @property
        def ref(self) -> str:
            return "my own judge"

    assert measure(CONVERSATION, judge="offline").cost_usd == 0
    assert measure(CONVERSATION, judge=Own()).cost_usd is None
    assert measure(CONVERSATION, judge=Unknown()).cost_usd is None


def test_a_metric_that_does_not_apply_is_skipped_with_its_reason() -> None:
    result = measure(single_turn("When?", "On Monday."))
    assert (result.score.state, result.score.reason) == (
        ScoreState.SKIPPED,
        "no retrieval context",
    )
    assert result.windows == ()
    assert result.score_with_overrides({}) == result.scores


def test_a_failed_question_is_a_state_and_not_a_score() -> None:
    result = measure(CONVERSATION, judge=Paid(fails="claims"))
    assert result.score.state is ScoreState.FAILED
    assert "it does not want to" in (result.score.reason or "")


def test_options_go_with_a_name_only() -> None:
    built = build("turn-faithfulness", {"window_size": 1})
    assert measure(CONVERSATION, built).options["window_size"] == 1
    with pytest.raises(ConfigError, match="built already"):
        measure(CONVERSATION, built, options={"window_size": 1})


def test_concurrency_below_1_is_refused() -> None:
    with pytest.raises(ConfigError, match="concurrency is 0"):
        measure(CONVERSATION, concurrency=0)


def test_verbose_mode_tells_the_steps_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    measure(CONVERSATION, options={"verbose_mode": True})
    out, err = capsys.readouterr()
    assert out == ""
    assert "window 2: turns 1, 2, 3, 4" in err
    assert "Returns take a year." in err
    assert "score: " in err


def test_steps_make_hostile_text_harmless() -> None:
    chat = single_turn("Q?", "It \x1b[31mleaves\x1b[0m within two days.", ["It leaves."])
    assert "\x1b" not in measure(chat).steps()


def test_an_address_without_bytes_goes_to_no_host_that_was_not_named() -> None:
    image = Image("a" * 64, "image/png", "https://evil.example.com/x.png")
    document = Document("It is a heron.", images=(image,))
    chat = Conversation.of(Turn("user", "What is it?"), Turn("assistant", "A heron.", (document,)))
    with pytest.raises(ImageHostNotAllowed, match=r"evil\.example\.com"):
        measure(chat, judge="openai:large")


def test_images_reach_a_judge_that_takes_them_and_no_other() -> None:
    image = Image("a" * 64, "image/png")
    chat = Conversation.of(
        Turn("user", "What is it?", images=(image,)),
        Turn("assistant", "It is a heron.", (Document("It is a heron.", images=(image,)),)),
    )
    with pytest.raises(ImagesNotSupported, match="takes none"):
        measure(chat, judge="offline", images={image.sha256: b"png"})
    with pytest.raises(ImagesNotSupported, match="bytes of image aaaaaaaaaaaa are missing"):
        measure(chat, judge=Paid(takes_images=True))
    judge = Paid(takes_images=True)
    measure(chat, judge=judge, images={image.sha256: b"png"})
    shown = {each.step: [image.data for image in each.images] for each in judge.requests}
    assert shown["truths"] == [b"png"]
    assert shown["claims"] == [b"png"]
    assert shown["verdicts"] == []


def test_the_option_that_names_a_judge_goes_before_the_argument(tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    replies.write_text("", encoding="utf-8")
    result = measure(CONVERSATION, options={"model": f"replay:{replies}"})
    assert result.judge == f"replay:{replies}"
    assert result.score.state is ScoreState.FAILED


def test_every_public_name_is_there_and_nothing_is_imported_before_it_is_used() -> None:
    for name in faithtui.__all__:
        assert getattr(faithtui, name) is not None
    assert set(faithtui.__all__) <= set(dir(faithtui))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = faithtui.nothing
    assert sys.modules["faithtui"].__name__ == "faithtui"


def test_nothing_to_judge_is_undefined_and_people_alone_decide_where_nothing_was_compared() -> None:
    small_talk = measure(single_turn("Thanks!", "You're welcome!", ["It leaves at nine."]))
    assert small_talk.score.state is ScoreState.UNDEFINED
    assert small_talk.score.reason == "the judge drew no claims from the answer"
    assert (small_talk.success, small_talk.reason) == (None, None)
    assert small_talk.scores.pooled.state is ScoreState.UNDEFINED
    assert (
        measure(
            single_turn("Thanks!", "You're welcome!", ["It leaves at nine."]),
            options={"as_peer": True},
        ).score.value
        == 1.0
    )
    bare = measure(single_turn("When?", "It leaves at nine.", []))
    assert bare.score.reason == "there is no document, so no claim was compared with anything"
    assert [each.label for each in bare.verdicts] == ["idk"]
    (claim,) = bare.claims
    assert bare.score_with_overrides({}).windowed == bare.scores.windowed
    assert bare.score_with_overrides({claim: "no"}).windowed.value == 0.0
    assert bare.score_with_overrides({claim: "x"}).windowed.state is ScoreState.UNDEFINED


async def test_a_measurement_says_what_its_score_rests_on() -> None:
    chat = conversation("a", 2)
    sound = await measure_async(chat, judge=CountingJudge())
    assert (sound.integrity.counts.claims, sound.warning) == (2, "")
    random = await measure_async(chat, judge=RandomJudge())
    assert random.integrity.counts.phantom == random.integrity.counts.claims > 0
    assert random.warning.startswith("suspect: ")


async def test_what_was_skipped_needs_no_warning() -> None:
    alone = Conversation.of(Turn("assistant", "It weighs two kilograms."))
    skipped = await measure_async(alone, judge=CountingJudge())
    assert skipped.warning == ""
