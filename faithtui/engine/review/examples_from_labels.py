"""Human labels of a run, as examples for its judge: out of the store, and into a run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from faithtui.agreement.labelled_units import ClaimUnit, LabelState, is_tied
from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.judging.judge_examples import Example, Reference, draw_random_keys
from faithtui.domain.labels.label_events import HumanVerdict
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet
from faithtui.domain.split_rule import Split, SplitRule
from faithtui.engine.review.samples.store_split import read_split_conversations
from faithtui.errors import ConfigError
from faithtui.formats.example_files import example_from_json, example_to_json, read_examples
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ClaimView, ReviewView
from faithtui.store.store import Store

NO_REVIEWER = ""
"""Reads a conversation for no reviewer in particular."""

_NOT_READ = (
    LabelState.BULK,
    LabelState.STALE,
    LabelState.SKIPPED,
    LabelState.IN_VIEW,
)
"""States in which nobody who read the claim has a label on it as it is."""


@dataclass(frozen=True, slots=True)
class ExampleRequest:
    """Which examples are wanted."""

    everything: bool = False
    """Those where annotators agree with the judge, too."""
    split: Split | None = None
    """Only of conversations in this part; None: all."""
    limit: int | None = None
    """At most so many, drawn at random; None: all."""
    seed: int = 0
    """Of the draw."""


@dataclass(frozen=True, slots=True)
class ExampleExport:
    """What was found."""

    examples: tuple[Example, ...]
    """In the order of the run and of the text."""
    available: int
    """How many there were to draw from."""
    labelled: int
    """Claims whose human label counts, those where it is the judge's verdict among them."""


def collect_examples(store: Store, run: RunId, order: ExampleRequest) -> ExampleExport:
    """Collect the human labels of a run's claims.

    A claim is one when human labels on it count: not those given in bulk or skipped, not
    ties, and not a word given with an earlier word of the judge in view.

    Raises:
        ConfigError: A limit below 1, or a split is wanted and there is none.
        StoreError: There is no such run.
    """
    if order.limit is not None and order.limit < 1:
        raise ConfigError(f"limit is {order.limit}; expected 1 or more examples")
    row = store.runs.read_run(run)
    labels = find_metric(row.spec.metric).spec.labels
    within = None if order.split is None else read_split_conversations(store, order.split)
    labelled = [
        each
        for each in store.labelled_units.read_claim_units(run)
        if has_usable_label(each, labels) and (within is None or each.conversation in within)
    ]
    readings = {
        each.claim: each for each in labelled if order.everything or each.human != each.judge
    }
    chosen = draw_random_keys(list(readings), order.limit, order.seed)
    by_conversation: dict[ConversationId, list[ClaimId]] = {}
    for claim in chosen:
        by_conversation.setdefault(readings[claim].conversation, []).append(claim)
    made = store.splits.read_split_rule()
    rule = None if made is None else made.rule
    examples: list[Example] = []
    for claims in by_conversation.values():
        view = read_conversation_of_claim(store, run, claims[0])
        examples += [_make_example(view, readings[claim], rule) for claim in claims]
    return ExampleExport(tuple(examples), len(readings), len(labelled))


def read_conversation_of_claim(store: Store, run: RunId, claim: ClaimId) -> ReviewView:
    """Read the conversation in which a run judged a claim, for no reviewer in particular."""
    item = store.label_log.find_item_id_of_claim(run, claim)
    assert item is not None  # the run judged it
    return store.runs.read_conversation_for_review(item, NO_REVIEWER)


def read_examples_file_for_run(store: Store, path: Path | None) -> tuple[Example, ...]:
    """Read examples that a run is to show to its judge; () where no file is named.

    Raises:
        ConfigError: One is of a conversation that judges are compared or tested on.
        InputError: The file cannot be read, or holds something else.
    """
    if path is None:
        return ()
    examples = read_examples(path)
    made = store.splits.read_split_rule()
    for number, each in enumerate(examples, start=1):
        split = None if made is None else made.rule.get_split_of_group(each.group)
        if split not in (None, Split.TRAIN):
            raise ConfigError(
                f"{path}: example {number} is of the {split} split ({each.source}/{each.key}), and "
                "a judge that has seen it cannot be compared on it; "
                "export with --split train"
            )
    return examples


