"""The embedded judge, which needs no key and no network: an overlap baseline, no model.

`judge(claim, context)` and `evidence(claim, context)` are those of `embedded_judge`, imported
when they are first wanted.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithtui.judges.embedded.embedded_judge import evidence, judge

__all__ = ["evidence", "judge"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from faithtui.judges.embedded import embedded_judge

    return getattr(embedded_judge, name)
