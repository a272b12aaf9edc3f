"""The card of a Hugging Face dataset folder: what is in it, where from, and how to read it.

Source: huggingface_hub, repocard_data.py (`DatasetCardData`), and the documentation of dataset
cards: the block between the `---` lines is YAML, and JSON is YAML, so every text is quoted as JSON.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from faithtui.domain.exported_conversation import ExportConversation, ExportRun
from faithtui.formats.writers.flat_rows import (
    CLAIM_COLUMNS,
    EVIDENCE_FIELDS,
    LABEL_COLUMNS,
    LABEL_FIELDS,
    MARK_FIELDS,
    PASSAGE_FIELDS,
    FlatColumn,
)

UNKNOWN_LICENCE: Final = "unknown"
_LICENCE_KEYS: Final = ("licence", "license")
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_MOST: Final = "100K<n<1M"


@dataclass(slots=True)
class DatasetCounts:
    """What went into the files, counted while they are written."""

    conversations: int = 0
    claims: int = 0
    judged: int = 0
    labels: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    """By the judge's label; `none` where there is no readable one."""
    human: Counter[str] = field(default_factory=Counter)
    """By consensus of the annotators; `tie` in a tie."""
    annotators: set[str] = field(default_factory=set)
    sources: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    """By what the metadata of conversations say."""

    def add_conversation(self, conversation: ExportConversation) -> None:
        """Count a conversation and all it holds."""
        self.conversations += 1
        self.sources[conversation.source] += 1
        for key in _LICENCE_KEYS:
            named = conversation.metadata.get(key)
            if isinstance(named, str) and named:
                self.licences[named] += 1
                break
        for claim in conversation.claims:
            self.claims += 1
            if claim.judged:
                self.judged += 1
                self.verdicts[claim.verdict or "none"] += 1
            if claim.human is not None or claim.tied:
                self.human["tie" if claim.tied else str(claim.human)] += 1
            self.labels += len(claim.labels)
            self.annotators |= {each.annotator for each in claim.labels}


def choose_licence(counts: DatasetCounts, asked: str | None) -> str:
    """Name the licence: the one asked for, else the one that all conversations name."""
    if asked is not None:
        return asked
    if len(counts.licences) == 1 and counts.licences.total() == counts.conversations:
        return next(iter(counts.licences)).lower()
    return "other" if counts.licences else UNKNOWN_LICENCE


