"""A run with everything that judge and annotators said, some conversations at a time.

All parts are read from one snapshot, and no more than a part is in memory.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from faithtui.agreement.sampling.draw import SampleKind
from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportEvidence,
    ExportLabel,
    ExportPassage,
    ExportRepeat,
    ExportRun,
    ExportTurn,
    ExportVerdict,
    ExportWindow,
    make_stable_uuid,
)
from faithtui.domain.ids import ClaimId, RunId, SampleId
from faithtui.domain.labels.label_events import TIE
from faithtui.domain.scores import ScoringRule
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import (
    compute_consensus,
)
from faithtui.store.database import Database
from faithtui.store.runs.export_labels import (
    ExportLabelReader,
    iter_labels_with_missing_ids_filled_in,
)
from faithtui.store.runs.list_rows import read_run_rows
from faithtui.store.schema.judge_tables import judge_call
from faithtui.store.schema.tables import (
    claim,
    conversation,
    document,
    evidence,
    human_label,
    run_item,
    sample,
    sample_claim,
    truth,
    turn,
    turn_document,
    verdict,
    window,
)

_CONVERSATIONS_AT_ONCE = 200
_CHARACTERS_AT_ONCE = 16_000_000
"""What is in memory at a time: so many conversations or so many characters of their messages and
documents, whichever comes first; a longer conversation comes alone."""

_Rows = Sequence[Any]


class RunExports:
    """Reads runs for exports."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_run_description(self, run_id: RunId, sample_id: SampleId | None = None) -> ExportRun:
        """Describe a run.

        Args:
            run_id: The run.
            sample_id: The sample that weights are of; None: its own with the most labelled claims.

        Raises:
            StoreError: There is no such run, or it has no such sample.
        """
        with self._database.open_reader() as connection:
            rows = read_run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; `faithtui runs` lists those there are")
            (row,) = rows
            chosen = _find_sample_for_weights(connection, run_id, sample_id)
            data_sets = connection.execute(
                select(func.count(conversation.c.source.distinct()))
                .join(run_item, run_item.c.conversation_id == conversation.c.id)
                .where(run_item.c.run_id == run_id)
            ).scalar_one()
            name = None
            if chosen is not None:
                name = connection.execute(
                    select(sample.c.name).where(sample.c.id == chosen)
                ).scalar_one()
        spec = row.spec
        return ExportRun(
            id=make_stable_uuid(
                "run",
                spec.metric,
                spec.judge,
                spec.judge_fingerprint,
                spec.prompt_digest,
                row.created_at.isoformat(),
            ),
            number=int(run_id),
            metric=spec.metric,
            judge=spec.judge_title,
            model=spec.judge,
            prompts=spec.prompt_digest,
            strategy=spec.strategy,
            rule=spec.rule,
            created_at=row.created_at,
            conversations=row.conversations,
            claims=row.claims,
            labelled=row.labelled,
            sample=name,
            data_sets=data_sets,
            options=spec.options,
        )

    def read_conversations(
        self,
        run_id: RunId,
        *,
        sample_id: SampleId | None = None,
        verdict_steps: Sequence[str] = (),
        every_window: bool = False,
    ) -> Iterator[ExportConversation]:
        """Read the conversations of a run in its order, from one snapshot.

        Args:
            run_id: The run.
            sample_id: As of `read_run_description`.
            verdict_steps: Steps of the metric whose replies hold verdicts.
            every_window: Read the verdicts and truths of all windows, not of home windows alone.

        Raises:
            StoreError: There is no such run, or it has no such sample.
        """
        with self._database.open_reader() as connection:
            rows = read_run_rows(connection, [run_id])
            if not rows:
                raise StoreError(f"there is no run {run_id}; `faithtui runs` lists those there are")
            reader = _PartReader(
                connection,
                run_id,
                rows[0].spec.rule,
                _find_sample_for_weights(connection, run_id, sample_id),
                tuple(verdict_steps),
                every_window=every_window,
            )
            items = connection.execute(select_conversation_character_counts(run_id)).all()
            for first, last in split_run_into_number_ranges([tuple(each) for each in items]):
                yield from reader.read_conversations_in_range(first, last)


