"""What a comparison of two runs leaves out, in the same sentences for command and screen."""

from faithtui.agreement.documents.figure_texts import describe_unverified_labels
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.engine.review.reports.run_comparison import RunComparison
from faithtui.tui.runs.run_options_text import describe_differing_options
from faithtui.tui.theme.format import format_count_with_noun


def list_comparison_notes(change: RunComparison) -> list[str]:
    """Say what the figures of two compared runs leave out, and what they lean on.

    Returns:
        A sentence each, without a full stop; empty when there is nothing to say.
    """
    left = change.left_out
    parts = [
        (left.shown, "of conversations that examples came from"),
        (left.without_verdict, "without a verdict of a judge"),
        (left.unlabelled, "without a human label that counts"),
        (left.unfair, "labelled x, not a fair claim"),
        (left.outside, "labelled outside the sample"),
        (left.audit, "drawn to be labelled with a judge's verdict in view"),
    ]
    notes = [
        f"run {row.id}: {found}"
        for row in (change.a, change.b)
        if (found := format_integrity_sentence(row.spec.metric, row.integrity))
    ]
    notes += describe_differing_options({row.id: row.spec for row in (change.a, change.b)})
    notes += [
        f"left out: {format_count_with_noun(count, 'claim')} {why}" for count, why in parts if count
    ]
    if change.only_a or change.only_b:
        notes.append(
            f"not compared: {format_count_with_noun(change.only_a, 'claim')} only A judged, "
            f"{change.only_b:,} only B"
        )
    if change.beyond_a or change.beyond_b:
        notes.append(
            "match none of the claim set: "
            f"{format_count_with_noun(change.beyond_a, 'claim')} of A, {change.beyond_b:,} of B"
        )
    if change.in_view:
        notes.append(
            f"labelled with a judge's verdict shown, which favours that judge: {change.in_view} of "
            f"{format_count_with_noun(change.report.n_common, 'claim')}"
        )
    if change.unverified:
        notes.append(describe_unverified_labels(change.unverified, change.report.n_common))
    return notes
