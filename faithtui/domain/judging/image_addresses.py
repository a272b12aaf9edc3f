"""Which addresses of images may be passed on, and to whom.

An address from a file is text that somebody else wrote, and whoever is handed it fetches it: with
it, a data file could make a provider, or the browser of a reviewer, ask any server for anything.
So a provider gets one only for a host that the user named, and some addresses go to nobody: those
that hold a credential, and those that lead into a private network.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Collection
from urllib.parse import SplitResult, parse_qsl, urlsplit

ANY_HOST = "*"
"""Stands for every public host, where hosts are named."""

_PRIVATE_NAMES = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "lan", "home"}
    | {"test", "onion"}
)
"""Last parts of names that no public name has.

Source:
    RFC 6761 (localhost, test), RFC 6762 (local) and its appendix G (intranet, internal, private,
    corp, home, lan), RFC 7686 (onion).
"""

_ARPA = "home.arpa"
"""The name that RFC 8375 sets aside for networks at home."""

_HOST = re.compile(r"[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?")

_DEVIATION = re.compile("[\u00df\u03c2\u200c\u200d]")
"""Characters with which a name leads to one host or to another, by the version of its rules.

Source:
    Unicode Technical Standard 46, deviation characters: IDNA 2003 maps them, IDNA 2008 keeps them.
"""

_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
"""Forms of an IPv4 address that browsers and libraries of C read: `127.1`, `0x7f000001`."""

_SECRET_WORDS = frozenset(
    {
        "token",
        "secret",
        "password",
        "passwd",
        "pwd",
        "pass",
        "passphrase",
        "credential",
        "credentials",
        "sig",
        "signature",
    }
)
"""Words in names of parameters by which an address lets its bearer in: signatures of Amazon S3,
Google Cloud Storage, Azure and CloudFront, and keys."""

_SECRET_NAMES = frozenset(
    {
        "key",
        "auth",
        "authorization",
        "jwt",
        "session",
        "sessionid",
        "phpsessid",
        "jsessionid",
        "apikey",
        "accesskey",
        "authkey",
        "secretkey",
        "privatekey",
        "awsaccesskeyid",
        "googleaccessid",
        "hdnea",
        "hdnts",
    }
)
"""Such names as a whole, in lower case and without what is between their words."""

_OWNERS_OF_KEYS = frozenset(
    {
        "api",
        "access",
        "auth",
        "private",
        "secret",
        "subscription",
        "shared",
        "account",
    }
)
"""Words before `key` that make it one that lets its bearer in."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""Words of a name: `accessToken`, `X-Amz-Signature`, `x[token]`, `APIKey`."""


def find_host_of_address(address: str) -> str | None:
    """Name the host of a web address as hosts are compared; None: it is no such address.

    Returns:
        Lower case, without port and closing dot, letters beyond ASCII in their ASCII form; an IPv6
        address without its brackets. None as well for an address with spaces, control characters
        or a backslash, which programs read in different ways.
    """
    parts = _split_address(address)
    return None if parts is None else _fold_host(parts.hostname or "")


def parse_host_name(text: str) -> str | None:
    """Read the name of a host as a person gives it; None: it is none.

    Returns:
        The host as `find_host_of_address` names it, or `ANY_HOST`.
    """
    word = text.strip()
    return ANY_HOST if word == ANY_HOST else _fold_host(word.removeprefix("[").removesuffix("]"))


def find_host_problem(host: str) -> str | None:
    """Say why a host can be allowed by nobody; None: it can.

    Args:
        host: As `parse_host_name` gives it.

    Returns:
        What follows the host as it was given.
    """
    if host == ANY_HOST or is_host_public(host):
        return None
    return (
        "which is a host of a private network: no judge is ever sent an address there; import its "
        "images themselves, as `path` or `base64`"
    )


def is_host_allowed(host: str, allowed: Collection[str]) -> bool:
    """Say whether the user named a host, or all of them."""
    return ANY_HOST in allowed or host in allowed


