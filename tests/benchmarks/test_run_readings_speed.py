"""How fast everything is read that a report on a run is computed from."""

import sqlite3
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import (
    RunAgreement,
    compute_run_agreement,
    iter_report_text,
)
from faithtui.store.schema.checksums import CHECKED_COLUMNS, row_checksum
from faithtui.store.store import Store
from tests.benchmarks.big_store import CLAIMS, build
from tests.benchmarks.measuring import best_of, ms, ratio, seconds, table

CONVERSATIONS = (1_000, 10_000)
LABELLED = 5
"""One claim in so many has a label."""
_TABLES = (
    "SELECT window_id, position, claim_id, label, confidence, is_home FROM verdict",
    "SELECT id, conversation_id, turn, kind, text FROM claim",
    "SELECT id, claim_id, reviewer, action, verdict FROM human_label",
)


def _labelled(path: Path, one_in: int = LABELLED) -> Path:
    """Label one claim in so many of a store, each once and blind."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO human_label (uid, clock, claim_id, reviewer, action, verdict, run_id, "
            "judge_verdict, saw_judge, seconds, created_at) SELECT 'u' || claim_id, claim_id, "
            "claim_id, 'ann', 'blind', iif(claim_id % 7, label, 'no'), 1, label, 0, 4.0, "
            "'2026-01-01 00:00:00.000000' FROM verdict WHERE claim_id % ? = 0",
            (one_in,),
        )
        connection.create_function("row_checksum", -1, row_checksum)
        columns = ", ".join(CHECKED_COLUMNS["human_label"])
        connection.execute(f"UPDATE human_label SET checksum = row_checksum({columns})")
    connection.close()
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Make stores of several sizes with labels."""
    folder = tmp_path_factory.mktemp("readings")
    return {size: _labelled(build(folder / f"{size}.db", size)) for size in CONVERSATIONS}


def test_the_readings_against_the_rows_by_plain_sqlite(labelled: dict[int, Path]) -> None:
    rows, ratios = [], {}
    for size, path in labelled.items():
        connection = sqlite3.connect(path)

        def plain(connection: sqlite3.Connection = connection) -> float:
            return seconds(lambda: [connection.execute(each).fetchall() for each in _TABLES])

        with Store.open(path) as store:

            def readings(store: Store = store) -> float:
                return seconds(lambda: store.labelled_units.read_report_units(RunId(1)))

            found = best_of(3, plain=plain, readings=readings)
            assert len(store.labelled_units.read_report_units(RunId(1)).claims) == size * CLAIMS
        connection.close()
        ratios[size] = found["readings"] / found["plain"]
        rows.append(
            (
                f"{size * CLAIMS:,}",
                ms(found["plain"]),
                ms(found["readings"]),
                ratio(found["readings"], found["plain"]),
            )
        )
    table("readings of a run", ("claims", "rows", "readings", "to rows"), rows)
    assert ratios[10_000] < 2 * ratios[1_000], "reading must grow as the rows do"
    assert ratios[10_000] < 40


def test_a_report_from_the_store_to_its_files(tmp_path: Path) -> None:
    """All claims are labelled."""
    rows, ratios = [], {}
    for size in CONVERSATIONS:
        path = _labelled(build(tmp_path / f"{size}.db", size), one_in=1)
        connection = sqlite3.connect(path)

        def plain(connection: sqlite3.Connection = connection) -> float:
            return seconds(lambda: [connection.execute(each).fetchall() for each in _TABLES])

        with Store.open(path) as store:
            agreement = compute_run_agreement(store, RunId(1))

            def report(store: Store = store) -> float:
                return seconds(lambda: compute_run_agreement(store, RunId(1)))

            def files(store: Store = store, agreement: RunAgreement = agreement) -> float:
                return seconds(
                    lambda: [
                        list(iter_report_text(store, agreement, form))
                        for form in ("md", "json", "html")
                    ]
                )

            def claims(store: Store = store, agreement: RunAgreement = agreement) -> float:
                return seconds(lambda: sum(map(len, iter_report_text(store, agreement, "csv"))))

            found = best_of(2, plain=plain, report=report, files=files, claims=claims)
        connection.close()
        ratios[size] = found["claims"] / found["plain"]
        rows.append(
            (
                f"{size * CLAIMS:,}",
                *(ms(found[each]) for each in ("plain", "report", "files", "claims")),
                ratio(found["report"], found["plain"]),
            )
        )
    table(
        "a report of claims that are all labelled",
        ("claims", "rows", "report", "page, Markdown, JSON", "CSV with passages", "report to rows"),
        rows,
    )
    assert ratios[10_000] < 2 * ratios[1_000], "files must grow as the rows do"
