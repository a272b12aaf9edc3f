"""Where shards can be measured, in the words of `--on`. Imports nothing: completion reads it."""

from typing import Final

LOCAL: Final = "local"
RAY: Final = "ray"
BACKENDS: Final = (LOCAL, RAY)
