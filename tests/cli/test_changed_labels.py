"""A label that a damaged disk changed reaches no file, no report and no gate."""

import sqlite3
from pathlib import Path

import pytest

from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.store.building import label, run_over


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("export", "labels"), 4),
        (("export", "examples"), 4),
        (("export", "ragas"), 4),
        (("report", "1"), 4),
        (("gate", "1", "--min-kappa", "0"), 3),
    ],
)
def test_exports_and_figures_refuse_a_label_that_nobody_gave(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], code: int
) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        label(store, run_over(store, chats=40))
    assert cli(*command, "--store", path).code == 0
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE human_label SET verdict = 'yas' WHERE id = 1")
    connection.close()
    refused = cli(*command, "--store", path)
    assert (refused.code, refused.out) == (code, "")
    assert "the label of " in refused.err
    assert (
        "`faithtui doctor` names all of them, and --salvage takes the others over" in refused.advice
    )
