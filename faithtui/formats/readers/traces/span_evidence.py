"""What retrievers, tools and rerankers of one trace gave becomes the evidence of its answer.

What a reranker was given is known only once all spans were seen: their times may be equal or
missing, and one reranker may be given what another one gave.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Final

from faithtui.formats.readers.protocol import ReadOptions
from faithtui.formats.readers.traces.exchanges import make_sortable_time
from faithtui.formats.readers.values.passages import PassageList

_RERANKED: Final = "the passages of an answer are those that a reranker gave, not all it was given"
_NO_OUTPUT: Final = (
    "a reranker does not say what it gave; the passages of an answer are those it was given"
)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a retriever or a tool gave."""

    start: str
    passages: PassageList
    is_retrieved: bool


@dataclass(frozen=True, slots=True)
class _Reranking:
    start: str
    inputs: PassageList
    """Empty where its span does not say: all that was retrieved."""
    outputs: PassageList


@dataclass(slots=True)
class EvidenceOfSpans:
    """What the spans of a trace gave, in order of time, apart by what gave it."""

    _given: list[_Given] = field(default_factory=list)
    _rerankings: list[_Reranking] = field(default_factory=list)
    _unanswered: list[PassageList] = field(default_factory=list)
    """What rerankers were given that do not say what they gave."""

    def add_retrieved(self, start: str | None, passages: PassageList) -> None:
        """Add what a retriever gave, and when it began."""
        self._given.append(_Given(make_sortable_time(start or ""), passages, is_retrieved=True))

    def add_output_of_tool(self, start: str | None, passages: PassageList) -> None:
        """Add what a tool gave, which no reranker replaces."""
        self._given.append(_Given(make_sortable_time(start or ""), passages, is_retrieved=False))

    def add_reranked(self, start: str | None, inputs: PassageList, outputs: PassageList) -> None:
        """Add what a reranker was given and gave."""
        if outputs.documents:
            self._rerankings.append(_Reranking(make_sortable_time(start or ""), inputs, outputs))
        elif inputs.documents:
            self._unanswered.append(inputs)

    def join(self, options: ReadOptions) -> PassageList | None:
        """Give all that counts: what rerankers gave stands for what they were given.

        Returns:
            None where no span says what it gave.
        """
        if not (self._given or self._rerankings or self._unanswered):
            return None
        reranked = self._join_reranked()
        rest = PassageList()
        for each in self._given:
            rest += self._drop_passages_given_to_rerankers(each)
        joined = (rest - reranked if self._rerankings else rest) + reranked
        for inputs in self._unanswered:
            options.notes.remarks[_NO_OUTPUT] += 1
            joined += inputs - joined - self._list_all_inputs()
        known = _list_texts(self._list_all_inputs())
        known |= {text for each in self._given for text in _list_texts(each.passages)}
        if self._rerankings and known - _list_texts(joined):
            options.notes.remarks[_RERANKED] += 1
        return joined

    def _list_all_inputs(self) -> PassageList:
        return sum((each.inputs for each in self._rerankings), PassageList())

    def _drop_passages_given_to_rerankers(self, given: _Given) -> PassageList:
        left = given.passages
        for each in self._rerankings if given.is_retrieved else ():
            if _may_follow(each.start, given.start):
                left = left - each.inputs if each.inputs.documents else PassageList()
        return left

    def _join_reranked(self) -> PassageList:
        """Join what rerankers gave without what a later one, given that, left out."""
        joined = PassageList()
        for one in self._rerankings:
            left = one.outputs
            for other in self._rerankings:
                if _may_follow(other.start, one.start) and self._is_output_given_to(one, other):
                    left -= other.inputs - other.outputs
            joined = (joined - left) + left
        return joined

    def _is_output_given_to(self, one: _Reranking, other: _Reranking) -> bool:
        """Say whether a reranker was given what another one gave, alone or with that of more.

        Two beside each other may be given passages in common: one that was given all that the first
        was, or anything else than what rerankers gave, is not behind it.
        """
        given, inputs = _list_texts(one.outputs), _list_texts(other.inputs)
        if inputs == given:
            return True
        reranked = {
            text
            for each in self._rerankings
            if each is not other and _may_follow(other.start, each.start)
            for text in _list_texts(each.outputs)
        }
        return given <= inputs <= reranked and not _list_texts(one.inputs) <= inputs


def _list_texts(passages: PassageList) -> Set[str]:
    return {each.text for each in passages.documents}


def _may_follow(later: str, earlier: str) -> bool:
    """Say whether a span may have begun after another: not where its time says otherwise."""
    return not later or not earlier or later >= earlier
