"""Write the parts of the docs that repeat the code.

    python tests/docs/generate.py            writes them
    python tests/docs/generate.py --check    writes nothing; names stale files and exits 1

`docs/cli.md` and `docs/keys.md` are written whole. In other pages only what stands between
`<!-- generated: NAME -->` and `<!-- /generated: NAME -->` is replaced. The text depends on the code
alone: not on the terminal, the machine or the time.
"""

import ast
import asyncio
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import tomlkit
import typer.main
from sqlalchemy import Column, PrimaryKeyConstraint, Table, UniqueConstraint

from faithtui import config, errors
from faithtui.agreement.rating_scales import RATING_SCALES
from faithtui.agreement.report.model import LevelReport
from faithtui.cli.exit_codes import INTERRUPTED
from faithtui.cli.main import app
from faithtui.cli.run_outcome import INCOMPLETE, WAITS
from faithtui.cli.streams import READER_GONE
from faithtui.config import PRESETS
from faithtui.domain import withheld_reasons
from faithtui.domain.conversation import Turn
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine import demo
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.engine.runs import runner
from faithtui.engine.shards.results_schema import TABLES
from faithtui.errors import FaithtuiError
from faithtui.formats.readers.registry import READERS
from faithtui.formats.readers.traces.trace_reader import TraceReader
from faithtui.formats.writers import flat_rows
from faithtui.formats.writers.flat_rows import CLAIM_COLUMNS, LABEL_FIELDS
from faithtui.judges import base as judges
from faithtui.judges import registry as judge_registry
from faithtui.metrics import base as metrics
from faithtui.metrics import registry
from faithtui.store.schema import judge_tables, tables
from faithtui.store.schema.metadata import METADATA
from faithtui.store.store import Store
from faithtui.tui.keymap.declared_bindings import format_keys_markdown, format_presets_markdown
from faithtui.tui.keymap.keymap import add_keys_of_dependent_bindings, preset_keymap
from faithtui.tui.keymap.presets import CHANGES
from faithtui.tui.settings import setting_lines

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "faithtui"
WIDTH = 80
"""Columns of a help page, whatever the terminal."""

NOTE = "<!-- Written by tests/docs/generate.py; change the code, not this file. -->"


STREAMS = """\
Only what a command was asked for goes to stdout; messages and progress go to stderr. If the reader
of stdout closes it, as `head` does, the command ends without a message and with 141, like a program
that SIGPIPE ends: a script with `pipefail` notices that the output was cut short. If stdout cannot
be written, because the disk is full or stdout is closed, the command says so and ends with 7; its
changes to the store are complete. A run first waits for the replies in flight, and `--resume`
continues it. `faithtui gate` keeps its own codes: its answer is the code, which also holds if
nobody reads the text; 3 says that the text could not be written. If stderr is closed or full, a
command continues. A closed stdin counts as empty."""


def cli_page() -> str:
    """Show the help of every command, and the exit codes."""
    root = typer.main.get_command(app)
    parts = [
        "# Commands",
        NOTE,
        "Data goes to stdout, messages and progress to stderr. `--store`, `--json`, `-q`, `-v` and "
        "`--color` may stand before or after a command's name. RUN is a number from "
        "`faithtui runs`, or `last`. Terms are in the [glossary](glossary.md).",
        _help(root, "faithtui", None),
    ]
    whole = _context(root, "faithtui", None)
    names: Sequence[str] = root.list_commands(whole)  # type: ignore[attr-defined]  # a group
    for name in names:
        command = root.get_command(whole, name)  # type: ignore[attr-defined]  # a group
        parts += _helps(command, name, whole)
    parts += ["## Exit codes", exit_codes(), STREAMS]
    return "\n\n".join(parts) + "\n"


