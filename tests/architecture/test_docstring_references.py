"""What docstrings say about our classes is there: `Class.member` names a member."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import faithtui

ROOT = Path(faithtui.__file__).parent
REFERENCE = re.compile(r"`([A-Z]\w+)\.([a-z_]\w*)(?:\(\))?`")
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


def test_members_that_docstrings_name_are_there() -> None:
    trees = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }
    assert find_unknown_members(trees) == []


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
