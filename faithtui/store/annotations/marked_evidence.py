"""What a report says of marked evidence and missed claims, read for a run."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from sqlalchemy import ColumnElement, Connection, select

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.domain.claims.verdicts import Stance
from faithtui.domain.conversation import Span
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action, HumanVerdict, LabelMark, MarkedPassage
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.text.passage_ranking import find_source_sentence
from faithtui.domain.text.texts import TokenisedText, tokenise_text
from faithtui.domain.text.word_spans import find_touched_word_indices, find_word_spans
from faithtui.store.annotations.counted_labels import UNREVIEWED, CountedLabels
from faithtui.store.annotations.label_replay import read_events, replay_verdicts
from faithtui.store.runs.judge_verdicts import JudgedRun
from faithtui.store.schema.json_columns import span_from_row
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import claim, document, evidence, human_label, run_item, truth

STANCES_OF_LABELS: Mapping[str, frozenset[Stance]] = {
    "yes": frozenset(("supports",)),
    "1": frozenset(("supports",)),
    "no": frozenset(("contradicts",)),
    "0": frozenset(("contradicts",)),
    "idk": frozenset(("partial",)),
}
"""What the judge points at with a verdict: truths that support a yes, contradict a no, or are said
to bear on a part."""

Words = frozenset[tuple[str, int]]


def read_evidence_units(
    connection: Connection, run_id: RunId, judged: JudgedRun
) -> tuple[EvidenceUnit, ...]:
    """Read what was marked on the claims of a run, beside what its judge points at."""
    marks = _replay_verdicts_of_marked_claims(
        connection, run_id, human_label.c.action == Action.EVIDENCE.value
    )
    marked = {claim_id: each for claim_id, each in marks.items() if any(v.evidence for v in each)}
    homes = {home[3]: home for home in judged.homes if home[3] in marked and home[4] is not None}
    if not homes:
        return ()
    reader = _WordReader(connection)
    cited = _read_cited_words(connection, run_id, homes, reader)
    return tuple(
        EvidenceUnit(
            claim_id,
            judged.items[number].group,
            each.reviewer,
            words,
            cited.get(claim_id, frozenset()),
        )
        for number, _, _, claim_id, *_ in homes.values()
        for each in marked[claim_id]
        if (words := reader.collect_words_in_spans(each.evidence))
    )


def read_extraction_units_of_complete_answers(
    connection: Connection,
    run_id: RunId,
    judged: JudgedRun,
    labels: Mapping[ClaimId, CountedLabels],
) -> tuple[ExtractionUnit, ...]:
    """Read the answers of a run that were declared complete, and what its judge missed in them."""
    complete = human_label.c.mark == LabelMark.COMPLETE.value
    declared = {
        claim_id: tuple(sorted(each.reviewer for each in people if run_id in each.complete_in))
        for claim_id, people in _replay_verdicts_of_marked_claims(
            connection, run_id, complete
        ).items()
    }
    declared = {claim_id: who for claim_id, who in declared.items() if who}
    if not declared:
        return ()
    missing = human_label.c.mark == LabelMark.MISSED.value
    judged_claims = {home[3] for home in judged.homes}
    missed = [
        claim_id
        for claim_id, people in _replay_verdicts_of_marked_claims(
            connection, run_id, missing
        ).items()
        if claim_id not in judged_claims and any(run_id in each.missed_in for each in people)
    ]
    places = _read_conversation_and_turn_by_claim(connection, [*declared, *missed])
    missed_at: dict[tuple[int, int], int] = defaultdict(int)
    for claim_id in missed:
        missed_at[places[claim_id]] += 1
    extracted: dict[tuple[int, int], list[CountedLabels]] = defaultdict(list)
    for number, at, _, claim_id, _, _, kind, _ in judged.homes:
        if kind == "claim":
            conversation = judged.items[number].conversation
            extracted[conversation, at].append(labels.get(claim_id, UNREVIEWED))
    who_said = {places[claim_id]: who for claim_id, who in declared.items()}
    return tuple(
        _make_extraction_unit(
            item.group, key, extracted.get(key, ()), missed_at.get(key, 0), who_said[key]
        )
        for item in judged.items.values()
        for key in sorted(each for each in who_said if each[0] == item.conversation)
    )


def _make_extraction_unit(
    group: str,
    key: tuple[int, int],
    labels: Sequence[CountedLabels],
    missed: int,
    reviewers: tuple[str, ...],
) -> ExtractionUnit:
    unfair = sum(each.human == NOT_A_CLAIM for each in labels)
    return ExtractionUnit(
        conversation=key[0],  # type: ignore[arg-type]  # an id, as rows have it
        group=group,
        turn=key[1],
        fair=len(labels) - unfair,
        unfair=unfair,
        unlabelled=sum(each.human is None for each in labels),
        missed=missed,
        reviewers=reviewers,
    )


def _replay_verdicts_of_marked_claims(
    connection: Connection, run_id: RunId, acts: ColumnElement[bool]
) -> dict[ClaimId, tuple[HumanVerdict, ...]]:
    """Replay the log of the claims of a run's conversations on which there is such an event."""
    conversations = select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
    about = (
        select(human_label.c.claim_id)
        .join(claim, claim.c.id == human_label.c.claim_id)
        .where(acts, claim.c.conversation_id.in_(conversations))
    )
    return replay_verdicts(read_events(connection, claim.c.id.in_(about)))


