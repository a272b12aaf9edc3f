import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import ConversationId
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.engine.library.measurement import build_metric
from faithtui.engine.preview import run_preview
from faithtui.engine.preview.estimates import (
    EXPENSIVE_NUSD,
    EstimatedCount,
    Preview,
    PreviewQuestion,
    explain_why_to_confirm_cost,
    extrapolate_preview_from_sample,
    format_preview_line,
    format_usd,
    list_preview_fields,
)
from faithtui.engine.preview.run_preview import preview_requests, preview_runs
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.judges.providers.prices import read_price_table
from faithtui.metrics.registry import METRICS
from faithtui.store.store import Store
from tests.engine.building import conversation, opened, planned, store_with
from tests.store.building import SPEC

PAID = "openai:gpt-6-luna"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation(f"c{n}", 2) for n in range(6)]) as made:
        yield made


def same_context(number: int) -> Conversation:
    """Make one of many conversations about the same document."""
    return Conversation(
        "shared",
        f"s{number}",
        (
            Turn("user", f"What does parcel {number} weigh?"),
            Turn(
                "assistant",
                f"Parcel {number} weighs {number} kilograms.",
                (Document("All parcels are weighed at the depot. They are blue."),),
            ),
        ),
        f"shared/{number}",
    )


@pytest.mark.thorough
def test_it_counts_every_question_that_the_run_then_asks(tmp_path: Path) -> None:
    for metric in METRICS:
        path = tmp_path / f"{metric.spec.key}.db"
        with store_with(path, [conversation(f"c{n}", 2) for n in range(3)]) as store:
            (found,) = preview_requests(store, [RunRequest(metric=metric.spec.key)])
            run = planned(store, metric=metric.spec.key)
            asyncio.run(runner.execute_run(store, run, lambda event: None))
            row = store.runs.read_run(run)
            assert found.calls.value == row.calls, metric.spec.key
            assert found.windows.value == row.windows, metric.spec.key
            assert found.calls.is_exact
            assert {step.step for step in found.steps if step.calls} == steps_asked(store, run)


def steps_asked(store: Store, run: object) -> set[str]:
    items = store.runs.list_item_ids(run)  # type: ignore[arg-type]  # a RunId
    return {call.step for item in items for call in store.calls.list_item_calls(item)}


def test_what_is_stored_needs_no_call_and_costs_nothing(store: Store) -> None:
    before = preview_requests(store, [RunRequest()])[0]
    run = planned(store)
    asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge())))
    after = preview_requests(store, [RunRequest()])[0]
    assert before.calls.value > 0
    assert after.calls.value == 0
    assert after.calls_stored == before.calls.value + before.calls_stored
    assert "more need no call" in format_preview_line([after])


def test_a_paid_judge_has_a_price_and_a_ceiling_and_needs_no_key(store: Store) -> None:
    (found,) = preview_requests(store, [RunRequest(judge=PAID)])
    assert found.cost_nusd is not None
    assert found.worst_nusd is not None
    assert 0 < found.cost_nusd.value < found.worst_nusd
    assert not found.is_free
    words = format_preview_line([found])
    assert f"to {PAID}; " in words
    assert "at most $" in words
    assert found.prices in words


def test_no_answer_is_taken_to_be_longer_than_its_limit(store: Store) -> None:
    def preview(max_tokens: int | None) -> Preview:
        profile = JudgeProfile(max_tokens=max_tokens)
        (found,) = preview_requests(store, [RunRequest(judge=PAID, profile=profile)], sample=3)
        return found

    found = preview(2)
    assert found.tokens_out.value == 2 * found.calls.value
    assert found.cost_nusd is not None
    assert found.worst_nusd is not None
    assert found.cost_nusd.high <= found.worst_nusd
    unlimited = preview(None)
    assert unlimited.cost_nusd is not None
    assert found.cost_nusd.value < unlimited.cost_nusd.value


def test_the_most_that_it_may_cost_is_never_below_what_it_likely_costs() -> None:
    # Likely costs differ more between conversations than the most that each may cost.
    asked = [PreviewQuestion("truths", place, 1, 1, 90 * place, 90) for place in range(2)]
    prices = TablePrices(read_price_table(), PAID, None)
    found = extrapolate_preview_from_sample(SPEC, asked, {"truths": 0}, 2, 50, prices)
    assert found.cost_nusd is not None
    assert found.worst_nusd == found.cost_nusd.high


