"""Label bundles: what is gathered, what merging does, and that its order does not matter."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.conversation import Rating
from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId
from faithtui.domain.labels.label_bundle import (
    LARGEST_CLOCK,
    BundleEvent,
    BundleGuideline,
    ClaimName,
    LabelBundle,
)
from faithtui.domain.labels.label_events import (
    Action,
    Event,
    HumanVerdict,
    LabelEvent,
    LabelMark,
    MarkedPassage,
    replay_log_into_verdicts,
)
from faithtui.store.annotations.guidelines import find_default_guideline
from faithtui.store.bundles.merge import UnmergedConversation
from faithtui.store.schema.storable_text import hash_normalised_statement, text_hash
from faithtui.store.store import Store
from tests.store.building import FACTS, Labels, imported, judged, make_conversation, spec_of

LABELS: Labels = {1: ["yes", "no"], 3: ["idk", None]}
PEOPLE = ("ann", "bo", "cy")
RATED = make_conversation(
    ratings=(Rating(1, "bo", "yes-no", "yes"), Rating(3, "bo", "yes-no", "no"))
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A store with one judged conversation, which everybody gets a copy of."""
    made = Path(shutil.copy(empty_store, tmp_path_factory.mktemp("base") / "base.db"))
    with Store.open(made) as store:
        judged(store, RATED, LABELS, spec=spec_of("turn-faithfulness", FACTS))
    return made


