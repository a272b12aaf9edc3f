"""All metrics, by key. An explicit table: nothing registers itself."""

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

from faithtui.domain.field_types import require_type
from faithtui.domain.judging.judge_examples import Example
from faithtui.domain.text.suggestions import format_known_names, format_suggestion
from faithtui.errors import ConfigError
from faithtui.metrics import (
    deepevalex_faithfulness,
    llamaindex_faithfulness,
    ragas_faithfulness,
    turn_contextual_relevancy,
    turn_faithfulness,
)
from faithtui.metrics.base import Metric, MetricSpec
from faithtui.metrics.prompt_examples import (
    check_and_drop_examples_without_verdict,
    format_examples,
)
from faithtui.metrics.prompt_texts import PromptSet, load_prompts


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """How one metric is made."""

    spec: MetricSpec
    steps: Mapping[str, tuple[str, ...]]
    make: type[Any]
    """A frozen dataclass that is a `Metric`; its fields are the options."""
    verdict_steps: tuple[str, ...]
    """Prompt texts that ask for a verdict; examples stand there."""


METRICS: tuple[MetricEntry, ...] = (
    MetricEntry(
        turn_faithfulness.SPEC,
        turn_faithfulness.STEPS,
        turn_faithfulness.TurnFaithfulness,
        turn_faithfulness.VERDICT_STEPS,
    ),
    MetricEntry(
        turn_contextual_relevancy.SPEC,
        turn_contextual_relevancy.STEPS,
        turn_contextual_relevancy.TurnContextualRelevancy,
        turn_contextual_relevancy.VERDICT_STEPS,
    ),
    MetricEntry(
        ragas_faithfulness.SPEC,
        ragas_faithfulness.STEPS,
        ragas_faithfulness.RagasFaithfulness,
        ragas_faithfulness.VERDICT_STEPS,
    ),
    MetricEntry(
        llamaindex_faithfulness.SPEC,
        llamaindex_faithfulness.STEPS,
        llamaindex_faithfulness.LlamaIndexFaithfulness,
        llamaindex_faithfulness.VERDICT_STEPS,
    ),
    MetricEntry(
        deepevalex_faithfulness.SPEC,
        deepevalex_faithfulness.STEPS,
        deepevalex_faithfulness.DeepEvalExFaithfulness,
        deepevalex_faithfulness.VERDICT_STEPS,
    ),
)


def find_metric(key: str) -> MetricEntry:
    """Find a metric by its key; underscores are read as hyphens.

    Raises:
        ConfigError: There is no such metric.
    """
    wanted = key.strip().lower().replace("_", "-")
    for each in METRICS:
        if each.spec.key == wanted:
            return each
    known = ", ".join(each.spec.key for each in METRICS)
    meant = format_suggestion(wanted, (each.spec.key for each in METRICS))
    raise ConfigError(f"there is no metric `{key}`; known: {known}{meant}")


def build(
    key: str,
    options: Mapping[str, object],
    *,
    prompts_dir: Path | None = None,
    examples: Sequence[Example] = (),
    prompts: PromptSet | None = None,
) -> Metric[Any]:
    """Make a metric with options.

    Args:
        key: The metric, hyphens or underscores.
        options: Values by option name. Text is read as the option's type, so that the command line
            and a stored run go the same way; `none` stands for no value.
        prompts_dir: The user's own prompt texts; None for the packaged ones.
        examples: Claims with human labels, to be shown where a verdict is asked for; () shows none.
        prompts: Texts without examples, such as those of a stored run, in place of all others.

    Raises:
        ConfigError: Unknown metric or option, a value of the wrong kind or out of range, or
            examples that the metric cannot show.
        InputError: The key is no text, or the options are no mapping.
    """
    require_type(key, str, "metric", "the key of a metric, such as turn-faithfulness")
    require_type(options, Mapping, "options", "a mapping such as {'window_size': 5}")
    for name in options:
        require_type(name, str, "options", "names as texts")
    found = find_metric(key)
    kinds = get_type_hints(found.make)
    known = list_option_names(key)
    values: dict[str, Any] = {}
    for given, value in options.items():
        name = given.strip().replace("-", "_")
        if name not in known:
            names = format_known_names(name, known)
            raise ConfigError(f"{found.spec.key} has no option `{given}`; it has {names}")
        values[name] = _convert_option_value(name, kinds[name], value)
    prompts = prompts or load_prompts(found.spec.key, found.steps, prompts_dir)
    if examples:
        shown = format_examples(
            check_and_drop_examples_without_verdict(examples, found.spec), found.spec
        )
        prompts = prompts.with_examples(found.verdict_steps, shown)
    made: Metric[Any] = found.make(prompts=prompts, **values)
    return made


def list_option_names(key: str) -> tuple[str, ...]:
    """List the options of a metric."""
    return tuple(
        field.name for field in fields(find_metric(key).make) if field.type is not PromptSet
    )


@dataclass(frozen=True, slots=True)
class MetricOption:
    """One option of a metric, for documentation."""

    name: str
    kind: Any
    """Its type annotation."""
    default: object
    meaning: str
    """A sentence or two."""


def describe_options(key: str) -> tuple[MetricOption, ...]:
    """Describe the options of a metric, from the fields of its class and the words under them.

    Raises:
        ConfigError: There is no such metric.
    """
    made = find_metric(key).make
    kinds = get_type_hints(made)
    words = _read_field_docstrings(made)
    return tuple(
        MetricOption(field.name, kinds[field.name], field.default, words.get(field.name, ""))
        for field in fields(made)
        if field.name in list_option_names(key)
    )


def _read_field_docstrings(made: type[Any]) -> dict[str, str]:
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    assert isinstance(body, ast.ClassDef)
    words = {}
    for field, below in pairwise(body.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                words[name] = " ".join(docstring.split())
    return words


def metric_options_to_json(metric: Metric[Any]) -> dict[str, object]:
    """Read a metric's options back, as JSON values; an object is kept as its text."""
    values = {name: getattr(metric, name) for name in list_option_names(metric.spec.key)}
    return {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in values.items()
    }


def drop_default_options(
    key: str, options: Mapping[str, object], *, keep_rules: bool = False
) -> dict[str, object]:
    """Keep the options of a stored run that differ from the metric's defaults.

    Args:
        key: Of the metric.
        options: By name.
        keep_rules: Whether strategy and the peer's rules are options too; where a run is ordered
            they are not, but chosen by themselves.

    Raises:
        ConfigError: There is no such metric.
    """
    defaults = {field.name: field.default for field in fields(find_metric(key).make)}
    left_out = () if keep_rules else ("strategy", "as_peer")
    return {
        name: value
        for name, value in options.items()
        if name not in left_out and name in defaults and defaults[name] != value
    }


def _convert_option_value(name: str, kind: Any, value: object) -> object:
    from pydantic import TypeAdapter, ValidationError  # 8 MB that listing metrics does not need

    if isinstance(value, str) and value.strip().lower() in ("none", "null"):
        value = None
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        found = error.errors()[0]
        # The words of a Literal, which pydantic lists in its message.
        words = [each for each in get_args(kind) if isinstance(each, str)]
        meant = format_suggestion(str(value), words)
        raise ConfigError(
            f"option {name}: {value!r} is not possible: {found['msg']}{meant}"
        ) from error
