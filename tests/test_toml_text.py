"""TOML files that hold anything at all: a sentence with the place, never a traceback."""

import json
from pathlib import Path

import pytest

from faithtui.config import NAMES, load_settings
from faithtui.errors import ConfigError
from faithtui.toml_text import MOST_DEEP, read_toml
from faithtui.tui.keymap.keymap import load_keymap

STRINGS = Path(__file__).parents[1] / "fixtures" / "hostile" / "strings.json"
ALL = [
    each["text"] if each["text"] is not None else each["repeat"] * min(each["times"], 5000)
    for each in json.loads(STRINGS.read_text("utf-8"))["strings"]
]
KEYS = ("review.undo", "app.quit", "review.verdict-elsewhere", "integrity.check", "nonsense")


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("a = 1\nb = 2\n", "b", 2),
        ('# b = 1\n\n"b" = 2', "b", 3),
        ("'review.undo' = 'u'", "review.undo", 1),
        ("[review]\nundo = 'u'\nredo = 'r'", "review.redo", 3),
        ("[a]\nundo = 1\n[b]\nundo = 2", "b.undo", 4),
        ("review . undo = 'u'", "review.undo", 1),
        ("x = 1\nreview = {undo = 'u'}", "review.undo", 2),
        ("[review]\nundo = 'u'", "review", 1),
        ("a = 1", "b", None),
    ],
)
def test_the_line_of_a_name_is_found(
    tmp_path: Path, text: str, name: str, line: int | None
) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text, encoding="utf-8")
    where = read_toml(file).format_file_and_line(name)
    assert where == (str(file) if line is None else f"{file}: line {line}")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"a = " + b"[" * 100_000, "levels deep"),
        (b"a = " + b"{a=" * 50_000, "levels deep"),
        (b"a." * 500 + b"b = 1", "levels deep"),
        (b"a = " + b"[" * MOST_DEEP + b"]" * MOST_DEEP, "levels deep"),
        (b"concurrency = " + b"9" * 5000, "too many digits"),
        (b"concurrency = ", "is not TOML: Invalid value (at"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"a\x00b = 1", "is not TOML"),
        (b"theme = 'a'\ntheme = 'b'", "is not TOML: Cannot overwrite a value"),
    ],
)
def test_what_no_file_should_hold_is_told(tmp_path: Path, raw: bytes, says: str) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(raw)
    with pytest.raises(ConfigError) as settings_error:
        load_settings(file, {})
    with pytest.raises(ConfigError) as keys_error:
        load_keymap("default", file)
    for error in (settings_error, keys_error):
        assert str(error.value).startswith(str(file))
        assert says in str(error.value)


@pytest.mark.thorough
def test_any_text_as_a_value_is_taken_or_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    values = [json.dumps(text) for text in ALL]
    values += ["1", "nan", "-1e400", "[]", "{}", "1979-05-27", "true", '""', '" "']
    taken = 0
    for value in values:
        for name in (*NAMES, *KEYS):
            file.write_bytes(f"# first\n{json.dumps(name)} = {value}".encode(errors="replace"))
            try:
                load_settings(file, {}) if name in NAMES else load_keymap("default", file)
                taken += 1
            except ConfigError as error:
                told = str(error)
                assert told.startswith(f"{file}: line 2: ") or "is not TOML" in told
                assert len(told) < len(str(file)) + 500
    assert taken > len(ALL)


def test_any_text_as_a_name_is_refused_in_short(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    for text in ALL:
        file.write_bytes(f"{json.dumps(text)} = 1".encode(errors="replace"))
        for load in (lambda: load_settings(file, {}), lambda: load_keymap("default", file)):
            with pytest.raises(ConfigError) as raised:
                load()
            assert str(raised.value).startswith(str(file))
            assert len(str(raised.value)) < len(str(file)) + 500
