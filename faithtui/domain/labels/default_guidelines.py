"""The default guidelines: for each metric, when a claim gets which verdict.

A project may write versions of its own; until then the text here is in force. It is kept in the
store with the first label that is given under it, so the digest of a label has its text wherever
the label goes, even when the default here is another one by then. Each text begins with a line for
every key.
"""

from collections.abc import Mapping
from typing import Final

DEFAULT_AUTHOR: Final = "faithtui"

_NOT_FAIR: Final = "x  not a fair claim: not in the answer, an opinion, half a claim or two\n"

_FAITHFULNESS: Final = f"""\
y  supported: passages say all of it, or it follows from them
n  contradicted: a passage says otherwise, about any part
i  not addressed: passages leave a part open, and contradict none
{_NOT_FAIR}
Judge by the passages, not by what you know: a true claim that no passage speaks of is i.

Other words for the same thing are the same. Numbers, dates, names, conditions and negations must \
agree; a rounded number agrees if it says that it is rounded.

"It" and "they" mean what they mean in the answer. Where two passages contradict each other, \
judge by the one that the answer goes by and write a note."""

_INFERENCE: Final = f"""\
y  can be inferred: every part of the statement follows from the passages alone
n  cannot be inferred: a passage says otherwise, or a part is in no passage
{_NOT_FAIR.replace("claim", "statement")}
Judge by the passages of this answer, not by what you know: a true statement that no passage \
speaks of is n.

Other words for the same thing are the same. Numbers, dates, names, conditions and negations must \
agree."""

_SUPPORT: Final = """\
y  supported: the passages bear out what the answer tells, as a whole
n  not supported: something that the answer tells is in no passage, or a passage says otherwise
x  not a fair answer: it tells nothing that could be checked, such as a greeting or a refusal

Judge by the passages of this answer, not by what you know. Passages that have nothing to do with \
it count neither way. Courtesies and offers of help need no support."""

_RELEVANCE: Final = """\
y  relevant: the statement helps to answer a message of the user in view, or a part of one
n  not relevant: whoever answers any of these messages can do without it
x  not a fair statement: the passage does not say this, or it is half a sentence

Whether the statement is true does not matter, nor whether the answer used it. To be about the \
same subject is not enough: ask what the user wanted to know."""

DEFAULT_GUIDELINES: Final[Mapping[str, str]] = {
    "turn-faithfulness": _FAITHFULNESS,
    "turn-contextual-relevancy": _RELEVANCE,
    "ragas-faithfulness": _INFERENCE,
    "llamaindex-faithfulness": _SUPPORT,
    "deepevalex-faithfulness": _FAITHFULNESS,
}
"""Texts by metric."""
