"""`faithtui figures`: what labels and judges' scores that came with the data say of each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from faithtui.agreement.imported_scores.annotators import PeopleFigures
from faithtui.agreement.imported_scores.conventions import Convention, Pooling, Reading
from faithtui.agreement.imported_scores.figures import ScaleFigures, shipped_figures
from faithtui.agreement.imported_scores.judges import Detection, JudgeFigures
from faithtui.agreement.imported_scores.units import RatedScale, ScoredConversation, UnitKind
from faithtui.cli.commands.figures_json import figures_json
from faithtui.cli.output import Column, plural, put, put_json, put_table
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.text.sanitizing import visible_line
from faithtui.formats.readers.imported_scores import read_scored

_POOLED = {
    Pooling.MAJORITY: "more than half of the annotators pass it",
    Pooling.WORST: "all annotators pass it",
    Pooling.MEAN: "the mean human level is on the passing side",
}


@dataclass(frozen=True, slots=True)
class DataSet:
    """The files that are counted together, and what came out."""

    files: tuple[Path, ...]
    conversations: int
    scales: tuple[ScaleFigures, ...]


def figures(paths: Sequence[Path], *, together: bool, as_json: bool) -> int:
    """Print the figures of files, each by itself or all as one data set.

    Raises:
        InputError: A file or a line of it cannot be used.
    """
    parts = [tuple(paths)] if together else [(path,) for path in paths]
    sets = [_data_set(files) for files in parts]
    if as_json:
        put_json(
            {
                "level": LEVEL,
                "sets": [
                    {
                        "files": [str(path) for path in each.files],
                        "conversations": each.conversations,
                        "scales": [figures_json(scale) for scale in each.scales],
                    }
                    for each in sets
                ],
            }
        )
        return 0
    for number, each in enumerate(sets):
        if number:
            put("")
        _put_set(each)
    return 0


def _data_set(files: tuple[Path, ...]) -> DataSet:
    conversations: list[ScoredConversation] = [each for path in files for each in read_scored(path)]
    return DataSet(files, len(conversations), shipped_figures(conversations))


def _put_set(data: DataSet) -> None:
    names = " + ".join(visible_line(path.name) for path in data.files)
    put(f"== {names}: {plural(data.conversations, 'conversation')}")
    for scale in data.scales:
        put("")
        for line in _about(scale.rated):
            put(line)
        if scale.rated.convention.is_comparable:
            _put_people(scale.people)
            _put_judges(scale.judges)


def _about(rated: RatedScale) -> Iterator[str]:
    """Say what was labelled, by how many, and what was left out."""
    rule = rated.convention
    labels = sum(rated.counts.values())
    if not rule.is_comparable:
        total = labels + sum(rated.left_out.values()) + rated.not_assigned
        yield (
            f"-- {visible_line(rule.scale)}: {plural(total, 'label')} of spans that each "
            "annotator chose alone, so not compared"
        )
        return
    people = len(rated.people)
    yield (
        f"-- {visible_line(rule.scale)}: {plural(len(rated.units), rated.kind.value)} of "
        f"{plural(rated.groups, 'group')}, {plural(labels, 'label')} by "
        f"{plural(people, 'annotator')}"
    )
    counts = ", ".join(f"{level} ({count})" for level, count in rated.counts.items())
    yield f"labels, worst to best: {counts}; {_passing(rule)}"
    if rated.left_out:
        left = ", ".join(
            f"{visible_line(word)} ({count})" for word, count in rated.left_out.items()
        )
        yield f"left out, no level of the scale: {left}"
    if rated.not_assigned:
        yield f"left out, of annotators who were not assigned to it: {rated.not_assigned}"
    if rated.kind is UnitKind.CLAIM and rated.has_answer_scores:
        yield "judges' scores are of whole answers and these labels of claims, so not compared"


def _passing(rule: Convention) -> str:
    words = " and ".join(rule.passing)
    return f"{words} {'pass' if len(rule.passing) > 1 else 'passes'}"


def _put_people(people: Sequence[PeopleFigures]) -> None:
    put("\ninter-annotator agreement")
    put_table(
        (
            Column("coding"),
            Column("categories"),
            Column("units", "right"),
            Column("agreement"),
            Column("alpha nominal"),
            Column("alpha ordinal"),
            Column("AC1"),
            Column("pairs", "right"),
            Column("mean kappa"),
            Column("weighted by n"),
        ),
        [
            (
                each.view.reading.value,
                " < ".join(each.view.categories),
                str(each.percent.n),
                _estimate(each.percent),
                _estimate(each.alpha_nominal),
                _estimate(each.alpha_ordinal),
                _estimate(each.ac1),
                _with_kappa(each),
                _point(each.mean_kappa),
                _point(each.weighted_kappa),
            )
            for each in people
        ],
    )
    if not people[0].pairs:
        return
    put("\npairs of annotators, Cohen's kappa")
    put_table(
        (
            Column("pair"),
            Column("units", "right"),
            *(Column(each.view.reading.value) for each in people),
        ),
        [
            (
                f"{pairs[0].first} {pairs[0].second}",
                str(pairs[0].kappa.n),
                *(_estimate(pair.kappa) for pair in pairs),
            )
            for pairs in zip(*(each.pairs for each in people), strict=True)
        ],
    )


def _with_kappa(people: PeopleFigures) -> str:
    """Count the pairs whose kappa enters the means, out of all where some have none."""
    known = sum(pair.kappa.value is not None for pair in people.pairs)
    return str(known) if known == len(people.pairs) else f"{known} of {len(people.pairs)}"


def _put_judges(judges: Sequence[JudgeFigures]) -> None:
    if not judges:
        put("\nno judge's scores of these came with the data")
        return
    _put_correlations(judges)
    for place, detection in enumerate(judges[0].detections):
        put(f"\njudges: an answer passes when {_POOLED[detection.pooling]}")
        put_table(
            (
                Column("judge"),
                Column("pass", "right"),
                Column("fail", "right"),
                Column("AUROC"),
                Column("balanced accuracy"),
                Column("at"),
                Column("best, same labels"),
                Column("best, other groups"),
            ),
            [_detection(each, each.detections[place]) for each in judges],
        )
    if any(each.own_reference for each in judges):
        put("\nleft out: scores that compare a reference answer with itself")


def _put_correlations(judges: Sequence[JudgeFigures]) -> None:
    put("\njudges: Spearman with the mean human level")
    put_table(
        (
            Column("judge"),
            Column("scores"),
            Column("units", "right"),
            Column("left out", "right"),
            *(Column(_against(each.view.reading)) for each in judges[0].correlations),
        ),
        [
            (
                each.judge,
                _range(each),
                str(each.n),
                str(each.without_score + each.own_reference),
                *(_estimate(one.spearman) for one in each.correlations),
            )
            for each in judges
        ],
    )


def _against(reading: Reading) -> str:
    return "share that pass" if reading is Reading.TWO_WAY else f"mean of {reading.value}"


def _detection(judge: JudgeFigures, found: Detection) -> tuple[str, ...]:
    best = _point(found.best)
    if isinstance(found.best_threshold, float):
        best += f" at {found.best_threshold:.4g}"
    return (
        judge.judge,
        str(found.passed),
        str(found.failed),
        _estimate(found.auroc),
        _estimate(found.balanced_accuracy),
        "its label" if judge.is_label else "0.5",
        "" if judge.is_label else best,
        "" if judge.is_label else _estimate(found.cross_validated),
    )


def _range(judge: JudgeFigures) -> str:
    if judge.lowest is None or judge.highest is None:
        return ""
    return "0 or 1" if judge.is_label else f"{judge.lowest:.2f} to {judge.highest:.2f}"


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"- ({estimate.reason.words})" if estimate.reason else "-"
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.ci_low:.3f}, {estimate.ci_high:.3f}]"


def _point(point: Point) -> str:
    return f"- ({point.words})" if isinstance(point, Reason) else f"{point:.3f}"
