"""A tiny random classifier, made here, through ONNX Runtime and a real tokenizer."""

import json
from pathlib import Path
from typing import Any

import pytest

from faithtui import measure, single_turn

pytestmark = pytest.mark.thorough


def write_random_model(folder: Path) -> Path:
    """Write a classifier of pairs with random weights: mean of word vectors, one layer."""
    onnx: Any = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    tokenizers: Any = pytest.importorskip("tokenizers")
    import numpy as np

    words = ["[PAD]", "[UNK]", "[SEP]", *"the mill is old not sold lake deep . it has".split()]  # noqa: SIM905
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    chance = np.random.default_rng(3)
    helper, ints, floats = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=floats),
            helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
            helper.make_node("Mul", ["vectors", "column"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "middle"], ["pooled"], keepdims=0),
            helper.make_node("MatMul", ["pooled", "layer"], ["logits"]),
        ],
        "tiny",
        [
            helper.make_tensor_value_info(name, ints, ["pairs", "tokens"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("logits", floats, ["pairs", 3])],
        [
            onnx.numpy_helper.from_array(array, name)
            for name, array in (
                ("table", chance.normal(size=(len(words), 8)).astype(np.float32)),
                ("layer", chance.normal(size=(8, 3)).astype(np.float32)),
                ("last", np.array([2])),
                ("middle", np.array([1])),
            )
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    labels = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return folder


def test_a_random_model_judges_a_conversation_the_same_twice(tmp_path: Path) -> None:
    folder = write_random_model(tmp_path)
    chat = single_turn(
        "How is it?", "The mill is old. The lake is not deep.", ["The mill is old. It has a lake."]
    )
    results = [measure(chat, "turn-faithfulness", f"nli:{folder}") for _ in range(2)]
    verdicts = [[(each.label, each.reason) for each in result.verdicts] for result in results]
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 2
    assert {label for label, _ in verdicts[0]} <= {"yes", "no", "idk"}
    assert all("P(yes)" in str(reason) for _, reason in verdicts[0])


def test_batches_and_padding_change_no_answer(tmp_path: Path) -> None:
    from faithtui.judges.verifiers.nli import open_nli_verifier

    verifier = open_nli_verifier(str(write_random_model(tmp_path)))
    pairs = [("the mill is old " * (n % 5 + 1), "the lake is deep " * n) for n in range(1, 40)]
    for pair, said in zip(pairs, verifier.verify_all(pairs), strict=True):
        assert verifier.verify(*pair) == pytest.approx(said, abs=1e-5)
        assert sum(said) == pytest.approx(1)
