"""All format readers, and which of them a file is for.

Detection asks every reader. One that says yes is taken and its reason is shown; several are a
question that only the user can answer; none is reported with the keys that were seen.
"""

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from faithtui.domain.text.suggestions import format_suggestion
from faithtui.errors import ConfigError, FormatUnknown, InputError
from faithtui.formats import claim_sets, example_files, label_bundles
from faithtui.formats.files.record_files import FileKind, RecordFile, Sample
from faithtui.formats.readers import (
    deepeval,
    deepeval_runs,
    faithbench,
    faithtui_conversations,
    faithtui_rows,
    llamaindex,
    mtrag,
    openai_chat,
    question_rows,
    ragas,
    ragas_annotations,
)
from faithtui.formats.readers.protocol import FormatReader
from faithtui.formats.readers.traces import langfuse, langsmith, spans
from faithtui.formats.readers.values.key_spellings import AnySpelling
from faithtui.formats.readers.values.messages import looks_like_messages_without_role
from faithtui.formats.readers.values.suggestions import suggest_key, suggest_key_for_value

READERS: Final[tuple[FormatReader, ...]] = (
    faithtui_conversations.READER,
    faithtui_rows.CLAIMS,
    faithtui_rows.LABELS,
    deepeval.CONVERSATIONS,
    deepeval.GOLDENS,
    deepeval_runs.READER,
    ragas.ROWS,
    ragas.CONVERSATIONS,
    ragas_annotations.READER,
    openai_chat.READER,
    llamaindex.DATASET,
    llamaindex.RESULTS,
    langsmith.READER,
    langfuse.READER,
    spans.READER,
    mtrag.TASKS,
    mtrag.EVALUATIONS,
    faithbench.READER,
    question_rows.READER,
)

_log = logging.getLogger("faithtui.import")

AUTO: Final = "auto"
_ALIASES: Final = {"jsonl": "faithtui", "csv": "rows", "openinference": "spans", "otel": "spans"}
_ONE_DOCUMENT: Final = ", ".join(
    f"`{each.name}`"
    for each in (
        deepeval_runs.READER,
        ragas_annotations.READER,
        llamaindex.DATASET,
        mtrag.EVALUATIONS,
        faithbench.READER,
    )
)
"""Formats that come as one object for all of a file."""
_MOST_KEYS: Final = 12
_MOST_ERRORS: Final = 3
_ALL_UNREADABLE: Final = "none of its records can be read, so what is wrong with each is told"
_NO_ROLES: Final = (
    "is a list of objects without the roles of chat messages, so what is wrong with each is told"
)


@dataclass(frozen=True, slots=True)
class DetectedFormat:
    """Which reader a file is for, and why."""

    reader: FormatReader
    reason: str


def get_reader_by_name(name: str) -> FormatReader:
    """Find a reader by its name.

    Raises:
        ConfigError: There is none.
    """
    wanted = _ALIASES.get(name.strip().lower(), name.strip().lower())
    for each in READERS:
        if each.name == wanted:
            return each
    known = (AUTO, *(each.name for each in READERS))
    meant = format_suggestion(name, known)
    raise ConfigError(f"there is no format `{name}`; known: {', '.join(known)}{meant}")


def detect_format(sample: Sample) -> DetectedFormat:
    """Say what a file is.

    Raises:
        FormatUnknown: No reader or several recognise it.
    """
    if sample.kind is FileKind.TABLE and not sample.records and sample.errors:
        return _detect_format_by_column_names(sample)
    found = [
        DetectedFormat(each, reason)
        # What holds the cases of a test run is known; a case alone may look like something else.
        for each in ((deepeval_runs.READER,) if sample.kind is FileKind.TEST_RUN else READERS)
        if (reason := each.explain_match(sample)) is not None
    ]
    _log_what_each_format_said(sample, found)
    match found:
        case [only]:
            return only
        case [] if _is_whole_list_of_unreadable_records(sample):
            return DetectedFormat(faithtui_conversations.READER, _ALL_UNREADABLE)
        case [] if sample.errors and not sample.records:
            raise FormatUnknown(_describe_file_without_readable_record(sample), path=sample.path)
        case [] if _is_whole_and_without_values(sample):
            return DetectedFormat(faithtui_conversations.READER, "it holds no records")
        case []:
            chat = _find_chat_without_roles(sample)
            if chat is not None:
                return chat
            raise FormatUnknown(
                _describe_unknown_format(sample) + _describe_unreadable_records(sample),
                path=sample.path,
            )
        case _:
            candidates = "; ".join(f"`{each.reader.name}`: {each.reason}" for each in found)
            raise FormatUnknown(
                f"may be several formats ({candidates}); say which: `--format "
                f"{found[0].reader.name}`",
                path=sample.path,
            )


