"""`manifest.json` of a results folder: by what its results were measured, and its shards.

It is written before the first result and replaced whole. Workers that begin at the same time write
it one after the other.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from faithtui.domain.json_values import JsonFields
from faithtui.engine.shards.measure_settings import describe_setting_differences
from faithtui.engine.shards.results_schema import FORMAT, MANIFEST, MANIFEST_LOCK
from faithtui.engine.shards.shard_source import Shard, add_address_to_name
from faithtui.errors import ConfigError, ExportError, InputError
from faithtui.output_files import OWNER_ONLY, make_private_directory, write_text


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a results folder says of itself."""

    settings: JsonFields
    """By what it was measured; see `MeasureSettings.to_manifest_json`."""
    source: str
    """Where the conversations lie, as it was typed."""
    shard_size: int | None
    """Rows of a shard, where large files are cut; None: a file is a shard."""
    shards: tuple[dict[str, Any], ...]
    """Each with `name`, `address`, `source` and `size` of its file."""


def write_or_extend_manifest(
    results: Path,
    settings: JsonFields,
    source: str,
    shard_size: int | None,
    shards: Sequence[Shard],
) -> Manifest:
    """Write the manifest, or see that the one that is there says the same; new shards are added.

    Raises:
        ConfigError: The folder has results of other settings, or of a file that has changed.
        InputError: There is a manifest that cannot be read.
        ExportError: It cannot be written.
    """
    try:
        make_private_directory(results)
        with _lock_folder(results):
            found = read_manifest(results) if (results / MANIFEST).exists() else None
            manifest = Manifest(
                settings,
                source,
                shard_size,
                _merge_shards(results, found, shards),
            )
            if found is not None:
                _refuse_other_settings(results, manifest, found)
                manifest = Manifest(found.settings, found.source, shard_size, manifest.shards)
            if manifest != found:
                text = json.dumps(_to_json(manifest), ensure_ascii=False, indent=1)
                write_text(results / MANIFEST, [text, "\n"], force=True)
    except OSError as error:
        raise ExportError(
            f"{results} cannot be written: {error.strerror or error}; name another folder with -o"
        ) from error
    return manifest


def read_manifest(results: Path) -> Manifest:
    """Read the manifest of a results folder.

    Raises:
        InputError: There is none, or it is not one of ours or of a later version.
    """
    path = results / MANIFEST
    try:
        found = json.loads(path.read_text("utf-8"))
        settings = found["settings"]
        if settings["format"] > FORMAT:
            raise InputError(
                f"is of format {settings['format']}; this version reads {FORMAT}, so install a "
                "later one",
                path=path,
            )
        return Manifest(settings, found["source"], found["shard_size"], tuple(found["shards"]))
    except FileNotFoundError as error:
        raise InputError(
            "is not there; name a folder that `faithtui measure` wrote", path=path
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"cannot be read as the manifest of results: {type(error).__name__}: {error}", path=path
        ) from error


def reuse_stored_shard_names(results: Path, shards: Sequence[Shard]) -> tuple[Shard, ...]:
    """Give the shards that a results folder knows the names that they have there.

    A name depends on which folder was named as the source, and on which files lie beside. Under
    another one a file would be measured again, and be twice in the population.

    Raises:
        InputError: There is a manifest that cannot be read.
    """
    if not (results / MANIFEST).exists():
        return tuple(shards)
    names = {
        (each["address"], each["first_row"]): each["name"] for each in read_manifest(results).shards
    }
    known = [names.get((each.address, each.first_row)) for each in shards]
    taken = frozenset(known)
    return tuple(
        replace(shard, name=name)
        if name is not None
        else add_address_to_name(shard)
        if shard.name in taken
        else shard
        for shard, name in zip(shards, known, strict=True)
    )


def _refuse_other_settings(results: Path, wanted: Manifest, found: Manifest) -> None:
    differences = describe_setting_differences(wanted.settings, found.settings)
    if wanted.shard_size != found.shard_size:
        differences += describe_setting_differences(
            {"shard size": wanted.shard_size}, {"shard size": found.shard_size}
        )
    if differences:
        raise ConfigError(
            f"{results} has results of other settings: {'; '.join(differences)}. Name another "
            "folder with -o, or give the same settings"
        )


def _merge_shards(
    results: Path, found: Manifest | None, shards: Sequence[Shard]
) -> tuple[dict[str, Any], ...]:
    known = {} if found is None else {each["name"]: each for each in found.shards}
    for shard in shards:
        now = {
            "name": shard.name,
            "address": shard.address,
            "source": shard.source,
            "size": shard.size,
            "first_row": shard.first_row,
            "groups": None if shard.groups is None else list(shard.groups),
        }
        before = known.setdefault(shard.name, now)
        for name, what in (("address", "is"), ("size", "has bytes:"), ("source", "is of")):
            if before[name] != now[name]:
                raise ConfigError(
                    f"the file of shard {shard.name} {what} {now[name]} here and {before[name]} "
                    f"in {results / MANIFEST}: results of two states of a file do not go into one "
                    "folder, and neither do two files of one name unless SOURCE is a folder above "
                    "both. Name another folder with -o, or that one"
                )
    return tuple(known[name] for name in sorted(known))


@contextmanager
def _lock_folder(results: Path) -> Iterator[None]:
    import fcntl  # not on every system, and imported with the package everywhere

    number = os.open(results / MANIFEST_LOCK, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _to_json(manifest: Manifest) -> JsonFields:
    return {
        "settings": manifest.settings,
        "source": manifest.source,
        "shard_size": manifest.shard_size,
        "shards": list(manifest.shards),
    }
