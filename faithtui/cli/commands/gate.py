"""`faithtui gate`: an exit code that says whether a judge is good enough."""

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from faithtui.cli.output import (
    TableColumn,
    insert_store_option,
    print_error,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption, ValueNamingCommand
from faithtui.cli.shared_options import (
    BlindOnlyOption,
    ClaimSetOption,
    CommonOptions,
    ForceOption,
    GatedRunArgument,
    SampleOption,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
    read_idk_rule,
)
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts, read_run_id
from faithtui.cli.streams import ReaderGone
from faithtui.errors import ConfigError, FaithtuiError

if TYPE_CHECKING:
    from faithtui.agreement.gate.threshold_checks import CriterionCheck, ThresholdBasis
    from faithtui.agreement.report.settings import ReportLevel
    from faithtui.engine.review.gate.gate import GateRequest, GateResult

BROKEN: Final = 3
"""What the gate exits with when it cannot give an answer; as for what is stale."""

_LEAST_WIDTH: Final = 40
"""Columns that reasons are wrapped to at least."""


class UsageErrorIsBrokenCommand(ValueNamingCommand):
    """A command whose exit code 2 is an answer, so that a mistyped option must not give it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; what cannot be read ends with the code for broken."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # typer exports no name for all errors of usage
            if getattr(error, "exit_code", None) == 2:
                error.exit_code = BROKEN  # type: ignore[attr-defined]  # just asked for
            raise


def gate(
    context: typer.Context,
    run: GatedRunArgument,
    min_kappa: Annotated[
        float | None, typer.Option(metavar="X", help="Minimum of Cohen's kappa, -1 to 1.")
    ] = None,
    min_recall_no: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Minimum of the recall of `no`, 0 to 1: the share of the units labelled `no` "
            "that the judge calls `no`. With --idk live, all labels that fail in the run "
            "count, as in the first sentence of a report.",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Minimum of the share that passes, 0 to 1, corrected by human labels."
        ),
    ] = None,
    min_labels: Annotated[
        int | None, typer.Option(metavar="N", help="Minimum of labelled units. [30]")
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            help="Maximum number of days since the verdicts and since the newest label.",
        ),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Maximum drop of accuracy below that of the run of --against, or of the "
            "certified run, on the labelled claims that both judged.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="The run for --max-drop: a number, or `last`: the newest with verdicts. "
            "[the certified one]",
        ),
    ] = None,
    lower: Annotated[
        bool | None,
        typer.Option(
            "--use-lower-bound/--point",
            help="Compare the lower end of the interval, or the value, with the threshold. "
            "[the lower end]",
        ),
    ] = None,
    among_labelled: Annotated[
        bool,
        typer.Option(
            "--among-labelled",
            help="Accept kappa and recall from labels that are not a random sample.",
        ),
    ] = False,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Accept a warning that would leave the gate undecided, by its code, such as "
            "few_conversations; may be repeated. A certificate records it. Any other "
            "code, as few_items, is refused with the codes that can be accepted.",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="`claims` or `answers`. [that of the certificate; with --sample or --set claims; "
            "else the one that the report shows first]",
        ),
    ] = None,
    idk: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Treat idk as in the report: three, pass, fail, live or exclude. "
            "[three, or as certified]",
        ),
    ] = None,
    blind_only: BlindOnlyOption = False,
    sample: SampleOption = None,
    claim_set: ClaimSetOption = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this certificate; its thresholds apply unless you give others.",
        ),
    ] = None,
    write_certificate: Annotated[
        Path | None,
        typer.Option(
            parser=parse_path_as_typed,
            metavar="FILE",
            help="Write a certificate if everything passes.",
        ),
    ] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Exit 0 if the judge is shown to meet the thresholds, 1 if not.

    A threshold is met if the lower end of the 95 % interval reaches it: exit 1 also if the value
    does and the lower end does not. Exit 2 if the labels cannot decide: they are too few or not a
    random sample, or a warning is not accepted. Exit 3 if the run or the certificate is stale or
    broken, and after every error, such as a mistyped option or threshold. If several codes apply,
    exit with the largest. docs/gate.md explains each threshold, docs/ci.md has a workflow.

    Example: faithtui gate last --min-kappa 0.6 --min-recall-no 0.8
    """
    options = merge_common_options(context, store, json)

    def run_gate_and_choose_exit_code() -> int:
        from faithtui.domain.ids import SampleId
        from faithtui.engine.review.gate.gate import GateRequest

        request = GateRequest(
            kappa=min_kappa,
            recall_no=min_recall_no,
            score=min_score,
            labels=min_labels,
            age_days=max_age,
            basis=_choose_threshold_basis(lower),
            max_drop=max_drop,
            among_labelled=among_labelled,
            accept=tuple(accept or ()),
            level=None if level is None else _parse_report_level(level),
            idk=None if idk is None else read_idk_rule(idk),
            blind_only=True if blind_only else None,
            sample=None if sample is None else SampleId(sample),
            claim_set=claim_set,
            certificate=certificate,
            write=write_certificate,
            force=force,
        )
        if against is not None and max_drop is None:
            raise ConfigError("--against names the run for --max-drop; name that too")
        return _run_gate_print_checks_and_choose_exit_code(options, run, request, against)

    raise typer.Exit(run_with_broken_exit_code(run_gate_and_choose_exit_code))


def _choose_threshold_basis(lower: bool | None) -> "ThresholdBasis | None":
    from faithtui.agreement.gate.threshold_checks import ThresholdBasis

    return None if lower is None else ThresholdBasis.LOWER if lower else ThresholdBasis.POINT


def _parse_report_level(text: str) -> "ReportLevel":
    from faithtui.agreement.report.settings import ReportLevel
    from faithtui.domain.text.suggestions import format_known_names

    if text not in tuple(ReportLevel):
        raise ConfigError(
            f"there is no level `{text}`; known: {format_known_names(text, ReportLevel)}"
        )
    return ReportLevel(text)


def _run_gate_print_checks_and_choose_exit_code(
    options: CommonOptions, run: str, request: "GateRequest", against: str | None
) -> int:
    """Hold a run against thresholds, print each, and give the exit code."""
    from faithtui.agreement.gate.threshold_checks import EXIT_CODES
    from faithtui.engine.integrity.run_checks import check_and_save_run_within_time_limit
    from faithtui.engine.review.gate.gate import check_gate_and_write_certificate_if_passed
    from faithtui.engine.runs.last_run import LAST, find_last_run_to_gate

    with open_store(options.store) as opened:
        opened.refuse_corrupted_rows()
        number = find_last_run_to_gate(opened) if run == LAST else read_run_id(opened, run)
        check_and_save_run_within_time_limit(opened, number)
        if against is not None:
            request = replace(request, against=read_id_of_run_with_verdicts(opened, against))
        result = check_gate_and_write_certificate_if_passed(opened, number, request)
    _print_result(result, as_json=options.json)
    return EXIT_CODES[result.outcome]


def run_with_broken_exit_code(work: Callable[[], int]) -> int:
    """Run something whose exit code means something, so that no error passes for a result."""
    try:
        return work()
    except FaithtuiError as error:
        print_error(str(error))
    except Exception:  # Python ends with 1 after a bug, which would say here: below a threshold.
        traceback.print_exc()
    return BROKEN


def _print_result(result: "GateResult", *, as_json: bool) -> None:
    try:
        if as_json:
            from faithtui.engine.review.gate.gate_json import gate_to_json

            print_json(gate_to_json(result))
        else:
            _print_table(result)
        for note in result.notes:
            print_to_stderr(f"note: {note}")
        for reason in result.broken:
            print_to_stderr(f"stale or broken: {reason}")
        sys.stdout.flush()
    except ReaderGone:
        pass  # the exit code is the answer, and it stands


def _print_table(result: "GateResult") -> None:
    from faithtui.agreement.gate.threshold_checks import describe_outcome

    row = result.row
    parameters = row.spec.profile.describe()
    asked = f" ({parameters})" if parameters else ""
    print_text(
        f"run {row.id}: {row.spec.metric} by {row.spec.judge_title}{asked} against human "
        f"labels, {result.measured.level}{_format_counting_rules(result)}"
    )
    print_table(
        [
            TableColumn("CRITERION"),
            TableColumn("VALUE", "right"),
            TableColumn("95 % INTERVAL"),
            TableColumn("THRESHOLD"),
            TableColumn("RESULT"),
            TableColumn("WHY", flexible=True),
        ],
        [_format_check_row(each, result.thresholds.basis) for each in result.checks],
    )
    for line in _format_lines_of_several_reasons(result.checks):
        print_text(line)
    if result.thresholds.accepted:
        print_text(f"accepted: {', '.join(result.thresholds.accepted)}")
    print_text(f"result: {describe_outcome(result.outcome, result.checks)}")
    if result.written is not None:
        print_text(f"certificate: {result.written}")


def _format_counting_rules(result: "GateResult") -> str:
    """Say what is unusual in how labels were counted."""
    from faithtui.agreement.idk_recoding import IdkRule

    settings = result.settings
    words = "" if settings.idk is IdkRule.THREE else f", idk treated as {settings.idk.option_word}"
    return f"{words}, blind verdicts only" if settings.blind_only else words


def _format_check_row(check: "CriterionCheck", basis: "ThresholdBasis") -> tuple[str, ...]:
    from faithtui.agreement.gate.threshold_checks import CRITERION_TITLES, Criterion, ThresholdBasis

    most = check.criterion is Criterion.AGE
    sign = "at most" if most else "at least"
    of = " (lower end)" if check.estimate is not None and basis is ThresholdBasis.LOWER else ""
    return (
        CRITERION_TITLES[check.criterion],
        "–" if check.value is None else _format_number(check.value),
        _format_interval(check),
        f"{sign} {_format_number(check.threshold)}{of}",
        check.outcome_words,
        f"{len(check.reasons)} reasons, below"
        if len(check.reasons) > 1
        else insert_store_option(check.reason),
    )


def _format_lines_of_several_reasons(checks: "Sequence[CriterionCheck]") -> Iterator[str]:
    """Give the reasons of checks that have several, which no cell of a table has room for."""
    import shutil
    import textwrap

    from faithtui.agreement.gate.threshold_checks import CRITERION_TITLES

    for check in checks:
        if len(check.reasons) < 2:
            continue
        yield f"{CRITERION_TITLES[check.criterion]} is {check.outcome_words}:"
        for reason in check.reasons:
            yield from textwrap.wrap(
                insert_store_option(reason),
                max(_LEAST_WIDTH, shutil.get_terminal_size().columns),
                initial_indent="- ",
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def _format_number(value: float) -> str:
    """Write a whole number as one, others with three decimals or as they were typed."""
    if isclose(value, round(value), abs_tol=1e-12):
        return f"{round(value):,}" if abs(value) > 1 else f"{value:g}"
    return f"{value:.3f}"


def _format_interval(check: "CriterionCheck") -> str:
    found = check.estimate
    if found is None or found.ci_low is None or found.ci_high is None:
        return ""
    return f"[{found.ci_low:.3f}, {found.ci_high:.3f}]"
