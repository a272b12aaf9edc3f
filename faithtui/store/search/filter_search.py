"""Finding the conversations and claims of a run that a filter means.

A list gets ids, in its order and all of them, so that it can say how many there are; rows follow by
pages. Words come from the index, verdicts from an index of home verdicts, and the human
labels from the replayed log. Whoever types on stops a search that is under way.
"""

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    cast,
    column,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.exc import OperationalError

from faithtui.domain.filters import (
    MISSING,
    NONE,
    Filter,
    FilterContext,
    Scope,
    ScoreBounds,
    Term,
    TermName,
    parse_score_bounds,
)
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.labels_by_reviewer import (
    VerdictCache,
    find_claims_meeting_label_term,
    make_label_log_sql_condition,
)
from faithtui.store.database import Database
from faithtui.store.file.readers import read_id_column
from faithtui.store.runs.conversation_order import ItemOrder, select_ordered_item_ids
from faithtui.store.schema.json_columns import scoring_rule_from_json
from faithtui.store.schema.tables import (
    claim,
    conversation,
    human_label,
    run,
    run_item,
    search_claim,
    search_conversation,
    search_document,
    turn_document,
    verdict,
)
from faithtui.store.search.metadata import select_conversations_by_metadata
from faithtui.store.search.word_index import CLAIM_BITS, WordIndex, make_phrase_query

_CLAIM_MASK = (1 << CLAIM_BITS) - 1


class SearchStopped(Exception):
    """Somebody stopped the search; there is no result."""


