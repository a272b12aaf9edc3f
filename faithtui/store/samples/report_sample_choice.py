"""The sample that a report on a run rests on: one of its own, or of a run over the same claims."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, select

from faithtui.agreement.labelled_units import LabelState
from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    restrict_sample_to_run,
    was_draw_followed,
)
from faithtui.domain.ids import ClaimId, ClaimSetId, ItemId, RunId, SampleId
from faithtui.errors import NoSharedClaims, StoreError
from faithtui.store.samples.claim_set_rows import read_source_sample_and_frame_of_set
from faithtui.store.samples.sampling_frames import read_frame
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.tables import (
    claim_set,
    claim_set_claim,
    run,
    run_item,
    sample,
    sample_claim,
    verdict,
)

_REPRESENTATIVE_KINDS = (SampleKind.SAMPLE.value, SampleKind.SPOT_CHECK.value)
"""Kinds that stand for the run: what is drawn of one's own labelled claims does not."""

MOST_BEYOND = 0.05
"""Share of a run's claims outside of what another run's sample was drawn from up to which that
sample is taken unasked: it then still stands for the run."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sample, or a claim set, that labels of a run can rest on."""

    sample: SampleId | None
    claim_set: ClaimSetId | None = None
    labelled: int = 0
    """How many of its drawn claims have a label."""

    def get_sample_id(self) -> SampleId:
        assert self.sample is not None  # else it is a claim set
        return self.sample


@dataclass(frozen=True, slots=True)
class ReportSample:
    """A sample, and what is known of the claims that were not drawn."""

    sample: LabelledSample
    strata: Mapping[ClaimId, str]
    """Of every claim it was drawn from; {} where it was not drawn by strata."""
    frame: Collection[ClaimId] | None = None
    """What it was drawn from where that was another run; None: all claims of the run."""

    def list_claims_shown_with_verdict(self) -> set[ClaimId]:
        """List the drawn claims that are served with the judge's verdict in view."""
        return {each.claim for each in self.sample.claims if each.shown}


def choose_and_read_sample_of_run_labels(
    connection: Connection,
    run_id: RunId,
    asked: SampleId | None,
    judged: Collection[ClaimId],
    states: Mapping[ClaimId, LabelState],
) -> ReportSample | None:
    """Choose the sample that labels of a run rest on, and read what a report needs of it.

    Weights belong to claims: where no own sample was labelled in its order, the claim set that the
    run judged is taken, else the sample of another run over the same claims, else a set of them. A
    sample whose
    order was followed goes before one of which others chose what is labelled, as a pilot does
    before the sample that was drawn after it, until that one has as many labels.

    Args:
        connection: Where to read.
        run_id: The run.
        asked: The sample to take; None: of those labelled in their order, the one with the
            most labelled claims, of equals the newest.
        judged: All claims of the run.
        states: How its claims stand that somebody acted on.

    Returns:
        None when no claim of any sample is labelled and none was asked for.

    Raises:
        StoreError: The sample asked for is not there, shares no claim with the run, or is a repeat.
    """
    labelled = {claim_id for claim_id, state in states.items() if state is LabelState.LABELLED}

    def is_followed(found: _Candidate) -> bool:
        try:
            read = _read_labelled_sample(connection, found, judged)
        except NoSharedClaims:
            return False
        return was_draw_followed(read, states)

    chosen = (
        _Candidate(asked)
        if asked is not None
        else _choose_candidate(connection, run_id, judged, labelled, is_followed)
    )
    if chosen is None:
        return None
    if chosen.claim_set is not None:
        return read_sample_behind_claim_set(connection, chosen.claim_set, judged, 0)
    return _read_report_sample_of_run(connection, run_id, chosen.get_sample_id(), judged)


def _choose_candidate(
    connection: Connection,
    run_id: RunId,
    judged: Collection[ClaimId],
    labelled: Collection[ClaimId],
    is_followed: Callable[[_Candidate], bool],
) -> _Candidate | None:
    """Choose what labels of a run rest on; None: nothing that was drawn is labelled."""
    own = list(_list_samples_with_labels(connection, labelled, sample.c.run_id == run_id))
    most = max((each.labelled for each in own), default=0)
    # A small sample says too little to take the place of a large one, whose order nobody followed.
    large = [each for each in own if 4 * each.labelled >= most]
    followed = next(filter(is_followed, large), None)
    if followed is not None:
        return followed
    if not large:
        # The run is no whole: without its sample nothing could be said of what it stands for.
        number = _find_newest_population_sample(connection, run_id)
        if number is not None:
            return _Candidate(number)
    others = list(_list_candidates_of_other_runs(connection, run_id, judged, labelled))
    most = max([most, *(each.labelled for each in others)])
    followed = next(
        (each for each in others if 4 * each.labelled >= most and is_followed(each)), None
    )
    return followed or next(iter([*large, *others]), None)


