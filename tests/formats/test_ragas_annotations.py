"""Annotations for ragas: their shape, and ragas itself where it is installed."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from faithtui.formats.writers.ragas_annotations import (
    AnnotatedAnswer,
    AnnotatedStatement,
    format_annotations_json,
)

REVIEWED = AnnotatedAnswer(
    question="Can I return it?",
    answer="Returns are free. Shipping is not. Enjoy!",
    contexts=("Returns are free.", "Shipping costs $5.\u2028 ünï 😀"),
    statements=(
        AnnotatedStatement("Returns are free.", True, "It says so.", True, "unused"),
        AnnotatedStatement("Shipping is not free.", False, "Not stated.", True, "It costs $5."),
        AnnotatedStatement("The user enjoys it.", False, "Not stated.", None, ""),
        AnnotatedStatement("It is blue.", None, "", False, "cannot be inferred"),
    ),
)
AGREED = AnnotatedAnswer(
    "Is it blue?",
    "It is blue.",
    (),
    (AnnotatedStatement("It is blue.", False, "No context.", False, "unused"),),
)
UNFAIR = AnnotatedAnswer(
    "Hi", "Hello!", ("A page.",), (AnnotatedStatement("Hello.", True, "", None, ""),)
)


def said(statement: str, reason: str, verdict: int) -> dict[str, object]:
    return {"statement": statement, "reason": reason, "verdict": verdict}


def samples(*answers: AnnotatedAnswer) -> list[dict[str, Any]]:
    document = format_annotations_json(answers)
    assert document.isascii()
    found = json.loads(document)
    assert list(found) == ["faithfulness"]
    return list(found["faithfulness"])


def test_what_people_changed_is_the_edited_output() -> None:
    (sample,) = samples(REVIEWED)
    assert sample["metric_input"] == {
        "user_input": REVIEWED.question,
        "response": REVIEWED.answer,
        "retrieved_contexts": list(REVIEWED.contexts),
    }
    assert sample["metric_output"] == sample["target"] == pytest.approx(2 / 3)
    assert sample["is_accepted"] is True
    statements = [each.text for each in REVIEWED.statements]
    fair = [each for each in statements if each != "The user enjoys it."]
    assert sample["prompts"]["statement_generator_prompt"] == {
        "prompt_input": {"question": REVIEWED.question, "answer": REVIEWED.answer},
        "prompt_output": {"statements": statements},
        "edited_output": {"statements": fair},
    }
    assert sample["prompts"]["n_l_i_statement_prompt"] == {
        "prompt_input": {"context": "\n".join(REVIEWED.contexts), "statements": fair},
        "prompt_output": {
            "statements": [
                said("Returns are free.", "It says so.", 1),
                said("Shipping is not free.", "Not stated.", 0),
            ]
        },
        "edited_output": {
            "statements": [
                said("Returns are free.", "It says so.", 1),
                said("Shipping is not free.", "It costs $5.", 1),
                said("It is blue.", "cannot be inferred", 0),
            ]
        },
    }


def test_what_people_left_alone_has_no_edited_output() -> None:
    (sample,) = samples(AGREED)
    assert [each["edited_output"] for each in sample["prompts"].values()] == [None, None]
    assert sample["metric_output"] == 0


def test_an_answer_without_a_fair_statement_has_no_score_and_is_left_out() -> None:
    assert UNFAIR.human_score is None
    assert samples(UNFAIR, AGREED) == samples(AGREED)
    assert samples() == []


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # ragas and what it needs warn of their own changes
def test_ragas_loads_it_and_takes_the_corrections_as_demonstrations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, import_peer: Callable[[str], ModuleType]
) -> None:
    """Written and read against ragas 0.4.3."""
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    metrics, schema, config, embeddings = (
        import_peer(f"ragas.{name}")
        for name in ("metrics", "dataset_schema", "config", "embeddings.base")
    )
    base: Any = embeddings.BaseRagasEmbeddings

    class Letters(base):  # type: ignore[misc]  # where ragas is absent nobody knows its types
        """Embeds a text by its length: no network."""

        def embed_query(self, text: str) -> list[float]:
            return [1.0, float(len(text))]

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

        async def aembed_query(self, text: str) -> list[float]:
            return self.embed_query(text)

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            return self.embed_documents(texts)

    path = tmp_path / "annotations.json"
    path.write_text(format_annotations_json([REVIEWED, AGREED]), encoding="utf-8")
    loaded = schema.MetricAnnotation.from_json(os.fspath(path), metric_name="faithfulness")
    assert len(loaded) == 2
    dataset = loaded["faithfulness"].to_evaluation_dataset()
    assert dataset[0].retrieved_contexts == list(REVIEWED.contexts)
    metric = metrics.Faithfulness()
    packaged = {name: len(prompt.examples) for name, prompt in metric.get_prompts().items()}
    metric.train(
        os.fspath(path), demonstration_config=config.DemonstrationConfig(embedding=Letters())
    )
    learnt = {
        name: prompt.example_store._examples_list for name, prompt in metric.get_prompts().items()
    }
    assert {name: len(each) for name, each in learnt.items()} == {
        name: number + 2 for name, number in packaged.items()
    }
    asked, decided = learnt["n_l_i_statement_prompt"][-2]
    assert asked.context == "\n".join(REVIEWED.contexts)
    assert [each.verdict for each in decided.statements] == [1, 1, 0]
    _, cut = learnt["statement_generator_prompt"][-2]
    assert "The user enjoys it." not in cut.statements
