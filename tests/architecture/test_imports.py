"""What must not be loaded by whom, proved in fresh interpreters."""

import subprocess
import sys

HEAVY = ("textual", "rich", "sqlmodel", "sqlalchemy", "alembic", "pydantic", "openai", "anthropic")


def loaded_after(code: str) -> set[str]:
    """Run code in a new interpreter and list the heavy packages it loaded."""
    program = f"{code}\nimport sys\nprint('|'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = {name.split(".")[0] for name in done.stderr.strip().split("|")}
    return modules & set(HEAVY)


def test_help_loads_neither_the_app_nor_the_store_nor_a_provider() -> None:
    code = (
        "import sys\nsys.argv = ['faithtui', '--help']\nfrom faithtui.cli.entry import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )
    assert loaded_after(code) == set()


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
    assert loaded_after(code) - {"pydantic"} == set()


def test_a_first_look_at_a_store_loads_no_database_toolkit() -> None:
    assert loaded_after("import faithtui.store.runs.startup_list") == set()
