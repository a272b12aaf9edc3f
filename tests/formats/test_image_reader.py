"""Images of an import: what is read, what is only kept, and everything that is refused."""

import base64
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Document, Image
from faithtui.errors import InputError
from faithtui.formats import image_reader
from faithtui.formats.image_reader import (
    MAX_IMAGES,
    image_from_address,
    image_from_base64,
    image_from_bytes,
    read_image,
)
from faithtui.formats.readers.conversation_files import read_conversation_records
from faithtui.formats.readers.conversation_json import conversation_from_json
from faithtui.formats.readers.protocol import ParsedRecord

PNG = b"\x89PNG\r\n\x1a\n pixels"
KINDS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 photo",
    "image/gif": b"GIF89a moving",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
}
ADDRESS = "https://example.org/a.png"


def image_of(data: bytes, media_type: str = "image/png") -> Image:
    return Image(sha256(data).hexdigest(), media_type)


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def line_of(folder: Path, *given: object, documents: object = ()) -> ParsedRecord:
    """Read a file of one conversation whose question has these images."""
    path = folder / "data.jsonl"
    turns = [
        {"role": "user", "content": "Look", "images": list(given)},
        {"role": "assistant", "content": "I see.", "retrieval_context": documents},
    ]
    path.write_text(json.dumps({"id": "a", "turns": turns}), encoding="utf-8")
    [line] = read_conversation_records(path)
    return line


def refusal(folder: Path, *given: object) -> tuple[str | None, str]:
    """Field and reason of a line that must be refused."""
    found = line_of(folder, *given).found
    assert isinstance(found, InputError)
    assert (found.path, found.line) == (folder / "data.jsonl", 1)
    return found.field, found.reason


@pytest.mark.parametrize(("media_type", "data"), KINDS.items())
def test_the_first_bytes_say_what_an_image_is(tmp_path: Path, media_type: str, data: bytes) -> None:
    path = tmp_path / "named-wrongly.txt"
    path.write_bytes(data)
    assert read_image(path) == image_from_bytes(data) == (image_of(data, media_type), data)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_image_are_never_taken_for_one(data: bytes) -> None:
    known = any(data.startswith(each[:3]) for each in KINDS.values())
    if not known:
        with pytest.raises(InputError, match="none of the images"):
            image_from_bytes(data)


def test_images_are_read_from_paths_base64_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "a.png").write_bytes(PNG)
    photo, moving = KINDS["image/jpeg"], KINDS["image/gif"]
    line = line_of(
        tmp_path,
        {"path": "pics/a.png"},
        {"base64": coded(photo), "media_type": "image/JPG"},
        {"url": f"data:image/gif;base64,{coded(moving)}", "alt": "passed over"},
        {"url": ADDRESS},
        {"path": "pics/../pics/a.png", "media_type": "image/png"},
        documents=[
            {"text": "A page.", "source": "a.pdf", "images": [{"path": "pics/a.png"}]},
            {"images": [{"base64": f"data:image/png;base64,{coded(PNG)}"}]},
            {"text": "Words alone.", "images": []},
        ],
    )
    assert not isinstance(line.found, InputError)
    asked, answered = line.found.turns
    far = Image(sha256(ADDRESS.encode()).hexdigest(), "", ADDRESS)
    near = image_of(PNG)
    assert asked.images == (
        near,
        image_of(photo, "image/jpeg"),
        image_of(moving, "image/gif"),
        far,
        near,
    )
    assert answered.retrieval_context == (
        Document("A page.", "a.pdf", (near,)),
        Document("", None, (near,)),
        Document("Words alone."),
    )
    assert line.images == {sha256(each).hexdigest(): each for each in (PNG, photo, moving)}


def test_base64_may_be_broken_into_lines() -> None:
    text = "\n ".join(coded(PNG)[start : start + 4] for start in range(0, 40, 4))
    assert image_from_base64(text) == (image_of(PNG), PNG)


