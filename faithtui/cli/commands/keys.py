"""`faithtui keys`."""

from faithtui.cli.output import Column, print_json, print_table
from faithtui.config import PRESETS, load_settings_with_origins
from faithtui.errors import ConfigError
from faithtui.paths import keymap_file


def print_keys(preset: str | None, *, as_json: bool) -> int:
    """List all keys: of a preset, else of the settings and the user's own key map.

    Raises:
        ConfigError: There is no such preset, or settings or key map are wrong.
    """
    # They load the app, which no other command needs.
    from faithtui.tui.keymap.bindings import every_binding, keys_of
    from faithtui.tui.keymap.keymap import add_follower_keys, load_keymap, preset_keymap

    named = next((each for each in PRESETS if each == preset), None)
    if named is not None:
        keymap = add_follower_keys(preset_keymap(named), {})
    elif preset is None:
        configured = load_settings_with_origins()
        keymap = load_keymap(configured.settings.keys, keymap_file(configured.file))
    else:
        raise ConfigError(f"there is no preset `{preset}`; expected one of {', '.join(PRESETS)}")
    rows = [
        (where, keys_of(binding, keymap), binding.tooltip, binding.id or "")
        for where, binding in every_binding()
    ]
    if as_json:
        print_json(
            [
                {"where": where, "keys": own, "does": words, "id": name}
                for where, own, words, name in rows
            ]
        )
        return 0
    print_table(
        (Column("where"), Column("keys"), Column("id"), Column("does", flexible=True)),
        [(where, " ".join(own), name, words) for where, own, words, name in rows],
    )
    return 0
