"""Names that somebody may have meant who typed another one."""

from collections.abc import Iterable
from difflib import get_close_matches


def find_similar_name(typed: str, known: Iterable[str]) -> str | None:
    """Find the name that is most like what was typed; None: none is much like it.

    A name that ends or begins with what was typed comes first: `faithfulness` means
    `turn-faithfulness`.
    """
    names = list(known)
    wanted = typed.strip().lower()
    if not wanted:
        return None
    parts = [each for each in names if each.lower().startswith(wanted)]
    parts += [each for each in names if each.lower().endswith(wanted)]
    lowered = {each.lower(): each for each in reversed(names)}
    near = [lowered[each] for each in get_close_matches(wanted, lowered, n=1)]
    return next(iter([*parts, *near]), None) if len(wanted) > 2 else next(iter(near), None)


def format_known_names(typed: str, known: Iterable[str]) -> str:
    """List the names that there are, and ask for the one that is most like what was typed."""
    names = list(known)
    return f"{', '.join(names)}{format_suggestion(typed, names)}"


def format_suggestion(typed: str, known: Iterable[str]) -> str:
    """Ask for the name that is most like what was typed, after a sentence; "" for none."""
    found = find_similar_name(typed, known)
    return "" if found is None else f". Did you mean `{found}`?"
