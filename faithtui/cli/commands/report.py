"""`faithtui report`: how far a judge agrees with human labels."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from faithtui.cli.output import plural, print_file_content, print_json, print_text, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.seen_verdicts import record_who_saw_judge_verdicts_of_run
from faithtui.cli.shared_options import (
    BlindOnlyOption,
    ClaimSetOption,
    JudgedRunArgument,
    SampleOption,
    SplitOption,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
    read_idk_rule,
    read_output_option,
)
from faithtui.cli.stores import (
    find_id_of_claim_set_option,
    open_store,
    read_id_of_run_with_verdicts,
)
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.labelled_units import Duplicates
    from faithtui.agreement.report.settings import IntervalMethod
    from faithtui.domain.ids import ConversationId
    from faithtui.engine.review.reports.agreement_report import Format, RunAgreement
    from faithtui.store.store import Store

MOST_RESAMPLES = 100_000


def report(
    context: typer.Context,
    run: JudgedRunArgument = "last",
    formats: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="NAMES",
            help="md, json, html, csv (claims), answers (their CSV), or several with commas. "
            "[md; with -o all]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=parse_path_as_typed,
            metavar="DIR",
            help="Folder for report.md, .json, .html, claims.csv and answers.csv. [stdout]",
        ),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Add the texts of claims to the JSON, those of answers to the lists of "
            "disagreements, and the passages of unlabelled claims to the CSV.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")
    ] = 0.95,
    duplicates: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Which verdict counts for a claim in several windows: first_window, majority, "
            "worst or latest.",
        ),
    ] = "first_window",
    idk: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Treat idk as: `three` (a label of its own), `pass` (faithful), `fail` "
            "(unfaithful), `live` (as the run's score treats it) or `exclude` (left out).",
        ),
    ] = "three",
    interval: Annotated[
        str, typer.Option(metavar="KIND", help="Intervals by jackknife or bootstrap.")
    ] = "jackknife",
    resamples: Annotated[int, typer.Option(metavar="N", help="Resamples of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all random draws.")] = 0,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Treat labels as a scale: add weighted kappa and AC2.")
    ] = False,
    blind_only: BlindOnlyOption = False,
    sample: SampleOption = None,
    claim_set: ClaimSetOption = None,
    target: Annotated[
        float, typer.Option(metavar="WIDTH", help="Half-width at which labelling may stop.")
    ] = 0.1,
    compare: Annotated[
        str | None, typer.Option(metavar="RUN", help="Another run to compare with.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="KEY",
            help="Break agreement down by this key of the conversations' metadata, too, and add "
            "it to the CSV of claims; may be repeated.",
        ),
    ] = None,
    probes: Annotated[
        Path | None,
        typer.Option(
            "--probes",
            metavar="FILE",
            help="Add a section with the results of `judge probe --json` in this file.",
        ),
    ] = None,
    split: SplitOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report the agreement of a judge with human labels.

    Gives the confusion matrix, kappa and other coefficients, the detection of unfaithful
    claims, the corrected score and warnings, with intervals. docs/agreement.md explains each
    figure.

    Example: faithtui report last -o report/
    """
    from faithtui.agreement.report.settings import ReportSettings
    from faithtui.config import load_settings_with_origins
    from faithtui.domain.ids import SampleId
    from faithtui.engine.integrity.run_checks import check_and_save_run_within_time_limit
    from faithtui.engine.review.reports.agreement_report import (
        FILES,
        compute_run_agreement,
        iter_report_text,
        write_report_files,
    )
    from faithtui.engine.review.samples.store_split import parse_split, record_test_opening
    from faithtui.formats.probe_files import read_probe_trial

    options = merge_common_options(context, store, json)
    output = read_output_option(output)
    _refuse_numbers_out_of_range(level, target, resamples, seed)
    settings = ReportSettings(
        level=level,
        duplicates=_read_duplicates_rule(duplicates),
        idk=read_idk_rule(idk),
        interval=_read_interval_method(interval),
        resamples=resamples,
        seed=seed,
        ordinal=ordinal,
        blind_only=blind_only,
        sample=None if sample is None else SampleId(sample),
        target=target,
        metadata_keys=tuple(dict.fromkeys(by or ())),
    )
    usual = ",".join(FILES) if output is not None else "json" if options.json else "md"
    chosen = _read_formats(formats or usual)
    if len(chosen) > 1 and output is None:
        raise ConfigError("stdout takes one format; name a folder for several with -o DIR")
    part = parse_split(split)
    trial = None if probes is None else read_probe_trial(probes)
    configured = load_settings_with_origins()
    with open_store(options.store, configured.settings) as opened:
        opened.refuse_corrupted_rows()
        found = read_id_of_run_with_verdicts(opened, run)
        settings = replace(
            settings, claim_set=find_id_of_claim_set_option(opened, claim_set, sample)
        )
        other = None if compare is None else read_id_of_run_with_verdicts(opened, compare)
        runs = (found,) if other is None else (found, other)
        opening = record_test_opening(
            opened, part, "report", runs, options.reviewer or configured.settings.reviewer
        )
        if opening is not None:
            print_to_stderr(opening.warning)
        check_and_save_run_within_time_limit(opened, found)
        agreement = compute_run_agreement(opened, found, settings, other, part, trial)
        _warn_of_test_split(opened, agreement)
        if output is not None:
            written = write_report_files(opened, agreement, chosen, output, include_text=text)
            _print_file_names(written, as_json=options.json)
            return
        seen = _list_conversations_shown_with_verdicts(agreement, chosen[0])
        record_who_saw_judge_verdicts_of_run(opened, found, seen, configured, options.reviewer)
        print_file_content(iter_report_text(opened, agreement, chosen[0], include_text=text))