class SearchStop:
    """Ends one search from another thread, even in the middle of a statement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the search, or keep it from beginning."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()

    def raise_if_stopped(self) -> None:
        """Raise `SearchStopped` if somebody stopped it."""
        with self._lock:
            if self._stopped:
                raise SearchStopped

    @contextlib.contextmanager
    def run_stoppable_statements(self, connection: Connection) -> Iterator[None]:
        """Run statements that can be ended.

        Raises:
            SearchStopped: They were.
        """
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        with self._lock:
            if self._stopped:
                raise SearchStopped
            self._connection = raw
        try:
            yield
        except OperationalError as error:
            if self._stopped:
                raise SearchStopped from error
            raise
        finally:
            with self._lock:
                # The connection goes back to others, whom nothing may end.
                self._connection = None
        if self._stopped:
            raise SearchStopped


def make_filter_context(
    rule: ScoringRule, *, blind: bool = False, scope: Scope | None = None
) -> FilterContext:
    """Say which words a filter over a run may hold.

    Args:
        rule: The run's.
        blind: What the judge said must not be found out.
        scope: What is looked through; None: the conversations.
    """
    return FilterContext(scope or Scope.CONVERSATIONS, rule.labels, dict(rule.synonyms), blind)


class Search:
    """Finds conversations and claims of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._verdict_cache = VerdictCache()
        self._word_index = WordIndex(database)

    def list_matching_items(
        self,
        run_id: RunId,
        wanted: Filter,
        order: ItemOrder = "number",
        *,
        stop: SearchStop | None = None,
    ) -> tuple[ItemId, ...]:
        """List the conversations of a run that a filter finds.

        A word is found in the key, a message, a passage or a claim of the conversation, each word
        by itself; terms about claims are met by one claim together.

        Args:
            run_id: The run.
            wanted: Read for conversations of the run.
            order: See `Runs.list_item_ids`.
            stop: Ends it from another thread.

        Raises:
            SearchStopped: It was stopped.
            StoreReadOnly: Words are wanted, some wait for the index, and it cannot be written.
        """
        with self._open_stoppable_reader(run_id, wanted, stop) as connection:
            where = self._make_conditions(connection, run_id, wanted)
            found = read_id_column(connection, select_ordered_item_ids(run_id, order).where(*where))
        return tuple(map(ItemId, found))

    def count_matching_items(self, run_id: RunId, wanted: Filter) -> int:
        """Count the conversations of a run that a filter finds, as `list_matching_items` does."""
        with self._open_stoppable_reader(run_id, wanted, None) as connection:
            where = self._make_conditions(connection, run_id, wanted)
            found = select(func.count(run_item.c.id)).where(run_item.c.run_id == run_id, *where)
            return connection.execute(found).scalar_one()

    def find_claims(
        self,
        run_id: RunId,
        wanted: Filter,
        order: ItemOrder = "number",
        *,
        item: ItemId | None = None,
        stop: SearchStop | None = None,
    ) -> tuple[tuple[ItemId, ClaimId], ...]:
        """List the claims of a run that a filter finds, conversation by conversation.

        They are in conversations that `list_matching_items` finds, meet all terms about claims,
        and hold every word themselves; of whole answers, the answer does.

        Args:
            run_id: The run.
            wanted: Read for conversations of the run.
            order: Of the conversations; within one, by turn and then as the judge named them.
            item: Only those of this conversation; None: of all.
            stop: Ends it from another thread.

        Raises:
            SearchStopped: It was stopped.
            StoreReadOnly: Words are wanted, some wait for the index, and it cannot be written.
        """
        with self._open_stoppable_reader(run_id, wanted, stop) as connection:
            place = _RunScope.from_run(connection, run_id)
            conditions = [
                _make_claim_words_condition(wanted, term)
                for term in wanted.list_terms_with_names(TermName.TEXT)
            ]
            conditions += [
                self._make_claim_condition(connection, place, term) for term in wanted.claim_terms
            ]
            within = select_ordered_item_ids(run_id, order).where(
                *self._make_item_conditions(
                    connection, run_id, Filter(_drop_positive_text_terms(wanted))
                )
            )
            if item is not None:
                within = within.where(run_item.c.id == item)
                conditions.append(verdict.c.run_item_id == item)
            at = {found: number for number, found in enumerate(read_id_column(connection, within))}
            rows = connection.execute(
                select(verdict.c.run_item_id, verdict.c.claim_id, claim.c.turn)
                .join(claim, claim.c.id == verdict.c.claim_id)
                .where(place.home, *conditions)
                .order_by(verdict.c.run_item_id, verdict.c.window_id, verdict.c.position)
            ).all()
        found = [row for row in rows if row.run_item_id in at]
        found.sort(key=lambda row: (at[row.run_item_id], row.turn))
        return tuple((ItemId(row.run_item_id), ClaimId(row.claim_id)) for row in found)

    @contextlib.contextmanager
    def _open_stoppable_reader(
        self, run_id: RunId, wanted: Filter, stop: SearchStop | None
    ) -> Iterator[Connection]:
        stop = stop or SearchStop()
        if wanted.list_terms_with_names(TermName.TEXT):
            self._word_index.index_texts_of_run(run_id, stop.raise_if_stopped)
        with (
            self._database.open_reader() as connection,
            stop.run_stoppable_statements(connection),
        ):
            yield connection

    def _make_conditions(
        self, connection: Connection, run_id: RunId, wanted: Filter
    ) -> list[ColumnElement[bool]]:
        """Say which conversations of a run a filter finds."""
        return [
            *self._make_item_conditions(connection, run_id, wanted),
            *self._make_item_conditions_from_claim_terms(
                connection, _RunScope.from_run(connection, run_id), wanted
            ),
        ]

    def _make_item_conditions(
        self, connection: Connection, run_id: RunId, wanted: Filter
    ) -> list[ColumnElement[bool]]:
        """Say which conversations meet the terms about conversations."""
        conditions: list[ColumnElement[bool]] = []
        for term in wanted.terms:
            found: ColumnElement[bool]
            match term.name:
                case TermName.TEXT:
                    found = _make_conversation_words_condition(wanted, term)
                case TermName.SCORE:
                    found = _make_score_condition(run_item.c.score, term)
                case TermName.WITH_OVERRIDES:
                    found = _make_score_condition(run_item.c.corrected, term)
                case TermName.ANSWERS:
                    # Most filters have no such term, and it takes a layer more.
                    from faithtui.store.annotations.labelled_units import (
                        find_rated_conversations,
                    )

                    differing = term.value.casefold() == "differ"
                    rated = find_rated_conversations(connection, run_id, differing=differing)
                    found = run_item.c.conversation_id.in_(_make_number_subquery(rated))
                case TermName.STATE:
                    found = run_item.c.state == term.value.casefold()
                case TermName.SOURCE | TermName.GROUP:
                    named = conversation.c[term.name.value]
                    found = run_item.c.conversation_id.in_(
                        select(conversation.c.id).where(named == term.value)
                    )
                case TermName.META:
                    found = run_item.c.conversation_id.in_(
                        select_conversations_by_metadata(term.value)
                    )
                case _:
                    continue
            conditions.append(~found if term.negated else found)
        return conditions

    def _make_item_conditions_from_claim_terms(
        self, connection: Connection, place: "_RunScope", wanted: Filter
    ) -> list[ColumnElement[bool]]:
        """Say which conversations have a claim that meets all terms about claims."""
        terms = wanted.claim_terms
        if not terms:
            return []
        if len(terms) == 1 and (counted := _make_condition_from_counters(terms[0])) is not None:
            return [counted]
        met = [self._make_claim_condition(connection, place, term) for term in terms]
        return [run_item.c.id.in_(select(verdict.c.run_item_id).where(place.home, *met))]

    def _make_claim_condition(
        self, connection: Connection, place: "_RunScope", term: Term
    ) -> ColumnElement[bool]:
        """Say which home verdicts are of claims that meet a term about claims."""
        value = term.value.casefold()
        if term.name is TermName.VERDICT:
            label = None if value == MISSING else make_filter_context(place.rule).find_label(value)
            if term.negated:
                return verdict.c.label.is_distinct_from(label)
            return verdict.c.label.is_(None) if label is None else verdict.c.label == label
        negated = term.negated
        if (term.name, value) in _UNLABELLED_TERMS:
            term, negated = _LABELLED_TERM, not negated
        judged = place.read_judge_labels_of_logged_claims(
            connection, make_label_log_sql_condition(term)
        )
        found = find_claims_meeting_label_term(
            term, self._verdict_cache.read_verdicts(connection, judged), place.rule, judged
        )
        within = verdict.c.claim_id.in_(_make_number_subquery(found))
        return ~within if negated else within


