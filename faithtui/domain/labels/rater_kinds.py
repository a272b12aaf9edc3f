"""Who gives labels: annotators, or machines that must not pass for them.

Agreement of a judge with another model is no agreement with annotators. Nothing shows who sat at a
keyboard; what shows is a name that says it. A machine that gives labels is to be named
`model:NAME`.
"""

import re
from collections.abc import Iterable

MACHINE_PREFIXES = ("model", "llm", "agent", "bot", "judge", "openai", "anthropic", "replay")
"""Before a colon at the beginning of a name: a machine's."""

_FAMILIES = re.compile(
    r"(?:chatgpt|gpt-|claude-|gemini-|gemma-|llama-?\d|mistral-|mixtral|qwen|deepseek|command-r|phi-\d"
    r"|o[134]-(?:mini|pro|preview))"
)
"""How names of well-known models begin. Never what is also a person's name: `claude` is one."""


def find_machine_labeller_names(names: Iterable[str], judges: Iterable[str]) -> tuple[str, ...]:
    """Find the names among labellers that are a machine's.

    Args:
        names: Who gave labels.
        judges: References of judges, such as `openai:MODEL`; their models' names count too.

    Returns:
        As they were given, each once, sorted.
    """
    known = {"offline"}
    for judge in judges:
        provider, _, model = judge.partition(":")
        known |= {_fold_name(judge), _fold_name(model or provider)}
    return tuple(sorted({name for name in names if _is_machine_name(_fold_name(name), known)}))


def _is_machine_name(name: str, known: set[str]) -> bool:
    mark, colon, _ = name.partition(":")
    return (
        name in known
        or (bool(colon) and mark.strip() in MACHINE_PREFIXES)
        or bool(_FAMILIES.match(name))
    )


def _fold_name(name: str) -> str:
    return name.strip().casefold()
