"""The judge that `judge evaluate` and `judge probe` ask, and the options that name it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from faithtui.domain.probes.labelled_claims import LabelledClaim
    from faithtui.engine.calls.rate_limiter import RateLimiters
    from faithtui.judges.base import Judge

JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="JUDGE", help="A judge, as for --judge of `run`. [as set]"),
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, help="Maximum number of questions in flight.")
]


class WantedJudge(NamedTuple):
    """A judge to be tried."""

    ref: str
    opening: "AbstractAsyncContextManager[Judge]"
    limiters: "RateLimiters"
    """Limits of speed, as set."""


def open_typed_or_configured_judge(judge: str | None, base_url: str | None) -> WantedJudge:
    """Open the judge that was typed, else the one of the settings.

    It is asked with the parameters and within the limits that a run would ask it with.
    """
    import os

    from faithtui.cli.run_settings import (
        check_judge_of_settings,
        make_run_environment_from_settings,
    )
    from faithtui.config import load_settings
    from faithtui.engine.runs.judge_profiles import choose_profile
    from faithtui.judges.deadlines import TIMEOUT_S
    from faithtui.judges.registry import open_judge

    settings = load_settings()
    ref = judge or settings.judge
    if judge is None:
        check_judge_of_settings(settings)
    address = base_url or (settings.base_url if ref == settings.judge else None)
    environment = make_run_environment_from_settings(settings)
    profile = choose_profile(ref, settings.judges, os.environ)
    opening = open_judge(
        ref,
        base_url=address,
        profile=profile,
        timeout_s=profile.timeout_s or settings.timeout_s or TIMEOUT_S,
        redact=environment.redact,
    )
    return WantedJudge(ref, opening, environment.rate_limiters)


def read_labelled_claims_from_file(file: Path) -> "tuple[LabelledClaim, ...]":
    """Read labelled claims.

    Raises:
        InputError: As `read_labelled_claims`; also where a judge was named in place of a file.
    """
    from faithtui.errors import InputError
    from faithtui.formats.labelled_claims import read_labelled_claims

    name = str(file)
    try:
        return read_labelled_claims(file)
    except InputError as error:
        if file.exists() or not (name == "offline" or ":" in name):
            raise
        hint = f"{error.reason}; a judge is named by --judge {name}"
        raise InputError(hint, path=file) from error
