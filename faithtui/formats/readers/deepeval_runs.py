"""Finished test runs of deepeval: cases with what each metric said of them.

They come as a saved run, under a key of its own in `.deepeval/.latest_test_run.json`, as what
`evaluate()` gives, and as cases alone.

Claims and truths of a faithfulness metric stand only in its verbose log, as text. Its windows come
in the order in which they were finished, so the log says what was judged and not where:
`match_logs_to_windows` finds the windows again.

Source: deepeval 4.3.1, `test_run/api.py`, `evaluate/types.py`, `metrics/utils/verbose.py`,
`utils.py` (`prettify_list`), `metrics/faithfulness` and `metrics/turn_faithfulness`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from faithtui.domain.labels.imported_verdicts import (
    ImportedClaim,
    ImportedJudgement,
    ImportedVerdict,
    ImportedWindow,
    merge_logs_of_same_window,
)
from faithtui.formats.files.record_files import FileKind, Sample
from faithtui.formats.image_reader import ImageCollector
from faithtui.formats.json_lines import parse_inner_json
from faithtui.formats.readers.deepeval import KNOWN_CASE, METRICS, is_finished_case
from faithtui.formats.readers.faithtui_results import (
    add_exported_result_to_draft,
    list_objects_or_empty,
    make_exported_conversation_name,
)
from faithtui.formats.readers.protocol import ReadOptions, RecordReader, make_drafts
from faithtui.formats.readers.question_rows import KNOWN, RowNames, make_conversation_draft
from faithtui.formats.readers.values.conversation_draft import (
    ConversationDraft,
    keep_unread_fields_in_draft,
)
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.messages import MessageReader
from faithtui.formats.readers.values.passages import read_passage_list, read_tool_output_as_passages
from faithtui.formats.writers.answer_results import OWN_KEY

_CASES: Final = ("test_cases", "test_results")
_CONVERSATIONS: Final = ("conversational_test_cases",)
_LATEST_RUN: Final = "testRunData"
_KNOWN_RUN: Final = frozenset(
    map(
        normalise_key_spelling,
        (
            "metrics_scores",
            "test_passed",
            "test_failed",
            "run_duration",
            "evaluation_cost",
            "identifier",
            "dataset_alias",
            "dataset_id",
            "hyperparameters",
            "deployment",
            "test_file",
            "prompts",
            "metric_collection",
            "trace_metrics_scores",
            "dataset_version",
            "official",
            "test_run_link",
            "confident_link",
            "test_run_id",
        ),
    )
)
_KNOWN: Final = (
    KNOWN
    | KNOWN_CASE
    | frozenset(
        map(
            normalise_key_spelling,
            (
                "success",
                "order",
                "name",
                "run_duration",
                "evaluation_cost",
                "tools_called",
                "expected_tools",
                "input_token_count",
                "output_token_count",
                "expectations_data",
                "conversational",
                "index",
                "classifications",
            ),
        )
    )
)
_ROW: Final = RowNames(
    question=("input",),
    answer=("actual_output",),
    contexts=("retrieval_context",),
    identity=(),
    known=_KNOWN,
)
_FAITHFULNESS: Final = "faithfulness"


def _explain_match(sample: Sample) -> str | None:
    if sample.kind is FileKind.TEST_RUN:
        return "a saved test run of deepeval, with `conversationalTestCases`"
    for record in sample.records:
        if isinstance(record.get(_LATEST_RUN), dict):
            return f"the latest test run that deepeval kept, with `{_LATEST_RUN}`"
        if has_any_key(record, *_CASES, *_CONVERSATIONS):
            name = AnySpelling(record).get_key_spelling(*_CASES, *_CONVERSATIONS)
            return f"a saved test run of deepeval, with `{name}`"
        if is_finished_case(record):
            name = AnySpelling(record).get_key_spelling(METRICS)
            return f"cases of a deepeval test run, with `{name}`"
    return None


def _read_test_run_drafts(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> Iterator[ConversationDraft | ShapeError]:
    latest = fields.read_first_value(_LATEST_RUN)
    if isinstance(latest, dict):
        _drop_unread_fields_of_run(fields, options)
        fields = AnySpelling(latest, _LATEST_RUN)
    if not has_any_key(fields.value, *_CASES, *_CONVERSATIONS) or has_any_key(
        fields.value, METRICS
    ):
        # A case by itself, whatever it lacks: exports leave out what has no value.
        yield _read_case(fields, options, collector)
        return
    for names in (_CASES, _CONVERSATIONS):
        yield from make_drafts(
            fields.read_objects_or_errors(*names), lambda each: _read_case(each, options, collector)
        )
    _drop_unread_fields_of_run(fields, options)


def _drop_unread_fields_of_run(fields: AnySpelling, options: ReadOptions) -> None:
    for key in fields.get_unread_fields():
        if normalise_key_spelling(key) not in _KNOWN_RUN:
            options.notes.dropped_keys[key] += 1


def _read_case(
    fields: AnySpelling, options: ReadOptions, collector: ImageCollector
) -> ConversationDraft:
    metrics = list(fields.read_objects(METRICS))
    trace = fields.read_first_value("trace")
    has_no_turns = fields.read_first_value("turns") is None  # null in results of single exchanges
    if fields.has_one_of_keys("turns") and not (has_no_turns and fields.has_one_of_keys("input")):
        draft = _read_turns(fields, collector)
        keep_unread_fields_in_draft(
            draft, fields.get_unread_fields(), _KNOWN, options.notes.unknown_keys
        )
    else:
        draft = make_conversation_draft(fields, _ROW, options, collector)
    if isinstance(trace, dict):
        _add_trace_metadata_and_passages(draft, AnySpelling(trace))
    own, positions = _pop_faithtui_results_of_case(draft)
    for details in own:
        position = details.get("turn")
        # Exports of earlier versions have the verdicts of later windows in the log alone.
        if positions is None and details.get("by") == "judge":
            continue
        if isinstance(position, int) and 0 <= position < len(draft.turns):
            add_exported_result_to_draft(draft, position, details)
    if own:
        metrics = metrics[:1]  # the others have labels for verdicts
    draft.metadata["metrics"] = [dict(each.value) for each in metrics] or None
    for each in metrics:
        if positions is None or _FAITHFULNESS not in normalise_key_spelling(
            str(each.value.get("name"))
        ):
            _add_faithfulness_verdicts(draft, each, options, _list_claims_faithtui_wrote(own))
        else:
            log = each.read_if_text("verbose_logs") or ""
            _add_truths_and_reasons(draft, parse_verbose_log(log, ""), positions)
    return draft


def _add_truths_and_reasons(
    draft: ConversationDraft, logged: Sequence[ImportedWindow], positions: Sequence[int]
) -> None:
    """Join the parts of each window of an export from here, with what its log alone has.

    Args:
        draft: The conversation.
        logged: Windows of the log, in order.
        positions: The position of each.
    """
    found: dict[int, ImportedWindow] = {}
    others: list[ImportedJudgement] = []
    for each in draft.verdicts:
        if isinstance(each, ImportedWindow) and each.position is not None:
            found[each.position] = merge_logs_of_same_window(found.get(each.position), each)
        else:
            others.append(each)
    if len(logged) == len(positions):  # a text that looks like a heading may make it another
        for place, log in zip(positions, logged, strict=True):
            if place in found:
                reason = found[place].reason or log.reason
                found[place] = replace(found[place], truths=log.truths, reason=reason)
    draft.verdicts = [*(found[each] for each in sorted(found)), *others]


def _pop_faithtui_results_of_case(
    draft: ConversationDraft,
) -> tuple[list[Mapping[str, object]], list[int] | None]:
    """Take what faithtui wrote into the metadata of a case; [] where it did not.

    Returns:
        Results of answers, and the positions of the windows; None where only the log has those.
    """
    metadata = draft.metadata.get("metadata")
    own = metadata.get(OWN_KEY) if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(own, dict):
        return [], None
    del draft.metadata["metadata"]
    if own.get("conversation") is not None:
        draft.key = make_exported_conversation_name(
            own.get("source"),
            own["conversation"],
            is_one_of_several=own.get("data_sets", 1) != 1,
        )
    draft.metadata |= {key: each for key, each in metadata.items() if key != OWN_KEY}
    positions = own.get("windows")
    return (
        list_objects_or_empty(own.get("results")),
        [each for each in positions if type(each) is int] if isinstance(positions, list) else None,
    )


def _list_claims_faithtui_wrote(own: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """List the claims that faithtui wrote beside the log, letter for letter."""
    return frozenset(
        str(claim.get("claim"))
        for details in own
        if details.get("by") == "judge"
        for claim in list_objects_or_empty(details.get("claims"))
    )


def _read_turns(fields: AnySpelling, collector: ImageCollector) -> ConversationDraft:
    draft = ConversationDraft()
    turns = fields.read_first_value("turns")
    if not isinstance(turns, list):
        raise fields.make_error(("turns",), turns, "a list of turns")
    # Turns of a run carry their order; it is the one to trust.
    orders = [each.get("order") for each in turns if isinstance(each, dict)]
    if len(orders) == len(turns) and all(isinstance(each, int) for each in orders):
        turns = sorted(turns, key=lambda turn: turn["order"])
    MessageReader(draft, collector).add_messages_to_draft(turns, "turns")
    for turn in draft.turns:
        turn.details.pop("order", None)
    return draft


def _add_trace_metadata_and_passages(draft: ConversationDraft, trace: AnySpelling) -> None:
    draft.metadata["trace_id"] = trace.read_first_value("uuid", "id")
    draft.metadata["tags"] = trace.read_first_value("tags")
    draft.metadata["trace_metadata"] = trace.read_first_value("metadata")
    answer = draft.last_answer_position
    if answer is None or draft.turns[answer].passages is not None:
        return
    for span in trace.read_objects("retriever_spans"):
        context = span.read_first_value("retrieval_context")
        found = (
            read_tool_output_as_passages(span.read_first_value("output"), span.read_text("name"))
            if context is None
            else read_passage_list(context, "retrieval_context", span.read_text("name"))
        )
        draft.turns[answer].add_passages(found)
    for span in trace.read_objects("tool_spans"):
        draft.turns[answer].add_passages(
            read_tool_output_as_passages(span.read_first_value("output"), span.read_text("name"))
        )


def _add_faithfulness_verdicts(
    draft: ConversationDraft, fields: AnySpelling, options: ReadOptions, claims: Collection[str]
) -> None:
    name = fields.read_text("name", "metric") or ""
    if _FAITHFULNESS not in normalise_key_spelling(name):
        options.notes.remarks[
            f"the metric {name} is kept as metadata: only faithfulness is read as verdicts"
        ] += 1
        return
    judge = fields.read_text("evaluation_model") or "deepeval"
    log = fields.read_if_text("verbose_logs")
    score = fields.read_first_value("score")
    reason = fields.read_if_text("reason")
    # One model may be the judge of several metrics, whose windows are those of several judges.
    named = {each.judge for each in draft.verdicts if isinstance(each, ImportedWindow)}
    own_name = next(
        name for place in count(1) if (name := _name_numbered_judge(judge, place)) not in named
    )
    windows = parse_verbose_log(log, own_name, claims) if log else []
    if windows:
        draft.verdicts += windows
        return
    answer = draft.last_answer_position
    if answer is not None:
        success = fields.read_first_value("success")
        number = score if isinstance(score, int | float) else None
        draft.add_judge_verdict_on_answer(
            ImportedVerdict(
                judge,
                answer,
                score=number,
                passed=success if isinstance(success, bool) else None,
                reason=reason or fields.read_if_text("error"),
            )
        )


def _name_numbered_judge(judge: str, number: int) -> str:
    return judge if number == 1 else f"{judge} ({number})"


_HEADINGS: Final = (
    r"Truths(?: \(limit=[^)\n]*\))?|Claims|Verdicts|Window \d+|Score|Reason|Final Score|"
    r"Final Reason"
)
_HEADING: Final = re.compile(rf"^(?P<name>{_HEADINGS})(?P<colon>:| ?$)", re.MULTILINE)
_SEPARATOR: Final = '",\n    "'
_FIRST, _LAST = '[\n    "', '"\n]'


def _compile_section_end(heading: str) -> re.Pattern[str]:
    return re.compile(rf"\n\](?=\s*(?:\Z|^(?:{heading})(?::| ?$)))", re.MULTILINE)


_CLOSINGS: Final[Mapping[str, Sequence[re.Pattern[str]]]] = {
    "Truths": (_compile_section_end("Claims"), _compile_section_end(_HEADINGS)),
    "Claims": (_compile_section_end("Verdicts"), _compile_section_end(_HEADINGS)),
}
"""What ends a list of texts, most telling first. Texts are not escaped, so that a bracket on a line
of its own may be part of one; the list ends at one before the heading that comes next."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading of the log with what stands behind it."""

    name: str
    body: str = ""
    texts: tuple[str, ...] = ()
    """Of a list of texts."""


