"""What a store as one object gives and calls back."""

from collections.abc import Callable
from typing import Literal, TypeAlias

Row: TypeAlias = dict[str, object]
"""A row of anything, with JSON values."""
Progress: TypeAlias = Callable[[int, int], object]
"""Gets how many conversations are finished, and of how many."""
ReportFormat: TypeAlias = Literal["md", "html", "json", "csv", "answers"]
