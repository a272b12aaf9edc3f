"""Drawn queues: the frame of a run, the draw, and how far annotators have come with it."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Connection, func, insert, select, update

from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import (
    ClaimDraw,
    SampleDraw,
    SampleKind,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    Stratum,
    enlarge_plan,
    make_sample_draw,
)
from faithtui.agreement.sampling.stopping_rules import measure_pace
from faithtui.domain.ids import ClaimId, ItemId, RunId, SampleId
from faithtui.domain.labels.label_events import (
    VERDICT_ACTIONS,
    Action,
    LabelEvent,
    drop_withdrawn_events,
    replay_log_into_verdicts,
)
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import read_events
from faithtui.store.database import Database
from faithtui.store.samples.population_draws import PopulationDraw, import_and_save_population_draw
from faithtui.store.samples.sample_records import SampleEntry, SampleLabel, SampleRow, StratumRow
from faithtui.store.samples.sampling_frames import STRATA, read_frame
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.statements import insert_returning_id
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    conversation,
    human_label,
    run_item,
    sample,
    sample_claim,
    verdict,
)

_OF_POPULATION = (
    "run {run} has only conversations that were drawn from {results}, so that a sample of it "
    "stands for nothing: faithtui sample draws more of them"
)

_AT_ONCE = 10_000
"""Claims of a sample that are written at a time."""


class Samples:
    """Drawn queues of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def read_frame(
        self, run_id: RunId, stratified_by: Sequence[str] = (), drawn_at: datetime | None = None
    ) -> SamplingFrame:
        """List every claim a run judged, each once, in the order of the run and of the text.

        Args:
            run_id: The run.
            stratified_by: Of `STRATA`; the stratum of a claim names its value of each.
            drawn_at: Give strata as they were then; None: as they are.

        Raises:
            StoreError: A name is not one of `STRATA`.
        """
        unknown = [name for name in stratified_by if name not in STRATA]
        if unknown:
            raise StoreError(
                f"strata cannot be made of {unknown[0]!r}; expected {', '.join(STRATA)}"
            )
        with self._database.open_reader() as connection:
            return read_frame(connection, run_id, stratified_by, drawn_at)

    def read_frame_for_blind_repeats(self, run_id: RunId, reviewer: str) -> SamplingFrame:
        """List the claims of a run with an annotator's counted label, for blind repeats."""
        with self._database.open_reader() as connection:
            mine = {
                found.claim
                for found in replay_log_into_verdicts(
                    _read_run_events(connection, run_id, reviewer)
                ).values()
                if found.is_counted and found.event is not None and found.event.scale is None
            }
            whole = read_frame(connection, run_id, ())
            return SamplingFrame(
                (each.item, each.claim, "") for each in whole if each.claim in mine
            )

    def save_draw_as_sample(
        self,
        run_id: RunId,
        reviewer: str,
        drawn: SampleDraw,
        plan: SamplePlan,
        *,
        name: str,
        kind: SampleKind = SampleKind.SAMPLE,
        stratified_by: Sequence[str] = (),
        blind: bool = True,
    ) -> SampleRow:
        """Store a draw as a queue.

        Raises:
            StoreError: Nothing was drawn, or there is no such run.
        """
        if not drawn.claims:
            raise StoreError("nothing can be drawn: the run has judged nothing that fits")
        if kind is not SampleKind.REPEAT:
            self._refuse_run_of_drawn_conversations(run_id)
        columns = {
            "uid": uuid4().hex,
            "name": replace_unstorable_characters(name),
            "kind": kind.value,
            "run_id": run_id,
            "reviewer": replace_unstorable_characters(reviewer),
            "design": plan.design.value,
            "stratified_by": list(stratified_by),
            "seed": plan.seed,
            "blind": blind,
            "shown_share": plan.shown_share,
            "created_at": self._clock(),
        }

        def insert_sample(connection: Connection) -> SampleId:
            number = SampleId(
                insert_returning_id(
                    connection,
                    insert(sample).values(**columns, **_make_frame_and_strata_columns(drawn)),
                )
            )
            _add_claims(connection, number, drawn.claims, 0)
            return number

        return self.read_sample(
            self._database.run_in_write_transaction(insert_sample, durable=True), reviewer
        )

    def draw_more_claims(self, sample_id: SampleId, reviewer: str, more: int) -> SampleRow:
        """Draw more with the same seed; what was served keeps its place, more comes after it.

        Takes the time of reading the frame, so seconds for a million claims.

        Args:
            sample_id: The sample.
            reviewer: Whose progress the returned row shows.
            more: Claims, or conversations of a sample of those, above 0; as many as there are.

        Raises:
            StoreError: There is no such sample, nothing is left to draw, it is a spot-check or a
                repeat, or what the run judged changed since it was drawn.
        """
        before = self.read_sample(sample_id, reviewer)
        if before.kind is not SampleKind.SAMPLE:
            raise StoreError(f"a {before.kind} is not extended; draw a new sample")
        self._refuse_run_of_drawn_conversations(before.run)
        frame = self.read_frame(before.run, before.stratified_by, before.created_at)
        plan = SamplePlan(before.design, before.seed, shown_share=before.shown_share)
        drawn = make_sample_draw(frame, enlarge_plan(plan, before.strata, more))
        if drawn.frame != before.frame or _list_stratum_sizes(drawn.strata) != _list_stratum_sizes(
            before.strata
        ):
            raise StoreError(
                "what the run has judged is not what this sample was drawn from any more; "
                "draw a new sample"
            )

        def insert_more_claims(connection: Connection) -> None:
            known = set(
                connection.execute(
                    select(sample_claim.c.claim_id).where(sample_claim.c.sample_id == sample_id)
                ).scalars()
            )
            if known.difference(each.unit.claim for each in drawn.claims):
                # Conversations of the run were deleted: another draw does not continue this one.
                raise StoreError(
                    "what the run has judged is not what this sample was drawn from any more; "
                    "draw a new sample"
                )
            fresh = [each for each in drawn.claims if each.unit.claim not in known]
            if not fresh:
                raise StoreError("every claim of the run is in this sample already")
            for each in drawn.strata:
                connection.execute(
                    update(sample_claim)
                    .where(
                        sample_claim.c.sample_id == sample_id, sample_claim.c.stratum == each.name
                    )
                    .values(probability=each.draw_probability)
                )
            _add_claims(connection, sample_id, fresh, len(known))
            connection.execute(
                update(sample)
                .where(sample.c.id == sample_id)
                .values(**_make_frame_and_strata_columns(drawn), closed_at=None, decision=None)
            )

        self._database.run_in_write_transaction(insert_more_claims, durable=True)
        return self.read_sample(sample_id, reviewer)

    def save_population_draw_as_sample(
        self, draw: PopulationDraw, reviewer: str, extends: SampleId | None = None
    ) -> SampleRow:
        """Store what was drawn from a results folder, with the run that its conversations are of.

        Args:
            draw: What was drawn.
            reviewer: Who drew it.
            extends: The sample that this one adds to; None: it is a new one, with a new run.

        Raises:
            StoreError: A conversation is there with other messages, or the sample has claims that
                the draw does not know. Nothing was written.
        """
        now = self._clock()
        number = self._database.run_in_write_transaction(
            lambda connection: import_and_save_population_draw(
                connection, now, draw, reviewer, extends
            ),
            durable=True,
        )
        return self.read_sample(number, reviewer)

    def find_newest_sample_of_population(self, digest: str, reviewer: str) -> SampleRow | None:
        """Find the newest sample of a population; None: nothing was drawn of it."""
        rows = (each for each in self.list_samples(reviewer) if each.population is not None)
        return next(
            (each for each in rows if each.population and each.population.digest == digest), None
        )

    def find_run_population(self, run_id: RunId) -> Population | None:
        """Find what the conversations of a run were drawn from; None: they are all of it."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(sample.c.population)
                .where(sample.c.run_id == run_id, sample.c.population.is_not(None))
                .order_by(sample.c.id.desc())
            ).first()
        return None if rows is None else Population.from_json(rows.population)

    def _refuse_run_of_drawn_conversations(self, run_id: RunId) -> None:
        population = self.find_run_population(run_id)
        if population is not None:
            raise StoreError(_OF_POPULATION.format(run=run_id, results=population.results))

    def close_sample(self, sample_id: SampleId, decision: str | None) -> None:
        """End a sample: nothing more is to be answered in it."""
        now = self._clock()
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(
                update(sample)
                .where(sample.c.id == sample_id)
                .values(closed_at=now, decision=decision)
            ),
            durable=True,
        )

    def list_samples(self, reviewer: str, run_id: RunId | None = None) -> tuple[SampleRow, ...]:
        """List samples, newest first, with one annotator's progress.

        Args:
            reviewer: Whose.
            run_id: Only of this run; None: of all.
        """
        with self._database.open_reader() as connection:
            chosen = select(sample).order_by(sample.c.id.desc())
            if run_id is not None:
                chosen = chosen.where(sample.c.run_id == run_id)
            return tuple(
                _sample_from_row(connection, row, replace_unstorable_characters(reviewer))
                for row in connection.execute(chosen).all()
            )

    def read_sample(self, sample_id: SampleId, reviewer: str) -> SampleRow:
        """Read one sample with one annotator's progress.

        Raises:
            StoreError: There is no such sample.
        """
        with self._database.open_reader() as connection:
            found = connection.execute(select(sample).where(sample.c.id == sample_id)).one_or_none()
            if found is None:
                raise StoreError(f"there is no sample {sample_id}")
            return _sample_from_row(connection, found, replace_unstorable_characters(reviewer))

    def list_claims_in_served_order(
        self, sample_id: SampleId, reviewer: str
    ) -> tuple[SampleEntry, ...]:
        """List the claims of a sample in the order in which they are served."""
        with self._database.open_reader() as connection:
            stand, _ = _read_sample_progress(
                connection, sample_id, replace_unstorable_characters(reviewer)
            )
            rows = connection.execute(
                select(sample_claim)
                .where(sample_claim.c.sample_id == sample_id)
                .order_by(sample_claim.c.position)
            )
            return tuple(
                SampleEntry(
                    row.position,
                    ItemId(row.run_item_id),
                    ClaimId(row.claim_id),
                    row.stratum,
                    row.probability,
                    row.shown,
                    answered=stand.get(ClaimId(row.claim_id)) is True,
                    skipped=stand.get(ClaimId(row.claim_id)) is False,
                )
                for row in rows
            )

    def read_stratum_progress(self, sample_id: SampleId, reviewer: str) -> tuple[StratumRow, ...]:
        """Say how far an annotator has come with each stratum of a sample.

        Raises:
            StoreError: There is no such sample.
        """
        row = self.read_sample(sample_id, reviewer)
        sizes: Counter[str] = Counter()
        labelled: Counter[str] = Counter()
        shown: Counter[str] = Counter()
        for each in self.list_claims_in_served_order(sample_id, reviewer):
            sizes[each.stratum] += 1
            shown[each.stratum] += each.shown
            labelled[each.stratum] += each.answered and not each.shown
        return tuple(
            StratumRow(each, sizes[each.name], labelled[each.name], shown[each.name])
            for each in row.strata
        )

    def read_human_and_judge_labels(
        self, sample_id: SampleId, reviewer: str
    ) -> tuple[SampleLabel, ...]:
        """Read an annotator's labels in a sample beside the verdicts, in the drawn order.

        Of a repeat, what was said this time.
        """
        with self._database.open_reader() as connection:
            return _read_human_and_judge_labels(
                connection, sample_id, replace_unstorable_characters(reviewer)
            )


def _make_frame_and_strata_columns(drawn: SampleDraw) -> dict[str, object]:
    return {
        "frame": drawn.frame,
        "strata": [
            {"name": each.name, "population": each.population, "drawn": each.drawn}
            for each in drawn.strata
        ],
    }


def _list_stratum_sizes(strata: Sequence[Stratum]) -> list[tuple[str, int]]:
    return [(each.name, each.population) for each in strata]


def _add_claims(
    connection: Connection, number: SampleId, claims: Sequence[ClaimDraw], first: int
) -> None:
    for start in range(0, len(claims), _AT_ONCE):
        part = claims[start : start + _AT_ONCE]
        connection.execute(
            insert(sample_claim),
            [
                {
                    "sample_id": number,
                    "position": position,
                    "claim_id": each.unit.claim,
                    "run_item_id": each.unit.item,
                    "stratum": each.stratum,
                    "probability": each.probability,
                    "shown": each.shown,
                }
                for position, each in enumerate(part, start=first + start)
            ],
        )


def _sample_from_row(connection: Connection, row: AnyRow, reviewer: str) -> SampleRow:
    stand, seconds = _read_sample_progress(connection, SampleId(row.id), reviewer)
    size = connection.execute(
        select(func.count()).select_from(sample_claim).where(sample_claim.c.sample_id == row.id)
    ).scalar_one()
    return SampleRow(
        id=SampleId(row.id),
        uid=row.uid,
        name=row.name,
        kind=SampleKind(row.kind),
        run=RunId(row.run_id),
        reviewer=row.reviewer,
        design=SamplingDesign(row.design),
        stratified_by=tuple(row.stratified_by),
        seed=row.seed,
        blind=row.blind,
        shown_share=row.shown_share,
        frame=row.frame,
        strata=tuple(
            Stratum(each["name"], each["population"], each["drawn"]) for each in row.strata
        ),
        created_at=row.created_at,
        closed_at=row.closed_at,
        decision=row.decision,
        size=size,
        answered_claims=frozenset(each for each, labelled in stand.items() if labelled),
        skipped_claims=frozenset(each for each, labelled in stand.items() if not labelled),
        pace_s=measure_pace(seconds),
        population=None if row.population is None else Population.from_json(row.population),
    )


def _read_sample_progress(
    connection: Connection, sample_id: SampleId, reviewer: str
) -> tuple[dict[ClaimId, bool], list[float]]:
    """Say what an annotator did in a sample.

    Returns:
        Per claim True for a label and False for skipped, and the seconds each label took.
    """
    answers = _read_answers_in_sample(connection, sample_id, reviewer)
    stand = {each: act.verdict is not None for each, act in answers.items()}
    seconds = connection.execute(
        select(human_label.c.seconds)
        .where(
            human_label.c.sample_id == sample_id,
            human_label.c.reviewer == reviewer,
            human_label.c.verdict.is_not(None),
            human_label.c.seconds.is_not(None),
        )
        .order_by(human_label.c.clock, human_label.c.uid)
    ).scalars()
    return stand, list(seconds)


def _read_answers_in_sample(
    connection: Connection, sample_id: SampleId, reviewer: str
) -> dict[ClaimId, LabelEvent]:
    """Read an annotator's last answer to each claim of a sample; a skip takes no label away."""
    found: dict[ClaimId, LabelEvent] = {}
    log = _read_events_on_sample_claims(connection, sample_id, reviewer)
    for act in drop_withdrawn_events(log):
        if not _is_verdict_or_deferral_in_sample(act, sample_id):
            continue
        if act.verdict is not None or act.claim not in found:
            found[act.claim] = act
    return found