def _detect_format_by_column_names(sample: Sample) -> DetectedFormat:
    """Say what a table is of whose first rows none can be read.

    Raises:
        FormatUnknown: Its column names say too little, or fit several formats.
    """
    header = replace(sample, records=(dict.fromkeys(sample.column_names),), errors=())
    try:
        found = detect_format(header)
    except FormatUnknown as error:
        unreadable = _describe_unreadable_records(sample)
        raise FormatUnknown(f"{error.reason}{unreadable}", path=sample.path) from error
    return replace(found, reason=f"{found.reason}; of its first rows none can be read")


def _is_whole_list_of_unreadable_records(sample: Sample) -> bool:
    """Say whether a list of records holds several, and none that can be read."""
    is_list = sample.kind in (FileKind.LINES, FileKind.ARRAY, FileKind.COLUMNS)
    return is_list and sample.is_whole and not sample.records and len(sample.errors) > 1


def _describe_file_without_readable_record(sample: Sample) -> str:
    """Say that a format cannot be told, and which formats are one document."""
    if sample.is_whole and len(sample.errors) == 1:
        [error] = sample.errors
        return (
            f"{_locate_and_format_error(error)}. Nothing else is in the file, so no format can be "
            "told; if it was cut off, export or copy it again, whole. One document, and no list of "
            f"records, are files of {_ONE_DOCUMENT}"
        )
    names = ", ".join(f"`{each.name}`" for each in READERS)
    return (
        f"is {sample.kind} in no format that can be told{_describe_unreadable_records(sample)}. "
        f"Name it with `--format`, and the records that can be read come in: {names}"
    )


def explain_missing_rows(file: RecordFile) -> str | None:
    """Say that a file holds nothing to read, and what it looks like.

    Returns:
        None where it has records, whether they can be read or not.
    """
    sample = file.sample
    if _is_whole_and_without_values(sample) and not any(
        each.explain_match(sample) for each in READERS
    ):
        shown = _format_sample_keys(sample) or "it"
        return f"holds no rows: it is {sample.kind} with nothing in {shown}; export it again"
    if sample.records or sample.errors:
        return None
    names = file.column_names_alone
    if names is None:
        kind = "it is empty" if file.is_blank else f"it is {sample.kind} without any"
        return f"holds no rows: {kind}; write or export it again"
    header = replace(sample, records=(dict.fromkeys(names),))
    found = [each.name for each in READERS if each.explain_match(header) is not None]
    tool = f", as of `{found[0]}`" if len(found) == 1 else ""
    shown = _format_sample_keys(header)
    return (
        f"holds no rows: it is a table with a header and no row with a value, {shown}{tool}; "
        "export it again"
    )


def _has_no_value(sample: Sample) -> bool:
    return all(each in ([], {}, None) for record in sample.records for each in record.values())


def _is_whole_and_without_values(sample: Sample) -> bool:
    """Say whether records that have no value are all that a file holds."""
    return sample.is_whole and bool(sample.records) and not sample.errors and _has_no_value(sample)


def _log_what_each_format_said(sample: Sample, found: Sequence[DetectedFormat]) -> None:
    """Report to whoever watches what was looked at, and what each format said."""
    if not _log.isEnabledFor(logging.DEBUG):
        return
    name = sample.path.name
    count = len(sample.records)
    _log.debug(
        "%s is %s; looked at its first %d records%s, with the keys %s",
        name,
        sample.kind,
        count,
        f" ({len(sample.errors)} more could not be read)" if sample.errors else "",
        _format_sample_keys(sample) or "none",
    )
    for each in found:
        _log.debug("%s may be %s: %s", name, each.reader.name, each.reason)
    names = {each.reader.name for each in found}
    others = ", ".join(each.name for each in READERS if each.name not in names)
    _log.debug("%s is nothing for %s", name, others)


def _format_sample_keys(sample: Sample) -> str:
    keys = list(dict.fromkeys(key for record in sample.records for key in record))
    shown = ", ".join(f"`{key[:40]}`" for key in keys[:_MOST_KEYS])
    return shown + (f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else "")


