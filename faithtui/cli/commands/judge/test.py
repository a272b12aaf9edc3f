"""`faithtui judge test`: whether a judge works."""

from dataclasses import asdict
from typing import Annotated

import typer

from faithtui.cli.output import print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    BaseUrlOption,
    make_timeout_option,
    merge_common_options,
)


def check_judge(
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
    import asyncio
    import os

    from faithtui.cli.run_settings import (
        check_judge_of_settings,
        make_run_environment_from_settings,
    )
    from faithtui.config import load_settings
    from faithtui.engine.judge_check import format_trial_usage, try_judge_with_two_questions
    from faithtui.engine.runs.judge_profiles import choose_profile
    from faithtui.judges.deadlines import require_valid_timeout

    settings = load_settings()
    if timeout is not None:
        require_valid_timeout(timeout, "--timeout")
    address = base_url or (settings.base_url if name in (None, settings.judge) else None)
    ref = name or settings.judge
    if name is None:
        check_judge_of_settings(settings)
    profile = choose_profile(ref, settings.judges, os.environ)
    trial = asyncio.run(
        try_judge_with_two_questions(
            ref,
            address,
            profile=profile,
            timeout_s=timeout or profile.timeout_s or settings.timeout_s,
            environment=make_run_environment_from_settings(settings),
        )
    )
    if merge_common_options(context, None, json).json:
        print_json({"judge": ref, "base_url": address, **asdict(trial)})
    else:
        print_text(f"{ref}: {trial.sentence}")
        if details := format_trial_usage(trial):
            print_text(f"  {details}")
    raise typer.Exit(trial.exit_code)