def _read_labelled_sample(
    connection: Connection, found: _Candidate, judged: Collection[ClaimId]
) -> LabelledSample:
    """Read what was drawn, as far as a run judged it."""
    if found.claim_set is not None:
        return read_sample_behind_claim_set(connection, found.claim_set, judged, 0).sample
    row = connection.execute(select(sample).where(sample.c.id == found.sample)).one()
    read = _read_sample(connection, row)
    return replace(read, claims=tuple(each for each in read.claims if each.claim in judged))


def _read_report_sample_of_run(
    connection: Connection, run_id: RunId, chosen: SampleId, judged: Collection[ClaimId]
) -> ReportSample:
    """Read a sample, of another run as far as this run judged its claims."""
    row = connection.execute(select(sample).where(sample.c.id == chosen)).one_or_none()
    if row is None:
        raise StoreError(
            f"run {run_id} has no sample {chosen}; choose one of its own, or of a run over the "
            "same claims"
        )
    if row.kind not in _REPRESENTATIVE_KINDS:
        raise StoreError(
            f"sample {chosen} is a {row.kind} of claims that were labelled before, so it does not "
            "stand for the run; choose one that was drawn from all of it"
        )
    found = _read_sample(connection, row)
    by_strata = found.design is SamplingDesign.STRATIFIED
    if found.population is not None:
        return _make_report_sample_of_population(found, RunId(row.run_id), run_id, judged)
    if row.run_id == run_id:
        strata = {}
        if by_strata:
            known = {each.name for each in found.strata}
            frame = read_frame(connection, run_id, found.stratified_by, row.created_at)
            # What a label stands for is counted in the run, not among what was drawn.
            strata = {each.claim: each.stratum for each in frame if each.stratum in known}
        return ReportSample(found, strata)
    frame = read_frame(connection, RunId(row.run_id), found.stratified_by, row.created_at)
    part = restrict_sample_to_run(replace(found, drawn_in=RunId(row.run_id)), frame, judged)
    if not part.frame:
        raise NoSharedClaims(
            f"sample {chosen} was drawn from run {row.run_id}, and run {run_id} judged none of its "
            f"claims; faithtui run --claims run:{row.run_id} judges them"
        )
    places = {each.claim: each.stratum for each in frame}
    return ReportSample(part, places if by_strata else {}, places.keys())


def _make_report_sample_of_population(
    found: LabelledSample, drawn_in: RunId, run_id: RunId, judged: Collection[ClaimId]
) -> ReportSample:
    """Make what a report needs of a sample whose conversations were drawn with it."""
    drawn = {each.claim: each.stratum for each in found.claims}
    if drawn_in == run_id:
        by_strata = found.design is SamplingDesign.STRATIFIED
        return ReportSample(found, drawn if by_strata else {}, drawn.keys())
    if not drawn.keys() & set(judged):
        results = "" if found.population is None else found.population.results
        raise NoSharedClaims(
            f"sample {found.id} was drawn from {results}, and run {run_id} "
            f"judged none of its claims; faithtui run --claims run:{drawn_in} judges them"
        )
    # The other run judged what was drawn, and of the rest nothing.
    whole = found.strata if drawn.keys() <= set(judged) else ()
    other = replace(found, drawn_in=drawn_in, follows_draw=True, drawing=whole, population=None)
    return ReportSample(other, {}, drawn.keys())


def read_sample_behind_claim_set(
    connection: Connection, number: ClaimSetId, judged: Collection[ClaimId], unmatched: int
) -> ReportSample:
    """Read the sample that a claim set was made of.

    Args:
        connection: Where to read.
        number: The version of the set.
        judged: Claims of the run, those that were matched under their name in the set.
        unmatched: Further claims of the run that match none of the set.

    Raises:
        StoreError: It is not there, or the run judged none of its claims.
    """
    found, frame = read_source_sample_and_frame_of_set(connection, number)
    part = restrict_sample_to_run(found, frame, judged)
    if not part.frame:
        raise NoSharedClaims(
            f"the run judged no claim of the claim set {found.name}; faithtui run --claims "
            f"set:{found.name.partition(' ')[0]} judges them"
        )
    by_strata = found.design is SamplingDesign.STRATIFIED
    places = {each.claim: each.stratum for each in frame}
    part = replace(part, beyond=part.beyond + unmatched)
    return ReportSample(part, places if by_strata else {}, places.keys())


