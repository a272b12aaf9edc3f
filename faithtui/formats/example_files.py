"""Examples for a judge as files: one JSON object a line. docs/back-to-the-judge.md has the fields.

Text is text: what users, judges and documents say goes in and comes out letter for letter.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

from faithtui.domain.claims.verdicts import ClaimKind, Stance
from faithtui.domain.judging.judge_examples import Example, Reference
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.split_rule import SPLITS
from faithtui.errors import InputError
from faithtui.formats.fields import FieldReader
from faithtui.formats.json_lines import describe_json, read_json_lines

FORMAT = "faithtui-example"
VERSION = 1

_CODES = tuple(code.name for code in REASON_CODES)
_KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)
_STANCES: tuple[Stance, ...] = get_args(Stance)


def example_lines(examples: Iterable[Example]) -> Iterator[str]:
    """Write examples.

    Yields:
        One line each, with its line end.
    """
    for each in examples:
        yield json.dumps(example_to_json(each), ensure_ascii=False, allow_nan=False) + "\n"


def example_to_json(example: Example) -> dict[str, object]:
    """Give an example as a JSON object; `example_from_json` reads it back."""
    return {
        "type": FORMAT,
        "version": VERSION,
        "metric": example.metric,
        "run": example.run,
        "judge": example.judge,
        "source": example.source,
        "conversation": example.key,
        "group": example.group,
        "split": example.split,
        "turn": example.turn,
        "claim_id": example.claim_id,
        "kind": example.kind,
        "question": example.question,
        "claim": example.claim,
        "passages": list(example.passages),
        "references": [{"text": each.text, "stance": each.stance} for each in example.references],
        "judge_verdict": example.judge_verdict,
        "judge_reason": example.judge_reason,
        "human_verdict": example.verdict,
        "agrees": example.is_judge_right,
        "reviewers": example.reviewers,
        "blind": example.blind,
        "code": example.code,
        "note": example.note,
    }


def read_examples(path: Path) -> tuple[Example, ...]:
    """Read examples; all of them, since what a prompt shows is not left to chance.

    Raises:
        InputError: The file cannot be read, holds no example, or a line of it is none.
    """
    examples = []
    for line in read_json_lines(path):
        if isinstance(line.found, InputError):
            raise line.found
        examples.append(example_from_json(line.found, path, line.line))
    if not examples:
        raise InputError("holds no example; faithtui export examples RUN writes some", path=path)
    return tuple(examples)


def example_from_json(value: Mapping[str, object], path: Path, line: int) -> Example:
    """Read one example; unknown fields are passed over.

    Args:
        value: The object.
        path: The file, for errors.
        line: Line number from 1, for errors.

    Raises:
        InputError: A field does not hold what it must.
    """
    fields = FieldReader(value, path, line)
    if fields.get_value_or_none("type") != FORMAT:
        raise fields.make_error(
            "type", f"is {describe_json(fields.get_value_or_none('type'))}; expected `{FORMAT}`"
        )
    if fields.read_whole_number("version", 1) > VERSION:
        raise fields.make_error("version", f"is newer than {VERSION}; update faithtui")
    return Example(
        metric=fields.read_text("metric"),
        run=fields.read_whole_number("run", 0),
        judge=fields.read_text("judge"),
        source=fields.read_text("source"),
        key=fields.read_text("conversation"),
        group=fields.read_text("group"),
        split=None
        if fields.get_value_or_none("split") is None
        else fields.read_one_of_words("split", SPLITS),
        turn=fields.read_whole_number("turn", 0),
        claim_id=fields.read_whole_number("claim_id", 0),
        kind=fields.read_one_of_words("kind", _KINDS),
        question=fields.read_text("question", empty=True),
        claim=fields.read_text("claim", empty=True),
        passages=fields.read_texts("passages"),
        references=tuple(
            Reference(
                each.read_text("text", empty=True),
                None
                if each.get_value_or_none("stance") is None
                else each.read_one_of_words("stance", _STANCES),
            )
            for each in fields.read_objects("references")
        ),
        judge_verdict=fields.read_text_or_none("judge_verdict"),
        judge_reason=fields.read_text_or_none("judge_reason", empty=True),
        verdict=fields.read_text("human_verdict"),
        reviewers=fields.read_whole_number("reviewers", 0),
        blind=None if fields.get_value_or_none("blind") is None else fields.read_flag("blind"),
        code=None
        if fields.get_value_or_none("code") is None
        else fields.read_one_of_words("code", _CODES),
        note=fields.read_text_or_none("note", empty=True),
    )
