"""A conversation while a format reader puts it together.

Every format ends here, so that ids, tags and scores lie in the same places of the metadata
whichever tool they came from, and an export finds them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from faithtui.domain.conversation import (
    Conversation,
    Document,
    Image,
    LabelRecord,
    Rating,
    Role,
    Span,
    Turn,
    content_hash,
)
from faithtui.domain.labels.imported_verdicts import ImportedJudgement, ImportedVerdict
from faithtui.domain.limits import NOTE, REVIEWER
from faithtui.formats.readers.conversation_json import check_name_length, choose_group_from_metadata
from faithtui.formats.readers.values.cells import find_broken_list
from faithtui.formats.readers.values.key_spellings import ShapeError, normalise_key_spelling
from faithtui.formats.readers.values.passages import PassageList

PER_TURN = "per_turn"
"""Key of the metadata that holds what is known of single turns, by position as text."""


@dataclass(slots=True)
class TurnDraft:
    """One turn, and what is known of it."""

    role: Role
    content: str
    passages: PassageList | None = None
    """None: nobody knows what was retrieved."""
    images: tuple[Image, ...] = ()
    details: dict[str, object] = field(default_factory=dict)

    def add_passages(self, passages: PassageList) -> None:
        """Put more passages behind those it has."""
        self.passages = passages if self.passages is None else self.passages + passages


@dataclass(slots=True)
class ConversationDraft:
    """A conversation, and what is known of it."""

    key: str | None = None
    """None or blank: the hash of its turns."""
    turns: list[TurnDraft] = field(default_factory=list)
    metadata: dict[str, object] = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    verdicts: list[ImportedJudgement] = field(default_factory=list)
    extra: dict[str, object] = field(default_factory=dict)
    """What nobody understood, kept under `extra`."""
    where: str = ""
    """Name of the field it stands in, for messages; "" for a whole record."""
    broken_lists: list[ShapeError] = field(default_factory=list)
    """Texts that begin as a list and are none, and were taken as they stand."""

    def add_turn(
        self,
        role: Role,
        content: str,
        passages: PassageList | None = None,
        **details: object,
    ) -> TurnDraft:
        """Add a turn at the end; details that are None are left out."""
        turn = TurnDraft(role, content, passages)
        turn.details |= {name: each for name, each in details.items() if each is not None}
        self.turns.append(turn)
        return turn

    @property
    def last_answer_position(self) -> int | None:
        """Position of the last assistant turn; None when there is none."""
        places = [place for place, turn in enumerate(self.turns) if turn.role == "assistant"]
        return places[-1] if places else None

    def add_human_label(
        self,
        turn: int,
        annotator: str,
        scale: str,
        label: str,
        *,
        claim: str | None = None,
        span: tuple[int, int] | None = None,
        note: str | None = None,
        record: LabelRecord | None = None,
    ) -> None:
        """Add a human label.

        Raises:
            ShapeError: A text is longer than may be stored.
        """
        for name, text, limit in (("annotator", annotator, REVIEWER), ("note", note or "", NOTE)):
            problem = limit.find_size_problem(len(text))
            if problem is not None:
                raise ShapeError(name, problem)
        place = None if span is None else Span(*span)
        self.ratings.append(
            Rating(
                turn,
                annotator if annotator.strip() else "unknown",
                scale,
                label,
                claim,
                place,
                note or None,
                record,
            )
        )

    def add_judge_verdict_on_answer(self, verdict: ImportedVerdict) -> None:
        """Add what a judge said of a whole answer; what it says again is left out.

        A judge has one verdict on an answer. Another one, as of a second evaluation, is that of a
        judge of its own, `NAME (2)`, so that neither hides the other.
        """
        named, number = verdict, 1
        for each in self.verdicts:
            if named == each:
                return
            if isinstance(each, ImportedVerdict) and (each.judge, each.turn) == (
                named.judge,
                named.turn,
            ):
                number += 1
                named = replace(verdict, judge=f"{verdict.judge} ({number})")
        self.verdicts.append(named)

    def note_broken_list(self, value: object, where: str) -> None:
        """Note a value that was taken for a text and begins as a list."""
        problem = find_broken_list(value, where)
        if problem is not None:
            self.broken_lists.append(problem)

    def build(self, source: str) -> Conversation:
        """Make the conversation.

        Args:
            source: Name of the data set.

        Raises:
            ShapeError: It has no turn, or a name that no list could show.
        """
        if not self.turns:
            raise ShapeError("", "has no message of a user or an assistant")
        turns = tuple(_build_turn(each) for each in self.turns)
        key = self.key if self.key and self.key.strip() else content_hash(turns)
        check_name_length(key, "id")
        metadata = {name: each for name, each in self.metadata.items() if each is not None}
        per_turn = self._collect_details_by_turn()
        if per_turn:
            metadata[PER_TURN] = per_turn
        if self.extra:
            metadata["extra"] = self.extra
        return Conversation(
            source,
            key,
            turns,
            choose_group_from_metadata(metadata, source, key),
            metadata,
            tuple(self.ratings),
        )

    def _collect_details_by_turn(self) -> dict[str, Mapping[str, object]]:
        found: dict[str, Mapping[str, object]] = {}
        for place, turn in enumerate(self.turns):
            details = dict(turn.details)
            known = None if turn.passages is None else turn.passages.details_if_any
            if known is not None:
                details["passages"] = known
            if details:
                found[str(place)] = details
        return found


def _build_turn(draft: TurnDraft) -> Turn:
    documents: tuple[Document, ...] | None = (
        None if draft.passages is None else draft.passages.documents
    )
    return Turn(draft.role, draft.content, documents, draft.images)


def list_roles_and_texts(turns: Sequence[TurnDraft]) -> tuple[tuple[str, str], ...]:
    """Give role and text of each turn, to tell whether two histories are one."""
    return tuple((turn.role, turn.content) for turn in turns)


def keep_unread_fields_in_draft(
    draft: ConversationDraft,
    rest: Mapping[str, object],
    known: frozenset[str],
    unknown_keys: Counter[str],
) -> None:
    """Keep what was not read: known fields in the metadata, the others under `extra`, counted.

    Args:
        draft: The conversation.
        rest: Fields that nobody asked for.
        known: Folded names of fields that are known and mean nothing to a metric.
        unknown_keys: Counts the others.
    """
    for key, value in rest.items():
        if normalise_key_spelling(key) in known:
            draft.metadata.setdefault(key, value)
        else:
            draft.extra[key] = value
            unknown_keys[key] += 1
