"""Results in an object store, opened for DuckDB by pyarrow, as `faithtui measure` opens its logs.

DuckDB's own extension for object stores is fetched over the network when it is first used, which
many clusters do not allow, and takes keys in a way of its own.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from faithtui.engine.shards.shard_source import is_opened_by_pyarrow
from faithtui.errors import ConfigError, InputError

if TYPE_CHECKING:
    import duckdb

_SCHEME: Final = "faithtui"
"""Of a name of ours: under its own, DuckDB would take its extension."""

_MISSING: Final = (
    "results at an address are read by pyarrow and fsspec, and not both are installed: "
    "pip install 'faithtui[sample]'"
)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A folder of an object store that DuckDB reads."""

    address: str
    """As it was given."""
    name: str
    """Under which DuckDB reads it."""
    _system: Any
    _path: str

    def list_parquet_file_names(self, folder: str) -> list[str]:
        """List the names of the Parquet files in a folder of it, in order; none if it is not there.

        Raises:
            InputError: It may not be looked at, or does not answer.
        """
        import pyarrow as pa
        from pyarrow import fs

        try:
            infos = self._system.get_file_info(
                fs.FileSelector(f"{self._path}/{folder}", allow_not_found=True)
            )
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.address} cannot be looked at: {error}") from error
        return sorted(each.base_name for each in infos if each.extension == "parquet")


def register_object_store(database: "duckdb.DuckDBPyConnection", address: str) -> ObjectStore:
    """Let DuckDB read what lies at an address.

    Args:
        database: The open database.
        address: Such as `s3://bucket/results`, `gs://…` or `file://…`; keys come from the
            environment, as pyarrow takes them.

    Returns:
        What it lists, and the name under which DuckDB reads it.

    Raises:
        ConfigError: pyarrow or fsspec is not installed.
        InputError: pyarrow knows no such address.
    """
    try:
        import pyarrow as pa
        from fsspec.implementations.arrow import ArrowFSWrapper  # type: ignore[import-untyped]
        from pyarrow import fs
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    try:
        if not is_opened_by_pyarrow(address):
            raise ValueError("no store that pyarrow reads is addressed so")  # noqa: TRY301
        system, path = fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError, ValueError, ImportError) as error:
        raise InputError(
            f"{address} cannot be opened: {error}; expected s3://, gs:// or file://, and %20 for a "
            "space"
        ) from error

    class Store(ArrowFSWrapper):  # type: ignore[misc]  # it ships no types
        protocol = _SCHEME

        @classmethod
        def _strip_protocol(cls, name: Any) -> Any:
            return name.removeprefix(f"{_SCHEME}://")

    database.register_filesystem(Store(system))
    return ObjectStore(address, f"{_SCHEME}://{path}", system, path)