def _print_file_names(paths: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        print_json([str(path) for path in paths])
    else:
        for path in paths:
            print_text(str(path))


def _warn_of_test_split(store: "Store", agreement: "RunAgreement") -> None:
    """Say so when figures look at the test part without anybody having asked for it."""
    from faithtui.engine.review.samples.store_split import count_test_conversations

    if agreement.split is not None:
        return
    within = count_test_conversations(
        store, [each.conversation for each in agreement.claims if each.human]
    )
    if within:
        print_to_stderr(
            f"note: {plural(within, 'labelled conversation')} of the test split "
            f"{'is' if within == 1 else 'are'} in these figures, and this use is not counted; "
            "--split dev leaves them out, --split test looks at them alone and counts it"
        )


def _list_conversations_shown_with_verdicts(
    agreement: "RunAgreement", form: "Format"
) -> "list[ConversationId]":
    """Name the conversations of which a format shows what the judge said of single claims."""
    if form in ("csv", "answers"):
        return [each.conversation for each in agreement.claims]
    report = agreement.report
    return [each.conversation for level in report.level_reports for each in level.disagreements]


def _refuse_numbers_out_of_range(level: float, target: float, resamples: int, seed: int) -> None:
    """Refuse numbers out of range.

    Raises:
        ConfigError: One is.
    """
    if not 0.5 <= level < 1:
        raise ConfigError(f"level is {level}; expected 0.5 or more and below 1, such as 0.95")
    if not 0 < target < 1:
        raise ConfigError(f"target is {target}; expected a half-width between 0 and 1, such as 0.1")
    if not 100 <= resamples <= MOST_RESAMPLES:
        raise ConfigError(f"resamples is {resamples}; expected 100 to {MOST_RESAMPLES:,}")
    if seed < 0:
        raise ConfigError(f"seed is {seed}; expected 0 or more")


def _read_duplicates_rule(text: str) -> "Duplicates":
    from faithtui.agreement.labelled_units import Duplicates
    from faithtui.domain.text.suggestions import format_known_names

    known: dict[str, Duplicates] = {name: name for name in get_args(Duplicates)}
    if text not in known:
        raise ConfigError(f"there is no rule `{text}`; known: {format_known_names(text, known)}")
    return known[text]


def _read_interval_method(text: str) -> "IntervalMethod":
    from faithtui.agreement.report.settings import IntervalMethod
    from faithtui.domain.text.suggestions import format_known_names

    try:
        return IntervalMethod(text)
    except ValueError:
        known = format_known_names(text, (each.value for each in IntervalMethod))
        raise ConfigError(f"there is no kind of interval `{text}`; known: {known}") from None


def _read_formats(text: str) -> "tuple[Format, ...]":
    from faithtui.domain.text.suggestions import format_suggestion
    from faithtui.engine.review.reports.agreement_report import Format

    known: dict[str, Format] = {name: name for name in get_args(Format)}
    names = ", ".join(known)
    known["markdown"] = "md"
    chosen = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in chosen:
        if name not in known:
            meant = format_suggestion(name, known)
            raise ConfigError(f"there is no format `{name}`; known: {names}{meant}")
    if not chosen:
        raise ConfigError(f"no format is named; known: {names}")
    return tuple(dict.fromkeys(known[name] for name in chosen))
