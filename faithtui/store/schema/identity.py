"""How a store's file is told apart from others. No SQLAlchemy here: it takes long to import."""

from functools import cache
from pathlib import Path

APPLICATION_ID = 0x46544955
"""Written into the file's header, so that other programs' databases are told apart."""


@cache
def find_head_revision() -> str:
    """Find the newest revision of the tables by the names of the files: four digits, that sort."""
    versions = Path(__file__).parent / "migrations" / "versions"
    return max(path.name[:4] for path in versions.glob("[0-9][0-9][0-9][0-9]_*.py"))
