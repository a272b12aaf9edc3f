"""Counting and choosing the claims of a results folder, by DuckDB, without loading it.

Every claim has a random number of its own: a hash of the seed and of its name. A sample is the
claims with the smallest numbers of each stratum, so that it depends on no order of files, and a
larger one holds a smaller one. Whatever comes from outside, names of files and keys of metadata
too, reaches DuckDB as a parameter and never as text of a query.

Source: Ohlsson, Coordination of samples using permanent random numbers, in Business Survey Methods
(1995), chapter 9.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from faithtui.agreement.population import BUNDLES
from faithtui.engine.population.results_database import ResultsDatabase
from faithtui.errors import ConfigError, InputError

_SPARE: Final = 6.0
"""Standard deviations by which more claims are looked at than are wanted: one scan in a billion
must be repeated."""

MOST_STRATA: Final = 200
"""Strata of a sample: each needs labels of its own."""
_MOST_COUNTS: Final = MOST_STRATA * BUNDLES * 4
"""Rows of counts of as many strata: by bundle, and four kinds of verdict."""

STRATIFY_KEYS: Final = ("verdict", "source", "turn", "score", "uncertainty")
"""What strata can be made of beside keys of the metadata."""

_BAND: Final = (
    "list_value('0.0-0.2', '0.2-0.4', '0.4-0.6', '0.6-0.8', '0.8-1.0')"
    "[1 + CAST(floor(least({0}, 0.99) * 5) AS INTEGER)]"
)
_VALUES: Final[Mapping[str, str]] = {
    "verdict": "claims.label",
    "source": "claims.source",
    "turn": "CASE WHEN claims.turn IS NULL THEN NULL WHEN claims.turn // 2 < 2 THEN '1-2' "
    "WHEN claims.turn // 2 < 5 THEN '3-5' ELSE '6+' END",
    "score": "CASE WHEN claims.conversation_score IS NULL THEN NULL "
    f"ELSE {_BAND.format('claims.conversation_score')} END",
    "uncertainty": _BAND.format("claims.uncertainty"),
}
"""The value of each, as an expression over the tables that `_SOURCES` joins."""

StratumValues = tuple[str | None, ...]
"""One value for each key that strata are made of; None: there is none."""


@dataclass(frozen=True, slots=True)
class StratumCount:
    """How many claims of a stratum have a verdict, in one bundle of conversations."""

    values: StratumValues
    label: str
    """As of the results: `yes`, `no`, `idk` or `none`."""
    bundle: int
    claims: int
    uncertainty: float
    """Sum over the claims."""


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """What became of the conversations."""

    states: Mapping[str, int]
    judged: int
    """Those with a claim."""
    groups: int
    """Groups of these; a conversation without a group is one."""
    passed: int
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ClaimPlace:
    """Where a claim is."""

    number: float
    """Its random number; of whole conversations, that of its conversation."""
    source: str
    key: str
    position: int
    shard: str
    row: int
    """Place of the conversation in its shard."""
    values: StratumValues


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation of the results with all that is needed to store it."""

    source: str
    key: str
    content_sha256: str | None
    reason: str | None
    conversation: str
    judgement: str


