"""`faithtui judge about`: what is known of a judge."""

from typing import Annotated

import typer

from faithtui.cli.output import print_text


def about(
    name: Annotated[
        str, typer.Argument(metavar="JUDGE", help="A judge, as for --judge of `run`.")
    ] = "offline",
) -> None:
    """Describe a judge: its measured quality and its limits.

    Example: faithtui judge about offline
    """
    from faithtui.judges.judge_card import format_judge_card

    print_text(format_judge_card(name))
