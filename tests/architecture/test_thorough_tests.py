"""Every line of the list of tests that take long names a test that is there."""

import re
from pathlib import Path

import pytest

from tests.conftest import THOROUGH

TESTS = Path(__file__).parents[1]
FILES = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("test_*.py")}


@pytest.mark.parametrize("pattern", THOROUGH)
def test_the_file_and_the_test_are_there(pattern: str) -> None:
    file, _, test = pattern.partition("::")
    found = [path for name, path in FILES.items() if re.match(file, name)]
    assert found, "the file was moved or renamed"
    name = re.split(r"\.\*|\.\+|\\\[|-\[", test)[0]
    if name:
        defined = [d for path in found for d in re.findall(r"def (test_\w+)\(", path.read_text())]
        assert any(re.match(name, each) for each in defined), "the test was renamed"
