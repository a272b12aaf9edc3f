"""Settings come from the environment, then the file, then the defaults; faults are named."""

from pathlib import Path

import pytest

from faithtui.config import Settings, get_login_name, load_settings
from faithtui.errors import ConfigError


def write(directory: Path, text: str) -> Path:
    path = directory / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_that_is_not_there_is_all_defaults(tmp_path: Path) -> None:
    settings = load_settings(environment={"FAITHTUI_HOME": str(tmp_path)})
    assert settings == Settings(
        judge="offline",
        base_url=None,
        concurrency=8,
        reviewer=get_login_name(),
        theme=None,
        store=tmp_path / "faithtui.db",
    )


def test_the_file_goes_before_the_defaults(tmp_path: Path) -> None:
    write(
        tmp_path,
        'judge = "openai:gpt-4o"\nbase_url = "http://127.0.0.1:11434/v1"\nconcurrency = 2\n'
        'reviewer = "ann"\ntheme = "textual-light"\nstore = "/data/project.db"\n',
    )
    assert load_settings(environment={"FAITHTUI_HOME": str(tmp_path)}) == Settings(
        judge="openai:gpt-4o",
        base_url="http://127.0.0.1:11434/v1",
        concurrency=2,
        reviewer="ann",
        theme="textual-light",
        store=Path("/data/project.db"),
    )


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'judge = "openai:a"\nreviewer = "ann"\nstore = "/data/a.db"\n')
    settings = load_settings(
        path,
        {
            "FAITHTUI_JUDGE": "anthropic:b",
            "FAITHTUI_REVIEWER": "ben",
            "FAITHTUI_STORE": "/data/b.db",
        },
    )
    assert (settings.judge, settings.reviewer) == ("anthropic:b", "ben")
    assert settings.store == Path("/data/b.db")


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    path = write(tmp_path, 'reviewer = "ann"\n')
    assert load_settings(path, {"FAITHTUI_REVIEWER": ""}).reviewer == "ann"


