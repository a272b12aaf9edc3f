from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.review.lines.markup import LONGEST_ADDRESS, strip_markdown_and_shorten_urls

LONG = "https://docs.example.com/en/guides/" + "very-long/" * 8 + "page.html"


def test_marks_go_and_words_stay() -> None:
    text = "## Steps\n1. **Update** the `master` __now__\n* 2 * 3, a_b_c and #4"
    assert (
        strip_markdown_and_shorten_urls(text)
        == "Steps\n1. Update the master now\n* 2 * 3, a_b_c and #4"
    )


def test_of_long_addresses_host_and_end_are_left() -> None:
    assert strip_markdown_and_shorten_urls(f"see {LONG}.") == "see docs.example.com/…g/page.html."
    assert (
        strip_markdown_and_shorten_urls(f"see ([the guide]({LONG}))")
        == "see (the guide (docs.example.com))"
    )
    short = "https://example.com/a"
    assert len(short) < LONGEST_ADDRESS
    assert strip_markdown_and_shorten_urls(f"see {short}") == f"see {short}"


@given(st.text(alphabet=st.sampled_from("a*_#`[]()!/: \n.h\x1b")))
def test_nothing_gets_longer_and_plain_text_stays(text: str) -> None:
    assert len(strip_markdown_and_shorten_urls(text)) <= len(text)
    plain = text.translate(str.maketrans("", "", "*_#`[]()!/:"))
    assert strip_markdown_and_shorten_urls(plain) == plain
