"""The JSON of one estimate, the same in every command that prints figures."""

from faithtui.domain.estimates import Estimate


def estimate_json(estimate: Estimate) -> dict[str, object]:
    """Turn an estimate into plain values; `reason` says why value or interval is null."""
    return {
        "value": estimate.value,
        "status": estimate.status.value,
        "reason": estimate.reason.value if estimate.reason else None,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "level": estimate.level,
        "method": estimate.method.value if estimate.method else None,
        "se": estimate.se,
        "n": estimate.n,
        "clusters": estimate.clusters,
    }
