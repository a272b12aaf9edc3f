"""Findings of a run: kept, counted, listed, and forgotten when a conversation is judged again."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.integrity.findings import Finding, FindingKind
from faithtui.domain.scores import ScoreState, make_empty_score
from faithtui.store.records import ItemCheckResult, ItemState
from faithtui.store.store import Store
from tests.store.building import SPEC, assess, imported, judged, make_conversation, windows_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "databases"
FLIP, PHANTOM, LEFT = FindingKind.FLIP, FindingKind.PHANTOM, FindingKind.TURN_LEFT_OUT


@pytest.fixture
def run(store: Store) -> RunId:
    """Two conversations, two claims each."""
    numbers = [imported(store, make_conversation(key)) for key in ("one", "two")]
    run = store.runs.create(SPEC, numbers)
    for item, key in zip(store.runs.list_item_ids(run), ("one", "two"), strict=True):
        for window in windows_of(make_conversation(key)):
            store.runs.save_window(item, assess(window, {1: ["yes"], 3: ["no"]}))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    return run


def claims_of(store: Store, item: ItemId) -> list[ClaimId]:
    return [claim.id for claim in store.runs.read_conversation_for_review(item, "ann").claims]


def checked(store: Store, item: ItemId, *findings: Finding) -> ItemCheckResult:
    (row,) = store.runs.read_item_rows([item])
    return ItemCheckResult(item, row.state, row.windows, findings)


def test_findings_are_kept_counted_and_listed(store: Store, run: RunId) -> None:
    first, second = store.runs.list_item_ids(run)
    assert store.findings.list_unchecked_conversations(run) == (first, second)
    assert store.findings.list_unchecked_conversations(run, 1) == (first,)
    a, b = claims_of(store, first)
    (c, _) = claims_of(store, second)
    saved = store.findings.replace_findings_of_conversations(
        [
            checked(store, second, Finding(FLIP, "w1 yes → w2 no", c, 1)),
            checked(
                store,
                first,
                Finding(FLIP, "x", b, 0),
                Finding(FLIP, "y", a, 0),
                Finding(FLIP, "z", a, 1),
                Finding(LEFT, "nobody answered it", turn=2),
            ),
        ]
    )
    assert saved == 2
    assert store.findings.list_unchecked_conversations(run) == ()
    summary = store.findings.summarise_run(run)
    assert (summary.checked, summary.waiting) == (2, 0)
    assert list(summary.counts) == [FLIP, LEFT]
    flips = summary.counts[FLIP]
    assert (flips.entries, flips.conversations, flips.claims) == (4, 2, 3)
    assert summary.counts[LEFT].claims == 0
    assert store.findings.list_claims_with_finding(run, FLIP) == (
        (first, b),
        (first, a),
        (second, c),
    )
    rows = store.findings.read_rows(store.findings.list_ids_of_kind(run, FLIP))
    assert [(row.number, row.finding.detail) for row in rows] == [
        (1, "x"),
        (1, "y"),
        (1, "z"),
        (2, "w1 yes → w2 no"),
    ]
    assert rows[0].text == "Claim 3.0"
    (left,) = store.findings.read_rows(store.findings.list_ids_of_kind(run, LEFT))
    assert (left.finding, left.text, left.key) == (
        Finding(LEFT, "nobody answered it", turn=2),
        None,
        "one",
    )
    assert store.findings.list_ids_of_kind(run, PHANTOM) == ()
    assert store.list_damage() == []


def test_checking_again_replaces_what_was_found(store: Store, run: RunId) -> None:
    first, _ = store.runs.list_item_ids(run)
    (a, _) = claims_of(store, first)
    store.findings.replace_findings_of_conversations([checked(store, first, Finding(FLIP, "x", a))])
    store.findings.replace_findings_of_conversations([checked(store, first)])
    assert store.findings.summarise_run(run).counts == {}


def test_a_conversation_judged_on_is_unchecked_again(store: Store) -> None:
    conversation = make_conversation("late")
    run, item = judged(store, conversation, {1: ["yes"]}, finish=None)
    assert store.findings.list_unchecked_conversations(run) == (), "it is still pending"
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    stale = checked(store, item)
    store.findings.replace_findings_of_conversations([stale])
    (_, window) = windows_of(conversation)
    failed = make_empty_score(ScoreState.FAILED, "timed out")
    third = assess(type(window)(2, window.interactions, window.turns), {}, score=failed)
    store.runs.save_window(item, third)
    assert store.findings.list_unchecked_conversations(run) == (item,)
    assert store.findings.replace_findings_of_conversations([stale]) == 0, (
        "what was read is no more"
    )
    assert store.findings.list_unchecked_conversations(run) == (item,)
    store.runs.score_and_finish_item(item, ItemState.FAILED, "1 of 3")
    store.findings.replace_findings_of_conversations([checked(store, item)])
    assert store.findings.list_unchecked_conversations(run) == ()
    store.runs.reopen_failed_or_incomplete_items(run)
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    assert store.findings.list_unchecked_conversations(run) == (item,)


def test_surplus_words_are_read_by_window(store: Store) -> None:
    run = store.runs.create(SPEC, [imported(store, make_conversation("more"))])
    (item,) = store.runs.list_item_ids(run)
    first, second = (
        assess(window, {1: ["yes"]}) for window in windows_of(make_conversation("more"))
    )
    store.runs.save_window(item, first)
    store.runs.save_window(item, replace(second, surplus=("no", None)))
    assert store.findings.read_surplus_verdicts(item) == {1: ("no", None)}


def test_the_most_suspicious_come_first_and_each_once(store: Store, run: RunId) -> None:
    first, second = store.runs.list_item_ids(run)
    a, b = claims_of(store, first)
    c, d = claims_of(store, second)
    store.findings.replace_findings_of_conversations(
        [
            checked(store, first, Finding(PHANTOM, "x", a), Finding(FLIP, "y", b)),
            checked(store, second, Finding(FLIP, "y", c), Finding(PHANTOM, "x", c)),
        ]
    )
    order = ((second, c), (first, b), (first, a))
    assert store.findings.list_suspicious_claims(run) == order, "nothing is known against the last"
    assert store.findings.list_suspicious_claims(run, 2) == order[:2]
    with store._database.open_reader() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM verdict").scalar() == 6
    store._database.run_in_write_transaction(
        lambda connection: connection.exec_driver_sql(
            f"UPDATE verdict SET confidence = CASE claim_id WHEN {d} THEN 0.5 ELSE 0.9 END"
        )
    )
    assert store.findings.list_suspicious_claims(run) == (*order, (second, d))


def test_a_run_without_findings_has_none(store: Store, run: RunId) -> None:
    summary = store.findings.summarise_run(run)
    assert (summary.checked, summary.waiting, summary.counts) == (0, 2, {})
    assert store.findings.list_suspicious_claims(run) == ()
    assert store.findings.replace_findings_of_conversations([]) == 0


@pytest.mark.parametrize("fixture", ["v1", "v2"])
def test_a_run_of_an_older_file_waits_to_be_checked(fixture: str, path: Path) -> None:
    shutil.copy(FIXTURES / f"{fixture}.sqlite", path)
    with Store.open(path) as store:
        run = store.runs.list_runs()[-1].id
        (item,) = store.findings.list_unchecked_conversations(run)
        (claim_id, *_) = claims_of(store, item)
        assert (
            store.findings.replace_findings_of_conversations(
                [checked(store, item, Finding(FLIP, "x", claim_id))]
            )
            == 1
        )
        assert store.findings.list_unchecked_conversations(run) == ()
        assert store.findings.list_claims_with_finding(run, FLIP) == ((item, claim_id),)
        assert store.list_damage() == []


def test_hostile_texts_come_back_as_they_were(store: Store, run: RunId) -> None:
    first, _ = store.runs.list_item_ids(run)
    detail = "[red]\x1b[31m\u202e' OR 1=1; --"
    store.findings.replace_findings_of_conversations(
        [checked(store, first, Finding(LEFT, detail, turn=0))]
    )
    (row,) = store.findings.read_rows(store.findings.list_ids_of_kind(run, LEFT))
    assert row.finding.detail == detail