def split_run_into_number_ranges(items: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut a run into parts, each the first and the last number of its conversations.

    Args:
        items: Number and characters of each conversation, in order.
    """
    first = last = None
    held = characters = 0
    for number, size in items:
        is_full = held == _CONVERSATIONS_AT_ONCE or characters + size > _CHARACTERS_AT_ONCE
        if first is not None and last is not None and is_full:
            yield first, last
            first, held, characters = None, 0, 0
        first = number if first is None else first
        last, held, characters = number, held + 1, characters + size
    if first is not None and last is not None:
        yield first, last


def select_conversation_character_counts(run_id: RunId) -> Select[Any]:
    """Select the number of each conversation of a run, and how many characters it has."""
    of_turns = (
        select(func.coalesce(func.sum(func.length(turn.c.content)), 0))
        .where(turn.c.conversation_id == run_item.c.conversation_id)
        .scalar_subquery()
    )
    of_documents = (
        select(func.coalesce(func.sum(func.length(document.c.text)), 0))
        .select_from(turn_document)
        .join(document, document.c.id == turn_document.c.document_id)
        .where(turn_document.c.conversation_id == run_item.c.conversation_id)
        .scalar_subquery()
    )
    return (
        select(run_item.c.number, of_turns + of_documents)
        .where(run_item.c.run_id == run_id)
        .order_by(run_item.c.number)
    )


def _find_sample_for_weights(
    connection: Connection, run_id: RunId, asked: SampleId | None
) -> SampleId | None:
    """Find the sample that weights are of; None: the run has none."""
    kinds = (SampleKind.SAMPLE.value, SampleKind.SPOT_CHECK.value)
    own = and_(sample.c.run_id == run_id, sample.c.kind.in_(kinds))
    if asked is not None:
        found = connection.execute(select(sample.c.id).where(own, sample.c.id == asked)).scalar()
        if found is None:
            raise StoreError(
                f"run {run_id} has no sample {asked} that stands for it; without --sample its own "
                "with the most labels is taken"
            )
        return SampleId(found)
    labelled = select(human_label.c.claim_id).where(human_label.c.verdict.is_not(None)).distinct()
    best = connection.execute(
        select(sample.c.id)
        .outerjoin(
            sample_claim,
            and_(
                sample_claim.c.sample_id == sample.c.id,
                sample_claim.c.claim_id.in_(labelled),
            ),
        )
        .where(own)
        .group_by(sample.c.id)
        .order_by(func.count(sample_claim.c.claim_id).desc(), sample.c.id.desc())
        .limit(1)
    ).scalar()
    return None if best is None else SampleId(best)


class _Item(NamedTuple):
    """A conversation of a run, as its row has it."""

    id: int
    number: int
    conversation: int
    source: str
    key: str
    group: str
    details: Mapping[str, object]
    state: str
    score: float | None
    corrected: float | None
    conclusion: str | None
    why: str | None


class _JudgedClaim(NamedTuple):
    """A claim's row with the verdict of its home window."""

    claim: int
    conversation: int
    kind: str
    turn: int
    digest: str
    text: str
    start: int | None
    end: int | None
    document: int | None
    window: int | None = None
    label: str | None = None
    word: str | None = None
    reason: str | None = None
    confidence: float | None = None


class _Part(NamedTuple):
    """What was read of some conversations; keys are ids of conversations, items and claims."""

    turns: Mapping[int, Sequence[ExportTurn]]
    documents: Mapping[int, Mapping[int, ExportPassage]]
    """Of each conversation, by id of the document; of several sources the first."""
    in_turn: Mapping[tuple[int, int], Sequence[ExportPassage]]
    """What was retrieved, by conversation and turn; one text from two sources is two passages."""
    windows: Mapping[int, Sequence[ExportWindow]]
    claims: Mapping[int, Sequence[_JudgedClaim]]
    evidence: Mapping[tuple[int, int], Sequence[ExportEvidence]]
    labels: Mapping[ClaimId, Sequence[ExportLabel]]
    consensus: Mapping[Any, str]
    drawn: Mapping[int, tuple[str, float]]
    calls: Mapping[tuple[int, int], str]
    repeats: Mapping[tuple[int, int], Sequence[ExportRepeat]]
    """By item and claim."""


class _PartReader:
    """Reads a stretch of the run at a time, with one query per table."""

    def __init__(
        self,
        connection: Connection,
        run_id: RunId,
        rule: ScoringRule,
        sample_id: SampleId | None,
        steps: Sequence[str],
        *,
        every_window: bool,
    ) -> None:
        self._every_window = every_window
        self._connection = connection
        self._run = run_id
        self._rule = rule
        self._sample = sample_id
        self._steps = steps
        self._labels = ExportLabelReader(connection, run_id)

    def read_conversations_in_range(self, first: int, last: int) -> Iterator[ExportConversation]:
        """Read the conversations with the numbers `first` to `last`."""
        self._within = and_(
            run_item.c.run_id == self._run, run_item.c.number >= first, run_item.c.number <= last
        )
        items = [_Item._make(row) for row in self._fetch(self._select_items())]
        documents, in_turn = self._read_passages_by_id_and_by_turn()
        acts, labels = self._labels.read_labels([each.conversation for each in items])
        part = _Part(
            turns=self._read_turns(in_turn),
            documents=documents,
            in_turn=in_turn,
            windows=self._read_windows(),
            claims=self._read_judged_and_labelled_claims(labels),
            evidence=self._read_evidence(documents),
            labels=labels,
            consensus=compute_consensus(acts, self._rule) if acts else {},
            drawn=self._read_sampled_claim_strata(),
            calls=self._read_reply_keys_by_window(),
            repeats=_group_repeats(self._fetch(_select_repeats(self._within))),
        )
        for item in items:
            yield _make_conversation(item, part)

    def _fetch(self, statement: Select[Any]) -> _Rows:
        return self._connection.execute(statement).all()

    def _select_items(self) -> Select[Any]:
        return (
            select(
                run_item.c.id,
                run_item.c.number,
                run_item.c.conversation_id,
                conversation.c.source,
                conversation.c.key,
                conversation.c.group,
                conversation.c.details,
                run_item.c.state,
                run_item.c.score,
                run_item.c.corrected,
                run_item.c.conclusion,
                run_item.c.reason,
            )
            .join(conversation, conversation.c.id == run_item.c.conversation_id)
            .where(self._within)
            .order_by(run_item.c.number)
        )

    def _read_passages_by_id_and_by_turn(
        self,
    ) -> tuple[dict[int, dict[int, ExportPassage]], dict[tuple[int, int], list[ExportPassage]]]:
        found: dict[int, dict[int, ExportPassage]] = defaultdict(dict)
        in_turn: dict[tuple[int, int], list[ExportPassage]] = defaultdict(list)
        texts: dict[int, str] = {}
        for talk, at, document_id, source, digest, text in self._fetch(
            select(
                turn_document.c.conversation_id,
                turn_document.c.turn,
                turn_document.c.document_id,
                turn_document.c.source,
                document.c.hash,
                document.c.text,
            )
            .select_from(run_item)
            .join(turn_document, turn_document.c.conversation_id == run_item.c.conversation_id)
            .join(document, document.c.id == turn_document.c.document_id)
            .where(self._within)
            .order_by(
                turn_document.c.conversation_id, turn_document.c.turn, turn_document.c.position
            )
        ):
            kept = texts.setdefault(document_id, text)  # one text, however often it was retrieved
            passage = ExportPassage(digest, kept, source)
            found[talk].setdefault(document_id, passage)
            in_turn[talk, at].append(passage)
        return found, in_turn

    def _read_turns(
        self, in_turn: Mapping[tuple[int, int], Sequence[ExportPassage]]
    ) -> dict[int, list[ExportTurn]]:
        found: dict[int, list[ExportTurn]] = defaultdict(list)
        for talk, at, role, content, has_context in self._fetch(
            select(
                turn.c.conversation_id,
                turn.c.position,
                turn.c.role,
                turn.c.content,
                turn.c.has_context,
            )
            .select_from(run_item)
            .join(turn, turn.c.conversation_id == run_item.c.conversation_id)
            .where(self._within)
            .order_by(turn.c.conversation_id, turn.c.position)
        ):
            retrieved = None
            if has_context:
                retrieved = tuple(in_turn.get((talk, at), ()))
            found[talk].append(ExportTurn(role, content, retrieved))
        return found

    def _read_windows(self) -> dict[int, list[ExportWindow]]:
        found: dict[int, list[ExportWindow]] = defaultdict(list)
        verdicts = self._read_verdicts_by_window() if self._every_window else {}
        truths = self._read_truths() if self._every_window else {}
        for window_id, in_view, surplus, item, position, turns, *outcome in self._fetch(
            select(
                window.c.id,
                window.c.truths,
                window.c.surplus,
                window.c.run_item_id,
                window.c.position,
                window.c.turns,
                window.c.score,
                window.c.score_state,
                window.c.reason,
                window.c.score_reason,
                window.c.judged_at,
            )
            .select_from(run_item)
            .join(window, window.c.run_item_id == run_item.c.id)
            .where(self._within)
            .order_by(window.c.run_item_id, window.c.position)
        ):
            score, state, reason, why, at = outcome
            found[item].append(
                ExportWindow(
                    position,
                    tuple(turns),
                    score,
                    state,
                    reason or why,
                    at,
                    tuple(verdicts.get(window_id, ())),
                    tuple(truths[each] for each in in_view) if truths else (),
                    tuple(surplus),
                )
            )
        return found

    def _read_verdicts_by_window(self) -> dict[int, list[ExportVerdict]]:
        """Read what was said in each window, by its id."""
        found: dict[int, list[ExportVerdict]] = defaultdict(list)
        for window_id, text, label, word, reason in self._fetch(
            select(
                verdict.c.window_id,
                claim.c.text,
                verdict.c.label,
                verdict.c.word,
                verdict.c.reason,
            )
            .select_from(run_item)
            .join(window, window.c.run_item_id == run_item.c.id)
            .join(verdict, verdict.c.window_id == window.c.id)
            .join(claim, claim.c.id == verdict.c.claim_id)
            .where(self._within)
            .order_by(verdict.c.window_id, verdict.c.position)
        ):
            found[window_id].append(ExportVerdict(text, label, word, reason))
        return found

    def _read_truths(self) -> dict[int, str]:
        rows = self._fetch(
            select(truth.c.id, truth.c.text)
            .select_from(run_item)
            .join(truth, truth.c.run_item_id == run_item.c.id)
            .where(self._within)
        )
        return {truth_id: text for truth_id, text in rows}

    def _read_judged_and_labelled_claims(
        self, labels: Mapping[ClaimId, Sequence[ExportLabel]]
    ) -> dict[int, list[_JudgedClaim]]:
        """Read the claims that the run judged and those that annotators labelled."""
        columns = (
            claim.c.id,
            claim.c.conversation_id,
            claim.c.kind,
            claim.c.turn,
            claim.c.digest,
            claim.c.text,
            claim.c.span_start,
            claim.c.span_end,
            claim.c.document_id,
        )
        found: dict[int, list[_JudgedClaim]] = defaultdict(list)
        judged = set()
        for row in self._fetch(
            select(
                *columns,
                window.c.position,
                verdict.c.label,
                verdict.c.word,
                verdict.c.reason,
                verdict.c.confidence,
            )
            .select_from(run_item)
            .join(window, window.c.run_item_id == run_item.c.id)
            .join(verdict, verdict.c.window_id == window.c.id)
            .join(claim, claim.c.id == verdict.c.claim_id)
            .where(self._within, verdict.c.is_home)
            .order_by(run_item.c.number, window.c.position, verdict.c.position)
        ):
            made = _JudgedClaim(*row)
            judged.add(made.claim)
            found[made.conversation].append(made)
        beside = [each for each in labels if each not in judged]
        if beside:
            for row in self._fetch(
                select(*columns)
                .select_from(run_item)
                .join(claim, claim.c.conversation_id == run_item.c.conversation_id)
                .where(self._within)
                .order_by(claim.c.id)
            ):
                made = _JudgedClaim(*row)
                if made.claim not in judged and made.claim in labels:
                    found[made.conversation].append(made)
        for claims in found.values():
            claims.sort(key=lambda each: (each.turn, each.window is None))
        return found

    def _read_evidence(
        self, documents: Mapping[int, Mapping[int, ExportPassage]]
    ) -> dict[tuple[int, int], list[ExportEvidence]]:
        found: dict[tuple[int, int], list[ExportEvidence]] = defaultdict(list)
        for item, talk, claim_id, stance, text, document_id in self._fetch(
            select(
                evidence.c.run_item_id,
                run_item.c.conversation_id,
                evidence.c.claim_id,
                evidence.c.stance,
                truth.c.text,
                truth.c.document_id,
            )
            .select_from(run_item)
            .join(evidence, evidence.c.run_item_id == run_item.c.id)
            .join(truth, truth.c.id == evidence.c.truth_id)
            .where(self._within)
            .order_by(evidence.c.run_item_id, evidence.c.claim_id, evidence.c.truth_id)
        ):
            passage = documents[talk].get(document_id)
            digest = None if passage is None else passage.document
            found[item, claim_id].append(ExportEvidence(text, stance, digest))
        return found

    def _read_sampled_claim_strata(self) -> dict[int, tuple[str, float]]:
        if self._sample is None:
            return {}
        rows = self._fetch(
            select(sample_claim.c.claim_id, sample_claim.c.stratum, sample_claim.c.probability)
            .select_from(run_item)
            .join(sample_claim, sample_claim.c.run_item_id == run_item.c.id)
            .where(self._within, sample_claim.c.sample_id == self._sample)
        )
        return {claim_id: (stratum, probability) for claim_id, stratum, probability in rows}

    def _read_reply_keys_by_window(self) -> dict[tuple[int, int], str]:
        """Read which stored reply gave the verdicts of a window; the last one where several did."""
        if not self._steps:
            return {}
        rows = self._fetch(
            select(judge_call.c.run_item_id, judge_call.c.window, judge_call.c.key)
            .select_from(run_item)
            .join(judge_call, judge_call.c.run_item_id == run_item.c.id)
            .where(
                self._within,
                judge_call.c.usable,
                judge_call.c.window.is_not(None),
                judge_call.c.step.in_(self._steps),
            )
            .order_by(judge_call.c.id)
        )
        return {(item, at): key for item, at, key in rows}


def _select_repeats(within: ColumnElement[bool]) -> Select[Any]:
    """Select what windows say of claims that one before them has said something of."""
    return (
        select(
            run_item.c.id,
            verdict.c.claim_id,
            window.c.position,
            verdict.c.label,
            verdict.c.word,
            verdict.c.reason,
        )
        .select_from(run_item)
        .join(window, window.c.run_item_id == run_item.c.id)
        .join(verdict, verdict.c.window_id == window.c.id)
        .where(within, verdict.c.is_home.is_(False))
        .order_by(run_item.c.id, window.c.position, verdict.c.position)
    )


def _group_repeats(rows: _Rows) -> dict[tuple[int, int], list[ExportRepeat]]:
    """Group the rows of `_select_repeats` by item and claim."""
    found: dict[tuple[int, int], list[ExportRepeat]] = defaultdict(list)
    for item, claim_id, *fields in rows:
        found[item, claim_id].append(ExportRepeat._make(fields))
    return found


def _make_conversation(item: _Item, part: _Part) -> ExportConversation:
    turns = tuple(part.turns.get(item.conversation, ()))
    windows = tuple(part.windows.get(item.id, ()))
    by_position = {each.position: each for each in windows}
    documents = part.documents.get(item.conversation, {})
    passages: dict[int, tuple[ExportPassage, ...]] = {}
    claims = []
    for each in part.claims.get(item.conversation, ()):
        home = None if each.window is None else by_position[each.window]
        if each.document is not None:
            shown: tuple[ExportPassage, ...] = (documents[each.document],)
        elif home is not None:
            if home.position not in passages:
                passages[home.position] = _list_passages_of_turns(
                    item.conversation, home.turns, turns, part
                )
            shown = passages[home.position]
        else:
            shown = turns[each.turn].passages or ()
        word = part.consensus.get(ClaimId(each.claim))
        stratum, probability = part.drawn.get(each.claim, (None, None))
        name = _make_stable_claim_uuid(item, each, documents)
        claims.append(
            ExportClaim(
                name,
                each.kind,  # type: ignore[arg-type]  # the column holds nothing else
                each.turn,
                turns[each.turn].content if each.kind == "answer" else each.text,
                None if each.start is None or each.end is None else (each.start, each.end),
                None if each.document is None else documents[each.document].document,
                home is not None,
                each.window,
                each.label,
                each.word,
                each.reason,
                each.confidence,
                None if home is None else home.judged_at,
                None if each.window is None else part.calls.get((item.id, each.window)),
                shown,
                tuple(part.evidence.get((item.id, each.claim), ())),
                None if word == TIE else word,
                word == TIE,
                tuple(
                    iter_labels_with_missing_ids_filled_in(
                        part.labels.get(ClaimId(each.claim), ()), name
                    )
                ),
                stratum,
                probability,
                tuple(part.repeats.get((item.id, each.claim), ())),
            )
        )
    return ExportConversation(
        number=item.number,
        id=make_stable_uuid("conversation", item.source, item.key),
        source=item.source,
        key=item.key,
        group=item.group,
        metadata=item.details,
        turns=turns,
        claims=tuple(claims),
        windows=windows,
        state=item.state,
        score=item.score,
        corrected=item.corrected,
        reason=item.conclusion or item.why,
    )


def _list_passages_of_turns(
    talk: int, positions: Sequence[int], turns: Sequence[ExportTurn], part: _Part
) -> tuple[ExportPassage, ...]:
    """List the documents of the assistant's turns in view, in reading order, each once."""
    return tuple(
        dict.fromkeys(
            each
            for at in positions
            if turns[at].role == "assistant"
            for each in part.in_turn.get((talk, at), ())
        )
    )


def _make_stable_claim_uuid(
    item: _Item, found: _JudgedClaim, documents: Mapping[int, ExportPassage]
) -> str:
    place = () if found.document is None else (documents[found.document].document,)
    digest = "" if found.kind == "answer" else found.digest
    return make_stable_uuid("claim", item.source, item.key, found.kind, found.turn, digest, *place)
