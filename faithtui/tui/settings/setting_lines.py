"""Lines of the settings: each value, where it comes from, and what it does."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faithtui.config import (
    SettingOrigin,
    SettingsWithOrigins,
    describe_allowed_setting,
    find_environment_variable,
)
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, fit_text, make_line, wrap


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """Settings that belong together."""

    title: str
    names: tuple[str, ...]
    """Names of the settings; may be none."""


SECTIONS = (
    SettingsSection(
        "Judge",
        (
            "judge",
            "base_url",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "timeout_s",
            "prices",
            "redact",
            "image_hosts",
            "judges",
            "max_failures",
        ),
    ),
    SettingsSection("Review", ("reviewer", "blind", "auto_advance", "timer")),
    SettingsSection("Sampling", ("audit_share",)),
    SettingsSection("Keys", ("keys",)),
    SettingsSection("Theme", ("theme", "ascii")),
    SettingsSection("Storage", ("store",)),
    SettingsSection("Privacy", ()),
    SettingsSection("About", ()),
)
"""All sections, in the order of the screen."""

MEANINGS: Mapping[str, str] = {
    "judge": "Who judges when a new run names nobody: provider:model.",
    "base_url": "Address of an OpenAI-compatible server; unset: the provider's own.",
    "concurrency": "Questions in flight at once.",
    "max_failures": "A run stops after so many questions that failed alike in a row, such as 10, "
    "or above this share of its conversations that failed, such as 5%.",
    "requests_per_minute": "Most requests to one account; unset: as many as the provider takes.",
    "tokens_per_minute": "Most tokens to one account; unset: as many as the provider takes.",
    "timeout_s": "Seconds one question may take; unset: 120, and 30 for a try of the judge.",
    "prices": "A price table of your own, which counts before those of genai-prices.",
    "redact": "Python function that every text goes through before it leaves this machine.",
    "image_hosts": "Hosts whose images a judge may be sent by address, which its provider then "
    "fetches; typed with commas between them.",
    "judges": "Parameters of each judge: temperature, top_p, seed, reasoning_effort, max_tokens, "
    "timeout_s, extra_body, extra_headers; * is for all. Typed as JSON, or written in the file.",
    "reviewer": "Whose verdicts yours are. Counts from the next start.",
    "blind": "New queues hide the judge until a claim has your verdict.",
    "auto_advance": "A verdict goes on to the next claim.",
    "timer": "Review shows the seconds a claim takes you and the time that is left.",
    "audit_share": "Share of the claims of a blind sample that show the judge, drawn at random, so "
    "that its influence on annotators can be measured.",
    "keys": "Key map to begin with; keymap.toml beside the settings goes on top of it.",
    "theme": "Colours. Every verdict is a letter too, so none of them is needed.",
    "ascii": "Draw with ASCII alone; unset: where the terminal's encoding is not UTF-8.",
    "store": "The file with everything in it. Counts from the next start.",
}
"""What each setting does."""


TITLES: Mapping[str, str] = {
    "judge": "judge",
    "base_url": "server address",
    "concurrency": "questions at once",
    "max_failures": "stop after failures",
    "requests_per_minute": "requests a minute",
    "tokens_per_minute": "tokens a minute",
    "timeout_s": "seconds a question",
    "prices": "price table",
    "redact": "redaction",
    "image_hosts": "image hosts",
    "judges": "judge parameters",
    "reviewer": "your name",
    "blind": "blind queues",
    "auto_advance": "advance by itself",
    "timer": "show pace",
    "audit_share": "share shown judge",
    "keys": "key map",
    "theme": "colours",
    "ascii": "ASCII alone",
    "store": "store",
}
"""What each setting is called on the screen."""
CHOICE_WORDS: Mapping[tuple[str, str], str] = {
    ("blind", "true"): "on: the judge is hidden",
    ("blind", "false"): "off: the judge is shown",
    ("auto_advance", "true"): "on",
    ("auto_advance", "false"): "off: stay with the claim",
    ("timer", "true"): "on",
    ("timer", "false"): "off",
    ("ascii", "true"): "on",
    ("ascii", "false"): "off",
    ("ascii", ""): "as the terminal needs",
}
"""What the choices of a setting are called; others as they are."""
_NAME = 20
"""Cells of the names."""


@dataclass(frozen=True, slots=True)
class SettingsFacts:
    """What is so and cannot be set here."""

    store: Path
    version: str
    """faithtui's own, and Python's."""
    size: int | None = None
    """Bytes of the store; None: it is not there."""
    wal: int | None = None
    """Bytes of its write-ahead log; None: there is none."""
    schema: str = ""
    """Revision of the store's tables; "" until it is open."""
    problems: tuple[str, ...] | None = None
    """Problems that the check found; None: it was not run."""
    keymap: Path = field(default_factory=Path)
    keymap_ids: tuple[str, ...] = ()
    """Ids that the user's key map changes."""
    keys: KeyNames = field(default_factory=lambda: KeyNames({}))
    """What keys are called."""
    trial: tuple[bool, str] | None = None
    """Whether the judge worked when it was tried, and what there is to say; None: not tried."""


