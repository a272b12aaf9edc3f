"""What faithtui wrote about an answer when it exported it, read again claim by claim.

Tools keep it beside their own score, under `faithtui` in the metadata; see
`formats/writers/answer_results.py`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from faithtui.agreement.rating_scales import OWN_SCALE
from faithtui.domain.claims.verdicts import STANCES
from faithtui.domain.conversation import LabelRecord
from faithtui.domain.labels.imported_verdicts import (
    ImportedClaim,
    ImportedEvidence,
    ImportedMetric,
    ImportedVerdict,
    ImportedWindow,
)
from faithtui.domain.labels.label_events import (
    VERDICT_ACTIONS,
    Action,
)
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.scores import ScoreState
from faithtui.formats.readers.values.conversation_draft import PER_TURN, ConversationDraft
from faithtui.formats.writers.answer_results import OWN_KEY

_PLACES: Final = ("metadata", "extra")
_STATES: Final = frozenset(map(str, ScoreState))
_STATES_OF_CONVERSATION: Final = frozenset(map(str, (ScoreState.FAILED, ScoreState.SKIPPED)))
"""States of windows, and of a conversation whatever its windows say."""
_ACTIONS: Final = frozenset(map(str, VERDICT_ACTIONS))
_ACTIONS_IN_VIEW: Final = (Action.AGREED, Action.OVERRIDDEN, Action.ACCEPTED)
_CODES: Final = frozenset(each.name for each in REASON_CODES)
_MOST_SECONDS: Final = 1e9
"""Nobody takes 30 years for a label."""
_LONGEST_WORD: Final = 100
"""Characters of a verdict or a digest; a longer text is neither."""
_LOOKS_ESCAPED: Final = re.compile("%(?=2F|25)")


def find_faithtui_details(record: Mapping[str, object]) -> Mapping[str, object] | None:
    """Find what faithtui wrote into a score of another tool; None: it is not one of ours."""
    for place in (record, *(record.get(name) for name in _PLACES)):
        if isinstance(place, Mapping):
            found = place.get(OWN_KEY)
            if isinstance(found, Mapping) and found.get("by") in ("judge", "annotator"):
                return found
    return None


def make_exported_conversation_name(source: object, key: object, *, is_one_of_several: bool) -> str:
    """Name a conversation of an export.

    Args:
        source: Its data set, when it was exported.
        key: Its id there.
        is_one_of_several: Whether the export has several data sets, which may use the same ids.
    """
    return _join_source_and_key(source, key) if is_one_of_several else str(key)


def make_exported_answer_name(answer: Mapping[str, object]) -> str:
    """Name a conversation that is made of one exported answer.

    Args:
        answer: Has `source`, `conversation` and `turn` of where the answer stands.
    """
    name = _join_source_and_key(answer.get("source"), answer.get("conversation"))
    return f"{name}:{answer.get('turn')}"


def _join_source_and_key(source: object, key: object) -> str:
    """Join two names so that no other two give the same.

    `c` of the data set `a/b` is `a%2Fb/c`, and `b/c` of the data set `a` is `a/b/c`. Data sets
    without a slash keep their name as it is, but for one with `%2F` or `%25` in it, which would
    look like the name of another.
    """
    escaped = _LOOKS_ESCAPED.sub("%25", str(source)).replace("/", "%2F")
    return f"{escaped}/{key}"


def restore_exported_answer(
    draft: ConversationDraft, own: Sequence[Mapping[str, object]], metadata: object
) -> None:
    """Take what faithtui wrote beside one answer of a conversation, exported as one of its own.

    Its id is made of data set, conversation and position, so that equal answers stay two.

    Args:
        draft: The conversation of this answer.
        own: What each rater says of it.
        metadata: Of the conversation it is from.
    """
    answer = draft.last_answer_position
    if answer is None or not own:
        return
    first = own[0]
    turn = first.get("turn")
    draft.key = make_exported_answer_name(first)
    if isinstance(metadata, dict):
        # Positions there are those of the whole conversation.
        per_turn = metadata.get(PER_TURN)
        draft.metadata |= {name: each for name, each in metadata.items() if name != PER_TURN}
        details = per_turn.get(str(turn)) if isinstance(per_turn, dict) else None
        if isinstance(details, dict):
            draft.turns[answer].details |= details
    for details in own:
        add_exported_result_to_draft(draft, answer, details, is_alone=True)


def add_exported_result_to_draft(
    draft: ConversationDraft,
    position: int,
    details: Mapping[str, object],
    *,
    is_alone: bool = False,
) -> None:
    """Add a judge's verdicts or an annotator's labels.

    Args:
        draft: The conversation.
        position: Of the answer in it.
        details: As `find_faithtui_details` gives them.
        is_alone: Whether the answer is a conversation of its own here, and was part of one.
    """
    rater = str(details.get("rater") or "unknown")
    if details.get("by") == "judge":
        claims = [(position, each) for each in list_objects_or_empty(details.get("claims"))]
        add_faithtui_verdicts(draft, rater, claims, details, is_alone=is_alone)
    else:
        for label in list_objects_or_empty(details.get("labels")):
            add_faithtui_label(draft, position, rater, label, label)


def add_faithtui_verdicts(
    draft: ConversationDraft,
    judge: str,
    claims: Sequence[tuple[int, Mapping[str, object]]],
    run: Mapping[str, object],
    *,
    is_alone: bool = False,
) -> None:
    """Add the verdicts on some claims; statements of documents are no claims here.

    Args:
        draft: The conversation.
        judge: Who gave them.
        claims: Each with the position of its answer.
        run: Has `metric`, `options` and `window_states` of the run, and of one answer `state` and
            `reason`; exports of earlier versions have the metric alone.
        is_alone: As of `add_exported_result_to_draft`.
    """
    metric = _read_metric(run)
    by_window: dict[int | None, list[ImportedClaim]] = {}
    for position, each in claims:
        if each.get("kind") == "claim":
            home = None if is_alone else _get_integer_or_none(each.get("window"))
            by_window.setdefault(home, []).append(_make_claim(position, each))
            for repeat in () if is_alone else list_objects_or_empty(each.get("repeats")):
                window = _get_integer_or_none(repeat.get("window"))
                if window is not None:
                    repeated_claim = _make_claim(position, _make_repeated_fields(each, repeat))
                    by_window.setdefault(window, []).append(repeated_claim)
    found = [
        ImportedWindow(judge, tuple(made), position=window, metric=metric)
        for window, made in by_window.items()
    ]
    if metric is not None:
        states = list_objects_or_empty(run.get("window_states"))
        if is_alone:
            states = [] if claims else [_make_state_of_lone_answer(run)]
        found += [
            _make_window_state(judge, metric, each) for each in states if _is_valid_state(each)
        ]
    draft.verdicts += [each for each in found if each not in draft.verdicts]
    for position, each in claims:
        if each.get("kind") == "answer":
            word = _get_text_or_none(each.get("word")) or _get_text_or_none(each.get("verdict"))
            reason = _get_text_or_none(each.get("reason"))
            label = _get_text_or_none(each.get("verdict"))
            draft.add_judge_verdict_on_answer(
                ImportedVerdict(
                    judge,
                    position,
                    word=word,
                    reason=reason,
                    label=label,
                    confidence=_get_probability_or_none(each.get("confidence")),
                    metric=metric,
                )
            )


def _read_metric(run: Mapping[str, object]) -> ImportedMetric | None:
    key, options = run.get("metric"), run.get("options")
    if not isinstance(key, str) or not isinstance(options, Mapping):
        return None
    return ImportedMetric(key, dict(options))


def _make_claim(position: int, claim: Mapping[str, object]) -> ImportedClaim:
    return ImportedClaim(
        str(claim.get("claim")),
        _get_text_or_none(claim.get("word")) or _get_text_or_none(claim.get("verdict")),
        _get_text_or_none(claim.get("reason")),
        position,
        _get_text_or_none(claim.get("verdict")),
        _get_probability_or_none(claim.get("confidence")),
        tuple(
            ImportedEvidence(truth, stance, _get_text_or_none(each.get("passage")))
            for each in list_objects_or_empty(claim.get("evidence"))
            if (truth := _get_text_or_none(each.get("truth"))) is not None
            for stance in STANCES
            if each.get("stance") == stance
        ),
    )


def _make_repeated_fields(
    claim: Mapping[str, object], repeat: Mapping[str, object]
) -> Mapping[str, object]:
    """Give the fields of a claim in a later window: the evidence of its first window is its own.

    How sure the judge was there is known where it said the same.
    """
    is_same = "verdict" not in repeat
    confidence = claim.get("confidence") if is_same else None
    return {**claim, **repeat, "evidence": None, "confidence": confidence}


def _make_state_of_lone_answer(run: Mapping[str, object]) -> dict[str, object]:
    """Make the state of an answer without claims that is a conversation of its own."""
    is_of_conversation = _get_text_or_none(run.get("state")) in _STATES_OF_CONVERSATION
    return {**run, "window": None if is_of_conversation else 0}


def _is_valid_state(value: Mapping[str, object]) -> bool:
    """Say whether it is a state that the window, or the conversation, can be in."""
    window, state = value.get("window"), _get_text_or_none(value.get("state"))
    if window is None:
        return state in _STATES_OF_CONVERSATION
    return type(window) is int and (state is None or state in _STATES)


def _make_window_state(
    judge: str, metric: ImportedMetric, state: Mapping[str, object]
) -> ImportedWindow:
    surplus = state.get("surplus")
    return ImportedWindow(
        judge,
        surplus=tuple(str(each or "") for each in surplus) if isinstance(surplus, list) else (),
        reason=_get_text_or_none(state.get("reason")),
        position=_get_integer_or_none(state.get("window")),
        state=_get_text_or_none(state.get("state")),
        metric=metric,
    )


def _get_integer_or_none(value: object) -> int | None:
    return value if type(value) is int else None


def add_faithtui_label(
    draft: ConversationDraft,
    position: int,
    annotator: str,
    claim: Mapping[str, object],
    label: Mapping[str, object],
) -> None:
    """Add a label as a human label that came with the data.

    Args:
        draft: The conversation.
        position: Of the answer in it.
        annotator: Who gave it.
        claim: Has `kind`, `claim` and perhaps `span` of what it is about.
        label: Has `label`, `note`, `scale`, `raw_label` and how it was given.
    """
    kind, word = claim.get("kind"), _get_text_or_none(label.get("label"))
    record = _read_label_record(label)
    if record is not None and record.action is Action.SKIPPED:
        word = ""
    if word is None or kind not in ("claim", "answer"):
        return
    scale = _get_text_or_none(label.get("scale"))
    raw = _get_text_or_none(label.get("raw_label"))
    text = str(claim.get("claim")) if kind == "claim" else None
    draft.add_human_label(
        position,
        annotator,
        OWN_SCALE if scale is None or raw is None else scale,
        word if scale is None or raw is None else raw,
        claim=text,
        span=_find_span_if_text_matches(claim.get("span"), text, draft.turns[position].content),
        note=_get_text_or_none(label.get("note")),
        record=record,
    )


def _read_label_record(label: Mapping[str, object]) -> LabelRecord | None:
    """Read how a label was given; None: the label does not say it.

    Whoever agreed with a judge, differed from it or took its verdict over had it in view.
    """
    word = label.get("action")
    action = Action(word) if isinstance(word, str) and word in _ACTIONS else None
    saw_judge = label.get("saw_judge") is True or action in _ACTIONS_IN_VIEW
    if action is None and not isinstance(label.get("saw_judge"), bool):
        return None
    code = label.get("code")
    return LabelRecord(
        action or Action.IMPORTED,
        saw_judge,
        _get_word_or_none(label.get("judge_verdict")),
        _get_seconds_or_none(label.get("seconds")),
        code if isinstance(code, str) and code in _CODES else None,
        _get_word_or_none(label.get("guideline")),
    )


def _get_seconds_or_none(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _MOST_SECONDS else None


def _get_probability_or_none(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


def _get_word_or_none(value: object) -> str | None:
    text = _get_text_or_none(value)
    return None if text is None or len(text) > _LONGEST_WORD else text


def _find_span_if_text_matches(
    span: object, text: str | None, content: str
) -> tuple[int, int] | None:
    """Give the place of a claim; None where other words stand there."""
    match span:
        case [int(start), int(end)] if 0 <= start < end and content[start:end] == text:
            return start, end
        case _:
            return None


def _get_text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def list_objects_or_empty(value: object) -> list[Mapping[str, object]]:
    """Give the objects of a list; [] for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
