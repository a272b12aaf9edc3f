"""Trains the weights of the embedded judge.

Run it as `python -m tests.embedded_judge_training.training DATA.jsonl`.

Nothing imports this module at run time. Its one output is `overlap_weights.json`, which says of
every number where it comes from and what the judge reached with it. Data, seed and code decide the
file; it comes out the same on every machine.

DATA holds one row per line: `source`, `group` (rows that are not independent of each other, such
as those of one document), `claim` (one statement or a whole answer), `context`, `label`
(`supported` or `unsupported`), and where people marked it `human.supporting_sentences`, lists of
line numbers of `context`. What a source may be used for is written down in `SOURCES`; rows of
any other source are left out, and rows that the demo shows are measured only.
"""

import argparse
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from faithtui.domain.text.sentence_index import SentenceIndex, index_passages
from faithtui.domain.text.sentences import SentenceKind, split_answer
from faithtui.judges.embedded.features import SentenceComparison, compare_claim_with_context
from faithtui.judges.embedded.overlap import compute_support_probability, select_best_evidence
from faithtui.judges.embedded.weights import (
    FEATURE_SIGNS,
    FEATURES,
    HEURISTIC_VERSION,
    WEIGHTS_FILE,
    OverlapWeights,
    parse_weights,
)
from tests.embedded_judge_training.figures import (
    Judged,
    area_under_curve,
    balanced_accuracy,
    mean,
    rounded,
    with_interval,
)
from tests.embedded_judge_training.logistic_fit import dot, fitted
from tests.embedded_judge_training.sources import LEFT_OUT, SOURCES, Source, demo_conversations

RIDGE: Final = 0.05
"""Penalty on half the squared weights, of standardised features, against the mean loss."""
SEED: Final = 20261121
DRAWS: Final = 400
"""Bootstrap resamples behind every interval."""


PROBES: Final = (
    ("The ferry sails at 9.", "The ferry sails at nine. It carries 40 cars."),
    ("Over 3 million people live in Ostrava.", "In 2020 Brno had 381,346 inhabitants."),
    ("I think Mara Lind won the race.", "Mara Lind lost the race. Kofi Mensah won it."),
    ("The museum does not open on Monday.", "The museum opens on Monday, says Mara Lind."),
    ("Mara Lind won the race.", "Kofi Mensah won the race."),
    ("It was founded in 1923.", "It was founded in nineteen twenty-three, or 1932."),
    ("Photographers met in May near Lake Vire.", "In June photography fans met by Lake Vire."),
    ("Nothing here is alike.", "Bread is baked from flour, water and salt."),
    ("灯塔高四十米。", "灯塔高四十一米。"),
    ("The 1,5 km path cost $1. 3 billion.", "The path of 1,500 m cost 1,300 million dollars."),
    ("Some 3, 800 came at 7 pm.", "At 19:00 there were 3,800 of them, 2% of all."),
    ("", "An empty claim has no features."),
)
"""Claims and contexts whose features stand for the definition of all features."""


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim, measured."""

    source: Source
    group: str
    is_supported: bool
    parts: tuple[SentenceComparison, ...]
    """Its sentences that state something; at least one."""
    is_in_demo: bool
    """Whether the demo shows it: then it is measured only."""
    is_evidence_first: bool | None
    """Whether the first evidence is one people marked; None: they marked none."""
    is_evidence_among: bool | None
    """Whether any of the evidence is."""

    @property
    def is_trained_on(self) -> bool:
        """Whether its licence lets it be trained on, and the demo does not show it."""
        return self.source.is_trained_on and not self.is_in_demo

    @property
    def features(self) -> tuple[float, ...]:
        """Mean of the features of its sentences."""
        return tuple(
            sum(values) / len(self.parts)
            for values in zip(*(part.features for part in self.parts), strict=True)
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """A logistic regression without its calibration."""

    weights: tuple[float, ...]
    """Per unit of each feature."""
    intercept: float
    means: tuple[float, ...]
    scales: tuple[float, ...]
    """Standard deviation of each feature in the training data; 1 for one that never varies."""

    def log_odds(self, features: Sequence[float]) -> float:
        """Log odds before calibration."""
        return self.intercept + sum(w * x for w, x in zip(self.weights, features, strict=True))

    def calibrated(self, calibration: tuple[float, float]) -> OverlapWeights:
        """The same as the judge uses it."""
        return OverlapWeights(self.weights, self.intercept, calibration, digest="")


def features_digest() -> str:
    """Twelve hexadecimal digits that change when a feature comes to mean something else."""
    measured = [
        [
            round(value, 9)
            for value in compare_claim_with_context(claim, index_passages((context,))).features
        ]
        for claim, context in PROBES
    ]
    return hashlib.sha256(json.dumps([FEATURE_SIGNS, measured]).encode()).hexdigest()[:12]


def read_rows(lines: Iterable[str]) -> list[Row]:
    """Measure every row of a known source."""
    by_name = {source.name: source for source in SOURCES}
    demo = demo_conversations()
    rows: list[Row] = []
    last: tuple[str, SentenceIndex] | None = None
    for line in lines:
        given = json.loads(line)
        source = by_name.get(given["source"])
        if source is None:
            continue
        if last is None or last[0] != given["context"]:
            last = (given["context"], index_passages((given["context"],)))
        sentences = split_answer(given["claim"])
        stating = [each for each in sentences if each.kind is SentenceKind.CLAIM] or sentences
        texts = [each.text for each in stating] or [""]
        parts = tuple(compare_claim_with_context(text, last[1]) for text in texts)
        first, among = _evidence_hits(given, parts, last[1])
        rows.append(
            Row(
                source=source,
                group=given["group"],
                is_supported=given["label"] == "supported",
                parts=parts,
                is_in_demo=demo.hold(given["group"], given["claim"]),
                is_evidence_first=first,
                is_evidence_among=among,
            )
        )
    return rows


def fit(rows: Sequence[Row], ridge: float = RIDGE) -> Fit:
    """Fit a logistic regression in which no weight may go against its sign.

    Every family weighs the same, and within it each of the two labels.
    """
    features = [row.features for row in rows]
    importance = _importance(rows)
    columns = list(zip(*features, strict=True))
    means = tuple(dot(importance, column) for column in columns)
    scales = tuple(
        math.sqrt(sum(w * (x - mean) ** 2 for w, x in zip(importance, column, strict=True))) or 1.0
        for column, mean in zip(columns, means, strict=True)
    )
    standard = [
        [(x - mean) / scale for x, mean, scale in zip(row, means, scales, strict=True)] + [1.0]
        for row in features
    ]
    sides = [1.0 if row.is_supported else -1.0 for row in rows]
    found = fitted(standard, sides, importance, [*FEATURE_SIGNS.values(), 0], ridge)
    weights = tuple(w / scale for w, scale in zip(found, scales, strict=False))
    return Fit(weights, found[-1] - dot(weights, means), means, scales)


def calibrate(rows: Sequence[Row], log_odds: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept that make log odds into probabilities, for an even mix of labels.

    Source:
        Platt, "Probabilistic outputs for support vector machines", 1999, without his smoothing of
        the labels: there are thousands.
    """
    sides = [1.0 if row.is_supported else -1.0 for row in rows]
    found = fitted([[x, 1.0] for x in log_odds], sides, _importance(rows), [1, 0], ridge=0.0)
    return found[0], found[1]


