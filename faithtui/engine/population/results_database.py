"""A results folder as tables of DuckDB: its files, its manifest, and errors in our words."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from faithtui.engine.population.object_store import ObjectStore, register_object_store
from faithtui.engine.shards.results_schema import MANIFEST
from faithtui.engine.shards.shard_source import check_address_has_no_key
from faithtui.errors import ConfigError, InputError

_MISSING: Final = (
    "results are counted by DuckDB, which is not installed: pip install 'faithtui[sample]'"
)
_MEMORY: Final = "512MB"
"""What DuckDB may hold; what does not fit goes to a temporary folder."""
_TRACEBACK: Final = "Traceback (most recent call last):"
_PATTERN_CHARACTERS: Final = frozenset("*?[{")
"""Characters that make DuckDB take a path for a pattern."""


class ResultsDatabase:
    """A results folder that is open; `conversations` and `claims` are its tables.

    Attributes:
        results: As given.
        files: The files of whole shards, by table and name of the shard.

    Args:
        results: A folder, or the address of one, such as `s3://bucket/results`.

    Raises:
        ConfigError: DuckDB, or for an address what reads it, is not installed; or the address holds
            a key.
        InputError: There are no results there, or they cannot be read.
    """

    def __init__(self, results: str) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise ConfigError(_MISSING) from error
        check_address_has_no_key(results)
        self.results = results
        self._folder = tempfile.TemporaryDirectory(prefix="faithtui-sample-")
        self._connection = duckdb.connect(
            config={
                "memory_limit": _MEMORY,
                "temp_directory": str(Path(self._folder.name) / "spill"),
                "preserve_insertion_order": False,
            }
        )
        self._error_type = duckdb.Error
        self._store: ObjectStore | None = None
        """Where results lie that are in an object store; None: they are a folder."""
        try:
            if _is_address(results):
                self._store = register_object_store(self._connection, results.rstrip("/"))
            self.files = self._find_shard_files_by_table()
            with self.translate_errors():
                for table, files in self.files.items():
                    self._connection.read_parquet(list(files.values())).create_view(table)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the files, and of what was put aside."""
        self._connection.close()
        self._folder.cleanup()

    def read_manifest(self) -> str:
        """Read the text of the manifest."""
        if self._store is None:
            try:
                return (Path(self.results) / MANIFEST).read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"{self.results}/{MANIFEST} cannot be read: {error}") from error
        path = f"{self._store.name}/{MANIFEST}"
        rows = self.run_query("SELECT content FROM read_text($path)", {"path": path})
        return str(rows[0][0])

    def create_temporary_table(
        self, table: str, columns: str, rows: Sequence[Sequence[object]]
    ) -> None:
        """Make a temporary table of rows that are at hand.

        Args:
            table: Its name; one that is there is replaced.
            columns: Names and types of its columns, as SQL has them.
            rows: Its rows.
        """
        marks = ", ".join("?" * len(rows[0]))
        with self.translate_errors():
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} ({columns})")
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def run_query(
        self, query: str, parameters: Mapping[str, object] | Sequence[object]
    ) -> list[tuple[Any, ...]]:
        """Run a query, and give its rows."""
        with self.translate_errors():
            return list(self._connection.execute(query, parameters).fetchall())

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise an error of DuckDB as one of ours."""
        try:
            yield
        except self._error_type as error:
            sentence = _extract_error_sentence(str(error).strip())
            raise InputError(f"{self.results} cannot be read: {sentence}") from error

    def _find_shard_files_by_table(self) -> dict[str, dict[str, str]]:
        """Find the files of whole shards: those whose conversations are there."""
        found: dict[str, dict[str, str]] = {}
        for table in ("conversations", "claims"):
            if self._store is not None:
                listed = self._store.list_parquet_file_names(table)
                files = [f"{self._store.name}/{table}/{each}" for each in listed]
                names = [each.removesuffix(".parquet") for each in listed]
            else:
                paths = sorted((Path(self.results) / table).glob("*.parquet"))
                files = [self._make_link_if_path_has_wildcards(each) for each in paths]
                names = [each.stem for each in paths]
            found[table] = dict(zip(names, files, strict=True))
        if not found["conversations"]:
            raise InputError(
                f"{self.results} has no whole shard: no file conversations/*.parquet; expected a "
                "folder that `faithtui measure` wrote"
            )
        whole = found["conversations"]
        found["claims"] = {name: each for name, each in found["claims"].items() if name in whole}
        missing = sorted(whole.keys() - found["claims"].keys())
        if missing:
            raise InputError(
                f"{self.results} has no claims of shard {missing[0]}: copy claims/"
                f"{missing[0]}.parquet there too"
            )
        return found

    def _make_link_if_path_has_wildcards(self, path: Path) -> str:
        """Give a name of a file that DuckDB does not take for a pattern."""
        whole = path.absolute()
        if not _PATTERN_CHARACTERS.intersection(str(whole)):
            return str(whole)
        folder = Path(self._folder.name) / "links"
        folder.mkdir(exist_ok=True)
        link = folder / f"{len(list(folder.iterdir()))}.parquet"
        link.symlink_to(whole)
        return str(link)


def _is_address(results: str) -> bool:
    """Say whether results are named by an address such as `s3://bucket/folder`."""
    return "://" in results


def _extract_error_sentence(message: str) -> str:
    """Take what a message of DuckDB says: the first line, or the last of an error of Python."""
    lines = [each.strip() for each in message.splitlines()] or [""]
    return lines[-1] if any(each.endswith(_TRACEBACK) for each in lines) else lines[0]
