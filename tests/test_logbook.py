import io
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui import logbook
from faithtui.logbook import LOG_FILE, PROMPTS_FILE, close_log, make_secret_filter, open_log

RUN = logging.getLogger("faithtui.run")
PROMPTS = logging.getLogger(logbook.PROMPTS)
KEY = "a1b2c3d4-no-known-form"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A folder that is not there yet; the log of this process is closed again."""
    yield tmp_path / "deep" / "logs"
    close_log()


def text(directory: Path, name: str = LOG_FILE) -> str:
    return (directory / name).read_text(encoding="utf-8")


def test_nothing_is_made_before_the_first_line(directory: Path) -> None:
    open_log(directory, environ={})
    assert not directory.exists()
    RUN.info("run %d: started", 3)
    assert text(directory).endswith(" INFO run 3: started\n")


def test_only_its_owner_may_read_it(directory: Path) -> None:
    open_log(directory, environ={})
    RUN.info("here")
    assert stat.S_IMODE((directory / LOG_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "line",
    [
        f"answered 401: bad key {KEY}",
        "answered 401: Incorrect API key sk-proj-0123456789",
        "Authorization: Bearer eyJhbGciOi",
        "no answer from http://ann:hunter2@gpu.example/v1",
    ],
)
def test_no_key_gets_into_it(directory: Path, line: str) -> None:
    open_log(directory, environ={"ACME_API_KEY": f" {KEY} ", "HOME": "/home/ann"})
    RUN.warning("%s", line)
    RUN.warning(line.replace("%", "%%"))
    written = text(directory)
    for secret in (KEY, "sk-proj-0123456789", "eyJhbGciOi", "hunter2"):
        assert secret not in written
    assert written.count("[hidden]") == 2


def test_a_short_value_or_one_of_another_variable_is_no_key() -> None:
    hide = make_secret_filter({"OPENAI_API_KEY": "none", "EDITOR": "/usr/bin/vim-basic"})
    assert hide.redact_line("none of it, /usr/bin/vim-basic") == "none of it, /usr/bin/vim-basic"


def test_a_line_stays_one_line(directory: Path) -> None:
    open_log(directory, environ={})
    RUN.info("first\n2026-01-01T00:00:00.000Z 1 INFO forged\x1b[2J\u2028end")
    assert text(directory).count("\n") == 1
    assert "\\n2026" in text(directory)
    assert "\x1b" not in text(directory)


def raise_it() -> None:
    raise KeyError("what Ann asked")


def test_a_traceback_is_its_class_alone(directory: Path) -> None:
    open_log(directory, environ={})
    try:
        raise_it()
    except KeyError:
        RUN.exception("it broke")
    assert text(directory).endswith("it broke (KeyError)\n")


def test_others_do_not_get_into_it_and_get_nothing_of_it(directory: Path) -> None:
    elsewhere = io.StringIO()
    listener = logging.StreamHandler(elsewhere)
    logging.getLogger().addHandler(listener)
    try:
        open_log(directory, environ={})
        RUN.info("ours")
        for name in ("openai", "anthropic", "httpx2", "other"):
            logging.getLogger(name).error("a whole prompt")
    finally:
        logging.getLogger().removeHandler(listener)
    assert "prompt" not in text(directory)
    assert "ours" not in elsewhere.getvalue()


def test_prompts_go_into_a_file_of_their_own_and_only_on_demand(directory: Path) -> None:
    open_log(directory, environ={})
    PROMPTS.info("what was asked")
    RUN.info("started")
    assert not (directory / PROMPTS_FILE).exists()
    open_log(directory, prompts=True, environ={"X_KEY": "12345678"})
    PROMPTS.info("what was asked, with 12345678")
    assert text(directory, PROMPTS_FILE).endswith("what was asked, with [hidden]\n")
    assert "what was asked" not in text(directory)
    open_log(directory, environ={})
    PROMPTS.info("again")
    assert "again" not in text(directory, PROMPTS_FILE)


@pytest.mark.thorough
def test_it_goes_round_and_keeps_a_bounded_number_of_files(directory: Path) -> None:
    open_log(directory, environ={})
    for _ in range(90):
        RUN.info("x" * 100_000)
    files = sorted(path.name for path in directory.iterdir())
    assert files == [LOG_FILE, *(f"{LOG_FILE}.{number}" for number in range(1, 6))]
    assert all(path.stat().st_size <= logbook.MOST_BYTES for path in directory.iterdir())


def test_a_log_that_cannot_be_written_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    open_log(tmp_path / "file" / "logs", environ={})
    RUN.info("lost")
    close_log()
    assert capsys.readouterr() == ("", "")
