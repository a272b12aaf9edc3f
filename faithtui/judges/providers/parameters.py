"""Parameters that a model refuses: found out from its answer, and not sent again.

Which model takes a temperature, a seed or an effort stands in no list that stays true. So what is
set is sent, and a refusal that names a parameter takes it out, for this question and all others.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from faithtui.judges.providers.provider_errors import (
    find_named_parameters,
    find_provider_message,
    list_error_codes,
)

_REFUSED_STATUSES: Final = {400, 422}

REFUSES_NAME: Final = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed)|extra_"
    r"|deprecated|instead",
    re.IGNORECASE,
)
"""What servers say of a parameter they do not know; a limit that is too high they call otherwise.

Source: OpenAI, vLLM, llama.cpp's server, FastAPI.
"""

_REFUSES_VALUE: Final = re.compile(
    r"does not support|only the default|may only be|cannot both|not both|cannot be (?:set|used)"
    r"|does not accept|not compatible|incompatible",
    re.IGNORECASE,
)
"""What they say of one that this model does not take, or not beside another.

Source: OpenAI (`Only the default (1) value is supported`), Anthropic (`may only be set to 1 when
thinking is enabled`, `cannot both be specified`).
"""

_OUT_OF_RANGE: Final = re.compile(
    r"above_max|below_min|(?:above|below) (?:the )?(?:max|min)imum|expected a value"
    r"|(?:must|should) be (?:<|>|less|greater|between)",
    re.IGNORECASE,
)
"""What they say, or name in a code, of a value that they would take if it were another.

Source: OpenAI (`integer_above_max_value`), vLLM.
"""

_NAMES_OTHER_VALUES: Final = re.compile(r"supported values are", re.IGNORECASE)

_NOBODYS_WORDS: Final = frozenset(("temperature", "top_p", "seed"))
"""Parameters that go when a model takes other values of them; other ones were misspelt."""

_WIRE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "reasoning_effort": ("reasoning_effort", "reasoning.effort", "effort"),
}
"""What a parameter is called on the wire, where that is not its name alone."""

_GIVEN_UP_FIRST: Final = ("temperature", "top_p", "seed", "reasoning_effort")
"""Of several that cannot stand together the first one goes: temperature 0 is nobody's wish but the
default, and what is left says more."""


class RefusedParameters:
    """What one model does not take."""

    def __init__(
        self, known: Iterable[str] = (), on_refused: Callable[[str], None] = lambda name: None
    ) -> None:
        """Begin with what is known.

        Args:
            known: Parameters that were refused before.
            on_refused: Called for every other one, once.
        """
        self._names = dict.fromkeys(known)
        self.on_refused = on_refused

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order in which they were refused."""
        return tuple(self._names)

    def list_parameters_to_send(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """Give the parameters that are sent."""
        return {name: value for name, value in parameters.items() if name not in self._names}

    def record_refusal_worth_retrying(self, status: int, body: str, sent: Collection[str]) -> bool:
        """Look for a refused parameter in an answer.

        Args:
            status: HTTP status.
            body: Of the answer.
            sent: Parameters of the request.

        Returns:
            Whether the same question is worth another request, without it.
        """
        if status not in _REFUSED_STATUSES:
            return False
        if any(name in self._names for name in sent):
            return True  # a request that was in flight at the same time was reported already
        name = find_refused_parameter(body, sent)
        if name is None:
            return False
        self._names[name] = None
        self.on_refused(name)
        return True


def find_refused_parameter(body: str, sent: Collection[str]) -> str | None:
    """Find which of the parameters that were sent an error body refuses; None: none of them.

    A value out of range is no refusal: whoever set it has to hear of it.
    """
    message = find_provider_message(body)
    if not (REFUSES_NAME.search(f"{message} {body[:4000]}") or _REFUSES_VALUE.search(message)):
        return None
    if _OUT_OF_RANGE.search(f"{message} {' '.join(list_error_codes(body))}"):
        return None
    places = find_named_parameters(body) - {"", "body"}
    named = [each for each in sent if places.intersection(_list_wire_names(each))]
    if not named and places:
        return None  # it is about another part of the request
    if not named:
        named = [
            each
            for each in sent
            if any(_is_named_in_message(w, message) for w in _list_wire_names(each))
        ]
    if _NAMES_OTHER_VALUES.search(message):
        named = [each for each in named if each in _NOBODYS_WORDS]
    order = {name: position for position, name in enumerate(_GIVEN_UP_FIRST)}
    return min(named, key=lambda name: order.get(name, len(order)), default=None)


def _list_wire_names(name: str) -> tuple[str, ...]:
    return _WIRE_NAMES.get(name, (name,))


def _is_named_in_message(name: str, message: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message) is not None
