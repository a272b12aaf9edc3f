"""`faithtui keys`: the keys of the app, of a preset or of the user's own key map."""

from typing import Annotated

import typer

from faithtui.cli.output import TableColumn, print_json, print_table
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import merge_common_options
from faithtui.errors import ConfigError


def keys(
    context: typer.Context,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="List this built-in key map. [the one that the app starts with]",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the keys of the app and their names in `keymap.toml`.

    Example: faithtui keys --preset vim
    """
    from faithtui.config import PRESETS, load_settings_with_origins
    from faithtui.domain.text.suggestions import format_known_names
    from faithtui.paths import keymap_file
    from faithtui.tui.keymap.declared_bindings import format_binding_keys, list_bindings_by_class
    from faithtui.tui.keymap.keymap import (
        add_keys_of_dependent_bindings,
        load_keymap,
        preset_keymap,
    )

    named = next((each for each in PRESETS if each == preset), None)
    if named is not None:
        keymap = add_keys_of_dependent_bindings(preset_keymap(named), {})
    elif preset is None:
        configured = load_settings_with_origins()
        keymap = load_keymap(configured.settings.keys, keymap_file(configured.file))
    else:
        known = format_known_names(preset, PRESETS)
        raise ConfigError(f"there is no preset `{preset}`; known: {known}")
    rows = [
        (where, format_binding_keys(binding, keymap), binding.tooltip, binding.id or "")
        for where, binding in list_bindings_by_class()
    ]
    if merge_common_options(context, None, json).json:
        print_json(
            [
                {"where": where, "keys": own, "does": words, "id": name}
                for where, own, words, name in rows
            ]
        )
        return
    print_table(
        (
            TableColumn("where"),
            TableColumn("keys"),
            TableColumn("id"),
            TableColumn("does", flexible=True),
        ),
        [(where, " ".join(own), name, words) for where, own, words, name in rows],
    )
