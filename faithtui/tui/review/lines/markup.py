"""Markdown and long addresses in answers and passages, shortened where lines are few.

For panes alone: what is opened in full is shown as it is. A text is shortened piece by piece after
the claim's words were found in it, so that no place moves.
"""

import re
from typing import Final

LONGEST_ADDRESS: Final = 40
"""Characters of an address that are shown whole."""
_END_SHOWN: Final = 12
_ADDRESS: Final = re.compile(r"https?://[^\s<>()\[\]\"'`|]{1,2000}")
_LINK: Final = re.compile(r"!?\[([^\]\[\n]{1,300})\]\((https?://[^\s()]{1,2000})\)")
_HEADING: Final = re.compile(r"^[ ]{0,3}#{1,6} +", re.MULTILINE)
_STRONG: Final = re.compile(r"(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1")
_CODE: Final = re.compile(r"`([^`\n]{1,300})`")


def strip_markdown_and_shorten_urls(text: str) -> str:
    """Drop marks of Markdown, and leave of long addresses the host and the end."""
    if "://" in text:
        text = _LINK.sub(lambda found: f"{found[1]} ({_get_host(found[2])})", text)
        text = _ADDRESS.sub(lambda found: _shorten_address(found[0]), text)
    if "#" in text:
        text = _HEADING.sub("", text)
    if "**" in text or "__" in text:
        text = _STRONG.sub(r"\2", text)
    return _CODE.sub(r"\1", text) if "`" in text else text


def _get_host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0]


def _shorten_address(address: str) -> str:
    if len(address) <= LONGEST_ADDRESS:
        return address
    return f"{_get_host(address)}/…{address[-_END_SHOWN:]}"
