from faithtui.domain.judging.judge_names import OFFLINE_TITLE
from faithtui.judges.embedded.weights import load_weights_document
from faithtui.judges.judge_card import WHERE_IT_FAILS, format_judge_card


def test_the_embedded_judge_tells_its_name_its_figures_and_its_errors() -> None:
    text = format_judge_card("offline")
    assert text.startswith(OFFLINE_TITLE)
    measured = load_weights_document()["measured"]
    for each in measured["sources"]:
        assert f"{each['rows']:,}" in text
    mean = measured["mean_of_families"]["left_out"]
    assert f"{mean['balanced_accuracy']:.2f}" in text
    assert f"{mean['auroc']:.2f}" in text
    assert all(each in text for each in WHERE_IT_FAILS)


def test_its_lines_fit_a_narrow_terminal() -> None:
    assert max(map(len, format_judge_card("offline").splitlines())) <= 76


def test_of_another_judge_nothing_is_claimed() -> None:
    text = format_judge_card("openai:some-model")
    assert text.startswith("openai:some-model")
    assert "Nothing is measured" in text
