"""Claim sets: a drawn sample with what it was drawn from, named, versioned and free of its run.

A version keeps claims, strata and places as they were when it was made. Labels are never copied:
they are the claims', so that whatever annotators say later counts for every run over the set, and
`has_new_labels` says whether they said something.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from faithtui.agreement.labelled_units import LabelState, is_tied
from faithtui.agreement.sampling.draw import SamplingDesign, Stratum
from faithtui.domain.claims.claim_set import MOST_NAME, ClaimSetBundle, SetClaim, is_valid_set_name
from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.ids import ClaimId, ClaimSetId, ConversationId, SampleId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.errors import StoreError
from faithtui.store.annotations.counted_labels import read_label_log, replay_log_into_counted_labels
from faithtui.store.bundles.bundles import collect_bundle, hash_current_labels, read_claim_names
from faithtui.store.bundles.foreign_claims import find_or_add_claims
from faithtui.store.bundles.merge import MergeCounts, match_bundle_conversations, merge_bundle
from faithtui.store.database import Database
from faithtui.store.samples.claim_set_draws import (
    complete_draw_columns,
    find_sample_that_drew,
    list_claims_drawn_by_other_samples_or_sets,
)
from faithtui.store.samples.claim_set_rows import (
    copy_inherited_columns,
    delete_claim_sets,
    find_version,
    hash_claim_set_version,
    insert_version,
    read_claim_rows,
    read_sample_as_set,
    read_source_sample_and_frame_of_set,
    read_version_row,
    strata_from_json,
)
from faithtui.store.schema.json_columns import AnyRow, span_from_row
from faithtui.store.schema.statements import make_in_condition
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    claim_set,
    claim_set_claim,
    conversation,
    human_label,
)


@dataclass(frozen=True, slots=True)
class ClaimSetRow:
    """A version of a claim set in a list."""

    id: ClaimSetId
    name: str
    version: int
    digest: str
    metric: str
    window_size: int | None
    design: SamplingDesign
    stratified_by: tuple[str, ...]
    seed: int
    frame: int
    """Claims it was drawn from, which are all its claims."""
    drawn: int
    strata: tuple[Stratum, ...]
    sample_uid: str
    made_by: str
    created_at: datetime
    drawn_at: datetime | None
    """When its sample was drawn; None: nothing says."""
    other_labels: int | None
    """Claims of it that were not drawn and have a label, of other samples, by the last count; None:
    nothing says."""
    has_new_labels: bool
    """Its claims have other labels by now than when this version was made."""

    @property
    def title(self) -> str:
        """What users call this version."""
        return f"{self.name} version {self.version}"


class ClaimSets:
    """Claim sets of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def make_claim_set_version_if_changed(
        self, name: str, sample_id: SampleId | None, made_by: str
    ) -> tuple[ClaimSetRow, bool]:
        """Make a version of a set: of a sample, or of the claims it has with their labels now.

        Args:
            name: Of the set, there already or not.
            sample_id: The sample; None: the claims of the newest version.
            made_by: Who makes it.

        Returns:
            The version, and whether it is a new one: nothing changes where nothing changed.

        Raises:
            StoreError: The name cannot be one, there is no such sample, it is a repeat, or the run
                is no longer what it was drawn from; without a sample, there is no such set.
        """
        if not is_valid_set_name(name):
            raise StoreError(
                f"a claim set cannot be called so; expected up to {MOST_NAME} letters, digits, "
                "dots, hyphens and underscores"
            )
        now = self._clock()

        def insert_version_if_changed(connection: Connection) -> tuple[ClaimSetId, bool]:
            newest = find_version(connection, name, None)
            if sample_id is not None:
                columns, claims = read_sample_as_set(connection, sample_id)
            elif newest is not None:
                columns, claims = (
                    copy_inherited_columns(newest),
                    read_claim_rows(connection, newest.id),
                )
            else:
                raise StoreError(f"there is no claim set {name}; name the sample it is made of")
            columns["digest"] = hash_claim_set_version(connection, columns, claims)
            columns["labels_digest"] = hash_current_labels(
                connection,
                make_in_condition(human_label.c.claim_id, [each["claim_id"] for each in claims]),
            )
            if newest is not None and all(
                columns[each] == newest._mapping[each] for each in ("digest", "labels_digest")
            ):
                return ClaimSetId(newest.id), False
            columns |= {
                **complete_draw_columns(connection, columns, claims),
                "name": name,
                "version": 1 if newest is None else newest.version + 1,
                "made_by": replace_unstorable_characters(made_by),
                "created_at": now,
            }
            return insert_version(connection, columns, claims), True

        number, is_new = self._database.run_in_write_transaction(
            insert_version_if_changed, durable=True
        )
        return self.read_version(number), is_new

    def list_versions(self) -> tuple[ClaimSetRow, ...]:
        """List all versions of all sets, by name, the newest version first."""
        with self._database.open_reader() as connection:
            order = (claim_set.c.name, claim_set.c.version.desc())
            found = connection.execute(select(claim_set).order_by(*order)).all()
            return tuple(_row_from_columns(connection, each) for each in found)

    def read_version(self, number: ClaimSetId) -> ClaimSetRow:
        """Read a version.

        Raises:
            StoreError: It is not there.
        """
        with self._database.open_reader() as connection:
            return _row_from_columns(connection, read_version_row(connection, number))

    def find_version_by_name(self, name: str) -> ClaimSetRow:
        """Find a set by its name, `NAME` for the newest version or `NAME@2`.

        Raises:
            StoreError: There is none.
        """
        plain, at, number = name.partition("@")
        with self._database.open_reader() as connection:
            version = int(number) if at and number.isdecimal() and len(number) < 10 else None
            found = None
            if version is not None or not at:
                found = find_version(connection, plain, version)
            if found is None:
                known = connection.scalars(select(claim_set.c.name).distinct())
                meant = format_suggestion(plain, known)
                raise StoreError(f"there is no claim set {name}; faithtui claim-set list{meant}")
            return _row_from_columns(connection, found)

    def list_claims_in_conversation(
        self, number: ClaimSetId, conversation_id: ConversationId
    ) -> tuple[Claim, ...]:
        """List the claims of a set in a conversation, in the order of its text."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(claim.c.turn, claim.c.text, claim.c.span_start, claim.c.span_end)
                .join(claim_set_claim, claim_set_claim.c.claim_id == claim.c.id)
                .where(
                    claim_set_claim.c.claim_set_id == number,
                    claim.c.conversation_id == conversation_id,
                    claim.c.kind == "claim",
                )
                .order_by(claim_set_claim.c.position)
            ).all()
        return tuple(Claim(row.turn, row.text, span_from_row(row)) for row in rows)

    def list_conversation_ids(self, number: ClaimSetId) -> frozenset[ConversationId]:
        """List the conversations that have claims of a set."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(claim.c.conversation_id)
                .join(claim_set_claim, claim_set_claim.c.claim_id == claim.c.id)
                .where(claim_set_claim.c.claim_set_id == number)
                .distinct()
            )
            return frozenset(ConversationId(each) for each in rows.scalars())

    def list_claims_drawn_by_other_samples(
        self, claims: Collection[ClaimId], sample_uid: str
    ) -> set[ClaimId]:
        """List the claims that samples drew, or claim sets of samples, other than the one named."""
        with self._database.open_reader() as connection:
            found = list_claims_drawn_by_other_samples_or_sets(connection, claims, sample_uid)
            return {ClaimId(each) for each in found}

    def find_sample(self, made: ClaimSetRow) -> SampleId | None:
        """Find the sample of this store that a version was made of; None: it is elsewhere."""
        with self._database.open_reader() as connection:
            drawn = connection.scalars(
                select(claim_set_claim.c.claim_id).where(
                    claim_set_claim.c.claim_set_id == made.id, claim_set_claim.c.place.is_not(None)
                )
            ).all()
            found = find_sample_that_drew(connection, made.sample_uid, drawn)
        return None if found is None else SampleId(found.id)

    def compute_label_weights(self, number: ClaimSetId, rule: ScoringRule) -> dict[ClaimId, float]:
        """Say how many claims of a set each of its labelled ones stands for.

        Args:
            number: The version.
            rule: Of a run over it, in whose words labels are read; what means nothing there, what
                is labelled `x` or is tied between annotators, and what was served with the
                judge's verdict in view, is left out, as in reports.
        """
        with self._database.open_reader() as connection:
            found, frame = read_source_sample_and_frame_of_set(connection, number)
            log = read_label_log(
                connection,
                make_in_condition(human_label.c.claim_id, [each.claim for each in found.claims]),
            )
        labels_by_claim = replay_log_into_counted_labels(log, rule, {}, blind_only=False)
        labelled = [
            each
            for each in found.claims
            if not each.shown
            and each.claim in labels_by_claim
            and labels_by_claim[each.claim].state is LabelState.LABELLED
            and not is_tied(labels_by_claim[each.claim].opinions, rule.labels)
        ]
        if found.design is SamplingDesign.CONVERSATIONS:
            weights = dict.fromkeys((each.stratum for each in labelled), 1.0)
        else:
            answered = Counter(each.stratum for each in labelled)
            weights = {
                name: frame.claim_counts_by_stratum[name] / count
                for name, count in answered.items()
            }
        return {
            each.claim: weights[each.stratum]
            for each in labelled
            if labels_by_claim[each.claim].run_label not in (None, NOT_A_CLAIM)
        }

    def read_claim_set_bundle(self, number: ClaimSetId) -> ClaimSetBundle:
        """Gather a version with its claims and their labels, from one snapshot."""
        with self._database.open_reader() as connection:
            row = read_version_row(connection, number)
            claims = read_claim_rows(connection, number)
            names = read_claim_names(connection, [each["claim_id"] for each in claims])
            return ClaimSetBundle(
                name=row.name,
                version=row.version,
                digest=row.digest,
                labels_digest=row.labels_digest,
                metric=row.metric,
                window_size=row.window_size,
                design=row.design,
                stratified_by=tuple(row.stratified_by),
                seed=row.seed,
                strata=tuple(
                    (each["name"], each["population"], each["drawn"]) for each in row.strata
                ),
                sample_uid=row.sample_uid,
                made_by=row.made_by,
                created_at=row.created_at,
                **complete_draw_columns(connection, copy_inherited_columns(row), claims),
                claims=tuple(
                    SetClaim(names[each["claim_id"]], each["stratum"], each["place"], each["shown"])
                    for each in claims
                ),
                labels=collect_bundle(connection, claims=names.keys()),
            )

    def refuse_conflicting_version(self, found: ClaimSetBundle) -> None:
        """Refuse a version that cannot be taken in, before its conversations are.

        Raises:
            StoreError: A conversation is here with other turns, or another version has its name
                and number.
        """
        with self._database.open_reader() as connection:
            _find_version_or_raise_conflict(connection, found)
            for name in {each.claim.conversation for each in found.claims}:
                here = connection.execute(
                    select(conversation.c.content_hash).where(
                        conversation.c.source == name.source, conversation.c.key == name.key
                    )
                ).scalar()
                if here not in (None, name.content_hash):
                    raise StoreError(
                        f"{name.source}/{name.key} is in this store with other turns than those "
                        "that were labelled; import the set into another store"
                    )

    def import_bundle(self, found: ClaimSetBundle) -> tuple[ClaimSetRow, MergeCounts, bool]:
        """Take a version in whose conversations are here, with its labels.

        The set's row comes last: after a crash, add it again.

        Returns:
            The version here, what became of its labels, and whether the version is new here.

        Raises:
            StoreError: A conversation is not here or has other turns, a claim does not fit its
                conversation, or another version of this name and number is here.
        """
        merged = merge_bundle(self._database, found.labels)
        conversation_ids, _ = match_bundle_conversations(self._database, found.labels)
        names = [each.claim for each in found.claims]
        for each in names:
            if each.conversation not in conversation_ids:
                name = f"{each.conversation.source}/{each.conversation.key}"
                raise StoreError(f"{name} is not in this store with the turns that were labelled")
        texts = found.labels.claims

        def insert_set(connection: Connection) -> tuple[ClaimSetId, bool]:
            ids, _ = find_or_add_claims(connection, names, texts, conversation_ids)
            if len(ids) < len(names):
                raise StoreError("a claim of the set does not fit its conversation")
            rows = [
                {
                    "position": position,
                    "claim_id": ids[each.claim],
                    "stratum": each.stratum,
                    "place": each.place,
                    "shown": each.shown,
                }
                for position, each in enumerate(found.claims)
            ]
            known = _find_version_or_raise_conflict(connection, found)
            if known is not None:
                _update_draw_columns(connection, known, found)
                return ClaimSetId(known.id), False
            return insert_version(connection, _columns_from_bundle(found), rows), True

        number, is_new = self._database.run_in_write_transaction(insert_set, durable=True)
        return self.read_version(number), merged, is_new

    def delete_all_versions(self, name: str) -> int:
        """Delete all versions of a set; claims and labels stay. Say how many there were.

        Raises:
            StoreError: There is no such set.
        """

        def delete_versions(connection: Connection) -> int:
            wanted = select(claim_set.c.id).where(
                claim_set.c.name == replace_unstorable_characters(name)
            )
            numbers = list(connection.execute(wanted).scalars())
            delete_claim_sets(connection, numbers)
            return len(numbers)

        count = self._database.run_in_write_transaction(delete_versions, durable=True)
        if not count:
            raise StoreError(f"there is no claim set {name}; faithtui claim-set list")
        return count


