"""What there is to know about a judge before its verdicts are believed, as plain text."""

from collections.abc import Mapping
from typing import Any, Final

from faithtui.judges.embedded.weights import load_weights_document

WHERE_IT_FAILS: Final = (
    "one changed word in a copied sentence is often called supported",
    "the same words in another relation (who did what to whom) look alike",
    "other words for the same thing are called not addressed",
    "most contradictions are called not addressed: `no` takes an explicit clash",
)
"""Kinds of errors to expect, the most frequent first."""


def format_judge_card(ref: str) -> str:
    """Describe a judge: what it is, how good it was measured to be, and where it fails.

    Returns:
        Lines of at most 76 characters, without markup. Of a judge that is not embedded nobody has
        measured anything here, and the text says so.
    """
    if ref != "offline":
        return (
            f"{ref}\n\n"
            "Nothing is measured about this judge here. Its agreement with human\n"
            "labels on your own data is on the agreement screen and in `faithtui report`,\n"
            "once you have labelled some of its claims."
        )
    document = load_weights_document()
    measured = document["measured"]
    left_out = measured["mean_of_families"]["left_out"]
    lines = [
        str(document["name"]),
        "",
        "A fixed formula over shared words. It is not a language model, it needs no",
        "network, and it understands nothing. Use it to try things out, to sort",
        "claims before annotators look at them, and as the baseline another judge has",
        "to beat.",
        "",
        f"Measured on {measured['language']} only, with weights that never saw the data:",
        "",
        f"{'':<42}{'rows':>6}{'balanced':>12}{'AUROC':>9}",
        f"{'':<48}{'accuracy':>12}",
    ]
    titles = {each["name"]: each["title"] for each in document["training"]["sources"]}
    for each in measured["sources"]:
        title = str(titles[each["source"]]).partition(" (")[0]
        lines.append(f"{title:<42}{each['rows']:>6,}{_format_accuracy_and_auroc(each['left_out'])}")
    lines += [
        f"{'mean of families':<48}{left_out['balanced_accuracy']:>12.2f}{left_out['auroc']:>9.2f}",
        "",
        f"The first evidence is right in {measured['evidence']['first_is_right']:.0%} of"
        f" {measured['evidence']['claims']} claims (WiCE).",
        "",
        "Where it fails:",
        *(f"- {each}" for each in WHERE_IT_FAILS),
        "",
        "Another language than English: nothing is measured, and its reasons say so.",
        "More, and whose data sets these are: docs/judges/offline.md",
    ]
    return "\n".join(lines)


def _format_accuracy_and_auroc(measured: Mapping[str, Any]) -> str:
    accuracy, area = measured["balanced_accuracy"]["value"], measured["auroc"]["value"]
    return f"{accuracy:>12.2f}{area:>9.2f}"
