"""The figures of made-up files against a computation that shares no code with them.

It reads the files itself and uses scikit-learn, scipy and krippendorff. Run with `pytest -m oracle`
where the libraries are installed; skipped where they are not.
"""

import itertools
import json
import math
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.imported_scores.imported_figures import (
    ScaleFigures,
    compute_figures_per_scale,
)
from faithtui.agreement.imported_scores.label_scales import Pooling, ScaleReading
from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.formats.readers.imported_scores import read_scored_conversations

pytestmark = pytest.mark.oracle

SEEDS = range(12)
LEVELS: Mapping[str, Sequence[str]] = {
    "mtrag-faithfulness-1-4": ("1", "2", "3", "4"),
    "faithbench-response": ("Unwanted", "Questionable", "Benign", "Consistent"),
}
PASSING = 2
"""Both scales pass their two best levels."""
PLACES: Mapping[str, Mapping[ScaleReading, Sequence[int]]] = {
    "mtrag-faithfulness-1-4": {
        ScaleReading.LABELS: (0, 1, 2, 3),
        ScaleReading.TWO_WAY: (0, 0, 1, 1),
    },
    "faithbench-response": {
        ScaleReading.LABELS: (0, 1, 2, 3),
        ScaleReading.VERDICTS: (0, 1, 2, 2),
        ScaleReading.TWO_WAY: (0, 0, 1, 1),
    },
}
Rows = list[tuple[dict[str, int], dict[str, float]]]
"""(place of each person's label, each judge's score) of each answer."""


def write_file(path: Path, scale: str, seed: int) -> None:
    """Write answers labelled by some of five people, with three judges of which one has gaps."""
    chance = random.Random(seed)
    lines = []
    for number in range(chance.choice([12, 40, 90])):
        truth = chance.randrange(4)
        people = chance.sample("abcde", chance.choice([1, 2, 3]))
        labels = [
            {
                "turn": 1,
                "annotator": who,
                "label": LEVELS[scale][truth if chance.random() < 0.6 else chance.randrange(4)],
                "scale": scale,
            }
            for who in [*people, "stranger"]
        ]
        scores = {
            "share": round(min(1.0, max(0.0, truth / 4 + chance.random() / 2)), 1),
            "word": int(chance.random() < (truth + 1) / 5),
            "raw": chance.gauss(truth / 6, 0.3) if chance.random() < 0.8 else None,
        }
        lines.append(
            {
                "id": f"c{number}",
                "turns": [
                    {"role": "user", "content": "Q"},
                    {"role": "assistant", "content": "A", "retrieval_context": ["P"]},
                ],
                "metadata": {"passage_group": f"p{number // 3}", "annotators_assigned": people},
                "human_labels": labels,
                "reference_judges": scores,
            }
        )
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def rows_of(path: Path, scale: str) -> Rows:
    """Read a file with nothing but the standard library."""
    found = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        labels = {
            label["annotator"]: LEVELS[scale].index(label["label"])
            for label in line["human_labels"]
            if label["annotator"] in line["metadata"]["annotators_assigned"]
        }
        scores = {
            name: score for name, score in line["reference_judges"].items() if score is not None
        }
        found.append((labels, scores))
    return found


