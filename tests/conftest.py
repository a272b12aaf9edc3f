"""Settings of all tests."""

import os

import pytest
from hypothesis import settings

# Without a deadline: a loaded machine is no failure. Derandomised, so that a run says the same
# twice; `HYPOTHESIS_PROFILE=explore` looks further, with other examples each time.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# The developer's own keys stay out of the tests, also of those in other processes.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

THOROUGH = (
    "cli/test_hostile.py",
    "docs/test_ci_page.py::test_the_example_on_top_is_the_demo",
    "engine/test_batch_economy.py",
    "engine/test_batch_faults.py",
    "engine/test_batch_killed.py",
    "engine/test_faults_content.py",
    "engine/test_faults_disk.py",
    "engine/test_faults_forms.py",
    "engine/test_faults_store.py",
    "engine/test_processes.py",
    "store/test_merging.py::test_merging_in_any_order_is_replaying_the_union_of_the_logs",
    "tui/test_hostile.py",
    "tui/test_key_names.py",
)
"""Tests that take long and are run by `pytest -m thorough`: all of them together would make every
check wait for longer than anybody does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    for item in items:
        if any(f"tests/{each}" in item.nodeid for each in THOROUGH):
            item.add_marker(pytest.mark.thorough)
