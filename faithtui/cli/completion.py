"""What TAB offers as the value of an option or an argument.

Typer adds `--install-completion` and `--show-completion` to the program, writes the shell's script,
and knows the names of commands and options. Our part are the values, and `_answer_shell_completion`
in `main`, which answers the script.

The names come from the store and the settings of the line that is completed. A parameter is known
by its metavar, so that a new one is completed without a word here. Nothing may be written while
somebody presses TAB, and no error may reach the line that is typed: then nothing is offered.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args, get_type_hints

from faithtui.cli.output import ColorMode
from faithtui.errors import FaithtuiError

if TYPE_CHECKING:
    from faithtui.store.store import Store

Words = Iterable[str]


def add_value_completion(command: Any) -> None:
    """Let every parameter of a command, and of the commands in it, offer its values.

    Args:
        command: As Typer makes it; its types are private there.
    """
    _add_completers_recursively((), command)


class BashLine(NamedTuple):
    """A line as bash has it while it is completed, with the words that a program would get."""

    words: tuple[str, ...]
    position: int
    """Of the word that is completed."""
    kept: str
    """Beginning of that word which stays on the line: bash replaces what follows it."""


def rejoin_words_cut_by_bash(words: Sequence[str], position: int) -> BashLine:
    """Join what bash cut at colons and equal signs, at which it begins a new word.

    `--judge openai:gp` comes as the words `--judge`, `openai`, `:` and `gp`. Whether a blank stood
    beside a sign is not known; nobody types one there.
    """
    joined: list[str] = []
    at = position
    is_open = False
    for place, word in enumerate(words):
        is_sign = bool(joined) and bool(word) and set(word) <= {":", "="}
        if is_open or is_sign:
            joined[-1] += word
        else:
            joined.append(word)
        is_open = is_sign
        if place == position:
            at = len(joined) - 1
    kept = joined[at][: joined[at].rfind(":") + 1] if at < len(joined) else ""
    return BashLine(tuple(joined), at, kept.rpartition("=")[2])


def find_completer(command: str, parameter: Any) -> "Callable[[Path | None], Words] | None":
    """Find what lists the values of a parameter; None where anything may be typed.

    Args:
        command: Its command, such as `run` or `claim-set export`.
        parameter: As Typer makes it.
    """
    option = max(parameter.opts, key=len, default="")
    metavar = (parameter.metavar or "").strip("[].")
    fixed = _FIXED.get((command, option)) or _FIXED.get(("", option))
    if fixed is not None:
        return lambda store: fixed()
    return _STORED.get((command, option)) or _STORED.get(("", option)) or _BY_METAVAR.get(metavar)


def _add_completers_recursively(path: tuple[str, ...], command: Any) -> None:
    for name, each in getattr(command, "commands", {}).items():
        _add_completers_recursively((*path, name), each)
    for parameter in command.params:
        complete = find_completer(" ".join(path), parameter)
        if complete is not None:
            parameter._custom_shell_complete = _make_completion(complete)


def _make_completion(complete: "Callable[[Path | None], Words]") -> Callable[..., list[Any]]:
    def offer(context: Any, parameter: Any, typed: str) -> list[Any]:
        # The class of what a shell is offered stands nowhere else.
        from typer._click.shell_completion import CompletionItem

        found: list[str] = []
        with suppress(FaithtuiError, OSError):
            found = [
                each for each in complete(_find_store_option(context)) if each.startswith(typed)
            ]
        # A word with a blank or a control character would become several on the line.
        return [CompletionItem(each) for each in found if each.isprintable() and " " not in each]

    return offer


def _find_store_option(context: Any) -> Path | None:
    """Find the `--store` of the line, after the command's name or before it."""
    while context is not None:
        named = context.params.get("store")
        if named:
            return Path(named)
        context = context.parent
    return None


def _open_store_read_only(named: Path | None) -> "Store":
    from faithtui.cli.stores import find_existing_store_path
    from faithtui.store.store import Store

    return Store.open(
        find_existing_store_path(named), create=False, read_only=True, busy_timeout_s=1.0
    )


def _list_run_numbers(named: Path | None) -> Words:
    with _open_store_read_only(named) as store:
        return ["last", *(str(row.id) for row in store.runs.list_runs())]


def _list_source_names(named: Path | None) -> Words:
    with _open_store_read_only(named) as store:
        return [row.source for row in store.conversations.list_sources()]


def _list_claim_set_names(named: Path | None) -> Words:
    with _open_store_read_only(named) as store:
        return dict.fromkeys(row.name for row in store.claim_sets.list_versions())


def _list_judges(named: Path | None) -> Words:
    """List judges that are named in the settings, in runs, and the beginnings of all others."""
    from faithtui.config import load_settings
    from faithtui.judges.plugins import list_judge_plugins
    from faithtui.judges.providers.endpoints import PROVIDERS

    used: list[str] = []
    with suppress(FaithtuiError), _open_store_read_only(named) as store:
        used = [row.spec.judge for row in store.runs.list_runs()]
    others = [f"{name}:" for name in (*PROVIDERS, "replay", *list_judge_plugins())]
    return dict.fromkeys(["offline", load_settings().judge, *used, *others])


def _list_metrics() -> Words:
    from faithtui.metrics.registry import METRICS

    return [each.spec.key for each in METRICS]


