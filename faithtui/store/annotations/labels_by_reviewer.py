"""What people stand by, for filters: replayed per claim, and again only when something was said."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, func, select

from faithtui.domain.annotations import Action, HumanVerdict
from faithtui.domain.filters import Name, Term, reason_code
from faithtui.domain.ids import ClaimId
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.label_replay import acts_of, consensus_of, human_verdicts
from faithtui.store.schema.statements import chunks
from faithtui.store.schema.tables import claim, deletion, human_label

Said = Mapping[ClaimId, tuple[HumanVerdict, ...]]


class People:
    """Replayed acts of the claims that somebody acted on, kept while nothing is said about them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[ClaimId, tuple[HumanVerdict, ...]] = {}
        self._last = (0, 0)
        """Newest row of the log that was looked at, and how many deletions there had been: after
        one, numbers are given again."""

    def said(self, connection: Connection, claims: Collection[ClaimId]) -> Said:
        """Replay what people said about some claims; those without a word are left out."""
        with self._lock:
            self._forget_changed(connection)
            missing = [each for each in claims if each not in self._known]
            for some in chunks(missing):
                found = human_verdicts(acts_of(connection, claim.c.id.in_(some)))
                self._known |= {each: found.get(each, ()) for each in some}
            return {each: self._known[each] for each in claims if self._known[each]}

    def _forget_changed(self, connection: Connection) -> None:
        newest = connection.execute(select(func.max(human_label.c.id))).scalar() or 0
        deletions = connection.execute(select(func.max(deletion.c.id))).scalar() or 0
        if (newest, deletions) == self._last:
            return
        before, deletions_before = self._last
        if newest < before or deletions != deletions_before:
            self._known.clear()
        for changed in connection.execute(
            select(human_label.c.claim_id).where(human_label.c.id > before).distinct()
        ).scalars():
            self._known.pop(ClaimId(changed), None)
        self._last = newest, deletions


def heard_of(term: Term) -> ColumnElement[bool]:
    """Narrow the log to the rows without which no claim meets a term about people."""
    wanted = term.value.casefold()
    match term.name:
        case Name.REVIEWER:
            # Cases beyond ASCII are compared later: SQLite does not fold them.
            return human_label.c.reviewer.is_not(None)
        case Name.CODE:
            return human_label.c.reason_code == reason_code(wanted)
    match wanted:
        case "flagged" | "unsure":
            return human_label.c.mark == wanted.removesuffix("ged")
        case "skipped":
            return human_label.c.action == Action.SKIPPED.value
        case "noted":
            return human_label.c.note.is_not(None)
        case _:
            return human_label.c.verdict.is_not(None)


def meeting(
    term: Term, said: Said, rule: ScoringRule, judged: Mapping[ClaimId, str | None]
) -> set[ClaimId]:
    """Find the claims that meet a term about people, negation left aside.

    A claim without a word is never among them: whoever looks for claims without a verdict takes
    those that are labelled away.

    Args:
        term: About people, and not `is:unlabelled` or `human:none`.
        said: What people stand by.
        rule: The run's.
        judged: The judge's label of each claim in question.
    """
    wanted = term.value.casefold()
    people = said.items()
    match term.name:
        case Name.HUMAN:
            word = rule.heard(wanted)
            return {each for each, found in _agreed(said, rule) if found == word}
        case Name.REVIEWER:
            return _where(people, lambda each: each.says and each.reviewer.casefold() == wanted)
        case Name.CODE:
            code = reason_code(wanted)
            return _where(people, lambda each: each.code == code)
    match wanted:
        case "labelled":
            return {each for each, _ in _agreed(said, rule)}
        case "agreement":
            return {each for each, word in _agreed(said, rule) if judged[each] == word}
        case "disagreement":
            return {each for each, word in _agreed(said, rule) if judged[each] != word}
        case "flagged":
            return _where(people, lambda each: each.flagged)
        case "skipped":
            return _where(people, lambda each: each.action is Action.SKIPPED)
        case "unsure":
            return _where(people, lambda each: each.unsure)
        case _:
            return _where(people, lambda each: each.note is not None)


def _agreed(said: Said, rule: ScoringRule) -> Iterable[tuple[ClaimId, str]]:
    agreed = consensus_of(said, rule)
    return ((each, agreed[each]) for each in said if each in agreed)


def _where(
    people: Iterable[tuple[ClaimId, tuple[HumanVerdict, ...]]],
    holds: Callable[[HumanVerdict], bool],
) -> set[ClaimId]:
    return {claim_id for claim_id, found in people if any(map(holds, found))}