def _make_number_subquery(numbers: Iterable[int]) -> Select[tuple[int]]:
    """Give numbers as a statement of one parameter, however many there are."""
    listed = func.json_each(json.dumps(sorted(numbers))).table_valued(column("value", Integer))
    return select(listed.c.value)


_LABELLED_TERM = Term(TermName.IS, "labelled")
_UNLABELLED_TERMS = {(TermName.IS, "unlabelled"), (TermName.HUMAN, NONE)}


class _RunScope:
    """A run's part of the verdicts."""

    def __init__(self, rule: ScoringRule, items: tuple[int, int, int], run_id: RunId) -> None:
        first, last, count = items
        self.rule = rule
        self.home = and_(verdict.c.is_home, verdict.c.run_item_id.between(first, last))
        """Home verdicts of the run: one per unique claim."""
        if last - first + 1 != count:
            own = select(run_item.c.id).where(run_item.c.run_id == run_id)
            self.home = and_(self.home, verdict.c.run_item_id.in_(own))

    @classmethod
    def from_run(cls, connection: Connection, run_id: RunId) -> "_RunScope":
        stored = connection.execute(select(run.c.rule).where(run.c.id == run_id)).scalar_one()
        items = connection.execute(
            select(func.min(run_item.c.id), func.max(run_item.c.id), func.count()).where(
                run_item.c.run_id == run_id
            )
        ).one()
        return cls(
            scoring_rule_from_json(stored), (items[0] or 0, items[1] or -1, items[2]), run_id
        )

    def read_judge_labels_of_logged_claims(
        self, connection: Connection, log: ColumnElement[bool]
    ) -> Mapping[ClaimId, str | None]:
        """Read the judge's label of the run's claims that some rows of the log are about."""
        # The log comes first: it is short beside the verdicts.
        claims = select(human_label.c.claim_id).where(log).distinct().subquery()
        rows = connection.execute(
            select(verdict.c.claim_id, verdict.c.label)
            .select_from(claims)
            .join(verdict, verdict.c.claim_id == claims.c.claim_id)
            .where(self.home)
        )
        return {ClaimId(row.claim_id): row.label for row in rows}


