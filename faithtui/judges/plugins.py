"""Which judges installed packages add, by the names they chose. Nothing of theirs is imported here.

A package adds one with an entry point in the group `faithtui.judges`; see `plugin_judge.py`.
"""

import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "faithtui.judges"


def list_judge_plugins() -> "Mapping[str, tuple[EntryPoint, ...]]":
    """List the judges of installed packages: what each offers, by name.

    Looked up once per search path: a package installed while this runs is seen at the next start.
    """
    return _list_entry_points_by_name(tuple(sys.path))


@cache
def _list_entry_points_by_name(path: tuple[str, ...]) -> "Mapping[str, tuple[EntryPoint, ...]]":
    found: dict[str, tuple[EntryPoint, ...]] = {}
    # Slow to import, and only wanted for names that are not ours.
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        found[point.name] = (*found.get(point.name, ()), point)
    return MappingProxyType(found)
