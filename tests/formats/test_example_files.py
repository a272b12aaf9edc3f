"""Examples as files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.judging.judge_examples import Example, Reference
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.split_rule import SPLITS
from faithtui.errors import InputError
from faithtui.formats.example_files import (
    FORMAT,
    example_from_json,
    example_lines,
    example_to_json,
    read_examples,
)

texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
words = texts.filter(bool)

examples = st.builds(
    Example,
    metric=words,
    run=st.integers(0, 1 << 40),
    judge=words,
    source=words,
    key=words,
    group=words,
    split=st.none() | st.sampled_from(SPLITS),
    turn=st.integers(0, 1 << 40),
    claim_id=st.integers(0, 1 << 40),
    kind=st.sampled_from(("claim", "statement", "answer")),
    question=texts,
    claim=texts,
    passages=st.lists(texts, max_size=3).map(tuple),
    references=st.lists(
        st.builds(Reference, texts, st.sampled_from((None, "supports", "contradicts"))), max_size=3
    ).map(tuple),
    judge_verdict=st.none() | words,
    judge_reason=st.none() | texts,
    verdict=words,
    reviewers=st.integers(0, 1 << 40),
    blind=st.sampled_from((None, True, False)),
    code=st.sampled_from((None, *(code.name for code in REASON_CODES))),
    note=st.none() | texts,
)

LINE: dict[str, Any] = {
    "type": FORMAT,
    "version": 1,
    "metric": "turn-faithfulness",
    "run": 1,
    "judge": "offline",
    "source": "shop",
    "conversation": "order-17",
    "group": "shop/order-17",
    "split": "train",
    "turn": 1,
    "claim_id": 3,
    "kind": "claim",
    "question": "",
    "claim": "Free.",
    "passages": ["It is."],
    "references": [{"text": "It is.", "stance": "supports"}],
    "judge_verdict": "no",
    "human_verdict": "yes",
    "reviewers": 2,
    "later": "a field of a later version",
}


@given(st.lists(examples, min_size=1, max_size=3))
def test_what_goes_out_comes_in_letter_for_letter(some: list[Example]) -> None:
    lines = list(example_lines(some))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert [
        example_from_json(json.loads(line), Path("a.jsonl"), number)
        for number, line in enumerate(lines, start=1)
    ] == some
    assert [json.loads(line) for line in lines] == [example_to_json(each) for each in some]


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_file_is_read_and_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    one, two = read_examples(write(tmp_path / "a.jsonl", LINE, {**LINE, "claim": "Two."}))
    assert (one.claim, two.claim) == ("Free.", "Two.")
    assert (one.split, one.blind, one.code, one.is_judge_right) == ("train", None, None, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "act"}, 'type: is "act"; expected `faithtui-example`'),
        ({"version": 2}, "version: is newer than 1"),
        ({"claim": 3}, "claim: is 3; expected a string"),
        ({"passages": "a"}, 'passages: is "a"; expected a list of strings'),
        ({"references": [{"text": "a", "stance": "?"}]}, r"references\[0\].stance: is"),
        ({"split": "exam"}, "split: is .*expected one of `train`, `dev`, `test`"),
        ({"human_verdict": None}, "human_verdict: is null"),
        ({"code": "mood"}, "code: is .*expected one of `claim`"),
        ({"blind": "yes"}, "blind: is .*expected true or false"),
        ({"turn": -1}, "turn: is -1; expected a whole number from 0"),
    ],
)
def test_a_line_that_is_none_is_told_with_its_field(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = write(tmp_path / "a.jsonl", LINE, {**LINE, **changes})
    with pytest.raises(InputError, match=f"a.jsonl: line 2: {message}"):
        read_examples(path)


def test_a_file_without_examples_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no example"):
        read_examples(path)
    path.write_text("no json\n{}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: is not JSON"):
        read_examples(path)
