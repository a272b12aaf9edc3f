import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

DEMO = Path(__file__).parents[3] / "fixtures" / "demo"
REPLIES = DEMO / "mtrag_model_answers.jsonl"
REFERENCES = DEMO / "mtrag_conversations.jsonl"


def made_up(path: Path, labels: str, judge: object = 0.5) -> Path:
    """Write a file with an answer per word of labels: one letter per person, `y` for yes."""
    lines = [
        {
            "id": f"c{place}",
            "turns": [{"role": "assistant", "content": "A"}],
            "human_labels": [
                {
                    "turn": 0,
                    "annotator": f"p{who}",
                    "label": {"y": "yes"}.get(label, label),
                    "scale": "own",
                }
                for who, label in enumerate(word)
            ],
            "reference_judges": {} if judge is None else {"j": judge},
        }
        for place, word in enumerate(labels.split())
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_json_has_every_figure_of_people_and_of_each_judge(cli: Cli) -> None:
    result = cli("figures", REPLIES, "--json")
    assert (result.code, result.err) == (0, "")
    (data,) = result.json["sets"]
    assert data["files"] == [str(REPLIES)]
    (scale,) = data["scales"]
    assert (scale["units"], scale["groups"], scale["unit"]) == (158, 10, "answer")
    labels, two_way = scale["between_people"]
    assert labels["categories"] == ["1", "2", "3", "4"]
    assert two_way["categories"] == ["fail", "pass"]
    for name in ("alpha_nominal", "alpha_ordinal", "gwet_ac1", "percent_agreement"):
        assert labels[name]["ci_low"] < labels[name]["value"] < labels[name]["ci_high"]
    assert len(labels["pairs"]) == 18
    assert [judge["judge"] for judge in scale["judges"]] == [
        "rl_f",
        "rb_llm",
        "rb_agg",
        "conditional_idk",
        "rouge_l",
        "bert_rec",
        "bert_kprec",
    ]
    for judge in scale["judges"]:
        assert set(judge["spearman"]) == {"labels", "two-way"}
        assert set(judge["detection"]) == {"majority", "worst", "mean"}
        assert judge["n"] == 158


def test_text_says_what_was_counted_and_what_passes(cli: Cli) -> None:
    result = cli("figures", REPLIES)
    assert result.code == 0
    assert (
        "mtrag-faithfulness-1-4: 158 answers of 10 groups, 469 labels by 7 annotators" in result.out
    )
    assert "1 (36), 2 (69), 3 (106), 4 (258); 3 and 4 pass" in result.out
    assert "an answer passes when more than half of the annotators pass it" in result.out
    assert "an answer passes when all annotators pass it" in result.out
    assert "its label" in result.out


def test_files_are_counted_each_by_itself_or_together(cli: Cli) -> None:
    apart = cli("figures", REFERENCES, REPLIES, "--json").json["sets"]
    assert [data["scales"][0]["units"] for data in apart] == [79, 158]
    (both,) = cli("figures", REFERENCES, REPLIES, "--together", "--json").json["sets"]
    assert both["scales"][0]["units"] == 237
    assert both["scales"][0]["groups"] == 10


def test_scores_of_references_against_themselves_are_left_out_and_said(cli: Cli) -> None:
    (data,) = cli("figures", REFERENCES, "--json").json["sets"]
    judges = {judge["judge"]: judge for judge in data["scales"][0]["judges"]}
    assert (judges["rouge_l"]["n"], judges["rouge_l"]["compared_with_itself"]) == (0, 79)
    assert (judges["rl_f"]["n"], judges["rl_f"]["compared_with_itself"]) == (79, 0)
    assert "compare a reference answer with itself" in cli("figures", REFERENCES).out


def test_a_scale_that_is_not_listed_leaves_out_words_it_does_not_know(
    cli: Cli, tmp_path: Path
) -> None:
    path = made_up(tmp_path / "own.jsonl", "yy y7")
    result = cli("figures", path)
    assert "left out, no level of the scale: 7 (1)" in result.out
    assert "labels, worst to best: no (0), idk (0), yes (3); yes passes" in result.out


def test_one_person_and_no_scores_are_said_not_shown_as_numbers(cli: Cli, tmp_path: Path) -> None:
    path = made_up(tmp_path / "own.jsonl", "y y", judge=None)
    result = cli("figures", path)
    assert "2 labels by 1 annotator" in result.out
    assert "no unit has two labels" in result.out
    assert "no judge's scores of these came with the data" in result.out


def test_the_first_bad_line_ends_it_with_code_3_and_prints_no_figures(
    cli: Cli, tmp_path: Path
) -> None:
    path = made_up(tmp_path / "own.jsonl", "11", judge="high")
    result = cli("figures", REPLIES, path)
    assert (result.code, result.out) == (3, "")
    assert f'{path}: line 1: reference_judges.j: is "high"; expected a number' in result.err


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(cli: Cli, tmp_path: Path, name: str) -> None:
    result = cli("figures", tmp_path / name)
    assert (result.code, result.out) == (3, "")
    assert str(tmp_path / name) in result.err


def test_it_needs_no_store_and_makes_none(cli: Cli, tmp_path: Path) -> None:
    cli("figures", made_up(tmp_path / "own.jsonl", "11 10"))
    assert [path.name for path in tmp_path.iterdir()] == ["own.jsonl"]


def test_names_from_the_file_cannot_command_the_terminal(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    line = {
        "id": "c",
        "turns": [{"role": "assistant", "content": "A"}],
        "human_labels": [
            {"turn": 0, "annotator": "\x1b[2Jp", "label": "\x1b[2J", "scale": "\x1b]0;t\x07"},
            {"turn": 0, "annotator": "\x1b[2Jp", "label": "yes", "scale": "own"},
            {"turn": 0, "annotator": "\x1b[2Jq", "label": "yes", "scale": "own"},
        ],
        "reference_judges": {"\x1b[2Jj": 1},
    }
    path.write_text(json.dumps(line), encoding="utf-8")
    result = cli("figures", path)
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "\x07" not in result.out
