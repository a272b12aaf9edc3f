"""Whose name is a machine's."""

import pytest

from faithtui.domain.labels.rater_kinds import find_machine_labeller_names

JUDGES = ["openai:gpt-4o-mini", "offline", "replay:folder/replies.jsonl", "openai:house-7b"]


@pytest.mark.parametrize(
    "name",
    [
        "house-7b", " House-7B ", "openai:house-7b", "openai:anything", "offline", "model:x",
        "LLM: x", "agent:reviewer", "bot:1", "judge:a", "gpt-4o", "ChatGPT", "claude-opus-4",
        "gemini-2.5-pro", "llama3", "Llama-3.1", "qwen3", "deepseek-r1", "o3-mini", "phi-4",
        "replay:folder/replies.jsonl",
    ],
)  # fmt: skip
def test_names_of_machines_are_found(name: str) -> None:
    assert find_machine_labeller_names([name, "ann"], JUDGES) == (name,)


@pytest.mark.parametrize(
    "name",
    ["claude", "ann", "Bo", "17", "", "annotator: bo", "robot fan", "modeller", "gptfan", "olga",
     "phil", "agent", "Claude Dupont", "o3", "a\x1b]0;x\x07"],
)  # fmt: skip
def test_names_of_people_are_left_alone(name: str) -> None:
    assert find_machine_labeller_names([name], JUDGES) == ()


def test_each_is_named_once_in_order() -> None:
    assert find_machine_labeller_names(["model:b", "ann", "model:a", "model:b"], []) == (
        "model:a",
        "model:b",
    )
