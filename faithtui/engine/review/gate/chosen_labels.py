"""Labels that somebody may have chosen because they suit, for the gate.

A sample speaks for its run as nobody knew beforehand what it would show. Who knows labels can try
seeds until a sample has few of the judge's faults, who labels several samples can show the one
that looks best, who deletes conversations can delete those with the faults, and who knows where a
label differs from the judge's can give another.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Self

from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    ClaimUnit,
    LabelState,
    Opinion,
    RunUnits,
    decide_answer_by_majority,
)
from faithtui.agreement.report.figures.claims_and_answers import (
    find_judge_answer_verdict,
    pass_or_fail,
)
from faithtui.agreement.report.settings import ReportLevel, ReportWarning, Severity
from faithtui.domain.ids import ClaimId, ConversationId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule
from faithtui.store.deletion_records import EXPOSURES, DeletionKind
from faithtui.store.records import RunRow
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store

MANY_KNOWN = 0.05
"""Share of the labelled claims of a sample that may have had a label before it was drawn: so many
of a sample are in an earlier one by luck, where that was small. Of labels that nobody can vouch
for, more are asked about, and fewer are counted for and against the judge: one in twenty can be
every miss there is."""
LARGE_SAMPLE = 0.5
"""Labels of other samples, in labels of the one that is used, from which on any could have been
chosen."""
_NO_REVIEWER = ""

_KNOWN = (
    "{early:,} of the {many:,} labelled claims of the sample «{name}» had a label before it was "
    "drawn: whoever knows labels can draw until the sample suits."
)
_OTHERS = (
    "the sample «{name}» has {many:,} labelled claims; of other samples the figures "
    "leave out {others:,}: whoever has several can show the best one."
)

_UNKNOWN = (
    "nothing says when the sample of «{name}» was drawn, or how many labels other samples have: "
    "its file is of an earlier version, or labels were deleted where it was made. Whoever knows "
    "labels can choose a sample, or labels, that suit. Export the claim set again where it was "
    "drawn, unless labels were deleted there, and import it here."
)
_CHANGED = (
    "{changed:,} of the {many:,} labelled {units} in the figures agree with the judge only since "
    "their label was changed, or settled against all other annotators: whoever knows where they "
    "differ can make them agree."
)
_BESIDE = (
    "the figures are of {many:,} labelled {units}; {beside:,} of the same data sets lie in "
    "conversations that this run did not judge, and were labelled before it was made: whoever "
    "knows labels can choose conversations that suit."
)
_VERDICTS = "verdicts"
"""What deletions call verdicts of a judge that went along."""
_IMPORTED = (
    "the labels of {late:,} of the {many:,} labelled {units} in the figures came with data after a "
    "run had judged them, or may have and was deleted, or beside one whose judge was asked "
    "elsewhere: nothing says whether those who gave them saw its verdicts."
)
_DELETED = (
    "{gone:,} label events were deleted since conversations of the run were imported (lastly on "
    "{at:%Y-%m-%d} by {by}), alone or with conversations: what is left need not be like what was "
    "labelled."
)
_SEEN_IN_OTHER_RUN = (
    "the labels of {seen:,} of the {of:,} labelled {units} in the figures were given blind by "
    "annotators who had verdicts of another run on the same conversation in view before, or "
    "revealed: a judge that is asked again says much the same."
)
_EXPOSURES_DELETED = (
    "the labels of {many:,} of the {of:,} labelled {units} in the figures were given blind after a "
    "deletion (lastly on {at:%Y-%m-%d} by {by}) took along who had seen the judge's verdicts: "
    "nothing says whether those who gave them had."
)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How the labelled claims were drawn."""

    name: str
    sample_uid: str
    drawn_at: datetime | None
    """None: nothing says."""
    other_labels: int | None
    """Labels of other samples that were counted where it was drawn; None: nothing says."""

    @classmethod
    def from_sample(cls, row: SampleRow) -> Self:
        """Read it of a sample that is here."""
        return cls(row.name, row.uid, row.created_at, 0)


