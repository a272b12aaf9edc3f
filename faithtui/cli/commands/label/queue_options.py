"""What options of `label` take. Imports nothing: completion reads it."""

from typing import Final

NEW_SAMPLES: Final = ("new", "simple", "stratified", "conversations", "spot-check", "repeats")
"""What can be drawn."""
ORDERS: Final = ("drawn", "text")
"""How claims follow each other."""
