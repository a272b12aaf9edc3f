"""How the tests are cut into parts, and whether a part that fails is noticed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import PART_BYTES, ROOT, list_parts

REPLACED = """
import sys
from pathlib import Path
from tests import parts

def run_part(part, folder):
    (folder / parts.LOG).write_text("first line\\n" + " ".join(part) + "\\n")
    if "bad" in part:
        raise MemoryError
    sys.exit(0)

parts.run_part = run_part
print(parts.run_parts([[word] for word in sys.argv[2:]], 2, Path(sys.argv[1])))
"""


def test_each_file_of_tests_is_in_one_part_beside_its_neighbours() -> None:
    found = [path for part in list_parts(ROOT) for path in part]
    assert len(found) == len(set(found))
    assert set(found) == {
        str(file.relative_to(ROOT))
        for file in ROOT.glob("tests/**/test_*.py")
        if "benchmarks" not in file.parts
    }


def test_a_part_ends_where_it_has_enough(tmp_path: Path) -> None:
    for name in "abcd":
        file = tmp_path / "tests" / name / f"test_{name}.py"
        file.parent.mkdir(parents=True)
        file.write_text("#" * (PART_BYTES // 2))
    assert [len(part) for part in list_parts(tmp_path)] == [2, 2]


@pytest.mark.parametrize(("last", "passed"), [("good", True), ("bad", False)])
def test_a_part_that_fails_fails_the_whole_and_is_told_in_full(
    tmp_path: Path, last: str, passed: bool
) -> None:
    words = [sys.executable, "-c", REPLACED, str(tmp_path), "one", last, "two"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told.count("first line") == (0 if passed else 1)
    assert {"one", last, "two"} < set(told.split())
    assert told.endswith(f"{passed}\n")


GREEDY = """
import sys
from pathlib import Path
from tests import parts

parts.read_held_mb = lambda: parts.MOST_MEMORY_MB + int(sys.argv[2])
log = Path(sys.argv[1])
(log / "test_one.py").write_text("def test_one() -> None: pass")
parts.run_part([str(log / "test_one.py")], log)
"""


@pytest.mark.parametrize(("more", "code"), [(0, 0), (1, 1)])
def test_a_part_that_keeps_more_memory_than_allowed_fails(
    tmp_path: Path, more: int, code: int
) -> None:
    words = [sys.executable, "-c", GREEDY, str(tmp_path), str(more)]
    assert subprocess.run(words, cwd=ROOT).returncode == code
    assert ("holds 401 MB after its tests" in (tmp_path / "log.txt").read_text()) == bool(more)
