"""Verdicts that came with a data set become runs of an imported judge."""

import json
import sqlite3
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportEvidence,
    ExportTurn,
)
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.labels.imported_verdicts import (
    ImportedClaim,
    ImportedEvidence,
    ImportedVerdict,
    ImportedWindow,
    match_logs_to_windows,
)
from faithtui.domain.scores import ScoreState
from faithtui.engine import imported_runs
from faithtui.engine.dataset_import import ImportResult, import_files
from faithtui.engine.review.judge_description import describe_judge
from faithtui.engine.review.run_prompts import list_prompt_sets, read_run_prompts_with_examples
from faithtui.engine.runs.run_execution import rebuild_and_check_metric
from faithtui.errors import ConfigError, StoreError
from faithtui.formats.readers.deepeval_runs import parse_verbose_log
from faithtui.formats.writers.flat_files import format_json_lines
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, make_claim_rows
from faithtui.formats.writers.ragas_rows import format_ragas_row_lines
from faithtui.judges.providers.prices import read_price_table
from faithtui.metrics.registry import build
from faithtui.store.records import ReviewView, RunState
from faithtui.store.store import Store
from tests.formats.writers.exported import (
    DEPOT,
    RETURNS,
    RUN,
    make_claim,
    make_conversation,
    make_label,
)