def train(rows: Sequence[Row], date: str, draws: int = DRAWS) -> dict[str, Any]:
    """Train, calibrate and measure; what is returned is the weights file.

    The calibration is fitted on log odds that regressions trained without a family gave to that
    family: those a regression gives to its own training data are too sure.

    Args:
        rows: Of known sources; those that are not trained on are measured only.
        date: The day, for the provenance; nothing else depends on it.
        draws: Bootstrap resamples behind every interval.
    """
    trained_on = [row for row in rows if row.is_trained_on]
    left_out = _fit_families(rows)
    honest = [left_out[row.source.family].log_odds(row.features) for row in trained_on]
    final, calibration = fit(trained_on), calibrate(trained_on, honest)
    shipped = final.calibrated(calibration)
    apart = fit_left_out(rows, left_out)
    document = {
        "name": "overlap baseline (offline heuristic)",
        "version": HEURISTIC_VERSION,
        "features_digest": features_digest(),
        "features": [
            {
                "name": name,
                "weight": _six_digits(weight),
                "per_deviation": _six_digits(weight * scale),
                "mean": _six_digits(mean),
                "scale": _six_digits(scale),
            }
            for name, weight, mean, scale in zip(
                FEATURES, final.weights, final.means, final.scales, strict=True
            )
        ],
        "intercept": _six_digits(final.intercept),
        "calibration": dict(
            zip(("slope", "intercept"), map(_six_digits, calibration), strict=True)
        ),
        "training": {
            "method": "logistic regression, signs fixed, families and labels weighing the same",
            "date": date,
            "ridge": RIDGE,
            "seed": SEED,
            "rows": len(trained_on),
            "sources": [_provenance(source, rows) for source in SOURCES],
            "left_out": LEFT_OUT,
        },
        "measured": _measured(rows, shipped, apart, draws),
    }
    parse_weights(document)
    return document


def fit_left_out(
    rows: Sequence[Row], left_out: Mapping[str, Fit] | None = None
) -> dict[str, OverlapWeights]:
    """Train and calibrate without each family, by its name.

    Args:
        rows: As `train` takes them.
        left_out: Regressions without each family; None: they are fitted here.
    """
    trained_on = [row for row in rows if row.is_trained_on]
    known = _fit_families(rows) if left_out is None else left_out
    honest = [known[row.source.family].log_odds(row.features) for row in trained_on]
    apart = {}
    for family, model in known.items():
        kept = [n for n, row in enumerate(trained_on) if not _shares(row, family)]
        own = calibrate([trained_on[n] for n in kept], [honest[n] for n in kept])
        apart[family] = model.calibrated(own)
    return apart