def section_lines(_width: int) -> list[Line]:
    """List the sections, one row each."""
    return [
        make_line(Piece(f" {section.title}"), row=number) for number, section in enumerate(SECTIONS)
    ]


def value_lines(
    section: SettingsSection,
    configured: SettingsWithOrigins | None,
    facts: SettingsFacts,
    width: int,
) -> list[Line]:
    """Draw the values of a section, one row each, and what is known besides."""
    lines: list[Line] = [BLANK]
    if section.title == "Judge":
        lines += [*_judge_trial_lines(facts, width), BLANK]
    for number, name in enumerate(section.names):
        lines += _setting_lines(name, configured, width, number)
    return lines + _section_fact_lines(section, facts, width)


def format_setting_value(configured: SettingsWithOrigins, name: str) -> str:
    """Write a value as users type it; "" for none."""
    value = getattr(configured.settings, name)
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, Mapping):
        return json.dumps(value) if value else ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_choice(name: str, value: str) -> str:
    """Say what a value of a setting means, as it is typed; "" is unset."""
    return CHOICE_WORDS.get((name, value), value or "unset")


def _setting_lines(
    name: str, configured: SettingsWithOrigins | None, width: int, number: int
) -> list[Line]:
    if configured is None:
        return [
            make_line(
                Piece(f" {TITLES[name]:<{_NAME}}", "strong"),
                Piece("not known here", "quiet"),
                row=number,
            )
        ]
    text = format_setting_value(configured, name)
    origin = configured.origins[name]
    where = configured.describe_origin(name)
    named = f" {TITLES[name]:<{_NAME}}"
    room = max(8, width - len(named) - 1 - len(where) - 2)
    value = escape_line(describe_choice(name, text), "" if text else "quiet")
    head = make_line(
        Piece(named, "strong"),
        Piece(fit_text(value.text, room), value.look),
        Piece(f" {where}", "quiet" if origin is SettingOrigin.DEFAULT else "human"),
        row=number,
    )
    words = MEANINGS[name]
    takes = "" if has_choices(name) else f" Takes {describe_allowed_setting(name)}."
    if origin is SettingOrigin.ENVIRONMENT:
        takes += f" {find_environment_variable(name)} goes before the file."
    takes += f" In the file: {name}."
    indent = [Piece(" " * (_NAME + 1))]
    return [
        head,
        *wrap([Piece(words, "quiet"), Piece(takes, "quiet")], width - 1, first=indent),
        BLANK,
    ]


