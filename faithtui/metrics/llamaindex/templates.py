"""Prompt templates that a caller brings: texts with `{name}` holes, or objects that format.

A template that lacks a hole, or has one nobody can fill, is refused before anything is asked: a
judge that never sees the answer or the context would still say something.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Protocol, cast

from faithtui.errors import ConfigError

Holes = Mapping[str, Sequence[str]]
"""Each hole's names: ours, then others it may go by; ours is the first of them."""


class PromptFormatter(Protocol):
    """Anything that puts values into a prompt."""

    def format(self, **holes: str) -> str:
        """Give the whole prompt."""


@dataclass(frozen=True, slots=True)
class CallerTemplate:
    """A caller's template that was tried and has every hole.

    As a text it is the template with its holes, whatever object it came from; a run that is stored
    with that text asks the same, unless the object computes its prompt in another way.
    """

    source: PromptFormatter
    names: tuple[tuple[str, str], ...]
    """Our name of each hole, and the template's."""
    text: str

    def __str__(self) -> str:
        """Give the template as a text with `{name}` holes."""
        return self.text

    def format(self, **holes: str) -> str:
        """Give the whole prompt.

        Args:
            **holes: A value for each hole, by our names. Values are never looked into.
        """
        return self.source.format(**{theirs: holes[ours] for ours, theirs in self.names})


def adapt_template(option: str, given: object, holes: Holes, *, strict: bool) -> CallerTemplate:
    """Check a caller's template and adapt it.

    Args:
        option: Name of the option, for messages.
        given: A text in the manner of `str.format` (`{{` is a brace), or an object with
            `format(**holes) -> str`. A template made here is given back.
        holes: What it may have.
        strict: It must have all of them, and no others. False: as the peer takes it. What is
            missing is missing, and braces around anything else in a text stay.

    Raises:
        ConfigError: It is neither, it does not format, or a hole is missing or unknown.
    """
    if isinstance(given, CallerTemplate):
        return given
    if isinstance(given, str):
        return (
            _check_and_adapt_text(option, given, holes)
            if strict
            else _adapt_text_without_checks(given, holes)
        )
    if not callable(getattr(given, "format", None)):
        kind = type(given).__name__
        raise ConfigError(
            f"{option} is of type {kind}; expected a text or an object with format(**holes) -> str"
        )
    return _adapt_template_object(option, cast(PromptFormatter, given), holes, strict=strict)


@dataclass(frozen=True, slots=True)
class _LooseText:
    """A text in which only known holes are holes, as in the peer's PromptTemplate."""

    text: str

    def format(self, **holes: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda hole: holes.get(hole[1], hole[0]), self.text)


def _adapt_text_without_checks(text: str, holes: Holes) -> CallerTemplate:
    names = tuple((ours, name) for ours, names in holes.items() for name in names)
    return CallerTemplate(_LooseText(text), names, text)


def _check_and_adapt_text(option: str, text: str, holes: Holes) -> CallerTemplate:
    found = _find_holes(option, text)
    known = {name for names in holes.values() for name in names}
    for name in sorted(found - known):
        raise ConfigError(
            f"{option}: the hole {{{name}}} is not known here; known: {_format_holes(holes)}; "
            "write {{ and }} for braces"
        )
    names = []
    for ours, ways in holes.items():
        used = [name for name in ways if name in found]
        if not used:
            raise _make_missing_hole_error(option, ours)
        if len(used) > 1:
            raise ConfigError(f"{option}: {{{used[0]}}} and {{{used[1]}}} are the same hole")
        names.append((ours, used[0]))
    return CallerTemplate(text, tuple(names), text)


def _find_holes(option: str, text: str) -> set[str]:
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise ConfigError(f"{option}: {error}; write {{{{ and }}}} for braces") from error
    found = set()
    for _, name, spec, conversion in parts:
        if spec or conversion:
            raise ConfigError(f"{option}: the hole {{{name}}} must stand without a format")
        if name is not None:
            found.add(name)
    return found


def _adapt_template_object(
    option: str, given: PromptFormatter, holes: Holes, *, strict: bool
) -> CallerTemplate:
    """Try an object with marks for values, under every name a hole may go by."""
    # Of no letters, so that they survive a change of case and the like.
    marks = {ours: f"\ue000{chr(0xE010 + n)}\ue001" for n, ours in enumerate(holes)}
    lacking: list[tuple[dict[str, str], str]] = []
    problems: list[ConfigError] = []
    for names in _list_hole_name_combinations(holes):
        try:
            prompt: object = given.format(**{names[ours]: mark for ours, mark in marks.items()})
        except KeyError as error:
            problems.append(
                ConfigError(
                    f"{option}: the hole {{{error.args[0]}}} is not known here; "
                    f"known: {_format_holes(holes)}"
                )
            )
            continue
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            problems.append(ConfigError(f"{option}: it does not format: {error}"))
            continue
        if not isinstance(prompt, str):
            kind = type(prompt).__name__
            raise ConfigError(f"{option}: its format gives a value of type {kind}, not a text")
        if all(mark in prompt for mark in marks.values()):
            return CallerTemplate(
                given, tuple(names.items()), _replace_marks_with_holes(prompt, marks, strict=strict)
            )
        lacking.append((names, prompt))
    if not lacking:
        raise problems[0]
    names, prompt = lacking[0]
    if strict:
        raise _make_missing_hole_error(
            option, next(ours for ours, mark in marks.items() if mark not in prompt)
        )
    return CallerTemplate(
        given, tuple(names.items()), _replace_marks_with_holes(prompt, marks, strict=strict)
    )


def _replace_marks_with_holes(prompt: str, marks: Mapping[str, str], *, strict: bool) -> str:
    """Write a prompt that holds marks as a text with holes, to be read as strictly."""
    text = prompt.replace("{", "{{").replace("}", "}}") if strict else prompt
    for name, mark in marks.items():
        text = text.replace(mark, f"{{{name}}}")
    return text


def _list_hole_name_combinations(holes: Holes) -> list[dict[str, str]]:
    """List every choice of one name per hole, our own names first."""
    ways: list[dict[str, str]] = [{}]
    for ours, names in holes.items():
        ways = [{**way, ours: name} for name in names for way in ways]
    return ways


def _make_missing_hole_error(option: str, name: str) -> ConfigError:
    return ConfigError(f"{option}: the hole {{{name}}} is missing")


def _format_holes(holes: Holes) -> str:
    return ", ".join(f"{{{ours}}}" for ours in holes)
