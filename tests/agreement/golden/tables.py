"""From the plain values of a case to tables and ratings of categories.

What a field means is never guessed: an input that is malformed, or that does not say what a
statistic needs, is an error that names the field.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from faithtui.agreement.confusion_matrix import TWO_CATEGORIES, ConfusionMatrix
from faithtui.agreement.statistics.coefficients import (
    DisagreementWeights,
    MeasurementLevel,
    agreement_to_disagreement_weights,
    linear_weights,
    quadratic_weights,
    scale_disagreement_weights,
)
from faithtui.agreement.statistics.matrices import GroupedMatrix
from faithtui.agreement.statistics.paired_judges import DiscordantGroup
from faithtui.agreement.statistics.ratings import Pattern, Ratings
from faithtui.domain.estimates import LEVEL
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError

Fields = Mapping[str, object]
Counts = tuple[tuple[int, ...], ...]

TABLE_KINDS = ("confusion", "binary_counts", "cluster_confusions")
"""Kinds that are a table of two raters, or add up to one."""
RATING_KINDS = ("ratings", "counts")
"""Kinds that list what was said about each unit."""


def kind_of(fields: Fields, allowed: Sequence[str]) -> str:
    """Give the kind of an input.

    Raises:
        InputError: It is none of those a statistic can be computed from.
    """
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in allowed:
        expected = ", ".join(allowed)
        raise InputError(f"cannot be computed from {kind!r}; give one of {expected}", field="kind")
    return kind


def two_raters(fields: Fields) -> ConfusionMatrix[float] | WithheldReason:
    """Read a table of two raters.

    Units of `ratings` that only one of them rated are left out.

    Returns:
        A table, empty or not; a reason when units were rated and none by both.

    Raises:
        InputError: Malformed, or ratings of more than two.
    """
    if kind_of(fields, (*TABLE_KINDS, "ratings")) == "ratings":
        return _cross_tabulated(fields)
    return square_table(fields)


def square_table(fields: Fields) -> ConfusionMatrix[float]:
    """Read a table of two raters that is given as one, or by conversation."""
    match kind_of(fields, TABLE_KINDS):
        case "confusion":
            return _table(_names(fields), _matrix(_field(fields, "matrix"), "matrix"))
        case "binary_counts":
            tp, fp, fn, tn = (_number(_field(fields, name), name) for name in _BINARY)
            return _table(TWO_CATEGORIES, [[tp, fn], [fp, tn]])
        case _:
            return conversations(fields).unweighted_total


def counted_table(fields: Fields) -> ConfusionMatrix[int]:
    """Read a table of two raters, given as one or by conversation, of whole numbers of units."""
    return counted(square_table(fields))


def counted(table: ConfusionMatrix[float]) -> ConfusionMatrix[int]:
    """Take a table whose cells are whole numbers of units.

    Raises:
        InputError: They are weights.
    """
    if all(isinstance(count, int) for row in table.counts for count in row):
        return ConfusionMatrix(
            table.categories, tuple(tuple(map(int, row)) for row in table.counts)
        )
    raise InputError("counts of units are whole numbers", field="matrix")


def several_raters(fields: Fields) -> Ratings:
    """Read ratings of any number of raters; a table of two gives two ratings a unit."""
    kind = kind_of(fields, (*TABLE_KINDS, *RATING_KINDS))
    if kind in TABLE_KINDS:
        return _paired_ratings(counted_table(fields))
    names, units = _names(fields), _units(fields)
    if kind == "counts":
        patterns = [
            tuple(whole(each, "units") for each in _list(unit, "units", len(names)))
            for unit in units
        ]
    else:
        places = [_places(fields, unit) for unit in units]
        patterns = [tuple(row.count(k) for k in range(len(names))) for row in places]
    return Ratings.from_counts(names, Counter[Pattern](patterns))


def positive_first(
    fields: Fields, chosen: object, table: ConfusionMatrix[float]
) -> ConfusionMatrix[float]:
    """Put the categories together into two, first the positive ones.

    They are named by `chosen`, the parameter `positive`, or by that field of a confusion: one or
    a list. Where neither names any, the first category is the positive one.
    """
    if chosen is None and fields["kind"] != "binary_counts":
        chosen = fields.get("positive")
    if chosen is None or fields["kind"] == "binary_counts":
        positive = table.categories[:1]
    else:
        positive = tuple(map(str, chosen if isinstance(chosen, list) else [chosen]))
        if unknown := [name for name in positive if name not in table.categories]:
            raise InputError(f"{unknown} are no categories", field="positive")
    return table.collapse_to_two_categories(positive)


def category_of(fields: Fields, params: Fields, categories: Sequence[str]) -> int | None:
    """Give the position of the category a statistic is asked for; None: of each."""
    name = params.get("category", fields.get("category"))
    if name is None:
        return None
    if str(name) not in categories:
        raise InputError(f"{name!r} is no category", field="category")
    return categories.index(str(name))


def conversations(fields: Fields) -> GroupedMatrix:
    """Read one table per conversation; those without units are left out."""
    kind_of(fields, ("cluster_confusions",))
    names = _names(fields)
    clusters = [_counts(each, len(names)) for each in _list(_field(fields, "clusters"), "clusters")]
    counts = np.array(clusters, np.int64).reshape(len(clusters), len(names), len(names))
    return GroupedMatrix.from_groups(names, np.moveaxis(counts, 0, -1)[None])


def discordant(fields: Fields) -> tuple[int, int]:
    """Read how many units only the first and only the second of two judges has right."""
    match kind_of(fields, ("discordant", "discordant_clusters", *TABLE_KINDS)):
        case "discordant":
            return whole(_field(fields, "b"), "b"), whole(_field(fields, "c"), "c")
        case "discordant_clusters":
            groups = discordant_groups(fields)
            return int(sum(group.b for group in groups)), int(sum(group.c for group in groups))
    (_, b), (c, _) = _two_by_two(counted_table(fields).counts)
    return b, c


def discordant_groups(fields: Fields) -> list[DiscordantGroup]:
    """Read the same by conversation."""
    if kind_of(fields, ("discordant_clusters", "cluster_confusions")) == "cluster_confusions":
        found = []
        by_group = conversations(fields)
        for each, times in zip(
            np.moveaxis(by_group.unweighted_by_group.cells, -1, 0), by_group.times, strict=True
        ):
            (_, b), (c, _) = _two_by_two(tuple(map(tuple, each.astype(int).tolist())))
            found += [DiscordantGroup(int(each.sum()), b, c)] * int(times)
        return found
    columns = [
        [whole(each, name) for each in _list(_field(fields, name), name)]
        for name in ("n", "b", "c")
    ]
    if len({len(column) for column in columns}) != 1:
        raise InputError("n, b and c have one number per conversation each", field="n")
    groups = [DiscordantGroup(*each) for each in zip(*columns, strict=True)]
    if any(group.b + group.c > group.n for group in groups):
        raise InputError("b + c cannot be more than n", field="n")
    return groups


def differences(fields: Fields) -> list[float]:
    """Read one difference per conversation."""
    if kind_of(fields, ("cluster_differences", "discordant_clusters", "cluster_confusions")) == (
        "cluster_differences"
    ):
        return [_real(each, "d") for each in _list(_field(fields, "d"), "d")]
    return [group.b - group.c for group in discordant_groups(fields)]


def verified(fields: Fields) -> GroupedMatrix:
    """Read labels of which more or fewer were given by judge category; a stratum is a category."""
    kind_of(fields, ("verified_sample",))
    names = _names(fields)
    given = _list(_field(fields, "judge_population"), "judge_population", len(names))
    populations = np.array([whole(each, "judge_population") for each in given], np.int64)
    labelled = np.array(_counts(_field(fields, "labelled"), len(names), "labelled"), np.int64)
    strata = labelled * np.eye(len(names), dtype=np.int64)[:, None]
    if (strata.sum(axis=(1, 2)) > populations).any():
        raise InputError("more labelled than there are", field="labelled")
    return GroupedMatrix.from_groups(names, strata[..., None], populations=populations[:, None])


def weights_of(fields: Fields, params: Fields) -> DisagreementWeights | None:
    """Read weights: `weights` by name, or a matrix of agreement or disagreement weights.

    Returns:
        None when the labels are compared as they are.
    """
    named = [name for name in _WEIGHTS if params.get(name) is not None]
    if len(named) > 1:
        raise InputError(f"give one of {', '.join(named)}", field=named[0])
    if not named:
        return None
    if named[0] == "weights":
        match params["weights"]:
            case "linear":
                return linear_weights(scores_of(fields, params))
            case "quadratic":
                return quadratic_weights(scores_of(fields, params))
            case "identity" | "unweighted" | "nominal":
                return None
        raise InputError("weights are linear, quadratic or identity", field="weights")
    size = len(TWO_CATEGORIES if fields.get("kind") == "binary_counts" else _names(fields))
    matrix = _matrix(params[named[0]], named[0])
    if len(matrix) != size:
        raise InputError(f"expected {size} rows, one per category", field=named[0])
    diagonal, largest = (1, 1.0) if named[0] == "agreement_weights" else (0, math.inf)
    if any(row[i] != diagonal for i, row in enumerate(matrix)):
        raise InputError(f"a category with itself weighs {diagonal}", field=named[0])
    if any(each > largest for row in matrix for each in row):
        raise InputError("agreement weights are at most 1", field=named[0])
    return (
        agreement_to_disagreement_weights(matrix)
        if diagonal
        else scale_disagreement_weights(matrix)
    )


def scores_of(fields: Fields, params: Fields, *, numbers_only: bool = False) -> list[float]:
    """Give each category a number: `category_scores`, else the category if it is one.

    Categories that are names count by their position, unless the zero of the scale matters.
    """
    if (given := params.get("category_scores")) is not None:
        size = len(_names(fields))
        return [_real(each, "category_scores") for each in _list(given, "category_scores", size)]
    names: list[object] = list(TWO_CATEGORIES)
    if fields.get("kind") != "binary_counts":
        names = list(_list(_field(fields, "categories"), "categories"))
    if all(isinstance(name, (int, float)) and not isinstance(name, bool) for name in names):
        return [_real(name, "categories") for name in names]
    if numbers_only:
        raise InputError("this level needs numbers as categories, or category_scores")
    return [float(place) for place in range(len(names))]


def level_of(fields: Fields, params: Fields) -> tuple[MeasurementLevel, list[float]]:
    """Read a level of measurement, nominal where none is given, and the categories' numbers."""
    name = params.get("level", MeasurementLevel.NOMINAL)
    if name not in list(MeasurementLevel):
        raise InputError(f"level is one of {', '.join(MeasurementLevel)}", field="level")
    level = MeasurementLevel(str(name))
    if level in (MeasurementLevel.NOMINAL, MeasurementLevel.ORDINAL):
        return level, []
    ratio = level is MeasurementLevel.RATIO
    scores = scores_of(fields, params, numbers_only=ratio)
    if ratio and min(scores, default=0.0) < 0:
        raise InputError("a ratio scale has no numbers below 0", field="categories")
    return level, scores


