"""`faithtui prompts`: the texts that runs ask their judges with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption, make_command_group
from faithtui.cli.shared_options import (
    ForceOption,
    RunArgument,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import open_store, read_run_id
from faithtui.errors import ConfigError, ExportError

if TYPE_CHECKING:
    from faithtui.engine.review.run_prompts import PromptSetSummary, RunPrompts

prompts = make_command_group(
    "prompts",
    "List, print, export and compare the prompt texts of runs.\n\n"
    "Each run keeps a copy of its texts: later changes in the folder of --prompts do not affect "
    "it.\n\n"
    "Example: faithtui prompts diff 1 2",
)

StepOption = Annotated[
    str | None,
    typer.Option("--step", metavar="STEP", help="Print only this text, such as evidence."),
]


@prompts.command("list")
def list_prompts(
    context: typer.Context, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List the prompt texts of runs, and those of the program.

    Example: faithtui prompts list
    """
    from faithtui.engine.review.run_prompts import list_prompt_sets

    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        found = list_prompt_sets(opened)
    if options.json:
        print_json([_prompt_set_to_json(each) for each in found])
        return
    print_table(
        [
            TableColumn("PROMPTS"),
            TableColumn("METRIC", flexible=True),
            TableColumn("VERSION", "right"),
            TableColumn("RUNS"),
            TableColumn("SINCE"),
            TableColumn("FROM"),
        ],
        [
            (
                each.digest[:12] or ("not kept" if each.is_known else "not known"),
                each.metric,
                str(each.version) if each.is_known else "",
                _format_run_numbers(each),
                f"{each.created_at:%Y-%m-%d %H:%M}" if each.created_at else "",
                _format_prompt_origin(each),
            )
            for each in found
        ],
    )


@prompts.command("show")
def show_prompts(
    context: typer.Context,
    run: RunArgument,
    step: StepOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Print the prompt texts of a run, as they were sent.

    Placeholders such as $documents stand for the judged texts; examples of the run are included.

    Example: faithtui prompts show last --step evidence
    """
    options = merge_common_options(context, store, json)
    found = _read_prompts(options.store, run)
    texts = _select_prompt_texts(found, step)
    if options.json:
        print_json(
            {
                "run": found.run,
                "metric": found.metric,
                "version": found.version,
                "digest": found.digest,
                "texts": texts,
            }
        )
        return
    if step is not None:
        print_text(texts[step].removesuffix("\n"))
        return
    print_text(f"run {found.run}: {found.metric}, version {found.version}, {found.digest}")
    for name, text in texts.items():
        print_text(f"\n== {name}\n{text.removesuffix(chr(10))}")


@prompts.command("export")
def export_prompts(
    context: typer.Context,
    run: RunArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            parser=parse_path_as_typed,
            metavar="DIR",
            help="Folder to write into.",
        ),
    ],
    force: ForceOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write the prompt texts of a run into a folder that `run --prompts` reads.

    Example: faithtui prompts export 1 -o my-prompts
    """
    from faithtui.output_files import make_private_directory, refuse_name_of_stdout, write_text

    options = merge_common_options(context, store, json)
    refuse_name_of_stdout(output, "folder")
    found = _read_prompts(options.store, run)
    folder = output / found.metric
    try:
        make_private_directory(folder)
    except OSError as error:
        raise ExportError(
            f"{folder} cannot be made: {error.strerror}; choose another folder with -o"
        ) from error
    written = [folder / f"{step}.txt" for step in found.texts]
    for path, text in zip(written, found.texts.values(), strict=True):
        write_text(path, [text], force=force)
    if options.json:
        print_json({"run": found.run, "files": [str(each) for each in written]})
    else:
        print_to_stderr(
            f"{plural(len(written), 'text')} in {folder}: faithtui run --prompts {output}"
        )


@prompts.command("diff")
def diff_prompts(
    context: typer.Context,
    before: Annotated[str, typer.Argument(metavar="RUN", help="A run's number, or `last`.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The other run's number, or `last`.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the prompt texts of two runs.

    Example: faithtui prompts diff 1 last
    """
    from faithtui.engine.review.run_prompts import compare_prompts, read_run_prompts_with_examples

    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        one = read_run_prompts_with_examples(opened, read_run_id(opened, before))
        other = read_run_prompts_with_examples(opened, read_run_id(opened, after))
    changes = compare_prompts(one, other)
    if options.json:
        steps = dict.fromkeys([*one.texts, *other.texts])
        print_json(
            {
                "runs": [one.run, other.run],
                "digests": [one.digest, other.digest],
                "changed": [each for each in steps if one.texts.get(each) != other.texts.get(each)],
                "diff": changes,
            }
        )
    elif changes:
        print_text(changes)
    else:
        print_to_stderr(f"runs {one.run} and {other.run} send the same texts")


def _read_prompts(store: Path | None, run: str) -> "RunPrompts":
    from faithtui.engine.review.run_prompts import read_run_prompts_with_examples

    with open_store(store) as opened:
        return read_run_prompts_with_examples(opened, read_run_id(opened, run))


def _select_prompt_texts(found: "RunPrompts", step: str | None) -> dict[str, str]:
    """Give all texts, or one.

    Raises:
        ConfigError: There is no such text.
    """
    if step is None:
        return dict(found.texts)
    if step not in found.texts:
        raise ConfigError(f"run {found.run} has no text `{step}`; it has {', '.join(found.texts)}")
    return {step: found.texts[step]}


def _format_run_numbers(prompt_set: "PromptSetSummary") -> str:
    if not prompt_set.runs:
        return "none"
    shown = ", ".join(map(str, prompt_set.runs[:5]))
    return f"{shown} and {len(prompt_set.runs) - 5} more" if len(prompt_set.runs) > 5 else shown


def _format_prompt_origin(prompt_set: "PromptSetSummary") -> str:
    if not prompt_set.is_known:
        return "imported verdicts"
    return "the program" if prompt_set.packaged else "a folder, or an earlier version"


def _prompt_set_to_json(prompt_set: "PromptSetSummary") -> dict[str, object]:
    return {
        "digest": prompt_set.digest or None,
        "metric": prompt_set.metric,
        "version": prompt_set.version if prompt_set.is_known else None,
        "runs": list(prompt_set.runs),
        "created_at": None if prompt_set.created_at is None else prompt_set.created_at.isoformat(),
        "packaged": prompt_set.packaged,
    }
