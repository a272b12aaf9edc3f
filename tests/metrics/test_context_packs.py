"""Contexts are cut and packed without loss, in order, into chunks that fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.metrics.context_packs import (
    estimate_tokens,
    pack_contexts,
    pack_contexts_as_llamaindex,
    split_with_overlap,
)
from tests.metrics.plain_replies import odd_words

TEXT = st.text(
    st.sampled_from("abcdeABÜé我😀09 .,;!?\n\t-_\"'") | st.characters(exclude_categories=["Cs"]),
    max_size=120,
)

SENTENCES = st.lists(
    st.lists(st.sampled_from(("alpha", "beta", "gamma", "we", "it")), min_size=1, max_size=9).map(
        lambda words: " ".join(words).capitalize() + "."
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


def numbered_words(texts: list[str]) -> list[str]:
    """Make every word unlike every other, so that it can be found again."""
    count = 0
    made = []
    for text in texts:
        words = []
        for word in text.split():
            words.append(f"{word.strip('.')}{count}{'.' if word.endswith('.') else ''}")
            count += 1
        made.append(" ".join(words))
    return made


def without_overlap(chunks: tuple[str, ...]) -> tuple[list[str], list[int]]:
    """Take from each chunk what stands at the end of those before.

    Returns:
        All words, and how many each chunk repeats.
    """
    seen: list[str] = []
    repeated = []
    for chunk in chunks:
        words = chunk.split()
        again = next(n for n in range(len(words), -1, -1) if seen[len(seen) - n :] == words[:n])
        repeated.append(again)
        seen += words[again:]
    return seen, repeated


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" ", 1),
        ("a", 1),
        ("hello", 1),
        ("w0x123", 4),
        ("w0x123 w0x12 w0x1 1234", 15),
        ("Parcels leave the depot within two days.", 9),
        ("It leaves within two days; islands take nine days.", 11),
        ("我们今天去公园散步。", 13),
    ],
)
def test_tokens_are_estimated_from_the_words(text: str, count: int) -> None:
    assert estimate_tokens(text) == count


def test_odd_words_are_counted_exactly() -> None:
    assert estimate_tokens(odd_words(900)) == 3600


@given(TEXT, TEXT)
def test_a_text_is_no_larger_than_its_parts(one: str, other: str) -> None:
    assert estimate_tokens(f"{one}\n\n{other}") <= estimate_tokens(one) + 2 + estimate_tokens(other)


@given(st.lists(SENTENCES, max_size=5), st.integers(8, 60))
@settings(deadline=None)
def test_nothing_is_lost_and_the_order_is_kept(texts: list[str], limit: int) -> None:
    contexts = numbered_words(texts)
    seen, _ = without_overlap(pack_contexts(contexts, limit))
    assert seen == " ".join(contexts).split()


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.integers(8, 60))
@settings(deadline=None)
def test_the_peers_packing_loses_nothing_either(texts: list[str], limit: int) -> None:
    contexts = numbered_words(texts)
    seen, _ = without_overlap(pack_contexts_as_llamaindex(contexts, limit))
    assert seen == " ".join(contexts).split()


@given(st.lists(TEXT, max_size=5), st.integers(3, 60))
@settings(deadline=None)
def test_every_chunk_fits_and_none_is_blank(contexts: list[str], limit: int) -> None:
    for chunk in pack_contexts(contexts, limit):
        assert estimate_tokens(chunk) <= limit
        assert chunk.strip()


@given(st.lists(TEXT, min_size=1, max_size=5), st.integers(3, 60))
@settings(deadline=None)
def test_the_peers_chunks_fit_too(contexts: list[str], limit: int) -> None:
    assert all(
        estimate_tokens(chunk) <= limit for chunk in pack_contexts_as_llamaindex(contexts, limit)
    )


@given(st.lists(TEXT, max_size=5), st.integers(3, 60))
@settings(deadline=None)
def test_no_letter_is_lost_whatever_the_text(contexts: list[str], limit: int) -> None:
    chunks = pack_contexts(contexts, limit)
    shown = "".join(chunks)
    for context in contexts:
        for letter in context:
            assert letter.isspace() or shown.count(letter) >= context.count(letter)


def test_contexts_that_fit_stay_whole_and_nothing_is_repeated() -> None:
    contexts = [odd_words(20, f"w{n}x") for n in range(5)]  # 80 tokens each
    chunks = pack_contexts(contexts, 200)
    assert chunks == ("\n\n".join(contexts[:2]), "\n\n".join(contexts[2:4]), contexts[4])


def test_a_context_that_does_not_fit_is_cut_after_a_sentence_and_repeats_a_tenth() -> None:
    sentences = [f"Word{n} is one of the many words." for n in range(40)]
    chunks = pack_contexts([" ".join(sentences)], 120)
    assert len(chunks) > 3
    assert all(chunk.endswith("words.") for chunk in chunks)
    _, repeated = without_overlap(chunks)
    assert repeated == [0, *[7] * (len(chunks) - 1)]  # one sentence of 7 words


def test_the_end_of_a_cut_context_shares_its_chunk_with_the_next() -> None:
    chunks = pack_contexts([odd_words(30), "Next."], 100)
    assert len(chunks) == 2
    assert chunks[1].endswith("\n\nNext.")


def test_blank_contexts_are_left_out() -> None:
    assert pack_contexts(["", " \n", "a", "\t"], 10) == ("a",)
    assert pack_contexts(["", "  "], 10) == ()
    assert pack_contexts([], 10) == ()


def test_the_peer_shows_one_empty_chunk_for_blank_contexts() -> None:
    assert pack_contexts_as_llamaindex(["", "  "], 10) == ("",)
    assert pack_contexts_as_llamaindex(["", "abc", " ", "def"], 10) == ("abc\n\ndef",)


@pytest.mark.parametrize(("limit", "texts"), [(10, 1), (5, 6)])
def test_a_word_longer_than_a_chunk_is_cut_between_letters(limit: int, texts: int) -> None:
    chunks = pack_contexts(["abcdefghijklmnopqrstuvwxyz"], limit)
    assert len(chunks) == texts
    assert "".join(chunks) == "abcdefghijklmnopqrstuvwxyz"


def test_a_single_letter_may_be_larger_than_a_chunk() -> None:
    assert pack_contexts(["😀😀"], 1) == ("😀", "😀")


def test_paragraphs_are_the_first_place_to_cut() -> None:
    long = " ".join(["word"] * 30)
    assert pack_contexts([f"{long}\n\n\n{long}"], 40) == (long, long)


def test_phrases_are_cut_where_there_is_no_sentence() -> None:
    chunks = pack_contexts([", ".join(f"part{n} of it" for n in range(20))], 30)
    assert all(chunk.endswith((",", "part19 of it")) for chunk in chunks)


@pytest.mark.parametrize(
    ("count", "chunks"), [(620, 1), (630, 2), (700, 2), (1000, 2), (2000, 5), (6000, 14)]
)
def test_the_peers_chunks_are_as_many_as_the_peers(count: int, chunks: int) -> None:
    """As llama-index-core 0.14.25 made them with a window of 3900 and an answer of 4 tokens."""
    assert (
        len(pack_contexts_as_llamaindex([odd_words(count)], 3900 - 241 - 4 - 256 - 500)) == chunks
    )


@pytest.mark.parametrize(
    ("window", "chunks"), [(2000, 20), (1500, 40), (3900, 7), (8000, 3), (128_000, 1)]
)
def test_so_they_are_in_other_windows(window: int, chunks: int) -> None:
    contexts = [odd_words(900, f"w{n}x") for n in range(4)]
    assert len(pack_contexts_as_llamaindex(contexts, window - 241 - 4 - 256 - 500)) == chunks


@given(SENTENCES, st.integers(8, 60))
@settings(deadline=None)
def test_repacking_what_fits_changes_nothing(text: str, limit: int) -> None:
    assert split_with_overlap(text, estimate_tokens(text) + 1) == (text,)
    for part in split_with_overlap(text, limit):
        assert split_with_overlap(part, limit) == (part,)
