"""A key that cannot be printed by accident.

Keys travel through frames whose locals a crash report may show, and providers echo them in error
messages. So a key lives in a value that shows nothing, and the only places that reveal it are the
request being sent and the redaction of what came back.
"""

import hashlib
import re
from collections.abc import Collection
from typing import NoReturn

NO_KEY = "none"
"""What is sent to a server that asks for no key. It is a word, so it is never redacted."""

HIDDEN = "[hidden]"

_LOOKS_LIKE_A_KEY = re.compile(
    r"\bsk-[\w\-*.…]{4,}"  # OpenAI and Anthropic keys, also when the provider masked the middle
    r"|(?<=\bBearer )(?!\[hidden\])[^\s\"',}]+",
    re.IGNORECASE,
)


class Secret:
    """One key, and what else is sent beside it and must not be seen.

    `str`, `repr`, formatting and pickling give nothing away.
    """

    __slots__ = ("_beside", "_value")

    def __init__(self, value: str, beside: Collection[str] = ()) -> None:
        self._value = value
        # What is as short as a word of a sentence is no secret, and would tear sentences apart.
        self._beside = tuple(each for each in beside if len(each) > 3)

    def reveal(self) -> str:
        """Return the key itself, for the header of a request and nothing else."""
        return self._value

    def digest(self) -> str:
        """Tell keys apart within a process: 12 hexadecimal digits that give nothing away."""
        return hashlib.sha256(f"faithtui {self._value}".encode()).hexdigest()[:12]

    def redact(self, text: str) -> str:
        """Return `text` without this key and without anything else that looks like one."""
        for each in (self._value, *self._beside):
            if each and each != NO_KEY:
                # An error may show it as Python writes it, with \\ for \.
                for form in dict.fromkeys((each, repr(each)[1:-1])):
                    # A server may have wrapped the line in which it repeats the key.
                    text = re.sub(r"\s*".join(map(re.escape, form)), HIDDEN, text)
        return _LOOKS_LIKE_A_KEY.sub(HIDDEN, text)

    def __repr__(self) -> str:
        """Show that there is a key, and nothing of it."""
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied into another process."""
        raise TypeError("a key is never written anywhere")
