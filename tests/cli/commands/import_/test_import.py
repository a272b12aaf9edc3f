"""`faithtui import`: what files are taken for, what was not understood, what would come in."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FOLDER = Path(__file__).parents[4] / "fixtures" / "real_formats"


def test_a_file_is_named_with_what_it_was_taken_for_and_why(cli: Cli) -> None:
    done = cli("import", FOLDER / "llamaindex_evaluation_results.json")
    assert done.code == 0
    assert "5 new" in done.out
    assert "taken for llamaindex-results: LlamaIndex's evaluation results" in done.out
    assert (
        "verdicts of imported:llamaindex on 5 conversations, as llamaindex-faithfulness, run 1"
        in (done.out)
    )


def test_a_file_without_the_options_of_its_judge_is_told_of(cli: Cli, tmp_path: Path) -> None:
    """ragas saves what a metric said, and not with which options."""
    said = {"statements": [{"statement": "It sails.", "verdict": 1, "reason": "so"}]}
    row = {
        "metric_input": {"user_input": "When?", "response": "It sails."},
        "metric_output": 1.0,
        "is_accepted": True,
        "prompts": {"p": {"prompt_input": {}, "prompt_output": said, "edited_output": None}},
    }
    path = tmp_path / "annotated.json"
    path.write_text(json.dumps({"faithfulness": [row]}), encoding="utf-8")
    done = cli("import", path)
    assert done.code == 0
    assert "the file does not say which options the judge had" in done.out
    without = cli("import", FOLDER / "llamaindex_evaluation_results.json")
    assert "options" not in without.out  # a verdict on a whole answer is its score


def test_all_files_of_the_folder_come_in(cli: Cli) -> None:
    done = cli("import", FOLDER, "--json")
    assert (done.code, done.json["refused"]) == (0, 0)
    assert sum(each["new"] for each in done.json["files"]) == 118
    [langsmith] = [each for each in done.json["files"] if each["format"] == "langsmith"]
    assert [Path(each).name for each in langsmith["beside"]] == ["langsmith_runs.jsonl"]


def test_a_dry_run_draws_the_first_conversation_and_makes_no_store(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("import", "--dry-run", FOLDER / "langfuse_traces.json")
    assert done.code == 0
    assert "1 user: who takes photos of planes in the air" in done.out
    assert "passages: none were retrieved" in done.out
    assert "label of 46542882 on turn 2, the answer: 3 (faithfulness)" in done.out
    assert done.out.endswith("nothing was imported, because of --dry-run\n")
    assert not list(tmp_path.rglob("*.db"))


def test_hostile_texts_of_a_file_are_text_in_what_is_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    row = {
        "question": "\x1b[2Jq",
        "answer": "[red]a[/]",
        "contexts": ["\x1b]0;p\x07"],
        "k\x1b[1m": 1,
    }
    path.write_text(json.dumps(row) + "\n")
    done = cli("import", "--dry-run", path)
    assert "\x1b" not in done.out + done.err
    assert "[red]a[/]" in done.out


def test_a_key_nobody_understood_is_named_with_what_it_may_mean(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    turns = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "contexts": ["p"]},
    ]
    path.write_text(json.dumps({"turns": turns}) + "\n")
    done = cli("import", path)
    assert "not understood and dropped: `turns[].contexts` (1 time)" in done.out
    assert "--map retrieval_context=contexts" in done.out
    mapped = cli("import", path, "--map", "retrieval_context=contexts", "--dry-run")
    assert "not understood" not in mapped.out
    assert "1 p" in mapped.out


def test_a_key_gets_no_hint_where_the_name_has_no_place_or_is_there(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "chat.jsonl"
    answer = {"role": "assistant", "content": "a", "my contexts": ["p"], "message": "m"}
    record = {"turns": [{"role": "user", "content": "q"}, answer], "turn": 3, "contexts": ["p"]}
    path.write_text(json.dumps(record))
    out = cli("import", path, "--dry-run").out
    assert "not understood and kept aside: `turn` (1 time)\n" in out
    assert "not understood and kept aside: `contexts` (1 time)\n" in out
    assert "dropped: `turns[].message` (1 time)\n" in out
    assert "--map retrieval_context='my contexts'\n" in out
    assert "where a key of its turn holds them: --map retrieval_context=KEY\n" in out


def test_messages_without_a_role_are_named_with_the_way_out(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    good = {"messages": [{"role": "user", "content": "q"}, {"role": "ai", "content": "a"}]}
    bad = {"messages": [{"who": "user", "content": "q"}, {"who": "ai", "content": "a"}]}
    path.write_text(json.dumps(bad))
    done = cli("import", path, "--dry-run")
    assert "chat.jsonl: line 1: messages[0].role: is missing; expected one of" in done.err
    assert done.err.endswith("if another key has it: --map role=KEY\n")
    assert "--map turns=messages" not in done.err
    assert "1 new" in cli("import", path, "--dry-run", "--map", "role=who").out
    path.write_text("\n".join(map(json.dumps, (good, bad))))
    done = cli("import", path, "--dry-run")
    assert "line 2: messages[0].role: is missing" in done.err
    assert done.err.endswith("if another key has it: --map role=KEY\n")
    bad["messages"][1]["role"] = "the\x1b[1mboss"
    bad["messages"][0]["role"] = "user"
    path.write_text(json.dumps(bad))
    assert 'messages[1].role: is "the\\u001b[1mboss"; expected' in cli("import", path).err


def test_of_a_file_without_a_good_line_each_is_told(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join([json.dumps({"messages": [{"content": "q"}]})] * 3))
    done = cli("import", path)
    assert [line.partition(": is missing")[0] for line in done.err.splitlines()] == [
        f"{path}: line {number}: messages[0].role" for number in (1, 2, 3)
    ]
    assert ", 3 refused\n" in done.out
    assert "`messages` is a list of objects without the roles of chat messages" in done.out
    path.write_text('{"a": 1}\n' + "nonsense\n" * 4)
    [line] = cli("import", path).err.splitlines()
    assert "4 of its first 5 cannot be read: line 2: is not JSON" in line
    assert line.count("; line ") == 2
    assert line.endswith("; …")


def test_a_path_that_is_not_there_is_an_error_and_no_file(cli: Cli, tmp_path: Path) -> None:
    done = cli("import", tmp_path / "x.jsonl", tmp_path / "chat.jsonl", "--dry-run")
    assert "chat.jsonl: there is no such file or folder\n" in done.err
    assert done.out == "nothing was imported, because of --dry-run\n"
    assert done.code == 3


def test_a_file_without_passages_says_how_to_name_the_key_that_holds_them(
    cli: Cli, tmp_path: Path
) -> None:
    row = {"user_input": "When?", "response": "In May."}
    file = tmp_path / "bot.jsonl"
    file.write_text(json.dumps({**row, "docs_found": ["It opens in May."]}), encoding="utf-8")
    words = "no answer has passages, without which metrics skip it; where a key holds them: "
    assert f"{words}--map retrieval_context=docs_found\n" in cli("import", file).out
    assert words not in cli("import", file, "--map", "retrieval_context=docs_found").out
    # Retrieval that found nothing is judged.
    file.write_text(json.dumps({**row, "retrieved_contexts": []}), encoding="utf-8")
    assert words not in cli("import", file).out
    file.write_text(json.dumps({**row, "my docs": ["It opens."]}), encoding="utf-8")
    assert "--map retrieval_context='my docs'\n" in cli("import", file).out
    # One conversation with passages is enough: others may have needed none.
    lines = [{**row, "retrieved_contexts": ["It opens."]}, {**row, "user_input": "Who?"}]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert words not in cli("import", file).out


def test_a_mapped_parent_is_understood(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"inputs": {"frage": "q"}, "answer": "a", "contexts": ["p"]}) + "\n")
    done = cli("import", path, "--map", "question=inputs.frage", "--dry-run")
    assert "1 user: q" in done.out
    assert "not understood" not in done.out


def test_a_mapped_column_that_no_record_has_is_named(cli: Cli, tmp_path: Path) -> None:
    csv = FOLDER / "ragas_single_turn.csv"
    words = ("--map", "question=nonexistent", "--map", "answer=response", "--dry-run")
    done = cli("import", csv, *words)
    assert done.code == 0
    assert "5 times: record without `nonexistent`, which --map question=nonexistent" in done.out
    assert "answer=response" not in done.out
    path = tmp_path / "x.jsonl"
    nested = {"inputs": [{"frage": "q"}], "meta": {"text": None}, "contexts": ["p"]}
    path.write_text(json.dumps(nested) + "\n", encoding="utf-8")
    words = ("--map", "question=frage", "--map", "answer=meta.text", "--dry-run")
    assert "record without" not in cli("import", path, *words).out
    path.write_text("{\n", encoding="utf-8")
    assert "record without" not in cli("import", path, *words).out
    row = {"question": "q", "answer": "a", "contexts": ["p"], "metadata": {"ref": "x"}}
    path.write_text(json.dumps({**row, "meta": {"b": {"c": "r"}}}), encoding="utf-8")
    out = cli("import", path, "--map", "reference=ref", "--map", "note=b.c").out
    assert out.count("record without") == 2


def test_a_file_may_come_through_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (FOLDER / "ragas_single_turn.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    done = cli("import", "-")
    assert "- as `stdin`: 5 new" in done.out
    refused = cli("import", "-", "--strict")
    assert refused.code == 2
    assert "standard input can be read once" in refused.err


def test_a_file_may_be_called_by_the_name_of_standard_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    (tmp_path / "-").write_bytes((FOLDER / "ragas_single_turn.csv").read_bytes())
    assert "- as `-`: 5 new" in cli("import", "./-").out
    assert cli("guideline", "set", "./-").code == 0


def test_images_are_not_looked_for_where_the_program_stands(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n pixels")
    monkeypatch.chdir(tmp_path)
    turns = [{"role": "user", "content": "q", "images": [{"path": "x.png"}]}]
    data = json.dumps({"turns": turns}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    done = cli("import", "-")
    assert done.code == 3
    assert "turns[0].images[0].path" in done.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--format", "parket"), "there is no format `parket`"),
        (("--map", "question"), "expected NAME=COLUMN"),
        (("--scale", "faithfulness"), "expected SCORE=SCALE"),
        (("--scale", "faithfulness=begin"), "expertqa-support, begin-3, "),
        (("--scale", "faithfulness=begin"), "Did you mean `begin-3`?"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    cli: Cli, options: tuple[str, ...], says: str
) -> None:
    done = cli("import", FOLDER / "neutral.jsonl", *options)
    assert done.code == 2
    assert says in done.err


def test_a_skip_is_no_label_and_is_told_where_it_is_left_out(cli: Cli, tmp_path: Path) -> None:
    def write_row(*labels: dict[str, object]) -> Path:
        path = tmp_path / "claims.jsonl"
        row = {
            **{"conversation_id": "0505c71b", "conversation": "1", "turn": 1, "claim_id": "86b1"},
            **{"kind": "claim", "claim": "It sails.", "judged": True, "model": "m", "window": 0},
            **{"verdict": "yes", "word": "yes", "metadata": {}, "labels": labels},
            "messages": [
                {"role": "user", "content": "When?"},
                {"role": "assistant", "content": "It sails.", "documents": []},
            ],
            "passages": [],
        }
        path.write_text(json.dumps(row) + "\n", "utf-8")
        return path

    skip: dict[str, object] = {"annotator": "ann", "label": None, "action": "skipped"}
    label: dict[str, object] = {
        "annotator": "ben",
        "label": "no",
        "action": "blind",
        "counted": True,
    }
    path = write_row(skip, label)
    drawn = cli("import", "--dry-run", path)
    assert "label of ann on turn 2, “It sails.”: skipped\n" in drawn.out
    assert "1 new human label\n" in drawn.out
    assert "1 new human label\n" in cli("import", path).out
    write_row({**skip, "annotator": "cyd"}, {**label, "annotator": "dan", "action": "bulk"})
    out = cli("import", path).out
    assert "  2 times: a skip, a label in bulk or an accepted verdict of a conversation" in out


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_labels_that_nobody_can_read_are_told(cli: Cli, option: tuple[str, ...]) -> None:
    path = FOLDER / "langfuse_traces.json"
    done = cli("import", path, *option, "--scale", "tone=begin-3")
    assert (
        '15 of 15 human labels on the unlisted scale "faithfulness" (values 1, 3, 4) have no '
        "verdict and count in no figure; name its scale: "
        "--scale faithfulness=mtrag-faithfulness-1-4" in done.out
    )
    assert "no file has a human score named `tone`" in done.out
    done = cli("import", path, *option, "--scale", "faithfulness=mtrag-faithfulness-1-4")
    assert "no verdict" not in done.out
    assert "no file has" not in done.out


def test_equal_conversations_are_told_and_merged_on_request(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    row = {"question": "q", "answer": "a", "contexts": []}
    path.write_text("".join(json.dumps({**row, "id": key}) + "\n" for key in ("one", "two")))
    merged = cli("import", path, "--merge-equal", "--source", "merged")
    assert "1 new, 1 merged" in merged.out
    assert "two has the same turns as one; it was merged into that one" in merged.err
    kept = cli("import", path)
    assert "2 new" in kept.out
    assert "both are kept; --merge-equal stores one" in kept.err
    assert "--merge-equal compares" not in merged.err + kept.err


def test_equal_conversations_of_other_data_sets_are_named_with_the_way_to_merge_them(
    cli: Cli, tmp_path: Path
) -> None:
    row = {"question": "q", "answer": "a", "contexts": []}
    names = ("first", "the second")
    paths = [tmp_path / f"{name}.jsonl" for name in names]
    for path in paths:
        path.write_text("".join(json.dumps({**row, "answer": each}) + "\n" for each in "ab"))
    said = (
        "2 new conversations of `the second` with the same turns as one of the data set `first`; "
        "both are kept\n  conversations are merged within one data set alone; "
    )
    way = "import with `--source first --merge-equal`\n"
    assert "both are kept" not in cli("import", paths[0]).out
    for options in ((), ("--merge-equal",)):
        rehearsed = cli("import", paths[1], "--dry-run", *options)
        assert f"{said}{way}" in rehearsed.out
    done = cli("import", paths[1])
    delete = "delete `the second` with its labels, `faithtui delete dataset 'the second'`, and "
    assert f"{said}{delete}{way}" in done.out
    assert "both are kept" not in cli("import", paths[1]).out  # they are not new any more
    for options in (("--dry-run",), ()):
        third = cli("import", paths[0], "--source", "third", "--json", *options)
        assert third.json["equal_elsewhere"] == [
            {"source": "third", "other": other, "count": 2} for other in names
        ]
    cli("delete", "dataset", "the second", "--yes")
    assert "0 new, 2 unchanged" in cli("import", paths[1], "--source", "first", "--merge-equal").out


def test_places_where_something_may_not_be_what_was_meant_are_named_and_counted(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text('question,answer,contexts\nq1,a1,"[""a"", ""b"\nq2,a2\n')
    places = [
        f"note: {path}: line 2: record 1: contexts: begins as a list and cannot be read as one",
        f"note: {path}: line 3: has 2 cells, and there are 3 columns",
    ]
    for options in (("--dry-run",), ("--strict",), ()):
        done = cli("import", path, *options)
        for place in places:
            assert done.err.count(place) == 1
        assert "  1 time: row with too few cells, or with empty ones behind" in done.out
        assert "  1 time: list that cannot be read" in done.out
    found = cli("import", path, "--source", "again", "--json").json
    assert found["files"][0]["warned"] == 2
    assert [(each["line"], each["field"]) for each in found["warnings"]] == [
        (2, "contexts"),
        (3, None),
    ]

    path.write_text("question,answer,contexts\nq,a,c\n" + "q,a\n" * 105)
    done = cli("import", path, "--dry-run")
    assert done.err.count("has 2 cells") == 100
    assert "note: … and 5 more such places; --json names 105\n" in done.err


def test_what_is_wrong_with_a_file_is_said_in_the_order_of_its_lines(
    cli: Cli, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("question,answer,contexts\nq1,a1,c\nq2,a2\nq3,a3,c,d\nq4,a4\n")
    second.write_text("question,answer,contexts\nq5,a5,c,d\nq6,a6\n")
    missing = tmp_path / "c.csv"
    done = cli("import", first, second, missing, "--dry-run")
    said = [each.removeprefix("note: ").split(": ")[:2] for each in done.err.splitlines()]
    assert said == [
        [str(missing), "there is no such file or folder"],
        *([str(first), f"line {line}"] for line in (3, 4, 5)),
        *([str(second), f"line {line}"] for line in (2, 3)),
    ]
    assert "taken as far as it goes" not in done.out, "a row that is too long is refused"


def test_of_many_data_sets_with_equal_conversations_the_first_are_named(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"question": "q", "answer": "a", "contexts": []}\n')
    for number in range(10):
        cli("import", path, "--source", f"part {number}")
    done = cli("import", path, "--dry-run")
    assert done.out.count("both are kept") == 8
    assert "  … and of 2 more data sets; --json names all\n" in done.out


def test_merging_over_files_that_are_data_sets_of_their_own_names_the_way(
    cli: Cli, tmp_path: Path
) -> None:
    row = {"question": "q", "answer": "a", "contexts": []}
    paths = [tmp_path / f"{name}.jsonl" for name in ("one", "two")]
    for path in paths:
        path.write_text(json.dumps({**row, "id": path.stem}) + "\n")
    done = cli("import", *paths, "--merge-equal", "--json")
    assert [each["new"] for each in done.json["files"]] == [1, 1]
    assert done.err == (
        "note: --merge-equal compares conversations of one data set, and these files are 2; "
        "`--source NAME` makes them one\n"
    )
    one = cli("import", *paths, "--merge-equal", "--source", "both")
    assert "compares" not in one.err
    assert "two has the same turns as one; it was merged into that one" in one.err
    assert "compares" not in cli("import", *paths).err


def test_equal_answers_without_an_id_lose_nothing_in_silence(cli: Cli, tmp_path: Path) -> None:
    """Rows without an id are one conversation: metadata and verdicts of the first remain."""
    row = {"query": "When?", "response": "At nine.", "contexts": ["It sails at nine."]}
    said = [
        {**row, "passing": True, "feedback": "YES", "site": "north"},
        {**row, "passing": False, "feedback": "NO", "site": "south"},
        {**row, "passing": False, "feedback": "NO", "site": "south"},
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    dry = cli("import", "--dry-run", path)
    assert "1 verdict left out: the judge gave another one on the same answer" in dry.out
    done = cli("import", path)
    assert "1 new, 2 unchanged" in done.out
    assert "1 verdict left out: the judge gave another one on the same answer" in done.out
    assert "2 times: a conversation is there already, with the same turns and other" in done.out
    again = cli("import", path, "--json").json["files"][0]
    assert list(again["remarks"].values()) == [2]
    assert again["runs"][0]["superseded"] == 1


def test_a_file_that_was_cut_off_leaves_the_others_of_its_data_set(
    cli: Cli, tmp_path: Path
) -> None:
    """UTF-16 that ends in the middle of a character cannot be read on."""
    text = (FOLDER / "langsmith_feedback.jsonl").read_text(encoding="utf-8")
    cut = tmp_path / "feedback.jsonl"
    cut.write_bytes(text.encode("utf-16")[:-101])
    done = cli("import", cut, FOLDER / "langsmith_runs.jsonl")
    assert done.code == 3
    assert "1 new" in done.out
    assert "feedback.jsonl: is UTF-16 that cannot be decoded" in done.err


def test_a_deferred_index_is_named_by_doctor_and_made_by_the_first_search(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "two.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for word in ("ferry", "tram"):
            turns = [
                {"role": "user", "content": "When?"},
                {"role": "assistant", "content": "At nine.", "retrieval_context": [f"A {word}."]},
            ]
            file.write(json.dumps({"id": word, "turns": turns}) + "\n")
    done = cli("import", path, "--defer-index")
    assert done.code == 0
    assert "words of 4 conversations and passages are indexed by the first search" in done.out
    assert cli("import", path, "--defer-index", "--json").json["unindexed"] == 4
    named = cli("doctor", "--offline")
    assert "does not have the words of 4 conversations and passages yet" in named.out
    assert cli("run", "--judge", "offline").code == 0
    without_words = cli("show", "last", "--filter", "state:done")
    assert "ferry" in without_words.out
    assert "indexing" not in without_words.err
    found = cli("show", "last", "--filter", "tram")
    assert "indexing the words of 4 conversations and passages for search" in found.err
    assert "tram" in found.out
    assert "ferry" not in found.out
    assert "word index" not in cli("doctor", "--offline").out
    assert "indexing" not in cli("show", "last", "--filter", "tram").err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", "", "holds no rows: it is empty"),
        ("a.jsonl", "\ufeff\n", "holds no rows: it is empty"),
        ("a.json", "[]", "holds no rows: it is a JSON array without any"),
        ("a.json", '{"samples": []}', "holds no rows: it is JSON lines with nothing in `samples`"),
        (
            "a.csv",
            "user_input;response;retrieved_contexts\n",
            "no row with a value, `user_input`, `response`, `retrieved_contexts`, as of `ragas`",
        ),
        ("a.csv", "question,answer\n,\n", "it is a table with a header and no row with a value"),
        ("a.jsonl", '{"frage": []}\n' * 32, "its first 32 records hold nothing in `frage`"),
    ],
)
def test_a_file_without_rows_is_refused_with_what_it_looks_like(
    cli: Cli, tmp_path: Path, name: str, text: str, told: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    done = cli("import", path)
    assert done.code == 3
    assert told in done.err


@pytest.mark.parametrize(
    ("text", "told"), [("", "it is empty"), ('{"samples": []}', "with nothing in `samples`")]
)
def test_a_file_without_rows_beside_others_is_told(
    cli: Cli, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    (tmp_path / "b.jsonl").write_text(json.dumps({"turns": turns}))
    done = cli("import", tmp_path)
    assert done.code == 0
    assert "holds no rows: it is " in done.out
    assert told in done.out
    assert "1 new" in done.out
    alone = cli("import", tmp_path / "a.jsonl")
    assert alone.code == 3
    lines = alone.out.splitlines()
    assert lines == [each for each in done.out.splitlines() if each in lines], "as beside others"