def _helps(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Give a command's help under its heading, then that of each command in it."""
    context = _context(command, name, parent)
    yield f"## {context.command_path}"
    yield _help(command, name, parent)
    if hasattr(command, "commands"):
        for inner in command.list_commands(context):
            yield from _helps(command.get_command(context, inner), inner, context)


def _context(command: Any, name: str, parent: Any) -> Any:
    return command.context_class(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        **command.context_settings,
    )


def _help(command: Any, name: str, parent: Any) -> str:
    text = command.get_help(_context(command, name, parent))
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"```text\n{lines}\n```"


def exit_codes() -> str:
    """List what commands exit with."""
    kinds: dict[int, type[FaithtuiError]] = {}
    for kind in _with_subclasses(FaithtuiError):
        kinds.setdefault(kind.exit_code, kind)
    rows = [["0", "done", ""]]
    rows += [
        [str(code), _sentence(kind.__doc__), f"`{kind.__name__}`"]
        for code, kind in sorted(kinds.items())
        if kind is not FaithtuiError
    ]
    rows += [
        [
            str(INCOMPLETE),
            "A run ended incomplete: it stopped, failed in part or lacks verdicts.",
            "",
        ],
        [str(WAITS), "A run waits for a batch, or for a file of answers.", ""],
    ]
    rows.sort(key=lambda row: int(row[0]))
    rows.append([str(INTERRUPTED), "Interrupted with Ctrl-C; what was answered is stored.", ""])
    rows.append(
        [str(READER_GONE), "Nobody reads the output any more, as in a pipe into `head`.", ""]
    )
    return _table(["code", "meaning", "error"], rows)


def _with_subclasses(kind: type[FaithtuiError]) -> Iterator[type[FaithtuiError]]:
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from _with_subclasses(each)


def keys_page() -> str:
    """List the keys of every screen with what they do and their stable names."""
    intro = (
        "# Keys",
        NOTE,
        "`?` lists the keys that work where you are, `faithtui keys` all of them. The last column "
        "is the binding's own name: it stays when the key changes. Terms are in the "
        "[glossary](glossary.md).",
        "## Other keys",
        'Key maps that come with faithtui are chosen with `keys = "vim"` in the settings file, '
        "with `FAITHTUI_KEYS`, or on the settings screen (`g s`):",
        "\n".join(f"- `{name}`: {each.words}" for name, each in CHANGES.items()),
        "Your own go on top of them, in `keymap.toml` beside the settings file: a binding's name "
        "and its keys, separated by commas.",
        '```toml\n"review.undo" = "u,ctrl+z"\n"review.note" = "e,f2"\n```',
        "A name or a key that does not exist, a key that two bindings share where both work, and a "
        "key that most terminals cannot tell from another one (ctrl+i, m, h, j, [) are refused "
        "when the app starts, exit code 2. What differs from the default:",
        format_presets_markdown(
            {
                name: add_keys_of_dependent_bindings(preset_keymap(name), {})
                for name in PRESETS
                if name != "default"
            }
        ).rstrip(),
    )
    return "\n\n".join((*intro, format_keys_markdown()))


def scale_list() -> str:
    """List what each label of each scale becomes."""
    rows = []
    for scale in RATING_SCALES:
        for number, (label, verdict) in enumerate(scale.verdicts.items()):
            rating = scale.ratings.get(label)
            rows.append(
                [
                    f"`{scale.name}`" if not number else "",
                    f"`{label}`",
                    verdict,
                    "" if rating is None else f"{rating:.2f}",
                ]
            )
    return _table(["scale", "label", "verdict", "rating"], rows)


def column_list(columns: Iterable[flat_rows.FlatColumn]) -> str:
    """List columns of a flat export."""
    return _table(("column", "meaning"), [(f"`{each.name}`", each.meaning) for each in columns])


def table_list() -> str:
    """Describe every table of the store with its columns."""
    docs = {
        _table_name(kind): kind
        for module in (tables, judge_tables)
        for kind in vars(module).values()
        if isinstance(kind, type) and hasattr(kind, "__tablename__")
    }
    words = _field_words(tables) | _field_words(judge_tables)
    parts = []
    assert set(METADATA.tables) <= set(docs)
    # The registry's own order is that in which the modules were imported.
    for name in (each for each in docs if each in METADATA.tables):
        table, kind = METADATA.tables[name], docs[name]
        rows = [
            [f"`{column.name}`", _type(column), _role(table, column), said]
            for column in table.columns
            for said in [words[kind.__name__].get(column.name, "")]
        ]
        keys = [
            "Unique together: " + ", ".join(f"`{name}`" for name in names) + "."
            for names in _unique_sets(table)
            if len(names) > 1
        ]
        parts += [
            f"#### {table.name}",
            " ".join([" ".join((kind.__doc__ or "").split()), *keys]),
            _table(["column", "type", "key", "meaning"], rows),
        ]
    return "\n\n".join(parts)


def _table_name(kind: type) -> str:
    return str(kind.__tablename__)  # type: ignore[attr-defined]  # every table has one


_TYPES = {
    "StoredText": "text",
    "StoredJson": "JSON",
    "Integer": "integer",
    "BigInteger": "integer",
    "Float": "number",
    "Boolean": "yes/no",
    "LargeBinary": "bytes",
    "UTCDateTime": "time, UTC",
}


def _type(column: Column[Any]) -> str:
    return _TYPES[type(column.type).__name__] + (" or null" if column.nullable else "")


def _role(table: Table, column: Column[Any]) -> str:
    roles = ["primary"] if column.primary_key else []
    if [column.name] in _unique_sets(table):
        roles.append("unique")
    roles += sorted(f"→ `{key.target_fullname}`" for key in column.foreign_keys)
    return ", ".join(roles)


def _unique_sets(table: Table) -> list[list[str]]:
    found = [
        [column.name for column in each.columns]
        for each in table.constraints
        if isinstance(each, UniqueConstraint) and not isinstance(each, PrimaryKeyConstraint)
    ]
    return sorted(found)


def option_list(metric: str) -> str:
    """List the options of a metric: the fields of its dataclass."""
    return _table(
        ["option", "type", "default", "meaning"],
        [
            [f"`{each.name}`", _hint(each.kind), f"`{_value(each.default)}`", each.meaning]
            for each in registry.describe_options(metric)
        ],
    )


def _hint(kind: Any) -> str:
    words = {
        bool: "true or false",
        int: "integer",
        float: "number",
        str: "text",
        object: "object",
        type(None): "none",
    }
    choices = getattr(kind, "__args__", (kind,))
    return " or ".join(words.get(each, f"`{each}`") for each in choices)


def _value(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def prompt_list(metric: str) -> str:
    """List the prompt texts of a metric and the holes each must have."""
    return _table(
        ["file", "holes"],
        [
            [f"`{step}.txt`", ", ".join(f"`${hole}`" for hole in holes) or "none"]
            for step, holes in registry.find_metric(metric).steps.items()
        ],
    )


def weight_list() -> str:
    """Compute how much each interaction counts in the windowed score, for a few lengths."""
    rows = []
    for number, size in ((3, 10), (5, 10), (12, 10), (100, 10), (12, 2)):
        weights = weights_of(number, size)
        rows.append(
            [
                f"{number}, {size}",
                *(f"{weights[place]:.4f}" for place in (0, 1, -1)),
                f"{weights[0] / weights[-1]:.1f}",
            ]
        )
    return _table(["interactions, window size", "first", "second", "last", "first / last"], rows)


def weights_of(number: int, size: int) -> list[float]:
    """Give each interaction's share of the windowed score when all have equally many claims."""
    parts = split_into_interactions([Turn("user", ""), Turn("assistant", "")] * number)
    weights = [0.0] * number
    for window in cut_sliding_windows(parts, size):
        for position in window.interactions:
            weights[position] += 1 / len(window.interactions) / number
    return weights


@cache
def demo_level() -> LevelReport:
    """Judge the demo's conversations, as `faithtui demo` does, and compare its answers."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "demo.db") as store:
        run = demo.ensure_demo_in_store(store, lambda progress: None)
        asyncio.run(runner.execute_run(store, run, lambda event: None))
        return compute_run_agreement(store, run).report.primary_level_report


def demo_example() -> str:
    """Compare the judge with the human labels of the demo's answers."""
    level = demo_level()
    (both_pass, flagged), (missed, both_fail) = level.table.counts
    coverage, kappa, n = level.coverage, level.cohen_kappa, level.table.n
    agreed, people_fail = both_pass + both_fail, missed + both_fail
    return "\n\n".join(
        (
            _wrapped(
                "An example: the answers of `faithtui demo`, judged by the embedded judge. "
                f"Annotators rated {coverage.reviewed} of its {coverage.units} answers. The judge, "
                "which was not trained on any of these conversations, gave a verdict on "
                f"{n + coverage.tied} of these, and on {coverage.tied} of them as many annotators "
                "pass the answer as fail it."
            ),
            _table(
                ["", "judge passes", "judge fails", "all"],
                [
                    ["human label passes", str(both_pass), str(flagged), str(both_pass + flagged)],
                    ["human label fails", str(missed), str(both_fail), str(people_fail)],
                    ["all", str(both_pass + missed), str(flagged + both_fail), str(n)],
                ],
            ),
            _wrapped(
                f"{agreed} of {n} agree: {level.percent_agreement.value:.2f}. But annotators pass "
                f"{(both_pass + flagged) / n:.0%} of these answers anyway, so "
                f"{level.chance_agreement:.2f} "
                f"would come by chance. Kappa, which takes that off, is {kappa.value:.2f}, and "
                f"because the answers come from {kappa.clusters} groups only, its interval is "
                f"wide: {kappa.ci_low:.2f} to {kappa.ci_high:.2f}. And of the {people_fail} "
                f"answers with a failing human label, the judge flags {both_fail}."
            ),
        )
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 118, break_on_hyphens=False)


def reason_list() -> str:
    """List why a figure, or its interval, may be missing."""
    words = _field_words(withheld_reasons)[WithheldReason.__name__]
    return _table(
        ["word in files", "on the screen", "when"],
        [[f"`{each.value}`", each.words, words.get(each.name, "")] for each in WithheldReason],
    )


def excerpt(owner: ModuleType, *names: str) -> Callable[[], str]:
    """Make a part that quotes definitions of a module, without their docstrings' details."""

    def quoted() -> str:
        text = inspect.getsource(owner)
        found = {}
        for node in ast.parse(text).body:
            target = node.target if isinstance(node, ast.AnnAssign) else None
            name = target.id if isinstance(target, ast.Name) else getattr(node, "name", None)
            if name in names:
                segment = ast.get_source_segment(text, node) or ""
                decorators = [
                    f"@{ast.unparse(each)}" for each in getattr(node, "decorator_list", [])
                ]
                found[name] = "\n".join([*decorators, textwrap.dedent(segment)])
        path = Path(inspect.getfile(owner)).relative_to(ROOT).as_posix()
        code = "\n\n\n".join(found[name] for name in names)
        return f"```python\n# {path}\n{code}\n```"

    return quoted


def _field_words(module: ModuleType) -> dict[str, dict[str, str]]:
    """Read the docstrings under the fields of a module's classes."""
    found: dict[str, dict[str, str]] = {}
    for kind in ast.parse(inspect.getsource(module)).body:
        if not isinstance(kind, ast.ClassDef):
            continue
        words = found.setdefault(kind.name, {})
        for node, after in zip(kind.body, kind.body[1:], strict=False):
            target = (
                node.target
                if isinstance(node, ast.AnnAssign)
                else node.targets[0]
                if isinstance(node, ast.Assign)
                else None
            )
            if (
                isinstance(target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                words[target.id] = " ".join(str(after.value.value).split())
    return found


def _sentence(words: str | None) -> str:
    """Take the first paragraph of a docstring as one line."""
    return " ".join((words or "").split("\n\n", maxsplit=1)[0].split())


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def setting_list() -> str:
    """List the settings: what each does, takes, and is unless set."""
    unless = {"reviewer": "the login name", "store": "`faithtui.db` in the folder of the stores"}
    rows = []
    for each in fields(config.Settings):
        default = unless.get(each.name)
        if default is None:
            is_set = each.default is not MISSING and each.default not in (None, ())
            default = _code(_toml(each.default)) if is_set else "not set"
        variable = config.find_environment_variable(each.name)
        rows.append(
            (
                f"`{each.name}`",
                setting_lines.MEANINGS[each.name],
                config.describe_allowed_setting(each.name),
                default,
                f"`{variable}`" if variable else "",
            )
        )
    return _table(("setting", "does", "takes", "unless set", "variable"), rows)


def _toml(value: object) -> str:
    return str(tomlkit.item(value).as_string())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


PAGES: Mapping[str, Callable[[], str]] = {"cli.md": cli_page, "keys.md": keys_page}
"""Files that are written whole, below docs/."""


def format_list() -> str:
    """List the formats of files that can be imported."""
    lines = ["| format | reads | several files |", "| --- | --- | --- |"]
    for each in READERS:
        joined = "are one data set where they share ids" if isinstance(each, TraceReader) else ""
        lines.append(f"| [`{each.name}`](#{each.name}) | {each.title} | {joined} |")
    return "\n".join(lines)


def result_column_list() -> str:
    """List the columns of the tables that `faithtui measure` writes."""
    lines: list[str] = []
    for table, columns in TABLES.items():
        lines += [f"### {table}", "", "| column | type | meaning |", "| --- | --- | --- |"]
        for each in columns:
            kind = f"{each.type}, or null" if each.nullable else each.type
            lines.append(f"| `{each.name}` | {kind} | {each.meaning} |")
        lines.append("")
    return "\n".join(lines[:-1])


PARTS: Mapping[tuple[str, str], Callable[[], str]] = {
    ("data-model.md", "scales"): scale_list,
    ("exports.md", "claim-columns"): lambda: column_list(CLAIM_COLUMNS),
    ("exports.md", "label-fields"): lambda: column_list(LABEL_FIELDS),
    ("formats.md", "formats"): format_list,
    ("data-model.md", "tables"): table_list,
    ("scale.md", "results"): result_column_list,
    ("settings.md", "settings"): setting_list,
    **{
        (f"metrics/{each.spec.key}.md", part): partial(write, each.spec.key)
        for each in registry.METRICS
        for part, write in (("options", option_list), ("prompts", prompt_list))
    },
    ("metrics/turn-faithfulness.md", "weights"): weight_list,
    ("agreement.md", "example"): demo_example,
    ("agreement.md", "reasons"): reason_list,
    ("contributing.md", "metric"): excerpt(metrics, "Metric"),
    ("contributing.md", "registry"): excerpt(registry, "MetricEntry", "METRICS"),
    ("contributing.md", "judge"): excerpt(judges, "Judge"),
    ("contributing.md", "opening"): excerpt(judge_registry, "_make_local_judge"),
}
"""Parts of pages, below docs/, by file and name."""


def wanted(docs: Path = DOCS) -> dict[Path, str]:
    """Give every file with generated text as it should be.

    Args:
        docs: The folder of the docs.

    Raises:
        ValueError: A page lacks the marks of a part, or has some that nobody fills.
    """
    files = {docs / name: write() for name, write in PAGES.items()}
    for name in sorted({name for name, _ in PARTS}):
        own = {part: write for (page, part), write in PARTS.items() if page == name}
        files[docs / name] = _filled(name, (docs / name).read_text(encoding="utf-8"), own)
    return files


def _filled(name: str, page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Put the parts of a page between their marks."""
    pieces = re.split(r"(<!-- /?generated: [a-z-]+ -->)", page)
    marks = pieces[1::2]
    found = [mark.removeprefix("<!-- generated: ").removesuffix(" -->") for mark in marks[::2]]
    closed = [f"<!-- /generated: {part} -->" for part in found]
    if sorted(found) != sorted(parts) or marks[1::2] != closed:
        raise ValueError(f"docs/{name}: expected the parts {sorted(parts)}, found {marks}")
    for place, part in enumerate(found):
        pieces[4 * place + 2] = f"\n{parts[part]()}\n"
    return "".join(pieces)


def main(arguments: Sequence[str], docs: Path = DOCS) -> int:
    """Write the generated text, or with `--check` name files that are stale.

    Returns:
        0, or with `--check` 1 when a file is stale; 2 for other arguments.
    """
    check = list(arguments) == ["--check"]
    if arguments and not check:
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for path, page in wanted(docs).items():
        if path.is_file() and path.read_text(encoding="utf-8") == page:
            continue
        stale += 1
        place = f"docs/{path.relative_to(docs).as_posix()}"
        if check:
            print(f"stale: {place}")
        else:
            path.write_text(page, encoding="utf-8")
            print(f"written: {place}")
    if check and stale:
        print("run: python tests/docs/generate.py", file=sys.stderr)
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
