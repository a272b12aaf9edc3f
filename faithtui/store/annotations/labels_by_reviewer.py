"""The human labels in force, for filters: replayed per claim, and only after a new label."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, func, select

from faithtui.domain.filters import Term, TermName, find_reason_code
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import TIE, Action, HumanVerdict
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.label_replay import compute_consensus, read_events, replay_verdicts
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import claim, deletion, human_label

VerdictsByClaim = Mapping[ClaimId, tuple[HumanVerdict, ...]]


class VerdictCache:
    """Replayed events of claims, kept while no event is added."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[ClaimId, tuple[HumanVerdict, ...]] = {}
        self._last_seen = (0, 0)
        """Newest row of the log that was looked at, and how many deletions there had been: after
        one, numbers are given again."""

    def read_verdicts(self, connection: Connection, claims: Collection[ClaimId]) -> VerdictsByClaim:
        """Replay the human labels of some claims; those without a label are left out."""
        with self._lock:
            self._clear_if_log_changed(connection)
            missing = [each for each in claims if each not in self._known]
            for some in split_into_chunks(missing):
                found = replay_verdicts(read_events(connection, claim.c.id.in_(some)))
                self._known |= {each: found.get(each, ()) for each in some}
            return {each: self._known[each] for each in claims if self._known[each]}

    def _clear_if_log_changed(self, connection: Connection) -> None:
        newest = connection.execute(select(func.max(human_label.c.id))).scalar() or 0
        deletions = connection.execute(select(func.max(deletion.c.id))).scalar() or 0
        if (newest, deletions) == self._last_seen:
            return
        before, deletions_before = self._last_seen
        if newest < before or deletions != deletions_before:
            self._known.clear()
        for changed in connection.execute(
            select(human_label.c.claim_id).where(human_label.c.id > before).distinct()
        ).scalars():
            self._known.pop(ClaimId(changed), None)
        self._last_seen = newest, deletions


def make_label_log_sql_condition(term: Term) -> ColumnElement[bool]:
    """Narrow the log to the rows without which no claim meets a term about annotators."""
    wanted = term.value.casefold()
    match term.name:
        case TermName.REVIEWER:
            # Cases beyond ASCII are compared later: SQLite does not fold them.
            return human_label.c.reviewer.is_not(None)
        case TermName.CODE:
            return human_label.c.reason_code == find_reason_code(wanted)
    match wanted:
        case "flagged" | "unsure":
            return human_label.c.mark == wanted.removesuffix("ged")
        case "skipped":
            return human_label.c.action == Action.SKIPPED.value
        case "noted":
            return human_label.c.note.is_not(None)
        case _:
            return human_label.c.verdict.is_not(None)


def find_claims_meeting_label_term(
    term: Term, labels: VerdictsByClaim, rule: ScoringRule, judged: Mapping[ClaimId, str | None]
) -> set[ClaimId]:
    """Find the claims that meet a term about annotators, negation left aside.

    A claim without a word is never among them: whoever looks for claims without a verdict takes
    those that are labelled away.

    Args:
        term: About annotators, and not `is:unlabelled` or `human:none`.
        labels: The human labels in force.
        rule: The run's.
        judged: The judge's label of each claim in question.
    """
    wanted = term.value.casefold()
    people = labels.items()
    match term.name:
        case TermName.HUMAN:
            word = rule.translate_word_to_label(wanted)
            return {
                each for each, found in _list_claims_with_consensus(labels, rule) if found == word
            }
        case TermName.REVIEWER:
            return _find_claims_where_any_person_meets(
                people, lambda each: each.has_content and each.reviewer.casefold() == wanted
            )
        case TermName.CODE:
            code = find_reason_code(wanted)
            return _find_claims_where_any_person_meets(people, lambda each: each.code == code)
    match wanted:
        case "labelled":
            return {each for each, _ in _list_claims_with_consensus(labels, rule)}
        case "agreement":
            return {
                each
                for each, word in _list_claims_with_consensus(labels, rule)
                if judged[each] == word
            }
        case "disagreement":
            decided = (each for each in _list_claims_with_consensus(labels, rule) if each[1] != TIE)
            return {each for each, word in decided if judged[each] != word}
        case "flagged":
            return _find_claims_where_any_person_meets(people, lambda each: each.flagged)
        case "skipped":
            return _find_claims_where_any_person_meets(people, lambda each: each.is_skipped)
        case "unsure":
            return _find_claims_where_any_person_meets(people, lambda each: each.unsure)
        case _:
            return _find_claims_where_any_person_meets(people, lambda each: each.note is not None)


def _list_claims_with_consensus(
    labels: VerdictsByClaim, rule: ScoringRule
) -> Iterable[tuple[ClaimId, str]]:
    agreed = compute_consensus(labels, rule)
    return ((each, agreed[each]) for each in labels if each in agreed)


def _find_claims_where_any_person_meets(
    people: Iterable[tuple[ClaimId, tuple[HumanVerdict, ...]]],
    holds: Callable[[HumanVerdict], bool],
) -> set[ClaimId]:
    return {claim_id for claim_id, found in people if any(map(holds, found))}
