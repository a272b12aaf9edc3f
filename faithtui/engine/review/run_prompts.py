"""Prompt texts of runs: those that were sent, whatever became of the folder they came from.

A run keeps its texts when it is planned. Of runs that are older than that, the package has the
first version, and a folder of the user's may still hold what was sent: the digest that the run
has says whether it does.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from faithtui.domain.ids import RunId
from faithtui.engine.review.examples_from_labels import read_stored_examples
from faithtui.errors import ConfigError, FaithtuiError, StoreError
from faithtui.metrics.prompt_texts import FIRST_VERSION, PromptSet, load_prompts
from faithtui.metrics.registry import METRICS, build, find_metric
from faithtui.store.records import RunSpec
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class RunPrompts:
    """Prompt texts of a run."""

    run: RunId
    metric: str
    version: int
    """1, or the version of the texts and of how questions are put beside them."""
    digest: str
    """64 hexadecimal digits, the run's."""
    texts: Mapping[str, str]
    """By step, as they were sent: with the run's examples, and with their holes."""


@dataclass(frozen=True, slots=True)
class PromptSetSummary:
    """Prompt texts in a list."""

    digest: str
    """Of the texts without examples; "" for runs that kept none."""
    metric: str
    version: int
    runs: tuple[RunId, ...]
    """That send them, the newest first; () for those of the package that no run sends."""
    created_at: datetime | None
    """When the first run with them was planned; None: no run keeps them."""
    packaged: bool
    """They are the ones that come with the program."""
    is_known: bool = True
    """False: of imported runs, whose judges were asked elsewhere."""


def explain_imported_run_unknowns(run: RunId) -> str:
    """Say of a run whose verdicts came with a data set what is not known of it."""
    return f"run {run} was imported: nothing was asked, its prompts and parameters are not known"


def load_run_prompts_without_examples(store: Store, spec: RunSpec) -> PromptSet:
    """Load the texts of a run, without its examples.

    Raises:
        ConfigError: Its folder is gone or holds none of them, and the run kept none.
    """
    if spec.prompt_set is not None:
        kept = store.prompts.find_set(spec.prompt_set)
        if kept is not None:
            return PromptSet(kept.texts, version=kept.version)
    steps = find_metric(spec.metric).steps
    return load_prompts(spec.metric, steps, spec.prompts_dir, FIRST_VERSION)


def read_run_prompts_with_examples(store: Store, run: RunId) -> RunPrompts:
    """Read the texts that a run sends, examples included.

    Raises:
        StoreError: There is no such run; or it was imported; or it was begun before texts were
            kept, and what was sent is not to be had any more.
    """
    spec = store.runs.read_run(run).spec
    if spec.is_imported:
        raise StoreError(explain_imported_run_unknowns(run))
    try:
        examples = read_stored_examples(store, spec.example_set)
        prompts = load_run_prompts_without_examples(store, spec)
        metric = build(spec.metric, spec.options, prompts=prompts, examples=examples)
    except ConfigError as error:
        raise _make_missing_prompts_error(run) from error
    if metric.prompt_digest != spec.prompt_digest:
        raise _make_missing_prompts_error(run)
    return RunPrompts(
        run, spec.metric, prompts.version, spec.prompt_digest, dict(metric.prompts.texts)
    )


def list_prompt_sets(store: Store) -> tuple[PromptSetSummary, ...]:
    """List the texts of all runs, those of the newest run first, then those of the package."""
    packaged = {
        load_prompts(each.spec.key, each.steps, None).digest: each.spec.key for each in METRICS
    }
    found = []
    left = dict(packaged)
    for digest, runs in store.prompts.list_run_ids_by_prompt_digest().items():
        kept = None if digest is None else store.prompts.find_set(digest)
        if kept is not None:
            left.pop(kept.digest, None)
            found.append(
                PromptSetSummary(
                    kept.digest,
                    kept.metric,
                    kept.version,
                    runs,
                    kept.created_at,
                    kept.digest in packaged,
                )
            )
            continue
        alike: dict[tuple[str, bool], list[RunId]] = {}
        for each in runs:
            spec = store.runs.read_run(each).spec
            alike.setdefault((spec.metric, spec.is_imported), []).append(each)
        found += [
            PromptSetSummary("", key, FIRST_VERSION, tuple(those), None, False, not is_imported)
            for (key, is_imported), those in alike.items()
        ]
    found += [
        PromptSetSummary(digest, key, PromptSet({}).version, (), None, True)
        for digest, key in left.items()
    ]
    return tuple(found)


def compare_prompts(before: RunPrompts, after: RunPrompts) -> str:
    """Compare the texts of two runs, as a unified diff; "" when they are the same."""
    lines: list[str] = []
    for step in dict.fromkeys([*before.texts, *after.texts]):
        old, new = before.texts.get(step, ""), after.texts.get(step, "")
        lines += difflib.unified_diff(
            old.splitlines(),
            new.splitlines(),
            f"run {before.run}: {before.metric}/{step}",
            f"run {after.run}: {after.metric}/{step}",
            lineterm="",
        )
    return "\n".join(lines)


def _make_missing_prompts_error(run: RunId) -> FaithtuiError:
    return StoreError(
        f"run {run} was begun before prompt texts were kept, and those that it sent are not in its "
        "folder any more; its replies and their digest are"
    )