def _fit_families(rows: Sequence[Row]) -> dict[str, Fit]:
    """Fit a regression without each family."""
    trained_on = [row for row in rows if row.is_trained_on]
    return {
        family: fit([row for row in trained_on if not _shares(row, family)])
        for family in sorted({row.source.family for row in rows})
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from a file and write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="labelled rows, one JSON object per line")
    parser.add_argument("--out", type=Path, default=Path(WEIGHTS_FILE), help="where to write")
    parser.add_argument("--date", required=True, help="the day to write down, as 2026-11-21")
    parser.add_argument("--draws", type=int, default=DRAWS, help="bootstrap resamples")
    given = parser.parse_args(arguments)
    with given.data.open(encoding="utf-8") as lines:
        document = train(read_rows(lines), given.date, given.draws)
    given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _evidence_hits(
    given: Mapping[str, Any], parts: Sequence[SentenceComparison], context: SentenceIndex
) -> tuple[bool | None, bool | None]:
    human = given.get("human")
    marked = human.get("supporting_sentences") if isinstance(human, dict) else None
    lines = {line for lines in marked or () for line in lines}
    if not lines:
        return None, None
    found = [
        given["context"].count("\n", 0, each.span.start)
        for each in select_best_evidence(parts, context)
    ]
    return bool(found) and found[0] in lines, not lines.isdisjoint(found)


def _shares(row: Row, family: str) -> bool:
    """Whether a row may hold text of a family, so that both are left out together."""
    return row.source.family == family or family in row.source.held_out_with


def _importance(rows: Sequence[Row]) -> list[float]:
    """Weights of the rows: families the same, in each both labels the same; 1 in all."""
    kinds = [(row.source.family, row.is_supported) for row in rows]
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    return [1 / (counts[kind] * len(counts)) for kind in kinds]


def _six_digits(value: float) -> float:
    """Six digits: more would differ between machines, fewer would show in the probabilities."""
    return float(f"{value:.6g}")


def _provenance(source: Source, rows: Sequence[Row]) -> dict[str, object]:
    own = [row for row in rows if row.source is source]
    return {
        "name": source.name,
        "title": source.title,
        "licence": source.licence,
        "rows": len(own),
        "supported": sum(row.is_supported for row in own),
        "used_for": "training" if source.is_trained_on else "evaluation only",
        "trained_on": sum(row.is_trained_on for row in own),
        "in_demo": sum(row.is_in_demo for row in own),
    }


def _measured(
    rows: Sequence[Row], shipped: OverlapWeights, apart: Mapping[str, OverlapWeights], draws: int
) -> dict[str, object]:
    """Accuracies per source: trained without its family, as shipped, and unigram containment."""
    by_source = []
    for source in SOURCES:
        own = [row for row in rows if row.source is source]
        if not own:
            continue
        containment = [
            (row.is_supported, row.features[FEATURES.index("covered")], False) for row in own
        ]
        by_source.append(
            {
                "source": source.name,
                "family": source.family,
                "rows": len(own),
                "left_out": _figures(own, apart[source.family], draws),
                "shipped": _figures(own, shipped, draws),
                "containment_auroc": rounded(area_under_curve(containment)),
            }
        )
    marked = [row for row in rows if row.is_evidence_first is not None]
    return {
        "language": "English",
        "sources": by_source,
        "mean_of_families": {
            kind: {
                name: _family_mean(by_source, kind, name) for name in ("balanced_accuracy", "auroc")
            }
            for kind in ("left_out", "shipped")
        },
        "evidence": {
            "claims": len(marked),
            "first_is_right": rounded(mean([bool(row.is_evidence_first) for row in marked])),
            "one_of_three_is_right": rounded(mean([bool(row.is_evidence_among) for row in marked])),
        },
    }


def _figures(rows: Sequence[Row], weights: OverlapWeights, draws: int) -> dict[str, object]:
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        chance = compute_support_probability(row.parts, weights)
        has_clash = any(part.alignment.clash is not None for part in row.parts)
        groups[row.group].append((row.is_supported, chance, chance >= 0.5 and not has_clash))
    return {
        "balanced_accuracy": with_interval(balanced_accuracy, list(groups.values()), draws, SEED),
        "auroc": with_interval(area_under_curve, list(groups.values()), draws, SEED),
    }


def _family_mean(by_source: Sequence[Mapping[str, Any]], kind: str, name: str) -> float | None:
    families: defaultdict[str, list[float]] = defaultdict(list)
    for each in by_source:
        value = each[kind][name]["value"]
        if value is not None:
            families[each["family"]].append(value)
    return rounded(mean([sum(values) / len(values) for values in families.values()]))


if __name__ == "__main__":
    main()
