"""What the app may do on the machine it runs on, which need not be that of who looks at it."""

from collections.abc import Mapping

from faithtui.errors import ConfigError

ALLOWED = "FAITHTUI_BROWSER_ALLOWS"
"""Environment variable: what an app in a browser may do, by commas."""
FILES, EDITOR = "files", "editor"
"""Write files; start the user's editor."""


def is_in_browser(environment: Mapping[str, str]) -> bool:
    """Say whether a server started this process to show it on a page, as textual-serve does."""
    return environment.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")


def check_allowed(act: str, environment: Mapping[str, str]) -> None:
    """Refuse to write files or to start an editor from a page, unless its server allows it.

    Raises:
        ConfigError: It is not allowed.
    """
    if not is_in_browser(environment) or act in environment.get(ALLOWED, "").split(","):
        return
    raise ConfigError(
        "files are not written from a browser; faithtui serve --allow-files allows it"
        if act == FILES
        else "no editor is started from a browser; faithtui serve --allow-editor allows it"
    )
