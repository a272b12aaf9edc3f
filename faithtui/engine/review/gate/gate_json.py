"""The result of a gate as JSON, the same for the command and for Python."""

from faithtui.agreement.gate.threshold_checks import EXIT_CODES
from faithtui.domain.json_values import value_json
from faithtui.engine.review.gate.gate import GateResult


def gate_to_json(result: GateResult) -> dict[str, object]:
    """Write the result of a gate, each threshold with its figure."""
    return {
        "run": result.row.id,
        "metric": result.row.spec.metric,
        "judge": result.row.spec.judge,
        "judge_title": result.row.spec.judge_title,
        "judge_parameters": result.row.spec.profile.to_json(),
        "level": result.measured.level.value,
        "design": result.measured.design.value,
        "basis": result.thresholds.basis.value,
        "accepted": list(result.thresholds.accepted),
        "idk": result.settings.idk.value,
        "blind_only": result.settings.blind_only,
        "result": result.outcome.value,
        "exit_code": EXIT_CODES[result.outcome],
        "criteria": [
            {
                "name": each.criterion.value,
                "threshold": each.threshold,
                "value": each.value,
                "result": each.outcome.value,
                "reason": each.reason,
                "estimate": value_json(each.estimate),
            }
            for each in result.checks
        ],
        "stale_or_broken": list(result.broken),
        "notes": list(result.notes),
        "certificate_issued_at": None
        if result.certificate is None
        else result.certificate.issued_at.isoformat(),
        "written": None if result.written is None else str(result.written),
    }