@pytest.fixture
def copies(base: Path, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    with ExitStack() as stack:
        made = 0

        def copy() -> Store:
            nonlocal made
            made += 1
            path = shutil.copy(base, tmp_path / f"copy-{made}.db")
            return stack.enter_context(Store.open(Path(path)))

        yield copy


def item_of(store: Store) -> ItemId:
    return store.runs.list_item_ids(store.runs.find_newest_run_id() or RunId(0))[0]


def claims_of(store: Store) -> list[ClaimId]:
    return [
        each.id for each in store.runs.read_conversation_for_review(item_of(store), "ann").claims
    ]


def say(
    store: Store,
    reviewer: str,
    claim: int,
    verdict: str | None,
    action: Action = Action.BLIND,
    note: str | None = None,
    code: str | None = None,
    mark: LabelMark | None = None,
) -> LabelEvent:
    return store.label_log.append_label_event(
        claims_of(store)[claim],
        reviewer,
        action,
        verdict,
        note,
        run=store.runs.find_newest_run_id(),
        judge_verdict="no",
        saw_judge=False,
        seconds=1.5,
        code=code,
        mark=mark,
    )


def toggle_evidence(store: Store, reviewer: str, claim: int, start: int, end: int) -> LabelEvent:
    """Mark a stretch of the first passage, and nothing else."""
    turns = store.runs.read_conversation_for_review(item_of(store), "ann").turns
    passage = next(each for turn in turns for each in turn.documents or ())
    return store.label_log.append_label_event(
        claims_of(store)[claim],
        reviewer,
        Action.EVIDENCE,
        run=store.runs.find_newest_run_id(),
        judge_verdict=None,
        saw_judge=False,
        evidence=[MarkedPassage(passage.hash, start, end)] if end > start else (),
    )


def standing(store: Store) -> dict[tuple[ClaimId, str], HumanVerdict]:
    """What each person stands by on each claim of the run, as screens show it."""
    return {
        (claim.id, reviewer): replace(claim.mine, sample=None)
        for reviewer in PEOPLE
        for claim in store.runs.read_conversation_for_review(item_of(store), reviewer).claims
        if claim.mine is not None
    }


# One step of somebody on one machine


Step = tuple[int, str, str, int, str]
"""Machine, person, what is done, claim, verdict."""

STEPS = st.tuples(
    st.integers(0, 2),
    st.sampled_from(PEOPLE),
    st.sampled_from(
        [
            "verdict",
            "override",
            "final",
            "later",
            "bulk",
            "note",
            "code",
            "flag",
            "unsure",
            "evidence",
            "repeat",
            "accept",
            "reveal",
            "undo",
            "undo",
            "redo",
            "fetch",
        ]
    ),
    st.integers(0, 3),
    st.sampled_from(("yes", "no", "idk", "x")),
)


def do(stores: Sequence[Store], step: Step) -> None:
    machine, person, what, claim, verdict = step
    store = stores[machine]
    match what:
        case "verdict":
            say(store, person, claim, verdict)
        case "override":
            say(store, person, claim, verdict, Action.OVERRIDDEN, note=f"{verdict}!")
        case "final":
            say(store, person, claim, verdict, Action.ADJUDICATED)
        case "repeat":
            say(store, person, claim, verdict, Action.REPEATED)
        case "accept":
            say(store, person, claim, verdict, Action.ACCEPTED)
        case "reveal":
            say(store, person, claim, None, Action.REVEALED)
        case "later":
            say(store, person, claim, None, Action.SKIPPED)
        case "note":
            say(store, person, claim, None, Action.NOTED, note=verdict)
        case "code":
            say(store, person, claim, None, Action.CODED, code="policy")
        case "flag" | "unsure":
            say(store, person, claim, None, Action.MARKED, mark=LabelMark(what))
        case "evidence":
            toggle_evidence(store, person, claim, 0, len(verdict))
        case "bulk":
            some = claims_of(store)[claim:]
            store.label_log.append_label_events_as_one_step(
                [Event(None, each, person, Action.BULK, verdict) for each in some]
            )
        case "undo":
            store.label_log.undo(person)
        case "redo":
            store.label_log.redo(person)
        case "fetch":
            store.bundles.merge(stores[(machine + 1) % len(stores)].bundles.make_label_bundle())


def replayed(
    bundles: Sequence[LabelBundle], store: Store
) -> dict[tuple[ClaimId, str], HumanVerdict]:
    """Replay the union of logs by the domain's rules alone."""
    acts: dict[str, BundleEvent] = {}
    for bundle in bundles:
        for act in bundle.acts:
            if act.id not in acts or act.clock < acts[act.id].clock:
                acts[act.id] = act
    log = sorted(acts.values(), key=lambda act: (act.clock, act.id))
    ids = {act.id: LabelId(number) for number, act in enumerate(log, start=1)}
    claims = dict(zip(names_of(store), claims_of(store), strict=True))
    return {
        key: replace(found, sample=None)
        for key, found in replay_log_into_verdicts(
            LabelEvent(
                ids[act.id],
                claims[act.claim],
                act.reviewer,
                act.action,
                act.verdict,
                act.note,
                None if act.target is None else ids[act.target],
                act.batch,
                act.code,
                act.mark,
                evidence=act.evidence,
            )
            for act in log
            if act.claim in claims
        ).items()
    }


def names_of(store: Store) -> list[ClaimName]:
    """Names of the claims of the run, in order."""
    for each in claims_of(store):
        store.label_log.append_label_event(
            each, "namer", Action.NOTED, note="", run=None, judge_verdict=None, saw_judge=False
        )
    acts = [act for act in store.bundles.make_label_bundle().acts if act.reviewer == "namer"]
    return [act.claim for act in acts][-len(claims_of(store)) :]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(STEPS, max_size=25))
def test_merging_in_any_order_is_replaying_the_union_of_the_logs(
    copies: Callable[[], Store], steps: list[Step]
) -> None:
    stores = [copies() for _ in range(3)]
    for step in steps:
        do(stores, step)
    bundles = [store.bundles.make_label_bundle() for store in stores]
    digests = set()
    for order in permutations(bundles):
        target = copies()
        for bundle in order:
            target.bundles.merge(bundle)
        digests.add(target.bundles.hash_all_current_labels())
        again = [target.bundles.merge(bundle) for bundle in order]
        assert [each.new for each in again] == [0, 0, 0]
        digests.add(target.bundles.hash_all_current_labels())
    for store in stores:
        for bundle in bundles:
            store.bundles.merge(bundle)
        digests.add(store.bundles.hash_all_current_labels())
    assert len(digests) == 1
    rows = {str(store.runs.read_item_rows([item_of(store)])[0].corrected) for store in stores}
    assert len(rows) == 1
    assert standing(target) == replayed(bundles, target)
    # What one can take back next is the same everywhere, too.
    for person in PEOPLE:
        undone = {
            tuple((act.action, act.verdict) for act in store.label_log.undo(person))
            for store in stores
        }
        assert len(undone) == 1
    assert len({store.bundles.hash_all_current_labels() for store in stores}) == 1