@dataclass(frozen=True, slots=True)
class LabelSelection:
    """What speaks for labels that somebody chose for what they show."""

    warnings: list[ReportWarning] = field(default_factory=list)
    """Of the sample, the run, and labels where there are many."""
    doubtful: dict[ClaimId, set[str]] = field(default_factory=dict)
    """A few claims, or answers as a whole, whose labels nobody can vouch for, with the codes of
    the warnings of many."""

    def add_labels(
        self, code: str, claims: Collection[ClaimId], counted: "_CountedLabels", message: str
    ) -> None:
        """Add claims, or answers as a whole, whose labels nobody can vouch for.

        Args:
            code: Of the warning.
            claims: The claims.
            counted: All that are labelled and in the figures.
            message: Of the warning, where they are more than a few of those.
        """
        if len(claims) > MANY_KNOWN * len(counted.units):
            self.warnings.append(_make_warning(code, message, counted.level))
        else:
            for each in claims:
                self.doubtful.setdefault(each, set()).add(code)


class _CountedUnit(NamedTuple):
    """A claim, or an answer as a whole, with a label that figures rest on."""

    claim: ClaimId
    conversation: ConversationId
    judge: str | None
    human: str | None
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True, slots=True)
class _CountedLabels:
    """The labels that the figures of one level rest on."""

    level: ReportLevel
    units: Sequence[_CountedUnit]
    translate_word: Callable[[str], str]
    """Makes a word that somebody gave one of those of the units."""

    @property
    def claims(self) -> list[ClaimId]:
        """What the labels belong to."""
        return [each.claim for each in self.units]

    @property
    def are_answers(self) -> bool:
        """Whether they are of answers as a whole."""
        return self.level is ReportLevel.ANSWERS


def find_label_selection(store: Store, run: RunRow, readings: RunUnits) -> LabelSelection:
    """Find where the labels that figures rest on may have been chosen for what they show.

    Args:
        store: Where samples and labels are.
        run: The run whose labels these are.
        readings: Verdicts and human labels; the design says which sample it is.
    """
    levels = (
        _collect_counted_claims(readings, run.spec.rule),
        _collect_counted_answers(readings, run.spec.rule),
    )
    found = LabelSelection(
        [
            *_list_deletion_warnings(store, run),
            *_list_sample_warnings(store, run, readings),
        ]
    )
    for counted in levels:
        if counted.units:
            found.warnings.extend(_list_chosen_conversation_warnings(store, run, readings, counted))
            _add_labels_after_deleted_exposures(found, store, counted)
            _add_labels_after_other_run(found, store, counted)
            _add_changed_labels(found, store, counted)
            _add_imported_labels(found, store, counted)
    return found


def _collect_counted_claims(readings: RunUnits, rule: ScoringRule) -> _CountedLabels:
    """Collect the labelled claims that figures rest on: of a sample, drawn ones."""
    is_sample = readings.design.kind in RANDOM_DESIGNS
    units = [
        _CountedUnit(each.claim, each.conversation, each.judge, each.human, each.opinions)
        for each in readings.claims
        if each.state is LabelState.LABELLED
        and not (is_sample and (each.audit or each.position is None))
    ]
    return _CountedLabels(
        ReportLevel.CLAIMS, units, lambda word: rule.translate_word_to_label(word) or word
    )


def _collect_counted_answers(readings: RunUnits, rule: ScoringRule) -> _CountedLabels:
    """Collect the answers that were labelled as a whole and judged, each as pass or fail.

    Where a metric judges whole answers, they are claims, and none is collected here.
    """
    claims = {each.claim for each in readings.claims}

    def translate_word(word: str) -> str:
        label = rule.translate_word_to_label(word)
        return (
            word if label is None or label == NOT_A_CLAIM else pass_or_fail(label in rule.passing)
        )

    units = []
    for each in readings.answers:
        judge, passes = (
            find_judge_answer_verdict(each),
            decide_answer_by_majority(each, rule.passing, rule.labels),
        )
        if each.claim is None or each.claim in claims or judge is None or passes is None:
            continue
        opinions = tuple(
            opinion._replace(verdict=translate_word(opinion.verdict)) for opinion in each.opinions
        )
        units.append(
            _CountedUnit(each.claim, each.conversation, judge, pass_or_fail(passes), opinions)
        )
    return _CountedLabels(ReportLevel.ANSWERS, units, translate_word)


