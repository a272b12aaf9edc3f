"""What docstrings name of our code is there: members of classes, functions, constants."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import faithtui

ROOT = Path(faithtui.__file__).parent
REFERENCE = re.compile(r"`([A-Z]\w+)\.([a-z_]\w*)(?:\(\))?`")
POINTER = re.compile(r"(?:: As|\b[Ss]ee)\s+`(?:\w+\.)*(\w+)`")
"""Sends the reader to a function, a class or a field: `Raises: JudgeError: As `call_provider`.`"""
CONSTANT = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`")
OF_OTHERS = {
    "ANTHROPIC_CUSTOM_HEADERS",
    "DELTA_BINARY_PACKED",
    "DELTA_BYTE_ARRAY",
    "DELTA_LENGTH_BYTE_ARRAY",
    "M_ARENA_MAX",
    "M_MMAP_THRESHOLD",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_ORG_ID",
}
"""Constants and variables of other programs."""
OWN_MEMBERS_ONLY = {"ABC", "Generic", "NamedTuple", "Protocol"}
"""Bases of other packages that add nothing docstrings speak of."""


class Members:
    """Members of our classes by the class's name; classes of one name are taken together."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.own: dict[str, set[str]] = defaultdict(set)
        self.bases: dict[str, set[str]] = defaultdict(set)
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.own[node.name] |= set(list_own_members(node))
                    self.bases[node.name] |= {name_base(base) for base in node.bases}

    def has(self, name: str, member: str) -> bool:
        if name not in self.own:
            return name not in OWN_MEMBERS_ONLY  # of another package
        return member in self.own[name] or any(self.has(base, member) for base in self.bases[name])


def name_base(base: ast.expr) -> str:
    if isinstance(base, ast.Subscript):
        return name_base(base.value)
    return base.attr if isinstance(base, ast.Attribute) else ast.unparse(base)


def list_own_members(node: ast.ClassDef) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each.attr


def list_docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Those of fields too: a text that stands as a statement."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                yield text


def find_unknown_members(trees: dict[str, ast.Module]) -> list[str]:
    members = Members(list(trees.values()))
    return [
        f"{path}:{text.lineno} {name}.{member}"
        for path, tree in trees.items()
        for text in list_docstrings(tree)
        for name, member in REFERENCE.findall(str(text.value))
        if not members.has(name, member)
    ]


class Names:
    """What is defined in our code, and all its names and words of texts that are no docstrings."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.defined: set[str] = set()
        self.words: set[str] = set(OF_OTHERS)
        self.docstrings: dict[int, list[ast.Constant]] = {}
        for tree in trees:
            self._add(tree, self.docstrings.setdefault(id(tree), []))

    def _add(self, tree: ast.Module, docstrings: list[ast.Constant]) -> None:
        texts = []
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    self.defined.add(node.name)
                case ast.Name():
                    (self.defined if isinstance(node.ctx, ast.Store) else self.words).add(node.id)
                case ast.Attribute():
                    (self.defined if isinstance(node.ctx, ast.Store) else self.words).add(node.attr)
                case ast.Expr(value=ast.Constant(value=str()) as text):
                    docstrings.append(text)
                case ast.Constant(value=str()):
                    texts.append(node)
        spoken = {id(each) for each in docstrings}
        for each in texts:
            if id(each) not in spoken:
                self.words.update(re.findall(r"\w+", str(each.value)))


def find_unknown_names(trees: dict[str, ast.Module]) -> list[str]:
    names = Names(list(trees.values()))
    modules = {part for path in trees for part in (*Path(path).parts, Path(path).stem)} | {"py"}
    known_by_pattern = (
        (POINTER, names.defined | modules),
        (CONSTANT, names.defined | names.words),
    )
    return [
        f"{path}:{text.lineno} {name}"
        for path, tree in trees.items()
        for text in names.docstrings[id(tree)]
        for pattern, known in known_by_pattern
        for name in pattern.findall(str(text.value))
        if name not in known
    ]


@pytest.fixture(scope="module")
def package() -> Iterator[dict[str, ast.Module]]:
    """The parsed modules: 200 MB, which go with the tests of this file."""
    trees = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }
    yield trees
    trees.clear()


def test_members_that_docstrings_name_are_there(package: dict[str, ast.Module]) -> None:
    assert find_unknown_members(package) == []


def test_functions_and_constants_that_docstrings_name_are_there(
    package: dict[str, ast.Module],
) -> None:
    assert find_unknown_names(package) == []


def test_a_function_or_constant_that_is_gone_is_found() -> None:
    module = ast.parse(
        '''
LIMIT = 3
def fetch():
    """Fetch at most `LIMIT`, not `MOST`; see `fetch`, and see `Client.load`."""
def load_again():
    """Load.

    Raises:
        ValueError: As `fetch`.
        OSError: As `load`.
    """
'''
    )
    assert find_unknown_names({"m.py": module}) == ["m.py:4 load", "m.py:4 MOST", "m.py:6 load"]


def test_a_member_that_is_gone_is_found() -> None:
    module = ast.parse(
        '''
class Base(Protocol):
    """See `Child.there`, `Child.field`, `Child.made` and `Child.gone`."""
    def there(self): ...
class Child(Base):
    field: int
    def __init__(self):
        self.made = 1
'''
    )
    assert find_unknown_members({"m.py": module}) == ["m.py:3 Child.gone"]
