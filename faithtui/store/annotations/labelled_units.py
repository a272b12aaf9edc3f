"""What agreement is computed from, read for a whole run at once.

One query per table and no query per conversation, so that a run of many thousand claims takes
moments. Human labels come in the words of the run's metric.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelState,
    PairedClaim,
    PairedClaims,
    RunUnits,
    UnitSettings,
    UnratedAnswer,
    decide_answer_by_majority,
    is_answer_passed_by_judge,
    is_tied,
    list_tied_labels,
)
from faithtui.agreement.rating_scales import translate_to_rating
from faithtui.agreement.sampling.label_designs import (
    find_label_design,
    is_census_with_unblinded_claims,
    list_served_claims,
)
from faithtui.domain.ids import ClaimId, ConversationId, LabelId, RunId
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, Action, LabelEvent
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, SEVERITY
from faithtui.domain.scores import Score, ScoringRule, passes_threshold
from faithtui.errors import StoreError
from faithtui.store.annotations.claim_set_matches import (
    replace_run_claims_by_those_of_set,
    translate_labels_to_claims_of_set,
)
from faithtui.store.annotations.counted_labels import (
    UNREVIEWED,
    CountedLabels,
    came_with_data,
    read_claims_label_log,
    read_run_label_log,
    replay_log_into_counted_labels,
)
from faithtui.store.annotations.marked_evidence import (
    read_evidence_units,
    read_extraction_units_of_complete_answers,
)
from faithtui.store.records import ItemState
from faithtui.store.runs.answer_view import (
    AnswerKey,
    HomeLabel,
    read_first_window_scores,
    score_answer,
)
from faithtui.store.runs.human_and_judge_scores import iter_human_and_judge_scores
from faithtui.store.runs.judge_verdicts import (
    JudgedRun,
    choose_label_across_windows,
    read_answer_texts,
    read_judge_labels_by_claim,
    read_judged_run,
    read_scoring_rule,
)
from faithtui.store.samples.report_sample_choice import (
    ReportSample,
    choose_and_read_sample_of_run_labels,
    read_sample_behind_claim_set,
)
from faithtui.store.schema.tables import claim, human_label, run_item, turn
from faithtui.store.search.metadata import read_metadata_values

DEFAULTS = UnitSettings()
MOST_SINCE = 200
"""Claims acted on since a report above which it is computed anew at once."""


@dataclass(frozen=True, slots=True)
class _RunLabels:
    """Verdicts and human labels."""

    judged: JudgedRun
    matched: JudgedRun
    """The same, with the claims of the set that is asked for in place of its own ones."""
    log: Sequence[LabelEvent]
    """Of the run's conversations, with claims that the run did not judge."""
    labels_by_claim: Mapping[ClaimId, CountedLabels]
    words: Mapping[ClaimId, str | None]
    """The judge's, in each claim's home window."""
    blind_only: bool


def read_report_units(
    connection: Connection,
    run_id: RunId,
    settings: UnitSettings = DEFAULTS,
    severity: Mapping[str, int] = SEVERITY,
) -> RunUnits:
    """Read everything that a report on a run is computed from.

    See `UnitReader.read_report_units`.
    """
    known = _read_run_labels(connection, run_id, settings)
    rated = _has_imported_ratings(known)
    sample = _find_report_sample(connection, run_id, settings, known, rated=rated)
    claims = tuple(_make_claim_units(connection, run_id, known, settings, severity, sample))
    tied = {
        each: labels
        for each, found in known.labels_by_claim.items()
        if found.run_label is not None
        and (labels := list_tied_labels(found.opinions, known.judged.rule.labels))
    }
    label_by_claim = {
        each: found.run_label
        for each, found in known.labels_by_claim.items()
        if found.run_label is not None and each not in tied
    }
    answers, unrated = _read_answers_with_and_without_whole_label(connection, run_id, known)
    design = find_label_design(claims, None if sample is None else sample.sample, rated=rated)
    is_sample = sample is not None and design.kind in RANDOM_DESIGNS
    shown = sample.list_claims_shown_with_verdict() if sample and is_sample else set[ClaimId]()
    served = None
    if sample is not None and design.kind is DesignKind.CLUSTER:
        states = {each.claim: each.state for each in claims}
        served = list_served_claims(sample.sample, states)
    return RunUnits(
        claims=claims,
        answers=answers,
        scores=tuple(
            iter_human_and_judge_scores(known.judged, label_by_claim, shown, tied, served)
        ),
        design=design,
        unrated=unrated,
        evidence=read_evidence_units(connection, run_id, known.judged),
        extraction=read_extraction_units_of_complete_answers(
            connection, run_id, known.judged, known.labels_by_claim
        ),
        metadata=read_metadata_values(connection, run_id, settings.metadata_keys),
    )