def test_texts_are_never_taken_for_images(tmp_path: Path) -> None:
    """What looks like a path or a placeholder inside a text stays a text."""
    (tmp_path / "pic.png").write_bytes(PNG)
    texts = ["[DEEPEVAL:IMAGE:/etc/hostname]", "![](pic.png)", "pic.png", ADDRESS]
    path = tmp_path / "data.jsonl"
    turns = [
        {"role": "user", "content": " ".join(texts)},
        {"role": "assistant", "content": texts[0], "retrieval_context": texts},
    ]
    path.write_text(json.dumps({"turns": turns, "images": [{"path": "pic.png"}]}))
    [line] = read_conversation_records(path)
    assert not isinstance(line.found, InputError)
    assert line.images == {}
    assert line.found.images == ()
    assert line.found.turns[0].content == " ".join(texts)
    assert line.found.turns[1].retrieval_context == tuple(map(Document, texts))


def test_nothing_outside_the_files_folder_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.png"
    outside.write_bytes(PNG)
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "link.png").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    (folder / "inner" / "up.png").symlink_to(Path("..") / ".." / "secret.png")
    for name in (
        "../secret.png",
        "inner/../../secret.png",
        "link.png",
        "linked/secret.png",
        "inner/up.png",
        str(outside),
        "/etc/hostname",
        "../not-there.png",
    ):
        field, reason = refusal(folder, {"path": name})
        assert field == "turns[0].images[0].path"
        assert "which leads out of the folder of the file; expected a path inside it" in reason


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "link.png").symlink_to("a.png")
    line = line_of(tmp_path, {"path": "link.png"})
    assert list(line.images.values()) == [PNG]


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("folder.png", "pipe.png", "", "."):
        _, reason = refusal(tmp_path, {"path": name})
        assert reason.endswith("which is no regular file")


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ("pic.png", "", 'is "pic.png"; expected an object with one of `path`, `url` and `base64`'),
        ({}, "", "has none; expected exactly one of `path`, `url` and `base64`"),
        (
            {"path": "a", "url": ADDRESS},
            "",
            "has `path`, `url`; expected exactly one of `path`, `url` and `base64`",
        ),
        ({"path": 7}, ".path", "is 7; expected a path inside the folder of the file"),
        ({"path": "a\x00b"}, ".path", 'is "a\ufffdb", which is not there'),
        ({"path": "no.png"}, ".path", 'is "no.png", which is not there'),
        (
            {"path": "data.jsonl"},
            ".path",
            'is "data.jsonl", which is none of the images faithtui knows; expected PNG, JPEG, '
            "GIF or WebP",
        ),
        ({"path": "loop.png"}, ".path", 'is "loop.png", which is not there'),
        (
            {"path": "n" * 300},
            ".path",
            f'is "{"n" * 40}"…, which cannot be read: File name too long',
        ),
        (
            {"base64": "%%%"},
            ".base64",
            "is not base64; expected the image's bytes as base64",
        ),
        (
            {"base64": coded(PNG)[:-1]},
            ".base64",
            "is not base64; expected the image's bytes as base64",
        ),
        (
            {"base64": coded(b"text")},
            ".base64",
            "is none of the images faithtui knows; expected PNG, JPEG, GIF or WebP",
        ),
        (
            {"base64": coded(PNG), "media_type": "image/gif"},
            ".base64",
            "is image/png and said to be 'image/gif'; expected the same",
        ),
        (
            {"base64": f"data:image/gif;base64,{coded(PNG)}", "media_type": "image/png"},
            ".base64",
            "is image/png and said to be 'image/gif'; expected the same",
        ),
        (
            {"base64": coded(PNG), "media_type": 1},
            ".media_type",
            "is 1; expected what the image is, such as `image/png`",
        ),
        (
            {"url": "data:image/png,%89PNG"},
            ".url",
            'is "data:image/png,%89PNG", which is a `data:` URI without base64; expected '
            "`data:image/…;base64,…`",
        ),
        *(
            (
                {"url": url},
                ".url",
                f"is {json.dumps(url)}, which is {what} address{where}; expected an `http` or "
                "`https` address, or a `data:` URI",
            )
            for url, what, where in (
                ("file:///etc/hostname", "no", " of the web"),
                ("ftp://example.org/a.png", "no", " of the web"),
                ("/etc/hostname", "no", " of the web"),
                ("https:///a.png", "no", " of the web"),
                ("http://[::1/a.png", "no", ""),
            )
        ),
        (
            {"url": "https://example.org/a b"},
            ".url",
            'is "https://example.org/a b", which holds spaces, backslashes or control characters; '
            "expected an `http` or `https` address, or a `data:` URI",
        ),
        (
            {"url": "https://loca%6chost/a.png"},
            ".url",
            'is "https://loca%6chost/a.png", which has a host that is no name and no number; '
            "expected an `http` or `https` address, or a `data:` URI",
        ),
        *(
            (
                {"url": f"https://{user}images.example/a.png{query}"},
                ".url",
                f'is "{shown}images.example/a.png", which holds a password, a key or a signature, '
                "which are never stored; expected a public address, or the image itself as `path` "
                "or `base64`",
            )
            for user, query, shown in (
                ("ann:hunter2@", "", "…@"),
                ("hunter2@", "?size=2", "…@"),
                ("", "?X-Amz-Signature=hunter2", "https://"),
                ("", "?size=2&sig=hunter2", "https://"),
                ("", "#access_token=hunter2", "https://"),
            )
        ),
    ],
)
def test_what_is_no_image_is_refused_with_its_field(
    tmp_path: Path, given: object, field: str, reason: str
) -> None:
    (tmp_path / "loop.png").symlink_to("loop.png")
    assert refusal(tmp_path, {"url": ADDRESS}, given) == (f"turns[0].images[1]{field}", reason)