def _section_fact_lines(section: SettingsSection, facts: SettingsFacts, width: int) -> list[Line]:
    match section.title:
        case "Storage":
            return _storage_lines(facts, width)
        case "Keys":
            return _own_keymap_lines(facts, width)
        case "Privacy":
            return _paragraph_lines(
                width,
                "Nothing leaves this machine but the questions to the judge you chose. There is "
                "no telemetry.",
                "Keys are read from the environment or the system's keyring when a judge is "
                "opened. They are never written to the settings, the store, a report or a log.",
                "The offline judge asks nobody.",
            )
        case "About":
            return _paragraph_lines(
                width, facts.version, "Apache-2.0. faithtui --help lists the commands."
            )
    return []


def _judge_trial_lines(facts: SettingsFacts, width: int) -> list[Line]:
    """Say what came of trying the judge."""
    indent = [Piece(f" {'tried':<{_NAME}}", "quiet")]
    if facts.trial is None:
        words = "{settings.test-judge} asks it two small questions"
        return [make_line(*indent, *facts.keys.fill_in_keys_as_pieces(words))]
    works, sentence = facts.trial
    return wrap([escape_line(sentence, "good" if works else "bad")], width - 1, first=indent)


def _storage_lines(facts: SettingsFacts, width: int) -> list[Line]:
    rows = [
        ("open now", escape_line(fmt.format_path(facts.store))),
        ("size", Piece("not there yet" if facts.size is None else _format_bytes(facts.size))),
        ("WAL", Piece("none" if facts.wal is None else f"{_format_bytes(facts.wal)} beside it")),
        ("schema", Piece(facts.schema or "not open")),
    ]
    lines = [make_line(Piece(f" {name:<{_NAME}}", "quiet"), value) for name, value in rows]
    if facts.problems is None:
        lines.append(
            make_line(
                Piece(f" {'check':<{_NAME}}", "quiet"),
                *facts.keys.fill_in_keys_as_pieces("{settings.check} runs it"),
            )
        )
    elif not facts.problems:
        lines.append(make_line(Piece(f" {'check':<{_NAME}}", "quiet"), Piece("sound", "good")))
    for problem in facts.problems or ():
        lines += wrap(
            [escape_line(problem, "bad")], width - 1, first=[Piece(f" {'check':<{_NAME}}")]
        )
    return lines


def _own_keymap_lines(facts: SettingsFacts, width: int) -> list[Line]:
    indent = [Piece(f" {'keymap.toml':<{_NAME}}", "quiet")]
    path = escape_line(fmt.format_path(facts.keymap))
    if not facts.keymap_ids:
        words = " is not there or changes nothing. A line in it reads"
        return [
            *wrap([path, Piece(words, "quiet")], width - 1, first=indent),
            make_line(Piece(" " * (_NAME + 1)), Piece('"review.undo" = "u,ctrl+z"', "human")),
            make_line(
                Piece(" " * (_NAME + 1)),
                Piece("faithtui keys", "human"),
                Piece(" lists all ids", "quiet"),
            ),
        ]
    ids = Piece(" changes " + " ".join(facts.keymap_ids), "quiet")
    return wrap([path, ids], width - 1, first=indent)


def _paragraph_lines(width: int, *texts: str) -> list[Line]:
    lines: list[Line] = []
    for text in texts:
        lines += [*wrap([Piece(text)], width - 1, first=[Piece(" ")]), BLANK]
    return lines


def _format_bytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 2**10:.0f} kB"


def has_choices(name: str) -> bool:
    """Whether a setting is chosen from a list, and not typed."""
    return bool(list_choices(name, ("dark",), ("default",)))


def list_choices(name: str, themes: Sequence[str], presets: Sequence[str]) -> tuple[str, ...]:
    """List what a setting can be chosen from; () where it is typed."""
    return {
        "keys": tuple(presets),
        "theme": tuple(themes),
        "blind": ("true", "false"),
        "auto_advance": ("true", "false"),
        "timer": ("true", "false"),
        "ascii": ("true", "false", ""),
    }.get(name, ())