def _drop_positive_text_terms(wanted: Filter) -> tuple[Term, ...]:
    """Leave out the words that a claim holds itself: then its conversation does too."""
    return tuple(term for term in wanted.terms if term.negated or term.name is not TermName.TEXT)


def _make_condition_from_counters(term: Term) -> ColumnElement[bool] | None:
    """Say which conversations have a claim that meets a term, where their counts tell."""
    value = term.value.casefold()
    negated = term.negated
    if (term.name, value) in _UNLABELLED_TERMS:
        value, negated = "labelled", not negated
    elif term.name is not TermName.IS:
        return None
    match value:
        case "labelled" if negated:
            return run_item.c.labelled < run_item.c.claims
        case "labelled":
            return run_item.c.labelled > 0
        case "disagreement" if not negated:
            return run_item.c.overridden > 0
        case _:
            # A labelled claim that is not overridden may be one that annotators are split on.
            return None


def _make_full_text_query(wanted: Filter, term: Term) -> str:
    return make_phrase_query(term.value, begins=term is wanted.unfinished_word)


def _make_full_text_match_condition(index: str, query: str) -> ColumnElement[bool]:
    return literal_column(index).op("MATCH", is_comparison=True)(literal(query))


def _make_conversation_words_condition(wanted: Filter, term: Term) -> ColumnElement[bool]:
    """Say which conversations hold the words of a term.

    Three questions and not their union: a word that most messages hold is answered by the first,
    and the others, which cost more, are asked only when a conversation is left.
    """
    matching = partial(_make_full_text_match_condition, query=_make_full_text_query(wanted, term))
    rowid = cast(search_claim.c.rowid, Integer)
    documents = select(search_document.c.rowid).where(matching("search_document"))
    here = run_item.c.conversation_id
    return or_(
        here.in_(select(search_conversation.c.rowid).where(matching("search_conversation"))),
        here.in_(select(rowid.bitwise_rshift(CLAIM_BITS)).where(matching("search_claim"))),
        here.in_(
            select(turn_document.c.conversation_id).where(
                turn_document.c.document_id.in_(documents)
            )
        ),
    )


def _make_claim_words_condition(wanted: Filter, term: Term) -> ColumnElement[bool]:
    """Say which verdicts are of claims that hold the words of a term."""
    own = cast(search_claim.c.rowid, Integer).bitwise_and(_CLAIM_MASK)
    found = verdict.c.claim_id.in_(
        select(own).where(
            _make_full_text_match_condition("search_claim", _make_full_text_query(wanted, term))
        )
    )
    return ~found if term.negated else found


def _make_score_condition(score: ColumnElement[float], term: Term) -> ColumnElement[bool]:
    """Say which scores a term means; without a score only `none` is met."""
    if term.value.casefold() == NONE:
        return score.is_(None)
    within = parse_score_bounds(term.value)
    if within is None:
        return false()
    return and_(score.is_not(None), _make_range_condition(score, within))


def _make_range_condition(score: ColumnElement[float], limits: ScoreBounds) -> ColumnElement[bool]:
    low = (
        true()
        if limits.low == float("-inf")
        else (score >= limits.low if limits.with_low else score > limits.low)
    )
    high = (
        true()
        if limits.high == float("inf")
        else (score <= limits.high if limits.with_high else score < limits.high)
    )
    return and_(low, high)
