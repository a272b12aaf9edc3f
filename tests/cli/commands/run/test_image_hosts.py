"""`faithtui run --allow-image-host`: nothing is sent before somebody allowed it."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.judges.fake_server import answering_server


def pictures(folder: Path) -> Path:
    """Write three conversations: an image at a public host, one in a private network, none."""
    path = folder / "pictures.jsonl"
    lines = []
    for key, images in (
        ("far", [{"url": "https://cdn.example.com/a.png"}]),
        ("near", [{"url": "http://10.0.0.7/a.png"}]),
        ("none", []),
    ):
        asked = {"role": "user", "content": f"What does {key} say?", "images": images}
        said = {"role": "assistant", "content": f"{key} says it.", "retrieval_context": [f"{key}."]}
        lines.append(json.dumps({"id": key, "turns": [asked, said]}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def words(tmp_path: Path, cli: Cli) -> list[str]:
    store = tmp_path / "s.db"
    assert cli("import", pictures(tmp_path), "--store", store).code == 0
    return ["--store", str(store), "--judge", "vllm:w"]


def test_nothing_is_sent_before_a_host_is_allowed(cli: Cli, words: list[str]) -> None:
    with answering_server() as server:
        for more in ((), ("--preview",), ("--batch",), ("--allow-image-host", "example.com")):
            found = cli("run", *words, "--base-url", server.url, *more)
            assert found.code == 2, found.err
            assert server.sent == []
    found = cli("run", *words)
    assert "1 conversation has images at cdn.example.com" in found.err
    assert "--allow-image-host cdn.example.com" in found.err
    assert cli("run", *words, "--allow-image-host", "a b").err == (
        "error: --allow-image-host is `a b`; expected a host such as cdn.example.com, or *\n"
    )


@pytest.mark.parametrize("host", ["10.0.0.1", "127.1", "localhost", "[fe80::1]", "169.254.169.254"])
def test_a_private_host_is_not_allowed_by_name(cli: Cli, words: list[str], host: str) -> None:
    found = cli("run", *words, "--allow-image-host", host)
    assert found.code == 2
    assert found.err == (
        f"error: --allow-image-host is `{host}`, which is a host of a private network: no judge is "
        "ever sent an address there; import its images themselves, as `path` or `base64`\n"
    )


@pytest.mark.parametrize("by_settings", [False, True])
def test_what_is_allowed_is_sent_and_what_is_private_never(
    tmp_path: Path, cli: Cli, words: list[str], by_settings: bool
) -> None:
    allowed = ["--allow-image-host", "cdn.example.com"]
    if by_settings:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text('image_hosts = ["cdn.example.com"]')
        allowed = []
    preview = cli("run", *words, *allowed, "--preview")
    assert "1 conversation has an image whose address leads into a private network" in preview.out
    with answering_server() as server:
        found = cli("run", *words, "--base-url", server.url, *allowed)
        assert server.sent
    assert "run 1: 1 conversation has an image whose address leads into a private" in found.err
    assert found.code == 5
    shown = cli("show", "1", "--store", words[1])
    assert "leads into a private network (10.0.0.7), and no judge is sent it" in shown.out
