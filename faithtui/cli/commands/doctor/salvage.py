"""`faithtui doctor --salvage NEW`: what can be read of a damaged store, in a new one."""

from pathlib import Path

from faithtui.cli.output import plural, print_json, print_text, print_to_stderr
from faithtui.cli.stores import find_existing_store_path
from faithtui.errors import StoreError
from faithtui.store.file.salvage import salvage_to_new_store


def salvage_store(store: Path | None, new: Path, *, as_json: bool) -> int:
    """Take over what can be read of a damaged store; 4 when something is not in the new one."""
    path = find_existing_store_path(store)
    found = salvage_to_new_store(path, new)
    lost, replaced = sum(found.left_out.values()), sum(found.replaced.values())
    if as_json:
        print_json(
            {
                "file": str(new),
                "rows": dict(found.rows),
                "left_out": dict(found.left_out),
                "replaced": dict(found.replaced),
                "left_out_file": None if found.file is None else str(found.file),
                "damaged": list(found.damaged),
            }
        )
    else:
        for table, rows in found.rows.items():
            notes = [
                *(["a part could not be read"] if table in found.damaged else []),
                *([f"{found.left_out[table]} left out"] if table in found.left_out else []),
                *([f"{found.replaced[table]} emptied"] if table in found.replaced else []),
            ]
            if rows or notes:
                print_text(f"{table:<22}{rows:>10,}  {', '.join(notes)}".rstrip())
        if lost:
            count = plural(lost, "row")
            print_to_stderr(f"{count} not taken over: changed, or of a lost row; see {found.file}")
        if replaced:
            count = plural(replaced, "damaged value")
            print_to_stderr(f"{count} left empty, the rows taken over; see {found.file}")
        print_to_stderr(
            f"use it with --store {new}, or put it in place: faithtui backup --restore {new}"
        )
    return StoreError.exit_code if found.damaged or lost or replaced else 0
