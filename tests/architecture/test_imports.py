"""What must not be loaded by whom, proved in fresh interpreters."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    *("textual", "rich", "sqlmodel", "sqlalchemy", "alembic", "pydantic", "openai", "anthropic"),
    "numpy",
)

WORK_OF_COMMANDS = {
    "faithtui.cli.commands.doctor.checks",
    "faithtui.cli.commands.figures.tables",
    "faithtui.cli.commands.import_.preview",
    "faithtui.cli.commands.label.line_mode",
    "faithtui.cli.commands.label.queue_choice",
    "faithtui.cli.commands.run.execution",
    "faithtui.cli.commands.run.preview",
    "faithtui.cli.commands.run.run_requests",
}
"""What commands do, beside their declarations."""

HELP = (
    "import sys\nsys.argv = ['faithtui', '--help']\nfrom faithtui.cli.entry import main\n"
    "try:\n    main()\nexcept SystemExit:\n    pass"
)


def modules_after(code: str) -> set[str]:
    """Run code in a new interpreter and list the modules it loaded."""
    program = f"{code}\nimport sys\nprint('|'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stderr.strip().split("|"))


def loaded_after(code: str) -> set[str]:
    """Run code in a new interpreter and list the heavy packages it loaded."""
    return {name.split(".")[0] for name in modules_after(code)} & set(HEAVY)


def test_help_loads_neither_the_app_nor_the_store_nor_a_provider() -> None:
    assert loaded_after(HELP) == set()


def test_help_loads_nothing_of_ours_but_the_declarations_of_the_commands() -> None:
    """What only printing, opening a store or running needs is imported in functions."""
    modules = modules_after(HELP)
    ours = {name for name in modules if name.startswith("faithtui.")}
    assert {name for name in ours if not f"{name}.".startswith("faithtui.cli.")} == {
        "faithtui.errors"
    }
    assert ours & WORK_OF_COMMANDS == set()
    assert "asyncio" not in modules


def test_the_app_loads_neither_the_store_nor_a_provider_before_it_is_painted() -> None:
    code = "import faithtui.cli.stores, faithtui.tui.app"
    assert loaded_after(code) & {"sqlmodel", "sqlalchemy", "openai", "anthropic"} == set()


def test_the_app_loads_nothing_statistical_before_a_figure_is_asked_for() -> None:
    program = "import faithtui.cli.stores, faithtui.tui.app, sys\nprint('|'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = done.stdout.strip().split("|")
    floors = ("faithtui.agreement.statistics", "faithtui.formats")
    for name in ("numpy", "scipy", "sklearn", *floors):
        assert not [each for each in modules if f"{each}.".startswith(f"{name}.")]
    assert "faithtui.agreement.report.report" not in modules


def test_domain_and_metrics_load_no_database_and_no_provider() -> None:
    code = "import faithtui.metrics.registry, faithtui.agreement.report.report"
    assert loaded_after(code) - {"pydantic", "numpy"} == set()


@pytest.mark.thorough
def test_what_reads_labels_and_runs_judges_loads_no_numpy() -> None:
    """These take values of the agreement layer, and compute no figure."""
    modules = (
        *("faithtui.store.store", "faithtui.engine.runs.runner", "faithtui.engine.dataset_import"),
        *("faithtui.engine.review.samples.sample_queues", "faithtui.engine.review.recalibration"),
        *("faithtui.agreement.report.model", "faithtui.agreement.report.settings"),
        *(
            "faithtui.agreement.report.figures.rater_comparison",
            "faithtui.agreement.report.headline",
        ),
        "faithtui.agreement.sampling.draw",
        *(
            "faithtui.tui.agreement.agreement_screen",
            "faithtui.tui.adjudication.adjudication_screen",
        ),
    )
    assert "numpy" not in loaded_after("\n".join(f"import {name}" for name in modules))


def test_importing_and_listing_load_no_numpy(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    turns = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "In May."}]
    file.write_text(json.dumps({"id": "c1", "context": ["It was May."], "turns": turns}) + "\n")
    store = ["--store", str(tmp_path / "store.db")]
    code = (
        "import sys\nfrom faithtui.cli.entry import main\n"
        f"for words in (['import', {str(file)!r}], ['runs']):\n"
        f"    sys.argv = ['faithtui', *words, *{store!r}]\n"
        "    try:\n        main()\n"
        "    except SystemExit as ending:\n        assert not ending.code, ending\n"
    )
    assert "numpy" not in loaded_after(code)


def test_a_first_look_at_a_store_loads_no_database_toolkit() -> None:
    assert loaded_after("import faithtui.store.runs.startup_list") == set()
