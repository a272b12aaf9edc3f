"""The trained numbers of the overlap baseline, read from the file that ships beside this module.

`tests/embedded_judge_training` writes that file and says in it where every number comes from.
Nothing is read before the first claim is judged.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

HEURISTIC_VERSION: Final = "5"
"""Goes up whenever the same question may get another answer."""
WEIGHTS_FILE: Final = "overlap_weights.json"

FEATURE_SIGNS: Final = {
    "covered": +1,
    "bigrams": +1,
    "common_order": +1,
    "numbers_found": +1,
    "numbers_missing": -1,
    "names_missing": -1,
    "names_far": -1,
    "first_person": -1,
    "number_clash": -1,
    "opposite_clash": -1,
    "negation_clash": -1,
}
"""Each feature and what it may speak for: +1 that a claim is supported, -1 that it is not.

docs/judges/offline.md defines each. The signs were fixed before training: weights that may take any
sign fit their own data better and do worse on other data.
"""
FEATURES: Final = tuple(FEATURE_SIGNS)
"""Names of the features, in the order of `Comparison.features`."""


class Calibration(NamedTuple):
    """What labels of a project's own annotators make of the judge's probabilities and verdicts."""

    slope: float = 1.0
    """On the log odds of a probability."""
    intercept: float = 0.0
    threshold: float = 0.5
    """The probability as shipped from which on a claim gets `yes`; slope and intercept do not
    move it."""

    @property
    def is_probability_recalibrated(self) -> bool:
        """Whether probabilities are other ones than as shipped."""
        return (self.slope, self.intercept) != (1.0, 0.0)


NO_RECALIBRATION: Final = Calibration()
"""The calibration that changes nothing."""


@dataclass(frozen=True, slots=True)
class OverlapWeights:
    """A logistic regression over the features, and its calibration."""

    weights: tuple[float, ...]
    """Per unit of each feature, in the order of `FEATURES`; none against its fixed sign."""
    intercept: float
    calibration: tuple[float, float]
    """Platt's slope and intercept on the log odds of the regression."""
    digest: str
    """Eight hexadecimal digits of the numbers above, for fingerprints."""

    def compute_log_odds(self, features: Sequence[float]) -> float:
        """Calibrated log odds that a claim with these feature values is supported."""
        raw = self.intercept + sum(w * x for w, x in zip(self.weights, features, strict=True))
        slope, intercept = self.calibration
        return slope * raw + intercept


def parse_weights(document: Mapping[str, Any]) -> OverlapWeights:
    """Check what a weights file says and take its numbers out.

    Args:
        document: The parsed file.

    Raises:
        ValueError: Other features than the code has, a weight against its sign, or a number that
            is not finite. Then package and file do not belong together.
    """
    given = {each["name"]: float(each["weight"]) for each in document["features"]}
    if tuple(given) != tuple(FEATURE_SIGNS):
        raise ValueError(f"{WEIGHTS_FILE} has the features {', '.join(given)}")
    for name, weight in given.items():
        if weight * FEATURE_SIGNS[name] < 0 or not math.isfinite(weight):
            raise ValueError(f"{WEIGHTS_FILE} gives {name} the weight {weight}, against its sign")
    platt = document["calibration"]
    weights = tuple(given.values())
    calibration = (float(platt["slope"]), float(platt["intercept"]))
    intercept = float(document["intercept"])
    if not all(map(math.isfinite, (*calibration, intercept))) or calibration[0] <= 0:
        raise ValueError(f"{WEIGHTS_FILE} has no usable calibration")
    numbers = repr((weights, intercept, calibration)).encode()
    return OverlapWeights(weights, intercept, calibration, digest=f"{crc32(numbers):08x}")


@lru_cache(maxsize=1)
def load_weights_document() -> Mapping[str, Any]:
    """The weights file of this package, with its provenance and measured figures."""
    from importlib.resources import files  # half of the time it takes to import this module

    text = files("faithtui.judges.embedded").joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


@lru_cache(maxsize=1)
def load_weights() -> OverlapWeights:
    """The numbers of `load_weights_document`."""
    return parse_weights(load_weights_document())