def _list_run_metrics() -> Words:
    from faithtui.cli.commands.run.run_requests import ALL_METRICS

    return [*_list_metrics(), ALL_METRICS]


def _list_splits() -> Words:
    from faithtui.domain.split_rule import SPLITS

    return SPLITS


def _list_strategies() -> Words:
    from faithtui.metrics.registry import METRICS

    hints = (get_type_hints(each.make) for each in METRICS)
    return dict.fromkeys(word for each in hints for word in get_args(each.get("strategy")))


def _list_report_levels() -> Words:
    from faithtui.agreement.report.settings import ReportLevel

    return list(ReportLevel)


def _list_measure_engines() -> Words:
    from faithtui.engine.shards.execution_backends import BACKENDS

    return BACKENDS


def _list_claim_origins() -> Words:
    from faithtui.engine.runs.request import CLAIMS

    return CLAIMS


def _list_queue_orders() -> Words:
    from faithtui.cli.commands.label.queue_options import ORDERS

    return ORDERS


def _list_split_actions() -> Words:
    from faithtui.cli.commands import split

    return split.ACTIONS


def _list_guideline_actions() -> Words:
    from faithtui.cli.commands import guideline

    return guideline.ACTIONS


def _list_populations() -> Words:
    from faithtui.engine.population.sample_sizes import PopulationDesign

    return list(PopulationDesign)


def _list_duplicates_rules() -> Words:
    from faithtui.agreement.labelled_units import Duplicates

    return get_args(Duplicates)


def _list_interval_methods() -> Words:
    from faithtui.agreement.report.settings import IntervalMethod

    return list(IntervalMethod)


def _list_finding_kinds() -> Words:
    from faithtui.domain.integrity.findings import FindingKind

    return list(FindingKind)


def _list_strata() -> Words:
    from faithtui.store.samples.sampling_frames import STRATA

    return STRATA


def _list_new_samples() -> Words:
    from faithtui.cli.commands.label.queue_options import NEW_SAMPLES

    return NEW_SAMPLES


def _list_accepted_codes() -> Words:
    from faithtui.agreement.gate.warning_checks import ACCEPTED_CODES

    return ACCEPTED_CODES


def _list_report_formats() -> Words:
    from faithtui.engine.review.reports.agreement_report import Format

    return get_args(Format)


def _list_import_formats() -> Words:
    from faithtui.formats.readers.registry import AUTO, READERS

    return [AUTO, *(each.name for each in READERS)]


def _list_idk_rules() -> Words:
    from faithtui.agreement.idk_recoding import IdkRule

    return [each.option_word for each in IdkRule]


def _list_export_formats() -> Words:
    from faithtui.cli.commands.export.export import BUNDLE
    from faithtui.formats.writers.flat_files import FlatFormat

    return [*get_args(FlatFormat), BUNDLE]


def _list_export_names() -> Words:
    from faithtui.cli.commands.export import export

    return export.EXPORTS


def _list_presets() -> Words:
    from faithtui.config import PRESETS

    return PRESETS


_BY_METAVAR: Final[dict[str, Callable[[Path | None], Words]]] = {
    "RUN": _list_run_numbers,
    "RUN_A": _list_run_numbers,
    "RUN_B": _list_run_numbers,
    "METRIC": lambda store: _list_metrics(),
    "JUDGE": _list_judges,
    "SET": _list_claim_set_names,
}
_STORED: Final[dict[tuple[str, str], Callable[[Path | None], Words]]] = {
    ("", "--source"): _list_source_names,
    ("", "--set"): _list_claim_set_names,
    ("claim-set export", "name"): _list_claim_set_names,
    ("claim-set delete", "name"): _list_claim_set_names,
    ("delete dataset", "name"): _list_source_names,
}
_FIXED: Final[dict[tuple[str, str], Callable[[], Words]]] = {
    ("", "--metric"): _list_metrics,
    ("run", "--metric"): _list_run_metrics,
    ("", "--split"): _list_splits,
    ("", "--color"): lambda: get_args(ColorMode),
    ("", "--strategy"): _list_strategies,
    ("", "--idk"): _list_idk_rules,
    ("", "--preset"): _list_presets,
    ("gate", "--accept"): _list_accepted_codes,
    ("gate", "--level"): _list_report_levels,
    ("report", "--format"): _list_report_formats,
    ("report", "--duplicates"): _list_duplicates_rules,
    ("report", "--interval"): _list_interval_methods,
    ("import", "--format"): _list_import_formats,
    ("measure", "--format"): _list_import_formats,
    ("measure", "--on"): _list_measure_engines,
    ("run", "--claims"): _list_claim_origins,
    ("sample", "--design"): _list_populations,
    ("label", "--sample"): _list_new_samples,
    ("label", "--order"): _list_queue_orders,
    ("label", "--stratify"): _list_strata,
    ("plan", "--stratify"): _list_strata,
    ("check", "kind"): _list_finding_kinds,
    ("split", "action"): _list_split_actions,
    ("guideline", "action"): _list_guideline_actions,
    ("export", "--format"): _list_export_formats,
    ("export", "what"): _list_export_names,
}
"""By command and option; "" for all commands. Each list is the one the option is checked by."""