def _list_candidates_of_other_runs(
    connection: Connection,
    run_id: RunId,
    judged: Collection[ClaimId],
    labelled: Collection[ClaimId],
) -> Iterator[_Candidate]:
    """List the claim set that a run judged, then samples and sets that stand for its claims too.

    Yields:
        Samples with the most labels first, sets with the newest.
    """
    if not labelled:
        return
    wanted = connection.execute(select(run.c.claim_set).where(run.c.id == run_id)).scalar()
    if wanted is not None:
        yield _Candidate(
            None, ClaimSetId(wanted), _count_labels_of_set(connection, wanted, labelled)
        )
    for each in _list_samples_with_labels(connection, labelled, sample.c.run_id != run_id):
        of = select(sample.c.run_id).where(sample.c.id == each.sample).scalar_subquery()
        there = connection.execute(
            select(verdict.c.claim_id)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(run_item.c.run_id == of, verdict.c.is_home)
        ).scalars()
        if _are_same_claims(there, judged):
            yield each
    others = select(claim_set.c.id).order_by(claim_set.c.id.desc())
    for number in connection.execute(others).scalars().all():
        count = 0 if number == wanted else _count_labels_of_set(connection, number, labelled)
        there = connection.execute(
            select(claim_set_claim.c.claim_id).where(claim_set_claim.c.claim_set_id == number)
        ).scalars()
        if count and _are_same_claims(there, judged):
            yield _Candidate(None, ClaimSetId(number), count)


def _count_labels_of_set(connection: Connection, number: int, labelled: Collection[ClaimId]) -> int:
    """Count the drawn claims of a set that have a label."""
    drawn = connection.execute(
        select(claim_set_claim.c.claim_id).where(
            claim_set_claim.c.claim_set_id == number, claim_set_claim.c.place.is_not(None)
        )
    ).scalars()
    return sum(claim_id in labelled for claim_id in drawn)


def _are_same_claims(there: Iterable[int], judged: Collection[ClaimId]) -> bool:
    """Say whether claims are nearly all that a run judged, see `MOST_BEYOND`."""
    shared = sum(claim_id in judged for claim_id in there)
    return len(judged) - shared <= MOST_BEYOND * len(judged)


def _read_sample(connection: Connection, row: AnyRow) -> LabelledSample:
    claims = connection.execute(
        select(
            sample_claim.c.claim_id,
            sample_claim.c.run_item_id,
            sample_claim.c.stratum,
            sample_claim.c.shown,
        )
        .where(sample_claim.c.sample_id == row.id)
        .order_by(sample_claim.c.position)
    )
    return LabelledSample(
        id=SampleId(row.id),
        name=row.name,
        seed=row.seed,
        design=SamplingDesign(row.design),
        frame=row.frame,
        stratified_by=tuple(row.stratified_by),
        strata=tuple(
            Stratum(each["name"], each["population"], each["drawn"]) for each in row.strata
        ),
        claims=tuple(
            SampledClaim(ClaimId(claim_id), ItemId(item), stratum, shown)
            for claim_id, item, stratum, shown in claims
        ),
        population=None if row.population is None else Population.from_json(row.population),
    )


def _find_newest_population_sample(connection: Connection, run_id: RunId) -> SampleId | None:
    """Find the newest sample of a run whose conversations were drawn with it."""
    found = connection.execute(
        select(sample.c.id)
        .where(sample.c.run_id == run_id, sample.c.population.is_not(None))
        .order_by(sample.c.id.desc())
    ).scalar()
    return None if found is None else SampleId(found)


def _list_samples_with_labels(
    connection: Connection, labelled: Collection[ClaimId], condition: ColumnElement[bool]
) -> Iterator[_Candidate]:
    """List the samples that meet a condition and have a labelled claim.

    Yields:
        The one with the most first, of equals the newest.
    """
    if not labelled:
        return
    rows = connection.execute(
        select(sample_claim.c.sample_id, sample_claim.c.claim_id)
        .join(sample, sample.c.id == sample_claim.c.sample_id)
        .where(condition, sample.c.kind.in_(_REPRESENTATIVE_KINDS))
    )
    counts = Counter(SampleId(number) for number, claim_id in rows if claim_id in labelled)
    for each in sorted(counts, key=lambda each: (counts[each], each), reverse=True):
        yield _Candidate(each, None, counts[each])
