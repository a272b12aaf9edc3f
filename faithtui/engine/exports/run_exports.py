"""A run as files of other tools, conversation by conversation, so that memory stays flat."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from faithtui.domain.exported_conversation import ExportConversation, ExportRun
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.split_rule import Split
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.engine.exports.export_log import ExportLog, LeftOutReason
from faithtui.engine.review.samples.store_split import read_split_rule
from faithtui.errors import ConfigError, ExportError
from faithtui.formats.writers.answer_results import AnswerResult, list_answer_results
from faithtui.formats.writers.dataset_card import (
    DatasetCounts,
    choose_licence,
    format_dataset_card_lines,
)
from faithtui.formats.writers.deepeval_run import format_run_json
from faithtui.formats.writers.flat_files import (
    FlatFormat,
    format_csv_lines,
    format_json_lines,
    import_pyarrow,
    write_parquet,
)
from faithtui.formats.writers.flat_rows import (
    CLAIM_COLUMNS,
    LABEL_COLUMNS,
    FlatColumn,
    Row,
    make_claim_rows,
    make_label_rows,
)
from faithtui.formats.writers.langfuse import format_langfuse_score_lines
from faithtui.formats.writers.langsmith import format_langsmith_feedback_lines
from faithtui.formats.writers.llamaindex_results import format_results_json
from faithtui.formats.writers.openinference import format_openinference_annotation_lines
from faithtui.formats.writers.opentelemetry import format_opentelemetry_event_lines
from faithtui.formats.writers.ragas_rows import format_ragas_row_lines
from faithtui.metrics.base import AGAIN_SUFFIX
from faithtui.metrics.registry import METRICS
from faithtui.output_files import (
    make_private_directory,
    refuse_unwritable_target,
    write_atomically,
    write_text,
)
from faithtui.store.store import Store

FlatKind = Literal["claims", "labels"]

README: Final = "README.md"
_DATA: Final = "data"

_WRITE_RESULT: Final[Mapping[str, Callable[[AnswerResult], Iterator[str]]]] = {
    "langfuse": format_langfuse_score_lines,
    "langsmith": format_langsmith_feedback_lines,
    "opentelemetry": format_opentelemetry_event_lines,
    "openinference": format_openinference_annotation_lines,
}
"""Kinds that go back to where the traces are."""

NEEDED_IDS: Final[Mapping[str, str]] = {
    "langfuse": "the id of a trace or session",
    "langsmith": "the id of a run, a UUID",
    "opentelemetry": "the id of a trace, 32 hexadecimal digits",
    "openinference": "the id of a span or trace",
}
"""What an answer must have to go back there."""

ANSWER_KINDS: Final = (*_WRITE_RESULT, "deepeval", "ragas-rows", "llamaindex")
"""Exports of what is said of answers or conversations, each in a format of its own."""


@dataclass(frozen=True, slots=True)
class RunExportRequest:
    """What is wanted of a run."""

    run: RunId
    split: Split | None = None
    """Only conversations in this part; None: all."""
    sample: SampleId | None = None
    """The sample that weights are of; None: the one with the most labels."""
    reviewers: tuple[str, ...] = ()
    """Only labels of these annotators; () means all."""


@dataclass(slots=True)
class ExportCounts:
    """What was written, counted meanwhile."""

    conversations: int = 0
    results: int = 0
    """Of what goes back to where traces are."""
    without_ids: int = 0
    """Results that were left out because no id says where they belong."""


class _FlatTable(NamedTuple):
    """A kind of flat rows."""

    columns: tuple[FlatColumn, ...]
    make_rows: Callable[[ExportRun, ExportConversation], Iterator[Row]]


_FLAT: Final[Mapping[FlatKind, _FlatTable]] = {
    "claims": _FlatTable(CLAIM_COLUMNS, make_claim_rows),
    "labels": _FlatTable(LABEL_COLUMNS, make_label_rows),
}


@dataclass(slots=True)
class RunExporter:
    """Writes one run."""

    store: Store
    request: RunExportRequest
    counts: ExportCounts = field(default_factory=ExportCounts)
    log: ExportLog = field(default_factory=ExportLog)

    def read_run(self) -> ExportRun:
        """Describe the run.

        Raises:
            StoreError: There is no such run or sample.
        """
        return self.store.run_exports.read_run_description(self.request.run, self.request.sample)

    def read_conversations(self, *, every_window: bool = False) -> Iterator[ExportConversation]:
        """Read the conversations that are wanted, with the labels that are wanted.

        Raises:
            ConfigError: A split is wanted and there is none.
        """
        rule = None if self.request.split is None else read_split_rule(self.store)
        steps = _list_verdict_steps(self.read_run().metric)
        found = self.store.run_exports.read_conversations(
            self.request.run,
            sample_id=self.request.sample,
            verdict_steps=steps,
            every_window=every_window,
        )
        for each in self.log.iter_and_time_reading(found):
            if rule is not None and rule.get_split_of_group(each.group) is not self.request.split:
                words = f"is not in the {self.request.split} split"
                self.log.log_left_out(each, LeftOutReason.OTHER_SPLIT, words)
                continue
            if not each.claims:
                words = f"({each.state}) has no claim{_format_reason_suffix(each)}"
                self.log.log_left_out(each, LeftOutReason.NO_CLAIM, words)
            self.counts.conversations += 1
            yield each

    def iter_jsonl_or_csv_text(
        self,
        kind: FlatKind,
        form: FlatFormat,
        *,
        json_as_text: bool = False,
        counts: DatasetCounts | None = None,
    ) -> Iterator[str]:
        """Write claims or labels as JSON lines or CSV, piece by piece.

        See `write_jsonl_or_csv_file`.
        """
        parts = self._iter_rows_by_conversation(kind, counts)
        if form == "csv":
            return format_csv_lines(_FLAT[kind].columns, parts)
        return format_json_lines(_FLAT[kind].columns, parts, json_as_text=json_as_text)

    def write_jsonl_or_csv_file(
        self,
        kind: FlatKind,
        form: FlatFormat,
        path: Path,
        *,
        force: bool,
        json_as_text: bool = False,
        counts: DatasetCounts | None = None,
    ) -> None:
        """Write claims or labels into a file.

        Args:
            kind: Which.
            form: The format.
            path: The file.
            force: Whether a file that is there is replaced.
            json_as_text: As of `format_json_lines`.
            counts: Counts what is written.

        Raises:
            ConfigError: Parquet needs what is not installed.
            ExportError: The file is there already, is a store, or cannot be written.
        """
        if form == "parquet":
            import_pyarrow()
            with write_atomically(path, force=force) as new:
                write_parquet(
                    new, _FLAT[kind].columns, self._iter_rows_by_conversation(kind, counts)
                )
        else:
            text = self.iter_jsonl_or_csv_text(kind, form, json_as_text=json_as_text, counts=counts)
            write_text(path, text, force=force)

    def _iter_rows_by_conversation(
        self, kind: FlatKind, counts: DatasetCounts | None
    ) -> Iterator[Iterator[Row]]:
        run = self.read_run()
        for each in self.read_conversations():
            if counts is not None:
                counts.add_conversation(each)
            yield self._filter_label_rows_by_reviewer(kind, _FLAT[kind].make_rows(run, each))

    def _filter_label_rows_by_reviewer(self, kind: FlatKind, rows: Iterator[Row]) -> Iterator[Row]:
        if kind != "labels" or not self.request.reviewers:
            return rows
        return (row for row in rows if row[_ANNOTATOR] in self.request.reviewers)

    def write_hugging_face_dataset(
        self, folder: Path, form: FlatFormat, *, licence: str | None, force: bool
    ) -> tuple[Path, ...]:
        """Write a Hugging Face dataset folder: claims, labels and a card.

        Returns:
            The files, the card last: a folder without it is not finished.

        Raises:
            ConfigError: Parquet needs what is not installed.
            ExportError: A file is there already, or cannot be written.
        """
        paths = {each: f"{_DATA}/{each}.{form}" for each in _FLAT}
        targets = [*(folder / each for each in paths.values()), folder / README]
        if form == "parquet":
            import_pyarrow()
        for target in targets:
            refuse_unwritable_target(target, force=force)
        try:
            make_private_directory(folder / _DATA)
        except OSError as error:
            raise ExportError(
                f"{folder} cannot be made: {error.strerror}; choose another folder with -o"
            ) from error
        counts = DatasetCounts()
        for kind, path in paths.items():
            self.write_jsonl_or_csv_file(
                kind,
                form,
                folder / path,
                force=force,
                json_as_text=True,
                counts=counts if kind == "claims" else None,
            )
        card = format_dataset_card_lines(
            self.read_run(),
            counts,
            {str(kind): path for kind, path in paths.items()},
            name=folder.resolve().name,
            licence=choose_licence(counts, licence),
            is_parquet=form == "parquet",
        )
        write_text(folder / README, card, force=force)
        return tuple(targets)

    def iter_results_for_other_tool(self, kind: str) -> Iterator[str]:
        """Write what is said of answers or conversations in another tool's format.

        Args:
            kind: One of `ANSWER_KINDS`.
        """
        run = self.read_run()
        match kind:
            case "deepeval":
                return format_run_json(run, self.read_conversations(every_window=True))
            case "llamaindex":
                return format_results_json(run, self.read_conversations())
            case "ragas-rows":
                return (
                    line
                    for each in self.read_conversations()
                    for line in format_ragas_row_lines(run, each)
                )
            case _:
                return self._iter_trace_result_lines(kind, run)

    def _iter_trace_result_lines(self, kind: str, run: ExportRun) -> Iterator[str]:
        write = _WRITE_RESULT[kind]
        for each in self.read_conversations():
            for result in list_answer_results(run, each):
                lines = list(write(result))
                self.counts.results += len(lines)
                self.counts.without_ids += not lines
                if not lines:
                    words = f"has an answer (turn {result.turn + 1}) without {NEEDED_IDS[kind]}"
                    self.log.log_left_out(each, LeftOutReason.NO_ID, words)
                yield from lines


def _format_reason_suffix(conversation: ExportConversation) -> str:
    return f": {conversation.reason}" if conversation.reason else ""


_ANNOTATOR: Final = [each.name for each in LABEL_COLUMNS].index("annotator")


def _list_verdict_steps(metric: str) -> tuple[str, ...]:
    """Name the steps of a metric whose replies hold verdicts; () for one that is not known here."""
    steps = next((each.verdict_steps for each in METRICS if each.spec.key == metric), ())
    return (*steps, *(f"{each}{AGAIN_SUFFIX}" for each in steps))


def choose_export_file_format(
    asked: str | None, output: Path | None, default: FlatFormat
) -> FlatFormat:
    """Name the format of a flat file: the one asked for, else by the end of the file's name.

    Raises:
        ConfigError: There is no such format.
    """
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    by_name: Mapping[str, FlatFormat] = {
        "jsonl": "jsonl",
        "ndjson": "jsonl",
        "csv": "csv",
        "parquet": "parquet",
    }
    if asked is None:
        return by_name.get(suffix, default)
    known = {each: each for each in by_name.values()}
    if asked not in known:
        meant = format_suggestion(asked, known)
        raise ConfigError(f"there is no format `{asked}`; known: {', '.join(known)}{meant}")
    return known[asked]
