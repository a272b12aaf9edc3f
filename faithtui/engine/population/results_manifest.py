"""What the manifest of a results folder says: which run its conversations are of."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.population.results_scan import ResultsScan
from faithtui.engine.shards.results_schema import FORMAT
from faithtui.errors import InputError
from faithtui.store.records import RunSpec
from faithtui.store.schema.json_columns import scoring_rule_from_json

_WANTED_SETTINGS: Final = (
    *("metric", "metric_version", "peer", "options", "rule", "judge", "profile"),
    *("judge_fingerprint", "prompt_digest", "prompt_set"),
)
"""Settings of a manifest that the run of a sample is made of."""


def read_results_manifest(scan: ResultsScan) -> Mapping[str, Any]:
    """Read the manifest of results.

    Raises:
        InputError: It is none, or of a later version.
    """
    try:
        found = json.loads(scan.read_manifest())
        settings, shards = found["settings"], found["shards"]
        for name in _WANTED_SETTINGS:
            settings[name]
        number, names = settings["format"], [each["name"] for each in shards]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"the manifest of {scan.results} is none of `faithtui measure` "
            f"({type(error).__name__}: {error})"
        ) from error
    if number > FORMAT:
        raise InputError(
            f"{scan.results} is of format {number}; this version reads {FORMAT}, so install a "
            "later one"
        )
    return {**found, "shard_names": names}


def hash_settings(manifest: Mapping[str, Any]) -> str:
    """Name what was measured and how, wherever it lies and however much of it is done."""
    settings = {name: each for name, each in manifest["settings"].items() if name != "faithtui"}
    text = json.dumps(
        [settings, manifest.get("source"), manifest.get("shard_size")],
        sort_keys=True,
        ensure_ascii=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def make_run_spec(settings: Mapping[str, Any]) -> RunSpec:
    """Say what the run was that judged the results."""
    options = settings["options"]
    return RunSpec(
        strategy=str(options.get("strategy", "evidence")),
        base_url=settings.get("base_url"),
        profile=JudgeProfile.from_json(settings["profile"]),
        metric=settings["metric"],
        metric_version=settings["metric_version"],
        peer=settings["peer"],
        options=options,
        rule=scoring_rule_from_json(settings["rule"]),
        judge=settings["judge"],
        judge_fingerprint=settings["judge_fingerprint"],
        prompt_digest=settings["prompt_digest"],
        prompt_set=settings["prompt_set"]["digest"],
        claims_from="extracted",
    )
