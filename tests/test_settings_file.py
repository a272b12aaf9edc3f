"""Writing one setting: comments stay, nothing wrong is written, nothing is half written."""

from pathlib import Path

import pytest

from faithtui.config import SettingOrigin, Settings, load_settings, load_settings_with_origins
from faithtui.errors import ConfigError
from faithtui.settings_file import (
    parse_typed_value,
    preview_setting,
    write_setting_and_reload_settings,
)

BEFORE = '# mine\njudge = "offline"  # for now\n\n# how many\nconcurrency = 4\n'


def test_a_value_changes_and_everything_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(BEFORE, "utf-8")
    configured = write_setting_and_reload_settings(file, "concurrency", 16, {})
    assert configured.settings.concurrency == 16
    assert file.read_text("utf-8") == BEFORE.replace("= 4", "= 16")
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_the_file_and_its_folder_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    write_setting_and_reload_settings(file, "keys", "vim", {})
    assert load_settings(file, {}).keys == "vim"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text(BEFORE, "utf-8")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    write_setting_and_reload_settings(link, "blind", False, {})
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert load_settings(real, {}).blind is False


def test_taking_a_value_out_brings_the_default_back(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(BEFORE, "utf-8")
    configured = write_setting_and_reload_settings(file, "concurrency", None, {})
    assert (configured.settings.concurrency, configured.origins["concurrency"]) == (
        8,
        SettingOrigin.DEFAULT,
    )
    assert "# how many" in file.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concurrency", 0),
        ("audit_share", 1.5),
        ("audit_share", float("nan")),
        ("keys", "emacs"),
        ("judge", "  "),
        ("base_url", "ftp://x"),
        ("api_key", "sk-1"),
        ("colour", "red"),
    ],
)
def test_a_wrong_value_is_refused_in_the_words_of_reading_and_not_written(
    tmp_path: Path, name: str, value: str | int | float
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(BEFORE, "utf-8")
    with pytest.raises(ConfigError) as refused:
        write_setting_and_reload_settings(file, name, value, {"FAITHTUI_KEYS": "vim"})
    assert file.read_text("utf-8") == BEFORE
    bad = tmp_path / "bad.toml"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    bad.write_text(f"{name} = {text}\n", "utf-8")
    with pytest.raises(ConfigError) as read:
        load_settings(bad, {})
    told = str(read.value).replace(f"{bad}: line 1", "F")
    assert str(refused.value).replace(str(file), "F") == told


def test_a_variable_still_goes_before_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    configured = write_setting_and_reload_settings(file, "keys", "vim", {"FAITHTUI_KEYS": "digits"})
    assert configured.settings.keys == "digits"
    assert configured.describe_origin("keys") == "FAITHTUI_KEYS"
    assert configured.describe_origin("judge") == "default"
    assert load_settings_with_origins(file, {}).describe_origin("keys") == "file"


def test_checking_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert preview_setting(file, "keys", "vim", {}).settings.keys == "vim"
    assert not file.exists()


@pytest.mark.parametrize(
    ("content", "words"), [(b"a = \xff", "is not UTF-8"), (b"a =", "is not TOML")]
)
def test_a_broken_file_is_left_alone(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        write_setting_and_reload_settings(file, "keys", "vim", {})
    assert file.read_bytes() == content


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        write_setting_and_reload_settings(tmp_path / "config.toml", "keys", "vim", {})


@pytest.mark.parametrize(
    ("name", "text", "now", "value"),
    [
        ("concurrency", " 4 ", 8, 4),
        ("audit_share", "0.5", 0.2, 0.5),
        ("audit_share", "1", 0.2, 1.0),
        ("blind", "False", True, False),
        ("ascii", "true", None, True),
        ("judge", "openai:x", "offline", "openai:x"),
        ("judge", "  ", "offline", None),
    ],
)
def test_what_is_typed_becomes_the_kind_of_the_setting(
    name: str, text: str, now: object, value: object
) -> None:
    assert parse_typed_value(name, text, now) == value


@pytest.mark.parametrize(
    ("name", "text", "now"),
    [("concurrency", "4.5", 8), ("audit_share", "much", 0.2), ("blind", "perhaps", True)],
)
def test_what_is_of_another_kind_is_refused(name: str, text: str, now: object) -> None:
    with pytest.raises(ConfigError, match=f"`{name}` is not valid; expected "):
        parse_typed_value(name, text, now)


def test_a_list_is_typed_with_commas(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    value = parse_typed_value("image_hosts", " cdn.example.com, img.example.org ,", ())
    assert value == ["cdn.example.com", "img.example.org"]
    configured = write_setting_and_reload_settings(file, "image_hosts", value, {})
    assert configured.settings.image_hosts == ("cdn.example.com", "img.example.org")
    assert 'image_hosts = ["cdn.example.com", "img.example.org"]' in file.read_text()
    with pytest.raises(ConfigError, match="image_hosts"):
        write_setting_and_reload_settings(file, "image_hosts", ["https://a.example"], {})
    assert write_setting_and_reload_settings(
        file, "image_hosts", parse_typed_value("image_hosts", "", ()), {}
    ).settings == (Settings(reviewer=configured.settings.reviewer, store=configured.settings.store))


def test_parameters_of_judges_are_typed_as_json_and_written_as_a_table(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    value = parse_typed_value("judges", '{"openai:m": {"temperature": 0.2}}', {})
    settings = write_setting_and_reload_settings(file, "judges", value, {}).settings
    assert settings.judges == {"openai:m": {"temperature": 0.2}}
    assert load_settings(file, {}).judges == settings.judges
    with pytest.raises(ConfigError, match="typed as JSON"):
        parse_typed_value("judges", "temperature=0.2", {})
    with pytest.raises(ConfigError, match="`heat` is no parameter"):
        write_setting_and_reload_settings(file, "judges", {"openai:m": {"heat": 1}}, {})
