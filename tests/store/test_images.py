"""Images: stored once by content, handed out by their hash, shown with their turn or document."""

from dataclasses import replace
from hashlib import sha256

import pytest

from faithtui.domain.claims.verdicts import Assessment, Claim, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Image, Passage, Span, Turn
from faithtui.domain.ids import ConversationId
from faithtui.domain.scores import make_score
from faithtui.errors import StoreError
from faithtui.store.records import DocumentView, ImportCounts, StoredImage
from faithtui.store.store import Store
from tests.store.building import SPEC, judged, windows_of

PIXELS = b"\x89PNG\r\n\x1a\n and pixels\x00\xff"
PHOTO = b"\xff\xd8\xff photo"
ADDRESS = "https://example.org/a.png?x=1"

PIXEL_IMAGE = Image(sha256(PIXELS).hexdigest(), "image/png")
PHOTO_IMAGE = Image(sha256(PHOTO).hexdigest(), "image/jpeg")
FAR_IMAGE = Image(sha256(ADDRESS.encode()).hexdigest(), "", ADDRESS)
DATA = {PIXEL_IMAGE.sha256: PIXELS, PHOTO_IMAGE.sha256: PHOTO}


def album(key: str = "one") -> Conversation:
    """The same document twice, with other images; one image known by its address alone."""
    return Conversation(
        "tests",
        key,
        (
            Turn("user", "Look", images=(PIXEL_IMAGE, FAR_IMAGE)),
            Turn(
                "assistant",
                f"I see {key}.",
                (Document("Page.", "a.pdf", (PIXEL_IMAGE,)), Document("", None, (PHOTO_IMAGE,))),
                (PHOTO_IMAGE,),
            ),
            Turn("user", "And?"),
            Turn("assistant", "Yes.", (Document("Page.", "b.pdf", (PHOTO_IMAGE,)),)),
        ),
        group=key,
    )


def count(store: Store) -> int:
    with store._database.open_reader() as connection:
        found = connection.exec_driver_sql("SELECT count(*) FROM image").scalar_one()
    return int(found)


def test_images_come_back_with_their_bytes(store: Store) -> None:
    assert store.conversations.import_batch([album()], DATA).new == 1
    (number,) = store.conversations.list_ids()
    assert store.conversations.get(number) == album()
    assert store.images.read(PIXEL_IMAGE.sha256) == StoredImage(PIXEL_IMAGE, PIXELS)
    assert store.images.read(PHOTO_IMAGE.sha256) == StoredImage(PHOTO_IMAGE, PHOTO)


def test_an_address_is_kept_without_bytes(store: Store) -> None:
    store.conversations.import_batch([album()], DATA)
    assert store.images.read(FAR_IMAGE.sha256) == StoredImage(FAR_IMAGE, None)


def test_an_image_is_stored_once_and_its_bytes_are_needed_once(store: Store) -> None:
    store.conversations.import_batch([album(), album("two")], DATA)
    assert count(store) == 3
    assert store.conversations.import_batch([album("three"), album()]) == ImportCounts(
        new=1, unchanged=1
    )
    assert count(store) == 3


def test_a_batch_without_the_bytes_of_an_image_is_refused_whole(store: Store) -> None:
    some = {PIXEL_IMAGE.sha256: PIXELS}
    with pytest.raises(StoreError, match=f"image {PHOTO_IMAGE.sha256[:12]} did not come"):
        store.conversations.import_batch([album()], some)
    assert store.conversations.count() == count(store) == 0


def test_other_images_make_another_conversation(store: Store) -> None:
    store.conversations.import_batch([album()], DATA)
    turns = (replace(album().turns[0], images=(PIXEL_IMAGE,)), *album().turns[1:])
    again = store.conversations.import_batch([replace(album(), turns=turns)], DATA)
    assert again.conflicting == ("one",)


def test_an_image_nobody_imported_is_told(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no image 00000000"):
        store.images.read("0" * 64)


def test_a_text_with_other_images_is_another_document(store: Store) -> None:
    store.conversations.import_batch([album(), album("two")], DATA)
    _, item = judged(store, album(), {1: ["yes"]}, spec=SPEC)
    turns = store.runs.read_conversation_for_review(item, "me").turns
    assert [turn.images for turn in turns] == [
        (PIXEL_IMAGE, FAR_IMAGE),
        (PHOTO_IMAGE,),
        (),
        (),
    ]
    assert [turn.documents for turn in turns[1::2]] == [
        (
            DocumentView(1, "Page.", "a.pdf", (PIXEL_IMAGE,)),
            DocumentView(2, "", None, (PHOTO_IMAGE,)),
        ),
        (DocumentView(3, "Page.", "b.pdf", (PHOTO_IMAGE,)),),
    ]
    assert store.conversations.get(ConversationId(1)) == album()
    assert documents(store) == 3


def documents(store: Store) -> int:
    with store._database.open_reader() as connection:
        found = connection.exec_driver_sql("SELECT count(*) FROM document").scalar_one()
    return int(found)


def test_a_text_that_spells_out_an_image_is_another_document(store: Store) -> None:
    page = Document("Page.", None, (PIXEL_IMAGE,))
    spelt = Document(Passage(page.text, page.images).text_with_marks)
    turns = (Turn("user", "Which?"), Turn("assistant", "This.", (page, spelt)))
    chat = Conversation("tests", "spelt", turns, group="spelt")
    store.conversations.import_batch([chat], DATA)
    assert store.conversations.get(ConversationId(1)) == chat
    assert documents(store) == 2


def pictures() -> Conversation:
    """Two documents of one answer that are nothing but an image."""
    found = (Document("", None, (PIXEL_IMAGE,)), Document("", None, (PHOTO_IMAGE,)))
    turns = (Turn("user", "Which?"), Turn("assistant", "This.", found))
    return Conversation("tests", "pictures", turns, group="pictures")


def test_what_two_pictures_show_alike_is_told_apart(store: Store) -> None:
    store.conversations.import_batch([pictures()], DATA)
    (window,) = windows_of(pictures())
    pixels, photo = (Passage("", (each,)).text_with_marks for each in (PIXEL_IMAGE, PHOTO_IMAGE))
    verdicts = tuple(
        Verdict(Claim(1, "A sign.", None, "statement", document), label)
        for document, label in ((pixels, "yes"), (photo, "no"))
    )
    truths = (Truth("A sign.", photo), Truth("A sign.", pixels), Truth("A sign."))
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    store.runs.save_window(item, Assessment(window, make_score(0.5), verdicts, truths))
    view = store.runs.read_conversation_for_review(item, "me")
    assert [(each.document, each.first_window_verdict.label) for each in view.claims] == [
        (1, "yes"),
        (2, "no"),
    ]
    assert [each.document for each in view.truths] == [2, 1, None]


def test_a_truth_that_names_a_text_alone_belongs_to_the_first_document_with_it(
    store: Store,
) -> None:
    store.conversations.import_batch([album()], DATA)
    first, _ = windows_of(album())
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    truths = (Truth("Page.", "Page.", Span(0, 5)), Truth("Else.", "No such document."))
    store.runs.save_window(item, Assessment(first, make_score(1.0), (), truths))
    view = store.runs.read_conversation_for_review(item, "me")
    assert [each.document for each in view.truths] == [1, None]