def _read_events_on_sample_claims(
    connection: Connection, sample_id: SampleId, reviewer: str
) -> list[LabelEvent]:
    """Read an annotator's events on the claims of a sample, made in it or not."""
    return read_events(
        connection,
        (human_label.c.reviewer == reviewer)
        & human_label.c.claim_id.in_(
            select(sample_claim.c.claim_id).where(sample_claim.c.sample_id == sample_id)
        ),
    )


def _is_verdict_or_deferral_in_sample(act: LabelEvent, sample_id: SampleId) -> bool:
    """Whether an event answers, or skips, what a sample asks."""
    return act.sample == sample_id and (
        act.action in VERDICT_ACTIONS or act.action is Action.REPEATED
    )


def _read_run_events(connection: Connection, run_id: RunId, reviewer: str) -> list[LabelEvent]:
    return read_events(
        connection,
        (human_label.c.reviewer == replace_unstorable_characters(reviewer))
        & claim.c.conversation_id.in_(
            select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
        ),
    )


def _read_human_and_judge_labels(
    connection: Connection, sample_id: SampleId, reviewer: str
) -> tuple[SampleLabel, ...]:
    """Pair the last label of an annotator in a sample with the judge's verdict."""
    event_by_claim = _read_answers_in_sample(connection, sample_id, reviewer)
    return tuple(
        SampleLabel(act, row.label, row.group, row.shown)
        for row in connection.execute(
            select(
                sample_claim.c.claim_id,
                sample_claim.c.shown,
                conversation.c.group,
                verdict.c.label,
            )
            .join(run_item, run_item.c.id == sample_claim.c.run_item_id)
            .join(conversation, conversation.c.id == run_item.c.conversation_id)
            .join(
                verdict,
                (verdict.c.claim_id == sample_claim.c.claim_id)
                & (verdict.c.run_item_id == sample_claim.c.run_item_id)
                & verdict.c.is_home,
            )
            .where(sample_claim.c.sample_id == sample_id)
            .order_by(sample_claim.c.position)
        )
        if (act := event_by_claim.get(ClaimId(row.claim_id))) is not None
        and act.verdict is not None
    )