def has_credential(address: str) -> bool:
    """Say whether an address holds a user name or password, or a parameter that signs it.

    Told of addresses of any form, so that a message never shows what is in them. An address within
    a parameter counts as well.
    """
    rest = address.partition("://")[2] or address
    # Not cut at ? and #: an unescaped password may hold them.
    if "@" in re.split(r"[/\\]", rest, maxsplit=1)[0]:
        return True
    # Parameters stand behind ?, # and, within a path, behind a semicolon.
    pairs = parse_qsl("&".join(re.split("[?#;]", rest)[1:]), keep_blank_values=True)
    return any(
        _is_secret_parameter_name(name) or ("://" in value and has_credential(value))
        for name, value in pairs
    )


def _is_secret_parameter_name(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return "".join(words) in _SECRET_NAMES or any(
        word in _SECRET_WORDS or (word == "key" and before in _OWNERS_OF_KEYS)
        for before, word in zip(["", *words], words, strict=False)
    )


def find_address_problem(address: str) -> str | None:
    """Say why nobody is ever handed an address, whatever is allowed; None: somebody may be.

    The host is looked at as it is written. A public name that leads to a private network is told
    by nobody but a name server, which is never asked.

    Returns:
        What follows the word "it": without the address itself.
    """
    if has_credential(address):
        return "holds a password, a key or a signature"
    host = find_host_of_address(address)
    if host is None:
        return "is no address of the web"
    if not is_host_public(host):
        return f"leads into a private network ({host})"
    return None


def is_host_public(host: str) -> bool:
    """Say whether a host, as `find_host_of_address` names it, can be one of the public internet."""
    if ":" in host:
        try:
            return (
                _is_public_ip_address(ipaddress.IPv6Address(host.partition("%")[0]))
                and "%" not in host
            )
        except ValueError:
            return False
    if _NUMERIC.fullmatch(host):
        found = _read_ipv4(host)
        return found is not None and _is_public_ip_address(found)
    parts = host.split(".")
    # A name of one part is one of this network alone, and programs differ on those that end in a
    # number and are no address.
    if len(parts) < 2 or "" in parts or _NUMERIC.fullmatch(parts[-1]):
        return False
    return parts[-1] not in _PRIVATE_NAMES and not f".{host}".endswith(f".{_ARPA}")


def format_address_without_secrets(address: str) -> str:
    """Write an address for a message, without what may be a secret: user, password, parameters."""
    _, at, rest = address.rpartition("@")
    return ("…@" if at else "") + re.split("[?#;]", rest, maxsplit=1)[0]


def _split_address(address: str) -> SplitResult | None:
    if not address.isprintable() or " " in address or "\\" in address:
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port  # is read, and may be no number, only here
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


def _fold_host(text: str) -> str | None:
    """Fold a name the way programs that look it up do."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("\u3002", ".")
    if _DEVIATION.search(folded):
        return None
    folded = folded.removesuffix(".")
    if ":" in folded:
        try:
            return str(ipaddress.IPv6Address(folded))
        except ValueError:
            return None
    if not folded.isascii():
        try:
            folded = folded.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    return folded if _HOST.fullmatch(folded) else None


def _read_ipv4(host: str) -> ipaddress.IPv4Address | None:
    """Read an IPv4 address in any form that `inet_aton` takes; None: too large.

    The last of one to four numbers fills all bytes that are left; each may be decimal, octal with
    a leading 0, or hexadecimal.
    """
    try:
        numbers = [_parse_ipv4_number(part) for part in host.split(".")]
    except ValueError:
        return None
    *first, last = numbers
    room = 256 ** (4 - len(first))
    if any(number > 255 for number in first) or last >= room:
        return None
    value = last
    for place, number in enumerate(first):
        value += number << (8 * (3 - place))
    return ipaddress.IPv4Address(value)


def _parse_ipv4_number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    if len(text) > 40:  # more digits than any address has
        raise ValueError
    return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text)


def _is_public_ip_address(found: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Say whether an address is of the public internet, and so is any that it stands for."""
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global and not found.is_multicast
    inner = [found.sixtofour, *(found.teredo or ())]
    return (
        found in _UNICAST
        and found.is_global
        and all(each is None or _is_public_ip_address(each) for each in inner)
    )


_UNICAST = ipaddress.IPv6Network("2000::/3")
"""The only addresses of IPv6 that were given to the public internet; those that stand for one of
IPv4 are not among them. Source: RFC 4291, IANA."""
