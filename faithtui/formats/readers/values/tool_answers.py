"""What a tool answers around its list of passages: its own answer, an error, or how it searched.

What may be evidence must not vanish, as an answer can rest on it alone. What the tool was asked,
ids, counts and times of a search are none. Of a key that nobody knows, a text or a number may be
evidence.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from faithtui.formats.readers.values.key_spellings import normalise_key_spelling

_ANSWERS: Final = frozenset(
    ("answer", "summary", "response", "result", "text", "content", "context", "output", "message")
)
"""Folded keys of a text that says by itself what it is."""

_COUNTS: Final = frozenset(
    (
        *("count", "total", "totalcount", "totalresults", "totalhits", "numresults"),
        *("resultcount", "resultscount", "estimatedtotalhits"),
    )
)
"""Folded keys of how much was found, which is an answer where nothing is listed."""

_HOW_IT_SEARCHED: Final = _COUNTS | frozenset(
    (
        # what was asked
        *("query", "queries", "q", "question", "input", "prompt", "searchquery", "searchqueries"),
        *("searchparameters", "parameters", "params", "args", "arguments", "filter", "filters"),
        *("autopromptstring", "followupquestions", "searchterms", "relatedqueries", "suggestions"),
        # who answered
        *("object", "kind", "type", "model", "version", "apiversion", "index", "collection"),
        *("namespace", "tool", "toolname", "toolcallid", "searchtype", "resolvedsearchtype"),
        *("metadata", "metadatas", "meta", "responsemetadata", "usagemetadata", "usage"),
        *("searchinformation", "searchmetadata", "additionalkwargs", "credits", "costdollars"),
        # how many, where more are, how near
        *("totalsize", "size", "limit", "offset"),
        *("topk", "k", "page", "pages", "pagesize", "perpage", "totalpages", "pagination"),
        *("next", "nextpage", "maxscore", "score", "scores", "distances", "threshold"),
        *("scorethreshold", "embedding", "embeddings", "shards"),
        # how long
        *("took", "tookms", "responsetime", "searchtime", "searchtimems", "processingtimems"),
        *("latency", "latencyms", "duration", "durationms", "elapsed", "elapsedms", "timestamp"),
        *("executiontime", "totaltime", "querytime", "createdat"),
    )
)
"""Folded keys that are no evidence: of Tavily, Exa, Serper, Google, Cohere, OpenAI, Pinecone,
Elasticsearch, Meilisearch and LangChain."""

_IDS: Final = re.compile(r"(?:^|[a-z0-9_\- ])(?:_ids?|-ids?|Ids?|IDs?|uuid|[tT]oken|[cC]ursor)$")
_FINE: Final = frozenset(("ok", "success", "succeeded", "successful", "completed", "done", "200"))
_ADDRESS: Final = re.compile(r"\w+://\S+")


def split_off_evidence(around: Mapping[str, object]) -> tuple[str | None, dict[str, object]]:
    """Split what stands around a list of passages.

    Args:
        around: What an object holds besides the list.

    Returns:
        What may be evidence, as JSON or the text alone where it is one answer; None without any.
        Then the rest, without what is empty.
    """
    evidence, rest = _split(around)
    if not evidence:
        return None, rest
    key, value = "", cast(object, evidence)
    while isinstance(value, dict) and len(value) == 1:
        [(key, value)] = value.items()
    if isinstance(value, str) and normalise_key_spelling(key) in _ANSWERS:
        return value, rest
    return json.dumps(evidence, ensure_ascii=False), rest


def find_counts(around: Mapping[str, object]) -> str | None:
    """Give as JSON how much a tool found, where it lists nothing of it; None where it says 0."""
    found = {
        key: value
        for key, value in around.items()
        if normalise_key_spelling(key) in _COUNTS
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and value
    }
    return json.dumps(found, ensure_ascii=False) if found else None


def _split(around: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    evidence: dict[str, object] = {}
    rest: dict[str, object] = {}
    for key, value in around.items():
        if value in (None, "", [], {}):
            continue
        if _says_how_it_searched(key):
            rest[key] = value
        elif isinstance(value, dict):
            inner, other = _split(value)
            if inner:
                evidence[key] = inner
            if other:
                rest[key] = other
        elif _may_be_evidence(value):
            evidence[key] = value
        else:
            rest[key] = value
    return evidence, rest


def _says_how_it_searched(key: str) -> bool:
    folded = normalise_key_spelling(key)
    return folded in _HOW_IT_SEARCHED or folded in ("id", "ids") or _IDS.search(key) is not None


def _may_be_evidence(value: object) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) not in _FINE
    return _holds_text(value)


def _holds_text(value: object) -> bool:
    """Say whether a text that is no address and no *ok* stands in a value, under any key."""
    match value:
        case str():
            text = value.strip()
            return bool(text) and text.lower() not in _FINE and not _ADDRESS.fullmatch(text)
        case list():
            return any(map(_holds_text, value))
        case dict():
            return any(map(_holds_text, value.values()))
        case _:
            return False
