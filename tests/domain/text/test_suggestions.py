"""Names that somebody may have meant."""

import pytest

from faithtui.domain.text.suggestions import find_similar_name, format_suggestion
from faithtui.errors import ConfigError
from faithtui.judges.providers.endpoints import parse_endpoint
from faithtui.metrics.registry import find_metric

NAMES = ("turn-faithfulness", "turn-contextual-relevancy", "ragas-faithfulness")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("faithfulness", "turn-faithfulness"),
        ("ragas", "ragas-faithfulness"),
        ("Turn-Faithfullness", "turn-faithfulness"),
        ("turn-contextual-relevance", "turn-contextual-relevancy"),
        ("toxicity", None),
        ("", None),
        (" ", None),
        ("t", None),
    ],
)
def test_the_most_similar_name_is_found(typed: str, meant: str | None) -> None:
    assert find_similar_name(typed, NAMES) == meant


def test_a_suggestion_is_a_sentence_or_nothing() -> None:
    assert format_suggestion("ragas", NAMES) == ". Did you mean `ragas-faithfulness`?"
    assert format_suggestion("toxicity", NAMES) == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("o3", "openai:o3"),
        ("claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("llama3.1:8b", "ollama:llama3.1:8b"),
        ("opanai:gpt-4o", "openai:gpt-4o"),
        ("antropic:claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("openai", "openai:MODEL"),
        ("ofline", "offline"),
        ("replies.jsonl", "replay:replies.jsonl"),
    ],
)
def test_a_judge_is_suggested(typed: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_endpoint(typed, None)
    assert str(caught.value).endswith(f". Did you mean `{meant}`?")


def test_a_judge_that_is_like_none_is_not_guessed() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_endpoint("zzz:x", None)
    assert "Did you mean" not in str(caught.value)


def test_a_metric_is_suggested() -> None:
    with pytest.raises(ConfigError, match=r"Did you mean `turn-faithfulness`\?"):
        find_metric("faithfulness")
