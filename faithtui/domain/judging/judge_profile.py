"""What a model is asked with beside the question: its sampling parameters, limits and headers.

A profile is stored with its run and is part of the judge's identity, so it holds no secret: a
header whose value is one names an environment variable, `$NAME`, which is read when the judge is
opened and never kept.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Self

from faithtui.errors import ConfigError

UNSET: Final = "unset"
"""Typed in place of a value: the parameter is not sent. `none` is a reasoning effort."""

SHORTEST_TIMEOUT_S: Final = 1.0
LONGEST_TIMEOUT_S: Final = 86_400.0
"""A day: longer than any answer, and what hangs is still given up."""

MOST_TOKENS: Final = 1_000_000

MOST_LEVELS: Final = 50
"""Of tables and lists inside each other in the body: what is deeper, JSON cannot surely be read."""

_SECRET_NAME: Final = re.compile(
    r"(^|[._-])(api_?key|key|auth\w*|token|secret|password|pass(phrase|wd)?|credentials?|cookie"
    r"|signature)$",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(
    r"(?i:^(bearer|basic|token)\s)"
    r"|(?<![A-Za-z0-9])(sk-[\w-]{6,}|[spr]k_(live|test)_\w|gsk_\w{16}|hf_\w{16}|nvapi-\S{16}|xai-\w{16}"
    r"|pplx-\w{16}|r8_\w{16}|dapi[0-9a-f]{32}|lsv2_\w{8}"
    r"|gh[oprsu]_\w{16}|github_pat_\w{16}|glpat-\S{16}|xox[a-z]-\S{8}|AKIA[A-Z0-9]{16}"
    r"|AIza[\w-]{30}|ya29\.\S{16}|eyJ[\w-]{8,}\.eyJ"
    r"|(?=[A-Za-z]*\d)(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{32,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
"""What looks like a key: a scheme of authorisation, the beginning that a provider gives its keys, a
signed token, a private key, or one word of 32 and more letters of both cases and digits. A UUID, a
hash or a name with hyphens is none of these."""

HIDDEN: Final = "(hidden)"
"""Stands for a secret that an earlier version stored."""

IDENTITY_MARK: Final = " parameters="
"""What stands before the identity of a profile in the fingerprint of a judge."""

_FLOATS: Final = ("temperature", "top_p", "timeout_s")

_VARIABLE: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_HEADER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_EFFORT: Final = re.compile(r"[a-z][a-z_-]{0,19}")

_HEADERS_OF_OURS: Final = frozenset(
    ("authorization", "connection", "content-length", "content-type", "host", "transfer-encoding")
)
"""Headers that belong to the exchange or carry the key."""

_BODY_OF_OURS: Final = frozenset(
    (
        *("model", "messages", "system", "prompt", "tools", "tool_choice", "response_format"),
        *("output_config", "output_format", "parallel_tool_calls", "stream", "stream_options"),
        *("n", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed"),
        "reasoning_effort",
    )
)
"""Parts of a question, or parameters with a name of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeProfile:
    """Parameters of a judge. The defaults are made for judging: the likeliest answer, each time."""

    temperature: float | None = 0.0
    """[0, 2]; None: not sent, so that the model's own counts."""
    top_p: float | None = None
    """Above 0, at most 1; None: not sent, as everything below."""
    seed: int | None = None
    reasoning_effort: str | None = None
    """The provider's word, such as `low`."""
    max_tokens: int | None = None
    """Tokens one answer may have, thinking included; None: as many as the question needs."""
    timeout_s: float | None = None
    """Seconds one question may take, [1, 86400]; None: as set for all judges. It changes no answer,
    so it is no part of the identity."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """What else stands in the body of a request, such as `{"top_k": 1}`."""
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    """What else stands in its head, by name; `$NAME` takes the value from the environment."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            ConfigError: A value is out of its range, or would be a secret that is stored.
        """
        for name, (is_valid, takes) in _RULES.items():
            value = getattr(self, name)
            if value is not None and not is_valid(value):
                raise ConfigError(f"{name} is not valid; expected {takes}")
        _check_extra_body(self.extra_body)
        for header, value in self.extra_headers.items():
            _check_extra_header(header, value)
        for name in _FLOATS:
            value = getattr(self, name)
            if value is not None:  # 0 and -0.0 are the same wish as 0.0
                object.__setattr__(self, name, float(value) + 0.0)

    @classmethod
    def read(cls, values: Mapping[str, object], begin_with: Self | None = None) -> Self:
        """Read parameters by name, as files, options and variables give them.

        Args:
            values: Values, or their texts; `unset` takes a parameter out.
            begin_with: What counts where nothing is said; None: the defaults. Extra headers and
                parts of the body go beside its own.

        Raises:
            ConfigError: An unknown name, or a value that cannot be.
        """
        base = cls() if begin_with is None else begin_with
        known = [each.name for each in fields(cls)]
        changes: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise ConfigError(
                    f"`{name[:60]}` is no parameter of a judge; expected {', '.join(known)}"
                )
            changes[name] = _parse_parameter_value(name, value)
        for name in ("extra_body", "extra_headers"):
            if isinstance(changes.get(name), Mapping) and changes[name]:
                changes[name] = {**getattr(base, name), **changes[name]}
        return replace(base, **changes)

    @classmethod
    def from_json(cls, stored: Mapping[str, object] | None) -> Self:
        """Read what `to_json` wrote; None is a run of before there were parameters.

        A secret that an earlier version stored is read as `HIDDEN`.
        """
        values: dict[str, Any] = {"temperature": None, **(stored or {})}
        return cls(**hide_secret_parameters(values))

    def to_json(self) -> dict[str, object]:
        """Give what is set, as JSON values."""
        return {name: value for name, value in self._list_given_parameters()}

    @property
    def parameters(self) -> dict[str, object]:
        """What goes into the body of each request by these names, limits of tokens aside."""
        named = ("temperature", "top_p", "seed", "reasoning_effort")
        found = {name: getattr(self, name) for name in named}
        sent = {name: value for name, value in found.items() if value is not None}
        return {**sent, **self.extra_body}

    @property
    def identity(self) -> str:
        """What of it may change an answer, on one line; "" when nothing is set."""
        parameters = {
            name: value for name, value in self._list_given_parameters() if name != "timeout_s"
        }
        if self.extra_headers:
            parameters["extra_headers"] = {k.lower(): v for k, v in self.extra_headers.items()}
        return _format_canonical_json(parameters) if parameters else ""

    @property
    def is_default(self) -> bool:
        """Whether nobody set anything that is sent."""
        return self.identity in ("", JudgeProfile().identity)

    def describe(self, refused: tuple[str, ...] = ()) -> str:
        """Say on one line what is set: `temperature 0, seed 7`; "" for nothing.

        Args:
            refused: Parameters that the model does not take.
        """
        parts = []
        for name, value in self._list_given_parameters():
            if name == "extra_body":
                parts += [
                    f"{key} {json.dumps(each, ensure_ascii=False)}"
                    + _format_refusal_note(key, refused)
                    for key, each in self.extra_body.items()
                ]
            elif name == "extra_headers":
                parts += [f"header {key}: {each}" for key, each in self.extra_headers.items()]
            else:
                value_text = f"{value:g}" if isinstance(value, float) else value
                parts.append(f"{name} {value_text}{_format_refusal_note(name, refused)}")
        return ", ".join(parts)

    def list_hidden_settings(self) -> tuple[str, ...]:
        """Name what is hidden, so that nobody can be asked with this profile."""
        found = [
            *_iter_names_and_values_of_all_levels(self.extra_body),
            *self.extra_headers.items(),
        ]
        return tuple(dict.fromkeys(name for name, value in found if value == HIDDEN))

    def list_variables(self) -> tuple[str, ...]:
        """Name the environment variables its headers are read from."""
        found = (_VARIABLE.fullmatch(value) for value in self.extra_headers.values())
        return tuple(each[1] for each in found if each is not None)

    def find_secrets(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Give the values of these variables: to be hidden wherever a server repeats them."""
        return tuple(filter(None, map(environ.get, self.list_variables())))

    def resolve_headers(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Give the headers with the values of their variables. To be sent, and kept nowhere.

        Raises:
            ConfigError: A variable is not set, or a value is what no header can carry. The message
                does not show it.
        """
        found = {}
        for name, value in self.extra_headers.items():
            variable = _VARIABLE.fullmatch(value)
            resolved = value if variable is None else environ.get(variable[1], "")
            if variable is not None and not (
                resolved and resolved.isascii() and resolved.isprintable()
            ):
                raise ConfigError(
                    f"the header {name} is read from the environment variable {variable[1]}, which "
                    "is not set or holds characters that no header can carry"
                )
            if resolved != resolved.strip():
                source = "" if variable is None else f", read from {variable[1]},"
                raise ConfigError(
                    f"the value of the header {name}{source} begins or ends with a blank, which no "
                    "header can carry; take it out"
                )
            found[name] = resolved
        return found

    def _list_given_parameters(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and value != {}:
                yield each.name, dict(value) if isinstance(value, Mapping) else value


def _make_range_check(low: float, high: float, *, above: bool = False) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return low < value <= high if above else low <= value <= high  # false for NaN too

    return check


def _make_whole_number_check(low: int, high: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and low <= value <= high


_RULES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "temperature": (_make_range_check(0, 2), "a number from 0 to 2, or unset"),
    "top_p": (_make_range_check(0, 1, above=True), "a number above 0, at most 1, or unset"),
    "seed": (_make_whole_number_check(-(2**63), 2**63 - 1), "a whole number, or unset"),
    "reasoning_effort": (
        lambda value: isinstance(value, str) and bool(_EFFORT.fullmatch(value)),
        "a word of the provider's such as low, medium or high, or unset",
    ),
    "max_tokens": (
        _make_whole_number_check(1, MOST_TOKENS),
        f"a whole number from 1 to {MOST_TOKENS}, or unset",
    ),
    "timeout_s": (
        _make_range_check(SHORTEST_TIMEOUT_S, LONGEST_TIMEOUT_S),
        "a number of seconds from 1 to 86400, or unset",
    ),
    "extra_body": (
        lambda value: isinstance(value, Mapping),
        'a table of values such as { top_k = 1 }, typed as JSON: {"top_k": 1}',
    ),
    "extra_headers": (
        lambda value: isinstance(value, Mapping),
        "headers by name; the value of one is a text, or $NAME for an environment variable",
    ),
}
"""What each parameter takes; in words for messages."""


def describe_allowed_value(name: str) -> str:
    """Say what a parameter takes, for messages and hints."""
    return _RULES[name][1]


def _format_refusal_note(name: str, refused: tuple[str, ...]) -> str:
    return " (refused by the model, not sent)" if name in refused else ""


def _parse_parameter_value(name: str, value: object) -> object:
    """Read what was given for a parameter; what cannot be read is left to the check."""
    is_table = name in ("extra_body", "extra_headers")
    if value is None or value == UNSET:
        return {} if is_table else None
    if not isinstance(value, str):
        return float(value) if name in _FLOATS and type(value) is int else value
    text = value.strip()
    try:
        if is_table:
            return json.loads(text)
        if name in _FLOATS:
            return float(text)
        if name in ("seed", "max_tokens"):
            return int(text)
    except (ValueError, RecursionError):
        return value
    return text


def _check_extra_body(body: Mapping[str, object]) -> None:
    for name in body:
        if not isinstance(name, str) or not name:
            raise ConfigError("extra_body is not valid; expected names with values")
        if name in _BODY_OF_OURS:
            raise ConfigError(
                f"extra_body: `{name}` is a part of the question or has a parameter of its own; "
                "leave it out"
            )
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError("extra_body is not valid; expected values of JSON") from error
    for name, value in _iter_names_and_values_of_all_levels(body):
        if _is_secret(name, value):
            # The value stays out of the message.
            raise ConfigError(
                f"extra_body: `{name[:60]}` looks like a secret, which would be stored with the "
                "run; send it as a header whose value is $NAME, an environment variable"
            )


def _iter_names_and_values_of_all_levels(
    body: Mapping[str, object],
) -> Iterator[tuple[str, object]]:
    """Give every value on every level, with the name it goes by; those of a list by its own.

    Raises:
        ConfigError: There are too many levels.
    """
    level: list[tuple[str, object]] = list(body.items())
    for _ in range(MOST_LEVELS):
        yield from level
        below: list[tuple[str, object]] = []
        for name, value in level:
            if isinstance(value, Mapping):
                below += [(str(each), inner) for each, inner in value.items()]
            elif isinstance(value, list | tuple):
                below += [(name, inner) for inner in value]
        level = below
    if level:
        raise ConfigError(f"extra_body has more than {MOST_LEVELS} levels; expected fewer")


def hide_secret_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters by name with `HIDDEN` in the place of every secret.

    What has more levels than a body may have is hidden too.
    """
    hidden = dict(values)
    if isinstance(body := values.get("extra_body"), Mapping):
        hidden["extra_body"] = {
            name: _hide_secret(str(name), each, MOST_LEVELS - 1) for name, each in body.items()
        }
    if isinstance(headers := values.get("extra_headers"), Mapping):
        hidden["extra_headers"] = {
            name: each if _VARIABLE.fullmatch(str(each)) else _hide_secret(name, each, 0)
            for name, each in headers.items()
        }
    return hidden


def _hide_secret(name: str, value: object, levels: int) -> object:
    if _is_secret(name, value):
        return HIDDEN
    if not isinstance(value, Mapping | list):
        return value
    if not levels:
        return HIDDEN
    if isinstance(value, Mapping):
        return {key: _hide_secret(str(key), each, levels - 1) for key, each in value.items()}
    return [_hide_secret(name, each, levels - 1) for each in value]


def hide_fingerprint_secrets(fingerprint: str) -> str:
    """Give the fingerprint of a judge without any secret that an earlier version stored in it."""
    return _rewrite_parameters_in_fingerprint(fingerprint, hide_secret_parameters)


def normalise_fingerprint(fingerprint: str) -> str:
    """Write the fingerprint of a judge as today's are, so that those of earlier runs compare equal.

    Names of headers are in lower case, and 0 is 0.0.
    """

    def normalise(values: Mapping[str, Any]) -> dict[str, Any]:
        changed = dict(values)
        for name in _FLOATS:
            if type(changed.get(name)) in (int, float):
                changed[name] = float(changed[name]) + 0.0
        if isinstance(headers := changed.get("extra_headers"), Mapping):
            changed["extra_headers"] = {key.lower(): each for key, each in headers.items()}
        return changed

    return _rewrite_parameters_in_fingerprint(fingerprint, normalise)


def _rewrite_parameters_in_fingerprint(
    fingerprint: str, rewrite: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> str:
    """Rewrite the parameters in a fingerprint; what holds none stays as it is."""
    before, mark, rest = fingerprint.partition(IDENTITY_MARK)
    try:
        values, end = json.JSONDecoder().raw_decode(rest)
    except (ValueError, RecursionError):
        return fingerprint
    if not isinstance(values, dict):
        return fingerprint
    return f"{before}{mark}{_format_canonical_json(rewrite(values))}{rest[end:]}"


def _format_canonical_json(values: Mapping[str, object]) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def _is_secret(name: str, value: object) -> bool:
    """Whether a value is secret by its name or by its form; the mark of a hidden one is not."""
    if value == HIDDEN:
        return False
    return _is_secret_name(name) or (
        isinstance(value, str) and _SECRET_VALUE.search(value) is not None
    )


def _is_secret_name(name: str) -> bool:
    """Whether what goes by this name is secret: `api_key`, `X-Auth`, `accessToken`."""
    return bool(_SECRET_NAME.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name)))


def _check_extra_header(name: object, value: object) -> None:
    if not isinstance(name, str) or not _HEADER.fullmatch(name):
        raise ConfigError("extra_headers: a name is no header; expected letters, digits and -")
    if name.lower() in _HEADERS_OF_OURS:
        raise ConfigError(
            f"extra_headers: {name} belongs to the exchange; a key goes into the judge's own "
            "environment variable"
        )
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        raise ConfigError(f"extra_headers: the value of {name} is no printable ASCII text")
    if _VARIABLE.fullmatch(value):
        return
    if _is_secret(name, value):
        # The value stays out of the message.
        raise ConfigError(
            f"extra_headers: {name} looks like a secret, and headers are stored with the run; put "
            f"its value into an environment variable and write $NAME in its place"
        )


DEFAULT_PROFILE: Final = JudgeProfile()
"""What a model is asked with where nobody says otherwise."""

NO_PARAMETERS: Final = JudgeProfile(temperature=None)
"""Nothing is sent: as runs did before there were profiles, and for judges that take none."""

PARAMETERS: Final = tuple(each.name for each in fields(JudgeProfile))
"""Names of all parameters."""