def _read_conversation_and_turn_by_claim(
    connection: Connection, claims: Sequence[ClaimId]
) -> dict[ClaimId, tuple[int, int]]:
    """Read conversation and turn of claims."""
    return {
        ClaimId(row.id): (row.conversation_id, row.turn)
        for some in split_into_chunks(claims)
        for row in connection.execute(
            select(claim.c.id, claim.c.conversation_id, claim.c.turn).where(claim.c.id.in_(some))
        )
    }


def _read_cited_words(
    connection: Connection,
    run_id: RunId,
    homes: Mapping[ClaimId, tuple[object, ...]],
    reader: "_WordReader",
) -> dict[ClaimId, Words]:
    """Find the words of the truths that a judge named for its verdicts."""
    found: dict[ClaimId, set[MarkedPassage]] = defaultdict(set)
    for some in split_into_chunks(sorted(homes)):
        for row in connection.execute(
            select(
                evidence.c.claim_id,
                evidence.c.stance,
                truth.c.text,
                truth.c.span_start,
                truth.c.span_end,
                document.c.hash,
            )
            .join(truth, truth.c.id == evidence.c.truth_id)
            .join(document, document.c.id == truth.c.document_id)
            .join(run_item, run_item.c.id == evidence.c.run_item_id)
            .where(run_item.c.run_id == run_id, evidence.c.claim_id.in_(some))
        ):
            label = str(homes[row.claim_id][4])
            if row.stance not in STANCES_OF_LABELS.get(label, frozenset()):
                continue
            place = span_from_row(row) or reader.find_truth_sentence_span(row.hash, row.text)
            if place is not None:
                found[row.claim_id].add(MarkedPassage(row.hash, place.start, place.end))
    return {
        claim_id: reader.collect_words_in_spans(tuple(places)) for claim_id, places in found.items()
    }


class _WordReader:
    """Reads documents, and says which words a stretch of one is."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._find_words = cache(self._read_word_spans)
        self._tokenise = cache(lambda name: tokenise_text(self._read_document_text(name)))

    def collect_words_in_spans(self, marks: Sequence[MarkedPassage]) -> Words:
        """Name the words of stretches, each by its document and its place there."""
        return frozenset(self._list_words_in_spans(marks))

    def find_truth_sentence_span(self, name: str, text: str) -> Span | None:
        """Find the sentence that a truth was drawn from; None: none is like it."""
        passage: TokenisedText = self._tokenise(name)
        place = find_source_sentence(tokenise_text(text), passage)
        return None if place is None else passage.sentences[place]

    def _list_words_in_spans(self, marks: Sequence[MarkedPassage]) -> Iterator[tuple[str, int]]:
        by_document: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for mark in marks:
            by_document[mark.document].append((mark.start, mark.end))
        for name, stretches in by_document.items():
            for place in find_touched_word_indices(self._find_words(name), stretches):
                yield name, place

    def _read_word_spans(self, name: str) -> list[tuple[int, int]]:
        return find_word_spans(self._read_document_text(name))

    def _read_document_text(self, name: str) -> str:
        found: str | None = self._connection.execute(
            select(document.c.text).where(document.c.hash == name).limit(1)
        ).scalar()
        return found or ""
