"""`faithtui export` of a run in a format of another tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.cli.output import (
    plural,
    print_file_content,
    print_file_name,
    print_json,
    print_text,
    print_to_stderr,
)
from faithtui.cli.shared_options import CommonOptions
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.domain.split_rule import Split
    from faithtui.engine.exports.run_exports import FlatKind, RunExporter


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExportOrder:
    """What was typed."""

    what: str
    run: str
    form: str | None
    """Of a flat file; None: by the name of the file."""
    split: "Split | None"
    sample: int | None
    reviewers: tuple[str, ...]
    licence: str | None
    target: Path | None
    """None: stdout."""
    force: bool


def write_run_export(options: CommonOptions, order: RunExportOrder) -> Sequence[Path]:
    """Write a run as it is ordered.

    Returns:
        The files written; () when it went to stdout.

    Raises:
        ConfigError: What is ordered cannot be.
        ExportError: It cannot be written there.
        StoreError: There is no such run or sample.
    """
    from faithtui.config import load_settings
    from faithtui.domain.ids import SampleId
    from faithtui.engine.exports.run_exports import RunExporter, RunExportRequest
    from faithtui.engine.review.samples.store_split import record_test_opening
    from faithtui.output_files import refuse_unwritable_target

    settings = load_settings()
    if order.target is not None and order.what != "dataset":
        refuse_unwritable_target(order.target, force=order.force)
    with open_store(options.store, settings) as opened:
        opened.refuse_corrupted_rows()
        run = read_id_of_run_with_verdicts(opened, order.run)
        sample = None if order.sample is None else SampleId(order.sample)
        exporter = RunExporter(opened, RunExportRequest(run, order.split, sample, order.reviewers))
        exporter.read_run()  # refuses a sample that is not there before anything is written
        opening = record_test_opening(
            opened,
            order.split,
            f"export {order.what}",
            (run,),
            options.reviewer or settings.reviewer,
        )
        written = _write_export_files(exporter, order)
        exporter.log.log_omission_counts_and_times()
        _print_left_out_counts(exporter, order.what)
        if opening is not None:
            print_to_stderr(opening.warning)
    return written


def _write_export_files(exporter: "RunExporter", order: RunExportOrder) -> Sequence[Path]:
    from faithtui.engine.exports.run_exports import choose_export_file_format
    from faithtui.output_files import write_text

    target = order.target
    if order.what == "dataset":
        if target is None:
            raise ConfigError("a dataset is a folder; name it with -o FOLDER")
        form = choose_export_file_format(order.form, None, "jsonl")
        if form == "csv":
            raise ConfigError("a dataset is in jsonl or parquet; csv has no lists")
        return exporter.write_hugging_face_dataset(
            target, form, licence=order.licence, force=order.force
        )
    if order.what in ("claims", "labels"):
        kind: FlatKind = "claims" if order.what == "claims" else "labels"
        form = choose_export_file_format(order.form, target, "jsonl")
        if target is None:
            if form == "parquet":
                raise ConfigError("parquet is no text; name a file with -o FILE")
            print_file_content(exporter.iter_jsonl_or_csv_text(kind, form))
        else:
            exporter.write_jsonl_or_csv_file(kind, form, target, force=order.force)
    elif target is None:
        print_file_content(exporter.iter_results_for_other_tool(order.what))
    else:
        write_text(target, exporter.iter_results_for_other_tool(order.what), force=order.force)
    return () if target is None else (target,)


def _print_left_out_counts(exporter: "RunExporter", what: str) -> None:
    """Report what was left out, and why."""
    from faithtui.engine.exports.run_exports import NEEDED_IDS

    counts = exporter.counts
    needed = NEEDED_IDS.get(what)
    if needed is None:
        return
    print_to_stderr(f"{plural(counts.results, 'score')} of judge and annotators written")
    if counts.without_ids:
        print_to_stderr(
            f"left out: {plural(counts.without_ids, 'score')} of answers without {needed}; "
            "faithtui keeps the ids of a file that has them"
        )


def print_file_names(paths: Sequence[Path], *, as_json: bool) -> None:
    """Print the names of files that were written; of one as of any other command."""
    if len(paths) == 1:
        print_file_name(paths[0], as_json=as_json)
    elif as_json and paths:
        print_json([str(each) for each in paths])
    else:
        for each in paths:
            print_text(str(each))
