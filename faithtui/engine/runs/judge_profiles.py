"""Which parameters a judge is asked with: what was typed, the environment, the settings, defaults.

A profile is chosen when a run is ordered, and stored with it: later settings change no run.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from faithtui.domain.judging.judge_profile import NO_PARAMETERS, PARAMETERS, JudgeProfile
from faithtui.errors import ConfigError
from faithtui.judges.registry import takes_parameters

EVERY_JUDGE: Final = "*"
"""In the settings: parameters of all judges that have no value of their own."""

VARIABLES: Final[Mapping[str, str]] = {
    name: f"FAITHTUI_{name.removesuffix('_s').upper()}" for name in PARAMETERS
}
"""Environment variable of each parameter. An empty variable counts as unset."""


def choose_profile(
    judge: str,
    settings: Mapping[str, Mapping[str, object]],
    environ: Mapping[str, str],
    typed: Mapping[str, object] | None = None,
) -> JudgeProfile:
    """Choose the parameters of a judge.

    Args:
        judge: Its reference.
        settings: Parameters by judge, as the settings have them.
        environ: Environment variables; they go before the settings.
        typed: Values by name, which go before everything; None: nothing was typed.

    Raises:
        ConfigError: A value that cannot be, or one that was typed for a judge that takes none.
    """
    typed = typed or {}
    own = settings.get(judge, {})
    if not takes_parameters(judge):
        named = [*own, *typed]
        if any(name != "timeout_s" for name in named):
            raise ConfigError(
                f"judge {judge} takes no parameters, and {', '.join(named)} would change nothing: "
                "leave that out, or choose a model of a provider"
            )
        return JudgeProfile.read({**own, **typed}, NO_PARAMETERS)
    profile = JudgeProfile.read(settings.get(EVERY_JUDGE, {}))
    profile = JudgeProfile.read(own, profile)
    for name, text in read_environment_parameters(environ).items():
        try:
            profile = JudgeProfile.read({name: text}, profile)
        except ConfigError as error:
            raise ConfigError(f"environment variable {VARIABLES[name]}: {error}") from error
    return JudgeProfile.read(typed, profile)


def read_environment_parameters(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the parameters that environment variables name, as texts."""
    return {name: environ[each] for name, each in VARIABLES.items() if environ.get(each)}


def choose_profiles(
    judges: Sequence[str],
    settings: Mapping[str, Mapping[str, object]],
    environ: Mapping[str, str],
    typed: Mapping[str, object],
) -> dict[str, JudgeProfile]:
    """Choose the parameters of the judges of one order; what was typed is for those that take any.

    Raises:
        ConfigError: As `choose_profile`; or something was typed, and none of them takes any.
    """
    takers = [each for each in judges if takes_parameters(each)] or list(judges)
    return {
        each: choose_profile(each, settings, environ, typed if each in takers else None)
        for each in judges
    }