def confidence_of(params: Fields) -> float:
    """Read a confidence level, 0.95 where none is given."""
    level = _real(params.get("confidence", LEVEL), "confidence")
    if not 0 < level < 1:
        raise InputError("lies between 0 and 1", field="confidence")
    return level


def whole(value: object, field: str) -> int:
    """Read a whole number, not negative."""
    number = _number(value, field)
    if number != int(number):
        raise InputError(f"{value!r} is no whole number", field=field)
    return int(number)


_BINARY = ("tp", "fp", "fn", "tn")
_WEIGHTS = ("weights", "agreement_weights", "disagreement_weights")


def _field(fields: Fields, name: str) -> object:
    if name not in fields:
        raise InputError("is missing", field=name)
    return fields[name]


def _list(value: object, field: str, length: int | None = None) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise InputError(f"expected a list, not {value!r}", field=field)
    if length is not None and len(value) != length:
        raise InputError(f"expected {length} entries, not {len(value)}", field=field)
    return value


def _real(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{value!r} is no number", field=field)
    return value


def _number(value: object, field: str) -> float:
    number = _real(value, field)
    if number < 0:
        raise InputError(f"{value!r} is below 0", field=field)
    return number


def _names(fields: Fields) -> tuple[str, ...]:
    names = tuple(map(str, _list(_field(fields, "categories"), "categories")))
    if not names or len(set(names)) != len(names):
        raise InputError("expected one or more categories, each once", field="categories")
    return names


def _matrix(value: object, field: str) -> list[list[float]]:
    lines = _list(value, field)
    return [[_number(each, field) for each in _list(line, field, len(lines))] for line in lines]


def _counts(value: object, size: int, field: str = "clusters") -> Counts:
    lines = _list(value, field, size)
    return tuple(tuple(whole(each, field) for each in _list(line, field, size)) for line in lines)


def _table(names: tuple[str, ...], matrix: Sequence[Sequence[float]]) -> ConfusionMatrix[float]:
    """Make a table; whole numbers are counts, anything else are weights."""
    if len(matrix) != len(names):
        raise InputError(f"expected {len(names)} rows, one per category", field="matrix")
    if all(each == int(each) for row in matrix for each in row):
        return ConfusionMatrix(names, tuple(tuple(int(each) for each in row) for row in matrix))
    return ConfusionMatrix(names, tuple(map(tuple, matrix)))


def _units(fields: Fields) -> Sequence[object]:
    units = _list(_field(fields, "units"), "units")
    if fields["kind"] == "ratings":
        lengths = {len(_list(unit, "units")) for unit in units}
        if len(lengths) > 1:
            raise InputError("expected one entry per rater in every unit", field="units")
    return units


def _places(fields: Fields, unit: object) -> list[int | None]:
    names = list(_list(_field(fields, "categories"), "categories"))
    row = _list(unit, "units")
    if unknown := [each for each in row if each is not None and each not in names]:
        raise InputError(f"{unknown[0]!r} is no category", field="units")
    return [None if each is None else names.index(each) for each in row]


def _cross_tabulated(fields: Fields) -> ConfusionMatrix[float] | WithheldReason:
    names = _names(fields)
    rows = [_places(fields, unit) for unit in _units(fields)]
    if any(len(row) > 2 for row in rows):
        raise InputError("compares two raters; these are more", field="units")
    pairs = Counter(tuple(row) for row in rows if len(row) == 2 and None not in row)
    if not pairs and any(each is not None for row in rows for each in row):
        return WithheldReason.NO_OVERLAP
    size = range(len(names))
    return ConfusionMatrix(names, tuple(tuple(pairs[i, j] for j in size) for i in size))


def _paired_ratings(table: ConfusionMatrix[int]) -> Ratings:
    found = Counter[Pattern]()
    size = range(len(table.categories))
    for i, row in enumerate(table.counts):
        for j, count in enumerate(row):
            found[tuple((i == k) + (j == k) for k in size)] += count
    return Ratings.from_counts(table.categories, found)


def _two_by_two(counts: Counts) -> Counts:
    if len(counts) != 2:
        raise InputError("expected two categories", field="categories")
    return counts
