"""The split of a store: made once, and every look at its test part written down."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from faithtui.domain.ids import ConversationId, RunId
from faithtui.domain.split_rule import SPLITS, Split, SplitRule
from faithtui.domain.text.suggestions import format_known_names
from faithtui.errors import ConfigError
from faithtui.store.samples.splits import StoredSplit
from faithtui.store.store import Store

SHARES = (60, 20, 20)
"""Percent of train, dev and test, unless somebody asks for others."""


@dataclass(frozen=True, slots=True)
class SplitOpening:
    """A look at figures of the test part."""

    number: int
    """Of all such looks, from 1."""

    @property
    def warning(self) -> str:
        """What whoever looks must know."""
        if self.number == 1:
            return "test split opened 1 time: this is the look it was kept for"
        return (
            f"test split opened {self.number} times: it is no longer untouched; whatever was "
            "chosen after an earlier look was chosen with its help, and these figures flatter it"
        )


def save_store_split(
    store: Store, made_by: str, shares: Sequence[int] | None = None, seed: int | None = None
) -> StoredSplit:
    """Split the conversations of a store, once and for all.

    Args:
        store: Where they are.
        made_by: Who does it.
        shares: Percent of train, dev and test; None: those that stand, else `SHARES`.
        seed: None: the one that stands, else 0.

    Raises:
        ConfigError: The shares are none, or a part that should hold something would be empty.
        StoreError: Another split stands.
    """
    stands = store.splits.read_split_rule()
    default = SplitRule(0, *SHARES) if stands is None else stands.rule
    try:
        train, dev, test = default.shares if shares is None else shares
        rule = SplitRule(default.seed if seed is None else seed, train, dev, test)
    except ValueError as error:
        raise ConfigError(
            f"shares are {','.join(map(str, shares or ()))}; expected percent of train, dev and "
            "test that make 100, such as 60,20,20"
        ) from error
    if stands is None:
        _refuse_empty_parts(store, rule)
    return store.splits.set_split_rule_unless_set(rule, made_by)


def _refuse_empty_parts(store: Store, rule: SplitRule) -> None:
    """Refuse a split that leaves a part empty, while it can still be another one."""
    counts = store.splits.count_conversations_per_split(rule)
    for split, share in zip(SPLITS, rule.shares, strict=True):
        if share and not counts[split].groups:
            groups = sum(each.groups for each in counts.values())
            raise ConfigError(
                f"no conversation would be in {split}: there "
                f"{'is 1 group' if groups == 1 else f'are {groups} groups'}, and a group stays "
                "together; import more conversations first, or choose another --seed or --shares"
            )


def parse_split(text: str | None) -> Split | None:
    """Read the name of a part.

    Raises:
        ConfigError: There is none of that name.
    """
    if text is None:
        return None
    if text not in SPLITS:
        raise ConfigError(f"there is no split `{text}`; known: {format_known_names(text, SPLITS)}")
    return Split(text)


def read_split_rule(store: Store) -> SplitRule:
    """Give the rule of a store.

    Raises:
        ConfigError: The conversations were never split.
    """
    made = store.splits.read_split_rule()
    if made is None:
        raise ConfigError("the conversations are not split yet: faithtui split make")
    return made.rule


def read_split_conversations(store: Store, split: Split) -> frozenset[ConversationId]:
    """Name the conversations of a part.

    Raises:
        ConfigError: The conversations were never split.
    """
    read_split_rule(store)
    of = store.splits.map_conversations_to_splits()
    return frozenset(conversation for conversation, where in of.items() if where is split)


def count_test_conversations(store: Store, conversations: Collection[ConversationId]) -> int:
    """Count those of some conversations that are in the test part; 0 without a split."""
    of = store.splits.map_conversations_to_splits()
    return sum(of.get(each) is Split.TEST for each in set(conversations))


def record_test_opening(
    store: Store, split: Split | None, command: str, runs: Sequence[RunId], who: str
) -> SplitOpening | None:
    """Write down that figures of the test part are about to be shown; None for other parts.

    Raises:
        ConfigError: The conversations were never split.
    """
    if split is not Split.TEST:
        return None
    read_split_rule(store)
    return SplitOpening(store.splits.record_test_opening(command, runs, who))
