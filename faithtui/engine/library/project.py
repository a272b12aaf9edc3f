"""A store as one object, for notebooks and scripts: import, run, label, report.

What comes back is plain: dictionaries and lists of JSON values, in the shapes that the commands
print with `--json`. Nothing here computes: each method is what the command of its name does.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, get_args

from faithtui.domain.field_types import require_type
from faithtui.domain.ids import RunId
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.limits import REVIEWER
from faithtui.engine.library.project_rows import Progress, ReportFormat, Row
from faithtui.errors import ConfigError
from faithtui.paths import expand_home

if TYPE_CHECKING:
    from faithtui.config import Settings
    from faithtui.store.store import Store


class Project:
    """An open store; a context manager that closes it. Made by `open_store`.

    Runs are named by number, or `"last"`: the newest, with verdicts where those are read.
    """

    def __init__(self, store: "Store", settings: "Settings") -> None:
        self._store = store
        self._settings = settings

    def __enter__(self) -> Self:
        """Give the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def __repr__(self) -> str:
        """Name the file, for notebooks."""
        return f"<Project {self.path}>"

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._store.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def reviewer(self) -> str:
        """Who labels, unless `label` names somebody else."""
        return self._settings.reviewer

    def import_file(
        self,
        path: str | Path,
        *,
        source: str | None = None,
        format: str = "auto",
        mapping: Mapping[str, str] | None = None,
        strict: bool = False,
    ) -> Row:
        """Import conversations and human labels from a file, or from the files of a folder.

        What is in the store already stays as it is, so importing twice changes nothing.

        Args:
            path: What `faithtui import` takes.
            source: Name of the data set; None: the file's name without its suffix.
            format: What the file is, as `--format` takes it; `auto` finds out.
            mapping: Which column or key a part is, such as `{"question": "user_input"}`.
            strict: Import nothing when a line is refused.

        Returns:
            Counts under `read`, `new`, `unchanged` and `new_ratings`; sentences on the first lines
            that were refused, `refused`, or may not be what was meant, `warnings`; how often each
            key came that nobody understood, `kept_aside`; what files were taken for, `formats`.

        Raises:
            ConfigError: There is no such format, or no part of the name that `mapping` gives.
        """
        from faithtui.engine.library.project_imports import import_path

        require_type(path, str | Path, "path", "a path")
        require_type(format, str, "format", "a name such as ragas, or auto")
        require_type(mapping, Mapping | None, "mapping", "a mapping from a name to a column")
        return import_path(self._store, Path(path), source, format, mapping or {}, strict=strict)

    def import_rows(self, rows: Iterable[Mapping[str, object]], *, source: str) -> Row:
        """Import conversations that are Python values, each as a line of an import file has it.

        Args:
            rows: Such as `{"id": "c1", "turns": [{"role": "user", "content": "When?"}, …]}`.
            source: Name of the data set.

        Returns:
            As `import_file`.
        """
        from faithtui.engine.library.project_imports import import_values

        require_type(source, str, "source", "the name of the data set")
        return import_values(self._store, rows, source)

    def sources(self) -> list[Row]:
        """List the data sets, each with the number of its conversations."""
        return [asdict(each) for each in self._store.conversations.list_sources()]

    def run(
        self,
        metric: str = "turn-faithfulness",
        judge: str | None = None,
        *,
        options: Mapping[str, object] | None = None,
        sources: Sequence[str] = (),
        limit: int | None = None,
        base_url: str | None = None,
        profile: JudgeProfile | None = None,
        as_peer: bool = False,
        budget_usd: float | None = None,
        concurrency: int | None = None,
        on_progress: Progress | None = None,
    ) -> Row:
        """Run a metric over the conversations, and wait for its end.

        Interrupting it (ctrl+c, or a notebook's stop button) waits for the replies in flight and
        keeps them; `resume` goes on.

        Args:
            metric: Key of the metric.
            judge: As `--judge` takes it; None: the one of the settings, which is `offline` unless
                you set another.
            options: Options of the metric by name.
            sources: Only conversations of these data sets; empty: all.
            limit: At most so many conversations.
            base_url: Another server that speaks the judge's protocol.
            profile: Parameters of the judge; None: as the settings and the environment say.
            as_peer: Score exactly as the peer does.
            budget_usd: Stop before it costs more dollars.
            concurrency: Questions in flight at once; None: as set.
            on_progress: Called now and then.

        Returns:
            The run, as `runs` lists it. Its `state` is `done`, or `stopped` with a `reason`.
        """
        from faithtui.engine.library.project_runs import (
            RequestedRun,
            execute_and_wait,
            make_environment,
            make_run_request,
        )
        from faithtui.engine.runs.run_planner import save_planned_run

        asked = RequestedRun(
            metric,
            judge,
            options,
            sources,
            limit,
            base_url,
            profile,
            as_peer,
            budget_usd,
            concurrency,
        )
        request = make_run_request(self._settings, asked)
        environment = make_environment(self._settings)
        run = save_planned_run(self._store, request, environment=environment)
        return execute_and_wait(self._store, run, environment, on_progress)

    def resume(self, run: int | str = "last", *, on_progress: Progress | None = None) -> Row:
        """Go on with a run: what failed or lacks a verdict is asked again. Returns it, as `run`."""
        from faithtui.engine.library.project_runs import execute_and_wait, make_environment

        found = self._find_run_id(run)
        return execute_and_wait(self._store, found, make_environment(self._settings), on_progress)

    def runs(self) -> list[Row]:
        """List the runs, the newest first, without archived ones."""
        from faithtui.engine.review.conversation_json import run_settings_and_state_to_json
        from faithtui.engine.runs.run_liveness import read_runs_marking_interrupted

        rows = read_runs_marking_interrupted(self._store)
        return [run_settings_and_state_to_json(row) for row in rows if row.archived_at is None]

    def conversations(self, run: int | str = "last") -> list[Row]:
        """List the conversations of a run with their scores, states and counts of labels."""
        from faithtui.engine.review.conversation_json import conversation_row_to_json

        found = self._find_run_id(run)
        metric = self._store.runs.read_run(found).spec.metric
        rows = self._store.runs.read_item_rows(self._store.runs.list_item_ids(found))
        return [conversation_row_to_json(row, metric) for row in rows]

    def claims(self, run: int | str = "last", *, blind: bool = False) -> list[Row]:
        """List the claims of a run: a row each, with the judge's verdict and the human labels.

        Whoever lists them has seen the verdicts, and the store remembers that of `reviewer`.

        Args:
            run: The run.
            blind: Leave out verdicts and the labels of other annotators, and remember nothing.
        """
        from faithtui.engine.library.project_claims import list_claims

        return list_claims(self._store, run, self.reviewer, blind=blind)

    def label(
        self,
        claim: int,
        verdict: str,
        *,
        run: int | str = "last",
        reviewer: str | None = None,
        note: str | None = None,
    ) -> Row:
        """Label a claim; an earlier label of the same annotator is replaced, and stays in the log.

        Args:
            claim: Its `claim` number, as `claims` lists it.
            verdict: A label of the run's metric, such as `yes`, `no` or `idk`; `x` for what is not
                a fair claim.
            run: The run under review.
            reviewer: Who says it; None: `reviewer`.
            note: A remark.

        Returns:
            What was recorded: `action` says whether it is blind, agrees, or overrides the judge.

        Raises:
            ConfigError: The metric has no such label, or the name is none.
            StoreError: The run has no such claim.
        """
        from faithtui.engine.library.project_claims import label_claim

        require_type(claim, int, "claim", "the number of a claim")
        require_type(verdict, str, "verdict", "a label, such as yes")
        who = self.reviewer if reviewer is None else reviewer
        return label_claim(self._store, run, claim, verdict, who, note)

    def report(self, run: int | str = "last") -> Row:
        """Compare the judge of a run with the human labels: the JSON report as a dictionary."""
        found: object = json.loads(self.format_report(run, "json"))
        assert isinstance(found, dict)
        return found

    def format_report(self, run: int | str = "last", form: ReportFormat = "md") -> str:
        """Write the same report as a text: Markdown, HTML, JSON, or CSV of claims or answers.

        Raises:
            ConfigError: There is no such format.
        """
        from faithtui.engine.library.project_reports import format_agreement_report

        return format_agreement_report(self._store, run, form)

    def write_report(
        self,
        directory: str | Path,
        run: int | str = "last",
        formats: Sequence[ReportFormat] = get_args(ReportFormat),
    ) -> list[Path]:
        """Write the report as files of a folder, and list them.

        Raises:
            ExportError: A file cannot be written there.
        """
        from faithtui.engine.library.project_reports import write_agreement_report_files

        return write_agreement_report_files(self._store, run, formats, expand_home(directory))

    def gate(
        self,
        run: int | str = "last",
        *,
        min_kappa: float | None = None,
        min_recall_no: float | None = None,
        min_score: float | None = None,
        min_labels: int | None = None,
        accept: Sequence[str] = (),
        certificate: str | Path | None = None,
    ) -> Row:
        """Hold a run against thresholds, as `faithtui gate` does, and report the result.

        Args:
            run: The run.
            min_kappa: Least agreement with the human labels.
            min_recall_no: Least share of the units labelled `no` that the judge calls `no`.
            min_score: Least corrected share of claims that pass.
            min_labels: Fewest labels.
            accept: Codes of warnings that are accepted.
            certificate: A certificate that `faithtui gate --write-certificate` wrote.

        Returns:
            As `faithtui gate --json` prints it: `result` is `passed`, or says what is missing.
        """
        from faithtui.engine.library.project_reports import check_run_against_thresholds
        from faithtui.engine.review.gate.gate import GateRequest

        request = GateRequest(
            kappa=min_kappa,
            recall_no=min_recall_no,
            score=min_score,
            labels=min_labels,
            accept=tuple(accept),
            certificate=None if certificate is None else Path(certificate),
        )
        return check_run_against_thresholds(self._store, run, request)

    def _find_run_id(self, run: int | str) -> RunId:
        from faithtui.engine.library.project_runs import find_run_id

        return find_run_id(self._store, run)


def open_store(
    path: str | Path | None = None, *, create: bool = True, reviewer: str | None = None
) -> Project:
    """Open a store, as `--store` names it.

    Args:
        path: The file; None: the one of the settings.
        create: Make it when there is none; its folder must exist.
        reviewer: Who labels; None: the one of the settings, which is the login name unless you
            set another.

    Returns:
        The open store. Close it, or use it in a `with`.

    Raises:
        ConfigError: The settings cannot be read, or `reviewer` is no name.
        StoreError: It cannot be opened.
    """
    from faithtui.config import load_settings
    from faithtui.output_files import make_private_directory
    from faithtui.store.store import Store

    require_type(path, str | Path | None, "path", "a path, or None")
    settings = load_settings()
    if reviewer is not None:
        if not reviewer.strip():
            raise ConfigError("reviewer is empty; expected a name")
        REVIEWER.check_length(reviewer, field="reviewer")
        settings = replace(settings, reviewer=reviewer)
    if path is None and create:
        make_private_directory(settings.store.parent)
    file = settings.store if path is None else expand_home(path)
    return Project(Store.open(file, create=create), settings)
