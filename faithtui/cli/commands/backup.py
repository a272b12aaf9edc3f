"""`faithtui backup` and `faithtui doctor --salvage`: copies of a store, and what is left of one."""

from pathlib import Path

from faithtui.cli.output import plural, put, put_json, say
from faithtui.cli.stores import make_store_directory, store_path
from faithtui.config import load_settings
from faithtui.errors import StoreError
from faithtui.store.file.backups import back_up, restore
from faithtui.store.file.salvage import salvage


def make_backup(store: Path | None, file: Path, *, as_json: bool) -> int:
    """Copy the store into a file."""
    size = back_up(_existing(store), file)
    if as_json:
        put_json({"file": str(file), "bytes": size})
    else:
        put(f"{file}: {size / 2**20:.1f} MB, opened and sound")
    return 0


def restore_backup(store: Path | None, file: Path, *, as_json: bool) -> int:
    """Put a copy in the place of the store."""
    path = store_path(store, load_settings())
    if store is None:
        make_store_directory(path)
    aside = restore(file, path)
    if as_json:
        put_json({"store": str(path), "before": None if aside is None else str(aside)})
        return 0
    put(f"{path} is now what {file} was")
    if aside is not None:
        put(f"the store as it was before: {aside}")
    return 0


def salvage_store(store: Path | None, new: Path, *, as_json: bool) -> int:
    """Take over what can be read of a damaged store; 4 when something is not in the new one."""
    path = _existing(store)
    found = salvage(path, new)
    lost = sum(found.left_out.values())
    if as_json:
        put_json(
            {
                "file": str(new),
                "rows": dict(found.rows),
                "left_out": dict(found.left_out),
                "left_out_file": None if found.file is None else str(found.file),
                "damaged": list(found.damaged),
            }
        )
    else:
        for table, rows in found.rows.items():
            notes = [
                *(["a part could not be read"] if table in found.damaged else []),
                *([f"{found.left_out[table]} left out"] if table in found.left_out else []),
            ]
            if rows or notes:
                put(f"{table:<22}{rows:>10,}  {', '.join(notes)}".rstrip())
        if found.file is not None:
            count = plural(lost, "row")
            say(f"{count} not taken over: changed, or of a lost row; see {found.file}")
        say(f"use it with --store {new}, or put it in place: faithtui backup --restore {new}")
    return StoreError.exit_code if found.damaged or lost else 0


def _existing(store: Path | None) -> Path:
    path = store_path(store, load_settings())
    if not path.is_file():
        raise StoreError(f"there is no store at {path}; name it with --store")
    return path
