"""How a store's file is told apart from others. No SQLAlchemy here: it takes long to import."""

HEAD = "0017"
"""Newest revision in migrations/versions. Four digits, so that they sort."""

APPLICATION_ID = 0x46544955
"""Written into the file's header, so that other programs' databases are told apart."""
