"""`faithtui report`."""

from enum import StrEnum
from pathlib import Path
from typing import TypeVar, get_args

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import Duplicates
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.cli.exposure import record_run_exposure
from faithtui.cli.output import plural, print_document, print_json, print_text, print_to_stderr
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings_with_origins
from faithtui.domain.ids import ConversationId, SampleId
from faithtui.engine.integrity.run_checks import check_for_moment
from faithtui.engine.review.agreement_report import (
    FILES,
    Format,
    RunAgreement,
    compute_run_agreement,
    render_report,
    write_report_files,
)
from faithtui.engine.review.splits import count_test_conversations, parse_split, record_test_opening
from faithtui.errors import ConfigError
from faithtui.store.store import Store

WordT = TypeVar("WordT", bound=StrEnum)

MOST_RESAMPLES = 100_000


def write_agreement_report(
    store: Path | None,
    run: str,
    *,
    formats: str | None,
    output: Path | None,
    text: bool,
    settings: ReportSettings,
    compare: str | None,
    split: str | None,
    reviewer: str | None,
    as_json: bool,
) -> int:
    """Write a run's agreement report to files, or one format of it to stdout."""
    default = "json" if as_json and output is None else "md" if output is None else ",".join(FILES)
    chosen = _read_formats(formats or default)
    if len(chosen) > 1 and output is None:
        raise ConfigError("stdout takes one format; name a folder for several with -o DIR")
    part = parse_split(split)
    configured = load_settings_with_origins()
    with open_store(store, configured.settings) as opened:
        opened.refuse_changed_labels()
        found = read_run_id(opened, run)
        other = None if compare is None else read_run_id(opened, compare)
        runs = (found,) if other is None else (found, other)
        opening = record_test_opening(
            opened, part, "report", runs, reviewer or configured.settings.reviewer
        )
        if opening is not None:
            print_to_stderr(opening.warning)
        check_for_moment(opened, found)
        agreement = compute_run_agreement(opened, found, settings, other, part)
        _warn_of_test(opened, agreement)
        if output is not None:
            written = write_report_files(opened, agreement, chosen, output, include_text=text)
            if as_json:
                print_json([str(path) for path in written])
            else:
                for path in written:
                    print_text(str(path))
            return 0
        seen = list_exposed_conversations(agreement, chosen[0])
        record_run_exposure(opened, found, seen, configured, reviewer)
        print_document(render_report(opened, agreement, chosen[0], include_text=text))
    return 0


def _warn_of_test(store: Store, agreement: RunAgreement) -> None:
    """Say so when figures look at the test part without anybody having asked for it."""
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


def list_exposed_conversations(agreement: RunAgreement, form: Format) -> list[ConversationId]:
    """Name the conversations of which a format shows what the judge said of single claims."""
    if form == "csv":
        return [each.conversation for each in agreement.claims]
    report = agreement.report
    return [each.conversation for level in report.levels for each in level.disagreements]


def make_report_settings(
    *,
    level: float,
    duplicates: str,
    idk: str,
    interval: str,
    resamples: int,
    seed: int,
    ordinal: bool,
    blind_only: bool,
    sample: int | None,
    target: float,
) -> ReportSettings:
    """Check what was asked for.

    Raises:
        ConfigError: A word is not known, or a number is out of range.
    """
    if not 0.5 <= level < 1:
        raise ConfigError(f"level is {level}; expected 0.5 or more and below 1, such as 0.95")
    if not 0 < target < 1:
        raise ConfigError(f"target is {target}; expected a half-width between 0 and 1, such as 0.1")
    if not 100 <= resamples <= MOST_RESAMPLES:
        raise ConfigError(f"resamples is {resamples}; expected 100 to {MOST_RESAMPLES:,}")
    if seed < 0:
        raise ConfigError(f"seed is {seed}; expected 0 or more")
    known: dict[str, Duplicates] = {name: name for name in get_args(Duplicates)}
    if duplicates not in known:
        raise ConfigError(f"there is no rule `{duplicates}`; known: {', '.join(known)}")
    return ReportSettings(
        level=level,
        duplicates=known[duplicates],
        idk=read_idk_rule(idk),
        interval=read_choice(IntervalMethod, interval, "kind of interval"),
        resamples=resamples,
        seed=seed,
        ordinal=ordinal,
        blind_only=blind_only,
        sample=None if sample is None else SampleId(sample),
        target=target,
    )


def read_idk_rule(text: str) -> IdkRule:
    """Read the word of `--idk`; an earlier word is accepted, and stderr names the present one.

    Raises:
        ConfigError: It is none of them.
    """
    try:
        rule = IdkRule(text)
    except ValueError:
        known = ", ".join(each.option for each in IdkRule)
        raise ConfigError(f"there is no idk rule `{text}`; known: {known}") from None
    if text != rule.option:
        print_to_stderr(
            f"--idk {text} is now called --idk {rule.option}; the earlier word will be removed"
        )
    return rule


def read_choice(kind: type[WordT], text: str, name: str) -> WordT:
    """Read one of the words that an option knows.

    Raises:
        ConfigError: It is none of them.
    """
    try:
        return kind(text)
    except ValueError:
        known = ", ".join(each.value for each in kind)
        raise ConfigError(f"there is no {name} `{text}`; known: {known}") from None


def _read_formats(text: str) -> tuple[Format, ...]:
    known: dict[str, Format] = {name: name for name in get_args(Format)}
    chosen = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in chosen:
        if name not in known:
            raise ConfigError(f"there is no format `{name}`; known: {', '.join(known)}")
    if not chosen:
        raise ConfigError(f"no format is named; known: {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(chosen))
