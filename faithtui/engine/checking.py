"""Looking through what is stored of a run for what looks wrong, and keeping what was found.

Conversations that are checked already are not read again, so checks can stop anywhere and go on
later, in this process or in another one.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from faithtui.domain.conversation import Turn
from faithtui.domain.ids import ItemId, RunId, TruthId
from faithtui.domain.integrity import (
    CheckedClaim,
    CheckedTruth,
    CheckedVerdict,
    CheckedWindow,
    JudgedConversation,
)
from faithtui.domain.integrity_checks import check
from faithtui.domain.labels import FAITHFULNESS, Label, LabelSet, Polarity
from faithtui.domain.scores import ScoreState
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.metrics.registry import entry, option_names
from faithtui.store.records import CheckedItem, ClaimView, ItemState, ReviewView, RunSpec
from faithtui.store.store import Store

_BATCH = 16
"""Conversations per transaction: what a stop may lose is a second's work."""
_BREATH_S = 0.001
"""Pause after each conversation in the background, so that whoever answers keys gets a turn."""


@dataclass(frozen=True, slots=True)
class CheckSnapshot:
    """How far the checks of a run are."""

    run: RunId
    done: int
    total: int
    """Conversations that were to be checked."""
    elapsed_s: float
    finished: bool
    """Nothing more will happen."""
    error: str | None
    """What stopped it; None otherwise."""

    @property
    def eta_s(self) -> float | None:
        """Seconds left, None before anything is done."""
        return self.elapsed_s / self.done * (self.total - self.done) if self.done else None


def check_run(
    store: Store,
    run: RunId,
    heard: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    stopped: Callable[[], bool] = lambda: False,
    breath_s: float = 0.0,
) -> int:
    """Check the conversations of a run that are judged and not checked.

    Args:
        store: The store.
        run: The run.
        heard: Is told how many are done, and of how many, after each batch and at the start.
        stopped: Is asked before each conversation whether to stop; what was checked is kept.
        breath_s: Pause after each conversation, in seconds.

    Returns:
        How many conversations were checked.

    Raises:
        StoreError: The store cannot be read or written.
    """
    waiting = store.findings.unchecked(run)
    labels, facts = vocabulary(store.runs.row(run).spec)
    done = 0
    heard(0, len(waiting))
    for some in _batches(waiting):
        checked = []
        for item in some:
            if stopped():
                break
            view = store.runs.review_view(item, "")
            judged = judged_conversation(view, store.findings.surplus(item), labels, facts)
            checked.append(
                CheckedItem(
                    item,
                    view.item.state,
                    view.item.windows,
                    check(judged),
                )
            )
            if breath_s:
                time.sleep(breath_s)
        store.findings.save(checked)
        done += len(checked)
        heard(done, len(waiting))
        if len(checked) < len(some):
            break
    return done


