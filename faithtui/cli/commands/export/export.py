"""`faithtui export`: claims, labels and scores for other tools, corrections for judges."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from faithtui.cli.commands.export.tool_formats import (
    RunExportOrder,
    print_file_names,
    write_run_export,
)
from faithtui.cli.output import plural, print_file_content, print_file_name, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    RUN_WITH_VERDICTS,
    CommonOptions,
    ForceOption,
    SplitOption,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
    read_output_option,
)
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.domain.split_rule import Split
    from faithtui.engine.review.examples_from_labels import ExampleRequest
    from faithtui.store.store import Store

BUNDLE: Final = "bundle"
"""Format of labels for other stores, and the kind of such an export."""

OPTIONS_OF_KIND: Final = {
    "claims": ("--format", "--split", "--sample"),
    "labels": ("--format", "--reviewer", "--split", "--sample"),
    BUNDLE: ("--format", "--reviewer"),
    "dataset": ("--format", "--split", "--sample", "--license"),
    "langfuse": ("--split",),
    "langsmith": ("--split",),
    "opentelemetry": ("--split",),
    "openinference": ("--split",),
    "deepeval": ("--split",),
    "ragas-rows": ("--split",),
    "llamaindex": ("--split",),
    "examples": ("--all", "--split", "--limit", "--seed"),
    "ragas": ("--split",),
}
"""What can be exported, and the options that each takes besides the common ones."""

EXPORTS: Final = tuple(each for each in OPTIONS_OF_KIND if each != BUNDLE)
"""The words for it; a bundle is `labels` in one of their formats."""

_ALIASES: Final = {"otel": "opentelemetry"}
"""Other names, which no spelling shows."""


def export(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="`claims`, `labels`, `dataset`, `langfuse`, `langsmith`, `opentelemetry`, "
            "`openinference`, `deepeval`, `ragas-rows`, `llamaindex`, `examples` or `ragas`.",
        ),
    ],
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help=f"{RUN_WITH_VERDICTS} [last]")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=parse_path_as_typed,
            metavar="FILE",
            help="The file to write; for `dataset`, the folder. [stdout]",
        ),
    ] = None,
    force: ForceOption = False,
    form: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="NAME",
            help="jsonl, csv or parquet; for `labels` also bundle. [by the name of FILE, else "
            "jsonl; for labels bundle]",
        ),
    ] = None,
    only_run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="The same as RUN. Without either, a bundle has labels of all runs.",
        ),
    ] = None,
    reviewer: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer", metavar="NAME", help="Only labels of this annotator; may be repeated."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Add examples in which annotators agree with the judge.")
    ] = False,
    split: SplitOption = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            help="The sample whose weights are written. [the one with the most labels]",
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(
            "--license",
            metavar="NAME",
            help="Licence on the card of `dataset`. [the one that all conversations name]",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Write at most N examples, drawn at random.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed draws the same examples. [0]")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Export claims, labels, scores for other tools, or examples for a judge.

    `claims` writes one row per claim with its passages, the judge's verdict and every annotator's
    label, as JSON lines, CSV or Parquet; `labels` with a --format writes one row per claim and
    annotator; `dataset` writes both into a Hugging Face dataset folder with a card.

    `langfuse`, `langsmith`, `opentelemetry` and `openinference` write the scores of judge and
    annotators for the traces that conversations came from. `deepeval`, `ragas-rows` and
    `llamaindex` write a run as results of these libraries.

    `labels` writes a label bundle for `faithtui merge`: every label event of every annotator with
    what it refers to, but no answers, documents or judge's reasons. `examples` writes one example
    per line: a claim with its passages, both verdicts and the reasons, where annotators differ from
    the judge; `faithtui run --examples` shows them to a judge. `ragas` writes the answers in which
    every statement has a human label.

    Example: faithtui export claims -o claims.csv
    """
    from faithtui.engine.review.examples_from_labels import ExampleRequest
    from faithtui.engine.review.samples.store_split import parse_split

    given = {
        "--format": form is not None,
        "--reviewer": bool(reviewer),
        "--all": everything,
        "--split": split is not None,
        "--sample": sample is not None,
        "--license": licence is not None,
        "--limit": limit is not None,
        "--seed": seed is not None,
    }
    if what not in EXPORTS:
        from faithtui.domain.text.suggestions import format_suggestion

        meant = format_suggestion(_ALIASES.get(what.lower(), what), EXPORTS)
        raise ConfigError(
            f"there is nothing called `{what}` to export; known: {', '.join(EXPORTS)}{meant}"
        )
    if run is not None and only_run is not None:
        raise ConfigError("the run is named twice; name it after WHAT or with --run")
    output = read_output_option(output)
    kind = BUNDLE if what == "labels" and not _is_flat_format_wanted(form, output) else what
    _refuse_other_options(what, kind, [option for option, is_given in given.items() if is_given])
    if what == "ragas" and output is not None and output.suffix != ".json":
        raise ConfigError(
            f"{output}: ragas reads annotations only from a file whose name ends in .json"
        )
    options = merge_common_options(context, store, json)
    named = run or only_run
    if kind == BUNDLE:
        _export_bundle(options, named, reviewer or (), output, force=force)
    elif what in ("examples", "ragas"):
        wanted = ExampleRequest(everything, parse_split(split), limit, seed or 0)
        _export_examples_or_ragas(options, what, named or "last", wanted, output, force=force)
    else:
        order = RunExportOrder(
            what=what,
            run=named or "last",
            form=form,
            split=parse_split(split),
            sample=sample,
            reviewers=tuple(reviewer or ()),
            licence=licence,
            target=output,
            force=force,
        )
        print_file_names(write_run_export(options, order), as_json=options.json)
        return
    if output is not None:
        print_file_name(output, as_json=options.json)