_WAYS_OF_OWN_FILES: Final[Mapping[str, str]] = {
    label_bundles.FORMAT: "holds labels without their conversations: take them in with `faithtui "
    "merge FILE`",
    claim_sets.FORMAT: "is a claim set: take it in with `faithtui claim-set import FILE`",
    example_files.FORMAT: "holds examples for a judge: give them to it with `faithtui run "
    "--examples FILE`",
}
"""What the first line of a file of ours that is no import says of itself, and what takes it in."""


def _describe_unknown_format(sample: Sample) -> str:
    kind = sample.records[0].get("type") if sample.records else None
    if isinstance(kind, str) and kind in _WAYS_OF_OWN_FILES:
        return _WAYS_OF_OWN_FILES[kind]
    mark = spans.find_mark_in_other_case(sample)
    if mark is not None:
        found, expected = mark
        return (
            f"is {sample.kind} with the attribute `{found}`; of spans, `{expected}` was expected: "
            "OpenTelemetry tells attributes apart by case. Write all of them as its conventions "
            "and OpenInference's do"
        )
    missing_part = _describe_missing_part_of_rows(sample)
    if missing_part is not None:
        return missing_part
    values: dict[str, object] = {}
    for record in sample.records:
        values |= {key: each for key, each in record.items() if values.get(key) is None}
    hints = [
        f"`--map {name}={shlex.quote(key)}`"
        for key, each in values.items()
        if (name := suggest_key_for_value(key, each)) not in (None, key)
    ]
    way = f"; try {' '.join(hints[:3])}" if hints else ""
    shown = _format_sample_keys(sample) or "no keys"
    what = (
        f"its first {len(sample.records)} records hold nothing in {shown}"
        if sample.records and _has_no_value(sample)
        else f"its records have {shown}"
    )
    return (
        f"is {sample.kind} in no format that is known here; {what}. Say which columns the "
        "parts are, `--map question=… --map answer=… --map contexts=…`, or name the format with "
        f"`--format`{way}"
    )


def _describe_missing_part_of_rows(sample: Sample) -> str | None:
    """Name the part that rows of question, answer and contexts do not have.

    Returns:
        None where they have neither question nor answer, or both.
    """
    fields = AnySpelling(
        # A letter alone, as `a`, may be anything.
        dict.fromkeys(key for record in sample.records for key in record if len(key) > 1)
    )
    found = {
        "question": fields.has_one_of_keys(*question_rows.QUESTION),
        "answer": fields.has_one_of_keys(*question_rows.ANSWER),
    }
    if len(set(found.values())) == 1:
        return None
    there, missing = sorted(found, key=lambda each: not found[each])
    unread = [
        key
        for key in fields.value
        if not AnySpelling({key: None}).has_one_of_keys(
            *question_rows.QUESTION, *question_rows.ANSWER, *question_rows.CONTEXTS
        )
    ]
    near = [key for key in unread if suggest_key(key) == missing] or unread[: len(unread) == 1]
    example = shlex.quote(near[0]) if near else "COLUMN"
    return (
        f"is {sample.kind} that has the {there} and not the {missing}; its records have "
        f"{_format_sample_keys(sample)}. If one of these is the {missing}: "
        f"`--map {missing}={example}`"
    )


def _find_chat_without_roles(sample: Sample) -> DetectedFormat | None:
    """Take a file for chat messages that are in no format only because their role is missing."""
    for record in sample.records:
        fields = AnySpelling(record)
        if looks_like_messages_without_role(fields.read_first_value(*openai_chat.MESSAGES)):
            where = fields.get_key_spelling(*openai_chat.MESSAGES)
            return DetectedFormat(openai_chat.READER, f"`{where}` {_NO_ROLES}")
    return None


def _describe_unreadable_records(sample: Sample) -> str:
    """Say how many records could not be read, and what is wrong with the first ones."""
    if not sample.errors:
        return ""
    looked_at = len(sample.records) + len(sample.errors)
    shown = "; ".join(map(_locate_and_format_error, sample.errors[:_MOST_ERRORS]))
    more = "; …" if len(sample.errors) > _MOST_ERRORS else ""
    return f". {len(sample.errors)} of its first {looked_at} cannot be read: {shown}{more}"


def _locate_and_format_error(error: InputError) -> str:
    """Give a record's error with its place in the file, and without the file."""
    return str(InputError(error.reason, line=error.line, record=error.record, field=error.field))