def read_newest_event_id(connection: Connection) -> LabelId:
    """Give the number of the newest event; 0 without any."""
    return LabelId(connection.execute(select(func.max(human_label.c.id))).scalar() or 0)


def read_labels_of_claims_changed_after(
    connection: Connection,
    run_id: RunId,
    after: LabelId,
    settings: UnitSettings,
    most: int,
) -> dict[ClaimId, CountedLabels] | None:
    """Read the labels of claims acted on since.

    See `UnitReader.read_labels_of_claims_changed_after`.
    """
    acted = select(human_label.c.claim_id).where(human_label.c.id > after).distinct()
    claims = [ClaimId(each) for each in connection.execute(acted.limit(most + 1)).scalars()]
    if len(claims) > most:
        return None
    words = read_judge_labels_by_claim(connection, run_id, claims)
    log = read_claims_label_log(connection, list(words))
    labels_by_claim = replay_log_into_counted_labels(
        log, read_scoring_rule(connection, run_id), {run_id: words}, blind_only=settings.blind_only
    )
    return {claim_id: labels_by_claim.get(claim_id, UNREVIEWED) for claim_id in words}


def read_claim_units(connection: Connection, run_id: RunId) -> tuple[ClaimUnit, ...]:
    """Read what a run judged; see `UnitReader.read_claim_units`."""
    known = _read_run_labels(connection, run_id, DEFAULTS)
    return tuple(_make_claim_units(connection, run_id, known, DEFAULTS, SEVERITY, None))


def read_rated_answer_units(connection: Connection, run_id: RunId) -> tuple[AnswerUnit, ...]:
    """Read the rated answers of a run; see `UnitReader.read_rated_answer_units`."""
    rated, _ = _read_answers_with_and_without_whole_label(
        connection, run_id, _read_run_labels(connection, run_id, DEFAULTS)
    )
    return rated


def find_rated_conversations(
    connection: Connection, run_id: RunId, *, differing: bool
) -> frozenset[ConversationId]:
    """Find the conversations of a run in which annotators labelled an answer as a whole.

    Args:
        connection: An open one.
        run_id: The run.
        differing: Only where they pass an answer that the judge fails, or the other way round.
    """
    rule = read_scoring_rule(connection, run_id)
    found = set()
    for answer in read_rated_answer_units(connection, run_id):
        passes = decide_answer_by_majority(answer, rule.passing, rule.labels)
        if passes is not None and (
            not differing or is_answer_passed_by_judge(answer) not in (None, passes)
        ):
            found.add(answer.conversation)
    return frozenset(found)