def parse_verbose_log(text: str, judge: str, claims: Collection[str] = ()) -> list[ImportedWindow]:
    """Read the windows of a faithfulness metric's verbose log.

    Verdicts are paired with claims by position, which is all the log has; those beyond the last
    claim are surplus, and a claim beyond the last verdict has none.

    Args:
        text: The log.
        judge: Who said it.
        claims: Texts of its claims, where they are known from elsewhere; in the log they are not
            escaped, so that a claim that looks like two cannot be told from two.

    Returns:
        Windows in the order of the log; [] where it holds no list of verdicts that can be read.
    """
    windows: list[ImportedWindow] = []
    parts: dict[str, _Section] = {}
    for section in _iterate_log_sections(text, sorted(claims, key=len, reverse=True)):
        if section.name.startswith("Window"):
            windows += _make_imported_windows(parts, judge)
            parts = {}
        elif section.name == "Truths" and "Truths" in parts:
            windows += _make_imported_windows(parts, judge)
            parts = {"Truths": section}
        else:
            parts.setdefault(section.name, section)
    return [*windows, *_make_imported_windows(parts, judge)]


def _iterate_log_sections(text: str, claims: Sequence[str]) -> Iterator[_Section]:
    """Give each heading with the text up to the next one.

    A heading inside a list is a claim's own words: lists are read to their end before.
    """
    at = 0
    while match := _HEADING.search(text, at):
        start = match.end()
        section, end = _read_section(text, start, match["name"].partition(" (")[0], claims)
        yield section
        at = max(end, start)


