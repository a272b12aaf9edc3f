"""`faithtui judge`: its commands, in the order of the help."""

from faithtui.cli.commands.judge.about import about
from faithtui.cli.commands.judge.evaluate import evaluate
from faithtui.cli.commands.judge.key import key
from faithtui.cli.commands.judge.list import list_judges
from faithtui.cli.commands.judge.probe import probe
from faithtui.cli.commands.judge.recalibrate import recalibrate
from faithtui.cli.commands.judge.test import check_judge
from faithtui.cli.output_options import make_command_group

judge = make_command_group(
    "judge",
    "List, test, describe, evaluate, probe and recalibrate judges; store their keys.\n\n"
    "Example: faithtui judge test openai:MODEL",
)
judge.add_typer(key)
judge.command("list")(list_judges)
judge.command("test")(check_judge)
judge.command()(about)
judge.command()(recalibrate)
judge.command()(evaluate)
judge.command()(probe)