FOLDER = Path(__file__).parents[2] / "fixtures" / "real_formats"
ANSWERS = (
    "The ferry sails at nine.",
    "Tickets cost five euros.",
    "Dogs travel free of charge.",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def run(store: Store, *paths: Path, rehearse: bool = False) -> ImportResult:
    return import_files(store, paths, report=lambda progress: None, rehearse=rehearse)


def write_list(items: Sequence[object]) -> str:
    """Write a list as deepeval's verbose log has it: texts are quoted and not escaped."""
    if not items:
        return "[]"
    written = [
        f'"{each}"' if isinstance(each, str) else json.dumps(each, indent=4).replace("\n", "\n    ")
        for each in items
    ]
    inside = ",\n    ".join(written)
    return f"[\n    {inside}\n]"


def write_window(
    number: int, claims: Sequence[str], verdicts: Sequence[tuple[str, str | None]]
) -> str:
    return " \n \n".join(
        (
            f"Window {number} \n",
            f"Truths: {write_list(['A ferry sails at nine.'])} \n",
            f"Claims: {write_list(claims)} \n",
            f"Verdicts: {write_list([{'verdict': v, 'reason': r} for v, r in verdicts])} \n",
            "Score: 0.5 \n",
            "Reason: because \n",
        )
    )


def write_run(tmp_path: Path, log: str) -> Path:
    turns = []
    for number, answer in enumerate(ANSWERS):
        turns += [
            {"role": "user", "content": f"Question {number}?", "order": 2 * number},
            {
                "role": "assistant",
                "content": answer,
                "order": 2 * number + 1,
                "retrievalContext": ["A ferry sails at nine."],
            },
        ]
    metric = {
        "name": "Turn Faithfulness",
        "score": 0.5,
        "success": True,
        "evaluationModel": "gpt-5.4",
        "verboseLogs": log,
    }
    case = {"name": "case", "success": True, "turns": turns[::-1], "metricsData": [metric]}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": [], "conversationalTestCases": [case]}, indent=1))
    return path


def review(store: Store, number: int = 1) -> ReviewView:
    [item] = store.runs.list_item_ids(RunId(number))
    return store.runs.read_conversation_for_review(item, "ann")


def test_windows_come_in_their_own_order_whatever_that_of_the_log(
    store: Store, tmp_path: Path
) -> None:
    """deepeval lists windows as they were finished: here the longest first."""
    verdicts: list[tuple[str, str | None]] = [("yes", None), ("no", 'it says "six"'), ("idk", None)]
    claims = [f'{answer[:-1]}, "they" say' for answer in ANSWERS]
    log = " \n \n".join(
        write_window(place, claims[:size], verdicts[:size])
        for place, size in enumerate((3, 1, 2), start=1)
    )
    [file] = run(store, write_run(tmp_path, log)).files
    [made] = file.runs
    assert (made.judge, made.metric, made.conversations) == (
        "imported:gpt-5.4",
        "turn-faithfulness",
        1,
    )
    assert store.runs.read_run(RunId(1)).state is RunState.DONE
    view = review(store)
    assert [(each.text, each.turn) for each in view.claims] == [
        (claim, 2 * number + 1) for number, claim in enumerate(claims)
    ]
    assert [[each.window for each in claim.verdicts] for claim in view.claims] == [
        [0, 1, 2],
        [1, 2],
        [2],
    ]
    assert [claim.verdicts[0].label for claim in view.claims] == ["yes", "no", "idk"]
    assert view.claims[1].verdicts[0].reason == 'it says "six"'
    assert [each.text for each in view.truths] == ["A ferry sails at nine."]
    assert [each.document for each in view.truths] == [1]


def test_idk_and_borderline_are_one_label_and_the_word_is_kept(
    store: Store, tmp_path: Path
) -> None:
    log = write_window(1, ANSWERS[:2], [("idk", None), ("borderline", None)])
    run(store, write_run(tmp_path, log))
    found = [claim.verdicts[0] for claim in review(store).claims]
    assert [(each.label, each.word) for each in found] == [
        ("idk", "idk"),
        ("idk", "borderline"),
    ]


def test_a_claim_without_a_verdict_has_none_and_the_window_is_incomplete(
    store: Store, tmp_path: Path
) -> None:
    log = " \n \n".join(
        (
            write_window(1, ANSWERS[:1], [("yes", None), ("no", None)]),
            write_window(2, ANSWERS[:2], [("partially", None)]),
        )
    )
    run(store, write_run(tmp_path, log))
    view = review(store)
    assert [each.score.state for each in view.windows] == [
        ScoreState.SCORED,
        ScoreState.INCOMPLETE,
    ]
    words = [[(each.label, each.word) for each in claim.verdicts] for claim in view.claims]
    assert words == [[("yes", "yes"), (None, "partially")], [(None, None)]]


def test_a_log_of_one_answer_has_one_window() -> None:
    log = (
        f"Truths (limit=None):\n{write_list(['A truth: with ] and Claims: in it.'])} \n \n"
        f"Claims:\n{write_list(['One', 'Two'])} \n \n"
        f"Verdicts:\n{write_list([{'verdict': 'yes', 'reason': None}] * 2)}"
    )
    [window] = parse_verbose_log(log, "j")
    assert window.truths == ("A truth: with ] and Claims: in it.",)
    assert window.claims == (ImportedClaim("One", "yes"), ImportedClaim("Two", "yes"))
    assert parse_verbose_log("nothing to see", "j") == []


@pytest.mark.parametrize(
    "claims",
    [
        ["One", "It ends in\n]\nand goes on", "Two"],
        [r"A path is C:\new and \u0041", r"a \" quote", "Two"],
        ["", "An empty claim keeps its place"],
        ['"Quoted"', "[1]", "]"],
    ],
)
def test_claims_of_a_log_are_read_letter_for_letter(claims: list[str]) -> None:
    """deepeval quotes texts and does not escape them: they are no JSON."""
    verdicts: list[tuple[str, str | None]] = [(str(place), None) for place in range(len(claims))]
    log = " \n \n".join(write_window(number, claims, verdicts) for number in (1, 2))
    for window in parse_verbose_log(log, "j"):
        assert [(each.text, each.word) for each in window.claims] == [
            (claim, str(place)) for place, claim in enumerate(claims)
        ]
    assert len(parse_verbose_log(log, "j")) == 2


@given(
    st.lists(
        st.text(alphabet='a\\"[],: \n') | st.sampled_from(('",\n    "', '"\n]\n \nVerdicts: [')),
        min_size=1,
    )
)
def test_claims_that_are_known_are_read_whatever_is_in_them(texts: list[str]) -> None:
    claims = [f"{place}{text}" for place, text in enumerate(texts)]
    log = write_window(1, claims, [("yes", None)] * len(claims))
    [window] = parse_verbose_log(log, "j", claims)
    assert [each.text for each in window.claims] == claims


def test_a_claim_that_looks_like_two_is_one_where_faithtui_wrote_it_down(
    store: Store, tmp_path: Path
) -> None:
    claims = ['He said "yes",\n    "no" and left.\n]', "The ferry sails."]
    path = write_run(tmp_path, write_window(1, claims, [("yes", None), ("no", None)]))
    document = json.loads(path.read_text())
    own = [{"kind": "claim", "claim": each} for each in claims]
    document["conversationalTestCases"][0]["metadata"] = {
        "faithtui": {"results": [{"by": "judge", "turn": 1, "claims": own}]}
    }
    path.write_text(json.dumps(document))
    run(store, path)
    assert [each.text for each in review(store).claims] == claims


def test_a_verdict_without_a_word_is_none() -> None:
    verdicts = json.dumps([{"verdict": None, "reason": "r"}], indent=4)
    log = f'Truths:\n[] \n \nClaims:\n[\n    "One"\n] \n \nVerdicts:\n{verdicts}'
    [window] = parse_verbose_log(log, "j")
    assert window.claims == (ImportedClaim("One", None, "r"),)


def test_windows_that_are_missing_leave_the_others_where_they_are() -> None:
    from tests.store.building import make_conversation

    conversation = make_conversation("c", answers=3)
    metric = build("turn-faithfulness", {})
    windows = metric.windows(conversation)
    answers = [turn.content for turn in conversation.turns if turn.role == "assistant"]
    logged = [
        ImportedWindow("j", tuple(ImportedClaim(text, "yes") for text in answers[:size]))
        for size in (3, 1)
    ]
    assert match_logs_to_windows(logged, windows, conversation.turns) == {
        2: logged[0],
        0: logged[1],
    }
    assert match_logs_to_windows(logged, (), conversation.turns) == {}


def test_importing_verdicts_twice_makes_one_run(store: Store) -> None:
    path = FOLDER / "llamaindex_evaluation_results.json"
    [first] = run(store, path).files
    [again] = run(store, path).files
    assert [each.run for each in first.runs] == [RunId(1)]
    assert [each.run for each in again.runs] == [None]
    assert len(store.runs.list_runs()) == 1
    row = store.runs.read_run(RunId(1))
    assert (row.spec.judge, row.conversations, row.done) == ("imported:llamaindex", 5, 5)
    results = json.loads(path.read_text())
    assert [
        each.scores.windowed.value
        for each in store.runs.read_item_rows(store.runs.list_item_ids(RunId(1)))
        if each.scores
    ] == [float(each["passing"]) for each in results]


def test_a_run_that_was_left_unfinished_is_completed_by_the_next_import(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = FOLDER / "llamaindex_evaluation_results.json"
    finish = store.runs.score_and_finish_item
    calls = 0

    def fail_at_third(*given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        finish(*given)

    with monkeypatch.context() as patch:
        patch.setattr(store.runs, "score_and_finish_item", fail_at_third)
        with pytest.raises(KeyboardInterrupt):
            run(store, path)
    half = store.runs.read_run(RunId(1))
    assert (half.state is RunState.DONE, half.done) == (False, 2)
    [again] = run(store, path).files
    [third] = run(store, path).files
    assert [[each.run for each in file.runs] for file in (again, third)] == [[RunId(1)], [None]]
    [row] = store.runs.list_runs()
    assert (row.state, row.conversations, row.done, row.claims) == (RunState.DONE, 5, 5, 5)


def test_windows_are_written_some_at_a_time_and_an_end_between_them_loses_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = " \n \n".join(
        write_window(size, ANSWERS[:size], [("yes", None)] * size) for size in (1, 2, 3)
    )
    path = write_run(tmp_path, log)
    save = store.runs.save_windows
    saved: list[int] = []

    def fail_at_second(item: ItemId, assessments: Sequence[Assessment]) -> None:
        if saved:
            raise KeyboardInterrupt
        saved.append(len(assessments))
        save(item, assessments)

    monkeypatch.setattr(imported_runs, "_WINDOWS_AT_A_TIME", 2)
    with monkeypatch.context() as patch:
        patch.setattr(store.runs, "save_windows", fail_at_second)
        with pytest.raises(KeyboardInterrupt):
            run(store, path)
    half = store.runs.read_run(RunId(1))
    assert (saved, half.state is RunState.DONE, half.windows, half.pending) == ([2], False, 2, 1)
    run(store, path)
    [row] = store.runs.list_runs()
    assert (row.state, row.windows, row.claims, row.done) == (RunState.DONE, 3, 3, 1)


def test_human_labels_and_verdicts_of_a_judge_meet_in_the_run(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "annotated.json"
    text = (FOLDER / "ragas_annotated_summary_accuracy.json").read_text()
    path.write_text(text.replace('"summary_accuracy"', '"faithfulness"'))
    [file] = run(store, path).files
    assert (file.new, file.new_ratings) == (19, 19)
    row = store.runs.read_run(RunId(1))
    assert (row.claims, row.labelled) == (19, 19)


def test_a_run_that_was_imported_says_so_and_has_no_parameters(store: Store) -> None:
    run(store, FOLDER / "llamaindex_evaluation_results.json")
    # As earlier versions stored it.
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("UPDATE run SET profile = '{\"temperature\": 0.0}'")
        connection.commit()
    row = store.runs.read_run(RunId(1))
    assert row.spec.is_imported
    assert row.spec.profile.describe() == ""
    said = "run 1 was imported: nothing was asked, its prompts and parameters are not known"
    assert describe_judge(store, row, read_price_table()) == f"imported:llamaindex\n\n{said}"
    with pytest.raises(StoreError, match=said):
        read_run_prompts_with_examples(store, RunId(1))
    with pytest.raises(ConfigError, match=f"{said}; start a new run"):
        rebuild_and_check_metric(store, row)
    first = list_prompt_sets(store)[0]
    assert (first.runs, first.is_known) == ((RunId(1),), False)


def test_a_rehearsal_counts_draws_and_writes_nothing(store: Store) -> None:
    result = run(store, FOLDER / "langfuse_traces.json", rehearse=True)
    [file] = result.files
    assert (file.new, file.new_ratings, len(file.runs)) == (1, 15, 1)
    assert result.first is not None
    assert len(result.first.turns) == 10
    assert store.conversations.count() == 0
    assert store.runs.list_runs() == ()


@pytest.mark.parametrize("merge", [False, True])
def test_verdicts_of_a_merged_conversation_go_to_the_one_that_was_kept(
    store: Store, tmp_path: Path, merge: bool
) -> None:
    rows: list[dict[str, object]] = [
        {"id": key, "query": "q", "response": "An answer.", "contexts": [], "passing": True}
        for key in ("one", "two")
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    result = import_files(store, [path], report=lambda progress: None, merge_equal=merge)
    [file] = result.files
    assert result.same_content == (("two", "one"),)
    assert (file.new, file.merged) == ((1, 1) if merge else (2, 0))
    assert file.runs[0].conversations == (1 if merge else 2)


def make_twins(*claims: ExportClaim) -> ExportConversation:
    """A conversation whose two answers say the same."""
    turns = tuple(
        turn
        for number in range(2)
        for turn in (
            ExportTurn("user", f"Question {number}?", None),
            ExportTurn("assistant", "Within two days.", (DEPOT, RETURNS)),
        )
    )
    return replace(make_conversation(*claims), turns=turns)


def write_claims(path: Path, conversation: ExportConversation) -> Path:
    rows = make_claim_rows(RUN, conversation)
    path.write_text("".join(format_json_lines(CLAIM_COLUMNS, [rows])))
    return path


def list_verdicts(store: Store) -> list[tuple[int, str | None, list[int]]]:
    return [
        (each.turn, each.verdicts[0].label, [one.window for one in each.verdicts])
        for each in review(store).claims
    ]


@pytest.mark.parametrize("first_window", [0, 1])
def test_claims_of_an_export_stay_with_their_answer_where_two_are_equal(
    store: Store, tmp_path: Path, first_window: int
) -> None:
    """Also where the claims of both answers are of one window."""
    text = "Within two days."
    chat = make_twins(
        make_claim(0, "yes", turn=1, text=text, span=None, window=first_window),
        make_claim(
            1, "no", turn=3, text=text, span=None, window=1, labels=(make_label("ann", "no"),)
        ),
    )
    run(store, write_claims(tmp_path / "claims.jsonl", chat))
    assert list_verdicts(store) == [(1, "yes", [first_window]), (3, "no", [1])]
    row = store.runs.read_run(RunId(1))
    assert (row.claims, row.labelled) == (2, 1)


def test_results_of_answers_go_to_the_window_that_ends_with_theirs() -> None:
    from tests.store.building import make_conversation

    conversation = make_conversation("c", answers=3)
    windows = build("turn-faithfulness", {}).windows(conversation)
    logged = [
        ImportedWindow("j", (ImportedClaim("Same.", "yes", turn=turn),)) for turn in (5, 1, 5)
    ]
    placed = match_logs_to_windows(logged, windows, conversation.turns)
    assert placed == {
        2: replace(logged[0], claims=logged[0].claims * 2),
        0: logged[1],
    }


def test_a_window_that_has_not_the_turn_of_its_claim_is_not_taken() -> None:
    from tests.store.building import make_conversation

    conversation = make_conversation("c", answers=2)
    windows = build("turn-faithfulness", {}).windows(conversation)
    for named in (0, 9):
        said = ImportedWindow("j", (ImportedClaim("Same.", "yes", turn=3),), position=named)
        assert match_logs_to_windows([said], windows, conversation.turns) == {1: said}


@pytest.mark.parametrize("kind", ["claims", "ragas-rows"])
@pytest.mark.parametrize(
    ("label", "word"), [("yes", "0.7"), ("no", "0.2"), ("yes", "The answer is supported: YES")]
)
def test_verdicts_on_answers_keep_their_label_and_judge(
    store: Store, tmp_path: Path, kind: str, label: str, word: str
) -> None:
    """The word of an answer's verdict may be a score, or a sentence."""
    chat = make_conversation(
        make_claim(0, label, kind="answer", text="Within two days.", span=None, word=word)
    )
    of = replace(RUN, judge="imported:faithfulness", model="imported:faithfulness")
    path = tmp_path / "x.jsonl"
    if kind == "claims":
        text = "".join(format_json_lines(CLAIM_COLUMNS, [make_claim_rows(of, chat)]))
    else:
        text = "".join(format_ragas_row_lines(of, chat))
    path.write_text(text)
    made = {each.metric: each for each in run(store, path).files[0].runs}["llamaindex-faithfulness"]
    assert made.judge == "imported:faithfulness"
    assert made.run is not None
    [claim] = review(store, made.run).claims
    assert [(each.label, each.word) for each in claim.verdicts] == [(label, word)]


def test_a_claim_keeps_its_label_whatever_its_word(store: Store, tmp_path: Path) -> None:
    chat = make_conversation(make_claim(0, "no", word="0.1"))
    run(store, write_claims(tmp_path / "claims.jsonl", chat))
    assert list_verdicts(store) == [(1, "no", [0])]


def test_a_score_too_large_for_a_number_gives_no_verdict_and_says_so(
    store: Store, tmp_path: Path
) -> None:
    score = 10**400
    case = (
        '{"name": "c", "input": "q", "actualOutput": "An answer.", "metricsData": '
        f'[{{"name": "Faithfulness", "score": {score}, "evaluationModel": "j", "reason": "why"}}]}}'
    )
    path = tmp_path / "run.json"
    path.write_text(f'{{"testCases": [{case}], "conversationalTestCases": []}}')
    [file] = run(store, path).files
    assert [each.judge for each in file.runs] == ["imported:j"]
    [claim] = review(store).claims
    [verdict] = claim.verdicts
    assert (verdict.label, verdict.word) == (None, None)
    assert verdict.reason == ("its score is no finite number, so there is no verdict; why")


def test_a_run_of_an_earlier_import_is_known_again() -> None:
    """Its fingerprint is in stores: another way to make it would import every judge anew."""
    values = [["k", "h", {"b": 1.0, "a": None, "reason": 'café "x"'}], ["k2", "h", {}]]
    run = imported_runs._RunName("j", imported_runs.CLAIMS)
    found = imported_runs._hash_imported_judgements("zoë", run, iter(values))
    assert found == "imported/1 a8f4f1dafe184de886e982157db1c932"


def test_confidence_and_evidence_make_no_second_run() -> None:
    claim = ImportedClaim("One", "yes", turn=1)
    named = (ImportedEvidence("It sails.", "supports"),)
    run = imported_runs._RunName("j", imported_runs.CLAIMS)
    names = {
        imported_runs._hash_imported_judgements(
            "zoë", run, [["k", "h", imported_runs._judgement_to_dict(ImportedWindow("j", (each,)))]]
        )
        for each in (claim, replace(claim, confidence=0.5, evidence=named))
    }
    assert len(names) == 1


def test_a_truth_of_no_passage_of_its_window_is_of_none(store: Store, tmp_path: Path) -> None:
    """A user message is a truth too; it may stand in a passage word by word."""
    named = (
        ExportEvidence(DEPOT.text, "supports", None),
        ExportEvidence("Returns cost.", "contradicts", RETURNS.document),
        ExportEvidence("Guessed.", cast(Any, "perhaps"), RETURNS.document),
    )
    chat = make_conversation(make_claim(0, "yes", evidence=named, confidence=1.5))
    path = write_claims(tmp_path / "claims.jsonl", chat)
    run(store, path)
    found = review(store)
    [claim] = found.claims
    assert [each.confidence for each in claim.verdicts] == [None]
    truths = {each.id: (each.text, each.document is None) for each in found.truths}
    assert {(*truths[each.truth], each.stance) for each in claim.evidence} == {
        (DEPOT.text, True, "supports"),
        ("Returns cost.", False, "contradicts"),
    }


def measure_collector(size: int) -> int:
    """Give the most bytes that collecting so many verdicts and counting their judges held."""
    fields = imported_runs._judgement_to_dict(ImportedVerdict("j", 1, score=0.5, reason="because"))
    name = json.dumps(["j", "llamaindex-faithfulness"])
    tracemalloc.start()
    try:
        with imported_runs.VerdictCollector("x") as collector:
            for place in range(size):
                collector._groups.add(name, [f"conversation {place}", "hash", fields])
            [judged] = collector.list_runs_to_create()
            assert judged.conversations == size
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.thorough
def test_the_verdicts_of_a_judge_are_not_held_in_memory() -> None:
    assert measure_collector(8_000) < 3 * measure_collector(800)


def test_a_run_of_more_conversations_than_are_looked_for_at_once_is_whole(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported_runs, "_AT_A_TIME", 2)
    path = tmp_path / "rows.csv"
    rows = [f"q{place},a{place},{place % 2},j" for place in range(5)]
    path.write_text("\n".join(["question,answer,faithfulness,judge", *rows]))
    [made] = run(store, path).files[0].runs
    assert made.conversations == 5
    assert store.runs.read_run(RunId(1)).state is RunState.DONE
    items = store.runs.list_item_ids(RunId(1))
    labels = [
        store.runs.read_conversation_for_review(each, "ann").claims[0].verdicts[0].label
        for each in items
    ]
    assert sorted(map(str, labels)) == ["no", "no", "no", "yes", "yes"]