def _read_section(text: str, start: int, name: str, claims: Sequence[str]) -> tuple[_Section, int]:
    """Read what stands behind a heading: a list to its closing bracket, else to the next one."""
    rest = text[start:]
    if not rest.lstrip().startswith("["):
        following = _HEADING.search(text, start)
        end = len(text) if following is None else following.start()
        return _Section(name, text[start:end].strip()), end
    opening = start + len(rest) - len(rest.lstrip())
    if text.startswith("[]", opening):
        return _Section(name, "[]"), opening + 2
    known = _parse_list_of_known_texts(text, opening, claims) if name == "Claims" else None
    if known is not None:
        texts, end = known
        return _Section(name, text[opening:end], texts), end
    if name not in _CLOSINGS:
        closing = text.find("\n]", opening)  # JSON has it in no string
        end = len(text) if closing < 0 else closing + 2
        return _Section(name, text[opening:end]), end
    ends = (closing.search(text, opening) for closing in _CLOSINGS[name])
    end = next((each.end() for each in ends if each is not None), len(text))
    return _Section(name, text[opening:end], tuple(_split_quoted_list(text[opening:end]))), end


def _parse_list_of_known_texts(
    text: str, opening: int, known: Sequence[str]
) -> tuple[tuple[str, ...], int] | None:
    """Read a list of texts that are known; None where another one is in it.

    Args:
        text: The log.
        opening: Where the list begins in it.
        known: Texts, the longest first.

    Returns:
        The texts, and where the list ends.
    """
    found: list[str] = []
    at = opening + len(_FIRST)
    while known and text.startswith(_FIRST, opening):
        for each in known:
            end = at + len(each)
            if not text.startswith(each, at):
                continue
            if text.startswith(_SEPARATOR, end):
                found.append(each)
                at = end + len(_SEPARATOR)
                break
            if text.startswith(_LAST, end):
                return (*found, each), end + len(_LAST)
        else:
            break
    return None


