"""`faithtui figures`: what labels and judges' scores that came with the data say of each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import merge_common_options

if TYPE_CHECKING:
    from faithtui.cli.commands.figures.tables import DataSetFigures


def figures(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files with human labels, one conversation a line."),
    ],
    together: Annotated[
        bool, typer.Option("--together", help="Count all files as one data set.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare human labels and judges' scores that came with data.

    Needs no store and no judge. Gives inter-annotator agreement (alpha, AC1, kappa of each
    pair) and, for each judge, Spearman, AUROC and balanced accuracy against the human labels.
    docs/figures.md says how labels are counted.

    Example: faithtui figures labelled.jsonl
    """
    from faithtui.cli.commands.figures.figures_json import scale_figures_json
    from faithtui.cli.commands.figures.tables import print_data_set_figures
    from faithtui.domain.estimates import LEVEL

    parts = [tuple(files)] if together else [(path,) for path in files]
    sets = [_read_and_compute_figures(part) for part in parts]
    if merge_common_options(context, None, json).json:
        print_json(
            {
                "level": LEVEL,
                "sets": [
                    {
                        "files": [str(path) for path in each.files],
                        "conversations": each.conversations,
                        "scales": [scale_figures_json(scale) for scale in each.scales],
                    }
                    for each in sets
                ],
            }
        )
        return
    for number, each in enumerate(sets):
        if number:
            print_text("")
        print_data_set_figures(each)


def _read_and_compute_figures(files: tuple[Path, ...]) -> "DataSetFigures":
    """Read files that are counted together, and compute their figures.

    Raises:
        InputError: A file or a line of it cannot be used.
    """
    from faithtui.agreement.imported_scores.imported_figures import compute_figures_per_scale
    from faithtui.cli.commands.figures.tables import DataSetFigures
    from faithtui.formats.readers.imported_scores import read_scored_conversations

    conversations = [each for path in files for each in read_scored_conversations(path)]
    return DataSetFigures(files, len(conversations), compute_figures_per_scale(conversations))
