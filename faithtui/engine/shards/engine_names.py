"""Where shards are measured, as users name it. Imports nothing: completion reads it."""

from typing import Final

LOCAL: Final = "local"
RAY: Final = "ray"
ENGINES: Final = (LOCAL, RAY)
