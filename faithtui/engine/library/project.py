"""A store as one object, for notebooks and scripts: import, run, label, report.

What comes back is plain: dictionaries and lists of JSON values, in the shapes that the commands
print with `--json`. Nothing here computes: each method is what the command of its name does.
"""

import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias, get_args

from faithtui.domain.annotations import Action
from faithtui.domain.field_types import require_type
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.label_sets import NOT_A_CLAIM
from faithtui.domain.limits import REVIEWER
from faithtui.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from faithtui.config import Settings
    from faithtui.engine.review.reports.agreement_report import RunAgreement
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.engine.runs.environment import RunEnvironment
    from faithtui.store.store import Store

_LOOK_S: Final = 0.2
"""Between two looks at a run that is waited for: progress is told so often."""

Row: TypeAlias = dict[str, object]
"""A row of anything, with JSON values."""
ReportFormat: TypeAlias = Literal["md", "html", "json", "csv", "answers"]
Progress: TypeAlias = Callable[[int, int], object]
"""Gets how many conversations are finished, and of how many."""


class Project:
    """An open store; a context manager that closes it. Made by `open_store`.

    Runs are named by their number, or `"last"`.
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
            Counts under `read`, `new`, `unchanged` and `new_ratings`; under `refused` a sentence
            for each line that was refused, as far as they are kept; under `kept_aside` how often
            each key came that nobody understood; under `formats` what the files were taken for.

        Raises:
            ConfigError: There is no such format, or no part of the name that `mapping` gives.
        """
        from faithtui.engine.dataset_import import import_files
        from faithtui.formats.readers.datasets import FormatChoice
        from faithtui.formats.readers.values.suggestions import read_key_map

        require_type(path, str | Path, "path", "a path")
        require_type(format, str, "format", "a name such as ragas, or auto")
        require_type(mapping, Mapping | None, "mapping", "a mapping from a name to a column")
        renames = read_key_map([f"{ours}={theirs}" for ours, theirs in (mapping or {}).items()])
        result = import_files(
            self._store,
            [Path(path).expanduser()],
            source=source,
            strict=strict,
            report=lambda progress: None,
            choice=FormatChoice(format, renames),
        )
        kept_aside: Counter[str] = Counter()
        for each in result.files:
            kept_aside.update(each.unknown_keys)
        return {
            "sources": [each.source for each in result.files],
            "read": sum(each.read for each in result.files),
            "new": sum(each.new for each in result.files),
            "unchanged": sum(each.unchanged for each in result.files),
            "new_ratings": sum(each.new_ratings for each in result.files),
            "refused": [str(each) for each in result.refusals],
            "kept_aside": dict(kept_aside),
            "formats": [each.format for each in result.files],
        }

    def import_rows(self, rows: Iterable[Mapping[str, object]], *, source: str) -> Row:
        """Import conversations that are Python values, each as a line of an import file has it.

        Args:
            rows: Such as `{"id": "c1", "turns": [{"role": "user", "content": "When?"}, …]}`.
            source: Name of the data set.

        Returns:
            As `import_file`.
        """
        require_type(source, str, "source", "the name of the data set")
        with tempfile.TemporaryDirectory(prefix="faithtui-") as folder:
            path = Path(folder) / "rows.jsonl"
            with path.open("w", encoding="utf-8") as file:
                for row in rows:
                    require_type(row, Mapping, "rows", "a list of mappings, a conversation each")
                    file.write(json.dumps(dict(row), allow_nan=False) + "\n")
            return self.import_file(path, source=source)

    def sources(self) -> list[Row]:
        """List the data sets, each with the number of its conversations."""
        return [asdict(each) for each in self._store.conversations.sources()]

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
        from faithtui.engine.calls.budget import NUSD
        from faithtui.engine.runs.judge_profiles import choose_profile
        from faithtui.engine.runs.planner import plan_run
        from faithtui.engine.runs.request import RunRequest

        require_type(metric, str, "metric", "the key of a metric, such as turn-faithfulness")
        require_type(judge, str | None, "judge", "a text such as openai:MODEL, or None")
        require_type(options, Mapping | None, "options", "a mapping such as {'window_size': 5}")
        require_type(sources, list | tuple, "sources", "a list of names of data sets")
        require_type(budget_usd, int | float | None, "budget_usd", "a number, or None")
        if budget_usd is not None and not (budget_usd >= 0 and math.isfinite(budget_usd)):
            raise ConfigError(f"budget_usd is {budget_usd}; expected a number from 0, or None")
        require_type(profile, JudgeProfile | None, "profile", "a JudgeProfile, or None")
        request = RunRequest.from_settings(self._settings)
        ref = judge or request.judge
        request = replace(
            request,
            metric=metric,
            judge=ref,
            profile=profile or choose_profile(ref, self._settings.judges, os.environ),
            base_url=request.base_url if judge is None and base_url is None else base_url,
            options={name: _format_option(each) for name, each in (options or {}).items()},
            sources=tuple(sources),
            limit=limit,
            as_peer=as_peer,
            budget_nusd=None if budget_usd is None else round(budget_usd * NUSD),
            concurrency=request.concurrency if concurrency is None else concurrency,
        )
        environment = self._make_environment()
        return self._execute(
            plan_run(self._store, request, environment=environment), environment, on_progress
        )

    def resume(self, run: int | str = "last", *, on_progress: Progress | None = None) -> Row:
        """Go on with a run: what failed or lacks a verdict is asked again. Returns it, as `run`."""
        return self._execute(self._find_run(run), self._make_environment(), on_progress)

    def runs(self) -> list[Row]:
        """List the runs, the newest first, without archived ones."""
        from faithtui.engine.review.conversation_json import run_to_json
        from faithtui.engine.runs.run_liveness import read_runs

        return [run_to_json(row) for row in read_runs(self._store) if row.archived_at is None]

    def conversations(self, run: int | str = "last") -> list[Row]:
        """List the conversations of a run with their scores, states and counts of labels."""
        from faithtui.engine.review.conversation_json import item_to_json

        found = self._find_run(run)
        metric = self._store.runs.row(found).spec.metric
        rows = self._store.runs.item_rows(self._store.runs.item_ids(found))
        return [item_to_json(row, metric) for row in rows]

    def claims(self, run: int | str = "last", *, blind: bool = False) -> list[Row]:
        """List the claims of a run: a row each, with the judge's verdict and the human labels.

        Whoever lists them has seen the verdicts, and the store remembers that of `reviewer`.

        Args:
            run: The run.
            blind: Leave out all that the judge and other annotators said, and remember nothing.
        """
        from faithtui.engine.review.conversation_json import view_to_json

        found = self._find_run(run)
        items = self._store.runs.item_ids(found)
        rows: list[Row] = []
        for item in items:
            view = self._store.runs.review_view(item, self.reviewer)
            texts = {turn.position: turn.content for turn in view.turns}
            written = view_to_json(view)
            claims = written["claims"]
            assert isinstance(claims, list)
            for claim in claims:
                place = {
                    "run": found,
                    "source": view.item.source,
                    "conversation": view.item.key,
                    "answer": texts.get(claim["turn"]),
                }
                rows.append(place | {k: v for k, v in claim.items() if not blind or k in _BLIND})
        if not blind and items:
            self._store.reviews.record_exposures(items, self.reviewer)
        return rows

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
            verdict: A label of the run's metric, such as `yes`, `no` or `idk`; `x` for what is no
                fair claim.
            run: The run under review.
            reviewer: Who says it; None: `reviewer`.
            note: A remark.

        Returns:
            What was recorded: `action` says whether it is blind, agrees, or overrides the judge.

        Raises:
            ConfigError: The metric has no such label, or the name is none.
            StoreError: The run has no such claim.
        """
        from faithtui.metrics.registry import find_metric

        require_type(claim, int, "claim", "the number of a claim")
        require_type(verdict, str, "verdict", "a label, such as yes")
        found = self._find_run(run)
        labels = find_metric(self._store.runs.row(found).spec.metric).spec.labels.names
        if verdict not in (*labels, NOT_A_CLAIM):
            known = ", ".join((*labels, NOT_A_CLAIM))
            raise ConfigError(f"there is no label `{verdict}`; known: {known}")
        who = self.reviewer if reviewer is None else reviewer
        if not who.strip():
            raise ConfigError("reviewer is empty; expected a name")
        REVIEWER.check_length(who, field="reviewer")
        number = ClaimId(claim)
        if self._store.reviews.find_item(found, number) is None:
            raise StoreError(f"run {found} has no claim {claim}; claims() lists them")
        act = self._store.reviews.record_verdict(number, who, verdict, run=found, saw_judge=False)
        if note is not None:
            self._store.reviews.record(
                number,
                who,
                Action.NOTED,
                note=note,
                run=found,
                judge_verdict=act.judge_verdict,
                saw_judge=act.saw_judge,
            )
        return {
            "claim": claim,
            "reviewer": who,
            "verdict": verdict,
            "judge": act.judge_verdict,
            "action": act.action.value,
        }

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
        from faithtui.engine.review.reports.agreement_report import render_report

        if form not in get_args(ReportFormat):
            known = ", ".join(get_args(ReportFormat))
            raise ConfigError(f"there is no format `{form}`; known: {known}")
        agreement = self._compute_agreement(run)
        return "".join(render_report(self._store, agreement, form))

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
        from faithtui.engine.review.reports.agreement_report import write_report_files

        agreement = self._compute_agreement(run)
        target = Path(directory).expanduser()
        return list(write_report_files(self._store, agreement, formats, target))

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
        """Hold a run against thresholds, as `faithtui gate` does, and tell what came of it.

        Args:
            run: The run.
            min_kappa: Least agreement with the human labels.
            min_recall_no: Least share of the unfaithful claims that the judge finds.
            min_score: Least corrected share of claims that pass.
            min_labels: Fewest labels.
            accept: Codes of warnings that are accepted.
            certificate: A certificate that `faithtui gate --write-certificate` wrote.

        Returns:
            As `faithtui gate --json` prints it: `result` is `passed`, or says what is missing.
        """
        from faithtui.engine.integrity.run_checks import check_for_moment
        from faithtui.engine.review.gate.gate import GateRequest, check_gate
        from faithtui.engine.review.gate.gate_json import gate_to_json

        self._store.refuse_changed_labels()
        found = self._find_run(run)
        check_for_moment(self._store, found)
        request = GateRequest(
            kappa=min_kappa,
            recall_no=min_recall_no,
            score=min_score,
            labels=min_labels,
            accept=tuple(accept),
            certificate=None if certificate is None else Path(certificate),
        )
        return gate_to_json(check_gate(self._store, found, request))

    def _compute_agreement(self, run: int | str) -> "RunAgreement":
        from faithtui.engine.integrity.run_checks import check_for_moment
        from faithtui.engine.review.reports.agreement_report import compute_run_agreement

        self._store.refuse_changed_labels()
        found = self._find_run(run)
        check_for_moment(self._store, found)
        return compute_run_agreement(self._store, found)

    def _find_run(self, run: int | str) -> RunId:
        """Find a run by its number, or the last one.

        Raises:
            ConfigError: It is neither, or there is no run yet.
            StoreError: There is no run with this number.
        """
        if run == "last":
            last = self._store.runs.last_id()
            if last is None:
                raise ConfigError("there is no run yet; run() makes one")
            return last
        if isinstance(run, bool) or not isinstance(run, int):
            raise ConfigError(f"run is {run!r}; expected a number, or 'last'")
        return self._store.runs.row(RunId(run)).id

    def _make_environment(self) -> "RunEnvironment":
        from faithtui.engine.runs.environment import make_run_environment

        settings = self._settings
        return make_run_environment(
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
            prices=settings.prices,
            redact=settings.redact,
            image_hosts=settings.image_hosts,
            timeout_s=settings.timeout_s,
        )

    def _execute(
        self, run: RunId, environment: "RunEnvironment", on_progress: Progress | None
    ) -> Row:
        """Execute a run on a thread of its own: a notebook has a loop running on this one.

        Raises:
            KeyboardInterrupt: Somebody interrupted it; the replies in flight are kept.
        """
        from faithtui.engine.review.conversation_json import run_to_json
        from faithtui.engine.runs.background import BackgroundRun
        from faithtui.engine.runs.run_liveness import read_run

        begun = BackgroundRun.resume(
            self._store, run, retry_unfinished=True, environment=environment
        )
        try:
            while not begun.join(_LOOK_S):
                _tell_progress(begun, on_progress)
        except BaseException:
            begun.cancel()
            begun.join(float(environment.timeout_s))
            raise
        _tell_progress(begun, on_progress)
        if begun.bug is not None:
            raise begun.bug
        return run_to_json(read_run(self._store, run))


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
    file = settings.store if path is None else Path(path).expanduser()
    return Project(Store.open(file, create=create), settings)


_BLIND: Final = frozenset(("claim", "number", "turn", "kind", "document", "text", "span"))
"""What of a claim says nothing of what anybody thinks of it."""


def _format_option(value: object) -> str:
    """Write a value of an option as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tell_progress(run: "BackgroundRun", on_progress: Progress | None) -> None:
    if on_progress is not None:
        progress = run.snapshot().progress
        if progress.conversations:
            on_progress(progress.finished_conversations, progress.conversations)
