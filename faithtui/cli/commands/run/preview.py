"""`faithtui run --preview`, and the line that is said before a run that costs something."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.domain.ids import RunId
from faithtui.domain.judging.judge_names import judge_title
from faithtui.engine.preview.estimates import Preview, format_estimated_count, format_preview_line
from faithtui.engine.preview.run_preview import preview_requests, preview_runs
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.store.store import Store

_COLUMNS = (
    TableColumn("step"),
    TableColumn("questions", align="right"),
    TableColumn("need no call", align="right"),
    TableColumn("tokens read", align="right"),
    TableColumn("tokens written", align="right"),
)


def show_preview(
    store: Store,
    requests: Sequence[RunRequest],
    runs: Sequence[RunId],
    environment: RunEnvironment,
    *,
    as_json: bool,
) -> None:
    """Print what runs would ask and cost.

    Args:
        store: Where the conversations are.
        requests: Runs that are not planned yet.
        runs: Those that are.
        environment: Prices and redaction.
        as_json: Print one JSON list.

    Raises:
        ConfigError: They cannot be run.
    """
    previews = (
        *preview_requests(store, requests, environment=environment),
        *preview_runs(store, runs, environment=environment),
    )
    if as_json:
        print_json([asdict(each) for each in previews])
        return
    for each in previews:
        looked = "" if each.sampled == each.conversations else f", {each.sampled} of them looked at"
        print_text(
            f"{each.metric} by {judge_title(each.judge)}: "
            f"{plural(each.conversations, 'conversation')}{looked}, "
            f"{format_estimated_count(each.windows, 'window')}"
        )
        if each.asked_with:
            print_text(f"  asked with {each.asked_with}")
        print_text(f"  {format_preview_line([each])}")
        if each.held_back is not None:
            print_text(f"  {each.held_back}")
        rows = [
            (
                f"  {step.step}",
                f"{step.calls:,}",
                f"{step.stored:,}",
                f"{step.tokens_in:,}",
                f"{step.tokens_out:,}",
            )
            for step in each.steps
        ]
        print_table(_COLUMNS, rows)
    if len(previews) > 1:
        for line in _format_preview_line_per_judge(previews):
            print_text(f"all: {line}")
    print_to_stderr("nothing was asked; without --preview the run starts")


def print_cost_notice(store: Store, runs: Sequence[RunId], environment: RunEnvironment) -> None:
    """Say on stderr, in a line for each judge, what planned runs will ask and cost.

    Says nothing of judges that cost nothing.
    """
    specs = [store.runs.read_run(run).spec for run in runs]
    prices = [
        environment.prices.compute_max_cost_nusd(each.judge, 1, 1, base_url=each.base_url)
        for each in specs
    ]
    if not any(price != 0 for price in prices):
        return
    # All of them: a run may judge the claims of one that costs nothing.
    previews = preview_runs(store, runs, environment=environment)
    for line in _format_preview_line_per_judge([each for each in previews if not each.is_free]):
        print_to_stderr(line)


def _format_preview_line_per_judge(previews: Sequence[Preview]) -> list[str]:
    ordered = sorted(previews, key=lambda each: each.judge)
    return [
        format_preview_line(list(some)) for _, some in groupby(ordered, key=lambda each: each.judge)
    ]