def read_paired_units(
    connection: Connection,
    first: RunId,
    second: RunId,
    settings: UnitSettings = DEFAULTS,
    severity: Mapping[str, int] = SEVERITY,
) -> PairedClaims:
    """Read what two runs say of the same claims; see `UnitReader.read_paired_units`."""
    judged = read_judged_run(connection, first)
    others = read_scoring_rule(connection, second).labels
    if set(judged.rule.labels) != set(others):
        sets = " and ".join("/".join(each) or "any word" for each in (judged.rule.labels, others))
        raise StoreError(
            f"judges of runs {first} and {second} choose from different labels ({sets}), so that "
            "their verdicts cannot be compared claim by claim; choose two runs of one metric"
        )
    two: Mapping[ClaimId, str | None]
    if settings.duplicates == "first_window":
        two = read_judge_labels_by_claim(connection, second)
    else:
        two = _choose_judge_labels(read_judged_run(connection, second), settings, severity)
    own_first, own_second = len(judged.homes), len(two)
    if settings.claim_set is not None:
        judged = replace_run_claims_by_those_of_set(connection, first, judged, settings.claim_set)
        two = translate_labels_to_claims_of_set(connection, second, two, settings.claim_set)
    one = {claim_id: label for _, _, _, claim_id, label, *_ in judged.homes}
    labels_by_claim = replay_log_into_counted_labels(
        read_run_label_log(connection, first),
        judged.rule,
        {first: one, second: two},
        blind_only=settings.blind_only,
    )
    chosen = _choose_judge_labels(judged, settings, severity)
    pairs = []
    for number, _, _, claim_id, *_ in judged.homes:
        if claim_id not in two:
            continue
        item, people = judged.items[number], labels_by_claim.get(claim_id, UNREVIEWED)
        pairs.append(
            PairedClaim(
                claim=claim_id,
                conversation=item.conversation,
                group=item.group,
                first=chosen[claim_id],
                second=two[claim_id],
                human=None if is_tied(people.opinions, judged.rule.labels) else people.human,
                blind=people.blind,
            )
        )
    return PairedClaims(
        tuple(pairs),
        only_first=len(one) - len(pairs),
        only_second=len(two) - len(pairs),
        beyond_first=own_first - len(one),
        beyond_second=own_second - len(two),
    )


def _choose_judge_labels(
    judged: JudgedRun, settings: UnitSettings, severity: Mapping[str, int]
) -> dict[ClaimId, str | None]:
    """Choose the judge's label of every claim, by the rule for claims of several windows."""
    return {
        claim_id: label
        if (labels := judged.repeated.get(claim_id)) is None
        else choose_label_across_windows(labels, settings.duplicates, severity)
        for _, _, _, claim_id, label, *_ in judged.homes
    }


def _read_run_labels(connection: Connection, run_id: RunId, settings: UnitSettings) -> _RunLabels:
    judged = read_judged_run(connection, run_id)
    log = read_run_label_log(connection, run_id)
    matched = judged
    if settings.claim_set is not None:
        matched = replace_run_claims_by_those_of_set(connection, run_id, judged, settings.claim_set)
    words = {claim_id: label for _, _, _, claim_id, label, _, _, _ in matched.homes}
    labels_by_claim = replay_log_into_counted_labels(
        log, judged.rule, {run_id: words}, blind_only=settings.blind_only
    )
    return _RunLabels(judged, matched, log, labels_by_claim, words, settings.blind_only)


def _has_imported_ratings(known: _RunLabels) -> bool:
    """Say whether a run judged whole answers of which ratings came with the data."""
    answers = (claim_id for *_, claim_id, _, _, kind, _ in known.judged.homes if kind == "answer")
    return any(
        opinion.came_with_data
        for claim_id in answers
        for opinion in known.labels_by_claim.get(claim_id, UNREVIEWED).opinions
    )


def _find_report_sample(
    connection: Connection,
    run_id: RunId,
    settings: UnitSettings,
    known: _RunLabels,
    *,
    rated: bool,
) -> ReportSample | None:
    """Read the sample that the labels of a run rest on; None where they need none or have none."""
    states = {
        claim_id: people.state
        for claim_id, people in known.labels_by_claim.items()
        if claim_id in known.words
    }
    labelled = sum(state is LabelState.LABELLED for state in states.values())
    if settings.claim_set is not None:
        beyond = len(known.judged.homes) - len(known.matched.homes)
        return read_sample_behind_claim_set(
            connection, settings.claim_set, known.words.keys(), beyond
        )
    is_census = labelled and labelled == len(known.words) and not rated
    found = choose_and_read_sample_of_run_labels(
        connection, run_id, settings.sample, known.words.keys(), states
    )
    if not is_census or found is None:
        return found
    # Nothing is left to stand for, but a sample that is not there is refused all the same, and what
    # was judged because it was drawn stands for no run.
    is_needed = (
        found.sample.follows_draw
        or found.sample.population is not None
        or is_census_with_unblinded_claims(len(known.words), found.sample)
    )
    return found if is_needed else None