def test_of_two_acts_at_one_clock_the_same_one_stands_in_every_store(
    copies: Callable[[], Store],
) -> None:
    here, there = copies(), copies()
    say(here, "ann", 0, "yes")
    say(there, "ann", 0, "no")
    ours, theirs = (store.bundles.make_label_bundle() for store in (here, there))
    (mine,), (other,) = ([a for a in each.acts if a.reviewer == "ann"] for each in (ours, theirs))
    assert mine.clock == other.clock
    here.bundles.merge(theirs)
    there.bundles.merge(ours)
    last = max(mine, other, key=lambda act: act.id)
    for store in (here, there):
        assert standing(store)[claims_of(store)[0], "ann"].verdict == last.verdict


def test_acts_are_collected_in_the_order_of_the_log_and_not_of_their_arrival(
    copies: Callable[[], Store],
) -> None:
    here, there = copies(), copies()
    for _ in range(3):
        say(here, "ann", 0, "yes")
    say(there, "bo", 1, "no")
    here.bundles.merge(there.bundles.make_label_bundle())
    log = [(act.clock, act.id) for act in here.bundles.make_label_bundle().acts]
    assert log == sorted(log)
    assert here.bundles.make_label_bundle().acts[-1].reviewer == "ann", (
        "what came last was said before"
    )


@pytest.mark.parametrize(("clock", "kept"), [(1, 1), (50, 7)])
def test_an_act_that_is_here_moves_to_an_earlier_clock_and_never_to_a_later_one(
    copies: Callable[[], Store], clock: int, kept: int
) -> None:
    here, there = copies(), copies()
    say(there, "ann", 0, "yes")
    bundle = there.bundles.make_label_bundle(reviewers=["ann"])
    here.bundles.merge(replace(bundle, acts=(bundle.acts[0]._replace(clock=7),)))
    merged = here.bundles.merge(replace(bundle, acts=(bundle.acts[0]._replace(clock=clock),)))
    assert (merged.new, merged.known) == (0, 1)
    assert [act.clock for act in here.bundles.make_label_bundle(reviewers=["ann"]).acts] == [kept]


