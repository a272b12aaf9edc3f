"""Human labels of claims, as they count in a report.

Stricter than what screens show: a label given in sight of a judge's verdict which has
changed since says nothing about the word that stands now.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, select

from faithtui.agreement.labelled_units import LabelState, Opinion
from faithtui.domain.ids import ClaimId, LabelId, RunId
from faithtui.domain.labels.label_events import (
    Action,
    HumanVerdict,
    LabelEvent,
    choose_majority_or_severest_verdict,
)
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.label_replay import (
    EVENT_COLUMNS,
    LOG_ORDER,
    event_from_row,
    replay_verdicts,
)
from faithtui.store.schema.tables import claim, human_label, run_item

_BLIND_UNLESS_RECORDED = (Action.IMPORTED, Action.ADJUDICATED)
"""Verdicts that are blind unless the judge's is recorded to have been in view."""
_IN_VIEW = (Action.AGREED, Action.OVERRIDDEN, Action.ACCEPTED)
"""Verdicts that there are only with a judge's in view."""

HomeLabelsByRun = Mapping[RunId, Mapping[ClaimId, str | None]]
"""What the judges of runs say now, in each claim's home window."""


class CountedLabels(NamedTuple):
    """The human labels of one claim, all together."""

    state: LabelState
    opinions: tuple[Opinion, ...] = ()
    """See `ClaimUnit.opinions`."""
    run_label: str | None = None
    """Consensus in the words of the run; None without any that means something there."""
    human: str | None = None
    """Consensus, in words that mean nothing in the run if there are no others."""

    reviewers: int = 0
    """How many annotators gave a label that counts."""
    blind: bool | None = None
    """Whether all labels that count were given blind; None without any."""


UNREVIEWED = CountedLabels(LabelState.UNREVIEWED)

_STATES_IN_VIEW = {each: each for each in LabelState} | {
    LabelState.LABELLED: LabelState.IN_VIEW,
    LabelState.STALE: LabelState.IN_VIEW,
}
"""How a claim without a blind label stands, by how it would if labels in view counted."""


_EVENTS = select(*EVENT_COLUMNS)


def read_run_label_log(connection: Connection, run_id: RunId) -> list[LabelEvent]:
    """Read all events on claims in the conversations of a run, in the order of the log."""
    return _read_log(
        connection,
        _EVENTS.join(claim, claim.c.id == human_label.c.claim_id)
        .where(
            claim.c.conversation_id.in_(
                select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
            )
        )
        .order_by(*LOG_ORDER),
    )


def read_claims_label_log(connection: Connection, claims: Sequence[ClaimId]) -> list[LabelEvent]:
    """Read all events on a few claims as `read_run_label_log` does."""
    return _read_log(
        connection, _EVENTS.where(human_label.c.claim_id.in_(claims)).order_by(*LOG_ORDER)
    )


def read_label_log(connection: Connection, which: ColumnElement[bool]) -> list[LabelEvent]:
    """Read all events that a condition on them holds for, as `read_run_label_log` does."""
    return _read_log(connection, _EVENTS.where(which).order_by(*LOG_ORDER))


def _read_log(connection: Connection, wanted: Select[Any]) -> list[LabelEvent]:
    return [*map(event_from_row, connection.execute(wanted).all())]


def replay_log_into_counted_labels(
    log: Sequence[LabelEvent], rule: ScoringRule, home_labels: HomeLabelsByRun, *, blind_only: bool
) -> dict[ClaimId, CountedLabels]:
    """Replay a log into what counts.

    Args:
        log: As `read_run_label_log` reads it.
        rule: Of the run whose words are to be used.
        home_labels: Of the runs that labels given in them must still be about.
        blind_only: Leave out verdicts that were given with a judge's in view.

    Returns:
        Human labels of each claim with label events.
    """
    places: dict[LabelId, int] = {}
    by_claim: dict[ClaimId, list[LabelEvent]] = defaultdict(list)
    in_view = set[ClaimId]()
    for place, act in enumerate(log):
        places[act.id] = place
        if blind_only and _was_judge_shown(act):
            in_view.add(act.claim)
        else:
            by_claim[act.claim].append(act)
    translate = cache(rule.translate_word_to_label)
    found = {}
    for claim_id, acts in by_claim.items():
        if len(acts) == 1:
            # Most claims have one event, and one blind label is what counts.
            alone = _read_single_blind_label(acts[0], places, translate)
            if alone is not None:
                found[claim_id] = alone
                continue
        standing = _replay_claim_events(acts)
        before: Sequence[HumanVerdict] = ()
        if any(map(_is_adjudicated, standing)):
            before = _replay_claim_events(_drop_final_events(acts))
        found[claim_id] = _make_counted_labels(standing, before, places, translate, home_labels)
    unanswered = {each for each in in_view if found.get(each, UNREVIEWED) == UNREVIEWED}
    if unanswered:
        seen = [act for act in log if act.claim in unanswered]
        whole = replay_log_into_counted_labels(seen, rule, home_labels, blind_only=False)
        found.update(
            (claim_id, CountedLabels(_STATES_IN_VIEW[labels.state]))
            for claim_id, labels in whole.items()
        )
    return found