def _list_sample_warnings(store: Store, run: RunRow, readings: RunUnits) -> list[ReportWarning]:
    """Warn of a sample that was drawn once labels were known, or chosen among several."""
    drawing = _find_sample_draw(store, readings)
    if drawing is None or not (inside := _list_labelled_drawn_claims(readings.claims)):
        return []
    if drawing.drawn_at is None or drawing.other_labels is None:
        return [_make_warning("drawing_unknown", _UNKNOWN.format(name=drawing.name))]
    found = []
    early = store.provenance.list_claims_labelled_before(
        [each.claim for each in inside], drawing.drawn_at
    )
    if len(early) > MANY_KNOWN * len(inside):
        found.append(
            _make_warning(
                "drawn_after_labels",
                _KNOWN.format(early=len(early), many=len(inside), name=drawing.name),
            )
        )
    others = max(
        _count_claims_of_other_samples(store, run, drawing.sample_uid, readings.claims),
        drawing.other_labels,
    )
    if others >= LARGE_SAMPLE * len(inside):
        found.append(
            _make_warning(
                "other_samples",
                _OTHERS.format(name=drawing.name, many=len(inside), others=others),
            )
        )
    return found


def _find_first_time_of_data(store: Store, run: RunRow) -> datetime:
    """Find since when labels and samples of a run's conversations may have been here."""
    return store.provenance.read_earliest_import_time(run.id) or run.created_at


def _list_deletion_warnings(store: Store, run: RunRow) -> list[ReportWarning]:
    """Warn of labels that are gone for good; of what a store deleted nothing else is known."""
    # The labels themselves cannot say since when: the first of them may be gone, too. Nor can the
    # run: another one over the same conversations has their labels, and is younger.
    since = _find_first_time_of_data(store, run)
    rows = [
        each
        for each in store.deletions.list_deletions()
        if each.counts.get("labels") and each.created_at >= since
    ]
    if not rows:
        return []
    gone = sum(each.counts["labels"] for each in rows)
    message = _DELETED.format(gone=gone, at=rows[-1].created_at, by=rows[-1].deleted_by)
    return [ReportWarning("labels_deleted", Severity.CAUTION, message, None)]


def _add_labels_after_deleted_exposures(
    selection: LabelSelection, store: Store, counted: _CountedLabels
) -> None:
    """Add blind labels of conversations or runs that a store had before, and forgot.

    Who saw what of them went too. What they were is not known, so all that may be the same are
    asked about. A deleted annotator is not: another name hides as much.
    """
    claims, found = counted.claims, set[ClaimId]()
    deletions = store.deletions.list_deletions()
    rows = [
        each
        for each in deletions
        if each.counts.get(EXPOSURES) and each.kind is not DeletionKind.PERSON
    ]
    for row in rows:
        # A run that is deleted first takes the notes along, and its conversations may follow.
        conversations_gone_at = [
            each.created_at
            for each in deletions
            if each.id >= row.id and each.kind in (DeletionKind.DATASET, DeletionKind.IMPORT)
        ]
        found |= store.provenance.list_claims_labelled_after_deletion(
            claims,
            row.created_at,
            imported_before=row.created_at if row.kind is DeletionKind.RUN else None,
            imported_since=min(conversations_gone_at, default=None),
        )
    if found:
        message = _EXPOSURES_DELETED.format(
            many=len(found),
            of=len(claims),
            units=counted.level,
            at=rows[-1].created_at,
            by=rows[-1].deleted_by,
        )
        selection.add_labels("exposures_deleted", found, counted, message)


def _add_labels_after_other_run(
    selection: LabelSelection, store: Store, counted: _CountedLabels
) -> None:
    """Add blind labels whose annotators had seen what another run's judge says there."""
    claims = counted.claims
    seen = store.provenance.list_claims_labelled_blind_after_other_run(claims)
    message = _SEEN_IN_OTHER_RUN.format(seen=len(seen), of=len(claims), units=counted.level)
    selection.add_labels("seen_in_other_run", seen, counted, message)


def _add_imported_labels(selection: LabelSelection, store: Store, counted: _CountedLabels) -> None:
    """Add labels that came with data when the judge's verdicts were there to be copied."""
    alone = [
        each.claim
        for each in counted.units
        if all(opinion.came_with_data for opinion in each.opinions)
    ]
    late = store.provenance.list_claims_imported_after_judging(
        alone, are_answers=counted.are_answers
    )
    for row in store.deletions.list_deletions():
        if row.kind is DeletionKind.RUN and row.counts.get(_VERDICTS):
            late |= store.provenance.list_claims_labelled_after_deletion(
                alone, row.created_at, imported_before=row.created_at, are_imported=True
            )
    message = _IMPORTED.format(late=len(late), many=len(counted.units), units=counted.level)
    selection.add_labels("imported_labels", late, counted, message)


