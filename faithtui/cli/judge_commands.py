"""Commands about judges themselves: which there are, whether one works, and what it is."""

from typing import Annotated

import typer

from faithtui.cli.options import (
    BaseUrlOption,
    JsonOption,
    StoreOption,
    make_timeout_option,
    merge_common_options,
)

judge = typer.Typer(
    name="judge",
    help="List, test, describe and recalibrate judges; store their keys.\n\n"
    "Example: faithtui judge test openai:MODEL",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

key = typer.Typer(
    name="key",
    help="Store or remove a judge's key in the system's keyring.\n\n"
    "Example: faithtui judge key set openai",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
judge.add_typer(key)
KeyName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="openai, anthropic, or the name of the key's environment variable."
    ),
]


@judge.command("list")
def list_judges(context: typer.Context, json: JsonOption = False) -> None:
    """List the judges that can be used.

    They are built in, run on this machine, or come from installed packages.

    Example: faithtui judge list
    """
    from faithtui.cli.commands.judge import test

    raise typer.Exit(test.print_judges(as_json=merge_common_options(context, None, json).json))


@judge.command("test")
def run_judge_check(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="JUDGE", help="A judge, as for --judge of `run`. [as set]"),
    ] = None,
    base_url: BaseUrlOption = None,
    timeout: Annotated[float | None, make_timeout_option("30")] = None,
    json: JsonOption = False,
) -> None:
    """Ask a judge two small questions, and report what is wrong.

    The questions have obvious answers, so a judge that calls everything `yes` is found.
    Nothing is stored. A paid judge bills a few hundred tokens.

    Example: faithtui judge test openai:MODEL
    """
    from faithtui.cli.commands.judge import test

    as_json = merge_common_options(context, None, json).json
    raise typer.Exit(test.print_judge_check(name, base_url, timeout, as_json=as_json))


@key.command("set")
def set_key(name: KeyName) -> None:
    """Ask for a key without showing it, and keep it in the keyring.

    Example: faithtui judge key set openai
    """
    from faithtui.cli.commands.judge import test

    raise typer.Exit(test.set_key(name))


@key.command("forget")
def forget_key(name: KeyName) -> None:
    """Remove a key from the system's keyring.

    Example: faithtui judge key forget openai
    """
    from faithtui.cli.commands.judge import test

    raise typer.Exit(test.drop_key(name))


@judge.command()
def about(
    name: Annotated[
        str, typer.Argument(metavar="JUDGE", help="A judge, as for --judge of `run`.")
    ] = "offline",
) -> None:
    """Describe a judge: its measured quality and its limits.

    Example: faithtui judge about offline
    """
    from faithtui.cli.output import print_text
    from faithtui.judges.judge_card import format_judge_card as text

    print_text(text(name))


@judge.command()
def recalibrate(
    context: typer.Context,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Only labels on the claims of this run: its number, or `last`.",
            show_default=False,
        ),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Use it in new runs of the embedded judge.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Use the judge as it was shipped again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before applying.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Fit the embedded judge's probabilities to human labels.

    Needs 20 labels, and shows what changes. Without --apply nothing changes; stored runs
    never change.

    Example: faithtui judge recalibrate --run last
    """
    from faithtui.cli.commands.judge import recalibrate

    options = merge_common_options(context, store, json)
    code = recalibrate.run_recalibration(
        options.store,
        run,
        options.reviewer,
        wants_apply=apply,
        wants_withdraw=withdraw,
        is_sure=yes,
        as_json=options.json,
    )
    raise typer.Exit(code)