def test_an_unknown_price_is_said_and_never_nothing(store: Store) -> None:
    (found,) = preview_requests(store, [RunRequest(judge="openai:nobody-knows")])
    assert found.cost_nusd is None
    assert found.worst_nusd is None
    assert not found.is_free
    assert "cost not known" in format_preview_line([found])


def test_a_preview_in_parts_says_what_is_judged_asked_and_paid_and_by_which_prices(
    store: Store,
) -> None:
    paid = dict(list_preview_fields(preview_requests(store, [RunRequest(judge=PAID)])))
    assert paid["judged"] == "6 conversations, 12 windows"
    assert "questions" in paid["asks"]
    assert "read" in paid["tokens"]
    assert f"· prices of {read_price_table().sources}" in paid["cost"]
    run = planned(store)
    asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge())))
    again = dict(list_preview_fields(preview_requests(store, [RunRequest()])))
    assert again["asks"].startswith("nothing: all ")
    assert "tokens" not in again
    assert again["cost"] == "nothing"
    unknown = dict(list_preview_fields(preview_requests(store, [RunRequest(judge="openai:x")])))
    assert unknown["cost"] == (
        f"not known: the prices of {read_price_table().sources} have none for this judge"
    )


def test_an_order_that_is_set_as_a_run_there_is_names_that_run(store: Store) -> None:
    def same_as(request: RunRequest) -> str | None:
        return dict(list_preview_fields(preview_requests(store, [request]))).get("same as")

    assert same_as(RunRequest()) is None
    run = planned(store)
    words = f"run #{run}: metric, judge, options and conversations"
    assert same_as(RunRequest()) == words
    assert same_as(RunRequest(concurrency=3)) == words
    assert same_as(RunRequest(limit=2)) is None
    assert same_as(RunRequest(judge=PAID)) is None
    assert same_as(RunRequest(options={"window_size": "3"})) is None
    both = [RunRequest(), RunRequest(judge=PAID)]
    assert list_preview_fields(preview_requests(store, both))[0] == ("same as", words)


def test_what_a_sample_says_is_said_to_be_about_right(store: Store) -> None:
    (found,) = preview_requests(store, [RunRequest(judge=PAID)], sample=2)
    assert found.windows.value == 12
    run = planned(store)
    asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge())))
    (again,) = preview_requests(store, [RunRequest()], sample=2)
    assert dict(list_preview_fields([again]))["asks"].startswith("nothing: all of about ")


