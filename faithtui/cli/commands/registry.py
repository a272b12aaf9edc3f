"""All commands, in the order of the help: sections as work goes, commands of commands last."""

from typing import Final

import typer

from faithtui.cli.commands.batch import batch
from faithtui.cli.commands.check import check
from faithtui.cli.commands.claim_set import claim_set
from faithtui.cli.commands.compare import compare
from faithtui.cli.commands.demo import demo
from faithtui.cli.commands.doctor.doctor import doctor
from faithtui.cli.commands.export.export import export
from faithtui.cli.commands.figures.figures import figures
from faithtui.cli.commands.gate import UsageErrorIsBrokenCommand, gate
from faithtui.cli.commands.guideline import guideline
from faithtui.cli.commands.help import help_
from faithtui.cli.commands.import_.import_ import import_
from faithtui.cli.commands.judge.judge import judge
from faithtui.cli.commands.keys import keys
from faithtui.cli.commands.label.label import label
from faithtui.cli.commands.measure.measure import measure
from faithtui.cli.commands.metrics import metrics
from faithtui.cli.commands.plan import plan
from faithtui.cli.commands.prompts import prompts
from faithtui.cli.commands.report import report
from faithtui.cli.commands.run.run import run
from faithtui.cli.commands.runs import runs
from faithtui.cli.commands.sample.sample import sample
from faithtui.cli.commands.serve import serve
from faithtui.cli.commands.show.show import show
from faithtui.cli.commands.split import split
from faithtui.cli.commands.store.archive import archive
from faithtui.cli.commands.store.backup import backup
from faithtui.cli.commands.store.delete import delete
from faithtui.cli.commands.store.merge import merge
from faithtui.cli.commands.store.restore import restore
from faithtui.cli.commands.trend import trend

_IN: Final = "Data in"
_JUDGE: Final = "Judge"
_REVIEW: Final = "Review"
_FIGURES: Final = "Figures"
_OUT: Final = "Out"
_STORE: Final = "Store and settings"


def add_commands(app: typer.Typer) -> None:
    """Add every command to the program, under its section of the help, as work goes."""
    app.command(rich_help_panel=_IN)(demo)
    app.command("import", rich_help_panel=_IN)(import_)
    app.command(rich_help_panel=_JUDGE)(run)
    app.command(rich_help_panel=_JUDGE)(measure)
    app.command(rich_help_panel=_JUDGE)(runs)
    app.command(rich_help_panel=_JUDGE)(metrics)
    app.command(rich_help_panel=_REVIEW)(show)
    app.command(rich_help_panel=_REVIEW)(check)
    app.command(rich_help_panel=_REVIEW)(guideline)
    app.command(rich_help_panel=_REVIEW)(plan)
    app.command(rich_help_panel=_REVIEW)(sample)
    app.command(rich_help_panel=_REVIEW)(label)
    app.command(rich_help_panel=_REVIEW)(merge)
    app.command(rich_help_panel=_REVIEW)(serve)
    app.command(rich_help_panel=_FIGURES)(report)
    app.command(rich_help_panel=_FIGURES)(compare)
    app.command(rich_help_panel=_FIGURES)(trend)
    app.command(rich_help_panel=_FIGURES)(figures)
    app.command(rich_help_panel=_FIGURES, cls=UsageErrorIsBrokenCommand)(gate)
    app.command(rich_help_panel=_OUT)(export)
    app.command(rich_help_panel=_OUT)(split)
    app.command(rich_help_panel=_STORE)(doctor)
    app.command(rich_help_panel=_STORE)(backup)
    app.command(rich_help_panel=_STORE)(archive)
    app.command(rich_help_panel=_STORE)(restore)
    app.command(rich_help_panel=_STORE)(keys)
    app.command("help", rich_help_panel=_STORE)(help_)
    app.add_typer(judge, rich_help_panel=_JUDGE)
    app.add_typer(prompts, rich_help_panel=_JUDGE)
    app.add_typer(batch, rich_help_panel=_JUDGE)
    app.add_typer(claim_set, rich_help_panel=_FIGURES)
    app.add_typer(delete, rich_help_panel=_STORE)
