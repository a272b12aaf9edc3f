from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import ConfigError
from faithtui.metrics.registry import (
    METRICS,
    MetricEntry,
    build,
    drop_default_options,
    find_metric,
    list_option_names,
    metric_options_to_json,
)
from faithtui.metrics.turn_faithfulness import TurnFaithfulness

KEY = "turn-faithfulness"


@pytest.mark.parametrize("key", [KEY, "turn_faithfulness", " Turn-Faithfulness "])
def test_a_metric_is_found_with_hyphens_or_underscores(key: str) -> None:
    assert find_metric(key).spec.key == KEY
    assert build(key, {}).spec.key == KEY


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no metric `truthiness`; known: .*turn-faithfulness"):
        build("truthiness", {})


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no option `treshold`; it has strategy, threshold"):
        build(KEY, {"treshold": 1})


def test_prompts_are_no_option() -> None:
    assert "prompts" not in list_option_names(KEY)
    with pytest.raises(ConfigError, match="no option `prompts`"):
        build(KEY, {"prompts": "x"})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("threshold", "0.7", 0.7),
        ("threshold", "1", 1.0),
        ("threshold", "none", None),
        ("threshold", " None ", None),
        ("threshold", "null", None),
        ("truths_extraction_limit", "5", 5),
        ("truths_extraction_limit", "NONE", None),
        ("truths-extraction-limit", "5", 5),
        ("window_size", "3", 3),
        ("strict_mode", "true", True),
        ("strict-mode", "no", False),
        ("include_reason", "off", False),
        ("strategy", "window", "window"),
    ],
)
def test_options_are_read_from_text(name: str, text: str, value: object) -> None:
    assert metric_options_to_json(build(KEY, {name: text}))[name.replace("-", "_")] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", "high"),
        ("window_size", "none"),
        ("window_size", "2.5"),
        ("window_size", None),
        ("strict_mode", "perhaps"),
        ("strict_mode", "none"),
        ("strategy", "windows"),
        ("truths_extraction_limit", [1]),
        ("threshold", "1.5"),
    ],
)
def test_a_value_of_the_wrong_kind_or_out_of_range_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        build(KEY, {name: value})


def test_defaults_are_the_peers() -> None:
    assert metric_options_to_json(build(KEY, {})) == {
        "strategy": "evidence",
        "threshold": 0.5,
        "strict_mode": False,
        "include_reason": True,
        "truths_extraction_limit": None,
        "penalize_ambiguous_claims": False,
        "window_size": 10,
        "model": None,
        "async_mode": True,
        "verbose_mode": False,
        "answers_alone": False,
        "as_peer": False,
    }


def test_own_prompts_go_into_the_metric(tmp_path: Path) -> None:
    (tmp_path / "reason.txt").write_text("Why $score? $findings", encoding="utf-8")
    own = build(KEY, {}, prompts_dir=tmp_path)
    assert own.prompt_digest != build(KEY, {}).prompt_digest
    assert metric_options_to_json(own) == metric_options_to_json(build(KEY, {}))


options = st.fixed_dictionaries(
    {},
    optional={
        "strategy": st.sampled_from(("evidence", "window")),
        "threshold": st.none() | st.floats(0, 1),
        "strict_mode": st.booleans(),
        "include_reason": st.booleans(),
        "truths_extraction_limit": st.none() | st.integers(1, 100),
        "penalize_ambiguous_claims": st.booleans(),
        "window_size": st.integers(1, 100),
        "model": st.none() | st.sampled_from(("gpt-6-luna", "anthropic:claude-haiku-5-5")),
        "async_mode": st.booleans(),
        "verbose_mode": st.booleans(),
        "answers_alone": st.booleans(),
        "as_peer": st.booleans(),
    },
)


@given(options)
def test_every_option_comes_back_as_it_was_given(given_options: dict[str, object]) -> None:
    metric = build(KEY, given_options)
    kept = metric_options_to_json(metric)
    assert {name: kept[name] for name in given_options} == given_options
    assert build(KEY, kept) == metric


@given(options)
def test_options_written_as_text_mean_the_same(given_options: dict[str, object]) -> None:
    as_text = {name: str(value) for name, value in given_options.items()}
    assert build(KEY, as_text) == build(KEY, given_options)


@pytest.mark.parametrize("each", METRICS, ids=lambda each: str(each.spec.key))
def test_the_defaults_of_every_metric_can_be_written_as_text(each: MetricEntry) -> None:
    key = each.spec.key
    for name, value in metric_options_to_json(build(key, {})).items():
        if isinstance(value, str | bool | int | float | None):
            assert build(key, {name.replace("_", "-"): str(value)}) == build(key, {})
    assert drop_default_options(key, metric_options_to_json(build(key, {}))) == {}


@pytest.mark.parametrize("each", METRICS, ids=lambda each: str(each.spec.key))
def test_every_metric_refuses_options_it_does_not_have(each: MetricEntry) -> None:
    for name in ("prompts", "spec", "temperament"):
        with pytest.raises(ConfigError, match=f"{each.spec.key} has no option `{name}`"):
            build(each.spec.key, {name: "x"})


def test_the_table_names_each_metric_once() -> None:
    keys = [each.spec.key for each in METRICS]
    assert len(set(keys)) == len(keys)
    assert find_metric(KEY).make is TurnFaithfulness


def test_only_options_that_differ_from_the_defaults_are_changed_ones() -> None:
    metric = build(
        "turn-faithfulness", {"window_size": "3", "threshold": "none", "strategy": "window"}
    )
    changed = drop_default_options("turn-faithfulness", metric_options_to_json(metric))
    assert changed == {"window_size": 3, "threshold": None}
    stored = metric_options_to_json(metric)
    kept = drop_default_options("turn-faithfulness", stored, keep_rules=True)
    assert kept == {**changed, "strategy": "window"}
    again = {name: str(value) for name, value in changed.items()}
    assert build("turn-faithfulness", again).rule.threshold is None
