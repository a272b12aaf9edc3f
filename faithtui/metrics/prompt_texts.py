"""Prompt texts: packaged files with `$name` holes, replaceable by the user's own.

What is judged goes into a prompt as data: each piece stands between marks that carry a digest of
its own text, so that no text can close its own block. The digest depends on nothing but the text,
so equal questions stay equal.
"""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final, Self

from faithtui.errors import ConfigError

VERSION: Final = 2
"""Of the packaged texts, and of how questions are put beside them. Version 1 showed 120 letters of
each earlier message; its texts stay in the package, for the runs that were begun with it."""

FIRST_VERSION: Final = 1

_STAND_INS: Final = {"quoted-truths": "truths"}
"""Steps that the first version did not have: whoever replaced the text on the right gets it there
too, and is asked for what it asks for."""


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompt texts of a metric, by step."""

    texts: Mapping[str, str]
    examples: str = ""
    """What `with_examples` put into the texts."""
    version: int = VERSION
    """How questions are put beside the texts."""
    bare_texts: Mapping[str, str] | None = None
    """The texts before the examples; None: there are none."""

    @property
    def without_examples(self) -> Self:
        """The same texts before examples were put into them."""
        return self if self.bare_texts is None else type(self)(self.bare_texts, "", self.version)

    @property
    def digest(self) -> str:
        """64 hexadecimal digits that change when any text changes, or the version."""
        whole = hashlib.sha256()
        if self.version != FIRST_VERSION:
            whole.update(f"version {self.version}\0".encode())
        for step in sorted(self.texts):
            whole.update(f"{step}\0{self.texts[step]}\0".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()

    def with_examples(self, steps: Collection[str], examples: str) -> Self:
        """Put examples into the texts of some steps, before what is to be judged.

        Args:
            steps: Those that ask for a verdict.
            examples: As they are shown; taken as they are, never as a text with holes.
        """
        held = {
            step: _insert_examples(text, examples) if step in steps else text
            for step, text in self.texts.items()
        }
        return type(self)(held, examples, self.version, self.texts)

    def render(self, step: str, **holes: str) -> str:
        """Fill the holes of a step's text. Values are inserted as they are, never looked into."""
        return Template(self.texts[step]).substitute(holes)


def load_prompts(
    metric: str,
    steps: Mapping[str, Sequence[str]],
    own: Path | None,
    version: int = VERSION,
) -> PromptSet:
    """Read a metric's prompt texts.

    Args:
        metric: Key of the metric; its folder under `prompts/`. A text that is not there is the
            one that metrics share.
        steps: Every step and the holes its text must have.
        own: Folder with the user's texts: `<metric>/<step>.txt` or `<step>.txt` replaces the
            packaged one. None: only packaged texts.
        version: Of the packaged texts, 1 or the present one.

    Raises:
        ConfigError: The folder is not there or holds no prompt of the metric, a text cannot be
            read, or it lacks a hole or has one we cannot fill.
    """
    texts: dict[str, str] = {}
    replaced = 0
    for step, holes in steps.items():
        if version == FIRST_VERSION:
            step = _STAND_INS.get(step, step)
        path = _find_custom_prompt_file(own, metric, step)
        if path is None and step in _STAND_INS:
            path = _find_custom_prompt_file(own, metric, _STAND_INS[step])
        if path is None:
            texts[step] = _read_packaged_text(metric, step, version)
            continue
        try:
            texts[step] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read as UTF-8 text: {error}") from error
        replaced += 1
        _check_holes(path, texts[step], holes)
    if own is not None and not replaced:
        names = ", ".join(f"{step}.txt" for step in steps)
        raise ConfigError(f"{own}: no prompt of {metric} there; expected some of {names}")
    return PromptSet(texts, version=version)


def _read_packaged_text(metric: str, step: str, version: int) -> str:
    """Read a text of the package; one that no later version changed stands there once."""
    prompts = resources.files("faithtui.metrics") / "prompts"
    folders = [prompts / metric, prompts / "shared"]
    if version == FIRST_VERSION:
        folders = [prompts / "version-1" / metric, prompts / "version-1" / "shared", *folders]
    found = next(each / f"{step}.txt" for each in folders if (each / f"{step}.txt").is_file())
    return found.read_text(encoding="utf-8")


def _insert_examples(text: str, examples: str) -> str:
    """Put examples before the paragraph with the first hole; that is where the material begins."""
    holes = (found.start() for found in Template.pattern.finditer(text) if _is_hole(found))
    start = text.rfind("\n\n", 0, next(holes, len(text)))
    at = 0 if start < 0 else start + 2
    return f"{text[:at]}{examples.replace('$', '$$')}\n\n{text[at:]}"


def _is_hole(found: re.Match[str]) -> bool:
    return bool(found["named"] or found["braced"])


def _find_custom_prompt_file(own: Path | None, metric: str, step: str) -> Path | None:
    if own is None:
        return None
    for path in (own / metric / f"{step}.txt", own / f"{step}.txt"):
        if path.is_file():
            return path
    return None


def _check_holes(path: Path, text: str, holes: Sequence[str]) -> None:
    template = Template(text)
    if not template.is_valid():
        raise ConfigError(f"{path}: a lone $; write $$ for a dollar sign")
    found = set(template.get_identifiers())
    for hole in holes:
        if hole not in found:
            raise ConfigError(f"{path}: the hole ${hole} is missing")
    for hole in sorted(found - set(holes)):
        known = ", ".join(f"${name}" for name in holes) or "none"
        raise ConfigError(f"{path}: ${hole} is not known here; known: {known}; $$ is a dollar sign")


def fence_text(kind: str, name: str, text: str) -> str:
    """Set a text between marks that it does not contain."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    # Whoever tries long enough finds a text that holds its own eight digits, so then there are more
    # of them. Nobody finds one that holds all.
    digits = next((n for n in range(8, len(digest), 8) if digest[:n] not in text), len(digest))
    mark = digest[:digits]
    return f"<{kind} {name} {mark}>\n{text}\n</{mark}>"


def fence_texts(kind: str, letter: str, texts: Sequence[str], first: int = 0) -> str:
    """Set numbered texts one below the other; `(none)` when there are none."""
    return (
        "\n".join(fence_text(kind, f"{letter}{first + n}", text) for n, text in enumerate(texts))
        or "(none)"
    )


def format_numbered_lines(letter: str, texts: Sequence[str], first: int = 0) -> str:
    """List one-line statements by number; `(none)` when there are none."""
    return (
        "\n".join(f"[{letter}{first + n}] {' '.join(text.split())}" for n, text in enumerate(texts))
        or "(none)"
    )
