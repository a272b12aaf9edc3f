"""Verdicts that came with a data set become runs of an imported judge.

Such a run looks like any other: its claims are labelled, its agreement is computed, it is compared
with runs that were made here. Its judge is called `imported:NAME`, so that nobody takes it for
one that was asked here.
"""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, content_hash
from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.judging.judge_profile import NO_PARAMETERS
from faithtui.domain.labels.imported_verdicts import (
    ImportedClaim,
    ImportedEvidence,
    ImportedJudgement,
    ImportedMetric,
    ImportedVerdict,
    ImportedWindow,
    match_logs_to_windows,
)
from faithtui.domain.labels.label_sets import LabelSet
from faithtui.domain.scores import ScoreState
from faithtui.domain.text.location import find_closest_text_index, find_span
from faithtui.domain.windows import Window
from faithtui.errors import FaithtuiError
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build, drop_default_options, metric_options_to_json
from faithtui.metrics.window_scores import WindowFindings, assess_window, has_context
from faithtui.store.records import ItemState, RunSpec, RunState
from faithtui.store.runs.run_records import IMPORTED_FINGERPRINT
from faithtui.store.store import Store

JUDGE: Final = "imported:"
"""What the names of imported judges begin with."""

CLAIMS: Final = "turn-faithfulness"
ANSWERS: Final = "llamaindex-faithfulness"
"""Metrics whose labels the verdicts are: of claims in windows, and of whole answers."""

_AT_A_TIME: Final = 1_000
"""Conversations whose verdicts are looked for at once."""

_WINDOWS_AT_A_TIME: Final = 25
"""Windows of a conversation in one transaction, for which a label that is given meanwhile waits."""

_NO_SCORE: Final = "its score is no finite number, so there is no verdict"