class BackgroundCheck:
    """Checks of a run in a thread of their own, for an app that must answer keys meanwhile."""

    def __init__(self, store: Store, run: RunId) -> None:
        self.run_id = run
        self._store = store
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._done = self._total = 0
        self._error: str | None = None
        self.bug: BaseException | None = None
        """An error that is not one of ours; the app must let it be seen."""
        self._thread = threading.Thread(
            target=self._work, name=f"faithtui-check-{run}", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to stop. What was checked is kept; the rest can be checked later."""
        self._stop.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; False when it did not come in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def snapshot(self) -> CheckSnapshot:
        """Describe the checks at this moment. Cheap; any thread."""
        with self._lock:
            return CheckSnapshot(
                run=self.run_id,
                done=self._done,
                total=self._total,
                elapsed_s=(self._ended or time.monotonic()) - self._began,
                finished=self._ended is not None,
                error=self._error,
            )

    def _work(self) -> None:
        try:
            check_run(
                self._store, self.run_id, self._heard, stopped=self._stop.is_set, breath_s=_BREATH_S
            )
        except FaithtuiError as error:
            self._error = str(error)
        except BaseException as error:  # whatever it is, the app decides in its own thread
            self.bug = error
            self._error = f"{type(error).__name__}: {error}"
        with self._lock:
            self._ended = time.monotonic()

    def _heard(self, done: int, total: int) -> None:
        with self._lock:
            self._done, self._total = done, total


def vocabulary(run: RunSpec) -> tuple[LabelSet, bool]:
    """Give the words of a run's metric, and whether what it checks against are facts of documents.

    A metric that this version does not have is known by the rule that was stored with the run.
    """
    try:
        spec = entry(run.metric).spec
    except ConfigError:
        rule = run.rule
        if set(rule.labels) <= set(FAITHFULNESS.names):
            return FAITHFULNESS, True
        return LabelSet(
            tuple(
                Label(
                    name,
                    name[:1],
                    name,
                    Polarity.GOOD if name in rule.passing else Polarity.BAD,
                )
                for name in rule.labels
            )
        ), True
    return spec.labels, spec.references is not None and spec.references_are_facts


def judged_conversation(
    view: ReviewView,
    surplus: Mapping[int, tuple[str | None, ...]],
    labels: LabelSet,
    facts: bool,
) -> JudgedConversation:
    """Give the checks what they need of a conversation of a run.

    Args:
        view: The conversation, complete: nothing of it hidden.
        surplus: Words beyond the last claim, by position of the window.
        labels: Words of the metric.
        facts: Truths are facts of documents; else they are messages.
    """
    texts = {
        document.number: document.text for turn in view.turns for document in turn.documents or ()
    }
    place = {number: index for index, number in enumerate(sorted(texts))}
    return JudgedConversation(
        turns=tuple(Turn(turn.role, turn.content) for turn in view.turns),
        documents=tuple(texts[number] for number in place),
        retrieved=tuple(
            tuple(dict.fromkeys(place[document.number] for document in turn.documents or ()))
            for turn in view.turns
        ),
        # A window still to be judged has no turns; it is not stored, so there is nothing to check.
        windows=tuple(
            CheckedWindow(
                position=row.position,
                turns=row.turns,
                claims=len(row.claims),
                failure=row.score.reason or "it failed"
                if row.score.state is ScoreState.FAILED
                else None,
                without_context=row.without_context,
                skipped=row.score.state is ScoreState.SKIPPED,
                surplus=surplus.get(row.position, ()),
            )
            for row in view.windows
            if row.turns or row.claims or row.position in surplus
        ),
        claims=tuple(
            CheckedClaim(
                id=claim.id,
                kind=claim.kind,
                turn=claim.turn,
                text=claim.text,
                document=None if claim.document is None else place.get(claim.document),
                verdicts=tuple(
                    CheckedVerdict(said.window, said.label, said.word, said.reason)
                    for said in claim.verdicts
                ),
                sufficient=_sufficient(claim),
                partial=frozenset(
                    each.truth for each in claim.evidence if each.stance == "partial"
                ),
                opposes=frozenset(
                    each.truth for each in claim.evidence if each.stance == "contradicts"
                ),
            )
            for claim in view.claims
        ),
        truths=tuple(
            CheckedTruth(
                truth.id,
                truth.text,
                None if truth.document is None else place.get(truth.document),
                frozenset(truth.windows),
            )
            for truth in view.truths
        ),
        labels=labels,
        truths_are_facts=facts,
        complete=view.item.state is ItemState.DONE,
        names_evidence=_names_evidence(view.run.spec),
    )


def _names_evidence(run: RunSpec) -> bool:
    """Whether the judge of a run was asked to name the truths that decide."""
    try:
        return run.strategy == "evidence" and "strategy" in option_names(run.metric)
    except ConfigError:
        return False


def _sufficient(claim: ClaimView) -> tuple[frozenset[TruthId], ...]:
    """Give the sets of truths that are enough for a claim: single ones, and those of several."""
    several: dict[int, set[TruthId]] = {}
    for each in claim.evidence:
        for number in each.sets:
            several.setdefault(number, set()).add(each.truth)
    alone = [
        frozenset({each.truth})
        for each in claim.evidence
        if each.stance == "supports" and not each.sets
    ]
    return (*alone, *map(frozenset, several.values()))


def _batches(items: Sequence[ItemId]) -> Iterable[Sequence[ItemId]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