def test_the_image_of_a_document_is_named_by_its_field(tmp_path: Path) -> None:
    bad = {"text": "A page.", "images": [{"path": "no.png"}]}
    found = line_of(tmp_path, documents=["first", bad]).found
    assert isinstance(found, InputError)
    assert found.field == "turns[1].retrieval_context[1].images[0].path"


def test_an_unreadable_file_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(PNG)

    def denied(path: Path, mode: str) -> object:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", denied)
        with pytest.raises(InputError, match=r"a\.png: cannot be read: Permission denied"):
            read_image(tmp_path / "a.png")


def test_an_image_may_be_so_large_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_reader, "MAX_BYTES", 2**20)
    just = PNG + bytes(2**20 - len(PNG))
    (tmp_path / "just.png").write_bytes(just)
    (tmp_path / "more.png").write_bytes(just + b"!")
    assert len(line_of(tmp_path, {"path": "just.png"}, {"base64": coded(just)}).images) == 1
    for large in (
        {"path": "more.png"},
        {"base64": coded(just + b"!")},
        {"base64": "A" * (2**21 + 4)},
    ):
        assert refusal(tmp_path, large)[1].endswith("is larger than 1 MB; make it smaller")


def test_a_conversation_has_so_many_different_images_and_no_more(tmp_path: Path) -> None:
    many = [{"base64": coded(PNG + bytes([number]))} for number in range(MAX_IMAGES)]
    again = [*many, *many, many[0]]
    assert len(line_of(tmp_path, *again).images) == MAX_IMAGES
    field, reason = refusal(tmp_path, *again, {"url": ADDRESS})
    assert field == f"turns[0].images[{len(again)}].url"
    assert reason.endswith(f"is one too many; expected at most {MAX_IMAGES} in a conversation")


def test_without_a_file_there_is_no_folder_to_look_in() -> None:
    found = {"turns": [{"role": "user", "content": "", "images": [{"path": "a.png"}]}]}
    with pytest.raises(InputError, match="there is no folder to find it in; expected base64"):
        conversation_from_json(found, source="x")


@pytest.mark.parametrize(
    ("folder", "name", "why"),
    [
        ("not-there", "a.png", "cannot be read: No such file or directory"),
        # Pythons differ in how they put it.
        (".", "a\0.png", "(cannot be read: .*embedded null.*|is not there)"),
    ],
)
def test_a_folder_or_a_name_that_leads_nowhere_says_why(
    tmp_path: Path, folder: str, name: str, why: str
) -> None:
    found = {"turns": [{"role": "user", "content": "", "images": [{"path": name}]}]}
    with pytest.raises(InputError, match=rf"which {why}$"):
        conversation_from_json(found, source="x", path=tmp_path / folder / "data.jsonl")


def test_an_address_is_known_by_itself_and_never_fetched() -> None:
    assert image_from_address("HTTP://example.org/ä.png").url == "HTTP://example.org/ä.png"
    assert image_from_address(ADDRESS) == image_from_address(ADDRESS)
    assert image_from_address(ADDRESS).sha256 != image_from_address(ADDRESS + "?2").sha256
    with pytest.raises(InputError, match="is no address"):
        image_from_address("https://example.org/\ud800")
