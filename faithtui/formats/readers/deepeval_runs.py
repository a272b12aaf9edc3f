"""Finished test runs of deepeval: cases with what each metric said of them.

Claims and truths of a faithfulness metric stand only in its verbose log, as text. Its windows come
in the order in which they were finished, so the log says what was judged and not where:
`place_windows` finds the windows again.

Source: deepeval 4.3.1, `test_run/api.py`, `metrics/utils/verbose.py`, `utils.py` (`prettify_list`),
`metrics/faithfulness` and `metrics/turn_faithfulness`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from faithtui.domain.imported_verdicts import ImportedClaim, ImportedVerdict, ImportedWindow
from faithtui.formats.files.record_files import Sample
from faithtui.formats.images import ImageCollector
from faithtui.formats.readers.deepeval import KNOWN_CASE
from faithtui.formats.readers.own_results import add_own_result, list_objects
from faithtui.formats.readers.protocol import ReadOptions, RecordReader
from faithtui.formats.readers.question_rows import KNOWN, RowNames, read_row
from faithtui.formats.readers.values.any_spelling import (
    AnySpelling,
    ShapeError,
    fold_key,
    has_any_key,
)
from faithtui.formats.readers.values.draft import ConversationDraft, keep_rest
from faithtui.formats.readers.values.messages import MessageReader
from faithtui.formats.readers.values.passages import read_passage_list, read_tool_output
from faithtui.formats.writers.answer_results import OWN_KEY

_CASES: Final = ("test_cases", "testCases")
_CONVERSATIONS: Final = ("conversational_test_cases", "conversationalTestCases")
_KNOWN_RUN: Final = frozenset(
    map(
        fold_key,
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
        ),
    )
)
_KNOWN: Final = (
    KNOWN
    | KNOWN_CASE
    | frozenset(
        map(
            fold_key,
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


def _recognise(sample: Sample) -> str | None:
    for record in sample.records:
        if has_any_key(record, *_CASES, *_CONVERSATIONS):
            name = AnySpelling(record).find_name(*_CASES, *_CONVERSATIONS)
            return f"a saved test run of deepeval, with `{name}`"
        if has_any_key(record, "metricsData") and has_any_key(record, "actualOutput", "turns"):
            return "cases of a deepeval test run, with `metricsData`"
    return None


def _convert(
    fields: AnySpelling, options: ReadOptions, gallery: ImageCollector
) -> Iterator[ConversationDraft]:
    if has_any_key(fields.value, "metricsData"):
        yield _read_case(fields, options, gallery)
        return
    for each in (*fields.objects(*_CASES), *fields.objects(*_CONVERSATIONS)):
        yield _read_case(each, options, gallery)
    for key in fields.rest():
        if fold_key(key) not in _KNOWN_RUN:
            options.notes.unknown_keys[key] += 1


def _read_case(
    fields: AnySpelling, options: ReadOptions, gallery: ImageCollector
) -> ConversationDraft:
    metrics = list(fields.objects("metrics_data", "metricsData"))
    trace = fields.take("trace")
    if fields.has("turns"):
        draft = _read_turns(fields, gallery)
        keep_rest(draft, fields.rest(), _KNOWN, options.notes.unknown_keys)
    else:
        draft = read_row(fields, _ROW, options, gallery)
    if isinstance(trace, dict):
        _add_trace(draft, AnySpelling(trace))
    own = _take_own_results(draft)
    if own:
        for details in own:
            if details.get("by") == "annotator":  # the judge's verdicts are in the log
                position = details.get("turn")
                if isinstance(position, int) and 0 <= position < len(draft.turns):
                    add_own_result(draft, position, details)
        metrics = metrics[:1]  # the others have labels for verdicts
    draft.metadata["metrics"] = [dict(each.value) for each in metrics] or None
    for each in metrics:
        _add_metric(draft, each, options)
    return draft


def _take_own_results(draft: ConversationDraft) -> list[Mapping[str, object]]:
    """Take what faithtui wrote into the metadata of a case; [] where it did not."""
    metadata = draft.metadata.get("metadata")
    own = metadata.get(OWN_KEY) if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(own, dict):
        return []
    del draft.metadata["metadata"]
    draft.metadata |= {key: each for key, each in metadata.items() if key != OWN_KEY}
    return list_objects(own.get("results"))


def _read_turns(fields: AnySpelling, gallery: ImageCollector) -> ConversationDraft:
    draft = ConversationDraft()
    turns = fields.take("turns")
    if not isinstance(turns, list):
        raise fields.make_error(("turns",), turns, "a list of turns")
    # Turns of a run carry their order; it is the one to trust.
    orders = [each.get("order") for each in turns if isinstance(each, dict)]
    if len(orders) == len(turns) and all(isinstance(each, int) for each in orders):
        turns = sorted(turns, key=lambda turn: turn["order"])
    MessageReader(draft, gallery).read_all(turns, "turns")
    for turn in draft.turns:
        turn.details.pop("order", None)
    return draft


def _add_trace(draft: ConversationDraft, trace: AnySpelling) -> None:
    draft.metadata["trace_id"] = trace.take("uuid", "id")
    draft.metadata["tags"] = trace.take("tags")
    draft.metadata["trace_metadata"] = trace.take("metadata")
    answer = draft.last_answer
    if answer is None or draft.turns[answer].passages is not None:
        return
    for span in trace.objects("retriever_spans"):
        context = span.take("retrieval_context")
        found = (
            read_tool_output(span.take("output"), span.text("name"))
            if context is None
            else read_passage_list(context, "retrieval_context", span.text("name"))
        )
        draft.turns[answer].add_passages(found)
    for span in trace.objects("tool_spans"):
        draft.turns[answer].add_passages(read_tool_output(span.take("output"), span.text("name")))


def _add_metric(draft: ConversationDraft, fields: AnySpelling, options: ReadOptions) -> None:
    name = fields.text("name", "metric") or ""
    if _FAITHFULNESS not in fold_key(name):
        options.notes.remarks[
            f"the metric {name} is kept as metadata: only faithfulness is read as verdicts"
        ] += 1
        return
    judge = fields.text("evaluation_model") or "deepeval"
    log = fields.texts_or_none("verbose_logs")
    score = fields.take("score")
    reason = fields.texts_or_none("reason")
    windows = parse_verbose_log(log, judge) if log else []
    if windows:
        draft.verdicts += windows
        return
    answer = draft.last_answer
    if answer is not None:
        success = fields.take("success")
        number = score if isinstance(score, int | float) else None
        draft.verdicts.append(
            ImportedVerdict(
                judge,
                answer,
                score=number,
                passed=success if isinstance(success, bool) else None,
                reason=reason or fields.texts_or_none("error"),
            )
        )


_HEADING: Final = re.compile(
    r"^(?P<name>Truths(?: \(limit=[^)\n]*\))?|Claims|Verdicts|Window \d+|Score|Reason|"
    r"Final Score|Final Reason)(?P<colon>:| ?$)",
    re.MULTILINE,
)


def parse_verbose_log(text: str, judge: str) -> list[ImportedWindow]:
    """Read the windows of a faithfulness metric's verbose log.

    Verdicts are paired with claims by position, which is all the log has; those beyond the last
    claim are surplus, and a claim beyond the last verdict has none.

    Args:
        text: The log.
        judge: Who said it.

    Returns:
        Windows in the order of the log; [] where it holds no list of verdicts that can be read.
    """
    windows: list[ImportedWindow] = []
    parts: dict[str, str] = {}
    for name, body in _cut_sections(text):
        if name.startswith("Window"):
            windows += _make_window(parts, judge)
            parts = {}
        elif name.startswith("Truths") and "Truths" in parts:
            windows += _make_window(parts, judge)
            parts = {"Truths": body}
        else:
            parts.setdefault(name.partition(" (")[0], body)
    return [*windows, *_make_window(parts, judge)]


def _cut_sections(text: str) -> Iterator[tuple[str, str]]:
    """Give each heading with the text up to the next one.

    A heading inside a list is a claim's own words: lists are read to their end before.
    """
    at = 0
    while match := _HEADING.search(text, at):
        start = match.end()
        body, end = _read_body(text, start)
        yield match["name"], body
        at = max(end, start)


def _read_body(text: str, start: int) -> tuple[str, int]:
    """Read what stands behind a heading: a list to its closing bracket, else to the next one."""
    rest = text[start:]
    if rest.lstrip().startswith("["):
        opening = start + len(rest) - len(rest.lstrip())
        closing = text.find("\n]", opening)
        empty = text.startswith("[]", opening)
        end = opening + 2 if empty else len(text) if closing < 0 else closing + 2
        return text[opening:end], end
    following = _HEADING.search(text, start)
    end = len(text) if following is None else following.start()
    return text[start:end].strip(), end


def _make_window(parts: dict[str, str], judge: str) -> list[ImportedWindow]:
    if "Verdicts" not in parts:
        return []
    claims = _read_texts(parts.get("Claims", "[]"))
    verdicts = _read_objects(parts["Verdicts"])
    paired = [
        ImportedClaim(
            claim,
            str(verdicts[place]["verdict"]) if place < len(verdicts) else None,
            _reason_of(verdicts[place]) if place < len(verdicts) else None,
        )
        for place, claim in enumerate(claims)
    ]
    score = parts.get("Score", "").strip()
    return [
        ImportedWindow(
            judge,
            tuple(paired),
            tuple(_read_texts(parts.get("Truths", "[]"))),
            tuple(str(each["verdict"]) for each in verdicts[len(claims) :]),
            float(score) if re.fullmatch(r"[01](?:\.\d+)?", score) else None,
            parts.get("Reason") or None,
        )
    ]


def _reason_of(verdict: dict[str, object]) -> str | None:
    reason = verdict.get("reason")
    return reason if isinstance(reason, str) else None


def _read_texts(text: str) -> list[str]:
    """Read a list of texts as deepeval prints it: quoted, and not escaped."""
    try:
        found = json.loads(text)
    except ValueError:
        inside = text.strip().removeprefix("[").removesuffix("]").strip()
        pieces = inside.split('",\n    "')
        return [piece.removeprefix('"').removesuffix('"') for piece in pieces if piece]
    return [each for each in found if isinstance(each, str)]


def _read_objects(text: str) -> list[dict[str, object]]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ShapeError(
            "verboseLogs", "has verdicts that are not JSON; the log may be cut off"
        ) from error
    return [each for each in found if isinstance(each, dict) and "verdict" in each]


READER = RecordReader("deepeval-run", "finished test runs of deepeval", _recognise, _convert)
