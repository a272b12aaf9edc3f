"""The log of label events as a bundle for other stores, and a digest of all current labels."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, Select, func, select

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_bundle import (
    BundleClaim,
    BundleEvent,
    BundleGuideline,
    BundleSample,
    BundleSampleClaim,
    ClaimName,
    ConversationName,
    LabelBundle,
    RunName,
)
from faithtui.domain.labels.label_events import (
    Action,
    Event,
    HumanVerdict,
    LabelMark,
    MarkedPassage,
)
from faithtui.store.annotations.guidelines import SET_ORDER
from faithtui.store.annotations.label_replay import (
    LOG_ORDER,
    read_events,
    read_marked_passages,
    replay_verdicts,
)
from faithtui.store.bundles.foreign_samples import read_run_ids_by_name
from faithtui.store.bundles.merge import MergeCounts, merge_bundle
from faithtui.store.database import Database
from faithtui.store.schema.checksums import LABEL_TABLES, refuse_corrupted_rows
from faithtui.store.schema.json_columns import AnyRow, span_from_row
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    conversation,
    document,
    guideline,
    human_label,
    run_item,
    sample,
    sample_claim,
    verdict,
)

STATE_DIGITS = 16
"""Of a state digest, for users to compare."""


class Bundles:
    """Human labels, out of a store and into it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def make_label_bundle(
        self, run_id: RunId | None = None, reviewers: Sequence[str] = ()
    ) -> LabelBundle:
        """Gather events and all they refer to, from one snapshot.

        Args:
            run_id: Only events on claims that this run judged; None: all.
            reviewers: Only events of these annotators; () means all.

        Raises:
            StoreError: A label is not what was written.
        """
        with self._database.open_reader() as connection:
            refuse_corrupted_rows(connection, LABEL_TABLES)
            return collect_bundle(
                connection, run_id, [replace_unstorable_characters(each) for each in reviewers]
            )

    def count_labelled_claims(
        self, run_id: RunId | None = None, reviewers: Sequence[str] = ()
    ) -> tuple[int, int]:
        """Count the claims on which a bundle has acts, and those of the run that are left out.

        Args:
            run_id: As in `make_label_bundle`.
            reviewers: As there.

        Returns:
            The claims in the bundle, and the labelled ones of the run's conversations that the run
            did not judge, such as whole answers; 0 without a run.
        """
        names = [replace_unstorable_characters(each) for each in reviewers]
        wanted = select(func.count(human_label.c.claim_id.distinct()))
        if names:
            wanted = wanted.where(human_label.c.reviewer.in_(names))
        with self._database.open_reader() as connection:
            if run_id is None:
                return connection.execute(wanted).scalar_one(), 0
            judged = _select_judged_claims(run_id)
            conversations = select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
            beside = wanted.join(claim, claim.c.id == human_label.c.claim_id).where(
                claim.c.conversation_id.in_(conversations), claim.c.id.not_in(judged)
            )
            within = wanted.where(human_label.c.claim_id.in_(judged))
            return connection.execute(within).scalar_one(), connection.execute(beside).scalar_one()

    def merge(self, bundle: LabelBundle) -> MergeCounts:
        """Take a bundle in; see `merge.merge_bundle`."""
        return merge_bundle(self._database, bundle)

    def hash_all_current_labels(self) -> str:
        """Name all current labels: equal in two stores exactly when it is the same.

        Labels, codes, notes, flags, doubts and evidence of each annotator on each claim enter, and
        the event that gave each label; claims go by their conversation and text, so the order of
        imports and merges does not matter. Reads the whole log.
        """
        with self._database.open_reader() as connection:
            found = hash_current_labels(connection, claim.c.id.is_not(None), with_evidence=True)
            return found[:STATE_DIGITS]


