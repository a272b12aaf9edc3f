"""What is measured and how, as one value that any process can be given; and what is kept of it.

A worker on another machine gets this value and opens metric and judge itself. What changes a result
stands in the manifest of the results folder, so that no folder mixes results of two settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from faithtui.domain.json_values import Json, JsonFields, value_json
from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.engine.library.judge_session import AskingOptions, AskingSettings
from faithtui.engine.shards.results_schema import FORMAT
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.judges.providers.prices import read_price_table
from faithtui.judges.redaction import load_and_try_redaction_hook
from faithtui.judges.registry import check_and_adapt_judge_profile, make_judge_fingerprint
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import build, metric_options_to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings(AskingSettings):
    """What `faithtui measure` was told. Holds no secret and nothing that is open.

    Of how the judge is asked, address and profile change results; all else may be other the next
    time, as may what follows the format of the files. Budgets are of all shards together.
    """

    metric: str = "turn-faithfulness"
    options: Mapping[str, object] = field(default_factory=dict)
    """Options of the metric, `strategy` and `as_peer` among them."""
    prompts_dir: Path | None = None
    judge: str = "offline"
    redact: str | None = None
    """`package.module:function` that every text goes through before it leaves the process."""
    choice: FormatChoice = field(default_factory=FormatChoice)
    """What the user said about the format of the files."""
    max_failures: FailureLimit = DEFAULT_FAILURE_LIMIT
    prices: Path | None = None
    wave: Path | None = None
    """Folder of questions and answers in files: nobody is asked, what is in the files of answers is
    read, and what is to be asked next is written. None: the judge is asked."""

    retry_failed: bool = False
    """Failed conversations of whole shards are measured again."""

    def build_metric(self) -> Metric[Any]:
        """Make the metric.

        Raises:
            ConfigError: Unknown metric or option, or prompts that cannot be used.
        """
        return build(self.metric, self.options, prompts_dir=self.prompts_dir)

    def make_asking_options(self) -> AskingOptions:
        """Say how the judge is asked.

        Raises:
            ConfigError: A value is out of its range, or redaction or prices cannot be used.
        """
        options = AskingOptions(
            **{each.name: getattr(self, each.name) for each in fields(AskingSettings)},
            redact=None if self.redact is None else load_and_try_redaction_hook(self.redact),
            prices=read_price_table(self.prices),
        )
        options.check()
        return options

    def to_manifest_json(self) -> JsonFields:
        """Say what changes results, for the manifest.

        Raises:
            ConfigError: As `build_metric`; or the judge cannot be opened.
        """
        metric = self.build_metric()
        judge = metric.judge or self.judge
        profile = check_and_adapt_judge_profile(judge, self.profile)
        redact = None if self.redact is None else load_and_try_redaction_hook(self.redact)
        fingerprint = make_judge_fingerprint(judge, self.base_url, profile=profile, redact=redact)
        prompts = metric.prompts.without_examples
        return {
            "format": FORMAT,
            "faithtui": version("faithtui"),
            "metric": metric.spec.key,
            "metric_version": metric.spec.version,
            "peer": metric.spec.peer,
            "options": value_json(metric_options_to_json(metric)),
            "rule": value_json(metric.rule),
            "judge": judge,
            "judge_fingerprint": fingerprint,
            "base_url": self.base_url,
            "profile": value_json(profile),
            "prompt_digest": metric.prompt_digest,
            "prompt_set": {
                "digest": prompts.digest,
                "version": prompts.version,
                "texts": dict(prompts.texts),
            },
            "reader": self.choice.name,
            "renames": dict(self.choice.renames),
        }


_CHANGES_NOTHING: Final = frozenset(("faithtui", "prompt_set"))
"""Another version asks the same where metric, prompts and judge are the same."""


def describe_setting_differences(
    wanted: Mapping[str, Json], found: Mapping[str, Json]
) -> list[str]:
    """Say in which settings two descriptions differ, each with both values.

    Args:
        wanted: Of this command.
        found: Of the manifest.
    """
    if wanted.get("metric") != found.get("metric"):
        wanted, found = {"metric": wanted.get("metric")}, {"metric": found.get("metric")}
    differences = []
    for name in dict.fromkeys((*found, *wanted)):
        here, there = wanted.get(name), found.get(name)
        if name in _CHANGES_NOTHING or here == there:
            continue
        if isinstance(here, Mapping) and isinstance(there, Mapping):
            differences += describe_setting_differences(here, there)
        else:
            differences.append(f"{name} is {_shorten(here)} here and {_shorten(there)} there")
    return differences


def _shorten(value: object) -> str:
    text = "not set" if value is None else f"{value}"
    return text if len(text) <= 80 else f"{text[:79]}…"
