"""How a judge is asked is declared once: the public functions take it by the same keywords."""

import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import pytest

import faithtui
from faithtui.engine.calls.budget import BudgetCaps
from faithtui.engine.calls.rate_limiter import SpeedLimit
from faithtui.engine.library.judge_session import AskingOptions, AskingSettings
from faithtui.engine.shards.measure_settings import MeasureSettings

DECLARED = {each.name: each.default for each in fields(AskingSettings)} | {"profile": None}
"""Options with their defaults. A profile that is left out is None for callers."""


def list_keywords(function: Callable[..., object]) -> Mapping[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}


def test_evaluate_takes_every_option_and_the_others_take_theirs_by_the_same_defaults() -> None:
    assert list_keywords(faithtui.evaluate).items() >= DECLARED.items()
    for function in (faithtui.measure, faithtui.measure_shards):
        shared = DECLARED.keys() & list_keywords(function).keys()
        assert len(shared) > 4
        assert {name: list_keywords(function)[name] for name in shared} == {
            name: DECLARED[name] for name in shared
        }


@pytest.mark.parametrize("name", ["evaluate", "measure"])
def test_the_async_function_takes_what_the_other_one_takes(name: str) -> None:
    on_the_loop = dict(list_keywords(getattr(faithtui, f"{name}_async")))
    on_the_loop.pop("stop", None)
    assert on_the_loop == list_keywords(getattr(faithtui, name))


def test_settings_of_a_results_folder_ask_with_every_option() -> None:
    given: dict[str, Any] = {
        "base_url": "http://localhost:1",
        "concurrency": 3,
        "image_hosts": ("a.example",),
        "timeout_s": 9.0,
        "budget_usd": 0.5,
        "budget_tokens": 70,
        "requests_per_minute": 5,
        "tokens_per_minute": 6,
    }
    assert {*given, "profile"} == DECLARED.keys()
    settings = pickle.loads(pickle.dumps(MeasureSettings(**given)))
    options = settings.make_asking_options()
    assert isinstance(options, AskingOptions)
    assert {name: getattr(options, name) for name in given} == given
    assert options.budget_caps == BudgetCaps(500_000_000, 70)
    assert options.speed_limit == SpeedLimit(5, 6)
    assert options.has_budget
    assert not MeasureSettings().has_budget