def hash_current_labels(
    connection: Connection, which: ColumnElement[bool], *, with_evidence: bool = False
) -> str:
    """Hash the current labels of some claims, as `hash_all_current_labels` does of all.

    Args:
        connection: Where to read.
        which: Condition on events and their claims.
        with_evidence: What was marked as evidence enters too.
    """
    verdicts_by_claim = replay_verdicts(read_events(connection, which))
    lines: list[str] = []
    for some in split_into_chunks(sorted(verdicts_by_claim)):
        for row in connection.execute(
            select(
                claim.c.id,
                conversation.c.source,
                conversation.c.key,
                claim.c.kind,
                claim.c.turn,
                claim.c.digest,
            )
            .join(conversation, conversation.c.id == claim.c.conversation_id)
            .where(claim.c.id.in_(some))
        ):
            lines += [
                json.dumps(
                    [
                        *tuple(row)[1:],
                        each.reviewer,
                        each.verdict,
                        each.action and each.action.value,
                        each.note,
                        each.code,
                        each.flagged,
                        each.unsure,
                        # Only where there is any, so that a store without keeps its name.
                        *(_list_evidence_and_misses(each) if with_evidence else ()),
                    ]
                )
                for each in verdicts_by_claim[row.id]
            ]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _list_evidence_and_misses(verdict: HumanVerdict) -> list[object]:
    """List what else an annotator marked; runs count by their number, as they differ by store."""
    marks = [verdict.evidence, len(verdict.missed_in), len(verdict.complete_in)]
    return marks if any(marks) else []


def collect_bundle(
    connection: Connection,
    run_id: RunId | None = None,
    reviewers: Sequence[str] = (),
    *,
    claims: Collection[int] | None = None,
) -> LabelBundle:
    """Gather events and all they refer to.

    Args:
        connection: Where to read.
        run_id: Only events on claims that this run judged; None: all.
        reviewers: Only events of these annotators; () means all.
        claims: Only events on these, all of which are in the bundle, and no samples; None: all.
    """
    runs = {number: name for name, number in read_run_ids_by_name(connection).items()}
    samples = {
        row.id: row for row in connection.execute(select(sample).order_by(sample.c.id)).all()
    }
    wanted = select(human_label.c.id)
    if reviewers:
        wanted = wanted.where(human_label.c.reviewer.in_(reviewers))
    if run_id is not None:
        wanted = wanted.where(human_label.c.claim_id.in_(_select_judged_claims(run_id)))
    if claims is not None:
        listed = func.json_each(json.dumps(sorted(claims))).table_valued("value")
        wanted = wanted.where(human_label.c.claim_id.in_(select(listed.c.value)))
    target = human_label.alias("target")
    rows = connection.execute(
        select(human_label, target.c.uid.label("target_uid"))
        .outerjoin(target, target.c.id == human_label.c.target_id)
        .where(human_label.c.id.in_(wanted))
        .order_by(*LOG_ORDER)
    ).all()
    drawn = {number: samples[number] for number in {row.sample_id for row in rows if row.sample_id}}
    if claims is not None:
        drawn = {}
    in_samples: dict[int, list[AnyRow]] = {number: [] for number in drawn}
    for some in split_into_chunks(sorted(drawn)):
        for row in connection.execute(
            select(sample_claim)
            .where(sample_claim.c.sample_id.in_(some))
            .order_by(sample_claim.c.sample_id, sample_claim.c.position)
        ):
            in_samples[row.sample_id].append(row)
    numbers = {row.claim_id for row in rows} | set(claims or ())
    numbers |= {each.claim_id for found in in_samples.values() for each in found}
    named = _read_claim_names_and_texts(connection, sorted(numbers))
    names = {number: name for number, (name, _) in named.items()}
    marking = [row.id for row in rows if row.action == Action.EVIDENCE.value]
    marks = read_marked_passages(connection, marking)
    return LabelBundle(
        acts=tuple(
            _event_from_row(
                row,
                names,
                runs,
                None if row.sample_id is None else samples[row.sample_id].uid,
                marks.get(row.id, ()),
            )
            for row in rows
        ),
        claims=dict(sorted(named.values(), key=lambda each: _make_claim_sort_key(each[0]))),
        samples=tuple(
            _make_bundle_sample(row, runs[row.run_id], in_samples[row.id], names)
            for row in sorted(drawn.values(), key=lambda row: str(row.uid))
        ),
        guidelines=tuple(
            BundleGuideline(
                row.digest, row.text, row.author, row.created_at, row.metric, row.built_in
            )
            for row in connection.execute(select(guideline).order_by(*SET_ORDER))
        ),
    )