def store_examples_and_get_digest(store: Store, examples: Sequence[Example]) -> str:
    """Keep examples in the store; the name by which a run refers to them."""
    return store.examples.store_set([example_to_json(each) for each in examples])


def read_stored_examples(store: Store, digest: str | None) -> tuple[Example, ...]:
    """Read the examples of a run; () when it shows none.

    Raises:
        StoreError: They are not there.
        InputError: They are not what they should be.
    """
    if digest is None:
        return ()
    return tuple(
        example_from_json(each, store.path, number)
        for number, each in enumerate(store.examples.read_set(digest), start=1)
    )


def has_usable_label(reading: ClaimUnit, labels: LabelSet) -> bool:
    """Whether annotators read a claim and gave a label that means something to the metric.

    Where as many say one thing as another, nobody decided.
    """
    known = reading.human in labels.names or reading.human == NOT_A_CLAIM
    is_decided = not is_tied(reading.opinions, labels.names)
    return known and is_decided and reading.state not in _NOT_READ


def _make_example(view: ReviewView, reading: ClaimUnit, rule: SplitRule | None) -> Example:
    (claim,) = (each for each in view.claims if each.id == reading.claim)
    verdicts = list_consensus_verdicts(view, claim, reading.human)
    codes = Counter(each.code for each in verdicts if each.code)
    notes = dict.fromkeys(each.note for each in verdicts if each.note)
    return Example(
        metric=view.run.spec.metric,
        run=view.run.id,
        judge=view.run.spec.judge_title,
        source=view.item.source,
        key=view.item.key,
        group=reading.group,
        split=None if rule is None else rule.get_split_of_group(reading.group),
        turn=claim.turn,
        claim_id=claim.id,
        kind=claim.kind,
        question=get_question_before_turn(view, claim.turn),
        claim=claim.text,
        passages=_list_claim_passages(view, claim),
        references=_list_references(view, claim),
        judge_verdict=claim.first_window_verdict.label,
        judge_reason=claim.first_window_verdict.reason,
        verdict=str(reading.human),
        reviewers=reading.reviewers,
        blind=reading.blind,
        code=codes.most_common(1)[0][0] if codes else None,
        note="\n".join(notes) or None,
    )


def list_consensus_verdicts(
    view: ReviewView, claim: ClaimView, human: str | None
) -> list[HumanVerdict]:
    """List the reasons of annotators whose label is the consensus."""
    translate = view.run.spec.rule.translate_word_to_label
    return [
        each
        for each in claim.others
        if each.is_counted and each.verdict is not None and translate(each.verdict) == human
    ]


def get_question_before_turn(view: ReviewView, turn: int) -> str:
    """Give what the user said just before an answer: all messages since the answer before it."""
    messages: list[str] = []
    for each in view.turns[:turn][::-1]:
        if each.role == "user":
            messages.append(each.content)
        elif messages:
            break
    return "\n".join(reversed(messages))


def list_window_passages(view: ReviewView, window: int) -> tuple[str, ...]:
    """Give the documents that answers of a window were made from, without repeats."""
    return tuple(
        dict.fromkeys(
            document.text
            for turn in view.windows[window].turns
            if view.turns[turn].role == "assistant"
            for document in view.turns[turn].documents or ()
        )
    )


def _list_claim_passages(view: ReviewView, claim: ClaimView) -> tuple[str, ...]:
    if claim.document is None:
        return list_window_passages(view, claim.first_window_verdict.window)
    return next(
        (document.text,)
        for turn in view.turns
        for document in turn.documents or ()
        if document.number == claim.document
    )


def _list_references(view: ReviewView, claim: ClaimView) -> tuple[Reference, ...]:
    named = {each.truth: each.stance for each in claim.evidence}
    return tuple(
        Reference(truth.text, named.get(truth.id))
        for truth in view.truths
        if claim.first_window_verdict.window in truth.windows
    )