@pytest.fixture(params=itertools.product(LEVELS, SEEDS), ids=lambda pair: f"{pair[0]}-{pair[1]}")
def both(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, Rows, ScaleFigures]]:
    """Give a scale, what a file says, and our figures of it."""
    scale, seed = request.param
    path = tmp_path / "made.jsonl"
    write_file(path, scale, seed)
    (figures,) = compute_figures_per_scale(list(read_scored_conversations(path)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries warn where we give a reason
        yield scale, rows_of(path, scale), figures


def agree(mine: Point | None, theirs: float) -> bool:
    if mine is None or isinstance(mine, WithheldReason):
        return math.isnan(theirs)
    return mine == pytest.approx(theirs, abs=1e-9)


def test_alpha_is_that_of_krippendorff(both: tuple[str, Rows, ScaleFigures]) -> None:
    library: Any = pytest.importorskip("krippendorff")
    scale, rows, figures = both
    for people in figures.people:
        places = PLACES[scale][people.view.reading]
        domain = sorted(set(places))
        matrix = [
            [float(places[labels[who]]) if who in labels else math.nan for labels, _ in rows]
            for who in "abcde"
        ]
        for level, mine in (
            ("nominal", people.alpha_nominal),
            ("ordinal", people.alpha_ordinal),
        ):
            theirs = library.alpha(matrix, level_of_measurement=level, value_domain=domain)
            assert agree(mine.value, float(theirs))


def test_ac1_is_that_of_gwets_formula(both: tuple[str, Rows, ScaleFigures]) -> None:
    """No library for it installs beside the others, so it is counted here pair by pair."""
    scale, rows, figures = both
    for people in figures.people:
        places = PLACES[scale][people.view.reading]
        units = [[places[label] for label in labels.values()] for labels, _ in rows]
        q = len(set(places))
        agreeing = [
            sum(a == b for a, b in itertools.combinations(unit, 2)) / math.comb(len(unit), 2)
            for unit in units
            if len(unit) > 1
        ]
        shares = [
            sum(unit.count(place) / len(unit) for unit in units) / len(units) for place in range(q)
        ]
        observed = sum(agreeing) / len(agreeing)
        expected = sum(share * (1 - share) for share in shares) / (q - 1)
        assert agree(people.ac1.value, (observed - expected) / (1 - expected))


def test_kappa_of_every_pair_is_that_of_scikit_learn(both: tuple[str, Rows, ScaleFigures]) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    scale, rows, figures = both
    for people in figures.people:
        places = PLACES[scale][people.view.reading]
        mine = {(pair.first, pair.second): pair.kappa for pair in people.pairs}
        known = []
        for first, second in itertools.combinations("abcde", 2):
            pairs = [
                (places[labels[first]], places[labels[second]])
                for labels, _ in rows
                if first in labels and second in labels
            ]
            assert ((first, second) in mine) == bool(pairs)
            if not pairs:
                continue
            theirs = metrics.cohen_kappa_score(
                *zip(*pairs, strict=True), labels=sorted(set(places))
            )
            assert agree(mine[first, second].value, float(theirs))
            assert mine[first, second].n == len(pairs)
            if not math.isnan(theirs):
                known.append((float(theirs), len(pairs)))
        mean = sum(value for value, _ in known) / len(known)
        weighted = sum(value * n for value, n in known) / sum(n for _, n in known)
        assert agree(people.mean_kappa, mean)
        assert agree(people.weighted_kappa, weighted)


def test_spearman_is_that_of_scipy(both: tuple[str, Rows, ScaleFigures]) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    scale, rows, figures = both
    for judge in figures.judges:
        scored = [(labels, scores[judge.judge]) for labels, scores in rows if judge.judge in scores]
        assert judge.n == len(scored)
        for correlation in judge.correlations:
            places = PLACES[scale][correlation.view.reading]
            means = [
                round(sum(places[label] for label in labels.values()) / len(labels), 9)
                for labels, _ in scored
            ]
            theirs = stats.spearmanr([score for _, score in scored], means).statistic
            assert agree(correlation.spearman.value, float(theirs))


def test_detection_is_that_of_scikit_learn(both: tuple[str, Rows, ScaleFigures]) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    _, rows, figures = both
    for judge in figures.judges:
        scored = [(labels, scores[judge.judge]) for labels, scores in rows if judge.judge in scores]
        values = [score for _, score in scored]
        for detection in judge.detections:
            truth = [pooled(list(labels.values()), detection.pooling) for labels, _ in scored]
            if len(set(truth)) < 2:
                assert detection.auroc.value is None
                continue
            assert agree(detection.auroc.value, float(metrics.roc_auc_score(truth, values)))
            at_half = metrics.balanced_accuracy_score(truth, [score >= 0.5 for score in values])
            assert agree(detection.balanced_accuracy.value, float(at_half))
            if not judge.is_label:
                flat, steep, _ = metrics.roc_curve(truth, values, drop_intermediate=False)
                best = max((hit + 1 - miss) / 2 for miss, hit in zip(flat, steep, strict=True))
                assert agree(detection.best, float(best))


def pooled(places: list[int], pooling: Pooling) -> bool:
    passing = sum(place >= PASSING for place in places)
    if pooling is Pooling.MAJORITY:
        return passing > len(places) / 2
    if pooling is Pooling.WORST:
        return min(places) >= PASSING
    return round(sum(places) / len(places), 9) > PASSING - 0.5
