"""From files of conversations to a report on all of them: measure, sample, label, report."""

import json
from pathlib import Path

from faithtui import draw_sample, measure_shards
from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.store.store import Store
from tests.engine.population.results import label_drawn


def write_logs(folder: Path, count: int) -> None:
    """Write two files of conversations with an answer of two sentences each."""
    folder.mkdir()
    for name in ("monday", "tuesday"):
        lines = []
        for number in range(count):
            hour, cars = number % 12 + 1, 3 * number + 2
            told = hour if number % 3 else 11
            said = f"Ferry {number} sails at {hour}. It takes {cars} cars."
            passage = f"Ferry {number} sails at {told}. It takes {cars} cars."
            lines.append(
                json.dumps(
                    {
                        "id": f"{name} {number}",
                        "metadata": {"team": "north" if number % 2 else "south"},
                        "turns": [
                            {"role": "user", "content": f"When does ferry {number} sail?"},
                            {
                                "role": "assistant",
                                "content": said,
                                "retrieval_context": [{"text": passage}],
                            },
                        ],
                    }
                )
            )
        (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")


def test_logs_are_measured_sampled_labelled_and_reported(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 8)
    measure_shards(tmp_path / "logs", tmp_path / "results")
    found = draw_sample(
        tmp_path / "results", tmp_path / "review.db", size=14, stratify=["verdict", "team"]
    )
    assert found["claims"] == 14
    population = found["population"]
    assert isinstance(population, dict)
    assert (population["conversations"], population["failed_share"]) == (16, 0.0)
    with Store.open(tmp_path / "review.db") as store:
        (run,) = store.runs.list_runs()
        assert run.spec.judge == "offline"
        assert run.claims >= 14
        (row,) = store.samples.list_samples("ann")
        label_drawn(store, row, lambda unit: unit.judge or "idk")
        report = compute_run_agreement(store, RunId(run.id)).report
    assert report.population is not None
    assert report.population.claims == population["claims"]
    rate = report.claims.rate
    assert rate.corrected_this_run.value == rate.judge_raw.value
    assert report.claims.agreement.percent.value == 1
