"""How deepeval finds JSON in a judge's reply. Used under a peer's rules only.

Its reader takes more than ours (half an object, whatever its brackets enclose) and less (not the
last of two objects). A score that is to be the peer's needs the peer's reader.
"""

import json
import re

from faithtui.metrics.base import ReplyMismatch

_LEADING_LETTERS = re.compile(r"[a-z]+")
_SPARE_COMMA = re.compile(r",\s*([\]}])")


def parse_first_to_last_brace(text: str) -> object:
    """Read what stands between the first `{` and the last `}` as JSON.

    Prose and fences around it are skipped. A text with `{` and no `}` at all gets one at its end.
    When that is no JSON it is read once more without commas before a closing bracket.

    Raises:
        Mismatch: There is no JSON; the peer raises ValueError.

    Source:
        deepeval 4.3.1, metrics/utils/generation.py, `trimAndLoadJson`.
    """
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0:
        raise ReplyMismatch("the reply holds no JSON object")
    whole = text[start:end] if end else f"{text[start:]}}}"
    try:
        return _load_strict_json(whole)
    except ValueError:
        pass
    try:
        return _load_strict_json(_SPARE_COMMA.sub(r"\1", whole))
    except ValueError as error:
        raise ReplyMismatch(f"the reply is not valid JSON: {error}") from error


def read_leading_letters(word: str) -> str:
    """Read a verdict as the peer does: the letters it begins with, in lower case; maybe none.

    Source:
        deepeval 4.3.1, metrics/utils/qag.py, as measured.
    """
    found = _LEADING_LETTERS.match(word.strip().lower())
    return found.group() if found else ""


def _load_strict_json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value