def _find_version_or_raise_conflict(connection: Connection, found: ClaimSetBundle) -> AnyRow | None:
    """Give the version that is here already; None without one.

    Raises:
        StoreError: It is another one.
    """
    known = find_version(connection, found.name, found.version)
    expected = (found.digest, found.labels_digest)
    if known is not None and (known.digest, known.labels_digest) != expected:
        raise StoreError(
            f"another claim set {found.name} version {found.version} is in this store; delete it "
            f"first: faithtui claim-set delete {found.name}"
        )
    return known


def _update_draw_columns(connection: Connection, known: AnyRow, found: ClaimSetBundle) -> None:
    """Keep what a file says of the drawing of a version that is here, where it says more."""
    counted = [each for each in (known.other_labels, found.other_labels) if each is not None]
    connection.execute(
        update(claim_set)
        .where(claim_set.c.id == known.id)
        .values(drawn_at=known.drawn_at or found.drawn_at, other_labels=max(counted, default=None))
    )


def _columns_from_bundle(found: ClaimSetBundle) -> dict[str, Any]:
    return {
        **{name: getattr(found, name) for name in ("name", "version", "digest", "labels_digest")},
        **{name: getattr(found, name) for name in ("metric", "window_size", "design", "seed")},
        **{name: getattr(found, name) for name in ("sample_uid", "made_by", "created_at")},
        **{name: getattr(found, name) for name in ("drawn_at", "other_labels")},
        "stratified_by": list(found.stratified_by),
        "frame": len(found.claims),
        "strata": [
            {"name": name, "population": population, "drawn": drawn}
            for name, population, drawn in found.strata
        ],
    }


def _row_from_columns(connection: Connection, row: AnyRow) -> ClaimSetRow:
    of_set = select(claim_set_claim.c.claim_id).where(claim_set_claim.c.claim_set_id == row.id)
    drawn = connection.execute(of_set.where(claim_set_claim.c.place.is_not(None))).scalars().all()
    return ClaimSetRow(
        id=ClaimSetId(row.id),
        name=row.name,
        version=row.version,
        digest=row.digest,
        metric=row.metric,
        window_size=row.window_size,
        design=SamplingDesign(row.design),
        stratified_by=tuple(row.stratified_by),
        seed=row.seed,
        frame=row.frame,
        drawn=len(drawn),
        strata=strata_from_json(row.strata),
        sample_uid=row.sample_uid,
        made_by=row.made_by,
        created_at=row.created_at,
        drawn_at=row.drawn_at,
        other_labels=row.other_labels,
        has_new_labels=hash_current_labels(connection, human_label.c.claim_id.in_(of_set))
        != row.labels_digest,
    )