def _split_quoted_list(text: str) -> list[str]:
    """Cut a list of texts as deepeval prints it: quoted, one a line, and not escaped."""
    inside = text.removeprefix("[").strip().removesuffix("]").strip()
    return inside.removeprefix('"').removesuffix('"').split(_SEPARATOR) if inside else []


def _make_imported_windows(parts: Mapping[str, _Section], judge: str) -> list[ImportedWindow]:
    if "Verdicts" not in parts:
        return []
    claims = parts["Claims"].texts if "Claims" in parts else ()
    verdicts = _read_verdicts(parts["Verdicts"].body)
    paired = [
        ImportedClaim(claim, *(verdicts[place] if place < len(verdicts) else (None, None)))
        for place, claim in enumerate(claims)
    ]
    score = parts["Score"].body if "Score" in parts else ""
    reason = parts["Reason"].body if "Reason" in parts else ""
    return [
        ImportedWindow(
            judge,
            tuple(paired),
            parts["Truths"].texts if "Truths" in parts else (),
            tuple(word or "" for word, _ in verdicts[len(claims) :]),
            float(score) if re.fullmatch(r"[01](?:\.\d+)?", score) else None,
            reason or None,
        )
    ]


def _read_verdicts(text: str) -> list[tuple[str | None, str | None]]:
    """Read word and reason of each verdict.

    Raises:
        ShapeError: They are no JSON.
    """
    try:
        found = parse_inner_json(text)
    except ValueError as error:
        raise ShapeError(
            "verboseLogs", "has verdicts that are not JSON; the log may be cut off"
        ) from error
    return [
        (
            None if each["verdict"] is None else str(each["verdict"]),
            reason if isinstance(reason := each.get("reason"), str) else None,
        )
        for each in list_objects_or_empty(found)
        if "verdict" in each
    ]


READER = RecordReader(
    "deepeval-run", "finished test runs of deepeval", _explain_match, _read_test_run_drafts
)
