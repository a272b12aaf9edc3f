"""All commands, in the order of the help."""

import typer

from faithtui.cli.commands.archive import archive
from faithtui.cli.commands.backup import backup
from faithtui.cli.commands.batch import batch
from faithtui.cli.commands.check import check
from faithtui.cli.commands.claim_set import claim_set
from faithtui.cli.commands.compare import compare
from faithtui.cli.commands.delete import delete
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
from faithtui.cli.commands.merge import merge
from faithtui.cli.commands.metrics import metrics
from faithtui.cli.commands.plan import plan
from faithtui.cli.commands.prompts import prompts
from faithtui.cli.commands.report import report
from faithtui.cli.commands.restore import restore
from faithtui.cli.commands.run.run import run
from faithtui.cli.commands.runs import runs
from faithtui.cli.commands.sample.sample import sample
from faithtui.cli.commands.serve import serve
from faithtui.cli.commands.show.show import show
from faithtui.cli.commands.split import split
from faithtui.cli.commands.trend import trend


def add_commands(app: typer.Typer) -> None:
    """Add every command to the program; the help lists commands of commands last."""
    app.command()(demo)
    app.command("import")(import_)
    app.command()(run)
    app.command()(measure)
    app.command()(keys)
    app.command()(metrics)
    app.command()(runs)
    app.command()(archive)
    app.command()(restore)
    app.command()(show)
    app.command()(sample)
    app.command()(plan)
    app.command()(label)
    app.command()(report)
    app.command()(figures)
    app.command()(export)
    app.command()(merge)
    app.command()(guideline)
    app.command()(split)
    app.command()(compare)
    app.command()(trend)
    app.command(cls=UsageErrorIsBrokenCommand)(gate)
    app.command()(check)
    app.command()(serve)
    app.command()(doctor)
    app.command()(backup)
    app.command("help")(help_)
    app.add_typer(claim_set)
    app.add_typer(judge)
    app.add_typer(prompts)
    app.add_typer(batch)
    app.add_typer(delete)