def _make_claim_units(
    connection: Connection,
    run_id: RunId,
    known: _RunLabels,
    settings: UnitSettings,
    severity: Mapping[str, int],
    sample: ReportSample | None,
) -> Iterator[ClaimUnit]:
    """Put together what is known about each claim of a run, or of it what a sample stands for."""
    judged, labels_by_claim = known.matched, known.labels_by_claim
    texts: Mapping[tuple[int, int], str] = {}
    if any(kind == "answer" for *_, kind, _ in judged.homes):
        texts = read_answer_texts(connection, run_id)
    drawn = {} if sample is None else sample.sample.map_claims_to_strata_and_positions()
    audit = set[ClaimId]() if sample is None else sample.list_claims_shown_with_verdict()
    strata = {} if sample is None else sample.strata
    frame = None if sample is None else sample.frame
    for number, at, _, claim_id, label, confidence, kind, text in judged.homes:
        if frame is not None and claim_id not in frame:
            continue
        item = judged.items[number]
        labels = judged.repeated.get(claim_id)
        state, opinions, _, human, reviewers, blind = labels_by_claim.get(claim_id, UNREVIEWED)
        stratum, position = drawn.get(claim_id, (strata.get(claim_id), None))
        # By place: naming seventeen fields takes longer than all the rest.
        yield ClaimUnit(
            claim_id,
            item.conversation,
            item.key,
            item.group,
            at,
            texts[number, at] if kind == "answer" else text,
            label
            if labels is None
            else choose_label_across_windows(labels, settings.duplicates, severity),
            human,
            reviewers,
            1 if labels is None else len(labels),
            claim_id not in judged.inconsistent_claims,
            blind,
            state,
            opinions,
            confidence,
            stratum,
            position,
            claim_id in audit,
        )


@dataclass(frozen=True, slots=True)
class _AnswerScores:
    """What the judge made of each answer of a run by itself."""

    rule: ScoringRule
    homes: Mapping[AnswerKey, Score]
    """Scores of the first windows that hold each turn."""
    found: Mapping[AnswerKey, tuple[Score, int]]
    """Score and number of claims; only of answers with claims."""

    def get_score_and_claim_count(self, key: AnswerKey) -> tuple[Score, int]:
        """Give the score of an answer, and of how many claims."""
        return self.found.get(key) or (score_answer(self.rule, (), self.homes.get(key)), 0)


def _score_judged_answers(
    connection: Connection, run_id: RunId, judged: JudgedRun
) -> _AnswerScores:
    """Score each answer by its claims, each in its home window."""
    homes = read_first_window_scores(connection, run_item.c.run_id == run_id)
    found: dict[AnswerKey, tuple[Score, int]] = {}
    for (number, at), claims in groupby(judged.homes, itemgetter(0, 1)):
        labels = [HomeLabel(claim_id, kind, word) for *_, claim_id, word, _, kind, _ in claims]
        key = (judged.items[number].id, at)
        found[key] = (score_answer(judged.rule, labels, homes.get(key)), len(labels))
    return _AnswerScores(judged.rule, homes, found)


def _read_answers_with_and_without_whole_label(
    connection: Connection, run_id: RunId, known: _RunLabels
) -> tuple[tuple[AnswerUnit, ...], tuple[UnratedAnswer, ...]]:
    """Put together what is known about the answers of a run.

    Returns:
        Those labelled as a whole, and all others; neither where there are none of the
        first.
    """
    judged = known.judged
    if judged.homes and all(kind == "statement" for *_, kind, _ in judged.homes):
        return (), ()
    rows = connection.execute(_select_labelled_answers(run_id)).all()
    if not rows:
        return (), ()
    scores = _score_judged_answers(connection, run_id, judged)
    rated = tuple(_make_units_of_answers_labelled_as_whole(rows, known, scores))
    if not rated:
        return (), ()
    return rated, tuple(
        _read_answers_without_whole_label(connection, run_id, judged, scores, rated)
    )