def costing(low: int, high: int, *, calls: int = 5) -> Preview:
    exact = EstimatedCount(calls, calls, calls)
    cost = EstimatedCount((low + high) // 2, low, high)
    return Preview("m", PAID, 1, 1, exact, 0, exact, exact, cost, high, "2026-11", ())


def test_only_runs_that_may_cost_a_dollar_or_an_unknown_amount_need_somebody_to_agree(
    store: Store,
) -> None:
    dear, cheap = costing(EXPENSIVE_NUSD, 3 * EXPENSIVE_NUSD), costing(1, EXPENSIVE_NUSD - 1)
    assert explain_why_to_confirm_cost([dear]) == (
        f"5 questions to {PAID} cost about $2.00 ($1.00 to $3.00). There is no budget."
    )
    assert explain_why_to_confirm_cost([cheap]) == ""
    assert explain_why_to_confirm_cost([cheap, cheap]) != ""
    assert explain_why_to_confirm_cost([dear], EXPENSIVE_NUSD // 2) == ""
    assert "Each run stops at its budget of $1.00." in explain_why_to_confirm_cost(
        [dear], EXPENSIVE_NUSD
    )
    assert explain_why_to_confirm_cost([costing(0, 0, calls=0)]) == ""
    unknown = preview_requests(store, [RunRequest(judge="openai:x")])
    assert "The price of openai:x is not known" in explain_why_to_confirm_cost(unknown)
    assert explain_why_to_confirm_cost(preview_requests(store, [RunRequest()])) == ""


def test_nothing_is_written_and_nothing_planned(store: Store) -> None:
    version = store.read_change_number()
    preview_requests(store, [RunRequest(judge=PAID)])
    assert store.read_change_number() == version
    assert store.runs.list_runs() == ()


def test_a_preview_of_planned_runs_says_what_the_order_would(store: Store) -> None:
    ordered = preview_requests(store, [RunRequest(judge=PAID)])
    run = run_planner.save_planned_run(
        store, RunRequest(judge=PAID), environ={"OPENAI_API_KEY": "k"}
    )
    assert preview_runs(store, [run]) == ordered


def test_runs_that_share_questions_ask_them_once(store: Store) -> None:
    both = [RunRequest(metric=name) for name in ("turn-faithfulness", "deepevalex-faithfulness")]
    alone = [preview_requests(store, [each])[0] for each in both]
    first, second = preview_requests(store, both)
    assert first == alone[0]
    assert second.calls.value < alone[1].calls.value
    assert second.calls_stored > alone[1].calls_stored


def test_a_sample_is_scaled_up_and_its_interval_holds_the_truth(tmp_path: Path) -> None:
    mixed = [conversation(f"c{n}", 1 + n % 4) for n in range(60)]
    with store_with(tmp_path / "many.db", mixed) as store:
        (whole,) = preview_requests(store, [RunRequest(judge=PAID)], sample=60)
        (part,) = preview_requests(store, [RunRequest(judge=PAID)], sample=12)
        assert (whole.sampled, part.sampled) == (60, 12)
        assert part.calls.low < whole.calls.value < part.calls.high
        assert part.tokens_in.low < whole.tokens_in.value < part.tokens_in.high
        assert "about" in format_preview_line([part])
        assert preview_requests(store, [RunRequest(judge=PAID)], sample=12) == (part,)


def test_a_sample_of_equal_conversations_is_no_exact_count(tmp_path: Path) -> None:
    with store_with(tmp_path / "many.db", [conversation(f"c{n}", 2) for n in range(60)]) as store:
        (part,) = preview_requests(store, [RunRequest(judge=PAID)], sample=12)
        assert not part.calls.is_exact
        assert format_preview_line([part]).startswith(f"about {part.calls.value} questions to ")
        assert dict(list_preview_fields([part]))["asks"].startswith("about ")


def test_windows_are_counted_beyond_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = [conversation(f"c{n}", 1 + n % 4) for n in range(60)]
    with store_with(tmp_path / "many.db", mixed) as store:
        (part,) = preview_requests(store, [RunRequest(judge=PAID)], sample=12)
        assert part.windows == EstimatedCount(150, 150, 150)
        monkeypatch.setattr(run_preview, "MOST_COUNTED", 20)
        (part,) = preview_requests(store, [RunRequest(judge=PAID)], sample=12)
        assert part.windows.low < 150 < part.windows.high


def test_looking_ends_after_so_much_text_and_sooner_for_a_free_judge(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = build_metric("turn-faithfulness", None)
    length = run_preview._count_window_characters(
        metric, store.conversations.get(ConversationId(1))
    )
    monkeypatch.setattr(run_preview, "MOST_FREE_TEXT", 3 * length)
    monkeypatch.setattr(run_preview, "MOST_TEXT", 5 * length)
    free, paid = (
        preview_requests(store, [RunRequest(judge=each)])[0] for each in ("offline", PAID)
    )
    assert (free.sampled, paid.sampled) == (3, 5)


def test_what_several_windows_hold_counts_several_times(store: Store) -> None:
    """A question about a window is made from all of it, so long conversations take longer."""
    metric = build_metric("turn-faithfulness", {"window_size": 1})
    wide = build_metric("turn-faithfulness", {"window_size": 3})
    many = conversation("many", 3)
    one, three = (run_preview._count_window_characters(each, many) for each in (metric, wide))
    assert one == sum(
        len(turn.content) + sum(len(each.text) for each in turn.retrieval_context or ())
        for turn in many.turns
    )
    assert one < three < 3 * one


def test_a_busy_machine_tells_the_same_numbers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two screens told two numbers of questions about one store."""
    at_once = preview_requests(store, [RunRequest(judge=PAID)])
    hours = count(0, 3600)
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: float(next(hours)))
        busy = preview_requests(store, [RunRequest(judge=PAID)])
    assert busy == at_once
    assert busy[0].sampled == 6


def test_a_document_of_many_conversations_is_counted_once(tmp_path: Path) -> None:
    with store_with(tmp_path / "same.db", [same_context(n) for n in range(40)]) as store:
        (part,) = preview_requests(store, [RunRequest(judge=PAID)], sample=8)
        truths = next(step for step in part.steps if step.step == "truths")
        assert truths.calls == 1


def test_documents_that_few_conversations_share_are_counted_by_how_many_do(tmp_path: Path) -> None:
    def about(number: int) -> Conversation:
        document = Document(f"Parcel {number % 10} is weighed at the depot. It is blue.")
        turns = (
            Turn("user", f"Is {number} blue?"),
            Turn("assistant", f"{number} is.", (document,)),
        )
        return Conversation("few", f"f{number}", turns, f"few/{number}")

    with store_with(tmp_path / "few.db", [about(n) for n in range(40)]) as store:
        order = [RunRequest(judge=PAID)]
        (part,), (whole,) = (preview_requests(store, order, sample=some) for some in (8, 40))
    truths, all_truths = (
        next(step for step in each.steps if step.step == "truths") for each in (part, whole)
    )
    assert (truths.calls, truths.stored) == (all_truths.calls, all_truths.stored) == (10, 30)
    assert part.calls.low <= whole.calls.value <= part.calls.high


@pytest.mark.parametrize("metric", ["turn-faithfulness", "ragas-faithfulness"])
def test_what_was_said_before_the_answers_of_several_models_is_counted_once(
    tmp_path: Path, metric: str
) -> None:
    """Each of three conversations goes on in eight ways, as data sets of several models have it."""
    chats = [
        replace(
            whole,
            key=f"{whole.key}-{model}",
            turns=(
                *whole.turns[:-1],
                replace(whole.turns[-1], content=f"Parcel {whole.key} weighs {model + 20} tons."),
            ),
        )
        for whole in (conversation(f"c{number}", 4) for number in range(3))
        for model in range(8)
    ]
    with store_with(tmp_path / "models.db", chats) as store:
        (looked,) = preview_requests(store, [RunRequest(metric=metric)], sample=3)
        (whole,) = preview_requests(store, [RunRequest(metric=metric)], sample=100)
        assert (looked.sampled, whole.sampled) == (3, 24)
        told, true = ({step.step: step.calls for step in each.steps} for each in (looked, whole))
        assert true.items() >= dict.fromkeys(CLAIM_STEPS[metric], 3 * (3 + 8)).items()
        for step in CLAIM_STEPS[metric]:
            assert told[step] == pytest.approx(true[step], rel=0.05)


CLAIM_STEPS = {
    "turn-faithfulness": ("claims",),
    "ragas-faithfulness": ("statements", "inference"),
}


def test_claims_that_are_given_are_not_asked_for(store: Store) -> None:
    first = planned(store)
    asyncio.run(runner.execute_run(store, first, lambda event: None, judge=opened(OfflineJudge())))
    (found,) = preview_requests(store, [RunRequest(judge=PAID, claims_run=first)])
    assert "claims" not in {step.step for step in found.steps}


def test_an_order_that_cannot_be_is_refused(store: Store) -> None:
    with pytest.raises(ConfigError, match="unknown judge"):
        preview_requests(store, [RunRequest(judge="nobody:x")])


def test_batches_are_priced_as_such(store: Store) -> None:
    live, batch = preview_requests(store, [RunRequest(judge=PAID)]) + preview_requests(
        store, [RunRequest(judge=PAID, batch=True)]
    )
    assert live.cost_nusd is not None
    assert batch.cost_nusd is not None
    assert batch.cost_nusd.value == pytest.approx(live.cost_nusd.value / 2, abs=40)


def test_a_table_of_ones_own_is_used(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(
        'date = "2030-01"\n[[price]]\njudge = "openai:own"\ninput = 1000.0\noutput = 0.0\n'
    )
    environment = RunEnvironment(prices=read_price_table(table))
    (found,) = preview_requests(store, [RunRequest(judge="openai:own")], environment=environment)
    assert found.cost_nusd is not None
    assert found.cost_nusd.value == found.tokens_in.value * 1_000_000
    assert found.prices == "prices.toml, 2030-01"


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(0, 200))
def test_estimates_are_ordered_and_hold_what_was_seen(alone: Sequence[int], more: int) -> None:
    asked = [
        PreviewQuestion("truths", place, tokens, 0, None, 0) for place, tokens in enumerate(alone)
    ]
    prices = TablePrices(read_price_table(), "offline", None)
    found = extrapolate_preview_from_sample(
        SPEC, asked, {"truths": 0}, len(alone), len(alone) + more, prices
    )
    about = found.tokens_in
    assert sum(alone) <= about.low <= about.value <= about.high
    assert about.is_exact or more
    assert found.steps[0].calls == found.calls.value


@pytest.mark.parametrize(
    ("nusd", "words"),
    [
        (0, "$0.00"),
        (1, "<$0.0001"),
        (123_456, "$0.00012"),
        (95_000_000, "$0.10"),
        (1_234_500_000, "$1.23"),
        (1_234_567_000_000, "$1,235"),
    ],
)
def test_money_is_written_with_digits_that_tell_something(nusd: int, words: str) -> None:
    assert format_usd(nusd) == words
