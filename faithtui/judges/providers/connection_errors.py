"""Why no connection came about, and what to do about it, from the exceptions behind an SDK's.

Each layer wraps the error of the one below in words of its own, so the system's own error is looked
for behind them: it alone says whether the name, the server or the certificate is the trouble.
"""

import socket
import ssl
from collections.abc import Iterator

from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.provider_errors import find_provider_message

_MOST_CAUSES = 20
"""Errors that are looked at: chains are short, but nothing keeps one from being a circle."""


def explain_unreachable(error: BaseException, endpoint: Endpoint) -> str:
    """Say in a sentence why nothing came back, and what to do.

    Args:
        error: What the SDK raised.
        endpoint: Who was to be asked.
    """
    causes = list(_walk_causes(error))
    for cause in causes:
        match cause:
            case ssl.SSLCertVerificationError():
                return (
                    f"its certificate is not trusted ({cause.verify_message}), so nothing was sent."
                    " Check the address; if the server is yours, name the file of its authority in"
                    " the environment variable SSL_CERT_FILE"
                )
            case ssl.SSLError():
                return (
                    f"{_format_cause(cause)}. Check whether the address begins with http or https"
                )
            case socket.gaierror():
                return (
                    f"the name {endpoint.host} is not known here. Check how the address is spelt"
                    " and that the network is there"
                )
            case ConnectionRefusedError():
                return "nothing listens there. Start the server, or check the port"
            case ConnectionResetError():
                return (
                    "it cut the connection. Check that the server runs, and whether its address"
                    " begins with http or https"
                )
    # The first below the SDK's own, which says nothing.
    cause = causes[1] if len(causes) > 1 else error
    return f"{_format_cause(cause)}. Check that the server runs and the network is there"


def is_connection_refused(error: BaseException) -> bool:
    """Say whether no program has the port: behind an SDK's error is the system's refusal."""
    return any(isinstance(each, ConnectionRefusedError) for each in _walk_causes(error))


def _format_cause(error: BaseException) -> str:
    return find_provider_message(str(error)) or type(error).__name__


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Go through an error and everything behind it, the nearest first."""
    waiting = [error]
    for _ in range(_MOST_CAUSES):
        if not waiting:
            return
        each = waiting.pop(0)
        yield each
        waiting += getattr(each, "exceptions", ())
        behind = each.__cause__ or each.__context__
        if behind is not None:
            waiting.append(behind)
