"""`faithtui judge key`: keys of judges in the system's keyring."""

import os
import sys
from typing import Annotated

import typer

from faithtui.cli.output import print_to_stderr
from faithtui.cli.output_options import make_command_group
from faithtui.errors import ConfigError

key = make_command_group(
    "key",
    "Store or remove a judge's key in the system's keyring.\n\n"
    "Example: faithtui judge key set openai",
)
KeyName = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="openai, anthropic, or the name of the key's environment variable."
    ),
]


@key.command("set")
def set_key(name: KeyName) -> None:
    """Ask for a key without showing it, and keep it in the keyring.

    Example: faithtui judge key set openai
    """
    from faithtui.judges.providers.api_keys import SERVICE, save_key_in_keyring

    variable = parse_key_variable(name)
    save_key_in_keyring(variable, _prompt_for_key(variable))
    print_to_stderr(f"{variable} is in the system's keyring (service {SERVICE})")
    if os.environ.get(variable, "").strip():
        print_to_stderr(f"{variable} is set in the environment too, which goes before the keyring")


@key.command("forget")
def forget_key(name: KeyName) -> None:
    """Remove a key from the system's keyring.

    Example: faithtui judge key forget openai
    """
    from faithtui.judges.providers import api_keys

    variable = parse_key_variable(name)
    there = api_keys.delete_key_if_in_keyring(variable)
    print_to_stderr(f"{variable} is {'no longer' if there else 'not'} in the system's keyring")


def parse_key_variable(name: str) -> str:
    """Read the name of a key: a variable, or a provider that has one of its own.

    Raises:
        ConfigError: Neither.
    """
    from faithtui.judges.providers.api_keys import VARIABLES
    from faithtui.judges.providers.endpoints import OTHER_HOST_KEY, PROVIDERS

    plain = name.strip()
    if plain.upper() in VARIABLES:
        return plain.upper()
    provider = PROVIDERS.get(plain.lower().partition(":")[0])
    if provider is not None:
        return provider.key_variable
    known = ", ".join(each.name for each in PROVIDERS.values() if each.host is not None)
    raise ConfigError(
        f"`{name}` has no key; expected {known}, or one of {', '.join(VARIABLES)} "
        f"({OTHER_HOST_KEY} is for every other server)"
    )


def _prompt_for_key(variable: str) -> str:
    """Read a key without showing it; a line of a pipe where nobody sits in front of it."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    from getpass import getpass

    return getpass(f"{variable} (not shown): ")
