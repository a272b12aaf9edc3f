"""`faithtui export`: labels for other stores, and corrections for judges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faithtui.cli.commands import merge
from faithtui.cli.output import plural, print_document, print_file_name, print_to_stderr
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings
from faithtui.domain.ids import RunId
from faithtui.domain.splits import Split
from faithtui.engine.review.examples import ExampleRequest, collect_examples
from faithtui.engine.review.ragas_annotations import collect_annotated_answers
from faithtui.engine.review.splits import parse_split, record_test_opening
from faithtui.errors import ConfigError
from faithtui.files import check_target, write_text
from faithtui.formats.examples import example_lines
from faithtui.formats.writers.ragas_annotations import ragas_json
from faithtui.store.store import Store

KINDS = (*merge.KINDS, "examples", "ragas")
"""What can be exported."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What was typed after `faithtui export`."""

    what: str
    run: str | None
    only_run: str | None
    """The same, as an option."""
    output: Path | None
    force: bool
    """Replace a file that is there already."""
    reviewers: Sequence[str]
    """Of labels."""
    everything: bool
    """Of examples: those where the judge was right too."""
    split: str | None
    limit: int | None
    seed: int | None
    who: str | None


def write_export(store: Path | None, order: ExportOptions, *, as_json: bool) -> int:
    """Write into a file, or to stdout."""
    if order.what not in KINDS:
        raise ConfigError(
            f"there is nothing called `{order.what}` to export; known: {', '.join(KINDS)}"
        )
    _check_options(order)
    if order.output == Path("-"):
        order = replace(order, output=None)
    named = order.run or order.only_run
    if order.what == "labels":
        return merge.write_label_bundle(
            store,
            order.what,
            order.output,
            force=order.force,
            run=named,
            reviewers=order.reviewers,
            as_json=as_json,
        )
    split = parse_split(order.split)
    settings = load_settings()
    if order.output is not None:
        check_target(order.output, force=order.force)
    with open_store(store, settings) as opened:
        opened.refuse_changed_labels()
        run = read_run_id(opened, named or "last")
        write = _make_example_lines if order.what == "examples" else _make_ragas_annotations
        parts = write(opened, run, order, split)
        opening = record_test_opening(
            opened, split, f"export {order.what}", (run,), order.who or settings.reviewer
        )
        if order.output is None:
            print_document(parts)
        else:
            write_text(order.output, parts, force=order.force)
        if opening is not None:
            print_to_stderr(opening.warning)
    if order.output is not None:
        print_file_name(order.output, as_json=as_json)
    return 0


def _check_options(order: ExportOptions) -> None:
    """Refuse options of another export, which would be taken for obeyed.

    Raises:
        ConfigError: There is one, the run is named twice, or ragas would not read the file.
    """
    if order.run is not None and order.only_run is not None:
        raise ConfigError("the run is named twice; name it after WHAT or with --run")
    given = {
        "--reviewer": bool(order.reviewers),
        "--all": order.everything,
        "--split": order.split is not None,
        "--limit": order.limit is not None,
        "--seed": order.seed is not None,
    }
    taken = {
        "labels": ("--reviewer",),
        "examples": ("--all", "--split", "--limit", "--seed"),
        "ragas": ("--split",),
    }[order.what]
    for option, is_given in given.items():
        if is_given and option not in taken:
            raise ConfigError(
                f"`export {order.what}` takes no {option}; it takes {', '.join(taken)}"
            )
    if order.what == "ragas" and order.output is not None and order.output.suffix != ".json":
        raise ConfigError(
            f"{order.output}: ragas reads annotations only from a file whose name ends in .json"
        )


def _make_example_lines(
    store: Store, run: RunId, order: ExportOptions, split: Split | None
) -> Iterable[str]:
    wanted = ExampleRequest(order.everything, split, order.limit, order.seed or 0)
    found = collect_examples(store, run, wanted)
    kind = "example" if order.everything else "disagreement"
    print_to_stderr(f"{len(found.examples)} of {plural(found.available, kind)}")
    if split is None and store.splits.read_split() is not None:
        print_to_stderr("examples of all splits; a prompt is built from those of --split train")
    return example_lines(found.examples)


def _make_ragas_annotations(
    store: Store, run: RunId, order: ExportOptions, split: Split | None
) -> Iterable[str]:
    found = collect_annotated_answers(store, run, split)
    print_to_stderr(
        f"{plural(len(found.answers), 'answer')} of which every statement has a human label"
    )
    if found.unfinished:
        print_to_stderr(
            f"left out: {plural(found.unfinished, 'answer')} of which only some have one"
        )
    if found.unfair:
        print_to_stderr(f"left out: {plural(found.unfair, 'answer')} without any fair statement")
    return [ragas_json(found.answers)]
