"""What the settings say for the runs of one command: limits, prices, redaction, hosts of images."""

from collections.abc import Sequence

from faithtui.config import SettingOrigin, Settings, load_settings_with_origins
from faithtui.domain.judging.image_addresses import find_host_problem, parse_host_name
from faithtui.engine.runs.run_environment import RunEnvironment, make_run_environment
from faithtui.errors import ConfigError


def make_run_environment_from_settings(
    settings: Settings, image_hosts: Sequence[str] = ()
) -> RunEnvironment:
    """Make what the runs of this command share.

    Args:
        settings: The user's settings.
        image_hosts: Hosts that were typed, besides those of the settings.

    Raises:
        ConfigError: The price table or the redaction function cannot be used, or a host is none or
            private.
    """
    typed = []
    for each in image_hosts:
        host = parse_host_name(each)
        if host is None:
            raise ConfigError(
                f"--allow-image-host is `{each}`; expected a host such as cdn.example.com, or *"
            )
        problem = find_host_problem(host)
        if problem is not None:
            raise ConfigError(f"--allow-image-host is `{each}`, {problem}")
        typed.append(host)
    return make_run_environment(
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        prices=settings.prices,
        redact=settings.redact,
        image_hosts=(*settings.image_hosts, *typed),
        timeout_s=settings.timeout_s,
    )


def check_judge_of_settings(settings: Settings) -> None:
    """Refuse a judge of the settings that is none, and say where it stands: nobody typed it now.

    Raises:
        ConfigError: There is no such judge.
    """
    from faithtui.judges.providers.endpoints import parse_endpoint

    try:
        parse_endpoint(settings.judge, None)
    except ConfigError as error:
        found = load_settings_with_origins()
        where = found.describe_origin("judge")
        if found.origins["judge"] is SettingOrigin.FILE:
            where = f"`judge` in {found.file}"
        raise ConfigError(f"{error} (from {where})") from error