def _read_single_blind_label(
    act: LabelEvent, places: Mapping[LabelId, int], translate: Callable[[str], str | None]
) -> CountedLabels | None:
    """Read a claim's only act: as replaying it would, in a quarter of the time.

    Returns:
        None unless it is a verdict that was given blind, whatever the judge says now.
    """
    verdict = act.verdict
    if verdict is None or act.action is Action.ADJUDICATED or not _is_blind(act):
        return None
    word = translate(verdict)
    human = verdict if word is None else word
    place = places[act.id]
    opinion = Opinion(
        act.reviewer,
        human,
        act.action,
        True,
        act.seconds,
        act.code,
        place,
        act.unverified,
        came_with_data(act),
    )
    return CountedLabels(LabelState.LABELLED, (opinion,), word, human, 1, True)


def _replay_claim_events(acts: Sequence[LabelEvent]) -> Sequence[HumanVerdict]:
    """Replay the events on one claim into each annotator's label."""
    return next(iter(replay_verdicts(acts).values()), ())


def _drop_final_events(acts: Sequence[LabelEvent]) -> list[LabelEvent]:
    """Drop final labels, and imported ones that an earlier import did not know to be final."""
    final = {
        (act.reviewer, act.scale, act.raw_label)
        for act in acts
        if act.action is Action.ADJUDICATED and act.scale is not None
    }
    return [
        act
        for act in acts
        if act.action is not Action.ADJUDICATED
        and not (
            act.action is Action.IMPORTED and (act.reviewer, act.scale, act.raw_label) in final
        )
    ]


def _make_counted_labels(
    standing: Sequence[HumanVerdict],
    before: Sequence[HumanVerdict],
    places: Mapping[LabelId, int],
    translate: Callable[[str], str | None],
    home_labels: HomeLabelsByRun,
) -> CountedLabels:
    """Combine the human labels of one claim.

    Args:
        standing: The label of each annotator.
        before: The same without final labels; () when there are none.
        places: Place in the log of each event.
        translate: Translates a word into one of the run; None: it means nothing there.
        home_labels: What judges say now.
    """
    fresh = [each for each in standing if each.is_counted and not _is_stale(each, home_labels)]
    if not fresh:
        return CountedLabels(_decide_state_without_counted_verdict(standing))
    own: list[HumanVerdict] = []
    if before:
        settled = {each.reviewer for each in fresh if _is_adjudicated(each)}
        own = [
            each
            for each in before
            if each.reviewer in settled and each.is_counted and not _is_stale(each, home_labels)
        ]
    opinions = [_make_opinion(each, places, translate) for each in (*fresh, *own)]
    opinions.sort(key=attrgetter("order"))
    if len(fresh) == 1:
        word, untranslated = _translate_verdict(fresh[0], translate), fresh[0].verdict
    else:
        word = choose_majority_or_severest_verdict(
            [replace(each, verdict=_translate_verdict(each, translate)) for each in fresh]
        )
        untranslated = choose_majority_or_severest_verdict(fresh)
    return CountedLabels(
        LabelState.LABELLED,
        tuple(opinions),
        run_label=word,
        human=untranslated if word is None else word,
        reviewers=len(fresh),
        blind=all(each.blind for each in opinions),
    )


def _translate_verdict(found: HumanVerdict, translate: Callable[[str], str | None]) -> str | None:
    return None if found.verdict is None else translate(found.verdict)


def _decide_state_without_counted_verdict(standing: Sequence[HumanVerdict]) -> LabelState:
    """Say how a claim stands of which no verdict counts."""
    if any(each.is_counted and not each.skipped_since for each in standing):
        return LabelState.STALE
    actions = {each.action for each in standing}
    if Action.SKIPPED in actions or any(each.skipped_since for each in standing):
        return LabelState.SKIPPED
    if actions & {Action.BULK, Action.ACCEPTED}:
        return LabelState.BULK
    return LabelState.UNREVIEWED


def _make_opinion(
    found: HumanVerdict,
    places: Mapping[LabelId, int],
    translate: Callable[[str], str | None],
) -> Opinion:
    assert found.event is not None
    assert found.verdict is not None
    assert found.action is not None
    return Opinion(
        reviewer=found.reviewer,
        verdict=translate(found.verdict) or found.verdict,
        action=found.action,
        blind=_is_blind(found.event),
        seconds=found.event.seconds,
        code=found.code,
        order=places[found.event.id],
        unverified=found.event.unverified,
        came_with_data=came_with_data(found.event),
    )


def _is_blind(act: LabelEvent) -> bool:
    """Say whether a label was given without a judge's verdict in view."""
    if act.action in _BLIND_UNLESS_RECORDED:
        return not act.saw_judge
    return act.action is Action.BLIND


def came_with_data(act: LabelEvent) -> bool:
    """Say whether a label came with data, as `IS_IMPORTED_LABEL` does of rows."""
    return act.action is Action.IMPORTED or act.scale is not None


def _is_adjudicated(found: HumanVerdict) -> bool:
    return found.action is Action.ADJUDICATED


def _is_stale(found: HumanVerdict, home_labels: HomeLabelsByRun) -> bool:
    """Say whether a verdict is about a word that the judge does not say any more."""
    act = found.event
    if act is None or found.action not in _IN_VIEW:
        return False
    judge = None if act.run is None else home_labels.get(act.run)
    return judge is not None and judge.get(found.claim) != act.judge_verdict


def _was_judge_shown(act: LabelEvent) -> bool:
    """Say whether an event is a label given with a judge's verdict in view."""
    return act.action in _IN_VIEW or (
        act.saw_judge
        and act.action in (*_BLIND_UNLESS_RECORDED, Action.BULK)
        and act.verdict is not None
    )