def _is_flat_format_wanted(form: str | None, output: Path | None) -> bool:
    """Whether labels are wanted as rows: as asked, else by the end of the file's name."""
    if form is None:
        return output is not None and output.suffix.lower() in (".csv", ".parquet")
    return form != BUNDLE


def _refuse_other_options(what: str, kind: str, given: Sequence[str]) -> None:
    """Refuse options of another export, which would be taken for obeyed.

    Raises:
        ConfigError: There is one.
    """
    taken = OPTIONS_OF_KIND[kind]
    for option in given:
        if option not in taken:
            beside = " as a bundle" if kind == BUNDLE else ""
            raise ConfigError(
                f"`export {what}`{beside} takes no {option}; it takes {', '.join(taken)}"
            )


def _export_bundle(
    options: CommonOptions,
    run: str | None,
    reviewers: Sequence[str],
    target: Path | None,
    *,
    force: bool,
) -> None:
    """Write a label bundle into a file, or to stdout."""
    from faithtui.engine.review.label_bundles import iter_bundle_lines, write_bundle_file

    with open_store(options.store) as opened:
        chosen = None if run is None else read_id_of_run_with_verdicts(opened, run)
        if target is None:
            print_file_content(iter_bundle_lines(opened, chosen, reviewers))
        else:
            write_bundle_file(opened, target, chosen, reviewers, force=force)
        held, left_out = opened.bundles.count_labelled_claims(chosen, reviewers)
    whose = f" by {', '.join(reviewers)}" if reviewers else ""
    if not held:
        where = "in this store" if chosen is None else f"that run {chosen} judged"
        print_to_stderr(f"the bundle is empty: no claim {where} has a label{whose}")
    if left_out:
        print_to_stderr(
            f"left out: the labels{whose} of {plural(left_out, 'claim')} that run {chosen} did not "
            "judge, such as whole answers; `faithtui export labels` without a run has them in a "
            "bundle, `faithtui export labels -f jsonl` in rows"
        )


def _export_examples_or_ragas(
    options: CommonOptions,
    what: str,
    named: str,
    wanted: "ExampleRequest",
    target: Path | None,
    *,
    force: bool,
) -> None:
    """Write examples or ragas' annotations of a run into a file, or to stdout."""
    from faithtui.config import load_settings
    from faithtui.engine.review.samples.store_split import record_test_opening
    from faithtui.output_files import refuse_unwritable_target, write_text

    settings = load_settings()
    if target is not None:
        refuse_unwritable_target(target, force=force)
    with open_store(options.store, settings) as opened:
        opened.refuse_corrupted_rows()
        run = read_id_of_run_with_verdicts(opened, named)
        if what == "examples":
            parts = _make_example_lines(opened, run, wanted)
        else:
            parts = _make_ragas_annotations(opened, run, wanted.split)
        opening = record_test_opening(
            opened, wanted.split, f"export {what}", (run,), options.reviewer or settings.reviewer
        )
        if target is None:
            print_file_content(parts)
        else:
            write_text(target, parts, force=force)
        if opening is not None:
            print_to_stderr(opening.warning)


def _make_example_lines(store: "Store", run: "RunId", wanted: "ExampleRequest") -> Iterable[str]:
    from faithtui.engine.review.examples_from_labels import collect_examples
    from faithtui.formats.example_files import example_lines

    found = collect_examples(store, run, wanted)
    kind = "example" if wanted.everything else "disagreement"
    print_to_stderr(f"{len(found.examples)} of {plural(found.available, kind)}")
    if not found.labelled:
        print_to_stderr(_explain_missing_labels(run, wanted.split))
    elif not found.available:
        print_to_stderr(
            "there is nothing to write: annotators agree with the judge on "
            f"{plural(found.labelled, 'labelled claim')}; add such claims with --all"
        )
    if wanted.split is None and store.splits.read_split_rule() is not None:
        print_to_stderr("examples of all splits; a prompt is built from those of --split train")
    return example_lines(found.examples)


def _make_ragas_annotations(store: "Store", run: "RunId", split: "Split | None") -> Iterable[str]:
    from faithtui.engine.exports.ragas_annotations import collect_fully_reviewed_answers
    from faithtui.formats.writers.ragas_annotations import format_annotations_json

    found = collect_fully_reviewed_answers(store, run, split)
    print_to_stderr(
        f"{plural(len(found.answers), 'answer')} of which every statement has a human label"
    )
    if found.unfinished:
        print_to_stderr(
            f"left out: {plural(found.unfinished, 'answer')} of which only some have one"
        )
    if found.unfair:
        print_to_stderr(f"left out: {plural(found.unfair, 'answer')} without any fair statement")
    if not (found.answers or found.unfinished or found.unfair):
        print_to_stderr(_explain_missing_labels(run, split))
    return [format_annotations_json(found.answers)]


def _explain_missing_labels(run: "RunId", split: "Split | None") -> str:
    """Say why there is nothing to write, and what to do."""
    within = "" if split is None else f" in the {split} split"
    return (
        f"there is nothing to write: no claim of run {run}{within} has a human label that counts "
        "here; ratings of whole answers do not. Label claims in `faithtui`, or by `faithtui label`"
    )