def format_dataset_card_lines(
    run: ExportRun,
    counts: DatasetCounts,
    files: Mapping[str, str],
    *,
    name: str,
    licence: str,
    is_parquet: bool,
) -> Iterator[str]:
    """Write the card.

    Args:
        run: The run that the files are of.
        counts: What is in them.
        files: Path of the data file of each configuration, in the folder: `claims`, `labels`.
        name: Title of the dataset.
        licence: A name of a licence as the Hub has it.
        is_parquet: The data files are Parquet; else JSON lines, where times are texts.
    """
    columns = {"claims": CLAIM_COLUMNS, "labels": LABEL_COLUMNS}
    rows = {"claims": counts.claims, "labels": counts.labels}
    head = {
        "pretty_name": name,
        "license": licence,
        "task_categories": ["text-classification"],
        "tags": ["faithfulness", "llm-as-a-judge", "human-labels", "rag"],
        "size_categories": [_name_size_category(counts.claims)],
        "configs": [
            {"config_name": each, "data_files": path, **({"default": True} if not place else {})}
            for place, (each, path) in enumerate(files.items())
        ],
        "dataset_info": [
            {
                "config_name": each,
                "features": [_make_column_feature(column, is_parquet) for column in columns[each]],
                "splits": [{"name": "train", "num_examples": rows[each]}],
            }
            for each in files
        ],
    }
    yield "---\n"
    for key, value in head.items():
        yield f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
    yield f"---\n\n# {_escape_markdown(name)}\n\n"
    yield (
        "Claims of answers with the verdicts of an LLM judge and the labels of annotators, one row "
        "per claim, written by faithtui.\n\n"
    )
    yield from _format_markdown_table_lines(
        ("", ""),
        [
            ("conversations", f"{counts.conversations:,}"),
            ("claims", f"{counts.claims:,}"),
            ("claims with a verdict of the judge", f"{counts.judged:,}"),
            ("labels", f"{counts.labels:,} of {len(counts.annotators):,} annotators"),
            ("metric", run.metric),
            ("judge", run.judge),
            ("digest of the prompts", run.prompts),
            ("run", f"{run.id}, {run.created_at:%Y-%m-%d}"),
            ("sample", run.sample or "none"),
            ("data sets", _format_counts(counts.sources)),
            ("licences named by conversations", _format_counts(counts.licences) or "none"),
        ],
    )
    yield "## Labels\n\n"
    yield from _format_markdown_table_lines(
        ("label", "judge", "annotators"),
        [
            (label, f"{counts.verdicts[label]:,}", f"{counts.human[label]:,}")
            for label in dict.fromkeys((*run.rule.labels, *counts.verdicts, *counts.human))
        ],
    )
    yield (
        "The judge's column counts verdicts, `none` where it gave none that can be read. The "
        "annotators' column counts claims by consensus; `x` is not a fair claim, `tie` an even "
        "split.\n\n"
    )
    if run.sample is not None:
        yield (
            "Claims of the sample have an inclusion `probability`; a figure of all claims weights "
            "each labelled claim with `weight`.\n\n"
        )
    yield "## Load\n\n```python\nfrom datasets import load_dataset\n\n"
    yield 'claims = load_dataset("path/to/this/folder", "claims", split="train")\n'
    yield 'labels = load_dataset("path/to/this/folder", "labels", split="train")\n```\n\n'
    for each in files:
        yield f"## Columns of `{files[each]}`\n\n"
        yield from _format_markdown_table_lines(
            ("column", "meaning"), [(f"`{one.name}`", one.meaning) for one in columns[each]]
        )
    yield "Each of `labels` in a claim has these fields:\n\n"
    yield from _format_markdown_table_lines(
        ("field", "meaning"), [(f"`{each.name}`", each.meaning) for each in LABEL_FIELDS]
    )


def _make_column_feature(column: FlatColumn, is_parquet: bool) -> dict[str, object]:
    match column.kind:
        case "passages":
            return {"name": column.name, "list": _make_record_field_features(PASSAGE_FIELDS)}
        case "evidence":
            return {"name": column.name, "list": _make_record_field_features(EVIDENCE_FIELDS)}
        case "marks":
            return {"name": column.name, "list": _make_record_field_features(MARK_FIELDS)}
        case "labels":
            fields = [_make_column_feature(each, is_parquet=False) for each in LABEL_FIELDS]
            return {"name": column.name, "list": fields}
        case "time":
            return {
                "name": column.name,
                "dtype": "timestamp[us, tz=UTC]" if is_parquet else "string",
            }
        case "integer":
            return {"name": column.name, "dtype": "int64"}
        case "number":
            return {"name": column.name, "dtype": "float64"}
        case "flag":
            return {"name": column.name, "dtype": "bool"}
        case "text" | "json":
            return {"name": column.name, "dtype": "string"}


def _make_record_field_features(names: Sequence[str]) -> list[dict[str, object]]:
    return [
        {"name": each, "dtype": "int64" if each in ("start", "end") else "string"} for each in names
    ]


def _name_size_category(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), _MOST)


def _format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in sorted(counts.items()))


def _format_markdown_table_lines(
    head: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Write a Markdown table, and an empty line."""
    yield "| " + " | ".join(head) + " |\n"
    yield "|" + " --- |" * len(head) + "\n"
    for row in rows:
        yield "| " + " | ".join(map(_escape_cell, row)) + " |\n"
    yield "\n"


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _escape_markdown(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")
