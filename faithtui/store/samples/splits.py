"""Which conversations are for learning, tuning and testing, and who looked at the test part."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select

from faithtui.domain.ids import ConversationId, RunId
from faithtui.domain.split_rule import SPLITS, Split, SplitRule
from faithtui.errors import StoreError
from faithtui.store.database import Database
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import conversation, split_rule, test_opening

_ONLY = 1
"""Key of the only row there may be: a second one cannot be written, by whatever process."""


@dataclass(frozen=True, slots=True)
class StoredSplit:
    """The rule of a store."""

    rule: SplitRule
    made_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SplitCount:
    """How much is in a part."""

    conversations: int
    groups: int


@dataclass(frozen=True, slots=True)
class TestOpening:
    """A look at figures of the test part."""

    __test__ = False  # no test class, whatever the name says to pytest

    command: str
    runs: tuple[RunId, ...]
    opened_by: str
    created_at: datetime


class Splits:
    """The split of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def read_split_rule(self) -> StoredSplit | None:
        """Give the rule; None while there is none."""
        with self._database.open_reader() as connection:
            return _read_split(connection)

    def set_split_rule_unless_set(self, rule: SplitRule, made_by: str) -> StoredSplit:
        """Split the conversations, those that will be imported included, once and for all.

        The same rule again changes nothing.

        Raises:
            StoreError: Another rule stands.
        """
        row = {
            "id": _ONLY,
            "seed": rule.seed,
            "train": rule.train,
            "dev": rule.dev,
            "test": rule.test,
            "made_by": replace_unstorable_characters(made_by),
            "created_at": self._clock(),
        }

        def insert_rule(connection: Connection) -> StoredSplit:
            stands = _read_split(connection)
            if stands is None:
                connection.execute(insert(split_rule).values(row))
                stands = _read_split(connection)
                assert stands is not None
            if stands.rule != rule:
                shares = ",".join(map(str, stands.rule.shares))
                raise StoreError(
                    f"the conversations of {self._database.path} are split already, {shares} with "
                    f"seed {stands.rule.seed}, and a split is never changed: what was learned from "
                    "would end up in the test; use it as it is, or begin a store of its own"
                )
            return stands

        return self._database.run_in_write_transaction(insert_rule, durable=True)

    def map_conversations_to_splits(self) -> Mapping[ConversationId, Split]:
        """Name the part of every conversation; nothing while there is no rule."""
        with self._database.open_reader() as connection:
            made = _read_split(connection)
            if made is None:
                return {}
            rows = connection.execute(select(conversation.c.id, conversation.c.group))
            return {ConversationId(row.id): made.rule.get_split_of_group(row.group) for row in rows}

    def count_conversations_per_split(self, rule: SplitRule) -> dict[Split, SplitCount]:
        """Count what a rule puts, or would put, into each part."""
        with self._database.open_reader() as connection:
            groups = connection.execute(select(conversation.c.group)).scalars()
            conversations = Counter(groups)
        by_split: dict[Split, list[int]] = {split: [] for split in SPLITS}
        for group, number in conversations.items():
            by_split[rule.get_split_of_group(group)].append(number)
        return {split: SplitCount(sum(each), len(each)) for split, each in by_split.items()}

    def list_test_openings(self) -> tuple[TestOpening, ...]:
        """List who looked at figures of the test part, the first one first."""
        with self._database.open_reader() as connection:
            rows = connection.execute(select(test_opening).order_by(test_opening.c.id))
            return tuple(
                TestOpening(row.command, tuple(map(RunId, row.runs)), row.opened_by, row.created_at)
                for row in rows
            )

    def record_test_opening(self, command: str, runs: Sequence[RunId], opened_by: str) -> int:
        """Write down that figures of the test part are about to be shown.

        Returns:
            How often that has happened now, this time included.
        """
        row = {
            "command": command,
            "runs": list(runs),
            "opened_by": replace_unstorable_characters(opened_by),
            "created_at": self._clock(),
        }
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(insert(test_opening).values(row)), durable=True
        )
        return len(self.list_test_openings())


def _read_split(connection: Connection) -> StoredSplit | None:
    row: AnyRow | None = connection.execute(select(split_rule)).one_or_none()
    if row is None:
        return None
    return StoredSplit(
        SplitRule(row.seed, row.train, row.dev, row.test), row.made_by, row.created_at
    )