def _list_chosen_conversation_warnings(
    store: Store, run: RunRow, readings: RunUnits, counted: _CountedLabels
) -> list[ReportWarning]:
    """Warn of a run over some conversations of a data set, made once their labels were known.

    A claim set is not asked: it was drawn, and `drawn_after_labels` asks when. Nor are other parts
    of a split, which is random.
    """
    if readings.design.claim_set is not None:
        return []
    many = len(counted.units)
    known = store.provenance.list_claims_labelled_before(counted.claims, run.created_at)
    if len(known) <= MANY_KNOWN * many:
        return []
    splits = store.splits.map_conversations_to_splits()
    parts = {splits.get(each.conversation) for each in counted.units}
    left_out = store.provenance.count_labelled_claims_left_out_of_run(
        run.id, are_answers=counted.are_answers
    )
    beside = sum(number for place, number in left_out.items() if splits.get(place) in parts)
    if beside < LARGE_SAMPLE * many:
        return []
    message = _BESIDE.format(beside=beside, many=many, units=counted.level)
    return [_make_warning("other_conversations", message, counted.level)]


def _add_changed_labels(selection: LabelSelection, store: Store, counted: _CountedLabels) -> None:
    """Add labels that were changed, or overruled, until they agree with the judge."""
    agreeing = [
        each for each in counted.units if each.human is not None and each.human == each.judge
    ]
    given = store.provenance.map_claims_to_counted_verdicts_ever_given(
        [each.claim for each in agreeing]
    )
    changed = [
        each.claim
        for each in agreeing
        if _is_changed_to_agree(
            each, {counted.translate_word(word) for word in given.get(each.claim, ())}
        )
    ]
    message = _CHANGED.format(changed=len(changed), many=len(counted.units), units=counted.level)
    selection.add_labels("changed_labels", changed, counted, message)


def _is_changed_to_agree(claim: _CountedUnit, given: Collection[str]) -> bool:
    """Say whether a label that agrees with the judge took the place of another one.

    Args:
        claim: With such a label.
        given: All verdicts that were ever given on it.
    """
    others = [each.verdict for each in claim.opinions if each.action is not Action.ADJUDICATED]
    if len(others) < len(claim.opinions) and claim.human not in others:
        # Nobody but whoever settled it says so; a tie has one who does.
        return any(each != claim.human for each in given)
    return not {claim.human, *others}.issuperset(given)


def _make_warning(
    code: str, message: str, level: ReportLevel = ReportLevel.CLAIMS
) -> ReportWarning:
    return ReportWarning(code, Severity.CAUTION, message, level)


def _find_sample_draw(store: Store, readings: RunUnits) -> _Drawing | None:
    """Find how it was drawn; None for a census. What was drawn elsewhere its claim set tells."""
    design = readings.design
    if design.sample is not None:
        return _Drawing.from_sample(
            store.samples.read_sample(SampleId(design.sample), _NO_REVIEWER)
        )
    if design.claim_set is None:
        return None
    made = store.claim_sets.read_version(design.claim_set)
    sample = store.claim_sets.find_sample(made)
    if sample is not None:
        return _Drawing.from_sample(store.samples.read_sample(sample, _NO_REVIEWER))
    return _Drawing(made.title, made.sample_uid, made.drawn_at, made.other_labels)


def _list_labelled_drawn_claims(claims: Sequence[ClaimUnit]) -> list[ClaimUnit]:
    return [
        each
        for each in claims
        if each.state is LabelState.LABELLED and each.position is not None and not each.audit
    ]


def _count_claims_of_other_samples(
    store: Store, run: RunRow, uid: str, claims: Sequence[ClaimUnit]
) -> int:
    """Count the labelled claims outside the sample that other samples and claim sets drew.

    A second run over the same conversations has the same claims. Where a sample was deleted, all
    that lie outside count: its labels stay, and nothing says whose they were.
    """
    outside = {
        each.claim for each in claims if each.state is LabelState.LABELLED and each.position is None
    }
    since = _find_first_time_of_data(store, run)
    if any(
        each.counts.get("samples") and each.created_at >= since
        for each in store.deletions.list_deletions()
    ):
        return len(outside)
    return len(store.claim_sets.list_claims_drawn_by_other_samples(outside, uid)) if outside else 0