class ResultsScan:
    """An open results folder; a context manager that closes itself.

    Attributes:
        results: As given.
        stratified_by: What strata are made of; () until `set_strata`.

    Args:
        results: A folder, or the address of one, such as `s3://bucket/results`.

    Raises:
        ConfigError: DuckDB, or for an address what reads it, is not installed; or the address holds
            a key.
        InputError: There are no results there, or they cannot be read.
    """

    def __init__(self, results: str) -> None:
        self.results = results
        self.stratified_by: tuple[str, ...] = ()
        self._seed = 0
        self._database = ResultsDatabase(results)

    def __enter__(self) -> Self:
        """Give the open results."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def set_strata(self, stratified_by: Sequence[str], seed: int) -> None:
        """Say what strata are made of, and by which random numbers claims are chosen.

        Args:
            stratified_by: `STRATIFY_KEYS`, or keys of the metadata; after `metadata.` a key that
                is called as one of those.
            seed: Of the random numbers.
        """
        self.stratified_by = tuple(stratified_by)
        self._seed = seed

    def close(self) -> None:
        """Let go of the files, and of what was put aside."""
        self._database.close()

    @property
    def names_of_whole_shards(self) -> list[str]:
        """Names of the shards that are whole, in order."""
        return sorted(self._database.files["conversations"])

    def read_manifest(self) -> str:
        """Read the text of the manifest."""
        return self._database.read_manifest()

    def count_conversations(self) -> ConversationCounts:
        """Count what became of the conversations."""
        states = self._database.run_query(
            "SELECT state, count(*) FROM conversations GROUP BY state", {}
        )
        totals = self._database.run_query(
            "SELECT count(*) FILTER (claims > 0), "
            "count(*) FILTER (claims > 0 AND conversation_group IS NULL) "
            "+ count(DISTINCT conversation_group) FILTER (claims > 0), "
            "count(*) FILTER (success), avg(windowed), avg(per_interaction), avg(pooled) "
            "FROM conversations",
            {},
        )[0]
        return ConversationCounts(
            dict(sorted(states)),
            int(totals[0]),
            int(totals[1]),
            int(totals[2]),
            dict(zip(("windowed", "per_interaction", "pooled"), totals[3:], strict=True)),
        )

    def count_claims_by_stratum(self) -> list[StratumCount]:
        """Count all claims by stratum, verdict and bundle."""
        values = self._make_strata_columns_sql()
        rows = self._database.run_query(
            f"SELECT {values}claims.label, conversation.bundle, count(*), sum(claims.uncertainty) "
            f"FROM {self._make_claims_join_sql()} GROUP BY ALL LIMIT {_MOST_COUNTS + 1}",
            self._make_metadata_pointer_parameters(),
        )
        strata = {tuple(row[: len(self.stratified_by)]) for row in rows}
        if len(strata) > MOST_STRATA or len(rows) > _MOST_COUNTS:
            raise ConfigError(
                f"{', '.join(self.stratified_by)} makes more than {MOST_STRATA} strata; leave out "
                "of --stratify what has many values"
            )
        size = len(self.stratified_by)
        return [
            StratumCount(tuple(row[:size]), row[-4], int(row[-3]), int(row[-2]), float(row[-1]))
            for row in rows
        ]

    def choose_random_claims_per_stratum(
        self, populations: Mapping[StratumValues, int], sizes: Mapping[StratumValues, int]
    ) -> list[ClaimPlace]:
        """Choose the claims with the smallest random numbers of each stratum.

        Args:
            populations: Claims of each stratum, as `count_claims_by_stratum` gives them for these
                keys; the keys of strata may be the first ones of those of this scan.
            sizes: How many to choose of each; none of a stratum that is not named.
        """
        numbers = "claims.source, claims.key, claims.position"
        return self._choose_by_smallest_numbers(populations, sizes, numbers, of_conversations=False)

    def choose_conversations_and_list_claims(self, population: int, size: int) -> list[ClaimPlace]:
        """Choose whole conversations, and give all their claims.

        Args:
            population: Conversations that have a claim.
            size: How many to choose.

        Returns:
            Claims of one conversation one after the other.
        """
        numbers = "claims.source, claims.key"
        return self._choose_by_smallest_numbers(
            {(): population}, {(): size}, numbers, of_conversations=True
        )

    def _choose_by_smallest_numbers(
        self,
        populations: Mapping[StratumValues, int],
        sizes: Mapping[StratumValues, int],
        numbers: str,
        *,
        of_conversations: bool,
    ) -> list[ClaimPlace]:
        wanted = {each: min(size, populations[each]) for each, size in sizes.items() if size > 0}
        spare = _SPARE
        while True:
            ends = {
                each: _compute_random_number_threshold(size, populations[each], spare)
                for each, size in wanted.items()
            }
            found = self._read_claims_below(ends, numbers)
            chosen = _take_claims_with_smallest_numbers(
                found, wanted, of_conversations=of_conversations
            )
            if chosen is not None:
                return chosen
            if all(end > 1 for end in ends.values()):
                raise InputError(
                    f"{self.results} has fewer claims than it had when they were counted; is it "
                    "still being written?"
                )
            spare *= 4

    def _read_claims_below(
        self, ends: Mapping[StratumValues, float], numbers: str
    ) -> dict[StratumValues, list[ClaimPlace]]:
        """Read where the claims are whose random number is below that of their stratum."""
        if not ends:
            return {}
        size = len(next(iter(ends)))
        names = [f"value_{place}" for place in range(size)]
        columns = ", ".join([*(f"{name} VARCHAR" for name in names), "highest DOUBLE"])
        self._database.create_temporary_table(
            "wanted", columns, [[*values, end] for values, end in ends.items()]
        )
        same = " AND ".join(
            [f"found.{name} IS NOT DISTINCT FROM wanted.{name}" for name in names] or ["true"]
        )
        rows = self._database.run_query(
            f"WITH found AS (SELECT {self._make_strata_columns_sql()}claims.source, claims.key, "
            f"claims.position, claims.shard, claims.number AS place, "
            f"md5_number_lower(concat_ws(chr(31), $seed, {numbers})) / 18446744073709551616.0 "
            f"AS random_number FROM {self._make_claims_join_sql()}) "
            f"SELECT found.* FROM found JOIN wanted ON {same} "
            "WHERE found.random_number < wanted.highest",
            {**self._make_metadata_pointer_parameters(), "seed": f"faithtui 1 {self._seed}"},
        )
        whole = len(self.stratified_by)
        found: dict[StratumValues, list[ClaimPlace]] = {each: [] for each in ends}
        for row in rows:
            source, key, position, shard, place, number = row[whole:]
            values = tuple(row[:whole])
            found[values[:size]].append(
                ClaimPlace(number, source, key, int(position), shard, int(place), values)
            )
        return found

    def read_conversations(self, shard: str, rows: Sequence[int]) -> list[StoredConversation]:
        """Read conversations of a shard with all that was said of them.

        Args:
            shard: Its name.
            rows: Places of conversations in it.
        """
        marks = ", ".join("?" * len(rows))
        found = self._database.run_query(
            "SELECT source, key, content_sha256, reason, conversation, judgement "
            f"FROM read_parquet(?) WHERE number IN ({marks})",
            [self._database.files["conversations"][shard], *rows],
        )
        return [StoredConversation(*row) for row in found]

    def _make_strata_columns_sql(self) -> str:
        """List the values of strata as columns `value_0`, `value_1` and so on."""
        values = []
        for place, key in enumerate(self.stratified_by):
            expression = _VALUES.get(key, f"conversation.metadata_{place}")
            values.append(f"{expression} AS value_{place}")
        return "".join(f"{each}, " for each in values)

    def _make_claims_join_sql(self) -> str:
        """Join claims with what is needed of their conversations."""
        metadata = "".join(
            f", json_extract_string(metadata, $key_{place}) AS metadata_{place}"
            for place, key in enumerate(self.stratified_by)
            if key not in _VALUES
        )
        bundle = (
            "md5_number_lower(concat_ws(chr(31), 'bundle', coalesce(conversation_group, key))) "
            f"% {BUNDLES} AS bundle"
        )
        return (
            f"claims JOIN (SELECT shard, number, {bundle}{metadata} FROM conversations) "
            "AS conversation USING (shard, number)"
        )

    def _make_metadata_pointer_parameters(self) -> dict[str, object]:
        return {
            f"key_{place}": _make_json_pointer(key)
            for place, key in enumerate(self.stratified_by)
            if key not in _VALUES
        }


def _make_json_pointer(key: str) -> str:
    """Name a key of a JSON object as JSON Pointer does (RFC 6901)."""
    name = key.removeprefix("metadata.")
    return f"/{name.replace('~', '~0').replace('/', '~1')}"


def _compute_random_number_threshold(size: int, population: int, spare: float) -> float:
    """Find a random number that so many claims are below almost surely; 2 where all are wanted."""
    expected = size + spare * math.sqrt(size) + spare**2
    return 2.0 if expected >= population else expected / population


def _take_claims_with_smallest_numbers(
    found: Mapping[StratumValues, list[ClaimPlace]],
    wanted: Mapping[StratumValues, int],
    *,
    of_conversations: bool,
) -> list[ClaimPlace] | None:
    """Take the claims, or the conversations, with the smallest numbers; None: too few are there."""
    chosen: list[ClaimPlace] = []
    for values, size in wanted.items():
        claims = sorted(found[values], key=_get_random_sort_key)
        if of_conversations:
            places = list(dict.fromkeys((each.number, each.source, each.key) for each in claims))
            if len(places) < size:
                return None
            kept = set(places[:size])
            chosen += [each for each in claims if (each.number, each.source, each.key) in kept]
        elif len(claims) < size:
            return None
        else:
            chosen += claims[:size]
    return chosen


def _get_random_sort_key(place: ClaimPlace) -> tuple[float, str, str, int]:
    return place.number, place.source, place.key, place.position
