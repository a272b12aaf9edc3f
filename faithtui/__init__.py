"""faithtui: review what an LLM judge said about faithfulness, and say how far it can be trusted.

What is named here is the library: `from faithtui import measure`. Each name is imported when it is
first used, so that `import faithtui` costs nothing. docs/library.md shows how to use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithtui.agreement.report.report import agreement_report
    from faithtui.domain.claims.verdicts import Assessment, Claim, Evidence, Truth, Verdict
    from faithtui.domain.conversation import Conversation, Document, Image, Turn, single_turn
    from faithtui.domain.judging.judge_profile import JudgeProfile
    from faithtui.domain.scores import Score, ScoreSet, ScoreState
    from faithtui.engine.calls.reply_cache import MemoryReplyCache
    from faithtui.engine.library.evaluation import Evaluation, evaluate, evaluate_async
    from faithtui.engine.library.measurement import measure, measure_async
    from faithtui.engine.library.measurement_result import Call, Measurement
    from faithtui.engine.library.project import Project, open_store
    from faithtui.engine.library.sample_draw import draw_sample
    from faithtui.engine.shards.measure_shards import MeasureSummary, measure_shards
    from faithtui.errors import FaithtuiError
    from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, Usage
    from faithtui.judges.registry import open_judge
    from faithtui.metrics.registry import build

_HOMES = {
    "Assessment": "domain.claims.verdicts",
    "Call": "engine.library.measurement_result",
    "Claim": "domain.claims.verdicts",
    "Conversation": "domain.conversation",
    "Document": "domain.conversation",
    "Evaluation": "engine.library.evaluation",
    "Evidence": "domain.claims.verdicts",
    "FaithtuiError": "errors",
    "Image": "domain.conversation",
    "Judge": "judges.base",
    "JudgeProfile": "domain.judging.judge_profile",
    "JudgeReply": "judges.base",
    "JudgeRequest": "judges.base",
    "MeasureSummary": "engine.shards.measure_shards",
    "Measurement": "engine.library.measurement_result",
    "MemoryReplyCache": "engine.calls.reply_cache",
    "Project": "engine.library.project",
    "Score": "domain.scores",
    "ScoreSet": "domain.scores",
    "ScoreState": "domain.scores",
    "Truth": "domain.claims.verdicts",
    "Turn": "domain.conversation",
    "Usage": "judges.base",
    "Verdict": "domain.claims.verdicts",
    "agreement_report": "agreement.report.report",
    "build": "metrics.registry",
    "draw_sample": "engine.library.sample_draw",
    "evaluate": "engine.library.evaluation",
    "evaluate_async": "engine.library.evaluation",
    "measure": "engine.library.measurement",
    "measure_async": "engine.library.measurement",
    "measure_shards": "engine.shards.measure_shards",
    "open_judge": "judges.registry",
    "open_store": "engine.library.project",
    "single_turn": "domain.conversation",
}

__all__ = [
    "Assessment",
    "Call",
    "Claim",
    "Conversation",
    "Document",
    "Evaluation",
    "Evidence",
    "FaithtuiError",
    "Image",
    "Judge",
    "JudgeProfile",
    "JudgeReply",
    "JudgeRequest",
    "MeasureSummary",
    "Measurement",
    "MemoryReplyCache",
    "Project",
    "Score",
    "ScoreSet",
    "ScoreState",
    "Truth",
    "Turn",
    "Usage",
    "Verdict",
    "agreement_report",
    "build",
    "draw_sample",
    "evaluate",
    "evaluate_async",
    "measure",
    "measure_async",
    "measure_shards",
    "open_judge",
    "open_store",
    "single_turn",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