def test_undo_and_redo_work_after_a_merge(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    say(there, "ann", 0, "no")
    there.label_log.undo("ann")
    say(there, "bo", 1, "yes")
    here.bundles.merge(there.bundles.make_label_bundle())
    assert standing(here) == standing(there)
    assert [act.verdict for act in here.label_log.redo("ann")] == ["no"]
    assert [act.verdict for act in here.label_log.undo("bo")] == ["yes"]
    there.bundles.merge(here.bundles.make_label_bundle())
    assert there.bundles.hash_all_current_labels() == here.bundles.hash_all_current_labels()
    assert there.label_log.redo("ann") == ()


def test_a_new_act_comes_after_everything_that_was_merged(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    for verdict in ("yes", "no", "yes", "no"):
        say(there, "ann", 0, verdict)
    here.bundles.merge(there.bundles.make_label_bundle())
    say(here, "ann", 0, "idk")
    there.bundles.merge(here.bundles.make_label_bundle())
    assert standing(there)[claims_of(there)[0], "ann"].verdict == "idk"


def test_every_field_of_an_act_arrives(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    there.guidelines.add_version("Judge by the passage alone.", "ann")
    run = there.runs.find_newest_run_id()
    assert run is not None
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 3)
    drawn = make_sample_draw(there.samples.read_frame(run), plan)
    row = there.samples.save_draw_as_sample(run, "ann", drawn, plan, name="first")
    entry = there.samples.list_claims_in_served_order(row.id, "ann")[0]
    there.label_log.append_label_event(
        entry.claim,
        "ann",
        Action.BLIND,
        "no",
        "tab\there, ‮reversed‬, [b]markup[/b] and\nanother line",
        run=run,
        judge_verdict="yes",
        saw_judge=False,
        seconds=2.25,
        code="truth",
        sample=row.id,
    )
    say(there, "ann", 1, None, Action.MARKED, mark=LabelMark.FLAG)
    sent = there.bundles.make_label_bundle()
    merged = here.bundles.merge(sent)
    assert (merged.new, merged.new_samples, merged.new_guidelines) == (2, 1, 1)
    assert here.bundles.make_label_bundle() == sent
    mine = here.samples.list_samples("ann")[0]
    assert (mine.uid, mine.size, mine.answered) == (row.uid, row.size, 1)
    assert here.samples.list_claims_in_served_order(mine.id, "ann")[0].claim == entry.claim
    guideline = here.guidelines.find_version_in_force()
    assert guideline is not None
    assert guideline.text == "Judge by the passage alone."
    assert sent.acts[-2].guideline == guideline.digest
    # Another text under the digest that labels name goes by its own.
    forged = tuple(replace(each, text="Call it yes.") for each in sent.guidelines)
    other = copies()
    other.bundles.merge(replace(sent, guidelines=forged))
    last = other.guidelines.find_version_in_force()
    assert last is not None
    assert (last.text, last.digest == guideline.digest) == ("Call it yes.", False)


def test_claims_that_nobody_extracted_here_are_made(
    copies: Callable[[], Store], store: Store
) -> None:
    there = copies()
    say(there, "ann", 1, "yes")
    imported(store, replace(RATED, ratings=()))
    merged = store.bundles.merge(there.bundles.make_label_bundle())
    assert (merged.new, merged.new_claims, merged.unmerged) == (3, 3, ())
    assert store.bundles.hash_all_current_labels() == there.bundles.hash_all_current_labels()
    # A run that draws the same claim later finds its verdict.
    _, item = judged(store, replace(RATED, ratings=()), LABELS)
    assert store.runs.read_conversation_for_review(item, "ann").claims[1].human == "yes"


def test_statements_find_their_document(copies: Callable[[], Store], store: Store) -> None:
    there = copies()
    say(there, "ann", 0, "yes")
    bundle = there.bundles.make_label_bundle()
    imported(store, RATED)
    (name,) = {act.claim for act in bundle.acts if act.reviewer == "ann"}
    told = replace(
        name,
        kind="statement",
        document=text_hash("Fact 0."),
        digest=hash_normalised_statement("Fact 0.", "It is one."),
    )
    act = next(a for a in bundle.acts if a.reviewer == "ann")._replace(claim=told)
    text = replace(bundle.claims[name], text="It is one.")
    merged = store.bundles.merge(LabelBundle((act,), {told: text}))
    assert (merged.new, merged.refused) == (1, ())
    assert store.bundles.make_label_bundle(reviewers=["ann"]).acts[0].claim == told
    lost = replace(told, document=text_hash("another"))
    merged = store.bundles.merge(LabelBundle((act._replace(claim=lost, id="2"),), {lost: text}))
    # It is the same claim here: its document is part of its digest.
    assert (merged.new, merged.new_claims) == (1, 0)


def test_what_does_not_fit_is_refused_and_the_rest_is_merged(
    copies: Callable[[], Store], store: Store
) -> None:
    there = copies()
    act = say(there, "ann", 0, "yes")
    bundle = there.bundles.make_label_bundle()
    imported(store, replace(RATED, ratings=()))
    told = bundle.acts[-1]
    text = bundle.claims[told.claim]
    forged = replace(told.claim, digest="0" * 64)
    far = replace(told.claim, turn=77)
    undo = told._replace(
        id="undo", action=Action.WITHDRAWN, verdict=None, target=told.id, reviewer="bo"
    )
    merged = store.bundles.merge(
        LabelBundle(
            (
                told,
                told._replace(id="forged", claim=forged),
                told._replace(id="far", claim=far),
                undo,
                undo._replace(id="lost", target="nowhere"),
            ),
            {told.claim: text, forged: text, far: text},
        )
    )
    assert merged.new == 1
    assert [uid for uid, _ in merged.refused] == ["forged", "far", "undo", "lost"]
    merged = store.bundles.merge(LabelBundle((told._replace(verdict="no"),), {told.claim: text}))
    assert (merged.new, merged.known, len(merged.refused)) == (0, 0, 1)
    assert act.verdict == "yes"


def test_conversations_that_are_not_here_are_counted_and_nothing_else_is_lost(
    copies: Callable[[], Store], store: Store
) -> None:
    there = copies()
    other = make_conversation("two")
    judged(there, other, {1: ["yes"]})
    judged(there, make_conversation("three"), {1: ["yes"]})
    for claim in claims_of(there):
        there.label_log.append_label_event(
            claim, "ann", Action.BLIND, "no", run=None, judge_verdict=None, saw_judge=False
        )
    imported(store, RATED)
    imported(store, make_conversation("three", say="Reply"))
    bundle = there.bundles.make_label_bundle()
    merged = store.bundles.merge(bundle)
    assert merged.known == 2
    (elsewhere,) = merged.unmerged
    assert isinstance(elsewhere, UnmergedConversation)
    assert (elsewhere.conversation.key, elsewhere.why, elsewhere.acts) == (
        "three",
        "other turns",
        1,
    )


def test_conversations_that_are_not_here_are_listed_by_name(
    copies: Callable[[], Store], store: Store
) -> None:
    there = copies()
    for key in ("b", "c", "a"):
        judged(there, make_conversation(key), {1: ["yes"]})
        say(there, "ann", 0, "no")
    bundle = there.bundles.make_label_bundle(reviewers=["ann"])
    claims = dict(sorted(bundle.claims.items(), key=lambda each: each[0].conversation.key))
    for names in (claims, dict(reversed(claims.items()))):
        merged = store.bundles.merge(replace(bundle, claims=names))
        assert [each.conversation.key for each in merged.unmerged] == ["a", "b", "c"]


def test_only_some_people_and_one_run_can_be_collected(copies: Callable[[], Store]) -> None:
    store = copies()
    first = store.runs.find_newest_run_id()
    say(store, "ann", 0, "yes")
    say(store, "bo", 0, "no")
    judged(store, make_conversation("two"), {1: ["yes"]})
    say(store, "ann", 0, "yes")
    assert len(store.bundles.make_label_bundle().acts) == 5
    assert len(store.bundles.make_label_bundle(reviewers=["ann"]).acts) == 2
    assert len(store.bundles.make_label_bundle(first).acts) == 2
    assert len(store.bundles.make_label_bundle(first, ["ann"]).acts) == 1


def test_the_newest_guideline_is_in_force_wherever_it_was_set(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    here.guidelines.add_version("one", "ann")
    there.guidelines.add_version("two", "bo")
    here.bundles.merge(there.bundles.make_label_bundle())
    there.bundles.merge(here.bundles.make_label_bundle())
    assert [each.text for each in here.guidelines.list_versions()] == ["one", "two"]
    assert here.guidelines.list_versions()[-1].digest == there.guidelines.list_versions()[-1].digest
    here.guidelines.add_version("one", "ann")
    current = here.guidelines.find_version_in_force()
    assert current is not None
    assert (current.text, current.number) == ("one", 3)


def test_a_guideline_is_in_force_even_after_one_from_the_future(
    copies: Callable[[], Store],
) -> None:
    store = copies()
    later = BundleGuideline("d", "later", "bo", datetime(2999, 1, 1, tzinfo=UTC))
    store.bundles.merge(LabelBundle(guidelines=(later,)))
    assert store.guidelines.add_version("now", "ann").text == "now"
    current = store.guidelines.find_version_in_force()
    assert current is not None
    assert current.text == "now"


def test_forged_clocks_are_refused_and_what_is_said_later_still_travels(
    copies: Callable[[], Store],
) -> None:
    here, there = copies(), copies()
    say(there, "ann", 0, "no")
    say(there, "ann", 1, "no")
    bundle = there.bundles.make_label_bundle()
    mine = [act for act in bundle.acts if act.reviewer == "ann"]
    forged = mine[0]._replace(clock=LARGEST_CLOCK)
    undo = forged._replace(
        id="undo", clock=LARGEST_CLOCK, action=Action.WITHDRAWN, verdict=None,
        target=forged.id,
    )  # fmt: skip
    merged = here.bundles.merge(replace(bundle, acts=(forged, mine[1], undo)))
    assert (merged.new, [uid for uid, _ in merged.refused]) == (1, [forged.id, "undo"])
    say(here, "ann", 2, "yes")
    acts = here.bundles.make_label_bundle().acts
    assert max(act.clock for act in acts) < LARGEST_CLOCK
    merged = there.bundles.merge(here.bundles.make_label_bundle())
    assert (merged.new, merged.refused) == (1, ())


def test_marked_evidence_travels_and_is_taken_back(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    name = here.bundles.hash_all_current_labels()
    toggle_evidence(there, "ann", 0, 0, 4)
    toggle_evidence(there, "ann", 0, 2, 5)
    assert here.bundles.merge(there.bundles.make_label_bundle()).new == 2
    assert here.bundles.make_label_bundle() == there.bundles.make_label_bundle()
    assert here.bundles.hash_all_current_labels() == there.bundles.hash_all_current_labels() != name
    claim = claims_of(here)[0]
    assert [(mark.start, mark.end) for mark in standing(here)[claim, "ann"].evidence] == [(2, 5)]
    (taken,) = here.label_log.undo("ann")
    assert [(mark.start, mark.end) for mark in taken.evidence] == [(2, 5)]
    assert [(mark.start, mark.end) for mark in standing(here)[claim, "ann"].evidence] == [(0, 4)]
    here.label_log.undo("ann")
    assert (claim, "ann") not in standing(here)
    assert here.bundles.hash_all_current_labels() == name
    there.bundles.merge(here.bundles.make_label_bundle())
    there.label_log.redo("ann")
    assert [(mark.start, mark.end) for mark in standing(there)[claim, "ann"].evidence] == [(0, 4)]


def test_marks_in_a_passage_that_is_not_there_are_refused(copies: Callable[[], Store]) -> None:
    here, there = copies(), copies()
    act = toggle_evidence(there, "ann", 0, 0, 4)
    bundle = there.bundles.make_label_bundle()
    told = bundle.acts[-1]
    (mark,) = act.evidence
    forged = [
        told._replace(id="other", evidence=(mark._replace(document="0" * 64),)),
        told._replace(id="beyond", evidence=(mark._replace(end=1_000),)),
    ]
    merged = here.bundles.merge(replace(bundle, acts=(*bundle.acts, *forged)))
    assert [uid for uid, _ in merged.refused] == ["other", "beyond"]
    assert merged.new == 1


def test_a_guideline_of_one_metric_and_a_default_travel_as_what_they_are(
    copies: Callable[[], Store],
) -> None:
    here, there = copies(), copies()
    say(there, "ann", 0, "yes")
    own = there.guidelines.add_version("Fees count.", "ann", "ragas-faithfulness")
    merged = here.bundles.merge(there.bundles.make_label_bundle())
    assert merged.new_guidelines == 1
    assert here.guidelines.list_versions() == (own,)
    assert here.guidelines.find_version_or_default("turn-faithfulness") == find_default_guideline(
        "turn-faithfulness"
    )
    assert here.guidelines.list_default_digests() == there.guidelines.list_default_digests()
    assert here.bundles.merge(there.bundles.make_label_bundle()).new_guidelines == 0
    assert here.bundles.make_label_bundle() == there.bundles.make_label_bundle()