def test_a_key_in_the_environment_chooses_no_judge(tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": "sk-not-a-key", "FAITHTUI_HOME": str(tmp_path)}
    assert load_settings(environment=environment).judge == "offline"


def test_the_store_may_be_below_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(tmp_path, 'store = "~/project.db"\n')
    assert load_settings(path, {}).store == tmp_path / "project.db"


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeffreviewer = "ann"\n')
    assert load_settings(path, {}).reviewer == "ann"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("concurency = 2", "`concurency` is not a setting; expected `judge`, `base_url`, `conc"),
        ("[openai]\nmodel = 'x'", "`openai` is not a setting"),
        ("concurrency = '2'", "`concurrency` is not valid; expected a whole number from 1 to 256"),
        ("concurrency = 0", "`concurrency` is not valid"),
        ("concurrency = 1.5", "`concurrency` is not valid"),
        ("concurrency = true", "`concurrency` is not valid"),
        ("judge = 3", '`judge` is not valid; expected a judge such as "offline"'),
        ("judge = ''", "`judge` is not valid"),
        ("reviewer = ' '", "`reviewer` is not valid; expected a name that is not empty"),
        ("theme = []", "`theme` is not valid; expected the name of a theme"),
        ("store = 1", "`store` is not valid; expected the path of a store"),
        ("base_url = 'localhost:11434'", "`base_url` is not valid; expected an address that"),
        ("base_url = 'ftp://host'", "`base_url` is not valid"),
        ("base_url = 'http://'", "`base_url` is not valid"),
        ("base_url = 'http://[half'", "`base_url` is not valid"),
        ("judge = ", "is not TOML"),
    ],
)
def test_a_fault_names_the_file_the_key_and_what_is_allowed(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = write(tmp_path, line)
    with pytest.raises(ConfigError) as raised:
        load_settings(path, {})
    assert str(raised.value).startswith(str(path))
    assert reason in str(raised.value)


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^FAITHTUI_REVIEWER is not valid; expected a name"):
        load_settings(Path("none.toml"), {"FAITHTUI_REVIEWER": " "})


@pytest.mark.parametrize(
    "line",
    [
        "api_key = 'hunter2'",
        "apikey = 'hunter2'",
        "OPENAI_API_KEY = 'hunter2'",
        "[openai]\napi_key = 'hunter2'",
        "token = 'hunter2'",
        "password = 'hunter2'",
        "client-secret = 'hunter2'",
    ],
)
def test_secrets_are_refused_with_the_way_out_and_never_shown(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="set the provider's environment variable") as raised:
        load_settings(write(tmp_path, line), {})
    assert "hunter2" not in str(raised.value)


def test_a_password_in_an_address_is_refused_and_never_shown(tmp_path: Path) -> None:
    path = write(tmp_path, "base_url = 'https://ann:hunter2@example.org/v1'")
    with pytest.raises(ConfigError, match="holds no password") as raised:
        load_settings(path, {})
    assert "hunter2" not in str(raised.value)
    assert raised.value.__context__ is None


def test_hosts_of_images_are_named_one_way(tmp_path: Path) -> None:
    path = write(tmp_path, "image_hosts = ['CDN.example.com.', 'bücher.example', '*']")
    hosts = ("cdn.example.com", "xn--bcher-kva.example", "*")
    assert load_settings(path, {}).image_hosts == hosts


@pytest.mark.parametrize("value", ["'cdn.example.com'", "['https://a.example']", "[1]", "['']"])
def test_what_are_no_hosts_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="`image_hosts` is not valid; expected a list of hosts"):
        load_settings(write(tmp_path, f"image_hosts = {value}"), {})


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "127.1", "localhost", "[fe80::1]", "169.254.169.254", "nas.lan"]
)
def test_a_host_of_a_private_network_is_refused_with_its_place(tmp_path: Path, host: str) -> None:
    path = write(tmp_path, f"blind = true\nimage_hosts = ['cdn.example.com', '{host}']")
    with pytest.raises(ConfigError) as raised:
        load_settings(path, {})
    assert str(raised.value) == (
        f"{path}: line 2: `image_hosts` holds `{host}`, which is a host of a private network: no "
        "judge is ever sent an address there; import its images themselves, as `path` or `base64`"
    )


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'reviewer = "caf\xe9"')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_settings(path, {})


def test_a_directory_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("error", [KeyError, OSError, ImportError])
def test_without_a_login_name_the_reviewer_is_me(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", unknown)
    assert get_login_name() == "me"


@pytest.mark.parametrize(
    ("table", "line", "said"),
    [
        ('[judges."openai:m"]\nheat = 1', 2, "`heat` is no parameter of a judge"),
        ('[judges."openai:m"]\ntemperature = 3', 2, "temperature is not valid; expected a number"),
        ('[judges."openai:m"]\napi_key = "hunter2"', 2, "`api_key` is no parameter of a judge"),
        (
            '[judges."openai:m"]\nextra_headers = { "X-Api-Key" = "hunter2" }',
            2,
            "X-Api-Key looks like a secret",
        ),
        ('judges = { "openai:m" = 3 }', 2, "`judges.openai:m` is not valid"),
        ("judges = 3", 2, "`judges` is not valid"),
    ],
)
def test_parameters_of_judges_are_checked_with_their_place_and_no_secret_is_repeated(
    tmp_path: Path, table: str, line: int, said: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"# mine\n{table}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_settings(file, {})
    assert f"line {line}" in str(raised.value)
    assert said in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_parameters_of_judges_are_read_by_judge(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[judges."*"]\nseed = 1\n[judges."openai:m"]\ntemperature = "unset"\n'
        'extra_headers = { "X-Api-Key" = "$KEY" }\n',
        encoding="utf-8",
    )
    assert load_settings(file, {}).judges == {
        "*": {"seed": 1},
        "openai:m": {"temperature": "unset", "extra_headers": {"X-Api-Key": "$KEY"}},
    }
