"""Examples with human labels, as they stand in a metric's verdict question.

They stand between instruction and material, in every text in which the metric asks for a verdict,
and nowhere else. So they are part of the prompt digest as any other word is.
"""

from collections.abc import Sequence

from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.judging.judge_examples import Example, Reference
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet
from faithtui.domain.text.search_words import list_folded_words
from faithtui.errors import ConfigError
from faithtui.metrics.base import MetricSpec
from faithtui.metrics.prompt_texts import fence_text

MOST_REFERENCES = 8
"""Shown with an example, those the judge named first: what decides a claim is rarely more."""

MOST_LETTERS = 4_000
"""Of passages shown with an example, and of any other text of it. Some ten passages of a usual
size; with ten examples a question stays below what every judge can read."""

_HEAD = (
    "How people decided earlier cases. Decide what follows by the same standard; the cases "
    "themselves are not to be judged."
)
_TAIL = "End of the earlier cases."
_TITLES: dict[ClaimKind, str] = {"claim": "Claim", "statement": "Statement", "answer": "Answer"}


def check_and_drop_examples_without_verdict(
    examples: Sequence[Example], spec: MetricSpec
) -> tuple[Example, ...]:
    """Leave out what has no verdict to learn: claims that are not to be judged at all.

    Raises:
        ConfigError: An example is of something that the metric does not judge, or its verdict
            means nothing there; or none is left.
    """
    for number, each in enumerate(examples, start=1):
        if each.kind != spec.judges:
            raise ConfigError(
                f"example {number} is of {_TITLES[each.kind].lower()}s; {spec.key} judges "
                f"{spec.units[1]}: export examples from a run that does"
            )
        if (
            each.verdict != NOT_A_CLAIM
            and spec.labels.find_label_name_for_word(each.verdict) is None
        ):
            raise ConfigError(
                f"example {number}: the verdict `{each.verdict}` means nothing to {spec.key}; "
                f"expected {', '.join(spec.labels.names)}"
            )
    kept = tuple(each for each in examples if each.verdict != NOT_A_CLAIM)
    if not kept:
        raise ConfigError(
            "no example has a verdict to learn: each says that the claim is not to be judged"
        )
    return kept


def format_examples(examples: Sequence[Example], spec: MetricSpec) -> str:
    """Write examples for a prompt, each between marks that it cannot contain by accident.

    Args:
        examples: Those of `check_and_drop_examples_without_verdict`, in the order they are shown
            in.
        spec: The metric whose question they stand in; verdicts are said in its words.
    """
    cases = [
        fence_text("case", f"e{number}", _format_example(each, spec))
        for number, each in enumerate(examples)
    ]
    return "\n".join([_HEAD, *cases, _TAIL])


def _format_example(example: Example, spec: MetricSpec) -> str:
    if spec.references is not None and example.references:
        heading, against = spec.references.capitalize(), _choose_references(example)
    else:
        heading, against = "Passages", _choose_passages(example)
    lines = [f"{heading}:", *(f"- {text}" for text in against)]
    if not against:
        lines.append("(none)")
    label = spec.labels.find_label_name_for_word(example.verdict)
    lines += [
        f"{_TITLES[example.kind]}: {_shorten_to_one_line(example.claim)}",
        f'Verdict: "{label}"',
    ]
    reason = _choose_reason(example, spec.labels)
    return "\n".join([*lines, f"Reason: {reason}"] if reason else lines)


def _choose_references(example: Example) -> list[str]:
    """Choose what the judge named, then what shares most words with the claim, in their order."""
    wanted = set(list_folded_words(example.claim))

    def rank_reference(place: int) -> tuple[bool, int, int]:
        each: Reference = example.references[place]
        shared = len(wanted.intersection(list_folded_words(each.text)))
        return (each.stance is None, -shared, place)

    best = sorted(range(len(example.references)), key=rank_reference)[:MOST_REFERENCES]
    return [_shorten_to_one_line(example.references[place].text) for place in sorted(best)]


def _choose_passages(example: Example) -> list[str]:
    """Choose the passages that share most words with the claim, as many as there is room for."""
    wanted = set(list_folded_words(example.claim))
    places = sorted(
        range(len(example.passages)),
        key=lambda place: (
            -len(wanted.intersection(list_folded_words(example.passages[place]))),
            place,
        ),
    )
    chosen: dict[int, str] = {}
    room = MOST_LETTERS
    for place in places:
        text = _shorten_to_one_line(example.passages[place])
        if len(text) <= room or not chosen:
            chosen[place] = text
        room -= len(chosen.get(place, ""))
    return [chosen[place] for place in sorted(chosen)]


def _choose_reason(example: Example, labels: LabelSet) -> str:
    """Say why in annotators' words; in the judge's only where they agree with it."""
    if example.note and example.note.strip():
        return _shorten_to_one_line(example.note)
    if example.is_judge_right:
        return _shorten_to_one_line(example.judge_reason or "")
    label = labels.find_label_name_for_word(example.verdict)
    return "" if label is None else f"{labels.get_label(label).meaning}."


def _shorten_to_one_line(text: str) -> str:
    """Put a text on one line, so that it cannot pass for another line of its case."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]} …"