PASSES_FROM: Final = 0.5
"""Score from which an answer passes where the judge does not say whether it does."""


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was made of verdicts that came with a data set."""

    judge: str
    """With `imported:` in front."""
    metric: str
    conversations: int
    """With a verdict; those that only failed or were skipped are in the run too."""
    run: RunId | None = None
    """None: it is there already, or nothing was written."""
    options: Mapping[str, object] | None = None
    """Options of the metric that differ from its defaults; None: the file does not say which
    options the run had, so that scores are those of the defaults."""
    why_defaults: str | None = None
    """Why the options in the file cannot be used here; None: they can, or there are none."""

    superseded: int = 0
    """Verdicts that differ from a later one of the judge on the same answer, which counts."""

    @property
    def are_options_missed(self) -> bool:
        """Whether scores may be other than the judge's because its options are not known.

        Those of verdicts on whole answers follow from the verdicts alone.
        """
        return self.options is None and self.metric == CLAIMS


class _RunName(NamedTuple):
    """What is told apart as a run of its own; its JSON is the key of what is collected."""

    judge: str
    metric: str
    options: Mapping[str, object] | None = None
    """None: nobody knows them, or they cannot be used."""
    why_defaults: str | None = None

    def to_json(self) -> str:
        """Write it; without options as earlier versions named it, which fingerprints depend on."""
        known = self.options is not None or self.why_defaults is not None
        return json.dumps(list(self) if known else [self.judge, self.metric], sort_keys=True)

    def make_run(self, judgements: RecordGroups) -> ImportedRun:
        """Describe the run by what the judge said, by key of the conversation."""
        changed = None
        if self.options is not None:
            changed = drop_default_options(self.metric, self.options, keep_rules=True)
        return ImportedRun(
            f"{JUDGE}{self.judge}",
            self.metric,
            sum(
                _has_verdict(judgements.list_records_of_key(key)) for key in judgements.list_keys()
            ),
            options=changed,
            superseded=sum(
                _count_superseded(judgements.list_records_of_key(key))
                for key in judgements.list_keys()
            )
            if self.metric == ANSWERS
            else 0,
            why_defaults=self.why_defaults,
        )


class VerdictCollector:
    """Collects what judges said of the conversations of one data set; used as a context.

    Args:
        source: Name of the data set.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._groups = RecordGroups()
        self._judged_units: dict[str, str | FaithtuiError] = {}

    def __enter__(self) -> Self:
        """Give the collector."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of what was collected."""
        self._groups.__exit__(kind, error, trace)

    def add_batch(
        self,
        conversations: Mapping[str, Conversation],
        verdicts: Mapping[str, Sequence[ImportedJudgement]],
        kept: Collection[str],
        merged: Iterable[tuple[str, str]],
    ) -> None:
        """Take in what judges said of a batch.

        Args:
            conversations: By key.
            verdicts: By key of their conversation.
            kept: Keys of conversations that are in the store, or would be.
            merged: Keys of conversations that were not stored, each with the one that was.
        """
        stored_as = dict(merged)
        for key, given in verdicts.items():
            if key not in kept:
                continue
            hashed = content_hash(conversations[key].turns)
            for each in given:
                name = self._name_run(each)
                if name is not None:
                    record = [stored_as.get(key, key), hashed, _judgement_to_dict(each)]
                    self._groups.add(name.to_json(), record)

    def _name_run(self, judgement: ImportedJudgement) -> _RunName | None:
        """Say which run a judgement is of; None: it says nothing of answers."""
        # An export of an imported judge's run names it with the prefix already.
        judge = judgement.judge.removeprefix(JUDGE)
        default, given = ANSWERS, "answer"
        if isinstance(judgement, ImportedWindow):
            # A window without claims says of any metric that it has no score there.
            default, given = CLAIMS, "claim" if judgement.claims else ""
        if judgement.metric is None:
            return _RunName(judge, default)
        judged = self._find_judged_unit(judgement.metric)
        if isinstance(judged, FaithtuiError):
            return _RunName(judge, default, None, str(judged)) if given else None
        if given and given != judged:
            why = f"{judgement.metric.key} judges no {given}s"
            return _RunName(judge, default, None, why)
        if judged == "statement":
            return None
        return _RunName(judge, judgement.metric.key, judgement.metric.options)

    def _find_judged_unit(self, metric: ImportedMetric) -> str | FaithtuiError:
        """Find what a metric judges; an error where it or its options are not known here."""
        name = json.dumps([metric.key, metric.options], sort_keys=True)
        if name not in self._judged_units:
            try:
                self._judged_units[name] = build(metric.key, metric.options).spec.judges
            except FaithtuiError as error:
                self._judged_units[name] = error
        return self._judged_units[name]

    def list_runs_to_create(self) -> tuple[ImportedRun, ...]:
        """Say which runs would be made."""
        found = []
        for name in self._groups.list_keys():
            with self._group_by_conversation(name) as judgements:
                found.append(_RunName(*json.loads(name)).make_run(judgements))
        return tuple(found)

    def create_missing_runs(self, store: Store) -> tuple[ImportedRun, ...]:
        """Make a run of each judge; one that is there already is not made again.

        A run that was left unfinished, as when the program was ended meanwhile, is completed.

        Raises:
            StoreError: The store cannot be read or written.
        """
        known = {each.spec.judge_fingerprint: each for each in store.runs.list_runs()}
        found = []
        for group in self._groups.list_keys():
            named = _RunName(*json.loads(group))
            fingerprint = _hash_imported_judgements(
                self._source, named, self._groups.list_records_of_key(group)
            )
            before = known.get(fingerprint)
            with self._group_by_conversation(group) as judgements, RecordGroups() as keys:
                run = named.make_run(judgements)
                if before is None or before.state is not RunState.DONE:
                    ids = self._list_judged_conversation_ids(store, judgements, keys)
                    if ids:
                        metric = build(named.metric, named.options or {})
                        run_id = (
                            _create_run(store, self._source, run.judge, metric, fingerprint, ids)
                            if before is None
                            else before.id
                        )
                        _save_judgements_and_close_run(store, run_id, metric, judgements, keys)
                        judged = sum(
                            _has_verdict(_list_judgements(judgements, keys, id_)) for id_ in ids
                        )
                        run = replace(run, conversations=judged, run=run_id)
            found.append(run)
        return tuple(found)

    def _group_by_conversation(self, name: str) -> RecordGroups:
        """Group what a judge said by the key of the conversation: content hash and fields."""
        judgements = RecordGroups()
        for key, hashed, value in self._groups.list_records_of_key(name):
            judgements.add(key, [hashed, value])
        return judgements

    def _list_judged_conversation_ids(
        self, store: Store, judgements: RecordGroups, keys: RecordGroups
    ) -> list[ConversationId]:
        """Find the stored conversations that a judge spoke of.

        Args:
            store: The store.
            judgements: What it said, by key of the conversation.
            keys: Takes the key of each, by its id.
        """
        found: list[ConversationId] = []
        waiting = judgements.list_keys()
        while some := list(islice(waiting, _AT_A_TIME)):
            hashes = {key: next(judgements.list_records_of_key(key))[0] for key in some}
            for key, number in store.conversations.map_unchanged_keys_to_ids(
                self._source, hashes
            ).items():
                keys.add(str(number), key)
                found.append(number)
        return found


