"""Results folders as `faithtui measure` writes them, and labels of what is drawn from them."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from faithtui.agreement.labelled_units import ClaimUnit, UnitSettings
from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Document, Turn, content_hash
from faithtui.domain.json_values import value_json
from faithtui.domain.judging.judge_profile import NO_PARAMETERS
from faithtui.engine.shards.judgement_json import Judgement, judgement_to_json_text
from faithtui.engine.shards.results_schema import FORMAT, TableName, make_schema
from faithtui.formats.writers.conversations import conversation_to_json
from faithtui.metrics.registry import build, metric_options_to_json
from faithtui.metrics.window_scores import WindowFindings, assess_window
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store

METRIC = build("turn-faithfulness", {})


@dataclass(frozen=True)
class MadeConversation:
    """A conversation with one answer, and what the judge says of its claims."""

    key: str
    labels: Sequence[str | None] = ("yes",)
    """Of its claims; (): none were drawn."""
    source: str = "logs"
    metadata: dict[str, Any] = field(default_factory=dict)
    state: str | None = None
    """`failed` or `skipped`; None: it is scored."""
    uncertainty: float = 0.0
    """Of each claim."""
    group: str | None = None


def write_results(
    folder: Path, shards: Mapping[str, Sequence[MadeConversation]], known_shards: Sequence[str] = ()
) -> Path:
    """Write a results folder; `known_shards` are in its manifest beside those that are whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(_make_manifest([*shards, *known_shards])))
    for name, conversations in shards.items():
        rows: dict[TableName, list[dict[str, Any]]] = {"conversations": [], "claims": []}
        for number, each in enumerate(conversations):
            row, claims = _make_rows(name, number, each)
            rows["conversations"].append(row)
            rows["claims"] += claims
        for table, found in rows.items():
            path = folder / table / f"{name}.parquet"
            path.parent.mkdir(exist_ok=True)
            pq.write_table(pa.Table.from_pylist(found, make_schema(table)), path)
    return folder


def _make_manifest(shards: Sequence[str]) -> dict[str, Any]:
    prompts = METRIC.prompts.without_examples
    return {
        "settings": {
            "format": FORMAT,
            "faithtui": "1",
            "metric": METRIC.spec.key,
            "metric_version": METRIC.spec.version,
            "peer": METRIC.spec.peer,
            "options": value_json(metric_options_to_json(METRIC)),
            "rule": value_json(METRIC.rule),
            "judge": "offline",
            "judge_fingerprint": "offline/test",
            "base_url": None,
            "profile": value_json(NO_PARAMETERS),
            "prompt_digest": METRIC.prompt_digest,
            "prompt_set": {
                "digest": prompts.digest,
                "version": prompts.version,
                "texts": dict(prompts.texts),
            },
        },
        "source": "logs",
        "shard_size": None,
        "shards": [{"name": name} for name in shards],
    }


def make_conversation(made: MadeConversation) -> Conversation:
    """Make the conversation itself: claim 0, claim 1 and so on of an answer."""
    texts = [f"Claim {place} of {made.key}." for place in range(len(made.labels))]
    turns = (
        Turn("user", f"What of {made.key}?"),
        Turn("assistant", " ".join(texts) or "Nothing.", (Document(f"Passage of {made.key}."),)),
    )
    return Conversation(made.source, made.key, turns, made.group or made.key, made.metadata)


def _make_rows(
    shard: str, number: int, made: MadeConversation
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    conversation = make_conversation(made)
    (window,) = METRIC.windows(conversation)
    claims = [Claim(1, f"Claim {place} of {made.key}.", None) for place in range(len(made.labels))]
    truth = Truth(f"Passage of {made.key}.", f"Passage of {made.key}.")
    verdicts = tuple(
        Verdict(
            claim,
            label,
            label,
            f"because of {made.key}",
            evidence=(Evidence(truth, "supports", (1,)),),
        )
        if label == "yes"
        else Verdict(claim, label, label, None)
        for claim, label in zip(claims, made.labels, strict=True)
    )
    assessment: Assessment = assess_window(
        METRIC.rule, WindowFindings(verdicts=verdicts, truths=(truth,)), window
    )
    score = assessment.score
    judged = made.state is None
    identity = {"shard": shard, "source": made.source, "key": made.key, "number": number}
    written = conversation_to_json(conversation, {})
    row = {
        **identity,
        "line": number + 1,
        "content_sha256": content_hash(conversation.turns),
        "conversation_group": conversation.group,
        "state": made.state or score.state.value,
        "reason": "It is so." if judged else "JudgeTimeout: no answer",
        **dict.fromkeys(("windowed", "per_interaction", "pooled"), score.value if judged else None),
        "success": None if not judged or score.value is None else score.value >= 0.5,
        "claims": len(claims) if judged else 0,
        **{name: 0 for name in ("yes", "no", "idk", "none")},
        "integrity": "",
        **dict.fromkeys(("calls", "calls_stored", "tokens_in", "tokens_out", "latency_ms"), 0),
        "cost_usd": None,
        "metadata": json.dumps(made.metadata),
        "conversation": json.dumps(written),
        "judgement": judgement_to_json_text(
            Judgement((assessment,), Conclusion(score, True, "It is so."))
        )
        if judged
        else None,
    }
    rows = [
        {
            **identity,
            "position": place,
            "turn": 1,
            "document": None,
            "claim": claim.text,
            "label": label or "none",
            "raw": label,
            "reason": None,
            "home_window": 0,
            "windows": 1,
            "differs": False,
            "uncertainty": made.uncertainty,
            "conversation_score": score.value,
        }
        for place, (claim, label) in enumerate(zip(claims, made.labels, strict=True))
    ]
    return row, rows if judged else []


def make_population(count: int, *, failed: int = 0) -> list[MadeConversation]:
    """Make conversations of three claims each, one in five of them with a flagged claim."""
    made = []
    for number in range(count):
        digest = hashlib.sha256(str(number).encode()).digest()
        flagged = digest[0] < 51
        labels = ("yes", "no" if flagged else "yes", "idk" if digest[1] < 26 else "yes")
        made.append(
            MadeConversation(
                f"c{number}",
                labels,
                metadata={"language": "de" if digest[2] < 64 else "en"},
                uncertainty=round(digest[3] / 255, 3),
            )
        )
    made += [MadeConversation(f"f{number}", (), state="failed") for number in range(failed)]
    return made


def read_drawn(store: Store, row: SampleRow) -> list[ClaimUnit]:
    """Read the claims of a sample, in the order in which they are served."""
    units = store.labelled_units.read_report_units(row.run, UnitSettings(sample=row.id)).claims
    return sorted(units, key=lambda each: -1 if each.position is None else each.position)


def label_drawn(
    store: Store, row: SampleRow, say: Callable[[ClaimUnit], str], first: int | None = None
) -> None:
    """Label a sample, or the first claims of it, blind where it is served so."""
    entries = {
        each.claim: each for each in store.samples.list_claims_in_served_order(row.id, "ann")
    }
    for unit in read_drawn(store, row)[:first]:
        store.label_log.record_verdict(
            unit.claim,
            "ann",
            say(unit),
            run=row.run,
            saw_judge=entries[unit.claim].shown,
            sample=row.id,
        )