def _make_units_of_answers_labelled_as_whole(
    rows: Sequence[Row[Any]], known: _RunLabels, scores: _AnswerScores
) -> Iterator[AnswerUnit]:
    """Put together what is known about each answer that is labelled as a whole."""
    judged, labels_by_claim = known.judged, known.labels_by_claim
    raters, ratings = _collect_imported_ratings(known.log, blind_only=known.blind_only)
    for row in rows:
        people = labels_by_claim.get(ClaimId(row.claim), UNREVIEWED)
        who = raters[row.claim] | {each.reviewer for each in people.opinions}
        if not who:
            continue  # somebody skipped the answer, or took a label back
        score, claims = scores.get_score_and_claim_count((row.item, row.turn))
        rated = ratings.get(row.claim, [])
        item = judged.items[row.number]
        yield AnswerUnit(
            conversation=item.conversation,
            key=item.key,
            group=item.group,
            turn=row.turn,
            score=score,
            claims=claims,
            passes=passes_threshold(score, judged.rule),
            # An answer that nobody should be judged on neither passes nor fails.
            human=None if people.run_label == NOT_A_CLAIM else people.run_label,
            rating=sum(rated) / len(rated) if rated else None,
            raters=len(who),
            opinions=people.opinions,
            claim=ClaimId(row.claim),
        )


def _read_answers_without_whole_label(
    connection: Connection,
    run_id: RunId,
    judged: JudgedRun,
    scores: _AnswerScores,
    rated: Sequence[AnswerUnit],
) -> Iterator[UnratedAnswer]:
    """Read the answers of windows that nobody labelled as a whole, in the order of the run."""
    known = {(each.conversation, each.turn) for each in rated}
    for number, item_id, at in connection.execute(_select_run_answers(run_id)):
        item = judged.items[number]
        if (item_id, at) not in scores.homes or (item.conversation, at) in known:
            continue
        score, claims = scores.get_score_and_claim_count((item_id, at))
        passing = passes_threshold(score, judged.rule) if claims else None
        yield UnratedAnswer(
            item.conversation, item.group, passing, item.key, at, score.value, claims
        )


def _select_labelled_answers(run_id: RunId) -> Select[Any]:
    """Select answers of a run that somebody acted on as a whole, in the order of the run."""
    return (
        select(
            claim.c.id.label("claim"),
            claim.c.turn,
            run_item.c.id.label("item"),
            run_item.c.number,
        )
        .select_from(run_item)
        .join(claim, claim.c.conversation_id == run_item.c.conversation_id)
        .where(
            claim.c.kind == "answer",
            claim.c.id.in_(select(human_label.c.claim_id)),
            run_item.c.run_id == run_id,
            run_item.c.state == ItemState.DONE.value,
        )
        .order_by(run_item.c.number, claim.c.turn, claim.c.id)
    )


def _select_run_answers(run_id: RunId) -> Select[Any]:
    """Select all answers of a run: place of the conversation, its id in the run, turn."""
    return (
        select(run_item.c.number, run_item.c.id, turn.c.position)
        .select_from(run_item)
        .join(turn, turn.c.conversation_id == run_item.c.conversation_id)
        .where(
            run_item.c.run_id == run_id,
            run_item.c.state == ItemState.DONE.value,
            turn.c.role == "assistant",
        )
        .order_by(run_item.c.number, turn.c.position)
    )


def _collect_imported_ratings(
    log: Sequence[LabelEvent], *, blind_only: bool
) -> tuple[Mapping[int, set[str]], Mapping[int, list[float]]]:
    """Find who labelled each claim in imported data, and the ratings among these labels.

    The newest rating of each annotator counts, and of a final one no other.
    """
    raters: dict[int, set[str]] = defaultdict(set)
    newest: dict[int, dict[str, float]] = defaultdict(dict)
    final: dict[int, list[float]] = {}
    for row in log:
        if not came_with_data(row) or row.action not in COUNTED_ACTIONS:
            continue
        if blind_only and row.saw_judge:
            continue
        raters[row.claim].add(row.reviewer)
        if row.scale is None or row.raw_label is None:
            continue
        rating = translate_to_rating(row.scale, row.raw_label)
        if rating is not None:
            newest[row.claim][row.reviewer] = rating
            if row.action is Action.ADJUDICATED:
                final[row.claim] = [rating]
    ratings = {claim_id: [*each.values()] for claim_id, each in newest.items()}
    return raters, ratings | final
