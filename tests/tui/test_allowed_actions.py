"""What an app on a page may not do unless its server allows it."""

import pytest

from faithtui.errors import ConfigError
from faithtui.tui.allowed_actions import (
    ALLOWED,
    EDITOR,
    FILES,
    WRITING_KEYS,
    refuse_disallowed_act_in_browser,
)
from faithtui.tui.keymap.declared_bindings import map_binding_ids_to_default_keys

PAGE = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}


@pytest.mark.parametrize("act", [FILES, EDITOR])
def test_a_terminal_may_do_all_and_a_page_what_is_allowed(act: str) -> None:
    refuse_disallowed_act_in_browser(act, {})
    refuse_disallowed_act_in_browser(act, {**PAGE, ALLOWED: f"other,{act}"})
    for allowed in ({}, {ALLOWED: ""}, {ALLOWED: EDITOR if act == FILES else FILES}):
        with pytest.raises(ConfigError, match=f"--allow-{act} allows it"):
            refuse_disallowed_act_in_browser(act, {**PAGE, **allowed})


def test_the_keys_that_write_are_keys_there_are() -> None:
    known = set(map_binding_ids_to_default_keys())
    assert known >= WRITING_KEYS
    assert {name for name in known if name.startswith("review.code-")} <= WRITING_KEYS
    assert {name for name in known if name.startswith("review.verdict-")} <= {
        *WRITING_KEYS,
        "review.verdict-elsewhere",
    }
