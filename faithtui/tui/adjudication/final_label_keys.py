"""The keys of `FinalLabels`, and what is done with those that come too early."""

from typing import TYPE_CHECKING, Final

from textual.binding import Binding, BindingType

from faithtui.tui.input_queue import KeyCheck
from faithtui.tui.review.lines.verdict_lines import UNFAIR_KEY, VERDICT_KEYS
from faithtui.tui.screen.early_keys import list_typed_keys, make_early_key_check

if TYPE_CHECKING:
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen

TAKE: Final = Binding.Group("take", compact=True)
FINAL: Final = Binding.Group("final", compact=True)

BINDINGS: Final[list[BindingType]] = [
    Binding(
        "a",
        "take_over_annotators_verdict(0)",
        "take A",
        group=TAKE,
        tooltip="The final label is A's",
        id="adjudicate.take-a",
    ),
    Binding(
        "b",
        "take_over_annotators_verdict(1)",
        "take B",
        group=TAKE,
        tooltip="The final label is B's",
        id="adjudicate.take-b",
    ),
    *(
        Binding(
            key,
            f"give_final_label({number})",
            "final",
            group=FINAL,
            tooltip=f"The final label is the metric's {words} label",
            id=f"adjudicate.final-{number + 1}",
        )
        for number, (key, words) in enumerate(
            zip(VERDICT_KEYS, ("first", "second", "third"), strict=True)
        )
    ),
    Binding(
        UNFAIR_KEY,
        "give_final_label(-1)",
        "final",
        group=FINAL,
        tooltip="Final label x: not a fair claim",
        id="adjudicate.final-unfair",
    ),
]

_IDS_THAT_SETTLE: Final = frozenset(
    ("adjudicate.discuss", *(each.id for each in BINDINGS if isinstance(each, Binding)))
)


def drop_final_labels_typed_ahead(screen: "AdjudicationScreen") -> str:
    """Drop keys that were typed to settle claims, up to the first other one.

    Returns:
        What was dropped, by what stands on the keys; "": nothing.
    """
    active = screen.active_bindings.items()
    keys = {key for key, each in active if each.binding.id in _IDS_THAT_SETTLE}
    return list_typed_keys(screen.input_queue.drop_typed_ahead(keys))


def make_check_of_keys_that_settle(screen: "AdjudicationScreen") -> KeyCheck:
    """Make what refuses keys that settle a claim and came before it was seen, and names them."""
    return make_early_key_check(screen, _IDS_THAT_SETTLE.__contains__, screen.refuse)