def _select_judged_claims(run_id: RunId) -> Select[tuple[int]]:
    return (
        select(verdict.c.claim_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(run_item.c.run_id == run_id)
    )


def _make_claim_sort_key(name: ClaimName) -> tuple[str, str, int, str, str]:
    talk = name.conversation
    return (talk.source, talk.key, name.turn, name.kind, name.digest)


def _read_claim_names_and_texts(
    connection: Connection, numbers: Sequence[int]
) -> dict[int, tuple[ClaimName, BundleClaim]]:
    names: dict[int, ConversationName] = {}
    found: dict[int, tuple[ClaimName, BundleClaim]] = {}
    for some in split_into_chunks(numbers):
        for row in connection.execute(
            select(
                claim,
                conversation.c.source,
                conversation.c.key,
                conversation.c.content_hash,
                document.c.hash.label("document"),
            )
            .join(conversation, conversation.c.id == claim.c.conversation_id)
            .outerjoin(document, document.c.id == claim.c.document_id)
            .where(claim.c.id.in_(some))
        ):
            talk = names.setdefault(
                row.conversation_id, ConversationName(row.source, row.key, row.content_hash)
            )
            found[row.id] = (
                ClaimName(talk, row.kind, row.turn, row.digest, row.document),
                BundleClaim(row.text, span_from_row(row), row.imported),
            )
    return found


def read_claim_names(connection: Connection, numbers: Sequence[int]) -> dict[int, ClaimName]:
    """Read what claims are called in every store, by id."""
    return {
        number: name
        for number, (name, _) in _read_claim_names_and_texts(connection, numbers).items()
    }


def _event_from_row(
    row: AnyRow,
    names: Mapping[int, ClaimName],
    runs: Mapping[int, RunName],
    sample_uid: str | None,
    evidence: tuple[MarkedPassage, ...],
) -> BundleEvent:
    return Event(
        id=row.uid,
        claim=names[row.claim_id],
        reviewer=row.reviewer,
        action=Action(row.action),
        verdict=row.verdict,
        note=row.note,
        target=row.target_uid,
        batch=row.batch,
        code=row.reason_code,
        mark=None if row.mark is None else LabelMark(row.mark),
        saw_judge=row.saw_judge,
        sample=sample_uid,
        run=None if row.run_id is None else runs[row.run_id],
        judge_verdict=row.judge_verdict,
        seconds=row.seconds,
        scale=row.scale,
        raw_label=row.raw_label,
        unverified=row.unverified,
        stratum=row.stratum,
        probability=row.probability,
        guideline=row.guideline_version,
        clock=row.clock,
        created_at=row.created_at,
        evidence=evidence,
    )


def _make_bundle_sample(
    row: AnyRow, run: RunName, drawn: Sequence[AnyRow], names: Mapping[int, ClaimName]
) -> BundleSample:
    return BundleSample(
        uid=row.uid,
        name=row.name,
        kind=row.kind,
        run=run,
        reviewer=row.reviewer,
        design=row.design,
        stratified_by=tuple(row.stratified_by),
        seed=row.seed,
        blind=row.blind,
        shown_share=row.shown_share,
        frame=row.frame,
        strata=tuple((each["name"], each["population"], each["drawn"]) for each in row.strata),
        created_at=row.created_at,
        closed_at=row.closed_at,
        decision=row.decision,
        population=row.population,
        claims=tuple(
            BundleSampleClaim(names[each.claim_id], each.stratum, each.probability, each.shown)
            for each in drawn
        ),
    )
