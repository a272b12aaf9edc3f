"""`faithtui backup` and `faithtui doctor --salvage`: copies of a store, and what is left of one."""

from pathlib import Path

from faithtui.cli.output import plural, print_json, print_text, print_to_stderr
from faithtui.cli.stores import choose_store_path, make_store_directory
from faithtui.config import load_settings
from faithtui.errors import StoreError
from faithtui.store.file.backups import back_up, restore_store
from faithtui.store.file.salvage import salvage_to_new_store


def make_backup(store: Path | None, file: Path, *, as_json: bool) -> int:
    """Copy the store into a file."""
    size = back_up(_require_store(store), file)
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        print_text(f"{file}: {size / 2**20:.1f} MB, opened and sound")
    return 0


def restore_backup(store: Path | None, file: Path, *, as_json: bool) -> int:
    """Put a copy in the place of the store."""
    path = choose_store_path(store, load_settings())
    if store is None:
        make_store_directory(path)
    aside = restore_store(file, path)
    if as_json:
        print_json({"store": str(path), "before": None if aside is None else str(aside)})
        return 0
    print_text(f"{path} is now what {file} was")
    if aside is not None:
        print_text(f"the store as it was before: {aside}")
    return 0


def salvage_store(store: Path | None, new: Path, *, as_json: bool) -> int:
    """Take over what can be read of a damaged store; 4 when something is not in the new one."""
    path = _require_store(store)
    found = salvage_to_new_store(path, new)
    lost = sum(found.left_out.values())
    if as_json:
        print_json(
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
                print_text(f"{table:<22}{rows:>10,}  {', '.join(notes)}".rstrip())
        if found.file is not None:
            count = plural(lost, "row")
            print_to_stderr(f"{count} not taken over: changed, or of a lost row; see {found.file}")
        print_to_stderr(
            f"use it with --store {new}, or put it in place: faithtui backup --restore {new}"
        )
    return StoreError.exit_code if found.damaged or lost else 0


def _require_store(store: Path | None) -> Path:
    path = choose_store_path(store, load_settings())
    if not path.is_file():
        raise StoreError(f"there is no store at {path}; name it with --store")
    return path
