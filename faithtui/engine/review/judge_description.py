"""What is known of the judge of a run before its verdicts are believed, as plain text."""

from typing import TYPE_CHECKING, Final

from faithtui.domain.judging.judge_names import judge_title
from faithtui.engine.review.run_prompts import explain_imported_run_unknowns
from faithtui.errors import ConfigError
from faithtui.judges.base import OutputFormat, Usage
from faithtui.judges.judge_card import format_judge_card
from faithtui.judges.providers.endpoints import is_in_process_judge, parse_endpoint
from faithtui.store.records import RunRow, RunSpec
from faithtui.store.store import Store

if TYPE_CHECKING:
    from faithtui.judges.providers.prices import PriceTable

_ASKED: Final = {
    OutputFormat.SCHEMA: "by a schema its provider enforces",
    OutputFormat.TOOL: "by a tool it is forced to call",
    OutputFormat.JSON: "for some JSON object; the schema stands in the prompt",
    OutputFormat.TEXT: "by the prompt alone, in which the schema stands",
}
"""Ways of asking, in words."""

_THOUSAND: Final = 1_000
"""Tokens a price is read off with: a million would be longer than some prices hold for."""


def describe_judge(store: Store, row: RunRow, prices: "PriceTable") -> str:
    """Describe the judge of a run: what it is, what it costs, how it is asked, how good it is.

    Args:
        store: Remembers how the judge is asked.
        row: The run.
        prices: What judges cost.

    Returns:
        Lines without markup. Names and addresses are as they were stored: to be made visible by
        whoever draws them.
    """
    spec = row.spec
    if spec.is_imported:
        return f"{spec.judge}\n\n{explain_imported_run_unknowns(row.id)}"
    if spec.judge == "offline":
        lines = [format_judge_card(spec.judge)]
        if spec.calibration is not None:
            lines += [
                "",
                f"In this run it is the {judge_title(spec.judge, spec.calibration)}: its",
                "probabilities, or the threshold of its verdicts, were fitted to human labels in",
                "this store, its evidence and its reasons are as shipped. The figures above are",
                "without that.",
            ]
        return "\n".join(lines)
    name, _, rest = format_judge_card(spec.judge).partition("\n")
    facts = {
        "address": _format_address(spec.judge, spec.base_url),
        "price": _format_price(spec.judge, spec.base_url, prices),
        "asked": _format_output_format(store.calls.recall_output_format(spec.judge_fingerprint)),
        "sent": describe_parameters(store, row.spec) or "no parameters",
        "here": f"{row.calls:,} {'call' if row.calls == 1 else 'calls'} in run {row.id}, "
        f"{row.retries:,} of them asked again",
    }
    return "\n".join([name, "", *(f"{key:<9}{words}" for key, words in facts.items()), rest])


def describe_parameters(store: Store, spec: RunSpec) -> str:
    """Say what the judge of a run is asked with, and what of it the model refused; "" for nothing.

    Args:
        store: Remembers what was refused.
        spec: The run.
    """
    refused = store.calls.recall_refused_parameters(spec.judge_fingerprint)
    return spec.profile.describe(refused)


def _format_address(ref: str, base_url: str | None) -> str:
    if ref.startswith("nli:"):
        return "none: its model is a file of this machine"
    if is_in_process_judge(ref):
        return "none: its replies are read from a file"
    try:
        endpoint = parse_endpoint(ref, base_url)
    except ConfigError:
        return "not known: no such judge is installed here"
    return "as its package decides" if endpoint is None else endpoint.base_url


def _format_price(ref: str, base_url: str | None, prices: "PriceTable") -> str:
    try:
        read = prices.compute_cost_nusd(ref, Usage(_THOUSAND, 0), base_url=base_url)
        written = prices.compute_cost_nusd(ref, Usage(0, _THOUSAND), base_url=base_url)
    except ConfigError:
        read = written = None
    if read is None or written is None:
        return "not known; the setting `prices` names a table of your own"
    if read == written == 0:
        return "nothing"
    return (
        f"${_format_usd_per_million(read)} for a million tokens read, "
        f"${_format_usd_per_million(written)} written"
        f" (prices of {prices.find_price_source(ref, base_url)})"
    )


def _format_usd_per_million(nusd: int) -> str:
    """Turn nano-dollars for a thousand tokens into dollars for a million."""
    return f"{nusd / 1_000_000:.4f}".rstrip("0").rstrip(".")


def _format_output_format(output_format: str | None) -> str:
    if output_format is None:
        return "no way of asking for JSON is remembered for it"
    return f"{_ASKED[OutputFormat(output_format)]} (found out here, and remembered)"