def _list_judgements(
    judgements: RecordGroups, keys: RecordGroups, conversation: ConversationId
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give content hash and fields of what a judge said of a stored conversation."""
    for key in keys.list_records_of_key(str(conversation)):
        yield from judgements.list_records_of_key(key)


def _has_verdict(records: Iterable[tuple[str, Mapping[str, Any]]]) -> bool:
    """Say whether a judge said more of a conversation than in which state it is."""
    return any(
        "claims" not in value or value["claims"] or value["surplus"] or "state" not in value
        for _, value in records
    )


def _count_superseded(records: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Count the verdicts on answers that another one comes behind, of content hash and fields."""
    by_turn: dict[int, set[str]] = {}
    for _, value in records:
        if "claims" not in value:
            by_turn.setdefault(value["turn"], set()).add(json.dumps(value, sort_keys=True))
    return sum(len(each) - 1 for each in by_turn.values())


def _judgement_to_dict(judgement: ImportedJudgement) -> dict[str, Any]:
    """Make fields of a judgement.

    What nobody knows of turns, labels, states, confidence and evidence is left out, so that runs of
    earlier imports keep their fingerprint. The metric is in the name of the run.
    """
    fields = asdict(replace(judgement, metric=None))
    for each in (fields, *fields.get("claims", ())):
        for name in ("turn", "label", "state", "metric", "confidence", "evidence"):
            if each.get(name, "") in (None, ()):
                del each[name]
    return fields


def _hash_imported_judgements(source: str, run: _RunName, values: Iterable[object]) -> str:
    """Name what a judge said of a data set, so that the same is not imported twice.

    It is the hash of the JSON of source, judge and values, of which one is held at a time; of a run
    whose options are known, its name stands for the judge. Confidence and evidence do not count, as
    earlier versions did not read them: the same file would make a second run.
    """
    judge = json.dumps(f"{JUDGE}{run.judge}") if run.options is None else run.to_json()
    found = hashlib.sha256(f"[{json.dumps(source)}, {judge}, [".encode())
    for place, each in enumerate(values):
        separator = ", " if place else ""
        counted = _leave_out_confidence_and_evidence(each)
        found.update(f"{separator}{json.dumps(counted, sort_keys=True)}".encode())
    found.update(b"]]")
    return f"{IMPORTED_FINGERPRINT}1 {found.hexdigest()[:32]}"


def _leave_out_confidence_and_evidence(value: Any) -> Any:
    match value:
        case list() | tuple():
            return [_leave_out_confidence_and_evidence(each) for each in value]
        case dict():
            return {
                name: _leave_out_confidence_and_evidence(each)
                for name, each in value.items()
                if name not in ("confidence", "evidence")
            }
        case _:
            return value


def _create_run(
    store: Store,
    source: str,
    judge: str,
    metric: Metric[Any],
    fingerprint: str,
    conversations: Collection[ConversationId],
) -> RunId:
    options = metric_options_to_json(metric)
    spec = RunSpec(
        sources=(source,),
        metric=metric.spec.key,
        metric_version=metric.spec.version,
        peer=metric.spec.peer,
        options=options,
        strategy=str(options.get("strategy", "evidence")),
        rule=metric.rule,
        judge=judge,
        judge_fingerprint=fingerprint,
        profile=NO_PARAMETERS,
        prompt_digest=metric.prompt_digest,
        claims_from="extracted",
    )
    return store.runs.create(spec, sorted(conversations))


def _save_judgements_and_close_run(
    store: Store, run: RunId, metric: Metric[Any], judgements: RecordGroups, keys: RecordGroups
) -> None:
    """Write what is not written yet of a run, and close it.

    Args:
        store: The store.
        run: The run.
        metric: Whose labels the verdicts are.
        judgements: Content hash and fields of what the judge said, by key of the conversation.
        keys: The key of each conversation, by its id.
    """
    last: ItemId | None = None
    while items := store.runs.list_pending_items(run, after=last, limit=_AT_A_TIME):
        for item in items:
            conversation = store.conversations.get(item.conversation)
            values = [value for _, value in _list_judgements(judgements, keys, item.conversation)]
            assessments = iter(make_imported_assessments(conversation, metric, values))
            while some := list(islice(assessments, _WINDOWS_AT_A_TIME)):
                store.runs.save_windows(item.id, some)
            store.runs.score_and_finish_item(item.id, *_choose_item_state(values))
        last = items[-1].id
    store.runs.set_state(run, RunState.DONE)


def _choose_item_state(values: Sequence[Mapping[str, Any]]) -> tuple[ItemState, str | None]:
    """Say how a conversation ended, and why if it is not done."""
    known = {str(each): each for each in (ItemState.FAILED, ItemState.SKIPPED)}
    for value in values:
        is_state = "claims" in value and _make_imported_window(value).is_state_of_conversation
        if is_state and value["state"] in known:
            return known[value["state"]], value["reason"]
    return ItemState.DONE, None


def make_imported_assessments(
    conversation: Conversation, metric: Metric[Any], values: Sequence[Mapping[str, Any]]
) -> list[Assessment]:
    """Make the windows of a conversation from what a judge said of it elsewhere.

    Args:
        conversation: The conversation.
        metric: Whose labels they are.
        values: Fields of `ImportedWindow` or of `ImportedVerdict`, as it is for claims or answers.

    Returns:
        Windows in order; those that the judge said nothing of are left out.
    """
    windows = metric.windows(conversation)
    if not windows:
        return []
    if metric.spec.judges == "answer":
        return _make_answer_assessments(conversation, metric, windows, values)
    logged = map(_make_imported_window, values)
    placed = match_logs_to_windows(list(logged), windows, conversation.turns)
    return [
        _make_window_assessment(conversation, metric, windows[position], placed[position])
        for position in sorted(placed)
    ]


def _make_imported_window(fields: Mapping[str, Any]) -> ImportedWindow:
    return ImportedWindow(
        **{
            **fields,
            "claims": tuple(map(_make_imported_claim, fields["claims"])),
            "truths": tuple(fields["truths"]),
            "surplus": tuple(fields["surplus"]),
        }
    )


def _make_imported_claim(fields: Mapping[str, Any]) -> ImportedClaim:
    evidence = tuple(ImportedEvidence(**each) for each in fields.get("evidence", ()))
    return ImportedClaim(**{**fields, "evidence": evidence})


def _make_window_assessment(
    conversation: Conversation, metric: Metric[Any], window: Window, imported: ImportedWindow
) -> Assessment:
    labels = metric.spec.labels
    answers = [place for place in window.turns if conversation.turns[place].role == "assistant"]
    texts = [conversation.turns[place].content for place in answers]
    passages = [
        document.text
        for place in answers
        for document in conversation.turns[place].retrieval_context or ()
    ]
    verdicts = []
    for each in imported.claims:
        if not each.text.strip():
            continue
        place = each.turn
        if place is None or place not in answers:
            place = answers[find_closest_text_index(each.text, texts)]
        claim = Claim(place, each.text, find_span(each.text, conversation.turns[place].content))
        label = None if each.label is None else labels.find_label_name_for_word(each.label)
        if label is None and each.word is not None:
            label = labels.find_label_name_for_word(each.word)
        evidence = tuple(
            Evidence(_make_truth_of_evidence(named, passages), named.stance)
            for named in each.evidence
        )
        verdicts.append(Verdict(claim, label, each.word, each.reason, each.confidence, evidence))
    truths = tuple(
        dict.fromkeys(
            (
                *(_make_truth(text, passages) for text in imported.truths if text),
                *(named.truth for each in verdicts for named in each.evidence),
            )
        )
    )
    found = WindowFindings(
        verdicts=tuple(verdicts),
        truths=truths,
        surplus=tuple(labels.find_label_name_for_word(each) for each in imported.surplus),
        reason=imported.reason,
        without_context=not has_context(conversation, window),
        **_make_state_fields(imported.state, imported.reason),
    )
    return assess_window(metric.rule, found, window)


def _make_state_fields(state: str | None, reason: str | None) -> dict[str, Any]:
    """Give the fields of `WindowFindings` that say why there is no score; {} where there is one."""
    names = {
        ScoreState.FAILED: "failure",
        ScoreState.SKIPPED: "skipped",
        ScoreState.UNDEFINED: "undefined",
    }
    return {field: reason or state for known, field in names.items() if state == known}


def _make_truth_of_evidence(named: ImportedEvidence, passages: Sequence[str]) -> Truth:
    """Make a truth of the passage it came from, if the answers of its window were given that."""
    if named.passage is None or named.passage not in passages:
        return Truth(named.truth)
    return Truth(named.truth, named.passage, find_span(named.truth, named.passage))


def _make_truth(text: str, passages: Sequence[str]) -> Truth:
    """Make a truth, with its place where it is a literal piece of a passage."""
    for passage in passages:
        span = find_span(text, passage)
        if span is not None:
            return Truth(text, passage, span)
    return Truth(text)


def _make_answer_assessments(
    conversation: Conversation,
    metric: Metric[Any],
    windows: Sequence[Window],
    values: Sequence[Mapping[str, Any]],
) -> list[Assessment]:
    by_turn = {
        each.turn: each
        for each in (ImportedVerdict(**value) for value in values if "claims" not in value)
    }
    states = {value["position"]: value for value in values if "claims" in value}
    found = []
    for window in windows:
        verdict = next((by_turn[turn] for turn in reversed(window.turns) if turn in by_turn), None)
        if verdict is None:
            if window.position in states:
                log = _make_imported_window(states[window.position])
                found.append(_make_window_assessment(conversation, metric, window, log))
            continue
        label = _find_verdict_label(verdict, metric.spec.labels)
        word = verdict.word if verdict.word is not None else _format_score(verdict.score)
        reason = verdict.reason
        if label is None and verdict.score is not None and word is None:
            reason = "; ".join(filter(None, (_NO_SCORE, reason)))
        claim = Claim(
            verdict.turn,
            conversation.turns[verdict.turn].content,
            kind="answer",
        )
        findings = WindowFindings(
            verdicts=(Verdict(claim, label, word, reason, verdict.confidence),),
            reason=reason,
            without_context=not has_context(conversation, window),
        )
        found.append(assess_window(metric.rule, findings, window))
    return found


def _find_verdict_label(verdict: ImportedVerdict, labels: LabelSet) -> str | None:
    """Say what a verdict on an answer means: what the judge said, else what its score says."""
    known = None if verdict.label is None else labels.find_label_name_for_word(verdict.label)
    if known is not None:
        return known
    if verdict.passed is not None:
        return "yes" if verdict.passed else "no"
    if verdict.score is not None and _is_finite(verdict.score):
        return "yes" if verdict.score >= PASSES_FROM else "no"
    return None if verdict.word is None else labels.find_label_name_for_word(verdict.word)


def _format_score(score: float | None) -> str | None:
    return None if score is None or not _is_finite(score) else f"{score:g}"


def _is_finite(score: float) -> bool:
    """Whether a score is a number; a whole one of JSON may be too large for it."""
    try:
        return math.isfinite(score)
    except OverflowError:
        return False
